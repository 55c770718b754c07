"""Documents in lists and, one at a time, in full."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

import fact_core as fc
from fact_core.corpus import Corpus

from .names import long_names

LISTED = 500  # rows a table sends to the browser


def document_card(corpus: Corpus, index: int, result: fc.Result | None = None) -> None:
    """Title, class, cluster and the whole text of a document; an image where the corpus is made of images."""
    with st.container(border=True):
        st.markdown("**Document**")
        st.text(corpus.titles[index])
        facts = [] if corpus.labels is None else [f"class {corpus.label_names[corpus.labels[index]]}"]
        if result is not None:
            facts.append(f"cluster {long_names(result)[result.labels[index]]}")
        st.text(", ".join(facts))
        if corpus.image_shape is not None:
            pixels = np.asarray(corpus.counts[[index]].todense() if hasattr(corpus.counts, "todense") else corpus.counts[index])
            image = pixels.reshape(corpus.image_shape)
            st.image(image / max(float(image.max()), 1e-12), width=160, clamp=True)
        elif corpus.has_text:
            with st.container(height=260):
                st.text(corpus.documents[index])
        else:
            row = corpus.matrix[[index]]
            weights = np.asarray(row.todense() if hasattr(row, "todense") else row).ravel()
            heaviest = np.argsort(-weights)[:12]
            st.text("Heaviest terms: " + ", ".join(str(corpus.terms[j]) for j in heaviest if weights[j] > 0))


def document_table(
    corpus: Corpus, rows: Sequence[int] | np.ndarray, key: str, result: fc.Result | None = None, **columns: object
) -> int | None:
    """A table of these documents; the number of the one a person clicked. Long tables are cut, and say so."""
    rows = np.asarray(rows, dtype=int)
    shown = rows[:LISTED]
    table = pd.DataFrame({"title": [corpus.titles[i] for i in shown]})
    if corpus.labels is not None:
        table["class"] = [corpus.label_names[corpus.labels[i]] for i in shown]
    if result is not None:
        names = long_names(result)
        table["cluster"] = [names[result.labels[i]] for i in shown]
    for name, values in columns.items():
        table[name] = np.asarray(values)[: len(shown)]
    if len(rows) > len(shown):
        st.caption(f"Showing {len(shown):,} of {len(rows):,} documents.")
    event = st.dataframe(
        table, hide_index=True, on_select="rerun", selection_mode="single-row", key=key, height=min(400, 38 + 35 * len(shown))
    )
    chosen = event.selection.rows
    return int(shown[chosen[0]]) if chosen else None


def found(corpus: Corpus, words: str) -> np.ndarray:
    """The documents whose title or text has all these words."""
    wanted = words.lower().split()
    texts = (f"{title} {text}".lower() for title, text in zip(corpus.titles, corpus.documents, strict=True))
    return np.array([i for i, text in enumerate(texts) if all(w in text for w in wanted)], dtype=int)
