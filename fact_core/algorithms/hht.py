"""Symmetric NMF of the affinity.

    minimise ‖A − HHᵀ‖²   over H ≥ 0 (n × k);   A = K (average association, AA-HHt) or d^-½Kd^-½ with `ncw` (normalised cut, NC-HHt)

    H ← H ∘ (½ + ½ (AH) / (H HᵀH))

A is an operator: nothing n × n is formed for the linear kernel.

Ding, He, Simon: On the equivalence of nonnegative matrix factorization and spectral clustering, SDM 2005.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..problem import Problem
from .base import FLOOR, Algorithm, Factors, Family, Needs, Newcomers, Products, Ratio, Work, algorithm, combination, inner, least_squares
from .starts import Start, indicator


@algorithm
class HHt(Algorithm):
    """The affinity of the documents as the product of one non-negative matrix with itself."""

    key, title, paper = "hht", "HHt", "Ding, He & Simon 2005"
    formula = r"\|A-HH^\top\|^2"
    rules = (r"H\leftarrow H\circ\Big(\tfrac12+\tfrac12\,\dfrac{AH}{HH^\top H}\Big)",)
    letters: ClassVar[dict[str, tuple[str, str]]] = {"H": ("n × k", "coordinates of the documents")}
    work = Work("q*k + 2*n*k**2")
    family = Family.SPECTRAL
    needs = Needs.NONNEGATIVE_KERNEL
    starts = (Start.RANDOM, Start.KMEANS)
    warm_up = 10**9  # whole runs, the lowest objective kept
    blocks = ("H",)
    monotone = False  # the halved step has none; on random data of a few documents it rises in one run of a thousand

    def start(self, problem: Problem, rng: np.random.Generator, kind: Start = Start.RANDOM) -> Factors:
        H = indicator(problem, rng) if kind is Start.KMEANS else rng.random((problem.n, problem.k))
        # Scaled to fit A as well as its direction can: from far below, the first step overshoots and the objective rises.
        return {"H": H * np.sqrt(inner(H, problem.K @ H) / np.linalg.norm(H.T @ H) ** 2)}

    def given_H(self, problem: Problem, f: Factors, before: Products) -> Products:
        H = f["H"]
        return {"AH": problem.K @ H, "HH": H.mT @ H}

    def update_H(self, problem: Problem, f: Factors, given: Products) -> np.ndarray:
        H, AH, HH = f["H"], given["AH"], given["HH"]
        return H * (0.5 + 0.5 * AH / np.maximum(H @ HH, FLOOR))

    def ratio(self, problem: Problem, block: str, f: Factors, given: Products) -> Ratio | None:
        HHH = f["H"] @ given["HH"]
        return Ratio({"AH": given["AH"], "HHᵀH": HHH}, {"2HHᵀH": 2 * HHH})

    def terms(self, problem: Problem, f: Factors, given: Products) -> dict[str, np.ndarray]:
        return {"fit": problem.K.squared_norm - 2 * inner(f["H"], given["AH"]) + inner(given["HH"], given["HH"])}

    def embedding(self, problem: Problem, f: Factors) -> np.ndarray:
        return f["H"]

    def basis(self, problem: Problem, f: Factors) -> np.ndarray:
        return combination(problem, f["H"])

    def place(self, problem: Problem, f: Factors, new: Newcomers) -> np.ndarray:
        """The h' ≥ 0 that minimises ‖a' − Hh'‖², a' the affinity of x' to the documents."""
        return least_squares(f["H"].T @ f["H"], new.K @ f["H"])
