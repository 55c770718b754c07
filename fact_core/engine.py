"""Where a factorisation is computed: here, or on a Dask cluster.

On a cluster the documents lie in blocks on the workers, and with them their rows of the factors (V, W) and of the graph. The loop runs
where `fit` was called, on arrays that are elsewhere (:mod:`fact_core.remote`): a step is one message to each worker, and the terms of the
objective back. From worker to worker travel in a step

* for each product K·A = Xᵀ(X·A) or X·A the workers' parts of X·A (m × k), which are added up;
* for each product over the documents, such as VᵀV, its k × k parts;
* for S·V those rows of V in other blocks that edges lead to. Documents are given to workers along a direction in which neighbours are
  near each other; that leaves few such rows, where the graph has groups at all.

U (m × k), where a method has one, is computed by all workers alike. The start goes out once, the factors come back once, and no method
knows of any of it: the numbers are those of one machine but for rounding. Who wants the factors on the way, in a `progress` function, gets
them with ``np.asarray``.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property, partial
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from .algorithms.base import Algorithm, Factors
from .block import Block, Call, Edges, Name, Then, smoothed
from .corpus.model import Matrix
from .errors import FactScopeError
from .kernel import Kernel, KernelMatrix, LinearKernel, transposed
from .problem import Problem
from .products import times
from .remote import LOST, Remote, Session
from .threads import limited

METHODS = ("nmf", "gnmf", "cf", "lccf")
BY_DOCUMENTS = ("V", "W")  # of their factors
PATIENCE = 10  # seconds for the cluster to answer
SMALL = 50  # documents that are not worth a search for their order
ROUNDS = 100  # of that search


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
    workers = list(_workers(client).items())[: problem.n]
    try:
        client.run_on_scheduler(import_module, Block.__module__)
        client.run(import_module, Block.__module__, workers=[address for address, _ in workers])
    except ImportError:
        raise FactScopeError("The scheduler and the workers of the Dask cluster need fact_core, too: install factscope there.") from None
    except OSError:
        raise FactScopeError(LOST) from None
    blocks = [
        client.submit(Block, rank, worker["nthreads"], actor=True, workers=[address], pure=False)
        for rank, (address, worker) in enumerate(workers)
    ]
    while not all(block.done() for block in blocks):  # a busy worker takes its time; one that is gone never comes back
        if not _workers(client).keys() >= {address for address, _ in workers}:
            raise FactScopeError(LOST)
        time.sleep(0.01)
    order = np.arange(problem.n) if problem.S is None or len(workers) == 1 else along(problem.S)
    session = Session(client, blocks, np.array_split(order, len(workers)))
    peers = [(address, block.key) for (address, _), block in zip(workers, blocks, strict=True)]
    session.ask("meet", [(peers,)] * len(workers))
    for rows, own in zip(session.rows, session.own, strict=True):
        own["Xt"] = problem.Xt[rows]
    session.write(Call("X", transposed, (Name("Xt"),)))
    if problem.S is not None:
        for edges, own in zip(edges_between(problem.S, session.rows), session.own, strict=True):
            own["S"] = edges
    return session


def _workers(client: Any) -> dict[str, Any]:
    return client.scheduler_info(n_workers=-1)["workers"]


def along(S: Matrix) -> np.ndarray:
    """The documents in an order in which neighbours are near each other: along the second eigenvector of the normalised graph.

    Cut into blocks, far fewer edges then lead from block to block than in the order in which documents happen to come.
    """
    n = S.shape[0]
    if n <= SMALL:
        return np.arange(n)
    degree = S @ np.ones(n)
    root = np.sqrt(np.where(degree > 0, degree, 1.0))
    normal = LinearOperator((n, n), matvec=lambda v: (S @ (v.ravel() / root)) / root, dtype=np.float64)
    try:
        _, vectors = eigsh(normal, k=2, which="LA", tol=1e-3, maxiter=ROUNDS, v0=np.random.default_rng(0).random(n))
    except ArpackError:  # no such direction: any order is as good
        return np.arange(n)
    return np.argsort(vectors[:, 0] / root, kind="stable")


def edges_between(S: Matrix, blocks: list[np.ndarray]) -> list[Edges]:
    """The rows of S in blocks, each with the rows of other blocks it needs."""
    order = np.concatenate(blocks)
    graph = sp.csr_array(S)[order][:, order]
    spans = list(pairwise(np.cumsum([0, *map(len, blocks)]).tolist()))
    rows = [graph[first:last] for first, last in spans]
    far = [np.setdiff1d(own.indices, np.arange(first, last)) for own, (first, last) in zip(rows, spans, strict=True)]
    needed = [[others[(others >= first) & (others < last)] - first for first, last in spans] for others in far]
    made = []
    for rank, (own, (first, last)) in enumerate(zip(rows, spans, strict=True)):
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
