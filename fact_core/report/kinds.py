"""The catalogue of figures: for each kind what it needs, what can be chosen, how it is drawn, and the numbers behind it.

A page, the command line and a report mean the same by a kind: they differ only in where the runs come from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from .. import figures, metrics
from ..corpus.model import Corpus
from ..errors import FactScopeError, unknown
from ..looks import Looking, look
from ..projection import Projection, projected, stratified
from ..result import Result
from ..selection import CRITERIA, Evidence, correlations, judged
from ..study import Study, axis
from ..tables import MEASURES, beside_printed

SHOWN = 240  # documents of a matrix of links
COLOURS = ("class", "cluster", "concept weight")


class Needs(str, Enum):
    """What a figure is made from."""

    CORPUS = "a corpus"
    RUN = "one run"
    RUNS = "one or more runs"
    ROWS = "the rows of a study"
    EVIDENCE = "the runs of a selection study"


@dataclass(frozen=True)
class Material:
    """What a figure is drawn from: some of these, as its kind needs."""

    corpus: Corpus | None = None
    results: Sequence[Result] = ()
    names: Sequence[str] = ()  # of the runs
    rows: pd.DataFrame | None = None
    study: Study | None = None  # whose runs or rows they are
    evidence: Evidence | None = None  # of a selection study
    objectives: Mapping[str, np.ndarray] = field(default_factory=dict)  # of runs whose other arrays are not at hand
    look: Looking = look  # who computes what takes time

    @property
    def result(self) -> Result:
        return self.results[0]

    @property
    def documents(self) -> Corpus:
        return self.results[0].corpus if self.corpus is None else self.corpus


@dataclass(frozen=True)
class Drawn:
    """A figure (none for a table) and the numbers behind it."""

    figure: go.Figure | None
    numbers: pd.DataFrame


View = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """One kind of figure."""

    name: str
    title: str
    needs: Needs
    make: Callable[[Material, View], Drawn]
    view: Mapping[str, Any] = field(default_factory=dict)  # what can be chosen, with the defaults

    def check(self, view: Mapping[str, Any]) -> View:
        """The choices with the defaults behind them; or a sentence about one that does not exist."""
        for name in view:
            if name not in self.view:
                raise unknown(f"choice for the figure “{self.name}”", name, self.view)
        return {**self.view, **{name: value for name, value in view.items() if value is not None}}

    def draw(self, material: Material, view: Mapping[str, Any] | None = None) -> Drawn:
        if self.needs in (Needs.RUN, Needs.RUNS) and not (material.results or material.objectives):
            raise FactScopeError(f"The figure “{self.name}” is made from {self.needs.value}.")
        return self.make(material, self.check(view or {}))


KINDS: dict[str, Kind] = {}


def kind(name: str) -> Kind:
    found = KINDS.get(str(name).strip().lower())
    if found is None:
        raise unknown("kind of figure", name, KINDS)
    return found


def _kind(
    name: str, title: str, needs: Needs, **view: Any
) -> Callable[[Callable[[Material, View], Drawn]], Callable[[Material, View], Drawn]]:
    def enter(make: Callable[[Material, View], Drawn]) -> Callable[[Material, View], Drawn]:
        KINDS[name] = Kind(name, title, needs, make, view)
        return make

    return enter


def _of_concepts(result: Result, view: View, long: bool = False) -> list[str]:
    """The names a person gave the concepts, or their numbers (with their two heaviest terms)."""
    if view.get("names"):
        if len(view["names"]) != result.n_clusters:
            raise FactScopeError(f"{len(view['names'])} names were given for {result.n_clusters} concepts.")
        return [str(n) for n in view["names"]]
    if not long:
        return [f"{c + 1}" for c in range(result.n_clusters)]
    return [f"{c + 1} · {', '.join(t for t, _ in terms) or 'empty'}" for c, terms in enumerate(result.concepts(2))]


def _classes(result: Result, what: str) -> np.ndarray:
    if result.confusion is None:
        raise FactScopeError(f"{result.corpus.name} has no classes, so there is no {what}.")
    return result.confusion


# The way of a run ------------------------------------------------------------------------------------------------------------


@_kind("convergence", "The objective by term", Needs.RUN)
def _convergence(m: Material, view: View) -> Drawn:
    result = m.result
    numbers = {"step": np.arange(len(result.objective)), "objective": result.objective}
    return Drawn(figures.convergence(result.terms), pd.DataFrame(numbers | (result.terms if len(result.terms) > 1 else {})))


@_kind("curves", "The objectives of several methods", Needs.RUNS, relative=False, panels=False)
def _curves(m: Material, view: View) -> Drawn:
    found = m.objectives or {name: r.objective for name, r in zip(m.names, m.results, strict=True)}
    falling = {name: values for name, values in found.items() if len(values) > 1}
    if not falling:
        raise FactScopeError("These methods are solved in one go: there are no steps to draw.")
    figure = figures.curves_apart(falling) if view["panels"] else figures.curves(falling, relative=bool(view["relative"]))
    rows = [pd.DataFrame({"method": name, "step": np.arange(len(v)), "objective": v}) for name, v in falling.items()]
    return Drawn(figure, pd.concat(rows, ignore_index=True))


# Clusters --------------------------------------------------------------------------------------------------------------------


@_kind("confusion", "Clusters against classes", Needs.RUN, names=None)
def _confusion(m: Material, view: View) -> Drawn:
    table = _classes(m.result, "class to set against the clusters")
    names, classes = _of_concepts(m.result, view), m.documents.label_names
    figure = figures.confusion(table, classes, names, metrics.matched_order(table))
    return Drawn(
        figure,
        pd.DataFrame(table, columns=[f"cluster {n}" for n in names]).assign(**{"class": classes})[
            ["class", *[f"cluster {n}" for n in names]]
        ],
    )


@_kind("cluster-sizes", "Documents in each cluster", Needs.RUN, names=None)
def _cluster_sizes(m: Material, view: View) -> Drawn:
    names = _of_concepts(m.result, view)
    return Drawn(figures.cluster_sizes(m.result.sizes, names), pd.DataFrame({"cluster": names, "documents": m.result.sizes}))


@_kind("class-purity", "What each cluster is made of", Needs.RUN, names=None)
def _class_purity(m: Material, view: View) -> Drawn:
    table, names = _classes(m.result, "class a cluster could be made of"), _of_concepts(m.result, view)
    classes, sizes = m.documents.label_names, table.sum(axis=0)
    numbers = {
        "cluster": names, "documents": sizes, "largest class": [classes[int(c)] for c in table.argmax(axis=0)],
        "purity": table.max(axis=0) / np.maximum(sizes, 1),
    }  # fmt: skip
    return Drawn(figures.class_purity(table, classes, names), pd.DataFrame(numbers | {c: table[i] for i, c in enumerate(classes)}))


@_kind("class-sizes", "Documents in each class", Needs.CORPUS, chosen=None)
def _class_sizes(m: Material, view: View) -> Drawn:
    corpus = m.documents
    if corpus.labels is None:
        raise FactScopeError(f"{corpus.name} has no classes to count.")
    order = np.argsort(-corpus.class_sizes, kind="stable")
    names = [corpus.label_names[c] for c in order]
    chosen = [n in (view["chosen"] or names) for n in names]
    numbers = pd.DataFrame({"class": names, "documents": corpus.class_sizes[order], "chosen": chosen})
    return Drawn(figures.class_sizes(corpus.class_sizes[order], names, chosen), numbers)


@_kind("agreement", "Agreement between clusterings", Needs.RUNS)
def _agreement(m: Material, view: View) -> Drawn:
    from sklearn.metrics import adjusted_rand_score

    table = np.array([[adjusted_rand_score(a.labels, b.labels) for b in m.results] for a in m.results])
    return Drawn(
        figures.agreement(table, list(m.names)), pd.DataFrame(table, columns=list(m.names)).assign(method=m.names)[["method", *m.names]]
    )


# Concepts --------------------------------------------------------------------------------------------------------------------


@_kind("concepts", "The terms of the concepts", Needs.RUN, terms=8, relevance=1.0, columns=3, names=None)
def _concepts(m: Material, view: View) -> Drawn:
    from ..concepts import distinctive_terms

    result, names = m.result, _of_concepts(m.result, view, long=True)
    share, count = float(view["relevance"]), int(view["terms"])
    corpus = result.corpus
    lists = result.concepts(count) if share == 1.0 else distinctive_terms(result.basis, corpus.matrix, corpus.terms, count, share)
    rows = [(c + 1, names[c], r + 1, term, weight) for c, terms in enumerate(lists) for r, (term, weight) in enumerate(terms)]
    return Drawn(
        figures.concept_terms(lists, names, int(view["columns"])), pd.DataFrame(rows, columns=["concept", "name", "rank", "term", "weight"])
    )


@_kind("basis-images", "Bases as pictures", Needs.RUN, columns=6, names=None)
def _basis_images(m: Material, view: View) -> Drawn:
    result, shape = m.result, m.documents.image_shape
    if shape is None:
        raise FactScopeError(f"{m.documents.name} is no collection of images, so its bases are no pictures; try digits.")
    pictures = result.basis.T.reshape(-1, *shape)
    concept, row, column = np.indices(pictures.shape).reshape(3, -1)
    numbers = pd.DataFrame({"concept": concept + 1, "row": row + 1, "column": column + 1, "value": pictures.ravel()})
    return Drawn(figures.basis_images(pictures, _of_concepts(result, view), int(view["columns"])), numbers)


@_kind("bases", "Bases over points of the plane", Needs.RUNS)
def _bases(m: Material, view: View) -> Drawn:
    corpus = m.documents
    if len(corpus.terms) != 2:
        raise FactScopeError(
            f"Bases are drawn over points of the plane, and {corpus.name} has {len(corpus.terms)} dimensions; try gaussians."
        )
    X = np.asarray(corpus.matrix.todense() if hasattr(corpus.matrix, "todense") else corpus.matrix)
    panels = [figures.Bases(name, X, r.labels, r.basis.T) for name, r in zip(m.names, m.results, strict=True)]
    x, y = corpus.terms
    tables = []
    for panel in panels:
        points = {
            "method": panel.title,
            "what": "point",
            "number": np.arange(len(X)) + 1,
            x: X[:, 0],
            y: X[:, 1],
            "cluster": panel.clusters + 1,
        }
        bases = {
            "method": panel.title,
            "what": "basis",
            "number": np.arange(len(panel.bases)) + 1,
            x: panel.bases[:, 0],
            y: panel.bases[:, 1],
        }
        tables += [pd.DataFrame(points), pd.DataFrame(bases)]
    return Drawn(figures.bases_over_points(panels, [str(x), str(y)]), pd.concat(tables, ignore_index=True).astype({"cluster": "Int64"}))


# Documents as points ---------------------------------------------------------------------------------------------------------

_POINTS = {
    "projection": "concepts",
    "dimensions": 3,
    "concepts": None,
    "colour": None,
    "concept": 1,
    "titles": None,
    "names": None,
    "camera": None,
}


@_kind("coordinates", "Documents in three dimensions", Needs.RUNS, **_POINTS, affinity=False)
def _coordinates(m: Material, view: View) -> Drawn:
    corpus, groups = m.documents, _groups(m)
    rows = stratified(groups)
    panels = _panels(m, view, rows)
    titles = [corpus.titles[int(i)] for i in rows]
    if view["affinity"]:
        if panels[0].places.shape[1] != 3:
            raise FactScopeError("The affinity stands beside coordinates in three dimensions.")
        A, sizes = m.look(m.result, "affinity", groups=groups)
        figure = figures.affinity_and_coordinates(A, _group_names(m, sizes), sizes[sizes > 0], panels, titles, rows)
    else:
        figure = figures.coordinates(panels, titles, rows, len(corpus))
    if view["camera"]:
        figure.update_scenes(camera=view["camera"])
    return Drawn(figure, _point_table(m, panels, rows))


@_kind("projection", "Documents in two dimensions", Needs.RUNS, **_POINTS | {"projection": "pca", "dimensions": 2})
def _projection(m: Material, view: View) -> Drawn:
    return _coordinates(m, view | {"affinity": False})


def _groups(m: Material) -> np.ndarray:
    """Classes, or clusters where there are none: by these documents are drawn and ordered."""
    return m.documents.labels if m.documents.labels is not None else m.results[-1].labels


def _group_names(m: Material, sizes: np.ndarray) -> list[str]:
    names = m.documents.label_names or [str(c + 1) for c in range(len(sizes))]
    return [n for n, size in zip(names, sizes, strict=False) if size]


def _panels(m: Material, view: View, rows: np.ndarray) -> list[figures.Points]:
    how = _projection_named(view["projection"])
    titles = view["titles"] or [f"{n}{_accuracy(r)}" if len(m.results) > 1 else "" for n, r in zip(m.names, m.results, strict=True)]
    panels = []
    for title, result in zip(titles, m.results, strict=True):
        if how is Projection.CONCEPTS:
            wanted = view["concepts"] or range(1, min(int(view["dimensions"]), result.n_clusters) + 1)
            chosen = np.array([int(c) - 1 for c in wanted])
            if not 2 <= len(chosen) <= 3 or chosen.min() < 0 or chosen.max() >= result.n_clusters:
                raise FactScopeError(f"Two or three of the {result.n_clusters} concepts can stand on the axes.")
            where, axes = result.embedding[np.ix_(rows, chosen)], tuple(f"concept {c + 1}" for c in chosen)
        else:
            dimensions = int(view["dimensions"])
            if dimensions not in (2, 3):
                raise FactScopeError(f"Documents can be drawn in 2 or 3 dimensions, not in {dimensions}.")
            if how is Projection.UMAP:
                (where,) = m.look(result, "umap", rows=rows, dimensions=dimensions)
            else:
                where = projected(result.embedding[rows], how, dimensions)
            axes = tuple(f"{'component' if how is Projection.PCA else 'UMAP'} {d + 1}" for d in range(dimensions))
        panels.append(figures.Points(str(title), where, axes, colouring(result, rows, view)))
    return panels


def _projection_named(name: str) -> Projection:
    try:
        return Projection(name)
    except ValueError:
        raise unknown("projection", name, [p.value for p in Projection]) from None


def colouring(result: Result, rows: np.ndarray, view: View) -> figures.Colouring:
    """Colours of these documents by class (the default where there are classes), by cluster, or by the weight of a concept."""
    labels = result.corpus.labels
    by = view["colour"] or ("cluster" if labels is None else "class")
    if by not in COLOURS:
        raise unknown("colouring", by, COLOURS)
    if by == "class" and labels is not None:
        return figures.Colouring(by, labels[rows], result.corpus.label_names)
    names = _of_concepts(result, view, long=True)
    if by == "concept weight":
        concept = int(view["concept"]) - 1
        if not 0 <= concept < result.n_clusters:
            raise FactScopeError(f"There are the concepts 1 to {result.n_clusters}, and no {concept + 1}.")
        return figures.Colouring(f"weight of {names[concept]}", result.embedding[rows, concept])
    return figures.Colouring("cluster", result.labels[rows], tuple(names))


def _accuracy(result: Result) -> str:
    return f", accuracy {result.scores['accuracy']:.3f}" if result.scores else ""


def _point_table(m: Material, panels: Sequence[figures.Points], rows: np.ndarray) -> pd.DataFrame:
    corpus, tables = m.documents, []
    for name, result, panel in zip(m.names, m.results, panels, strict=True):
        table = {"method": name, "document": rows + 1, "title": [corpus.titles[int(i)] for i in rows]}
        if corpus.labels is not None:
            table["class"] = [corpus.label_names[corpus.labels[i]] for i in rows]
        tables.append(pd.DataFrame(table | {"cluster": result.labels[rows] + 1} | dict(zip(panel.axes, panel.places.T, strict=True))))
    return pd.concat(tables, ignore_index=True)


@_kind("affinity", "Affinity of the documents, ordered by class", Needs.RUN)
def _affinity(m: Material, view: View) -> Drawn:
    groups = _groups(m)
    A, sizes = m.look(m.result, "affinity", groups=groups)
    names = _group_names(m, sizes)
    figure = figures.affinity(A, names, sizes[sizes > 0], len(groups))
    return Drawn(figure, _square_table(A, np.repeat(names, sizes[sizes > 0])))


def _square_table(A: np.ndarray, groups: Sequence[str] | np.ndarray) -> pd.DataFrame:
    return pd.concat([pd.DataFrame({"class": groups}), pd.DataFrame(A, columns=[str(i + 1) for i in range(A.shape[1])])], axis=1)


# Constraints -----------------------------------------------------------------------------------------------------------------


@_kind("links", "Constraints, as given or after propagation", Needs.RUN, propagated=False)
def _links(m: Material, view: View) -> Drawn:
    result, corpus, groups = m.result, m.documents, _groups(m)
    constraints = result.problem.constraints
    if constraints is None or not len(constraints.documents):
        raise FactScopeError(f"This run of {result.algorithm.title} was told nothing, so there are no constraints to draw.")
    some = np.union1d(stratified(groups, SHOWN), constraints.documents[:SHOWN])
    some = some[np.argsort(groups[some], kind="stable")]
    sizes = np.bincount(groups[some], minlength=int(groups.max()) + 1)
    names = _group_names(m, sizes)
    if view["propagated"]:
        (Z,), title = m.look(result, "links", some=some), "After propagation"
    else:
        Z, title = (
            constraints.among(some),
            f"Constraints as given, showing {len(some):,} of {len(corpus):,} documents",
        )
    return Drawn(figures.link_matrix(Z, names, sizes[sizes > 0], title), _square_table(Z, np.repeat(names, sizes[sizes > 0])))


@_kind("constraint-effect", "Scores by the kind of constraints used", Needs.RUNS)
def _constraint_effect(m: Material, view: View) -> Drawn:
    if m.documents.labels is None:
        raise FactScopeError(f"{m.documents.name} has no classes, so there are no scores to compare.")
    scores = {name: {"accuracy": r.scores["accuracy"], "NMI": r.scores["nmi"]} for name, r in zip(m.names, m.results, strict=True)}
    return Drawn(figures.constraint_effect(scores), pd.DataFrame([{"constraints": name} | values for name, values in scores.items()]))


# Studies ---------------------------------------------------------------------------------------------------------------------


@_kind("sensitivity", "A score against a parameter", Needs.ROWS, axis=None, score=None)
def _sensitivity(m: Material, view: View) -> Drawn:
    rows, study, score = _scored(m, view)
    names = [view["axis"]] if view["axis"] else list(study.axes)[:1]
    if not names or names[0] not in study.axes:
        raise unknown("axis of this study", view["axis"], study.axes)
    methods = [method.name for method in study.methods]
    others = [axis(name, methods) for name in study.axes if name not in names and name in rows]
    return Drawn(figures.sensitivity(rows, axis(names[0], methods), score, others), _means(rows, list(study.axes), score))


@_kind("heat-map", "A score over two parameters", Needs.ROWS, x=None, y=None, score=None, method=None)
def _heat_map(m: Material, view: View) -> Drawn:
    rows, study, score = _scored(m, view)
    free = [name for name in study.axes if name in rows and name not in (view["x"], view["y"])]
    x, y = (str(view[place] or (free.pop(0) if free else "")) for place in ("x", "y"))
    if x not in study.axes or y not in study.axes or x == y:
        raise FactScopeError(f"A heat map needs two parameters of its study, which has {', '.join(study.axes) or 'none'}.")
    names = [method.name for method in study.methods]
    both = [n for n in names if rows.loc[rows["method"] == n, [x, y]].notna().all(axis=None)]
    wanted = view["method"] or (both or names)[0]
    if wanted not in both:
        raise unknown("method with both parameters", wanted, both)
    some = rows[rows["method"] == wanted]
    return Drawn(figures.heat_map(some, axis(x, names), axis(y, names), score), _means(some, [x, y], score))


@_kind("scores-against-k", "Scores against the number of classes", Needs.ROWS, table=None, score=None)
def _scores_against_k(m: Material, view: View) -> Drawn:
    rows, _, score = _scored(m, view)
    if view["table"]:
        beside = beside_printed(view["table"], rows)
        if score not in MEASURES:
            raise unknown("measure of the papers' tables", score, MEASURES)
    else:
        spread = rows[rows["score"] == score].groupby(["method", "k"], sort=False)["value"].agg(["count", "mean", "std"]).reset_index()
        beside = spread.rename(columns={"count": "runs", "mean": score, "std": f"{score}_sd"}).assign(**{f"printed_{score}": np.nan})
    columns = ["k", "method", "runs", score, f"{score}_sd", f"printed_{score}"]
    return Drawn(figures.scores_against_k(beside, score), beside[columns].reset_index(drop=True))


def _scored(m: Material, view: View) -> tuple[pd.DataFrame, Study, str]:
    """Rows, study and the score chosen, or the first there is."""
    rows, study = m.rows, m.study
    if rows is None or study is None or rows.empty:
        raise FactScopeError("The study has no finished runs to draw.")
    there = list(dict.fromkeys(rows["score"]))
    score = view["score"] or ("accuracy" if "accuracy" in there else "silhouette")
    if score not in there:
        raise unknown("score of this study", score, there)
    return rows, study, score


def _means(rows: pd.DataFrame, axes: Sequence[str], score: str) -> pd.DataFrame:
    """One row a method and setting: mean, standard deviation, runs."""
    by = ["method", *(name for name in axes if name in rows)]
    found = rows[rows["score"] == score].groupby(by, sort=False, dropna=False)["value"].agg(["mean", "std", "count"]).reset_index()
    return found.rename(columns={"mean": score, "std": "sd", "count": "runs"})


# Choosing k and λ ------------------------------------------------------------------------------------------------------------


@_kind("criterion", "A criterion against k", Needs.EVIDENCE, criterion="score")
def _criterion(m: Material, view: View) -> Drawn:
    evidence, criterion = _chosen_by(m, view)
    found = judged(evidence)
    figure = figures.criterion_curves(evidence.table, criterion, _symbol(evidence), (found.k, found.value))
    return Drawn(figure, evidence.table)


@_kind("setting-map", "A criterion over k and the parameter", Needs.EVIDENCE, criterion="score")
def _setting_map(m: Material, view: View) -> Drawn:
    evidence, criterion = _chosen_by(m, view)
    if evidence.parameter is None:
        raise FactScopeError("This method has no parameter to choose, so there is no map over it.")
    found = judged(evidence)
    return Drawn(figures.setting_map(evidence.table, criterion, _symbol(evidence), (found.k, found.value)), evidence.table)


@_kind("consensus", "How often each two documents are together", Needs.EVIDENCE)
def _consensus(m: Material, view: View) -> Drawn:
    evidence, _ = _chosen_by(m, {"criterion": "score"})
    found = judged(evidence)
    C = evidence.consensus((found.k, found.value))
    return Drawn(figures.consensus_matrix(C, evidence.n), pd.DataFrame(C, columns=[str(i + 1) for i in range(len(C))]))


@_kind("criteria", "Rank correlation of each criterion with accuracy", Needs.EVIDENCE)
def _criteria(m: Material, view: View) -> Drawn:
    evidence, _ = _chosen_by(m, {"criterion": "score"})
    if "accuracy" not in evidence.table:
        raise FactScopeError("Without classes there is no accuracy the criteria could go with.")
    found = correlations(evidence.table)
    return Drawn(figures.correlation_bars(found), pd.DataFrame({"criterion": list(found), "rank correlation": list(found.values())}))


def _chosen_by(m: Material, view: View) -> tuple[Evidence, str]:
    if m.evidence is None:
        raise FactScopeError("Too few runs of this study are finished to judge by.")
    known = [name for name in ("score", *CRITERIA) if name in m.evidence.table]
    if view["criterion"] not in known:
        raise unknown("criterion", view["criterion"], known)
    return m.evidence, view["criterion"]


def _symbol(evidence: Evidence) -> str:
    return "" if evidence.parameter is None else evidence.parameter.symbol


# Tables ----------------------------------------------------------------------------------------------------------------------


@_kind("scores", "Scores of several methods", Needs.RUNS)
def _scores(m: Material, view: View) -> Drawn:
    if m.documents.labels is None:
        raise FactScopeError(f"{m.documents.name} has no classes, so there are no scores.")
    rows = []
    for name in dict.fromkeys(m.names):
        runs = [r for n, r in zip(m.names, m.results, strict=True) if n == name]
        row: dict[str, Any] = {"method": name, "runs": len(runs)}
        for score in ("accuracy", "nmi", "ari", "purity"):
            values = [r.scores[score] for r in runs]
            row |= {score: float(np.mean(values)), f"{score} sd": float(np.std(values))}
        rows.append(row)
    return Drawn(None, pd.DataFrame(rows))


@_kind("paper-table", "A printed table, recomputed", Needs.ROWS, table=None)
def _paper_table(m: Material, view: View) -> Drawn:
    rows, _, _ = _scored(m, {"score": None})
    if not view["table"]:
        raise FactScopeError("Name the table of a paper, such as table=gnmf-2.")
    return Drawn(None, beside_printed(view["table"], rows))
