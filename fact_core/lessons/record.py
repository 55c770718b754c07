"""A run with every step kept, to be stepped through: the same numbers as `fit` with the same seed and one start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from .. import metrics
from ..algorithms import Algorithm, configured
from ..algorithms.starts import Start
from ..assign import Assign, clusters
from ..corpus.model import Corpus
from ..errors import FactScopeError
from ..fit import choice, options_for, problem_for, whole
from ..kernel import Kernel, Weighting
from ..presets import resolve
from ..problem import Problem
from ..projection import stratified
from ..solve import Iterate, Progress, solve
from .slips import keeps_scale, rescaled

MOST_STEPS = 200  # of a run one steps through
SMALL = 300  # documents of a problem one steps through


@dataclass(frozen=True, eq=False)
class Track:
    """One method on its way: every iterate, the start included."""

    title: str
    corpus: Corpus = field(repr=False)
    algorithm: Algorithm
    problem: Problem = field(repr=False)
    iterates: tuple[Iterate, ...] = field(repr=False)
    labels: np.ndarray = field(repr=False)  # clusters after the last step, read in the method's own way

    @cached_property
    def objective(self) -> np.ndarray:
        return np.array([iterate.objective for iterate in self.iterates])

    @cached_property
    def terms(self) -> dict[str, np.ndarray]:
        return {name: np.array([iterate.terms[name] for iterate in self.iterates]) for name in self.iterates[0].terms}

    @cached_property
    def embeddings(self) -> np.ndarray:
        """Steps × documents × concepts."""
        return np.array([self.algorithm.embedding(self.problem, iterate.factors) for iterate in self.iterates])

    @property
    def bases(self) -> np.ndarray:
        """Steps × terms × concepts; made anew each time, since it is as large as all iterates together."""
        return np.array([self.algorithm.basis(self.problem, iterate.factors) for iterate in self.iterates])

    @cached_property
    def accuracy(self) -> np.ndarray | None:
        """After each step, where clusters are the largest coordinates; None without classes or where they are read otherwise."""
        true = self.corpus.labels
        if true is None or self.algorithm.assign is not Assign.ARGMAX:
            return None
        return np.array([_accuracy(true, V.argmax(axis=1)) for V in self.embeddings])

    @property
    def final_accuracy(self) -> float | None:
        return None if self.corpus.labels is None else _accuracy(self.corpus.labels, self.labels)


def small(corpus: Corpus, most: int = SMALL) -> Corpus:
    """The corpus, or a part of it that is drawn class by class."""
    if len(corpus) <= most:
        return corpus
    groups = corpus.labels if corpus.labels is not None else np.zeros(len(corpus), dtype=int)
    return corpus.take(np.sort(stratified(groups, most)))


def record(
    corpus: Corpus,
    method: str,
    *,
    n_clusters: int | None = None,
    steps: int = MOST_STEPS,
    seed: int = 0,
    start: str | None = None,
    weighting: str | None = None,
    kernel: str | None = None,
    normalise: bool | None = None,
    progress: Callable[[Progress], object] | None = None,
    cancelled: Callable[[], bool] | None = None,
    **parameters: Any,
) -> Track:
    """The run `fit(corpus, method, restarts=1, seed=seed, max_iter=steps, …)` with all its iterates.

    `normalise` says whether V keeps unit columns after every step; None leaves it to the method. What differs from the method itself is
    said in the title.
    """
    preset = resolve(method)
    algorithm = configured(preset.key, parameters)
    title = preset.name
    if normalise is not None and normalise != keeps_scale(algorithm) and (changed := rescaled(algorithm, normalise)) is not algorithm:
        algorithm, title = changed, f"{title}, {'V at unit length' if normalise else 'not normalised'}"
    kind, weights = options_for(algorithm, kernel or preset.options.get("kernel"), weighting or preset.options.get("weighting"))
    k = n_clusters if n_clusters is not None else len(corpus.label_names)
    if k < 1:
        raise FactScopeError(f"{corpus.name} has no classes, so the number of clusters must be given.")
    seed, steps = whole("seed", seed, 0), whole("number of steps", steps, 0)
    first = choice("start", start, Start) if start is not None else algorithm.starts[0]
    if first not in algorithm.starts:
        first = algorithm.starts[0]
    problem, _ = problem_for(corpus, algorithm, k, kernel=Kernel(kind), weighting=Weighting(weights), seed=seed)
    if (refusal := algorithm.refusal(problem)) is not None:
        raise FactScopeError(refusal)
    seen: list[Iterate] = []

    def keep(at: Progress) -> None:
        seen.append(at.iterate)
        if progress is not None:
            progress(at)

    starts, reading = np.random.SeedSequence(seed).spawn(2)  # as in `fit`
    solution = solve(
        algorithm, problem, seed=starts, restarts=1, max_iter=min(steps, MOST_STEPS), init=first, progress=keep, cancelled=cancelled
    )
    labels = clusters(algorithm.embedding(problem, solution.factors), algorithm.assign, np.random.default_rng(reading))
    return Track(title, corpus, algorithm, problem, tuple(seen), labels)


def _accuracy(labels: np.ndarray, found: np.ndarray) -> float:
    table = metrics.confusion(labels, found)
    return float(table[metrics.best_match(table)].sum() / len(labels))
