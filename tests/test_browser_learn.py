"""The teaching page in a real browser: a run is played, scrubbed and followed, lessons fit one screen, a dropped file is a lesson."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from browser import opened, picture, server, settle
from playwright.sync_api import Locator, Page, expect

import fact_core as fc
from fact_core.lessons import read_lessons

pytestmark = pytest.mark.timeout(600)
SIXTH = """---
title: A sixth lesson
order: 6
corpus: gaussians
methods: kmeans, lcf
figure: plane
clusters: 3
---
Means and bases.

## Question
Where do they end?

## Answer
In the same places.
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lessons")


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """A server whose teacher has a folder."""
    os.environ["FACTSCOPE_LESSONS"] = str(folder)
    try:
        with server() as found:
            yield found
    finally:
        del os.environ["FACTSCOPE_LESSONS"]


def player(page: Page) -> Locator:
    found = page.locator(".factscope-player[data-drawn]")
    found.wait_for(timeout=60_000)
    return found


def at_rest(page: Page) -> None:
    """Wait until the figure itself, and not the canvas over it, shows the frame."""
    page.wait_for_function("() => !document.querySelector('.factscope-player').classList.contains('live')", timeout=30_000)


def step(page: Page) -> int:
    return int(player(page).get_attribute("data-step") or -1)


def objectives(page: Page) -> list[float]:
    return [float(value) for value in page.locator(".player-objective").evaluate_all("all => all.map((e) => e.dataset.value)")]


def scrub(page: Page, to: int) -> None:
    page.locator(".player-bar input[type=range]").evaluate(
        "(e, to) => { e.value = to; e.dispatchEvent(new Event('input', { bubbles: true })); }", str(to)
    )


def bases(page: Page) -> np.ndarray:
    """Where the diamonds of the first panel are."""
    found = page.evaluate(
        "() => { const t = document.querySelector('.player-plot')._fullData.find((t) => t.name === 'bases'); return [[...t.x], [...t.y]]; }"
    )
    return np.array(found).T


def test_a_run_is_played_scrubbed_and_read_as_fit_has_it(page: Page, address: str) -> None:
    opened(page, address, "learn?learn=steps&learn.corpus=gaussians&learn.seed=2")
    histories = [fc.fit(fc.load_corpus("gaussians"), m, n_clusters=3, seed=2, restarts=1).objective for m in ("nmf", "cf", "lcf")]
    assert step(player(page).page) == 0
    assert objectives(page) == [history[0] for history in histories]

    requests: list[str] = []
    page.on("websocket", lambda _: requests.append("a new connection"))
    runs = page.locator('[data-testid="stApp"]')
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("() => Number(document.querySelector('.factscope-player').dataset.step) >= 8", timeout=60_000)
    assert runs.get_attribute("data-test-script-state") == "notRunning"  # no rerun while it plays
    assert int(player(page).get_attribute("data-frames") or 0) >= 3
    page.keyboard.press("Space")
    at_rest(page)
    paused = step(page)
    page.wait_for_timeout(400)
    assert step(page) == paused
    assert objectives(page) == [history[paused] for history in histories]
    picture(page, "learn-played")

    for wanted in (137, 5, 200):
        scrub(page, wanted)
        at_rest(page)
        assert step(page) == wanted
        assert objectives(page) == [history[wanted] for history in histories]
        shown = [float(text) for text in page.locator(".player-objective").all_inner_texts()]
        assert shown == pytest.approx([history[wanted] for history in histories], rel=1e-4)
    page.locator(".player-plot").click(position={"x": 5, "y": 5})
    for key, wanted in (("ArrowLeft", 199), ("Home", 0), ("ArrowRight", 1), ("End", 200)):
        page.keyboard.press(key)
        assert step(page) == wanted
    at_rest(page)
    assert not requests

    with page.expect_download(timeout=30_000) as saved:
        page.get_by_role("button", name="Save the figure of this step").click()
    assert saved.value.suggested_filename == "step through - step 200.svg"
    assert Path(saved.value.path()).read_text(encoding="utf-8").startswith("<svg")

    # The bases are where the factorisation has them: the direction of the columns of U.
    result = fc.fit(fc.load_corpus("gaussians"), "nmf", n_clusters=3, seed=2, restarts=1)
    drawn = bases(page)
    assert np.allclose(drawn / np.linalg.norm(drawn, axis=1, keepdims=True), result.basis.T, atol=1e-5)


