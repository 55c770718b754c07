"""Runs: asked for by a page, done in a thread that knows nothing of streamlit, watched, and remembered by what was asked.

The same question has the same answer (methods are deterministic), so pages keep only the question; answers are shared by all visitors.
"""

from __future__ import annotations

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
from fact_core.corpus import Corpus
from fact_core.figures import convergence
from fact_core.solve import Progress
from fact_core.study import address

from . import kept

PATIENCE = 1.0  # seconds a page waits for a run before it shows it growing
FRAME = 0.3  # seconds between two pictures of a growing curve
REMEMBERED = 200  # results


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
    """Tasks done one after another in a thread; each result is given to `keep` once a page can have it."""

    def __init__(self, tasks: Sequence[Task], keep: Callable[[Task, fc.Result], object]):
        self.tasks = list(tasks)
        self._keep, self._memory = keep, _memory()
        self.results: list[fc.Result] = []
        self.error: Exception | None = None
        self.curve: dict[str, list[float]] = {}
        self.progress: Progress | None = None
        self._stop, self._done = threading.Event(), threading.Event()
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        try:
            for task in self.tasks:
                if self._stop.is_set():
                    return
                found = fc.fit(task.corpus, task.method, progress=self._note, cancelled=self._stop.is_set, **task.settings)
                if found.stopped != "cancelled":
                    self._memory.put(task.key, found)
                self.results.append(found)
                if len(self.results) == len(self.tasks):
                    self._done.set()
                if found.stopped != "cancelled":
                    self._keep(task, found)
        except Exception as error:  # shown on the page if a person caused it, raised there if we did
            self.error = error
        finally:
            self._done.set()

    def _note(self, at: Progress) -> None:
        if at.iterate.step == 0:
            self.curve = {}
        for name, value in at.iterate.terms.items():
            self.curve.setdefault(name, []).append(value)
        self.progress = at

    def stop(self) -> None:
        self._stop.set()

    def wait(self, seconds: float) -> bool:
        return self._done.wait(seconds)

    @property
    def share(self) -> float:
        inside = self.progress.share if self.progress is not None and len(self.results) < len(self.tasks) else 0.0
        return min(1.0, (len(self.results) + inside) / len(self.tasks))


class Memory:
    """The latest results by key."""

    def __init__(self) -> None:
        self._lock, self._found = threading.Lock(), OrderedDict[Any, fc.Result]()

    def put(self, key: Any, result: fc.Result) -> None:
        with self._lock:
            self._found[key] = result
            while len(self._found) > REMEMBERED:
                self._found.popitem(last=False)

    def get(self, key: Any) -> fc.Result | None:
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
            return self._found.get(key)


@st.cache_resource(show_spinner=False)
def _memory() -> Memory:
    return Memory()


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
    if not job.wait(PATIENCE):
        _watch(place)
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
        st.error(str(error))
        st.stop()
    if len(results) < len(tasks):
        st.info("Stopped. Move a slider to start again.")
        st.stop()
    return results


@st.fragment(run_every=FRAME)
def _watch(place: str) -> None:
    job: Job | None = st.session_state.get(place)
    if job is None or job.wait(0):
        st.rerun()
    at = job.progress
    several = f"Run {len(job.results) + 1} of {len(job.tasks)}. " if len(job.tasks) > 1 else ""
    words = f"{several}Start {at.start + 1}, step {at.iterate.step}: {at.done} of {at.total} steps" if at is not None else "Getting ready …"
    bar, button = st.columns([5, 1], vertical_alignment="center")
    bar.progress(job.share, words)
    button.button("Stop", icon=":material/stop:", on_click=job.stop, width="stretch", key=f"stop-{place}")
    curve = {name: list(values) for name, values in job.curve.items()}
    if curve and at is not None:
        shortest = min(map(len, curve.values()))
        st.plotly_chart(convergence({name: values[:shortest] for name, values in curve.items()}), key=f"growing-{time.monotonic_ns()}")


def remembered(task: Task) -> fc.Result | None:
    """The result of a task, if it is still there, in memory or in the store."""
    result = _memory().get(task.key)
    if result is None and (result := kept.recalled(task)) is not None:
        remember(task, result)
    return result


def remember(task: Task, result: fc.Result) -> None:
    _memory().put(task.key, result)
