"""The card of a method, made from what its file declares: objective, rules, letters with their shapes, cost, citation, differences."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import scipy.sparse as sp

from ..algorithms import Algorithm, Needs
from ..algorithms.base import Work
from ..corpus.model import Corpus
from ..parameters import Param
from ..problem import graph_of
from .slips import Slip, slips_of

Edges = Callable[[Corpus, type[Algorithm]], int]

# The letters all methods share; a method's own come before them.
LETTERS: dict[str, tuple[str, str]] = {
    "X": ("m × n", "the documents as columns, one row a term"),
    "U": ("m × k", "concepts as columns of terms"),
    "V": ("n × k", "coordinates of the documents"),
    "W": ("n × k", "concepts as mixtures of documents: concept $k$ is $Xw_k$"),
    "K": ("n × n", "the kernel, $X^\\top X$ where it is linear"),
    "A": ("n × n", "the affinity: the kernel, or with normalised-cut weighting $d^{-1/2}Kd^{-1/2}$"),
    "S": ("n × n", "the neighbour graph, symmetric, zero diagonal"),
    "D": ("n × n", "its row sums as a diagonal"),
    "L": ("n × n", "its Laplacian, $D-S$"),
    "P": ("n × k", "coordinates of the documents, pulled towards orthogonal"),
    "s": ("k", "the size of each concept"),
}


@dataclass(frozen=True)
class Letter:
    tex: str
    shape: str  # in letters
    size: str  # in the numbers of the corpus
    meaning: str


@dataclass(frozen=True)
class Cost:
    """One formula of the work of a step with the numbers put in."""

    name: str
    formula: str  # in TeX
    value: int


@dataclass(frozen=True)
class Card:
    key: str
    title: str
    about: str
    formula: str
    rules: tuple[str, ...]
    letters: tuple[Letter, ...]
    parameters: tuple[Param, ...]
    costs: tuple[Cost, ...]
    cost_source: str
    sizes: dict[str, int]  # m, n, k, p, z, q, e of the corpus
    citation: str
    source: str  # the docstring of the method's file
    note: str
    slips: tuple[Slip, ...]


def edges_of(corpus: Corpus, method: type[Algorithm]) -> int:
    """Entries of the method's default graph."""
    return int(graph_of(corpus, neighbours(method, corpus), method.graph).nnz)


def neighbours(method: type[Algorithm], corpus: Corpus) -> int:
    return min(next(q.default for q in method.parameters if q.name == "p"), len(corpus) - 1)


def rules_of(method: type[Algorithm]) -> tuple[str, ...]:
    return _declared_with_formula(method, "rules") or ()


def card(method: type[Algorithm], corpus: Corpus, k: int, edges: Edges = edges_of) -> Card:
    """All a method declares, with the numbers of this corpus; `edges` is who counts those of its graph, which takes time."""
    source = inspect.cleandoc(sys.modules[method.__module__].__doc__ or method.__doc__ or "")
    rules = rules_of(method)
    work: Work | None = _declared_with_formula(method, "work")
    sizes = sizes_of(method, corpus, k, edges)
    costs = []
    if work is not None:
        printed = (("additions", work.additions), ("multiplications", work.multiplications), ("divisions", work.divisions))
        costs = [Cost(f"{name}, {work.source}", tex(text), value(text, sizes)) for name, text in printed if text]
        costs.append(Cost("multiplications with additions, this program", tex(work.here), value(work.here, sizes)))
    citation = " ".join(source.split("\n\n")[-1].split())
    return Card(
        key=method.key, title=method.title, about=method.__doc__ or "", formula=method.formula, rules=rules,
        letters=letters_of(method, rules, sizes), parameters=method.parameters, costs=tuple(costs),
        cost_source=work.source if work is not None else "", sizes=sizes, citation=citation, source=source, note=method.note,
        slips=slips_of(method.key),
    )  # fmt: skip


def sizes_of(method: type[Algorithm], corpus: Corpus, k: int, edges: Edges = edges_of) -> dict[str, int]:
    """The numbers a cost is made of; those of the method's default graph, where it has one."""
    m, n = len(corpus.terms), len(corpus)
    X = corpus.matrix
    z = int(X.nnz) if sp.issparse(X) else m * n  # dense products do not look for zeros
    sizes = {"m": m, "n": n, "k": k, "z": z, "q": 2 * z if sp.issparse(X) else min(2 * z, n * n)}
    if "p" in {p.name for p in method.parameters}:
        sizes["p"] = neighbours(method, corpus)
        if Needs.GRAPH in method.needs:
            sizes["e"] = edges(corpus, method)
    return sizes


def letters_of(method: type[Algorithm], rules: tuple[str, ...], sizes: dict[str, int]) -> tuple[Letter, ...]:
    """The letters of the formula and the rules, with their shapes in letters and in numbers."""
    text = re.sub(
        r"\\(text|mathrm)\{[^}]*\}|\\(tilde|bar) ?[A-Z]|[A-Z]_[A-Z]|_[A-Za-z]|\\[A-Za-z]+", " ", " ".join((method.formula, *rules))
    )
    written = set(re.findall(r"[A-Za-z]", text))
    own = dict(method.letters)
    known = {letter: said for letter, said in LETTERS.items() if letter in written and letter not in own} | own
    return tuple(Letter(letter, shape, _size(shape, sizes), meaning) for letter, (shape, meaning) in known.items())


def _size(shape: str, sizes: dict[str, int]) -> str:
    parts = [part.strip() for part in shape.split("×")] if shape else []
    return " × ".join(f"{sizes[part]:,}" for part in parts) if parts and all(part in sizes for part in parts) else ""


def _declared_with_formula(method: type[Algorithm], name: str) -> Any:
    """A declaration, unless it was made for another objective: by a class before the one that gave this method its formula."""
    for cls in method.__mro__:
        if name in vars(cls):
            return vars(cls)[name]
        if "formula" in vars(cls):
            return None
    return None


# Formulas of a cost: names, whole numbers, + * ** and brackets --------------------------------------------------------------------


def value(formula: str, sizes: dict[str, int]) -> int:
    """The formula with the numbers put in."""

    def at(node: ast.expr) -> int:
        match node:
            case ast.Constant(value=int(number)):
                return number
            case ast.Name(id=name):
                return sizes[name]
            case ast.BinOp(left, ast.Add(), right):
                return at(left) + at(right)
            case ast.BinOp(left, ast.Mult(), right):
                return at(left) * at(right)
            case ast.BinOp(left, ast.Pow(), right):
                return int(at(left) ** at(right))
        raise ValueError(f"no cost: {ast.unparse(node)}")

    return at(ast.parse(formula, mode="eval").body)


def tex(formula: str) -> str:
    """The formula as people write it."""
    return re.sub(r"\s*\*\s*", "", re.sub(r"\*\*(\d+)", r"^{\1}", formula)).replace("+", " + ").replace("  ", " ")
