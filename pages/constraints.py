"""Constraints: a few labels or pairs, what propagation makes of them, and what the methods that use them gain."""

import pandas as pd
import streamlit as st

from fact_core.algorithms import Needs, algorithms
from fact_core.constraints import Links, from_pairs, from_share, share_refusal
from ui import figures, links, runs
from ui.corpus import corpus_in_sidebar
from ui.documents import document_card
from ui.pairs import pair_editor, pairs_of
from ui.words import plain

corpus = corpus_in_sidebar()
n, refusal = len(corpus), share_refusal(corpus)
with st.sidebar:
    ways = {"pairs": "pairs of documents"} if refusal else {"share": "a share of labels", "pairs": "pairs of documents"}
    way = links.choice("What is known", ways, next(iter(ways)), "known", help=plain(refusal) if refusal else None)
    share = links.slider("t, share of each class whose labels are given", 0.01, 0.5, 0.1, "share", step=0.01) if way == "share" else 0.0
    alpha = links.slider("α, how far constraints reach over the graph", 0.05, 0.95, 0.5, "alpha", step=0.05)
    p = links.slider("p, neighbours in the graph", 1, min(30, n - 1), min(5, n - 1), "constraints.p")
    lam = links.stops("λ, weight of the graph term", (0.0, 0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0), 100.0, "constraints.lam")
    k = links.slider("k, clusters", 2, min(60, n), min(max(2, len(corpus.label_names) or 3), n), f"constraints.k.{corpus.fingerprint[:8]}")
    seed = links.number("Seed", 0, 2**31 - 1, 0, "constraints.seed") or 0

pairs = pairs_of(corpus)
known = {"share": share} if way == "share" else {"constraints": [list(pair) for pair in pairs]}
unsupervised = {"LCCF, without": ("lccf", {"lam": lam, "p": p}), "CF, without": ("cf", {}), "K-means, without": ("kmeans", {})}
methods: dict[str, tuple[str, dict]] = {}
for key, method in algorithms().items():
    if method.clusters_are_classes and k != len(corpus.label_names):
        continue  # it would refuse, and the others would not be shown
    if Needs.SUPERVISION in method.needs and (way == "share" or (pairs and Needs.CLASSES not in method.needs)):
        own = {"lam": lam, "p": p, "alpha": alpha}
        methods[method.title] = (
            key,
            known | {name: own[name] for name in own if name in {q.name for q in method.parameters} and key != "cnpcf"},
        )
methods |= unsupervised
common = {"n_clusters": k, "seed": seed}
tasks = {name: runs.Task(corpus, key, more | common) for name, (key, more) in methods.items()}
kinds = {}
if "RCF" in methods:
    kinds = {f"{link.value} links": runs.Task(corpus, "rcf", methods["RCF"][1] | common | {"links": link.value}) for link in Links}
wanted = [*tasks.values(), *kinds.values()]
results = runs.obtain_or_stop("constraints", wanted)
found = {task.key: result for task, result in zip(wanted, results, strict=True)}
main = found[tasks["RCF"].key] if "RCF" in tasks else found[tasks["LCCF, without"].key]

st.subheader(f"What a little knowledge does on {plain(corpus.name)}", anchor=False)
constraints = from_share(corpus, share, seed) if way == "share" else from_pairs(pairs, n)
st.caption(f"{n:,} documents; known: {constraints}. The map shows the coordinates of CF.")
for note in constraints.notes:
    st.caption(plain(note))
left, right = st.columns([3, 2], gap="large")
with left:
    spread = tasks["CF, without"]  # smoothed coordinates lie on top of one another, and could not be pointed at
    clicked = figures.show_points(figures.of_runs("projection", [spread], [found[spread.key]]), "constraints-map")
    st.caption("Click a document to read it; click two, one after the other, to make them a pair.")
with right:
    if way == "pairs":
        pair_editor(corpus, clicked)
    if clicked is not None and clicked < n:
        document_card(corpus, clicked, main)
    elif way == "share":
        st.markdown("**How to read this page**")
        st.write(
            "Some documents of each class are labelled. The constraints they imply spread over the neighbour graph, and the graph that RCF "
            "smooths over is changed where they reach. Below: the constraints before and after, and what each method makes of them."
        )

st.markdown("**Scores at this supervision**")
table = []
for name, task in tasks.items():
    result = found[task.key]
    row: dict[str, object] = {"method": name}
    for where, scores in (("all documents", result.scores), ("without the labelled", result.scores_unlabelled)):
        row |= {f"accuracy, {where}": scores.get("accuracy"), f"NMI, {where}": scores.get("nmi")}
    table.append(row)
frame = pd.DataFrame(table)
st.dataframe(
    frame,
    hide_index=True,
    key="supervised scores",
    column_config={c: st.column_config.NumberColumn(format="%.3f") for c in frame.columns[1:]},
)
for name, (key, _) in methods.items():
    if algorithms()[key].note:
        st.caption(f"{name}: {algorithms()[key].note}")

if len(constraints.documents):
    before, after = st.columns(2, gap="medium")
    with before:
        figures.show(figures.of_runs("links", [tasks["RCF"]], [main]), "Z")
    with after:
        figures.show(figures.of_runs("links", [tasks["RCF"]], [main], propagated=True), "F")
if kinds and corpus.labels is not None:
    st.markdown("**Must-links only, cannot-links only, both** (RCF)")
    effect = list(kinds.values()), [found[t.key] for t in kinds.values()], list(kinds)
    figures.show(figures.of_runs("constraint-effect", *effect), "effect")
