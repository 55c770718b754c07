"""Bad inputs: files no reader can take, made by hand for each reader, and settings no control can have."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
import zlib
from collections.abc import Iterator

import numpy as np
import scipy.io
import scipy.sparse as sp
from corpus_files import COUNTS, TEXTS, image, zipped

OBJECT = scipy.io.matlab.MatlabObject(np.zeros((1, 1), [("f", "O")]), "cls")
File = tuple[str, bytes]
SUFFIXES = ("txt", "csv", "tsv", "json", "jsonl", "zip", "mat", "npz", "npy", "mtx", "csv.gz", "txt.gz")


def saved(save: object, *arguments: object, **named: object) -> bytes:
    file = io.BytesIO()
    save(file, *arguments, **named)  # type: ignore[operator]
    return file.getvalue()


def mat(**variables: object) -> bytes:
    return saved(scipy.io.savemat, variables)


def of_class(number: int) -> bytes:
    """A MATLAB file whose array says it is of another class: 3 an object, 16 a function handle, 17 opaque."""
    whole = bytearray(mat(fea=COUNTS))
    whole[128 + 16] = number
    return bytes(whole)


def npy(shape: str, descr: str = "<f8", body: bytes = b"\0" * 64) -> bytes:
    """An array whose header promises any shape."""
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + body


def png(width: int, height: int) -> bytes:
    """A picture whose header promises any size, and which holds next to nothing."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b"")


