"""Regularised concept factorisation: LCCF on a graph into which constraints were propagated.

    minimise ‖X − XWVᵀ‖² + λ tr(VᵀL̃V)   over W ≥ 0 (n × k), V ≥ 0 (n × k);   L̃ = D̃ − S̃

    F = (1−α)² (I − αS̄)⁻¹ Z (I − αS̄)⁻¹                                       (RCF section 3.1; see fact_core.constraints)
    S̃ = 1 − (1−F)(1−S) where F ≥ 0,  (1+F)S where F < 0                       (RCF eq. 11)
    V ← V ∘ (KW + λS̃V) / (V WᵀKW + λD̃V)                                      (RCF eq. 18, which has KW for KU and L for L̃)
    W as CF                                                                    (RCF eq. 17)

Without constraints it is LCCF on the heat graph. The paper uses λ = 100, p = 5, α = 0.5 on TDT2 and p = 4, α = 0.3 on Reuters; its U
is our W. S̃ is dense; `keep` leaves the largest entries of each row beside the edges of S, which takes a part of the memory and the time.
A new document has the edges to its neighbours only.

Yan, Zhang, Ma, Yang: A novel regularized concept factorization for document clustering, Knowledge-Based Systems, 2017.
"""

from __future__ import annotations

from typing import ClassVar

import scipy.sparse as sp

from ..constraints import Constraints, Links, propagate
from ..corpus.model import Corpus, Matrix
from ..graph import GraphWeights
from ..parameters import Scale, param
from ..problem import latest
from .base import Family, Needs, Work, algorithm, share_of_labels
from .lccf import LCCF
from .starts import Start


@algorithm
class RCF(LCCF):
    """LCCF whose graph knows, from a few labelled documents or pairs, which others belong together."""

    key, title, paper = "rcf", "RCF", "Yan, Zhang, Ma & Yang 2017"
    formula = r"\|X-XWV^\top\|^2+\lambda\,\mathrm{tr}(V^\top\tilde LV)"
    rules = (
        r"F=(1-\alpha)^2(I-\alpha\bar S)^{-1}Z(I-\alpha\bar S)^{-1}",
        r"\tilde S=1-(1-F)(1-S)\ \text{ where }F\ge0,\qquad(1+F)S\ \text{ where }F<0",
        r"V\leftarrow V\circ\dfrac{KW+\lambda\tilde SV}{VW^\top KW+\lambda\tilde DV}",
        LCCF.rules[1],
    )
    letters: ClassVar[dict[str, tuple[str, str]]] = {
        "Z": ("n × n", "what is known of pairs: 1 must be together, −1 cannot be, 0 unknown"),
        r"\bar S": ("n × n", r"the graph, $D^{-1/2}SD^{-1/2}$"),
        "F": ("n × n", "$Z$ carried over the graph to all pairs"),
        r"\tilde S": ("n × n", r"the graph that knows; $\tilde D$ its row sums, $\tilde L=\tilde D-\tilde S$"),
    }
    work = Work("2*q*k + 4*n*k**2 + (e + 3*n)*k")
    pulled = ("λS̃V", "λD̃V")
    family = Family.SEMI
    needs = Needs.GRAPH | Needs.SUPERVISION
    graph = GraphWeights.HEAT
    starts = (Start.SEEDED, Start.RANDOM, Start.KMEANS)

    lam: float = param(100.0, symbol="λ", low=0.0, high=1e4, scale=Scale.LOG, doc="weight of the graph term", published=(100.0,))
    p: int = param(5, symbol="p", low=1, high=30, doc="neighbours of each document in the graph", published=(4, 5))
    share: float = share_of_labels()
    alpha: float = param(0.5, symbol="α", low=0.01, high=0.99, doc="how far constraints reach over the graph", published=(0.3, 0.5))
    links: str = param("both", symbol="links", choices=tuple(kind.value for kind in Links), doc="constraints that are used")
    keep: int = param(100, symbol="keep", low=0, high=1000, doc="largest entries kept in each row of the propagated graph; 0 keeps all")

    def affinity(self, corpus: Corpus, S: sp.csr_array, constraints: Constraints) -> Matrix:  # type: ignore[override]
        # S goes into what is kept, so that its address stays its own.
        key = (id(S), constraints, self.alpha, self.links, self.keep)
        return latest(corpus, "propagated graph", key, lambda: (S, self._propagated(S, constraints)))[1]

    def _propagated(self, S: sp.csr_array, constraints: Constraints) -> Matrix:
        if not len(constraints.documents):
            return S
        return propagate(S, constraints, self.alpha, Links(self.links)).graph(S, self.keep)
