"""Locality-constrained concept factorisation.

    minimise ‖X − XWVᵀ‖² + λ Σᵢₖ vᵢₖ ‖uₖ − xᵢ‖²,   uₖ = Xwₖ,   over W ≥ 0 (n × k), V ≥ 0 (n × k)

    V ← V ∘ 2(1+λ)KW / (2V WᵀKW + λa1ᵀ + λ1bᵀ),   a = diag K,  b = diag WᵀKW          (LCF eq. 8)
    W ← W ∘ (1+λ)KV / (KW (VᵀV + λ diag(Vᵀ1)))                                          (LCF eq. 9, where the paper's KWVᵀ does not conform)

Nothing is normalised inside the loop: that would make the objective rise. With λ = 0 it is CF without its normalisation. From a
random start on sparse text, λ ≥ 0.05 sends many rows of V to zero; so the start is k-means, and the result says what share of
documents is left without coordinates.
The paper uses λ = 0.3 on face images, which need some 2000 steps.

Liu, Yang, Wu: Locality-constrained concept factorization, IJCAI 2011.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..parameters import Scale, param
from ..problem import Problem
from .base import Factors, Needs, Newcomers, Products, Ratio, Work, algorithm, inner, least_squares, multiplied
from .cf import CF
from .starts import Start


@algorithm
class LCF(CF):
    """Concept factorisation whose concepts stay close to the documents they describe."""

    key, title, paper = "lcf", "LCF", "Liu, Yang & Wu 2011"
    formula = r"\|X-XWV^\top\|^2+\lambda\sum_{i,k}v_{ik}\|u_k-x_i\|^2"
    rules = (
        r"V\leftarrow V\circ\dfrac{2(1+\lambda)KW}{2VW^\top KW+\lambda a1^\top+\lambda 1b^\top}",
        r"W\leftarrow W\circ\dfrac{(1+\lambda)KV}{KW\,(V^\top V+\lambda\,\mathrm{diag}(V^\top 1))}",
    )
    letters: ClassVar[dict[str, tuple[str, str]]] = {
        "u_k": ("m", "a concept, $Xw_k$"), "a": ("n", "the diagonal of $K$"), "b": ("k", "the diagonal of $W^\\top KW$")
    }  # fmt: skip
    work = Work("2*q*k + 4*n*k**2 + 3*n*k")
    needs = Needs.NONNEGATIVE_KERNEL
    weightings = CF.weightings[:2]
    starts = (Start.KMEANS, Start.RANDOM)
    warm_up = 10**9  # whole runs, the lowest objective kept

    lam: float = param(0.3, symbol="λ", low=0.0, high=10.0, scale=Scale.LOG, doc="weight of the locality term", published=(0.3,))

    def update_V(self, problem: Problem, f: Factors, given: Products) -> np.ndarray:
        V, KW, WKW, lam, a = f["V"], given["KW"], given["WKW"], self.lam, problem.K.diagonal[:, None]
        b = np.diagonal(WKW, axis1=-2, axis2=-1)[..., None, :]
        return multiplied(V, 2 * (1 + lam) * KW, 2 * V @ WKW + lam * a + lam * b)

    def update_W(self, problem: Problem, f: Factors, given: Products) -> np.ndarray:
        W, V, KW, KV, VV, lam = f["W"], f["V"], given["KW"], given["KV"], given["VV"], self.lam
        return multiplied(W, (1 + lam) * KV, KW @ VV + lam * KW * V.sum(axis=-2, keepdims=True))

    def ratio(self, problem: Problem, block: str, f: Factors, given: Products) -> Ratio | None:
        V, KW, WKW, lam, a = f["V"], given["KW"], given["WKW"], self.lam, problem.K.diagonal[:, None]
        if block == "V":
            b = np.diagonal(WKW, axis1=-2, axis2=-1)[..., None, :]
            return Ratio({"2(1+λ)KW": 2 * (1 + lam) * KW}, {"2VWᵀKW": 2 * V @ WKW, "λ(a1ᵀ + 1bᵀ)": lam * (a + b)})
        down = {"KWVᵀV": KW @ given["VV"], "λKW diag(Vᵀ1)": lam * KW * V.sum(axis=-2, keepdims=True)}
        return Ratio({"(1+λ)KV": (1 + lam) * given["KV"]}, down)

    def normalise(self, problem: Problem, factors: Factors) -> Factors:
        return factors

    begin = finish = normalise

    def terms(self, problem: Problem, f: Factors, given: Products) -> dict[str, np.ndarray]:
        V, KW, WKW, a = f["V"], given["KW"], given["WKW"], problem.K.diagonal[:, None]
        b = np.diagonal(WKW, axis1=-2, axis2=-1)[..., None, :]
        return super().terms(problem, f, given) | {"locality": self.lam * inner(V, a - 2 * KW + b)}

    def place(self, problem: Problem, f: Factors, new: Newcomers) -> np.ndarray:
        """The v' ≥ 0 that minimises the objective's terms of x' with the concepts held."""
        W, kW, lam = f["W"], new.K @ f["W"], self.lam
        WKW = W.T @ (problem.K @ W)
        return least_squares(WKW, (1 + lam) * kW - lam / 2 * (new.diagonal[:, None] + np.diag(WKW)))
