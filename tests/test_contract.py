"""What every registered method must keep. A new file in `fact_core/algorithms` is tested here without a line added."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from helpers import clustered, falls, objective, problem_for, small_corpus, told
from hypothesis import given, settings
from hypothesis import strategies as st

import fact_core as fc
from fact_core.algorithms import Algorithm, algorithms
from fact_core.parameters import Scale

METHODS = list(algorithms().values())
ITERATIVE = [a for a in METHODS if a.blocks]
MULTIPLICATIVE = [a for a in METHODS if a.multiplicative and a.blocks]


def corners(cls: type[Algorithm]) -> list[dict[str, object]]:
    """Every combination of the ends of the parameters' ranges (neighbours kept below the number of documents)."""
    ends = [p.choices or (p.low, min(p.high, 20) if p.whole else p.high) for p in cls.parameters]
    return [dict(zip([p.name for p in cls.parameters], values, strict=True)) for values in product(*ends)]


CORNERS = [pytest.param(a, values, id=f"{a.key}-{'-'.join(map(str, values.values()))}") for a in METHODS for values in corners(a)]
by_key = pytest.mark.parametrize("cls", METHODS, ids=lambda a: a.key)


@by_key
def test_declares_itself(cls: type[Algorithm]) -> None:
    assert cls.key == cls.key.lower()
    assert all((cls.title, cls.paper, cls.formula, cls.__doc__))
    for p in cls.parameters:
        assert p.check(p.default) == p.default
        assert all((p.doc, p.symbol))
        assert p.choices or p.default in p.stops() or p.scale is Scale.LINEAR


@by_key
@pytest.mark.parametrize("seed", range(3))
def test_objective_never_rises(cls: type[Algorithm], seed: int) -> None:
    result = fc.fit(small_corpus(seed=seed), cls.key, n_clusters=3, seed=seed, restarts=1, max_iter=150)
    assert falls(result.objective), result.objective
    assert result.stopped in {"budget", "tolerance"}


@settings(max_examples=25, deadline=None)
@given(data=st.data())
@pytest.mark.parametrize("cls", [a for a in ITERATIVE if a.monotone], ids=lambda a: a.key)
def test_no_update_raises_the_objective_on_any_data(cls: type[Algorithm], data: st.DataObject) -> None:
    """Each block's update, before the normalisation that follows a step: on graphs of a few documents (bipartite ones, where L touches 2D)
    rescaling V can lift LCCF's graph term again, which no proof excludes."""
    n, m = data.draw(st.integers(4, 14), "n"), data.draw(st.integers(2, 10), "m")
    k = data.draw(st.integers(1, min(n, 4)), "k")
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6), "seed"))
    X = rng.random((n, m)) ** data.draw(st.sampled_from([1, 4, 12]), "power")
    X[data.draw(st.sampled_from([0.0, 0.05]), "cut") > X] = 0.0
    X[0, 0] = 1.0
    method = cls(**({"p": 2} if _has(cls, "p") else {}))
    problem = problem_for(method, fc.from_matrix(X), k)
    f = method.begin(problem, method.start(problem, rng))
    for _ in range(10):
        products: dict[str, np.ndarray] = {}
        for block in method.blocks:
            before = objective(method, problem, f)
            products = method.given(problem, block, f, products)
            f = f | {block: method.update(problem, block, f, products)}
            assert objective(method, problem, f) <= before * (1 + 1e-9) + 1e-9, block
        f = method.normalise(problem, f)


@pytest.mark.parametrize("cls", MULTIPLICATIVE, ids=lambda a: a.key)
@pytest.mark.parametrize("seed", range(3))
def test_the_accelerated_objective_never_rises_and_is_no_worse(cls: type[Algorithm], seed: int) -> None:
    corpus = small_corpus(seed=seed, sparse=seed == 1)
    plain, fast = (
        fc.fit(corpus, cls.key, n_clusters=3, seed=seed, restarts=1, max_iter=150, solver=s) for s in ("multiplicative", "accelerated")
    )
    assert falls(fast.objective), fast.objective
    assert fast.objective[0] == plain.objective[0]
    assert fast.objective[-1] <= plain.objective[-1] * 1.02 + 1e-9  # another valley may be a little higher
    assert all(np.all(np.isfinite(f)) and f.min() >= 0 for f in fast.factors.values())


