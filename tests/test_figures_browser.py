"""Figures on paper beside what Plotly draws in a real browser; both are kept in tests/artefacts."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from xml.etree import ElementTree

import numpy as np
import pytest
from browser import ARTEFACTS, chromium
from figure_kinds import PICTURES, drawn
from PIL import Image
from playwright.sync_api import Page, sync_playwright
from plotly.offline import get_plotlyjs
from test_figures import like, places

from fact_core.figures.static import Style, render

pytestmark = pytest.mark.timeout(600)
WIDTH = 700  # pixels


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = chromium(playwright)
        page = browser.new_page(viewport={"width": WIDTH, "height": 900})
        page.set_content('<body style="margin:0;background:white"><div id="plot"></div></body>')
        page.add_script_tag(content=get_plotlyjs())
        yield page
        browser.close()


def plotted(page: Page, name: str) -> Image.Image:
    """Plotly's own picture."""
    figure = drawn(name).figure
    assert figure is not None
    page.evaluate(
        """figure => { document.getElementById('plot').replaceChildren();
        return Plotly.newPlot('plot', figure.data, {...figure.layout, width: innerWidth}, {displayModeBar: false}).then(() => true) }""",
        json.loads(figure.to_json()),
    )
    page.wait_for_timeout(300)
    return Image.open(io.BytesIO(page.locator("#plot").screenshot())).convert("RGB")


def ink(image: Image.Image, coloured: bool, rows: int = 8, columns: int = 12) -> np.ndarray:
    """How much is drawn (in colour, or at all) in each cell of a coarse grid over where something is, smoothed."""
    rgb = np.asarray(image, dtype=float)
    strong = (rgb.max(axis=2) - rgb.min(axis=2) if coloured else 255.0 - rgb.mean(axis=2)) > 60
    (top, left), (bottom, right) = np.argwhere(strong).min(axis=0), np.argwhere(strong).max(axis=0)
    cut = Image.fromarray(strong[top : bottom + 1, left : right + 1].astype(np.uint8) * 255)
    small = cut.resize((columns, rows), Image.Resampling.BOX).resize((columns // 2, rows // 2), Image.Resampling.BILINEAR)
    return np.asarray(small, dtype=float)


@pytest.mark.parametrize("name", PICTURES)
def test_paper_and_screen_have_the_same_layout(page: Page, name: str) -> None:
    figure = drawn(name).figure
    assert figure is not None
    screen = plotted(page, name)
    paper = Image.open(io.BytesIO(render(figure, "png", Style(WIDTH / 96, size=9.75, dpi=96)))).convert("RGB")
    ARTEFACTS.mkdir(exist_ok=True)
    file = f"figure-{name.replace(' ', '-')}"
    screen.save(ARTEFACTS / f"{file}-screen.png")
    paper.save(ARTEFACTS / f"{file}-paper.png")
    coloured = name not in ("basis-images", "class-sizes")
    assert np.corrcoef(ink(screen, coloured).ravel(), ink(paper, coloured).ravel())[0, 1] > 0.4
    for trace in figure.data:  # every colour of the one is in the other
        shade = trace.marker.color if trace.type != "heatmap" else None
        if isinstance(shade, str) and shade.startswith("#") and trace.marker.opacity != 0:
            wanted = np.array([int(shade[i : i + 2], 16) for i in (1, 3, 5)])
            for picture in (screen, paper):
                assert np.abs(np.asarray(picture, dtype=int) - wanted).max(axis=2).min() < 40, shade


def test_the_camera_is_the_one_of_the_browser(page: Page) -> None:
    """Plotly's own matrices put the points where the SVG has them."""
    figure = drawn("coordinates").figure
    assert figure is not None
    plotted(page, "coordinates")
    said = page.evaluate(
        """() => { const scene = document.getElementById('plot')._fullLayout.scene, c = scene._scene.glplot.cameraParams;
        return {ranges: ['x', 'y', 'z'].map(a => scene[a + 'axis'].range), view: [...c.view], projection: [...c.projection]} }"""
    )
    view, projection = (np.array(said[n]).reshape(4, 4).T for n in ("view", "projection"))
    low, high = np.array(said["ranges"]).T
    points = np.concatenate([np.stack([t.x, t.y, t.z], axis=1) for t in figure.data]).astype(float)
    seen = projection @ view @ np.c_[(points - low) / (high - low) - 0.5, np.ones(len(points))].T
    expected = (seen[:2] / seen[3]).T * (projection[1, 1] / projection[0, 0], 1)  # a screen's width is not its height
    root = ElementTree.fromstring(render(figure, "svg"))
    there = np.concatenate([places(root, f"trace-{i}") for i in range(len(figure.data))])
    assert like(expected, there) < 5e-3
