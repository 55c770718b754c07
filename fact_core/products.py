"""Products of a sparse matrix with thin dense ones: nearly all the time of a step is spent here.

scipy multiplies on one core and a column at a time. The loop of :mod:`fact_core.compiled` keeps eight columns in registers and shares the
rows among threads; its numbers are scipy's to the last bit, so that it can take over at any moment. It is loaded in the background once a
process has multiplied so much that loading pays: small problems never wait for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from .corpus.model import Matrix
from .threads import split, threads

PAYS = 1.5e9  # multiplications after which loading the compiled loop pays: half a second of scipy's
SHARED = 1.5e6  # multiplications worth waking a thread for
SMALL = 20_000  # multiplications that scipy does as fast

Loop = Callable[..., None]


class _Loops:
    """The compiled loop for each kind of numbers it was asked for."""

    def __init__(self) -> None:
        self.ready: dict[Any, Loop] = {}
        self.asked: dict[Any, threading.Thread] = {}
        self.done = 0.0
        self.lock = threading.Lock()

    def find(self, M: sp.csr_array, A: np.ndarray, work: float) -> Loop | None:
        """The loop, if it is there; otherwise `work` is added to the reasons for loading it."""
        kind = _kind(M, A)
        if (loop := self.ready.get(kind)) is None and kind not in self.asked:
            self.done += work
            if self.done > PAYS:
                self.load(M, A)
        return loop

    def load(self, M: sp.csr_array, A: np.ndarray) -> threading.Thread:
        kind = _kind(M, A)
        with self.lock:
            if kind not in self.asked:
                example = _arrays(M)[0][:1], M.indices[:0], M.data[:0], A.reshape(-1, A.shape[-1])[:1]
                self.asked[kind] = threading.Thread(target=self._compile, args=(kind, example), daemon=True)
                self.asked[kind].start()
            return self.asked[kind]

    def _compile(self, kind: Any, example: tuple[np.ndarray, ...]) -> None:
        try:
            from .compiled import compiled, config
        except ImportError:  # scipy goes on
            return
        with _compiling:
            before, config.SLP_VECTORIZE = config.SLP_VECTORIZE, 1  # off in numba; it makes the eight sums vectors
            try:
                for cached in (True, False):
                    try:
                        loop = compiled(cached)
                        loop(*example, np.empty((1, example[3].shape[1]), example[3].dtype), 0, 0)
                        self.ready[kind] = loop
                        return
                    except (RuntimeError, OSError):  # no folder can be written to
                        continue
            finally:
                config.SLP_VECTORIZE = before


_loops, _compiling = _Loops(), threading.Lock()


def load(M: Matrix, A: np.ndarray) -> None:
    """Wait for the compiled loop, where products of this kind have one."""
    if sp.issparse(M):
        _loops.load(M.tocsr(), np.ascontiguousarray(A)).join()


def times(M: Matrix, A: np.ndarray) -> np.ndarray:
    """``M @ A`` for a sparse or dense ``M`` and a stack of thin matrices ``A`` (…, n, k)."""
    if not sp.issparse(M):
        return M @ A
    if A.ndim > 2:
        *stack, n, k = A.shape
        wide = np.ascontiguousarray(np.moveaxis(A.reshape(-1, n, k), 0, 1)).reshape(n, -1)  # as columns: M is read once for all of them
        return np.moveaxis(times(M, wide).reshape(M.shape[0], -1, k), 1, 0).reshape(*stack, M.shape[0], k)
    work = M.nnz * A.shape[1]
    if M.format == "csr" and work > SMALL and M.data.dtype == A.dtype:
        A = np.ascontiguousarray(A)
        if (loop := _loops.find(M, A, work)) is not None:
            return _by_rows(loop, M, A, work)
    return M @ A


def _by_rows(loop: Loop, M: sp.csr_array, A: np.ndarray, work: float) -> np.ndarray:
    """The product in blocks of rows, over the threads there are."""
    out = np.empty((M.shape[0], A.shape[1]), dtype=A.dtype)
    count = threads() if work > SHARED else 1
    arrays = _arrays(M)
    if count == 1:
        loop(*arrays, A, out, 0, len(out))
        return out
    inside = np.searchsorted(M.indptr, np.linspace(0, M.nnz, count + 1)[1:-1]).tolist()
    split([partial(loop, *arrays, A, out, first, last) for first, last in pairwise([0, *inside, len(out)])])
    return out


def _arrays(M: sp.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return M.indptr, M.indices, M.data


def _kind(M: sp.csr_array, A: np.ndarray) -> tuple[Any, ...]:
    """What the compiled loop depends on."""
    return (A.dtype.char, *((array.dtype.char, array.flags.writeable) for array in _arrays(M)), A.flags.writeable)
