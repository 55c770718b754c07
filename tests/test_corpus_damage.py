"""Any bytes at all: a corpus or one sentence, never another exception, and never the end of the process."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import tracemalloc

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from corpus_files import COUNTS, LABELS, TEXTS, image, refused, zipped
from hypothesis import given, settings
from hypothesis import strategies as st

from fact_core.corpus import mat5, read_upload
from fact_core.errors import FactScopeError

TABLE = ("label,text\n" + "\n".join(f"{g},{t}" for g, t in zip(LABELS, TEXTS, strict=True))).encode()


def mat(compressed: bool) -> bytes:
    words = np.empty((4, 1), dtype=object)
    words[:, 0] = ["ant", "bee", "cow", "dog"]
    out = io.BytesIO()
    scipy.io.savemat(
        out,
        {"fea": sp.csc_matrix(COUNTS), "gnd": [1, 1, 2, 2], "terms": words, "more": {"a": 1, "b": "text"}, "z": 1 + 2j, "e": []},
        do_compression=compressed,
    )
    return out.getvalue()


def npz(save, *arrays, **named) -> bytes:
    out = io.BytesIO()
    save(out, *arrays, **named)
    return out.getvalue()


FILES = {
    "plain.mat": mat(False),
    "packed.mat": mat(True),
    "dense.npz": npz(np.savez, X=COUNTS, y=np.array([1, 1, 2, 2])),
    "sparse.npz": npz(sp.save_npz, sp.csr_array(COUNTS), compressed=False),
    "a.npy": npz(np.save, COUNTS),
    "a.mtx": npz(scipy.io.mmwrite, sp.coo_array(COUNTS)),
    "a.csv": TABLE,
    "a.csv.gz": gzip.compress(TABLE),
    "a.jsonl": "\n".join(json.dumps({"text": t, "label": g}) for g, t in zip(LABELS, TEXTS, strict=True)).encode(),
    "a.txt": "\n".join(TEXTS).encode(),
    "texts.zip": zipped({f"{g}/{i}.txt": t for i, (g, t) in enumerate(zip(LABELS, TEXTS, strict=True))}),
    "images.zip": zipped({f"{i}.png": image(np.random.default_rng(i).integers(0, 255, (6, 6))) for i in range(3)}),
}


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_damaged_files(name, data):
    content = bytearray(FILES[name])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1)) if content else 0
        how = data.draw(st.sampled_from(["change", "insert", "delete", "cut"]))
        if how == "change" and content:
            content[at] = data.draw(st.integers(0, 255))
        elif how == "insert":
            content[at:at] = data.draw(st.binary(max_size=8))
        else:
            del content[at : at + 4 if how == "delete" else None]
    message = ""
    try:
        assert len(read_upload(name, bytes(content))) >= 2
    except FactScopeError as sentence:
        message = str(sentence)
    assert "\n" not in message


@pytest.mark.parametrize("name", FILES)
def test_whole_files_are_read(name):
    assert len(read_upload(name, FILES[name])) >= 3


def test_a_pointer_out_of_the_matrix():
    """scipy converts such a matrix in compiled code, and the process ends."""
    X = sp.csc_matrix(COUNTS)
    plain = FILES["plain.mat"]
    place = plain.index(X.indptr.astype(np.int32).tobytes())
    for pointers in ([0, 10**6, 2, 3, 0], [0, 10**6, 2, 3, 8], [5, 6, 7, 8, 9], [0, -1, 2, 3, 8]):
        wrong = plain[:place] + np.array(pointers, np.int32).tobytes() + plain[place + 20 :]
        with refused("cannot be read as a MATLAB file"):
            read_upload("x.mat", wrong)
        with pytest.raises(ValueError, match="does not fit its shape"):  # before scipy sees it
            mat5.check(wrong)


def test_the_check_accepts_what_is_written_well():
    for compressed in (False, True):
        mat5.check(mat(compressed))
    for bad in (b"", b"MATLAB" * 30, FILES["plain.mat"][:126] + b"XX" + FILES["plain.mat"][128:], FILES["plain.mat"][:-8]):
        with pytest.raises(ValueError, match=r"\w"):
            mat5.check(bad)


def test_the_check_follows_every_length_and_not_too_deep():
    def plain(**variables) -> bytes:
        return npz(scipy.io.savemat, variables, do_compression=False)

    text = plain(s="a text that is longer than a word")
    with pytest.raises(ValueError, match="longer than what holds it"):
        mat5.check(text[:-8])
    deep: object = np.eye(2)
    for depth in range(20):
        cell = np.empty((1, 1), dtype=object)
        cell[0, 0] = deep
        deep = cell
        if depth in (5, 19):
            fine = depth == 5
            with contextlib.nullcontext() if fine else pytest.raises(ValueError, match="an array without"):
                mat5.check(plain(c=deep))


@pytest.mark.parametrize("name", ["a.csv.gz", "a.mat", "a.npy", "a.npz"])
def test_a_bomb_costs_no_memory(name, monkeypatch):
    """What would unpack to 24 MB, where 1 MB may be, is refused before it is there."""
    monkeypatch.setenv("FACTSCOPE_UNPACKED", "1MB")
    promise = npz(np.save, np.zeros((2, 2))).replace(b"(2, 2), }        ", b"(2, 1500000), }  ")
    bomb = {
        "a.csv.gz": lambda: gzip.compress(bytes(24_000_000)),
        "a.mat": lambda: npz(scipy.io.savemat, {"fea": np.zeros((2, 1_500_000))}, do_compression=True),
        "a.npy": lambda: promise,
        "a.npz": lambda: zipped({"x.npy": promise}),
    }[name]()
    tracemalloc.start()
    try:
        with refused("a."):
            read_upload(name, bomb)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()
