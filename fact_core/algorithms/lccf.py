"""Locally consistent concept factorisation.

    minimise ‖X − XWVᵀ‖² + λ tr(VᵀLV)   over W ≥ 0 (n × k), V ≥ 0 (n × k);   K = XᵀX or another kernel,  L = D − S

    V ← V ∘ (KW + λSV) / (V WᵀKW + λDV)          (LCCF eq. 18)
    W as CF                                       (LCCF eq. 17)

Where K has negative entries, V takes CF's square-root rule with λDV added to Q⁺ and λSV to Q⁻ (LCCF eq. 28).
With λ = 0 it is CF. The paper uses λ = 100, p = 5, cosine weights. The fit does not change under V → V/c, W → cW while tr(VᵀLV)
falls by c²: without the unit columns of V that CF keeps after every step, λ would have no effect.

Cai, He, Han: Locally consistent concept factorization for document clustering, IEEE TKDE 23(6), 2011.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..assign import Assign
from ..parameters import Scale, param
from ..problem import Problem
from .base import Factors, Needs, Products, Work, algorithm, smoothness
from .cf import CF


@algorithm
class LCCF(CF):
    """Concept factorisation smoothed over the neighbour graph."""

    key, title, paper = "lccf", "LCCF", "Cai, He & Han 2011"
    formula = r"\|X-XWV^\top\|^2+\lambda\,\mathrm{tr}(V^\top LV)"
    rules: ClassVar[tuple[str, ...]] = (r"V\leftarrow V\circ\dfrac{KW+\lambda SV}{VW^\top KW+\lambda DV}", CF.rules[1])
    work = Work(
        "2*q*k + 4*n*k**2 + (e + 3*n)*k",
        *("4*n**2*k + 4*n*k**2 + n*(p+3)*k", "4*n**2*k + 4*n*k**2 + n*(p+3)*k", "2*n*k", "LCCF table 2"),
    )
    pulled = ("λSV", "λDV")
    needs = Needs.GRAPH
    assign = Assign.COSINE

    lam: float = param(100.0, symbol="λ", low=0.0, high=1e4, scale=Scale.LOG, doc="weight of the graph term", published=(100.0,))
    p: int = param(5, symbol="p", low=1, high=30, doc="neighbours of each document in the graph", published=(5,))

    def pull(self, problem: Problem, f: Factors) -> tuple[np.ndarray, np.ndarray]:
        V = f["V"]
        return self.lam * problem.smooth(V), self.lam * problem.D * V

    def terms(self, problem: Problem, f: Factors, given: Products) -> dict[str, np.ndarray]:
        return super().terms(problem, f, given) | {"graph": self.lam * smoothness(problem, f["V"])}
