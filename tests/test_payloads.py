"""Markup and scripts in every file format and every text field, in a real browser: shown as text, and nothing runs."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator

import numpy as np
import pytest
import scipy.io
from browser import settle, visit
from corpus_files import zipped
from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.timeout(600)

RUNS = '<img src=x onerror="window.hacked=1">'
PAYLOADS = [
    RUNS, "<script>window.hacked=1</script>", "<svg onload=window.hacked=1>", "[go](javascript:window.hacked=1)",
    "![i](http://evil.invalid/i.png)", "<a href='javascript:window.hacked=1'>go</a>", ":red[red] :smile: :material/home:",
    "**bold** $x^2$ `code`",
    "<b>bold</b><iframe srcdoc='<script>parent.hacked=1</script>'></iframe>", "http://evil.invalid www.evil.invalid",
]  # fmt: skip
WORDS = ("iron silver gold copper", "red green blue yellow")
ROWS = [(PAYLOADS[i % 2], f"{PAYLOADS[i % 10]} {i}", f"{WORDS[i % 2]} {PAYLOADS[i % 10]} word{i % 5}") for i in range(20)]
MATRIX = np.array([[i % 2 * 3 + 1, (i + 1) % 2 * 3 + 1, i % 3, i % 5, i % 7] for i in range(20)], float)
TERMS = [f"{PAYLOADS[j]} {j}" for j in range(5)]


def mat() -> bytes:
    file = io.BytesIO()
    cells = lambda words: np.array(words, dtype=object)[:, None]  # noqa: E731
    variables = {"fea": MATRIX, "gnd": MATRIX[:, :1] * 0 + np.arange(20)[:, None] % 2 + 1, "terms": cells(TERMS)}
    scipy.io.savemat(file, variables | {"titles": cells([title for _, title, _ in ROWS]), "label_names": cells(PAYLOADS[:2])})
    return file.getvalue()


def npz() -> bytes:
    file = io.BytesIO()
    np.savez(file, X=MATRIX, labels=np.array([label for label, _, _ in ROWS]), terms=np.array(TERMS))
    return file.getvalue()


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


FILES = {
    f"{RUNS}.csv": ("label,title,text\n" + "\n".join(",".join(map(quoted, row)) for row in ROWS)).encode(),
    "**b** :red[x].mat": mat(),
    "$x$.jsonl": "\n".join(json.dumps(dict(zip(("label", "title", "text"), row, strict=True))) for row in ROWS).encode(),
    "[a](javascript:1).npz": npz(),
    "<b>.txt": "\n".join(text for _, _, text in ROWS).encode(),
    "<svg onload=window.hacked=1>.zip": zipped({f"{r[0].replace('/', '|')}/{i} {RUNS}.txt": r[2] for i, r in enumerate(ROWS)}),
}


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    asked, dialogs = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    yield page
    assert not [url for url in asked if "evil.invalid" in url]
    assert not dialogs
    context.close()


def harmless(page: Page) -> None:
    """Nothing ran, nothing became an element, an address or an icon."""
    settle(page)
    assert page.evaluate("window.hacked === undefined"), page.url
    wrong = page.evaluate(
        """() => [...document.querySelectorAll('[data-testid=stApp] *')].filter(e =>
            e.matches('img[src=x], img[src*=evil], iframe[srcdoc], svg[onload], a[href^="javascript:"], a[href*="evil.invalid"]')
            || (e.tagName === 'SCRIPT' && e.textContent.includes('hacked'))).map(e => e.outerHTML)"""
    )
    assert wrong == [], page.url
    made = ":is([data-testid=stMarkdownContainer], [data-testid=stHeading]) :is(strong, .katex, [data-testid=stIconMaterial], code)"
    assert not {"b", "bold", "x", "code", "home"} & set(page.locator(made).all_inner_texts()), page.url


def upload(page: Page, address: str, name: str) -> None:
    page.goto(f"{address}/corpus?corpus=gaussians&method=kmeans")
    settle(page)
    page.locator('[data-testid="stFileUploader"] input[type=file]').set_input_files(
        {"name": name, "mimeType": "application/octet-stream", "buffer": FILES[name]}
    )
    page.wait_for_function("() => !document.querySelector('h3')?.innerText.includes('gaussians')", timeout=60_000)
    harmless(page)


def go(page: Page, title: str) -> None:
    visit(page, title)
    page.wait_for_timeout(500)
    harmless(page)


@pytest.mark.parametrize("name", list(FILES)[1:])
def test_every_format(page: Page, address: str, name: str) -> None:
    upload(page, address, name)
    heading = page.locator("h3").first.inner_text().replace("\u2060", "")
    assert heading == name
    go(page, "Explore")
    assert page.locator("h3").first.inner_text().replace("\u2060", "").endswith(f"on {heading}")
    if name.endswith(".mat"):  # whose terms are markup, too
        page.get_by_role("tab", name="Concepts").click()
        harmless(page)
        go(page, "Compare")


def test_every_page_and_field(page: Page, address: str) -> None:
    upload(page, address, next(iter(FILES)))
    for tab in ("Vocabulary", "Effect of the choices", "Download", "Documents"):
        page.get_by_role("tab", name=tab).click()
        harmless(page)
    go(page, "Explore")
    for tab in ("Documents", "Map"):
        page.get_by_role("tab", name=tab).click()
        harmless(page)
        if tab == "Documents":
            field(page, "Search titles and texts")
    go(page, "Concepts")
    field(page, "Its name")
    field(page, "Paste a text", "textarea")
    go(page, "Explore")  # where the name is seen again, in the figures
    for title in ("Compare", "Coordinates", "Constraints", "Sensitivity", "Choose k and λ", "Paper tables", "Learn", "Report", "History"):
        go(page, title)
    field(page, "Find")


def field(page: Page, label: str, kind: str = "input") -> None:
    place = page.locator('[data-testid="stTextInput"], [data-testid="stTextArea"]').filter(has_text=label).locator(kind).first
    if place.count() and place.is_enabled():
        place.fill(RUNS)
        place.press("Control+Enter" if kind == "textarea" else "Enter")
        page.wait_for_timeout(300)
        harmless(page)
