"""Corpus: pick or upload, see what was read and what was left out, choose how words become numbers."""

import numpy as np
import pandas as pd
import scipy.sparse as sp
import streamlit as st

import fact_core as fc
from fact_core.corpus import as_mat, as_npz
from ui import figures
from ui.corpus import choose_classes, choose_reading, effects, pick_corpus, take_upload, whole_corpus
from ui.documents import document_card, document_table
from ui.downloads import download
from ui.words import plain, sorry

left, right = st.columns([1, 2], gap="large")
with left:
    take_upload()
    try:
        name, whole = pick_corpus()
        st.markdown("**From words to numbers**")
        chosen = choose_reading(name, whole.has_text)
        usual = whole_corpus(name)
        whole = whole_corpus(name, **chosen)
        st.markdown("**Classes**" if whole.labels is not None else "This corpus has no classes.")
        corpus = choose_classes(name, whole)
    except fc.FactScopeError as error:
        sorry(f"{error} The choices were taken back.")
        st.session_state.get("reading", {}).clear()
        for key in [k for k in st.session_state if str(k).startswith("read.")]:
            del st.session_state[key]
        st.button("Go on")
        st.stop()

with right:
    st.subheader(plain(corpus.name), anchor=False)
    documents, terms, classes, filled = st.columns(4)
    documents.metric("Documents", f"{len(corpus):,}", help=f"{len(whole):,} in the whole corpus.")
    change = len(whole.terms) - len(usual.terms)
    terms.metric(
        "Terms",
        f"{len(corpus.terms):,}",
        f"{change:+,}" if change else None,
        delta_color="off",
        help=f"{len(whole.terms):,} in the whole corpus.",
    )
    classes.metric("Classes", f"{len(corpus.label_names)}" if corpus.labels is not None else "none")
    entries = corpus.matrix.nnz if sp.issparse(corpus.matrix) else np.count_nonzero(corpus.matrix)
    filled.metric("Filled", f"{entries / (len(corpus) * len(corpus.terms)):.1%}", help="Share of the matrix that is not zero.")
    st.caption("  \n".join(f"Left out: {plain(d)}." for d in whole.dropped) or "Nothing was left out.")
    if whole.labels is not None:
        st.markdown("**Class sizes**")
        figures.show(figures.of_corpus("class-sizes", corpus, chosen=list(corpus.label_names)), "class sizes")
    tabs = st.tabs(["Documents", "Vocabulary", "Effect of the choices", "Download"], on_change="rerun", key="corpus.view")
    if tabs[0].open:
        with tabs[0]:
            words = np.asarray(corpus.counts.sum(axis=1)).ravel()
            ways = {
                "as read": np.arange(len(corpus)),
                "longest first": np.argsort(-words, kind="stable"),
                "shortest first": np.argsort(words, kind="stable"),
            }
            rows = ways[st.segmented_control("Order", list(ways), default="as read", required=True, key="corpus.order")]
            picked = document_table(
                corpus, rows, "corpus documents", **{"words counted" if corpus.has_text else "sum of values": words[rows]}
            )
            if picked is not None:
                document_card(corpus, picked)
    if tabs[1].open:
        frequency = np.asarray((corpus.counts != 0).sum(axis=0)).ravel()
        common = np.argsort(-frequency, kind="stable")[:200]
        table = pd.DataFrame(
            {"term": corpus.terms[common].astype(str), "documents": frequency[common], "share": frequency[common] / len(corpus)}
        )
        bar = st.column_config.ProgressColumn("share of documents", min_value=0.0, max_value=1.0)
        tabs[1].caption(f"The {len(common)} terms that most documents have, of {len(corpus.terms):,}.")
        tabs[1].dataframe(table, hide_index=True, key="vocabulary", height=360, column_config={"share": bar})
    if tabs[2].open:
        if whole.has_text:
            tabs[2].dataframe(pd.DataFrame(effects(name, chosen)), hide_index=True, key="effects")
        else:
            tabs[2].caption("Only a corpus of texts has words to choose.")
    if tabs[3].open:
        tabs[3].caption("The weighted matrix of the chosen classes, with its terms and labels.")
        file = "".join(c if c.isalnum() else "-" for c in corpus.name)
        download("Matrix as .npz", lambda: as_npz(corpus), f"{file}.npz", place=tabs[3], icon=":material/download:")
        download("Matrix as .mat", lambda: as_mat(corpus), f"{file}.mat", place=tabs[3], icon=":material/download:")