def link(name: str, target: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        info = zipfile.ZipInfo(name)
        info.external_attr = 0o120777 << 16
        archive.writestr(info, target)
    return file.getvalue()


def locked() -> bytes:
    """An archive that says it has a password."""
    whole = bytearray(zipped({"a/1.txt": TEXTS[0], "b/2.txt": TEXTS[1]}))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = whole.find(mark)
        while at >= 0:
            whole[at + offset] |= 1
            at = whole.find(mark, at + 4)
    return bytes(whole)


def hdf5(make: object) -> bytes:
    import h5py

    file = io.BytesIO()
    with h5py.File(file, "w", userblock_size=512) as whole:
        make(whole, h5py)  # type: ignore[operator]
    return file.getvalue()


def _external(whole, h5py):  # type: ignore[no-untyped-def]
    whole["fea"] = h5py.ExternalLink("/etc/passwd", "/fea")


def _stored_elsewhere(whole, h5py):  # type: ignore[no-untyped-def]
    whole.create_dataset("fea", (4, 4), "u1", external=[("/etc/passwd", 0, 16)])


def _virtual(whole, h5py):  # type: ignore[no-untyped-def]
    layout = h5py.VirtualLayout((4, 4), "f8")
    layout[:] = h5py.VirtualSource("/etc/passwd", "fea", (4, 4))
    whole.create_virtual_dataset("fea", layout)


def _enormous(whole, h5py):  # type: ignore[no-untyped-def]
    whole.create_dataset("fea", (10**6, 10**6), "f8", chunks=(100, 100))


def _handle(whole, h5py):  # type: ignore[no-untyped-def]
    whole.create_dataset("f", data=np.eye(4)).attrs["MATLAB_class"] = np.bytes_("function_handle")


def files() -> dict[str, list[File]]:
    """What is wrong → the files uploaded together."""
    words = "\n".join(TEXTS).encode()
    table = b"label,text\n" + b"\n".join(b"a," + t.encode() for t in TEXTS)
    nan, X = COUNTS.copy(), sp.csr_array(COUNTS)
    nan[0, 0] = np.nan
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}
    single: dict[str, File] = {
        # text, one document a line
        "nothing": ("a.txt", b""),
        "blank lines": ("a.txt", b"\n \n\t\n"),
        "one line": ("a.txt", b"one single document"),
        "zeros": ("a.txt", b"\0" * 500),
        "a PDF called text": ("a.txt", b"%PDF-1.7 " + words),
        "a picture called text": ("a.txt", image(np.eye(9) * 255)),
        "a program": ("a.txt", b"\x7fELF" + words),
        "only punctuation": ("a.txt", b"?!\n...\n--\n;;"),
        "only stop words": ("a.txt", b"the and of\nof the\nand"),
        "equal documents": ("a.txt", b"red green\nred green\nred green"),
        "control characters": ("a.txt", bytes(range(1, 9)) * 60 + b"\n" + bytes(range(1, 9)) * 60),
        "a MATLAB file called text": ("a.txt", mat(fea=COUNTS)),
        "single letters": ("a.txt", b"a b c\nd e f\ng h i"),
        # tables
        "a header alone": ("a.csv", b"label,text\n"),
        "an empty table": ("a.csv", b"\n\n"),
        "numbers for texts": ("a.csv", b"x,y\n1.5,2.5\n3.5,4.5\n5.5,6.5"),
        "no classes at all": ("a.csv", b"label,text\n,red green blue words\n,more words here\n ,and some others"),
        "one row": ("a.csv", b"label,text\na,red green blue"),
        "an office document called table": ("a.csv", zipped({"xl/workbook.xml": "<x/>"})),
        "an old office document": ("a.csv", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600),
        "lines of every length": ("a.csv", b"text,label,x\n" + b"\n".join(b",".join([b"w"] * (4 + i % 7)) for i in range(30))),
        "empty texts": ("a.csv", b"label,text\na,\nb,\na,\nb,"),
        "a table of zeros": ("a.tsv", b"\0" * 100),
        "HDF5 called table": ("a.csv", b"\x89HDF\r\n\x1a\n" + b"\0" * 99),
        # JSON
        "broken JSON": ("a.json", b'{"text": "a"'),
        "no JSON": ("a.jsonl", b"hello\nworld\nagain"),
        "deep JSON": ("a.json", b"[" * 100_000),
        "deep objects": ("a.json", b'{"a":' * 50_000),
        "numbers in JSON": ("a.json", b"[1, 2, 3]"),
        "null": ("a.json", b"null"),
        "an empty list": ("a.json", b"[]"),
        "an empty object": ("a.json", b"{}"),
        "objects without text": ("a.json", b'[{"a": 1}, {"a": 2}]'),
        "texts that are lists of numbers": ("a.jsonl", b'{"text": [1]}\n{"text": [2]}'),
        "enormous numbers": ("a.json", b"[" + b"9" * 5000 + b"]"),
        "half of it broken": ("a.jsonl", b'{"text": "red green"}\n{"te\n{"te\n{"te'),
        # archives
        "no archive": ("a.zip", b"hello, I am no archive"),
        "half an archive": ("a.zip", zipped({f"{i}/a.txt": t for i, t in enumerate(TEXTS)})[:200]),
        "an empty archive": ("a.zip", zipped({})),
        "a password": ("a.zip", locked()),
        "a bomb": ("a.zip", zipped({"a.txt": b"a " * 15_000_000})),
        "hidden files": ("a.zip", zipped({".a.txt": "red green", "__MACOSX/b.txt": "blue"})),
        "archives inside": ("a.zip", zipped({"a.zip": zipped({"b.txt": "x"}), "c.tar": b"x", "d.rar": b"y"})),
        "folders only": ("a.zip", zipped({"a/": "", "b/": ""})),
        "paths that lead out": ("a.zip", zipped({"../../a.txt": TEXTS[0], "/etc/b.txt": TEXTS[1]})),
        "a link": ("a.zip", link("a.txt", "/etc/passwd")),
        "two tables": ("a.zip", zipped({"a.csv": table, "b.csv": table})),
        "programs": ("a.zip", zipped({"a.bin": b"\x7fELF\0\0\0" * 99, "b.bin": b"\x7fELF\0\0\1" * 99})),
        "an archive of nothing": ("a.zip", zipped({"a.txt": "", "b.txt": ""})),
        "one text": ("a.zip", zipped({"a.txt": TEXTS[0]})),
        "one picture": ("a.zip", zipped({"a.png": image(np.eye(9) * 255)})),
        "broken pictures": ("a.zip", zipped({"a.png": b"\x89PNG\r\n\x1a\nxx", "b.png": b"\x89PNG\r\n\x1a\nyy"})),
        "enormous pictures": ("a.zip", zipped({"a.png": png(100_000, 100_000), "b.png": png(60_000, 2_000)})),
        "a picture without a side": ("a.zip", zipped({"a.png": png(0, 5), "b.png": png(5, 0)})),
        "programs called pictures": ("a.zip", zipped({"a.png": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "b.png": b"%!PS"})),
        "a broken table inside": ("a.zip", zipped({"a.json": b"{"})),
        "a matrix inside that is none": ("a.zip", zipped({"a.npz": b"PK"})),
        "equal pictures": ("a.zip", zipped({f"{i}.png": image(np.eye(9) * 255) for i in range(3)})),
        "black pictures": ("a.zip", zipped({f"{i}.png": image(np.zeros((9, 9))) for i in range(3)})),
        # gzip
        "half a gzip": ("a.csv.gz", gzip.compress(table)[:40]),
        "a gzip bomb": ("a.csv.gz", gzip.compress(b"a," * 30_000_000)),
        "nothing in gzip": ("a.csv.gz", gzip.compress(b"")),
        "gzip of an unknown kind": ("a.xyz.gz", gzip.compress(table)),
        "gzip in gzip": ("a.csv.gz", gzip.compress(gzip.compress(b"\x1f\x8b"))),
        "gzip of a wrong sum": ("a.csv.gz", gzip.compress(table)[:-8] + b"\0" * 8),
        # MATLAB
        "no MATLAB file": ("a.mat", b"hello " * 99),
        "half a MATLAB file": ("a.mat", mat(fea=COUNTS)[:150]),
        "an object": ("a.mat", of_class(3)),
        "a function handle": ("a.mat", of_class(16)),
        "something opaque": ("a.mat", of_class(17)),
        "an object beside a matrix": ("a.mat", mat(fea=COUNTS, c=OBJECT)),
        "no matrix": ("a.mat", mat(a=1.0, b="text")),
        "complex numbers": ("a.mat", mat(fea=COUNTS + 1j)),
        "not a number": ("a.mat", mat(fea=nan)),
        "labels that do not fit": ("a.mat", mat(fea=COUNTS, gnd=[1, 2, 3])),
        "four dimensions": ("a.mat", mat(fea=np.ones((3, 3, 3, 3)))),
        "nothing but zeros": ("a.mat", mat(fea=np.zeros((4, 4)))),
        "version 4 that is none": ("a.mat", b"\0\0\0\0" + b"\xff" * 60),
        "HDF5 that is none": ("a.mat", b"\x89HDF\r\n\x1a\n" + b"\xff" * 99),
        "HDF5 that names another file": ("a.mat", hdf5(_external)),
        "HDF5 stored in another file": ("a.mat", hdf5(_stored_elsewhere)),
        "HDF5 made of another file": ("a.mat", hdf5(_virtual)),
        "enormous HDF5": ("a.mat", hdf5(_enormous)),
        "a function in HDF5": ("a.mat", hdf5(_handle)),
        # NumPy
        "no NumPy archive": ("a.npz", b"hello"),
        # Pickles are written here, to see that nobody reads them.
        "pickles": ("a.npz", saved(np.savez, X=np.array([{"a": 1}, None], object), allow_pickle=True)),
        "a pickle": ("a.npy", saved(np.save, np.array([{"a": 1}, None], object), allow_pickle=True)),
        "no array inside": ("a.npz", zipped({"x.npy": b"hello"})),
        "a header without end": ("a.npz", zipped({"x.npy": b"\x93NUMPY\x02\x00" + (200_000).to_bytes(4, "little") + b"(" * 200_000})),
        "a promise inside": ("a.npz", zipped({"x.npy": npy("(100000, 100000)")})),
        "a promise": ("a.npy", npy("(1000000, 1000000)")),
        "a negative shape": ("a.npy", npy("(-4, 4)")),
        "code for a shape": ("a.npy", npy("__import__('os').getcwd()")),
        "half an array": ("a.npy", saved(np.save, COUNTS)[:150]),
        "one dimension": ("a.npy", saved(np.save, np.arange(9.0))),
        "texts for numbers": ("a.npy", saved(np.save, np.array([["a", "b"], ["c", "d"]]))),
        "infinite": ("a.npy", saved(np.save, np.array([[np.inf, 1], [1, 2.0]]))),
        "complex": ("a.npy", saved(np.save, COUNTS + 1j)),
        "zeros only": ("a.npy", saved(np.save, np.zeros((5, 5)))),
        "no rows": ("a.npy", saved(np.save, np.zeros((0, 5)))),
        "one row only": ("a.npy", saved(np.save, np.ones((1, 5)))),
        "records": ("a.npy", saved(np.save, np.zeros(4, [("a", "f8"), ("b", "f8")]))),
        "dates": ("a.npy", saved(np.save, np.zeros((4, 4), "M8[s]"))),
        "equal rows": ("a.npy", saved(np.save, np.ones((5, 5)))),
        "pointers that lead out": ("a.npz", saved(np.savez, **parts | {"indices": X.indices + 1000})),
        "pointers that fall": ("a.npz", saved(np.savez, **parts | {"indptr": X.indptr[::-1].copy()})),
        "blocks that lead out": ("a.npz", saved(np.savez, data=np.ones((1, 2, 2)), indices=np.array([3]), indptr=np.array([0, 1, 1]),
                                                shape=np.array([4, 4]), format=np.array("bsr"))),
        "an absurd shape": ("a.npz", saved(np.savez, **parts | {"shape": np.array([4, 10**12])})),
        "a shape below zero": ("a.npz", saved(np.savez, **parts | {"shape": np.array([-4, 4])})),
        "a shape of three": ("a.npz", saved(np.savez, **parts | {"shape": np.array([4, 4, 4])})),
        "an archive of texts called arrays": ("a.npz", zipped({"a.txt": "hello"})),
        # Matrix Market
        "no banner": ("a.mtx", b"4 4 2\n1 1 1\n2 2 2"),
        "a strange banner": ("a.mtx", b"%%MatrixMarket tensor coordinate real general\n4 4 1\n1 1 1"),
        "complex entries": ("a.mtx", b"%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1 0"),
        "too few entries": ("a.mtx", b"%%MatrixMarket matrix coordinate real general\n4 4 9\n1 1 1"),
        "an entry outside": ("a.mtx", b"%%MatrixMarket matrix coordinate real general\n2 2 1\n5 5 1"),
        "entry zero": ("a.mtx", b"%%MatrixMarket matrix coordinate real general\n2 2 1\n0 0 1"),
        "an absurd size": ("a.mtx", b"%%MatrixMarket matrix coordinate real general\n999999999999 9 1\n1 1 1"),
        "a large symmetric promise": ("a.mtx", b"%%MatrixMarket matrix array real symmetric\n40000 40000\n1 2 3"),
        "words for entries": ("a.mtx", b"%%MatrixMarket matrix coordinate real general\n2 2 1\na b c"),
        "sizes below zero": ("a.mtx", b"%%MatrixMarket matrix coordinate real general\n-2 2 1\n1 1 1"),
        "a header alone, in Matrix Market": ("a.mtx", b"%%MatrixMarket matrix coordinate real general\n"),
        "not text at all": ("a.mtx", b"\xff\xfe\0\0" * 50),
        # names
        "no suffix": ("corpus", words),
        "a tar": ("a.tar", words),
        "a document": ("a.docx", zipped({"word/document.xml": "<w/>"})),
        "a PDF": ("a.pdf", b"%PDF-1.7"),
        "a path for a name": ("../../../etc/passwd", words),
        "dots for a name": ("..", words),
        "a name of a thousand letters": ("x" * 1000 + ".xyz", words),
        "an empty name": ("", words),
    }  # fmt: skip
    together = {
        "two matrices": [("a.npy", saved(np.save, COUNTS)), ("b.npy", saved(np.save, COUNTS))],
        "terms that do not fit": [("a.npy", saved(np.save, COUNTS)), ("terms.txt", b"one\ntwo")],
        "a table and a matrix": [("a.csv", table), ("b.npy", saved(np.save, COUNTS))],
        "empty files": [("a.txt", b""), ("b.txt", b"")],
        "no files": [],
        "a matrix with a picture for terms": [("a.npy", saved(np.save, COUNTS)), ("terms.txt", image(np.eye(9) * 255))],
        "too much together": [(f"{i}.txt", words * 3000) for i in range(60)],
        "too many together": [(f"{i}.txt", b"red green") for i in range(2001)],
    }
    return {why: [file] for why, file in single.items()} | together


