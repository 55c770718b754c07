"""Matrices in files: .mat, .npz, .npy, .mtx."""

from __future__ import annotations

import gzip
import io
import sys

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from corpus_files import COUNTS, counts_of, reasons, refused

from fact_core.corpus import TermWeighting, load_corpus, read_upload, read_uploads

LABELS = np.array([[1], [1], [2], [2]])
TERMS = ["ant", "bee", "cow", "dog"]
WIDE = np.hstack([COUNTS, COUNTS[::-1, :2]])  # 4 × 6, so that the sides differ


def mat(**variables) -> bytes:
    out = io.BytesIO()
    scipy.io.savemat(out, variables)
    return out.getvalue()


def cells(words) -> np.ndarray:
    out = np.empty((len(words), 1), dtype=object)
    out[:, 0] = words
    return out


def npz(**arrays) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def saved(X, **how) -> bytes:
    out = io.BytesIO()
    sp.save_npz(out, X, **how)
    return out.getvalue()


def mtx(X) -> bytes:
    out = io.BytesIO()
    scipy.io.mmwrite(out, X)
    return out.getvalue()


@pytest.mark.parametrize(
    ("matrix", "labels"), [("fea", "gnd"), ("X", "Y"), ("A", "labels"), ("x", "y"), ("stuff", "gnd"), ("wordcount", "kind")]
)
def test_mat_pairs(tmp_path, matrix, labels):
    path = tmp_path / "pair.mat"
    path.write_bytes(mat(**{matrix: sp.csc_matrix(WIDE), labels: LABELS, "k": 2}))
    corpus = load_corpus(path)
    np.testing.assert_array_equal(counts_of(corpus), WIDE)
    assert list(corpus.labels) == [0, 0, 1, 1]
    assert corpus.label_names == ("1", "2")
    assert corpus.weighting is TermWeighting.TFIDF
    assert corpus.name == "pair"


def test_sparse_whole_numbers_are_counts_and_other_matrices_are_values():
    def how(X, **options):
        return read_upload("m.mat", mat(fea=X, gnd=LABELS), **options)

    assert how(sp.csc_matrix(WIDE)).weighting is TermWeighting.TFIDF
    for values in (sp.csc_matrix(WIDE / 2), WIDE, WIDE / 2, -WIDE):
        corpus = how(values)
        assert corpus.weighting is TermWeighting.NONE
        assert corpus.unit_length
        np.testing.assert_allclose(np.linalg.norm(corpus.matrix.toarray() if sp.issparse(corpus.matrix) else corpus.matrix, axis=1), 1)
    assert how(WIDE, weighting="tfidf").weighting is TermWeighting.TFIDF
    assert how(sp.csc_matrix(WIDE), weighting="none").weighting is TermWeighting.NONE
    with refused("negative"):
        how(-WIDE, weighting="tf")
    with refused("tfidf"):
        how(WIDE, weighting="idf")


def test_mat_with_terms_and_names():
    words = ["ant", "bee", "cow", "dog", "eel", "fox"]
    for key in ("ms", "terms", "vocabulary", "anything"):
        corpus = read_upload("m.mat", mat(A=sp.csc_matrix(WIDE), labels=LABELS, ts=cells(["d1", "d2", "d3", "d4"]), **{key: cells(words)}))
        assert list(corpus.terms) == words
        assert corpus.titles[1] == "d2"
    chars = read_upload("m.mat", mat(A=WIDE, labels=LABELS, terms=np.array(["ant", "b", "cowbird", "d", "e", "f"])))
    assert list(chars.terms[:3]) == ["ant", "b", "cowbird"]
    named = read_upload("m.mat", mat(A=WIDE, labels=LABELS, class_names=cells(["cats", "dogs"])))
    assert named.label_names == ("cats", "dogs")
    assert list(named.labels) == [0, 0, 1, 1]


