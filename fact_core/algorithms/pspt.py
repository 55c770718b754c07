"""NMF with an orthogonality term: P S Pᵀ.

    minimise α‖A − PSPᵀ‖² + β‖PᵀP − I‖²   over P ≥ 0 (n × k), S = diag(s) ≥ 0;   A as in HHt

    P ← P ∘ [(αAPS + βP) / (αPS PᵀP S + βP PᵀP)]^¼          (PSPt eq. 6, where the paper's β[PᵀP]ᵢₖ is k × k)
    s ← s ∘ diag(PᵀAP) / ((PᵀP ∘ PᵀP) s)                     (PSPt eq. 5)

η shares the weight between the two terms. The paper sets α = η/n², β = (1−η)/k² (`paper`): then orthogonality outweighs the fit and
clusters are nearly random. `balanced` sets α = η/‖A‖², β = (1−η)/k and reaches the paper's range. Start: P random with unit
columns, s fitted to A.

Bao, Tang, Li, Zhang, Ye: Document clustering based on spectral clustering and non-negative matrix factorization, IEA/AIE 2008.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..parameters import param
from ..problem import Problem
from .base import (
    FLOOR,
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
    combination,
    inner,
    least_squares,
    residual,
)
from .starts import Start, indicator


@algorithm
class PSPt(Algorithm):
    """The affinity of the documents in a non-negative basis pulled towards orthogonal: documents fall onto the axes."""

    key, title, paper = "pspt", "PSPt", "Bao, Tang, Li, Zhang & Ye 2008"
    formula = r"\alpha\|A-PSP^\top\|^2+\beta\|P^\top P-I\|^2"
    rules = (
        r"P\leftarrow P\circ\Big[\dfrac{\alpha APS+\beta P}{\alpha PSP^\top PS+\beta PP^\top P}\Big]^{1/4}",
        r"s\leftarrow s\circ\dfrac{\mathrm{diag}(P^\top AP)}{(P^\top P\circ P^\top P)\,s}",
    )
    letters: ClassVar[dict[str, tuple[str, str]]] = {
        "S": ("k × k", "$\\mathrm{diag}(s)$, the size of each concept"),
        r"\alpha": ("", r"$\eta/\|A\|^2$; with the printed scaling $\eta/n^2$"),
        r"\beta": ("", r"$(1-\eta)/k$; with the printed scaling $(1-\eta)/k^2$"),
    }
    work = Work("q*k + 2*n*k**2 + 6*n*k")
    family = Family.SPECTRAL
    needs = Needs.NONNEGATIVE_KERNEL
    starts = (Start.RANDOM, Start.KMEANS)
    budget = 500  # the fourth root makes small steps: on TDT2 accuracy is 0.83 after 200 and 0.96 after 500
    warm_up = 10**9  # whole runs, the lowest objective kept
    blocks = ("P", "s")
    repeatable = ("s",)

    eta: float = param(0.8, symbol="η", low=0.0, high=1.0, doc="share of the fit; the rest goes to orthogonality", published=(0.8,))
    scaling: str = param("balanced", symbol="scaling", choices=("balanced", "paper"), doc="scale of the two terms")

    def scales(self, problem: Problem) -> tuple[float, float]:
        """α and β."""
        if self.scaling == "paper":
            return self.eta / problem.n**2, (1 - self.eta) / problem.k**2
        return self.eta / problem.K.squared_norm, (1 - self.eta) / problem.k

    def start(self, problem: Problem, rng: np.random.Generator, kind: Start = Start.RANDOM) -> Factors:
        P = indicator(problem, rng) if kind is Start.KMEANS else rng.random((problem.n, problem.k))
        P = P / column_lengths(P)
        f = {"P": P, "s": np.ones(problem.k)}
        for _ in range(20):  # the fit of s alone is a small convex problem
            f = f | {"s": self.update_s(problem, f, self.given_s(problem, f, {}))}
        return f

    def given_P(self, problem: Problem, f: Factors, before: Products) -> Products:
        P = f["P"]
        return before if "AP" in before else {"AP": problem.K @ P, "PP": P.mT @ P}

    def update_P(self, problem: Problem, f: Factors, given: Products) -> np.ndarray:
        P, s, AP, PP = f["P"], f["s"][..., None, :], given["AP"], given["PP"]
        alpha, beta = self.scales(problem)
        ratio = (alpha * AP * s + beta * P) / np.maximum(alpha * P @ (s.mT * PP * s) + beta * P @ PP, FLOOR**2)
        return P * np.sqrt(np.sqrt(ratio))

    def ratio(self, problem: Problem, block: str, f: Factors, given: Products) -> Ratio | None:
        if block != "P":
            return None
        P, s, AP, PP = f["P"], f["s"][..., None, :], given["AP"], given["PP"]
        alpha, beta = self.scales(problem)
        down = {"αPSPᵀPS": alpha * P @ (s.mT * PP * s), "βPPᵀP": beta * P @ PP}
        return Ratio({"αAPS": alpha * AP * s, "βP": beta * P}, down, 0.25)

    def given_s(self, problem: Problem, f: Factors, before: Products) -> Products:
        return self.given_P(problem, f, {})  # for the new P; the next step's update of P takes them over

    def update_s(self, problem: Problem, f: Factors, given: Products) -> np.ndarray:
        P, s, AP, PP = f["P"], f["s"], given["AP"], given["PP"]
        return s * ((P * AP).sum(axis=-2) / np.maximum(((PP * PP) @ s[..., None])[..., 0], FLOOR))

    def terms(self, problem: Problem, f: Factors, given: Products) -> dict[str, np.ndarray]:
        P, s, AP, PP = f["P"], f["s"], given["AP"], given["PP"]
        alpha, beta = self.scales(problem)
        fit = (
            problem.K.squared_norm - 2 * (s * (P * AP).sum(axis=-2)).sum(axis=-1) + (s[..., None, :] @ (PP * PP) @ s[..., None])[..., 0, 0]
        )
        off = PP - np.eye(problem.k)
        return {"fit": alpha * fit, "orthogonality": beta * inner(off, off)}

    def error(self, problem: Problem, f: Factors, terms: dict[str, float]) -> float:
        P, S = f["P"], np.diag(f["s"])
        return residual(problem, P @ S, P)

    def embedding(self, problem: Problem, f: Factors) -> np.ndarray:
        return f["P"]

    def basis(self, problem: Problem, f: Factors) -> np.ndarray:
        return combination(problem, f["P"])

    def place(self, problem: Problem, f: Factors, new: Newcomers) -> np.ndarray:
        """The p' ≥ 0 that minimises ‖a' − PSp'‖², a' the affinity of x' to the documents."""
        PS = f["P"] * f["s"]
        return least_squares(PS.T @ PS, new.K @ PS)
