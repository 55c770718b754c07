"""The papers' figures by name, each as a source on its own corpus (or on another one)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..errors import unknown
from ..study import Method, Study
from ..tables import FIGURES, figure_study, table_study
from .source import Source


@dataclass(frozen=True)
class Printed:
    """A figure of a paper."""

    title: str
    corpora: tuple[str, ...]  # it is printed for, or the built-in one that stands for it
    make: Callable[[str], Source]


def _pspt(corpus: str) -> Source:
    methods = (Method("AA"), Method("AA-HHt", {"restarts": 4}), Method("AA-PSPt", {"restarts": 4}))
    study = Study(corpus, methods, options={"n_clusters": 3}, title="NMF-PSPt figure 1")
    return Source("coordinates", study, {"affinity": True, "titles": ["eigenvectors", "NMF-HHt", "NMF-PSPt"]})


def _lcf(corpus: str) -> Source:
    return Source("bases", Study(corpus, (Method("NMF"), Method("LCF")), options={"n_clusters": 3}, title="LCF figure 5"))


def _against_k(table: str, measure: str) -> Callable[[str], Source]:
    return lambda corpus: Source("scores-against-k", replace(table_study(table), corpus=corpus), {"table": table, "score": measure})


def _study(name: str) -> Callable[[str], Source]:
    def make(corpus: str) -> Source:
        study = figure_study(name, corpus)
        if not study.axes:
            return Source("curves", study, {"panels": True})
        return Source("sensitivity", study, {"axis": next(iter(study.axes)), "score": "accuracy"})

    return make


PAPERS: dict[str, Printed] = {
    "pspt-fig-1": Printed("NMF-PSPt figure 1: affinity and coordinates of three topics", ("three-topics",), _pspt),
    **{name: Printed(title, corpora, _study(name)) for name, (title, corpora, _) in FIGURES.items()},
    "lcf-fig-1": Printed("LCF figure 1: accuracy on Yale", ("Yale_32x32",), _against_k("lcf-2", "accuracy")),
    "lcf-fig-2": Printed("LCF figure 2: NMI on Yale", ("Yale_32x32",), _against_k("lcf-2", "nmi")),
    "lcf-fig-3": Printed("LCF figure 3: accuracy on ORL", ("ORL",), _against_k("lcf-3", "accuracy")),
    "lcf-fig-4": Printed("LCF figure 4: NMI on ORL", ("ORL",), _against_k("lcf-3", "nmi")),
    "lcf-fig-5": Printed("LCF figure 5: bases over points of the plane", ("gaussians",), _lcf),
}


def paper_figure(name: str, corpus: str | None = None, **change: Any) -> Source:
    """A figure of a paper as a source; `change` replaces parts of its study, such as the seeds."""
    if name not in PAPERS:
        raise unknown("figure of the papers", name, PAPERS)
    source = PAPERS[name].make(corpus or PAPERS[name].corpora[0])
    return replace(source, study=replace(source.study, **change)) if change else source


def changed_view(source: Source, view: Mapping[str, Any]) -> Source:
    return replace(source, view={**source.view, **view})
