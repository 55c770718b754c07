"""Constrained concept factorisation: documents of one known class share their coordinates.

    minimise ‖X − XWVᵀ‖²,   V = AZ,   over W ≥ 0 (n × k), Z ≥ 0 (g + n − l × k)

A (n × (g + n − l)) has 1 in the column of its class for each of the l documents whose class is known (or of its group, for must-linked
documents), and 1 in a column of its own for every other.

    Z ← Z ∘ (AᵀKW) / (AᵀA Z WᵀKW)
    W ← W ∘ (KAZ) / (KW ZᵀAᵀAZ)

Where K has negative entries, the square-root rules of CF. Nothing is normalised inside the loop. Cannot-links are not used.
The rules are derived from the model.

Liu, Yang, Wu, Cai: Constrained concept factorization for image representation, IEEE Transactions on Cybernetics 44(7), 2014.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from ..assign import Assign
from ..kernel import scale_columns
from ..problem import Problem
from ..products import times
from .base import Factors, Family, Needs, Products, algorithm, multiplied, rooted, share_of_labels
from .cf import CF
from .starts import Start, seeds


@algorithm
class CCF(CF):
    """Concept factorisation in which documents known to be of one class get the very same coordinates."""

    key, title, paper = "ccf", "CCF", "Liu, Yang, Wu & Cai 2014"
    formula = r"\|X-XWV^\top\|^2,\quad V=AZ"
    rules = (r"Z\leftarrow Z\circ\dfrac{A^\top KW}{A^\top AZW^\top KW}", r"W\leftarrow W\circ\dfrac{KAZ}{KWZ^\top A^\top AZ}")
    letters: ClassVar[dict[str, tuple[str, str]]] = {
        "A": ("", "n rows: 1 in the column of its class for a document of known class, in a column of its own for another"),
        "Z": ("", "the coordinates of each class that is known, and of each other document"),
    }
    family = Family.SEMI
    needs = Needs.SUPERVISION
    assign = Assign.COSINE
    starts = (Start.SEEDED, Start.RANDOM, Start.KMEANS)
    blocks = ("Z", "W")
    repeatable = ("Z",)

    share: float = share_of_labels()

    def start(self, problem: Problem, rng: np.random.Generator, kind: Start = Start.RANDOM) -> Factors:
        A = _constrained(problem)
        mean = scale_columns(A, 1 / A.sum(axis=0)).T
        if kind is Start.KMEANS:
            f = super().start(problem, rng, kind)
            return {"W": f["W"], "Z": mean @ f["V"]}
        W, Z = rng.random((problem.n, problem.k)), rng.random(self.shapes(problem)["Z"])
        return {"W": W, "Z": Z + mean @ seeds(problem) if kind is Start.SEEDED else Z}

    def given_Z(self, problem: Problem, f: Factors, before: Products) -> Products:
        return self.given_V(problem, f, before)

    def update_Z(self, problem: Problem, f: Factors, given: Products) -> np.ndarray:
        W, Z, A = f["W"], f["Z"], _constrained(problem)
        AKW, AA = times(A.T, given["KW"]), problem.once("AᵀA", lambda: (A * A).sum(axis=0)[:, None])
        if not problem.K.signed:
            return multiplied(Z, AKW, AA * (Z @ given["WKW"]))
        return rooted(Z, AKW, AA * (Z @ (W.mT @ given["K+W"])), AA * (Z @ (W.mT @ given["K-W"])))

    def given_W(self, problem: Problem, f: Factors, before: Products) -> Products:
        return super().given_W(problem, _with_V(problem, f), before)

    def normalise(self, problem: Problem, factors: Factors) -> Factors:
        return factors

    begin = normalise

    def finish(self, problem: Problem, factors: Factors) -> Factors:
        return _with_V(problem, factors)

    def terms(self, problem: Problem, f: Factors, given: Products) -> dict[str, np.ndarray]:
        return super().terms(problem, _with_V(problem, f), given)

    def embedding(self, problem: Problem, factors: Factors) -> np.ndarray:
        return problem.unweighted(times(_constrained(problem), factors["Z"]))

    def shapes(self, problem: Problem) -> dict[str, tuple[int, ...]]:
        return {"Z": (_constrained(problem).shape[1], problem.k), "W": (problem.n, problem.k)}


def _with_V(problem: Problem, f: Factors) -> Factors:
    return f | {"V": times(_constrained(problem), f["Z"])}


def _constrained(problem: Problem) -> sp.csr_array:
    """A; Γ^½A where the weighting is exact, since V then stands for Γ^½V."""

    def make() -> sp.csr_array:
        column = problem.supervision.groups.copy()
        free = column < 0
        column[free] = column.max(initial=-1) + 1 + np.arange(free.sum())
        return sp.csr_array((problem.root_gamma, (np.arange(problem.n), column)))

    return problem.once("A", make)
