"""Real faults: killed processes, full and read-only disks, two servers at one store, a jumping clock, no network. Nothing is lost."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from browser import server

import fact_core as fc
from fact_core.jobs import Job, State, jobs, start
from fact_core.store import Store
from fact_core.study import Method, Study, arrays_of, describe
from fact_core.workers import Crew
from tests.helpers import small_corpus

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and mounts of Unix")


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("FACTSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("FACTSCOPE_SCHEDULER", raising=False)
    yield
    for job in jobs():
        job.stop()


def study(seeds: int = 8, steps: int = 1000) -> Study:
    return Study(
        "gaussians", (Method("lccf"),), axes={"lam": [1, 10, 100]}, seeds=tuple(range(seeds)), options={"restarts": 2, "max_iter": steps}
    )


def until(true: Callable[[], Any], seconds: float = 120) -> Any:
    end = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.05)
    return found


def over(job: Job) -> Any:
    return until(lambda: at if (at := job.status()).over else None)


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Callable[[str], None]]:
    """A real disk of that size in memory; what changes its options."""
    folder.mkdir(parents=True, exist_ok=True)
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root may mount a small disk")
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no small disk can be mounted here: {done.stderr.strip()}")
    try:
        yield lambda options: subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True) and None
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_killed_server_loses_no_study_and_leaves_no_process() -> None:
    from benchmarks.load import Visitor

    async def press_run(address: str) -> None:
        import websockets

        visitor = Visitor(address, 0)
        visitor.query, visitor.page = "corpus=gaussians&sweep.seeds=3", ""
        link = f"ws://{address}/_stcore/stream"
        async with websockets.connect(link, subprotocols=["streamlit", "x"], max_size=None) as visitor.socket:  # type: ignore[list-item]
            listening = asyncio.create_task(visitor.listen())
            await visitor.act("open")
            visitor.page = "sensitivity"
            await visitor.act("look")
            assert visitor.run_button, visitor.errors
            visitor.trigger = visitor.run_button
            await visitor.act("press")
            listening.cancel()

    with server() as address:
        asyncio.run(press_run(address.removeprefix("http://")))
        (job,) = until(lambda: jobs(), 60)
        until(lambda: job.status().done >= 1)
        (process,) = children(psutil.Process(), "serve.py")
        workers = children(process, "fact_core.workers")
        assert workers
        process.send_signal(signal.SIGKILL)
        _, alive = psutil.wait_procs(workers, timeout=10)
        assert alive == []
    at = over(job)
    assert at.state is State.FINISHED, at
    assert len(set(job.rows()["run"])) == at.done == at.cells
    with server() as address:  # and the next one on the same store has it all
        assert job.status().state is State.FINISHED


def test_a_killed_worker_is_replaced_and_its_run_done_again() -> None:
    crew, corpus = Crew(1), small_corpus(n=60)
    settings = {"n_clusters": 3, "max_iter": 4000, "restarts": 1}
    try:
        victim = crew._idle[0].process
        begun = threading.Event()
        found: list[fc.Result] = []
        run = threading.Thread(target=lambda: found.append(crew.fit(corpus, "lccf", settings, note=lambda said: begun.set())))
        run.start()
        assert begun.wait(60)
        victim.send_signal(signal.SIGKILL)
        run.join(120)
        np.testing.assert_allclose(found[0].objective, fc.fit(corpus, "lccf", **settings).objective, rtol=1e-9)  # type: ignore[arg-type]
        with pytest.raises(fc.FactScopeError, match="died 2 times"):
            crew.fit(corpus, "lccf", settings, note=lambda said: _kill_children())
        assert len(crew.fit(corpus, "nmf", {"n_clusters": 3, "max_iter": 5}).labels) == 60
    finally:
        crew.close()


def _kill_children() -> None:
    for child in children(psutil.Process(), "fact_core.workers"):
        child.kill()


def children(process: psutil.Process, word: str) -> list[psutil.Process]:
    """Those with this word in their command line; one that has ended has none."""
    found = []
    for child in process.children():
        with contextlib.suppress(psutil.ZombieProcess, psutil.NoSuchProcess):
            if word in " ".join(child.cmdline()):
                found.append(child)
    return found


def test_a_full_disk_ends_a_study_with_a_sentence_and_room_lets_it_go_on(tmp_path: Path) -> None:
    with small_disk(tmp_path / "home", "400k") as change:
        job = start(study(seeds=20, steps=500), workers=1)
        at = over(job)
        assert at.state is State.FAILED
        assert "the disk is full" in at.error
        change("size=40m")
        kept = job.rows()
        assert len(kept)
        log = (job.folder / "log.txt").read_text()
        job.resume()
        assert over(job).state is State.FINISHED
        again = job.rows()
        assert len(set(again["run"])) == 60
        assert set(kept["run"]) <= set(again["run"])
        assert len((job.folder / "log.txt").read_text()) > len(log)
        started = (job.folder / "log.txt").read_text()[len(log) :].count("started")
        assert started == 60 - len(set(kept["run"]))  # what was finished was not computed again


def test_history_lets_a_study_go_on_that_a_full_disk_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from streamlit.testing.v1 import AppTest

    import ui.kept
    import ui.runs

    monkeypatch.setattr(ui.runs, "PATIENCE", 100.0)
    ui.kept.store.clear()  # type: ignore[attr-defined]
    try:
        with small_disk(tmp_path / "home", "400k") as change:
            app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
            for key, value in {"corpus": "gaussians", "sweep.methods": "LCCF", "sweep.x.lam": "1, 10, 100", "sweep.seeds": "15"}.items():
                app.query_params[key] = value
            app.run()
            app.switch_page("pages/sensitivity.py").run()
            next(b for b in app.button if b.label == "Run").click()
            app.run()
            (job,) = jobs()
            at = over(job)
            assert (at.state, "the disk is full" in at.error) == (State.FAILED, True)
            app.run()
            assert "the disk is full" in app.error[0].value
            assert not next(b for b in app.button if b.label == "Go on").disabled  # on the study's own page as well

            def go_on() -> Any:
                app.switch_page("pages/history.py").run()
                button = next(b for b in app.button if b.label == "Go on")
                assert not button.disabled
                button.click()
                app.run()
                assert not app.exception, app.exception
                return over(job)

            assert go_on().state in (State.FAILED, State.INTERRUPTED)  # there is no room yet
            kept = set(job.rows()["run"])
            change("size=40m")
            at = go_on()
            assert (at.state, at.done) == (State.FINISHED, 45)
            assert kept <= set(job.rows()["run"])
            app.run()
            assert next(b for b in app.button if b.label == "Go on").disabled
    finally:
        ui.kept.store.clear()  # type: ignore[attr-defined]


def test_a_read_only_store_is_a_sentence_and_pages_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from streamlit.testing.v1 import AppTest

    import ui.kept
    import ui.runs

    monkeypatch.setattr(ui.runs, "PATIENCE", 100.0)
    with small_disk(tmp_path / "home", "20m") as change:
        corpus = small_corpus()
        result = fc.fit(corpus, "nmf", max_iter=5)
        run = describe(result, "nmf", {"max_iter": 5})
        before = Store()
        before.keep(run, arrays_of(result))
        before.close()
        change("ro")
        store = Store()
        with pytest.raises(fc.FactScopeError, match="Nothing can be kept"):
            store.keep(run, arrays_of(result))
        ui.kept.store.clear()  # type: ignore[attr-defined]
        try:
            app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
            app.query_params["corpus"], app.query_params["method"] = "gaussians", "kmeans"
            app.run()
            assert not app.exception, app.exception
            assert any(metric.label == "Objective" for metric in app.metric)
            app.switch_page("pages/history.py").run()
            assert not app.exception, app.exception
            assert "Nothing can be kept" in app.error[0].value
        finally:
            ui.kept.store.clear()  # type: ignore[attr-defined]
        change("rw")
        assert store.get([run.address])[run.address].run == run
        store.close()


WRITER = """
import sys, fact_core as fc
from fact_core.store import Store
from fact_core.study import arrays_of, describe
from tests.helpers import small_corpus
corpus, store = small_corpus(), Store()
for seed in range(int(sys.argv[1]), int(sys.argv[1]) + 20):
    settings = dict(max_iter=2, restarts=1, seed=seed)
    result = fc.fit(corpus, "nmf", **settings)
    store.keep(describe(result, "nmf", settings), arrays_of(result), owner=f"writer {sys.argv[1]}")
