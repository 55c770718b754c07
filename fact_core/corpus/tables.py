"""Tables of texts: ``.csv``, ``.tsv``, ``.jsonl`` and lines of ``.txt``.

The text column is the one named so (text, document, body …), or else the one with the longest texts. The classes are the
column named so (label, class, topic …), or else the only column with few different values; a column that looks like
neither is left alone. Both can be named instead.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import FactScopeError, unknown
from .decoding import decode
from .formats import TEXT_OPTIONS, ReadOptions, read_texts, reads
from .model import Corpus, Dropped

_TEXT = """text texts document documents doc content contents body abstract article message review comment sentence tweet post passage
    description summary story question answer text_clean cleaned_text clean_text full_text review_text raw_text"""
_LABEL = """label labels class classes category categories target targets topic topics newsgroup group section genre sentiment cluster
    class_index label_text label_name class_name category_name gnd y type"""
TEXT_NAMES, LABEL_NAMES = _TEXT.split(), _LABEL.split()  # the likeliest first
TITLE_NAMES = ["title", "headline", "subject", "name", "heading", "filename", "file", "path", "url", "id", "doc_id", "docid"]


@dataclass(frozen=True)
class Table:
    """Named columns of equal length; a missing value is an empty string."""

    columns: Mapping[str, Sequence[str]]
    dropped: tuple[Dropped, ...] = ()


@reads(".txt", ".text")
def read_lines(name: str, data: bytes, options: ReadOptions) -> Corpus:
    """One document a line."""
    options.only(name, "text with one document a line", "weighting", *TEXT_OPTIONS)
    lines = _lines(decode(name, data).removesuffix("\n"))
    texts = [line for line in lines if line.strip()]
    if not texts:
        raise FactScopeError(f"{name} is empty: no line has any text.")
    if len(texts) == 1:
        raise FactScopeError(f"{name} has one line, and every line is read as one document, of which at least two are needed.")
    return read_texts(name, texts, options, dropped=_note(len(lines) - len(texts), "lines", "blank"))


@reads(".csv", ".tsv", ".tab")
def read_csv(name: str, data: bytes, options: ReadOptions) -> Corpus:
    """A table with or without a header, separated by commas, semicolons, tabs or bars."""
    return _read_table(name, parse_csv(name, decode(name, data), options), options)


@reads(".jsonl", ".ndjson", ".json")
def read_json(name: str, data: bytes, options: ReadOptions) -> Corpus:
    """One JSON object (or string) a line, or one array of them."""
    return _read_table(name, parse_json(name, decode(name, data)), options)


def parse_csv(name: str, text: str, options: ReadOptions) -> Table:
    lines = [line for line in _lines(text) if line.strip()]
    if not lines:
        raise FactScopeError(f"{name} is empty: no line has any text.")
    asked = {column.casefold() for column in (options.text_column, options.label_column) if column is not None}
    names = asked | {*TEXT_NAMES, *LABEL_NAMES, *TITLE_NAMES}
    head = "\n".join(lines[:200])
    separator = "\t" if name.lower().endswith((".tsv", ".tab")) else max(",;\t|", key=lambda s: _regularity(_records(head, s), names))
    records = _records(text, separator)
    if len(records) < len(lines) / 2:
        # A quotation mark that nobody closes swallows the lines after it; then marks are plain characters here.
        plain = _records(text, separator, csv.QUOTE_NONE)
        if len(plain[0]) > 1 and _regularity(plain, names) >= _regularity(records, names):
            records = plain
    if not records:
        raise FactScopeError(f"{name} cannot be read as a table; save it again as CSV in UTF-8.")
    if _has_header(records, asked):
        width = len(records[0])
        keys = [cell.strip() or f"column {j + 1}" for j, cell in enumerate(records.pop(0))]
        keys = [key if key not in keys[:j] else f"{key} ({j + 1})" for j, key in enumerate(keys)]
    else:
        width = Counter(map(len, records)).most_common(1)[0][0]
        keys = [f"column {j + 1}" for j in range(width)]
    good = [record for record in records if len(record) == width]
    if not records:
        raise FactScopeError(f"{name} has a header but no documents.")
    if 2 * len(good) < len(records):
        raise FactScopeError(
            f"Most lines of {name} do not have the {width} fields of the first; put texts that hold a separator in quotation marks."
        )
    wrong = _note(len(records) - len(good), "lines", f"not the {width} fields the others have")
    return Table(dict(zip(keys, map(list, zip(*good, strict=True)), strict=True)), wrong)


def parse_json(name: str, text: str) -> Table:
    wrong, first = 0, 0
    try:
        whole = json.loads(text)
        lists = [value for value in whole.values() if isinstance(value, list) and value] if isinstance(whole, dict) else [whole]
        values = lists[0] if len(lists) == 1 and isinstance(lists[0], list) else [whole]
    except (ValueError, RecursionError):
        values = []
        for number, line in enumerate(text.split("\n"), 1):
            try:
                if line.strip():
                    values.append(json.loads(line))
            except (ValueError, RecursionError):
                wrong, first = wrong + 1, first or number
    rows = [{"text": value} if isinstance(value, str) else value for value in values if isinstance(value, (dict, str))]
    if wrong > len(rows):
        raise FactScopeError(f"{name} is not JSON with one object a line: line {first} cannot be read.")
    if not rows:
        raise FactScopeError(f"{name} has no JSON objects with texts in them.")
    dropped = _note(wrong, "lines", f"not JSON (the first is line {first})") + _note(
        len(values) - len(rows), "values", "neither object nor text"
    )
    keys = dict.fromkeys(str(key) for row in rows for key in row)
    return Table({key: [_plain(row.get(key)) for row in rows] for key in keys}, dropped)


def _read_table(name: str, table: Table, options: ReadOptions) -> Corpus:
    options.only(name, "a table of texts", "weighting", "text_column", "label_column", *TEXT_OPTIONS)
    columns = table.columns
    text = _named(name, columns, options.text_column) or _text_column(columns)
    if text is None:
        raise FactScopeError(
            f"{name} has no column of texts among {_listed(columns)}; name one with text_column, or give numbers as .npz or .mtx."
        )
    label = _named(name, columns, options.label_column) or _label_column(columns, text)
    title = next((key for want in TITLE_NAMES for key in columns if key.casefold() == want and key not in (text, label)), None)
    rows = list(range(len(columns[text])))
    notes = table.dropped
    if label is not None:
        rows = [i for i in rows if columns[label][i].strip()]
        notes += _note(len(columns[text]) - len(rows), "documents", f"no class in the column {label}")
        if not rows:
            raise FactScopeError(f"{name} has no classes in the column {label}: all its values are empty.")
    return read_texts(
        name,
        [columns[text][i] for i in rows],
        options,
        labels=None if label is None else [columns[label][i].strip() for i in rows],
        titles=None if title is None else [columns[title][i].strip() or f"document {i + 1}" for i in rows],
        dropped=notes,
    )


def _named(name: str, columns: Mapping[str, Any], wanted: str | None) -> str | None:
    """The column a person named, also when only its case differs."""
    if wanted is None or wanted in columns:
        return wanted
    for key in columns:
        if key.casefold() == wanted.strip().casefold():
            return key
    raise unknown(f"column in {name}", wanted, columns)


def _text_column(columns: Mapping[str, Sequence[str]]) -> str | None:
    for want in TEXT_NAMES:
        for key, values in columns.items():
            if key.casefold() == want and _wordiness(values) > 0:
                return key
    # A single column of words is the text, whatever it is called; of several, a text has some length.
    least = 0 if len(columns) == 1 else 12
    best = max(columns, key=lambda key: _wordiness(columns[key]), default=None)
    return best if best is not None and _wordiness(columns[best]) > least else None


def _label_column(columns: Mapping[str, Sequence[str]], text: str) -> str | None:
    def classes(key: str) -> int:
        return len({value for value in columns[key] if value.strip()})

    n = len(columns[text])
    others = [key for key in columns if key != text]
    for want in LABEL_NAMES:
        for key in others:
            if key.casefold() == want and 1 < classes(key) <= max(2, n // 2):
                return key
    few = [key for key in others if 1 < classes(key) <= min(50, n // 5) and all(columns[key]) and not _measurement(columns[key])]
    return few[0] if len(few) == 1 and few[0].casefold() not in TITLE_NAMES else None


def _wordiness(values: Sequence[str]) -> float:
    """Mean length of the values, 0 where most have no word."""
    sample = values[:: max(1, len(values) // 1000)]
    filled = [value for value in sample if value.strip()]
    if sum(re.search(r"[^\W\d_]{2}", value) is not None for value in filled) * 2 <= len(filled):
        return 0.0
    return sum(map(len, filled)) / len(filled)


def _measurement(values: Iterable[str]) -> bool:
    """Numbers with a fraction measure something; they name no class."""
    return any(re.fullmatch(r"[+-]?\d*[.,]\d+(e[+-]?\d+)?", value.strip(), re.I) for value in values)


def _records(text: str, separator: str, quoting: int = csv.QUOTE_MINIMAL) -> list[list[str]]:
    # A document may be longer than the 128 KB that the csv module allows a field by default.
    csv.field_size_limit(max(csv.field_size_limit(), 2**31 - 1))
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, quoting=quoting)  # type: ignore[arg-type]
        return [record for record in reader if any(cell.strip() for cell in record)]
    except csv.Error:
        return []


def _regularity(records: list[list[str]], names: set[str]) -> float:
    """How much records look like a table: the first has a known name in several fields, and the others agree on their number."""
    if not records:
        return -1.0
    width, agreeing = Counter(map(len, records)).most_common(1)[0]
    share = agreeing / len(records)
    named = len(records[0]) > 1 and any(cell.strip().casefold() in names for cell in records[0])
    return named + (share if width > 1 and share > 0.6 else 0) + 0.001 * min(width, 20) * share


def _has_header(records: list[list[str]], asked: set[str]) -> bool:
    """Whether the first record names the columns: it holds a known or wanted name, or nothing that looks like a value."""
    first = [cell.strip().casefold() for cell in records[0]]
    if asked & set(first) or set(first) & {*TEXT_NAMES, *LABEL_NAMES, *TITLE_NAMES}:
        return True
    if asked or len(first) == 1 or len(set(first)) < len(first):
        return False
    values = any(len(cell) > 40 or not cell or re.fullmatch(r"[\d.,+-]+", cell) for cell in first)
    again = any(cell == later.strip().casefold() for record in records[1:] for cell, later in zip(first, record, strict=False))
    return not values and not again


def _plain(value: Any) -> str:
    """A JSON value as a cell: a list of words or paragraphs is joined, an object says nothing."""
    if isinstance(value, list):
        strings = [item for item in value if isinstance(item, str)]
        return ", ".join(strings) if all(len(s) < 40 for s in strings) else "\n".join(strings)
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None or isinstance(value, dict) else str(value)


def _lines(text: str) -> list[str]:
    """Lines as files have them; ``str.splitlines`` would also cut at characters that stand inside texts."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _note(count: int, what: str, why: str) -> tuple[Dropped, ...]:
    return (Dropped(count, what, why),) if count else ()


def _listed(columns: Iterable[str]) -> str:
    names = [f"“{key}”" for key in columns]
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
