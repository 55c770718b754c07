"""The affinity graph: p nearest neighbours, max-symmetrised, weighted.

A document's neighbours are the p others of highest cosine (for `cosine` weights, and for any weights on unit vectors) or of
least Euclidean distance. Ties, which duplicate documents make, go to the document that comes first, so the graph
depends neither on the block size nor on the number of threads.

The search is exact unless that would take minutes. With very many documents some candidates are compared exactly, and the share of true
neighbours found, estimated on a sample, stays with the graph. In text the heaviest terms of a document propose its candidates: that is
some ten times as fast as nearest neighbour descent and as good (98 % of the neighbours in 20 Newsgroups at 4 % of the work). Where
distances count, or nothing is zero, descent proposes them.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import partial
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from .corpus.model import Matrix, unit_rows
from .errors import FactScopeError
from .threads import split, threads

DIGITS = 12  # similarities equal to so many digits are ties: rounding differs between blocks, documents do not
BLOCK = 2**24  # numbers held at once by the blockwise search (128 MB)
EXACT = 2e10  # multiplications of an exact search: half a minute on two cores
CANDIDATES = 30  # compared exactly for each document: with fewer a quarter of the neighbours is missed
HEAVIEST = 10  # terms of a document, at the least, that propose candidates: so many more as a quarter of EXACT allows
SAMPLE = 100  # documents whose true neighbours are looked up to estimate the recall


class GraphWeights(str, Enum):
    BINARY = "binary"  # 1 (GNMF)
    COSINE = "cosine"  # cosine similarity (LCCF)
    HEAT = "heat"  # exp(-d²/t) (RCF)


def neighbour_graph(X: Matrix, p: int, weights: GraphWeights = GraphWeights.COSINE, t: float | None = None) -> sp.csr_array:
    """S (n × n, sparse, symmetric, zero diagonal) of the rows of X; `t` is the mean squared neighbour distance by default."""
    n = X.shape[0]
    if not 1 <= p < n:
        raise FactScopeError(f"p must lie between 1 and {n - 1} for {n} documents, not {p}.")
    square = squared_lengths(X)
    by_cosine = weights is GraphWeights.COSINE or _unit(square)
    Y, lengths = (unit_rows(X), None) if by_cosine else (X, square)
    near, product = nearest(Y, p, squared_lengths=lengths)
    S = weighted_edges(near, product, weights, square[:, None], square, t)
    S = S.maximum(S.T).tocsr()
    S.eliminate_zeros()
    if not exact(Y):
        S.recall = recall(Y, near, product, lengths)
    return S


def graph_recall(S: object) -> float | None:
    """The estimated share of true neighbours in a graph that was searched for approximately; None where it is exact."""
    return getattr(S, "recall", None)


def edges_to(X: Matrix, new: Matrix, p: int, weights: GraphWeights, t: float | None = None) -> sp.csr_array:
    """The edges from each new row to its p nearest rows of X (new × n), weighted in the same way; `t` as of the graph of X."""
    square, own = squared_lengths(X), squared_lengths(new)
    by_cosine = weights is GraphWeights.COSINE or (_unit(square) and _unit(own))
    old, fresh = (unit_rows(X), unit_rows(new)) if by_cosine else (X, new)
    if weights is GraphWeights.HEAT and t is None:
        near, product = nearest(old, p, squared_lengths=None if by_cosine else square)
        t = heat_scale(near, product, square[:, None], square)
    near, product = _nearest_of(fresh, old, min(p, len(square)), None if by_cosine else square)
    return weighted_edges(near, product, weights, own[:, None], square, t)


def weighted_edges(
    near: np.ndarray, product: np.ndarray, weights: GraphWeights, own: np.ndarray, square: np.ndarray, t: float | None
) -> sp.csr_array:
    """Weighted edges from neighbours (rows × p, −1 for none) and inner products; `own` and `square` are squared lengths."""
    if weights is GraphWeights.BINARY:
        values = np.ones(near.shape)
    elif weights is GraphWeights.COSINE:
        values = np.maximum(product, 0.0)  # opposite directions are no affinity
    else:
        scale = t if t is not None else heat_scale(near, product, own, square)
        values = np.exp(-np.maximum(own + square[near] - 2 * product, 0.0) / scale)
    real = (near >= 0) & (own > 0)  # an empty document is nobody's neighbour
    rows = np.broadcast_to(np.arange(len(near))[:, None], near.shape)
    return sp.csr_array((values[real], (rows[real], near[real])), shape=(len(near), len(square)))


def heat_scale(near: np.ndarray, product: np.ndarray, own: np.ndarray, square: np.ndarray) -> float:
    """The mean squared distance of a document to its neighbours."""
    real = (near >= 0) & (own > 0)
    distance = np.maximum(own + square[near] - 2 * product, 0.0)[real]
    return max(float(distance.mean()), np.finfo(float).tiny) if distance.size else 1.0


def nearest(Y: Matrix, p: int, squared_lengths: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The p nearest other rows of each row and the inner products with them (−1 where fewer than p share anything).

    Nearest is the largest inner product, or with `squared_lengths` the least Euclidean distance.
    """
    if not exact(Y):
        return _nearest_roughly(Y, p, squared_lengths)
    if sp.issparse(Y) and squared_lengths is None:
        return _nearest_sparse(Y, p)
    n = Y.shape[0]
    near, product = np.empty((n, p), dtype=np.int64), np.empty((n, p))
    step = max(1, BLOCK // n)
    for first in range(0, n, step):
        rows = np.arange(first, min(first + step, n))
        near[rows], product[rows] = _nearest_of(Y[rows], Y, p, squared_lengths, itself=rows)
    return near, product


def _nearest_of(
    some: Matrix, Y: Matrix, p: int, squared_lengths: np.ndarray | None, itself: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The same for a few rows, by computing all their inner products with Y; `itself` are their own places in Y."""
    product = some @ Y.T
    product = product.toarray() if sp.issparse(product) else product
    closeness = product if squared_lengths is None else 2 * product - squared_lengths
    closeness = np.round(closeness, DIGITS)
    if itself is not None:
        closeness[np.arange(len(itself)), itself] = -np.inf
    # All candidates at least as close as the p-th are kept before the tie is decided by position.
    bound = np.partition(closeness, -p, axis=1)[:, -p]
    near = np.empty((len(closeness), p), dtype=np.int64)
    for i, row in enumerate(closeness):
        candidates = np.flatnonzero(row >= bound[i])
        near[i] = candidates[np.argsort(-row[candidates], kind="stable")[:p]]
    similarity = np.take_along_axis(product, near, axis=1)
    if squared_lengths is None and sp.issparse(Y):
        near = np.where(similarity > 0, near, -1)  # nothing in common: no edge, whatever the weights
    return near, similarity


def _nearest_sparse(Y: sp.csr_array, p: int) -> tuple[np.ndarray, np.ndarray]:
    """By `sparse_dot_topn`, exact and threaded; rows whose last place is tied are decided by position."""
    from sparse_dot_topn import sp_matmul_topn

    n = Y.shape[0]
    ask = min(n, p + 4)  # itself, p neighbours, and a margin in which most ties show
    Y = sp.csr_matrix(Y)
    top = sp_matmul_topn(Y, Y.T.tocsr(), top_n=ask, sort=True, n_threads=threads())
    near, product = _columns(top, ask)
    product[near == np.arange(n)[:, None]] = -np.inf  # itself; among duplicates it need not come first
    product[product <= 0] = -np.inf
    near[~np.isfinite(product)] = -1
    closeness = np.round(product, DIGITS)
    order = np.lexsort((near, -closeness), axis=1)
    near, product, closeness = (np.take_along_axis(a, order, axis=1) for a in (near, product, closeness))
    full = np.isfinite(product).sum(axis=1) >= ask - 1
    last = np.where(np.isfinite(closeness), closeness, np.inf).min(axis=1)
    tied = np.flatnonzero(full & (closeness[:, p - 1] == last) & (ask < n))
    near, product = near[:, :p], product[:, :p]
    step = max(1, BLOCK // n)
    for first in range(0, len(tied), step):
        some = tied[first : first + step]
        near[some], product[some] = _nearest_of(Y[some], Y, p, None, itself=some)
    return near, np.where(near >= 0, product, 0.0)


def _columns(top: sp.csr_matrix, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the numbers of each row stand, in order, and the numbers (−1 and −∞ where there are fewer than `most`)."""
    near, values = np.full((top.shape[0], most), -1, dtype=np.int64), np.full((top.shape[0], most), -np.inf)
    there = np.arange(most) < np.diff(top.indptr)[:, None]
    near[there], values[there] = top.indices, top.data
    return near, values


def exact(Y: Matrix) -> bool:
    """Whether the rows are few enough to compare them all."""
    if not sp.issparse(Y):
        return float(Y.shape[0]) ** 2 * Y.shape[1] <= 25 * EXACT  # dense products are that much faster
    share = np.bincount(Y.indices, minlength=Y.shape[1]).astype(np.float64)
    return float(share @ share) <= EXACT


def _nearest_roughly(Y: Matrix, p: int, squared_lengths: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """As :func:`nearest`, but approximately."""
    near = _sharing_terms(Y) if sp.issparse(Y) and squared_lengths is None else _descent(Y, squared_lengths)
    product = _products_with(Y, near)
    closeness = product if squared_lengths is None else 2 * product - squared_lengths[near]
    closeness = np.where((near < 0) | (near == np.arange(len(near))[:, None]), -np.inf, np.round(closeness, DIGITS))
    order = np.lexsort((near, -closeness), axis=1)[:, :p]
    near, product, closeness = (np.take_along_axis(a, order, axis=1) for a in (near, product, closeness))
    none = ~np.isfinite(closeness) | ((product <= 0) if squared_lengths is None and sp.issparse(Y) else False)
    return np.where(none, -1, near), np.where(none, 0.0, product)


def _sharing_terms(Y: sp.csr_array) -> np.ndarray:
    """Candidates for each document: those that have most of its heaviest terms (−1 for none)."""
    from sparse_dot_topn import sp_matmul_topn

    from .compiled import places

    place = np.empty(Y.nnz, dtype=np.int32)
    _over_rows(Y.shape[0], partial(places, Y.indptr, Y.data, place))
    share = np.bincount(Y.indices, minlength=Y.shape[1]).astype(np.float64)
    cost = np.cumsum(np.bincount(place, weights=share[Y.indices]))
    heaviest = max(HEAVIEST, int(np.searchsorted(cost, EXACT / 4)))
    heavy = place < heaviest
    pointer = np.concatenate([[0], np.cumsum(np.minimum(np.diff(Y.indptr), heaviest))])
    asking = sp.csr_matrix((Y.data[heavy], Y.indices[heavy], pointer), shape=Y.shape)
    ask = min(CANDIDATES + 1, Y.shape[0])
    return _columns(sp_matmul_topn(asking, sp.csr_matrix(Y.T), top_n=ask, n_threads=threads()), ask)[0]


def _descent(Y: Matrix, squared_lengths: np.ndarray | None) -> np.ndarray:
    """Candidates for each document, by nearest neighbour descent."""
    try:
        from pynndescent import NNDescent
    except ImportError:
        raise FactScopeError(f"A graph of {Y.shape[0]} documents needs pynndescent: install it with “pip install pynndescent”.") from None
    if sp.issparse(Y):
        Z = sp.csr_matrix(Y, dtype=np.float32)
        Z.sort_indices()
    else:
        Z = Y.astype(np.float32)
        Z[~Z.any(axis=1)] = 1e-6  # an empty document has no direction
    metric = "euclidean" if squared_lengths is not None else "cosine"
    ask = min(CANDIDATES, Y.shape[0] - 1) + 1
    found = NNDescent(Z, metric=metric, n_neighbors=ask, random_state=0, n_jobs=threads(), low_memory=True)
    return found.neighbor_graph[0].astype(np.int64)


def _products_with(Y: Matrix, near: np.ndarray) -> np.ndarray:
    """The inner product of each row with each of some others (−1 for none)."""
    out = np.zeros(near.shape)
    if sp.issparse(Y):
        from .compiled import pair_products

        _over_rows(len(near), partial(pair_products, Y.indptr, Y.indices, Y.data, Y.shape[1], near, out))
        return out
    for rows in (slice(first, first + 1024) for first in range(0, len(near), 1024)):
        out[rows] = np.einsum("ij,ikj->ik", Y[rows], Y[near[rows]])
    return out


def _over_rows(n: int, work: Callable[[int, int], None]) -> None:
    """`work(first, last)` for all of n rows, by all threads."""
    split([partial(work, first, last) for first, last in pairwise(np.linspace(0, n, threads() + 1).astype(int))])


def recall(Y: Matrix, near: np.ndarray, product: np.ndarray, squared_lengths: np.ndarray | None) -> float:
    """The share of the true p nearest among those found, for some documents; one as near as the p-th will do as well."""
    n, p = near.shape
    some = np.sort(np.random.default_rng(0).choice(n, min(SAMPLE, n), replace=False))
    hits = wanted = 0
    step = max(1, BLOCK // n)
    for first in range(0, len(some), step):
        rows = some[first : first + step]
        true, similarity = _nearest_of(Y[rows], Y, p, squared_lengths, itself=rows)
        if squared_lengths is not None:
            similarity, own = 2 * similarity - squared_lengths[true], 2 * product[rows] - squared_lengths[near[rows]]
        else:
            own = product[rows]
        bound = np.where(true >= 0, similarity, np.inf).min(axis=1, initial=np.inf)
        there = (true >= 0).sum(axis=1)
        hits += int(np.minimum(((own >= bound[:, None] - 10.0**-DIGITS) & (near[rows] >= 0)).sum(axis=1), there).sum())
        wanted += int(there.sum())
    return hits / wanted if wanted else 1.0


def given_graph(S: object, n: int) -> sp.csr_array:
    """A checked affinity that somebody made elsewhere."""
    graph = sp.csr_array(S, dtype=np.float64) if sp.issparse(S) else sp.csr_array(np.asarray(S, dtype=np.float64))
    if graph.shape != (n, n):
        raise FactScopeError(f"The graph must be {n} × {n}, one row and column for each document, not {graph.shape[0]} × {graph.shape[1]}.")
    if graph.nnz and (not np.all(np.isfinite(graph.data)) or graph.data.min() < 0):
        raise FactScopeError("The graph must hold non-negative numbers only.")
    if graph.nnz and abs(graph - graph.T).max() > 1e-10 * graph.data.max():
        raise FactScopeError("The graph must be symmetric.")
    return graph


def squared_lengths(X: Matrix) -> np.ndarray:
    return np.asarray(X.multiply(X).sum(axis=1)).ravel() if sp.issparse(X) else np.einsum("ij,ij->i", X, X)


def _unit(square: np.ndarray) -> bool:
    return bool(np.allclose(square[square > 0], 1.0, atol=1e-9))
