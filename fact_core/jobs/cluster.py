"""Cells on a running Dask cluster.

Its workers need fact_core installed and nothing else: the corpus travels to them, what they find travels back. A task that runs cannot be
cancelled by Dask, so every fit looks at a flag that is set on all workers. A worker that dies is Dask's business: another gets its cells.
"""

from __future__ import annotations

import io
import threading
import time
from collections import deque
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..corpus.model import Corpus
from ..errors import FactScopeError
from ..store.corpora import read_corpus
from ..study import Cell
from .pool import Event, compute, tell

PATIENCE = 5  # seconds for the scheduler to answer
_stopped: set[str] = set()  # in a Dask worker: the jobs whose fits are to end


class Cluster:
    """The workers behind a scheduler."""

    def __init__(self, scheduler: str, job: str, corpus: Path, task: dict[str, Any]):
        try:
            from distributed import Client
        except ImportError:
            raise FactScopeError("A Dask cluster needs dask: install it with “pip install dask[distributed]”.") from None
        self.scheduler, self.task = scheduler, task
        self.token = f"factscope-{job}-{time.time_ns()}"
        self.corpus = corpus.read_bytes()
        try:
            self.client = Client(scheduler, timeout=PATIENCE, set_as_default=False)
            self.client.wait_for_workers(1, timeout=PATIENCE)
            self.send()
        except (OSError, TimeoutError, ValueError):
            raise FactScopeError(f"No Dask cluster with a worker answers at {scheduler}; start one, or leave the scheduler out.") from None
        self.told: deque[Event] = deque()
        self.client.subscribe_topic(self.token, lambda event: self.told.append(tuple(event[1])))
        self.futures: dict[int, Any] = {}
        self.slots, self.asked = 0, -1e9

    def free(self) -> list[str | None]:
        if time.monotonic() - self.asked > 1:
            self.slots, self.asked = 2 * sum(self.client.nthreads().values()), time.monotonic()  # one at work and one at hand each
        return [None] * (self.slots - len(self.futures))

    def submit(self, number: int, cell: Cell, choice: str) -> None:
        self.futures[number] = self.client.submit(_remote, number, cell, self.data, self.task, self.token, pure=False)

    def events(self, seconds: float) -> list[Event]:
        time.sleep(seconds)
        gone = FactScopeError(f"The Dask cluster at {self.scheduler} went away; finished cells are kept, and the job can be resumed.")
        if self.client.status != "running":
            raise gone
        said = [self.told.popleft() for _ in range(len(self.told))]
        lost = False
        for number, future in [(n, f) for n, f in self.futures.items() if f.done()]:
            del self.futures[number]
            if future.status == "finished":
                said.append(future.result())
            elif future.status == "error" and type(future.exception()).__name__ not in {"KilledWorker", "FutureCancelledError"}:
                said.append(("failed", number, f"A worker of the cluster could not compute this: {future.exception()}"))
            else:
                said.append(("lost", number, None))
                lost = True
        if lost:  # perhaps with the last worker that had the corpus
            try:
                self.send()
            except (OSError, TimeoutError):
                raise gone from None
        return said

    def send(self) -> None:
        """The corpus to all workers."""
        self.data = self.client.scatter(self.corpus, broadcast=True, hash=False)

    def close(self) -> None:
        def end() -> None:
            self.client.run(_stop, self.token, on_error="ignore")
            self.client.cancel(list(self.futures.values()))
            self.client.close(timeout=1)

        ending = threading.Thread(target=end, daemon=True)
        ending.start()
        ending.join(0.5)


def _stop(token: str) -> None:
    _stopped.add(token)


@lru_cache(maxsize=2)
def _corpus(data: bytes) -> Corpus:
    return read_corpus(io.BytesIO(data))


def _remote(number: int, cell: Cell, data: bytes, task: dict[str, Any], token: str) -> Event:
    from distributed import get_worker
    from threadpoolctl import threadpool_limits

    worker = get_worker()
    with threadpool_limits(1):
        told = tell(lambda event: worker.log_event(token, list(event)), number)
        return compute(number, cell, _corpus(data), task, told, lambda: token in _stopped)