def test_documents_in_columns_are_turned():
    for given in (WIDE.T, sp.csc_matrix(WIDE.T)):
        corpus = read_upload("m.mat", mat(X=given, Y=LABELS))
        np.testing.assert_array_equal(counts_of(corpus), WIDE)
    by_terms = read_upload("m.mat", mat(X=WIDE.T, terms=cells([f"w{i}" for i in range(6)])))
    assert by_terms.counts.shape == (4, 6)
    assert by_terms.terms[5] == "w5"
    np.testing.assert_array_equal(counts_of(read_upload("m.mat", mat(X=WIDE))), WIDE)


def test_variables_can_be_named():
    data = mat(fea=WIDE, other=WIDE * 2 + 1, gnd=LABELS, second=np.array([5, 6, 5, 6]))
    corpus = read_upload("m.mat", data, matrix="other", labels="second")
    np.testing.assert_array_equal(counts_of(corpus), WIDE * 2 + 1)
    assert corpus.label_names == ("5", "6")
    with refused("matrix in m.mat", "“fea”"):
        read_upload("m.mat", data, matrix="feat")
    with refused("labels in m.mat"):
        read_upload("m.mat", data, labels="third")
    with refused("5 labels", "4 by 6"):
        read_upload("m.mat", mat(fea=WIDE, five=np.arange(5)), labels="five")


def test_labels_in_other_shapes():
    hot = np.eye(2)[[0, 0, 1, 1]]
    assert list(read_upload("m.mat", mat(X=WIDE, Y=hot)).labels) == [0, 0, 1, 1]
    assert list(read_upload("m.mat", mat(X=WIDE, Y=LABELS.T)).labels) == [0, 0, 1, 1]
    assert read_upload("m.mat", mat(X=WIDE, labels=cells(["b", "a", "b", "a"]))).label_names == ("a", "b")
    # Indices of a split are all different and name no classes; measurements are no classes either.
    assert read_upload("m.mat", mat(X=WIDE, trainIdx=np.array([1, 2, 3, 4]), w=np.array([0.1, 0.1, 0.2, 0.2]))).labels is None
    with refused("gnd", "3 labels", "4 by 6"):
        read_upload("m.mat", mat(fea=WIDE, gnd=np.array([1, 2, 2])))


def test_variables_in_a_struct():
    corpus = read_upload("m.mat", mat(data={"fea": WIDE, "gnd": LABELS}))
    np.testing.assert_array_equal(counts_of(corpus), WIDE)
    assert corpus.label_names == ("1", "2")


def test_images_stand_upright():
    picture = np.arange(64).reshape(8, 8) % 200
    stack = np.stack([picture, picture.T, 255 - picture])
    by_columns = np.stack([p.ravel(order="F") for p in stack])
    corpus = read_upload("faces.mat", mat(fea=by_columns.astype(np.uint8), gnd=np.array([1, 2, 1])))
    assert corpus.image_shape == (8, 8)
    assert corpus.weighting is TermWeighting.NONE
    np.testing.assert_array_equal(corpus.counts.reshape(3, 8, 8), stack)
    by_rows = read_upload("faces.npz", npz(X=stack.reshape(3, -1)))
    np.testing.assert_array_equal(by_rows.counts.reshape(3, 8, 8), stack)
    cube = read_upload("faces.npz", npz(X=stack[:, :, :7]))
    assert cube.image_shape == (8, 7)
    matlab_cube = read_upload("faces.mat", mat(X=np.moveaxis(stack, 0, -1), Y=np.array([1, 2, 1])))
    np.testing.assert_array_equal(matlab_cube.counts.reshape(3, 8, 8), stack)
    assert read_upload("x.mat", mat(X=by_columns + 0.5)).image_shape is None
    assert read_upload("x.mat", mat(X=by_columns[:, :50])).image_shape is None


