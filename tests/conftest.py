"""What several test files share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import chromium, server
from hypothesis import settings
from playwright.sync_api import Browser, Page, sync_playwright

settings.register_profile("patient", deadline=None)  # a busy machine is no failure
settings.load_profile("patient")


@pytest.fixture(scope="session", autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Nothing that was kept before answers for the code of today, and nothing of the tests is kept."""
    os.environ["FACTSCOPE_HOME"] = str(tmp_path_factory.mktemp("home"))
    os.environ.setdefault("FACTSCOPE_WORKERS", "1")  # tests run in two processes already
    os.environ.setdefault("FACTSCOPE_LOG", "off")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of the authors' files, which may not be shipped: FACTSCOPE_DATA, or ../shared/data beside the repository."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("FACTSCOPE_DATA") or default).resolve()
    if not folder.is_dir():
        pytest.skip("the authors' files are not here; name their folder in FACTSCOPE_DATA")
    return folder


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A server of the application."""
    with server() as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = chromium(playwright)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A new visitor; whatever goes wrong inside the page fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
    assert not errors
