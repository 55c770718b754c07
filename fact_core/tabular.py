"""A result as tables for a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

import pandas as pd

from .result import Result

DIGITS = "{:.10g}"  # of numbers behind a figure: more than anybody reads, fewer than the order of additions changes
FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")  # spreadsheets take the full-width signs, too


def documents_csv(result: Result, names: Sequence[str] | None = None) -> str:
    """One row a document: title, class, cluster, and its coordinates."""
    corpus = result.corpus
    names = names or [f"concept {c + 1}" for c in range(result.n_clusters)]
    labels = [""] * len(corpus) if corpus.labels is None else [corpus.label_names[i] for i in corpus.labels]
    rows = zip(corpus.titles, labels, result.labels + 1, result.embedding, strict=True)
    return _csv(["title", "class", "cluster", *names], ([title, label, cluster, *row] for title, label, cluster, row in rows))


def coordinates_csv(result: Result, names: Sequence[str] | None = None) -> str:
    """One row a document: its number and its coordinates, nothing else, for programs that want a matrix."""
    names = names or [f"concept {c + 1}" for c in range(result.n_clusters)]
    return _csv(["document", *names], ([i, *row] for i, row in enumerate(result.embedding.tolist(), start=1)))


def assignments_csv(result: Result) -> str:
    """One row a document: number, title, class, cluster, and whether the method was told something of it."""
    corpus, told = result.corpus, set(result.supervised.tolist())
    labels = [""] * len(corpus) if corpus.labels is None else [corpus.label_names[i] for i in corpus.labels]
    rows = enumerate(zip(corpus.titles, labels, result.labels + 1, strict=True))
    return _csv(["document", "title", "class", "cluster", "told"], ([i + 1, *row, int(i in told)] for i, row in rows))


def terms_csv(result: Result, names: Sequence[str] | None = None) -> str:
    """One row a term: its weight in every concept."""
    names = names or [f"concept {c + 1}" for c in range(result.n_clusters)]
    return _csv(["term", *names], ([str(term), *row] for term, row in zip(result.corpus.terms, result.basis.tolist(), strict=True)))


TABLES = {"coordinates.csv": coordinates_csv, "assignments.csv": assignments_csv, "terms.csv": terms_csv}


def concepts_csv(result: Result, count: int = 50) -> str:
    """One row a term of a concept, heaviest first."""
    lists = enumerate(result.concepts(count), start=1)
    return _csv(["concept", "rank", "term", "weight"], ([c, r, *term] for c, terms in lists for r, term in enumerate(terms, start=1)))


def frame_csv(frame: pd.DataFrame) -> str:
    """A table of numbers and names, for a spreadsheet."""
    return _csv([str(name) for name in frame.columns], frame.itertuples(index=False, name=None))


def numbers_csv(frame: pd.DataFrame) -> str:
    """The numbers behind a figure."""

    def cell(value: object) -> object:
        return ("" if value != value else DIGITS.format(value)) if isinstance(value, float) else value

    rows = ([cell(value) for value in row] for row in frame.itertuples(index=False, name=None))
    return _csv([str(name) for name in frame.columns], rows).replace("\r\n", "\n")


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
    return f"'{cell}" if isinstance(cell, str) and cell.strip() and (cell[0] in FORMULA or cell.strip()[0] in FORMULA) else cell
