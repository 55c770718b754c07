"""`make bench`: time and memory per step against peers, in one run on the same matrix.

Every number is a median of several rounds; ratios of two rows of one run mean something, times of two runs do not.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import fact_core as fc
from fact_core.algorithms import configured
from fact_core.algorithms.base import Factors
from fact_core.problem import Problem, graph_of, problem_of
from fact_core.solve import iterates

ROUNDS, STEPS = 5, 10


def zipf(documents: int = 8000, terms: int = 20000, length: int = 50, seed: int = 0) -> fc.Corpus:
    """A generated corpus whose term frequencies fall like those of text."""
    rng = np.random.default_rng(seed)
    chance = 1 / np.arange(1, terms + 1)
    columns = rng.choice(terms, size=documents * length, p=chance / chance.sum())
    rows = np.repeat(np.arange(documents), length)
    X = sp.coo_array((np.ones(len(rows)), (rows, columns)), shape=(documents, terms)).tocsr()
    X = sp.csr_array(sp.diags_array(1 / np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())) @ X)
    return fc.from_matrix(X, name=f"zipf-{documents}")


def measured(step: Callable[[], object]) -> tuple[float, float]:
    """Median seconds a step, and the peak of memory taken by a step in MB."""
    step()
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for _ in range(STEPS):
            step()
        times.append((time.perf_counter() - began) / STEPS)
    tracemalloc.start()
    step()
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return float(np.median(times)), peak


def ours(key: str, problem: Problem, start: Factors) -> Callable[[], object]:
    steps = iterates(configured(key, {}), problem, start)
    return lambda: next(steps)


def dense_kernel_lccf(problem: Problem, start: Factors) -> Callable[[], object]:
    """The textbook: K formed once, every product with it."""
    K = (problem.Xt @ problem.X).toarray() if sp.issparse(problem.X) else problem.Xt @ problem.X
    S, D, lam = problem.graph, problem.D, 100.0
    f = dict(start)

    def step() -> None:
        W, V = f["W"], f["V"]
        V = V * (K @ W + lam * (S @ V)) / np.maximum(V @ (W.T @ (K @ W)) + lam * D * V, 1e-10)
        W = W * (K @ V) / np.maximum(K @ W @ (V.T @ V), 1e-10)
        c = np.linalg.norm(V, axis=0)
        f["W"], f["V"] = W * c, V / c

    return step


def sklearn_mu(problem: Problem, start: Factors) -> Callable[[], object]:
    from sklearn.decomposition import non_negative_factorization

    X = problem.Xt.tocsr() if sp.issparse(problem.Xt) else problem.Xt
    V, Ut = start["V"].copy(), np.ascontiguousarray(start["U"].T)

    def twenty_steps() -> None:
        non_negative_factorization(X, V.copy(), Ut.copy(), n_components=V.shape[1], init="custom", solver="mu", max_iter=STEPS, tol=0)

    return twenty_steps


def table(corpus: fc.Corpus, k: int = 10) -> list[dict[str, object]]:
    rng = np.random.default_rng(0)
    problem = problem_of(corpus, k, graph=graph_of(corpus, 5, configured("lccf", {}).graph))
    n, m = problem.n, problem.m
    cf, nmf = ({"W": rng.random((n, k)), "V": rng.random((n, k))}, {"U": rng.random((m, k)), "V": rng.random((n, k))})
    A, X, Xt = rng.random((n, k)), problem.X, problem.Xt
    kinds: dict[str, tuple[Callable[[], object], int]] = {
        "four sparse products": (lambda: (Xt @ (X @ A), Xt @ (X @ A)), 1),
        "CF": (ours("cf", problem, cf), 1),
        "LCCF": (ours("lccf", problem, cf), 1),
        "two sparse products": (lambda: Xt @ (X @ A), 1),
        "NMF": (ours("nmf", problem, nmf), 1),
        "GNMF": (ours("gnmf", problem, nmf), 1),
        "scikit-learn NMF (mu)": (sklearn_mu(problem, nmf), STEPS),
        "LCCF, dense kernel": (dense_kernel_lccf(problem, cf), 1),
    }
    rows = []
    for name, (step, steps) in kinds.items():
        seconds, peak = measured(step)
        kernel = n * n * 8 / 1e6 if "dense" in name else 0.0
        rows.append({"corpus": corpus.name, "n": n, "what": name, "ms_per_step": 1e3 * seconds / steps, "peak_mb": peak + kernel})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    folder = Path(os.environ.get("FACTSCOPE_DATA") or "nowhere")
    corpora = [fc.load_corpus(folder / f"{name}.mat") for name in ("Reuters21578", "TDT2") if (folder / f"{name}.mat").exists()]
    rows = [row for corpus in (corpora or [zipf()]) for row in table(corpus)]
    if options.json:
        json.dump(rows, sys.stdout, indent=2)
        return
    print(f"{'corpus':<14}{'n':>7}  {'what':<24}{'ms/step':>9}{'peak MB':>9}")
    for row in rows:
        print(f"{row['corpus']:<14}{row['n']:>7}  {row['what']:<24}{row['ms_per_step']:>9.2f}{row['peak_mb']:>9.0f}")


if __name__ == "__main__":
    main()
