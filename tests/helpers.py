"""Small problems for the tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import fact_core as fc
from fact_core.algorithms.base import Algorithm, Factors, Needs
from fact_core.fit import problem_for as prepared
from fact_core.problem import Problem

REFERENCE = Path(__file__).parent / "reference"


def reference(name: str) -> dict[str, np.ndarray]:
    with np.load(REFERENCE / f"{name}.npz", allow_pickle=False) as arrays:
        return dict(arrays)


def clustered(n: int = 24, m: int = 18, k: int = 3, seed: int = 0, noise: float = 0.2, sharp: float = 3) -> tuple[np.ndarray, np.ndarray]:
    """Documents × terms around k topics (the sharper, the fewer terms each has), unit rows, a third of the entries zero; and the topics."""
    rng = np.random.default_rng(seed)
    topic = np.arange(n) % k
    topics = rng.random((k, m)) ** sharp
    X = topics[topic] + noise * rng.random((n, m))
    X[rng.random((n, m)) < 0.3] = 0.0
    X[np.arange(n), rng.integers(m, size=n)] += 0.1  # no empty document
    return X / np.linalg.norm(X, axis=1, keepdims=True), topic


def small_corpus(sparse: bool = False, **options: object) -> fc.Corpus:
    X, topic = clustered(**options)  # type: ignore[arg-type]
    return fc.from_matrix(sp.csr_array(X) if sparse else X, labels=topic)


def problem_for(method: Algorithm, corpus: fc.Corpus, k: int = 3) -> Problem:
    known = told(type(method), len(corpus), k) if corpus.labels is None else {}
    return prepared(corpus, method, k, **known)[0]


def told(cls: type[Algorithm], n: int, k: int) -> dict[str, Any]:
    """What a semi-supervised method has to be told of a corpus without classes: the classes of some documents."""
    return {"constraints": {i: i % k for i in range(min(n, 2 * k))}} if Needs.SUPERVISION in cls.needs else {}


def objective(method: Algorithm, problem: Problem, factors: Factors) -> float:
    given = method.given(problem, method.blocks[0], factors, {}) if method.blocks else {}
    return float(sum(method.terms(problem, factors, given).values()))


def falls(values: np.ndarray) -> bool:
    """Whether a sequence never rises, but for rounding."""
    values = np.asarray(values)
    return bool(np.all(np.diff(values) <= 1e-9 * np.abs(values[:-1]) + 1e-12 * np.abs(values).max()))