def noise() -> Iterator[File]:
    """Bytes that mean nothing, under every suffix."""
    rng = np.random.default_rng(0)
    for suffix in SUFFIXES:
        for size in (1, 7, 64, 500, 4096):
            body = rng.integers(0, 32, size, dtype=np.uint8).tobytes()
            yield f"noise-{size}.{suffix}", gzip.compress(body) if suffix.endswith("gz") else body


def links() -> list[tuple[str, str, dict[str, str]]]:
    """Addresses nobody's click leads to: page, what is wrong, parameters."""
    wrong = ["", "-1", "0", "99999999999999999999", "nan", "inf", "1e400", "NULL", "<script>alert(1)</script>", "💥", "../../etc/passwd"]
    keys = {
        "explore": ["method", "weighting", "kernel", "restarts", "seed", "lccf.lam", "lccf.p", "lccf.max_iter", "view", "shared", "corpus"],
        "compare": ["compare", "compare.seeds", "compare.steps", "compare.own"],
        "coordinates": ["figure.corpus", "figure.show", "figure.eta", "figure.seed", "figure.ncw"],
        "concepts": ["relevance", "method"],
        "constraints": ["known", "share", "alpha", "constraints.p", "constraints.lam", "constraints.seed"],
    }
    return [
        (page, f"{key}={wrong[(i + j) % len(wrong)]}", {key: wrong[(i + j) % len(wrong)]})
        for i, (page, own) in enumerate(keys.items())
        for j, key in enumerate(own)
    ]


