"""NMF with fixed sparseness.

    minimise ½‖X − UVᵀ‖²   over U ≥ 0 (m × k), V ≥ 0 (n × k),  columns of V of unit length,  sp(vₖ) and/or sp(uₖ) fixed

    sp(x) = (√N − ‖x‖₁/‖x‖₂) / (√N − 1):   0 for equal entries, 1 for a single one          (Hoyer eq. 2)

A constrained factor takes a gradient step, then each column is projected to the L1 norm its sparseness asks for at its L2 norm (1 for
V, its own for U); the step is halved until the objective does not rise, then grows by a fifth. A free factor takes the NMF step.
X is divided by its maximum.

Hoyer: Non-negative matrix factorization with sparseness constraints, JMLR 5, 2004.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from ..parameters import param
from ..problem import Problem
from ..products import times
from .base import Factors, Products, Ratio, algorithm, column_lengths, inner
from .nmf import NMF

SMALLEST_MOVE = 1e-12  # of a factor's length: a gradient step below it is lost in rounding
ADDED = 1e-9  # to the denominators of a free factor, as Hoyer's program does


@algorithm
class SparseNMF(NMF):
    """NMF whose concepts, or whose documents, are made of few entries: how few is a parameter."""

    key, title, paper = "sparse_nmf", "SparseNMF", "Hoyer 2004"
    formula = r"\tfrac12\|X-UV^\top\|^2,\ \mathrm{sp}(v_k),\,\mathrm{sp}(u_k)\ \text{fixed}"
    rules = (
        r"V\leftarrow\mathrm{project}\big(V-\mu_V(VU^\top U-X^\top U)\big)",
        r"U\leftarrow U\circ\dfrac{XV}{UV^\top V}\quad\text{(free), or projected in the same way}",
    )
    letters: ClassVar[dict[str, tuple[str, str]]] = {
        r"\mu_V": ("", "the length of a step, halved until the objective does not rise"),
        r"\mathrm{sp}(x)": ("", r"$(\sqrt N-\|x\|_1/\|x\|_2)/(\sqrt N-1)$: 0 for equal entries, 1 for a single one"),
    }
    weightings = NMF.weightings[:2]
    multiplicative = False

    sparseness_v: float = param(
        0.5, symbol="sp(v)", low=0.0, high=0.99, doc="sparseness of each concept over the documents; 0 leaves it free"
    )
    sparseness_u: float = param(0.0, symbol="sp(u)", low=0.0, high=0.99, doc="sparseness of each concept over the terms; 0 leaves it free")

    def begin(self, problem: Problem, factors: Factors) -> Factors:
        U, V = factors["U"], factors["V"]
        V = V / column_lengths(V)
        if self.sparseness_v:
            V = sparse_columns(V, self.sparseness_v, np.ones(V.shape[1]))
        if self.sparseness_u:
            U = sparse_columns(U, self.sparseness_u)
        return {"U": U, "V": V, "rate_u": np.array(1.0), "rate_v": np.array(1.0)}

    def finish(self, problem: Problem, factors: Factors) -> Factors:
        return {"U": factors["U"], "V": factors["V"]}

    def given_V(self, problem: Problem, f: Factors, before: Products) -> Products:
        U = f["U"]
        return {"XtU": times(problem.Xt, U) / scale(problem), "UU": U.mT @ U}

    def given_U(self, problem: Problem, f: Factors, before: Products) -> Products:
        V = f["V"]
        return {"XV": times(problem.X, V) / scale(problem), "VV": V.mT @ V}

    def update(self, problem: Problem, block: str, factors: Factors, given: Products) -> np.ndarray:
        U, V = factors["U"], factors["V"]
        if block == "V":
            if not self.sparseness_v:
                return V * given["XtU"] / (V @ given["UU"] + ADDED)
            return _projected(
                factors, "rate_v", V, given["XtU"], given["UU"], lambda A: sparse_columns(A, self.sparseness_v, np.ones(A.shape[1]))
            )
        if not self.sparseness_u:
            return U * given["XV"] / (U @ given["VV"] + ADDED)
        return _projected(factors, "rate_u", U, given["XV"], given["VV"], lambda A: sparse_columns(A, self.sparseness_u))

    def ratio(self, problem: Problem, block: str, f: Factors, given: Products) -> Ratio | None:
        return None  # steps along the gradient

    def normalise(self, problem: Problem, factors: Factors) -> Factors:
        if self.sparseness_v:
            return factors
        c = column_lengths(factors["V"])
        return factors | {"U": factors["U"] * c, "V": factors["V"] / c}

    def terms(self, problem: Problem, f: Factors, given: Products) -> dict[str, np.ndarray]:
        V, XtU, UU = f["V"], given["XtU"], given["UU"]
        return {"fit": 0.5 * (problem.K.trace / scale(problem) ** 2 - 2 * inner(V, XtU) + inner(V.mT @ V, UU))}

    def error(self, problem: Problem, f: Factors, terms: dict[str, float]) -> float:
        return scale(problem) * float(np.sqrt(max(2 * terms["fit"], 0.0)))


def scale(problem: Problem) -> float:
    return float(problem.X.max()) or 1.0


def sparseness(x: np.ndarray) -> np.ndarray:
    """Hoyer's measure of each column."""
    N = np.sqrt(x.shape[0])
    return (N - np.abs(x).sum(axis=0) / np.maximum(np.linalg.norm(x, axis=0), 1e-300)) / (N - 1)


