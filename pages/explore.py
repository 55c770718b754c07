"""Explore: one corpus, one method, its sliders, and everything there is to see of the result."""

import numpy as np
import streamlit as st

from fact_core import metrics
from fact_core.tabular import documents_csv
from ui import figures, links
from ui.documents import document_card, document_table, found
from ui.downloads import download
from ui.names import long_names, short_names
from ui.sharing import share_switch, shared_run
from ui.words import plain
from ui.workbench import Shown, workbench

shared = shared_run()
shown = Shown(None, shared, None, False) if shared is not None else workbench()
result, previous = shown.result, shown.previous
corpus, method = result.corpus, result.algorithm

values = ", ".join(f"{p.symbol} = {p.show(getattr(method, p.name))}" for p in method.parameters)
weighting = "" if result.options["weighting"] == "none" else f", {result.options['weighting'].upper().replace('_', ' ')}"
heading, formula = st.columns([3, 2], vertical_alignment="center")
heading.subheader(f"{method.title} on {plain(corpus.name)}", anchor=False)
heading.caption(
    f"{len(corpus):,} documents, k = {result.n_clusters}{', ' + values if values else ''}{weighting}; "
    f"{len(result.objective) - 1} steps in {result.seconds:.2f} s, stopped by {result.stopped}."
)
formula.latex(r"\min\ " + method.formula)
if shown.moved:
    st.info("The settings have changed since this run. Press Run to see their effect.", icon=":material/tune:")
for warning in result.warnings:
    st.warning(plain(warning), icon=":material/warning:")

if shared is None and result.stopped != "cancelled":
    with st.sidebar:
        share_switch(result, st.session_state["asked"])

columns = st.columns(4)
for column, (name, about) in zip(columns, metrics.MEANING.items(), strict=False):
    if result.scores:
        change = f"{result.scores[name] - previous.scores[name]:+.3f}" if previous is not None else None
        column.metric(name.upper() if len(name) == 3 else name.capitalize(), f"{result.scores[name]:.3f}", change, help=about)
columns[3].metric("Objective", f"{result.objective[-1]:.5g}", help="What the method minimises, after the last step.")
notes = []
if corpus.labels is not None:
    notes.append(f"One single cluster of everything would have an accuracy of {metrics.single_cluster_accuracy(corpus.labels):.3f}.")
if previous is not None:
    agreed = metrics.scores(previous.labels, result.labels)
    moved = round((1 - agreed["accuracy"]) * len(corpus))
    before = previous.algorithm.title
    notes.append(f"Against the run before ({before}): {moved:,} documents changed their cluster, agreement {agreed['ari']:.3f} (ARI).")
st.caption(" ".join(notes))

names, full = short_names(result), long_names(result)
overview, concepts, documents, places = st.tabs(
    ["Overview", "Concepts", "Documents", "Map"], on_change="rerun", key="view", bind="query-params"
)
if overview.open:
    left, right = overview.columns(2, gap="medium")
    left.markdown("**Convergence**")
    with left:
        figures.show(figures.of_runs("convergence", [shown.task], [result]), "convergence")
    if result.confusion is not None:
        right.markdown(
            "**Clusters against classes**", help="Documents of each class in each cluster; darker is a larger share of the class."
        )
        with right:
            ways = {"confusion": "documents of each class", "class-purity": "what each cluster is made of"}
            kind = links.choice("Clusters against classes", ways, "confusion", "against", label_visibility="collapsed")
            figures.show(figures.of_runs(kind, [shown.task], [result], names=names), kind)
    left.markdown("**Cluster sizes**")
    with left:
        figures.show(figures.of_runs("cluster-sizes", [shown.task], [result], names=names), "sizes")
    with right:
        st.markdown("**Concepts, in their heaviest terms**")
        for c, terms in enumerate(result.concepts(6)):
            st.text(f"{names[c]}: {', '.join(term for term, _ in terms)}")
if concepts.open:
    with concepts:
        if corpus.image_shape is not None:
            figures.show(figures.of_runs("basis-images", [shown.task], [result], names=names), "bases")
        elif len(corpus.terms) == 2:
            figures.show(figures.of_runs("bases", [shown.task], [result]), "bases")
        else:
            figures.show(figures.of_runs("concepts", [shown.task], [result], names=full), "concepts")
if documents.open:
    with documents:
        words = st.text_input("Search titles and texts", key="search", placeholder="words that must occur")
        rows = found(corpus, words) if words else np.arange(len(corpus))
        count, button = st.columns([4, 1], vertical_alignment="center")
        count.caption(f"{len(rows):,} of {len(corpus):,} documents.")
        with button:
            download("As CSV", lambda: documents_csv(result, full), "documents.csv", icon=":material/download:", help="With coordinates.")
        chosen = document_table(corpus, rows, "documents", result)
        if chosen is not None:
            document_card(corpus, chosen, result)
if places.open:
    with places:
        hues = ["cluster", "class"] if corpus.labels is not None else ["cluster"]
        by = links.choice("Colour by", {w: w for w in hues}, "cluster", "colour", width=220)
        view: dict = {"projection": "pca", "dimensions": 3, "colour": by, "names": full}
        chosen = figures.show_points(figures.of_runs("coordinates", [shown.task], [result], **view), "explore-map")
        st.caption("Principal components of the coordinates. Drag to turn, scroll to zoom, click a point to read the document.")
        if chosen is not None and chosen < len(corpus):
            document_card(corpus, chosen, result)
