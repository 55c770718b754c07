"""Kernels as operators.

Every method that needs the kernel ``K`` (n × n) needs it only in products ``K·A`` with a thin ``A`` (n × k).
For the linear kernel these are ``Xᵀ(X·A)``: on sparse documents ``K`` is never formed. On small dense data it is, when that is cheaper;
for `poly2` and `rbf`, and for data with negative values (whose rules need K⁺ and K⁻ apart), it must be, and its memory is asked for first.

Products take stacks of matrices (any leading axes): several starts at once.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from enum import Enum
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from . import memory
from .corpus.model import Matrix
from .products import times

BLOCK = 2**24  # numbers of an n × n matrix held at once while it is gone through in rows


class Kernel(str, Enum):
    LINEAR = "linear"  # xᵢᵀxⱼ
    POLY2 = "poly2"  # (xᵢᵀxⱼ)²
    RBF = "rbf"  # exp(−‖xᵢ − xⱼ‖²/t), t the mean squared distance of two documents


class Weighting(str, Enum):
    """Normalised-cut weighting of the documents, d = K·1."""

    NONE = "none"
    NCW = "ncw"  # K ← d^-½ K d^-½, the graph left alone, clusters read from the weighted V: the authors' programs
    NCW_EXACT = "ncw_exact"  # Σⱼ γⱼ‖xⱼ − XWzⱼ‖² with γ = 1/d, as LCCF's appendix B derives it


class KernelMatrix(ABC):
    """K (n × n), symmetric, seen through its products."""

    n: int
    signed: bool  # whether some entry is negative

    @abstractmethod
    def __matmul__(self, A: np.ndarray) -> np.ndarray: ...

    @property
    @abstractmethod
    def diagonal(self) -> np.ndarray: ...

    @property
    @abstractmethod
    def squared_norm(self) -> float:
        """‖K‖²_F."""

    @abstractmethod
    def scaled(self, s: np.ndarray) -> KernelMatrix:
        """diag(s)·K·diag(s)."""

    @cached_property
    def trace(self) -> float:
        return float(self.diagonal.sum())

    @cached_property
    def degree(self) -> np.ndarray:
        """d = K·1."""
        return (self @ np.ones((self.n, 1))).ravel()

    def parts(self, A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """K⁺·A and K⁻·A."""
        raise TypeError("a kernel without negative entries has one part only")


class LinearKernel(KernelMatrix):
    """K = XᵀX as an operator; X is m × n and has no negative values."""

    signed = False

    def __init__(self, X: Matrix, Xt: Matrix | None = None):
        self.X, self.Xt, self.n = X, X.T if Xt is None else Xt, X.shape[1]  # sparse ones by rows both, for the threads to share
        m, n = X.shape
        # One product costs 2mn by the operator and n² with K formed.
        self._formed = X.T @ X if not sp.issparse(X) and n <= 2 * m and n <= 4000 else None

    def __matmul__(self, A: np.ndarray) -> np.ndarray:
        return self._formed @ A if self._formed is not None else times(self.Xt, times(self.X, A))

    @cached_property
    def diagonal(self) -> np.ndarray:
        return column_squares(self.X)

    @cached_property
    def squared_norm(self) -> float:
        # ‖XᵀX‖ = ‖XXᵀ‖: the smaller of the two is gone through in rows.
        left, right = (self.Xt, self.X) if self.n <= self.X.shape[0] else (self.X, self.Xt)
        if sp.issparse(left):
            left, right = left.tocsr(), right.tocsr()
        total = 0.0
        for rows in blocks(left.shape[0]):
            product = left[rows] @ right
            values = product.data if sp.issparse(product) else product
            total += float(np.vdot(values, values))
        return total

    def scaled(self, s: np.ndarray) -> LinearKernel:
        X = scale_columns(self.X, s)
        return LinearKernel(X, transposed(X))


class FormedKernel(KernelMatrix):
    """K as a dense matrix."""

    def __init__(self, K: np.ndarray):
        self.K, self.n = K, len(K)
        self.signed = bool(K.min() < 0)

    def __matmul__(self, A: np.ndarray) -> np.ndarray:
        return self.K @ A

    @cached_property
    def diagonal(self) -> np.ndarray:
        return self.K.diagonal().copy()

    @cached_property
    def squared_norm(self) -> float:
        return float(np.vdot(self.K, self.K))

    def scaled(self, s: np.ndarray) -> FormedKernel:
        K = self.K * s
        K *= s[:, None]
        return FormedKernel(K)

    @cached_property
    def _halves(self) -> tuple[np.ndarray, np.ndarray]:
        return np.maximum(self.K, 0.0), np.maximum(-self.K, 0.0)

    def parts(self, A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        plus, minus = self._halves
        return plus @ A, minus @ A


def kernel_matrix(X: Matrix, kind: Kernel, Xt: Matrix | None = None) -> KernelMatrix:
    """The kernel of the columns of X (m × n); `Xt` is its transpose, where it is there."""
    n = X.shape[1]
    values = X.data if sp.issparse(X) else X
    negative = values.size > 0 and values.min() < 0
    if kind is Kernel.LINEAR and not negative:
        return LinearKernel(X, Xt)
    copies = 4 if kind is Kernel.LINEAR else 2  # K, its weighted form, and for signed data the two parts
    needed = copies * float(X.dtype.itemsize) * n * n
    what = f"The {kind.value} kernel of {n} documents" if kind is not Kernel.LINEAR else f"The kernel of {n} documents with negative values"
    fits = math.isqrt(int(memory.budget() / (X.dtype.itemsize * copies)))
    memory.ask(what, needed, f"about {fits} documents would fit, or the linear kernel")
    return FormedKernel(between(X, X, kind, bandwidth(X)))


def between(X: Matrix, Y: Matrix, kind: Kernel, t: float) -> np.ndarray:
    """The kernel of every column of X with every column of Y, in row blocks."""
    K = np.empty((X.shape[1], Y.shape[1]), dtype=np.result_type(X.dtype, Y.dtype))
    Xt = X.T.tocsr() if sp.issparse(X) else X.T
    x2, y2 = column_squares(X), column_squares(Y)
    for rows in blocks(X.shape[1], Y.shape[1]):
        product = Xt[rows] @ Y
        block = product.toarray() if sp.issparse(product) else product
        if kind is Kernel.POLY2:
            block = block * block
        elif kind is Kernel.RBF:
            block = np.exp(-np.maximum(x2[rows, None] + y2 - 2 * block, 0.0) / t)
        K[rows] = block
    return K


def bandwidth(X: Matrix) -> float:
    """The mean squared distance of two documents: 2 (mean ‖x‖² − ‖mean x‖²)."""
    mean = np.asarray(X.mean(axis=1)).ravel()
    return max(2 * (float(column_squares(X).mean()) - float(mean @ mean)), np.finfo(float).tiny)


def column_squares(X: Matrix) -> np.ndarray:
    return np.asarray(X.multiply(X).sum(axis=0)).ravel() if sp.issparse(X) else np.einsum("ij,ij->j", X, X)


def scale_columns(X: Matrix, s: np.ndarray) -> Matrix:
    return (X @ sp.diags_array(s)).asformat(X.format) if sp.issparse(X) else X * s


def transposed(X: Matrix) -> Matrix:
    """Xᵀ; a sparse one by rows."""
    return X.T.tocsr() if sp.issparse(X) else X.T


def blocks(n: int, width: int | None = None) -> list[slice]:
    """Rows of an n × width matrix in pieces of bounded size."""
    step = max(1, BLOCK // (width or n))
    return [slice(first, min(first + step, n)) for first in range(0, n, step)]
