"""What the recorded steps look like: places, pictures and measures of every frame, as arrays. Figures draw them; nothing here draws.

plane     documents of two terms, the bases, and what the factorisation makes of each document (Uv or XWv)
axes      the coordinates on three concepts
triangle  how each document is shared among three concepts: a corner is one concept alone; lines join neighbours
concepts  the concepts themselves, as pictures or as terms with weights
links     what is known of pairs of documents, carried over the graph: by the graph itself, and as RCF prints it
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..algorithms.base import Products
from ..algorithms.sparse_nmf import sparseness
from ..constraints import from_share
from ..corpus.model import Corpus
from ..errors import FactScopeError
from ..fit import fit
from ..graph import GraphWeights
from ..problem import graph_of
from .record import Track, record
from .slips import joined_graph, propagation

DRAWN_EDGES = 700  # lines of a triangle
TERMS = 5  # of each concept, where concepts are words
PICTURES = 12  # concepts drawn as pictures
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
SPREADING = 12  # steps down the columns, and as many along the rows


class Kind(str, Enum):
    PLANE = "plane"
    AXES = "axes"
    TRIANGLE = "triangle"
    CONCEPTS = "concepts"
    LINKS = "links"


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points that move: frames × points × 2 or 3, or one frame where they stay."""

    places: np.ndarray
    groups: np.ndarray  # of each point
    names: tuple[str, ...]  # of the groups
    titles: Sequence[str]
    axes: tuple[str, ...]
    reach: tuple[float, float]  # of every axis
    bases: np.ndarray | None = None  # frames × concepts × 2
    made: np.ndarray | None = None  # frames × points × 2: each document as the factorisation has it
    edges: np.ndarray | None = None  # pairs of points
    corners: bool = False


@dataclass(frozen=True, eq=False)
class Grid:
    """A picture that changes: frames × rows × columns."""

    values: np.ndarray
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    signed: bool = False
    pixels: bool = False  # rows and columns are places in a picture, and no quantities


