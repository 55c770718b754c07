"""Cells on the processes of this machine, one BLAS thread each.

A worker holds nothing but caches, so stopping one is killing it, and one that dies (for lack of memory, say) is replaced.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import threading
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from ..errors import FactScopeError
from ..estimate import check
from ..limits import duration, limit
from ..solve import Progress
from ..store.corpora import read_corpus
from ..study import Cell, run_cell, selected

GRACE = 5.0  # seconds a run gets beyond its limit to end by itself
OFTEN = 0.2  # seconds between two messages of a fit
Event = tuple[str, int, Any]  # "progress" | "done" | "failed" | "lost", the cell's number, and what there is to say


class Worker:
    """One process and the pipe to it."""

    def __init__(self, corpus: Path, task: dict[str, Any]):
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, str(corpus), task), daemon=True)
        self.process.start()
        theirs.close()
        self.cell: int | None = None
        self.since = 0.0  # when it got it
        self.choice: str | None = None  # of classes, whose matrices it still has

    def end(self) -> None:
        self.process.kill()
        self.process.join(1)
        self.pipe.close()


class Pool:
    """Up to `count` workers, started when there is something for them to do."""

    def __init__(self, count: int, corpus: Path, task: dict[str, Any]):
        self.count, self.corpus, self.task = count, corpus, task
        self.workers: list[Worker] = []

    def free(self) -> list[str | None]:
        """For every cell that could start now, the choice of classes it had best be on."""
        idle = [w.choice for w in self.workers if w.cell is None]
        return [*idle, *[None] * (self.count - len(self.workers))]

    def submit(self, number: int, cell: Cell, choice: str) -> None:
        idle = [w for w in self.workers if w.cell is None]
        worker = next((w for w in idle if w.choice == choice), None)
        if worker is None and len(self.workers) < self.count:
            worker = Worker(self.corpus, self.task)
            self.workers.append(worker)
        worker = worker or idle[0]
        worker.cell, worker.choice, worker.since = number, choice, time.monotonic()
        with contextlib.suppress(OSError):  # it died; `events` will say so
            worker.pipe.send((number, cell))

    def events(self, seconds: float) -> list[Event]:
        if not self.workers:
            time.sleep(seconds)
        said: list[Event] = []
        ready = wait([w.pipe for w in self.workers], seconds)
        for worker in [w for w in self.workers if w.pipe in ready]:
            try:
                event = worker.pipe.recv()
            except (EOFError, OSError):
                self.workers.remove(worker)
                worker.end()
                if worker.cell is not None:
                    said.append(("lost", worker.cell, None))
                continue
            if event[0] != "progress":
                worker.cell = None
            said.append(event)
        late = time.monotonic() - limit("seconds") - GRACE
        for worker in [w for w in self.workers if w.cell is not None and w.since < late]:  # inside something that looks at no clock
            self.workers.remove(worker)
            worker.end()
            said.append(("failed", worker.cell, too_long()))  # type: ignore[arg-type]
        return said

    def close(self) -> None:
        for worker in self.workers:
            worker.end()


def _work(pipe: Connection, corpus: str, task: dict[str, Any]) -> None:
    """A worker's life: cells until the supervisor is gone."""
    threading.Thread(target=_die_with, args=(multiprocessing.parent_process(),), daemon=True).start()
    whole = read_corpus(Path(corpus))
    while True:
        try:
            number, cell = pipe.recv()
        except EOFError:
            return
        pipe.send(compute(number, cell, whole, task, tell(lambda event: pipe.send(event), number)))


def _die_with(parent: Any) -> None:
    parent.join()
    os._exit(1)


def too_long() -> str:
    return f"This run was ended after {duration(limit('seconds'))}, the longest a run may take here; fewer steps or documents would fit."


def tell(send: Callable[[Event], object], number: int) -> Callable[[Progress], None]:
    """A fit's progress as messages, not too many."""
    last = 0.0

    def progress(at: Progress) -> None:
        nonlocal last
        if (now := time.monotonic()) - last >= OFTEN:
            last = now
            send(("progress", number, (at.done, at.total)))

    return progress


def compute(number: int, cell: Cell, whole: Any, task: dict[str, Any], progress: Any, cancelled: Callable[[], bool] | None = None) -> Event:
    """One cell, as the last message about it."""
    end = time.monotonic() + limit("seconds")

    def unwanted() -> bool:
        return time.monotonic() > end or (cancelled is not None and cancelled())

    try:
        check(selected(whole, cell.select), cell.method, cell.options)
        found = run_cell(cell, whole, progress=progress, cancelled=unwanted, **task)
        if found is None:
            return ("failed", number, too_long()) if time.monotonic() > end else ("lost", number, None)
        return "done", number, found
    except FactScopeError as error:
        return "failed", number, str(error)
    except MemoryError:
        return "failed", number, "There is not enough memory for this run."
    except Exception as error:  # a mistake of ours ends this cell, not the study, and stays visible
        traceback.print_exc()
        return "failed", number, f"This run broke: {type(error).__name__}: {error}"
