"""A result in other people's tools, and as plain tables."""

from __future__ import annotations

import csv
import io
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from helpers import small_corpus

import fact_core as fc
from fact_core import friends
from fact_core.__main__ import main
from fact_core.tabular import assignments_csv, coordinates_csv, terms_csv


@pytest.fixture(scope="module")
def result() -> fc.Result:
    return fc.fit(fc.load_corpus("three-topics"), "lccf", n_clusters=3, restarts=2, max_iter=60)


def test_shares_add_up_to_one_whatever_is_empty(result: fc.Result) -> None:
    V, U = friends.shares(result)
    assert np.allclose(V.sum(axis=1), 1)
    assert np.allclose(U.sum(axis=1), 1)
    assert np.allclose(V * result.embedding.sum(axis=1, keepdims=True), result.embedding)
    X = sp.csr_array(np.vstack([small_corpus().counts, np.zeros((1, 18))]))
    empty = fc.fit(fc.from_matrix(X), "nmf", n_clusters=3, max_iter=5)
    assert np.allclose(friends.shares(empty)[0][-1], 1 / 3)
    with pytest.raises(fc.FactScopeError, match="negative coordinates"):
        friends.shares(fc.fit(result.corpus, "lsi", n_clusters=3))


def test_pyldavis_keeps_the_numbers_of_the_concepts(result: fc.Result) -> None:
    pytest.importorskip("pyLDAvis", reason="pyLDAvis is not installed")
    prepared = friends.to_pyldavis(result)
    assert list(prepared.topic_coordinates["topics"]) == [1, 2, 3]
    V, _ = friends.shares(result)
    length = np.asarray(result.corpus.counts.sum(axis=1)).ravel()
    expected = (V * length[:, None]).sum(axis=0)
    assert np.allclose(prepared.topic_coordinates["Freq"], 100 * expected / expected.sum())
    shown = prepared.topic_info
    for c, terms in enumerate(result.concepts(3), start=1):
        assert {term for term, _ in terms} <= set(shown[shown["Category"] == f"Topic{c}"]["Term"])


def test_the_page_of_pyldavis_loads_nothing_from_the_web(result: fc.Result) -> None:
    pytest.importorskip("pyLDAvis", reason="pyLDAvis is not installed")
    page = friends.pyldavis_page(result)
    assert "https://d3js.org" not in page
    assert "cdn.jsdelivr" not in page
    assert page.count("data:text/javascript;base64,") >= 2
    assert "data:text/css;base64," in page
    assert result.concepts(1)[0][0][0] in page


def test_what_pyldavis_cannot_show_is_said(result: fc.Result) -> None:
    pytest.importorskip("pyLDAvis", reason="pyLDAvis is not installed")
    assert friends.pyldavis_refusal(result) is None
    assert "two concepts" in friends.pyldavis_refusal(fc.fit(result.corpus, "nmf", n_clusters=1, max_iter=2))
    assert "negative" in friends.pyldavis_refusal(fc.fit(result.corpus, "lsi", n_clusters=3))
    two = fc.fit(result.corpus, "nmf", n_clusters=2, max_iter=5)
    assert len(friends.to_pyldavis(two).topic_coordinates) == 2


def test_topicwizards_data(result: fc.Result) -> None:
    data = friends.to_topicwizard(result)
    corpus, n, m = result.corpus, len(result.corpus), len(result.corpus.terms)
    assert len(data["corpus"]) == n
    assert data["document_term_matrix"].shape == data["document_representation"].shape == (n, m)
    assert data["document_topic_matrix"].shape == (n, 3)
    assert data["topic_term_matrix"].shape == (3, m)
    assert list(data["vocab"]) == list(corpus.terms)
    assert data["topic_names"][0].startswith(f"1: {result.concepts(1)[0][0][0]}")
    assert friends.to_topicwizard(result, ["a", "b", "c"])["topic_names"] == ["a", "b", "c"]
    assert np.allclose(data["transform"](["eigenvalues of a matrix"]), result.place("eigenvalues of a matrix").embedding)
    assert friends.to_topicwizard(fc.fit(small_corpus(), "nmf", n_clusters=3, max_iter=5))["transform"] is None


def test_topicwizard_itself_draws_it(result: fc.Result) -> None:
    figures = pytest.importorskip("topicwizard.figures", reason="topicwizard is not installed: it holds Pillow below 11")
    bars = figures.topic_barcharts(friends.to_topicwizard(result), top_n=5)
    assert {term for term, _ in result.concepts(5)[0]} & set(bars.data[0].y)


@pytest.mark.parametrize(("call", "name"), [("to_pyldavis", "pyLDAvis"), ("open_in_topicwizard", "topicwizard")])
def test_a_friend_who_is_not_there_is_named(call: str, name: str, result: fc.Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(fc.FactScopeError, match=f"{name} is not installed; pip install 'factscope"):
        getattr(friends, call)(result)


def test_plain_tables(result: fc.Result) -> None:
    coordinates, assignments, terms = (list(csv.reader(io.StringIO(t(result)))) for t in (coordinates_csv, assignments_csv, terms_csv))
    assert coordinates[0] == ["document", "concept 1", "concept 2", "concept 3"]
    assert np.array_equal(np.array(coordinates[1:], dtype=float)[:, 1:], result.embedding)
    assert np.array_equal(np.array([row[1:] for row in terms[1:]], dtype=float), result.basis)
    assert [row[0].lstrip("'") for row in terms[1:]] == list(result.corpus.terms)
    assert [int(row[3]) - 1 for row in assignments[1:]] == result.labels.tolist()
    assert [row[2] for row in assignments[1:]] == [result.corpus.label_names[c] for c in result.corpus.labels]
    assert {row[4] for row in assignments[1:]} == {"0"}
    told = fc.fit(result.corpus, "semi_lccf", n_clusters=3, share=0.1, restarts=1, max_iter=5)
    marks = [row[4] for row in csv.reader(io.StringIO(assignments_csv(told)))][1:]
    assert np.array_equal(np.flatnonzero(np.array(marks) == "1"), told.supervised)


def test_the_command_line_writes_them(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    assert main(["run", "--corpus", "three-topics", "--algorithm", "kmeans", "--out", str(tmp_path / "run")]) == 0
    written = {path.name for path in (tmp_path / "run").iterdir()}
    assert {"coordinates.csv", "assignments.csv", "terms.csv", "documents.csv", "concepts.csv", "result.json"} <= written
    capsys.readouterr()
