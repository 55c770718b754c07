"""What is to be factorised: X, the kernel, the graph, the constraints, the number of concepts.

Everything a method may look at is here, and nothing it may change. What costs time (the weighted X, the kernel operator, the
graphs) is computed when first asked for and shared by all runs on the same corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp

from .constraints import Constraints
from .corpus.model import Corpus, Matrix
from .errors import FactScopeError
from .graph import GraphWeights, graph_recall, neighbour_graph
from .kernel import Kernel, KernelMatrix, LinearKernel, Weighting, kernel_matrix, scale_columns, transposed
from .products import times

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Problem:
    """Factorise X into k concepts. Letters as in the papers."""

    X: Matrix  # m terms × n documents, after the weighting; by rows, if sparse
    Xt: Matrix  # its transpose, by rows as well
    K: KernelMatrix  # n × n, after the weighting
    k: int
    S: Matrix | None = None  # affinity of the documents, n × n; sparse, but for propagated constraints kept whole
    gamma: np.ndarray | None = None  # γ of the exact weighting: V and W stand for Γ^½V and Γ^-½W, S for Γ^-½SΓ^-½
    constraints: Constraints | None = None  # what is known of some documents
    recall: float | None = None  # share of true neighbours in a graph that was searched for approximately

    @property
    def n(self) -> int:
        return int(self.X.shape[1])

    @property
    def m(self) -> int:
        return int(self.X.shape[0])

    @property
    def graph(self) -> Matrix:
        if self.S is None:
            raise ValueError("this problem was made without a graph")
        return self.S

    @cached_property
    def D(self) -> np.ndarray:
        """The diagonal of L + S as a column, so that D * V is diag(D)·V: the degrees, divided by γ where the weighting is exact."""
        root = self.root_gamma
        return (self.graph @ root / root).reshape(-1, 1)

    def smooth(self, V: np.ndarray) -> np.ndarray:
        """S·V. Objective and update ask for the same product, so the last one is remembered: not to be written to."""
        last = self._made.get("SV")
        if last is None or last[0] is not V:
            last = self._made["SV"] = (V, times(self.graph, V))
        return last[1]

    @property
    def dtype(self) -> np.dtype:
        return self.X.dtype

    @cached_property
    def root_gamma(self) -> np.ndarray:
        return np.ones(self.n, dtype=self.dtype) if self.gamma is None else np.sqrt(self.gamma)

    def unweighted(self, V: np.ndarray) -> np.ndarray:
        """Coordinates of the documents themselves, Γ^-½V."""
        return V if self.gamma is None else V / self.root_gamma[:, None]

    @property
    def here(self) -> Problem:
        """The same problem on this machine (see :mod:`fact_core.engine`)."""
        return self

    def held(self, factors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Factors in the kind of numbers X has, and where X is."""
        return {name: np.asarray(a, dtype=self.dtype) for name, a in factors.items()}

    @cached_property
    def nonnegative(self) -> bool:
        values = self.X.data if sp.issparse(self.X) else self.X
        return bool(values.size == 0 or values.min() >= 0)

    @property
    def supervision(self) -> Constraints:
        if self.constraints is None:
            raise ValueError("this problem was made without constraints")
        return self.constraints

    def once(self, what: str, make: Callable[[], T]) -> T:
        """`make()`, the first time for this problem: what a method needs in every step and no step changes."""
        if what not in self._made:
            self._made[what] = make()
        return self._made[what]

    @cached_property
    def _made(self) -> dict[str, Any]:
        return {}


_made: WeakKeyDictionary[Corpus, dict[Hashable, Any]] = WeakKeyDictionary()


def once(corpus: Corpus, key: Hashable, make: Callable[[], T]) -> T:
    """`make()`, the first time for this corpus; what it made, every other time. Forgotten with the corpus."""
    made = _made.setdefault(corpus, {})
    if key not in made:
        made[key] = make()
    return made[key]


def latest(corpus: Corpus, what: str, key: Hashable, make: Callable[[], T]) -> T:
    """As :func:`once`, for what is large: only the newest of its kind is kept."""
    kept = _made.setdefault(corpus, {}).get(what)
    if kept is None or kept[0] != key:
        kept = _made[corpus][what] = (key, make())
    return kept[1]


def graph_of(corpus: Corpus, p: int, weights: GraphWeights, t: float | None = None) -> sp.csr_array:
    return once(corpus, ("graph", p, weights, t), lambda: neighbour_graph(corpus.matrix, p, weights, t))


def problem_of(
    corpus: Corpus,
    k: int,
    *,
    kernel: Kernel = Kernel.LINEAR,
    weighting: Weighting = Weighting.NONE,
    graph: Matrix | None = None,
    constraints: Constraints | None = None,
    dtype: type[np.floating] = np.float64,
) -> Problem:
    """The problem of factorising this corpus into k concepts."""
    n = len(corpus)
    if not 1 <= k <= n:
        raise FactScopeError(f"The number of clusters must lie between 1 and the number of documents, {n}; it cannot be {k}.")
    Xt = once(corpus, ("matrix", dtype), lambda: corpus.matrix.astype(dtype, copy=False))
    X = once(corpus, ("transposed", dtype), lambda: transposed(Xt))
    plain = once(corpus, ("kernel", kernel, dtype), lambda: kernel_matrix(X, kernel, Xt))
    common: dict[str, Any] = {"constraints": constraints, "recall": graph_recall(graph)}
    graph = None if graph is None else graph.astype(dtype, copy=False)
    if weighting is Weighting.NONE:
        return Problem(X, Xt, plain, k, graph, **common)
    s = once(corpus, ("ncw", kernel, dtype), lambda: _ncw_scale(corpus, plain))
    K = once(corpus, ("weighted kernel", kernel, dtype), lambda: plain.scaled(s))
    X, Xt = once(corpus, ("weighted matrix", kernel, dtype), lambda: _weighted(K, X, s))
    if weighting is Weighting.NCW:
        return Problem(X, Xt, K, k, graph, **common)
    off = None if graph is None else scale_columns(scale_columns(graph, 1 / s).T, 1 / s).T
    return Problem(X, Xt, K, k, off, gamma=s**2, **common)


def _weighted(K: KernelMatrix, X: Matrix, s: np.ndarray) -> tuple[Matrix, Matrix]:
    """X·diag(s) and its transpose: those of a linear kernel are there already."""
    if isinstance(K, LinearKernel):
        return K.X, K.Xt
    X = scale_columns(X, s)
    return X, transposed(X)


def _ncw_scale(corpus: Corpus, K: KernelMatrix) -> np.ndarray:
    """d^-½; 1 for a document that is like no document, which has nothing to be scaled."""
    d = K.degree
    if d.min() < -1e-9 * np.abs(d).max():
        raise FactScopeError(
            f"Normalised-cut weighting needs similarities that add up to something positive, and {corpus.name} has negative ones."
        )
    positive = d > 1e-12 * np.abs(d).max()
    return 1 / np.sqrt(np.where(positive, d, 1.0))
