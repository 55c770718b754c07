from __future__ import annotations

import threading

import numpy as np
import pytest
from helpers import falls, small_corpus

import fact_core as fc
from fact_core import solve
from fact_core.algorithms import algorithms, configured
from fact_core.problem import Problem
from fact_core.solve import Progress, Solver, iterates
from fact_core.threads import limited


def test_budget_is_used_up_and_the_start_is_in_the_history() -> None:
    result = fc.fit(small_corpus(), "lccf", restarts=4, max_iter=57)
    assert len(result.objective) == 58
    assert result.stopped == "budget"
    assert set(result.terms) == {"fit", "graph"}
    np.testing.assert_allclose(result.terms["fit"] + result.terms["graph"], result.objective)


def test_more_starts_are_never_worse_after_the_warm_up() -> None:
    corpus = small_corpus(n=40, k=4, noise=0.6)
    one, ten = (fc.fit(corpus, "nmf", n_clusters=4, restarts=r, max_iter=30).objective[-1] for r in (1, 10))
    assert ten <= one


def test_the_first_start_does_not_depend_on_how_many_follow() -> None:
    seen: dict[int, list[float]] = {}
    for restarts in (1, 3):
        first: list[float] = []
        fc.fit(
            small_corpus(),
            "cf",
            restarts=restarts,
            max_iter=30,
            progress=lambda at, first=first: first.append(at.iterate.objective) if at.start == 0 else None,
        )
        seen[restarts] = first[:31]
    assert seen[1] == seen[3]


def test_tolerance_is_opt_in_and_named() -> None:
    result = fc.fit(small_corpus(), "nmf", restarts=1, max_iter=5000, tol=1e-3)
    assert result.stopped == "tolerance"
    assert len(result.objective) < 5001
    with pytest.raises(fc.FactScopeError, match="tolerance"):
        fc.fit(small_corpus(), "nmf", tol=-1.0)


def test_progress_counts_steps_up_to_the_total() -> None:
    seen: list[Progress] = []
    fc.fit(small_corpus(), "gnmf", restarts=3, max_iter=50, progress=seen.append)
    assert seen[-1].done == seen[-1].total == 50 + 2 * 30
    assert [at.done for at in seen] == sorted(at.done for at in seen)
    assert seen[-1].share == 1.0


@pytest.mark.parametrize("restarts", [1, 3])
def test_cancelling_keeps_what_is_there(restarts: int) -> None:
    calls = iter(range(1000))
    result = fc.fit(small_corpus(), "lccf", restarts=restarts, max_iter=500, cancelled=lambda: next(calls) >= 45)
    assert result.stopped == "cancelled"
    assert 1 < len(result.objective) <= 46
    assert len(result.labels) == 24


def test_kmeans_ends_when_nothing_moves() -> None:
    result = fc.fit(small_corpus(), "kmeans", max_iter=200)
    assert result.stopped == "tolerance"
    assert len(result.objective) < 50


def test_divergence_keeps_the_last_sound_factors(monkeypatch: pytest.MonkeyPatch) -> None:
    from fact_core.algorithms.nmf import NMF

    whole = NMF.update_V
    steps = iter(range(1000))
    monkeypatch.setattr(
        NMF, "update_V", lambda self, problem, f, given: whole(self, problem, f, given) * (np.nan if next(steps) == 7 else 1)
    )
    result = fc.fit(small_corpus(), "nmf", restarts=1, max_iter=50)
    assert result.stopped == "diverged"
    assert len(result.objective) == 8
    assert all(np.all(np.isfinite(f)) for f in result.factors.values())


def test_iterates_are_the_history() -> None:
    corpus = small_corpus()
    result = fc.fit(corpus, "cf", restarts=1, max_iter=12)
    method = configured("cf", {})
    start = method.start(result.problem, np.random.default_rng(np.random.SeedSequence(0).spawn(2)[0].spawn(1)[0]))
    steps = iterates(method, result.problem, start)
    assert [next(steps).objective for _ in range(13)] == result.objective.tolist()


def test_init_is_checked() -> None:
    corpus = small_corpus()
    good = {"W": np.ones((24, 3)), "V": np.ones((24, 3))}
    for bad, word in (
        ({"W": good["W"]}, "W, V|V, W"),
        (good | {"V": np.ones((24, 2))}, "shape"),
        (good | {"V": -good["V"]}, "non-negative"),
    ):
        with pytest.raises(fc.FactScopeError, match=word):
            fc.fit(corpus, "cf", init=bad)


@pytest.mark.parametrize(
    ("options", "word"),
    [({"n_clusters": 25}, "between 1 and the number of documents, 24"), ({"n_clusters": 0}, "at least 1"),
     ({"n_clusters": 2.5}, "whole number"),
     ({"max_iter": -1}, "max_iter"), ({"restarts": 0}, "restarts"), ({"seed": -3}, "seed"), ({"weighting": "ncx"}, "did you mean “ncw”"),
     ({"assign": "magic"}, "argmax"), ({"lam": -1}, "λ")],
)  # fmt: skip
def test_bad_options_get_a_sentence(options: dict[str, object], word: str) -> None:
    with pytest.raises(fc.FactScopeError, match=word) as caught:
        fc.fit(small_corpus(), "lccf", **options)
    assert str(caught.value).endswith(".") or str(caught.value).endswith("?")


def test_unknown_method_and_unlabelled_corpus() -> None:
    with pytest.raises(fc.FactScopeError, match="did you mean “lccf”"):
        fc.fit(small_corpus(), "lcccf")
    with pytest.raises(fc.FactScopeError, match="number of clusters must be given"):
        fc.fit(fc.from_matrix(np.eye(5)), "nmf")


