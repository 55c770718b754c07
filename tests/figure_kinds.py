"""A figure of every kind, from small runs, for the tests."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import fact_core as fc
from fact_core.corpus.model import sample_rows
from fact_core.report.kinds import KINDS, Drawn, Material, Needs
from fact_core.report.source import Source, material
from fact_core.selection import Evidence, selection_study, tunable
from fact_core.study import Method, Study, rows, run_cell, selected

SHORT = {"max_iter": 30, "restarts": 1}
CAMERA = {"eye": {"x": 0.4, "y": -2.1, "z": 1.1}, "center": {"x": 0.1, "y": 0.0, "z": -0.2}, "up": {"x": 0, "y": 0, "z": 1}}


def _runs(kind: str, corpus: str, *methods: str, **view: object) -> Source:
    options = {name: {"n_clusters": 3, **(SHORT if name not in ("KM", "AA") else {})} for name in methods}
    return Source(kind, Study(corpus, tuple(Method(m, o) for m, o in options.items())), view)


_SWEEP = Study(
    "three-topics",
    (Method("LCCF"), Method("CF")),
    axes={"lam": [1.0, 100.0], "p": [3, 5]},
    seeds=(0, 1),
    options={"n_clusters": 3, **SHORT},
)
_TABLE = Study("three-topics", (Method("KM"), Method("GNMF", SHORT)), draws=(2, 3), seeds=(0, 1), title="GNMF, table 2")
_RCF = Study("three-topics", (Method("RCF", {"n_clusters": 3, "share": 0.2, **SHORT}),), axes={"links": ["both", "must", "cannot"]})
_SELECTION = selection_study("three-topics", "LCCF", [2, 3], [1.0, 100.0], runs=3, options=SHORT)

SOURCES: dict[str, Source] = {
    "convergence": _runs("convergence", "three-topics", "LCCF"),
    "curves": _runs("curves", "three-topics", "NMF", "CF", "LCCF", relative=True),
    "curves apart": _runs("curves", "three-topics", "NMF", "CF", panels=True),
    "confusion": _runs("confusion", "three-topics", "LCCF"),
    "cluster-sizes": _runs("cluster-sizes", "three-topics", "LCCF"),
    "class-purity": _runs("class-purity", "three-topics", "LCCF"),
    "class-sizes": Source("class-sizes", Study("scipy-docs", ()), {"chosen": ["scipy.signal"]}),
    "agreement": _runs("agreement", "three-topics", "KM", "NMF", "LCCF"),
    "concepts": _runs("concepts", "three-topics", "LCCF", terms=6),
    "basis-images": Source(
        "basis-images", Study("digits", (Method("NMF", {"n_clusters": 4, **SHORT}),), classes={"at_most": 20}), {"columns": 4}
    ),
    "bases": _runs("bases", "gaussians", "NMF", "LCF"),
    "coordinates": _runs("coordinates", "three-topics", "AA-PSPt", camera=CAMERA),
    "coordinates with affinity": _runs("coordinates", "three-topics", "AA", "AA-HHt", "AA-PSPt", affinity=True),
    "coordinates by weight": _runs("coordinates", "three-topics", "AA-PSPt", colour="concept weight"),
    "projection": _runs("projection", "three-topics", "CF"),
    "affinity": _runs("affinity", "three-topics", "LCCF"),
    "links": Source("links", Study("three-topics", (Method("RCF", {"n_clusters": 3, "share": 0.2, **SHORT}),)), {"propagated": True}),
    "constraint-effect": Source("constraint-effect", _RCF),
    "sensitivity": Source("sensitivity", _SWEEP, {"axis": "lam", "score": "nmi"}),
    "heat-map": Source("heat-map", _SWEEP, {"x": "lam", "y": "p"}),
    "scores-against-k": Source("scores-against-k", _TABLE, {"table": "gnmf-2"}),
    "criterion": Source("criterion", _SELECTION, {"criterion": "agreement"}),
    "setting-map": Source("setting-map", _SELECTION),
    "consensus": Source("consensus", _SELECTION),
    "criteria": Source("criteria", _SELECTION),
    "scores": _runs("scores", "three-topics", "KM", "CF"),
    "paper-table": Source("paper-table", _TABLE, {"table": "gnmf-2"}),
}
PICTURES = [name for name, source in SOURCES.items() if source.kind not in ("scores", "paper-table")]
assert {source.kind for source in SOURCES.values()} == set(KINDS), "a kind without a test"


@cache
def _corpus(name: str) -> fc.Corpus:
    return fc.load_corpus(name)


class _Done:
    """A finished job, as far as figures ask."""

    def __init__(self, study: Study):
        self.study = study

    def rows(self) -> pd.DataFrame:
        cells = self.study.cells()
        return rows(cells, [run_cell(cell, _corpus(self.study.corpus), arrays=False)[0] for cell in cells])  # type: ignore[index]


def _evidence(study: Study) -> Evidence:
    """What the runs of a selection study say, without a job."""
    corpus, found, labellings = _corpus(study.corpus), [], dict[Any, dict[int, np.ndarray]]()
    for cell in study.cells():
        run, arrays = run_cell(cell, corpus)  # type: ignore[misc]
        setting = cell.point["n_clusters"], cell.point["lam"]
        every = np.full(len(corpus), -1)
        every[sample_rows(len(corpus), cell.select["sample"], cell.select["draw"])] = arrays["labels"]
        labellings.setdefault(setting, {})[cell.seed] = every
        found.append(
            {"k": setting[0], "value": setting[1], "seed": cell.seed} | {n: run.scores[n] for n in ("cut", "silhouette", "accuracy")}
        )
    return Evidence(tunable(study.methods[0].name), len(corpus), pd.DataFrame(found), labellings)


@cache
def made(name: str) -> Material:
    source = SOURCES[name]
    whole = _corpus(source.study.corpus)
    if source.about.needs is Needs.EVIDENCE:
        return Material(corpus=whole, evidence=_evidence(source.study), study=source.study)
    return material(source, lambda study, _: _Done(study), whole=selected(whole, {}))  # type: ignore[arg-type,return-value]


@cache
def drawn(name: str) -> Drawn:
    return SOURCES[name].about.draw(made(name), SOURCES[name].view)
