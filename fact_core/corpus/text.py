"""Texts → counts: the one place where text becomes numbers.

A token is a run of at least two letters of any script, lower-cased; digits, underscores and punctuation separate tokens.
Stop words go first, then words are stemmed if asked for, then terms that too few or too many documents have are left out
and counted. The options are kept with the corpus and are themselves its reader, so that a new document is later read
exactly as the old ones were.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import FactScopeError, unknown
from .model import Corpus, Dropped, TermWeighting, assemble

SMALL = 50  # below this many documents a term that occurs once is kept, as nearly every term does

# Vowel signs and accents belong to the letter before them (Devanagari, Arabic, Hebrew …), but are no letters to `re`.
_MARKS = "".join(c for c in map(chr, range(0x300, 0x1E00)) if unicodedata.category(c).startswith("M"))
_TOKEN = re.compile(rf"[^\W\d_][{_MARKS}]*[^\W\d_](?:[^\W\d_]|[{_MARKS}])*")

# scikit-learn's English list holds words that tell topics apart, and lacks what is left of "don't" when the apostrophe splits it.
_CONTENT = {"bill", "computer", "cry", "detail", "fire", "interest", "mill", "mine", "sincere", "system", "thick", "thin"}
_SPLIT = {"aren", "couldn", "didn", "doesn", "don", "hadn", "hasn", "haven", "isn", "ll", "shouldn", "ve", "wasn", "weren", "wouldn"}


class Stemming(str, Enum):
    """What a word is cut down to."""

    NONE = "none"
    PORTER = "porter"  # Porter 1980
    SNOWBALL = "snowball"  # his later English rules


@dataclass(frozen=True)
class TextOptions:
    """How text is read. Calling it counts the terms of new texts over a vocabulary that is already there.

    ``stop_words`` is "english", "none" or the words themselves. ``min_df`` and ``max_df`` bound how many documents may have
    a term: a whole number counts them, a fraction is a share of all; without ``min_df`` it is 2, and 1 in a small corpus.
    """

    stop_words: str | tuple[str, ...] = "english"
    stem: Stemming = Stemming.NONE
    min_df: int | float | None = None
    max_df: int | float = 1.0

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "stem", Stemming(self.stem))
        except ValueError:
            raise unknown("stemming", self.stem, [s.value for s in Stemming]) from None
        if not isinstance(self.stop_words, str):
            object.__setattr__(self, "stop_words", tuple(sorted({_normal(str(w)).strip() for w in self.stop_words} - {""})))
        elif self.stop_words not in ("english", "none"):
            raise FactScopeError(f"Stop words are “english”, “none” or a list of words, not “{self.stop_words}”.")
        for what, value in (("min_df", self.min_df), ("max_df", self.max_df)):
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if value is not None and not (number and (value >= 1 if isinstance(value, int) else 0 <= value <= 1)):
                raise FactScopeError(f"{what} is a number of documents from 1 on or a share between 0.0 and 1.0, not {value}.")

    def __call__(self, texts: Iterable[str], terms: Iterable[str]) -> sp.csr_array:
        """Documents × terms: how often each text has each of these terms."""
        from sklearn.feature_extraction.text import CountVectorizer

        place = {str(term): j for j, term in enumerate(terms)}
        return sp.csr_array(CountVectorizer(analyzer=self.analyser(), vocabulary=place, dtype=np.float64).transform(texts))

    def analyser(self) -> Callable[[str], list[str]]:
        """The function from a text to its tokens, in order."""
        stop = stop_words(self.stop_words)
        find = _TOKEN.findall
        if self.stem is Stemming.NONE:
            return lambda text: [word for word in find(_normal(text)) if word not in stop]
        try:
            import snowballstemmer
        except ImportError:
            raise FactScopeError("Stemming needs the package snowballstemmer, so install it or read the corpus without stemming.") from None
        stem = lru_cache(maxsize=None)(snowballstemmer.stemmer("porter" if self.stem is Stemming.PORTER else "english").stemWord)
        return lambda text: [stem(word) for word in find(_normal(text)) if word not in stop]


def stop_words(choice: str | tuple[str, ...]) -> frozenset[str]:
    """The words left out: the English ones, none, or those given."""
    if choice == "none":
        return frozenset()
    if choice != "english":
        return frozenset(choice)
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return (ENGLISH_STOP_WORDS - _CONTENT) | _SPLIT


def from_texts(
    texts: Sequence[str],
    labels: Sequence[Any] | np.ndarray | None = None,
    *,
    titles: Sequence[str] | None = None,
    options: TextOptions | None = None,
    weighting: TermWeighting | str = TermWeighting.TFIDF,
    dropped: Iterable[Dropped] = (),
    name: str = "texts",
) -> Corpus:
    """A corpus from texts, one a document."""
    from sklearn.feature_extraction.text import CountVectorizer

    options = options or TextOptions()
    if len(texts) < 2:
        raise FactScopeError(f"{name} has {'one document' if len(texts) else 'no documents'}; a corpus needs at least two.")
    documents = [_clean(text) for text in texts]
    vectorizer = CountVectorizer(analyzer=options.analyser(), dtype=np.float64)
    try:
        counts = sp.csr_array(vectorizer.fit_transform(documents))
    except ValueError:  # its only complaint here: no token at all
        raise FactScopeError(f"{name} cannot be used: no document has a word of two letters that is not a stop word.") from None
    terms = vectorizer.get_feature_names_out()
    df = np.bincount(counts.indices, minlength=counts.shape[1])
    n = int(np.count_nonzero(np.diff(counts.indptr)))
    low = _bound(options.min_df if options.min_df is not None else 2 if n >= SMALL else 1, n)
    high = _bound(options.max_df, n)
    notes = [
        Dropped(int(np.count_nonzero(df < low)), "terms", f"in fewer than {low:g} documents (min_df)"),
        Dropped(int(np.count_nonzero((df > high) & (df >= low))), "terms", f"in more than {high:g} documents (max_df)"),
    ]
    keep = np.flatnonzero((df >= low) & (df <= high))
    if len(keep) == 0:
        raise FactScopeError(
            f"No term of {name} is in at least {low:g} and at most {high:g} of its {n} documents; lower min_df or raise max_df."
        )
    return assemble(
        name,
        counts[:, keep],
        terms=terms[keep],
        documents=documents,
        titles=titles,
        labels=labels,
        weighting=weighting,
        dropped=[*dropped, *(note for note in notes if note.count)],
        reader=options,
    )


def _bound(df: int | float, n: int) -> float:
    return df if isinstance(df, int) else df * n


def _clean(text: str) -> str:
    """The text as it can be shown: half a character (from a broken JSON escape) cannot be sent to a browser."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _normal(text: str) -> str:
    return unicodedata.normalize("NFC", text).lower()