@dataclass(frozen=True, eq=False)
class Measure:
    """A number of every frame, under its name."""

    name: str
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class Panel:
    """One method: what is seen, the curve below it, and numbers in words."""

    title: str
    view: Cloud | Grid
    curve: np.ndarray  # one value a frame; the objective, but for `links`
    measures: tuple[Measure, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Scene:
    panels: tuple[Panel, ...]
    steps: np.ndarray  # of each frame
    curve_name: str = "objective"
    legend: str = ""  # what there is to see, in a sentence
    notes: tuple[str, ...] = field(default=())


def kinds_for(corpus: Corpus, k: int) -> tuple[Kind, ...]:
    """The views a corpus and a number of concepts allow, the best first."""
    kinds = [Kind.PLANE] if len(corpus.terms) == 2 else []
    kinds += [Kind.AXES, Kind.TRIANGLE] if k == 3 else [Kind.AXES] if k > 3 else []
    return (*kinds, Kind.CONCEPTS)


def check(corpus: Corpus, k: int, kind: Kind) -> None:
    """Raise a sentence where this view cannot show k concepts of this corpus."""
    if kind is Kind.PLANE and len(corpus.terms) != 2:
        raise FactScopeError(f"The plane shows documents of two terms, and {corpus.name} has {len(corpus.terms):,}.")
    if kind in (Kind.AXES, Kind.TRIANGLE) and k < 3:
        raise FactScopeError(f"Three axes need three concepts, not {k}.")
    if kind is Kind.TRIANGLE and k > 3:
        raise FactScopeError(f"A triangle shows three concepts, not {k}.")


def scene(tracks: Sequence[Track], kind: Kind) -> Scene:
    """The frames of several runs of the same corpus; a run that ended early, or is solved in one go, holds its last one."""
    corpus = tracks[0].corpus
    check(corpus, tracks[0].problem.k, kind)
    frames = max(len(track.iterates) for track in tracks)
    view, legend = {
        Kind.PLANE: (_plane, "Circles are documents, dots what the factorisation makes of them, diamonds the bases on their rays."),
        Kind.AXES: (_axes, "Every document at its three coordinates. Drag to turn."),
        Kind.TRIANGLE: (_triangle, "How each document is shared among three concepts; a corner is one alone. Lines join neighbours."),
        Kind.CONCEPTS: (_concepts, "Every concept as a picture." if corpus.image_shape else "Every concept by its heaviest terms."),
    }[kind]
    panels = []
    for track in tracks:
        seen, measures = view(track)
        if track.accuracy is not None:
            measures = (*measures, Measure("accuracy", track.accuracy))
        measures = tuple(Measure(m.name, _held(m.values, frames)) for m in measures)
        notes = [] if len(track.iterates) > 1 else ["solved in one go"]
        if track.accuracy is None and track.final_accuracy is not None:
            notes.append(f"accuracy at the end {track.final_accuracy:.3f}")
        panels.append(Panel(track.title, _held_view(seen, frames), _held(track.objective, frames), measures, tuple(notes)))
    return Scene(tuple(panels), np.arange(frames), legend=legend)


def links_scene(corpus: Corpus, *, share: float, alpha: float, p: int, lam: float, seed: int, k: int | None = None, **watch: Any) -> Scene:
    """The constraints of a share of labels on their way over the heat graph, by S̄ and by the Laplacian that RCF prints.

    `watch` are the `progress` and `cancelled` of its runs.
    """
    if corpus.labels is None:
        raise FactScopeError(f"{corpus.name} has no classes, so there is nothing to be told of it.")
    order = np.argsort(corpus.labels, kind="stable")
    S = graph_of(corpus, p, GraphWeights.HEAT)
    constraints = from_share(corpus, share, seed)
    together = np.where(corpus.labels[:, None] == corpus.labels[None], 1.0, -1.0)
    known = np.isin(np.arange(len(corpus)), constraints.documents)
    asked = ~(known[:, None] & known[None])  # pairs nothing was said of
    np.fill_diagonal(asked, False)
    settings: dict[str, Any] = {"n_clusters": k or len(corpus.label_names), "seed": seed, "lam": lam, "p": p}
    told = record(corpus, "rcf", share=share, alpha=alpha, **settings, **watch)
    untold = record(corpus, "lccf", **settings, **watch)
    panels = []
    for printed, title in ((False, "By the graph S̄"), (True, "As printed: by the Laplacian I − S̄")):
        states = list(propagation(S, constraints, alpha, SPREADING, printed))
        right = np.array([float((np.sign(F) == together)[asked].mean()) for F in states])
        largest = np.array([float(np.abs(F[~np.eye(len(F), dtype=bool)]).max()) for F in states])
        picture = np.array([_shades(F[np.ix_(order, order)]) for F in states])
        accuracy = told.final_accuracy if not printed else _with_graph(corpus, joined_graph(S, states[-1]), settings | watch)
        notes = (f"RCF on this graph: accuracy {accuracy:.3f}",)
        names = tuple(corpus.label_names[c] for c in corpus.labels[order])
        grid = Grid(picture, names, names, signed=True)
        measures = (Measure("largest entry", largest),)
        panels.append(Panel(title, grid, right, measures, notes))
    note = f"{constraints}. LCCF, which is told nothing: accuracy {untold.final_accuracy:.3f}."
    legend = "Pairs of documents, ordered by class: blue must be together, orange cannot be; each frame on its own scale."
    return Scene(tuple(panels), np.arange(2 * SPREADING + 1), "right signs on unlabelled pairs", legend, (note,))


def _shades(F: np.ndarray) -> np.ndarray:
    """Signs with their strength from 0 to 1, such that weak ones are seen too: most entries are small beside those of labelled pairs."""
    size = np.abs(F)
    there = size[size > 0]
    top = float(np.quantile(there, 0.9)) if len(there) else 1.0
    return np.sign(F) * np.minimum(size / top, 1.0) ** 0.35


@dataclass(frozen=True, eq=False)
class Numbers:
    """One row of a block through every step: the parts of its update, what it becomes, and what is left after the normalisation."""

    block: str
    row: str
    old: np.ndarray  # steps × concepts
    up: dict[str, np.ndarray]  # parts of the numerator; none where the update is no ratio
    down: dict[str, np.ndarray]
    power: float
    new: np.ndarray
    after: np.ndarray


def numbers(track: Track, row: int, block: str | None = None) -> Numbers | None:
    """The numbers of one document in the first block that has a row for it; None for what is solved in one go.

    The parts come from what the method declares, and only if they give the very update it makes.
    """
    method, problem = track.algorithm, track.problem
    with_rows = [b for b in method.blocks if method.shapes(problem)[b][:1] == (problem.n,) and len(method.shapes(problem)[b]) == 2]
    if not with_rows or len(track.iterates) < 2:
        return None
    block = block if block in with_rows else with_rows[0]
    old, new, after = [], [], []
    up: dict[str, list[np.ndarray]] = {}
    down: dict[str, list[np.ndarray]] = {}
    power, declared = 1.0, True
    for here, then in zip(track.iterates[:-1], track.iterates[1:], strict=True):
        f = here.factors
        given: Products = {}
        for b in method.blocks:  # the blocks before this one have changed by then, in the same step
            given = method.given(problem, b, f, given)
            if b == block:
                break
            f = f | {b: method.update(problem, b, dict(f), given)}
        became = method.update(problem, block, dict(f), given)
        ratio = method.ratio(problem, block, f, given) if declared else None
        if ratio is not None:
            quotient = sum(ratio.up.values()) / np.maximum(sum(ratio.down.values()), np.finfo(float).tiny)
            declared = bool(np.allclose(f[block] * quotient**ratio.power, became, rtol=1e-6, atol=1e-12))
        else:
            declared = False
        if declared and ratio is not None:
            power = ratio.power
            for parts, kept in ((ratio.up, up), (ratio.down, down)):
                for name, values in parts.items():
                    kept.setdefault(name, []).append(np.broadcast_to(values, f[block].shape)[row])
        old.append(f[block][row])
        new.append(became[row])
        after.append(then.factors[block][row])
    if not declared:
        up, down = {}, {}
    stacked = [{name: np.array(values) for name, values in parts.items()} for parts in (up, down)]
    return Numbers(block, str(track.corpus.titles[row]), np.array(old), stacked[0], stacked[1], power, np.array(new), np.array(after))


# Views ------------------------------------------------------------------------------------------------------------------------

View = tuple[Any, tuple[Measure, ...]]


def _plane(track: Track) -> View:
    X = _dense(track.corpus.matrix)
    V, U = track.embeddings, track.bases
    weight = np.abs(V)
    # A basis times its coordinates' weighted mean: what it adds to a document of its own. The same for U/c, cV as for U, V.
    typical = (weight * weight).sum(axis=1) / np.maximum(weight.sum(axis=1), np.finfo(float).tiny)
    bases = (U * typical[:, None, :]).swapaxes(1, 2)
    made = np.einsum("fmk,fnk->fnm", U, V) if track.algorithm.blocks[:1] == ("V",) else None
    low, high = min(0.0, float(X.min()) * 1.1), float(X.max()) * 1.12
    nearest = np.linalg.norm(bases[:, :, None] - X[None, None], axis=3).min(axis=2).mean(axis=1)
    cloud = Cloud(X[None], *_groups(track), track.corpus.titles, tuple(map(str, track.corpus.terms)), (low, high), bases, made)
    return cloud, (Measure("basis to nearest point", nearest),)


def _axes(track: Track) -> View:
    V = track.embeddings[:, :, :3]
    settled = np.abs(V[len(V) // 2 :])
    top = max(float(settled.max()) * 1.05, np.finfo(float).tiny)
    cloud = Cloud(V, *_groups(track), track.corpus.titles, ("1", "2", "3"), (min(0.0, float(V[-1].min()) * 1.05), top))
    return cloud, (Measure("largest cosine", _overlap(track.embeddings)),)


def _triangle(track: Track) -> View:
    V = np.maximum(track.embeddings, 0.0)
    total = V.sum(axis=2, keepdims=True)
    shares = np.where(total > 0, V / np.where(total > 0, total, 1.0), 1 / 3)
    edges = _edges(track)
    near = np.linalg.norm(shares[:, edges[:, 0]] - shares[:, edges[:, 1]], axis=2).mean(axis=1)
    rng = np.random.default_rng(0)
    pairs = rng.integers(V.shape[1], size=(2, 2000))
    apart = np.linalg.norm(shares[:, pairs[0]] - shares[:, pairs[1]], axis=2).mean(axis=1)
    cloud = Cloud(shares @ CORNERS, *_groups(track), track.corpus.titles, ("", ""), (-0.08, 1.08), edges=_some(edges), corners=True)
    return cloud, (Measure("neighbours apart", near), Measure("any two apart", apart))


def _concepts(track: Track) -> View:
    U = np.maximum(track.bases, 0.0)
    scaled = U / np.maximum(U.max(axis=1, keepdims=True), np.finfo(float).tiny)
    sparse = np.array([float(sparseness(u).mean()) for u in U])
    measures = (Measure("sparseness", sparse),)
    if track.corpus.image_shape is not None:
        return Grid(_mosaic(scaled[:, :, :PICTURES], track.corpus.image_shape), pixels=True), measures
    heaviest = np.argsort(-U[-1], axis=0, kind="stable")[:TERMS].T.ravel()
    rows = np.array(list(dict.fromkeys(heaviest.tolist())))
    names = tuple(str(track.corpus.terms[i]) for i in rows)
    return Grid(scaled[:, rows], names, tuple(str(c + 1) for c in range(U.shape[2]))), measures


def _mosaic(scaled: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Concepts as pictures in rows of four, a line of nothing between them."""
    frames, _, k = scaled.shape
    h, w = shape
    across = min(4, k)
    down = -(-k // across)
    sheet = np.full((frames, down * (h + 1) - 1, across * (w + 1) - 1), np.nan)
    for c in range(k):
        y, x = (c // across) * (h + 1), (c % across) * (w + 1)
        sheet[:, y : y + h, x : x + w] = scaled[:, :, c].reshape(frames, h, w)
    return sheet


def _groups(track: Track) -> tuple[np.ndarray, tuple[str, ...]]:
    if track.corpus.labels is not None:
        return track.corpus.labels, track.corpus.label_names
    return track.labels, tuple(f"cluster {c + 1}" for c in range(track.problem.k))


def _edges(track: Track) -> np.ndarray:
    """The pairs of neighbours, from the method's own graph where it has one."""
    S = track.problem.S if sp.issparse(track.problem.S) else None
    if S is None:
        S = graph_of(track.corpus, min(5, len(track.corpus) - 1), GraphWeights.COSINE)
    upper = sp.triu(S, 1).tocoo()
    return np.column_stack([upper.row, upper.col])


def _some(edges: np.ndarray) -> np.ndarray:
    return edges if len(edges) <= DRAWN_EDGES else np.random.default_rng(0).choice(edges, DRAWN_EDGES, replace=False)


def _overlap(V: np.ndarray) -> np.ndarray:
    lengths = np.maximum(np.linalg.norm(V, axis=1, keepdims=True), np.finfo(float).tiny)
    C = np.abs(np.einsum("fnk,fnl->fkl", V / lengths, V / lengths))
    k = V.shape[2]
    return C[(slice(None), *np.triu_indices(k, 1))].max(axis=1) if k > 1 else np.zeros(len(V))


def _with_graph(corpus: Corpus, graph: np.ndarray, settings: dict[str, Any]) -> float:
    more = {name: value for name, value in settings.items() if name != "p"}
    return fit(corpus, "lccf", graph=graph, restarts=1, **more).scores["accuracy"]


def _dense(X: Any) -> np.ndarray:
    return np.asarray(X.todense()) if sp.issparse(X) else np.asarray(X)


def _held(values: np.ndarray, frames: int) -> np.ndarray:
    """The same with the last frame repeated."""
    return np.concatenate([values, np.repeat(values[-1:], frames - len(values), axis=0)])


def _held_view(view: Cloud | Grid, frames: int) -> Cloud | Grid:
    if isinstance(view, Grid):
        return replace(view, values=_held(view.values, frames))
    places = _held(view.places, frames) if len(view.places) > 1 else view.places
    bases, made = (None if array is None else _held(array, frames) for array in (view.bases, view.made))
    return replace(view, places=places, bases=bases, made=made)