@pytest.mark.parametrize("cls", MULTIPLICATIVE, ids=lambda a: a.key)
def test_what_is_repeated_has_products_that_stay(cls: type[Algorithm]) -> None:
    method = cls()
    problem = problem_for(method, small_corpus())
    f = method.begin(problem, method.start(problem, np.random.default_rng(0)))
    for block in method.repeatable:
        given = method.given(problem, block, f, method.given(problem, method.blocks[0], f, {}))
        moved = f | {block: method.update(problem, block, f, given)}
        assert not np.array_equal(moved[block], f[block])
        again = method.given(problem, block, moved, method.given(problem, method.blocks[0], f, {}))
        assert all(np.array_equal(given[name], again[name]) for name in given)


@by_key
def test_single_precision_is_close_and_stays_single(cls: type[Algorithm]) -> None:
    double, single = (
        fc.fit(small_corpus(sparse=True), cls.key, n_clusters=3, seed=1, restarts=1, max_iter=20, dtype=d) for d in ("float64", "float32")
    )
    assert all(a.dtype == np.float32 for name, a in single.factors.items() if name in cls.blocks)
    np.testing.assert_allclose(single.objective[:5], double.objective[:5], rtol=1e-4, atol=1e-4)
    assert not any("rose" in warning for warning in single.warnings)


@by_key
@pytest.mark.parametrize("solver", ["multiplicative", "accelerated"])
def test_same_seed_same_numbers(cls: type[Algorithm], solver: str) -> None:
    if solver == "accelerated" and cls not in MULTIPLICATIVE:
        with pytest.raises(fc.FactScopeError, match="nothing to accelerate"):
            fc.fit(small_corpus(), cls.key, solver=solver)
        return
    first, second, other = (fc.fit(small_corpus(), cls.key, seed=seed, restarts=3, max_iter=40, solver=solver) for seed in (4, 4, 5))
    assert all(np.array_equal(first.factors[name], second.factors[name]) for name in first.factors)
    assert np.array_equal(first.labels, second.labels)
    assert np.array_equal(first.objective, second.objective)
    if cls.multiplicative:
        assert not np.array_equal(first.objective, other.objective)


@pytest.mark.parametrize("solver", ["multiplicative", "accelerated"])
@pytest.mark.parametrize(("cls", "values"), CORNERS)
def test_sound_at_every_corner(cls: type[Algorithm], values: dict[str, object], solver: str) -> None:
    if solver == "accelerated" and cls not in MULTIPLICATIVE:
        pytest.skip("nothing to accelerate")
    result = fc.fit(small_corpus(), cls.key, n_clusters=3, restarts=2, max_iter=40, solver=solver, **values)
    for name, factor in result.factors.items():
        assert np.all(np.isfinite(factor)), name
        if cls.multiplicative:
            assert factor.min() >= 0, name
    assert result.stopped in {"budget", "tolerance"}
    assert np.all(np.isfinite(result.objective))
    assert np.all(np.isfinite(result.embedding))
    assert result.embedding.shape == (24, 3)
    assert result.basis.shape == (18, 3)


@by_key
def test_sparse_and_dense_agree(cls: type[Algorithm]) -> None:
    dense, sparse = (fc.fit(small_corpus(sparse=s), cls.key, seed=1, restarts=2, max_iter=60) for s in (False, True))
    np.testing.assert_allclose(sparse.objective, dense.objective, rtol=1e-8)
    np.testing.assert_allclose(sparse.embedding, dense.embedding, rtol=1e-6, atol=1e-9)
    assert np.array_equal(sparse.labels, dense.labels)


