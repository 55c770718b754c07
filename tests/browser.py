"""A real server and a real Chromium for the tests of the main paths."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, Playwright

ROOT = Path(__file__).parent.parent
ARTEFACTS = Path(__file__).parent / "artefacts"
SYSTEM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Software rendering for the 3-D views, and none of the calls home a desktop browser makes.
FLAGS = [
    "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
]  # fmt: skip


@contextmanager
def server() -> Iterator[str]:
    """The application on a free port of loopback; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "serve.py", "--server.port", str(port), "--server.fileWatcherType", "none"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(240):
            if process.poll() is not None:
                raise RuntimeError(f"the server ended: {process.stderr.read() if process.stderr else ''}")
            try:
                with urllib.request.urlopen(f"{address}/_stcore/health", timeout=1):
                    break
            except (urllib.error.URLError, OSError):
                time.sleep(0.25)
        yield address
    finally:
        process.terminate()
        process.wait(20)


def chromium(playwright: Playwright) -> Browser:
    """The system's Chromium if there is one, else Playwright's own."""
    path = next(filter(None, map(shutil.which, SYSTEM)), None)
    return playwright.chromium.launch(executable_path=path, args=FLAGS)


def settle(page: Page, pause: int = 300) -> None:
    """Wait until the script has run and the figures are drawn."""
    page.wait_for_timeout(pause)  # for the script to have begun
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]', timeout=60_000)
    page.wait_for_function("() => !document.querySelector('[data-stale=true]')", timeout=20_000)
    page.wait_for_timeout(pause)


def opened(page: Page, address: str, path: str = "") -> Page:
    page.goto(f"{address}/{path}")
    settle(page)
    return page


MENUS = {"Sensitivity": "Studies", "Choose k and λ": "Studies", "Paper tables": "Studies", "History": "Yours", "Report": "Yours"}


def visit(page: Page, name: str) -> None:
    """Go to a page by the bar of pages, or by one of its menus."""
    bar = page.get_by_test_id("stTopNav")
    if name in MENUS:
        bar.get_by_text(MENUS[name], exact=True).click()
        page.get_by_text(name, exact=True).last.click()
    else:
        bar.get_by_role("link", name=name).click()


def metric(page: Page, label: str) -> float:
    found = page.locator('[data-testid="stMetric"]', has_text=label).first
    return float(found.locator('[data-testid="stMetricValue"]').inner_text().replace(",", ""))


def picture(page: Page, name: str) -> None:
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"{name}.png")