def sparse_columns(A: np.ndarray, wanted: float, lengths: np.ndarray | None = None) -> np.ndarray:
    """Every column projected to the wanted sparseness at a length, by default its own."""
    N = A.shape[0]
    if N == 1:
        return np.maximum(A, 0.0)
    lengths = np.linalg.norm(A, axis=0) if lengths is None else lengths
    ones = lengths * (np.sqrt(N) - (np.sqrt(N) - 1) * wanted)
    return np.column_stack([project(a, l1, l2) for a, l1, l2 in zip(A.T, ones, lengths, strict=True)])


def project(s: np.ndarray, l1: float, l2: float) -> np.ndarray:
    """The nearest non-negative vector with Σv = l1 and ‖v‖ = l2 (Hoyer's projection)."""
    N = len(s)
    v = s + (l1 - s.sum()) / N
    zero = np.zeros(N, dtype=bool)
    while True:
        w = v - np.where(zero, 0.0, l1 / (N - zero.sum()))
        a, b, c = w @ w, 2 * (w @ v), v @ v - l2**2
        if a > 0:
            v = v + (-b + np.sqrt(max(b * b - 4 * a * c, 0.0))) / (2 * a) * w
        if np.all(v >= 0) or a == 0:
            return np.maximum(v, 0.0)
        zero |= v <= 0
        v = np.where(zero, 0.0, v)
        v = np.where(zero, 0.0, v + (l1 - v.sum()) / (N - zero.sum()))


def _projected(
    factors: Factors, rate: str, A: np.ndarray, XB: np.ndarray, BB: np.ndarray, to_constraint: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """One projected gradient step of ½‖X − ABᵀ‖² in A, with XB and BᵀB given; the step's length is kept beside the factors for the next."""

    def value(A: np.ndarray) -> float:
        return float(0.5 * inner(A.T @ A, BB) - inner(A, XB))

    gradient = A @ BB - XB
    before, step = value(A), float(factors[rate])
    smallest = SMALLEST_MOVE * np.linalg.norm(A) / max(np.linalg.norm(gradient), np.finfo(float).tiny)
    while True:
        new = to_constraint(A - step * gradient)
        if value(new) <= before:
            break
        step /= 2
        if step < smallest:
            return A
    factors[rate] = np.array(1.2 * step)
    return new