@pytest.mark.parametrize("cls", MULTIPLICATIVE, ids=lambda a: a.key)
@pytest.mark.parametrize("seed", range(3))
def test_each_block_moves_against_its_gradient(cls: type[Algorithm], seed: int) -> None:
    """Entry by entry, checked with central differences. Monotone descent alone lets wrong updates through."""
    method = cls()
    problem = problem_for(method, small_corpus(n=12, m=9, seed=seed), k=2)
    factors = method.begin(problem, method.start(problem, np.random.default_rng(seed)))
    products: dict[str, np.ndarray] = {}
    for block in method.blocks:
        products = method.given(problem, block, factors, products)
        moved = method.update(problem, block, factors, products) - factors[block]
        gradient = np.empty_like(moved)
        for index in np.ndindex(*moved.shape):
            h = 1e-6 * max(1e-3, abs(factors[block][index]))
            ends = []
            for sign in (1, -1):
                shifted = factors[block].copy()
                shifted[index] += sign * h
                ends.append(objective(method, problem, factors | {block: shifted}))
            gradient[index] = (ends[0] - ends[1]) / (2 * h)
        clear = np.abs(gradient) > 1e-4 * np.abs(gradient).max()
        assert clear.sum() > 0.5 * clear.size
        assert np.all(np.sign(moved[clear]) == -np.sign(gradient[clear])), (cls.key, block)


@pytest.mark.parametrize("cls", MULTIPLICATIVE, ids=lambda a: a.key)
def test_starts_can_be_stacked(cls: type[Algorithm]) -> None:
    """Arrays with a leading axis of starts give the same numbers as each start alone."""
    method = cls()
    problem = problem_for(method, small_corpus(sparse=True))
    starts = [method.begin(problem, method.start(problem, np.random.default_rng(s))) for s in range(3)]
    stacked = {name: np.stack([s[name] for s in starts]) for name in starts[0]}

    def step(f: dict[str, np.ndarray]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        products: dict[str, np.ndarray] = {}
        first = method.given(problem, method.blocks[0], f, {})
        terms = method.terms(problem, f, first)
        for block in method.blocks:
            products = method.given(problem, block, f, products)
            f = f | {block: method.update(problem, block, f, products)}
        return method.normalise(problem, f), terms

    together, terms = step(stacked)
    for i, start in enumerate(starts):
        alone, own = step(start)
        for name, value in alone.items():
            np.testing.assert_allclose(together[name][i], value, rtol=1e-9, atol=1e-12)
        for name, number in own.items():
            np.testing.assert_allclose(terms[name][i], number, rtol=1e-9)


@by_key
def test_refuses_what_is_out_of_range(cls: type[Algorithm]) -> None:
    for p in cls.parameters:
        bad = ["no such choice"] if p.choices else [p.low - 1, p.high + 1, float("nan"), "many"]
        for value in bad:
            with pytest.raises(fc.FactScopeError, match=p.name):
                cls(**{p.name: value})
    with pytest.raises(fc.FactScopeError, match="no parameter “nonsense”"):
        fc.fit(small_corpus(), cls.key, nonsense=1)


@by_key
def test_as_many_clusters_as_documents_and_one(cls: type[Algorithm]) -> None:
    X, _ = clustered(n=6, m=5)
    for k in (1, 6):
        options = told(cls, 6, k) | ({"p": 2} if _has(cls, "p") else {})
        result = fc.fit(fc.from_matrix(X), cls.key, n_clusters=k, restarts=2, max_iter=10, **options)
        assert result.embedding.shape == (6, k)
        assert falls(result.objective)


@by_key
def test_an_empty_document_is_no_trouble(cls: type[Algorithm]) -> None:
    X, _ = clustered()
    X[4] = 0.0
    result = fc.fit(fc.from_matrix(X), cls.key, n_clusters=3, restarts=2, max_iter=40, **told(cls, 24, 3))
    assert np.all(np.isfinite(result.embedding))
    assert falls(result.objective)


def _has(cls: type[Algorithm], name: str) -> bool:
    return any(p.name == name for p in cls.parameters)