"""


def test_two_processes_at_one_store() -> None:
    # Ten runs are those of both.
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, first], cwd=ROOT) for first in ("0", "10")]
    assert [writer.wait(120) for writer in writers] == [0, 0]
    store = Store()
    assert len(store.find()) == 30
    assert [len(store.find(owner=f"writer {first}")) for first in ("0", "10")] == [20, 20]
    assert all(store.arrays(kept.run.address) for kept in store.find())
    assert store.damaged() == []
    store.close()


CLOCK = """
import os, time
true = time.time
def time_(): return true() + float(open(os.environ["CLOCK"]).read() or 0)
time.time = time_
"""


def test_a_clock_that_jumps_back_and_forth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text(CLOCK)
    (tmp_path / "clock").write_text("0")
    monkeypatch.setenv("CLOCK", str(tmp_path / "clock"))
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{ROOT}")
    year = 365 * 24 * 3600
    job = start(study(seeds=6, steps=1500), workers=1)
    for jump, done in ((-year, 2), (+year, 5), (0, 8)):
        until(lambda done=done: job.status().done >= done)  # type: ignore[misc]
        (tmp_path / "clock").write_text(str(jump))
        time.sleep(0.5)
        at = job.status()
        assert 0 <= at.seconds < 1000, at
        assert at.left is None or 0 <= at.left < 1000, at
    at = over(job)
    assert at.state is State.FINISHED
    assert len(set(job.rows()["run"])) == 18


def test_no_network_at_all(tmp_path: Path) -> None:
    if subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode:
        pytest.skip("no process without a network can be made here")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FACTSCOPE_")} | {
        "FACTSCOPE_HOME": str(tmp_path / "alone"), "SCIKIT_LEARN_DATA": str(tmp_path / "none"),
    }  # fmt: skip

    def alone(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = ["unshare", "-rn", sys.executable, "-m", "fact_core", *arguments]
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)

    done = alone("run", "--corpus", "gaussians", "--algorithm", "kmeans", "--max-iter", "5")
    assert done.returncode == 0, done.stderr
    done = alone("run", "--corpus", "TDT2", "--algorithm", "nmf")
    assert done.returncode == 2
    assert "cannot be reached" in done.stderr
    assert "Traceback" not in done.stderr
    done = alone("doctor")
    assert done.returncode == 0, done.stdout
