"""Generated corpora of any size, and the one of a million documents."""

from __future__ import annotations

import resource
import time

import numpy as np
import scipy.sparse as sp

import fact_core as fc
from fact_core.algorithms import configured
from fact_core.corpus.model import assemble
from fact_core.graph import GraphWeights, graph_recall
from fact_core.problem import Problem, graph_of, problem_of
from fact_core.products import load
from fact_core.solve import iterates
from fact_core.threads import threads


def zipf(documents: int, terms: int = 20_000, length: int = 50, seed: int = 0, topics: int = 20) -> fc.Corpus:
    """Documents of so many words each, weighted as texts are.

    Word frequencies fall like those of text; half the words of a document are its topic's own, and a third of those its story's, which
    ten documents tell: without stories nobody would have neighbours.
    """
    rng = np.random.default_rng(seed)
    chance = 1 / np.arange(1, terms + 1)
    total = np.cumsum(chance / chance.sum())
    own, told, stories = length // 2, length // 6, max(1, documents // 10)

    def words(*shape: int) -> np.ndarray:
        return np.minimum(np.searchsorted(total, rng.random(shape)), terms - 1).astype(np.int32)

    story = words(stories, told)
    rows, block = [], 50_000
    for first in range(0, documents, block):
        count = min(block, documents - first)
        drawn, which = words(count, length), rng.integers(stories, size=count)
        drawn[:, :told] = story[which]
        drawn[:, :own] = (which[:, None] % topics * 997 + drawn[:, :own] * topics) % terms
        X = sp.csr_array((np.ones(count * length), drawn.ravel(), np.arange(0, count * length + 1, length)), shape=(count, terms))
        X.sum_duplicates()
        rows.append(X)
    return assemble(f"zipf-{documents}", sp.vstack(rows, format="csr"))


def step_time(method: str, problem: Problem, steps: int) -> tuple[float, float]:
    """Median seconds a step, and the objective reached."""
    rng = np.random.default_rng(0)
    algorithm = configured(method, {})
    loop = iterates(algorithm, problem, algorithm.start(problem, rng))
    at = next(loop)
    times = []
    for _ in range(steps):
        began = time.perf_counter()
        at = next(loop)
        times.append(time.perf_counter() - began)
    return float(np.median(times)), at.objective


def made_up(n: int, p: int = 5) -> sp.csr_array:
    """A graph of the size of a neighbour graph, without the search."""
    rng = np.random.default_rng(0)
    near = (np.arange(n)[:, None] + rng.integers(1, n, size=(n, p))) % n
    S = sp.csr_array((rng.random(n * p), near.ravel(), np.arange(0, n * p + 1, p)), shape=(n, n))
    return S.maximum(S.T).tocsr()


def report(documents: int, search: bool) -> None:
    """GNMF and LCCF, ten steps, on half the documents and on all of them."""
    seconds: dict[str, list[float]] = {"gnmf": [], "lccf": []}
    for n in (documents // 2, documents):
        began = time.perf_counter()
        corpus = zipf(n, terms=50_000, length=100)
        made = time.perf_counter()
        S = graph_of(corpus, 5, GraphWeights.COSINE) if search else made_up(n)
        found = time.perf_counter()
        problem = problem_of(corpus, 10, graph=S)
        load(problem.X, np.empty((n, 10)))
        kind = "made up" if not search else "exact" if (recall := graph_recall(S)) is None else f"recall {recall:.3f} on a sample"
        print(
            f"{n} documents, {corpus.matrix.nnz} non-zeros: made in {made - began:.0f} s, graph in {found - made:.0f} s ({kind})",
            flush=True,
        )
        for method, times in seconds.items():
            took, objective = step_time(method, problem, 10)
            times.append(took)
            print(f"  {method}: {took:.2f} s a step on {threads()} threads, objective {objective:.6g}", flush=True)
        print(f"  memory of the process at most: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.1f} GB", flush=True)
        del corpus, problem, S
    for method, (half, whole) in seconds.items():
        print(f"twice the documents: {method} {whole / half:.2f} × the time a step")
