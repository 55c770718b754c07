"""The one loop that drives every method.

:func:`iterates` yields the start and then every step; :func:`solve` adds what a person asks for: several starts of which the best goes on,
a budget of steps, a tolerance, cancellation, progress. Starts are carried on together: several as one stack of arrays while that is small
enough for the processor's caches, and stacks at the same time where there are threads for them.

The accelerated solver (:func:`accelerated`) takes the same updates, only more cleverly; it knows nothing of the methods either.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
import scipy.sparse as sp

from .algorithms.base import Algorithm, Factors, Products
from .algorithms.starts import Start
from .problem import Problem
from .threads import limited, one_blas_thread, threads

WINDOW = 20  # steps over which the relative change is compared with the tolerance
STACKED = 2**17  # numbers in the largest factor of a stack of starts: with more, a step no longer stays in the caches

CALM = 6  # steps before the accelerated solver extrapolates: they choose the valley, and haste there chooses a poor one
REPEATS = (8, 3)  # of a cheap update, in those steps and afterwards
SPEED, FASTEST = 1.0, 3.0  # share of the last move that is added to it: at first, and at most
FASTER, SLOWER = 1.2, 0.5  # how that share grows while the objective falls, and what is left of it when it rose
SHARES = (1, 0.5, 0.25, 0.125, 0)  # of a plain step, tried one after another when nothing else lowers the objective
KEPT = 0.5  # of an entry, at least, when it is extrapolated: what multiplication brought near zero it hardly brings back


class Solver(str, Enum):
    """How the updates of a method are put to use."""

    MULTIPLICATIVE = "multiplicative"  # each once a step, as in the papers
    ACCELERATED = "accelerated"  # cheap ones repeated, steps extrapolated

    __str__ = str.__str__


class Stopped(str, Enum):
    """Why a run ended."""

    BUDGET = "budget"  # all steps taken
    TOLERANCE = "tolerance"  # the objective hardly changes, or nothing changes any more
    DIVERGED = "diverged"  # a number became infinite or undefined; the last sound factors are kept
    CANCELLED = "cancelled"

    __str__ = str.__str__


@dataclass(frozen=True)
class Momentum:
    """What the accelerated solver remembers from one step to the next."""

    before: Factors  # where the last step led without extrapolation
    speed: np.ndarray
    fastest: np.ndarray


@dataclass(frozen=True)
class Iterate:
    """The factors after some steps, with the objective by term."""

    step: int
    factors: Factors
    terms: dict[str, Any]  # a number each; for a stack of starts one for each of them
    momentum: Momentum | None = field(default=None, repr=False)

    @property
    def objective(self) -> Any:
        return sum(self.terms.values())


@dataclass(frozen=True)
class Progress:
    """Where a run is: `done` of `total` steps over all starts, and the newest iterate."""

    done: int
    total: int
    start: int  # which start, from 0
    iterate: Iterate
    history: list[dict[str, float]] = field(default_factory=list, repr=False)  # the objective of this start, step by step

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


def iterates(algorithm: Algorithm, problem: Problem, start: Factors | Iterate, solver: Solver = Solver.MULTIPLICATIVE) -> Iterator[Iterate]:
    """The start, then every step, for ever or until a step changes nothing. The start may be an iterate of such a loop: it goes on."""
    if isinstance(start, Iterate):
        step, f, momentum = start.step, start.factors, start.momentum
    else:
        step, f, momentum = 0, problem.held(algorithm.begin(problem, start)), None
    if not algorithm.blocks:
        yield Iterate(0, f, _numbers(algorithm.terms(problem, f, {})))
        return
    if solver is Solver.ACCELERATED:
        yield from accelerated(algorithm, problem, f, step, momentum)
        return
    first = algorithm.blocks[0]
    given = algorithm.given(problem, first, f, {})
    while True:
        yield Iterate(step, f, _numbers(algorithm.terms(problem, f, given)))
        f, last = _updated(algorithm, problem, f, given, 1)
        if last is None:
            return
        scaled = algorithm.normalise(problem, f)
        given = algorithm.given(problem, first, scaled, last if scaled is f else {})
        f = scaled
        step += 1


def _updated(algorithm: Algorithm, problem: Problem, f: Factors, given: Products, repeats: int) -> tuple[Factors, Products | None]:
    """Every block updated once, or `repeats` times where its products do not change with it; the last products, None if nothing moved."""
    before = f
    for block in algorithm.blocks:
        if block != algorithm.blocks[0]:
            given = algorithm.given(problem, block, f, given)
        for _ in range(repeats if block in algorithm.repeatable else 1):
            f = f | {block: algorithm.update(problem, block, f, given).astype(problem.dtype, copy=False)}
    return f, None if all(f[block] is before[block] for block in algorithm.blocks) else given


def accelerated(algorithm: Algorithm, problem: Problem, f: Factors, step: int = 0, momentum: Momentum | None = None) -> Iterator[Iterate]:
    """The steps of a multiplicative method, taken faster.

    A block whose costly products do not change with it is updated several times with the same products (Gillis and Glineur 2012). Then
    each factor goes on in the direction of its last move, no entry below half of itself (after Ang and Gillis 2019). Where the objective
    would rise, that is left out; where it still would, the plain step or a part of it is taken. One set of products a step, one more for
    each refusal.
    """
    first = algorithm.blocks[0]

    def looked_at(f: Factors) -> tuple[Factors, Products, dict[str, Any], Any]:
        given = algorithm.given(problem, first, f, {})
        terms = _numbers(algorithm.terms(problem, f, given))
        return f, given, terms, np.asarray(sum(terms.values()))

    f, given, terms, value = looked_at(f)
    rounding = 64 * np.finfo(problem.dtype).eps
    while True:
        yield Iterate(step, f, terms, momentum)
        hasty = step >= CALM and momentum is not None
        new, moved = _updated(algorithm, problem, f, given, REPEATS[step >= CALM])
        if moved is None:
            return
        calm = algorithm.normalise(problem, new)
        there = looked_at(algorithm.normalise(problem, _extrapolated(algorithm, calm, momentum)) if hasty and momentum else calm)
        rose = _rose(there[3], value, rounding)
        speed, fastest = (momentum.speed, momentum.fastest) if momentum else (np.full(rose.shape, s) for s in (SPEED, FASTEST))
        if hasty:
            fastest = np.where(rose, speed, np.minimum(FASTEST, 1.01 * fastest))
            speed = np.where(rose, SLOWER * speed, np.minimum(FASTER * speed, fastest))
            if rose.any():
                there = looked_at(_chosen(rose, calm, there[0]))
                rose = _rose(there[3], value, rounding)
        if rose.any():
            plain = algorithm.normalise(problem, _updated(algorithm, problem, f, given, 1)[0])
            for share in SHARES:  # normalising may lift the objective again, even after a plain step
                part = plain if share == 1 else {name: a + share * (plain[name] - a) for name, a in f.items()}
                there = looked_at(_chosen(rose, part, there[0]))
                rose = _rose(there[3], value, rounding)
                if not rose.any():
                    break
        momentum = Momentum(calm, speed, fastest)
        f, given, terms, value = there
        step += 1


def _extrapolated(algorithm: Algorithm, f: Factors, momentum: Momentum) -> Factors:
    def beyond(new: np.ndarray, old: np.ndarray) -> np.ndarray:
        farther = new - old
        farther *= _spread(momentum.speed, farther).astype(new.dtype, copy=False)
        farther += new
        return np.maximum(farther, KEPT * new, out=farther)

    return f | {block: beyond(f[block], momentum.before[block]) for block in algorithm.blocks}


def _rose(new: np.ndarray, old: np.ndarray, rounding: float) -> np.ndarray:
    """Where the objective is higher than it was, or no number any more."""
    return np.asarray(~(new <= old + rounding * np.abs(old)))


def _chosen(where: np.ndarray, these: Factors, others: Factors) -> Factors:
    return these if where.all() else {name: np.where(_spread(where, a), a, others[name]) for name, a in these.items()}


def _spread(values: np.ndarray, over: np.ndarray) -> np.ndarray:
    """One value a start, shaped to meet the arrays of the stack."""
    return values.reshape(values.shape + (1,) * (over.ndim - values.ndim))


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
    solver: Solver = Solver.MULTIPLICATIVE,
    progress: Callable[[Progress], object] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Solution:
    """The best of several starts, carried on to the end of the budget.

    Each start gets `warm_up` steps (the method's own number by default, the whole budget at most) and the lowest objective goes on.
    `progress` and `cancelled` are called in this thread.
    """
    if isinstance(init, dict):
        starts = [init]
    else:
        kind = init if init is not None else algorithm.starts[0]
        count = restarts if algorithm.blocks else 1  # what is solved in one go has no better start
        starts = [algorithm.start(problem.here, np.random.default_rng(s), kind) for s in seed.spawn(count)]
    starts = [problem.held(start) for start in starts]
    warm = min(warm_up if warm_up is not None else algorithm.warm_up, max_iter) if len(starts) > 1 else 0
    total = max_iter + warm * (len(starts) - 1)
    done = Counter()
    runs = [Run(number) for number in range(len(starts))]

    def tell(group: Group) -> None:
        run = group.runs[0]
        if progress is not None and run.iterate is not None:
            progress(Progress(done.value, total, run.number, run.iterate, run.history))
        if cancelled is not None and cancelled():
            raise Cancelled

    try:
        with one_blas_thread if sp.issparse(problem.X) else nullcontext():
            best = runs[0]
            if len(runs) > 1:
                size = _stack_size(algorithm, starts)
                groups = [Group(algorithm, problem, starts[i : i + size], runs[i : i + size], solver) for i in range(0, len(runs), size)]
                in_parallel(groups, tell, lambda group, tell: group.advance(warm + 1, tol, done, tell))
                best = min(runs, key=lambda run: run.objective)
                group = groups[best.number // size].left_to(best)
            else:
                group = Group(algorithm, problem, starts, runs, solver)
            group.advance(max_iter + 1 - len(best.history), tol, done, tell)
    except Cancelled:
        best = min((run for run in runs if run.history), key=lambda run: run.objective)
        best.stopped = Stopped.CANCELLED
    factors = algorithm.finish(problem, best.factors)
    return Solution({name: np.asarray(a) for name, a in factors.items()}, best.history, best.stopped)


def _stack_size(algorithm: Algorithm, starts: list[Factors]) -> int:
    """Starts in one stack. Methods that decide by their numbers when to stop or how far to go are not stacked."""
    if not algorithm.multiplicative:
        return 1
    largest = max(a.size for a in starts[0].values())
    return max(1, min(len(starts), STACKED // max(largest, 1)))


class Counter:
    """Steps taken, by all threads."""

    def __init__(self) -> None:
        self.value, self._lock = 0, threading.Lock()

    def add(self, steps: int) -> None:
        with self._lock:
            self.value += steps


@dataclass(eq=False)
class Run:
    """One start on its way: the history, the newest sound factors, and why it ended."""

    number: int
    history: list[dict[str, float]] = field(default_factory=list)
    iterate: Iterate | None = None
    stopped: Stopped = Stopped.BUDGET

    @property
    def factors(self) -> Factors:
        assert self.iterate is not None
        return self.iterate.factors

    @property
    def objective(self) -> float:
        return sum(self.history[-1].values()) if self.history else np.inf

    def take(self, iterate: Iterate) -> None:
        if not np.isfinite(iterate.objective):
            self.stopped = Stopped.DIVERGED
        else:
            self.iterate = iterate
            self.history.append(iterate.terms)

    def settled(self, tol: float) -> bool:
        """Whether the last steps changed the objective by less than `tol` of itself. No tolerance is safe: plateaus are long."""
        if len(self.history) <= WINDOW:
            return False
        earlier = sum(self.history[-1 - WINDOW].values())
        return abs(earlier - self.objective) <= tol * abs(self.objective)


class Group:
    """Starts carried on together: one alone, or several as one stack."""

    def __init__(self, algorithm: Algorithm, problem: Problem, starts: list[Factors], runs: list[Run], solver: Solver):
        self._on = algorithm, problem
        self.runs, self.solver, self.stack = runs, solver, len(runs) > 1
        factors = {name: np.stack([start[name] for start in starts]) for name in starts[0]} if self.stack else starts[0]
        self._iterates = iterates(*self._on, factors, solver)

    def left_to(self, run: Run) -> Group:
        """This group without the other runs."""
        if self.stack and run.iterate is not None:
            self.runs, self.stack = [run], False
            self._iterates = iterates(*self._on, run.iterate, self.solver)
            next(self._iterates)  # where it is already
        return self

    def advance(self, steps: int, tol: float | None, done: Counter, tell: Callable[[Group], None]) -> None:
        """Take so many iterates, or fewer if every run has ended."""
        for _ in range(steps):
            alive = [(i, run) for i, run in enumerate(self.runs) if run.stopped is Stopped.BUDGET]
            if not alive:
                return
            iterate = next(self._iterates, None)
            if iterate is None:
                for _, run in alive:
                    run.stopped = Stopped.TOLERANCE
                return
            for i, run in alive:
                run.take(_one(iterate, i) if self.stack else iterate)
                if tol is not None and run.settled(tol):
                    run.stopped = Stopped.TOLERANCE
            done.add(sum(run.stopped is not Stopped.DIVERGED for _, run in alive) * (iterate.step > 0))
            tell(self)


def _one(iterate: Iterate, i: int) -> Iterate:
    """One start of a stack."""

    def own(arrays: Factors) -> Factors:
        return {name: a[i] for name, a in arrays.items()}

    m = iterate.momentum
    momentum = None if m is None else Momentum(own(m.before), m.speed[i], m.fastest[i])
    return Iterate(iterate.step, own(iterate.factors), {name: float(values[i]) for name, values in iterate.terms.items()}, momentum)


Tell = Callable[[Group], None]


def in_parallel(groups: list[Group], tell: Tell, work: Callable[[Group, Tell], None]) -> None:
    """All groups, over the threads there are; only this thread's say how far they are, the others listen whether to go on."""
    waiting, failures = deque(groups), list[BaseException]()
    over = threading.Event()

    def until_empty(tell: Tell) -> None:
        with suppress(IndexError):
            while True:
                work(waiting.popleft(), tell)

    def listen(group: Group) -> None:
        if over.is_set():
            raise Cancelled

    def helper() -> None:
        try:
            with limited(1):
                until_empty(listen)
        except Cancelled:
            pass
        except BaseException as error:  # raised again below, where somebody hears it
            failures.append(error)

    helpers = [threading.Thread(target=helper, daemon=True) for _ in range(min(threads(), len(groups)) - 1)]
    for thread in helpers:
        thread.start()
    try:
        with limited(1 if helpers else threads()), one_blas_thread if helpers else nullcontext():
            until_empty(tell)
        for thread in helpers:
            while thread.is_alive():
                thread.join(0.1)
                tell(groups[0])
    finally:
        over.set()
        for thread in helpers:
            thread.join()
    if failures:
        raise failures[0]


def _numbers(terms: dict[str, Any]) -> dict[str, Any]:
    """Plain numbers; one for each start of a stack."""
    return {name: float(value) if np.ndim(value) == 0 else np.asarray(value) for name, value in terms.items()}
