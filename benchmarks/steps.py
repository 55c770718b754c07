"""One step of each method beside its peers: time, time for 100 steps, memory, objective."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

import fact_core as fc
from fact_core.algorithms import configured
from fact_core.algorithms.base import Factors
from fact_core.graph import GraphWeights
from fact_core.kernel import LinearKernel, transposed
from fact_core.problem import Problem, graph_of
from fact_core.products import load
from fact_core.solve import iterates

from .measure import ROUNDS, clock, median, peak, taking_turns, using

STEPS = 20  # in a round
Row = dict[str, Any]


class Contender:
    """Something that takes steps, some in a round; `objective` says how far it came."""

    steps = STEPS

    def step(self) -> None: ...

    def several(self) -> None:
        for _ in range(self.steps):
            self.step()

    @property
    def objective(self) -> float:
        return float("nan")


class Ours(Contender):
    def __init__(self, key: str, corpus: fc.Corpus, k: int, start: Factors, graph: sp.csr_array, threads: int):
        Xt = corpus.matrix
        X = transposed(Xt)
        self.threads, self.problem = threads, Problem(X, Xt, LinearKernel(X, Xt), k, graph)
        load(X, start["V"])
        self.loop = iterates(configured(key, {}), self.problem, start)
        self.at = next(self.loop)

    def step(self) -> None:
        self.at = next(self.loop)

    def several(self) -> None:
        with using(self.threads, blas=1):  # as `solve` has it
            super().several()

    @property
    def objective(self) -> float:
        return self.at.objective


class Textbook(Contender):
    """LCCF (and CF, with λ = 0) with the kernel formed, every product with it."""

    steps = 4  # it is that slow

    def __init__(self, corpus: fc.Corpus, start: Factors, graph: sp.csr_array, lam: float):
        X = corpus.matrix
        self.K = (X @ X.T).toarray() if sp.issparse(X) else X @ X.T
        self.S, self.D, self.lam = graph, np.asarray(graph.sum(axis=1)).reshape(-1, 1), lam
        c = np.linalg.norm(start["V"], axis=0)
        self.W, self.V = start["W"] * c, start["V"] / c

    def step(self) -> None:
        K, S, D, lam, W, V = self.K, self.S, self.D, self.lam, self.W, self.V
        KW = K @ W
        V = V * (KW + lam * (S @ V)) / np.maximum(V @ (W.T @ KW) + lam * D * V, 1e-10)
        W = W * (K @ V) / np.maximum(KW @ (V.T @ V), 1e-10)
        c = np.linalg.norm(V, axis=0)
        self.W, self.V = W * c, V / c


class ScikitLearn(Contender):
    def __init__(self, corpus: fc.Corpus, start: Factors, solver: str, threads: int):
        self.X, self.solver, self.threads = corpus.matrix, solver, threads
        self.W, self.H = start["V"].copy(), np.ascontiguousarray(start["U"].T)

    def several(self) -> None:
        from sklearn.decomposition import non_negative_factorization

        with using(self.threads):
            self.W, self.H, _ = non_negative_factorization(
                self.X, self.W, self.H, n_components=self.W.shape[1], init="custom", solver=self.solver, max_iter=STEPS, tol=0
            )

    @property
    def objective(self) -> float:
        X, W, H = self.X, self.W, self.H
        square = X.multiply(X).sum() if sp.issparse(X) else np.vdot(X, X)
        return float(square - 2 * np.vdot(W, X @ H.T) + np.vdot(W.T @ W, H @ H.T))


class Products(Contender):
    """scipy's products alone: documents × terms, and its transpose as a view."""

    def __init__(self, corpus: fc.Corpus, A: np.ndarray, pairs: int):
        self.X, self.A, self.pairs = corpus.matrix, A, pairs

    def step(self) -> None:
        for _ in range(self.pairs):
            self.X @ (self.X.T @ self.A)


def table(corpus: fc.Corpus, k: int = 10) -> list[Row]:
    """Every contender on one corpus."""
    rng = np.random.default_rng(0)
    n, m = corpus.matrix.shape
    cf, nmf = ({"W": rng.random((n, k)), "V": rng.random((n, k))}, {"U": rng.random((m, k)), "V": rng.random((n, k))})
    cosine, binary = graph_of(corpus, 5, GraphWeights.COSINE), graph_of(corpus, 5, GraphWeights.BINARY)
    load(transposed(corpus.matrix), cf["V"])  # compiling is no part of a step
    made: dict[str, Callable[[], Contender]] = {
        "four sparse products (scipy)": lambda: Products(corpus, cf["V"], 2),
        "two sparse products (scipy)": lambda: Products(corpus, cf["V"], 1),
    }
    for count in (1, 2):
        words = f"{count} thread{'s' * (count > 1)}"
        for key, start, graph in (("cf", cf, cosine), ("lccf", cf, cosine), ("nmf", nmf, binary), ("gnmf", nmf, binary)):
            made[f"{configured(key, {}).title}, {words}"] = lambda a=(key, corpus, k, start, graph, count): Ours(*a)
        made[f"scikit-learn NMF (mu), {words}"] = lambda c=count: ScikitLearn(corpus, nmf, "mu", c)
    made["scikit-learn NMF (cd), 1 thread"] = lambda: ScikitLearn(corpus, nmf, "cd", 1)
    made["LCCF, textbook with dense kernel"] = lambda: Textbook(corpus, cf, cosine, 100.0)

    found: dict[str, tuple[Contender, Row]] = {}
    for name, make in made.items():
        seconds, (most, contender) = clock(lambda make=make: peak(make))
        found[name] = contender, {"corpus": corpus.name, "n": n, "what": name, "peak_mb": most, "setup_s": seconds}
    times = taking_turns({name: contender.several for name, (contender, _) in found.items()})
    for name, (contender, row) in found.items():
        row["ms_per_step"] = 1e3 * median(times[name]) / contender.steps
        row["seconds_100"] = row["setup_s"] + sum(times[name]) * 100 / (ROUNDS * contender.steps)
        row["objective"] = contender.objective
        row["peak_mb"] += peak(contender.step)[0]
    return [row for _, row in found.values()]


def show(rows: list[Row]) -> None:
    print(f"{'corpus':<14}{'n':>7}  {'what':<34}{'ms/step':>9}{'100 steps s':>12}{'peak MB':>9}{'objective':>12}")
    for row in rows:
        objective = "" if row["objective"] != row["objective"] else f"{row['objective']:.3f}"
        print(
            f"{row['corpus']:<14}{row['n']:>7}  {row['what']:<34}{row['ms_per_step']:>9.2f}{row['seconds_100']:>12.2f}"
            f"{row['peak_mb']:>9.0f}{objective:>12}"
        )
    print(flush=True)
