"""Matrices: ``.mat``, ``.npz``, ``.npy`` and ``.mtx``, documents × terms.

A *sparse* matrix of whole numbers is taken for counts and weighted with tf-idf; any other matrix holds values (pixels, weights
made elsewhere) and is only scaled to unit length. ``weighting`` overrides both.

Dense whole numbers from 0 to 255 in a square number of columns are images. Here an image is stored row by row, so that
``row.reshape(image_shape)`` stands upright; MATLAB stores columns, so the pixels of a ``.mat`` file are put in that order.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.lib.format as npy
import scipy.sparse as sp

from ..errors import FactScopeError
from ..limits import limit, size
from . import mat5
from .decoding import too_large
from .formats import ReadOptions, bare_name, parsing, reads
from .model import Corpus, Dropped, TermWeighting, assemble
from .variables import Variables, find_variables, plain_variables, word

OBJECTS = "holds MATLAB objects or function handles, which are not opened; save its numbers and texts alone"
_PARTS = ("data", "indices", "indptr", "row", "col", "offsets", "shape", "format", "_is_array")


@reads(".mat")
def read_mat(name: str, data: bytes, options: ReadOptions) -> Corpus:
    """A MATLAB file, version 4 to 7.3."""
    if data[:4] == b"\x89HDF" or data[512:516] == b"\x89HDF":
        with parsing(name, "a MATLAB 7.3 file"):
            variables = plain_variables(_hdf5_variables(name, data))
    else:
        from scipy.io import loadmat

        with parsing(name, "a MATLAB file"):
            if 0 not in data[:4]:  # version 4 begins with a small number instead of a text
                try:
                    mat5.check(data)
                except mat5.HoldsObjectsError:
                    raise FactScopeError(f"{name} {OBJECTS}.") from None
            variables = plain_variables({key: value for key, value in loadmat(io.BytesIO(data)).items() if not key.startswith("__")})
    return read_variables(name, variables, options, pixel_order="F")


@reads(".npz")
def read_npz(name: str, data: bytes, options: ReadOptions) -> Corpus:
    """A NumPy archive: a sparse matrix as scipy saves it, its plain parts, or dense arrays; nothing is ever unpickled."""
    arrays: dict[str, Any] = {}
    dropped = []
    with parsing(name, "a NumPy archive"):
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            members = packed.infolist()
            if len(members) > limit("files"):
                raise FactScopeError(f"{name} has {len(members)} arrays, more than the {limit('files'):.0f} that are read.")
            if sum(member.file_size for member in members) > limit("unpacked"):
                raise too_large(name, limit("unpacked"))
            for member in members:
                with packed.open(member) as file:
                    _promised(file, member.file_size)
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            for key in archive.files:
                try:
                    arrays[key] = archive[key]
                except ValueError as problem:
                    if "allow_pickle" not in str(problem):
                        raise
                    dropped.append(Dropped(1, "arrays", f"{key} holds Python objects, which are not opened; save it as text"))
        if {"data", "shape"} <= arrays.keys():
            matrix = _sparse_from_parts(name, arrays)
            arrays = {"matrix": matrix} | {key: value for key, value in arrays.items() if key not in _PARTS}
        variables = plain_variables(arrays)
    return read_variables(name, variables, options, dropped=dropped)


@reads(".npy")
def read_npy(name: str, data: bytes, options: ReadOptions) -> Corpus:
    """One dense NumPy array."""
    with parsing(name, "a NumPy array of numbers"):
        _promised(io.BytesIO(data), len(data))
        variables = plain_variables({"matrix": np.load(io.BytesIO(data), allow_pickle=False)})
    return read_variables(name, variables, options)


@reads(".mtx", ".mm")
def read_mtx(name: str, data: bytes, options: ReadOptions) -> Corpus:
    """A Matrix Market file."""
    with parsing(name, "a Matrix Market file"):
        matrix = _market_matrix(name, data)
    return read_variables(name, {"matrix": matrix}, options)


def read_variables(
    name: str, variables: Variables, options: ReadOptions, *, pixel_order: str = "C", dropped: Sequence[Dropped] = ()
) -> Corpus:
    """A corpus from the variables of a file."""
    options.only(name, "a matrix", "weighting", "matrix", "labels", "beside")
    found = find_variables(name, {**variables, **(options.beside or {})}, options)
    X, shape = found.X, None
    if not sp.issparse(X):
        X, shape = _images(X, pixel_order)
    values = X.data if sp.issparse(X) else X
    whole = bool(np.all(values == np.round(values))) if values.dtype.kind in "fiub" else False
    counts = sp.issparse(X) and whole and values.min(initial=0) >= 0
    return assemble(
        bare_name(name),
        X,
        terms=found.terms,
        titles=found.titles,
        labels=found.labels,
        weighting=options.weighting or (TermWeighting.TFIDF if counts else TermWeighting.NONE),
        image_shape=shape,
        dropped=dropped,
    )


def _promised(file: Any, length: int) -> None:
    """Raises ValueError where the header of an array promises more than the file holds: numpy would take the memory before it looks."""
    if file.read(6) != b"\x93NUMPY":
        return  # no array, which numpy hands back as bytes
    major, _ = file.read(2)
    read = npy.read_array_header_1_0 if major == 1 else npy.read_array_header_2_0
    shape, _, kind = read(file)
    if not kind.hasobject and math.prod(shape) * kind.itemsize > length:
        raise ValueError("an array larger than its file")


def _images(X: np.ndarray, pixel_order: str) -> tuple[np.ndarray, tuple[int, int] | None]:
    """A dense matrix with its pixels row by row, and the shape of its images if it holds any."""
    if X.ndim == 3:
        return X.reshape(len(X), -1), (X.shape[1], X.shape[2])
    side = math.isqrt(X.shape[1]) if X.ndim == 2 else 0
    pixels = side >= 8 and side * side == X.shape[1] and X.dtype.kind in "fiu" and bool(np.all((X >= 0) & (X <= 255) & (np.round(X) == X)))
    if not pixels or np.count_nonzero(X) < 0.1 * X.size:
        return X, None
    if pixel_order == "F":
        X = X.reshape(-1, side, side).transpose(0, 2, 1).reshape(len(X), -1)
    return X, (side, side)


def _sides(name: str, rows: int, columns: int) -> None:
    """Refuses a shape whose mere row pointers or term names would fill the memory: a header can promise any size."""
    if max(rows, columns) > limit("side"):
        raise FactScopeError(f"{name} says it has {rows} rows and {columns} columns, which is more than can be read here.")


def _sparse_from_parts(name: str, parts: Mapping[str, Any]) -> sp.csr_array:
    """The matrix scipy's ``save_npz`` took apart."""
    shape = tuple(int(s) for s in parts["shape"])
    if len(shape) != 2 or min(shape) < 0:
        raise ValueError("not a matrix")
    _sides(name, *shape)
    if "row" in parts:
        return sp.csr_array(sp.coo_array((parts["data"], (parts["row"], parts["col"])), shape=shape))
    if "offsets" in parts:
        return sp.csr_array(sp.dia_array((parts["data"], parts["offsets"]), shape=shape))
    kind = parts["format"].item() if "format" in parts else ""
    kind = kind.decode() if isinstance(kind, bytes) else str(kind)
    by_columns = kind == "csc" or (not kind and len(parts["indptr"]) != shape[0] + 1)
    make = sp.bsr_array if kind == "bsr" else sp.csc_array if by_columns else sp.csr_array
    return make((parts["data"], parts["indices"], parts["indptr"]), shape=shape)


