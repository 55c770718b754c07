"""What a figure or a page wants to see of a result that takes more than its factors: the kernel, the graph, UMAP.

Whoever draws asks for it by name through :func:`look`, which computes it on the spot. A server has a worker do it instead
(:class:`fact_core.workers.errands.Look`), so what is asked with and what comes back are arrays and plain data only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from .constraints import propagate
from .friends import pyldavis_page
from .graph import GraphWeights
from .problem import graph_of
from .projection import Projection, ordered_affinity, projected
from .result import Result

Seen = tuple[np.ndarray, ...]
Looking = Callable[..., Seen]  # as `look` is


def look(result: Result, what: str, **asked: Any) -> Seen:
    """One of LOOKS at a result."""
    return LOOKS[what](result, **asked)


def affinity(result: Result, groups: np.ndarray) -> Seen:
    """The affinity of some documents, ordered by group, and the number of rows of each group."""
    return ordered_affinity(result.problem.K, groups)


def links(result: Result, some: np.ndarray) -> Seen:
    """What is known of pairs of these documents, carried over the graph."""
    known = result.algorithm.settings()
    S = graph_of(result.corpus, known.get("p", 5), GraphWeights.HEAT)
    return (propagate(S, result.problem.supervision, known.get("alpha", 0.5)).F(some, some),)


def umap(result: Result, rows: np.ndarray, dimensions: int) -> Seen:
    """Documents in two or three dimensions."""
    return (projected(result.embedding[rows], Projection.UMAP, dimensions),)


def place(result: Result, rows: np.ndarray) -> Seen:
    """Coordinates and clusters of new documents, given as weighted rows over the terms of the corpus."""
    placed = result.place_rows(sp.csr_array(rows) if sp.issparse(result.corpus.counts) else rows)
    return placed.embedding, placed.labels


def pyldavis(result: Result) -> Seen:
    """The page of pyLDAvis, as bytes."""
    return (np.frombuffer(pyldavis_page(result).encode(), dtype=np.uint8),)


LOOKS: dict[str, Looking] = {made.__name__: made for made in (affinity, links, umap, place, pyldavis)}
