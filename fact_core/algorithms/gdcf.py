"""Graph-based discriminative concept factorisation: a linear map of the coordinates has to tell the known classes. A reconstruction.

    minimise ‖X − XWVᵀ‖² + β₁ tr(VᵀLV) + β₂ ‖Q − B VᵀE‖²   over W ≥ 0 (n × k), V ≥ 0 (n × k), B ≥ 0 (c × k)

Q (c × n) is the indicator of the known classes, E = diag(1 where a class is known), L = D − S.

    V ← V ∘ (KW + β₁SV + β₂QᵀB) / (V WᵀKW + β₁DV + β₂EV BᵀB)
    B ← B ∘ (QV) / (B VᵀEV)
    W as CF

Nothing is normalised inside the loop, so that V may shrink while W and B grow: β₁ then says little. With β₁ = β₂ = 0 it is CF without its
normalisation. β₁ = 0.5 and β₂ = 0.1 as in RCF's experiments.

Li, Zhang, Hu, Zhang, Liu: Graph-based discriminative concept factorization for data representation, Knowledge-Based Systems 118, 2017.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..assign import Assign
from ..parameters import Scale, param
from ..problem import Problem
from .base import Factors, Family, Needs, Newcomers, Products, algorithm, inner, multiplied, share_of_labels, smoothness
from .cf import CF
from .starts import Start


@algorithm
class GDCF(CF):
    """Concept factorisation, smoothed over the neighbour graph, from whose coordinates known classes can be read. A reconstruction."""

    key, title, paper = "gdcf", "GDCF", "Li, Zhang, Hu, Zhang & Liu 2017"
    formula = r"\|X-XWV^\top\|^2+\beta_1\,\mathrm{tr}(V^\top LV)+\beta_2\|Q-BV^\top E\|^2"
    rules = (
        r"V\leftarrow V\circ\dfrac{KW+\beta_1SV+\beta_2Q^\top B}{VW^\top KW+\beta_1DV+\beta_2EVB^\top B}",
        CF.rules[1],
        r"B\leftarrow B\circ\dfrac{QV}{BV^\top EV}",
    )
    letters: ClassVar[dict[str, tuple[str, str]]] = {
        "Q": ("c × n", "1 where a class is known"), "E": ("n × n", "diagonal, 1 where a class is known"),
        "B": ("c × k", "the map from coordinates to classes"),
    }  # fmt: skip
    pulled = ("β₁SV + β₂QᵀB", "β₁DV + β₂EVBᵀB")
    note = (
        "A reconstruction: the authors' paper and program were not at hand, "
        "so the rules are derived from the model as RCF's authors cite and compare it."
    )
    family = Family.SEMI
    needs = Needs.GRAPH | Needs.SUPERVISION | Needs.CLASSES
    assign = Assign.COSINE
    starts = (Start.SEEDED, Start.RANDOM, Start.KMEANS)
    blocks = ("V", "W", "B")
    repeatable = ("V", "B")

    beta1: float = param(0.5, symbol="β₁", low=0.0, high=1e3, scale=Scale.LOG, doc="weight of the graph term", published=(0.5,))
    beta2: float = param(0.1, symbol="β₂", low=0.0, high=1e3, scale=Scale.LOG, doc="weight of the known classes", published=(0.1,))
    p: int = param(5, symbol="p", low=1, high=30, doc="neighbours of each document in the graph")
    share: float = share_of_labels()

    def start(self, problem: Problem, rng: np.random.Generator, kind: Start = Start.RANDOM) -> Factors:
        return super().start(problem, rng, kind) | {"B": rng.random(self.shapes(problem)["B"])}

    def pull(self, problem: Problem, f: Factors) -> tuple[np.ndarray, np.ndarray]:
        V, B, Q, b1, b2 = f["V"], f["B"], _indicator(problem), self.beta1, self.beta2
        up = b1 * problem.smooth(V) + b2 * Q.T @ B
        return up, b1 * problem.D * V + b2 * _known(problem) * V @ (B.mT @ B)

    def given_B(self, problem: Problem, f: Factors, before: Products) -> Products:
        V = f["V"]
        return {"QV": _indicator(problem) @ V, "VEV": V.mT @ (_known(problem) * V)}

    def update_B(self, problem: Problem, f: Factors, given: Products) -> np.ndarray:
        return multiplied(f["B"], given["QV"], f["B"] @ given["VEV"])

    def normalise(self, problem: Problem, factors: Factors) -> Factors:
        return factors

    begin = finish = normalise

    def terms(self, problem: Problem, f: Factors, given: Products) -> dict[str, np.ndarray]:
        V, B, Q = f["V"], f["B"], _indicator(problem)
        labels = problem.supervision.indicator.sum() - 2 * inner(B, Q @ V) + inner(B.mT @ B, V.mT @ (_known(problem) * V))
        return super().terms(problem, f, given) | {"graph": self.beta1 * smoothness(problem, V), "labels": self.beta2 * labels}

    def place(self, problem: Problem, f: Factors, new: Newcomers) -> np.ndarray:
        return new.unweighted(self.placed(problem, f["W"], f["V"], new, self.beta1))

    def shapes(self, problem: Problem) -> dict[str, tuple[int, ...]]:
        n, k = problem.n, problem.k
        return {"V": (n, k), "W": (n, k), "B": (len(_indicator(problem)), k)}


def _indicator(problem: Problem) -> np.ndarray:
    """Q; QΓ^-½ where the weighting is exact, since V then stands for Γ^½V."""
    return problem.once("Q", lambda: problem.supervision.indicator.T / problem.root_gamma)


def _known(problem: Problem) -> np.ndarray:
    """E as a column; EΓ^-1 where the weighting is exact."""
    return problem.once("E", lambda: (problem.supervision.indicator.sum(axis=1) / problem.root_gamma**2)[:, None])
