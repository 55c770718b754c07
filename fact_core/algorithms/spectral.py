"""Spectral clustering.

    maximise tr(HᵀAH)   over HᵀH = I (n × k);   A = K (average association, AA) or d^-½Kd^-½ with `ncw` (normalised cut, NC)

H are the k leading eigenvectors of A, clusters come from k-means on its rows. tr A − tr HᵀAH is the sum of squares k-means would leave if
H could be the indicator of its clusters: the relaxed optimum, a lower bound of the k-means objective.

Zha, Ding, Gu, He, Simon: Spectral relaxation for k-means clustering, NIPS 2001. Shi, Malik: Normalized cuts and image
segmentation, PAMI 2000.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from ..assign import Assign
from ..problem import Problem
from .base import Algorithm, Factors, Family, Newcomers, Products, algorithm, combination, residual
from .starts import Start


@algorithm
class Spectral(Algorithm):
    """The leading eigenvectors of the affinity as coordinates."""

    key, title, paper = "spectral", "Spectral", "Zha, Ding, Gu, He & Simon 2001; Shi & Malik 2000"
    formula = r"\mathrm{tr}\,A-\max_{H^\top H=I}\mathrm{tr}(H^\top AH)"
    rules = (r"H=\text{the $k$ leading eigenvectors of }A",)
    letters: ClassVar[dict[str, tuple[str, str]]] = {"H": ("n × k", "eigenvectors as columns, of either sign")}
    family = Family.SPECTRAL
    assign = Assign.KMEANS
    multiplicative = False

    def start(self, problem: Problem, rng: np.random.Generator, kind: Start = Start.RANDOM) -> Factors:
        n, k = problem.n, problem.k
        if n <= 500 or k >= n - 1:
            values, H = np.linalg.eigh(problem.K @ np.eye(n))
        else:
            A = LinearOperator(
                (n, n), matvec=lambda v: (problem.K @ v.reshape(-1, 1)).ravel(), matmat=lambda V: problem.K @ V, dtype=np.float64
            )
            values, H = eigsh(A, k, v0=rng.random(n))
        order = np.argsort(-values)[:k]
        H = H[:, order]
        return {"H": H * np.where(H.sum(axis=0) < 0, -1.0, 1.0), "eigenvalues": values[order]}

    def terms(self, problem: Problem, f: Factors, given: Products) -> dict[str, float]:
        return {"cut": problem.K.trace - f["eigenvalues"].sum()}

    def error(self, problem: Problem, f: Factors, terms: dict[str, float]) -> float:
        return residual(problem, f["H"] * f["eigenvalues"], f["H"])

    def embedding(self, problem: Problem, f: Factors) -> np.ndarray:
        return f["H"]

    def basis(self, problem: Problem, f: Factors) -> np.ndarray:
        return combination(problem, f["H"])

    def place(self, problem: Problem, f: Factors, new: Newcomers) -> np.ndarray:
        """Nyström: h' = a'H over the eigenvalues."""
        return new.K @ f["H"] / np.where(np.abs(f["eigenvalues"]) > 1e-12, f["eigenvalues"], np.inf)
