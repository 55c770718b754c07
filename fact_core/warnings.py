"""What a person should know before believing a result, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from .problem import Problem


def warnings_of(problem: Problem, embedding: np.ndarray, labels: np.ndarray, objective: np.ndarray, stopped: str) -> Iterator[str]:
    n, k = problem.n, problem.k
    if stopped == "diverged":
        yield "A number became infinite or undefined; what is shown is the last step before that."
    steps = np.diff(objective)
    rounding = 1e-9 if problem.dtype == np.float64 else 1e-5
    rises = steps > rounding * np.abs(objective[:-1]) + 1e-3 * rounding * np.abs(objective).max()
    if rises.any():
        worst = float((steps[rises] / np.abs(objective[:-1][rises])).max())
        yield f"The objective rose in {rises.sum()} of {len(rises)} steps, by {worst:.1%} at most."
    lengths = np.linalg.norm(embedding, axis=1)
    dead = int((lengths <= 1e-9 * max(float(lengths.max(initial=0.0)), 1e-300)).sum())
    if dead:
        yield f"{_documents(dead)} of {n} ({dead / n:.0%}) {'has' if dead == 1 else 'have'} no coordinates left and belong to no concept."
    empty = k - len(np.unique(labels))
    if empty:
        yield f"{empty} of {k} clusters {'is' if empty == 1 else 'are'} empty."
    if problem.constraints is not None:
        yield from problem.constraints.notes
    if problem.recall is not None:
        yield f"The graph was searched for approximately: it has about {problem.recall:.0%} of the true neighbours."
    if problem.S is not None:
        isolated = int((problem.S.sum(axis=1) == 0).sum())
        if isolated:
            yield f"{_documents(isolated)} {'has' if isolated == 1 else 'have'} no neighbour in the graph."
        if not sp.issparse(problem.S):
            return
        components = int(connected_components(problem.S, directed=False, return_labels=False)) - isolated
        if components > max(2 * k, k + 5):
            yield f"The graph falls into {components} pieces, more than twice the {k} clusters; a larger p joins them."


def _documents(count: int) -> str:
    return f"{count} document{'s' * (count != 1)}"
