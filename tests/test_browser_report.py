"""From a figure to an archive in a real browser."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest
from browser import opened, picture, settle, visit
from playwright.sync_api import Locator, Page
from pypdf import PdfReader

pytestmark = pytest.mark.timeout(600)


def menu(page: Page, which: int = 0) -> Locator:
    """Open the menu of a figure; what is in it."""
    page.get_by_test_id("stPopover").filter(has_text="Save").nth(which).locator("button").first.click()
    inside = page.get_by_test_id("stPopoverBody")
    inside.get_by_role("button", name="Add to report").wait_for()
    return inside


def downloaded(page: Page, button: Locator) -> bytes:
    with page.expect_download() as waited:
        button.click()
    return Path(waited.value.path()).read_bytes()


def go(page: Page, name: str) -> None:
    page.keyboard.press("Escape")
    visit(page, name)
    settle(page)


def test_a_report_is_gathered_and_exported(page: Page, address: str) -> None:
    page.set_default_timeout(120_000)
    opened(page, address, "?corpus=three-topics&method=cf")
    inside = menu(page)
    pdf = PdfReader(io.BytesIO(downloaded(page, inside.get_by_role("button", name="PDF")))).pages[0]
    assert float(pdf.mediabox.width) == pytest.approx(252)
    assert "objective" in pdf.extract_text()
    assert b"step,objective" in downloaded(page, inside.get_by_role("button", name="CSV"))
    assert b"<svg" in downloaded(page, inside.get_by_role("button", name="SVG"))
    inside.get_by_role("button", name="Add to report").click()
    inside.get_by_text("1 in the report.").wait_for()
    picture(page, "save-menu")

    go(page, "Coordinates")
    points = page.locator(".factscope-points[data-drawn]")
    points.wait_for()
    page.wait_for_timeout(500)
    box = points.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 6, box["y"] + 250)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 6 + 120, box["y"] + 200, steps=8)
    page.mouse.up()
    settle(page)
    inside = menu(page)
    inside.get_by_role("button", name="Add to report").click()
    inside.get_by_text("2 in the report.").wait_for()

    go(page, "Report")
    page.locator('[data-testid="stImage"] img').nth(1).wait_for()
    page.get_by_label("Figure 1").fill("My own caption.")
    page.get_by_label("Figure 1").press("Control+Enter")
    settle(page)
    picture(page, "report")
    with zipfile.ZipFile(io.BytesIO(downloaded(page, page.get_by_role("button", name="Export ZIP")))) as zipped:
        said = json.loads(zipped.read("settings.json"))
        assert [f["kind"] for f in said["figures"]] == ["convergence", "coordinates"]
        assert said["figures"][0]["caption"] == "My own caption."
        assert zipped.read("figures/02-coordinates.pdf").startswith(b"%PDF")
    eye = said["figures"][1]["view"]["camera"]["eye"]
    shown = page.evaluate("() => window.factscopeCameras['figure-points'].eye")
    assert eye == pytest.approx(shown)
    assert eye["x"] != pytest.approx(1.5 * 1.6, abs=0.05)  # where it began