def _market_matrix(name: str, data: bytes) -> Any:
    """The matrix of a Matrix Market file; scipy's reader is faster, but a damaged file can end the process in it."""
    head, _, rest = data.partition(b"\n")
    banner, matrix, layout, field, symmetry = head.decode("ascii").lower().split()
    while rest.lstrip()[:1] == b"%":
        rest = rest.lstrip().partition(b"\n")[2]
    sizes, _, body = rest.lstrip().partition(b"\n")
    rows, columns, *stored = (int(size) for size in sizes.split())
    if (
        (banner, matrix) != ("%%matrixmarket", "matrix")
        or field not in ("real", "double", "integer", "pattern")
        or min(rows, columns, *stored) < 0
    ):
        raise ValueError("not a matrix of real numbers")
    _sides(name, rows, columns)
    values = np.array(body.split(), dtype=np.float64)
    if layout == "array":
        if symmetry != "general" and (rows != columns or len(values) < rows * (rows - 1) // 2):
            raise ValueError("fewer values than its shape has")
        if symmetry == "general":
            return values.reshape(columns, rows).T
        X = np.zeros((rows, columns))
        X[np.triu_indices(rows, k=int(symmetry == "skew-symmetric"))[::-1]] = values  # columns of the lower half, one after the other
    else:
        entries = values.reshape(stored[0], 2 if field == "pattern" else 3)
        at = entries[:, :2].T.astype(np.int64) - 1
        X = sp.csr_array(sp.coo_array((np.ones(len(entries)) if field == "pattern" else entries[:, 2], tuple(at)), shape=(rows, columns)))
    if symmetry == "general":
        return X
    lower = np.tril(X, -1) if layout == "array" else sp.tril(X, -1, format="csr")
    return X + lower.T if symmetry == "symmetric" else X - lower.T


def _hdf5_variables(name: str, data: bytes) -> dict[str, Any]:
    """The variables of a MATLAB 7.3 file, which is HDF5 with every array turned round."""
    try:
        import h5py
    except ImportError:
        raise FactScopeError(f"{name} is a MATLAB 7.3 file, which needs the package h5py; install it or save the file with -v7.") from None

    def text(codes: Any) -> str:
        return "".join(map(chr, np.asarray(codes).ravel(order="F")))

    def whole(item: Any) -> Any:
        """A dataset's values, which must be in this file and may not be more than a file can hold."""
        if item.external or item.is_virtual:
            raise FactScopeError(f"{name} refers to other files, which are not opened; save its numbers in the file itself.")
        if item.size is None or item.size * item.dtype.itemsize > limit("unpacked"):
            raise FactScopeError(f"{name} holds an array of more than {size(limit('unpacked'))}, so it is not read.")
        return item[()]

    def variable(item: Any) -> Any:
        kind = word(item.attrs.get("MATLAB_class", b""))
        if kind == "function_handle" or "MATLAB_object_decode" in item.attrs:
            raise FactScopeError(f"{name} {OBJECTS}.")
        if isinstance(item, h5py.Group):
            if "MATLAB_sparse" not in item.attrs:
                return None
            jc = whole(item["jc"])
            rows = int(item.attrs["MATLAB_sparse"])
            entries = (whole(item["data"]), whole(item["ir"])) if "data" in item else (np.zeros(0), np.zeros(0, int))
            return sp.csc_array((*entries, jc), shape=(rows, len(jc) - 1))
        if item.attrs.get("MATLAB_empty", 0):
            return None
        if kind == "cell":
            cells = [item.file[ref] for ref in whole(item).ravel(order="F")]
            chars = all(word(cell.attrs.get("MATLAB_class", b"")) == "char" for cell in cells)
            return ["" if cell.attrs.get("MATLAB_empty", 0) else text(whole(cell)) for cell in cells] if chars else None
        if kind == "char":
            return [text(column).strip() for column in np.atleast_2d(whole(item)).T]
        return whole(item).T if item.dtype.kind in "fiub" else None

    with h5py.File(io.BytesIO(data), "r") as file:
        if not all(isinstance(file.get(key, getlink=True), h5py.HardLink) for key in file):
            raise FactScopeError(f"{name} refers to other files, which are not opened; save its numbers in the file itself.")
        items = {key: variable(file[key]) for key in file if not key.startswith("#")}
    return {key: value for key, value in items.items() if value is not None}