SETTINGS: list[tuple[str, dict[str, object]]] = [
    ("lccf", {"n_clusters": 0}), ("lccf", {"n_clusters": -3}), ("lccf", {"n_clusters": 10**9}), ("lccf", {"n_clusters": 2.5}),
    ("lccf", {"n_clusters": "many"}), ("lccf", {"lam": -1}), ("lccf", {"lam": float("nan")}), ("lccf", {"lam": float("inf")}),
    ("lccf", {"lam": "heavy"}), ("lccf", {"p": 0}), ("lccf", {"p": 10**6}), ("lccf", {"p": 2.5}), ("lccf", {"nonsense": 1}),
    ("lccf", {"seed": -1}), ("lccf", {"seed": "x"}), ("lccf", {"restarts": 0}), ("lccf", {"max_iter": -1}), ("lccf", {"tol": 0}),
    ("lccf", {"tol": "small"}), ("lccf", {"kernel": "magic"}), ("lccf", {"weighting": "magic"}), ("lccf", {"graph": "magic"}),
    ("lccf", {"graph": [[1, 2], [3, 4]]}), ("lccf", {"assign": "magic"}), ("lccf", {"init": "magic"}), ("lccf", {"init": {"W": []}}),
    ("nmf", {"kernel": "poly2"}), ("nmf", {"graph": "cosine"}), ("nmf", {"constraints": [(0, 1, "must")]}), ("magic", {}),
    ("pspt", {"eta": 2}), ("pspt", {"eta": -1}), ("rcf", {"share": 0}), ("rcf", {"share": 2}), ("rcf", {"alpha": 1}),
    ("rcf", {"constraints": [(0, 0, "must")]}), ("rcf", {"constraints": [(0, 999, "must")]}), ("rcf", {"constraints": [(0, 1, "perhaps")]}),
    ("rcf", {"constraints": [(0, 1)]}), ("rcf", {"constraints": [(0, 1, "must"), (0, 1, "cannot")]}),
    ("rcf", {"constraints": "no/such/file"}),
    ("sparse_nmf", {"sparseness_v": 2}), ("kmeans", {"weighting": "often"}), ("spectral", {"init": {"H": []}}), ("", {}),
]  # fmt: skip
PAIRS = [
    "", "first,second,kind", "1", "1,2", "1,2,perhaps", "a,b,must", "0,99999,must", "-1,2,must", "0,0,must", "0,1,must\n0,1,cannot",
    "1.5,2,must",
    "\0,\0,\0", "=1+1,2,must",
]  # fmt: skip


def count() -> int:
    """How many there are in all."""
    return len(files()) + len(list(noise())) + len(links()) + len(SETTINGS) + len(PAIRS) - 2  # no pairs at all are no mistake


__all__ = ["PAIRS", "SETTINGS", "count", "files", "links", "noise"]
