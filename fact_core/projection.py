"""Coordinates for the eye: fewer dimensions, and fewer points where there are too many to draw."""

from __future__ import annotations

from enum import Enum

import numpy as np

from .kernel import KernelMatrix

DRAWN = 5000  # points a figure draws at the most


class Projection(str, Enum):
    CONCEPTS = "concepts"  # the coordinates themselves, some of them
    PCA = "pca"
    UMAP = "umap"


def projected(embedding: np.ndarray, how: Projection, dimensions: int, seed: int = 0) -> np.ndarray:
    """The rows of the embedding in two or three dimensions, by principal components or UMAP."""
    if how is Projection.UMAP:
        from umap import UMAP  # 7 to 30 seconds at its first use in a process: never imported before somebody asks for it

        neighbours = max(2, min(15, len(embedding) - 1))
        return np.asarray(UMAP(dimensions, n_neighbors=neighbours, random_state=seed, n_jobs=1).fit_transform(embedding))
    centred = embedding - embedding.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    axes = axes[:dimensions] * np.where(axes[:dimensions].sum(axis=1) < 0, -1.0, 1.0)[:, None]
    found = centred @ axes.T
    return np.pad(found, ((0, 0), (0, dimensions - found.shape[1])))


def ordered_affinity(K: KernelMatrix, groups: np.ndarray, most: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """The affinity of some documents, ordered by group (the rows drawn are stratified), and the number of rows of each group."""
    rows = stratified(groups, most)
    rows = rows[np.argsort(groups[rows], kind="stable")]
    columns = np.zeros((len(groups), len(rows)))
    columns[rows, np.arange(len(rows))] = 1.0
    return (K @ columns)[rows], np.bincount(groups[rows], minlength=int(groups.max()) + 1)


def stratified(groups: np.ndarray, most: int = DRAWN, seed: int = 0) -> np.ndarray:
    """At most so many rows, every group with its share (and never without any); all rows where they fit. Sorted."""
    n = len(groups)
    if n <= most:
        return np.arange(n)
    rng = np.random.default_rng(seed)
    kinds, sizes = np.unique(groups, return_counts=True)
    quota = np.maximum(1, np.floor(most * sizes / n).astype(int))
    return np.sort(np.concatenate([rng.choice(np.flatnonzero(groups == g), q, replace=False) for g, q in zip(kinds, quota, strict=True)]))