def hdf5(**variables) -> bytes:
    h5py = pytest.importorskip("h5py")
    out = io.BytesIO()
    with h5py.File(out, "w", userblock_size=512) as file:
        for key, value in variables.items():
            if sp.issparse(value):
                group, value = file.create_group(key), sp.csc_array(value)
                group.attrs["MATLAB_sparse"] = np.uint64(value.shape[0])
                group["data"], group["ir"], group["jc"] = value.data, value.indices.astype(np.uint64), value.indptr.astype(np.uint64)
            elif isinstance(value, list):
                refs = file.create_dataset(key, (1, len(value)), dtype=h5py.ref_dtype)
                refs.attrs["MATLAB_class"] = np.bytes_("cell")
                for i, word in enumerate(value):
                    chars = file.create_dataset(f"#refs#/{key}{i}", data=np.array([[ord(c)] for c in word], np.uint16))
                    chars.attrs["MATLAB_class"] = np.bytes_("char")
                    refs[0, i] = chars.ref
            else:
                file[key] = np.asarray(value).T
                file[key].attrs["MATLAB_class"] = np.bytes_("double")
    header = b"MATLAB 7.3 MAT-file".ljust(512, b" ")
    return header + out.getvalue()[512:]


def test_mat_7_3():
    words = ["ant", "bee", "cow", "dog", "eel", "fox"]
    data = hdf5(fea=sp.csc_array(WIDE), gnd=LABELS, terms=words)
    corpus = read_upload("new.mat", data)
    np.testing.assert_array_equal(counts_of(corpus), WIDE)
    assert list(corpus.terms) == words
    assert list(corpus.labels) == [0, 0, 1, 1]
    assert corpus.weighting is TermWeighting.TFIDF
    np.testing.assert_array_equal(counts_of(read_upload("new.mat", hdf5(X=WIDE, Y=LABELS))), WIDE)
    with refused("cannot be read as a MATLAB 7.3 file"):
        read_upload("new.mat", data[:1500])


def test_mat_7_3_without_h5py(monkeypatch):
    data = hdf5(fea=WIDE, gnd=LABELS)
    monkeypatch.setitem(sys.modules, "h5py", None)
    with refused("h5py", "-v7"):
        read_upload("new.mat", data)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
def test_npz_as_scipy_saves_it(kind):
    for X in (sp.csr_array(WIDE).asformat(kind), sp.csr_matrix(WIDE).asformat(kind)):
        corpus = read_upload("m.npz", saved(X))
        np.testing.assert_array_equal(counts_of(corpus), WIDE)
        assert corpus.weighting is TermWeighting.TFIDF
        assert corpus.labels is None


def test_npz_of_parts_and_of_dense_arrays(tmp_path):
    X = sp.csr_array(WIDE)
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
    terms = np.array([f"w{i}" for i in range(6)])
    corpus = read_upload("m.npz", npz(**parts, labels=LABELS.ravel(), terms=terms))
    np.testing.assert_array_equal(counts_of(corpus), WIDE)
    assert list(corpus.labels) == [0, 0, 1, 1]
    assert corpus.terms[5] == "w5"
    C = sp.csc_array(WIDE)
    np.testing.assert_array_equal(
        counts_of(read_upload("m.npz", npz(data=C.data, indices=C.indices, indptr=C.indptr, shape=C.shape))), WIDE
    )
    dense = read_upload("m.npz", npz(X=WIDE, y=LABELS.ravel()))
    assert dense.weighting is TermWeighting.NONE
    assert dense.label_names == ("1", "2")
    path = tmp_path / "plain.npy"
    np.save(path, WIDE)
    np.testing.assert_array_equal(counts_of(load_corpus(path)), WIDE)


def test_nothing_is_unpickled():
    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("a pickle was opened",))

    trap = np.array([Trap()], dtype=object)
    corpus = read_upload("m.npz", npz(X=WIDE, terms=trap))
    assert "terms holds Python objects, which are not opened; save it as text" in reasons(corpus)
    with refused("no matrix of numbers"):
        read_upload("m.npz", npz(X=trap))
    out = io.BytesIO()
    np.save(out, trap)
    with refused("cannot be read as a NumPy array"):
        read_upload("m.npy", out.getvalue())


def test_the_arrays_of_an_archive_are_counted_and_weighed_before_they_are_read(monkeypatch):
    monkeypatch.setenv("FACTSCOPE_UNPACKED", "1MB")
    with refused("unpacks to more than 1 MB"):
        read_upload("m.npz", npz(X=WIDE, more=np.zeros(200_000)))
    monkeypatch.setenv("FACTSCOPE_FILES", "3")
    with refused("4 arrays, more than the 3"):
        read_upload("m.npz", npz(X=WIDE, a=LABELS, b=LABELS, c=LABELS))


