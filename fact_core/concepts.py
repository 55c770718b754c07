"""Concepts as lists of terms."""

from __future__ import annotations

import numpy as np


def top_terms(basis: np.ndarray, terms: np.ndarray, count: int) -> list[list[tuple[str, float]]]:
    """For each column of `basis` its heaviest terms with their weights, heaviest first; equal weights in alphabetical order."""
    count = min(count, len(terms))
    lists = []
    for column in np.asarray(basis).T:
        candidates = np.flatnonzero(column >= np.partition(column, -count)[-count])
        order = sorted(candidates, key=lambda j: (-column[j], terms[j]))[:count]
        lists.append([(str(terms[j]), float(column[j])) for j in order if column[j] > 0])
    return lists
