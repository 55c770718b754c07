"""Main paths in a real browser. Screenshots are kept in tests/artefacts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser import chromium, picture, server, settle
from playwright.sync_api import Page, expect, sync_playwright

import fact_core as fc
from fact_core.corpus import DEFAULT_VIEW

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with server() as found:
        yield found


@pytest.fixture(scope="module")
def page(address: str) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = chromium(playwright)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(address)
        settle(page)
        yield page
        browser.close()


def slide(page: Page, label: str, value: str) -> None:
    """Move a slider left with the keyboard until it shows the value."""
    slider = page.locator('[data-testid="stSlider"]', has_text=label)
    shown = slider.locator('[data-testid="stSliderThumbValue"]')
    slider.locator('input[type="range"]').focus()
    for _ in range(40):
        if shown.inner_text() == value:
            break
        slider.locator('input[type="range"]').press("ArrowLeft")
        page.wait_for_timeout(60)
    expect(shown).to_have_text(value)
    settle(page)


def metric(page: Page, label: str) -> float:
    found = page.locator('[data-testid="stMetric"]', has_text=label).first
    return float(found.locator('[data-testid="stMetricValue"]').inner_text())


def test_moving_lambda_and_running_changes_the_numbers_to_those_of_fit(page: Page) -> None:
    whole = fc.load_corpus("scipy-docs")
    corpus = whole.select([c for c in whole.label_names if c in DEFAULT_VIEW["classes"]], at_most=DEFAULT_VIEW["at_most"])
    picture(page, "explore-first-sight")
    first = fc.fit(corpus, "lccf")
    assert metric(page, "Accuracy") == pytest.approx(first.scores["accuracy"], abs=6e-4)

    slide(page, "λ", "1")  # two decades down
    expect(page.get_by_text("The settings have changed since this run")).to_be_visible(timeout=20_000)
    page.get_by_role("button", name="Run").click()
    page.wait_for_selector("text=λ = 1,", timeout=60_000)
    settle(page)
    picture(page, "explore-lambda-1")

    second = fc.fit(corpus, "lccf", lam=1.0)
    assert metric(page, "Accuracy") == pytest.approx(second.scores["accuracy"], abs=6e-4)
    assert metric(page, "Objective") == pytest.approx(second.objective[-1], rel=1e-4)
    assert metric(page, "Objective") != pytest.approx(first.objective[-1], rel=1e-3)
    assert "lccf.lam=1" in page.url


def test_a_link_opens_the_same_result_in_a_new_browser(page: Page, address: str) -> None:
    fresh = page.context.browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    fresh.goto(f"{address}/?corpus=three-topics&method=NC-PSPt&pspt.eta=0.5&seed=3")
    settle(fresh)
    picture(fresh, "explore-link")
    expected = fc.fit(fc.load_corpus("three-topics"), "NC-PSPt", eta=0.5, seed=3)
    assert metric(fresh, "Objective") == pytest.approx(expected.objective[-1], rel=1e-4)
    fresh.context.close()


def test_nothing_is_loaded_from_elsewhere_and_no_error_is_logged(page: Page, address: str) -> None:
    context = page.context.browser.new_context()
    fresh = context.new_page()
    asked: list[str] = []
    errors: list[str] = []
    fresh.on("request", lambda r: asked.append(r.url))
    fresh.on("pageerror", lambda e: errors.append(str(e)))
    fresh.goto(address)
    settle(fresh)
    own = (address, address.replace("http", "ws"), "data:", "blob:")
    elsewhere = [u for u in asked if not u.startswith(own)]
    assert not elsewhere
    assert not errors
    context.close()
