"""Factorisations on Dask clusters on this machine: the same numbers, and little that travels."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from helpers import small_corpus

import fact_core as fc
from fact_core import block
from fact_core.engine import _Products, along, edges_between
from fact_core.remote import Remote, Session
from fact_core.threads import limited

STEPS: dict[str, Any] = {"n_clusters": 3, "restarts": 3, "max_iter": 12, "warm_up": 6}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two processes."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1") as cluster:
        yield cluster


@pytest.fixture(scope="module")
def threads() -> Iterator[Any]:
    """Three workers in this process, whose work can be watched."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=3, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster:
        yield cluster


def same(there: fc.Result, here: fc.Result, digits: float = 1e-8) -> None:
    assert there.stopped == here.stopped
    for name, history in here.terms.items():
        np.testing.assert_allclose(there.terms[name], history, rtol=digits, atol=digits * np.abs(history).max())
    for name, factor in here.factors.items():
        assert type(there.factors[name]) is np.ndarray
        assert there.factors[name].dtype == factor.dtype
        np.testing.assert_allclose(there.factors[name], factor, rtol=digits, atol=digits * np.abs(factor).max())
    assert np.array_equal(there.labels, here.labels)


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("nmf", {}),
        ("gnmf", {"weighting": "ncw", "restarts": 10}),
        ("cf", {"solver": "accelerated"}),
        ("LCCF-NCW", {"restarts": 10, "lam": 10.0}),
        ("lccf", {"weighting": "ncw_exact", "tol": 1e-3, "max_iter": 60}),
    ],
)
def test_a_cluster_gives_the_same_numbers(cluster: Any, method: str, options: dict[str, Any]) -> None:
    corpus = small_corpus(n=71, sparse=True)
    here = fc.fit(corpus, method, **STEPS | options)
    with cluster.get_client():
        there = fc.fit(corpus, method, engine="dask", **STEPS | options)
    same(there, here)
    assert [[term for term, _ in c] for c in there.concepts(3)] == [[term for term, _ in c] for c in here.concepts(3)]


@pytest.mark.parametrize(
    ("method", "options", "digits"),
    [
        ("lccf", {"n_clusters": 1}, 1e-8),
        ("gnmf", {"solver": "accelerated", "max_iter": 30}, 1e-8),
        ("lccf", {"solver": "accelerated", "max_iter": 30}, 1e-8),
        ("nmf", {"init": "kmeans"}, 1e-8),
        ("nmf", {"init": "nndsvd"}, 1e-8),
        ("gnmf", {"dtype": "float32"}, 1e-3),
        ("cf", {"max_iter": 0}, 1e-8),
    ],
)
def test_whatever_is_asked_for(threads: Any, method: str, options: dict[str, Any], digits: float) -> None:
    corpus = small_corpus(n=71, sparse=True)
    here = fc.fit(corpus, method, **STEPS | options)
    with threads.get_client():
        same(fc.fit(corpus, method, engine="dask", **STEPS | options), here, digits)


