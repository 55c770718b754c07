"""Reports: the archive, the script that makes it again, its LaTeX, the command line, the page."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from figure_kinds import CAMERA, SOURCES, drawn, made
from streamlit.testing.v1 import AppTest

import fact_core as fc
from fact_core.__main__ import main
from fact_core.corpus import read_uploads
from fact_core.figures.static import Style
from fact_core.report.archive import Item, archive
from fact_core.report.captions import caption
from fact_core.report.files import as_file, latex_document, latex_table
from fact_core.report.kinds import Material
from fact_core.report.papers import PAPERS, paper_figure
from fact_core.report.source import Source, of_runs
from fact_core.study import Method, Study, run_cell

ROOT = Path(__file__).parent.parent


def upload() -> fc.Corpus:
    rows = "\n".join(
        f"{'ab'[i % 2]},{('iron silver gold', 'red green blue')[i % 2]} {('alpha', 'beta', 'gamma', 'delta')[i % 4]}" for i in range(20)
    )
    return read_uploads([("mine.csv", f"label,text\n{rows}".encode())], name="mine.csv")


def item(name: str) -> Item:
    source = SOURCES[name]
    whole = made(name).corpus
    return Item(replace(source, fingerprint=whole.fingerprint if whole is not None else ""), drawn(name), caption(source, made(name)))


def uploaded_item() -> Item:
    corpus = upload()
    result = fc.fit(corpus, "nmf", n_clusters=2, seed=3, max_iter=20)
    source = of_runs(
        "concepts", [("nmf", {"n_clusters": 2, "seed": 3, "max_iter": 20})], corpus="mine.csv (uploaded)", reading={}, select={},
        fingerprint=corpus.fingerprint,
    )  # fmt: skip
    material = Material(corpus=corpus, results=[result], names=["NMF"])
    return Item(source, source.about.draw(material), caption(source, material), corpus)


def test_a_source_is_plain_data() -> None:
    for source in SOURCES.values():
        assert Source.from_json(json.loads(json.dumps(source.as_json()))) == source
    for printed in PAPERS:
        source = paper_figure(printed)
        assert Source.from_json(source.as_json()) == source
        assert source.study.cells()
        source.about.check(source.view)
    with pytest.raises(fc.FactScopeError, match="no settings of a figure"):
        Source.from_json({"kind": "bases"})


def test_the_archive_is_made_again_by_its_script(tmp_path: Path) -> None:
    items = [item("coordinates"), uploaded_item(), item("sensitivity"), item("scores")]
    data = archive(items, Style("acm-1", font="serif"), "A report of <mine>")
    assert archive(items, Style("acm-1", font="serif"), "A report of <mine>") == data
    (tmp_path / "out").mkdir()
    with zipfile.ZipFile(io.BytesIO(data)) as zipped:
        zipped.extractall(tmp_path / "out")  # our own archive, made two lines above
        assert zipped.getinfo("reproduce.sh").external_attr >> 16 & 0o111
    there = tmp_path / "out"
    names = {p.relative_to(there).as_posix() for p in there.rglob("*") if p.is_file()}
    pictures = {f"figures/{n}.{k}" for n in ("01-coordinates", "02-concepts", "03-sensitivity") for k in ("pdf", "svg", "png", "csv")}
    assert pictures | {"tables/04-scores.csv", "tables.tex", "report.html", "settings.json", "reproduce.sh"} <= names
    page = (there / "report.html").read_text(encoding="utf-8")
    assert "A report of &lt;mine&gt;" in page
    assert all(f'id="{n}"' in page for n in ("01-coordinates", "02-concepts", "03-sensitivity"))
    assert not re.search(r"(src|href)=", re.sub(r"<script.*?</script>", "", page, flags=re.S))  # nothing from elsewhere
    assert not re.search(r"<script[^>]*src", page)
    said = json.loads((there / "settings.json").read_text(encoding="utf-8"))
    assert said["style"] == {"width": "acm-1", "font": "serif"}
    assert said["figures"][0]["view"]["camera"] == CAMERA

    fresh = tmp_path / "fresh"
    environment = os.environ | {"PYTHON": sys.executable, "PYTHONPATH": str(ROOT), "FACTSCOPE_HOME": str(tmp_path / "home")}
    done = subprocess.run(["sh", str(there / "reproduce.sh"), str(fresh)], capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "is not what it was" not in done.stderr
    for path in sorted(pictures | {"tables/04-scores.csv"}):
        old, new = (there / path).read_bytes(), (fresh / path).read_bytes()
        if path.endswith(".csv"):
            assert new == old, path
        if path.endswith(".svg"):
            drawings = [re.findall(r' d="([^"]*)"| (?:x|y)="([^"]*)"', text.decode()) for text in (old, new)]
            assert len(drawings[0]) > 10
            assert drawings[0] == drawings[1], path


@pytest.mark.parametrize("name", ["scores", "paper-table"])
def test_latex_of_tables_is_sound(name: str) -> None:
    with zipfile.ZipFile(io.BytesIO(archive([item(name)]))) as zipped:
        text = zipped.read("tables.tex").decode()
    parsed(text)
    assert r"\usepackage{booktabs}" in text
    compiled(text)


def test_latex_takes_any_words() -> None:
    odd = pd.DataFrame(
        {"a_b & c%": ["#1 {x} ~ ^ \\ $5 <|>", "λ ± 3 “q” … – é ß", "中文 ★ \x07", None], "n": [0.5, float("nan"), 1e-9, 12345.678]}
    )
    text = latex_document([latex_table(odd, "Caption of 100 % _under_ & λ = 10")])
    parsed(text)
    compiled(text)


def parsed(text: str) -> None:
    """A small parser: environments and braces close, every row of a tabular has as many cells as there are columns."""
    bare = re.sub(r"\\[\\{}%&#$_]", "", text)
    depth = 0
    for sign in bare:
        depth += {"{": 1, "}": -1}.get(sign, 0)
        assert depth >= 0
    assert depth == 0
    open_ = []
    for what, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        if what == "begin":
            open_.append(name)
        else:
            assert open_.pop() == name
    assert not open_
    tabulars = re.findall(r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", text, flags=re.S)
    assert tabulars
    for columns, body in tabulars:
        rows = [r for r in re.split(r"\\\\", re.sub(r"\\(top|mid|bottom)rule", "", body)) if r.strip()]
        assert len(rows) > 1
        for row in rows:
            assert len(re.findall(r"(?<!\\)&", row)) == len(columns) - 1, row


def compiled(text: str) -> None:
    """Where there is LaTeX, it takes the document."""
    latex = shutil.which("pdflatex") or shutil.which("lualatex") or shutil.which("tectonic")
    look = shutil.which("kpsewhich")
    if latex is None or (look and not subprocess.run([look, "booktabs.sty"], capture_output=True, text=True).stdout.strip()):
        return
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "tables.tex").write_text(text, encoding="utf-8")
        options = [] if latex.endswith("tectonic") else ["-interaction=nonstopmode", "-halt-on-error"]
        done = subprocess.run([latex, *options, "tables.tex"], cwd=folder, capture_output=True, text=True, errors="replace", timeout=120)
        assert done.returncode == 0, done.stdout[-2000:]
        assert (Path(folder) / "tables.pdf").stat().st_size > 1000


def say(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(a) for a in arguments])
    out = capsys.readouterr()
    return code, out.out, out.err


def test_a_figure_from_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, err = say(
        capsys, "figure", "bases", "--corpus", "gaussians", "--algorithm", "nmf,lcf", "--clusters", 3, "--set", "max_iter=20",
        "--width", "ieee-2", *(x for kind in ("pdf", "svg", "png", "html", "csv") for x in ("--out", tmp_path / f"b.{kind}")),
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert out.startswith("Points of gaussians by cluster, and the bases (diamonds) found by NMF and LCF.")
    assert (tmp_path / "b.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "b.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "b.svg").read_text()
    assert "Plotly.newPlot" in (tmp_path / "b.html").read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "b.csv").read_text())))
    nmf = fc.fit(fc.load_corpus("gaussians"), "nmf", n_clusters=3, max_iter=20)
    found = [float(r["x"]) for r in rows if (r["method"], r["what"]) == ("NMF", "basis")]
    assert found == pytest.approx(nmf.basis[0].tolist())
    code, out, _ = say(capsys, "figure", "bases", "--corpus", "gaussians", "--algorithm", "nmf,lcf", "--set", "max_iter=20", "--json")
    (tmp_path / "s.json").write_text(out, encoding="utf-8")
    assert say(capsys, "figure", "bases", "--settings", tmp_path / "s.json", "--out", tmp_path / "c.csv")[0] == 0
    assert (tmp_path / "c.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_a_figure_of_a_kept_run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fact_core.store import Store

    monkeypatch.setenv("FACTSCOPE_HOME", str(tmp_path))
    study = Study(
        "three-topics", (Method("CF"),), options={"n_clusters": 3, "max_iter": 15}, classes={"classes": ["scipy.optimize", "streamlit"]}
    )
    (cell,) = study.cells()
    done = run_cell(cell, fc.load_corpus("three-topics"), source={"corpus": "three-topics", "reading": {}})
    assert done is not None
    Store().keep(*done)
    Store().name(done[0].address, "mine")
    for run in (done[0].address, "mine"):
        code, out, err = say(capsys, "figure", "confusion", "--run", run, "--out", tmp_path / "c.csv")
        assert (code, err) == (0, "")
        assert "69 documents in 2 classes; k = 3" in out
    table = pd.read_csv(tmp_path / "c.csv")
    assert table[table.columns[1:]].to_numpy().sum() == 69
    code, _, err = say(capsys, "figure", "confusion", "--run", "nobody", "--out", tmp_path / "c.csv")
    assert code == 2
    assert "no run “nobody”" in err


def test_the_figures_of_the_papers_on_built_ins(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name in ("pspt-fig-1", "lcf-fig-5"):
        code, _, err = say(capsys, "figure", name, "--out", tmp_path / f"{name}.svg")
        assert (code, err) == (0, "")
    words = (tmp_path / "pspt-fig-1.svg").read_text()
    assert all(part in words for part in ("(a) affinity", "(b) eigenvectors", "(c) NMF-HHt", "(d) NMF-PSPt"))


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["convergence"], "--out"),
        (["convergance", "--corpus", "gaussians", "--algorithm", "nmf", "--out", "x.pdf"], "did you mean “convergence”"),
        (["convergence", "--corpus", "gaussians", "--out", "x.pdf"], "one run"),
        (["convergence", "--corpus", "gaussians", "--algorithm", "nmf", "--out", "x.doc"], ".pdf"),
        (["convergence", "--corpus", "gaussians", "--algorithm", "nmf,cf", "--out", "x.pdf"], "shows one run"),
        (["basis-images", "--corpus", "gaussians", "--algorithm", "nmf", "--out", "x.pdf"], "no collection of images"),
        (["bases", "--corpus", "three-topics", "--algorithm", "nmf", "--out", "x.pdf"], "dimensions"),
        (["convergence", "--corpus", "gaussians", "--algorithm", "nmf", "--width", "ieee-9", "--out", "x.pdf"], "ieee"),
        (["convergence", "--corpus", "gaussians", "--algorithm", "nmf", "--view", "scale=log", "--out", "x.pdf"], "scale"),
        (["convergence", "--settings", "none.json", "--out", "x.pdf"], "cannot be read"),
        (["convergence", "--corpus", "gaussians", "--algorithm", "nmf", "--run", "a", "--out", "x.pdf"], "one of them"),
        (["convergence", "--corpus", "gaussians", "--algorithm", "nmf", "--axis", "lam=1", "--out", "x.pdf"], "no --axis"),
        (["scores", "--corpus", "gaussians", "--algorithm", "nmf", "--out", "x.pdf"], "csv, tex or html"),
        (["cluster-sizes", "--corpus", "gaussians", "--algorithm", "nmf", "--out", "no/folder/x.pdf"], "no folder"),
        (["curves", "--corpus", "gaussians", "--algorithm", "spectral", "--out", "x.pdf"], "solved in one go"),
    ],
)  # fmt: skip
def test_mistakes_get_one_sentence_and_code_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], word: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = say(capsys, "figure", *arguments)
    assert (code, out) == (2, "")
    assert word in err
    assert len(err.strip().splitlines()) == 1
    assert not list(tmp_path.glob("x.*"))


def test_settings_of_another_corpus_are_noticed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source = replace(SOURCES["bases"], fingerprint="0" * 16)
    (tmp_path / "s.json").write_text(json.dumps(source.as_json()), encoding="utf-8")
    code, _, err = say(capsys, "figure", "bases", "--settings", tmp_path / "s.json", "--out", tmp_path / "x.csv")
    assert code == 0
    assert "is not what it was when this figure was made" in err
    code, _, err = say(capsys, "figure", "agreement", "--settings", tmp_path / "s.json", "--out", tmp_path / "x.csv")
    assert code == 2
    assert "settings of the figure “bases”" in err


def test_words_that_a_spreadsheet_would_run_are_made_harmless() -> None:
    table = drawn("scores")
    sly = replace(table, numbers=table.numbers.assign(method=["=cmd()", "@x"]))
    assert b"'=cmd()" in as_file(sly, "csv")


# The page --------------------------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    import ui.runs

    monkeypatch.setattr(ui.runs, "PATIENCE", 100.0)


def report_page(*names: str) -> AppTest:
    from ui.report import Entry

    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.session_state["report"] = [Entry(item(name), item(name).caption) for name in names]
    app.run()
    app.switch_page("pages/report.py").run()
    assert not app.exception, app.exception
    return app


def test_the_report_page_orders_captions_and_styles() -> None:
    app = report_page("convergence", "scores", "confusion")
    fields = [t for t in app.text_area if t.label.startswith(("Figure", "Table"))]
    assert [t.label for t in fields] == ["Figure 1", "Table 1", "Figure 2"]
    assert fields[0].value.startswith("Convergence of LCCF on three-topics")
    fields[0].set_value("My own words.")
    app.run()
    next(b for b in app.button if b.label == "Down").click()
    app.run()
    entries = app.session_state["report"]
    assert [e.item.source.kind for e in entries] == ["scores", "convergence", "confusion"]
    assert entries[1].caption == "My own words."
    next(b for b in app.button if b.label == "Remove").click()
    app.selectbox(key="report.width").set_value("slide")
    app.run()
    assert [e.item.source.kind for e in app.session_state["report"]] == ["convergence", "confusion"]
    assert app.session_state["figure style"].width == "slide"
    assert not app.exception


def test_an_empty_report_says_how_to_fill_it() -> None:
    app = report_page()
    assert "Add to report" in app.info[0].value


@pytest.mark.parametrize("name", ["cf", "NC-PSPt", "rcf"])
def test_what_a_page_shows_is_what_its_source_makes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The figures a page would put into a report, made again from their plain data."""
    import ui.figures

    seen: list[ui.figures.Made] = []
    shown = ui.figures.menu
    monkeypatch.setattr(ui.figures, "menu", lambda made, *more: (seen.append(made), shown(made, *more)))
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.query_params["corpus"], app.query_params["method"], app.query_params["restarts"] = "three-topics", name, "2"
    app.query_params["seed"] = "4"
    app.run()
    assert not app.exception
    assert [m.source.kind for m in seen] == ["convergence", "confusion", "cluster-sizes"]
    assert not any("drawn" in vars(m) for m in seen)  # fragments are held as long as their visitor is there: not their figures
    from fact_core.report.source import built

    for one in seen:
        again, _ = built(Source.from_json(one.source.as_json()), lambda *_: pytest.fail("no study"))
        assert as_file(again, "csv") == as_file(one.drawn, "csv")
