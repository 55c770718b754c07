from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import fact_core as fc
from fact_core import graph
from fact_core.graph import GraphWeights, nearest, neighbour_graph
from fact_core.threads import limited


def plain(X: np.ndarray, p: int) -> np.ndarray:
    """The 0-1 graph in the shortest way there is: all cosines, stable sort."""
    n = len(X)
    length = np.linalg.norm(X, axis=1)
    C = np.round(X @ X.T / np.maximum(np.outer(length, length), 1e-300), 12)
    np.fill_diagonal(C, -1)
    S = np.zeros((n, n))
    for i in range(n):
        for j in np.argsort(-C[i], kind="stable")[:p]:
            S[i, j] = C[i, j] > 0
    return np.maximum(S, S.T)


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 40), st.integers(1, 8), st.integers(0, 10**6), st.booleans())
def test_equals_the_plain_way_with_duplicates(n: int, p: int, seed: int, sparse: bool) -> None:
    rng = np.random.default_rng(seed)
    X = rng.random((max(2, n // 3), 6))[rng.integers(max(2, n // 3), size=n)]  # every document about three times
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    p = min(p, n - 1)
    S = neighbour_graph(sp.csr_array(X) if sparse else X, p, GraphWeights.BINARY)
    assert np.array_equal(S.toarray(), plain(X, p))


@pytest.mark.parametrize("sparse", [False, True])
def test_independent_of_block_size_and_threads(sparse: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.random((40, 12))[rng.integers(40, size=300)]
    X[X < 0.6] = 0
    X = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
    Y = sp.csr_array(X) if sparse else X
    with limited(3):
        whole = neighbour_graph(Y, 5)
    monkeypatch.setattr(graph, "BLOCK", 300 * 7)
    with limited(1):
        pieces = neighbour_graph(Y, 5)
    assert abs(whole - pieces).max() < 1e-12
    assert whole.nnz == pieces.nnz


def test_symmetric_without_loops_and_rightly_weighted() -> None:
    X = sp.random_array((80, 200), density=0.05, rng=np.random.default_rng(1), format="csr")
    binary, cosine, heat = (neighbour_graph(X, 4, w) for w in (GraphWeights.BINARY, GraphWeights.COSINE, GraphWeights.HEAT))
    for S in (binary, cosine, heat):
        assert abs(S - S.T).max() == 0
        assert S.diagonal().max() == 0
        assert S.min() >= 0
    assert set(binary.data) == {1.0}
    assert cosine.max() <= 1 + 1e-12
    assert 0 < heat.data.min() <= heat.data.max() <= 1


def test_points_in_the_plane_use_distance_for_heat_and_direction_for_cosine() -> None:
    X = np.array([[1.0, 1.0], [1.1, 1.0], [9.0, 9.0], [9.0, 9.2]])
    near, _ = nearest(X, 1, squared_lengths=(X * X).sum(axis=1))
    assert near.ravel().tolist() == [1, 0, 3, 2]
    assert neighbour_graph(X, 1, GraphWeights.HEAT)[0, 1] > 0
    assert neighbour_graph(X, 1, GraphWeights.COSINE)[0, 2] > 0


def test_given_graphs_are_checked() -> None:
    corpus = fc.from_matrix(np.random.default_rng(0).random((5, 4)))
    for bad, word in ((np.ones((4, 4)), "5 × 5"), (-np.ones((5, 5)), "non-negative"), (np.triu(np.ones((5, 5))), "symmetric")):
        with pytest.raises(fc.FactScopeError, match=word):
            fc.fit(corpus, "lccf", n_clusters=2, graph=bad)
    with pytest.raises(fc.FactScopeError, match="p must lie between 1 and 4"):
        fc.fit(corpus, "lccf", n_clusters=2, p=5)
    with pytest.raises(fc.FactScopeError, match="uses no graph"):
        fc.fit(corpus, "nmf", n_clusters=2, graph="heat")


class Candidates:
    """Stands for pynndescent, whose first use compiles for half a minute: the nearest, some left out."""

    def __init__(self, Z: np.ndarray, metric: str, n_neighbors: int, **_: object):
        square = (Z * Z).sum(axis=1)
        distance = {"euclidean": square - 2 * Z @ Z.T, "cosine": -(Z @ Z.T) / np.sqrt(square)}[metric]
        near = np.argsort(distance, axis=1)[:, :n_neighbors]
        near[::10, 1:4] = -1
        self.neighbor_graph = near, None


@pytest.mark.parametrize(("sparse", "weights"), [(True, GraphWeights.COSINE), (False, GraphWeights.HEAT)])
def test_many_documents_are_searched_approximately_and_the_recall_is_told(
    sparse: bool, weights: GraphWeights, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    topics = rng.random((12, 90)) ** 6
    X = topics[rng.integers(12, size=600)] * (rng.random((600, 90)) < 0.5) + 1e-3 * rng.random((600, 1))
    X[9] = X[8]
    if sparse:
        X[7] = 0.0
    corpus = fc.from_matrix(sp.csr_array(X) if sparse else X)
    exact = neighbour_graph(corpus.matrix, 4, weights)
    assert graph.graph_recall(exact) is None
    monkeypatch.setattr(graph, "EXACT", 0)
    monkeypatch.setattr(graph, "HEAVIEST", 3)
    monkeypatch.setitem(sys.modules, "pynndescent", SimpleNamespace(NNDescent=Candidates))
    rough = neighbour_graph(corpus.matrix, 4, weights)
    found = graph.graph_recall(rough)
    assert found is not None
    assert 0.7 < found < 1
    assert 0 < (exact.multiply(rough) > 0).sum() / (exact > 0).sum() - found < 0.15  # an edge may be found from its other end
    assert rough.diagonal().sum() == 0
    assert rough[8, 9] > 0
    assert not sparse or rough[[7]].nnz == 0
    result = fc.fit(corpus, "lccf" if sparse else "gnmf", n_clusters=3, p=4, graph=weights.value, restarts=1, max_iter=3, dtype="float32")
    assert any("searched for approximately" in warning for warning in result.warnings)


def test_the_heaviest_terms_find_the_neighbours_of_real_documents(monkeypatch: pytest.MonkeyPatch, shared_data: Path) -> None:
    corpus = fc.load_corpus("20Newsgroups")
    monkeypatch.setattr(graph, "EXACT", 4e8)  # a sixth of what an exact search takes: a quarter of that is spent
    assert graph.recall(corpus.matrix, *nearest(corpus.matrix, 5), None) > 0.95


def test_descent_finds_the_neighbours_where_nothing_is_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """pynndescent itself; once, for it is compiled first."""
    rng = np.random.default_rng(0)
    X = np.maximum(rng.normal(size=(2000, 5)) @ rng.normal(size=(5, 40)), 0) + 0.05 * rng.random((2000, 40))
    exact = neighbour_graph(X, 5, GraphWeights.HEAT)
    monkeypatch.setattr(graph, "EXACT", 0)
    rough = neighbour_graph(X, 5, GraphWeights.HEAT)
    assert (graph.graph_recall(rough) or 0) > 0.98
    assert abs(exact - rough).sum() < 0.02 * exact.sum()


def test_the_estimated_recall_falls_with_what_is_missing() -> None:
    X = np.random.default_rng(0).random((200, 6))
    near, product = nearest(X, 5)
    assert graph.recall(X, near, product, None) == 1.0
    near[:, 3:], product[:, 3:] = -1, 0.0
    assert graph.recall(X, near, product, None) == pytest.approx(0.6)
