"""Markup and scripts in every file format and every text field, in a real browser: shown as text, and nothing runs."""

from __future__ import annotations

import ast
import fnmatch
import io
import json
import os
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from math import cos, sin
from pathlib import Path
from urllib.parse import quote, urlsplit

import numpy as np
import pytest
import scipy.io
from browser import ROOT, settle, visit
from corpus_files import zipped
from playwright.sync_api import Browser, BrowserContext, Locator, Page, TimeoutError, expect

import fact_core as fc

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


def npz() -> bytes:
    file = io.BytesIO()
    np.savez(file, X=MATRIX, labels=np.array([label for label, _, _ in ROWS]), terms=np.array(TERMS))
    return file.getvalue()


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


FILES = {
    f"{RUNS}.csv": ("label,title,text\n" + "\n".join(",".join(map(quoted, row)) for row in ROWS)).encode(),
    "**b** :red[x] $x$.jsonl": "\n".join(json.dumps(dict(zip(("label", "title", "text"), row, strict=True))) for row in ROWS).encode(),
    "[a](javascript:1).npz": npz(),
    "<b>.txt": "\n".join(text for _, _, text in ROWS).encode(),
    "<svg onload=window.hacked=1>.zip": zipped({f"{r[0].replace('/', '|')}/{i} {RUNS}.txt": r[2] for i, r in enumerate(ROWS)}),
}

# A matrix whose every word is markup, large enough for the Learn page to show a part of it.
NAME = "![i](http://evil.invalid/i.png) <img src=x onerror=window.hacked=1> :red[r] $y$.mat"
CLASSES = ["<b>bold</b> %{x}", "<a href='javascript:window.hacked=1'>go</a>", "$x^2$ :smile: **bold** [go](javascript:window.hacked=1)"]
HEAVY = ["</script><script>window.hacked=1</script>", "<b>bold</b>", RUNS, "%{x} <extra>", "<a href='javascript:window.hacked=1'>go</a>"]


def marked_up() -> bytes:
    rng = np.random.default_rng(0)
    kinds = np.arange(306) % 3
    fea = rng.random((306, 5)) + 3.0 * np.eye(3, 5)[kinds]
    cells = lambda words: np.array(words, dtype=object)[:, None]  # noqa: E731
    file = io.BytesIO()
    titles = [f"{(CLASSES + PAYLOADS)[i % 13]} {i}" for i in range(306)]
    words = {"terms": cells(HEAVY), "titles": cells(titles), "label_names": cells(CLASSES)}
    scipy.io.savemat(file, {"fea": fea, "gnd": kinds[:, None] + 1.0} | words)
    return file.getvalue()


def watched(context: BrowserContext) -> Page:
    """A new page; what it asks of other machines and its dialogs are listed in its context."""
    page = context.new_page()
    page.set_default_timeout(20_000)
    listed = context.wrong = []  # type: ignore[attr-defined]
    here = ("127.0.0.1", "")
    context.on("request", lambda request: listed.append(request.url) if (urlsplit(request.url).hostname or "") not in here else None)
    context.on("dialog", lambda dialog: (listed.append(dialog.message), dialog.dismiss()))
    return page


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield watched(context)
    assert context.wrong == []  # type: ignore[attr-defined]
    context.close()


