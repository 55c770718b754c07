"""A few warm processes that do what a server is asked for.

They import no streamlit, have one BLAS thread each, and keep the corpora they saw last. Whoever asks waits in line and then has one of
them: stopping is a message and, where that does not help, the end of the process; so is too long a run. One that dies is replaced and its
task given to another; one that has grown large is replaced when it is done.
"""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .. import log
from ..corpus.model import Corpus
from ..errors import FactScopeError
from ..limits import duration, limit
from ..memory import budget
from ..result import Result
from ..store.corpora import arrays_of_corpus
from .errands import Errand, Fit, Stopped
from .frames import CORPUS, Arrays, Message, receive, send
from .worker import KEPT

PATIENCE = 0.7  # seconds a stopped run gets to end by itself
ATTEMPTS = 2  # at a task whose worker dies
LARGE = 1.5e9  # bytes above which a worker is replaced when it is done
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB", "BLIS")}
Note = Callable[[dict[str, Any]], object]


class Lost(Exception):  # noqa: N818
    """The process of a task is gone."""


class Process:
    """One worker, seen from the server."""

    def __init__(self) -> None:
        package = str(Path(__file__).resolve().parents[2])
        paths = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fact_core.workers"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
            env=os.environ | ONE_THREAD | {"PYTHONPATH": paths},
        )  # fmt: skip
        self.inbox: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self.corpora: OrderedDict[str, None] = OrderedDict()  # what it still has, as it counts itself
        self.memory = 0.0
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        try:
            while True:
                self.inbox.put(receive(self.process.stdout))  # type: ignore[arg-type]
        except (EOFError, OSError, ValueError):
            self.inbox.put(None)

    def send(self, about: Mapping[str, Any], arrays: Arrays | None = None) -> None:
        try:
            send(self.process.stdin, about, arrays)  # type: ignore[arg-type]
        except (OSError, ValueError):
            raise Lost from None

    def hear(self, seconds: float) -> Message | None:
        """The next message; None if there was none in time."""
        try:
            message = self.inbox.get(timeout=seconds)
        except queue.Empty:
            return None
        if message is None:
            raise Lost
        return message

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def end(self) -> None:
        with contextlib.suppress(OSError):
            self.process.kill()
            self.process.wait(5)
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()  # type: ignore[union-attr]


