"""What a corpus is: documents × terms, with weights (1 + log tf) · log(n/df) over the whole corpus.

A document's weight for a term is ``(1 + log tf) · log(n / df)`` with ``n`` and ``df`` taken over the *whole*
corpus, also after some classes were chosen; recomputing them inside the choice loses several points of accuracy.
Then terms that no chosen document has are dropped, and every document is scaled to unit length.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..errors import FactScopeError, unknown

Matrix: TypeAlias = Any  # np.ndarray or scipy.sparse.csr_array; scipy has no common type for the two


class TermWeighting(str, Enum):
    """How a count becomes a weight."""

    TFIDF = "tfidf"  # (1 + log tf) · log(n / df)
    TF = "tf"  # the count itself (RCF eq. 2)
    BINARY = "binary"  # 1 where the term occurs
    NONE = "none"  # the value as it is: pixels, coordinates, weights made elsewhere


@dataclass(frozen=True)
class Dropped:
    """Something that was read and then left out."""

    count: int
    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.count} {self.what if self.count != 1 else self.what.removesuffix('s')}: {self.why}"


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents with their terms and, where known, their classes. Made by :func:`assemble`."""

    name: str
    counts: Matrix  # documents × terms, before weighting
    terms: np.ndarray  # of str
    documents: Sequence[str]  # the text, or a name where there is no text
    titles: Sequence[str]  # a short name for hover and lists
    labels: np.ndarray | None  # class of each document, 0 … c-1
    label_names: tuple[str, ...]
    weighting: TermWeighting
    unit_length: bool
    document_frequency: np.ndarray  # of each term, over the whole corpus
    population: int  # n of the whole corpus
    has_text: bool = False
    image_shape: tuple[int, int] | None = None
    dropped: tuple[Dropped, ...] = ()
    reader: Any = field(default=None, repr=False)  # text → counts over `terms`, where there is one

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    def __repr__(self) -> str:
        classes = f", {len(self.label_names)} classes" if self.labels is not None else ""
        return f"Corpus({self.name!r}, {len(self)} documents, {len(self.terms)} terms{classes})"

    @cached_property
    def matrix(self) -> Matrix:
        """Documents × terms, weighted and scaled: what is factorised."""
        return self.weigh(self.counts)

    def weigh(self, counts: Matrix) -> Matrix:
        """Any counts over this corpus' terms, weighted as this corpus is."""
        X = counts.astype(np.float64)
        if sp.issparse(X):
            X.eliminate_zeros()
        if self.weighting is TermWeighting.TFIDF:
            idf = np.log(self.population / np.maximum(self.document_frequency, 1))
            if sp.issparse(X):
                X.data = 1 + np.log(X.data)
                X = (X @ sp.diags_array(idf)).tocsr()
                X.eliminate_zeros()
            else:
                X = np.where(X > 0, 1 + np.log(np.where(X > 0, X, 1)), 0.0) * idf
        elif self.weighting is TermWeighting.BINARY:
            X = (X > 0).astype(np.float64)
        return unit_rows(X) if self.unit_length else X

    @cached_property
    def class_sizes(self) -> np.ndarray:
        return np.bincount(self.labels, minlength=len(self.label_names)) if self.labels is not None else np.array([], int)

    @cached_property
    def fingerprint(self) -> str:
        """The same for the same numbers, terms and classes; another one otherwise."""
        h = hashlib.sha256(f"{self.weighting.value} {self.unit_length} {self.population} {self.counts.shape}".encode())
        parts = [self.document_frequency, np.asarray([] if self.labels is None else self.labels)]
        parts += [self.counts.data, self.counts.indices, self.counts.indptr] if sp.issparse(self.counts) else [self.counts]
        for a in parts:
            h.update(np.ascontiguousarray(a, dtype=np.float64).tobytes())
        h.update("\0".join([*self.terms, *self.label_names]).encode(errors="surrogatepass"))
        return h.hexdigest()[:16]

    def select(
        self,
        classes: Iterable[str] | None = None,
        *,
        largest: int | None = None,
        min_size: int | None = None,
        max_size: int | None = None,
        random: int | None = None,
        at_most: int | None = None,
        seed: int = 0,
        sample: float | None = None,
        draw: int = 0,
    ) -> Corpus:
        """The documents of some classes: those named, of a size between two bounds, the largest few, or some at random.

        Several conditions narrow each other in that order. ``at_most`` then keeps that many documents of each class,
        drawn with the seed. Weights keep the document frequencies of the whole corpus. ``sample`` is a share of all these
        documents, whatever their class, drawn with the seed ``draw``; it needs no classes.
        """
        if sample is not None:
            every = self.select(
                classes, largest=largest, min_size=min_size, max_size=max_size, random=random, at_most=at_most, seed=seed
            )  # fmt: skip
            return every.take(sample_rows(len(every), sample, draw))
        if all(v is None for v in (classes, largest, min_size, max_size, random, at_most)):
            return self
        if self.labels is None:
            raise FactScopeError(f"{self.name} has no classes to choose from.")
        chosen = np.arange(len(self.label_names))
        if classes is not None:
            wanted = [str(c).strip() for c in ([classes] if isinstance(classes, str) else classes)]
            place = {name: i for i, name in enumerate(self.label_names)}
            for name in wanted:
                if name not in place:
                    raise unknown(f"class in {self.name}", name, self.label_names)
            chosen = np.unique(np.array([place[name] for name in wanted], dtype=int))
        size = self.class_sizes[chosen]
        chosen = chosen[(size >= (min_size or 1)) & (size <= (max_size if max_size is not None else np.inf))]
        if largest is not None:
            by_size = np.argsort(-self.class_sizes[chosen], kind="stable")
            chosen = np.sort(chosen[by_size[: _positive("number of classes", largest)]])
        rng = np.random.default_rng(seed)
        if random is not None:
            if _positive("number of classes", random) > len(chosen):
                raise FactScopeError(f"{random} classes were asked for, and {self.name} has {len(chosen)} that fit.")
            chosen = np.sort(rng.choice(chosen, random, replace=False))
        if len(chosen) == 0:
            raise FactScopeError(f"No class of {self.name} fits that choice.")
        keep = [np.flatnonzero(self.labels == c) for c in chosen]
        if at_most is not None:
            most = _positive("number of documents", at_most)
            keep = [np.sort(rng.choice(i, most, replace=False)) if len(i) > most else i for i in keep]
        rows = np.sort(np.concatenate(keep))
        if len(rows) < 2:
            raise FactScopeError(f"That choice leaves one document of {self.name}, and a corpus needs at least two.")
        return self.take(rows)

    def take(self, rows: Any) -> Corpus:
        """The documents of these rows (numbers or a mask), in this order; terms none of them has are dropped."""
        rows = np.arange(len(self))[np.asarray(rows)]
        chosen = self._rows(rows)
        if self.weighting is TermWeighting.NONE:  # a column that is zero here is still a pixel
            return chosen
        used = _weighs_something(chosen.counts, self.weighting, self.document_frequency, self.population)
        return replace(chosen, counts=chosen.counts[:, used], terms=self.terms[used], document_frequency=self.document_frequency[used])

    def _rows(self, rows: np.ndarray) -> Corpus:
        labels, names = None, ()
        if self.labels is not None:
            present, labels = np.unique(self.labels[rows], return_inverse=True)
            names = tuple(self.label_names[i] for i in present)
        return replace(
            self,
            counts=self.counts[rows],
            documents=[self.documents[i] for i in rows],
            titles=[self.titles[i] for i in rows],
            labels=labels,
            label_names=names,
        )


