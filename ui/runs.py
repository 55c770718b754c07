"""Runs: asked for by a page, done by a worker process that knows nothing of streamlit, watched, and remembered by what was asked.

The same question has the same answer (methods are deterministic), so pages keep only the question; answers are shared by all visitors.
"""

from __future__ import annotations

import gc
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import streamlit as st

import fact_core as fc
from fact_core import log
from fact_core.answers import on, weight
from fact_core.corpus import Corpus
from fact_core.figures import convergence
from fact_core.study import address
from fact_core.workers import Crew, Stopped

from . import kept
from .words import sorry

PATIENCE = 1.0  # seconds a page waits for a run before it shows it growing
FRAME = 0.3  # seconds between two pictures of a growing curve, where one person looks
FEW = 2  # runs in line up to which a page waits and pictures follow each other fast
REMEMBERED = 200  # results
ROOM = 24e6  # bytes of all of them together; the store has the others, some milliseconds away


@dataclass(frozen=True, eq=False)
class Task:
    """One question: a corpus, a method (a key or a preset), and keywords of `fit`."""

    corpus: Corpus = field(repr=False)
    method: str
    settings: dict[str, Any]

    @cached_property
    def key(self) -> str:
        """The same for the same question, however it was put."""
        try:
            return address(self.corpus.fingerprint, {}, self.method, self.settings)
        except fc.FactScopeError:  # a question without an answer, which `fit` will refuse with the same sentence
            return f"{self.corpus.fingerprint} {self.method} {json.dumps(self.settings, sort_keys=True)}"


class Job:
    """Tasks given to the workers one after another; each result is given to `keep` once a page can have it."""

    def __init__(self, tasks: Sequence[Task], keep: Callable[[Task, fc.Result], object]):
        self.tasks = list(tasks)
        self._keep, self._memory, self._crew = keep, _memory(), crew()
        self.results: list[fc.Result] = []
        self.error: Exception | None = None
        self.curve: dict[str, list[float]] = {}
        self.at: tuple[int, int, int] | None = None  # steps done, steps in total, start
        self.before = 0  # tasks of others that come first
        self._stop, self._done = threading.Event(), threading.Event()
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        try:
            for task in self.tasks:
                if self._stop.is_set():
                    return
                found = self._crew.fit(
                    task.corpus, task.method, task.settings, note=self._note, stopped=self._stop.is_set, line=self._wait_in_line
                )
                if found.stopped != "cancelled":
                    self._memory.put(task.key, found)
                self.results.append(found)
                if len(self.results) == len(self.tasks):
                    self._done.set()
                if found.stopped != "cancelled":
                    self._keep(task, found)
        except Stopped:
            pass
        except Exception as error:  # shown on the page if a person caused it, raised there if we did
            self.error = error
        finally:
            self._done.set()

    def _wait_in_line(self, before: int) -> None:
        self.before = before

    def _note(self, said: dict[str, Any]) -> None:
        steps = said["curve"]
        self.curve = {name: [step[name] for step in steps] for name in steps[0]} if steps else {}
        self.at = tuple(said["at"])

    def stop(self) -> None:
        self._stop.set()

    def wait(self, seconds: float) -> bool:
        return self._done.wait(seconds)

    @property
    def share(self) -> float:
        inside = self.at[0] / self.at[1] if self.at is not None and self.at[1] and len(self.results) < len(self.tasks) else 0.0
        return min(1.0, (len(self.results) + inside) / len(self.tasks))


class Memory:
    """The latest results by key."""

    def __init__(self) -> None:
        self._lock, self._found = threading.Lock(), OrderedDict[Any, fc.Result]()

    def put(self, key: Any, result: fc.Result) -> None:
        with self._lock:
            self._found[key] = result
            self._found.move_to_end(key)
            while len(self._found) > 1 and (len(self._found) > REMEMBERED or sum(map(weight, self._found.values())) > ROOM):
                self._found.popitem(last=False)

    def get(self, key: Any) -> fc.Result | None:
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
            return self._found.get(key)


