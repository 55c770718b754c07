"""A job: a study at work in a process of its own, and the folder through which everybody else sees it.

The folder (FACTSCOPE_HOME/jobs/…) holds the study, its corpus, where it is, and a flag to stop it. The process is detached from whoever
started it: a page that changes, a browser that closes and a server that dies do not end it. If it dies itself, what it had finished is
in the store, and :func:`resume_interrupted` (called when a server starts) lets it go on from there.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field, fields
from enum import Enum
from pathlib import Path
from typing import Any

import pandas as pd

from ..corpus.model import Corpus
from ..errors import FactScopeError
from ..limits import limit
from ..store import Store, home, save_corpus
from ..store.files import put
from ..study import VERSION, Cell, Study, rows
from . import lock

PATIENCE = 0.7  # seconds a stopped job gets to end by itself
STARTING = 30.0  # seconds a new process gets to take its lock
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB", "BLIS")}


class State(str, Enum):
    STARTING = "starting"
    RUNNING = "running"
    FINISHED = "finished"
    STOPPED = "stopped"  # by a person; finished cells are kept
    FAILED = "failed"  # nothing could be computed; `error` says why
    INTERRUPTED = "interrupted"  # its process died; it can be resumed

    __str__ = str.__str__


@dataclass(frozen=True)
class Status:
    """Where a job is."""

    id: str
    title: str
    state: State
    cells: int = 0
    done: int = 0  # cells in the store
    running: list[dict[str, Any]] = field(default_factory=list)  # cell, label, steps done and in total of each running fit
    steps: int = 0  # taken by this process
    seconds: float = 0.0
    left: float | None = None  # seconds, once it can be said
    failures: dict[str, str] = field(default_factory=dict)  # label of a cell → a sentence
    error: str = ""
    started: float = 0.0

    @property
    def share(self) -> float:
        inside = sum(r["done"] / r["total"] for r in self.running if r["total"])
        return min(1.0, (self.done + len(self.failures) + inside) / self.cells) if self.cells else 0.0

    @property
    def resumable(self) -> bool:
        """Whether there is a reason to let it go on: what it was stopped by may be gone, such as a full disk."""
        return self.state in (State.STOPPED, State.INTERRUPTED, State.FAILED)

    @property
    def over(self) -> bool:
        return self.state not in (State.STARTING, State.RUNNING)


class Job:
    """A job by its folder."""

    def __init__(self, folder: Path):
        self.folder, self.id = folder, folder.name

    @property
    def said(self) -> dict[str, Any]:
        """What it was started with."""
        return self._json("job.json")

    @property
    def study(self) -> Study:
        return Study.from_json(self.said["study"])

    @property
    def exists(self) -> bool:
        return (self.folder / "job.json").is_file()

    @property
    def running(self) -> bool:
        return lock.held(self.folder / "lock")

    @property
    def stopping(self) -> bool:
        return (self.folder / "stop").exists()

    def status(self) -> Status:
        running = self.running  # asked first: a job that ends now has written its last word before
        said, at = self.said, self._json("progress.json")
        state = State(at.pop("state", State.STARTING))
        process = _started.get(self.id)
        gone = process is not None and process.poll() is not None
        if running:
            state = State.RUNNING
        elif state is State.RUNNING or (state is State.STARTING and (gone or time.time() - at.get("started", 0) > STARTING)):
            state = State.STOPPED if self.stopping else State.INTERRUPTED
        elif state is State.STARTING and self.stopping:
            state = State.STOPPED
        if state in (State.STOPPED, State.INTERRUPTED):
            at |= {"running": [], "left": None}
        known = {f.name for f in fields(Status)}
        return Status(id=self.id, title=said.get("title", ""), state=state, **{name: at[name] for name in known & set(at)})

    def cells(self) -> list[Cell]:
        return self.study.cells()

    def addresses(self) -> list[str]:
        """Where the store has each cell; empty until the corpus was read."""
        return self._json("cells.json").get("addresses", [])

    def rows(self, store: Store | None = None) -> pd.DataFrame:
        """One row a finished cell and score."""
        addresses = self.addresses()
        kept = (store or Store(self.home)).get(addresses)
        return rows(self.cells() if addresses else [], (kept[a].run if a in kept else None for a in addresses))

    def steps(self, store: Store | None = None) -> pd.DataFrame:
        """The objective of every finished cell: one row a step and term."""
        store = store or Store(self.home)
        tables = []
        for cell, address in zip(self.cells(), self.addresses(), strict=True):
            for name, values in (store.arrays(address) or {}).items():
                if name.startswith("term "):
                    about = {"run": address, "method": cell.method, "seed": cell.seed} | cell.point
                    tables.append(pd.DataFrame(about | {"term": name.removeprefix("term "), "step": range(len(values)), "value": values}))
        return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=["run", "method", "seed", "term", "step", "value"])

    @property
    def home(self) -> Path:
        return self.folder.parent.parent

    def stop(self) -> None:
        """End it within a second; finished cells are kept."""
        put(self.folder / "stop", lambda file: None)
        until = time.monotonic() + PATIENCE
        while self.running and time.monotonic() < until:
            time.sleep(0.02)
        with contextlib.suppress(OSError, ValueError):
            if self.running:  # it is inside something long, such as reading its corpus; the lock says the number is its own
                os.kill(int((self.folder / "pid").read_text()), signal.SIGKILL if os.name != "nt" else signal.SIGTERM)

    def resume(self, *, with_parent: bool = False) -> None:
        """Start its process, unless it is at work; it goes on from the cells in the store."""
        if self.running:
            return
        for left in ("stop", "pid"):
            (self.folder / left).unlink(missing_ok=True)
        self.write("progress.json", {"state": State.STARTING, "started": time.time()})
        package = str(Path(__file__).resolve().parents[2])
        paths = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
        parent = [str(os.getpid())] if with_parent else []
        try:
            with open(self.folder / "log.txt", "ab") as log:
                process = subprocess.Popen(
                    [sys.executable, "-m", "fact_core.jobs", str(self.folder), *parent],
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd=self.said["cwd"],
                    env=os.environ | ONE_THREAD | {"FACTSCOPE_HOME": str(self.home), "PYTHONPATH": paths},
                )  # fmt: skip
        except OSError as error:
            raise FactScopeError(f"The job could not be started: {error.strerror}.") from None
        _started[self.id] = process

    def delete(self) -> None:
        """Stop it and forget it; its finished cells stay in the store."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, name: str, content: dict[str, Any]) -> None:
        put(self.folder / name, lambda file: file.write(json.dumps(content).encode()))

    def _json(self, name: str) -> dict[str, Any]:
        try:
            return json.loads((self.folder / name).read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError):
            raise FactScopeError(f"The file {name} of job {self.id} cannot be read; delete the job and start it again.") from None


