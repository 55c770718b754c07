"""Where a factorisation starts."""

from __future__ import annotations

from enum import Enum

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import svds

from ..corpus.model import Matrix
from ..problem import Problem


class Start(str, Enum):
    RANDOM = "random"  # uniform in [0, 1)
    SEEDED = "seeded"  # random, plus 1 where a document's class is known; random where none is
    KMEANS = "kmeans"  # the indicator of a k-means clustering, plus 0.2
    NNDSVD = "nndsvd"  # positive parts of singular vectors (Boutsidis and Gallopoulos 2008), zeros filled with the mean


def indicator(problem: Problem, rng: np.random.Generator) -> np.ndarray:
    """n × k: 1.2 for the cluster k-means puts a document into, 0.2 elsewhere, so that no entry is stuck at zero."""
    from sklearn.cluster import KMeans

    X = problem.Xt.tocsr() if sp.issparse(problem.Xt) else np.ascontiguousarray(problem.Xt)
    found = KMeans(problem.k, n_init=1, random_state=int(rng.integers(2**31))).fit_predict(X)
    return np.eye(problem.k)[found] + 0.2


def seeds(problem: Problem) -> np.ndarray:
    """n × k: 1 for the class of each document whose class is known. Nothing where pairs give no classes or there are more than concepts."""
    Y, known = np.zeros((problem.n, problem.k)), problem.supervision
    if known.classes is not None and known.indicator.shape[1] <= problem.k:
        Y[:, : known.indicator.shape[1]] = known.indicator
    return Y


def nndsvd(problem: Problem, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """U (m × k) and V (n × k) from the k leading singular triplets: of each pair of vectors the stronger of the two signs.

    Zeros would stay zeros under multiplicative updates, so they take the mean of X.
    """
    left, values, right = truncated_svd(problem.X, problem.k, rng)
    U, V = np.zeros((problem.m, problem.k)), np.zeros((problem.n, problem.k))
    for j in range(len(values)):
        x, y = left[:, j], right[j]
        halves = [(np.maximum(sign * x, 0.0), np.maximum(sign * y, 0.0)) for sign in (1, -1)]
        u, v = max(halves, key=lambda pair: np.linalg.norm(pair[0]) * np.linalg.norm(pair[1]))
        weight = values[j] * np.linalg.norm(u) * np.linalg.norm(v)
        U[:, j] = np.sqrt(weight) * u / max(np.linalg.norm(u), np.finfo(float).tiny)
        V[:, j] = np.sqrt(weight) * v / max(np.linalg.norm(v), np.finfo(float).tiny)
    mean = float(problem.X.mean())
    return np.where(U > 0, U, mean), np.where(V > 0, V, mean)


def truncated_svd(X: Matrix, k: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The k largest singular values with their vectors, largest first; each right vector adds up to something positive."""
    if k < min(X.shape) - 1 and min(X.shape) > 64:
        left, values, right = svds(X, k=k, rng=rng)
    else:
        left, values, right = np.linalg.svd(X.toarray() if sp.issparse(X) else X, full_matrices=False)
    order = np.argsort(-values)[:k]
    left, values, right = left[:, order], values[order], right[order]
    sign = np.where(right.sum(axis=1) < 0, -1.0, 1.0)
    return left * sign, values, right * sign[:, None]
