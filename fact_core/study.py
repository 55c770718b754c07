"""Studies: settings × seeds × class choices, run cell by cell and gathered as tidy rows.

A :class:`Study` is plain data, so that a page, the command line, a file in a job's folder and a worker on another machine mean the same
by it. It expands to :class:`Cell`s; :func:`run_cell` computes one; its :func:`address` says what was computed, so that the store never
has to compute it again.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import Enum
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from . import __version__
from .algorithms import Algorithm, Needs, configured
from .algorithms.base import find
from .corpus.model import Corpus
from .criteria import coherence, cut, silhouette
from .errors import FactScopeError, unknown
from .fit import fit, options_for, precision, solver_for, whole
from .graph import GraphWeights
from .parameters import Param
from .presets import resolve
from .problem import graph_of
from .result import Result
from .solve import Progress, Solver

NUMERICS = 2  # raised whenever a change of the code changes what runs compute; stored runs of the older code are then no longer found
VERSION = f"{__version__}/{NUMERICS}"
CLUSTERS = Param("n_clusters", 5, "k", "number of clusters", low=1, high=10**6)
KEYWORDS = tuple(  # of fit, that plain data can say and that are not a study's own
    name for name, p in inspect.signature(fit).parameters.items()
    if p.kind is p.KEYWORD_ONLY and name not in {"seed", "progress", "cancelled", "engine"}
)  # fmt: skip


@dataclass(frozen=True)
class Method:
    """A key or a preset, with the keywords of `fit` it is run with."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Cell:
    """One run of a study."""

    method: str
    options: dict[str, Any]  # keywords of `fit`, the seed among them
    select: dict[str, Any]  # keywords of `Corpus.select`
    point: dict[str, Any]  # where it stands on the axes
    seed: int

    @property
    def label(self) -> str:
        drawn = [f"k = {self.select['random']}"] if "random" in self.select else []
        return ", ".join([self.method, *drawn, *(f"{name} = {value}" for name, value in self.point.items()), f"seed {self.seed}"])


@dataclass(frozen=True)
class Study:
    """What is to be computed.

    With `draws`, run i of each number k chooses k classes with seed i, and every method and setting sees the same choice; without, all
    seeds see the same documents. With `sample`, run i sees that share of them, drawn with seed i. An axis a method does not have leaves
    it one cell a seed, as a base line. `arrays` keeps the factors and the objective of every step, too.
    """

    corpus: str  # as `load_corpus` takes it
    methods: tuple[Method, ...]
    title: str = ""
    reading: Mapping[str, Any] = field(default_factory=dict)  # options of `load_corpus`
    classes: Mapping[str, Any] = field(default_factory=dict)  # of `Corpus.select`, before any are drawn
    draws: tuple[int, ...] = ()
    axes: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    seeds: tuple[int, ...] = (0,)
    options: Mapping[str, Any] = field(default_factory=dict)  # of every method that takes them
    arrays: bool = True
    sample: float | None = None

    def __post_init__(self) -> None:
        for name in ("reading", "classes", "axes", "options"):  # plain data, whatever was given
            object.__setattr__(self, name, {key: _plain(value) for key, value in getattr(self, name).items()})

    def as_json(self) -> dict[str, Any]:
        return json.loads(json.dumps(asdict(self)))

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Study:
        methods = tuple(Method(m["name"], dict(m["options"])) for m in said["methods"])
        return cls(**{**said, "methods": methods, "draws": tuple(said["draws"]), "seeds": tuple(said["seeds"])})

    def cells(self) -> list[Cell]:
        """Every run, those on the same documents together; or a sentence about what does not fit."""
        self._check()
        fixed = {name: value for name, value in self.classes.items() if value is not None}
        cells = {}
        for k, seed in product(self.draws or (None,), self.seeds):
            select = fixed if k is None else fixed | {"random": k, "seed": seed}
            select = select if self.sample is None else select | {"sample": self.sample, "draw": seed}
            for method in self.methods:
                takes = accepted(method.name)
                axes = {name: values for name, values in self.axes.items() if name in takes}
                base = {name: value for name, value in self.options.items() if name in takes} | dict(method.options)
                for values in product(*axes.values()):
                    point = dict(zip(axes, values, strict=True))
                    cell = Cell(method.name, base | point | {"seed": seed}, select, point, seed)
                    cells[json.dumps(asdict(cell), sort_keys=True)] = cell
        return list(cells.values())

    def _check(self) -> None:
        if not self.methods:
            raise FactScopeError("A study needs at least one method.")
        if not self.seeds:
            raise FactScopeError("A study needs at least one seed.")
        for k in self.draws:
            whole("number of classes", k, 1)
        for seed in self.seeds:
            whole("seed", seed, 0)
        known = set().union(*(accepted(m.name) for m in self.methods))
        for name in (*self.axes, *self.options):
            if name not in known:
                raise unknown("parameter or option", name, sorted(known))
        for name, values in self.axes.items():
            if not values:
                raise FactScopeError(f"The axis {name} has no values.")
        for method in self.methods:
            takes, own = accepted(method.name), dict(method.options)
            for name, values in self.axes.items():
                for value in values if name in takes else ():
                    settle(method.name, own | {name: value})
            settle(method.name, {n: v for n, v in self.options.items() if n in takes} | own)


