"""Scores of a clustering against classes."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment


def confusion(labels: np.ndarray, clusters: np.ndarray, n_labels: int | None = None, n_clusters: int | None = None) -> np.ndarray:
    """Classes × clusters: how many documents of each class each cluster holds."""
    rows = n_labels if n_labels is not None else int(labels.max()) + 1
    columns = n_clusters if n_clusters is not None else int(clusters.max()) + 1
    table = np.zeros((rows, columns), dtype=np.int64)
    np.add.at(table, (labels, clusters), 1)
    return table


def best_match(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The one-to-one map of classes to clusters that most documents agree with (Hungarian method)."""
    return linear_sum_assignment(table, maximize=True)


def scores(labels: np.ndarray, clusters: np.ndarray) -> dict[str, float]:
    """Accuracy under the best one-to-one map, NMI = MI / max(H, H'), adjusted Rand index, purity: all 1 for a perfect clustering."""
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    table = confusion(labels, clusters)
    return {
        "accuracy": float(table[best_match(table)].sum() / len(labels)),
        "nmi": float(normalized_mutual_info_score(labels, clusters, average_method="max")),
        "ari": float(adjusted_rand_score(labels, clusters)),
        "purity": float(table.max(axis=0).sum() / len(labels)),
    }


def single_cluster_accuracy(labels: np.ndarray) -> float:
    """What one cluster of everything would score: the share of the largest class."""
    return float(np.bincount(labels).max() / len(labels))


def matched_order(table: np.ndarray) -> np.ndarray:
    """Clusters in the order of the classes they match, unmatched ones last."""
    classes, clusters = best_match(table)
    matched = clusters[np.argsort(classes)]
    return np.concatenate([matched, np.setdiff1d(np.arange(table.shape[1]), matched)])


MEANING = {
    "accuracy": "Share of documents in the cluster that stands for their class, under the best one-to-one map.",
    "nmi": "Normalised mutual information: what the clusters say about the classes, 0 to 1; it does not reward one huge cluster.",
    "ari": "Adjusted Rand index: agreement of pairs of documents, 0 for chance, 1 for the same partition.",
}
