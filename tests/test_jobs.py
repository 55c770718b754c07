"""Studies in the background: killed, stopped, resumed, two at once, and on a Dask cluster."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
import pytest

import fact_core as fc
from fact_core.jobs import Job, State, find_job, jobs, pool, resume_interrupted, start
from fact_core.jobs.supervisor import RESERVE, Queue, Supervisor
from fact_core.store import Store, save_corpus
from fact_core.study import Method, Study, run_cell
from tests.helpers import small_corpus


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("FACTSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("FACTSCOPE_SCHEDULER", raising=False)
    yield
    for job in jobs():
        job.stop()


def study(seeds: int = 10, steps: int = 500, **changes: Any) -> Study:
    """Six cells a seed, of about a tenth of a second each."""
    said: dict[str, Any] = {
        "corpus": "gaussians", "methods": (Method("lccf"), Method("CF")), "axes": {"lam": [1, 3, 10, 30, 100]},
        "seeds": tuple(range(seeds)), "options": {"restarts": 2, "max_iter": steps},
    }  # fmt: skip
    return Study(**said | changes)


def until(job: Job, true: Callable[[Any], bool], seconds: float = 120) -> Any:
    end = time.monotonic() + seconds
    while not true(at := job.status()):
        assert time.monotonic() < end, at
        time.sleep(0.02)
    return at


def finish(job: Job, seconds: float = 120) -> Any:
    at = until(job, lambda at: at.over, seconds)
    assert at.state is State.FINISHED, at
    return at


def numbers(rows: pd.DataFrame) -> pd.DataFrame:
    """What must be the same whoever computed it."""
    return rows[rows["score"] != "seconds"].reset_index(drop=True)


def kill(job: Job) -> None:
    """SIGKILL to the job's process and all its workers, as a machine that goes down would do."""
    process = psutil.Process(int((job.folder / "pid").read_text()))
    for one in [process, *process.children(recursive=True)]:
        one.kill()
    until(job, lambda at: at.state is State.INTERRUPTED, 10)


def test_killed_twice_it_goes_on_and_computes_nothing_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = start(study())
    for share in (1, 2):
        at = until(job, lambda at, share=share: at.done >= 15 * share)  # type: ignore[misc]
        assert at.state is State.RUNNING
        kill(job)
        kept = job.status().done
        assert 15 * share <= kept < 60
        (resumed,) = resume_interrupted()  # what a server does when it starts
        assert resumed.id == job.id
    assert finish(job).done == 60
    log = (job.folder / "log.txt").read_text()
    events = re.findall(r"(started|kept) (\d+)", log)
    stored: set[str] = set()
    for what, cell in events:
        assert cell not in stored, f"cell {cell} was {what} after it was stored"
        stored |= {cell} if what == "kept" else set()
    assert len(stored) >= 58  # a kill between the store and the log leaves at most one unlogged each time
    assert "Traceback" not in log
    assert resume_interrupted() == []

    monkeypatch.setenv("FACTSCOPE_HOME", str(tmp_path / "undisturbed"))
    other = start(study())
    finish(other)
    pd.testing.assert_frame_equal(numbers(job.rows()), numbers(other.rows()))
    direct = fc.fit(fc.load_corpus("gaussians"), "lccf", lam=10, seed=4, restarts=2, max_iter=500)
    rows = job.rows()
    mine = rows[(rows["method"] == "lccf") & (rows["lam"] == 10) & (rows["seed"] == 4)].set_index("score")["value"]
    assert mine["objective"] == pytest.approx(direct.objective[-1], rel=1e-9)


def test_stop_within_a_second_keeps_finished_cells_and_the_same_study_goes_on() -> None:
    job = start(study(steps=20000))
    at = until(job, lambda at: at.done >= 2 and any(r["done"] for r in at.running))
    assert at.left is not None
    assert at.steps > 0
    assert 0 < at.share < 1
    began = time.monotonic()
    job.stop()
    at = until(job, lambda at: at.over, 30)
    assert time.monotonic() - began < 10  # a second where nothing else runs; waiting for the cell to end would take far longer
    assert at.state is State.STOPPED
    kept = set(job.rows()["cell"])
    assert 2 <= len(kept) < 60
    assert resume_interrupted() == []  # a person stopped it
    assert start(study(steps=20000)).id == job.id
    until(job, lambda at: at.done > len(kept))
    job.stop()


