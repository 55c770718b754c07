"""The unsupervised family: kernels, weightings, starts, data of both signs, new documents, warnings."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from helpers import clustered, falls, objective, problem_for, small_corpus, told
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

import fact_core as fc
from fact_core.algorithms import algorithms, configured
from fact_core.algorithms.sparse_nmf import project, sparseness
from fact_core.corpus import GAUSSIAN_MEANS
from fact_core.kernel import FormedKernel, Kernel, LinearKernel, Weighting, kernel_matrix
from fact_core.presets import PRESETS
from fact_core.problem import problem_of

KERNELISED = [a.key for a in algorithms().values() if a.kernels]
EXACT = [a.key for a in algorithms().values() if Weighting.NCW_EXACT in a.weightings]


# Kernels and weightings ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", list(Kernel))
@pytest.mark.parametrize("sparse", [False, True])
def test_kernels_by_their_definition(kind: Kernel, sparse: bool) -> None:
    X = clustered()[0].T
    K = kernel_matrix(sp.csc_array(X) if sparse else X, kind)
    d2 = ((X[:, :, None] - X[:, None, :]) ** 2).sum(axis=0)
    expected = {Kernel.LINEAR: X.T @ X, Kernel.POLY2: (X.T @ X) ** 2, Kernel.RBF: np.exp(-d2 / d2.mean())}[kind]
    np.testing.assert_allclose(K @ np.eye(X.shape[1]), expected, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(K.diagonal, np.diag(expected), rtol=1e-10)
    assert K.squared_norm == pytest.approx((expected**2).sum(), rel=1e-10)
    assert K.trace == pytest.approx(np.trace(expected), rel=1e-10)
    s = np.linspace(0.5, 2, X.shape[1])
    np.testing.assert_allclose(K.scaled(s) @ np.eye(X.shape[1]), s[:, None] * expected * s, rtol=1e-10, atol=1e-14)


def test_linear_kernel_of_sparse_data_is_never_formed() -> None:
    X = sp.random_array((200, 5000), density=0.01, rng=np.random.default_rng(0), format="csc")
    K = kernel_matrix(X, Kernel.LINEAR)
    assert isinstance(K, LinearKernel)
    assert K._formed is None


@pytest.mark.parametrize("weighting", ["none", "ncw"])
@pytest.mark.parametrize("kernel", ["poly2", "rbf"])
@pytest.mark.parametrize("key", KERNELISED)
def test_every_kernel_method_falls_and_finds_the_topics(key: str, kernel: str, weighting: str) -> None:
    corpus = small_corpus(n=120, m=60, sharp=8)
    result = fc.fit(corpus, key, kernel=kernel, weighting=weighting, restarts=4)
    assert falls(result.objective)
    assert result.scores["accuracy"] > 0.8


def test_methods_on_terms_refuse_other_kernels() -> None:
    for key in set(algorithms()) - set(KERNELISED):
        with pytest.raises(fc.FactScopeError, match="linear one"):
            fc.fit(small_corpus(), key, kernel="poly2")


def test_kernel_memory_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACTSCOPE_MEMORY", "8 kB")
    for key, kernel in (("cf", "poly2"), ("pspt", "rbf")):
        with pytest.raises(fc.FactScopeError, match="needs 9 kB of memory and 8 kB may be used; about 22 documents would fit"):
            fc.fit(small_corpus(), key, kernel=kernel)
    monkeypatch.setenv("FACTSCOPE_MEMORY", "plenty")
    with pytest.raises(fc.FactScopeError, match="such as 4GB"):
        fc.fit(small_corpus(), "cf", kernel="poly2")


@pytest.mark.parametrize("lam", [0.0, 0.7, 50.0])
def test_exact_weighting_is_the_weighted_objective(lam: float) -> None:
    """LCCF appendix B: Σⱼ γⱼ‖xⱼ − XWzⱼ‖² + λ tr(VᵀLV) written out, against the objective in the transformed letters."""
    corpus = small_corpus()
    result = fc.fit(corpus, "lccf", lam=lam, weighting="ncw_exact", restarts=1, max_iter=30)
    X = corpus.matrix.T
    gamma = 1 / (X.T @ X).sum(axis=1)
    V = result.factors["V"] / np.sqrt(gamma)[:, None]
    W = result.factors["W"] * np.sqrt(gamma)[:, None]
    fit = (gamma * ((X - X @ W @ V.T) ** 2).sum(axis=0)).sum()
    assert result.terms["fit"][-1] == pytest.approx(fit, rel=1e-9)
    np.testing.assert_allclose(result.embedding, V)
    # The graph term, on the loop's scale: the columns of Γ^½V have unit length there.
    c = np.linalg.norm(result.factors["V"], axis=0)
    S = problem_for(configured("lccf", {}), corpus).graph.toarray()
    L = np.diag(S.sum(axis=1)) - S
    assert result.terms["graph"][-1] == pytest.approx(lam * np.trace((V / c).T @ L @ (V / c)), rel=1e-9, abs=1e-12)
    assert falls(result.objective)


@pytest.mark.parametrize("key", EXACT)
def test_exact_weighting_falls(key: str) -> None:
    result = fc.fit(small_corpus(n=120, m=60, sharp=8), key, weighting="ncw_exact", restarts=3)
    assert falls(result.objective)
    assert result.scores["accuracy"] > 0.9


def test_weighted_kernel_kmeans_by_its_definition() -> None:
    corpus = small_corpus()
    result = fc.fit(corpus, "kmeans", weighting="ncw_exact", restarts=3)
    X = corpus.matrix
    gamma = 1 / (X @ X.T).sum(axis=1)
    c = result.factors["H"].argmax(axis=1)
    means = [np.average(X[c == j], axis=0, weights=gamma[c == j]) for j in range(3)]
    distances = np.array([((X - mean) ** 2).sum(axis=1) for mean in means]).T
    assert result.objective[-1] == pytest.approx((gamma * distances[np.arange(24), c]).sum(), rel=1e-9)
    assert np.array_equal(distances.argmin(axis=1), c)  # nobody wants to move
    np.testing.assert_allclose(result.embedding, (X * X).sum(axis=1)[:, None] - distances, atol=1e-12)


def test_refuses_weightings_a_method_does_not_have() -> None:
    with pytest.raises(fc.FactScopeError, match="PSPt has no ncw_exact weighting; it has none and ncw"):
        fc.fit(small_corpus(), "pspt", weighting="ncw_exact")


# Spectral ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighting", ["none", "ncw"])
def test_spectral_is_the_relaxed_kmeans(weighting: str) -> None:
    """SSE = tr K − tr HᵀKH: for k-means' indicator exactly, and for the eigenvectors never more."""
    corpus = small_corpus(n=40)
    relaxed = fc.fit(corpus, "spectral", weighting=weighting)
    kmeans = fc.fit(corpus, "kmeans", weighting=weighting, restarts=10)
    K = kmeans.problem.K @ np.eye(40)
    H = kmeans.factors["H"] / np.sqrt(kmeans.factors["H"].sum(axis=0))
    assert kmeans.objective[-1] == pytest.approx(np.trace(K) - np.trace(H.T @ K @ H), rel=1e-9)
    V = relaxed.factors["H"]
    assert relaxed.objective[-1] == pytest.approx(np.trace(K) - np.trace(V.T @ K @ V), rel=1e-9)
    assert relaxed.objective[-1] <= kmeans.objective[-1] + 1e-12
    np.testing.assert_allclose(V.T @ V, np.eye(3), atol=1e-9)


