"""Main paths in a real browser. Screenshots are kept in tests/artefacts."""

from __future__ import annotations

import json
import statistics
import time
from math import cos, sin
from pathlib import Path

import numpy as np
import pytest
from browser import ARTEFACTS, metric, opened, picture, server, settle
from playwright.sync_api import Browser, Locator, Page, expect

import fact_core as fc
from fact_core.corpus import DEFAULT_VIEW
from fact_core.projection import Projection, projected

pytestmark = pytest.mark.timeout(600)
PAGES = ("", "corpus", "compare", "sensitivity", "choose", "coordinates", "concepts", "constraints", "tables", "history", "learn")
WAITING = ("sensitivity", "choose", "tables", "history")  # nothing is drawn there before somebody presses Run


def default_corpus(**choice: object) -> fc.Corpus:
    whole = fc.load_corpus("scipy-docs")
    classes = [c for c in whole.label_names if c in DEFAULT_VIEW["classes"]]
    return whole.select(**({"classes": classes, "at_most": DEFAULT_VIEW["at_most"]} | choice))


def slide(page: Page, label: str, value: str, key: str = "ArrowLeft") -> None:
    """Move a slider with the keyboard until it shows the value."""
    slider = page.locator('[data-testid="stSlider"]', has_text=label)
    shown = slider.locator('[data-testid="stSliderThumbValue"]')
    slider.locator('input[type="range"]').focus()
    for _ in range(60):
        if shown.inner_text() == value:
            break
        slider.locator('input[type="range"]').press(key)
        page.wait_for_timeout(60)
    expect(shown).to_have_text(value)
    settle(page)


def drawn(page: Page) -> Locator:
    """The points component, once it has drawn."""
    plot = page.locator(".factscope-points[data-drawn]")
    plot.wait_for(timeout=60_000)
    return plot


def test_moving_lambda_and_running_changes_the_numbers_to_those_of_fit(page: Page, address: str) -> None:
    opened(page, address)
    corpus = default_corpus()
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
    assert "lccf.lam=1.0" in page.url
    expect(page.get_by_text("documents changed their cluster")).to_be_visible()


def test_a_link_opens_the_same_result_in_a_new_browser(page: Page, address: str) -> None:
    opened(page, address, "?corpus=three-topics&method=NC-PSPt&pspt.eta=0.5&seed=3")
    picture(page, "explore-link")
    expected = fc.fit(fc.load_corpus("three-topics"), "NC-PSPt", eta=0.5, seed=3)
    assert metric(page, "Objective") == pytest.approx(expected.objective[-1], rel=1e-4)
    for name in ("Concepts", "Corpus", "Explore"):  # and the choice stays when the page changes
        page.get_by_role("link", name=name).first.click()
        settle(page)
        expect(page.get_by_text("three-topics").first).to_be_visible(timeout=20_000)
    assert metric(page, "Objective") == pytest.approx(expected.objective[-1], rel=1e-4)


def test_a_link_to_any_page_works_on_a_server_just_started(browser: Browser) -> None:
    with server() as fresh:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        opened(page, fresh, "concepts?corpus=three-topics&method=cf")
        expect(page.get_by_text("Concepts of CF on three-topics")).to_be_visible(timeout=60_000)
        expect(page.get_by_role("link", name="Coordinates").first).to_be_visible()
        page.close()


def test_a_long_run_grows_and_can_be_stopped(page: Page, address: str) -> None:
    page.goto(f"{address}/?corpus=digits&method=pspt&pspt.max_iter=2000&restarts=20")
    stop = page.get_by_role("button", name="Stop")
    stop.wait_for(timeout=60_000)
    expect(page.locator('[data-testid="stPlotlyChart"]').first).to_be_visible(timeout=60_000)
    picture(page, "explore-growing")
    stop.click()
    expect(page.get_by_text("stopped by cancelled")).to_be_visible(timeout=60_000)
    page.get_by_role("link", name="Concepts").first.click()  # what there is stays
    expect(page.get_by_text("Concepts of PSPt on digits")).to_be_visible(timeout=60_000)


