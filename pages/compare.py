"""Compare: several methods on the same corpus and the same seeds."""

import numpy as np
import pandas as pd
import streamlit as st

from fact_core.algorithms import algorithms
from fact_core.concepts import matched_concepts
from fact_core.metrics import single_cluster_accuracy
from fact_core.presets import PRESETS, resolve
from ui import figures, links, runs
from ui.corpus import corpus_in_sidebar
from ui.names import long_names
from ui.words import plain

FIRST = ["KM", "NC", "NMF-NCW", "CF-NCW", "LCCF-NCW", "NC-PSPt"]
SCORES = {"accuracy": "accuracy", "nmi": "NMI", "ari": "ARI", "purity": "purity"}

corpus = corpus_in_sidebar()
asked: runs.Task | None = st.session_state.get("asked")
own = asked if asked is not None and asked.corpus is corpus else None
with st.sidebar:
    tables = {p.key for p in PRESETS.values()}
    chosen = links.choices("Methods", [*PRESETS, *(key for key in algorithms() if key not in tables)], FIRST, "compare")
    with_own = own is not None and links.switch(
        "With the settings of Explore", "compare.own", help=plain(f"{resolve(own.method).name}: {own.settings}")
    )
    most = min(60, len(corpus))
    k = links.slider("k, clusters", 1, most, min(len(corpus.label_names) or 5, most), f"compare.k.{corpus.fingerprint[:8]}")
    seeds = links.slider("Seeds", 1, 10, 3, "compare.seeds", help="Every method runs once with each seed, from 0.")
    steps = links.slider("Steps", 20, 1000, 200, "compare.steps", step=20)
if not chosen and not with_own:
    st.info("Choose two or more methods in the sidebar.")
    st.stop()

variants: dict[str, tuple[str, dict]] = {name: (name, {}) for name in chosen}
if with_own and own is not None:
    more = {key: value for key, value in own.settings.items() if key not in {"n_clusters", "seed", "max_iter"}}
    variants[f"{resolve(own.method).name}, as in Explore"] = (own.method, more)


def task(method: str, settings: dict, seed: int) -> runs.Task:
    limit = {"max_iter": steps} if algorithms()[resolve(method).key].blocks else {}
    return runs.Task(corpus, method, settings | limit | {"n_clusters": k, "seed": seed})


grid = {name: [task(method, settings, seed) for seed in range(seeds)] for name, (method, settings) in variants.items()}
tasks = [t for row in grid.values() for t in row]
results = runs.obtain_or_stop("compare", tasks)
found = {t.key: r for t, r in zip(tasks, results, strict=True)}
by_name = {name: [found[t.key] for t in row] for name, row in grid.items()}

st.subheader(f"{len(by_name)} methods on {plain(corpus.name)}", anchor=False)
st.caption(f"{len(corpus):,} documents, k = {k}, {seeds} seed{'s' * (seeds != 1)}, the same for every method.")
st.markdown("**Scores, mean ± standard deviation over the seeds**")
rows = []
for name, runs_ in by_name.items():
    row = {"method": name}
    for score, label in SCORES.items():
        values = [r.scores[score] for r in runs_ if r.scores]
        row[label] = f"{np.mean(values):.3f} ± {np.std(values):.3f}" if values else "–"
    row["seconds a run"] = f"{np.mean([r.seconds for r in runs_]):.2f}"
    rows.append(row)
st.dataframe(pd.DataFrame(rows), hide_index=True, key="scores")
if corpus.labels is not None:
    figures.menu(figures.of_runs("scores", tasks, results, [name for name, row in grid.items() for _ in row]), "scores")
if corpus.labels is not None:
    st.caption(f"One single cluster of everything would have an accuracy of {single_cluster_accuracy(corpus.labels):.3f}.")

first = [row[0] for row in grid.values()], [found[row[0].key] for row in grid.values()], list(grid)
left, right = st.columns([5, 4], gap="large")
with left:
    st.markdown("**Objective against the step, first seed**")
    how = st.segmented_control(
        "Scale", ["as it is", "relative to the lowest"], default="relative to the lowest", required=True, key="compare.scale",
        help="Methods minimise different things: their values cannot be compared, how fast they fall can.",
    )  # fmt: skip
    figures.show(figures.of_runs("curves", *first, relative=how != "as it is"), "curves")
with right:
    st.markdown("**Agreement between the clusterings, first seed**")
    st.caption("Adjusted Rand index: 1 for the same partition, 0 for chance.")
    figures.show(figures.of_runs("agreement", *first), "agreement")

if len(corpus.terms) == 2:
    st.markdown("**Bases among the points**")
    figures.show(figures.of_runs("bases", *first), "bases")
st.markdown("**Concepts side by side**")
st.caption("Each row is a concept of the first method and the most similar concept of each other one, matched one to one.")
reference = next(iter(by_name.values()))[0]
side: dict[str, list[str]] = {"concept": long_names(reference)}
for name, runs_ in by_name.items():
    lists = runs_[0].concepts(6)
    match = matched_concepts(np.maximum(reference.basis, 0), np.maximum(runs_[0].basis, 0))
    side[name] = [", ".join(term for term, _ in lists[c]) if c >= 0 else "–" for c in match]
wide = {name: st.column_config.TextColumn(width=150) for name in side}
st.dataframe(pd.DataFrame(side), hide_index=True, key="side", row_height=76, column_config=wide)