def test_iterative_eigenvectors_are_the_dense_ones() -> None:
    corpus = small_corpus(sparse=True, n=700, m=60)
    result = fc.fit(corpus, "spectral", n_clusters=4)
    values, vectors = np.linalg.eigh((corpus.matrix @ corpus.matrix.T).toarray())
    np.testing.assert_allclose(result.factors["eigenvalues"], values[::-1][:4], rtol=1e-8)
    np.testing.assert_allclose(np.abs(result.factors["H"].T @ vectors[:, ::-1][:, :4]), np.eye(4), atol=1e-6)


def test_lsi_is_the_best_approximation() -> None:
    corpus = small_corpus(sparse=True, n=120, m=90)
    result = fc.fit(corpus, "lsi", n_clusters=5)
    X = corpus.matrix.toarray().T
    left, values, right = np.linalg.svd(X, full_matrices=False)
    np.testing.assert_allclose(result.factors["U"] @ result.factors["V"].T, left[:, :5] * values[:5] @ right[:5], atol=1e-8)
    assert result.objective[-1] == pytest.approx((values[5:] ** 2).sum(), rel=1e-9)


# Data of both signs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["cf", "lccf"])
def test_square_root_rules_on_signed_data(key: str) -> None:
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(3, 6)) * 4
    X = centres[np.arange(45) % 3] + rng.normal(size=(45, 6))
    corpus = fc.from_matrix(X, labels=np.arange(45) % 3)
    result = fc.fit(corpus, key, restarts=5, lam=5.0) if key == "lccf" else fc.fit(corpus, key, restarts=5)
    assert result.problem.K.signed
    assert falls(result.objective)
    assert all(f.min() >= 0 for f in result.factors.values())
    assert result.scores["accuracy"] > 0.9
    fit = np.linalg.norm(X.T - X.T @ result.factors["W"] @ result.factors["V"].T) ** 2
    assert result.terms["fit"][-1] == pytest.approx(fit, rel=1e-9)


