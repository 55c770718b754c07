"""Supervision: what is known of some documents, and how far it reaches.

Known are the classes of some documents, or pairs that must be together (Z = 1) or cannot be (Z = −1). Either way Z = Y M Yᵀ is of low rank:

    classes   Y = indicator of the classes (n × c)          M = 2I − 11ᵀ   (must only: I;  cannot only: I − 11ᵀ)
    pairs     Y = columns of I, the documents involved      M = Z among these

so the propagation over a graph S, with S̄ = D^-½ S D^-½,

    F = (1−α)² (I − αS̄)⁻¹ Z (I − αS̄)⁻¹ = B M Bᵀ,   B = (1−α) (I − αS̄)⁻¹ Y          (RCF section 3.1, the limit of its iteration)

takes one sparse factorisation and one solve a column of Y, and F is only looked at in blocks. RCF prints the Laplacian I − S̄ in place of S̄,
which the method it cites does not. The graph made of F, clipped to [−1, 1], is

    S̃ = 1 − (1−F)(1−S) where F ≥ 0,  (1+F)S where F < 0;   in one line  S̃ = max(F, 0) + S∘(1 − |F|)          (RCF eq. 11)

with a zero diagonal. A document of known class is linked with itself (Zᵢᵢ = 1); pairs say nothing of that (Zᵢᵢ = 0).

Lu, Peng: Exhaustive and efficient constraint propagation, IJCV 103(3), 2013. Yan, Zhang, Ma, Yang: A novel regularized concept
factorization for document clustering, Knowledge-Based Systems, 2017.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.sparse.linalg import splu

from . import memory
from .corpus.model import Corpus, Matrix
from .errors import FactScopeError, unknown
from .kernel import BLOCK, blocks

HEADER = ("first", "second", "kind")  # of a file of pairs


class Links(str, Enum):
    """Which constraints are used (RCF figure 3)."""

    BOTH = "both"
    MUST = "must"
    CANNOT = "cannot"


KINDS = (Links.MUST.value, Links.CANNOT.value)  # of a pair


@dataclass(frozen=True)
class Contradiction:
    """A cannot-link between two documents that must-links join."""

    chain: tuple[int, ...]  # from one document of the cannot-link to the other, each must-linked to the next

    def __str__(self) -> str:
        links = " – ".join(map(str, self.chain))
        return f"documents {self.chain[0]} and {self.chain[-1]} cannot be together, but must-links join them ({links})"


@dataclass(frozen=True)
class Constraints:
    """What is known of some of n documents, counted from 0: the classes of a few, or pairs. Made by the functions below."""

    n: int
    known: tuple[tuple[int, int], ...] = ()  # documents with their classes, 0 … c-1; where there are any, there are no pairs
    must: tuple[tuple[int, int], ...] = ()
    cannot: tuple[tuple[int, int], ...] = ()
    notes: tuple[str, ...] = field(default=(), compare=False)  # what a person should know of them, in sentences

    def __str__(self) -> str:
        if self.known:
            return f"{len(self.known)} documents of {self.Y.shape[1]} classes labelled"
        counts = ((len(self.must), "must-link"), (len(self.cannot), "cannot-link"))
        return " and ".join(f"{count} {kind}{'s' * (count != 1)}" for count, kind in counts if count) or "none"

    @cached_property
    def documents(self) -> np.ndarray:
        """The documents something is known of."""
        return np.unique(np.array([i for i, _ in self.known] + [i for pair in self.must + self.cannot for i in pair], dtype=np.int64))

    @cached_property
    def Y(self) -> sp.csr_array:
        """n × r: the indicator of the classes, or of each document involved."""
        rows, columns = np.array(self.known).T if self.known else (self.documents, np.arange(len(self.documents)))
        return sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(self.n, int(columns.max(initial=-1)) + 1))

    def M(self, links: Links = Links.BOTH) -> Matrix:
        """r × r, such that Z = Y M Yᵀ."""
        wanted = {Links.BOTH: (1.0, 1.0), Links.MUST: (1.0, 0.0), Links.CANNOT: (0.0, 1.0)}[links]
        r = self.Y.shape[1]
        if self.known:
            return wanted[0] * np.eye(r) + wanted[1] * (np.eye(r) - 1)
        pairs = np.searchsorted(self.documents, np.array(self.must + self.cannot, dtype=np.int64).reshape(-1, 2))
        values = np.repeat([wanted[0], -wanted[1]], [len(self.must), len(self.cannot)])
        half = sp.csr_array((values, (pairs[:, 0], pairs[:, 1])), shape=(r, r))
        half.eliminate_zeros()
        return (half + half.T).tocsr()

    def Z(self, links: Links = Links.BOTH) -> sp.csr_array:
        """n × n: 1 must, −1 cannot, 0 unknown."""
        l = len(self.documents)
        memory.ask(f"The links among {l} labelled documents", 60.0 * l * l if self.known else 0.0, "a smaller share of labels would fit")
        Z = sp.csr_array(self.Y @ sp.csr_array(self.M(links)) @ self.Y.T)
        Z.eliminate_zeros()
        return Z

    def among(self, documents: np.ndarray) -> np.ndarray:
        """Z of these documents alone: that of all may have as many entries as there are pairs."""
        Y = self.Y[documents]
        return np.asarray((Y @ sp.csr_array(self.M()) @ Y.T).todense())

    @cached_property
    def must_graph(self) -> sp.csr_array:
        """H: 1 for two different documents that must be together."""
        return _without_diagonal(self.Z(Links.MUST))

    @cached_property
    def groups(self) -> np.ndarray:
        """Of each document the group that must-links, or its class, tie it to; −1 where nothing does."""
        groups = np.full(self.n, -1, dtype=np.int64)
        if self.known:
            documents, classes = np.array(self.known).T
            groups[documents] = classes
            return groups
        linked = np.unique(np.array(self.must, dtype=np.int64))
        groups[linked] = np.unique(self._joined[linked], return_inverse=True)[1]
        return groups

    @cached_property
    def classes(self) -> np.ndarray | None:
        """Of each document its class, −1 where unknown; None if pairs leave open which documents differ.

        Pairs give classes where every two groups of must-linked documents are kept apart by a cannot-link.
        """
        if self.known:
            return self.groups
        groups = np.unique(self._joined[self.documents], return_inverse=True)[1].ravel()
        found = np.full(self.n, -1, dtype=np.int64)
        found[self.documents] = groups
        apart = {tuple(sorted((int(found[i]), int(found[j])))) for i, j in self.cannot}
        c = int(groups.max(initial=-1)) + 1
        return found if c >= 2 and len(apart) == c * (c - 1) // 2 else None

    @cached_property
    def indicator(self) -> np.ndarray:
        """n × c: 1 for the class of each document whose class is known."""
        if self.classes is None:
            raise ValueError("these pairs do not say which classes there are")
        return (self.classes[:, None] == np.arange(self.classes.max(initial=-1) + 1)).astype(np.float64)

    @cached_property
    def contradictions(self) -> tuple[Contradiction, ...]:
        """Cannot-links that chains of must-links contradict."""
        return tuple(Contradiction(self._chain(i, j)) for i, j in self.cannot if self._joined[i] == self._joined[j])

    def check(self) -> Constraints:
        """These constraints, if they can all be kept."""
        if self.contradictions:
            more = f", and {len(self.contradictions) - 1} more such pairs" if len(self.contradictions) > 1 else ""
            raise FactScopeError(f"The constraints contradict each other: {self.contradictions[0]}{more}.")
        return self

    def closed(self) -> Constraints:
        """With every link that follows: all pairs of a must-linked group, and all pairs of two groups with a cannot-link between them."""
        if self.known:
            return self
        self.check()
        members: dict[int, list[int]] = {}
        for i in self.documents.tolist():
            members.setdefault(int(self._joined[i]), []).append(i)
        must = [pair for group in members.values() for pair in combinations(group, 2)]
        apart = {tuple(sorted((int(self._joined[i]), int(self._joined[j])))) for i, j in self.cannot}
        cannot = [_ordered(i, j) for a, b in apart for i in members[a] for j in members[b]]
        return Constraints(self.n, (), tuple(sorted(must)), tuple(sorted(cannot)), self.notes)

    def pairs(self) -> Iterator[tuple[int, int, str]]:
        """Every link as (first, second, "must" or "cannot"), those that known classes imply too."""
        for (i, a), (j, b) in combinations(self.known, 2):
            yield (*_ordered(i, j), KINDS[a != b])
        for kind, links in zip(KINDS, (self.must, self.cannot), strict=True):
            yield from ((i, j, kind) for i, j in links)

    def to_csv(self) -> str:
        """The links as `first,second,kind`."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([HEADER, *self.pairs()])
        return text.getvalue()

    @cached_property
    def _links(self) -> sp.csr_array:
        i, j = np.array(self.must, dtype=np.int64).reshape(-1, 2).T
        return sp.csr_array((np.ones(len(i)), (i, j)), shape=(self.n, self.n))

    @cached_property
    def _joined(self) -> np.ndarray:
        return connected_components(self._links, directed=False)[1]

    def _chain(self, first: int, last: int) -> tuple[int, ...]:
        _, before = breadth_first_order(self._links, last, directed=False)
        chain = [first]
        while chain[-1] != last:
            chain.append(int(before[chain[-1]]))
        return tuple(chain)


