"""Bytes → corpus: which reader takes which file, and what all readers share.

A format is one function ``(name, data, options) -> Corpus`` marked with :func:`reads`; a file on disk, an upload and a member
of an archive all come here as a name and bytes. What is packed with gzip is unpacked first, whatever its suffix says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import PurePath
from typing import Any, TypeAlias

from ..errors import FactScopeError
from .decoding import gunzip
from .model import Corpus, Dropped, TermWeighting, as_weighting
from .text import TextOptions, from_texts

Reader: TypeAlias = "Callable[[str, bytes, ReadOptions], Corpus]"
READERS: dict[str, Reader] = {}

TEXT_OPTIONS = ("stop_words", "stem", "min_df", "max_df")


@dataclass(frozen=True)
class ReadOptions:
    """What a person asked for about reading; None where nothing was said, so that each reader keeps its own default."""

    weighting: TermWeighting | str | None = None
    stop_words: str | Sequence[str] | None = None
    stem: str | None = None
    min_df: int | float | None = None
    max_df: int | float | None = None
    text_column: str | None = None
    label_column: str | None = None
    matrix: str | None = None
    labels: str | None = None
    beside: Mapping[str, Sequence[str]] | None = None  # lines of files that came with a matrix: its terms, its labels

    def __post_init__(self) -> None:
        if self.weighting is not None:
            object.__setattr__(self, "weighting", as_weighting(self.weighting))
        if not isinstance(self.stop_words, str) and self.stop_words is not None:
            object.__setattr__(self, "stop_words", tuple(self.stop_words))

    def only(self, name: str, what: str, *usable: str) -> None:
        """Refuses an option that was given and would have no effect on this source."""
        for field in fields(self):
            if getattr(self, field.name) is not None and field.name not in usable:
                raise FactScopeError(f"The option {field.name} has no use for {name}, which is {what}; leave it out.")

    @property
    def text(self) -> TextOptions:
        return TextOptions(**{key: value for key in TEXT_OPTIONS if (value := getattr(self, key)) is not None})


def reads(*suffixes: str) -> Callable[[Reader], Reader]:
    """Marks the reader of these suffixes."""

    def register(reader: Reader) -> Reader:
        READERS.update(dict.fromkeys(suffixes, reader))
        return reader

    return register


def read_bytes(name: str, data: bytes, options: ReadOptions) -> Corpus:
    """The corpus in a file of this name."""
    if not data:
        raise FactScopeError(f"{name} is empty; choose a file with documents in it.")
    if data[:2] == b"\x1f\x8b":
        name, data = name.removesuffix(".gz"), gunzip(name, data)
    reader = READERS.get(suffix(name))
    if reader is None:
        known = " ".join(sorted(READERS))
        raise FactScopeError(f"{name} is of no kind that can be read here; there is {known}, each also packed as .gz.")
    return reader(name, data, options)


def read_texts(
    name: str,
    texts: Sequence[str],
    options: ReadOptions,
    *,
    labels: Sequence[Any] | None = None,
    titles: Sequence[str] | None = None,
    dropped: Iterable[Dropped] = (),
) -> Corpus:
    """A corpus of texts found in a file, read as the options say."""
    return from_texts(
        texts,
        labels,
        titles=titles,
        options=options.text,
        weighting=options.weighting or TermWeighting.TFIDF,
        dropped=dropped,
        name=bare_name(name),
    )


@contextmanager
def parsing(name: str, what: str) -> Iterator[None]:
    """Parsers meet any bytes at all, and fail in as many ways; a person gets one sentence."""
    try:
        yield
    except FactScopeError:
        raise
    except Exception:
        raise FactScopeError(f"{name} cannot be read as {what}; it is broken, cut short or something else.") from None


def suffix(name: str) -> str:
    """What the kind of a file is read from: the last suffix in lower case, .gz not counted."""
    return PurePath(name.lower().removesuffix(".gz")).suffix


def bare_name(name: str) -> str:
    """The name a corpus takes from its file."""
    base = PurePath(name).name
    known = suffix(base)
    return base[: base.lower().rindex(known)] if known in READERS and known else base