def assemble(
    name: str,
    counts: Matrix,
    *,
    terms: Sequence[str] | None = None,
    documents: Sequence[str] | None = None,
    titles: Sequence[str] | None = None,
    labels: Sequence[Any] | np.ndarray | None = None,
    weighting: TermWeighting | str = TermWeighting.TFIDF,
    unit_length: bool = True,
    image_shape: tuple[int, int] | None = None,
    dropped: Iterable[Dropped] = (),
    reader: Any = None,
    keep_empty: bool = False,
) -> Corpus:
    """A checked corpus from counts: refuses what cannot be used in a sentence, leaves out empty documents and says so.

    Documents without a single count are no part of the population that document frequencies are taken over.
    Every term stays, so that the corpus has the size it is known by; choosing documents drops the terms left empty.
    An image is stored row by row: ``matrix[i].reshape(image_shape)`` stands upright.
    """
    weighting = as_weighting(weighting)
    counts = _as_matrix(name, counts)
    n, m = counts.shape
    values = counts.data if sp.issparse(counts) else counts
    if not np.all(np.isfinite(values)):
        raise FactScopeError(f"{name} has values that are not numbers (NaN or infinite); replace or remove them first.")
    if weighting is not TermWeighting.NONE and values.size and values.min() < 0:
        raise FactScopeError(
            f"{name} has negative counts, so it cannot be weighted as text; read it with weighting “none” if these are measurements."
        )
    if weighting is TermWeighting.TFIDF and np.any((values > 0) & (values < 1)):
        raise FactScopeError(f"{name} has values between 0 and 1, which are no counts for tf-idf; read it with weighting “none”.")
    labels = None if labels is None else np.ravel(np.asarray(labels))
    for what, given, length in (("terms", terms, m), ("labels", labels, n), ("documents", documents, n), ("titles", titles, n)):
        if given is not None and len(given) != length:
            raise FactScopeError(f"{name} has {length} {'columns' if what == 'terms' else 'documents'} but {len(given)} {what}.")
    codes, label_names = _codes(labels)
    df = _document_frequency(counts)
    population = int(np.count_nonzero(_row_sizes(counts)))
    notes = list(dropped)

    # An empty document has no direction: it cannot be scaled to unit length nor belong anywhere.
    used = _weighs_something(counts, weighting, df, population)
    full = np.flatnonzero(_row_sizes(counts[:, used] if weighting is not TermWeighting.NONE else counts) > 0)
    if population == 0:
        raise FactScopeError(f"{name} cannot be used: every document is empty.")
    if len(full) == 0:
        raise FactScopeError(f"{name} cannot be used: all documents have the same terms, which tf-idf weighs zero.")
    if len(full) < n and not keep_empty:
        notes.append(Dropped(n - len(full), "documents", "no term left that carries weight"))
    names = [f"document {i + 1}" for i in range(n)]
    whole = Corpus(
        name=name,
        counts=counts,
        terms=np.array(_column_names(m, image_shape) if terms is None else [str(t) for t in terms], dtype=object),
        documents=next(given for given in (documents, titles, names) if given is not None),
        titles=titles
        if titles is not None
        else names
        if documents is None
        else [_headline(d, i) for d, i in zip(documents, names, strict=True)],
        labels=codes,
        label_names=label_names,
        weighting=weighting,
        unit_length=unit_length,
        document_frequency=df,
        population=population,
        has_text=documents is not None,
        image_shape=image_shape,
        dropped=tuple(notes),
        reader=reader,
    )
    if len(full) < n and not keep_empty:
        whole = whole._rows(full)
    if len(whole) < 2:
        raise FactScopeError(f"{name} has one document with content; a corpus needs at least two.")
    if _all_equal(whole.counts):
        raise FactScopeError(f"All documents of {name} are equal, so there is nothing to tell apart.")
    return whole


