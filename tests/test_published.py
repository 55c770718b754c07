"""What the papers report, on their own corpora (where these are at hand)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fact_core as fc
from fact_core.kernel import Kernel, kernel_matrix

SEEDS = range(5)
# The peak of a process' own memory in kB; `ru_maxrss` would begin with that of the process it was forked from.
PEAK = "next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM'))"


def load(folder: Path, name: str) -> fc.Corpus:
    return fc.load_corpus(folder / name)


def accuracies(
    corpus: fc.Corpus, method: str, *, min_size: int | None = None, max_size: int | None = None, **options: object
) -> np.ndarray:
    """Accuracy on six random classes, once a seed."""
    choices = [corpus.select(min_size=min_size, max_size=max_size, random=6, seed=seed) for seed in SEEDS]
    return np.array([fc.fit(c, method, seed=seed, **options).scores["accuracy"] for seed, c in zip(SEEDS, choices, strict=True)])


@pytest.mark.parametrize("method", ["gnmf", "LCCF-NCW"])
def test_graph_methods_on_tdt2(shared_data: Path, method: str) -> None:
    assert accuracies(load(shared_data, "TDT2.mat"), method, lam=100).mean() >= 0.93


def test_orthogonality_pays_on_tdt2(shared_data: Path) -> None:
    corpus = load(shared_data, "TDT2_all.mat")
    mean = {m: accuracies(corpus, m, min_size=10, max_size=1000).mean() for m in ("AA-HHt", "AA-PSPt", "NC-PSPt")}
    assert mean["NC-PSPt"] >= 0.90
    assert mean["AA-PSPt"] >= 0.85
    assert mean["AA-PSPt"] > mean["AA-HHt"]


def test_the_printed_scaling_of_pspt_fails_as_specified(shared_data: Path) -> None:
    corpus = load(shared_data, "TDT2_all.mat")
    assert accuracies(corpus, "AA-PSPt", min_size=10, max_size=1000, scaling="paper", restarts=2).mean() < 0.75


def test_locality_on_faces_needs_many_steps(shared_data: Path) -> None:
    corpus = load(shared_data, "ORL.mat")
    few, many = (accuracies(corpus, "lcf", lam=0.3, max_iter=steps).mean() for steps in (200, 2000))
    assert many >= 0.75
    assert many > few


def test_constraints_pay_on_tdt2(shared_data: Path) -> None:
    corpus = load(shared_data, "TDT2.mat")
    few, many = (accuracies(corpus, "RCF", share=share).mean() for share in (0.02, 0.2))
    assert many >= 0.95
    assert many >= few
    assert accuracies(corpus, "label_propagation", share=0.02).mean() >= 0.95


def test_constraints_on_reuters(shared_data: Path) -> None:
    assert accuracies(load(shared_data, "Reuters21578.mat"), "RCF", min_size=50, share=0.2).mean() >= 0.85


@pytest.mark.parametrize("keep", [0, 100])
def test_memory_of_propagation_on_a_whole_corpus(shared_data: Path, keep: int) -> None:
    """9394 documents, 2 % of them labelled. Whole, S̃ itself is 0.7 GB."""
    script = (
        "import fact_core as fc\n"
        "from fact_core.constraints import from_share, propagate\n"
        "from fact_core.graph import GraphWeights, neighbour_graph\n"
        f"corpus = fc.load_corpus({str(shared_data / 'TDT2.mat')!r})\n"
        "S = neighbour_graph(corpus.matrix, 5, GraphWeights.HEAT)\n"
        f"propagate(S, from_share(corpus, 0.02), 0.5).graph(S, keep={keep})\n"
        f"print({PEAK})"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=os.environ | {"OMP_NUM_THREADS": "1"}
    )
    assert int(done.stdout) / 1024 < (2000 if keep == 0 else 1000)


def test_memory_of_a_run_on_reuters(shared_data: Path) -> None:
    """A hundred steps of LCCF hold nothing of the size n × n (8293² numbers would be 550 MB)."""
    script = (
        "import fact_core as fc\n"
        f"corpus = fc.load_corpus({str(shared_data / 'Reuters21578.mat')!r})\n"
        "fc.fit(corpus, 'lccf', n_clusters=10, max_iter=100, restarts=1)\n"
        f"print({PEAK})"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=os.environ | {"OMP_NUM_THREADS": "1"}
    )
    assert int(done.stdout) / 1024 < 500


def test_kernels_of_a_whole_corpus_are_asked_for(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = load(shared_data, "TDT2.mat")
    monkeypatch.setenv("FACTSCOPE_MEMORY", "500MB")
    for kernel in ("poly2", "rbf"):
        with pytest.raises(fc.FactScopeError, match=r"kernel of 9394 documents needs 1\.4 GB .* about 5590 documents would fit"):
            fc.fit(corpus, "lccf", kernel=kernel, n_clusters=10)


def test_poly2_of_a_whole_corpus_is_right(shared_data: Path) -> None:
    X = load(shared_data, "TDT2.mat").matrix.T
    K = kernel_matrix(X, Kernel.POLY2)
    columns = np.random.default_rng(0).choice(X.shape[1], 5, replace=False)
    direct = (X.T @ X[:, columns]).toarray() ** 2
    np.testing.assert_allclose(K @ np.eye(X.shape[1])[:, columns], direct, atol=1e-12)
