"""A result taken apart into plain data and arrays, and put together again beside its corpus.

It is how a result comes from a worker's process and out of the store. Pages need what was found: factors, clusters, coordinates,
concepts, the way there. The problem itself (graph, kernel) stays behind, and is made again only where somebody looks at it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cached_property
from typing import Any, overload

import numpy as np

from .algorithms import Needs, configured
from .algorithms.base import find
from .constraints import Constraints
from .corpus.model import Corpus, Matrix
from .fit import known_constraints, problem_for
from .kernel import Kernel, KernelMatrix, Weighting
from .presets import resolve
from .problem import Problem, problem_of
from .result import Result
from .study import LABEL_FREE, Arrays, Run, arrays_of, label_free

TOLD = ("warnings", "scores", "label_free")  # in words and numbers
SEEN = ("embedding", "basis")  # computed from the factors and the problem, and looked at by most pages


class Steps(Sequence[dict[str, float]]):
    """The history of a run, kept as one array a term: a dict a step takes some ten times the memory, in small pieces."""

    def __init__(self, terms: Arrays):
        self.terms = terms

    def __len__(self) -> int:
        return len(next(iter(self.terms.values()), ()))

    @overload
    def __getitem__(self, at: int) -> dict[str, float]: ...
    @overload
    def __getitem__(self, at: slice) -> list[dict[str, float]]: ...
    def __getitem__(self, at: int | slice) -> dict[str, float] | list[dict[str, float]]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        return {name: float(values[at]) for name, values in self.terms.items()}


class Later(Problem):
    """A problem whose parts are made when somebody looks at them: mostly nobody does."""

    corpus: Corpus
    weighting: Weighting
    kernel: Kernel
    has_graph: bool
    known: Callable[[], Constraints | None]
    make: Callable[[], Problem]
    asked: tuple[str, dict[str, Any]]  # the method and the settings it is the problem of

    def __init__(self, corpus: Corpus, k: int, options: Mapping[str, Any], **parts: Any):
        kinds = {"kernel": Kernel(options["kernel"]), "weighting": Weighting(options["weighting"])}
        self.__dict__.update(corpus=corpus, k=k, **kinds, **parts)

    @cached_property
    def _whole(self) -> Problem:
        return self.make()

    @cached_property
    def _without_graph(self) -> Problem:
        return problem_of(self.corpus, self.k, kernel=self.kernel, weighting=self.weighting)

    @property
    def X(self) -> Matrix:
        return self.corpus.matrix.T if self.weighting is Weighting.NONE else self._without_graph.X

    @property
    def K(self) -> KernelMatrix:
        return self._without_graph.K

    @property
    def S(self) -> Matrix | None:
        return self._whole.S if self.has_graph else None

    @property
    def gamma(self) -> np.ndarray | None:
        return self._without_graph.gamma if self.weighting is Weighting.NCW_EXACT else None

    @property
    def n(self) -> int:
        return len(self.corpus)

    @cached_property
    def constraints(self) -> Constraints | None:
        return self.known()


def taken_apart(result: Result) -> tuple[dict[str, Any], Arrays]:
    """A result as plain data and arrays, with what costs time to compute from them."""
    for name in (*SEEN, "warnings", "scores"):
        getattr(result, name)
    result.__dict__["label_free"] = label_free(result)
    return parts_of(result)


def parts_of(result: Result) -> tuple[dict[str, Any], Arrays]:
    """The same with as much of that as is there already."""
    arrays, same, there = arrays_of(result), {}, result.__dict__
    for name in (name for name in SEEN if name in there):
        twin = next((f"factor {f}" for f, factor in result.factors.items() if factor is there[name]), None)
        if twin is None:
            arrays[name] = there[name]
        same[name] = twin or name
    about: dict[str, Any] = {
        "k": result.n_clusters, "options": result.options, "stopped": str(result.stopped), "seconds": result.seconds, "same": same,
    }  # fmt: skip
    about["computed"] = {name: there[name] for name in TOLD if name in there}
    return about, arrays


def complete(result: Result) -> bool:
    """Whether all a page looks at is there, so that nothing has to be computed to show it."""
    return all(name in result.__dict__ for name in (*SEEN, *TOLD))


def put_together(corpus: Corpus, algorithm: str, settings: Mapping[str, Any], about: Mapping[str, Any], arrays: Arrays) -> Result:
    """The result of `fit(corpus, algorithm, **settings)` from its parts."""
    options, k = about["options"], about["k"]
    key = resolve(algorithm).key
    method = configured(key, {p.name: settings[p.name] for p in find(key).parameters if settings.get(p.name) is not None})
    given, seed = settings.get("constraints"), options["seed"]

    def make() -> Problem:
        return problem_for(
            corpus, method, k, kernel=Kernel(options["kernel"]), weighting=Weighting(options["weighting"]), graph=settings.get("graph"),
            constraints=given, seed=seed,
        )[0]  # fmt: skip

    parts = {kind: {n.removeprefix(kind): a for n, a in arrays.items() if n.startswith(kind)} for kind in ("factor ", "term ")}
    problem = Later(
        corpus, k, options, has_graph=bool(method.needs & (Needs.GRAPH | Needs.SUPERVISION)), make=make, asked=(algorithm, dict(settings)),
        known=lambda: known_constraints(corpus, method, given, seed),
    )  # fmt: skip
    result = Result(
        corpus=corpus, problem=problem, algorithm=method, options=dict(options), factors=parts["factor "], labels=arrays["labels"],
        history=Steps(parts["term "]), stopped=about["stopped"], seconds=about["seconds"],
    )  # fmt: skip
    result.__dict__.update({name: arrays[where] for name, where in about.get("same", {}).items()}, terms=parts["term "])
    result.__dict__.update({name: tuple(said) if name == "warnings" else dict(said) for name, said in about.get("computed", {}).items()})
    return result


def reopened(run: Run, corpus: Corpus, arrays: Arrays) -> Result:
    """The result of a run that was kept: its arrays, and those of its scores that take a graph to compute."""
    own = {p.name for p in find(run.key).parameters}
    about = {
        "k": run.clusters, "options": {name: value for name, value in run.parameters.items() if name not in own}, "stopped": run.stopped,
        "seconds": run.scores["seconds"], "computed": {"label_free": {s: run.scores[s] for s in LABEL_FREE if s in run.scores}},
    }  # fmt: skip
    return put_together(corpus, run.method, run.options, about, arrays)


def on(result: Result, corpus: Corpus) -> Result:
    """The same result beside another corpus of the same numbers: what two people ask is answered once, each sees the own documents."""
    if result.corpus is corpus:
        return result
    again = replace(result, corpus=corpus)
    again.__dict__.update({name: result.__dict__[name] for name in (*SEEN, *TOLD, "terms") if name in result.__dict__})
    return again


def weight(value: Any) -> int:
    """Bytes of memory a result keeps, or anything made of arrays."""
    if isinstance(value, Result):
        arrays = [*value.factors.values(), *value.terms.values(), *(v for v in value.__dict__.values() if isinstance(v, np.ndarray))]
        steps = 0 if isinstance(value.history, Steps) else 300 * len(value.history)
        return sum({id(a): a.nbytes for a in arrays}.values()) + steps
    if isinstance(value, np.ndarray):
        return value.nbytes
    if is_dataclass(value):
        return sum(weight(getattr(value, f.name)) for f in fields(value))
    parts = value.values() if isinstance(value, dict) else value
    return sum(map(weight, parts)) if isinstance(value, tuple | dict) else 0
