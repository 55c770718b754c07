"""Graph-regularised NMF.

    minimise ‖X − UVᵀ‖² + λ tr(VᵀLV)   over U ≥ 0 (m × k), V ≥ 0 (n × k),   L = D − S

    V ← V ∘ (XᵀU + λSV) / (V UᵀU + λDV)          (GNMF eq. 9)
    U as NMF                                      (GNMF eq. 8)

With λ = 0 it is NMF. The 2008 report uses λ = 10, the authors' program 100; both use p = 5 and a 0-1 graph.
A new document minimises ‖x' − Uv'‖² + λ Σⱼ s'ⱼ‖v' − vⱼ‖² over v' ≥ 0.

Cai, He, Wu, Han: Non-negative matrix factorization on manifold, ICDM 2008.
"""

from __future__ import annotations

import numpy as np

from ..assign import Assign
from ..graph import GraphWeights
from ..parameters import Scale, param
from ..problem import Problem
from ..products import times
from .base import Factors, Needs, Newcomers, Products, Ratio, Work, algorithm, column_lengths, least_squares, multiplied, smoothness
from .nmf import NMF


@algorithm
class GNMF(NMF):
    """NMF in which neighbouring documents get similar coordinates."""

    key, title, paper = "gnmf", "GNMF", "Cai, He, Wu & Han 2008"
    formula = r"\|X-UV^\top\|^2+\lambda\,\mathrm{tr}(V^\top LV)"
    rules = (r"V\leftarrow V\circ\dfrac{X^\top U+\lambda SV}{VU^\top U+\lambda DV}", NMF.rules[1])
    work = Work("2*z*k + 2*(m+n)*k**2 + (e + 3*n)*k")
    needs = Needs.NONNEGATIVE | Needs.GRAPH
    assign = Assign.COSINE
    graph = GraphWeights.BINARY

    lam: float = param(100.0, symbol="λ", low=0.0, high=1e4, scale=Scale.LOG, doc="weight of the graph term", published=(10.0, 100.0))
    p: int = param(5, symbol="p", low=1, high=30, doc="neighbours of each document in the graph", published=(5,))

    def update_V(self, problem: Problem, f: Factors, given: Products) -> np.ndarray:
        V, XtU, UU, lam, D = f["V"], given["XtU"], given["UU"], self.lam, problem.D
        return multiplied(V, XtU + lam * problem.smooth(V), V @ UU + lam * D * V)

    def ratio(self, problem: Problem, block: str, f: Factors, given: Products) -> Ratio | None:
        V, plain = f["V"], super().ratio(problem, block, f, given)
        if block != "V" or plain is None:
            return plain
        return Ratio(plain.up | {"λSV": self.lam * problem.smooth(V)}, plain.down | {"λDV": self.lam * problem.D * V})

    def terms(self, problem: Problem, f: Factors, given: Products) -> dict[str, np.ndarray]:
        return super().terms(problem, f, given) | {"graph": self.lam * smoothness(problem, f["V"])}

    def finish(self, problem: Problem, factors: Factors) -> Factors:
        """Columns of U to unit length; their lengths are kept, since λ was measured on the scale of the loop."""
        return super().finish(problem, factors) | {"scale": column_lengths(factors["U"])}

    def place(self, problem: Problem, f: Factors, new: Newcomers) -> np.ndarray:
        c = f["scale"]
        U, V, S, d, lam = f["U"] * c, f["V"] / c, new.S, new.degree, self.lam
        v = least_squares(U.T @ U + lam * d[:, None, None] * np.eye(problem.k), times(new.X.T, U) + lam * (S @ V))
        return new.unweighted(v * c)
