"""A result as tables for a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

import pandas as pd

from .result import Result

FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")  # spreadsheets take the full-width signs, too


def documents_csv(result: Result, names: Sequence[str] | None = None) -> str:
    """One row a document: title, class, cluster, and its coordinates."""
    corpus = result.corpus
    names = names or [f"concept {c + 1}" for c in range(result.n_clusters)]
    labels = [""] * len(corpus) if corpus.labels is None else [corpus.label_names[i] for i in corpus.labels]
    rows = zip(corpus.titles, labels, result.labels + 1, result.embedding, strict=True)
    return _csv(["title", "class", "cluster", *names], ([title, label, cluster, *row] for title, label, cluster, row in rows))


def concepts_csv(result: Result, count: int = 50) -> str:
    """One row a term of a concept, heaviest first."""
    lists = enumerate(result.concepts(count), start=1)
    return _csv(["concept", "rank", "term", "weight"], ([c, r, *term] for c, terms in lists for r, term in enumerate(terms, start=1)))


def frame_csv(frame: pd.DataFrame) -> str:
    """A table of numbers and names, for a spreadsheet."""
    return _csv([str(name) for name in frame.columns], frame.itertuples(index=False, name=None))


def _csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow([_plain(cell) for cell in header])
    writer.writerows([_plain(cell) for cell in row] for row in rows)
    return file.getvalue()


def _plain(cell: object) -> object:
    """Text that a spreadsheet would take for a formula gets an apostrophe before it; numbers stay numbers, what is missing stays empty."""
    if isinstance(cell, float) and cell != cell:
        return ""
    return f"'{cell}" if isinstance(cell, str) and cell.lstrip()[:1] in FORMULA and cell.strip() else cell