@st.cache_resource(show_spinner=False)
def _memory() -> Memory:
    return Memory()


@st.cache_resource(show_spinner=False)
def crew() -> Crew:
    """The workers of this server, started once."""
    return Crew()


def begin() -> None:
    """What a server does once: its log is on, and its workers get ready while the first corpus is read."""
    log.begin()
    crew()
    _settle_down()


@st.cache_resource(show_spinner=False)
def _settle_down() -> None:
    """What was imported stays: the collector need not go through it again and again while everybody waits."""
    gc.collect()
    gc.freeze()


def obtain(page: str, tasks: Sequence[Task]) -> list[fc.Result]:
    """The results of these tasks. Shows progress and ends the script while they are not there; raises what went wrong.

    After Stop, what was finished is there, and the run that was stopped with the steps it had taken.
    """
    stopped: dict[Any, fc.Result] = st.session_state.setdefault(f"stopped-{page}", {})
    found = {task.key: remembered(task) or stopped.get(task.key) for task in tasks}
    missing = [task for task in tasks if found[task.key] is None]
    if not missing:
        return [found[task.key] for task in tasks]  # type: ignore[misc]
    place = f"job-{page}"
    job: Job | None = st.session_state.get(place)
    if job is None or [t.key for t in job.tasks] != [t.key for t in missing]:
        if job is not None:
            job.stop()
        job = st.session_state[place] = Job(missing, kept.keeper(missing))
    crowd = crew().waiting
    if not job.wait(PATIENCE if crowd <= FEW else PATIENCE / 4):
        st.fragment(_watch, run_every=FRAME * max(1, crowd / FEW))(place)
        st.stop()
    del st.session_state[place]
    if job.error is not None:
        raise job.error
    stopped.clear()
    stopped |= {task.key: result for task, result in zip(job.tasks, job.results, strict=False) if result.stopped == "cancelled"}
    mine = {task.key: result for task, result in zip(job.tasks, job.results, strict=False)}
    results = [found[task.key] or mine.get(task.key) for task in tasks]
    return [result for result in results if result is not None]


def obtain_or_stop(page: str, tasks: Sequence[Task]) -> list[fc.Result]:
    """The same for a page that has nothing else to show: where a result is missing, a sentence ends the script."""
    try:
        results = obtain(page, tasks)
    except fc.FactScopeError as error:
        sorry(error)
        st.stop()
    if len(results) < len(tasks):
        st.info("Stopped. Move a slider to start again.")
        st.stop()
    return results


def _watch(place: str) -> None:
    job: Job | None = st.session_state.get(place)
    if job is None or job.wait(0):
        st.rerun()
    at = job.at
    several = f"Run {len(job.results) + 1} of {len(job.tasks)}. " if len(job.tasks) > 1 else ""
    words = f"{several}Start {at[2] + 1}: {at[0]} of {at[1]} steps" if at is not None else "Getting ready …"
    if job.before:
        words = f"{several}Waiting for {job.before} other run{'s' * (job.before != 1)} …"
    bar, button = st.columns([5, 1], vertical_alignment="center")
    bar.progress(job.share, words)
    button.button("Stop", icon=":material/stop:", on_click=job.stop, width="stretch", key=f"stop-{place}")
    if job.curve and at is not None and not job.before:
        st.plotly_chart(convergence(job.curve), key=f"growing-{time.monotonic_ns()}")


def remembered(task: Task) -> fc.Result | None:
    """The result of a task, if it is still there, in memory or in the store."""
    result = _memory().get(task.key)
    if result is None and (result := kept.recalled(task)) is not None:
        remember(task, result)
    return result if result is None else on(result, task.corpus)


def remember(task: Task, result: fc.Result) -> None:
    _memory().put(task.key, result)
