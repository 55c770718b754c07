"""Concept factorisation.

    minimise ‖X − XWVᵀ‖²   over W ≥ 0 (n × k), V ≥ 0 (n × k);   K = XᵀX or another kernel

    V ← V ∘ (KW) / (V WᵀKW)          (LCCF eq. 7)
    W ← W ∘ (KV) / (KW VᵀV)

Where K has negative entries, K = K⁺ − K⁻ and with P± = K±W VᵀV, Q± = V WᵀK±W

    V ← V ∘ [KW + √((KW)² + 4 Q⁺∘Q⁻)] / (2Q⁺)          (LCCF eq. 28)
    W ← W ∘ [KV + √((KV)² + 4 P⁺∘P⁻)] / (2P⁺)          (LCCF eq. 25)

Columns of V have unit length at the start and after every step, W is scaled the other way; the fit does not change, and in LCCF this is
what keeps the graph term from being shrunk away. At the end wₖᵀKwₖ = 1, as the papers report it.
A new document gets its own rows of W and V by the same rules, everything else held (LCCF eq. 29 and 30).

Xu, Gong: Document clustering by concept factorization, SIGIR 2004.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..kernel import Weighting
from ..problem import Problem
from .base import (
    Algorithm,
    Factors,
    Family,
    Newcomers,
    Products,
    Ratio,
    Work,
    algorithm,
    column_lengths,
    combination,
    inner,
    multiplied,
    rooted,
)
from .starts import Start, indicator, seeds

PLACING_STEPS = 200  # of a new document's own rows; each costs k² numbers


@algorithm
class CF(Algorithm):
    """Each concept is a mixture of documents, each document a mixture of concepts."""

    key, title, paper = "cf", "CF", "Xu & Gong 2004"
    formula = r"\|X-XWV^\top\|^2"
    rules: ClassVar[tuple[str, ...]] = (r"V\leftarrow V\circ\dfrac{KW}{VW^\top KW}", r"W\leftarrow W\circ\dfrac{KV}{KWV^\top V}")
    work = Work("2*q*k + 4*n*k**2", "4*n**2*k + 4*n*k**2", "4*n**2*k + 4*n*k**2 + 2*n*k", "2*n*k", "LCCF table 2")
    family = Family.CF
    weightings = tuple(Weighting)
    starts: ClassVar[tuple[Start, ...]] = (Start.RANDOM, Start.KMEANS)
    blocks: ClassVar[tuple[str, ...]] = ("V", "W")
    repeatable: ClassVar[tuple[str, ...]] = ("V",)  # KW changes with W
    pulled: ClassVar[tuple[str, str] | tuple[()]] = ()  # what :meth:`pull` adds above and below, as it is written

    def start(self, problem: Problem, rng: np.random.Generator, kind: Start = Start.RANDOM) -> Factors:
        if kind is Start.KMEANS:
            V = indicator(problem, rng)
            return {"W": V / V.sum(axis=0), "V": V}
        W, V = rng.random((problem.n, problem.k)), rng.random((problem.n, problem.k))
        told = kind is Start.SEEDED and self.settings().get("links", "both") == "both"  # classes are more than half of the links
        return {"W": W, "V": V + seeds(problem) if told else V}

    def given_V(self, problem: Problem, f: Factors, before: Products) -> Products:
        W, K = f["W"], problem.K
        if not K.signed:
            KW = K @ W
            return {"KW": KW, "WKW": W.mT @ KW}
        plus, minus = K.parts(W)
        KW = plus - minus
        return {"KW": KW, "WKW": W.mT @ KW, "K+W": plus, "K-W": minus}

    def update_V(self, problem: Problem, f: Factors, given: Products) -> np.ndarray:
        W, V, KW, WKW = f["W"], f["V"], given["KW"], given["WKW"]
        up, down = self.pull(problem, f)
        if not problem.K.signed:
            return multiplied(V, KW + up, V @ WKW + down)
        return rooted(V, KW, V @ (W.mT @ given["K+W"]) + down, V @ (W.mT @ given["K-W"]) + up)

    def ratio(self, problem: Problem, block: str, f: Factors, given: Products) -> Ratio | None:
        if problem.K.signed or block not in ("V", "W"):
            return None
        if block == "W":
            return Ratio({"KV": given["KV"]}, {"KWVᵀV": given["KW"] @ given["VV"]})
        ratio = Ratio({"KW": given["KW"]}, {"VWᵀKW": f["V"] @ given["WKW"]})
        if not self.pulled:
            return ratio
        (up, down), more = self.pulled, self.pull(problem, f)
        return Ratio(ratio.up | {up: np.asarray(more[0])}, ratio.down | {down: np.asarray(more[1])})

    def pull(self, problem: Problem, f: Factors) -> tuple[np.ndarray | float, np.ndarray | float]:
        """What other terms of the objective add to the numerator and the denominator of V's update."""
        return 0.0, 0.0

    def given_W(self, problem: Problem, f: Factors, before: Products) -> Products:
        V = f["V"]
        return before | {"KV": problem.K @ V, "VV": V.mT @ V}  # W is still what it was for V, and so is KW

    def update_W(self, problem: Problem, f: Factors, given: Products) -> np.ndarray:
        W, KV, VV = f["W"], given["KV"], given["VV"]
        if not problem.K.signed:
            return multiplied(W, KV, given["KW"] @ VV)
        return rooted(W, KV, given["K+W"] @ VV, given["K-W"] @ VV)

    def normalise(self, problem: Problem, factors: Factors) -> Factors:
        c = column_lengths(factors["V"])
        return {"W": factors["W"] * c, "V": factors["V"] / c}

    begin = normalise

    def finish(self, problem: Problem, factors: Factors) -> Factors:
        W, V = factors["W"], factors["V"]
        c = np.sqrt(np.maximum((W * (problem.K @ W)).sum(axis=-2, keepdims=True), 0.0))
        c = np.where(c > 0, c, 1.0)
        return {"W": W / c, "V": V * c}

    def terms(self, problem: Problem, f: Factors, given: Products) -> dict[str, np.ndarray]:
        V, KW, WKW = f["V"], given["KW"], given["WKW"]
        return {"fit": problem.K.trace - 2 * inner(V, KW) + inner(V.mT @ V, WKW)}

    def basis(self, problem: Problem, f: Factors) -> np.ndarray:
        return combination(problem, f["W"])

    def place(self, problem: Problem, f: Factors, new: Newcomers) -> np.ndarray:
        """LCCF eq. 29 and 30 for each newcomer x' alone: K̂ has k' = K(x', X) as its last row, κ = K(x', x') in the corner."""
        c = column_lengths(f["V"])
        v = self.placed(problem, f["W"] * c, f["V"] / c, new, self.settings().get("lam", 0.0))  # on the scale of the loop
        return new.unweighted(v * c)

    def placed(self, problem: Problem, W: np.ndarray, V: np.ndarray, new: Newcomers, lam: float) -> np.ndarray:
        """The rows of V of newcomers, on the scale of W and V, which the graph term λ refers to."""
        kW, kV, K, kappa = new.K @ W, new.K @ V, problem.K, new.diagonal[:, None]
        WKW, VV = W.T @ (K @ W), V.T @ V
        sV, d = lam * (new.S @ V), lam * new.degree[:, None]
        w = np.full(kW.shape, W.mean())
        v = np.full(kW.shape, V.mean())
        for _ in range(PLACING_STEPS):
            # Ŵᵀ K̂ Ŵ applied to v', with Ŵ the rows of W and w' below them.
            along = (v * w).sum(axis=1, keepdims=True)
            vWKW = v @ WKW + along * kW + (v * kW).sum(axis=1, keepdims=True) * w + kappa * along * w
            v = multiplied(v, np.maximum(kW + kappa * w, 0.0) + sV, vWKW + d * v)
            k_W = kW + kappa * w
            w = multiplied(w, np.maximum(kV + kappa * v, 0.0), k_W @ VV + (k_W * v).sum(axis=1, keepdims=True) * v)
        return v