class Crew:
    """So many workers, started at once; `spare` are more of them, whom runs leave to what takes a moment only."""

    def __init__(self, count: int | None = None, spare: int = 0):
        self.count = count or int(limit("workers")) or max(1, min(4, os.cpu_count() or 1))
        self._idle = [Process() for _ in range(self.count + spare)]
        self._lines: dict[bool, list[object]] = {True: [], False: []}  # of runs, and of what takes a moment
        self._running = 0  # runs
        self._change = threading.Condition()
        self._numbers = iter(range(1, sys.maxsize))
        log.event("workers.started", count=self.count)

    def fit(self, corpus: Corpus, method: str, settings: Mapping[str, Any], **watch: Any) -> Result:
        """`fit(corpus, method, **settings)` in a worker; a stopped run is the result so far, or :class:`Stopped` where there is none."""
        return self.do(Fit(corpus, method, settings), **watch)

    def do(
        self, errand: Errand, *, note: Note = lambda said: None, stopped: Callable[[], bool] = lambda: False,
        line: Callable[[int], object] = lambda before: None,
    ) -> Any:  # fmt: skip
        """What a worker finds: `note` is told how far it is, `line` how many come first, `stopped` asked whether it is still wanted."""
        errand.check()
        name, corpus = type(errand).__name__, _corpus(errand)
        for _ in range(ATTEMPTS):
            worker = self._take(corpus, errand.long, stopped, line)
            began = time.monotonic()
            try:
                message = self._ask(worker, errand, note, stopped)
            except Lost:
                log.event("worker.lost", do=name, seconds=time.monotonic() - began)
                worker.end()
                continue
            except BaseException:  # it still has the task, which nobody wants any more
                worker.end()
                raise
            finally:
                self._give_back(worker, errand.long)
            said = message[0]
            log.event("run", do=name, method=getattr(errand, "method", None), end=said["say"], seconds=time.monotonic() - began,
                      memory=said["memory"])  # fmt: skip
            if said["say"] == "refused":
                raise FactScopeError(said["sentence"])
            if said["say"] == "broke":
                raise RuntimeError(said["error"])
            return errand.heard(*message)
        raise FactScopeError(
            f"The process computing this died {ATTEMPTS} times, perhaps for lack of memory; fewer documents or clusters would need less."
        )

    def _ask(self, worker: Process, errand: Errand, note: Note, stopped: Callable[[], bool]) -> Message:
        number, most, key = next(self._numbers), limit("seconds"), _corpus(errand)
        environment = {name: value for name, value in os.environ.items() if name.startswith("FACTSCOPE_")}
        environment |= {"FACTSCOPE_MEMORY": f"{budget():.0f}"}
        about, arrays = errand.said()
        if errand.corpus is not None:
            if key not in worker.corpora:
                arrays = arrays | {CORPUS + name: values for name, values in arrays_of_corpus(errand.corpus, texts=False).items()}
            worker.corpora[key] = None
            worker.corpora.move_to_end(key)
            while len(worker.corpora) > KEPT:
                worker.corpora.popitem(last=False)
        worker.send(about | {"do": type(errand).__name__, "corpus": key, "task": number, "environment": environment}, arrays)
        began, told, at = time.monotonic(), 0.0, (0, 0)
        while True:
            message = worker.hear(0.05)
            now = time.monotonic()
            if message is not None and message[0]["task"] == number:
                said = message[0]
                if said["say"] == "progress":
                    at = said["at"][:2]
                    note(said)
                elif now - began > most and said.get("stopped") == "cancelled":
                    raise too_long(most, *at)
                else:
                    worker.memory = said["memory"]
                    if said["say"] == "broke":
                        worker.end()  # whatever state our mistake left it in
                    return message
            if not told and (stopped() or now - began > most):
                worker.send({"do": "stop", "task": number})
                told = now
            if told and now - told > PATIENCE:  # inside something long, such as an eigenvalue problem
                if now - began > most:
                    raise too_long(most, *at)
                raise Stopped

    def _take(self, corpus: str, long: bool, stopped: Callable[[], bool], line: Callable[[int], object]) -> Process:
        """Wait in line for a worker, best one that has the corpus already."""
        me, mine = object(), self._lines[long]
        with self._change:
            mine.append(me)
            try:
                while mine[0] is not me or not self._idle or (long and self._running >= self.count):
                    if stopped():
                        raise Stopped
                    line(mine.index(me) + 1)
                    self._change.wait(0.1)
                worker = next((w for w in self._idle if corpus in w.corpora and w.alive), None) or self._idle[-1]
                worker = worker if worker.alive else self._replaced(worker)
                self._idle.remove(worker)
                self._running += long
                line(0)
                return worker
            finally:
                mine.remove(me)
                self._change.notify_all()

    def _give_back(self, worker: Process, long: bool) -> None:
        with self._change:
            self._running -= long
            self._idle.append(worker)
            if not worker.alive or worker.memory > LARGE:
                with contextlib.suppress(FactScopeError):  # the next who asks tries again
                    self._replaced(worker)
            self._change.notify_all()

    def _replaced(self, worker: Process) -> Process:
        """A new worker in the place of an idle one."""
        worker.end()
        try:
            fresh = Process()
        except OSError as error:
            raise FactScopeError(f"No process could be started for this run: {(error.strerror or 'the system refused').lower()}.") from None
        self._idle[self._idle.index(worker)] = fresh
        return fresh

    @property
    def waiting(self) -> int:
        """Tasks in line."""
        return sum(map(len, self._lines.values()))

    def close(self) -> None:
        with self._change:
            for worker in self._idle:
                worker.end()


def _corpus(errand: Errand) -> str:
    return "" if errand.corpus is None else errand.corpus.fingerprint


def too_long(most: float, done: int, total: int) -> FactScopeError:
    where = f", at step {done} of {total}" if total else ""
    fits = f"about {done} steps would fit, or fewer documents" if done > 1 else "fewer documents or clusters would fit"
    return FactScopeError(f"This run was ended after {duration(most)}, the longest a run may take here{where}; {fits}.")