@pytest.fixture(scope="module")
def visitor(browser: Browser, address: str) -> Iterator[Page]:
    """One person with the matrix of markup, who goes from page to page."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    page = watched(context)
    upload(page, address, NAME)
    yield page
    assert context.wrong == []  # type: ignore[attr-defined]
    context.close()


def harmless(page: Page, app: bool = True) -> None:
    """Nothing ran, nothing became an element, an address, a colour or an icon."""
    if app:
        settle(page, 120)
    assert page.evaluate("window.hacked === undefined"), page.url
    wrong = page.evaluate(
        """() => [...document.querySelectorAll('body *, svg *')].filter(e =>
            e.matches('img[src=x], img[src*=evil], iframe[srcdoc], svg[onload], [onerror], .stMarkdownColoredText')
            || ['href', 'xlink:href'].some(n => /^javascript:|evil[.]invalid/.test(e.getAttribute(n) ?? ''))
            || (e.tagName === 'SCRIPT' && e.textContent.trim().startsWith('window.hacked'))).map(e => e.outerHTML)"""
    )
    assert wrong == [], page.url
    made = ":is([data-testid=stMarkdownContainer], [data-testid=stHeading]) :is(strong, .katex, [data-testid=stIconMaterial], code)"
    assert not {"b", "bold", "x", "y", "code", "home"} & set(page.locator(made).all_inner_texts()), page.url
    assert "😄" not in (page.locator(":root").text_content() or ""), page.url


def words(place: Locator) -> str:
    """What is to be read there, without the joiners that keep it from being Markdown."""
    return " ".join(place.inner_text().replace("\u2060", "").split())


def upload(page: Page, address: str, name: str) -> None:
    page.goto(f"{address}/corpus?corpus=gaussians&method=kmeans")
    settle(page)
    page.locator('[data-testid="stFileUploader"] input[type=file]').set_input_files(
        {"name": name, "mimeType": "application/octet-stream", "buffer": FILES[name] if name in FILES else marked_up()}
    )
    page.wait_for_function("() => !document.querySelector('h3')?.innerText.includes('gaussians')", timeout=60_000)
    harmless(page)


PLACES = {"Explore": "", "Choose k and λ": "choose", "Paper tables": "tables"}


def go(page: Page, title: str) -> None:
    visit(page, title)
    wanted = f"/{PLACES.get(title, title.lower())}"
    page.wait_for_function("place => location.pathname === place", arg=wanted)  # the script of that page has begun
    harmless(page)


def reads(page: Page, said: str) -> None:
    """Wait until the page says this, letter by letter."""
    page.wait_for_function(
        "said => document.querySelector('[data-testid=stApp]').innerText.replaceAll('\u2060', '').replace(/\\s+/g, ' ').includes(said)",
        arg=said,
    )


@pytest.mark.parametrize("name", list(FILES)[1:])
def test_every_format(page: Page, address: str, name: str) -> None:
    upload(page, address, name)
    heading = page.locator("h3").first.inner_text().replace("\u2060", "")
    assert heading == name


def test_every_page_and_field(page: Page, address: str) -> None:
    upload(page, address, next(iter(FILES)))
    for name in ("Vocabulary", "Effect of the choices", "Download", "Documents"):
        tab(page, name)
    go(page, "Explore")
    tab(page, "Documents")
    field(page, "Search titles and texts")
    go(page, "Concepts")
    field(page, "Paste a text", "textarea")
    for concept in ("1", "2"):
        choose(page, "Concept", concept)
        field(page, "Its name", said="**bold** :red[r] $x$ <b>")
    field(page, "Paste a text", "textarea", f"iron silver {RUNS}")
    reads(page, "· **bold** :red[r] $x$ <b>.")  # where it falls
    for title in ("Coordinates", "Sensitivity", "Choose k and λ", "Paper tables", "Learn", "History"):
        go(page, title)
        for label in {"Sensitivity": ["Values of λ"], "Choose k and λ": ["k to choose from"]}.get(title, []):
            field(page, label)
            reads(page, f"“{RUNS}”")
            field(page, label, said="2, 3")
        if title == "Choose k and λ":
            page.get_by_text("Where it runs").click()
            field(page, "Dask scheduler")
            page.keyboard.press("Escape")
            page.get_by_test_id("stBaseButton-primary").click()
            reads(page, f"No Dask cluster with a worker answers at {RUNS}")
            harmless(page)


def field(page: Page, label: str, kind: str = "input", said: str = RUNS) -> None:
    """Say something in a field of this label."""
    place = page.locator('[data-testid="stTextInput"], [data-testid="stTextArea"]').filter(has_text=label).locator(kind).first
    place.fill(said)
    place.press("Control+Enter" if kind == "textarea" else "Enter")
    harmless(page)


# Under the pointer


def tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name).click()
    harmless(page)


def choose(page: Page, label: str, option: str) -> None:
    """Pick what has these words in a select box."""
    box = page.get_by_test_id("stSelectbox").filter(has_text=label).first
    box.locator("input").click()
    page.get_by_role("option").filter(has_text=option).first.click()
    harmless(page)


def told(page: Page) -> str:
    """What plotly says about what is under the pointer."""
    page.wait_for_timeout(150)
    said = " ".join(page.locator(".hovertext").all_text_contents())
    harmless(page)
    return said


def over(page: Page, mark: Locator) -> str:
    """The same, about a mark of a flat figure."""
    mark.scroll_into_view_if_needed()
    box = mark.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2 - 2, box["y"] + box["height"] / 2 - 2)
    page.wait_for_timeout(50)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    return told(page)


def largest(trace: Locator) -> Locator:
    bars = trace.locator(".point path")
    return bars.nth(
        bars.evaluate_all("all => all.map(e => e.getBBox().height).reduce((best, h, i, every) => (h > every[best] ? i : best), 0)")
    )


def around(page: Page, plot: Locator) -> str:
    """The same, about the first point of a solid figure that a spiral from its middle meets."""
    box = plot.bounding_box()
    assert box is not None
    plot.evaluate("p => p.on('plotly_hover', () => { window.met = true })")
    for step in range(400):
        angle, radius = step * 0.5, 4 + step * 0.5
        page.mouse.move(box["x"] + box["width"] / 2 + radius * cos(angle), box["y"] + box["height"] / 2.2 + radius * 0.7 * sin(angle))
        page.wait_for_timeout(15)
        if page.evaluate("() => window.met"):
            break
    return told(page)


def is_title(said: str) -> bool:
    return any(said.strip().startswith(" ".join(word.split())) for word in CLASSES + PAYLOADS)


def test_under_the_pointer(visitor: Page) -> None:
    go(visitor, "Explore")
    assert f"class {CLASSES[1]}" in over(visitor, visitor.locator(".heatmaplayer image").first)
    choose(visitor, "Clusters against classes", "what each cluster is made of")
    traces = visitor.locator(".barlayer .trace.bars").filter(has=visitor.locator("path"))
    said = " ".join(over(visitor, largest(traces.nth(place))) for place in range(traces.count() - 3, traces.count()))
    assert all(name in said for name in CLASSES), said
    tab(visitor, "Concepts")
    assert any(over(visitor, visitor.locator(".barlayer .point path").nth(place)).startswith(HEAVY[0]) for place in (4, 3))
    tab(visitor, "Map")
    visitor.locator(".factscope-points[data-drawn]").wait_for()
    visitor.wait_for_timeout(1000)
    title = around(visitor, visitor.locator(".factscope-points"))
    assert is_title(title)
    visitor.mouse.down()
    visitor.wait_for_timeout(250)
    visitor.mouse.up()
    expect(visitor.get_by_text("Document", exact=True)).to_be_visible()
    harmless(visitor)
    assert title in visitor.get_by_test_id("stText").all_inner_texts()
    go(visitor, "Learn")
    visitor.get_by_text("Step through", exact=True).click()
    settle(visitor)
    choose(visitor, "Corpus", NAME)
    choose(visitor, "Show", "triangle")
    reads(visitor, f"A part of {NAME}, drawn")
    assert is_title(over(visitor, visitor.locator(".player-plot .subplot.xy .scatterlayer .points path").last))


def test_pairs_of_documents(visitor: Page) -> None:
    go(visitor, "Compare")
    go(visitor, "Constraints")
    assert is_title(over(visitor, visitor.locator(".factscope-points .points path").nth(3)))
    choose(visitor, "What is known", "pairs of documents")
    choose(visitor, "First document", RUNS)
    for file, said in ((f"{RUNS},1,must", RUNS), (f"1,2,{CLASSES[2]}", CLASSES[2]), ("0,3,must", "1 must-link")):
        given = {"name": f"{RUNS}.csv", "mimeType": "text/csv", "buffer": f"first,second,kind\n{file}\n".encode()}
        visitor.locator('[data-testid="stFileUploader"] input[type=file]').set_input_files(given)
        reads(visitor, said)
        harmless(visitor)


def downloaded(page: Page, name: str) -> bytes:
    with page.expect_download() as waited:
        page.get_by_role("button", name=name, exact=True).first.click()
    return Path(waited.value.path()).read_bytes()


def opened_file(page: Page, folder: Path, name: str, data: bytes) -> str:
    """A file as a person opens it, by itself; what is to be read in it."""
    path = folder / name
    path.write_bytes(data)
    other = page.context.new_page()
    other.goto(path.as_uri())
    other.wait_for_timeout(700)
    harmless(other, app=False)
    if (mark := other.locator(".barlayer .point path, .scatterlayer .points path").first).count():
        mark.hover(force=True)
        other.wait_for_timeout(200)
        harmless(other, app=False)
    said = " ".join((other.locator(":root").text_content() or "").split())
    other.close()
    return said


def test_names_files_and_shares(visitor: Page, browser: Browser, tmp_path: Path) -> None:
    go(visitor, "Concepts")
    field(visitor, "Its name")
    tab(visitor, "Search")
    field(visitor, "Words in title or text")
    visitor.get_by_text("Take it elsewhere").click()
    assert HEAVY[1] in opened_file(visitor, tmp_path, "pyldavis.html", downloaded(visitor, "pyldavis.html"))
    visitor.keyboard.press("Escape")
    go(visitor, "Explore")
    tab(visitor, "Concepts")
    visitor.get_by_test_id("stPopover").filter(has_text="Save").first.locator("button").first.click()
    visitor.get_by_role("button", name="Add to report").click()
    visitor.get_by_text("1 in the report.").wait_for()
    visitor.keyboard.press("Escape")

    visitor.get_by_test_id("stPopover").filter(has_text="Share").first.locator("button").first.click()
    visitor.get_by_text("Whoever has the link may look at this run").click()
    harmless(visitor)
    link = words(visitor.get_by_test_id("stCode").first)
    visitor.keyboard.press("Escape")
    stranger = watched(context := browser.new_context(viewport={"width": 1280, "height": 900}))
    stranger.goto(link)
    stranger.get_by_text("Somebody shares this run with you").wait_for()
    reads(stranger, f"on {NAME}")
    reads(stranger, f"1 {RUNS}")
    tab(stranger, "Documents")
    assert context.wrong == []  # type: ignore[attr-defined]
    context.close()

    go(visitor, "Report")
    for label in ("Figure 1", "Title of the report"):
        visitor.get_by_label(label).fill(f"</title></script>{RUNS}<script>window.hacked=1</script>")
        visitor.get_by_label(label).press("Control+Enter" if label == "Figure 1" else "Enter")
        harmless(visitor)
    with zipfile.ZipFile(io.BytesIO(downloaded(visitor, "Export ZIP"))) as report:
        read = opened_file(visitor, tmp_path, "report.html", report.read("report.html"))
        assert read.count(f"</script>{RUNS}<script>") == 3  # in the head of the page, too
        for name in report.namelist():
            if name.endswith(".svg"):
                opened_file(visitor, tmp_path, "figure.svg", report.read(name))


def test_a_named_run(page: Page, address: str) -> None:
    page.goto(f"{address}/?corpus=gaussians&method=kmeans")
    page.get_by_text("K-means on gaussians").wait_for()
    settle(page)
    go(page, "History")

    cells = page.locator("canvas td")  # what the table says to those who cannot see it
    for _ in range(20):
        with suppress(TimeoutError):
            cells.get_by_text("gaussians").first.wait_for(state="attached", timeout=2_000)
            break
        page.reload()  # the run is kept a moment after it is shown
        harmless(page)

    def chosen() -> None:
        table = page.get_by_test_id("stDataFrame").first.bounding_box()
        assert table is not None
        page.mouse.click(table["x"] + 16, table["y"] + 52)
        page.wait_for_function("() => !document.querySelector('input[aria-label=\"Name of the chosen run\"]').disabled")

    chosen()
    field(page, "Name of the chosen run")
    page.get_by_role("button", name="Name", exact=True).click()
    cells.get_by_text(RUNS, exact=True).wait_for(state="attached")
    page.reload()
    cells.get_by_text(RUNS, exact=True).wait_for(state="attached")
    field(page, "Find")
    chosen()  # it is found by its name
    with zipfile.ZipFile(io.BytesIO(downloaded(page, "Export"))) as runs:
        assert json.loads(runs.read("runs.json"))[0]["name"] == RUNS
    page.get_by_role("button", name="Open").first.click()
    page.get_by_text("K-means on gaussians").wait_for()
    harmless(page)


LESSON = f"""---
title: {RUNS} :smile: **bold** $x$
corpus: gaussians
methods: nmf
figure: plane
---
<script>window.hacked=1</script> <svg onload=window.hacked=1> {RUNS} <iframe srcdoc="<script>parent.hacked=1</script>"></iframe>

