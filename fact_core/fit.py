"""From a corpus to a result in one call."""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import Enum
from typing import Any, TypeVar

import numpy as np

from .algorithms import Algorithm, Needs, configured
from .algorithms.base import Factors
from .algorithms.starts import Start
from .assign import Assign, clusters
from .constraints import Constraints, constraints_of, from_share
from .corpus.model import Corpus
from .engine import Engine, spread
from .errors import FactScopeError, unknown
from .graph import GraphWeights, given_graph
from .kernel import Kernel, Weighting
from .presets import resolve
from .problem import Problem, graph_of, problem_of
from .result import Result
from .solve import Progress, Solver, solve

E = TypeVar("E", bound=Enum)


def fit(
    corpus: Corpus,
    algorithm: str = "lccf",
    *,
    n_clusters: int | None = None,
    seed: int = 0,
    restarts: int = 10,
    max_iter: int | None = None,
    tol: float | None = None,
    kernel: str | Kernel | None = None,
    weighting: str | Weighting | None = None,
    graph: str | GraphWeights | Any = None,
    init: str | Start | Factors | None = None,
    assign: str | Assign | None = None,
    constraints: Any = None,
    warm_up: int | None = None,
    solver: str | Solver = Solver.MULTIPLICATIVE,
    dtype: Any = "float64",
    engine: str | Engine = Engine.LOCAL,
    progress: Callable[[Progress], object] | None = None,
    cancelled: Callable[[], bool] | None = None,
    **parameters: Any,
) -> Result:
    """Factorise a corpus with a method ("lccf") or a row of the papers' tables ("LCCF-NCW").

    `n_clusters` is the number of classes by default, `max_iter` the method's own budget of steps (200; 500 for PSPt). `graph` is a kind
    of weights or an affinity (n × n) made elsewhere, `init` a kind of start or a dictionary of factors, `assign` the way clusters are
    read, `warm_up` the steps each of the `restarts` gets before only the best goes on (`max_iter` for whole runs); where they are None,
    the method's own. `tol` ends a run early (see `solve`); without it the whole budget is used. Anything else is a parameter of the
    method.

    `solver` is "multiplicative", the papers' steps, or "accelerated", which is where they lead in a fifth of the time or less. `dtype`
    "float32" halves memory, at seven digits. `engine` "dask" spreads the documents over a Dask cluster (see :mod:`fact_core.engine`).

    A semi-supervised method is told the classes of a `share` of the documents, drawn with the seed, or instead the `constraints`: a
    :class:`Constraints`, {document: class}, pairs (first, second, "must" or "cannot"), or the path of a file of pairs. They are propagated
    over the `graph`; a graph made elsewhere, with no word on share or constraints, is taken to hold them already.

    What cannot be done raises `FactScopeError` with a sentence.
    """
    began = time.perf_counter()
    preset = resolve(algorithm)
    method = configured(preset.key, parameters)
    restarts, seed = whole("number of restarts", restarts, 1), whole("seed", seed, 0)
    max_iter = method.budget if max_iter is None else whole("number of steps (max_iter)", max_iter, 0)
    if warm_up is not None:
        warm_up = whole("warm-up", warm_up, 1)
    if tol is not None and not (isinstance(tol, int | float) and tol > 0):
        raise FactScopeError(f"The tolerance must be a positive number, not {tol}.")
    how = choice("way to read clusters", assign, Assign) if assign is not None else method.assign
    kind, weights = options_for(method, kernel or preset.options.get("kernel"), weighting or preset.options.get("weighting"))
    way, numbers, where = solver_for(method, solver), precision(dtype), choice("engine", engine, Engine)
    links_do = method.needs & (Needs.SUPERVISION | Needs.CLASSES) == Needs.SUPERVISION
    if links_do and constraints is None and "share" not in parameters and not (graph is None or isinstance(graph, str)):
        constraints = ()
    problem, graph_name = problem_for(
        corpus, method, _clusters(corpus, n_clusters), kernel=kind, weighting=weights, graph=graph, constraints=constraints, seed=seed,
        dtype=numbers,
    )  # fmt: skip
    if (refusal := method.refusal(problem)) is not None:
        raise FactScopeError(refusal)
    start, start_name = _start(init, method, problem)
    starts, reading = np.random.SeedSequence(seed).spawn(2)
    with spread(problem, method, kind, where) as there:
        solution = solve(
            method, there, seed=starts, restarts=restarts, max_iter=max_iter, tol=tol, init=start, warm_up=warm_up, solver=way,
            progress=progress, cancelled=cancelled,
        )  # fmt: skip
    labels = clusters(method.embedding(problem, solution.factors), how, np.random.default_rng(reading))
    return Result(
        corpus=corpus, problem=problem, algorithm=method, factors=solution.factors, labels=labels, history=solution.history,
        stopped=solution.stopped.value, seconds=time.perf_counter() - began,
        options={"kernel": kind.value, "weighting": weights.value, "graph": graph_name, "assign": how.value, "init": start_name,
                 "constraints": None if problem.constraints is None else str(problem.constraints),
                 "seed": seed, "restarts": restarts, "max_iter": max_iter, "warm_up": warm_up, "tol": tol,
                 "solver": way.value, "dtype": np.dtype(numbers).name},
    )  # fmt: skip


