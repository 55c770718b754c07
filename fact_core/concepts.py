"""Concepts as lists of terms and of documents."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from .corpus.model import Matrix, unit_rows


def top_terms(basis: np.ndarray, terms: np.ndarray, count: int) -> list[list[tuple[str, float]]]:
    """For each column of `basis` its heaviest terms with their weights, heaviest first; equal weights in alphabetical order."""
    return _listed(basis, basis, terms, count)


def distinctive_terms(basis: np.ndarray, X: Matrix, terms: np.ndarray, count: int, weight: float = 0.4) -> list[list[tuple[str, float]]]:
    """The terms that set each concept apart, with their weights.

    Ordered by relevance: weight · log p(term | concept) + (1 − weight) · log (p(term | concept) / p(term)), p(term) over the documents ×
    terms X; weight 1 is the order by weight. Terms a concept hardly has are left out, since the ratio alone would put the rarest first.

    Sievert, Shirley: LDAvis, 2014.
    """
    positive = np.maximum(np.asarray(basis), 0.0)
    share = positive / np.maximum(positive.sum(axis=0), np.finfo(float).tiny)
    overall = np.asarray(abs(X).sum(axis=0)).ravel()
    overall = overall / max(overall.sum(), np.finfo(float).tiny)
    with np.errstate(divide="ignore"):
        relevance = np.log(share) - (1 - weight) * np.log(np.maximum(overall, np.finfo(float).tiny))[:, None]
    relevance[share < share.max(axis=0) / 50] = -np.inf
    return _listed(relevance, positive, terms, count)


def likeness(X: Matrix, basis: np.ndarray) -> np.ndarray:
    """Documents × concepts: the cosine of each document (a row of X) with each concept's terms.

    Coordinates smoothed over a graph say which documents belong together, not which of them a concept's terms describe best; this does.
    """
    U = basis / np.maximum(np.linalg.norm(basis, axis=0), np.finfo(float).tiny)
    return np.asarray(unit_rows(X) @ U)


def representative(likeness: np.ndarray, concept: int, count: int) -> np.ndarray:
    """The documents most like a concept."""
    return np.argsort(-likeness[:, concept], kind="stable")[:count]


def borderline(likeness: np.ndarray, concept: int, count: int) -> np.ndarray:
    """Documents that are about as like this concept as another one, and like both: the smaller of the two likenesses is largest."""
    if likeness.shape[1] < 2:
        return np.array([], dtype=int)
    both = np.minimum(likeness[:, concept], np.delete(likeness, concept, axis=1).max(axis=1))
    order = np.argsort(-both, kind="stable")
    return order[both[order] > 0][:count]


def matched_concepts(reference: np.ndarray, other: np.ndarray) -> np.ndarray:
    """For each column of `reference` the column of `other` that is most like it, one to one (cosine, Hungarian method); −1 for none."""
    a, b = (M / np.maximum(np.linalg.norm(M, axis=0), np.finfo(float).tiny) for M in (reference, other))
    mine, theirs = linear_sum_assignment(a.T @ b, maximize=True)
    match = np.full(reference.shape[1], -1)
    match[mine] = theirs
    return match


def _listed(order_by: np.ndarray, weights: np.ndarray, terms: np.ndarray, count: int) -> list[list[tuple[str, float]]]:
    count = min(count, len(terms))
    lists = []
    for by, column in zip(np.asarray(order_by).T, np.asarray(weights).T, strict=True):
        candidates = np.flatnonzero(by >= np.partition(by, -count)[-count])
        order = sorted(candidates, key=lambda j: (-by[j], terms[j]))[:count]
        lists.append([(str(terms[j]), float(column[j])) for j in order if column[j] > 0 and np.isfinite(by[j])])
    return lists
