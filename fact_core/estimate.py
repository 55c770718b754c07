"""What a run will need of memory, before it takes any.

The numbers are bytes at the worst moment, from the shapes alone: the weighted matrix with its copies, the search for neighbours, the
kernel where it has to be formed, the propagated graph S̃, the factors of all starts. They are meant to be too high rather than too low;
`tests/test_holds.py` holds them against what runs take.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import memory
from .algorithms import Algorithm, Needs, configured
from .algorithms.base import Family, find
from .corpus.model import Corpus
from .errors import FactScopeError
from .kernel import BLOCK, Kernel, Weighting
from .limits import size
from .presets import resolve

ENTRY = 12.0  # bytes of an entry of a sparse matrix
UMAP = 350e6  # bytes its library and compiled code take before there is a point
INSTEAD = {
    "the kernel": "the linear kernel",
    "the propagated graph": "fewer kept entries (keep)",
    "the factors": "fewer starts or clusters",
}
FORMED = 4000  # documents up to which a dense linear kernel is formed


@dataclass(frozen=True)
class Shape:
    """As much of a corpus as memory depends on."""

    n: float  # documents
    m: float  # terms
    filled: float  # entries that are not zero
    sparse: bool
    signed: bool
    classes: int

    @classmethod
    def of(cls, corpus: Corpus) -> Shape:
        counts = corpus.counts
        values = counts.data if sp.issparse(counts) else counts
        signed = bool(values.size and values.min() < 0)
        n, m = counts.shape
        return cls(n, m, float(np.size(values)), sp.issparse(counts), signed, len(corpus.label_names))


def parts(shape: Shape, method: Algorithm, k: int, kernel: Kernel, weighting: Weighting, starts: int) -> dict[str, float]:
    """Bytes by what takes them."""
    n, m = shape.n, shape.m
    settings = method.settings()
    weighted = weighting is not Weighting.NONE
    block = 8.0 * min(BLOCK, n * n)
    matrix = ENTRY * shape.filled if shape.sparse else 8.0 * n * m
    found = {"the matrix": matrix * (3 + weighted)}
    if Needs.GRAPH in method.needs:
        p = settings.get("p", 5)
        found["the graph"] = (3 * matrix + 200.0 * n * (p + 4)) if shape.sparse else 4 * block + 100.0 * n * p
    if kernel is not Kernel.LINEAR or shape.signed:
        found["the kernel"] = 8.0 * n * n * (4 if kernel is Kernel.LINEAR else 1 + weighted) + 2 * block
    elif not shape.sparse and n <= 2 * m and n <= FORMED:
        found["the kernel"] = 8.0 * n * n * (1 + weighted)
    if Needs.SUPERVISION in method.needs:
        labelled = n * settings.get("share", 0.1)
        found["what is known"] = 60.0 * labelled**2 if "keep" not in settings else 48.0 * n * max(shape.classes, 2)
        if "keep" in settings:
            kept = settings["keep"]
            found["the propagated graph"] = 5 * block + (64.0 * n * kept if kept else 8.0 * n * n)
    if method.family is Family.SPECTRAL and n > FORMED:
        found["the affinity"] = 3 * block  # gone through in rows for its norm
    found["the factors"] = 8.0 * k * (m + 2 * n) * (3 * starts + 8)
    return found


def check(corpus: Corpus, algorithm: str, settings: Mapping[str, Any]) -> dict[str, float]:
    """What `fit` with these settings will need, by part; a sentence where that is more than it may have, with what would fit."""
    preset = resolve(algorithm)
    given = preset.options | {name: value for name, value in settings.items() if value is not None}
    method = configured(preset.key, {p.name: given[p.name] for p in find(preset.key).parameters if p.name in given})
    try:
        k, starts = int(given.get("n_clusters") or len(corpus.label_names) or 1), int(given.get("restarts", 10))
        kinds = Kernel(given.get("kernel") or "linear"), Weighting(given.get("weighting") or "none")
    except (TypeError, ValueError):
        return {}  # `fit` has the sentence for it
    shape = Shape.of(corpus)

    def total(share: float) -> float:
        part = replace(shape, n=share * shape.n, filled=share * shape.filled)
        return sum(parts(part, method, k, *kinds, starts if method.blocks else 1).values())

    needed = parts(shape, method, k, *kinds, starts if method.blocks else 1)
    have = memory.budget()
    if sum(needed.values()) <= have:
        return needed
    low, high = 0.0, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if total(middle) <= have else (low, middle)
    most = max(needed, key=needed.__getitem__)
    fewer = [f"about {int(low * shape.n)} documents"] if low * shape.n >= 10 else []
    fits = " or ".join([*fewer, *([INSTEAD[most]] if most in INSTEAD else [])]) or "a smaller corpus"
    raise FactScopeError(
        f"{method.title} on {len(corpus)} documents needs {size(sum(needed.values()))} of memory, most of it for {most}, "
        f"and {size(have)} may be used; {fits} would fit."
    )


def check_umap(points: int) -> None:
    memory.ask(f"UMAP of {points} points", UMAP + 3000.0 * points, "principal components need next to none")