def from_matrix(X: Any, labels: Any = None, terms: Any = None, *, name: str = "matrix") -> Corpus:
    """A corpus from a matrix, documents × terms, used as given: no weighting, no scaling, every row kept."""
    return assemble(name, X, labels=labels, terms=terms, weighting=TermWeighting.NONE, unit_length=False, keep_empty=True)


def as_weighting(weighting: TermWeighting | str) -> TermWeighting:
    """The weighting of that name, or the sentence that lists them."""
    try:
        return TermWeighting(weighting)
    except ValueError:
        raise unknown("term weighting", weighting, [w.value for w in TermWeighting]) from None


def sample_rows(n: int, share: float, seed: int) -> np.ndarray:
    """The rows of a share of n documents, two at least, in their order."""
    if not 0 < share <= 1:
        raise FactScopeError(f"The share of the documents must be more than 0 and at most 1, not {share:g}.")
    return np.sort(np.random.default_rng([seed, n]).choice(n, max(2, round(share * n)), replace=False))


def unit_rows(X: Matrix) -> Matrix:
    """Every row divided by its length; an empty row stays empty."""
    if sp.issparse(X):
        length = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        return (sp.diags_array(1 / np.where(length > 0, length, 1)) @ X).tocsr()
    length = np.sqrt((X * X).sum(axis=1, keepdims=True))
    return X / np.where(length > 0, length, 1)