def _plain(value: Any) -> Any:
    """Lists and Python's own numbers, as JSON has them."""
    if isinstance(value, Enum):
        return value.value
    if hasattr(value, "tolist"):  # of numpy
        return value.tolist()
    return [_plain(v) for v in value] if isinstance(value, list | tuple | range) else value


def accepted(method: str) -> set[str]:
    """The parameters of a method and the keywords of `fit` that mean something to it."""
    cls = find(resolve(method).key)
    return {p.name for p in cls.parameters} | set(KEYWORDS) - (set() if cls.multiplicative and cls.blocks else {"solver"})


def axis(name: str, methods: Iterable[str]) -> Param:
    """What stands on an axis: the parameter as these methods declare it, with all their published settings; or the number of clusters."""
    if name == "n_clusters":
        return CLUSTERS
    found = [p for m in dict.fromkeys(resolve(m).key for m in methods) for p in find(m).parameters if p.name == name]
    if not found:
        return Param(name, None, name, name)  # a keyword of `fit`
    return replace(found[0], published=tuple(sorted({v for p in found for v in p.published})))


def settle(method: str, options: Mapping[str, Any]) -> tuple[Algorithm, dict[str, Any]]:
    """The method with its parameters set, and those keywords of `fit` that are not what it does anyway; or a sentence."""
    preset = resolve(method)
    given = preset.options | {name: v.value if isinstance(v, Enum) else v for name, v in options.items() if v is not None}
    parameters = {p.name for p in find(preset.key).parameters}
    made = configured(preset.key, {name: value for name, value in given.items() if name in parameters or name not in {*KEYWORDS, "seed"}})
    options_for(made, given.get("kernel"), given.get("weighting"))
    solver_for(made, given.get("solver", Solver.MULTIPLICATIVE))
    precision(given.get("dtype", "float64"))
    usual = {
        "kernel": "linear", "weighting": "none", "assign": made.assign.value, "init": made.starts[0].value, "max_iter": made.budget,
        "restarts": 10, "warm_up": made.warm_up, "graph": made.graph.value if Needs.GRAPH in made.needs else None,
        "solver": Solver.MULTIPLICATIVE.value, "dtype": "float64",
    }  # fmt: skip
    return made, {name: value for name, value in given.items() if name not in parameters and usual.get(name, ...) != value}


def address(fingerprint: str, select: Mapping[str, Any], method: str, options: Mapping[str, Any]) -> str:
    """What a run is kept under: the same for the same documents, method, options, seed and code, however they were said."""
    made, rest = settle(method, options)
    said = [VERSION, fingerprint, dict(select), made.key, made.settings(), rest]
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Run:
    """A finished run, without its arrays: plain data."""

    address: str
    corpus: str  # its name
    fingerprint: str  # of the corpus before classes were chosen
    chosen: str  # and after
    select: dict[str, Any]
    source: dict[str, Any]  # how `load_corpus` finds the corpus again; empty for an upload
    method: str
    key: str
    options: dict[str, Any]  # what `fit` was asked for
    parameters: dict[str, Any]  # and what that came to, defaults included
    clusters: int
    documents: int
    scores: dict[str, float]
    stopped: str
    version: str = VERSION


