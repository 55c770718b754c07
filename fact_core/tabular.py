"""A result as tables for a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import pandas as pd

from .result import Result

DIGITS = "%.10g"  # of numbers behind a figure: more than anybody reads, fewer than the order of additions changes


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
    """A table as it is written beside a figure."""
    words = frame.select_dtypes(exclude="number").columns
    safe = frame.assign(**{name: frame[name].map(_plain) for name in words})
    return safe.rename(columns=lambda name: _plain(str(name))).to_csv(index=False, float_format=DIGITS, lineterminator="\n")


def _csv(header: Sequence[str], rows: object) -> str:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow([_plain(cell) for cell in header])
    writer.writerows([_plain(cell) for cell in row] for row in rows)  # type: ignore[attr-defined]
    return file.getvalue()


def _plain(cell: object) -> object:
    """Text that a spreadsheet would take for a formula gets an apostrophe before it."""
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in "=+-@\t\r" and cell else cell
