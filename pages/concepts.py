"""Concepts: their terms, the documents that stand for them, their names, and where a new text falls."""

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

import fact_core as fc
from fact_core import friends
from fact_core.concepts import borderline, likeness, representative
from fact_core.tabular import TABLES, concepts_csv
from ui import figures, links, runs
from ui.documents import document_card, document_table, found
from ui.downloads import download
from ui.names import given_name, long_names, rename, short_names
from ui.words import plain, sorry
from ui.workbench import workbench

shown = workbench()
result = shown.result
corpus = result.corpus
st.subheader(f"Concepts of {result.algorithm.title} on {plain(corpus.name)}", anchor=False)
if shown.moved:
    st.info("The settings have changed since this run. Press Run to see their effect.", icon=":material/tune:")

chooser, field, order = st.columns([2, 2, 3], vertical_alignment="bottom")
concept = chooser.selectbox("Concept", range(result.n_clusters), format_func=lambda c: f"{c + 1}", key="concept")
name = field.text_input(
    "Its name", value=given_name(result, concept), placeholder="give it a name", key=f"name.{concept}.{id(result)}", max_chars=40,
    help="Seen wherever this concept is shown.",
)  # fmt: skip
if name != given_name(result, concept):
    rename(result, concept, name)
    st.rerun()
with order:
    share = links.slider(
        "Terms by what sets the concept apart … by weight", 0.0, 1.0, 1.0, "relevance", step=0.1,
        help="1 orders terms by their weight; smaller values prefer terms that are rare elsewhere (relevance as in LDAvis).",
    )  # fmt: skip
names = long_names(result)
if corpus.image_shape is not None:
    figures.show(figures.of_runs("basis-images", [shown.task], [result], names=short_names(result)), "bases")
else:
    figures.show(figures.of_runs("concepts", [shown.task], [result], terms=10, relevance=share, names=names), "terms")
terms_button, elsewhere = st.columns([1, 4])
download("Terms as CSV", lambda: concepts_csv(result), "concepts.csv", place=terms_button, icon=":material/download:")
with elsewhere.popover("Take it elsewhere", icon=":material/output:"):
    for file, written in TABLES.items():
        download(file, partial(written, result), file, icon=":material/download:", width="stretch")
    missing = friends.pyldavis_refusal(result)
    download(
        "pyldavis.html", runs.file_of(result, "pyldavis"), "pyldavis.html", icon=":material/download:", width="stretch",
        disabled=missing is not None, help=missing or "The concepts in pyLDAvis, as one page that loads nothing from the web.",
    )  # fmt: skip

left, right = st.columns(2, gap="large")
with left:
    st.markdown(f"**Documents of concept {concept + 1}**")
    best, between, search = st.tabs(["Representative", "Borderline", "Search"])
    like = likeness(corpus.matrix, result.basis)
    with best:
        rows = representative(like, concept, 30)
        chosen = document_table(corpus, rows, f"best-{concept}", result, likeness=like[rows, concept])
    with between:
        rows = borderline(like, concept, 30)
        other = np.where(np.arange(like.shape[1]) == concept, -np.inf, like[rows]).argmax(axis=1) if len(rows) else np.array([], int)
        chosen_between = document_table(corpus, rows, f"between-{concept}", result, **{"also near": [names[c] for c in other]})
    with search:
        words = st.text_input("Words in title or text", key="concept search")
        rows = found(corpus, words) if words else np.array([], int)
        chosen_found = document_table(corpus, rows, f"found-{concept}", result) if words else None
    picked = next((c for c in (chosen, chosen_between, chosen_found) if c is not None), None)
    if picked is not None:
        document_card(corpus, picked, result)
with right:
    st.markdown("**Where does a new text fall?**")
    text = st.text_area(
        "Paste a text", key="new text", height=160, placeholder="A text that was not in the corpus.", disabled=corpus.reader is None
    )
    if corpus.reader is None:
        st.caption("This corpus was not read from text, so a new text cannot be read in its terms.")
    elif text.strip():
        try:
            known = corpus.reader([text], corpus.terms)
            if known.nnz == 0:
                st.warning("None of its words is a term of this corpus, so it falls nowhere.")
            else:
                placed = runs.place(result, text)
                st.success(f"It falls to concept {plain(names[placed.labels[0]])}.")
                weights = placed.embedding[0]
                table = pd.DataFrame({"concept": names, "weight": weights / max(np.abs(weights).max(), 1e-300)}).sort_values(
                    "weight", ascending=False
                )
                bar = st.column_config.ProgressColumn("weight, relative", min_value=0.0, max_value=1.0)
                st.dataframe(table, hide_index=True, key="placed", column_config={"weight": bar})
                read = [str(corpus.terms[j]) for j in known.indices[np.argsort(-known.data, kind="stable")][:20]]
                st.caption(f"{known.nnz} of its terms are known here: {plain(', '.join(read))}{' …' if known.nnz > 20 else ''}")
        except fc.FactScopeError as error:
            sorry(error)