def test_one_row_is_followed_through_an_update(page: Page, address: str) -> None:
    opened(page, address, "learn?learn=steps&learn.corpus=three-topics&learn.methods=lccf&learn.lccf.lam=10&learn.row=4&learn.steps=30")
    player(page)
    corpus = fc.load_corpus("three-topics")
    before, after = (fc.fit(corpus, "lccf", lam=10.0, restarts=1, max_iter=steps) for steps in (6, 7))
    scrub(page, 6)
    rows = {row[0]: row[1:] for row in (line.split("\t") for line in page.locator(".player-numbers table").inner_text().splitlines())}
    loop = [result.factors["V"] / np.linalg.norm(result.factors["V"], axis=0) for result in (before, after)]  # as it is inside the loop
    assert [float(x) for x in rows["v before"]] == pytest.approx(loop[0][4], rel=1e-4)
    assert [float(x) for x in rows["v at the end of the step, rescaled"]] == pytest.approx(loop[1][4], rel=1e-4)
    parts = {name: np.array([float(x) for x in rows[name]]) for name in ("above: KW", "above: λSV", "below: VWᵀKW", "below: λDV")}
    factor = (parts["above: KW"] + parts["above: λSV"]) / (parts["below: VWᵀKW"] + parts["below: λDV"])
    assert np.array([float(x) for x in rows["v after the update"]]) == pytest.approx(factor * loop[0][4], rel=1e-4)
    expect(page.locator(".player-formula")).to_contain_text("KW + λSV")

    # A click on a document follows that one instead.
    at_rest(page)
    point = page.locator(".player-plot .subplot.xy .scatterlayer .points path").last
    point.scroll_into_view_if_needed()
    box = point.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_timeout(300)
    page.mouse.down()
    page.mouse.up()
    page.wait_for_function("() => !location.search.includes('learn.row=4&')", timeout=20_000)
    settle(page)
    assert step(page) == 6  # the player stays where it was


@pytest.mark.parametrize("lesson", read_lessons().lessons, ids=lambda lesson: lesson.name)
def test_a_lesson_fits_one_screen_in_the_presenter_layout(page: Page, address: str, lesson: object) -> None:
    opened(page, address, f"learn?lesson={lesson.name}&present=1")
    player(page)
    expect(page.get_by_role("heading", name=lesson.title)).to_be_visible()
    expect(page.locator('[data-testid="stHeader"]')).to_be_hidden()
    heights = page.evaluate("() => { const m = document.querySelector('[data-testid=stMain]'); return [m.scrollHeight, m.clientHeight]; }")
    assert heights[0] <= heights[1] + 2
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    page.wait_for_timeout(500)
    picture(page, f"lesson-{lesson.name}")
    assert step(page) > 0  # its end is shown first
    page.keyboard.press("Home")
    assert step(page) == 0


def test_a_control_keeps_the_step_and_goes_into_the_link(page: Page, address: str) -> None:
    opened(page, address, "learn?lesson=3-locality&3-locality.lcf.lam=1.0")
    player(page)
    history = fc.fit(fc.load_corpus("gaussians"), "lcf", n_clusters=3, restarts=1, lam=1.0).objective
    scrub(page, 40)
    assert objectives(page)[2] == history[40]
    drawn = player(page).get_attribute("data-drawn")
    slider = page.locator('[data-testid="stSlider"]', has_text="λ of LCF").locator('input[type="range"]')
    slider.focus()
    slider.press("ArrowLeft")
    page.wait_for_function("(before) => document.querySelector('.factscope-player').dataset.drawn !== before", arg=drawn, timeout=30_000)
    settle(page)
    assert step(page) == 40
    assert objectives(page)[2] == fc.fit(fc.load_corpus("gaussians"), "lcf", n_clusters=3, restarts=1, lam=0.3).objective[40]
    assert "lcf.lam" not in page.url  # the default of the lesson


def test_a_file_dropped_into_the_folder_is_the_sixth_lesson(page: Page, address: str, folder: Path) -> None:
    opened(page, address, "learn")
    (folder / "sixth.md").write_text(SIXTH, encoding="utf-8")
    (folder / "broken.md").write_text(SIXTH.replace("clusters: 3", "clusters: three"), encoding="utf-8")
    try:
        opened(page, address, "learn?lesson=sixth")
        expect(page.get_by_role("heading", name="A sixth lesson")).to_be_visible(timeout=30_000)
        player(page)
        expect(page.get_by_text("broken.md, line 7:")).to_be_visible()
        picture(page, "lesson-sixth")
    finally:
        (folder / "sixth.md").unlink()
        (folder / "broken.md").unlink()


def test_whoever_wants_less_motion_sees_whole_steps(page: Page, address: str) -> None:
    page.emulate_media(reduced_motion="reduce")
    opened(page, address, "learn?learn=steps&learn.corpus=gaussians")
    player(page)
    assert page.locator(".player-bar select").input_value() == "1"  # a step a second
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("() => Number(document.querySelector('.factscope-player').dataset.step) >= 1", timeout=30_000)
    page.get_by_role("button", name="Play").click()
    at_rest(page)
    assert step(page) >= 1
