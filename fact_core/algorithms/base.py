"""What a method is, and the registry of all methods.

A method file holds mathematics only: where to start, how each block of unknowns is updated, and what the objective is made of. The loop
(:mod:`fact_core.solve`) owns everything else. One step updates the blocks in order, each in two halves::

    given = method.given(problem, "V", factors, before)   # the costly products that do not change while V changes
    V     = method.update(problem, "V", factors, given)   # the update made from them

The plain loop takes each update once; the products of the first block also give the objective, so that a step never pays for them twice.
Arrays may carry leading axes (several starts at once): write ``A.mT`` for a transpose, and sums over the last axes.

Adding a method is adding a file to this folder with a class under ``@algorithm``: it then has its sliders, checks, menus, plots, tests.
"""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from enum import Enum, Flag, auto
from functools import cache
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np
import scipy.sparse as sp
from scipy.optimize import nnls

from ..assign import Assign
from ..constraints import Constraints
from ..corpus.model import Corpus, Matrix
from ..errors import FactScopeError, unknown
from ..graph import GraphWeights, edges_to
from ..kernel import Weighting
from ..newcomers import Newcomers
from ..parameters import Param, Scale, declared, param
from ..problem import Problem
from ..products import times
from .starts import Start

Factors: TypeAlias = dict[str, np.ndarray]
Products: TypeAlias = dict[str, np.ndarray]

FLOOR = 1e-10  # of denominators


class Needs(Flag):
    """What a method needs of the data."""

    NOTHING = 0
    GRAPH = auto()  # a neighbour graph of the documents
    NONNEGATIVE = auto()  # no negative value in X
    NONNEGATIVE_KERNEL = auto()  # no negative entry in K
    SUPERVISION = auto()  # the classes of some documents, or pairs that must or cannot be together
    CLASSES = auto()  # which of these documents differ: pairs will do only where they say that of all of them


@dataclasses.dataclass(frozen=True)
class Ratio:
    """An update written out: the block times (Σ up / Σ down) to a power, each part under its name."""

    up: Products
    down: Products
    power: float = 1.0


@dataclasses.dataclass(frozen=True)
class Work:
    """What one step costs, as formulas in m terms, n documents, k concepts, p neighbours.

    `here` are the multiplications and additions (in pairs) of this program: z numbers of X that are not zero, q for one column times K
    (2z where K is never formed, else n²), e numbers of the graph that are not zero. The other three are the counts a paper prints.
    """

    here: str
    additions: str = ""
    multiplications: str = ""
    divisions: str = ""
    source: str = ""


class Family(str, Enum):
    """Groups of the menu."""

    CLUSTERING = "Clustering"
    NMF = "Non-negative matrix factorisation"
    CF = "Concept factorisation"
    SPECTRAL = "Spectral"
    SEMI = "Semi-supervised"


