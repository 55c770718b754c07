"""The corpus in the sidebar, the same for every page."""

from __future__ import annotations

import streamlit as st

from fact_core.corpus import DEFAULT_VIEW, Corpus, available_corpora, load_corpus

DEFAULT = "scipy-docs"
FEW_CLASSES = 10  # a corpus of more classes starts with its largest ones
FIRST_CLASSES = 6


@st.cache_resource(show_spinner="Reading the corpus …", max_entries=12)
def cached_corpus(name: str) -> Corpus:
    return load_corpus(name)


@st.cache_resource(show_spinner=False, max_entries=32)
def _selected(_corpus: Corpus, fingerprint: str, classes: tuple[str, ...], at_most: int | None) -> Corpus:
    """One object for one choice, so that graphs and kernels made for it are shared by all runs and all visitors."""
    return _corpus.select(classes, at_most=at_most)


def corpus_in_sidebar() -> Corpus:
    """Let a person pick a corpus and classes; the chosen part of it. Raises `FactScopeError` where that cannot be read."""
    with st.sidebar:
        known = {c.name: c for c in available_corpora() if c.here}
        name = st.selectbox(
            "Corpus", list(known), index=list(known).index(DEFAULT), key="corpus", bind="query-params",
            help="Built-in corpora, and the files in the data folder.",
        )  # fmt: skip
        whole = cached_corpus(name)
        corpus = whole
        if whole.labels is not None:
            view = DEFAULT_VIEW if name == DEFAULT else {}
            first = [c for c in whole.label_names if c in view.get("classes", ())] or _first_classes(whole)
            with st.popover("Choose classes", width="stretch"):
                chosen = st.multiselect(
                    "Classes", whole.label_names, default=first, key=f"{name}.classes", bind="query-params", placeholder="all classes",
                    help="Nothing chosen means all of them.",
                )  # fmt: skip
                at_most = st.number_input(
                    "Documents per class, at most", min_value=2, value=view.get("at_most"), step=10, placeholder="all",
                    key=f"{name}.at_most", bind="query-params",
                )  # fmt: skip
                for d in whole.dropped:
                    st.caption(f"Left out: {d}.")
            corpus = _selected(whole, whole.fingerprint, tuple(chosen or whole.label_names), at_most)
        classes = f" in {len(corpus.label_names)} of {len(whole.label_names)} classes" if whole.labels is not None else ""
        st.caption(f"{len(corpus):,} of {len(whole):,} documents{classes}, {len(corpus.terms):,} terms")
        return corpus


def _first_classes(corpus: Corpus) -> list[str]:
    if len(corpus.label_names) <= FEW_CLASSES:
        return list(corpus.label_names)
    largest = sorted(range(len(corpus.label_names)), key=lambda c: -corpus.class_sizes[c])[:FIRST_CLASSES]
    return [corpus.label_names[c] for c in sorted(largest)]
