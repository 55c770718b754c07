"""Choosing k and λ without labels: the criteria, the study, the suggestion."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers import small_corpus
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

import fact_core as fc
from fact_core.__main__ import main
from fact_core.corpus.model import sample_rows
from fact_core.criteria import (
    agreement,
    coherence,
    consensus,
    consensus_documents,
    consensus_order,
    cophenetic,
    cut,
    mean_agreement,
    rand_index,
)
from fact_core.errors import FactScopeError
from fact_core.figures import consensus_matrix, correlation_bars, criterion_curves, setting_map
from fact_core.jobs import Job, start
from fact_core.report.files import as_file
from fact_core.report.kinds import Drawn
from fact_core.selection import (
    Evidence,
    correlations,
    evidence_of,
    judged,
    scored,
    selection_study,
    suggest,
    tunable,
    usual_values,
)
from fact_core.study import Study

# The criteria ----------------------------------------------------------------------------------------------------------------


def test_coherence_is_the_npmi_of_the_heaviest_terms() -> None:
    counts = np.array([[1, 1, 0, 0], [2, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    basis = np.array([[0.9, 0.0], [0.8, 0.0], [0.0, 0.5], [0.0, 0.7]])

    def npmi(both: float, a: float, b: float) -> float:
        return np.log(both / (a * b)) / -np.log(both)

    expected = (npmi(2 / 4, 3 / 4, 2 / 4) + npmi(1 / 4, 1 / 4, 2 / 4)) / 2
    assert coherence(basis, counts, 2) == pytest.approx(expected)
    assert coherence(basis, sp.csr_array(counts), 2) == pytest.approx(expected)
    never = np.array([[1.0], [0.0], [0.9], [0.0]])
    assert coherence(never, np.array([[1, 0, 0, 0], [0, 0, 1, 0]]), 2) == -1
    assert coherence(np.array([[1.0], [1.0]]), np.ones((3, 2)), 2) == 1
    assert np.isnan(coherence(np.array([[1.0], [0.0]]), np.ones((3, 2)), 2))  # one term is in no pair


def test_coherence_uses_only_the_heaviest_terms() -> None:
    counts = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1]])
    basis = np.array([[0.9], [0.8], [0.1]])
    assert coherence(basis, counts, 2) == pytest.approx(1.0)
    assert coherence(basis, counts, 3) < 0


def test_cut_is_the_share_of_edges_that_leave() -> None:
    S = sp.csr_array(np.array([[0, 1, 0, 1], [1, 0, 0, 0], [0, 0, 0, 2], [1, 0, 2, 0]], dtype=float))
    assert cut(S, np.array([0, 0, 1, 1]), 2) == pytest.approx((1 / 3 + 1 / 5) / 2)
    assert cut(S, np.array([0, 0, 0, 0]), 1) == 0
    assert cut(S, np.array([0, 0, 0, 0]), 2) == 0.5  # the empty cluster counts as lost


def test_agreement_is_taken_on_documents_both_runs_had() -> None:
    a = np.array([0, 0, 1, 1, -1, -1])
    b = np.array([1, 1, 0, 0, 0, -1])
    c = np.array([-1, -1, 0, 1, 0, 1])
    table = agreement([a, b, c])
    assert table[0, 1] == 1.0
    assert table[0, 2] == pytest.approx(0.0)
    assert np.array_equal(table, table.T)
    mean, error = mean_agreement(table)
    assert mean == pytest.approx((table[0, 1] + table[0, 2] + table[1, 2]) / 3)
    without = [table[1, 2], table[0, 2], table[0, 1]]
    assert error == pytest.approx(np.sqrt(2 / 3 * np.sum((without - np.mean(without)) ** 2)))
    assert np.isnan(mean_agreement(np.eye(1))[0])
    assert np.isnan(mean_agreement(np.ones((2, 2)))[1])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=2, max_size=30))
def test_rand_index_is_the_adjusted_one(pairs: list[tuple[int, int]]) -> None:
    a, b = np.array(pairs).T
    assert rand_index(a, b) == pytest.approx(adjusted_rand_score(a, b), abs=1e-12)


def test_consensus_and_cophenetic_correlation() -> None:
    runs = [np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]), np.array([0, 0, 1, -1]), np.array([0, 1, 1, 1])]
    C = consensus(runs, np.arange(4))
    assert C[0, 1] == pytest.approx(3 / 4)
    assert C[2, 3] == 1.0
    assert C[1, 3] == pytest.approx(1 / 3)
    assert np.array_equal(C, C.T)
    assert np.isnan(consensus([np.array([0, -1]), np.array([-1, 0])], np.arange(2))[0, 1])
    perfect = consensus([np.array([0, 1, 0, 1, 2])] * 3, np.arange(5))
    assert cophenetic(perfect) == pytest.approx(1.0)
    rng = np.random.default_rng(0)
    noise = [rng.integers(0, 3, 40) for _ in range(5)]
    assert cophenetic(consensus(noise, np.arange(40))) < 0.9
    assert np.isnan(cophenetic(np.ones((4, 4))))
    order = consensus_order(perfect)
    blocks = np.array([0, 1, 0, 1, 2])[order]
    assert len(np.flatnonzero(np.diff(blocks))) == 2  # each cluster in one piece
    assert len(consensus_documents(10_000)) == 300
    assert np.array_equal(consensus_documents(10_000), consensus_documents(10_000))


# Samples ---------------------------------------------------------------------------------------------------------------------


def test_samples_of_a_corpus() -> None:
    corpus = small_corpus(n=40)
    some = corpus.select(sample=0.8, draw=3)
    rows = sample_rows(40, 0.8, 3)
    assert len(some) == 32
    assert np.array_equal(some.counts, corpus.counts[rows])
    assert not np.array_equal(rows, sample_rows(40, 0.8, 4))
    assert np.array_equal(sample_rows(40, 1.0, 7), np.arange(40))
    unlabelled = fc.from_matrix(corpus.counts)
    assert len(unlabelled.select(sample=0.5)) == 20
    with pytest.raises(FactScopeError, match="more than 0 and at most 1"):
        corpus.select(sample=1.2)
    few = corpus.select(random=2, seed=1)
    both = corpus.select(random=2, seed=1, sample=0.5, draw=9)
    assert np.array_equal(both.counts, few.counts[sample_rows(len(few), 0.5, 9)])


def test_every_run_of_a_study_sees_its_own_sample() -> None:
    study = selection_study("three-topics", "lccf", [2, 3], [1, 10], runs=3, share=0.7)
    cells = study.cells()
    assert len(cells) == 12
    assert {(c.select["sample"], c.select["draw"], c.seed) for c in cells} == {(0.7, s, s) for s in range(3)}
    assert Study.from_json(study.as_json()) == study


# The study and what is read from it ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "name", "values"),
    [("lccf", "lam", (1, 10, 100, 1000)), ("LCCF-NCW", "lam", (1, 10, 100, 1000)), ("lcf", "lam", (0.003, 0.03, 0.3, 3)),
     ("pspt", "eta", (0.2, 0.4, 0.6, 0.8)), ("nmf", None, None), ("kmeans", None, None)],
)  # fmt: skip
def test_what_is_chosen_beside_k(method: str, name: str | None, values: tuple[float, ...] | None) -> None:
    p = tunable(method)
    assert (p.name if p else None) == name
    if p is not None:
        assert usual_values(p) == values


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [({"ks": []}, "no k"), ({"ks": [1, 2]}, "at least 2"), ({"runs": 2}, "Three runs"), ({"values": [-1]}, "between 0 and 10000"),
     ({"method": "nmf", "values": [1.0]}, "no parameter to choose"), ({"method": "label_propagation"}, "no k to choose")],
)  # fmt: skip
def test_what_cannot_be_studied_is_said(arguments: dict, sentence: str) -> None:
    with pytest.raises(FactScopeError, match=sentence):
        selection_study("three-topics", **{"method": "lccf", "ks": [2, 3]} | arguments)


def made_up(
    agreements: dict[tuple[int, float], float], cuts: dict[tuple[int, float], float] | None = None, runs: int = 5, noise: float = 0.0
) -> Evidence:
    """Evidence as runs would leave it: labellings that agree about so much, cuts as given."""
    n, rng = 300, np.random.default_rng(0)
    rows, labellings = [], {}
    for (k, value), agreed in agreements.items():
        true = np.arange(n) % k
        own = {}
        for seed in range(runs):
            wrong = rng.random(n) > np.sqrt(agreed)
            own[seed] = np.where(wrong, rng.integers(0, k, n), true)
            rows.append({"k": k, "value": value, "seed": seed, "cut": (cuts or {}).get((k, value), 0.1) + noise * rng.random()})
        labellings[k, value] = own
    return Evidence(tunable("lccf"), n, pd.DataFrame(rows), labellings)


def test_the_highest_score_is_suggested_and_decided() -> None:
    grid = {(k, lam): 0.95 if (k, lam) == (4, 10.0) else 0.4 for k in (3, 4, 5) for lam in (1.0, 10.0, 100.0)}
    found = judged(made_up(grid))
    assert (found.k, found.value) == (4, 10.0)
    assert found.decided
    assert str(found) == "k = 4 and λ = 10."
    assert found.settings == {"n_clusters": 4, "lam": 10.0}
    assert judged(made_up(grid), k=5).k == 5
    assert judged(made_up(grid), value=1.0).value == 1.0
    with pytest.raises(FactScopeError, match="no finished setting"):
        judged(made_up(grid), k=9)


def test_a_run_left_out_is_left_out_of_everything() -> None:
    evidence = made_up({(3, 1.0): 0.8, (4, 1.0): 0.6}, noise=0.1)
    for seed, table in enumerate(evidence.left_out):
        rest = [own for s, own in evidence.labellings[3, 1.0].items() if s != seed]
        assert table["agreement"][0] == pytest.approx(mean_agreement(agreement(rest))[0])
        kept = evidence.runs[(evidence.runs["k"] == 3) & (evidence.runs["seed"] != seed)]
        assert table["cut"][0] == pytest.approx(kept["cut"].mean())


def test_a_low_cut_outweighs_equal_agreement() -> None:
    grid = {(k, 10.0): 1.0 for k in (3, 4, 5, 6)}
    cuts = {(3, 10.0): 0.3, (4, 10.0): 0.02, (5, 10.0): 0.3, (6, 10.0): 0.4}
    assert judged(made_up(grid, cuts)).k == 4


def test_a_sentence_where_the_data_do_not_decide() -> None:
    grid = {(k, lam): 0.7 for k in (3, 4, 5, 6) for lam in (1.0, 10.0, 100.0)}
    found = judged(made_up(grid, noise=0.01))
    assert not found.decided
    assert "do not decide on k" in str(found)
    assert " or " in found.doubts[0]


def test_a_sentence_where_nothing_is_found_again() -> None:
    grid = {(k, lam): 0.4 if (k, lam) == (4, 10.0) else 0.1 for k in (3, 4, 5) for lam in (1.0, 10.0, 100.0)}
    found = judged(made_up(grid))
    assert (found.k, found.value) == (4, 10.0)
    assert any("give other clusters" in doubt for doubt in found.doubts)


def test_a_sentence_at_the_edge_of_what_was_tried() -> None:
    largest = judged(made_up({(k, 10.0): 0.95 if k == 5 else 0.4 for k in (3, 4, 5)}))
    assert "k = 5 is the largest that was tried" in str(largest)
    smallest = judged(made_up({(k, 10.0): 0.95 if k == 2 else 0.4 for k in (2, 3, 4)}))
    assert smallest.hints == ()  # there is no smaller one
    assert largest.decided


def test_a_criterion_that_is_not_known_everywhere_does_not_count() -> None:
    table = pd.DataFrame({"agreement": [0.1, 0.9], "cut": [0.2, 0.2], "coherence": [0.9, np.nan]})
    assert np.allclose(scored(table), [-0.5, 0.5])  # agreement, and a cut that says nothing
    assert np.allclose(scored(table.assign(coherence=[0.9, 0.1])), [0, 0])


def test_correlations_know_which_way_is_better() -> None:
    table = pd.DataFrame(
        {"accuracy": [0.1, 0.5, 0.9], "cut": [0.9, 0.5, 0.1], "agreement": [0.1, 0.2, 0.3], "silhouette": [3, 2, 1], "score": 1}
    )
    found = correlations(table)
    assert found["cut"] == found["agreement"] == 1
    assert found["silhouette"] == -1
    assert np.isnan(found["score"])
    assert correlations(table.drop(columns="accuracy")) == {}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FACTSCOPE_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="module")
def corpus() -> fc.Corpus:
    """Four topics: documents of 14 words, of which seven in ten come from the twelve of their topic, the others from twelve they share."""
    rng, topic, X = np.random.default_rng(0), np.arange(90) % 4, np.zeros((90, 60))
    for i, c in enumerate(topic):
        own = rng.random(14) < 0.7
        np.add.at(X[i], np.where(own, 12 * c + rng.integers(12, size=14), 48 + rng.integers(12, size=14)), 1)
    return fc.from_matrix(sp.csr_array(X / np.linalg.norm(X, axis=1, keepdims=True)), labels=topic, name="four topics")


GRID = {"ks": [2, 3, 4, 5, 6], "values": [10.0, 100.0], "runs": 4, "options": {"max_iter": 60, "restarts": 2}}


def test_suggest_finds_the_topics_and_goes_on_from_what_is_there(home: None, corpus: fc.Corpus) -> None:
    seen = []
    found = suggest(corpus, "lccf", **GRID, progress=lambda at: seen.append(at.share))
    assert found.k == 4
    assert len(found.table) == 10
    assert set(found.table.columns) >= {"k", "value", "agreement", "agreement_se", "cut", "coherence", "silhouette", "cophenetic", "score"}
    assert found.table["runs"].eq(4).all()
    assert found.table.set_index(["k", "value"])["accuracy"][4, found.value] > 0.9
    assert correlations(found.table)["agreement"] > 0
    again = suggest(corpus, "lccf", **GRID)
    pd.testing.assert_frame_equal(again.table, found.table)


def test_evidence_of_half_a_job(home: None, corpus: fc.Corpus) -> None:
    study = selection_study(corpus.name, "lccf", GRID["ks"], GRID["values"], runs=4, options=GRID["options"])
    job = start(study, corpus)
    while not job.status().over:
        pass
    assert job.status().done == 40

    class Half(Job):
        def addresses(self) -> list[str]:
            return [
                a if c.seed < 3 and c.point["n_clusters"] < 5 else "gone" for c, a in zip(self.cells(), super().addresses(), strict=True)
            ]

    some = evidence_of(Half(job.folder), len(corpus))
    assert some is not None
    assert set(some.table["k"]) == {2, 3, 4}
    assert some.table["runs"].eq(3).all()
    whole = evidence_of(job, len(corpus))
    for seed, labels in whole.labellings[4, 10.0].items():
        seen = sample_rows(90, 0.8, seed)
        assert np.array_equal(np.flatnonzero(labels >= 0), seen)
        assert adjusted_rand_score(corpus.labels[seen], labels[seen]) > 0.9
    C = whole.consensus((4, 10.0))
    assert C.shape == (90, 90)
    assert np.nanmax(np.abs(C - C.T)) == 0

    class Nothing(Job):
        def addresses(self) -> list[str]:
            return []

    assert evidence_of(Nothing(job.folder), len(corpus)) is None


def test_a_method_without_parameter_and_a_corpus_by_name(home: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["select", "--corpus", "three-topics", "--algorithm", "kmeans", "--k", "2-4", "--runs", "3", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert set(said) == {"suggestion", "decided", "doubts", "hints", "settings", "correlations"}
    assert list(said["suggestion"]) == ["n_clusters"]
    assert [row["k"] for row in said["settings"]] == [2, 3, 4]
    assert main(["select", "--corpus", "three-topics", "--algorithm", "kmeans", "--k", "1-4"]) == 2
    assert "at least 2" in capsys.readouterr().err


# Figures ---------------------------------------------------------------------------------------------------------------------


def test_figures_show_the_table_and_ring_the_choice() -> None:
    grid = {(k, lam): 0.95 if (k, lam) == (4, 10.0) else 0.4 for k in (3, 4, 5) for lam in (1.0, 10.0)}
    evidence = made_up(grid)
    curves = criterion_curves(evidence.table, "agreement", "λ", (4, 10.0))
    assert [trace.name for trace in curves.data] == ["λ = 1", "λ = 10", "suggested"]
    assert list(curves.data[0].x) == [3, 4, 5]
    assert list(curves.data[2].x) == [4]
    assert curves.data[0].error_y.array is not None
    heat = setting_map(evidence.table, "score", "λ", (4, 10.0))
    assert np.array(heat.data[0].z).shape == (2, 3)
    assert len(heat.layout.shapes) == 1
    matrix = consensus_matrix(evidence.consensus((4, 10.0)), evidence.n)
    assert "300 of 300" in matrix.layout.xaxis.title.text
    for figure in (curves, heat, matrix):
        assert as_file(Drawn(figure, evidence.table), "pdf").startswith(b"%PDF")
    bars = correlation_bars({"score": 0.5, "cut": float("nan"), "agreement": -0.1})
    assert list(bars.data[0].y) == ["score", "agreement"]
    alone = evidence.table[evidence.table["value"] == 1.0].assign(value=np.nan)
    assert [t.name for t in criterion_curves(alone, "cut", "", (4, None)).data] == ["cut", "suggested"]