@pytest.mark.parametrize("key", ["cf", "lccf"])
def test_square_root_updates_go_against_the_gradient(key: str) -> None:
    method = configured(key, {})
    rng = np.random.default_rng(1)
    problem = problem_for(method, fc.from_matrix(rng.normal(size=(12, 5))), k=2)
    f = method.begin(problem, method.start(problem, rng))
    products: dict[str, np.ndarray] = {}
    for block in method.blocks:
        products = method.given(problem, block, f, products)
        moved = method.update(problem, block, f, products) - f[block]
        for index in np.ndindex(*moved.shape):
            ends = []
            for h in (1e-6, -1e-6):
                shifted = f[block].copy()
                shifted[index] += h
                ends.append(objective(method, problem, f | {block: shifted}))
            gradient = (ends[0] - ends[1]) / 2e-6
            if abs(gradient) > 1e-2:
                assert np.sign(moved[index]) == -np.sign(gradient), (block, index)


def test_without_negative_similarities_the_square_root_rule_of_cf_is_the_plain_one() -> None:
    X = clustered()[0].T
    cf = configured("cf", {})
    plain = problem_of(fc.from_matrix(X.T), 3)
    signed = FormedKernel(X.T @ X)
    signed.signed = True
    f = cf.begin(plain, cf.start(plain, np.random.default_rng(0)))
    other = type(plain)(plain.X, plain.Xt, signed, 3)
    for block in cf.blocks:
        a, b = (cf.update(p, block, f, cf.given(p, block, f, cf.given(p, "V", f, {}))) for p in (plain, other))
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("key", [a.key for a in algorithms().values()])
def test_signed_data_is_taken_or_refused_in_a_sentence(key: str) -> None:
    corpus = fc.from_matrix(np.random.default_rng(0).normal(size=(20, 5)))
    if key in {"nmf", "gnmf", "sparse_nmf", "lcf", "hht", "pspt"}:
        with pytest.raises(fc.FactScopeError, match=r"needs (data|similarities) without negative values"):
            fc.fit(corpus, key, n_clusters=2, max_iter=5)
    else:
        assert np.isfinite(fc.fit(corpus, key, n_clusters=2, max_iter=20, **told(algorithms()[key], 20, 2)).objective[-1])
    if key in {"hht", "pspt", "lcf"}:
        assert falls(fc.fit(corpus, key, n_clusters=2, kernel="rbf", max_iter=20).objective)


# Sparse NMF -----------------------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 60), st.floats(0.05, 0.95), st.floats(0.1, 10), st.integers(0, 10**6))
def test_projection_reaches_both_norms(N: int, wanted: float, length: float, seed: int) -> None:
    s = np.random.default_rng(seed).normal(size=N)
    l1 = length * (np.sqrt(N) - (np.sqrt(N) - 1) * wanted)
    v = project(s, l1, length)
    assert v.min() >= 0
    assert v.sum() == pytest.approx(l1, rel=1e-8)
    assert np.linalg.norm(v) == pytest.approx(length, rel=1e-8)