@pytest.mark.parametrize("method", ["nmf", "lccf"])
def test_large_sums_are_added_up_in_slices(threads: Any, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = small_corpus(n=40, m=31)
    here = fc.fit(corpus, method, **STEPS)
    sizes: list[int] = []
    sent = block.Block._sent

    async def watched(self: Any, rank: int, turn: int, parcel: Any) -> None:
        sizes.extend(array.size for array in parcel.values())
        await sent(self, rank, turn, parcel)

    monkeypatch.setattr(block.Block, "_sent", watched)
    monkeypatch.setattr(block, "LARGE", 200)
    with threads.get_client():
        same(fc.fit(corpus, method, engine="dask", **STEPS), here)
    whole = 3 * 31 * 3  # three starts, m × k
    assert {whole // 3} <= set(sizes)
    assert max(sizes) < whole


def test_fewer_documents_than_workers(threads: Any) -> None:
    corpus = small_corpus(n=2, k=2, sparse=True)
    for method, options in (("nmf", {}), ("lccf", {"p": 1})):
        here = fc.fit(corpus, method, n_clusters=1, restarts=2, max_iter=5, **options)
        with threads.get_client():
            same(fc.fit(corpus, method, n_clusters=1, restarts=2, max_iter=5, engine="dask", **options), here)


@pytest.mark.parametrize(("method", "sums", "exchanges"), [("nmf", 1, 2), ("gnmf", 1, 2), ("cf", 2, 3), ("lccf", 2, 3)])
def test_what_travels_in_a_step(threads: Any, method: str, sums: int, exchanges: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One m × k sum a product, k × k, single numbers, and the rows that edges need, in few exchanges; one message to the client."""
    n, m, k, workers, steps = 600, 20, 4, 3, 10
    corpus = small_corpus(n=n, m=m, k=k, sparse=True)
    parcels: list[tuple[int, list[int]]] = []
    answers: list[dict[int, Any]] = []
    sent, send = block.Block._sent, Session._send

    async def watched(self: Any, rank: int, turn: int, parcel: Any) -> None:
        parcels.append((turn, [array.size for array in parcel.values()]))
        await sent(self, rank, turn, parcel)

    def asked(self: Session, wanted: Any) -> Any:
        answers.extend(found := send(self, wanted))
        return found

    def watch(at: Any) -> None:
        if at.done == 1:  # the start and the degrees are there
            parcels.clear()
            answers.clear()
        if at.done == 1 + steps:
            seen.append((list(parcels), list(answers)))

    monkeypatch.setattr(block.Block, "_sent", watched)
    monkeypatch.setattr(Session, "_send", asked)
    seen: list[Any] = []
    with threads.get_client():
        result = fc.fit(corpus, method, n_clusters=k, restarts=1, max_iter=1 + steps, engine="dask", progress=watch)
    ((parcels, answers),) = seen
    assert len(answers) == workers * steps
    assert max(np.size(value) for found in answers for value in found.values()) == 1
    assert len({turn for turn, _ in parcels}) == exchanges * steps
    sizes = [size for _, arrays in parcels for size in arrays]
    assert sizes.count(m * k) == workers * (workers - 1) * sums * steps
    rows = sorted(size // k for size in sizes if size not in (m * k, k * k, k, 1))
    if result.problem.S is None:
        assert not rows
    else:
        blocks = np.array_split(along(result.problem.S), workers)
        needed = [len(lent) for edges in edges_between(result.problem.S, blocks) for lent in edges.lent.values()]
        assert rows == sorted(needed * steps)
        assert sum(needed) < n


def test_edges_between_blocks_are_all_edges() -> None:
    rng = np.random.default_rng(0)
    S = sp.random_array((40, 40), density=0.1, rng=rng)
    S, V = sp.csr_array(S + S.T), rng.random((40, 3))
    blocks = np.array_split(rng.permutation(40), 4)
    made = edges_between(S, blocks)
    for rank, (own, rows) in enumerate(zip(made, blocks, strict=True)):
        far = [V[blocks[other]][made[other].lent[rank]] for other in own.lenders]
        np.testing.assert_allclose(own.S @ np.concatenate([V[rows], *far]), (S @ V)[rows])


def test_documents_go_to_the_workers_of_their_neighbours() -> None:
    """Two groups with hardly an edge between them, in any order: each is a block."""
    rng = np.random.default_rng(0)
    group = rng.permutation(np.repeat([0, 1], 100))
    S = sp.csr_array(np.triu(rng.random((200, 200)) < np.where(group[:, None] == group, 0.1, 0.001), 1).astype(float))
    first, second = np.split(along(sp.csr_array(S + S.T)), 2)
    assert len(set(group[first])) == len(set(group[second])) == 1


def test_progress_cancelling_and_factors_on_the_way(threads: Any) -> None:
    corpus = small_corpus(sparse=True)
    here: list[Any] = []
    fc.fit(corpus, "lccf", **STEPS, progress=lambda at: here.append((at.done, at.total, at.start, at.iterate.objective)))
    there: list[Any] = []
    iterates: list[Any] = []

    def look(at: Any) -> None:
        there.append((at.done, at.total, at.start, at.iterate.objective))
        iterates.append(at.iterate)
        if at.done == 5:
            assert np.asarray(at.iterate.factors["V"]).shape == (24, 3)

    with threads.get_client():
        fc.fit(corpus, "lccf", **STEPS, engine="dask", progress=look)
        np.testing.assert_allclose(there, here, rtol=1e-8)
        with pytest.raises(fc.FactScopeError, match="run has ended"):
            np.asarray(iterates[-1].factors["V"])
        stopped = fc.fit(corpus, "cf", restarts=1, engine="dask", cancelled=lambda: len(iterates) > 3, init=None, max_iter=50)
    assert stopped.stopped == "cancelled"
    assert np.all(np.isfinite(stopped.factors["W"]))


def test_nothing_stays_on_the_workers(threads: Any) -> None:
    with threads.get_client() as client:
        fc.fit(small_corpus(sparse=True), "cf", restarts=1, max_iter=2, engine="dask")
        assert sum(client.run(lambda dask_worker: len(dask_worker.state.actors)).values()) == 0


def test_two_runs_at_once(cluster: Any) -> None:
    """Each worker has one thread: neither run may wait for the other."""
    corpus = small_corpus(sparse=True)
    here = fc.fit(corpus, "lccf", **STEPS)
    there: list[fc.Result] = []
    with cluster.get_client():
        runs = [threading.Thread(target=lambda: there.append(fc.fit(corpus, "lccf", engine="dask", **STEPS))) for _ in range(2)]
        for run in runs:
            run.start()
        for run in runs:
            run.join(60)
    assert len(there) == 2
    for result in there:
        same(result, here)


def test_stacks_of_starts_take_turns(threads: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fact_core.solve.STACKED", 1)
    corpus = small_corpus(sparse=True)
    here = fc.fit(corpus, "cf", **STEPS)
    callers: set[int] = set()
    send = Session._send

    def asked(self: Session, wanted: Any) -> Any:
        callers.add(threading.get_ident())
        return send(self, wanted)

    monkeypatch.setattr(Session, "_send", asked)
    with threads.get_client(), limited(4):
        same(fc.fit(corpus, "cf", engine="dask", **STEPS), here)
    assert callers == {threading.get_ident()}


def test_what_is_written_down_is_done_in_order(threads: Any) -> None:
    """Changed in place after it was used, an array was used as it had been; that holds for what waits for other workers, too."""
    S = sp.csr_array(np.ones((6, 6)))
    with threads.get_client() as client:
        session = Session(
            client, [client.submit(block.Block, r, 1, actor=True, pure=False) for r in range(2)], list(np.arange(6).reshape(2, 3))
        )
        session.ask("meet", [([(client.who_has([b])[b.key][0], b.key) for b in session.blocks],)] * 2)
        for own, edges in zip(session.own, edges_between(S, session.rows), strict=True):
            own["S"] = edges
        V, factor = session.placed(np.arange(12.0).reshape(6, 2), True) + 0, np.full((1, 2), 2.0)
        SV, VV, twice = _Products(session, "S", S) @ V, V.mT @ V, V * factor
        factor[:] = 5
        W = V
        W *= 10
        assert W is V
        before = np.arange(12.0).reshape(6, 2)
        np.testing.assert_array_equal(SV, S @ before)
        np.testing.assert_array_equal(VV, before.T @ before)
        np.testing.assert_array_equal(twice, 2 * before)
        np.testing.assert_array_equal(V, 10 * before)
        start, total = session.placed(before, True), session.placed(np.zeros((1, 2)), False)
        np.multiply(V, 2, out=start)
        np.testing.assert_array_equal(start, 20 * before)
        np.testing.assert_array_equal(total, [[0, 0]])
        for number in (1, 2):
            np.testing.assert_array_equal(np.add(total, 1, out=total), [[number, number]])
        session.close()


def test_what_cannot_be_done_without_mixing_documents(threads: Any) -> None:
    """Methods written otherwise fail loudly instead of computing something else."""
    with threads.get_client() as client:
        session = Session(client, [client.submit(block.Block, 0, 1, actor=True)], [np.arange(4)])
        V, U = session.placed(np.ones((4, 2)), True), session.placed(np.ones((3, 2)), False)
        for wrong in (
            lambda: V[0],
            lambda: V + np.ones((4, 2)),
            lambda: U @ V,
            lambda: V.mT @ U,
            lambda: np.einsum("...ij,...ij->...i", V, V),
            lambda: np.cumsum(V),
            lambda: V.sum(axis=-1),
            lambda: np.add.reduce(V),
            lambda: np.add(V, V, out=U),
        ):
            with pytest.raises(TypeError):
                wrong()
        assert isinstance(V + 1, Remote)
        session.close()


def test_the_scheduler_may_be_named_in_the_environment(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACTSCOPE_SCHEDULER", cluster.scheduler_address)
    corpus = small_corpus()  # dense: its kernel is formed here, its products are the cluster's
    here, there = (fc.fit(corpus, "cf", restarts=1, max_iter=5, engine=e) for e in ("local", "dask"))
    same(there, here)


def test_what_a_cluster_cannot_do_is_said(threads: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = small_corpus()
    with threads.get_client():
        for method, options, word in (("kmeans", {}, "nmf, gnmf, cf, lccf"), ("cf", {"kernel": "poly2"}, "linear kernel")):
            with pytest.raises(fc.FactScopeError, match=word):
                fc.fit(corpus, method, engine="dask", **options)
    monkeypatch.delenv("FACTSCOPE_SCHEDULER", raising=False)
    with pytest.raises(fc.FactScopeError, match="There is no Dask cluster"):
        fc.fit(corpus, "cf", engine="dask")


def test_a_cluster_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("fact_core.engine.PATIENCE", 0.2)
    monkeypatch.setenv("FACTSCOPE_SCHEDULER", "tcp://127.0.0.1:9")
    with pytest.raises(fc.FactScopeError, match=r"No Dask cluster with a worker answers at tcp://127\.0\.0\.1:9"):
        fc.fit(small_corpus(), "cf", engine="dask")


def test_workers_without_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))  # a page that ran here before would be run in the worker, too
    (tmp_path / "fact_core.py").write_text("raise ModuleNotFoundError('fact_core')")
    worker = {"cls": distributed.Nanny, "options": {"nthreads": 1, "env": {"PYTHONPATH": str(tmp_path)}, "config": {}}}
    scheduler = {"cls": distributed.Scheduler, "options": {"dashboard_address": ":0", "host": "127.0.0.1"}}
    before, sys.path[:] = list(sys.path), [str(tmp_path), *(place for place in sys.path if place not in ("", os.getcwd()))]
    try:  # a worker's process is given the search path of this one
        with distributed.SpecCluster({0: worker}, scheduler) as own, own.get_client() as client:
            client.wait_for_workers(1, timeout=30)
            with pytest.raises(fc.FactScopeError, match="need fact_core, too"):
                fc.fit(small_corpus(sparse=True), "cf", engine="dask")
    finally:
        sys.path[:] = before


def test_a_worker_that_fails_does_not_leave_the_others_waiting(threads: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    work = block.Block._work

    def failing(self: Any, calls: Any) -> Any:
        if self.rank == 1:
            raise MemoryError("no room")
        return work(self, calls)

    monkeypatch.setattr(block.Block, "_work", failing)
    ended: list[int] = []
    end = block.Block.end

    async def noted(self: Any) -> None:
        await end(self)
        ended.append(self.rank)

    monkeypatch.setattr(block.Block, "end", noted)
    with threads.get_client() as client:
        with pytest.raises(MemoryError, match="no room"):
            fc.fit(small_corpus(sparse=True), "cf", engine="dask", **STEPS)
        client.run(lambda: None)
    assert set(ended) >= {0, 2}


def test_a_worker_that_dies_ends_the_run_with_a_sentence() -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1") as own,
        own.get_client() as client,
    ):
        workers = client.run(os.getpid)

        def lose(at: Any) -> None:
            if at.done == 3:
                os.kill(next(iter(workers.values())), signal.SIGKILL)

        with pytest.raises(fc.FactScopeError, match="lost a worker"):
            fc.fit(small_corpus(sparse=True), "cf", restarts=1, max_iter=10_000, engine="dask", progress=lose)
