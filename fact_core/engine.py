"""Where the products of a factorisation are computed: here, or on a Dask cluster.

On a cluster the documents lie in blocks on the workers. A product K·A = Xᵀ(X·A) sends each worker its rows of A; the workers' parts of X·A
(m × k each) are added up in the order of the blocks, the sum goes back to all, and each returns its rows. Everything else of a step is
n × k and stays where `fit` was called; so every method that needs X and the linear kernel in products only runs unchanged, with the same
numbers but for rounding.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from .algorithms.base import Algorithm
from .algorithms.starts import Start
from .corpus.model import Matrix
from .errors import FactScopeError
from .kernel import Kernel, LinearKernel
from .problem import Problem
from .products import times

METHODS = ("nmf", "gnmf", "cf", "lccf")
PATIENCE = 10  # seconds for the cluster to answer


class Engine(str, Enum):
    LOCAL = "local"
    DASK = "dask"


@contextmanager
def spread(problem: Problem, method: Algorithm, kernel: Kernel, start: Any, engine: Engine) -> Iterator[Problem]:
    """The problem as the loop sees it: itself, or one whose X is on a cluster while the loop runs."""
    if engine is Engine.LOCAL:
        yield problem
        return
    if method.key not in METHODS or kernel is not Kernel.LINEAR or not isinstance(problem.K, LinearKernel):
        raise FactScopeError(f"A Dask cluster computes {', '.join(METHODS)} with the linear kernel on data without negative values.")
    if isinstance(start, Start) and start is not Start.RANDOM:
        raise FactScopeError(f"On a Dask cluster a factorisation starts at random or from given factors, not from {start.value}.")
    with _client() as client:
        from distributed.client import FutureCancelledError
        from distributed.comm import CommClosedError
        from distributed.scheduler import KilledWorker

        try:
            documents = _Documents(client, problem.Xt)
            yield replace(problem, X=_Terms(documents), Xt=documents, K=_ClusterKernel(problem.K, documents))
        except (CommClosedError, FutureCancelledError, KilledWorker, TimeoutError):  # a worker's documents are gone with it
            raise FactScopeError("The Dask cluster lost a worker and its documents; start the run again.") from None


@contextmanager
def _client() -> Iterator[Any]:
    """The client there is, or one for the scheduler named in FACTSCOPE_SCHEDULER."""
    try:
        from distributed import Client, default_client
    except ImportError:
        raise FactScopeError("A Dask cluster needs dask: install it with “pip install dask[distributed]”.") from None
    scheduler = os.environ.get("FACTSCOPE_SCHEDULER", "").strip()
    try:
        client, ours = default_client(), False
    except ValueError:
        if not scheduler:
            raise FactScopeError(
                "There is no Dask cluster: make a dask.distributed.Client, or name a scheduler in FACTSCOPE_SCHEDULER."
            ) from None
        client, ours = None, True
    try:
        if client is None:
            client = Client(scheduler, timeout=PATIENCE, set_as_default=False)
        client.wait_for_workers(1, timeout=PATIENCE)
    except (OSError, TimeoutError, ValueError):
        raise FactScopeError(f"No Dask cluster with a worker answers{f' at {scheduler}' if ours else ''}.") from None
    try:
        yield client
    finally:
        if ours:
            client.close()


class _Documents:
    """Xᵀ (n × m) in blocks of rows, one on each worker."""

    def __init__(self, client: Any, Xt: Matrix):
        self.client, self.shape, self.dtype = client, Xt.shape, Xt.dtype
        workers = list(client.scheduler_info(n_workers=-1)["workers"])
        ends = np.linspace(0, Xt.shape[0], min(len(workers), Xt.shape[0]) + 1).astype(int)
        self.rows = [slice(first, last) for first, last in pairwise(ends)]
        self.blocks = [
            client.scatter(_Block(Xt[rows]), workers=[worker], hash=False) for rows, worker in zip(self.rows, workers, strict=False)
        ]

    def __matmul__(self, B: np.ndarray) -> np.ndarray:
        """Xᵀ·B: all of B to each worker, its rows back."""
        return self.back(self.client.scatter(B, broadcast=True, hash=False))

    def parts(self, A: np.ndarray) -> Any:
        """X·A, still on the cluster: each worker's part, added up in the order of the blocks."""
        there = self.client.scatter([A[..., rows, :] for rows in self.rows], hash=False)
        return self.client.submit(_total, self._each(_Block.gathered, there), pure=False)

    def back(self, B: Any) -> np.ndarray:
        return np.concatenate(self.client.gather(self._each(_Block.rows_of, [B] * len(self.blocks))), axis=-2)

    def _each(self, what: Any, arguments: list[Any]) -> list[Any]:
        return [self.client.submit(what, block, argument, pure=False) for block, argument in zip(self.blocks, arguments, strict=True)]


class _Terms:
    """X (m × n) of the same blocks."""

    def __init__(self, documents: _Documents):
        self.documents, self.shape, self.dtype = documents, documents.shape[::-1], documents.dtype

    def __matmul__(self, A: np.ndarray) -> np.ndarray:
        return self.documents.client.gather(self.documents.parts(A))


class _ClusterKernel(LinearKernel):
    """K = XᵀX; what is not a product is known from the local one."""

    def __init__(self, local: LinearKernel, documents: _Documents):
        self.local, self.documents, self.n = local, documents, local.n

    def __matmul__(self, A: np.ndarray) -> np.ndarray:
        return self.documents.back(self.documents.parts(A))

    @property
    def diagonal(self) -> np.ndarray:
        return self.local.diagonal


class _Block:
    """The documents of one worker, by documents and by terms."""

    def __init__(self, Xt: Matrix):
        self.Xt = Xt

    def gathered(self, A: np.ndarray) -> np.ndarray:
        return times(self._terms, A)

    def rows_of(self, B: np.ndarray) -> np.ndarray:
        return times(self.Xt, B)

    @property
    def _terms(self) -> Matrix:
        if not hasattr(self, "_made"):
            self._made = self.Xt.T.tocsr() if sp.issparse(self.Xt) else self.Xt.T
        return self._made


def _total(parts: list[np.ndarray]) -> np.ndarray:
    return reduce(np.add, parts)
