"""Label propagation: known classes spread over the neighbour graph, without any factorisation. The baseline of the others.

    minimise tr(Bᵀ(I − S̄)B) + μ‖B − Y‖²   over B (n × c);   Y = indicator of the known classes,  S̄ = D^-½ S D^-½,  μ = (1−α)/α

    B = (1−α) (I − αS̄)⁻¹ Y

The cluster of a document is the largest entry of its row. A new document takes α times what its neighbours have.

Zhou, Bousquet, Lal, Weston, Schölkopf: Learning with local and global consistency, NIPS 2003.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..constraints import normalised, spread
from ..graph import GraphWeights
from ..kernel import Weighting
from ..parameters import param
from ..problem import Problem
from .base import Algorithm, Factors, Family, Needs, Newcomers, Products, algorithm, combination, inner, share_of_labels
from .starts import Start


@algorithm
class LabelPropagation(Algorithm):
    """Known classes spread over the neighbour graph: no factorisation, and a strong baseline."""

    key, title, paper = "label_propagation", "Label propagation", "Zhou, Bousquet, Lal, Weston & Schölkopf 2003"
    formula = r"\mathrm{tr}(B^\top(I-\bar S)B)+\tfrac{1-\alpha}{\alpha}\|B-Y\|^2"
    rules = (r"B=(1-\alpha)(I-\alpha\bar S)^{-1}Y",)
    letters: ClassVar[dict[str, tuple[str, str]]] = {
        "Y": ("n × c", "1 where a class is known"),
        r"\bar S": ("n × n", r"the graph, $D^{-1/2}SD^{-1/2}$"),
        "B": ("n × c", "how much of each class reaches a document"),
    }
    family = Family.SEMI
    needs = Needs.GRAPH | Needs.SUPERVISION | Needs.CLASSES
    graph = GraphWeights.HEAT
    kernels = False
    weightings = (Weighting.NONE,)
    multiplicative = False
    clusters_are_classes = True

    share: float = share_of_labels()
    alpha: float = param(0.5, symbol="α", low=0.01, high=0.99, doc="how far labels reach over the graph", published=(0.99,))
    p: int = param(5, symbol="p", low=1, high=30, doc="neighbours of each document in the graph")

    def refusal(self, problem: Problem) -> str | None:
        if (why := super().refusal(problem)) is not None:
            return why
        c = problem.supervision.indicator.shape[1]
        if c != problem.k:
            return f"{self.title} finds the {c} classes it is told of, so the number of clusters must be {c}, not {problem.k}."
        return None

    def start(self, problem: Problem, rng: np.random.Generator, kind: Start = Start.RANDOM) -> Factors:
        return {"B": spread(problem.graph, problem.supervision.indicator, self.alpha)}

    def terms(self, problem: Problem, f: Factors, given: Products) -> dict[str, float]:
        B, mu = f["B"], (1 - self.alpha) / self.alpha
        off = B - problem.supervision.indicator
        return {"graph": inner(B, B - normalised(problem.graph) @ B), "labels": mu * inner(off, off)}

    def error(self, problem: Problem, f: Factors, terms: dict[str, float]) -> float:
        return float(np.linalg.norm(f["B"] - problem.supervision.indicator))

    def embedding(self, problem: Problem, f: Factors) -> np.ndarray:
        return f["B"]

    def basis(self, problem: Problem, f: Factors) -> np.ndarray:
        return combination(problem, f["B"])

    def place(self, problem: Problem, f: Factors, new: Newcomers) -> np.ndarray:
        d, own = problem.D, new.degree[:, None]
        return self.alpha * (new.S @ (f["B"] / np.sqrt(np.where(d > 0, d, 1.0)))) / np.sqrt(np.where(own > 0, own, 1.0))
