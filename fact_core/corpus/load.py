"""A corpus by name or path: among the built-ins, as a path, in the folder ``FACTSCOPE_DATA``, or fetched."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

from ..errors import FactScopeError, unknown
from ..limits import public
from .builtin import BUILT_IN
from .catalogue import CATALOGUE, data_folder, fetch, is_here
from .files import read_files, read_path
from .formats import READERS, ReadOptions, bare_name, suffix
from .model import Corpus, TermWeighting


class Kind(str, Enum):
    """Where a corpus comes from."""

    BUILT_IN = "built-in"
    FETCHED = "fetched"
    FILE = "file"


@dataclass(frozen=True)
class CorpusInfo:
    """A corpus that :func:`load_corpus` knows by name."""

    name: str
    about: str
    kind: Kind
    here: bool  # it can be read without the network


_ABOUT = {
    "scipy-docs": "docstrings of the installed scientific packages, by module",
    "three-topics": "26 + 15 + 43 of those docstrings, three topics far apart",
    "digits": "handwritten digits (1797 images of 8 × 8 pixels)",
    "gaussians": "150 points of three Gaussians in the plane",
}


def available_corpora() -> list[CorpusInfo]:
    """The corpora that have a name: built in, to be fetched, and the files in ``FACTSCOPE_DATA``."""
    known = [CorpusInfo(name, _ABOUT[name], Kind.BUILT_IN, True) for name in BUILT_IN]
    known += [CorpusInfo(entry.name, entry.about, Kind.FETCHED, is_here(entry)) for entry in CATALOGUE.values()]
    fetched = {entry.file for entry in CATALOGUE.values()}
    files = [
        p
        for p in _own_files()
        if p.name not in fetched and suffix(p.name) in READERS and not bare_name(p.name).endswith(("_terms", "_labels"))
    ]
    stems = [bare_name(p.name) for p in files]
    for path, short in zip(files, stems, strict=True):
        known.append(CorpusInfo(short if stems.count(short) == 1 else path.name, f"the file {path.name}", Kind.FILE, True))
    return known


def load_corpus(
    source: str | os.PathLike[str],
    *,
    weighting: TermWeighting | str | None = None,
    stop_words: str | Sequence[str] | None = None,
    stem: str | None = None,
    min_df: int | float | None = None,
    max_df: int | float | None = None,
    text_column: str | None = None,
    label_column: str | None = None,
    matrix: str | None = None,
    labels: str | None = None,
    name: str | None = None,
) -> Corpus:
    """The corpus of that name, or in that file or folder.

    ``weighting`` is "tfidf", "tf", "binary" or "none"; without it text and sparse counts are weighted with tf-idf, other matrices
    are used as values. Text: ``stop_words`` ("english", "none" or words), ``stem`` ("none", "porter", "snowball"), ``min_df`` and
    ``max_df`` (a number of documents, or a share if it has a fraction). Tables: ``text_column``, ``label_column``. Files of
    variables: ``matrix`` and ``labels`` name them. An option the source has no use for is refused. ``name`` renames the corpus.
    """
    options = ReadOptions(weighting, stop_words, stem, min_df, max_df, text_column, label_column, matrix, labels)
    wanted = os.fspath(source)
    if not wanted.strip():
        raise FactScopeError("No corpus was named; name a built-in one or a file.")
    return _named(_load(wanted, options), name)


def read_upload(name: str, data: bytes, **options: Any) -> Corpus:
    """The corpus in an uploaded file, with the options of :func:`load_corpus`."""
    return read_uploads([(name, data)], **options)


def read_uploads(files: Iterable[tuple[str, bytes]], *, name: str | None = None, **options: Any) -> Corpus:
    """The corpus in files uploaded together: one of any kind, texts or images that are one document each, or a matrix with
    a list of its terms (or labels), one a line."""
    return _named(read_files(list(files), ReadOptions(**options)), name)


def _load(wanted: str, options: ReadOptions) -> Corpus:
    if wanted in BUILT_IN:
        return BUILT_IN[wanted](options)
    path = Path(wanted).expanduser()
    if not public() and _exists(path):
        return read_path(path, options)
    folded = wanted.casefold()
    own = _own_files()
    exact = [p for p in own if wanted in (p.name, bare_name(p.name))]
    for candidate in exact or [p for p in own if folded in (p.name.casefold(), bare_name(p.name).casefold())]:
        return read_path(candidate, options)
    for key, entry in CATALOGUE.items():
        if folded in (key.casefold(), entry.file.casefold()):
            return fetch(entry, options)
    for key, build in BUILT_IN.items():
        if folded == key.casefold():
            return build(options)
    wanted = wanted if len(wanted) <= 100 else wanted[:99] + "…"
    if suffix(wanted) in READERS or path.parent != Path("."):
        where = f", nor in {data_folder()}" if data_folder() is not None and path.parent == Path(".") and not public() else ""
        raise FactScopeError(f"There is no file or folder {wanted}{where}.")
    raise unknown("corpus" if public() else "corpus or file", wanted, [info.name for info in available_corpora()])


def _own_files() -> list[Path]:
    """What is in the folder ``FACTSCOPE_DATA``, in a fixed order."""
    folder = data_folder()
    try:
        return sorted(p for p in folder.iterdir() if not p.name.startswith(".")) if folder is not None else []
    except OSError:
        return []


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name too long, or with a character no file can have
        return False


def _named(corpus: Corpus, name: str | None) -> Corpus:
    return corpus if name is None else replace(corpus, name=name)
