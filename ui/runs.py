"""Runs, and whatever else takes time: asked for by a page, done by a worker process that knows nothing of streamlit, watched, and
remembered by what was asked.

The same question has the same answer (methods are deterministic), so pages keep only the question; answers are shared by all visitors.
"""

from __future__ import annotations

import gc
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
import scipy.sparse as sp
import streamlit as st

import fact_core as fc
from fact_core import log
from fact_core.answers import complete, on, weight
from fact_core.figures import convergence
from fact_core.figures.static import Style
from fact_core.looks import Seen
from fact_core.newcomers import weighted_rows
from fact_core.result import Placed
from fact_core.workers import Complete, Crew, Errand, Fit, Look, Print, Stopped

from . import kept
from .words import sorry

PATIENCE = 1.0  # seconds a page waits for a run before it shows it growing
FRAME = 0.3  # seconds between two pictures of a growing curve, where one person looks
FEW = 2  # runs in line up to which a page waits and pictures follow each other fast
REMEMBERED = 200  # answers
ROOM = 32e6  # bytes of all of them together; the store has the runs, some milliseconds away
IDLE = 120  # seconds after which an answer nobody asks for is forgotten, as long as Streamlit keeps a closed session
STOPPED = "Stopped. Move a slider to start again."
UMAP = "UMAP takes some seconds, most of them at its first use …"


Task = Fit  # one question: a corpus, a method (a key or a preset), and keywords of `fit`


class Job:
    """Errands given to the workers one after another, each under the key of its question; runs are given to `keep` once a page can have
    them."""

    def __init__(self, errands: Mapping[str, Errand], keep: Callable[[Task, fc.Result], object]):
        self.errands = dict(errands)
        self._keep, self._memory, self._crew = keep, _memory(), crew()
        self.found: dict[str, Any] = {}
        self.error: Exception | None = None
        self.curve: dict[str, list[float]] = {}
        self.at: tuple[int, int, int] | None = None  # steps done, steps in total, start
        self.before = 0  # errands of others that come first
        self._stop, self._done = threading.Event(), threading.Event()
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        try:
            for key, errand in self.errands.items():
                if self._stop.is_set():
                    return
                found = self._crew.do(errand, note=self._note, stopped=self._stop.is_set, line=self._wait_in_line)
                if not half(found):
                    self._memory.put(key, found)
                self.found[key] = found
                if len(self.found) == len(self.errands):
                    self._done.set()
                if isinstance(errand, Task) and not half(found):
                    self._keep(errand, found)
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
        inside = self.at[0] / self.at[1] if self.at is not None and self.at[1] and len(self.found) < len(self.errands) else 0.0
        return min(1.0, (len(self.found) + inside) / len(self.errands))


def half(found: Any) -> bool:
    """Whether it is a run that was stopped on its way."""
    return isinstance(found, fc.Result) and found.stopped == "cancelled"


class Memory:
    """The latest answers by key, while somebody looks at them."""

    def __init__(self) -> None:
        self._lock, self._found, self._used = threading.Lock(), OrderedDict[str, Any](), dict[str, float]()

    def put(self, key: str, found: Any) -> None:
        with self._lock:
            self._found[key] = found
            self._found.move_to_end(key)
            self._used[key] = time.monotonic()
            while len(self._found) > 1 and (len(self._found) > REMEMBERED or sum(map(weight, self._found.values())) > ROOM):
                self._found.popitem(last=False)

    def get(self, key: str) -> Any:
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
                self._used[key] = time.monotonic()
            return self._found.get(key)

    def forget(self, idle: float = IDLE) -> None:
        """Let go of what nobody has asked for in so many seconds."""
        with self._lock:
            self._used = {key: at for key, at in self._used.items() if key in self._found and time.monotonic() - at < idle}
            self._found = OrderedDict((key, found) for key, found in self._found.items() if key in self._used)


@st.cache_resource(show_spinner=False)
def _memory() -> Memory:
    return Memory()


@st.cache_resource(show_spinner=False)
def crew() -> Crew:
    """The workers of this server, started once: one more than may factorise, so that figures and lessons do not wait for long runs."""
    return Crew(spare=1)


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