def camera(plot: Locator) -> dict[str, dict[str, float]]:
    return plot.evaluate(
        "p => Object.fromEntries(Object.keys(p.layout).filter(k => /^scene/.test(k)).map(k => [k, p.layout[k].camera.eye]))"
    )


def test_the_camera_stays_when_eta_moves_and_turns_all_panels(page: Page, address: str) -> None:
    opened(page, address, "coordinates")
    plot = drawn(page)
    page.wait_for_timeout(1500)
    picture(page, "coordinates-first-sight")
    before = camera(plot)
    assert len(before) == 3
    box = plot.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] * 0.17, box["y"] + box["height"] * 0.5
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y + 25, steps=8)
    page.mouse.up()
    page.wait_for_timeout(1500)
    turned = camera(plot)
    assert turned["scene"] != before["scene"]
    assert turned["scene"] == turned["scene2"] == turned["scene3"]  # one camera for all
    settle(page)
    points = plot.evaluate("p => p._fullData.filter(d => d.scene === 'scene3').flatMap(d => Array.from(d.x))")
    slide(page, "η", "0.30")
    for _ in range(60):
        page.wait_for_timeout(500)
        now = drawn(page).evaluate("p => p._fullData.filter(d => d.scene === 'scene3').flatMap(d => Array.from(d.x))")
        if now != points:
            break
    assert now != points
    assert camera(drawn(page)) == turned
    picture(page, "coordinates-turned")


def test_a_clicked_point_shows_its_document(page: Page, address: str) -> None:
    opened(page, address, "?corpus=three-topics&view=Map")
    plot = drawn(page)
    page.wait_for_timeout(2000)
    titles = set(fc.load_corpus("three-topics").titles)
    box = plot.bounding_box()
    assert box is not None
    plot.evaluate("p => p.on('plotly_hover', e => { window.hovered = e.points[0].text })")
    for step in range(400):  # over the picture in a spiral, until a point is under the pointer
        angle, radius = step * 0.5, 4 + step * 0.5
        page.mouse.move(box["x"] + box["width"] / 2 + radius * cos(angle), box["y"] + box["height"] / 2.2 + radius * 0.7 * sin(angle))
        page.wait_for_timeout(15)
        if page.evaluate("() => window.hovered"):
            break
    hovered = page.evaluate("() => window.hovered")
    assert hovered in titles
    page.mouse.down()
    page.wait_for_timeout(250)  # plotly looks for the point once a frame while the button is down
    page.mouse.up()
    expect(page.get_by_text("Document", exact=True)).to_be_visible(timeout=30_000)
    settle(page)
    shown = page.locator('[data-testid="stMain"]').inner_text()
    corpus = fc.load_corpus("three-topics")
    text = corpus.documents[list(corpus.titles).index(hovered)]
    assert hovered in shown
    assert text.strip().splitlines()[0][:60] in shown
    picture(page, "explore-clicked")


def point_at(page: Page, plot: Locator, index: int) -> None:
    """Click the document of this number on a flat map."""
    spot = plot.evaluate(
        """(p, index) => {
            for (const trace of p._fullData) {
                const at = Array.from(trace.customdata).indexOf(index);
                if (at < 0) continue;
                const box = p.getBoundingClientRect(), l = p._fullLayout;
                return [box.x + l.xaxis._offset + l.xaxis.l2p(trace.x[at]), box.y + l.yaxis._offset + l.yaxis.l2p(trace.y[at])];
            }
        }""",
        index,
    )
    page.mouse.move(spot[0] - 3, spot[1] - 3)
    page.wait_for_timeout(150)
    page.mouse.move(spot[0], spot[1])
    page.wait_for_timeout(400)
    page.mouse.down()
    page.mouse.up()
    settle(page)