class Algorithm:
    """One method with its parameters set. Subclasses are frozen dataclasses made by :func:`algorithm`."""

    key: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]
    formula: ClassVar[str]  # the objective, in TeX
    note: ClassVar[str] = ""  # what a person should know of this implementation, in a sentence
    rules: ClassVar[tuple[str, ...]] = ()  # the updates, or the solution, in TeX
    letters: ClassVar[dict[str, tuple[str, str]]] = {}  # what only this method writes: letter in TeX, its shape ("n × k"), its meaning
    work: ClassVar[Work | None] = None  # what one step costs
    family: ClassVar[Family]
    needs: ClassVar[Needs] = Needs.NOTHING
    assign: ClassVar[Assign] = Assign.ARGMAX  # how clusters are read from the embedding
    graph: ClassVar[GraphWeights] = GraphWeights.COSINE
    kernels: ClassVar[bool] = True  # whether any kernel will do; otherwise the method works on X itself
    weightings: ClassVar[tuple[Weighting, ...]] = (Weighting.NONE, Weighting.NCW)
    starts: ClassVar[tuple[Start, ...]] = (Start.RANDOM,)  # the first is the default
    budget: ClassVar[int] = 200  # steps of a run by default
    warm_up: ClassVar[int] = 30  # steps each of several starts gets before only the best goes on
    blocks: ClassVar[tuple[str, ...]] = ()  # the unknowns, in the order one step updates them
    repeatable: ClassVar[tuple[str, ...]] = ()  # the blocks whose products do not change with them: cheap to update again
    multiplicative: ClassVar[bool] = True  # every update moves each entry against its partial derivative
    monotone: ClassVar[bool] = True  # no update can raise the objective, by proof
    clusters_are_classes: ClassVar[bool] = False  # it finds the classes it is told of, so their number is that of the clusters
    parameters: ClassVar[tuple[Param, ...]] = ()

    def __post_init__(self) -> None:
        for parameter in self.parameters:
            object.__setattr__(self, parameter.name, parameter.check(getattr(self, parameter.name)))

    # What a method makes of the corpus ------------------------------------------------------------------------------------

    def affinity(self, corpus: Corpus, S: sp.csr_array | None, constraints: Constraints | None) -> Matrix | None:
        """The graph the problem gets, made of the neighbour graph and of the constraints, where the method needs them."""
        return S

    def edges(self, corpus: Corpus, rows: Matrix, weights: GraphWeights) -> sp.csr_array | None:
        """The edges from new rows to the documents of the corpus (new × n)."""
        return edges_to(corpus.matrix, rows, self.settings()["p"], weights) if Needs.GRAPH in self.needs else None

    # The mathematics of a method ------------------------------------------------------------------------------------------

    def start(self, problem: Problem, rng: np.random.Generator, kind: Start = Start.RANDOM) -> Factors:
        """Factors to start from."""
        raise NotImplementedError

    def given(self, problem: Problem, block: str, factors: Factors, before: Products) -> Products:
        """The products the update of `block` is made from. `before` are those of the block updated just before, where they still hold."""
        return getattr(self, f"given_{block}")(problem, factors, before)

    def update(self, problem: Problem, block: str, factors: Factors, given: Products) -> np.ndarray:
        """The new value of `block`; the old array itself if nothing changes any more."""
        return getattr(self, f"update_{block}")(problem, factors, given)

    def ratio(self, problem: Problem, block: str, factors: Factors, given: Products) -> Ratio | None:
        """The same update with its parts apart, for those who want to follow it; None where it is no such ratio."""
        return None

    def begin(self, problem: Problem, factors: Factors) -> Factors:
        """The scale on which the loop works, taken once before the first step."""
        return factors

    def normalise(self, problem: Problem, factors: Factors) -> Factors:
        """What is done after every step to fix the scale the objective leaves free."""
        return factors

    def finish(self, problem: Problem, factors: Factors) -> Factors:
        """The scale in which factors are reported."""
        return factors

    def terms(self, problem: Problem, factors: Factors, given: Products) -> dict[str, Any]:
        """The parts of the objective by name; `given` are the products of the first block."""
        raise NotImplementedError

    def embedding(self, problem: Problem, factors: Factors) -> np.ndarray:
        """One row a document, one column a concept."""
        return problem.unweighted(factors["V"])

    def basis(self, problem: Problem, factors: Factors) -> np.ndarray:
        """One column a concept, one row a term."""
        raise NotImplementedError

    def place(self, problem: Problem, factors: Factors, new: Newcomers) -> np.ndarray:
        """Coordinates of documents that were not there, everything else held; on the scale of :meth:`embedding`."""
        raise NotImplementedError

    def error(self, problem: Problem, factors: Factors, terms: dict[str, float]) -> float:
        """‖what is approximated − its approximation‖, from the terms of the objective at the end."""
        return float(np.sqrt(max(terms["fit"], 0.0)))

    # What every method has ------------------------------------------------------------------------------------------------

    def refusal(self, problem: Problem) -> str | None:
        """Why this method cannot take this problem, in a sentence; None if it can."""
        if Needs.NONNEGATIVE in self.needs and not problem.nonnegative:
            return f"{self.title} needs data without negative values, and this corpus has some."
        if Needs.NONNEGATIVE_KERNEL in self.needs and problem.K.signed:
            return f"{self.title} needs similarities without negative values, and this corpus has some; the rbf kernel has none."
        if Needs.CLASSES in self.needs and problem.supervision.classes is None:
            return (
                f"{self.title} needs the classes of some documents, and these pairs do not give them; "
                "they would if a cannot-link stood between every two groups of must-linked documents."
            )
        return None

    def settings(self) -> dict[str, Any]:
        return {p.name: getattr(self, p.name) for p in self.parameters}

    def shapes(self, problem: Problem) -> dict[str, tuple[int, ...]]:
        """The shape of every factor."""
        m, n, k = problem.m, problem.n, problem.k
        sizes = {"U": (m, k), "V": (n, k), "W": (n, k), "H": (n, k), "P": (n, k), "s": (k,)}
        return {block: sizes[block] for block in self.blocks}