def _as_matrix(name: str, X: Any) -> Matrix:
    if not sp.issparse(X):
        try:
            X = np.asarray(X)
            X = X if X.dtype.kind == "c" else np.array(X, dtype=np.float64)
        except (TypeError, ValueError):
            raise FactScopeError(f"{name} holds no numbers.") from None
    if X.dtype.kind == "c":
        raise FactScopeError(f"{name} holds complex numbers, which cannot be factorised here.")
    if sp.issparse(X):
        X = sp.csr_array(X, dtype=np.float64, copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
    if X.ndim != 2:
        raise FactScopeError(f"{name} must be a table of documents by terms, and has {X.ndim} dimension{'s' * (X.ndim != 1)}.")
    if min(X.shape) == 0:
        raise FactScopeError(f"{name} is empty: it has {X.shape[0]} documents and {X.shape[1]} terms.")
    if X.shape[0] < 2:
        raise FactScopeError(f"{name} has one document; a corpus needs at least two.")
    return X


def _codes(labels: Any) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """Class numbers 0 … c-1 and their names; whole numbers are named without a decimal point and stand in numeric order."""
    if labels is None:
        return None, ()
    given = np.asarray(labels).ravel()
    if given.dtype.kind == "f" and np.all(given == np.round(given)):
        given = given.astype(np.int64)
    values, codes = np.unique(given.astype(str) if given.dtype.kind == "O" else given, return_inverse=True)
    names = [str(v) for v in values]
    if given.dtype.kind in "OU" and all(name.isdecimal() for name in names):
        order = sorted(range(len(names)), key=lambda i: (int(names[i]), names[i]))
        names, codes = [names[i] for i in order], np.argsort(order)[codes]
    return codes, tuple(names)


def _column_names(m: int, image_shape: tuple[int, int] | None) -> list[str]:
    if image_shape is None:
        return [f"term {j + 1}" for j in range(m)]
    return [f"pixel {r + 1}, {c + 1}" for r, c in np.ndindex(image_shape)]


def _headline(text: str, name: str, width: int = 70) -> str:
    """The first words of a text, for hover and lists."""
    words = " ".join(text[: 4 * width].split())
    return (words if len(words) <= width else words[: width - 1].rsplit(" ", 1)[0] + "…") or name


def _all_equal(X: Matrix) -> bool:
    if not sp.issparse(X):
        return not np.ptp(X, axis=0).any()
    size = _row_sizes(X)
    return bool(np.all(size == size[0])) and all(np.all(a.reshape(len(size), -1) == a[: size[0]]) for a in (X.indices, X.data))


def _row_sizes(X: Matrix) -> np.ndarray:
    return np.diff(X.indptr) if sp.issparse(X) else np.count_nonzero(X, axis=1)


def _document_frequency(X: Matrix) -> np.ndarray:
    return np.bincount(X.indices, minlength=X.shape[1]) if sp.issparse(X) else np.count_nonzero(X, axis=0)


def _weighs_something(counts: Matrix, weighting: TermWeighting, df: np.ndarray, population: int) -> np.ndarray:
    """Which terms occur here and, with tf-idf, are not in every document of the whole corpus."""
    used = _document_frequency(counts) > 0
    return np.flatnonzero(used & (df < population) if weighting is TermWeighting.TFIDF else used)


def _positive(what: str, value: int) -> int:
    if value < 1:
        raise FactScopeError(f"The {what} must be at least 1, not {value}.")
    return int(value)
