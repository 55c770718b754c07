"""A result taken apart for the pipe, and put together again beside the corpus the server has.

The server gets what pages show: factors, clusters, coordinates, concepts, the way there. The problem itself (graph, kernel) stays with
the worker; a page that looks at it anyway has it made then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ..algorithms import configured
from ..constraints import Constraints
from ..corpus.model import Corpus
from ..fit import known_constraints, problem_for
from ..kernel import Kernel, Weighting
from ..presets import resolve
from ..problem import Problem
from ..result import Result
from ..study import arrays_of
from .frames import Message

SEEN = ("embedding", "basis")  # computed from the factors and the problem, and looked at by most pages


class Later(Problem):
    """A problem that is made when somebody looks at it; how many concepts there are and what was known cost nothing."""

    def __init__(self, k: int, known: Callable[[], Constraints | None], make: Callable[[], Problem]):
        for name, value in (("k", k), ("_known", known), ("_make", make)):
            object.__setattr__(self, name, value)

    @cached_property
    def _whole(self) -> Problem:
        return self._make()  # type: ignore[attr-defined]

    X = property(lambda self: self._whole.X)
    K = property(lambda self: self._whole.K)
    S = property(lambda self: self._whole.S)
    gamma = property(lambda self: self._whole.gamma)
    constraints = cached_property(lambda self: self._known())


def taken_apart(result: Result) -> Message:
    arrays, same = arrays_of(result), {}
    for name in SEEN:
        values = getattr(result, name)
        twin = next((f"factor {f}" for f, factor in result.factors.items() if factor is values), None)
        if twin is None:
            arrays[name] = values
        same[name] = twin or name
    about = {
        "same": same,
        "k": result.n_clusters, "options": result.options, "stopped": str(result.stopped), "seconds": result.seconds,
        "warnings": list(result.warnings),
    }  # fmt: skip
    return about, arrays


def put_together(corpus: Corpus, algorithm: str, settings: Mapping[str, Any], message: Message) -> Result:
    """The result of `fit(corpus, algorithm, **settings)` from what a worker found."""
    about, arrays = message
    options = about["options"]
    preset = resolve(algorithm)
    method = configured(preset.key, {p.name: settings[p.name] for p in configured(preset.key, {}).parameters if p.name in settings})
    given, seed = settings.get("constraints"), options["seed"]

    def make() -> Problem:
        return problem_for(
            corpus, method, about["k"], kernel=Kernel(options["kernel"]), weighting=Weighting(options["weighting"]),
            graph=settings.get("graph"), constraints=given, seed=seed,
        )[0]  # fmt: skip

    parts = {kind: {n.removeprefix(kind): a for n, a in arrays.items() if n.startswith(kind)} for kind in ("factor ", "term ")}
    history = [dict(zip(parts["term "], map(float, step), strict=True)) for step in zip(*parts["term "].values(), strict=True)]
    result = Result(
        corpus=corpus, problem=Later(about["k"], lambda: known_constraints(corpus, method, given, seed), make), algorithm=method,
        options=options, factors=parts["factor "], labels=arrays["labels"], history=history, stopped=about["stopped"],
        seconds=about["seconds"],
    )  # fmt: skip
    result.__dict__.update({name: arrays[where] for name, where in about["same"].items()}, warnings=tuple(about["warnings"]))
    return result


def on(result: Result, corpus: Corpus) -> Result:
    """The same result beside another corpus of the same numbers: what two people ask is answered once, each sees the own documents."""
    if result.corpus is corpus:
        return result
    again = replace(result, corpus=corpus)
    again.__dict__.update({name: result.__dict__[name] for name in (*SEEN, "warnings") if name in result.__dict__})
    return again


def weight(result: Result) -> int:
    """Bytes of memory a result keeps."""
    arrays = [*result.factors.values(), *(v for v in result.__dict__.values() if isinstance(v, np.ndarray))]
    return sum({id(a): a.nbytes for a in arrays}.values()) + 300 * len(result.history)
