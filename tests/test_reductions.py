"""Methods that contain one another agree where they must, and objectives equal their formulas written out."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import objective, problem_for, small_corpus

import fact_core as fc
from fact_core.algorithms import configured


@pytest.mark.parametrize(("general", "special"), [("lccf", "cf"), ("gnmf", "nmf")])
def test_without_graph_term(general: str, special: str) -> None:
    corpus = small_corpus(sparse=True)
    a, b = (
        fc.fit(corpus, key, seed=3, restarts=2, max_iter=50, assign="argmax", **o) for key, o in ((general, {"lam": 0.0}), (special, {}))
    )
    np.testing.assert_allclose(a.objective, b.objective, rtol=1e-12)
    for name in b.factors:
        np.testing.assert_allclose(a.factors[name], b.factors[name], rtol=1e-10, atol=1e-14)
    assert np.array_equal(a.labels, b.labels)


def test_cf_is_nmf_of_its_own_basis() -> None:
    """With U = XW the two objectives are the same number."""
    cf = configured("cf", {})
    corpus = small_corpus()
    problem = problem_for(cf, corpus)
    f = cf.start(problem, np.random.default_rng(0))
    nmf = configured("nmf", {})
    assert objective(cf, problem, f) == pytest.approx(objective(nmf, problem, {"U": problem.X @ f["W"], "V": f["V"]}), rel=1e-12)


@pytest.mark.parametrize("weighting", ["none", "ncw"])
@pytest.mark.parametrize("key", ["nmf", "gnmf", "cf", "lccf", "kmeans"])
def test_objective_written_out(key: str, weighting: str) -> None:
    """The objective of the last step, recomputed from the reported factors with dense matrices and nothing shared."""
    corpus = small_corpus(sparse=True)
    result = fc.fit(corpus, key, n_clusters=3, restarts=1, max_iter=25, weighting=weighting)
    X = corpus.matrix.toarray().T
    if weighting == "ncw":
        X = X / np.sqrt((X.T @ X).sum(axis=1))
    f = result.factors
    if key == "kmeans":
        c = f["H"].argmax(axis=1)
        assert result.objective[-1] == pytest.approx(
            sum(((X[:, c == j].T - X[:, c == j].mean(axis=1)) ** 2).sum() for j in range(3)), rel=1e-9
        )
        return
    fit = np.linalg.norm(X - (f["U"] if "U" in f else X @ f["W"]) @ f["V"].T) ** 2
    assert result.terms["fit"][-1] == pytest.approx(fit, rel=1e-9)
    if key in {"gnmf", "lccf"}:
        # The graph term depends on the scale of V, and the loop's scale is not the reported one: unit V for CF, U as it came for NMF.
        V = f["V"] / np.linalg.norm(f["V"], axis=0)
        S = result.problem.graph.toarray()
        parts = [V[:, j] @ (np.diag(S.sum(axis=1)) - S) @ V[:, j] for j in range(3)]
        if key == "lccf":
            assert result.terms["graph"][-1] == pytest.approx(100.0 * sum(parts), rel=1e-9)


def test_normalisation_keeps_lambda_alive() -> None:
    """A larger λ must make neighbours more alike: the unit columns of V keep the graph term from being shrunk away."""
    corpus = small_corpus(n=60, m=30)
    rough, smooth = (fc.fit(corpus, "lccf", lam=lam, restarts=1, max_iter=300).embedding for lam in (0.1, 100.0))
    L = np.diag((S := problem_for(configured("lccf", {}), corpus).graph.toarray()).sum(axis=1)) - S

    def unevenness(V: np.ndarray) -> float:
        V = V / np.linalg.norm(V, axis=0)
        return float(np.trace(V.T @ L @ V))

    assert unevenness(smooth) < 0.2 * unevenness(rough)


@pytest.mark.parametrize("options", [{"constraints": []}, {"constraints": {}}, {"links": "must", "constraints": [(0, 1, "cannot")]}])
@pytest.mark.parametrize(("key", "graph"), [("rcf", "heat"), ("semi_lccf", "cosine")])
def test_without_constraints_it_is_lccf(key: str, graph: str, options: dict[str, object]) -> None:
    corpus = small_corpus(sparse=True, n=40)
    a = fc.fit(corpus, key, seed=3, restarts=3, max_iter=60, **options)
    b = fc.fit(corpus, "lccf", seed=3, restarts=3, max_iter=60, graph=graph)
    assert a.options["graph"] == b.options["graph"] == graph
    np.testing.assert_allclose(a.objective, b.objective, rtol=1e-10)
    for name in b.factors:
        np.testing.assert_allclose(a.factors[name], b.factors[name], rtol=1e-7, atol=1e-12)
    assert np.array_equal(a.labels, b.labels)


def test_rcf_is_lccf_on_its_graph() -> None:
    corpus = small_corpus(sparse=True, n=40)
    a = fc.fit(corpus, "rcf", seed=3, restarts=2, max_iter=60, keep=0, init="random")
    b = fc.fit(corpus, "lccf", seed=3, restarts=2, max_iter=60, graph=a.problem.graph)
    np.testing.assert_allclose(a.objective, b.objective, rtol=1e-10)
    np.testing.assert_allclose(a.embedding, b.embedding, rtol=1e-7, atol=1e-12)


def test_without_their_terms_they_are_concept_factorisation() -> None:
    """CCF of unlinked documents, GDCF with β₁ = β₂ = 0, CNPCF with λ_S = λ_H = 0 and LCF with λ = 0: CF without its normalisation."""
    corpus = small_corpus(n=30)
    problem = problem_for(configured("cf", {}), corpus)
    f = configured("cf", {}).start(problem, np.random.default_rng(0))
    plain = fc.fit(corpus, "lcf", lam=0.0, init=f, max_iter=40)
    given = {"init": f, "max_iter": 40, "constraints": {0: 0, 1: 1, 2: 2}}
    B = np.random.default_rng(1).random((3, 3))
    for other in (
        fc.fit(corpus, "cnpcf", lam_s=0.0, lam_h=0.0, **given),
        fc.fit(corpus, "gdcf", beta1=0.0, beta2=0.0, **given | {"init": f | {"B": B}}),
        fc.fit(corpus, "ccf", **given | {"constraints": [], "init": {"W": f["W"], "Z": f["V"]}}),
    ):
        np.testing.assert_allclose(other.objective, plain.objective, rtol=1e-10)
        for name in ("W", "V"):
            np.testing.assert_allclose(other.factors[name], plain.factors[name], rtol=1e-7, atol=1e-12)