def test_negative_data_is_refused_by_the_methods_that_cannot() -> None:
    X = np.random.default_rng(0).normal(size=(20, 5))
    with pytest.raises(fc.FactScopeError, match="negative"):
        fc.fit(fc.from_matrix(X), "nmf", n_clusters=2)
    assert fc.fit(fc.from_matrix(X), "kmeans", n_clusters=2).objective[-1] > 0


@pytest.mark.parametrize("solver", list(Solver))
@pytest.mark.parametrize("method", [cls.key for cls in algorithms().values() if cls.blocks])
def test_starts_together_are_starts_in_turn(method: str, solver: Solver, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one stack, as stacks in several threads, and one after another: the same start wins with the same numbers."""
    if solver is Solver.ACCELERATED and not algorithms()[method].multiplicative:
        pytest.skip("nothing to accelerate")
    corpus = small_corpus(n=40, k=4, noise=0.6, sparse=True)
    found = []
    for stacked, count in ((0, 1), (10**9, 1), (2 * 40 * 4, 3)):
        monkeypatch.setattr(solve, "STACKED", stacked)
        with limited(count):
            found.append(fc.fit(corpus, method, n_clusters=4, seed=3, restarts=6, max_iter=60, solver=solver))
    turn, *others = found
    for other in others:
        np.testing.assert_allclose(other.objective, turn.objective, rtol=1e-9)
        np.testing.assert_allclose(other.embedding, turn.embedding, rtol=1e-6, atol=1e-9)
        assert other.stopped == turn.stopped


def test_a_start_that_diverges_does_not_spoil_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    from fact_core.algorithms.nmf import NMF

    alone = fc.fit(small_corpus(), "nmf", restarts=4, max_iter=40)
    whole, steps = NMF.update_V, iter(range(1000))

    def spoilt(self: NMF, problem: Problem, f: dict[str, np.ndarray], given: dict[str, np.ndarray]) -> np.ndarray:
        V = whole(self, problem, f, given)
        if V.ndim == 3 and next(steps) == 7:
            V[2] = np.nan
        return V

    objectives = {}
    monkeypatch.setattr(NMF, "update_V", spoilt)
    result = fc.fit(small_corpus(), "nmf", restarts=4, max_iter=40, progress=lambda at: objectives.update({at.done: at.history}))
    assert result.stopped == "budget"
    assert np.isfinite(result.objective).all()
    assert result.objective[-1] <= alone.objective[-1] * 1.2
    assert max(objectives) < 40 + 3 * 30  # the steps of the lost start are missing


def test_tolerance_ends_single_starts_of_a_stack() -> None:
    result = fc.fit(small_corpus(), "nmf", restarts=5, warm_up=2000, max_iter=2000, tol=1e-4)
    assert result.stopped == "tolerance"
    assert len(result.objective) < 1000


def test_an_error_in_another_thread_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    from fact_core.algorithms.nmf import NMF

    main = threading.main_thread()

    def broken(self: NMF, problem: Problem, f: dict[str, np.ndarray], given: dict[str, np.ndarray]) -> np.ndarray:
        if threading.current_thread() is not main:
            raise ZeroDivisionError
        return f["V"] * 0.99

    monkeypatch.setattr(NMF, "update_V", broken)
    monkeypatch.setattr(solve, "STACKED", 0)
    with limited(2), pytest.raises(ZeroDivisionError):
        fc.fit(small_corpus(), "nmf", restarts=8, max_iter=40)


def test_progress_and_cancelling_are_asked_for_in_this_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solve, "STACKED", 0)
    seen: list[threading.Thread] = []
    with limited(3):
        fc.fit(small_corpus(), "lccf", restarts=6, max_iter=40, progress=lambda at: seen.append(threading.current_thread()))
        assert set(seen) == {threading.current_thread()}
        result = fc.fit(small_corpus(), "lccf", restarts=6, max_iter=10**6, warm_up=10**6, cancelled=lambda: len(threading.enumerate()) > 2)
    assert result.stopped == "cancelled"


def test_the_accelerated_solver_is_faster_in_steps() -> None:
    corpus = small_corpus(n=60, m=40, k=4, noise=0.5)
    for method in ("nmf", "cf", "lccf", "gnmf"):
        plain = fc.fit(corpus, method, n_clusters=4, restarts=1, max_iter=500, seed=1).objective
        fast = fc.fit(corpus, method, n_clusters=4, restarts=1, max_iter=150, seed=1, solver="accelerated").objective
        assert fast[-1] <= plain[-1] * (1 + 1e-6), method


def test_the_accelerated_solver_falls_back_to_the_plain_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a repeated update that raises the objective and an extrapolation far too long, plain steps are what is left."""
    monkeypatch.setattr(solve, "FASTEST", 1e6)
    monkeypatch.setattr(solve, "SPEED", 1e6)
    monkeypatch.setattr(solve, "SLOWER", 1.0)
    monkeypatch.setattr(solve, "CALM", 0)
    result = fc.fit(small_corpus(), "gnmf", restarts=1, max_iter=60, solver="accelerated")
    assert falls(result.objective)
    assert result.objective[-1] < result.objective[1]


def test_bad_solvers_and_numbers_get_a_sentence() -> None:
    sentences = ("did you mean “accelerated”", "float64 or float32, not float16", "engine")
    for options, word in zip(({"solver": "accelerate"}, {"dtype": "float16"}, {"engine": "spark"}), sentences, strict=True):
        with pytest.raises(fc.FactScopeError, match=word):
            fc.fit(small_corpus(), "lccf", **options)