def test_two_documents_linked_by_pointing_are_together_afterwards(page: Page, address: str) -> None:
    corpus = default_corpus()
    apart = fc.fit(corpus, "lccf")
    plain = fc.fit(corpus, "cf").embedding
    # Two documents that are apart without the pair, each alone enough on the map to be pointed at.
    opened(page, address, "constraints?known=pairs")
    page.wait_for_selector('h3:has-text("What a little knowledge")', timeout=120_000)
    drawn(page)
    page.wait_for_timeout(1000)
    spread = projected(plain, Projection.PCA, 2)
    outer = np.argsort(-np.abs(spread - np.median(spread, axis=0)).sum(axis=1))
    first = int(outer[0])
    linked = None
    for candidate in map(int, outer[1:]):
        if apart.labels[candidate] != apart.labels[first]:
            result = fc.fit(corpus, "rcf", constraints=[(first, candidate, "must")], lam=100.0, p=5, alpha=0.5)
            if result.labels[candidate] == result.labels[first]:
                linked = candidate
                break
    assert linked is not None
    for index in (first, linked):
        point_at(page, drawn(page), index)
    page.get_by_role("button", name="Must link").click()
    settle(page)
    expect(page.get_by_text("known: 1 must-link")).to_be_visible(timeout=60_000)
    picture(page, "constraints-pair")
    card = fc.fit(corpus, "rcf", constraints=[(first, linked, "must")], lam=100.0, p=5, alpha=0.5)
    name = f"cluster {card.labels[first] + 1} ·"
    for index in (first, linked):  # the document's card names its cluster: the same for both
        point_at(page, drawn(page), index)
        expect(page.locator('[data-testid="stMain"]')).to_contain_text(name, timeout=30_000)
        expect(page.locator('[data-testid="stMain"]')).to_contain_text(corpus.titles[index])


def test_an_upload_is_read_explored_and_kept(page: Page, address: str, tmp_path: Path) -> None:
    metals, colours, more = "iron silver gold", "red green blue", ("alpha", "beta", "gamma", "delta", "omega")
    rows = "\n".join(f"{'ab'[i % 2]},{(metals, colours)[i % 2]} {more[i % 5]}" for i in range(20))
    (tmp_path / "mine.csv").write_text("label,text\n" + rows, encoding="utf-8")
    (tmp_path / "broken.csv").write_bytes(bytes(range(256)) * 20)
    opened(page, address, "corpus")
    page.locator('input[type="file"]').set_input_files(tmp_path / "broken.csv")
    expect(page.locator('[data-testid="stAlert"]').first).to_contain_text("broken.csv", timeout=20_000)
    picture(page, "corpus-refused")
    page.goto(f"{address}/corpus")
    settle(page)
    page.locator('input[type="file"]').set_input_files(tmp_path / "mine.csv")
    expect(page.locator("h3", has_text="mine")).to_be_visible(timeout=20_000)
    settle(page)
    assert metric(page, "Documents") == 20
    picture(page, "corpus-uploaded")
    page.get_by_role("link", name="Explore").first.click()
    expect(page.locator("h3", has_text="LCCF on mine")).to_be_visible(timeout=30_000)
    settle(page)
    expected = fc.fit(fc.load_corpus(tmp_path / "mine.csv"), "lccf")
    assert metric(page, "Objective") == pytest.approx(expected.objective[-1], rel=1e-4)
    page.get_by_role("link", name="Corpus").first.click()
    expect(page.locator("h3", has_text="mine")).to_be_visible(timeout=20_000)
    page.get_by_role("tab", name="Download").click()
    settle(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Matrix as .npz").click()
    again = fc.load_corpus(download.value.path().rename(tmp_path / "again.npz"))
    assert (len(again), again.label_names) == (20, ("a", "b"))


def test_a_file_waits_for_its_visitor_while_other_pages_run(browser: Browser, page: Page, address: str) -> None:
    """A slow connection fetches a file after the pages of others have run; they must not make it go away."""
    opened(page, address, "concepts?corpus=three-topics")
    with page.expect_download() as download:
        page.get_by_role("button", name="Terms as CSV").click()
    asked = download.value.url
    context = browser.new_context()
    for _ in range(3):  # two are enough for Streamlit to forget a file that is nobody's
        opened(context.new_page(), address, "history")
    context.close()
    again = page.request.get(asked)
    assert again.ok
    assert again.body() == Path(download.value.path()).read_bytes()


def test_compare_fills_its_page(page: Page, address: str) -> None:
    opened(page, address, "compare?corpus=three-topics&compare=KM&compare=CF&compare=NC&compare.seeds=2")
    expect(page.locator("h3", has_text="3 methods on three-topics")).to_be_visible(timeout=90_000)
    settle(page)
    assert page.locator('[data-testid="stPlotlyChart"]').count() == 2
    picture(page, "compare")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080)])