# Where constraints come from ------------------------------------------------------------------------------------------------


def share_refusal(corpus: Corpus) -> str | None:
    """Why no share of this corpus can be labelled, in a sentence; None if it can be."""
    if corpus.labels is None:
        return f"{corpus.name} has no classes, so no share of its documents can be labelled; must-link and cannot-link pairs still work."
    single = [name for name, size in zip(corpus.label_names, corpus.class_sizes, strict=True) if size < 2]
    if single:
        which = f"The class “{single[0]}” of {corpus.name} has" if len(single) == 1 else f"{len(single)} classes of {corpus.name} have"
        return f"{which} one document only, and to label it would leave nothing to find; choose classes of at least 2 documents."
    return None


def from_share(corpus: Corpus, share: float, seed: int = 0) -> Constraints:
    """A share of each class labelled, one document at least. With the same seed, a larger share contains a smaller one."""
    if (why := share_refusal(corpus)) is not None:
        raise FactScopeError(why)
    if not 0 < share <= 1:
        raise FactScopeError(f"The share of labelled documents must be more than 0 and at most 1, not {share:g}.")
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2,)))  # 0 and 1 are the starts' and the clusters'
    count = np.maximum(1, np.floor(share * corpus.class_sizes + 0.5).astype(int))
    drawn = [(int(i), c) for c, size in enumerate(count) for i in rng.permutation(np.flatnonzero(corpus.labels == c))[:size]]
    notes = []
    few = int((share * corpus.class_sizes < 0.5).sum())
    if few:
        notes.append(f"{share:.3g} of the documents is less than one in {few} of {len(count)} classes; one was labelled there.")
    if count.max() == 1:
        notes.append("Every class has one labelled document only, so there is no must-link among them.")
    return Constraints(len(corpus), tuple(sorted(drawn)), notes=tuple(notes))


