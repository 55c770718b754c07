"""The papers' tables recomputed, and the two commands that run studies."""

from __future__ import annotations

import csv
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel, wilcoxon

import fact_core as fc
from fact_core import tables
from fact_core.__main__ import main
from fact_core.jobs import jobs
from fact_core.printed import TABLES
from fact_core.study import Study

ROOT = Path(__file__).parent.parent
COLUMNS = ["table", "k", "method", "runs", "accuracy", "accuracy_sd", "nmi", "nmi_sd", "printed_accuracy", "printed_nmi"]


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACTSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("FACTSCOPE_SCHEDULER", raising=False)


def rows(values: dict[tuple[int, str], list[float]]) -> pd.DataFrame:
    """Tidy rows of made-up runs."""
    return pd.DataFrame(
        [
            {"k": k, "method": method, "seed": seed, "score": score, "value": value / (1 + (score == "nmi"))}
            for (k, method), run in values.items()
            for seed, value in enumerate(run)
            for score in ("accuracy", "nmi")
        ]
    )


MADE_UP = {
    (3, "KM"): [0.9, 0.8, 0.7, 0.75, 0.6], (3, "GNMF"): [1.0, 0.9, 0.9, 0.96, 0.99],
    (6, "KM"): [0.5, 0.4, 0.6, 0.55, 0.3], (6, "GNMF"): [0.9, 0.95, 0.8, 0.9, 0.7],
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_a_study(name: str) -> None:
    study, table = tables.table_study(name), TABLES[name]
    assert (study.corpus, study.draws, len(study.seeds)) == (table.corpus, table.ks, table.runs)
    cells = study.cells()
    assert len(cells) == len(table.ks) * table.runs * len(table.methods)
    assert Study.from_json(study.as_json()) == study
    for cell in cells[:: len(cells) // 50]:
        assert (cell.select["random"], cell.select["seed"]) == (cell.select["random"], cell.seed)


def test_the_settings_are_the_papers() -> None:
    def options(table: str, method: str) -> dict[str, Any]:
        return next(dict(m.options) for m in tables.table_study(table).methods if m.name == method)

    assert options("gnmf-2", "GNMF") == {"lam": 10.0, "p": 5}
    assert options("lccf-4", "LCCF-NCW poly2") == {"lam": 100.0, "p": 5}
    assert options("pspt-2", "NC-PSPt") == {"eta": 0.8, "restarts": 10, "warm_up": tables.WHOLE}
    assert options("rcf-6", "RCF") == {"lam": 100.0, "p": 4, "alpha": 0.3, "share": 0.02, "max_iter": 400}
    assert "share" not in options("rcf-6", "CF")
    assert options("lcf-3", "CF")["max_iter"] == 2000
    chosen = tables.table_study("LCCF-4", [3, 3, 2], 7, ["lccf-ncw", "km"])
    assert (chosen.draws, len(chosen.seeds), [m.name for m in chosen.methods]) == ((3, 2), 7, ["LCCF-NCW", "KM"])
    with pytest.raises(fc.FactScopeError, match="draws from 30 classes, so k cannot be 31"):
        tables.table_study("gnmf-2", [31])
    with pytest.raises(fc.FactScopeError, match="did you mean"):
        tables.table_study("lccf-3")


@pytest.mark.parametrize("name", tables.FIGURES)
def test_every_figure_is_a_study_of_its_corpora(name: str) -> None:
    for corpus in tables.FIGURES[name][1]:
        study = tables.figure_study(name, corpus)
        assert study.cells()
        assert corpus in study.title
    with pytest.raises(fc.FactScopeError, match="did you mean"):
        tables.figure_study("lccf-fig-9")


def test_recomputed_beside_printed() -> None:
    made = rows(MADE_UP)
    table = tables.beside_printed("gnmf-2", made)
    assert list(table.columns[: len(COLUMNS)]) == COLUMNS
    gnmf = table[(table["k"] == 3) & (table["method"] == "GNMF")].iloc[0]
    assert gnmf["accuracy"] == pytest.approx(0.95)
    assert gnmf["accuracy_sd"] == pytest.approx(np.std(MADE_UP[3, "GNMF"], ddof=1))
    assert (gnmf["printed_accuracy"], gnmf["printed_nmi"], gnmf["runs"], gnmf["best"]) == (0.997, 0.979, 5, True)
    assert gnmf["accuracy_difference"] == pytest.approx(-4.7)
    km = table[(table["k"] == 3) & (table["method"] == "KM")].iloc[0]
    assert km["p_best"] == pytest.approx(wilcoxon(MADE_UP[3, "KM"], MADE_UP[3, "GNMF"]).pvalue)
    means = tables.averages(table).set_index("method")
    assert means.loc["GNMF", "printed_accuracy"] == pytest.approx((0.997 + 0.981) / 2)
    assert means.loc["GNMF", "accuracy"] == pytest.approx(0.9)
    test = tables.significance(made).iloc[0]
    a, b = (np.concatenate([MADE_UP[k, m] for k in (3, 6)]) for m in ("KM", "GNMF"))
    assert (test["method"], test["against"], test["pairs"]) == ("KM", "GNMF", 10)
    assert test["difference"] == pytest.approx(100 * (a - b).mean())
    assert test["wilcoxon"] == pytest.approx(wilcoxon(a, b).pvalue)
    assert test["t"] == pytest.approx(ttest_rel(a, b).pvalue)


def test_both_measures_of_an_experiment_printed_in_two_tables() -> None:
    table = tables.beside_printed("lccf-4", rows({(10, "LCCF-NCW"): [0.9]}))
    row = table.iloc[0]
    assert row["printed_accuracy"] == 0.957
    assert row["printed_nmi"] > 0.9
    assert np.isnan(row["accuracy_sd"])
    assert np.isnan(tables.beside_printed("gnmf-2", rows({(3, "cf"): [0.9]})).iloc[0]["printed_nmi"])


def test_paired_tests_where_nothing_or_everything_differs() -> None:
    same = np.array([0.5, 0.6, 0.7])
    assert tables.paired(same, same) == {"wilcoxon": 1.0, "t": 1.0}
    assert tables.paired(same, same + 0.1)["t"] == 0.0
    assert all(np.isnan(p) for p in tables.paired(same[:1], same[:1]).values())


def test_latex_has_booktabs_bold_best_and_columns_that_match() -> None:
    made = {key: values for key, values in MADE_UP.items() if key != (6, "KM")} | {(3, "LSI"): [0.1], (6, "LSI"): [0.2]}
    text = tables.latex("gnmf-2", tables.beside_printed("gnmf-2", rows(made)))
    assert r"\usepackage{booktabs}" in text
    assert text.count("{") == text.count("}")
    for begin in re.findall(r"\\begin\{(\w+)\}", text):
        assert text.count(rf"\begin{{{begin}}}") == text.count(rf"\end{{{begin}}}")
    for spec, body in re.findall(r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", text, re.S):
        lines = [line for line in body.split("\n") if line.endswith(r"\\")]
        assert {line.count("&") for line in lines} == {len(spec) - 1}
        best = [line for line in lines if "textbf" in line]
        assert len(best) == 1
        assert best[0].startswith("GNMF")
        assert best[0].count("textbf") == 3
        assert any("--" in line for line in lines)  # KM was not run at k = 6
    assert "(99.7)" in text
    assert tables.escaped("2 % & a_b") == r"2 \% \& a\_b"


# The command line ---------------------------------------------------------------------------------------------------------


def say(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(a) for a in arguments])
    out = capsys.readouterr()
    return code, out.out, out.err


SWEEP = ("sweep", "--corpus", "gaussians", "--algorithm", "lccf,KM", "--axis", "lam=1,100", "--axis", "p=3,5", "--max-iter", 20)


def test_sweep_gives_what_fit_gives(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, err = say(capsys, *SWEEP, "--seeds", 2, "--restarts", 2, "--set", "weighting=ncw", "--out", tmp_path / "rows.csv", "--json")
    assert (code, err) == (0, "")
    said = json.loads(out)
    cells = {(r["method"], r["seed"], r["lam"], r["p"]) for r in said}
    assert len(cells) == 2 * 4 + 2
    assert ("KM", 1, None, None) in cells
    result = fc.fit(fc.load_corpus("gaussians"), "lccf", lam=100, p=3, seed=1, max_iter=20, restarts=2, weighting="ncw")
    mine = {r["score"]: r["value"] for r in said if (r["method"], r["seed"], r["lam"], r["p"]) == ("lccf", 1, 100.0, 3.0)}
    assert {s: mine[s] for s in result.scores} == pytest.approx(result.scores)
    with open(tmp_path / "rows.csv", encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == len(said)
    code, out, _ = say(capsys, *SWEEP, "--seeds", 2, "--restarts", 2, "--set", "weighting=ncw")  # from the store
    assert code == 0
    assert "accuracy" in out
    assert "±" in out


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["sweep", "--corpus", "no-such-corpus", "--algorithm", "nmf"], "no-such-corpus"),
        (["sweep", "--corpus", "gaussians", "--algorithm", "nfm"], "did you mean “nmf”"),
        (["sweep", "--corpus", "gaussians", "--algorithm", "lccf", "--axis", "lam"], "NAME=VALUE"),
        (["sweep", "--corpus", "gaussians", "--algorithm", "lccf", "--axis", "lam="], "no values"),
        (["sweep", "--corpus", "gaussians", "--algorithm", "lccf", "--axis", "lamb=1"], "did you mean “lam”"),
        (["sweep", "--corpus", "gaussians", "--algorithm", "lccf", "--axis", "lam=-1"], "must lie between"),
        (["sweep", "--corpus", "gaussians", "--algorithm", "lccf", "--seeds", "0"], "at least one seed"),
        (["sweep", "--corpus", "gaussians", "--algorithm", "lccf", "--random-classes", "9"], "9 classes"),
        (["sweep", "--corpus", "gaussians", "--algorithm", "lccf", "--workers", "0"], "number of workers"),
        (["sweep", "--corpus", "gaussians", "--algorithm", "lccf", "--out", "rows.xlsx"], ".csv or .json"),
        (["sweep", "--corpus", "gaussians", "--algorithm", "lccf", "--out", "nowhere/rows.csv"], "no folder"),
        (["table", "lccf-3"], "did you mean"),
        (["table", "lccf-4", "--k", "2..4"], "numbers such as 3,6,10"),
        (["table", "lccf-4", "--k", "99"], "k cannot be 99"),
        (["table", "lccf-4", "--methods", "LCCF-NCV"], "did you mean “LCCF-NCW”"),
        (["table", "lccf-4", "--runs", "0"], "at least one seed"),
        (["table", "lccf-4", "--out", "table.pdf"], ".tex"),
    ],
)
def test_mistakes_get_one_sentence_and_code_2(capsys: pytest.CaptureFixture[str], arguments: list[str], word: str) -> None:
    code, out, err = say(capsys, *arguments)
    assert (code, out) == (2, "")
    assert word in err
    assert len(err.strip().splitlines()) == 1


def test_interrupted_it_leaves_no_process_and_the_same_command_goes_on(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "fact_core", *map(str, SWEEP[:-1]), "30000", "--seeds", "3", "--json"]
    for end in (signal.SIGINT, signal.SIGTERM):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
        until = time.monotonic() + 60
        while not jobs() or not jobs()[0].status().running:
            assert time.monotonic() < until
            time.sleep(0.05)
        process.send_signal(end)
        _, err = process.communicate(timeout=10)
        assert process.returncode == 130
        assert err.strip() == "Stopped."
        assert not jobs()[0].running


@pytest.mark.parametrize(("table", "method", "runs"), [("gnmf-2", "GNMF", 2), ("lccf-4", "LCCF-NCW", 5), ("pspt-2", "NC-PSPt", 1)])
def test_tables_are_met(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    shared_data: Path,
    monkeypatch: pytest.MonkeyPatch,
    table: str,
    method: str,
    runs: int,
) -> None:
    """Within four points of the printed accuracy, averaged over three k."""
    monkeypatch.setenv("FACTSCOPE_DATA", str(shared_data))
    out = tmp_path / "table.csv"
    code, _, err = say(capsys, "table", table, "--k", "3,6,10", "--runs", runs, "--methods", method, "--resume", "--out", out)
    assert (code, err) == (0, "")
    found = pd.read_csv(out)
    assert list(found.columns[: len(COLUMNS)]) == COLUMNS
    assert list(found["k"]) == [3, 6, 10]
    assert set(found["runs"]) == {runs}
    assert abs(found["accuracy"].mean() - found["printed_accuracy"].mean()) < 0.04
    code, said, _ = say(capsys, "table", table, "--k", "3,6,10", "--runs", runs, "--methods", method)
    assert code == 0
    assert "avg" in said