def test_stop_before_it_has_begun_and_delete() -> None:
    job = start(study())
    job.stop()
    until(job, lambda at: at.state is State.STOPPED, 10)
    time.sleep(1)
    assert job.status().state is State.STOPPED
    assert find_job(job.id).folder == job.folder
    with pytest.raises(fc.FactScopeError, match="no job"):
        find_job(f"../jobs/{job.id}")
    job.delete()
    assert jobs() == []
    with pytest.raises(fc.FactScopeError, match="no job"):
        find_job(job.id)


def test_a_job_that_hears_nothing_is_stopped_all_the_same() -> None:
    job = start(study(seeds=2, steps=3000))
    until(job, lambda at: (job.folder / "pid").exists() and at.state is State.RUNNING)
    os.kill(int((job.folder / "pid").read_text()), signal.SIGSTOP)  # as if inside a long call
    job.stop()
    until(job, lambda at: at.state is State.STOPPED, 10)


def test_two_jobs_at_once_progress_and_see_only_their_own_uploads() -> None:
    mine, theirs = small_corpus(n=60, seed=1), small_corpus(n=60, seed=2)
    pair = [
        start(study(steps=3000, corpus="my.csv", seeds=4), corpus, owner=owner, workers=1)
        for corpus, owner in ((mine, "me"), (theirs, "you"))
    ]
    assert pair[0].id != pair[1].id
    until(pair[0], lambda at: at.done >= 1)
    until(pair[1], lambda at: at.done >= 1)
    assert [job.status().state for job in pair] == [State.RUNNING] * 2
    for job in pair:
        finish(job)
    assert [job.id for job in jobs("me")] == [pair[0].id]
    assert len(jobs()) == 2
    store = Store()
    for job, corpus in zip(pair, (mine, theirs), strict=True):
        found = store.get(job.rows()["run"])
        assert {k.run.fingerprint for k in found.values()} == {corpus.fingerprint}
        assert len(found) == 24
    assert store.find(owner="me") == store.find(owner="you") == []  # a study is one entry of a person's history, not one a cell


def test_two_jobs_on_one_store_do_not_compute_the_same_cell() -> None:
    pair = [start(study(seeds=5, steps=2000), workers=1, owner=owner) for owner in ("a", "b")]
    for job in pair:
        finish(job)
    started = [cell for job in pair for cell in re.findall(r"started (\d+)", (job.folder / "log.txt").read_text())]
    assert len(started) == len(set(started)) == 30
    pd.testing.assert_frame_equal(pair[0].rows(), pair[1].rows())