def obtain(page: str, errands: Sequence[Errand]) -> list[Any]:
    """What these errands find. Shows progress and ends the script while it is not there; raises what went wrong.

    After Stop, what was finished is there, and the run that was stopped with the steps it had taken.
    """
    stopped: dict[str, fc.Result] = st.session_state.setdefault(f"stopped-{page}", {})
    place = f"job-{page}"
    job: Job | None = st.session_state.get(place)
    mine = job.found if job is not None and job.wait(0) else {}  # there is not always room in memory for all of a page's answers
    found: dict[str, Any] = {}
    missing: dict[str, Errand] = {}
    for errand in errands:
        value = mine.get(errand.key)
        value = remembered(errand) if value is None else value
        value = stopped.get(errand.key) if value is None else value
        if value is None and isinstance(errand, Task):
            value = kept.recalled(errand)
        if value is None:
            missing[errand.key] = errand
        elif isinstance(value, fc.Result) and not complete(value):  # out of the store, which has the factors only
            missing[errand.key] = Complete(value)
        else:
            found[errand.key] = value
    asked = {errand.key for errand in errands}
    if missing and (job is None or not missing.keys() <= job.errands.keys() <= asked):
        if job is not None:
            job.stop()
        job = st.session_state[place] = Job(missing, kept.keeper([e for e in missing.values() if isinstance(e, Task)]))
    if missing and job is not None:
        crowd = crew().waiting
        if not job.wait(PATIENCE if crowd <= FEW else PATIENCE / 4):
            st.fragment(_watch, run_every=FRAME * max(1, crowd / FEW))(place)
            st.stop()
    if job is not None and job.errands.keys() <= asked and job.wait(0):
        del st.session_state[place]
        if job.error is not None:
            raise job.error
        stopped.clear()
        stopped |= {key: value for key, value in job.found.items() if half(value)}
        found |= job.found
    return [found[errand.key] for errand in errands if errand.key in found]


def obtain_or_stop(page: str, errands: Sequence[Errand]) -> list[Any]:
    """The same for a page that has nothing else to show: where something is missing, a sentence ends the script."""
    try:
        found = obtain(page, errands)
    except fc.FactScopeError as error:
        sorry(error)
        st.stop()
    if len(found) < len(errands):
        st.info(STOPPED)
        st.stop()
    return found


def look(result: fc.Result, what: str, **asked: Any) -> Seen:
    """A look at a result (:mod:`fact_core.looks`), by a worker."""
    found = obtain("look", [Look(result, what, asked)])
    if not found:
        raise fc.FactScopeError(STOPPED)
    return found[0]


def place(result: fc.Result, text: str) -> Placed:
    """`result.place(text)`, by a worker."""
    rows = weighted_rows(result.corpus, text)
    return Placed(*look(result, "place", rows=rows.toarray() if sp.issparse(rows) else rows))


def printer() -> Callable[[go.Figure, str, Style], bytes]:
    """Who draws figures for print: a worker, also where nobody waits on a page, as for a download."""
    there = crew()
    return lambda figure, suffix, style: there.do(Print(figure, suffix, style))


def file_of(result: fc.Result, what: str) -> Callable[[], bytes]:
    """What makes a file that is a look at a result, when somebody wants it."""
    there = crew()
    return lambda: there.do(Look(result, what, {}))[0].tobytes()


def completed(result: fc.Result) -> fc.Result:
    """A result with all a page looks at, by a worker where it is not there."""
    return result if complete(result) else obtain_or_stop("complete", [Complete(result)])[0]


def _watch(place: str) -> None:
    job: Job | None = st.session_state.get(place)
    if job is None or job.wait(0):
        st.rerun()
    at = job.at
    now = next((e for key, e in job.errands.items() if key not in job.found), None)
    several = f"Run {len(job.found) + 1} of {len(job.errands)}. " if len(job.errands) > 1 else ""
    waiting = UMAP if isinstance(now, Look) and now.what == "umap" else "Getting ready …"
    words = f"{several}Start {at[2] + 1}: {at[0]} of {at[1]} steps" if at is not None else waiting
    if job.before:
        words = f"{several}Waiting for {job.before} other run{'s' * (job.before != 1)} …"
    bar, button = st.columns([5, 1], vertical_alignment="center")
    bar.progress(job.share, words)
    button.button("Stop", icon=":material/stop:", on_click=job.stop, width="stretch", key=f"stop-{place}")
    if job.curve and at is not None and not job.before:
        st.plotly_chart(convergence(job.curve), key=f"growing-{time.monotonic_ns()}")


def remembered(errand: Errand) -> Any:
    """What an errand found, if that is still in memory."""
    found = _memory().get(errand.key)
    return on(found, errand.corpus) if isinstance(found, fc.Result) and errand.corpus is not None else found


def forget() -> None:
    _memory().forget()


def remember(task: Task, result: fc.Result) -> None:
    _memory().put(task.key, result)