@pytest.mark.parametrize(("v", "u"), [(0.6, 0.0), (0.0, 0.4), (0.3, 0.7)])
def test_sparseness_is_reached(v: float, u: float) -> None:
    result = fc.fit(small_corpus(), "sparse_nmf", sparseness_v=v, sparseness_u=u, restarts=2, max_iter=60)
    assert falls(result.objective)
    if v:
        np.testing.assert_allclose(sparseness(result.factors["V"]), v, atol=1e-6)
    if u:
        np.testing.assert_allclose(sparseness(result.factors["U"]), u, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(result.factors["V"], axis=0), 1, atol=1e-9)


# Locality -------------------------------------------------------------------------------------------------------------------


def test_lcf_bases_lie_at_the_gaussians_means_and_nmf_bases_do_not() -> None:
    corpus = fc.load_corpus("gaussians")

    def distance(bases: np.ndarray) -> float:
        d = np.linalg.norm(bases.T[:, None] - np.asarray(GAUSSIAN_MEANS), axis=2)
        return float(d[linear_sum_assignment(d)].max())

    near = [distance(fc.fit(corpus, "lcf", n_clusters=3, seed=seed).basis) < 0.5 for seed in range(10)]
    assert sum(near) >= 9
    for seed in range(10):
        U = fc.fit(corpus, "nmf", n_clusters=3, seed=seed).basis
        # A base of NMF is a direction: even at the length that brings it nearest to a mean, some mean has no base.
        along = [[np.linalg.norm(mean - u * max(0, mean @ u) / (u @ u)) for mean in np.asarray(GAUSSIAN_MEANS)] for u in U.T]
        d = np.array(along)
        assert d[linear_sum_assignment(d)].max() > 0.5


# Starts ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("key", "kind"), [(a.key, s.value) for a in algorithms().values() if a.blocks for s in a.starts])
def test_every_start_falls(key: str, kind: str) -> None:
    result = fc.fit(small_corpus(n=120, m=60, sharp=8), key, init=kind, restarts=2)
    assert falls(result.objective)
    assert result.options["init"] == kind
    assert result.scores["accuracy"] > 0.9


def test_starts_a_method_does_not_have_are_refused() -> None:
    for key, kind in (("cf", "nndsvd"), ("kmeans", "kmeans"), ("pspt", "nndsvd")):
        with pytest.raises(fc.FactScopeError, match="cannot start from"):
            fc.fit(small_corpus(), key, init=kind)
    with pytest.raises(fc.FactScopeError, match="one go"):
        fc.fit(small_corpus(), "lsi", init={"V": np.ones((24, 3))})


def test_whole_runs_keep_the_lowest_objective() -> None:
    corpus = small_corpus(n=40, k=4, noise=0.5)
    starts = np.random.SeedSequence(5).spawn(2)[0].spawn(4)
    method = configured("nmf", {})
    problem = problem_of(corpus, 4)
    alone = [fc.fit(corpus, "nmf", init=method.start(problem, np.random.default_rng(s)), max_iter=80).objective[-1] for s in starts]
    together = fc.fit(corpus, "nmf", seed=5, restarts=4, max_iter=80, warm_up=80)
    assert together.objective[-1] == min(alone)
    assert len(together.objective) == 81


# Presets --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(PRESETS))
def test_a_preset_is_its_method_with_its_options(name: str) -> None:
    corpus = small_corpus()
    preset = PRESETS[name]
    a = fc.fit(corpus, name.lower(), restarts=2, max_iter=15)
    b = fc.fit(corpus, preset.key, restarts=2, max_iter=15, **preset.options)
    assert a.objective.tolist() == b.objective.tolist()
    assert a.options == b.options


def test_what_is_said_explicitly_wins_over_a_preset() -> None:
    assert fc.fit(small_corpus(), "NC-PSPt", weighting="none", max_iter=5, restarts=1).options["weighting"] == "none"


