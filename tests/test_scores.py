from __future__ import annotations

import csv
import io
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from helpers import small_corpus
from hypothesis import given
from hypothesis import strategies as st

import fact_core as fc
from fact_core import metrics
from fact_core.assign import Assign, clusters
from fact_core.concepts import borderline, distinctive_terms, likeness, matched_concepts, representative, top_terms
from fact_core.projection import stratified
from fact_core.tabular import concepts_csv, documents_csv

partitions = st.integers(2, 40).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 3), min_size=n, max_size=n) for _ in range(2)]))


@given(partitions)
def test_accuracy_is_the_best_of_all_maps(pair: tuple[list[int], list[int]]) -> None:
    labels, found = map(np.array, pair)
    best = max(np.mean(np.array(order)[found] == labels) for order in permutations(range(4)))
    assert metrics.scores(labels, found)["accuracy"] == pytest.approx(best)


@given(partitions)
def test_nmi_by_its_definition(pair: tuple[list[int], list[int]]) -> None:
    labels, found = map(np.array, pair)
    table = metrics.confusion(labels, found) / len(labels)
    entropy = [-(p[p > 0] * np.log(p[p > 0])).sum() for p in (table.sum(axis=0), table.sum(axis=1))]
    outer = np.outer(table.sum(axis=1), table.sum(axis=0))
    mutual = (table[table > 0] * np.log(table[table > 0] / outer[table > 0])).sum()
    if max(entropy) > 0:
        assert metrics.scores(labels, found)["nmi"] == pytest.approx(max(mutual, 0) / max(entropy), abs=1e-9)


@given(st.permutations(range(4)))
def test_scores_do_not_depend_on_the_numbers_of_clusters(order: list[int]) -> None:
    labels = np.arange(40) % 4
    assert metrics.scores(labels, np.array(order)[labels]) == pytest.approx({"accuracy": 1, "nmi": 1, "ari": 1, "purity": 1})


def test_one_single_cluster() -> None:
    labels = np.array([0, 0, 0, 1])
    assert metrics.single_cluster_accuracy(labels) == 0.75 == metrics.scores(labels, np.zeros(4, int))["accuracy"]


@pytest.mark.parametrize("how", list(Assign))
def test_clusters_carry_the_number_of_their_concept(how: Assign) -> None:
    rng = np.random.default_rng(0)
    c = rng.integers(5, size=200)
    V = np.eye(5)[c] * rng.uniform(0.5, 1, (200, 1)) + 0.05 * rng.random((200, 5))
    assert np.array_equal(clusters(V, how, rng), c)


@pytest.mark.parametrize("how", list(Assign))
def test_fewer_different_rows_than_clusters(how: Assign) -> None:
    V = np.array([[1.0, 0, 0], [1.0, 0, 0], [0, 0, 1.0]])
    assert np.array_equal(clusters(V, how, np.random.default_rng(0)), [0, 0, 2])
    assert len(set(clusters(np.zeros((4, 3)), how, np.random.default_rng(0)))) == 1


def test_matched_order_puts_the_match_on_the_diagonal() -> None:
    table = np.array([[0, 9, 1], [8, 0, 0]])
    assert metrics.matched_order(table).tolist() == [1, 0, 2]


def test_top_terms_are_sorted_and_never_empty_words() -> None:
    basis = np.array([[0.1, 0.0], [0.5, 0.0], [0.5, 2.0]])
    assert top_terms(basis, np.array(["b", "c", "a"]), 2) == [[("a", 0.5), ("c", 0.5)], [("a", 2.0)]]


def test_result_speaks_of_the_same_thing_everywhere() -> None:
    result = fc.fit(small_corpus(), "lccf", restarts=3)
    assert result.sizes.sum() == 24
    assert result.confusion is not None
    assert result.confusion.sum(axis=0).tolist() == result.sizes.tolist()
    assert result.scores == metrics.scores(result.corpus.labels, result.labels)
    assert len(result.concepts(4)) == 3
    assert all(len(c) == 4 for c in result.concepts(4))


def test_tables_for_a_spreadsheet_hold_everything_and_no_formula() -> None:
    X = small_corpus()
    corpus = replace(X, titles=["=1+1", "@x", *[f"d{i}" for i in range(22)]])
    result = fc.fit(corpus, "cf", restarts=1, max_iter=10)
    rows = list(csv.reader(io.StringIO(documents_csv(result))))
    assert rows[0] == ["title", "class", "cluster", "concept 1", "concept 2", "concept 3"]
    assert [rows[1][0], rows[2][0], rows[3][0]] == ["'=1+1", "'@x", "d0"]
    np.testing.assert_allclose(np.array([r[3:] for r in rows[1:]], dtype=float), result.embedding)
    terms = list(csv.reader(io.StringIO(concepts_csv(result, 4))))
    assert len(terms) == 1 + 3 * 4
    assert terms[1][2:] == [result.concepts(1)[0][0][0], str(result.concepts(1)[0][0][1])]


def test_concepts_have_their_own_documents_and_terms() -> None:
    corpus = fc.load_corpus("three-topics")
    result = fc.fit(corpus, "NMF-NCW")
    like = likeness(corpus.matrix, result.basis)
    assert like.shape == (84, 3)
    for c in range(3):
        assert np.mean(result.labels[representative(like, c, 10)] == c) >= 0.9
        near = borderline(like, c, 5)
        assert len(near) == 5
        assert not set(near) & set(representative(like, c, 2))
    by_weight = distinctive_terms(result.basis, corpus.matrix, corpus.terms, 8, weight=1.0)
    assert [[t for t, _ in terms] for terms in by_weight] == [[t for t, _ in terms] for terms in result.concepts(8)]
    apart = distinctive_terms(result.basis, corpus.matrix, corpus.terms, 8, weight=0.2)
    assert apart != by_weight
    assert matched_concepts(result.basis, result.basis[:, [2, 0, 1]]).tolist() == [1, 2, 0]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=300), st.integers(6, 60))
def test_stratified_samples_keep_every_group(groups: list[int], most: int) -> None:
    labels = np.array(groups)
    rows = stratified(labels, most)
    assert len(rows) <= max(most, len(labels) if len(labels) <= most else most)
    assert len(set(rows.tolist())) == len(rows)
    assert set(labels[rows]) == set(labels)
