"""Non-negative matrix factorisation.

    minimise ‖X − UVᵀ‖²   over U ≥ 0 (m × k), V ≥ 0 (n × k)

    V ← V ∘ (XᵀU) / (V UᵀU)          (LCCF eq. 2, after Lee and Seung)
    U ← U ∘ (XV)  / (U VᵀV)

Columns of U have unit length at the start and at the end, V is scaled the other way. With `ncw` weighting this is the NMF-NCW of
the tables.
A new document x' gets the coordinates that minimise ‖x' − Uv'‖² over v' ≥ 0.

Lee, Seung: Algorithms for non-negative matrix factorization, NIPS 2000. Xu, Liu, Gong: Document clustering based on NMF, SIGIR 2003.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..kernel import Weighting
from ..problem import Problem
from ..products import times
from .base import (
    Algorithm,
    Factors,
    Family,
    Needs,
    Newcomers,
    Products,
    Ratio,
    Work,
    algorithm,
    column_lengths,
    inner,
    least_squares,
    multiplied,
)
from .starts import Start, indicator, nndsvd


@algorithm
class NMF(Algorithm):
    """Documents as sums of parts: each concept is a list of terms, each document adds up a few concepts."""

    key, title, paper = "nmf", "NMF", "Lee & Seung 2000; Xu, Liu & Gong 2003"
    formula = r"\|X-UV^\top\|^2"
    rules: ClassVar[tuple[str, ...]] = (r"V\leftarrow V\circ\dfrac{X^\top U}{VU^\top U}", r"U\leftarrow U\circ\dfrac{XV}{UV^\top V}")
    work = Work("2*z*k + 2*(m+n)*k**2", "2*m*n*k + 2*(m+n)*k**2", "2*m*n*k + 2*(m+n)*k**2 + (m+n)*k", "(m+n)*k", "LCCF table 2")
    family = Family.NMF
    needs = Needs.NONNEGATIVE
    kernels = False
    weightings = tuple(Weighting)
    starts = (Start.RANDOM, Start.KMEANS, Start.NNDSVD)
    blocks = repeatable = ("V", "U")

    def start(self, problem: Problem, rng: np.random.Generator, kind: Start = Start.RANDOM) -> Factors:
        if kind is Start.KMEANS:
            V = indicator(problem, rng)
            return {"U": times(problem.X, V / V.sum(axis=0)), "V": V}
        if kind is Start.NNDSVD:
            return dict(zip(("U", "V"), nndsvd(problem, rng), strict=True))
        return {"U": rng.random((problem.m, problem.k)), "V": rng.random((problem.n, problem.k))}

    def given_V(self, problem: Problem, f: Factors, before: Products) -> Products:
        U = f["U"]
        return {"XtU": times(problem.Xt, U), "UU": U.mT @ U}

    def update_V(self, problem: Problem, f: Factors, given: Products) -> np.ndarray:
        V, XtU, UU = f["V"], given["XtU"], given["UU"]
        return multiplied(V, XtU, V @ UU)

    def given_U(self, problem: Problem, f: Factors, before: Products) -> Products:
        V = f["V"]
        return {"XV": times(problem.X, V), "VV": V.mT @ V}

    def update_U(self, problem: Problem, f: Factors, given: Products) -> np.ndarray:
        U, XV, VV = f["U"], given["XV"], given["VV"]
        return multiplied(U, XV, U @ VV)

    def ratio(self, problem: Problem, block: str, f: Factors, given: Products) -> Ratio | None:
        if block == "V":
            return Ratio({"XᵀU": given["XtU"]}, {"VUᵀU": f["V"] @ given["UU"]})
        return Ratio({"XV": given["XV"]}, {"UVᵀV": f["U"] @ given["VV"]})

    def begin(self, problem: Problem, factors: Factors) -> Factors:
        c = column_lengths(factors["U"])
        return {"U": factors["U"] / c, "V": factors["V"] * c}

    finish = begin

    def terms(self, problem: Problem, f: Factors, given: Products) -> dict[str, np.ndarray]:
        V, XtU, UU = f["V"], given["XtU"], given["UU"]
        return {"fit": problem.K.trace - 2 * inner(V, XtU) + inner(V.mT @ V, UU)}

    def basis(self, problem: Problem, f: Factors) -> np.ndarray:
        return f["U"]

    def place(self, problem: Problem, f: Factors, new: Newcomers) -> np.ndarray:
        U = f["U"]
        return new.unweighted(least_squares(U.T @ U, times(new.X.T, U)))
