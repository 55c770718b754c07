"""Which variable of a file is the matrix, which its labels, terms and titles.

The matrix and the labels are named as the authors name theirs (fea and gnd, X and Y, A and labels), or else they are the largest
table and the one vector that fits it; both can be named by a person. If labels or terms fit only the columns, documents are columns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import FactScopeError, unknown
from .formats import ReadOptions
from .model import Matrix

MATRIX_NAMES = ["fea", "X", "A", "data", "x", "features", "matrix", "counts", "dtm", "arr_0"]
LABEL_NAMES = ["gnd", "Y", "y", "labels", "label", "classes", "class", "target", "targets", "category", "truth", "gt"]
TERM_NAMES = ["terms", "vocabulary", "vocab", "words", "ms", "feature_names", "dictionary", "tokens"]
TITLE_NAMES = ["titles", "names", "documents", "docs", "ts", "files", "filenames"]
CLASS_NAMES = ["label_names", "class_names", "classnames", "target_names", "categories", "topics"]

Variables = Mapping[str, Any]  # arrays, sparse arrays, and lists of str


@dataclass(frozen=True)
class Found:
    """What a file of variables turned out to hold."""

    X: Matrix
    labels: Any = None
    terms: Sequence[str] | None = None
    titles: Sequence[str] | None = None


def find_variables(name: str, variables: Variables, options: ReadOptions) -> Found:
    """Which variable is the matrix, which the labels, terms and titles; documents are put into the rows."""
    tables = {
        key: v for key, v in variables.items() if not isinstance(v, list) and v.dtype.kind in "fiubc" and sum(s > 1 for s in v.shape) >= 2
    }
    if options.matrix is not None:
        if options.matrix not in tables:
            raise unknown(f"matrix in {name}", options.matrix, tables)
        key = options.matrix
    else:
        by_size = sorted(tables, key=lambda key: -math.prod(tables[key].shape))
        key = next((k for k in _ordered(tables, MATRIX_NAMES) if not _one_hot(tables[k])), by_size[0] if by_size else "")
        if not key:
            inside = f"it holds {', '.join(variables)}" if variables else "it holds nothing"
            raise FactScopeError(f"{name} has no matrix of numbers with at least two rows and two columns; {inside}.")
    X = tables[key]
    if X.ndim > 3:
        raise FactScopeError(f"The array {key} of {name} has {X.ndim} dimensions; documents by terms are two, images three.")
    sides = (X.shape[0], X.shape[-1])  # a stack of images has its documents in the first side, or the last (MATLAB)

    for beside, lines in (options.beside or {}).items():
        if len(lines) not in sides:
            raise FactScopeError(
                f"{beside} has {len(lines)} lines, which fits neither the rows nor the columns of {name} ({sides[0]} by {sides[1]})."
            )

    rest = {k: v for k, v in variables.items() if k != key}
    vectors = {k: v for k, raw in rest.items() if (v := _vector(raw)) is not None}
    label = _label_variable(name, vectors, sides, options.labels)
    labels = None if label is None else vectors.pop(label)
    words = {k: v for k, v in vectors.items() if isinstance(v, list)}
    term = next((k for k in _ordered(words, TERM_NAMES) if len(words[k]) in sides), None)
    # What fits only the columns says that documents are columns; labels count for more than terms.
    given, side = (labels, 0) if labels is not None else (words[term] if term is not None else (), 1)
    if len(given) and len(given) != sides[side]:
        X = np.moveaxis(X, -1, 0) if X.ndim == 3 else X.T
        sides = sides[::-1]
    term = term if term is not None and len(words[term]) == sides[1] else _only([k for k in words if len(words[k]) == sides[1] != sides[0]])
    title = next((k for k in _ordered(words, TITLE_NAMES) if k != term and len(words[k]) == sides[0]), None)
    title = title or _only([k for k in words if k != term and len(words[k]) == sides[0] != sides[1]])
    classes = next(iter(_ordered(words, CLASS_NAMES)), None)
    return Found(
        X=X,
        labels=labels if classes is None or labels is None else _with_names(labels, words[classes]),
        terms=words[term] if term is not None and X.ndim == 2 else None,
        titles=words[title] if title is not None else None,
    )


def _label_variable(name: str, vectors: Variables, sides: tuple[int, int], wanted: str | None) -> str | None:
    if wanted is not None:
        if wanted not in vectors:
            raise unknown(f"vector of labels in {name}", wanted, vectors)
        if len(vectors[wanted]) not in sides:
            raise FactScopeError(f"{wanted} of {name} has {len(vectors[wanted])} labels for a matrix of {sides[0]} by {sides[1]}.")
        return wanted
    known = _ordered(vectors, LABEL_NAMES)
    for key in known:
        if len(vectors[key]) in sides:
            return key
    if known and len(vectors[known[0]]) > 1 and not isinstance(vectors[known[0]], list):
        raise FactScopeError(
            f"{known[0]} of {name} has {len(vectors[known[0]])} labels for a matrix of {sides[0]} by {sides[1]}; name the right ones."
        )
    # Something else of fitting length names classes only if its numbers are whole and repeat.
    fits = [
        key
        for key, v in vectors.items()
        if not isinstance(v, list) and len(v) in sides and np.all(v == np.round(v)) and 1 < len(np.unique(v)) <= len(v) / 2
    ]
    return _only(fits)


def _vector(value: Any) -> Any:
    """Labels or names, one a document or term: a list of str or a flat array of numbers; None where it is neither."""
    if isinstance(value, list):
        return value
    if sp.issparse(value):
        return _vector(value.toarray()) if math.prod(value.shape) <= 10_000_000 and value.dtype.kind in "fiub" else None
    if value.dtype.kind in "fiub" and value.ndim <= 2 and value.size and np.all(np.isfinite(value)):
        if value.size == max(value.shape, default=1):
            return value.ravel()
        if _one_hot(value):
            return np.argmax(value, axis=1) + 1
    return None


def _one_hot(value: Any) -> bool:
    """A 1 in the column of each row's class and 0 elsewhere, as some write labels."""
    if sp.issparse(value) or value.ndim != 2 or value.shape[1] >= value.shape[0] or value.dtype.kind not in "fiub":
        return False
    return bool(np.all((value == 0) | (value == 1)) and np.all(value.sum(axis=1) == 1))


