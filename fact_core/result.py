"""What a run leaves behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from . import metrics
from .algorithms.base import Algorithm, Factors
from .assign import Assign, nearest_clusters
from .concepts import top_terms
from .corpus.model import Corpus, Matrix
from .graph import GraphWeights
from .kernel import Kernel, Weighting
from .newcomers import newcomers, weighted_rows
from .problem import Problem
from .warnings import warnings_of


@dataclass(frozen=True)
class Placed:
    """Where new documents fall."""

    embedding: np.ndarray  # one row a document, one column a concept
    labels: np.ndarray


@dataclass(frozen=True, eq=False)
class Result:
    """A finished factorisation: factors, clusters, the way there, and the scores where classes are known."""

    corpus: Corpus
    problem: Problem = field(repr=False)
    algorithm: Algorithm
    options: dict[str, Any]  # kernel, weighting, graph, assign, seed, restarts, …: everything of `fit` but the parameters
    factors: Factors = field(repr=False)
    labels: np.ndarray = field(repr=False)  # the cluster of each document
    history: Sequence[dict[str, float]] = field(repr=False)  # the terms of the objective, step by step
    stopped: str  # "budget" | "tolerance" | "diverged" | "cancelled"
    seconds: float

    @property
    def n_clusters(self) -> int:
        return self.problem.k

    @cached_property
    def terms(self) -> dict[str, np.ndarray]:
        """The objective's history by term; one value a step, start included."""
        return {name: np.array([step[name] for step in self.history]) for name in self.history[0]}

    @cached_property
    def objective(self) -> np.ndarray:
        """One value a step, start included."""
        return np.sum(list(self.terms.values()), axis=0)

    @cached_property
    def scores(self) -> dict[str, float]:
        """Accuracy, NMI, ARI and purity where the corpus has classes; nothing otherwise."""
        return {} if self.corpus.labels is None else metrics.scores(self.corpus.labels, self.labels)

    @property
    def supervised(self) -> np.ndarray:
        """The documents the method was told something of: labelled ones, or those of a pair; none without constraints."""
        constraints = self.problem.constraints
        return np.array([], dtype=np.int64) if constraints is None else constraints.documents

    @cached_property
    def scores_unlabelled(self) -> dict[str, float]:
        """The same scores without those documents; nothing where no other is left."""
        rest = np.setdiff1d(np.arange(len(self.labels)), self.supervised)
        return {} if self.corpus.labels is None or not len(rest) else metrics.scores(self.corpus.labels[rest], self.labels[rest])

    @cached_property
    def embedding(self) -> np.ndarray:
        """One row a document, one column a concept."""
        return self.algorithm.embedding(self.problem, self.factors)

    @cached_property
    def basis(self) -> np.ndarray:
        """One row a term, one column a concept."""
        return self.algorithm.basis(self.problem, self.factors)

    def concepts(self, count: int = 10) -> list[list[tuple[str, float]]]:
        """The heaviest terms of each concept, with weights."""
        return top_terms(self.basis, self.corpus.terms, count)

    @property
    def sizes(self) -> np.ndarray:
        """Documents in each cluster."""
        return np.bincount(self.labels, minlength=self.n_clusters)

    @property
    def confusion(self) -> np.ndarray | None:
        """Classes × clusters."""
        if self.corpus.labels is None:
            return None
        return metrics.confusion(self.corpus.labels, self.labels, len(self.corpus.label_names), self.n_clusters)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know before believing the numbers, in sentences."""
        return tuple(warnings_of(self.problem, self.embedding, self.labels, self.objective, self.stopped))

    def place(self, new: Any) -> Placed:
        """Coordinates and clusters of documents that were not there: texts, counts over the corpus' terms, or another corpus."""
        return self.place_rows(weighted_rows(self.corpus, new))

    def place_rows(self, rows: Matrix) -> Placed:
        """The same for rows over the corpus' terms that are weighted as the corpus is."""
        corpus, options = self.corpus, self.options
        weights = self.algorithm.graph if options["graph"] in (None, "given") else GraphWeights(options["graph"])
        fresh = newcomers(
            corpus, self.problem, rows, kernel=Kernel(options["kernel"]), weighting=Weighting(options["weighting"]),
            edges=self.algorithm.edges(corpus, rows, weights),
        )  # fmt: skip
        V = self.algorithm.place(self.problem, self.factors, fresh)
        return Placed(V, nearest_clusters(V, self.embedding, self.labels, Assign(options["assign"])))

    def as_json(self, terms: int = 10) -> dict[str, Any]:
        """The run in plain types."""
        return {
            "corpus": self.corpus.name,
            "fingerprint": self.corpus.fingerprint,
            "algorithm": self.algorithm.key,
            "parameters": self.algorithm.settings() | self.options,
            "n_documents": len(self.corpus),
            "n_terms": len(self.corpus.terms),
            "n_clusters": self.n_clusters,
            "objective": self.objective.tolist(),
            "terms": {name: values.tolist() for name, values in self.terms.items()},
            "stopped": str(self.stopped),
            "scores": self.scores,
            "scores_unlabelled": self.scores_unlabelled,
            "supervised": len(self.supervised),
            "cluster_sizes": self.sizes.tolist(),
            "seconds": round(self.seconds, 4),
            "concepts": [[[term, weight] for term, weight in concept] for concept in self.concepts(terms)],
            "warnings": list(self.warnings),
            "dropped": [str(d) for d in self.corpus.dropped],
        }
