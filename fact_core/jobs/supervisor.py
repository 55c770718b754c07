"""The process of a job: hands cells to workers, keeps what they find, writes down where it is.

It alone talks to the store. A cell is claimed there before it is computed, so that two jobs on one store never compute the same cell, and
none is computed once it is kept.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections import Counter, deque
from pathlib import Path
from typing import Any, Protocol

from ..corpus import load_corpus
from ..errors import FactScopeError
from ..store import Claim, Store, read_corpus, save_corpus
from ..store.files import put
from ..study import Cell, Study, address
from . import lock
from .job import Job, State
from .pool import OFTEN, Event, Pool

RESERVE = "reserve"  # a file that is given up when the disk is full, so that there is room to say so
ATTEMPTS = 3  # at a cell whose worker dies


class Workers(Protocol):
    """Where cells are computed: a pool of processes, or a cluster."""

    def free(self) -> list[str | None]: ...
    def submit(self, number: int, cell: Cell, choice: str) -> None: ...
    def events(self, seconds: float) -> list[Event]: ...
    def close(self) -> None: ...


class Queue:
    """Cells still to be computed, by the choice of classes they are on."""

    def __init__(self, choices: dict[int, str]):
        self.choices = choices
        self.waiting: dict[str, deque[int]] = {}
        for number, choice in choices.items():
            self.waiting.setdefault(choice, deque()).append(number)

    def take(self, choice: str | None, busy: set[str]) -> int | None:
        """The next cell on this choice; else on one nobody is at, so that as few workers as possible build the same matrices."""
        if choice not in self.waiting:
            untouched = [c for c in self.waiting if c not in busy]
            choice = next(iter(untouched or self.waiting), None)
        if choice is None:
            return None
        number = self.waiting[choice].popleft()
        if not self.waiting[choice]:
            del self.waiting[choice]
        return number

    def put_back(self, number: int) -> None:
        self.waiting.setdefault(self.choices[number], deque()).append(number)


class Supervisor:
    def __init__(self, job: Job, parent: int | None = None):
        self.job, self.parent = job, parent
        self.said = job.said
        self.study = Study.from_json(self.said["study"])
        self.store = Store(job.home)
        self.cells = self.study.cells()
        self.began, self.since = time.time(), time.monotonic()  # a clock may jump: it says when, and never how long
        self.heard: float | None = None  # when the first worker said something: what came before is no measure of its speed
        self.done, self.computed, self.steps, self.shown = 0, 0.0, 0, 0.0
        self.running: dict[int, tuple[int, int]] = {}  # cell → steps done, steps in total
        self.failures: dict[int, str] = {}
        self.attempts: Counter[int] = Counter()
        self.later: dict[int, float] = {}  # cells somebody else is at, and when to ask again

    def run(self) -> None:
        try:
            put(self.job.folder / RESERVE, lambda file: file.write(b"\0" * 2**15))
            self.show(State.RUNNING)
            state = self.work()
        except FactScopeError as error:
            (self.job.folder / RESERVE).unlink(missing_ok=True)
            with contextlib.suppress(FactScopeError):  # then the log alone has it
                log(str(error))
                self.show(State.FAILED, str(error))
        else:
            (self.job.folder / RESERVE).unlink(missing_ok=True)
            self.show(state)
            if state is State.FINISHED and not self.said["upload"]:
                (self.job.folder / "corpus.npz").unlink(missing_ok=True)  # its name finds it again
        finally:
            with contextlib.suppress(FactScopeError):  # a claim ends with its owner anyway
                self.store.release(self.job.id)

    def work(self) -> State:
        if self.job.stopping:
            return State.STOPPED
        file = self.job.folder / "corpus.npz"
        if file.exists():
            corpus = read_corpus(file)
        else:
            corpus = load_corpus(self.study.corpus, **self.study.reading)
            save_corpus(corpus, file)
        self.addresses = [address(corpus.fingerprint, cell.select, cell.method, cell.options) for cell in self.cells]
        self.job.write("cells.json", {"addresses": self.addresses})
        here = self.store.get(self.addresses)
        missing = {i: json.dumps(cell.select) for i, cell in enumerate(self.cells) if self.addresses[i] not in here}
        self.done = len(self.cells) - len(missing)
        self.queue = Queue(missing)
        source = {} if self.said["upload"] else {"corpus": self.study.corpus, "reading": dict(self.study.reading)}
        task = {"source": source, "arrays": self.study.arrays}
        del corpus, here
        if not missing:
            return State.FINISHED
        workers: Workers
        if self.said["scheduler"]:
            from .cluster import Cluster

            workers = Cluster(self.said["scheduler"], self.job.id, file, task)
        else:
            workers = Pool(min(self.said["workers"] or os.cpu_count() or 1, len(missing)), file, task)
        try:
            while self.done + len(self.failures) < len(self.cells):
                if self.job.stopping or (self.parent is not None and os.getppid() != self.parent):
                    return State.STOPPED if self.job.stopping else State.INTERRUPTED
                self.hand_out(workers)
                for kind, number, what in workers.events(0.05):
                    self.note(kind, number, what)
                self.show(State.RUNNING)
            if self.done == 0:
                raise FactScopeError(next(iter(self.failures.values())))
            return State.FINISHED
        finally:
            workers.close()

    def hand_out(self, workers: Workers) -> None:
        now = time.monotonic()
        for due in [i for i, when in self.later.items() if when <= now]:
            del self.later[due]
            self.queue.put_back(due)
        free = workers.free()
        while free:
            number = self.queue.take(free[0], {self.queue.choices[i] for i in self.running})
            if number is None:
                return
            if self.addresses[number] in {self.addresses[i] for i in self.running}:  # the same run, said in other words
                self.later[number] = now + 0.5
                continue
            match self.store.claim(self.addresses[number], self.job.id, self.alive):
                case Claim.DONE:
                    self.done += 1
                case Claim.TAKEN:
                    self.later[number] = now + 0.5
                case Claim.MINE:
                    log(f"started {number}")
                    self.running[number] = (0, 0)
                    workers.submit(number, self.cells[number], self.queue.choices[number])
                    free = workers.free()

    def alive(self, job: str) -> bool:
        return lock.held(self.job.folder.parent / job / "lock")

    def note(self, kind: str, number: int, what: Any) -> None:
        if number not in self.running:
            return
        self.heard = self.heard or time.monotonic()
        if kind == "progress":
            self.steps += what[0] - self.running[number][0]
            self.running[number] = what
            return
        counted, total = self.running.pop(number)
        if kind == "done":
            run, arrays = what
            self.steps += total - counted if total else run.scores["steps"]
            if run.address != self.addresses[number]:
                self.failures[number] = f"A worker of the cluster has another FactScope ({run.version}) than the one that asked."
                return
            self.store.keep(run, arrays)
            log(f"kept {number}")
            self.done += 1
            self.computed += 1
        elif kind == "failed":
            self.failures[number] = what
        else:
            self.attempts[number] += 1
            if self.attempts[number] < ATTEMPTS:
                self.queue.put_back(number)
            else:
                self.failures[number] = f"The process computing this died {ATTEMPTS} times, perhaps for lack of memory."

    def show(self, state: State, error: str = "") -> None:
        if state is State.RUNNING and time.monotonic() - self.shown < OFTEN:
            return
        self.shown = time.monotonic()
        seconds = time.monotonic() - self.since
        started = self.computed + sum(done / total for done, total in self.running.values() if total)
        speed = started / max(time.monotonic() - self.heard, 1e-9) if self.heard is not None and started > 0.5 else None
        rest = len(self.cells) - self.done - len(self.failures) - (started - self.computed)
        self.job.write("progress.json", {
            "state": state, "cells": len(self.cells), "done": self.done, "steps": self.steps, "seconds": seconds,
            "left": rest / speed if speed else None, "error": error, "started": self.began,
            "running": [{"cell": i, "label": self.cells[i].label, "done": a, "total": b} for i, (a, b) in self.running.items()],
            "failures": {self.cells[i].label: sentence for i, sentence in self.failures.items()},
        })  # fmt: skip


def log(line: str) -> None:
    print(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {line}", flush=True)


def main(folder: str, parent: str | None = None) -> None:
    if hasattr(os, "nice"):
        os.nice(10)  # pages that people look at come first
    job = Job(Path(folder))
    held = lock.take(job.folder / "lock")
    if held is None:
        return  # somebody is at it
    (job.folder / "pid").write_text(str(os.getpid()))
    try:
        Supervisor(job, None if parent is None else int(parent)).run()
    except Exception as error:  # a mistake of ours: the log has it whole
        at = job._json("progress.json")
        job.write("progress.json", at | {"state": State.FAILED, "error": f"The job broke: {type(error).__name__}: {error}", "running": []})
        raise
    finally:
        held.close()
