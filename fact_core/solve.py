"""The one loop that drives every method.

:func:`iterates` yields the start and then every step; :func:`solve` adds what a person asks for: several starts of which the best goes on,
a budget of steps, a tolerance, cancellation, progress.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import islice

import numpy as np

from .algorithms.base import Algorithm, Factors
from .algorithms.starts import Start
from .problem import Problem

WINDOW = 20  # steps over which the relative change is compared with the tolerance


class Stopped(str, Enum):
    """Why a run ended."""

    BUDGET = "budget"  # all steps taken
    TOLERANCE = "tolerance"  # the objective hardly changes, or nothing changes any more
    DIVERGED = "diverged"  # a number became infinite or undefined; the last sound factors are kept
    CANCELLED = "cancelled"

    __str__ = str.__str__


@dataclass(frozen=True)
class Iterate:
    """The factors after some steps, with the objective by term."""

    step: int
    factors: Factors
    terms: dict[str, float]

    @property
    def objective(self) -> float:
        return sum(self.terms.values())


@dataclass(frozen=True)
class Progress:
    """Where a run is: `done` of `total` steps over all starts, and the newest iterate."""

    done: int
    total: int
    start: int  # which start, from 0
    iterate: Iterate

    @property
    def share(self) -> float:
        return min(1.0, self.done / self.total) if self.total else 1.0


@dataclass(frozen=True)
class Solution:
    factors: Factors
    history: list[dict[str, float]]  # the objective by term, start included
    stopped: Stopped


class Cancelled(Exception):  # noqa: N818 (a person's wish, not an error)
    """Raised inside the loop when a person no longer wants the result."""


def iterates(algorithm: Algorithm, problem: Problem, factors: Factors) -> Iterator[Iterate]:
    """The start, then every step, for ever or until a step changes nothing."""
    f = algorithm.begin(problem, factors)
    if not algorithm.blocks:
        yield Iterate(0, f, _numbers(algorithm.terms(problem, f, {})))
        return
    first = algorithm.blocks[0]
    given = algorithm.given(problem, first, f, {})
    step = 0
    while True:
        yield Iterate(step, f, _numbers(algorithm.terms(problem, f, given)))
        before = f
        for block in algorithm.blocks:
            if block != first:
                given = algorithm.given(problem, block, f, given)
            f = f | {block: algorithm.update(problem, block, f, given)}
        if all(f[block] is before[block] for block in algorithm.blocks):
            return
        scaled = algorithm.normalise(problem, f)
        given = algorithm.given(problem, first, scaled, given if scaled is f else {})
        f = scaled
        step += 1


def solve(
    algorithm: Algorithm,
    problem: Problem,
    *,
    seed: np.random.SeedSequence,
    restarts: int = 10,
    max_iter: int = 200,
    tol: float | None = None,
    init: Factors | Start | None = None,
    warm_up: int | None = None,
    progress: Callable[[Progress], object] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Solution:
    """The best of several starts, carried on to the end of the budget.

    Each start gets `warm_up` steps (the method's own number by default, the whole budget at most) and the lowest objective goes on.
    """
    if isinstance(init, dict):
        starts = [init]
    else:
        kind = init if init is not None else algorithm.starts[0]
        count = restarts if algorithm.blocks else 1  # what is solved in one go has no better start
        starts = [algorithm.start(problem, np.random.default_rng(s), kind) for s in seed.spawn(count)]
    warm = min(warm_up if warm_up is not None else algorithm.warm_up, max_iter) if len(starts) > 1 else 0
    total = max_iter + warm * (len(starts) - 1)
    done = 0

    def advance(run: Run, start: int, steps: int) -> None:
        nonlocal done
        for iterate in islice(run, steps):
            done += iterate.step > 0
            if progress is not None:
                progress(Progress(done, total, start, iterate))
            if cancelled is not None and cancelled():
                raise Cancelled
            if tol is not None and run.settled(tol):
                return

    runs = [Run(algorithm, problem, start) for start in starts]
    try:
        best = runs[0]
        if len(runs) > 1:
            for i, run in enumerate(runs):
                advance(run, i, warm + 1)
            best = min(runs, key=lambda run: run.objective)
        advance(best, runs.index(best), max_iter + 1 - len(best.history))
    except Cancelled:
        best = min((run for run in runs if run.history), key=lambda run: run.objective)
        best.stopped = Stopped.CANCELLED
    return Solution(algorithm.finish(problem, best.factors), best.history, best.stopped)


class Run:
    """One start on its way: an iterator over its iterates that remembers the history and why it ended."""

    def __init__(self, algorithm: Algorithm, problem: Problem, start: Factors):
        self._iterates = iterates(algorithm, problem, start)
        self.history: list[dict[str, float]] = []
        self.factors = start
        self.stopped = Stopped.BUDGET

    def __iter__(self) -> Iterator[Iterate]:
        return self

    def __next__(self) -> Iterate:
        if self.stopped is not Stopped.BUDGET:
            raise StopIteration
        try:
            iterate = next(self._iterates)
        except StopIteration:
            self.stopped = Stopped.TOLERANCE
            raise
        if not np.isfinite(iterate.objective):
            self.stopped = Stopped.DIVERGED
            raise StopIteration
        self.factors = iterate.factors
        self.history.append(iterate.terms)
        return iterate

    @property
    def objective(self) -> float:
        return sum(self.history[-1].values()) if self.history else np.inf

    def settled(self, tol: float) -> bool:
        """Whether the last steps changed the objective by less than `tol` of itself. No tolerance is safe: see SPEC section 8."""
        if len(self.history) <= WINDOW:
            return False
        earlier = sum(self.history[-1 - WINDOW].values())
        if abs(earlier - self.objective) > tol * abs(self.objective):
            return False
        self.stopped = Stopped.TOLERANCE
        return True


def _numbers(terms: dict[str, object]) -> dict[str, float]:
    return {name: float(value) for name, value in terms.items()}  # type: ignore[arg-type]
