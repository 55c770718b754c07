"""Constrained neighbourhood-preserving concept factorisation: coordinates keep how neighbours combine, and must-links. A reconstruction.

    minimise ‖X − XWVᵀ‖² + λ_S tr(VᵀRV) + λ_H tr(VᵀL_H V)   over W ≥ 0 (n × k), V ≥ 0 (n × k)

M (n × n) writes each document as a combination of its p neighbours (the weights of locally linear embedding, adding up to 1);
R = (I−M)ᵀ(I−M) = R⁺ − R⁻. H has 1 for two documents known to belong together, L_H = D_H − H. Cannot-links are not used.

    V ← V ∘ [b + √(b² + 4 P∘N)] / (2P),   b = KW,  P = V WᵀKW + λ_S R⁺V + λ_H D_H V,  N = λ_S R⁻V + λ_H HV
    W as CF

Nothing is normalised inside the loop. λ_S = 10, λ_H = 1 and p = 3 as in RCF's experiments. A new document keeps how it combines its
neighbours.

Lu, Zhang, Zhao, Li: Constrained neighborhood preserving concept factorization for data representation, Knowledge-Based Systems 102, 2016.
Roweis, Saul: Nonlinear dimensionality reduction by locally linear embedding, Science 290, 2000.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from ..assign import Assign
from ..constraints import Constraints
from ..corpus.model import Corpus, Matrix
from ..errors import FactScopeError
from ..graph import GraphWeights, edges_to, nearest, squared_lengths
from ..parameters import Scale, param
from ..problem import Problem, once
from ..products import times
from .base import Factors, Family, Needs, Newcomers, Products, Ratio, algorithm, inner, rooted, share_of_labels
from .cf import CF
from .starts import Start

RIDGE = 1e-3  # of the trace, added to the weights' equations: neighbours may lie in a line


@algorithm
class CNPCF(CF):
    """Concept factorisation that keeps how each document combines its neighbours, and must-links. A reconstruction."""

    key, title, paper = "cnpcf", "CNPCF", "Lu, Zhang, Zhao & Li 2016"
    formula = r"\|X-XWV^\top\|^2+\lambda_S\,\mathrm{tr}(V^\top RV)+\lambda_H\,\mathrm{tr}(V^\top L_HV)"
    rules = (
        r"V\leftarrow V\circ\dfrac{KW+\sqrt{(KW)^2+4P\circ N}}{2P}",
        CF.rules[1],
        r"P=VW^\top KW+\lambda_SR^+V+\lambda_HD_HV,\qquad N=\lambda_SR^-V+\lambda_HHV",
    )
    letters: ClassVar[dict[str, tuple[str, str]]] = {
        "M": ("n × n", "each document written as a combination of its neighbours"),
        "R": ("n × n", r"$(I-M)^\top(I-M)=R^+-R^-$"),
        "H": ("n × n", "1 for two documents that must be together; $D_H$ its row sums, $L_H=D_H-H$"),
        "P": ("n × k", "what pulls coordinates down"),
        "N": ("n × k", "what pulls them up"),
    }
    note = (
        "A reconstruction: the authors' paper and program were not at hand, "
        "so the rules are derived from the model as RCF's authors cite and compare it."
    )
    family = Family.SEMI
    needs = Needs.SUPERVISION
    assign = Assign.COSINE
    starts = (Start.SEEDED, Start.RANDOM, Start.KMEANS)
    weightings = CF.weightings[:2]

    lam_s: float = param(10.0, symbol="λ_S", low=0.0, high=1e4, scale=Scale.LOG, doc="weight of the neighbourhoods", published=(10.0,))
    lam_h: float = param(1.0, symbol="λ_H", low=0.0, high=1e4, scale=Scale.LOG, doc="weight of the must-links", published=(1.0,))
    p: int = param(3, symbol="p", low=1, high=30, doc="neighbours each document is combined from", published=(3,))
    share: float = share_of_labels()

    def affinity(self, corpus: Corpus, S: None, constraints: Constraints) -> sp.csr_array:  # type: ignore[override]
        """M."""
        n, X = len(corpus), corpus.matrix
        if self.p >= n:
            raise FactScopeError(f"p must lie between 1 and {n - 1} for {n} documents, not {self.p}.")
        return once(corpus, ("combining weights", self.p), lambda: combining_weights(X, X, _neighbours(X, self.p)))

    def edges(self, corpus: Corpus, rows: Matrix, weights: GraphWeights) -> sp.csr_array:
        """M of new documents, without negative weights."""
        near = _places(edges_to(corpus.matrix, rows, self.p, GraphWeights.BINARY), self.p)
        M = combining_weights(corpus.matrix, rows, near).maximum(0.0)
        total = M.sum(axis=1)
        return (sp.diags_array(1 / np.where(total > 0, total, 1.0)) @ M).tocsr()

    def update_V(self, problem: Problem, f: Factors, given: Products) -> np.ndarray:
        W, V, KW = f["W"], f["V"], given["KW"]
        up, down = self.pull(problem, f)
        if not problem.K.signed:
            return rooted(V, KW, V @ given["WKW"] + down, up)
        return rooted(V, KW, V @ (W.mT @ given["K+W"]) + down, V @ (W.mT @ given["K-W"]) + up)

    def ratio(self, problem: Problem, block: str, f: Factors, given: Products) -> Ratio | None:
        return None if block == "V" else super().ratio(problem, block, f, given)  # V's update is a root

    def pull(self, problem: Problem, f: Factors) -> tuple[np.ndarray, np.ndarray]:
        V, (plus, minus), (H, D) = f["V"], _neighbourhoods(problem), _must_links(problem)
        up = self.lam_s * times(minus, V) + self.lam_h * times(H, V)
        return up, self.lam_s * times(plus, V) + self.lam_h * D * V

    def normalise(self, problem: Problem, factors: Factors) -> Factors:
        return factors

    begin = finish = normalise

    def terms(self, problem: Problem, f: Factors, given: Products) -> dict[str, np.ndarray]:
        V, (plus, minus), (H, D) = f["V"], _neighbourhoods(problem), _must_links(problem)
        return super().terms(problem, f, given) | {
            "neighbourhoods": self.lam_s * inner(V, times(plus, V) - times(minus, V)),
            "must-links": self.lam_h * inner(V, D * V - times(H, V)),
        }

    def place(self, problem: Problem, f: Factors, new: Newcomers) -> np.ndarray:
        return new.unweighted(self.placed(problem, f["W"], f["V"], new, self.lam_s))


def _neighbourhoods(problem: Problem) -> tuple[sp.csr_array, sp.csr_array]:
    """R⁺ and R⁻. A document without neighbours has nothing to keep: its row of I − M is zero."""

    def make() -> tuple[sp.csr_array, sp.csr_array]:
        M = problem.graph
        off = sp.diags_array((M.sum(axis=1) != 0).astype(np.float64)) - M
        R = (off.T @ off).tocsr()
        return R.maximum(0.0), (-R).maximum(0.0)

    return problem.once("R", make)


def _must_links(problem: Problem) -> tuple[sp.csr_array, np.ndarray]:
    """H and the diagonal of D_H as a column."""
    return problem.once("H", lambda: (H := problem.supervision.must_graph, H.sum(axis=1)[:, None]))


def combining_weights(X: Matrix, rows: Matrix, near: np.ndarray, block: int = 1024) -> sp.csr_array:
    """M: the weights, adding up to 1, with which each row is best combined from rows of X, `near` (−1 for none)."""
    N, p = near.shape
    there = near >= 0
    weights = np.zeros((N, p))
    for some in (slice(first, first + block) for first in range(0, N, block)):
        away = [X[near[some, a]] - rows[some] for a in range(p)]
        G = np.array([[_dots(away[min(a, b)], away[max(a, b)]) for b in range(p)] for a in range(p)]).transpose(2, 0, 1)
        G = G * there[some, :, None] * there[some, None, :]
        trace = np.trace(G, axis1=1, axis2=2)
        ridge = np.where(trace > 0, RIDGE * trace, RIDGE)[:, None, None] * np.eye(p)
        w = np.linalg.solve(G + ridge, there[some, :, None].astype(np.float64))[..., 0]
        total = w.sum(axis=1, keepdims=True)
        weights[some] = w / np.where(total > 0, total, 1.0)
    place = np.broadcast_to(np.arange(N)[:, None], near.shape)
    return sp.csr_array((weights[there], (place[there], near[there])), shape=(N, X.shape[0]))


def _neighbours(X: Matrix, p: int) -> np.ndarray:
    """The p nearest other rows of each; by cosine where all have unit length, which is the same and faster."""
    square = squared_lengths(X)
    unit = np.allclose(square[square > 0], 1.0, atol=1e-9)
    near = nearest(X, p, squared_lengths=None if unit else square)[0]
    near[square == 0] = -1  # an empty document is nobody's neighbour
    return near


def _places(edges: sp.csr_array, p: int) -> np.ndarray:
    """The columns of each row's edges, −1 where it has fewer than p."""
    near = np.full((edges.shape[0], p), -1, dtype=np.int64)
    row = np.repeat(np.arange(edges.shape[0]), np.diff(edges.indptr))
    near[row, np.arange(edges.nnz) - edges.indptr[row]] = edges.indices
    return near


def _dots(A: Matrix, B: Matrix) -> np.ndarray:
    return np.asarray(A.multiply(B).sum(axis=1)).ravel() if sp.issparse(A) else np.einsum("ij,ij->i", A, B)