Arrays = dict[str, np.ndarray]


def run_cell(
    cell: Cell,
    corpus: Corpus,
    *,
    source: Mapping[str, Any] | None = None,
    arrays: bool = True,
    progress: Callable[[Progress], object] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> tuple[Run, Arrays] | None:
    """One cell of a study on a corpus, from whose classes it chooses; None if it was cancelled."""
    chosen = selected(corpus, cell.select)
    result = fit(chosen, cell.method, progress=progress, cancelled=cancelled, **cell.options)
    if result.stopped == "cancelled":
        return None
    return describe(result, cell.method, cell.options, whole=corpus, select=cell.select, source=source), arrays_of(result) if arrays else {}


def describe(
    result: Result,
    method: str,
    options: Mapping[str, Any],
    *,
    whole: Corpus | None = None,
    select: Mapping[str, Any] | None = None,
    source: Mapping[str, Any] | None = None,
) -> Run:
    """A result as plain data; `whole` and `select` where the corpus was chosen from a larger one."""
    fingerprint = (whole or result.corpus).fingerprint
    return Run(
        address=address(fingerprint, select or {}, method, options), corpus=result.corpus.name, fingerprint=fingerprint,
        chosen=result.corpus.fingerprint, select=dict(select or {}), source=dict(source or {}), method=method, key=result.algorithm.key,
        options=dict(options), parameters=result.algorithm.settings() | result.options, clusters=result.n_clusters,
        documents=len(result.corpus), stopped=str(result.stopped),
        scores=result.scores | label_free(result)
        | {"objective": float(result.objective[-1]), "seconds": result.seconds, "steps": len(result.objective) - 1},
    )  # fmt: skip


def arrays_of(result: Result) -> Arrays:
    """Factors, clusters and the objective by term, in the form they are kept."""
    return (
        {f"factor {name}": values for name, values in result.factors.items()}
        | {f"term {name}": values for name, values in result.terms.items()}
        | {"labels": result.labels}
    )


LABEL_FREE = ("silhouette", "cut", "coherence")


def label_free(result: Result) -> dict[str, float]:
    """Scores that need no classes: silhouette in the coordinates, cut of the graph, and coherence of the concepts where terms are words."""
    if "label_free" in result.__dict__:  # it came with them from where it was computed
        return result.__dict__["label_free"]
    n, counts = len(result.labels), result.corpus.counts
    S = graph_of(result.corpus, min(5, n - 1), GraphWeights.COSINE)
    found = {"silhouette": silhouette(result.embedding, result.labels), "cut": cut(S, result.labels, result.n_clusters)}
    if sp.issparse(counts):  # every pixel of an image is there in every image
        found["coherence"] = coherence(result.basis, counts)
    return {name: value for name, value in found.items() if value == value}


_choices: OrderedDict[tuple[str, str], Corpus] = OrderedDict()
_lock = threading.Lock()
KEPT = 2  # choices of classes whose matrix, graph and kernels a process keeps for its next cells


def selected(corpus: Corpus, select: Mapping[str, Any]) -> Corpus:
    """The chosen documents; the same object for the same choice, so that all cells on it share what is computed from it."""
    key = corpus.fingerprint, json.dumps(dict(select), sort_keys=True)
    with _lock:
        chosen = _choices.pop(key, None)
        if chosen is None:
            chosen = corpus.select(**select)
        _choices[key] = chosen
        while len(_choices) > KEPT:
            _choices.popitem(last=False)
        return chosen


def rows(cells: Iterable[Cell], runs: Iterable[Run | None]) -> pd.DataFrame:
    """One row a cell and score; cells that are not there yet have none."""
    found, axes = [], dict[str, None]()
    for number, (cell, run) in enumerate(zip(cells, runs, strict=True)):
        axes |= dict.fromkeys(cell.point)
        if run is not None:
            about = {"cell": number, "run": run.address, "corpus": run.corpus, "method": cell.method, "k": run.clusters, "seed": cell.seed}
            found += [about | cell.point | {"score": score, "value": value} for score, value in run.scores.items()]
    return pd.DataFrame(found, columns=["cell", "run", "corpus", "method", "k", "seed", *axes, "score", "value"])
