"""Products on a Dask cluster of two workers on this machine: the same numbers."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from helpers import small_corpus

import fact_core as fc


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1") as cluster:
        yield cluster


@pytest.mark.parametrize(
    ("method", "options"),
    [("nmf", {}), ("gnmf", {"weighting": "ncw"}), ("cf", {"solver": "accelerated"}), ("lccf", {}), ("lccf", {"weighting": "ncw_exact"})],
)
def test_a_cluster_gives_the_same_numbers(cluster: Any, method: str, options: dict[str, Any]) -> None:
    corpus = small_corpus(n=31, sparse=True)
    here = fc.fit(corpus, method, n_clusters=3, restarts=3, max_iter=12, warm_up=6, **options)
    with cluster.get_client():
        there = fc.fit(corpus, method, n_clusters=3, restarts=3, max_iter=12, warm_up=6, engine="dask", **options)
    np.testing.assert_allclose(there.objective, here.objective, rtol=1e-8)
    for name, factor in here.factors.items():
        np.testing.assert_allclose(there.factors[name], factor, rtol=1e-8, atol=1e-10)
    assert np.array_equal(there.labels, here.labels)
    assert [[term for term, _ in c] for c in there.concepts(3)] == [[term for term, _ in c] for c in here.concepts(3)]


def test_the_scheduler_may_be_named_in_the_environment(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACTSCOPE_SCHEDULER", cluster.scheduler_address)
    corpus = small_corpus()  # dense: its kernel is formed here, its products are the cluster's
    here, there = (fc.fit(corpus, "cf", restarts=1, max_iter=5, engine=e) for e in ("local", "dask"))
    np.testing.assert_allclose(there.objective, here.objective, rtol=1e-8)


def test_what_a_cluster_cannot_do_is_said(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = small_corpus()
    with cluster.get_client():
        for method, options, word in (
            ("kmeans", {}, "nmf, gnmf, cf, lccf"),
            ("cf", {"kernel": "poly2"}, "linear kernel"),
            ("cf", {"init": "kmeans"}, "not from kmeans"),
        ):
            with pytest.raises(fc.FactScopeError, match=word):
                fc.fit(corpus, method, engine="dask", **options)
    monkeypatch.delenv("FACTSCOPE_SCHEDULER", raising=False)
    with pytest.raises(fc.FactScopeError, match="There is no Dask cluster"):
        fc.fit(corpus, "cf", engine="dask")


def test_a_cluster_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("fact_core.engine.PATIENCE", 0.2)
    monkeypatch.setenv("FACTSCOPE_SCHEDULER", "tcp://127.0.0.1:9")
    with pytest.raises(fc.FactScopeError, match=r"No Dask cluster with a worker answers at tcp://127\.0\.0\.1:9"):
        fc.fit(small_corpus(), "cf", engine="dask")


def test_a_worker_that_dies_ends_the_run_with_a_sentence() -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1") as own,
        own.get_client() as client,
    ):
        workers = client.run(os.getpid)

        def lose(at: Any) -> None:
            if at.done == 3:
                os.kill(next(iter(workers.values())), signal.SIGKILL)

        with pytest.raises(fc.FactScopeError, match="lost a worker"):
            fc.fit(small_corpus(sparse=True), "cf", restarts=1, max_iter=10_000, engine="dask", progress=lose)