# New documents --------------------------------------------------------------------------------------------------------------

PLACING = [(a.key, w.value) for a in algorithms().values() for w in a.weightings]


@pytest.mark.parametrize(("key", "weighting"), PLACING)
def test_new_documents_fall_where_refitting_puts_them(key: str, weighting: str) -> None:
    X, topic = clustered(n=300, m=60, sharp=8, seed=2)
    old, new = np.arange(270), np.arange(270, 300)
    part = fc.fit(fc.from_matrix(X[old], labels=topic[old]), key, weighting=weighting, restarts=5, seed=1)
    whole = fc.fit(fc.from_matrix(X, labels=topic), key, weighting=weighting, restarts=5, seed=1)
    placed = part.place(X[new])
    assert placed.embedding.shape == (30, 3)
    table = np.zeros((3, 3), dtype=int)  # clusters of the two runs, matched on the old documents
    np.add.at(table, (part.labels, whole.labels[old]), 1)
    _, match = linear_sum_assignment(table, maximize=True)
    assert np.mean(match[placed.labels] == whole.labels[new]) >= 0.9


@pytest.mark.parametrize("key", ["nmf", "gnmf", "cf", "lccf", "kmeans", "spectral", "lsi", "hht"])
def test_an_old_document_placed_again_gets_its_own_cluster(key: str) -> None:
    corpus = small_corpus(n=120, m=60, sharp=8)
    result = fc.fit(corpus, key, restarts=5)
    placed = result.place(corpus.matrix[:30])
    assert np.mean(placed.labels == result.labels[:30]) >= 0.9


def test_texts_are_placed_and_bad_newcomers_refused() -> None:
    corpus = fc.load_corpus("three-topics")
    result = fc.fit(corpus, "lccf", restarts=3)
    own = result.place([corpus.documents[0], corpus.documents[-1]])
    assert own.labels.tolist() == [result.labels[0], result.labels[-1]]
    assert np.all(np.isfinite(result.place("").embedding))
    with pytest.raises(fc.FactScopeError, match="terms"):
        result.place(np.ones((2, 3)))
    with pytest.raises(fc.FactScopeError, match="not read from text"):
        fc.fit(small_corpus(), "cf").place("a text")


# Warnings -------------------------------------------------------------------------------------------------------------------


def test_warnings_name_what_is_wrong() -> None:
    X, _ = clustered()
    X[3] = 0.0
    said = " ".join(fc.fit(fc.from_matrix(X), "lccf", n_clusters=3, restarts=2).warnings)
    assert "1 document of 24 (4%) has no coordinates" in said
    assert "1 document has no neighbour" in said
    assert not fc.fit(small_corpus(), "lccf", restarts=2).warnings
    pieces = fc.from_matrix(np.kron(np.eye(20), np.ones((3, 2))))
    assert "falls into 20 pieces" in " ".join(fc.fit(pieces, "lccf", n_clusters=2, p=2, restarts=1).warnings)
    two = fc.fit(fc.from_matrix(np.tile([[1.0, 0.0], [0.0, 1.0]], (5, 1))), "nmf", n_clusters=4, restarts=1)
    assert "of 4 clusters" in " ".join(two.warnings)


def test_a_rising_objective_is_said() -> None:
    """A forest of pairs and a huge λ: rescaling V lifts the graph term again (see the contract test)."""
    result = fc.fit(small_corpus(), "lccf", lam=1e4, p=1, restarts=2, max_iter=40)
    assert not falls(result.objective)
    assert any(w.startswith("The objective rose in") for w in result.warnings)


def test_kmeans_leaves_no_cluster_empty() -> None:
    """Three equal starting centres: two clusters lose everything at once and take the farthest documents instead."""
    method = configured("kmeans", {})
    X, _ = clustered(n=30, m=20)
    problem = problem_of(fc.from_matrix(X), 3)
    H = np.zeros((30, 3))
    H[:, 0] = 1.0
    f = {"H": H}
    before = objective(method, problem, f)
    H = method.update(problem, "H", f, method.given(problem, "H", f, {}))
    assert H.sum(axis=0).min() >= 1
    assert objective(method, problem, {"H": H}) < before