def test_indices_that_point_outside_are_refused():
    X = sp.csr_array(WIDE)
    for bad in (
        {"indices": X.indices + 1000},
        {"indptr": X.indptr * 50},
        {"indices": X.indices - 7},
        {"shape": (2, 2)},
    ):
        parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape} | bad
        with refused("cannot be read as a NumPy archive"):
            read_upload("m.npz", npz(**parts))
    with refused("1000000000000 columns, which is more than can be read"):
        read_upload("m.npz", npz(data=X.data, indices=X.indices, indptr=X.indptr, shape=(4, 10**12)))


def test_mtx(tmp_path):
    for name, data in (("m.mtx", mtx(sp.coo_array(WIDE))), ("m.mtx.gz", gzip.compress(mtx(sp.coo_array(WIDE))))):
        (tmp_path / name).write_bytes(data)
        corpus = load_corpus(tmp_path / name)
        np.testing.assert_array_equal(counts_of(corpus), WIDE)
        assert corpus.weighting is TermWeighting.TFIDF
        assert corpus.name == "m"
    assert read_upload("m.mtx", mtx(WIDE / 3)).weighting is TermWeighting.NONE
    with refused("more than can be read"):
        read_upload("m.mtx", b"%%MatrixMarket matrix coordinate real general\n900000000 900000000 1\n1 1 1.0\n")


def test_a_matrix_with_lists_beside_it():
    words = [f"w{i}" for i in range(6)]
    files = [("m.mtx", mtx(sp.coo_array(WIDE))), ("m_terms.txt", "\n".join(words).encode()), ("m_labels.txt", b"a\na\nb\nb\n")]
    corpus = read_uploads(files)
    assert list(corpus.terms) == words
    assert corpus.label_names == ("a", "b")
    assert list(read_uploads([files[0], ("anything.txt", files[1][1])]).terms) == words
    assert list(read_uploads([files[0], ("anything.txt.gz", gzip.compress(files[1][1]))]).terms) == words
    with refused("3 lines", "4 by 6"):
        read_uploads([files[0], ("terms.txt", b"a\nb\nc\n")])


def test_what_cannot_be_read():
    noise = np.random.default_rng(0).bytes(3000)
    for name in ("m.mat", "m.npz", "m.npy", "m.mtx"):
        with refused("is empty"):
            read_upload(name, b"")
        for data in (noise, b"label,text\na,b\n", mat(X=WIDE)[:300]):
            with refused("cannot be read as a"):
                read_upload(name, data)
        with refused("option stop_words", "a matrix"):
            read_upload(name, {"m.mat": mat(X=WIDE), "m.npz": npz(X=WIDE), "m.npy": npy(), "m.mtx": mtx(WIDE)}[name], stop_words="none")
    with refused("no matrix", "it holds k, words"):
        read_upload("m.mat", mat(k=3, words=cells(TERMS)))
    with refused("no matrix"):
        read_upload("m.mat", mat())
    with refused("no matrix"):
        read_upload("m.npz", npz(gnd=LABELS.ravel()))
    with refused("4 dimensions"):
        read_upload("m.npz", npz(X=np.ones((2, 2, 2, 2))))
    with refused("not numbers"):
        read_upload("m.npz", npz(X=np.where(WIDE == 5, np.nan, WIDE)))
    with refused("complex"):
        read_upload("m.npz", npz(X=WIDE * 1j))
    with refused("complex"):
        read_upload("m.mat", mat(X=sp.csc_matrix(WIDE * 1j)))
    with refused("every document is empty"):
        read_upload("m.mat", mat(X=sp.csc_matrix((4, 6)), Y=LABELS))
    with refused("are equal"):
        read_upload("m.npz", npz(X=np.full((4, 6), 0.5)))


def npy() -> bytes:
    out = io.BytesIO()
    np.save(out, WIDE)
    return out.getvalue()
