"""One way to show a figure: with its downloads and its place in the report. Nothing is drawn for print until somebody asks for it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

import fact_core as fc
from fact_core.corpus import Corpus
from fact_core.figures.static import WIDTHS, Style
from fact_core.report.captions import caption
from fact_core.report.files import Draw, as_file
from fact_core.report.kinds import Drawn, Material
from fact_core.report.source import Source, names_of
from fact_core.selection import Evidence
from fact_core.study import Method, Study

from . import points, report
from .corpus import Origin, origin_of
from .downloads import download
from .runs import Task, look, printer
from .words import plain

KINDS = {"pdf": "PDF", "svg": "SVG", "png": "PNG", "html": "HTML", "csv": "CSV"}


@dataclass(frozen=True)
class Made:
    """A figure of a page: where it comes from and what it is drawn from."""

    source: Source
    material: Material
    upload: Corpus | None = None
    why_not: str | None = None  # it cannot be added to a report

    @cached_property
    def drawn(self) -> Drawn:
        return self.source.about.draw(self.material, self.source.view)

    @cached_property
    def caption(self) -> str:
        return caption(self.source, self.material)

    @property
    def undrawn(self) -> Made:
        """The same, to be drawn again where somebody saves it: what a page's fragments hold stays as long as its visitor."""
        return replace(self)

    def seen_from(self, camera: Mapping[str, Any] | None) -> Made:
        """The same figure under the camera a person turned it to."""
        return self if not camera else replace(self, source=replace(self.source, view={**self.source.view, "camera": dict(camera)}))


def of_runs(name: str, tasks: Sequence[Task | None], results: Sequence[fc.Result], labels: Sequence[str] = (), **view: Any) -> Made:
    """A figure of runs on the corpus of the page; `labels` are what the tasks are called. A run without a task is somebody else's."""
    asked = [task for task in tasks if task is not None]
    if not asked:
        corpus = results[0].corpus
        source = Source(name, Study(corpus.name, tuple(Method(r.algorithm.key) for r in results)), _chosen(view))
        names = [r.algorithm.title for r in results]
        return Made(
            source,
            Material(corpus=corpus, results=results, names=names, look=look),
            why_not="This is somebody else's run: make your own first.",
        )
    origin = origin_of(asked[0].corpus)
    bare = [(t.method, {n: v for n, v in t.settings.items() if n != "seed" and v is not None}) for t in asked]
    methods = {_said(pair): Method(*pair) for pair in bare}
    seeds = tuple(sorted({t.settings.get("seed", 0) for t in asked}))
    study = Study(origin.name, tuple(methods.values()), reading=origin.reading, classes=origin.select, seeds=seeds)
    place = {(_said(pair), t.settings.get("seed", 0)): i for i, (pair, t) in enumerate(zip(bare, asked, strict=True))}
    cells = study.cells()
    order = [place[_said((c.method, {n: v for n, v in c.options.items() if n != "seed"})), c.seed] for c in cells]
    source = Source(name, study, _chosen(view), tuple(labels[i] for i in order) if labels else (), fingerprint=asked[0].corpus.fingerprint)
    material = Material(
        corpus=asked[0].corpus, results=[results[i] for i in order], names=names_of(source, cells), study=study, look=look
    )  # fmt: skip
    half = "Its run was stopped half-way, so nobody could make it again: let it finish first."
    return Made(source, material, origin.whole if origin.upload else None, half if any(r.stopped == "cancelled" for r in results) else None)


def of_study(name: str, study: Study, rows: pd.DataFrame, origin: Origin | None, **view: Any) -> Made:
    """A figure or table of the rows of a study."""
    upload = origin.whole if origin is not None and origin.upload else None
    return Made(Source(name, study, _chosen(view)), Material(rows=rows, study=study), upload)


def of_evidence(name: str, study: Study, evidence: Evidence, origin: Origin | None, **view: Any) -> Made:
    """A figure of what a selection study says."""
    upload = origin.whole if origin is not None and origin.upload else None
    return Made(Source(name, study, _chosen(view)), Material(evidence=evidence, study=study), upload)