def from_classes(classes: Mapping[int, Hashable], n: int) -> Constraints:
    """The classes of some of n documents, by number of the document."""
    names = sorted(set(classes.values()), key=lambda name: (str(type(name)), name))
    known = sorted((_document(i, n, "The labelled document"), names.index(name)) for i, name in classes.items())
    return Constraints(n, tuple(known))


def from_pairs(pairs: Iterable[Any], n: int) -> Constraints:
    """Pairs (first, second, "must" or "cannot") of n documents."""
    return _collected(((f"Pair {place}", pair) for place, pair in enumerate(pairs, start=1)), n)


def from_csv(source: str | Path | TextIO, n: int) -> Constraints:
    """Pairs of n documents from a file `first,second,kind`, by its path or opened."""
    if isinstance(source, str | Path):
        try:
            return from_csv(io.StringIO(Path(source).read_text(encoding="utf-8-sig")), n)
        except OSError as error:
            raise FactScopeError(f"The constraints could not be read from {source}: {error.strerror}.") from None
        except UnicodeDecodeError:
            raise FactScopeError(f"{source} is no text in UTF-8, so no constraints could be read from it.") from None
    rows = [(f"Line {place}", [cell.strip() for cell in row]) for place, row in enumerate(csv.reader(source), start=1) if any(row)]
    if rows and tuple(cell.lower() for cell in rows[0][1]) == HEADER:
        rows = rows[1:]
    return _collected(rows, n)


