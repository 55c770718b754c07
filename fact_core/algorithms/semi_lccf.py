"""Semi-supervised LCCF: LCCF on a graph in which known links stand.

    minimise ‖X − XWVᵀ‖² + λ tr(VᵀLV)   over W ≥ 0 (n × k), V ≥ 0 (n × k);   L = D − S

S is the neighbour graph with 1 for documents known to be of one class and 0 for documents known to be of two. Steps as LCCF's.
With few labels it is hardly more than LCCF: what is not labelled learns nothing.

Cai, He, Han: Locally consistent concept factorization for document clustering, IEEE TKDE 23(6), 2011; the graph as in the authors' program.
"""

from __future__ import annotations

import scipy.sparse as sp

from ..constraints import Constraints, Links, linked_graph
from ..corpus.model import Corpus
from ..parameters import Scale, param
from ..problem import latest
from .base import Family, Needs, algorithm, share_of_labels
from .lccf import LCCF
from .starts import Start


@algorithm
class SemiLCCF(LCCF):
    """LCCF whose graph joins documents of the same known class and parts those of different ones."""

    key, title, paper = "semi_lccf", "SemiLCCF", "Cai, He & Han 2011"
    family = Family.SEMI
    needs = Needs.GRAPH | Needs.SUPERVISION
    starts = (Start.SEEDED, Start.RANDOM, Start.KMEANS)

    lam: float = param(100.0, symbol="λ", low=0.0, high=1e4, scale=Scale.LOG, doc="weight of the graph term", published=(100.0,))
    p: int = param(5, symbol="p", low=1, high=30, doc="neighbours of each document in the graph", published=(5,))
    share: float = share_of_labels()
    links: str = param("both", symbol="links", choices=tuple(kind.value for kind in Links), doc="constraints that are used")

    def affinity(self, corpus: Corpus, S: sp.csr_array, constraints: Constraints) -> sp.csr_array:  # type: ignore[override]
        key = (id(S), constraints, self.links)
        return latest(corpus, "linked graph", key, lambda: (S, linked_graph(S, constraints, Links(self.links))))[1]
