"""Sparse products: scipy's numbers to the last bit, whoever computes them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import fact_core as fc
from fact_core import products
from fact_core.products import load, times
from fact_core.threads import limited, one_blas_thread, split, threads

ROOT = Path(__file__).parent.parent


def sparse(n: int, m: int, density: float, dtype: type = np.float64, seed: int = 0) -> sp.csr_array:
    return sp.random_array((n, m), density=density, rng=np.random.default_rng(seed), format="csr", dtype=dtype)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 60), st.integers(1, 60), st.integers(1, 27), st.integers(1, 3), st.sampled_from(["d", "f"]), st.integers(0, 999))
def test_the_compiled_loop_equals_scipy_to_the_last_bit(n: int, m: int, k: int, count: int, kind: str, seed: int) -> None:
    M = sparse(n, m, 0.3, np.dtype(kind).type, seed)
    A = np.random.default_rng(seed).random((m, k)).astype(kind)
    load(M, A)
    loop = products._loops.find(M, A, 0)
    assert loop is not None
    with limited(count):
        assert np.array_equal(products._by_rows(loop, M, A, np.inf), M @ A)


def test_stacks_are_products_of_each_start() -> None:
    M, A = sparse(300, 200, 0.1), np.random.default_rng(0).random((4, 200, 7))
    expected = np.stack([M @ a for a in A])
    np.testing.assert_allclose(times(M, A), expected, rtol=1e-12)
    load(M, A)
    assert np.array_equal(times(M, A), expected)
    assert np.array_equal(times(M, A[:, ::-1][:, ::-1]), expected)


def test_read_only_and_long_indices(monkeypatch: pytest.MonkeyPatch) -> None:
    M, A = sparse(300, 200, 0.3), np.random.default_rng(0).random((200, 9))
    expected = M @ A
    M.indptr, M.indices = M.indptr.astype(np.int64), M.indices.astype(np.int64)
    for array in (M.data, M.indices, A):
        array.setflags(write=False)
    load(M, A)
    monkeypatch.setattr(sp.csr_array, "__matmul__", None)  # not by scipy
    assert np.array_equal(times(M, A), expected)


def test_small_problems_load_nothing() -> None:
    script = (
        "import sys, numpy as np, fact_core as fc, scipy.sparse as sp; "
        "X = sp.random_array((80, 60), density=0.2, rng=np.random.default_rng(0), format='csr'); "
        "fc.fit(fc.from_matrix(X), 'gnmf', n_clusters=3, max_iter=50); "
        "print(*[name in sys.modules for name in ('numba', 'umap', 'pynndescent', 'plotly', 'matplotlib')])"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True)
    assert set(said.stdout.split()) == {"False"}


def test_threads_follow_what_the_process_is_told() -> None:
    def count(**told: str) -> str:
        clean = {name: value for name, value in os.environ.items() if not name.endswith("_THREADS")}
        script = "from fact_core.threads import threads; print(threads())"
        return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, env=clean | told).stdout.strip()

    assert count() == str(len(os.sched_getaffinity(0)))
    assert count(OMP_NUM_THREADS="1") == "1"
    assert count(OMP_NUM_THREADS="1", FACTSCOPE_THREADS="3") == "3"
    with limited(5):
        assert threads() == 5
    with pytest.raises(ZeroDivisionError):
        split([lambda: 1, lambda: 1 // 0])


@pytest.mark.parametrize("method", ["lccf", "gnmf"])
def test_the_same_numbers_whatever_the_number_of_threads(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X = sparse(400, 300, 0.1)
    load(X, np.empty((300, 4)))
    monkeypatch.setattr(products, "SHARED", 0)
    found = []
    for count in (1, 3):
        with limited(count):
            found.append(fc.fit(fc.from_matrix(X), method, n_clusters=4, restarts=2, max_iter=20))
    assert all(np.array_equal(found[0].factors[name], found[1].factors[name]) for name in found[0].factors)


def test_blas_has_one_thread_inside_a_solve_and_its_own_again_afterwards() -> None:
    from threadpoolctl import threadpool_info, threadpool_limits

    def blas() -> set[int]:
        return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

    seen = []
    with threadpool_limits(2, user_api="blas"):
        before = blas()
        fc.fit(fc.from_matrix(sparse(40, 30, 0.2)), "nmf", n_clusters=2, restarts=2, max_iter=3, progress=lambda at: seen.append(blas()))
        with one_blas_thread, one_blas_thread:
            assert blas() == {1}
        assert blas() == before
    assert all(inside == {1} for inside in seen)