def constraints_of(given: Any, n: int) -> Constraints:
    """Constraints as people give them: made already, as {document: class}, as pairs, or as the path of a file of pairs."""
    if isinstance(given, Constraints):
        if given.n != n:
            raise FactScopeError(f"The constraints are for {given.n} documents, and this corpus has {n}.")
        return given
    if isinstance(given, Mapping):
        return from_classes(given, n)
    return from_csv(given, n) if isinstance(given, str | Path) else from_pairs(given, n)


def _collected(rows: Iterable[tuple[str, Any]], n: int) -> Constraints:
    found: dict[str, set[tuple[int, int]]] = {kind: set() for kind in KINDS}
    for where, row in rows:
        if isinstance(row, str) or len(row) != 3:
            raise FactScopeError(
                f"{where} must be first,second,kind, such as 3,17,must, and not “{row if isinstance(row, str) else _row(row)}”."
            )
        first, second, kind = row
        i, j = _document(first, n, where), _document(second, n, where)
        if i == j:
            raise FactScopeError(f"{where} links document {i} with itself, which says nothing.")
        name = str(kind.value if isinstance(kind, Links) else kind).strip().lower()
        if name not in KINDS:
            raise unknown(f"kind of link ({where.lower()})", kind, KINDS)
        found[name].add(_ordered(i, j))
    return Constraints(n, (), tuple(sorted(found["must"])), tuple(sorted(found["cannot"])))


def _document(number: Any, n: int, where: str) -> int:
    try:
        i = int(number)
    except (TypeError, ValueError):
        raise FactScopeError(f"{where} names a document by “{number}”; documents are numbered from 0 to {n - 1}.") from None
    if not 0 <= i < n or i != float(number):
        raise FactScopeError(f"{where} names document {number}; documents are numbered from 0 to {n - 1}.")
    return i


def _ordered(i: int, j: int) -> tuple[int, int]:
    return (i, j) if i < j else (j, i)


def _row(row: Iterable[Any]) -> str:
    return ",".join(map(str, row))


# How far they reach ---------------------------------------------------------------------------------------------------------