_started: dict[str, subprocess.Popen[bytes]] = {}  # the processes this one started, so that their ends are noticed


def start(
    study: Study,
    corpus: Corpus | None = None,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    owner: str = "",
    with_parent: bool = False,
) -> Job:
    """Start a study in the background, or go on with it if it was started before.

    An uploaded `corpus` is given itself and stays with the job; `owner` is the session it belongs to. `workers` is the number of
    processes (all cores by default), `scheduler` the address of a Dask cluster instead (or `FACTSCOPE_SCHEDULER`). `with_parent` ends
    the job with the process that started it.
    """
    if not study.cells():  # what cannot be run is said now
        raise FactScopeError("This study has nothing to run.")
    scheduler = scheduler or os.environ.get("FACTSCOPE_SCHEDULER", "").strip() or None
    job = job_of(study, corpus, owner)
    if job.running:
        return job
    if owner and sum(not other.status().over for other in jobs(owner)) >= limit("jobs"):
        raise FactScopeError(f"{limit('jobs'):.0f} of your studies are at work, as many as one person may have here; stop one or wait.")
    (job.folder / "corpus.npz").unlink(missing_ok=True)  # a file may have changed since
    if corpus is not None:
        save_corpus(corpus, job.folder / "corpus.npz")
    said = {
        "study": study.as_json(), "title": study.title, "owner": owner, "upload": corpus.fingerprint if corpus is not None else "",
        "cwd": os.getcwd(), "workers": workers, "scheduler": scheduler, "created": time.time(), "with_parent": with_parent,
    }  # fmt: skip
    job.write("job.json", said)
    job.resume(with_parent=with_parent)
    return job


def job_of(study: Study, corpus: Corpus | None = None, owner: str = "") -> Job:
    """The job of a study, whether it was started or not: the same question of the same person has the same job."""
    upload = corpus.fingerprint if corpus is not None else ""
    name = hashlib.sha256(json.dumps([VERSION, study.as_json(), upload, owner, os.getcwd()], sort_keys=True).encode()).hexdigest()[:16]
    return Job(home() / "jobs" / name)


def jobs(owner: str | None = None) -> list[Job]:
    """All jobs, newest first, or those of one owner."""
    try:
        found = [Job(folder) for folder in (home() / "jobs").iterdir() if Job(folder).exists]
    except OSError:
        return []
    known = []
    for job in found:
        with contextlib.suppress(FactScopeError):
            known.append((job.said, job))
    known.sort(key=lambda pair: -pair[0]["created"])
    return [job for said, job in known if owner is None or said["owner"] == owner]


def find_job(name: str) -> Job:
    job = Job(home() / "jobs" / name)
    if not name.isalnum() or not job.exists:
        raise FactScopeError(f"There is no job {name}.")
    return job


def resume_interrupted() -> list[Job]:
    """Let every job go on whose process died, but for those that were to end with whoever started them; called when a server starts."""
    interrupted = [job for job in jobs() if job.status().state is State.INTERRUPTED and not job.said["with_parent"]]
    for job in interrupted:
        job.resume()
    return interrupted