[go](javascript:window.hacked=1) <a href="javascript:window.hacked=1">go</a> *leaning*

## Question
Is this {RUNS} run?

## Answer
No: {RUNS} <script>window.hacked=1</script>
"""


def test_lessons_of_a_teacher(page: Page, address: str) -> None:
    folder = Path(os.environ["FACTSCOPE_HOME"]) / "lessons"
    folder.mkdir()
    (folder / "own <img src=x onerror=window.hacked=1>.md").write_text(LESSON)
    (folder / "wrong ![i](http:evil.invalid) **bold**.md").write_text(LESSON.replace("nmf", RUNS))
    try:
        page.goto(f"{address}/learn?lesson={quote('own <img src=x onerror=window.hacked=1>')}")
        page.locator(".factscope-player[data-drawn]").wait_for()
        page.get_by_text("Answer", exact=True).click()
        harmless(page)
        reads(page, "wrong ![i](http:evil.invalid) **bold**.md, line 4: There is no method")
        reads(page, f"{RUNS} :smile: **bold** $x$ <script>window.hacked=1</script>")
        reads(page, f"No: {RUNS}")
    finally:
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()


# Every field and every link


FIELDS = {  # what a person can type or hand over, and the test that does it with markup
    "'Upload a corpus'": test_every_format,
    "'Search titles and texts'": test_every_page_and_field,
    "'Paste a text'": test_every_page_and_field,
    "'Dask scheduler'": test_every_page_and_field,
    "label": test_every_page_and_field,  # of ui.links.values: the lists of numbers on Sensitivity and Choose
    "'Its name'": test_names_files_and_shares,
    "'Words in title or text'": test_names_files_and_shares,
    "'Title of the report'": test_names_files_and_shares,
    "f'{what} {counts[what]}'": test_names_files_and_shares,  # captions
    "'Read pairs (CSV: first,second,kind)'": test_pairs_of_documents,
    "'Name of the chosen run'": test_a_named_run,
    "'Find'": test_a_named_run,
}
PARAMETERS = {  # of links, by page; markup in each of them at once
    "": "view colour against method weighting kernel solver restarts seed k.* lccf.lam lccf.p lccf.max_iter lccf.graph lccf.init",
    "concepts": "relevance",
    "corpus": "gaussians.classes gaussians.at_most",
    "compare": "compare compare.own compare.k.* compare.seeds compare.steps",
    "coordinates": "figure.show figure.k.* figure.ncw figure.eta figure.seed",
    "constraints": "known share alpha constraints.p constraints.lam constraints.k.* constraints.seed",
    "sensitivity": "sweep sweep.methods sweep.x sweep.y sweep.x.lam sweep.y.lam sweep.on.* sweep.runs sweep.scores sweep.method sweep.k.* "
    "sweep.seeds",
    "choose": "choose.method choose.k.* choose.values.LCCF-NCW choose.runs choose.share choose.criterion",
    "tables": "table table.k.gnmf-2 table.methods.gnmf-2 table.runs",
    "learn": "learn lesson present card",
    "learn?learn=steps": "learn.corpus learn.methods learn.view learn.follow learn.k.* learn.steps learn.seed learn.row",
}  # fmt: skip


def written() -> tuple[set[str], set[str]]:
    """The labels of all fields in the pages' source, and the keys of all links: * stands for what is only known when the page is drawn."""
    keys = {"choice": 3, "option": 3, "choices": 3, "stops": 3, "slider": 4, "number": 4, "values": 3, "switch": 1}
    labels, linked = set(), set()
    for file in (*ROOT.glob("pages/*.py"), *ROOT.glob("ui/*.py")):
        for call in (n for n in ast.walk(ast.parse(file.read_text())) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)):
            if call.func.attr in ("text_input", "text_area", "data_editor", "file_uploader", "chat_input"):
                labels.add(ast.unparse(call.args[0]))
            elif ast.unparse(call.func.value) == "links" and call.func.attr in keys:
                key = call.args[keys[call.func.attr]]
                if isinstance(key, ast.Constant):
                    linked.add(str(key.value))
                elif isinstance(key, ast.JoinedStr):
                    linked.add("".join(str(part.value) if isinstance(part, ast.Constant) else "*" for part in key.values))
    return labels, linked


def test_no_field_and_no_link_is_forgotten() -> None:
    labels, linked = written()
    assert labels == set(FIELDS)
    known = " ".join(PARAMETERS.values()).split()
    assert [key for key in linked if not fnmatch.filter(known, key)] == []


def test_links_that_carry_markup(page: Page, address: str) -> None:
    own = fc.load_corpus("gaussians").select(at_most=4).fingerprint[:8]  # few documents are soon done
    page.goto(f"{address}/?corpus={quote(RUNS)}&shared={quote(RUNS)}")
    expect(page.get_by_test_id("stAlert")).to_contain_text("no such shared run")
    harmless(page)
    for place, keys in PARAMETERS.items():
        said = "&".join(f"{key.replace('*', own)}={quote(PAYLOADS[i % len(PAYLOADS)])}" for i, key in enumerate(keys.split()))
        real = "" if place == "corpus" else "gaussians.at_most=4&"
        page.goto(f"{address}/{place}{'&' if '?' in place else '?'}corpus=gaussians&figure.corpus=gaussians&{real}{said}")
        page.get_by_test_id("stMain").wait_for()
        harmless(page)
