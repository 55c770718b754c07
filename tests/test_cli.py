"""The command line, called as a person calls it."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fact_core as fc
from fact_core.__main__ import main
from fact_core.algorithms import algorithms

ROOT = Path(__file__).parent.parent


@pytest.fixture
def table(tmp_path: Path) -> Path:
    words = {"sea": "ship wave harbour sail anchor", "bread": "flour oven yeast dough crust", "star": "planet orbit comet telescope moon"}
    rows = []
    for i in range(24):
        topic = list(words)[i % 3]
        chosen = words[topic].split()
        rows.append((topic, " ".join(chosen[j] for j in range(5) if (i // 3 + j) % 5) + " thing"))
    path = tmp_path / "small.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("label", "text"), *rows])
    return path


def say(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(a) for a in arguments])
    out = capsys.readouterr()
    return code, out.out, out.err


def test_lists(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = say(capsys, "algorithms", "--json")
    assert code == 0
    assert {row["key"] for row in json.loads(out)} == set(algorithms())
    defaults = {(row["key"], p["name"]): p["default"] for row in json.loads(out) for p in row["parameters"]}
    assert defaults["lccf", "lam"] == 100.0
    code, out, _ = say(capsys, "corpora", "--json")
    assert code == 0
    assert {"scipy-docs", "three-topics", "digits", "gaussians"} <= {row["name"] for row in json.loads(out)}
    for command in ("algorithms", "corpora"):
        code, out, _ = say(capsys, command)
        assert code == 0
        assert len(out.splitlines()) > 3


def test_run_gives_what_fit_gives(capsys: pytest.CaptureFixture[str], table: Path) -> None:
    code, out, err = say(
        capsys, "run", "--corpus", table, "--algorithm", "lccf", "--clusters", 3, "--set", "lam=50", "--set", "p=4",
        "--set", "weighting=ncw", "--max-iter", 40, "--restarts", 2, "--seed", 7, "--json",
    )  # fmt: skip
    assert (code, err) == (0, "")
    said = json.loads(out)
    result = fc.fit(fc.load_corpus(table), "lccf", n_clusters=3, lam=50, p=4, weighting="ncw", max_iter=40, restarts=2, seed=7)
    assert said["objective"] == result.objective.tolist()
    assert said["scores"] == result.scores
    assert said["parameters"]["lam"] == 50
    assert said["parameters"]["weighting"] == "ncw"
    assert (said["n_documents"], said["n_terms"], said["n_clusters"]) == (24, len(result.corpus.terms), 3)
    assert said["stopped"] == "budget"
    assert said["seconds"] > 0
    assert said["concepts"][0][0] == list(result.concepts(1)[0][0])


def test_run_in_words_and_to_files(capsys: pytest.CaptureFixture[str], table: Path, tmp_path: Path) -> None:
    code, out, _ = say(capsys, "run", "--corpus", table, "--algorithm", "NMF-NCW", "--classes", "sea,star", "--out", tmp_path / "run")
    assert code == 0
    assert "16 documents" in out
    assert "one single cluster: 0.500" in out
    tables = {"documents.csv", "concepts.csv", "coordinates.csv", "assignments.csv", "terms.csv"}
    assert {p.name for p in (tmp_path / "run").iterdir()} == {"result.json", "factors.npz", *tables}
    with np.load(tmp_path / "run" / "factors.npz", allow_pickle=False) as factors:
        assert factors["V"].shape == (16, 2)
    with open(tmp_path / "run" / "documents.csv", encoding="utf-8") as file:
        assert len(list(csv.reader(file))) == 17


def test_classes_by_size_and_at_random(capsys: pytest.CaptureFixture[str], table: Path) -> None:
    for chosen, n in ((["--random-classes", 2], 16), (["--largest", 1, "--clusters", 2], 8), (["--min-size", 5, "--at-most", 4], 12)):
        code, out, _ = say(capsys, "run", "--corpus", table, "--algorithm", "kmeans", *chosen, "--json")
        assert code == 0
        assert json.loads(out)["n_documents"] == n


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["run", "--corpus", "no-such-corpus", "--algorithm", "nmf"], "no-such-corpus"),
        (["run", "--corpus", "TABLE", "--algorithm", "nfm"], "did you mean “nmf”"),
        (["run", "--corpus", "TABLE", "--algorithm", "nmf", "--clusters", "99"], "between 1 and"),
        (["run", "--corpus", "TABLE", "--algorithm", "nmf", "--clusters", "0"], "at least 1"),
        (["run", "--corpus", "TABLE", "--algorithm", "nmf", "--clusters", "three"], "--clusters"),
        (["run", "--corpus", "TABLE", "--algorithm", "lccf", "--set", "lam=-1"], "λ (lam) must lie between"),
        (["run", "--corpus", "TABLE", "--algorithm", "lccf", "--set", "lamda=1"], "no parameter “lamda”"),
        (["run", "--corpus", "TABLE", "--algorithm", "lccf", "--set", "lam"], "NAME=VALUE"),
        (["run", "--corpus", "TABLE", "--algorithm", "lccf", "--classes", "moon"], "no class"),
        (["run", "--corpus", "TABLE", "--algorithm", "lccf", "--random-classes", "9"], "9 classes"),
        (["run", "--corpus", "TABLE", "--algorithm", "lccf", "--min-size", "1000"], "No class"),
        (["run", "--corpus", "TABLE", "--algorithm", "nmf", "--set", "kernel=rbf"], "linear one"),
        (["run", "--algorithm", "nmf"], "--corpus"),
        (["dance"], "dance"),
        ([], "required"),
    ],
)
def test_mistakes_get_one_sentence_and_code_2(capsys: pytest.CaptureFixture[str], table: Path, arguments: list[str], word: str) -> None:
    code, out, err = say(capsys, *[str(table) if a == "TABLE" else a for a in arguments])
    assert (code, out) == (2, "")
    assert word in err
    assert len(err.strip().splitlines()) == 1
    assert "Traceback" not in err


def test_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "fact_core", "run", "--corpus", "gaussians", "--algorithm", "kmeans"],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0
    assert "accuracy" in done.stdout