def options_for(method: Algorithm | type[Algorithm], kernel: Any, weighting: Any) -> tuple[Kernel, Weighting]:
    """The kernel and the weighting asked for, if the method knows them."""
    kind = choice("kernel", kernel or Kernel.LINEAR, Kernel)
    weights = choice("weighting", weighting or Weighting.NONE, Weighting)
    if kind is not Kernel.LINEAR and not method.kernels:
        raise FactScopeError(f"{method.title} works on the documents' terms themselves, so the only kernel it can take is the linear one.")
    if weights not in method.weightings:
        raise FactScopeError(f"{method.title} has no {weights.value} weighting; it has {' and '.join(w.value for w in method.weightings)}.")
    return kind, weights


def solver_for(method: Algorithm | type[Algorithm], solver: Any) -> Solver:
    """The solver asked for, if the method has it."""
    way = choice("solver", solver, Solver)
    if way is Solver.ACCELERATED and not (method.multiplicative and method.blocks):
        raise FactScopeError(f"{method.title} takes no multiplicative steps, so there is nothing to accelerate.")
    return way


def precision(dtype: Any) -> type[np.floating]:
    """The kind of numbers to compute with."""
    for kind in (np.float64, np.float32):
        if dtype is kind or dtype == np.dtype(kind).name or dtype == np.dtype(kind):
            return kind
    raise FactScopeError(f"The numbers (dtype) must be float64 or float32, not {dtype}.")


def problem_for(
    corpus: Corpus,
    method: Algorithm,
    k: int,
    *,
    kernel: Kernel = Kernel.LINEAR,
    weighting: Weighting = Weighting.NONE,
    graph: Any = None,
    constraints: Any = None,
    seed: int = 0,
    dtype: type[np.floating] = np.float64,
) -> tuple[Problem, str | None]:
    """The problem as this method sees it, with its graph and constraints, and the name of the graph."""
    known = known_constraints(corpus, method, constraints, seed)
    S, name = _graph(corpus, method, graph)
    affinity = method.affinity(corpus, S, known)
    return problem_of(corpus, k, kernel=kernel, weighting=weighting, graph=affinity, constraints=known, dtype=dtype), name


def known_constraints(corpus: Corpus, method: Algorithm, given: Any, seed: int) -> Constraints | None:
    """What this method is told of the corpus."""
    if Needs.SUPERVISION not in method.needs:
        if given is not None:
            raise FactScopeError(f"{method.title} is unsupervised, so it cannot be given constraints.")
        return None
    return from_share(corpus, method.settings()["share"], seed) if given is None else constraints_of(given, len(corpus)).check()


def _graph(corpus: Corpus, method: Algorithm, graph: Any) -> tuple[Any, str | None]:
    if Needs.GRAPH not in method.needs:
        if graph is not None:
            raise FactScopeError(f"{method.title} uses no graph, so it cannot be given one.")
        return None, None
    if graph is None or isinstance(graph, str):
        weights = method.graph if graph is None else choice("kind of graph", graph, GraphWeights)
        return graph_of(corpus, method.settings()["p"], weights), weights.value
    return given_graph(graph, len(corpus)), "given"


def _clusters(corpus: Corpus, n_clusters: int | None) -> int:
    if n_clusters is None:
        if corpus.labels is None:
            raise FactScopeError(f"{corpus.name} has no classes, so the number of clusters must be given.")
        return len(corpus.label_names)
    return whole("number of clusters", n_clusters, 1)


def _start(init: Any, method: Algorithm, problem: Any) -> tuple[Start | Factors, str]:
    if init is None or isinstance(init, str):
        kind = method.starts[0] if init is None else choice("start", init, Start)
        if kind not in method.starts:
            raise FactScopeError(f"{method.title} cannot start from {kind.value}; it has {' and '.join(s.value for s in method.starts)}.")
        return kind, kind.value
    shapes = method.shapes(problem)
    if not shapes:
        raise FactScopeError(f"{method.title} is solved in one go, so it takes no factors to start from.")
    if set(init) != set(shapes):
        raise FactScopeError(f"{method.title} starts from the factors {', '.join(shapes)}, not from {', '.join(init) or 'nothing'}.")
    factors = {name: np.array(init[name], dtype=np.float64) for name in shapes}
    for name, shape in shapes.items():
        if factors[name].shape != shape:
            raise FactScopeError(f"The given {name} must have the shape {shape}, not {factors[name].shape}.")
        if not np.all(np.isfinite(factors[name])) or factors[name].min() < 0:
            raise FactScopeError(f"The given {name} must hold non-negative numbers only.")
    return factors, "given"


def choice(what: str, value: Any, kinds: type[E]) -> E:
    try:
        return kinds(value)
    except ValueError:
        raise unknown(what, value, [str(kind.value) for kind in kinds]) from None


def whole(what: str, value: Any, low: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise FactScopeError(f"The {what} must be a whole number of at least {low}, not {value}.")
    return int(value)
