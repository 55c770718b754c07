"""Where a factorisation is computed: here, or on a Dask cluster.

On a cluster the documents lie in blocks on the workers, and with them their rows of the factors (V, W) and of the graph. The loop runs
where `fit` was called, on arrays that are not there (:mod:`fact_core.remote`): a step is one message to each worker and the terms of the
objective back. From worker to worker travel, per step: for a product K·A = Xᵀ(X·A) or X·A the workers' parts of X·A (m × k), added up
in the order of the blocks; for products over the documents such as VᵀV their k × k parts; for S·V the rows of V of those documents in
other blocks that edges lead to. U (m × k), where a method has one, is computed by all workers alike. The start goes out once, the factors
come back once, and no method knows of any of it: the numbers are those of one machine but for rounding.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from .algorithms.base import Algorithm, Factors
from .block import Block, Call, Edges, Name, Then, smoothed
from .corpus.model import Matrix
from .errors import FactScopeError
from .kernel import Kernel, KernelMatrix, LinearKernel, transposed
from .problem import Problem
from .products import times
from .remote import Remote, Session
from .threads import limited

METHODS = ("nmf", "gnmf", "cf", "lccf")
BY_DOCUMENTS = ("V", "W")  # of their factors
PATIENCE = 10  # seconds for the cluster to answer


class Engine(str, Enum):
    LOCAL = "local"
    DASK = "dask"


@contextmanager
def spread(problem: Problem, method: Algorithm, kernel: Kernel, engine: Engine) -> Iterator[Problem]:
    """The problem as the loop sees it: itself, or one that is on a cluster while the loop runs."""
    if engine is Engine.LOCAL:
        yield problem
        return
    if method.key not in METHODS or kernel is not Kernel.LINEAR or not isinstance(problem.K, LinearKernel):
        raise FactScopeError(f"A Dask cluster computes {', '.join(METHODS)} with the linear kernel on data without negative values.")
    with _client() as client, client.as_current():
        session = _session(client, problem)
        try:
            with limited(1):  # stacks of starts take turns: it is not this machine that computes
                yield _spread(problem, session)
        except BaseException:
            session.end()
            raise
        finally:
            session.close()


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


def _session(client: Any, problem: Problem) -> Session:
    """The documents in blocks, one on each worker, and their edges."""
    workers = list(client.scheduler_info(n_workers=-1)["workers"].items())[: problem.n]
    ends = np.linspace(0, problem.n, len(workers) + 1).astype(int)
    blocks = [
        client.submit(Block, rank, worker["nthreads"], actor=True, workers=[address], pure=False)
        for rank, (address, worker) in enumerate(workers)
    ]
    session = Session(client, blocks, [slice(*rows) for rows in pairwise(ends)])
    peers = [(address, block.key) for (address, _), block in zip(workers, blocks, strict=True)]
    session.ask("meet", [(peers,)] * len(workers))
    edges = [None] * len(workers) if problem.S is None else edges_between(problem.S, ends)
    for rows, own, S in zip(session.rows, session.own, edges, strict=True):
        own |= {"Xt": problem.Xt[rows], "S": S}
    session.write(Call("X", transposed, (Name("Xt"),)))
    return session


def edges_between(S: Matrix, ends: np.ndarray) -> list[Edges]:
    """The rows of S in blocks, each with the rows of other blocks it needs."""
    graph, blocks = sp.csr_array(S), list(pairwise(ends))
    rows = [graph[first:last] for first, last in blocks]
    far = [np.setdiff1d(own.indices, np.arange(first, last)) for own, (first, last) in zip(rows, blocks, strict=True)]
    needed = [[others[(others >= first) & (others < last)] - first for first, last in blocks] for others in far]
    made = []
    for rank, (own, (first, last)) in enumerate(zip(rows, blocks, strict=True)):
        inside = (own.indices >= first) & (own.indices < last)
        columns = np.where(inside, own.indices - first, last - first + np.searchsorted(far[rank], own.indices))
        near = sp.csr_array((own.data, columns, own.indptr), shape=(last - first, last - first + len(far[rank])))
        lent = {other: needs[rank] for other, needs in enumerate(needed) if len(needs[rank])}
        made.append(Edges(near, lent, tuple(other for other, needs in enumerate(needed[rank]) if len(needs))))
    return made


def _spread(problem: Problem, session: Session) -> SpreadProblem:
    X: Any = _Products(session, "X", problem.X)
    Xt: Any = _Products(session, "Xt", problem.Xt)
    S: Any = None if problem.S is None else _Products(session, "S", problem.S)
    return SpreadProblem(X, Xt, _ClusterKernel(problem.K, X, Xt), problem.k, S, local=problem, session=session)


@dataclass(frozen=True, eq=False)
class SpreadProblem(Problem):
    """A problem whose documents are on a cluster."""

    local: Problem = field(kw_only=True)
    session: Session = field(kw_only=True, repr=False)

    @property
    def here(self) -> Problem:
        return self.local

    def held(self, factors: Factors) -> Factors:
        there: dict[str, Any] = {name: a if isinstance(a, Remote) else self._placed(name, a) for name, a in factors.items()}
        return {name: a.astype(self.dtype) for name, a in there.items()}

    def _placed(self, name: str, a: np.ndarray) -> Remote:
        return self.session.placed(np.asarray(a, dtype=self.dtype), name in BY_DOCUMENTS)

    @cached_property
    def D(self) -> Any:
        return self.session.placed(self.local.D, by_documents=True)


class _Products:
    """X, Xᵀ or S of the blocks, seen through its products."""

    def __init__(self, session: Session, name: str, local: Matrix):
        self.session, self.name, self.shape, self.dtype = session, Name(name), local.shape, local.dtype

    def __matmul__(self, A: Remote) -> Remote:
        call = partial(self.session.call, shape=(*A.shape[:-2], self.shape[0], A.shape[-1]), dtype=np.result_type(self.dtype, A.dtype))
        if self.name.number == "X":
            return call(times, self.name, A, by_documents=False, then=Then.ADD_UP)
        if self.name.number == "Xt":
            return call(times, self.name, A, by_documents=True)
        around = self.session.call(np.asarray, A, shape=A.shape, dtype=A.dtype, by_documents=True, then=Then.SURROUND)
        return call(smoothed, self.name, around, by_documents=True)


class _ClusterKernel(LinearKernel):
    """K = XᵀX; what is not a product is known from the local one."""

    def __init__(self, local: KernelMatrix, X: Any, Xt: Any):
        self.local, self.X, self.Xt, self.n = local, X, Xt, local.n

    def __matmul__(self, A: Any) -> Any:
        return self.Xt @ (self.X @ A)

    @property
    def diagonal(self) -> np.ndarray:
        return self.local.diagonal
