"""Latent semantic indexing.

    minimise ‖X − UVᵀ‖²   over U (m × k), V (n × k), of any sign:   X ≈ U (ΣVᵀ) by the truncated singular value decomposition

Clusters come from k-means on the rows of V (documents times singular values).

Deerwester, Dumais, Furnas, Landauer, Harshman: Indexing by latent semantic analysis, JASIS 1990.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..assign import Assign
from ..problem import Problem
from ..products import times
from .base import Algorithm, Factors, Family, Newcomers, Products, algorithm
from .starts import Start, truncated_svd


@algorithm
class LSI(Algorithm):
    """The best approximation of the documents in k dimensions, then k-means."""

    key, title, paper = "lsi", "LSI", "Deerwester et al. 1990"
    formula = r"\|X-UV^\top\|^2,\ U^\top U=I"
    rules = (r"X\approx U_k\Sigma_kR_k^\top,\qquad V=R_k\Sigma_k",)
    letters: ClassVar[dict[str, tuple[str, str]]] = {
        r"U_k,\ \Sigma_k,\ R_k": ("", "the $k$ largest singular values of $X$ with their left and right vectors")
    }
    family = Family.SPECTRAL
    assign = Assign.KMEANS
    kernels = False
    multiplicative = False

    def start(self, problem: Problem, rng: np.random.Generator, kind: Start = Start.RANDOM) -> Factors:
        left, values, right = truncated_svd(problem.X, problem.k, rng)
        missing = problem.k - len(values)  # more concepts than X has dimensions: the rest is empty
        return {"U": np.pad(left, ((0, 0), (0, missing))), "V": np.pad((values[:, None] * right).T, ((0, 0), (0, missing)))}

    def terms(self, problem: Problem, f: Factors, given: Products) -> dict[str, float]:
        return {"fit": problem.K.trace - float((f["V"] ** 2).sum())}

    def basis(self, problem: Problem, f: Factors) -> np.ndarray:
        return f["U"]

    def place(self, problem: Problem, f: Factors, new: Newcomers) -> np.ndarray:
        return times(new.X.T, f["U"])
