"""Studies in a real browser: a sweep that survives a reload, a run opened by a click, two people at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import metric, opened, picture, settle, visit
from playwright.sync_api import Browser, Page, expect

import fact_core as fc

pytestmark = pytest.mark.timeout(600)
SWEEP = "sensitivity?corpus=gaussians&sweep.methods=LCCF&sweep.x.lam=1,100&sweep.seeds=2"


def run(page: Page) -> None:
    page.get_by_role("button", name="Run", exact=True).click()


def finish(page: Page) -> None:
    """Wait for the job's end, as a person would."""
    page.wait_for_selector('[data-testid="stDownloadButton"]', timeout=120_000)
    page.wait_for_function("() => !document.querySelector('[data-testid=stProgress]')", timeout=120_000)
    settle(page)


def test_a_sweep_survives_a_reload_and_a_click_opens_its_run(page: Page, address: str) -> None:
    opened(page, address, SWEEP)
    run(page)
    page.wait_for_selector('[data-testid="stProgress"], [data-testid="stDownloadButton"]', timeout=60_000)
    page.reload()  # in the middle of it
    finish(page)
    picture(page, "sensitivity-sweep")
    page.set_viewport_size({"width": 1280, "height": 1000})
    page.wait_for_timeout(500)
    mean = page.locator(".scatterlayer .trace").nth(2).locator(".points path").nth(1)  # band, runs, mean; the second value of λ
    box = mean.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_selector("text=LCCF on gaussians", timeout=60_000)
    settle(page)
    picture(page, "sensitivity-opened")
    found = metric(page, "Objective")
    corpus = fc.load_corpus("gaussians")
    expected = [fc.fit(corpus, "lccf", lam=100.0, n_clusters=3, seed=s).objective[-1] for s in (0, 1)]
    assert any(found == pytest.approx(value, rel=1e-4) for value in expected)
    expect(page.get_by_text("The settings have changed")).to_have_count(0)  # the sliders are those of the run
    visit(page, "History")
    expect(page.get_by_text("LCCF against λ on gaussians")).to_be_visible(timeout=30_000)
    settle(page)
    page.get_by_role("button", name="Open", exact=True).last.click()
    finish(page)
    expect(page.get_by_role("heading", name="LCCF against λ on gaussians")).to_be_visible()


def test_two_people_at_once_progress_and_see_only_their_own(browser: Browser, address: str, tmp_path: Path) -> None:
    people = {}
    for who, topic in (("ann", "river water lake"), ("bob", "engine wheel brake")):
        words = topic.split()
        lines = ["label,text"] + [
            f"{words[i % 3]},{words[i % 3]} {words[i % 3]} thing{i % 7} other{i % 5} {words[(i + 1) % 3]}" for i in range(60)
        ]
        file = tmp_path / f"{who}.csv"
        file.write_text("\n".join(lines), encoding="utf-8")
        page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        opened(page, address, "sensitivity?sweep.methods=LCCF&sweep.x.lam=1,100&sweep.seeds=3")
        visit(page, "Corpus")
        settle(page)
        page.locator('input[type="file"]').set_input_files(file)
        expect(page.locator("h3", has_text=who)).to_be_visible(timeout=60_000)
        settle(page)
        visit(page, "Sensitivity")
        expect(page.locator("h3", has_text=f"on {who}")).to_be_visible(timeout=60_000)
        settle(page)
        people[who] = page
    for page in people.values():
        run(page)
    for page in people.values():
        page.wait_for_selector('[data-testid="stProgress"], [data-testid="stDownloadButton"]', timeout=60_000)
    for page in people.values():
        finish(page)
    for who, page in people.items():
        other = "bob" if who == "ann" else "ann"
        visit(page, "History")
        expect(page.get_by_text(f"on {who}").first).to_be_visible(timeout=30_000)
        settle(page)
        picture(page, f"history-{who}")
        assert other not in page.inner_text("body")
        visit(page, "Corpus")
        settle(page)
        page.locator('[data-testid="stSelectbox"]', has_text="Corpus").locator("input").click()
        page.wait_for_timeout(300)
        assert other not in page.inner_text("body")
        page.context.close()