def of_curves(study: Study, objectives: Mapping[str, np.ndarray], origin: Origin | None, **view: Any) -> Made:
    """The objectives of the runs of a study's first seed."""
    first = replace(study, seeds=study.seeds[:1])
    upload = origin.whole if origin is not None and origin.upload else None
    return Made(Source("curves", first, _chosen(view)), Material(objectives=objectives, study=first), upload)


def of_corpus(name: str, corpus: Corpus, **view: Any) -> Made:
    """A figure of the documents themselves, all of the corpus."""
    origin = origin_of(corpus)
    study = Study(origin.name, (), reading=origin.reading)
    source = Source(name, study, _chosen(view), fingerprint=origin.whole.fingerprint)
    return Made(source, Material(corpus=origin.whole), origin.whole if origin.upload else None)


def _said(pair: tuple[str, Mapping[str, Any]]) -> str:
    return json.dumps([pair[0], dict(pair[1])], sort_keys=True)


def _chosen(view: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in view.items() if value is not None}


def show(made: Made, key: str, **chart: Any) -> Any:
    """The figure and its menu; what was selected, where `chart` asks for that. A sentence where it cannot be drawn."""
    try:
        figure = made.drawn.figure
    except fc.FactScopeError as error:
        st.caption(plain(error))
        return None
    event = st.plotly_chart(figure, key=key, **chart)
    menu(made.undrawn, key)
    return event


def show_points(made: Made, key: str) -> int | None:
    """The figure as points that can be turned and clicked, and its menu; the number of the document clicked last."""
    try:
        figure = made.drawn.figure
    except fc.FactScopeError as error:
        st.caption(plain(error))
        return None
    assert figure is not None
    clicked = points.points(figure, key)
    menu(made.undrawn.seen_from(points.camera(key)), key)
    return clicked


@st.fragment
def menu(made: Made, key: str, label: str = "Save") -> None:
    """Downloads and the report, in a popover that is filled when it is opened."""
    with st.container(horizontal=True, horizontal_alignment="right"):
        popover = st.popover(label, icon=":material/download:", type="tertiary", key=f"{key}.menu", on_change="rerun")
    if popover.open:
        with popover:
            _saved(made, key)


def _saved(made: Made, key: str) -> None:
    table = made.source.kind in ("scores", "paper-table")
    if not table:
        style_picker(key)
    style, name = report.style(), made.source.kind
    with st.container(horizontal=True, gap="small"):
        for suffix, words in ({"csv": "CSV", "tex": "LaTeX", "html": "HTML"} if table else KINDS).items():
            data = partial(_file, made, suffix, style, printer())
            download(words, data, f"{name}.{suffix}", key=f"{key}.{suffix}")
    pressed = st.button(
        "Add to report", key=f"{key}.add", icon=":material/add:", width="stretch", disabled=bool(made.why_not), help=made.why_not,
        type="primary",
    )  # fmt: skip
    if pressed:
        report.add(made.source, made.drawn, made.caption, made.upload)
    if count := len(report.items()):
        st.caption(f"{count} in the report.")


def _file(made: Made, suffix: str, style: Style, draw: Draw) -> bytes:
    return as_file(made.drawn, suffix, style, caption=made.caption, draw=draw)


def style_picker(key: str) -> None:
    """The width of the page the figure is for; the same for all figures."""
    now = report.style()
    names: list[Any] = list(WIDTHS) if isinstance(now.width, str) else [now.width, *WIDTHS]
    width = st.selectbox(
        "For", names, index=names.index(now.width), format_func=lambda w: WIDTHS[w].about if w in WIDTHS else f"{w:g} inches",
        key=f"{key}.width.{now.width}", help="Font and more on the Report page.",
    )  # fmt: skip
    if width != now.width:
        report.put_style(Style(**{**now.as_json(), "width": width}))
        st.rerun(scope="fragment")
