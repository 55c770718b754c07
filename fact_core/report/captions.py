"""Captions, written from the settings: what is seen, of which documents, with which values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..algorithms import find
from ..presets import resolve
from .kinds import Material, Needs
from .source import Source

SENTENCES = {
    "convergence": "Convergence of {methods} on {corpus}: the objective and its terms against the step",
    "curves": "Convergence of {methods} on {corpus}: the objective against the step",
    "confusion": "Clusters of {methods} against the classes of {corpus}: number of documents, darker for a larger share of the class",
    "cluster-sizes": "Documents in the clusters of {methods} on {corpus}",
    "class-purity": "Classes in each cluster of {methods} on {corpus}; above, the share of the largest",
    "class-sizes": "Documents in each class of {corpus}",
    "agreement": "Agreement between the clusterings of {methods} on {corpus} (adjusted Rand index)",
    "concepts": "Heaviest terms of the concepts {methods} finds in {corpus}",
    "basis-images": "Bases {methods} finds in {corpus}, each from nothing (black) to its largest value (white)",
    "bases": "Points of {corpus} by cluster, and the bases (diamonds) found by {methods}",
    "coordinates": "{affinity}ocuments of {corpus} in the coordinates found by {methods}, coloured by {colour}",
    "projection": "Documents of {corpus} in two dimensions ({projection} of the coordinates found by {methods}), coloured by {colour}",
    "affinity": "Affinity of the documents of {corpus}, ordered by class",
    "links": "Constraints among documents of {corpus}{propagated}: must-links blue, cannot-links orange",
    "scores": "Scores of {methods} on {corpus}, mean over {runs}",
    "sensitivity": "{score} of {methods} on {corpus} against {axes}: mean over {runs}, with a band of one standard deviation",
    "heat-map": "{score} of {methods} on {corpus} over {axes}: mean over {runs}",
    "scores-against-k": "{score} on {corpus} against the number of classes: mean over {runs}, bars of one standard deviation",
    "constraint-effect": "{score} of {methods} on {corpus} by the constraints used: mean over {runs}",
    "criterion": "{criterion} of {methods} on {corpus} against k, a line for each value of the parameter; the suggested setting is ringed",
    "setting-map": "{criterion} of {methods} on {corpus} over k and the parameter; the suggested setting is framed",
    "consensus": "How often each two documents of {corpus} are together in the runs of {methods} at the suggested setting",
    "criteria": "Rank correlation of each criterion with the accuracy of {methods} on {corpus}, over the settings",
    "paper-table": "{title}: recomputed beside what is printed",
}
NAMES = {"accuracy": "Accuracy", "nmi": "NMI", "ari": "ARI", "pca": "principal components", "umap": "UMAP", "concepts": "two concepts"}


def caption(source: Source, made: Material | None = None) -> str:
    """A caption a person can keep as it is."""
    study = source.study
    view = source.about.check(source.view)
    names = list(dict.fromkeys(source.names or [resolve(m.name).name for m in study.methods]))
    runs = [f"{len(study.seeds)} seeds" if len(study.seeds) > 1 else "one seed"]
    runs += [f"choices of {_joined([str(k) for k in study.draws])} classes"] if study.draws else []
    symbols = [_symbol(axis, study.methods) for axis in study.axes]
    score = str(view.get("score") or "accuracy")
    words = {
        "methods": _joined(names), "corpus": study.corpus.removesuffix(" (uploaded)"), "runs": ", ".join(runs),
        "axes": _joined(symbols) or "k",
        "criterion": str(view.get("criterion", "")).capitalize(),
        "score": NAMES.get(score, score.capitalize()), "title": study.title, "projection": NAMES.get(str(view.get("projection")), ""),
        "affinity": "Affinity of the documents, ordered by class (a), and d" if view.get("affinity") else "D",
        "colour": view.get("colour") or "class", "propagated": " after propagation" if view.get("propagated") else " as given",
    }  # fmt: skip
    sentence = SENTENCES.get(source.kind, source.about.title + " of {methods} on {corpus}").format(**words)
    return f"{sentence}. {_facts(source, made)}".strip()


def _facts(source: Source, made: Material | None) -> str:
    study, facts = source.study, []
    if made is not None and made.corpus is not None:
        classes = f" in {len(made.corpus.label_names)} classes" if made.corpus.labels is not None else ""
        facts.append(f"{len(made.corpus):,} documents{classes}")
    if source.about.needs in (Needs.RUN, Needs.RUNS) and made is not None and made.results:
        result = made.results[0]
        facts.append(f"k = {result.n_clusters}")
        if len({repr(r.algorithm) for r in made.results}) == 1:
            facts += [f"{p.symbol} = {p.show(getattr(result.algorithm, p.name))}" for p in result.algorithm.parameters]
            if result.options["weighting"] != "none":
                facts.append("normalised-cut weighting")
        if len(study.seeds) == 1:
            facts.append(f"seed {study.seeds[0]}")
    return f"{'; '.join(facts[:1])}{'; ' if len(facts) > 1 else ''}{', '.join(facts[1:])}." if facts else ""


def _symbol(name: str, methods: Sequence[Any]) -> str:
    if name == "n_clusters":
        return "k"
    return next((p.symbol for m in methods for p in find(resolve(m.name).key).parameters if p.name == name), name)


def _joined(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)
