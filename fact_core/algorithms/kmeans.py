"""K-means, written with inner products only, so that it works with any kernel.

    minimise Σⱼ γⱼ‖xⱼ − m_c(j)‖²   over assignments c;   ‖xⱼ − m_c‖² = Kⱼⱼ − 2 (Kh)ⱼ + hᵀKh,   h = γ on the cluster, over its sum

γ = 1 but for the exact normalised-cut weighting, where it is 1/d: weighted kernel k-means. (The problem's K then is Γ^½KΓ^½.)
Lloyd's steps: every document goes to the nearest mean, then the means move. A cluster that loses its last document takes the one
farthest from its own mean, which lowers the objective. Starts by k-means++.

Lloyd: Least squares quantization in PCM, 1982. Arthur, Vassilvitskii: k-means++, SODA 2007. Dhillon, Guan, Kulis: Kernel k-means, KDD 2004.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..kernel import Weighting
from ..problem import Problem
from .base import Algorithm, Factors, Family, Newcomers, Products, Work, algorithm, combination
from .starts import Start


@algorithm
class KMeans(Algorithm):
    """Every document belongs to the cluster with the nearest mean."""

    key, title, paper = "kmeans", "K-means", "Lloyd 1982; Arthur & Vassilvitskii 2007"
    formula = r"\sum_j\|x_j-m_{c(j)}\|^2"
    rules = (r"c(j)\leftarrow\arg\min_c\|x_j-m_c\|^2", r"m_c\leftarrow\text{the mean of its documents}")
    letters: ClassVar[dict[str, tuple[str, str]]] = {
        "H": ("n × k", "1 where a document is in a cluster"),
        "m_c": ("m", "the mean of a cluster"),
        "c(j)": ("", "the cluster of document $j$"),
    }
    work = Work("q*k + 2*n*k")
    family = Family.CLUSTERING
    weightings = tuple(Weighting)
    blocks = ("H",)
    multiplicative = False

    def start(self, problem: Problem, rng: np.random.Generator, kind: Start = Start.RANDOM) -> Factors:
        n, K, g = problem.n, problem.K, problem.root_gamma
        square = K.diagonal / g**2
        distances = np.empty((n, problem.k))
        nearest = np.full(n, np.inf)
        for c in range(problem.k):
            cost = g**2 * nearest
            i = int(rng.choice(n, p=cost / cost.sum() if c and cost.sum() > 0 else None))
            centre = np.zeros((n, 1))
            centre[i] = 1 / g[i]
            distances[:, c] = np.maximum(square - 2 * (K @ centre).ravel() / g + square[i], 0.0)
            nearest = np.minimum(nearest, distances[:, c])
        return {"H": _indicator(distances)}

    def given_H(self, problem: Problem, f: Factors, before: Products) -> Products:
        g = problem.root_gamma[:, None]
        M = self.means(problem, f["H"])
        KM = problem.K @ M
        return {"KM": KM / g, "MKM": (M * KM).sum(axis=-2, keepdims=True)}

    def update_H(self, problem: Problem, f: Factors, given: Products) -> np.ndarray:
        square = problem.K.diagonal / problem.root_gamma**2
        H = _indicator(square[:, None] - 2 * given["KM"] + given["MKM"])
        return f["H"] if np.array_equal(H, f["H"]) else H

    def terms(self, problem: Problem, f: Factors, given: Products) -> dict[str, np.ndarray]:
        size = (problem.root_gamma[:, None] ** 2 * f["H"]).sum(axis=-2, keepdims=True)
        return {"fit": problem.K.trace - (size * given["MKM"]).sum(axis=(-2, -1))}

    def embedding(self, problem: Problem, f: Factors) -> np.ndarray:
        """‖xⱼ‖² − ‖xⱼ − m_c‖²: how much of a document each mean explains; the largest is its cluster."""
        given = self.given_H(problem, f, {})
        return 2 * given["KM"] - given["MKM"]

    def basis(self, problem: Problem, f: Factors) -> np.ndarray:
        return combination(problem, self.means(problem, f["H"]))

    def means(self, problem: Problem, H: np.ndarray) -> np.ndarray:
        """Γ^-½ times the weights h: X·M are the means."""
        g = problem.root_gamma[:, None]
        size = (g**2 * H).sum(axis=-2, keepdims=True)
        return g * H / np.where(size > 0, size, 1.0)

    def place(self, problem: Problem, f: Factors, new: Newcomers) -> np.ndarray:
        M = self.means(problem, f["H"])
        return 2 * new.K @ M / new.root_gamma[:, None] - (M * (problem.K @ M)).sum(axis=0)


def _indicator(distances: np.ndarray) -> np.ndarray:
    """1 at the nearest mean of each row, with no column left empty."""
    *stack, n, k = distances.shape
    H = np.zeros((int(np.prod(stack, dtype=int)), n, k))
    for one, d in zip(H, distances.reshape(-1, n, k), strict=True):
        nearest = d.argmin(axis=1)
        size = np.bincount(nearest, minlength=k)
        far = d[np.arange(n), nearest]
        for empty in np.flatnonzero(size == 0):
            j = int(np.where(size[nearest] > 1, far, -np.inf).argmax())
            size[nearest[j]] -= 1
            nearest[j], far[j], size[empty] = empty, 0.0, 1
        one[np.arange(n), nearest] = 1.0
    return H.reshape(distances.shape)
