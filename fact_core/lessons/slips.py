"""What the papers print and cannot mean, in one place; and the wrong variants a lesson computes to show why it matters.

No menu offers the variants: they are made here from a method, and only the teaching page asks for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..algorithms.base import Algorithm, Factors, column_lengths
from ..algorithms.cf import CF
from ..constraints import Constraints, normalised
from ..problem import Problem


@dataclass(frozen=True)
class Slip:
    """One place where a paper and this program differ."""

    paper: str
    place: str
    methods: tuple[str, ...]  # keys of the methods it concerns
    printed: str  # in Markdown with TeX
    here: str
    why: str


SLIPS: tuple[Slip, ...] = (
    Slip(
        "LCF",
        "equations 4 and 9",
        ("lcf",),
        r"denominator $KWV^\top$",
        r"$KWVV^\top$ (in the paper's letters, where $V$ is $k\times n$)",
        r"$KW$ is $n\times k$ and $V^\top$ is $n\times k$: the product does not conform.",
    ),
    Slip(
        "PSPt",
        "equation 6",
        ("pspt",),
        r"$\beta[P^\top P]_{ik}$ in the denominator",
        r"$\beta[PP^\top P]_{ik}$",
        r"$P^\top P$ is $k\times k$ and has no row $i$ for a document.",
    ),
    Slip(
        "PSPt",
        "equation 7",
        ("pspt",),
        r"the first logarithm has the factor $+4$",
        r"$-4$",
        "With the plus the function is no upper bound of the objective, and setting its derivative to zero does not give equation 6.",
    ),
    Slip(
        "PSPt",
        "below equation 4",
        ("pspt",),
        r"$\alpha=\eta/n^2$ and $\beta=(1-\eta)/k^2$",
        r"$\alpha=\eta/\|A\|^2$ and $\beta=(1-\eta)/k$",
        "With the printed scales the orthogonality term outweighs the fit, and clusters are nearly random. The printed scaling is kept as "
        "the choice “paper”; the orthogonality lesson shows what it does.",
    ),
    Slip(
        "RCF",
        "section 3.1",
        ("rcf",),
        r"the propagation multiplies by the Laplacian $I-\bar S$",
        r"it multiplies by $\bar S$",
        "The method the paper cites uses the graph itself. With the Laplacian a document receives the opposite of what its neighbours "
        "know: "
        "the signs on unlabelled pairs are right about half of the time, and the iteration diverges for α above 0.5.",
    ),
    Slip(
        "RCF",
        "equation 1",
        ("rcf",),
        r"the shape of $U$",
        r"$n\times k$ (it is the $W$ of this program)",
        "$U$ weighs documents, so it has a row for each.",
    ),
    Slip("RCF", "equation 15", ("rcf",), r"$KUV^\top V^\top$", r"$KUV^\top V$", "The second transpose does not conform."),
    Slip(
        "RCF",
        "equation 16",
        ("rcf",),
        r"the derivative in $V$ without a graph term",
        r"with $2\lambda\tilde LV$",
        "The objective has the term, so its derivative does.",
    ),
    Slip(
        "RCF",
        "equation 18",
        ("rcf",),
        r"$KW$ and $L$",
        r"$KU$ and $\tilde L$",
        r"There is no $W$ in that paper's factorisation, and the graph is the propagated one.",
    ),
    Slip(
        "LCCF",
        "section 3.3",
        ("lccf",),
        r"gradient descent with $+\eta$ and a negative $\eta$",
        r"a step against the gradient, of the length $w/(2KWV^\top V)$",
        "The two signs cancel; the update is right.",
    ),
    Slip(
        "LCCF, GNMF",
        "the proofs of convergence",
        ("lccf", "gnmf"),
        "each entry alone does not raise the objective",
        r"all entries at once do not either, because $L\preceq 2D$",
        "The proofs are element-wise, while the rules change all entries of a factor together.",
    ),
    Slip(
        "LCCF",
        "after equation 18",
        ("lccf", "rcf", "semi_lccf"),
        "the scale of $V$ is left open inside the loop",
        "columns of $V$ have unit length after every step, as in the authors' program",
        r"The fit does not change under $V\to V/c$, $W\to cW$, but $\lambda\,\mathrm{tr}(V^\top LV)$ falls by $c^2$: without a fixed "
        "scale the graph "
        "term is shrunk away and λ loses its effect. The lesson on the graph lets you switch it off.",
    ),
    Slip(
        "LCCF",
        "table 2",
        ("cf", "lccf"),
        r"four products with $K$ in a step: $4n^2k$",
        r"two",
        "$KW$ stands in three places of the two rules and is computed once; where documents are sparse, $K$ is never formed at all.",
    ),
)


def slips_of(key: str) -> tuple[Slip, ...]:
    return tuple(slip for slip in SLIPS if key in slip.methods)


def rescaled(method: Algorithm, keep: bool) -> Algorithm:
    """The method with unit columns of V after every step, or with no scale kept inside the loop, whatever its own rule is.

    V → V/c with the other factor times c does not change the fit, only the terms that look at V alone.
    """
    partner = next((block for block in method.blocks if block in ("W", "U")), "")
    if set(method.blocks) != {"V", partner} or not method.multiplicative:
        return method

    def unit(self: Algorithm, problem: Problem, f: Factors) -> Factors:
        c = column_lengths(f["V"])
        return f | {"V": f["V"] / c, partner: f[partner] * c}

    def free(self: Algorithm, problem: Problem, f: Factors) -> Factors:
        return f

    name = type(method).__name__
    changed = type(name, (type(method),), {"normalise": unit, "begin": unit} if keep else {"normalise": free})
    return changed(**method.settings())


def keeps_scale(method: Algorithm) -> bool:
    """Whether V has unit columns after every step of the method's own loop."""
    return type(method).normalise is CF.normalise


def propagation(S: sp.csr_array, constraints: Constraints, alpha: float, steps: int, printed: bool) -> Iterator[np.ndarray]:
    """F of RCF section 3.1 step by step: down the columns until `steps`, then along the rows; n × n, for small corpora.

    With `printed` the matrix is the Laplacian I − S̄ of the paper, otherwise S̄.
    """
    Z = constraints.Z().toarray()
    T = normalised(S).toarray()
    if printed:
        T = np.eye(len(T)) - T
    F = Z
    yield F
    for _ in range(steps):
        F = alpha * (T @ F) + (1 - alpha) * Z
        yield F
    vertical = F
    for _ in range(steps):
        F = alpha * (F @ T) + (1 - alpha) * vertical
        yield F


def joined_graph(S: sp.csr_array, F: np.ndarray) -> np.ndarray:
    """S̃ of RCF equation 11 from any F, symmetrised, zero diagonal."""
    F = np.clip((F + F.T) / 2, -1.0, 1.0)
    G = np.maximum(F, 0.0) + S.toarray() * (1 - np.abs(F))
    np.fill_diagonal(G, 0.0)
    return G