def test_pages_are_there_at_first_sight_in_any_light(browser: Browser, address: str, size: tuple[int, int], scheme: str) -> None:
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    for path in PAGES:
        opened(page, address, path)
        drawn = '[data-testid="stPlotlyChart"], .factscope-points[data-drawn], .factscope-player[data-drawn]'
        page.wait_for_selector("h3" if path in WAITING else drawn, timeout=120_000)
        settle(page)
        assert page.locator('[data-testid="stException"]').count() == 0
        picture(page, f"{path or 'explore'}-{size[0]}-{scheme}")
        wide = page.evaluate("() => document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0, path  # nothing sticks out sideways
    context.close()


def test_nothing_is_loaded_from_elsewhere(page: Page, address: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for path in PAGES:
        opened(page, address, path)
    own = (address, address.replace("http", "ws"), "data:", "blob:")
    assert not [url for url in asked if not url.startswith(own)]


def test_a_large_corpus_stays_light(browser: Browser, address: str, shared_data: Path) -> None:
    """20 Newsgroups whole, 18 846 documents: no page sends more than 10 MB (plotly.js itself, which is cached, not counted)."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    sent = {"bytes": 0}
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: sent.update(bytes=sent["bytes"] + len(frame))))
    everything = "corpus=20Newsgroups&method=kmeans&20Newsgroups.classes=&kmeans.max_iter=10&restarts=1"
    for path in (f"?{everything}&view=Map", f"?{everything}&view=Documents", f"corpus?{everything}", f"concepts?{everything}"):
        sent["bytes"] = 0
        opened(page, address, path)
        page.wait_for_selector('h3:has-text("20Newsgroups")', timeout=240_000)
        settle(page)
        assert 0 < sent["bytes"] < 10e6, path
    context.close()


def test_how_long_people_wait(page: Page, address: str) -> None:
    """Not asserted, since machines differ: written to tests/artefacts/waits.json, from the click on Run to the finished figures."""
    classes = "&".join(f"scipy-docs.classes={c}" for c in list(DEFAULT_VIEW["classes"])[:5])
    opened(page, address, f"?{classes}")
    waits = []
    for seed in range(1, 11):
        if seed == 1:
            page.get_by_text("More options").click()
            settle(page)
        field = page.locator('[data-testid="stNumberInput"]', has_text="Seed").locator("input")
        field.fill(str(seed))
        field.press("Enter")
        expect(page.get_by_text("The settings have changed since this run")).to_be_visible(timeout=20_000)
        began = time.monotonic()
        page.get_by_role("button", name="Run").click()
        expect(page.get_by_text("The settings have changed since this run")).to_be_hidden(timeout=60_000)
        page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]', timeout=60_000)
        page.wait_for_function("() => !document.querySelector('[data-stale=true]')", timeout=60_000)
        waits.append(time.monotonic() - began)
    ARTEFACTS.mkdir(exist_ok=True)
    (ARTEFACTS / "waits.json").write_text(json.dumps({"run_to_figures_median": statistics.median(waits), "all": waits}))
    assert len(waits) == 10