def spread(S: sp.csr_array, Y: Matrix, alpha: float) -> np.ndarray:
    """B = (1−α) (I − αS̄)⁻¹ Y, by one sparse factorisation."""
    if not 0 < alpha < 1:
        raise FactScopeError(f"α (alpha) must lie between 0 and 1, both excluded, not {alpha:g}.")
    # Positive definite, since the eigenvalues of S̄ lie in [−1, 1]: nothing to pivot for, and the order of least fill-in is kept.
    system = (sp.eye_array(S.shape[0]) - alpha * normalised(S)).tocsc()
    factor = splu(system, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    return (1 - alpha) * factor.solve(Y.toarray() if sp.issparse(Y) else Y)


def normalised(S: sp.csr_array) -> sp.csr_array:
    """S̄ = D^-½ S D^-½; nothing where a document has no neighbour."""
    d = S.sum(axis=1)
    r = sp.diags_array(1 / np.sqrt(np.where(d > 0, d, 1.0)))
    return (r @ S @ r).tocsr()


@dataclass(frozen=True, eq=False)
class Propagated:
    """F = B M Bᵀ, never formed as a whole."""

    B: np.ndarray  # n × r
    M: Matrix  # r × r

    def F(self, rows: Any = slice(None), columns: Any = slice(None)) -> np.ndarray:
        """A block of F, clipped to [−1, 1]."""
        return np.clip((self.B[rows] @ self.M) @ self.B[columns].T, -1.0, 1.0)

    def graph(self, S: sp.csr_array, keep: int = 0) -> Matrix:
        """S̃ = max(F, 0) + S∘(1 − |F|), zero diagonal: a dense matrix, or with `keep` a sparse one.

        The sparse one has the edges of S and the `keep` largest entries of each row (equal ones all), symmetrised, times the one number
        that leaves the sum of all weights as it was: λ would weigh less otherwise, and most so in corpora of large classes.
        """
        n, S = S.shape[0], S.tocsr()
        needed = 8.0 * 3 * min(BLOCK, n * n) + (32.0 * n * (keep + S.nnz / n) if keep else 8.0 * n * n)
        instead = "a smaller “keep” would fit" if keep else "“keep” leaves the largest entries of each row only"
        memory.ask(f"The propagated graph of {n} documents", needed, instead)
        dense = np.empty((0 if keep else n, n))
        pieces, total = [], 0.0
        for rows in blocks(n):
            T = self._rows(S, rows)
            if not keep:
                dense[rows] = T
                continue
            total += float(T.sum())
            least = np.partition(T, -min(keep, n), axis=1)[:, [-min(keep, n)]]
            chosen = np.maximum(least * (1 - 1e-9), np.finfo(float).tiny) <= T
            chosen[_pattern(S, rows)] = True
            i, j = np.nonzero(chosen)
            pieces.append(sp.csr_array((T[i, j], (i, j)), shape=T.shape))
        if not keep:
            return dense
        kept = sp.vstack(pieces, format="csr")
        kept = kept.maximum(kept.T).tocsr()
        kept.eliminate_zeros()
        return kept * (total / kept.sum()) if kept.nnz else kept

    def _rows(self, S: sp.csr_array, rows: slice) -> np.ndarray:
        F = self.F(rows)
        edges = _pattern(S, rows)
        near = S.data[S.indptr[rows.start] : S.indptr[rows.stop]] * (1 - np.abs(F[edges]))
        T = np.maximum(F, 0.0, out=F)
        T[edges] += near
        T[np.arange(len(T)), np.arange(rows.start, rows.stop)] = 0.0
        return T


def propagate(S: sp.csr_array, constraints: Constraints, alpha: float, links: Links = Links.BOTH) -> Propagated:
    """The constraints carried from the documents they were given for to all others, over the graph S."""
    n, r = constraints.Y.shape
    memory.ask(
        f"Propagating the constraints of {r} documents to {n}", 24.0 * n * r, "fewer pairs, or labelled documents instead, would fit"
    )
    return Propagated(spread(S, constraints.Y, alpha), constraints.M(links))


def linked_graph(S: sp.csr_array, constraints: Constraints, links: Links = Links.BOTH) -> sp.csr_array:
    """S with 1 for pairs that must be together and 0 for pairs that cannot be."""
    Z = constraints.Z(links)
    graph = _without_diagonal(S - S.multiply(abs(Z)) + Z.maximum(0.0))
    graph.eliminate_zeros()
    return graph


def as_printed(S: sp.csr_array, constraints: Constraints, alpha: float) -> np.ndarray:
    """F with the Laplacian that RCF prints in place of S̄, for teaching on small corpora: no method uses it."""
    n = S.shape[0]
    G = (1 - alpha) * np.linalg.inv(np.eye(n) - alpha * (np.eye(n) - normalised(S).toarray()))
    return G @ constraints.Z().toarray() @ G


def _pattern(S: sp.csr_array, rows: slice) -> tuple[np.ndarray, np.ndarray]:
    """Where the edges of some rows are: places in the block, columns."""
    part = slice(S.indptr[rows.start], S.indptr[rows.stop])
    return np.repeat(np.arange(rows.stop - rows.start), np.diff(S.indptr[rows.start : rows.stop + 1])), S.indices[part]


def _without_diagonal(S: sp.csr_array) -> sp.csr_array:
    return (S - sp.diags_array(S.diagonal())).tocsr()
