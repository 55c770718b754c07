"""Clusters from coordinates."""

from __future__ import annotations

from enum import Enum

import numpy as np
from scipy.optimize import linear_sum_assignment


class Assign(str, Enum):
    ARGMAX = "argmax"  # the concept with the largest coordinate
    KMEANS = "kmeans"  # k-means on the rows of V
    COSINE = "cosine"  # k-means on the rows scaled to unit length


def clusters(V: np.ndarray, how: Assign, rng: np.random.Generator, starts: int = 10) -> np.ndarray:
    """The cluster of each row of V. Cluster c is the one concept c stands for, whichever way it was found."""
    k = V.shape[1]
    if how is Assign.ARGMAX or k == 1:
        return V.argmax(axis=1)
    if how is Assign.COSINE:
        length = np.linalg.norm(V, axis=1, keepdims=True)
        V = V / np.where(length > 0, length, 1.0)
    distinct = len(np.unique(V, axis=0))
    if distinct < k:  # k-means cannot make more clusters than there are different rows
        return V.argmax(axis=1) if distinct == 1 else _numbered(V, np.unique(V, axis=0, return_inverse=True)[1].ravel(), k)
    from sklearn.cluster import KMeans

    found = KMeans(k, n_init=starts, random_state=int(rng.integers(2**31))).fit_predict(V)
    return _numbered(V, found, k)


def nearest_clusters(new: np.ndarray, V: np.ndarray, labels: np.ndarray, how: Assign) -> np.ndarray:
    """The clusters of new rows among those of V: the largest coordinate, or the nearest mean of a cluster's rows."""
    if how is Assign.ARGMAX:
        return new.argmax(axis=1)
    if how is Assign.COSINE:
        new, V = (A / np.where((length := np.linalg.norm(A, axis=1, keepdims=True)) > 0, length, 1.0) for A in (new, V))
    present = np.unique(labels)
    means = np.array([V[labels == c].mean(axis=0) for c in present])
    return present[((new[:, None, :] - means) ** 2).sum(axis=2).argmin(axis=1)]


def _numbered(V: np.ndarray, found: np.ndarray, k: int) -> np.ndarray:
    """Cluster numbers such that a cluster has the number of the concept its documents weigh most, one to one."""
    largest = np.abs(V).max(axis=0)
    weight = np.zeros((k, k))
    np.add.at(weight, found, V / np.where(largest > 0, largest, 1.0))
    cluster, concept = linear_sum_assignment(weight / np.maximum(np.bincount(found, minlength=k), 1)[:, None], maximize=True)
    number = np.empty(k, dtype=np.int64)
    number[cluster] = concept
    return number[found]
