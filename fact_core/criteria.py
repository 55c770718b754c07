"""How good a clustering looks to somebody who knows no classes: the criteria k and λ are chosen by.

A labelling gives each of n documents its cluster, −1 where the document was not among those clustered.

Monti, Tamayo, Mesirov, Golub: Consensus clustering, Machine Learning 52, 2003. Brunet, Tamayo, Golub, Mesirov: Metagenes and molecular
pattern discovery using matrix factorization, PNAS 2004 (cophenetic correlation). Bouma: Normalized (pointwise) mutual information, 2009.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from .corpus.model import Matrix

SAMPLE = 1000  # documents the silhouette is taken over
SHOWN = 300  # documents of a consensus matrix
TERMS = 10  # of a concept, for its coherence


def silhouette(V: np.ndarray, labels: np.ndarray) -> float:
    """How much nearer documents are to their own cluster than to the next, in the coordinates V; NaN where all are in one."""
    from sklearn.metrics import silhouette_score

    n = len(labels)
    some = np.arange(n) if n <= SAMPLE else np.random.default_rng(0).choice(n, SAMPLE, replace=False)
    if not 1 < len(np.unique(labels[some])) < len(some):
        return float("nan")
    return float(silhouette_score(V[some], labels[some]))


def cut(S: sp.csr_array, labels: np.ndarray, k: int) -> float:
    """The share of its edges in the graph S that a cluster has with others, averaged over k clusters; 1 for one without edges."""
    edges = S.tocoo()
    own = labels[edges.row] == labels[edges.col]
    volume, within = (np.bincount(labels[edges.row], weights=w, minlength=k) for w in (edges.data, edges.data * own))
    return float(np.where(volume > 0, 1 - within / np.where(volume > 0, volume, 1), 1.0).mean())


def coherence(basis: np.ndarray, counts: Matrix, terms: int = TERMS) -> float:
    """How much the heaviest terms of a concept (a column of `basis`) occur in the same documents, averaged over the concepts.

    The mean over pairs of log(p₁₂ / p₁p₂) / −log p₁₂, p the shares of documents with a term or with both: −1 never together, 0 as often
    as by chance, 1 always.
    """
    top = [np.flatnonzero(u > 0)[np.argsort(-u[u > 0], kind="stable")[:terms]] for u in np.asarray(basis).T]
    used, place = np.unique(np.concatenate(top), return_inverse=True)
    if not len(used):
        return float("nan")
    present = sp.csr_array(counts[:, used] != 0).astype(np.float64)
    p12 = (present.T @ present).toarray() / present.shape[0]
    p = p12.diagonal()
    with np.errstate(divide="ignore", invalid="ignore"):
        npmi = np.log(p12 / np.outer(p, p)) / -np.log(p12)
    npmi = np.where(p12 == 0, -1.0, np.where(p12 == 1, 1.0, npmi))
    values, first = [], 0
    for column in top:
        own = place[first : first + len(column)]
        first += len(column)
        if len(own) > 1:
            values.append(npmi[np.ix_(own, own)][np.triu_indices(len(own), 1)].mean())
    return float(np.mean(values)) if values else float("nan")


def agreement(labellings: Sequence[np.ndarray]) -> np.ndarray:
    """Runs × runs: the adjusted Rand index of each two on the documents both clustered; NaN where there are none."""
    table = np.eye(len(labellings))
    for i, a in enumerate(labellings):
        for j, b in enumerate(labellings[:i]):
            both = (a >= 0) & (b >= 0)
            table[i, j] = table[j, i] = rand_index(a[both], b[both])
    return table


def rand_index(a: np.ndarray, b: np.ndarray) -> float:
    """The adjusted Rand index (Hubert and Arabie 1985), without the checks that make scikit-learn's slow where thousands are needed."""
    if len(a) < 2:
        return float("nan")
    width = int(b.max()) + 1
    table = np.bincount(a * width + b, minlength=(int(a.max()) + 1) * width).reshape(-1, width)
    together, rows, columns = (float((x * (x - 1)).sum()) for x in (table, table.sum(axis=1), table.sum(axis=0)))
    chance = rows * columns / (len(a) * (len(a) - 1))
    most = (rows + columns) / 2
    return 1.0 if most == chance else (together - chance) / (most - chance)


def mean_agreement(table: np.ndarray) -> tuple[float, float]:
    """The mean over pairs of runs, and its standard error: by the jackknife over runs, since the pairs share them."""
    runs = len(table)
    if runs < 2:
        return float("nan"), float("nan")
    off = np.where(np.eye(runs, dtype=bool), 0.0, table)
    total = off.sum()
    mean = float(total / (runs * (runs - 1)))
    if runs < 3:
        return mean, float("nan")
    without = (total - 2 * off.sum(axis=1)) / ((runs - 1) * (runs - 2))
    return mean, float(np.sqrt((runs - 1) / runs * ((without - without.mean()) ** 2).sum()))


def consensus(labellings: Sequence[np.ndarray], documents: np.ndarray) -> np.ndarray:
    """For each two of some documents the share of runs, among those that clustered both, that put them together; NaN where none did."""
    together, both = (np.zeros((len(documents), len(documents))) for _ in range(2))
    for labels in labellings:
        own = labels[documents]
        known = own >= 0
        both += np.outer(known, known)
        together += (own[:, None] == own) & np.outer(known, known)
    with np.errstate(invalid="ignore"):
        return np.where(both > 0, together / both, np.nan)


def consensus_documents(n: int, count: int = SHOWN) -> np.ndarray:
    """The documents a consensus is taken over: all, or as many as a matrix may have, drawn once and for all."""
    return np.arange(n) if n <= count else np.sort(np.random.default_rng(0).choice(n, count, replace=False))


def cophenetic(C: np.ndarray) -> float:
    """The correlation of 1 − C with the heights at which average linkage joins the documents: 1 for a consensus of zeros and ones only.

    A consensus that puts all documents together has nothing to correlate: NaN.
    """
    from scipy.cluster.hierarchy import cophenet

    distances, tree = _linkage(C)
    heights = cophenet(tree)
    if distances.std() == 0 or heights.std() == 0:
        return float("nan")
    return float(np.corrcoef(distances, heights)[0, 1])


def consensus_order(C: np.ndarray) -> np.ndarray:
    """The documents in the order of the tree, so that clusters stand as blocks on the diagonal."""
    from scipy.cluster.hierarchy import leaves_list

    return leaves_list(_linkage(C)[1])


def _linkage(C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    from scipy.cluster.hierarchy import linkage

    distances = 1 - np.where(np.isnan(C), np.nanmean(C), C)[np.triu_indices(len(C), 1)]
    return distances, linkage(distances, "average")