def test_a_run_said_in_two_ways_is_computed_once_and_a_changed_file_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "texts.csv"
    words = [line.split() for line in ("ship wave harbour sail anchor", "flour oven yeast dough crust")]
    texts = [(i % 2, " ".join(w for j, w in enumerate(words[i % 2]) if (i // 2 + j) % 4)) for i in range(20)]
    file.write_text("label,text\n" + "\n".join(f"{label},{text} thing" for label, text in texts))
    twice = study(seeds=1, corpus=str(file), methods=(Method("CF-NCW"), Method("cf", {"weighting": "ncw", "kernel": "linear"})), axes={})
    job = start(twice)
    assert finish(job).done == 2
    assert len(re.findall("started", (job.folder / "log.txt").read_text())) == 1
    assert set(job.rows()["method"]) == {"CF-NCW", "cf"}
    before = job.rows()
    file.write_text(file.read_text().replace("anchor", "boat", 1))
    again = start(twice)
    finish(again)
    assert again.id == job.id
    assert set(again.rows()["run"]).isdisjoint(before["run"])


def test_a_cell_that_fails_is_named_and_the_others_are_computed() -> None:
    job = start(study(seeds=1, methods=(Method("kmeans"), Method("cf", {"n_clusters": 999})), axes={}))
    at = finish(job)
    assert list(at.failures) == ["cf, seed 0"]
    assert "between 1 and" in at.failures["cf, seed 0"]
    assert set(job.rows()["method"]) == {"kmeans"}
    job = start(study(corpus="no-such-corpus"))
    at = until(job, lambda at: at.over)
    assert at.state is State.FAILED
    assert "no-such-corpus" in at.error
    with pytest.raises(fc.FactScopeError, match="at least one method"):
        start(study(methods=()))


def test_a_cell_that_looks_at_no_clock_or_has_no_room_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACTSCOPE_TIME", "1")
    monkeypatch.setattr(pool, "GRACE", 0.2)
    save_corpus(small_corpus(), tmp_path / "corpus.npz")
    cell, task = Study("x", (Method("nmf", {"n_clusters": 3}),)).cells()[0], {"source": {}, "arrays": False}
    workers = pool.Pool(1, tmp_path / "corpus.npz", task)
    workers.submit(7, cell, "")
    os.kill(held := workers.workers[0].process.pid, signal.SIGSTOP)  # as if inside a long call
    said: list[pool.Event] = []
    end = time.monotonic() + 30
    while not said and time.monotonic() < end:
        said = workers.events(0.05)
    left = len(workers.workers)
    workers.close()
    assert [event[:2] for event in said] == [("failed", 7)]
    assert "ended after 1 seconds, the longest a run may take" in said[0][2]
    assert left == 0
    assert not psutil.pid_exists(held)
    monkeypatch.setenv("FACTSCOPE_TIME", "0.2")  # one that does look at it ends by itself
    long = replace(cell, options={**cell.options, "max_iter": 100_000})
    kind, _, why = pool.compute(7, long, small_corpus(), task, lambda at: None)
    assert (kind, "the longest a run may take" in why) == ("failed", True)
    monkeypatch.setenv("FACTSCOPE_MEMORY", "1kB")
    kind, _, why = pool.compute(7, cell, small_corpus(), task, lambda at: None)
    assert (kind, "of memory, most of it for" in why) == ("failed", True)


def test_room_is_given_up_before_a_job_says_that_there_is_none(tmp_path: Path) -> None:
    at, shown = object.__new__(Supervisor), []  # without a process
    at.job, at.store, at.said = Job(tmp_path / "job"), Store(tmp_path), {"upload": ""}

    def full() -> State:
        raise fc.FactScopeError("The disk is full.")

    at.work, at.show = full, lambda state, error="": shown.append((state, (at.job.folder / RESERVE).exists(), error))  # type: ignore[method-assign]
    at.run()
    assert shown == [(State.RUNNING, True, ""), (State.FAILED, False, "The disk is full.")]


def test_what_the_supervisor_makes_of_a_cell_lost_again_and_again_and_of_another_version(tmp_path: Path) -> None:
    at = object.__new__(Supervisor)  # without a process
    at.queue, at.attempts, at.failures, at.heard, at.steps, at.done = Queue({0: "", 1: ""}), Counter(), {}, None, 0, 0
    at.running, at.addresses, at.store = {}, ["a" * 32, "b" * 32], Store(tmp_path)
    for left in (2, 1, 0):
        at.running[0] = (0, 0)
        at.note("lost", 0, None)
        assert bool(at.failures) == (left == 0)
    assert "died 3 times" in at.failures[0]
    run, arrays = run_cell(Study("x", (Method("nmf", {"n_clusters": 3, "max_iter": 2}),)).cells()[0], small_corpus())  # type: ignore[misc]
    at.running[1] = (0, 0)
    at.note("done", 1, (run, arrays))
    assert "another FactScope" in at.failures[1]
    assert (at.done, at.store.find()) == (0, [])


def test_a_worker_that_dies_is_replaced() -> None:
    job = start(study(seeds=2, steps=3000))
    until(job, lambda at: at.done >= 1)
    supervisor = psutil.Process(int((job.folder / "pid").read_text()))
    workers = [p for p in supervisor.children() if "spawn_main" in " ".join(p.cmdline())]
    assert len(workers) >= 1
    for worker in workers:
        worker.kill()
    assert finish(job).done == 12


def test_workers_end_with_their_supervisor_and_a_foreground_job_with_its_parent() -> None:
    script = (
        "import sys, time; sys.path.insert(0, '.')\n"
        "from tests.test_jobs import study\n"
        "from fact_core.jobs import start\n"
        "print(start(study(steps=100000), with_parent=True).id, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[1])
    assert parent.stdout is not None
    job = find_job(parent.stdout.readline().strip())
    until(job, lambda at: bool(at.running))
    supervisor = psutil.Process(int((job.folder / "pid").read_text()))
    family = [supervisor, *supervisor.children(recursive=True)]
    parent.kill()
    parent.wait()
    _, alive = psutil.wait_procs(family, timeout=5)
    assert alive == []
    assert job.status().state is State.INTERRUPTED
    assert resume_interrupted() == []  # only the command that started it goes on with it


def test_the_objective_of_every_step() -> None:
    job = start(Study("gaussians", (Method("NMF"), Method("CF"), Method("LCCF")), options={"restarts": 1, "max_iter": 30}))
    finish(job)
    steps = job.steps()
    assert set(steps["method"]) == {"NMF", "CF", "LCCF"}
    for method in ("NMF", "CF", "LCCF"):
        whole = steps[steps["method"] == method].groupby("step")["value"].sum()
        assert list(whole.index) == list(range(31))
        assert (whole.diff().dropna() <= 1e-9 * whole.iloc[0]).all()


def free_port() -> int:
    import socket

    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@pytest.fixture
def cluster() -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A scheduler and two workers, as a person would start them."""
    pytest.importorskip("distributed")
    address = f"tcp://127.0.0.1:{free_port()}"
    environment = os.environ | {"OMP_NUM_THREADS": "1"}

    def run(*arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_" + arguments[0], *arguments[1:]],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, cwd=Path(__file__).parents[1],
        )  # fmt: skip

    scheduler = run("scheduler", "--host", "127.0.0.1", "--port", address.rsplit(":", 1)[1], "--no-dashboard", "--dashboard-address", ":0")
    workers = [run("worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1") for _ in range(2)]
    yield address, workers
    for process in [*workers, scheduler]:
        process.kill()
        process.wait()


def test_the_same_rows_from_a_dask_cluster_that_loses_a_worker(
    cluster: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from distributed import Client

    address, workers = cluster
    with Client(address, timeout=20) as client:
        client.wait_for_workers(2, timeout=20)
    monkeypatch.setenv("FACTSCOPE_SCHEDULER", address)
    wanted = study(seeds=6, steps=2000)
    job = start(wanted, small_corpus(n=60))
    assert job.said["scheduler"] == address
    until(job, lambda at: at.done >= 8)
    workers[0].send_signal(signal.SIGKILL)
    assert finish(job).done == 36
    assert "spawn_main" not in (job.folder / "log.txt").read_text()
    monkeypatch.delenv("FACTSCOPE_SCHEDULER")
    monkeypatch.setenv("FACTSCOPE_HOME", str(tmp_path / "here"))
    here = start(wanted, small_corpus(n=60))
    finish(here)
    pd.testing.assert_frame_equal(numbers(job.rows()), numbers(here.rows()), rtol=1e-9)

    monkeypatch.setenv("FACTSCOPE_HOME", str(tmp_path / "stopped"))
    long = start(study(seeds=2, steps=200_000), scheduler=address)
    until(long, lambda at: any(r["done"] for r in at.running))
    began = time.monotonic()
    long.stop()
    until(long, lambda at: at.state is State.STOPPED, 30)
    assert time.monotonic() - began < 10  # a second where nothing else runs; waiting for the cell to end would take far longer
    with Client(address, timeout=20) as client:
        end = time.monotonic() + 10
        while any(client.processing().values()):
            assert time.monotonic() < end, "the fit on the cluster goes on"
            time.sleep(0.1)


def test_a_cluster_that_is_not_there_is_a_sentence() -> None:
    pytest.importorskip("distributed")
    job = start(study(), scheduler=f"tcp://127.0.0.1:{free_port()}")
    at = until(job, lambda at: at.over)
    assert at.state is State.FAILED
    assert "No Dask cluster" in at.error
