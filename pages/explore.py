"""Explore: one corpus, one method, its sliders, and everything there is to see of the result."""

import streamlit as st

import fact_core as fc
from fact_core import metrics
from fact_core.algorithms import algorithms
from fact_core.figures import cluster_sizes, concept_terms, confusion, convergence
from ui import controls, runs
from ui.corpus import corpus_in_sidebar

try:
    corpus = corpus_in_sidebar()
except fc.FactScopeError as error:
    st.error(str(error))
    st.stop()
with st.sidebar:
    preset = controls.method_picker()
    method = algorithms()[preset.key]
    st.caption(method.__doc__)
    settings = controls.settings_for(preset, corpus)
    clicked = st.button("Run", type="primary", icon=":material/play_arrow:", width="stretch")

asked = (corpus.fingerprint, preset.name, settings)
result, asked_before = runs.kept("explore")
try:
    if clicked or result is None or result.corpus is not corpus:
        result = runs.run(corpus, preset.name if preset.options else preset.key, settings)
        runs.keep("explore", result, asked_before := asked)
except fc.FactScopeError as error:
    st.error(str(error))
if result is None or result.corpus is not corpus:
    st.stop()

shown = result.algorithm
values = ", ".join(f"{p.symbol} = {p.show(getattr(shown, p.name))}" for p in shown.parameters)
weighting = "" if result.options["weighting"] == "none" else f", {result.options['weighting'].upper().replace('_', ' ')}"
heading, formula = st.columns([3, 2], vertical_alignment="center")
heading.subheader(f"{shown.title} on {corpus.name}", anchor=False)
heading.caption(
    f"{len(corpus):,} documents, k = {result.n_clusters}{', ' + values if values else ''}{weighting}; "
    f"{len(result.objective) - 1} steps in {result.seconds:.2f} s, stopped by {result.stopped}."
)
formula.latex(r"\min\ " + shown.formula)
if asked_before != asked:
    st.info("The settings have changed since this run. Press Run to see their effect.", icon=":material/tune:")
for warning in result.warnings:
    st.warning(warning, icon=":material/warning:")

columns = st.columns(4)
for column, (name, about) in zip(columns, metrics.MEANING.items(), strict=False):
    if result.scores:
        column.metric(name.upper() if len(name) == 3 else name.capitalize(), f"{result.scores[name]:.3f}", help=about)
columns[3].metric("Objective", f"{result.objective[-1]:.5g}", help="What the method minimises, after the last step.")
if corpus.labels is not None:
    st.caption(f"One single cluster of everything would have an accuracy of {metrics.single_cluster_accuracy(corpus.labels):.3f}.")

names = [f"{c + 1}" for c in range(result.n_clusters)]
left, right = st.columns(2, gap="medium")
with left:
    st.markdown("**Convergence**")
    st.plotly_chart(convergence(result.terms), key="convergence")
with right:
    if result.confusion is not None:
        st.markdown("**Clusters against classes** (documents; darker is a larger share of the class)")
        st.plotly_chart(confusion(result.confusion, corpus.label_names, names, metrics.matched_order(result.confusion)), key="confusion")
    else:
        st.markdown("**Cluster sizes**")
        st.plotly_chart(cluster_sizes(result.sizes, names), key="sizes")
st.markdown("**Concepts**")
sized = [f"{name} · {size} documents" for name, size in zip(names, result.sizes, strict=True)]
st.plotly_chart(concept_terms(result.concepts(8), sized), key="concepts")
