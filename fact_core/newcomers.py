"""Documents that come after the factorisation: what a method needs to know of them to place them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .corpus.model import Corpus, Matrix
from .errors import FactScopeError
from .kernel import Kernel, Weighting, bandwidth, between, column_squares, scale_columns
from .problem import Problem


@dataclass(frozen=True, eq=False)
class Newcomers:
    """N new documents, weighted as the old ones are."""

    X: Matrix  # m × N
    K: np.ndarray  # N × n, kernel with the old documents
    diagonal: np.ndarray  # kernel of each with itself
    S: sp.csr_array  # N × n, affinity to the old documents; empty where the method has no graph
    degree: np.ndarray  # D of each
    root_gamma: np.ndarray  # √γ of each; 1 but for the exact weighting

    def unweighted(self, V: np.ndarray) -> np.ndarray:
        """Coordinates of the documents themselves, Γ^-½V."""
        return V / self.root_gamma[:, None]


def weighted_rows(corpus: Corpus, new: Any) -> Matrix:
    """New documents over the corpus' terms, weighted as the corpus is.

    They come as one text or several, as counts (documents × terms), or as a corpus, whose terms are matched by name.
    """
    if isinstance(new, Corpus):
        place = {term: j for j, term in enumerate(corpus.terms)}
        shared = [(i, place[term]) for i, term in enumerate(new.terms) if term in place]
        if not shared:
            raise FactScopeError(f"{new.name} shares no term with {corpus.name}.")
        mine, theirs = zip(*shared, strict=True)
        moved = sp.coo_array((np.ones(len(mine)), (mine, theirs)), shape=(len(new.terms), len(corpus.terms))).tocsr()
        counts = new.counts @ moved
    elif isinstance(new, str) or (isinstance(new, list | tuple) and all(isinstance(text, str) for text in new)):
        if corpus.reader is None:
            raise FactScopeError(f"{corpus.name} was not read from text, so a new text cannot be read in its terms.")
        counts = corpus.reader([new] if isinstance(new, str) else list(new), corpus.terms)
    else:
        counts = sp.csr_array(new, dtype=np.float64) if sp.issparse(new) else np.atleast_2d(np.asarray(new, dtype=np.float64))
        if counts.shape[1] != len(corpus.terms):
            raise FactScopeError(f"New documents must have the {len(corpus.terms)} terms of {corpus.name}, not {counts.shape[1]}.")
    if sp.issparse(counts) and not sp.issparse(corpus.counts):
        counts = counts.toarray()
    elif sp.issparse(corpus.counts):
        counts = sp.csr_array(counts)
    return corpus.weigh(counts)


def newcomers(
    corpus: Corpus,
    problem: Problem,
    rows: Matrix,
    *,
    kernel: Kernel,
    weighting: Weighting,
    edges: sp.csr_array | None = None,
) -> Newcomers:
    """New rows over the corpus' terms (already weighted as text) seen from the problem made of that corpus; `edges` join the two."""
    n, N = problem.n, rows.shape[0]
    old, new = corpus.matrix.T, rows.T
    t = bandwidth(old)
    K = between(new, old, kernel, t)
    square = column_squares(new)
    diagonal = {Kernel.LINEAR: square, Kernel.POLY2: square**2, Kernel.RBF: np.ones(N)}[kernel]
    S = sp.csr_array((N, n)) if edges is None else edges
    degree = np.asarray(S.sum(axis=1)).ravel()
    root_gamma = np.ones(N)
    if weighting is not Weighting.NONE:
        d = K.sum(axis=1) + diagonal  # of the corpus with this one document added
        s = 1 / np.sqrt(np.where(d > 0, d, 1.0))
        old_scale = column_ratio(problem.X, old)
        K, diagonal, new = s[:, None] * K * old_scale, s**2 * diagonal, scale_columns(new, s)
        if weighting is Weighting.NCW_EXACT:
            root_gamma = s
            S = (sp.diags_array(1 / s) @ S @ sp.diags_array(1 / old_scale)).tocsr()
            degree = degree / s**2
    return Newcomers(new, K, diagonal, S, degree, root_gamma)


def column_ratio(scaled: Matrix, plain: Matrix) -> np.ndarray:
    """The factor each column of `plain` was multiplied with."""
    a, b = column_squares(scaled), column_squares(plain)
    return np.sqrt(np.where(b > 0, a / np.where(b > 0, b, 1.0), 1.0))
