"""Corpora by name: built-ins, the catalogue, the folder FACTSCOPE_DATA, and the authors' own files."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from corpus_files import COUNTS, TEXTS, refused

from fact_core.corpus import DEFAULT_VIEW, GAUSSIAN_MEANS, TermWeighting, available_corpora, builtin, catalogue, load_corpus, read_uploads
from fact_core.corpus.load import Kind


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """No test reads or writes a person's own folders, or the network."""
    monkeypatch.setenv("FACTSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "sklearn"))
    monkeypatch.delenv("FACTSCOPE_DATA", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def docs():
    return load_corpus("scipy-docs")


# Built-ins


def test_scipy_docs(docs):
    assert 2000 <= len(docs) <= 3000
    assert 20 <= len(docs.label_names) <= 30
    assert set(DEFAULT_VIEW["classes"]) <= set(docs.label_names)
    for title, label, text in zip(docs.titles, docs.labels, docs.documents, strict=True):
        assert title.startswith(docs.label_names[label] + ".")
        assert len(text.split()) >= 40
        assert "\nExamples\n" not in text
        assert "\nReferences\n" not in text
        assert "\nSee Also\n" not in text
    assert len(set(docs.documents)) == len(docs)
    assert len(set(docs.titles)) == len(docs)
    assert {"scipy.signal.butter", "sklearn.metrics.accuracy_score", "scipy.stats.ttest_ind"} <= set(docs.titles)
    assert any("fewer than 40 words" in d.why for d in docs.dropped)


def test_scipy_docs_are_the_same_each_time(docs):
    builtin.docstrings.cache_clear()
    assert load_corpus("scipy-docs").fingerprint == docs.fingerprint


def test_reading_docstrings_imports_no_package():
    code = """
import sys
import fact_core.corpus.builtin as b
heavy = {"sklearn", "pandas", "pooch", "streamlit", "matplotlib", "PIL", "h5py"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
assert len(b.docstrings()[0]) > 1000
assert not heavy & set(sys.modules), heavy & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=builtin.__file__.rsplit("fact_core", 1)[0])


def test_a_package_that_is_not_installed_is_told(monkeypatch):
    there = builtin._folder
    monkeypatch.setattr(builtin, "_folder", lambda package: None if package == "streamlit" else there(package))
    builtin.docstrings.cache_clear()
    try:
        corpus = load_corpus("three-topics")
        assert "streamlit is not installed" in [d.why for d in corpus.dropped]
        assert sorted(corpus.class_sizes) == [15, 26, 43]
    finally:
        builtin.docstrings.cache_clear()


def test_default_view(docs):
    view = docs.select(**DEFAULT_VIEW)
    assert len(view.label_names) == 6
    assert view.class_sizes.max() <= 80
    assert 350 <= len(view) <= 480
    assert view.population == docs.population


def test_prose_keeps_description_parameters_and_notes():
    text = builtin.prose(
        "Smooth it.\n\nParameters\n----------\nx : array\n\nSee Also\n--------\nother\n\nNotes\n-----\nA note.\n\n"
        "References\n----------\n.. [1] Book\n\nExamples\n--------\n>>> smooth(1)\n\nReturns\n-------\ny : array"
    )
    assert "Smooth it" in text
    assert "Parameters" in text
    assert "A note" in text
    assert "y : array" in text
    assert "other" not in text
    assert "Book" not in text
    assert ">>>" not in text


def test_three_topics():
    corpus = load_corpus("three-topics")
    assert list(corpus.class_sizes) == [26, 15, 43]
    assert list(corpus.labels) == [0] * 26 + [1] * 15 + [2] * 43
    assert corpus.fingerprint == load_corpus("three-topics").fingerprint
    assert corpus.has_text
    assert corpus.population > 2000  # weights are those of all of scipy-docs


def test_digits():
    corpus = load_corpus("digits")
    assert corpus.counts.shape == (1797, 64)
    assert len(corpus.label_names) == 10
    assert corpus.image_shape == (8, 8)
    assert corpus.weighting is TermWeighting.NONE
    np.testing.assert_allclose(np.linalg.norm(corpus.matrix, axis=1), 1)


def test_gaussians_have_clear_centres_and_shared_directions():
    corpus = load_corpus("gaussians")
    X = corpus.matrix
    assert X.shape == (150, 2)
    assert list(corpus.class_sizes) == [50] * 3
    assert X.min() > 0
    assert list(corpus.terms) == ["x", "y"]
    centres = np.array([X[corpus.labels == c].mean(axis=0) for c in range(3)])
    np.testing.assert_allclose(centres, GAUSSIAN_MEANS, atol=0.3)
    nearest = np.argmin(((X[:, None] - GAUSSIAN_MEANS) ** 2).sum(axis=2), axis=1)
    assert np.array_equal(nearest, corpus.labels)
    angles = np.degrees(np.arctan2(GAUSSIAN_MEANS[:, 1], GAUSSIAN_MEANS[:, 0]))
    assert abs(angles[0] - angles[1]) < 3
    assert abs(angles[0] - angles[2]) > 20


def test_options_of_built_ins(docs):
    assert load_corpus("scipy-docs", min_df=5, weighting="binary", name="docs").name == "docs"
    assert len(load_corpus("scipy-docs", min_df=5).terms) < len(docs.terms)
    assert load_corpus("Scipy-Docs").fingerprint == docs.fingerprint
    with refused("option weighting", "points"):
        load_corpus("gaussians", weighting="tf")
    with refused("option stem", "images"):
        load_corpus("digits", stem="porter")
    with refused("option matrix"):
        load_corpus("scipy-docs", matrix="X")


# By name and path


def write_mat(path, **more):
    scipy.io.savemat(path, {"fea": sp.csc_matrix(COUNTS), "gnd": np.array([1, 1, 2, 2]), **more})


def test_names_are_looked_for_as_paths_then_in_the_data_folder(tmp_path, monkeypatch):
    data = tmp_path / "data"
    data.mkdir()
    write_mat(data / "TDT2.mat")
    write_mat(data / "mine.mat")
    (data / "notes.txt").write_text("\n".join(TEXTS))
    (data / "mine_terms.txt").write_text("a\nb\nc\nd")
    monkeypatch.setenv("FACTSCOPE_DATA", str(data))
    for name in ("TDT2", "TDT2.mat", "tdt2", "mine", "MINE.MAT", str(data / "mine.mat")):
        assert len(load_corpus(name)) == 4
    assert load_corpus("notes").name == "notes"
    assert load_corpus(data / "notes.txt", name="n").name == "n"
    write_mat(tmp_path / "mine.mat", more=1)
    (tmp_path / "mine").write_text("not a corpus")
    with refused("no kind that can be read"):  # a path comes first
        load_corpus("mine")
    known = {info.name: info for info in available_corpora()}
    assert known["scipy-docs"].kind is Kind.BUILT_IN
    assert known["scipy-docs"].here
    assert known["TDT2"].kind is Kind.FETCHED
    assert known["TDT2"].here
    assert not known["ORL"].here
    assert known["mine"].kind is Kind.FILE
    assert known["notes"].kind is Kind.FILE
    assert "mine_terms" not in known
    assert all(info.about for info in known.values())


def test_names_nobody_knows(tmp_path, monkeypatch):
    with refused("scipy-docs"):
        load_corpus("scipy-doc")
    with refused("There is no corpus or file “qqqqq”"):
        load_corpus("qqqqq")
    with refused("no file", "gone.csv"):
        load_corpus("gone.csv")
    with refused("no file", "nowhere"):
        load_corpus(tmp_path / "nowhere" / "x.csv")
    with refused("No corpus"):
        load_corpus(" ")
    with refused("corpus or file"):
        load_corpus("a\0b")
    with refused("corpus or file"):
        load_corpus("x" * 5000)
    monkeypatch.setenv("FACTSCOPE_DATA", str(tmp_path / "not there"))
    with refused("gone.csv", "not there"):
        load_corpus("gone.csv")
    assert len(available_corpora()) == 12


# The catalogue, without a network


@pytest.fixture
def entry(tmp_path):
    """A catalogued file whose server is a folder."""
    source = tmp_path / "server.mat"
    write_mat(source)
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    return replace(catalogue.CATALOGUE["TDT2"], url=source.as_uri(), sha256=digest)


@pytest.fixture
def server(tmp_path, monkeypatch):
    """Downloads copy from the folder, or fail as told; the calls are counted."""
    import pooch
    import requests

    calls = []
    fault = {"how": None}

    class Downloader:
        def __init__(self, **_):
            pass

        def __call__(self, url, output_file, pooch_):
            calls.append(url)
            if fault["how"] == "no network":
                raise requests.exceptions.ConnectionError("no route to host")
            content = (tmp_path / "server.mat").read_bytes()
            with open(output_file, "wb") as out:
                out.write(content[: len(content) // 2] if fault["how"] else content)
            if fault["how"] == "cut":
                raise requests.exceptions.ChunkedEncodingError("cut")

    monkeypatch.setattr(pooch, "HTTPDownloader", Downloader)
    return calls, fault


def test_a_corpus_is_fetched_once(entry, server, tmp_path, monkeypatch):
    calls, _ = server
    monkeypatch.setitem(catalogue.CATALOGUE, "TDT2", entry)
    assert not {i.name: i for i in available_corpora()}["TDT2"].here
    corpus = load_corpus("tdt2")
    assert len(corpus) == 4
    assert corpus.name == "TDT2"
    assert (tmp_path / "home" / "corpora" / "TDT2.mat").is_file()
    load_corpus("TDT2.mat")
    assert len(calls) == 1
    assert {i.name: i for i in available_corpora()}["TDT2"].here
    monkeypatch.setenv("FACTSCOPE_HOME", str(tmp_path / "other"))
    monkeypatch.setenv("FACTSCOPE_DATA", str(tmp_path / "home" / "corpora"))
    load_corpus("TDT2")
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("how", "words"), [("no network", "cannot be reached"), ("cut", "cannot be reached"), ("half", "not the expected file")]
)
def test_a_download_that_fails_leaves_nothing(entry, server, tmp_path, monkeypatch, how, words):
    _, fault = server
    fault["how"] = how
    monkeypatch.setitem(catalogue.CATALOGUE, "TDT2", entry)
    with refused("TDT2", words, "FACTSCOPE_DATA"):
        load_corpus("TDT2")
    assert not list((tmp_path / "home" / "corpora").glob("*"))
    fault["how"] = None
    assert len(load_corpus("TDT2")) == 4


def test_a_file_with_another_hash_is_not_kept(entry, server, tmp_path, monkeypatch):
    monkeypatch.setitem(catalogue.CATALOGUE, "TDT2", replace(entry, sha256="0" * 64))
    with refused("not the expected file"):
        load_corpus("TDT2")
    assert not list((tmp_path / "home" / "corpora").glob("*"))
    kept = tmp_path / "home" / "corpora" / "TDT2.mat"
    kept.write_bytes(b"damaged")
    monkeypatch.setitem(catalogue.CATALOGUE, "TDT2", entry)
    assert len(load_corpus("TDT2")) == 4  # a damaged copy is fetched again
    assert kept.read_bytes() != b"damaged"


def test_a_folder_that_cannot_be_written(entry, server, tmp_path, monkeypatch):
    (tmp_path / "home").write_text("a file where the folder should be")
    monkeypatch.setitem(catalogue.CATALOGUE, "TDT2", entry)
    with refused("cannot be written to", "FACTSCOPE_DATA"):
        load_corpus("TDT2")


def test_corpora_of_scikit_learn(tmp_path, monkeypatch):
    import sklearn.datasets as skd
    from sklearn.utils import Bunch

    homes = []

    def news(*, data_home, **_):
        homes.append(data_home)
        print("downloading")
        return Bunch(data=TEXTS, target=np.array([0, 0, 1, 1, 0, 1]), target_names=["pets", "money"])

    def faces(*, data_home):
        rng = np.random.default_rng(0)
        return Bunch(data=rng.random((4, 4096), dtype=np.float32), target=np.array([0, 0, 1, 1]))

    monkeypatch.setattr(skd, "fetch_20newsgroups", news)
    monkeypatch.setattr(skd, "fetch_olivetti_faces", faces)
    corpus = load_corpus("20newsgroups-text")
    assert corpus.label_names == ("money", "pets")
    assert list(corpus.documents) == TEXTS
    assert homes == [str(tmp_path / "home" / "corpora")]
    assert load_corpus("olivetti").image_shape == (64, 64)
    with refused("option stem"):
        load_corpus("olivetti", stem="porter")

    def offline(**_):
        raise OSError("no route to host")

    monkeypatch.setattr(skd, "fetch_olivetti_faces", offline)
    with refused("olivetti", "cannot be reached", "FACTSCOPE_DATA"):
        load_corpus("olivetti")


def test_scikit_learn_says_nothing_on_standard_output(monkeypatch, capsys):
    import sklearn.datasets as skd

    def offline(**_):
        print("downloading")
        raise OSError

    monkeypatch.setattr(skd, "fetch_20newsgroups", offline)
    with refused("20newsgroups-text"):
        load_corpus("20newsgroups-text")
    assert not capsys.readouterr().out


# The authors' files


@pytest.mark.parametrize(
    ("name", "shape", "classes", "weighting", "images"),
    [
        ("TDT2", (9394, 36771), 30, "tfidf", None),
        ("TDT2_all", (10212, 36771), 96, "tfidf", None),
        ("Reuters21578", (8293, 18933), 65, "tfidf", None),
        ("20Newsgroups", (18846, 26214), 20, "tfidf", None),
        ("classic3", (3891, 4303), 3, "tfidf", None),
        ("ORL", (400, 1024), 40, "none", (32, 32)),
        ("Yale_32x32", (165, 1024), 15, "none", (32, 32)),
    ],
)
def test_authors_files(shared_data, monkeypatch, name, shape, classes, weighting, images):
    monkeypatch.setenv("FACTSCOPE_DATA", str(shared_data))
    corpus = load_corpus(name)
    assert corpus.counts.shape == shape
    assert len(corpus.label_names) == classes
    assert corpus.weighting.value == weighting
    assert corpus.image_shape == images
    assert not corpus.dropped
    if name in catalogue.CATALOGUE:
        digest = hashlib.sha256((shared_data / f"{name}.mat").read_bytes()).hexdigest()
        assert digest == catalogue.CATALOGUE[name].sha256


def test_classic3_has_its_words(shared_data):
    corpus = load_corpus(shared_data / "classic3.mat")
    assert list(corpus.terms[:3]) == ["contribution", "catheterization", "distribution"]
    assert corpus.titles[0] == "0:"
    stored = scipy.io.loadmat(shared_data / "classic3.mat")
    bare = shared_data / "classic3_terms.txt"
    import io

    out = io.BytesIO()
    scipy.io.savemat(out, {"A": stored["A"], "labels": stored["labels"]})
    pair = read_uploads([("classic3.mat", out.getvalue()), (bare.name, bare.read_bytes())])
    assert list(pair.terms) == list(corpus.terms)


def test_faces_stand_upright(shared_data):
    """A face is nearly the same when mirrored left to right, and not when mirrored top to bottom."""
    for name in ("ORL", "Yale_32x32"):
        mean = load_corpus(shared_data / f"{name}.mat").counts.mean(axis=0).reshape(32, 32)
        assert np.abs(mean - mean[:, ::-1]).mean() < 0.5 * np.abs(mean - mean[::-1]).mean()


def test_reuters_as_text(shared_data):
    corpus = load_corpus(shared_data / "reuters_r8.csv.gz")
    assert len(corpus) == 7674
    assert len(corpus.label_names) == 8
    assert corpus.has_text
    assert corpus.name == "reuters_r8"
    assert "earn" in corpus.label_names
    assert corpus.weighting is TermWeighting.TFIDF
    small = corpus.select(largest=3, at_most=50, seed=1)
    np.testing.assert_array_equal(small.reader(small.documents, small.terms).toarray(), small.counts.toarray())


def test_weights_of_a_choice_keep_the_whole_of_tdt2(shared_data):
    whole = load_corpus(shared_data / "TDT2.mat")
    part = whole.select(random=3, seed=1)
    counts = scipy.io.loadmat(shared_data / "TDT2.mat")
    fea, gnd = sp.csr_array(counts["fea"]), counts["gnd"].ravel()
    df = np.bincount(fea.indices, minlength=fea.shape[1])
    rows = np.flatnonzero(np.isin(gnd, [int(c) for c in part.label_names]))
    row = fea[rows[:1]].toarray().ravel()
    plain = np.where(row > 0, (1 + np.log(np.maximum(row, 1))) * np.log(9394 / np.maximum(df, 1)), 0)
    plain /= np.linalg.norm(plain)
    columns = [int(t.split()[1]) - 1 for t in part.terms]
    np.testing.assert_allclose(part.matrix[[0]].toarray().ravel(), plain[columns], atol=1e-12)
    assert len(rows) == len(part)
