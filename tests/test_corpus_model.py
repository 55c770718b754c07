"""What a corpus is: weights, choices, fingerprints, and what is refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from corpus_files import COUNTS, refused
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fact_core.corpus import Corpus, TermWeighting, from_matrix
from fact_core.corpus.model import assemble

counts_matrices = arrays(np.int64, st.tuples(st.integers(3, 12), st.integers(2, 8)), elements=st.sampled_from([0, 0, 0, 1, 1, 2, 7]))


def plainly(counts: np.ndarray, weighting: str, n: int, df: np.ndarray) -> np.ndarray:
    """(1 + log tf) · log(n/df), entry by entry."""
    X = np.zeros(counts.shape)
    for i, j in np.ndindex(*counts.shape):
        tf = counts[i, j]
        if tf > 0:
            X[i, j] = {"tfidf": (1 + np.log(tf)) * np.log(n / df[j]), "tf": tf, "binary": 1.0, "none": tf}[weighting]
    for i in range(len(X)):
        length = np.sqrt(np.sum(X[i] ** 2))
        X[i] = X[i] / length if length > 0 else X[i]
    return X


def dense(X):
    return X.toarray() if sp.issparse(X) else X


def usable(counts: np.ndarray) -> bool:
    """Two different documents that tf-idf leaves something of."""
    full = counts[(counts > 0).any(axis=1)]
    df = (full > 0).sum(axis=0)
    left = full[:, df < len(full)]
    kept = full[(left > 0).any(axis=1)]
    return len(kept) >= 2 and not (kept == kept[0]).all()


@pytest.mark.parametrize("weighting", ["tfidf", "tf", "binary", "none"])
@pytest.mark.parametrize("make", [np.array, sp.csr_array, sp.coo_array, sp.csc_matrix])
def test_weights_agree_with_a_plain_computation(weighting, make):
    corpus = assemble("small", make(COUNTS), weighting=weighting)
    df = (COUNTS > 0).sum(axis=0)
    np.testing.assert_allclose(dense(corpus.matrix), plainly(COUNTS, weighting, 4, df), atol=1e-14)


@given(counts_matrices, st.sampled_from(["tfidf", "tf", "binary"]), st.booleans())
@settings(max_examples=80, deadline=None)
def test_rows_have_unit_length_and_empty_documents_are_told(counts, weighting, sparse):
    if not usable(counts):
        return
    corpus = assemble("drawn", sp.csr_array(counts) if sparse else counts, weighting=weighting)
    X = dense(corpus.matrix)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, atol=1e-12)
    assert len(corpus) + sum(d.count for d in corpus.dropped) == len(counts)
    filled = counts[(counts > 0).any(axis=1)]
    kept = filled if weighting != "tfidf" else filled[((filled > 0) & ((filled > 0).sum(axis=0) < len(filled))).any(axis=1)]
    np.testing.assert_allclose(X, plainly(kept, weighting, len(filled), (filled > 0).sum(axis=0)), atol=1e-12)


@given(counts_matrices, st.integers(0, 1000))
@settings(max_examples=80, deadline=None)
def test_weights_keep_the_whole_corpus_after_a_choice(counts, seed):
    if not usable(counts):
        return
    whole = assemble("drawn", sp.csr_array(counts))
    rows = np.random.default_rng(seed).choice(len(whole), 2, replace=False)
    part = whole.take(rows)
    columns = [list(whole.terms).index(t) for t in part.terms]
    np.testing.assert_allclose(dense(part.matrix), dense(whole.matrix)[rows][:, columns], atol=1e-12)
    left_out = np.setdiff1d(np.arange(len(whole.terms)), columns)
    assert np.all(dense(whole.matrix)[rows][:, left_out] == 0)
    assert part.population == whole.population


@given(counts_matrices, st.data())
@settings(max_examples=60, deadline=None)
def test_fingerprint_is_stable_and_sensitive(counts, data):
    if not usable(counts):
        return
    corpus = assemble("a", sp.csr_array(counts))
    assert corpus.fingerprint == assemble("another name", sp.csr_array(counts)).fingerprint
    i = data.draw(st.integers(0, counts.shape[0] - 1))
    j = data.draw(st.integers(0, counts.shape[1] - 1))
    changed = counts.copy()
    changed[i, j] += 1
    if len(corpus) == len(counts) and usable(changed):
        assert assemble("a", sp.csr_array(changed)).fingerprint != corpus.fingerprint
    terms = [f"word {j}" for j in range(counts.shape[1])]
    assert assemble("a", sp.csr_array(counts), terms=terms).fingerprint != corpus.fingerprint
    assert assemble("a", sp.csr_array(counts), labels=np.arange(len(counts)) % 2).fingerprint != corpus.fingerprint
    assert assemble("a", sp.csr_array(counts), weighting="tf").fingerprint != corpus.fingerprint


def test_fingerprint_does_not_depend_on_how_the_matrix_is_stored():
    stored = [COUNTS, sp.csr_array(COUNTS), sp.coo_array(COUNTS), sp.csr_array(COUNTS).astype(np.float32)]
    prints = [assemble("a", m).fingerprint for m in stored]
    assert len(set(prints[1:])) == 1


def labelled() -> Corpus:
    rng = np.random.default_rng(0)
    labels = np.repeat(["a", "b", "c", "d"], [2, 5, 9, 5])
    return assemble("four", sp.csr_array(rng.poisson(0.7, (21, 30)) + np.eye(21, 30, dtype=int)), labels=labels)


def test_classes_by_name_size_rank_and_chance():
    corpus = labelled()
    assert corpus.select() is corpus
    assert corpus.select(["c", "a"]).label_names == ("a", "c")
    assert corpus.select("c").label_names == ("c",)
    assert corpus.select(largest=2).label_names == ("b", "c")  # of equal sizes the first
    assert corpus.select(min_size=5, max_size=5).label_names == ("b", "d")
    assert corpus.select(min_size=5, largest=1).label_names == ("c",)
    assert list(corpus.select(at_most=3).class_sizes) == [2, 3, 3, 3]
    drawn = {corpus.select(random=2, seed=s).label_names for s in range(30)}
    assert len(drawn) == 6
    assert corpus.select(random=2, seed=3).fingerprint == corpus.select(random=2, seed=3).fingerprint
    picked = corpus.select(["b"])
    assert list(picked.labels) == [0] * 5
    assert len(picked.documents) == len(picked.titles) == 5


def test_choices_that_cannot_be_made():
    corpus = labelled()
    with refused("“e”"):
        corpus.select(["e"])
    with refused("fits that choice"):
        corpus.select([])
    with refused("5 classes were asked for", "4"):
        corpus.select(random=5)
    with refused("at least 1"):
        corpus.select(random=0)
    with refused("at least 1"):
        corpus.select(largest=-1)
    with refused("at least 1"):
        corpus.select(at_most=0)
    with refused("fits that choice"):
        corpus.select(min_size=100)
    with refused("one document"):
        corpus.select(["a"], at_most=1)
    with refused("has no classes"):
        assemble("plain", COUNTS).select(largest=2)


def test_labels_are_named_and_ordered_as_people_read_them():
    assert assemble("x", COUNTS, labels=[10.0, 2.0, 10.0, 1.0]).label_names == ("1", "2", "10")
    assert assemble("x", COUNTS, labels=["10", "2", "10", "1"]).label_names == ("1", "2", "10")
    assert list(assemble("x", COUNTS, labels=["10", "2", "10", "1"]).labels) == [2, 1, 2, 0]
    assert assemble("x", COUNTS, labels=["b", "a", "b", "10"]).label_names == ("10", "a", "b")
    assert assemble("x", COUNTS, labels=np.array([[0], [1], [1], [0]])).label_names == ("0", "1")
    assert assemble("x", COUNTS, labels=[0.5, 1.5, 0.5, 1.5]).label_names == ("0.5", "1.5")


def test_from_matrix_is_used_as_given():
    X = np.array([[1.0, -2.0], [0.0, 0.0], [3.0, 4.0]])
    corpus = from_matrix(X, labels=[1, 1, 2], terms=["x", "y"])
    np.testing.assert_array_equal(corpus.matrix, X)
    assert corpus.weighting is TermWeighting.NONE
    assert not corpus.dropped
    assert list(corpus.terms) == ["x", "y"]
    X[0, 0] = 99
    assert corpus.matrix[0, 0] == 1
    pickle.loads(pickle.dumps(corpus))  # our own object, as it travels to worker processes; files are never unpickled


def test_documents_without_a_count_are_no_part_of_the_population():
    corpus = assemble("gaps", sp.csr_array(np.vstack([COUNTS, np.zeros((3, 4))])))
    assert corpus.population == 4
    assert len(corpus) == 4
    assert str(corpus.dropped[0]) == "3 documents: no term left that carries weight"
    np.testing.assert_allclose(dense(corpus.matrix), dense(assemble("no gaps", sp.csr_array(COUNTS)).matrix))


def test_names_where_a_matrix_came_without_words():
    corpus = assemble("small", COUNTS)
    assert list(corpus.terms) == ["term 1", "term 2", "term 3", "term 4"]
    assert corpus.documents[3] == corpus.titles[3] == "document 4"
    assert not corpus.has_text
    assert list(assemble("im", COUNTS, weighting="none", image_shape=(2, 2)).terms)[1:3] == ["pixel 1, 2", "pixel 2, 1"]


def test_new_counts_are_weighted_as_the_corpus_is():
    corpus = assemble("small", sp.csr_array(COUNTS))
    np.testing.assert_allclose(dense(corpus.weigh(sp.csr_array(COUNTS[:1]))), dense(corpus.matrix)[:1])
    zeros = sp.csr_array((np.array([0.0, 2.0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 4))
    assert np.all(np.isfinite(dense(corpus.weigh(zeros))))


def test_what_cannot_be_a_corpus():
    nan = COUNTS.copy()
    nan[1, 1] = np.nan
    with refused("not numbers", "NaN"):
        assemble("bad", nan)
    with refused("not numbers"):
        assemble("bad", sp.csr_array(nan))
    with refused("not numbers"):
        from_matrix(np.where(COUNTS == 5, np.inf, COUNTS))
    with refused("negative counts", "none"):
        assemble("bad", -COUNTS)
    with refused("between 0 and 1"):
        assemble("bad", COUNTS / 10)
    with refused("one document"):
        assemble("bad", COUNTS[:1])
    with refused("one document with content"):
        assemble("bad", np.array([[1, 2], [0, 0]]), weighting="tf")
    with refused("every document is empty"):
        assemble("bad", np.zeros((3, 3)))
    with refused("same terms"):
        assemble("bad", np.ones((3, 3)))
    with refused("are equal"):
        assemble("bad", np.full((3, 3), 2.0), weighting="none")
    with refused("are equal"):
        from_matrix(sp.csr_array(np.full((3, 3), 2.0)))
    with refused("dimension"):
        from_matrix(np.ones(3))
    with refused("is empty"):
        from_matrix(np.ones((0, 3)))
    with refused("no numbers"):
        from_matrix([["a", "b"], ["c", "d"]])
    with refused("no numbers"):
        from_matrix([[1, 2], [3]])
    with refused("complex"):
        from_matrix(COUNTS * 1j)
    with refused("4 documents but 3 labels"):
        from_matrix(COUNTS, labels=[1, 2, 3])
    with refused("4 columns but 2 terms"):
        from_matrix(COUNTS, terms=["a", "b"])
    with refused("tfidf"):
        assemble("bad", COUNTS, weighting="tfdif")