A = TypeVar("A", bound=type)
_registry: dict[str, type[Algorithm]] = {}


def algorithm(cls: A) -> A:
    """Class decorator: a frozen dataclass of its parameters, under its key in the registry."""
    made: Any = dataclasses.dataclass(frozen=True, kw_only=True)(cls)
    made.parameters = declared(made)
    _registry[made.key] = made
    return made


@cache
def algorithms() -> dict[str, type[Algorithm]]:
    """Every method by key, found by being in this folder; in the order of the menu."""
    package = importlib.import_module(__package__)
    for module in pkgutil.iter_modules(package.__path__):
        if module.name not in {"base", "starts"}:
            importlib.import_module(f"{__package__}.{module.name}")
    order = list(Family)
    return dict(sorted(_registry.items(), key=lambda item: (order.index(item[1].family), item[0])))


def find(key: str) -> type[Algorithm]:
    try:
        return algorithms()[key.lower()]
    except (KeyError, AttributeError):
        raise unknown("method", key, algorithms()) from None


def configured(key: str, settings: dict[str, Any]) -> Algorithm:
    """The method with these parameters, or a sentence about the one that does not fit."""
    cls = find(key)
    names = [p.name for p in cls.parameters]
    for name in settings:
        if name not in names:
            has = f"; it has {', '.join(names)}" if names else " and has none"
            raise FactScopeError(f"{cls.title} has no parameter “{name}”{has}.")
    return cls(**settings)


# Shared by many methods ---------------------------------------------------------------------------------------------------


def share_of_labels() -> Any:
    """The parameter t of the semi-supervised methods."""
    return param(
        0.2, symbol="t", low=0.001, high=1.0, scale=Scale.LOG, doc="share of each class whose labels are given", published=(0.02, 0.2)
    )  # fmt: skip


def multiplied(V: np.ndarray, numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """V ∘ numerator / denominator."""
    ratio = np.maximum(denominator, FLOOR)
    if ratio.shape != V.shape:
        return V * (numerator / ratio)
    np.divide(numerator, ratio, out=ratio)
    return np.multiply(V, ratio, out=ratio)


def column_lengths(V: np.ndarray) -> np.ndarray:
    """‖v₁‖ … ‖v_k‖ as a row; 1 for a column of zeros, which has no scale to remove."""
    c = np.sqrt(np.einsum("...ij,...ij->...j", V, V)[..., None, :])
    return np.where(c > 0, c, c.dtype.type(1))


def inner(A: np.ndarray, B: np.ndarray) -> Any:
    """tr(AᵀB)."""
    return np.einsum("...ij,...ij->...", A, B)


def smoothness(problem: Problem, V: np.ndarray) -> Any:
    """tr(VᵀLV)."""
    LV = problem.D * V
    return inner(V, np.subtract(LV, problem.smooth(V), out=LV))


def least_squares(G: np.ndarray, B: np.ndarray) -> np.ndarray:
    """For each row b of B the v ≥ 0 that minimises vᵀGv − 2vᵀb; G is k × k, or one for each row."""
    k = B.shape[1]
    ridge = 1e-12 * max(float(np.abs(G).max()), 1e-300) * np.eye(k)
    C = np.linalg.cholesky(G + ridge)
    right = np.linalg.solve(C, B[..., None])[..., 0]
    return np.array([nnls(c.T, r)[0] for c, r in zip(np.broadcast_to(C, (len(B), k, k)), right, strict=True)]).reshape(B.shape)


def rooted(V: np.ndarray, b: np.ndarray, plus: np.ndarray, minus: np.ndarray) -> np.ndarray:
    """V ∘ [b + √(b² + 4 plus∘minus)] / (2 plus): the update for data of both signs (LCCF eq. 22)."""
    return V * ((b + np.sqrt(b * b + 4 * plus * minus)) / np.maximum(2 * plus, FLOOR))


def combination(problem: Problem, W: np.ndarray) -> np.ndarray:
    """X·W: concepts as combinations of documents."""
    return times(problem.X, W)


def residual(problem: Problem, H: np.ndarray, G: np.ndarray) -> float:
    """‖A − HGᵀ‖, A the kernel."""
    square = problem.K.squared_norm - 2 * inner(G, problem.K @ H) + inner(H.T @ H, G.T @ G)
    return float(np.sqrt(max(square, 0.0)))
