"""Sensitivity: scores and label-free measures against one parameter or over two; the papers' parameter figures."""

from dataclasses import replace

import pandas as pd
import streamlit as st

import fact_core as fc
from fact_core.algorithms import algorithms
from fact_core.corpus import Corpus
from fact_core.figures.study import SCORES
from fact_core.jobs import Job
from fact_core.presets import PRESETS, resolve
from fact_core.study import Method, Study, axis
from fact_core.tables import FIGURES, figure_study
from fact_core.tabular import frame_csv
from ui import figures, links
from ui.corpus import Origin, corpus_in_sidebar, corpus_names, origin_of
from ui.downloads import download
from ui.jobs import HERE, follow, where_it_runs
from ui.kept import open_in_explore
from ui.words import plain, sorry

FIRST = ["LCCF", "LCCF-NCW", "NMF"]


def own_study(corpus: Corpus, origin: Origin) -> Study:
    """Methods, one or two parameters, their values, seeds."""
    tables = {p.key for p in PRESETS.values()}
    methods = links.choices("Methods", [*PRESETS, *(key for key in algorithms() if key not in tables)], FIRST, "sweep.methods")
    tuned = dict.fromkeys(p.name for m in methods for p in algorithms()[resolve(m).key].parameters if not p.choices)
    known = {name: axis(name, methods) for name in (*tuned, "n_clusters")}
    names = {name: f"{p.symbol}, {p.doc}" for name, p in known.items()}
    axes = {}
    for place, more in (("x", {}), ("y", {"": "none"})):
        free = more | {name: words for name, words in names.items() if name not in axes}
        chosen = links.choice("Parameter" if place == "x" else "Second parameter", free, next(iter(free)), f"sweep.{place}")
        if chosen:
            usual = range(2, min(11, len(corpus))) if chosen == "n_clusters" else known[chosen].grid()
            axes[chosen] = links.values(f"Values of {known[chosen].symbol}", known[chosen], usual, f"sweep.{place}.{chosen}")
    most = min(60, len(corpus))
    k = min(len(corpus.label_names) or 5, most)
    fixed = {} if "n_clusters" in axes else {"n_clusters": links.slider("k, clusters", 1, most, k, f"sweep.k.{corpus.fingerprint[:8]}")}
    seeds = links.slider("Seeds", 1, 20, 5, "sweep.seeds", help="Each setting is run once with each seed, from 0.")
    title = f"{', '.join(methods)} against {' and '.join(known[name].symbol for name in axes)} on {corpus.name}"
    return Study(
        corpus=origin.name, methods=tuple(map(Method, methods)), title=title, reading=origin.reading, classes=origin.select, axes=axes,
        seeds=tuple(range(seeds)), options=fixed,
    )  # fmt: skip


def published_study(name: str, origin: Origin) -> tuple[Study, Origin | None]:
    """A figure of a paper, on its own corpora where they are here, or on the one of the page."""
    places = [*(c for c in FIGURES[name][1] if c in corpus_names()), HERE]
    place = links.choice("On", {p: p for p in places}, places[0], f"sweep.on.{name}")
    seeds = links.slider("Runs", 1, 50, 5, "sweep.runs", help="Random choices of classes, each with its seed.")
    if place == HERE:
        study, where = replace(figure_study(name, origin.name), reading=origin.reading, classes=origin.select), origin
    else:
        study, where = figure_study(name, place), None
    return replace(study, seeds=tuple(range(seeds))), where


def show(job: Job, rows: pd.DataFrame) -> None:
    """What the rows so far say."""
    study = job.study
    if rows.empty:
        st.caption("The first runs are on their way.")
        return
    names = [m.name for m in study.methods]
    axes = [axis(name, names) for name in study.axes if name in rows]
    if not axes:
        steps = job.steps()
        total = steps[steps["seed"] == steps["seed"].min()].groupby(["method", "step"], sort=False)["value"].sum()
        falling = {resolve(m).name: total[m].to_numpy() for m in dict.fromkeys(steps["method"])}
        figures.show(figures.of_curves(study, falling, origin, relative=True), "sweep steps")
        return
    scored = [s for s in SCORES if (rows["score"] == s).any()]
    usual: list[str] = ["accuracy", "nmi"] if "accuracy" in scored else ["silhouette", "cut"]
    chosen = links.choices("Measures", scored, usual, "sweep.scores", format_func=SCORES.__getitem__)
    # The second parameter of a study is an axis of its own; that of RCF's figures, the share of labels, makes a line each.
    flat = len(axes) == 2 and study.title.startswith("RCF figure")
    method = names[0]
    if len(axes) == 2 and not flat:
        both = [m for m in names if rows.loc[rows["method"] == m, [a.name for a in axes]].notna().all(axis=None)]
        method = links.choice("Method", {m: m for m in both or names}, (both or names)[0], "sweep.method")
    for column, score in zip(st.columns(2, gap="medium") * len(chosen), chosen, strict=False):
        if len(axes) == 2 and not flat:
            made = figures.of_study("heat-map", study, rows, origin, x=axes[0].name, y=axes[1].name, score=score, method=method)
        else:
            made = figures.of_study("sensitivity", study, rows, origin, axis=axes[0].name, score=score)
        with column:
            event = figures.show(made, f"sweep {score}", on_select="rerun", selection_mode="points")
        if event and (picked := event["selection"]["points"]):
            try:
                open_in_explore(str(picked[0]["customdata"][0] if isinstance(picked[0]["customdata"], list) else picked[0]["customdata"]))
            except fc.FactScopeError as error:
                sorry(error)
    st.caption(
        "Lines are means over the seeds, bands one standard deviation, small points the runs. Click a point to open its run in Explore."
    )
    download("Rows as CSV", lambda: frame_csv(rows), "sensitivity.csv", icon=":material/download:")


def ask_for(name: str) -> None:
    links.put("sweep", name)
    st.session_state["sweep now"] = True


corpus = corpus_in_sidebar()
with st.sidebar:
    what = links.choice("Study", {"own": "of my own"} | {n: title for n, (title, *_) in FIGURES.items()}, "own", "sweep")
    try:
        here = origin_of(corpus)
        study, origin = (own_study(corpus, here), here) if what == "own" else published_study(what, here)
    except fc.FactScopeError as error:
        sorry(error)
        st.stop()
    run = st.button("Run", type="primary", icon=":material/play_arrow:", width="stretch") or st.session_state.pop("sweep now", False)
    scheduler = where_it_runs()
heading, popover = st.columns([3, 1], vertical_alignment="center")
heading.subheader(plain(study.title) if study.methods else "Sensitivity", anchor=False)
with popover.popover("Figures of the papers", icon=":material/menu_book:", width="stretch"):
    for name, (title, *_) in FIGURES.items():
        st.button(title, on_click=ask_for, args=(name,), width="stretch", key=f"figure {name}")
follow(study, origin, run, scheduler, show)