def _with_names(labels: Any, names: Sequence[str]) -> Any:
    """Numbers 0 … c-1 or 1 … c replaced by the names of their classes, where there are as many."""
    if isinstance(labels, list) or not np.all(labels == np.round(labels)):
        return labels
    first = int(labels.min())
    if first in (0, 1) and int(labels.max()) - first < len(names):
        return [names[int(i) - first] for i in labels]
    return labels


def plain_variables(variables: Variables) -> dict[str, Any]:
    """Variables as arrays of numbers, sparse arrays or lists of str; the fields of a struct by themselves; the rest left out."""
    plain: dict[str, Any] = {}
    for key, value in variables.items():
        if isinstance(value, list):
            plain[key] = value
        elif sp.issparse(value):
            plain[key] = sp.csr_array(_sound(value))
        elif not isinstance(value, np.ndarray):
            continue
        elif value.dtype.names is not None:
            if value.size == 1 and type(value) is np.ndarray:
                plain |= {k: v for k, v in plain_variables({f: value.flat[0][f] for f in value.dtype.names}).items() if k not in variables}
        elif value.dtype.kind in "fiubc":
            plain[key] = value
        elif value.dtype.kind in "US" and value.ndim >= 1:
            plain[key] = [word(item) for item in value.ravel()]
        elif value.dtype.kind == "O" and value.ndim >= 1 and all(isinstance(item, (str, np.ndarray)) for item in value.flat):
            cells = [item if isinstance(item, str) else item.ravel() for item in value.flat]
            if all(isinstance(cell, str) or (cell.dtype.kind in "US" and cell.size <= 1) for cell in cells):
                plain[key] = [cell if isinstance(cell, str) else word(cell[0]) if cell.size else "" for cell in cells]
    return plain


def _sound(matrix: Any) -> Any:
    """The matrix, if its indices stay inside it: compiled code follows wrong ones out of its memory. (scipy's own check skips
    some of this where the last pointer is zero.)"""
    if hasattr(matrix, "indptr"):
        inside = matrix.shape[0] if matrix.format == "csc" else matrix.shape[1]
        if matrix.format == "bsr":  # whose indices count blocks
            inside //= matrix.blocksize[1]
        if matrix.indptr[0] != 0 or np.any(np.diff(matrix.indptr) < 0) or matrix.indptr[-1] > min(len(matrix.indices), len(matrix.data)):
            raise ValueError("pointers that do not rise, or rise too far")
        if len(matrix.indices) and (matrix.indices.min() < 0 or matrix.indices.max() >= inside):
            raise ValueError("an index outside the matrix")
    return matrix


def word(item: Any) -> str:
    return (item.decode("utf-8", "replace") if isinstance(item, bytes) else str(item)).strip()


def _ordered(have: Mapping[str, Any], wanted: Sequence[str]) -> list[str]:
    """The keys that have a known name, best name first, those of the right case before others."""
    exact = [name for name in wanted if name in have]
    return exact + [key for name in wanted for key in have if key not in exact and key.lower() == name.lower()]


def _only(candidates: Sequence[str]) -> str | None:
    return candidates[0] if len(candidates) == 1 else None
