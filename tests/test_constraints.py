"""Supervision: where constraints come from, how far they reach, and what the methods make of them."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from helpers import clustered, falls, reference, small_corpus
from hypothesis import given, settings
from hypothesis import strategies as st

import fact_core as fc
from fact_core import constraints as module
from fact_core.algorithms import Needs, algorithms
from fact_core.algorithms.cnpcf import combining_weights
from fact_core.constraints import (
    Constraints,
    Links,
    as_printed,
    from_classes,
    from_csv,
    from_pairs,
    from_share,
    linked_graph,
    normalised,
    propagate,
    share_refusal,
    spread,
)  # fmt: skip
from fact_core.graph import GraphWeights, neighbour_graph
from fact_core.presets import PRESETS, resolve

SEMI = [a.key for a in algorithms().values() if Needs.SUPERVISION in a.needs]
LINKS_DO = [a.key for a in algorithms().values() if Needs.SUPERVISION in a.needs and Needs.CLASSES not in a.needs]


def labelled(n: int = 40, per_class: int = 3, **options: object) -> tuple[fc.Corpus, Constraints, sp.csr_array]:
    """A small corpus of three topics, the classes of a few documents of each, and the heat graph."""
    corpus = small_corpus(n=n, **options)
    known = {int(i): c for c in range(3) for i in np.flatnonzero(corpus.labels == c)[:per_class]}
    return corpus, from_classes(known, n), neighbour_graph(corpus.matrix, 4, GraphWeights.HEAT)


# A share of labels ----------------------------------------------------------------------------------------------------------


def test_a_share_is_drawn_from_every_class_with_the_seed() -> None:
    corpus = small_corpus(n=90)
    known = dict(from_share(corpus, 0.2, seed=3).known)
    assert all(corpus.labels[i] == c for i, c in known.items())
    assert np.bincount(list(known.values())).tolist() == [6, 6, 6]
    assert from_share(corpus, 0.2, seed=3) == from_share(corpus, 0.2, seed=3)
    assert from_share(corpus, 0.2, seed=3) != from_share(corpus, 0.2, seed=4)
    assert set(known.items()) < set(from_share(corpus, 0.5, seed=3).known)  # a larger share contains a smaller one
    assert len(from_share(corpus, 1.0).known) == 90


def test_a_share_of_less_than_one_document_is_one_and_said() -> None:
    corpus = small_corpus(n=30)
    few = from_share(corpus, 0.02)
    assert len(few.known) == 3
    assert "one was labelled there" in few.notes[0]
    assert "no must-link" in few.notes[1]
    assert few.notes[0] in fc.fit(corpus, "rcf", share=0.02, max_iter=5, restarts=1).warnings
    assert not from_share(corpus, 0.5).notes


def test_shares_that_cannot_be_drawn() -> None:
    plain = fc.from_matrix(clustered()[0], name="notes")
    assert "pairs still work" in (share_refusal(plain) or "")
    assert share_refusal(small_corpus()) is None
    for key in SEMI:
        with pytest.raises(fc.FactScopeError, match=r"notes has no classes, so no share .* pairs still work"):
            fc.fit(plain, key, n_clusters=3)
    lonely = fc.from_matrix(clustered()[0], labels=["a"] * 12 + ["b"] * 11 + ["c"])
    with pytest.raises(fc.FactScopeError, match="The class “c” of matrix has one document only"):
        fc.fit(lonely, "rcf")
    for share in (0.0, -0.1, 1.2, float("nan")):
        with pytest.raises(fc.FactScopeError, match="more than 0 and at most 1"):
            from_share(small_corpus(), share)
        with pytest.raises(fc.FactScopeError, match="share"):
            fc.fit(small_corpus(), "rcf", share=share)


def test_all_methods_are_told_the_same_documents() -> None:
    corpus = small_corpus(n=60)
    told = [fc.fit(corpus, key, seed=7, share=0.1, restarts=1, max_iter=3).supervised.tolist() for key in SEMI]
    assert all(documents == told[0] for documents in told)
    assert told[0] == from_share(corpus, 0.1, seed=7).documents.tolist()
    assert fc.fit(corpus, "lccf", max_iter=3, restarts=1).supervised.tolist() == []


# Pairs and files --------------------------------------------------------------------------------------------------------------


def test_classes_pairs_and_files_say_the_same() -> None:
    known = from_classes({4: "b", 0: "a", 7: "a"}, 9)
    pairs = from_pairs(known.pairs(), 9)
    assert (pairs.must, pairs.cannot) == (((0, 7),), ((0, 4), (4, 7)))
    assert known.to_csv() == "first,second,kind\n0,4,cannot\n0,7,must\n4,7,cannot\n"
    assert from_csv(io.StringIO(pairs.to_csv()), 9) == pairs
    off = known.Z().toarray() - pairs.Z().toarray()
    assert np.array_equal(off, np.diag(known.groups >= 0))  # a document of known class is linked with itself
    assert known.classes is not None
    assert pairs.classes is not None
    assert pairs.classes.tolist() == known.classes.tolist() == [0, -1, -1, -1, 1, -1, -1, 0, -1]
    assert known.documents.tolist() == pairs.documents.tolist() == [0, 4, 7]


def test_files_as_people_write_them(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("\ufefffirst,second,kind\n 3 , 1 ,Must\n\n1,3,must\n0,2,cannot\n", encoding="utf-8")
    assert from_csv(path, 5) == from_csv(str(path), 5) == Constraints(5, must=((1, 3),), cannot=((0, 2),))
    path.write_text("0,1,must\n", encoding="utf-8")  # without a header
    assert from_csv(path, 5).must == ((0, 1),)
    path.write_bytes(b"0,1,must\n\xff\xfe")
    with pytest.raises(fc.FactScopeError, match="no text in UTF-8"):
        from_csv(path, 5)
    with pytest.raises(fc.FactScopeError, match=r"could not be read from .*nowhere\.csv: No such file"):
        fc.fit(small_corpus(), "rcf", constraints=str(tmp_path / "nowhere.csv"))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0,1\n", r"Line 1 must be first,second,kind, such as 3,17,must, and not “0,1”"),
        ("0,1,must\n0;2;must\n", r"Line 2 must be first,second,kind"),
        ("0,1,must\na,2,must\n", r"Line 2 names a document by “a”; documents are numbered from 0 to 4"),
        ("0,5,must\n", r"Line 1 names document 5; documents are numbered from 0 to 4"),
        ("-1,2,must\n", r"Line 1 names document -1"),
        ("0,1.5,must\n", r"Line 1 names a document by “1.5”"),
        ("2,2,must\n", r"Line 1 links document 2 with itself"),
        ("0,1,mst\n", r"no kind of link \(line 1\) “mst”: did you mean “must”"),
        ("who,whom,how\n0,1,must\n", r"Line 1 names a document by “who”"),
    ],
)
def test_bad_lines_are_named(text: str, sentence: str) -> None:
    with pytest.raises(fc.FactScopeError, match=sentence):
        from_csv(io.StringIO(text), 5)


def test_bad_pairs_are_named() -> None:
    for pairs in ([(0, 1)], ["0,1,must"], [(0, 1.5, "must")], [(0, 99, "must")], [(0, 1, "maybe")]):
        with pytest.raises(fc.FactScopeError, match=r"(?i)pair 1"):
            from_pairs(pairs, 24)
    with pytest.raises(fc.FactScopeError, match="for 9 documents, and this corpus has 24"):
        fc.fit(small_corpus(), "rcf", constraints=from_pairs([], 9))
    with pytest.raises(fc.FactScopeError, match="LCCF is unsupervised"):
        fc.fit(small_corpus(), "lccf", constraints=[(0, 3, "must")])


def test_contradictions_are_found_and_named() -> None:
    chain = from_pairs([(5, 2, "must"), (2, 8, "must"), (8, 1, "must"), (1, 5, "cannot"), (3, 4, "cannot"), (0, 5, "must")], 10)
    assert [c.chain for c in chain.contradictions] in ([(1, 8, 2, 5)], [(5, 2, 8, 1)])
    assert "documents 1 and 5 cannot be together, but must-links join them (1 – 8 – 2 – 5)" in str(chain.contradictions[0])
    with pytest.raises(fc.FactScopeError, match=r"contradict each other: documents 1 and 5 .* – "):
        chain.closed()
    both = [(0, 3, "must"), (3, 0, "cannot"), (6, 9, "must"), (6, 9, "cannot")]
    with pytest.raises(fc.FactScopeError, match=r"\(0 – 3\), and 1 more such pairs"):
        fc.fit(small_corpus(), "rcf", constraints=both)
    assert not from_classes({0: "a", 1: "b"}, 5).contradictions


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-1, 3), min_size=2, max_size=9), st.data())
def test_closure_is_everything_that_follows(group: list[int], data: st.DataObject) -> None:
    """Pairs drawn from a true grouping never contradict; the closure is what a search of all pairs finds, and closing it adds nothing."""
    n = len(group)
    everything = [(i, j) for i in range(n) for j in range(i)]
    drawn = data.draw(st.lists(st.sampled_from(everything), max_size=12))
    pairs = [(i, j, "must" if group[i] == group[j] else "cannot") for i, j in drawn]
    given_, closed = from_pairs(pairs, n), from_pairs(pairs, n).closed()
    assert not given_.contradictions
    assert closed.closed() == closed
    must = np.eye(n, dtype=bool)
    for i, j in given_.must:
        must[i, j] = must[j, i] = True
    for _ in range(n):
        must = must | (must.astype(int) @ must.astype(int) > 0)
    apart = np.zeros((n, n), dtype=bool)
    for i, j in given_.cannot:
        apart |= np.outer(must[i], must[j]) | np.outer(must[j], must[i])
    assert closed.must == tuple((i, j) for i in range(n) for j in range(i + 1, n) if must[i, j])
    assert closed.cannot == tuple((i, j) for i in range(n) for j in range(i + 1, n) if apart[i, j])
    assert np.array_equal(closed.groups >= 0, given_.groups >= 0)


# Propagation ------------------------------------------------------------------------------------------------------------------


def reference_pairs() -> tuple[Constraints, sp.csr_array, dict[str, np.ndarray]]:
    r = reference("e2cp")
    i, j = np.nonzero(np.triu(r["Z"], 1))
    return from_pairs([(a, b, "must" if r["Z"][a, b] > 0 else "cannot") for a, b in zip(i, j, strict=True)], 60), sp.csr_array(r["W"]), r


def test_agrees_with_the_reference() -> None:
    pairs, S, r = reference_pairs()
    np.testing.assert_allclose(normalised(S).toarray(), r["S"], rtol=1e-8, atol=1e-14)
    found = propagate(S, pairs, float(r["alpha"]))
    np.testing.assert_allclose(pairs.Z().toarray(), r["Z"])
    np.testing.assert_allclose(found.F(), r["F"], rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found.graph(S), r["Wtilde"], rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found.graph(S, keep=60).toarray(), r["Wtilde"], rtol=1e-8, atol=1e-12)
    t = float(r["t"])
    np.testing.assert_allclose(neighbour_graph(reference("data")["X"].T, 5, GraphWeights.HEAT, t).toarray(), r["W"], rtol=1e-8, atol=1e-14)


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("links", list(Links))
@pytest.mark.parametrize("pairs", [False, True])
def test_closed_form_is_the_limit_of_the_iteration(alpha: float, links: Links, pairs: bool) -> None:
    _, known, S = labelled()
    known = from_pairs(known.pairs(), 40) if pairs else known
    Z, Sbar = known.Z(links).toarray(), normalised(S).toarray()
    vertical = np.zeros((40, 40))
    for _ in range(600):
        vertical = alpha * Sbar @ vertical + (1 - alpha) * Z
    F = np.zeros((40, 40))
    for _ in range(600):
        F = alpha * F @ Sbar + (1 - alpha) * vertical
    np.testing.assert_allclose(propagate(S, known, alpha, links).F(), np.clip(F, -1, 1), rtol=0, atol=1e-10)


def test_links_of_known_classes_are_of_low_rank() -> None:
    """F = 2BBᵀ − bbᵀ with as many solves as classes, however many documents are labelled."""
    _, known, S = labelled(per_class=8)
    assert known.Y.shape == (40, 3)
    B = spread(S, known.Y, 0.5)
    b = B.sum(axis=1)
    for links, F in ((Links.BOTH, 2 * B @ B.T - np.outer(b, b)), (Links.MUST, B @ B.T), (Links.CANNOT, B @ B.T - np.outer(b, b))):
        np.testing.assert_allclose(propagate(S, known, 0.5, links).F(), np.clip(F, -1, 1), atol=1e-14)
    np.testing.assert_allclose(known.Z().toarray(), known.Z(Links.MUST).toarray() + known.Z(Links.CANNOT).toarray())
    few = from_pairs([(0, 3, "must"), (3, 7, "cannot")], 40)
    assert few.Y.shape == (40, 3)  # pairs go through the documents involved only


def test_the_printed_laplacian_is_a_slip() -> None:
    """Signs of unlabelled pairs on easy data: right with S̄, a coin with the Laplacian, whose iteration diverges for α > 0.5."""
    corpus, known, S = labelled(n=60, m=60, sharp=8, per_class=4)
    rest = np.setdiff1d(np.arange(60), known.documents)
    same = np.equal.outer(corpus.labels[rest], corpus.labels[rest])
    off = ~np.eye(len(rest), dtype=bool)

    def right(F: np.ndarray) -> float:
        return float(((F[np.ix_(rest, rest)] > 0) == same)[off].mean())

    assert right(propagate(S, known, 0.5).F()) == 1.0
    assert right(as_printed(S, known, 0.45)) < 0.75
    L = np.eye(60) - normalised(S).toarray()
    assert np.abs(np.linalg.eigvalsh(0.6 * L)).max() < 1.2
    assert np.abs(np.linalg.eigvalsh(0.9 * L)).max() > 1


def test_the_new_graph_is_equation_11() -> None:
    _, known, S = labelled()
    found = propagate(S, known, 0.6)
    F, W = found.F(), S.toarray()
    expected = np.where(F >= 0, 1 - (1 - F) * (1 - W), (1 + F) * W)
    np.fill_diagonal(expected, 0.0)
    graph = found.graph(S)
    np.testing.assert_allclose(graph, expected, atol=1e-14)
    assert graph.min() >= 0
    assert graph.max() <= 1
    np.testing.assert_allclose(graph, graph.T, atol=1e-14)


@pytest.mark.parametrize("keep", [1, 3, 10, 39, 40, 1000])
def test_the_sparse_graph_keeps_the_edges_and_the_largest_entries(keep: int) -> None:
    _, known, S = labelled()
    found = propagate(S, known, 0.5)
    whole, kept = found.graph(S), found.graph(S, keep).toarray()
    assert kept.sum() == pytest.approx(whole.sum(), rel=1e-12)
    np.testing.assert_allclose(kept[kept > 0] / whole[kept > 0], whole.sum() / whole[kept > 0].sum(), rtol=1e-12)
    np.testing.assert_allclose(kept, kept.T)
    largest = np.argsort(-whole, axis=1)[:, :keep]
    asked = (S.toarray() > 0) | np.array([np.isin(np.arange(40), row) for row in largest])
    assert np.array_equal(kept > 0, (asked | asked.T) & (whole > 0))


def test_blocks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    _, known, S = labelled()
    found = propagate(S, known, 0.5)
    whole = [found.graph(S), found.graph(S, 7).toarray()]
    monkeypatch.setattr("fact_core.kernel.BLOCK", 40 * 3)
    for a, b in zip(whole, [found.graph(S), found.graph(S, 7).toarray()], strict=True):
        np.testing.assert_allclose(a, b, atol=1e-15)


def test_documents_without_neighbours_and_without_labels() -> None:
    S = sp.block_diag([np.ones((3, 3)) - np.eye(3), np.zeros((1, 1)), np.ones((2, 2)) - np.eye(2)], format="csr")
    found = propagate(sp.csr_array(S), from_classes({0: "a", 3: "b"}, 6), 0.5)
    F = found.F()
    assert np.all(F[4:] == 0)  # no label reaches the last two
    assert F[0, 3] < 0 < F[1, 2]
    assert np.array_equal(found.graph(sp.csr_array(S))[4:, 4:], [[0, 1], [1, 0]])


def test_hubs_do_not_pass_one() -> None:
    """The middle of a star of labelled documents has 2.4 of a class in its row of B; no link is surer than sure."""
    star = np.zeros((51, 51))
    star[0, 1:] = star[1:, 0] = 1.0
    found = propagate(sp.csr_array(star), from_classes(dict.fromkeys(range(1, 51), "a"), 51), 0.5)
    assert found.B[0, 0] == pytest.approx(np.sqrt(50) / 3)
    assert found.F().max() == 1.0
    assert found.graph(sp.csr_array(star)).max() == 1.0


def test_memory_is_asked_for_first(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = small_corpus()
    monkeypatch.setenv("FACTSCOPE_MEMORY", "12 kB")
    with pytest.raises(fc.FactScopeError, match=r"propagated graph of 24 documents needs .* “keep” leaves the largest entries"):
        fc.fit(corpus, "rcf", keep=0)
    monkeypatch.setenv("FACTSCOPE_MEMORY", "1 kB")
    with pytest.raises(fc.FactScopeError, match="Propagating the constraints"):
        fc.fit(corpus, "rcf")
    with pytest.raises(fc.FactScopeError, match="labelled documents needs"):
        fc.fit(corpus, "semi_lccf", share=1.0)


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.5, 1.5, float("nan")])
def test_alpha_lies_between_0_and_1(alpha: float) -> None:
    _, known, S = labelled()
    with pytest.raises(fc.FactScopeError, match="alpha"):
        propagate(S, known, alpha)
    for key in ("rcf", "label_propagation"):
        with pytest.raises(fc.FactScopeError, match="alpha"):
            fc.fit(small_corpus(), key, alpha=alpha)


def test_a_sweep_propagates_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr(module, "splu", lambda *a, _splu=module.splu, **k: calls.append(1) or _splu(*a, **k))
    corpus = small_corpus()
    for lam in (1.0, 10.0, 100.0):
        fc.fit(corpus, "rcf", lam=lam, restarts=1, max_iter=3)
    assert len(calls) == 1
    fc.fit(corpus, "rcf", constraints=[(0, 3, "must")], restarts=1, max_iter=3)
    fc.fit(corpus, "rcf", constraints=[(0, 3, "must")], restarts=1, max_iter=3, weighting="ncw")  # equal, though not the same object
    assert len(calls) == 2
    options: dict[str, object] = {"restarts": 1, "max_iter": 3}
    for change in ({}, {"alpha": 0.3}, {"p": 4}, {"share": 0.5}, {"links": "must"}, {"keep": 2}, {"seed": 9}, {"graph": "binary"}):
        before = len(calls)
        options |= change
        again, fresh = (fc.fit(c, "rcf", **options).objective.tolist() for c in (corpus, small_corpus()))
        assert len(calls) == before + 2
        assert again == fresh


def test_linked_graph_has_ones_and_zeros_at_links() -> None:
    r, semi = reference("graphs"), reference("semilccf")
    split = np.flatnonzero(r["semiSplit"].ravel())
    known = from_classes({int(i): int(reference("data")["gnd"][i]) for i in split}, 60)
    S = sp.csr_array(r["cosine"])
    for constraints in (known, from_pairs(known.pairs(), 60)):
        np.testing.assert_allclose(linked_graph(S, constraints).toarray(), semi["G"], atol=1e-14)
    i, j = (int(v[0]) for v in S.nonzero())
    parted = linked_graph(S, from_pairs([(i, j, "cannot")], 60))
    assert parted[i, j] == parted[j, i] == 0
    assert (S - parted).nnz == 2
    must, cannot = (linked_graph(S, known, links).toarray() for links in (Links.MUST, Links.CANNOT))
    Z = known.Z().toarray()
    assert np.all(must[(Z < 0)] == r["cosine"][Z < 0])
    assert np.all(cannot[Z < 0] == 0)
    assert np.all(cannot[Z > 0] == r["cosine"][Z > 0])


# The methods ------------------------------------------------------------------------------------------------------------------


def test_must_linked_documents_share_their_rows_in_ccf() -> None:
    corpus = small_corpus(n=60)
    result = fc.fit(corpus, "ccf", share=0.3, restarts=2, max_iter=50)
    V, known = result.factors["V"], result.supervised
    for c in range(3):
        rows = V[known[corpus.labels[known] == c]]
        assert np.all(rows == rows[0])
    linked = fc.fit(corpus, "ccf", constraints=[(0, 1, "must"), (1, 5, "must"), (8, 9, "must"), (3, 4, "cannot")], restarts=1, max_iter=30)
    V = linked.factors["V"]
    assert np.all(V[[0, 1, 5]] == V[0])
    assert np.all(V[8] == V[9])
    assert len(np.unique(V, axis=0)) == 60 - 3
    assert len({*linked.labels[[0, 1, 5]]}) == 1


@pytest.mark.parametrize("weighting", ["none", "ncw", "ncw_exact"])
@pytest.mark.parametrize("key", ["ccf", "gdcf", "cnpcf"])
def test_objectives_written_out(key: str, weighting: str) -> None:
    """The objective of the last step from the reported factors, with dense matrices and nothing shared."""
    if weighting not in [w.value for w in algorithms()[key].weightings]:
        return
    corpus = small_corpus(sparse=True)
    result = fc.fit(corpus, key, weighting=weighting, share=0.4, restarts=1, max_iter=25)
    X, f, known = corpus.matrix.toarray().T, result.factors, result.problem.supervision
    gamma = 1 / (X.T @ X).sum(axis=1)
    root = np.sqrt(gamma)
    if weighting == "ncw_exact":  # the factors stand for Γ^½V and Γ^-½W
        V, W = f["V"] / root[:, None], f["W"] * root[:, None]
        fit = (gamma * ((X - X @ W @ V.T) ** 2).sum(axis=0)).sum()
    else:
        V, W, X = f["V"], f["W"], X * (root if weighting == "ncw" else 1.0)
        fit = ((X - X @ W @ V.T) ** 2).sum()
    assert result.terms["fit"][-1] == pytest.approx(fit, rel=1e-9)
    same = np.zeros((24, 24))
    for i, a in known.known:
        for j, b in known.known:
            same[i, j] = a == b and i != j
    if key == "gdcf":
        S = neighbour_graph(corpus.matrix, 5).toarray()
        assert result.terms["graph"][-1] == pytest.approx(0.5 * np.trace(V.T @ (np.diag(S.sum(axis=1)) - S) @ V), rel=1e-9)
        off = [np.eye(3)[c] - f["B"] @ V[i] for i, c in known.known]
        assert result.terms["labels"][-1] == pytest.approx(0.1 * sum(e @ e for e in off), rel=1e-9)
    if key == "cnpcf":
        M = result.problem.graph.toarray()
        assert result.terms["neighbourhoods"][-1] == pytest.approx(10 * ((V - M @ V) ** 2).sum(), rel=1e-9)
        assert result.terms["must-links"][-1] == pytest.approx(np.trace(V.T @ (np.diag(same.sum(axis=1)) - same) @ V), rel=1e-9)


@pytest.mark.parametrize("sparse", [False, True])
def test_combining_weights(sparse: bool) -> None:
    X = reference("data")["X"].T
    M = fc.fit(fc.from_matrix(sp.csr_array(X) if sparse else X), "cnpcf", n_clusters=3, constraints=[], max_iter=1).problem.graph
    np.testing.assert_allclose(M.toarray(), reference("cnpcf")["M"], rtol=1e-8, atol=1e-12)
    # A point between two others on a line; duplicates, which leave the equations singular; no neighbour at all.
    line = np.array([[0.0, 1.0], [4.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
    near = np.array([[0, 1], [0, -1], [3, 3], [-1, -1]])
    weights = combining_weights(line, line[[2, 1, 2, 0]], near).toarray()
    np.testing.assert_allclose(weights[0], [0.75, 0.25, 0, 0], atol=2e-3)
    np.testing.assert_allclose(weights[1], [1, 0, 0, 0])
    np.testing.assert_allclose(weights[2], [0, 0, 0, 1])
    assert not weights[3].any()


def test_label_propagation_minimises_its_objective() -> None:
    corpus = small_corpus(n=60, m=40, sharp=6)
    result = fc.fit(corpus, "label_propagation", share=0.1)
    B, problem, method = result.factors["B"], result.problem, result.algorithm
    rng = np.random.default_rng(0)
    for _ in range(20):
        other = {"B": B + 1e-4 * rng.normal(size=B.shape)}
        assert sum(method.terms(problem, other, {}).values()) > result.objective[-1]
    assert np.array_equal(result.labels, B.argmax(axis=1))
    assert result.scores["accuracy"] > 0.9
    assert result.embedding.shape == (60, 3)
    with pytest.raises(fc.FactScopeError, match="finds the 3 classes it is told of, so the number of clusters must be 3, not 4"):
        fc.fit(corpus, "label_propagation", n_clusters=4)


@pytest.mark.parametrize("key", ["gdcf", "label_propagation"])
def test_methods_on_classes_take_pairs_that_give_them(key: str) -> None:
    corpus = small_corpus()
    with pytest.raises(fc.FactScopeError, match="needs the classes of some documents, and these pairs do not give them"):
        fc.fit(corpus, key, constraints=[(0, 3, "must"), (1, 4, "must"), (0, 1, "cannot"), (2, 5, "must")])
    pairs = [(0, 3, "must"), (1, 4, "must"), (2, 5, "must"), (0, 1, "cannot"), (4, 5, "cannot"), (2, 3, "cannot")]
    by_pairs = fc.fit(corpus, key, constraints=pairs, restarts=2, max_iter=20)
    by_classes = fc.fit(corpus, key, constraints={0: 0, 3: 0, 1: 1, 4: 1, 2: 2, 5: 2}, restarts=2, max_iter=20)
    assert by_pairs.objective.tolist() == by_classes.objective.tolist()


@pytest.mark.parametrize("key", LINKS_DO)
def test_a_corpus_without_classes_takes_pairs(key: str) -> None:
    X, topic = clustered(n=60, m=40, sharp=6)
    pairs = [(i, j, "must" if topic[i] == topic[j] else "cannot") for i in range(6) for j in range(i)]
    result = fc.fit(fc.from_matrix(X), key, n_clusters=3, constraints=pairs, restarts=3)
    assert falls(result.objective)
    assert result.supervised.tolist() == list(range(6))
    assert result.options["constraints"] == "3 must-links and 12 cannot-links"
    assert result.scores == result.scores_unlabelled == {}


def test_scores_both_ways() -> None:
    corpus = small_corpus(n=60, noise=0.6)
    result = fc.fit(corpus, "rcf", share=0.3, restarts=2, max_iter=50)
    rest = np.setdiff1d(np.arange(60), result.supervised)
    from fact_core.metrics import scores

    assert result.scores == scores(corpus.labels, result.labels)
    assert result.scores_unlabelled == scores(corpus.labels[rest], result.labels[rest])
    assert fc.fit(corpus, "rcf", share=1.0, restarts=1, max_iter=5).scores_unlabelled == {}
    plain = fc.fit(corpus, "cf", restarts=1, max_iter=5)
    assert plain.scores == plain.scores_unlabelled
    said = json.loads(json.dumps(result.as_json()))
    assert said["supervised"] == 18
    assert said["scores_unlabelled"] == result.scores_unlabelled
    assert said["parameters"]["constraints"] == "18 documents of 3 classes labelled"


def test_constraints_from_a_file_are_the_pairs(tmp_path: Path) -> None:
    corpus, known, _ = labelled()
    path = tmp_path / "pairs.csv"
    path.write_text(known.to_csv(), encoding="utf-8")
    a, b = (fc.fit(corpus, "rcf", constraints=c, restarts=1, max_iter=10) for c in (path, list(known.pairs())))
    assert a.objective.tolist() == b.objective.tolist()


def test_supervision_pays() -> None:
    """On noisy topics the constraints move documents that nothing was said of."""
    corpus = small_corpus(n=150, m=60, noise=1.2, sharp=4)
    plain = fc.fit(corpus, "lccf", graph="heat").scores["accuracy"]
    assert fc.fit(corpus, "rcf", share=0.3).scores_unlabelled["accuracy"] > plain + 0.02


def test_must_and_cannot_alone_differ_from_both() -> None:
    corpus = small_corpus(n=60, noise=0.6)
    curves = [fc.fit(corpus, "rcf", links=links, restarts=1, max_iter=20).objective[-1] for links in ("both", "must", "cannot")]
    assert len({round(v, 9) for v in curves}) == 3


def test_reconstructions_say_so() -> None:
    for key in ("gdcf", "cnpcf"):
        cls = algorithms()[key]
        assert "reconstruction" in cls.note
        assert "reconstruction" in (cls.__doc__ or "")
    assert not algorithms()["rcf"].note


def test_the_papers_names() -> None:
    for name, key in (("RCF", "rcf"), ("SemiLCCF", "semi_lccf"), ("CCF", "ccf"), ("GDCF", "gdcf"), ("CNPCF", "cnpcf")):
        assert PRESETS[name].key == resolve(name).key == resolve(name.lower()).key == key
