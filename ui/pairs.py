"""The editor of must-link and cannot-link pairs: by pointing, from lists, from a file."""

from __future__ import annotations

import io

import streamlit as st

import fact_core as fc
from fact_core.constraints import from_csv, from_pairs
from fact_core.corpus import Corpus

from .downloads import download
from .words import sorry

Pair = tuple[int, int, str]


def pairs_of(corpus: Corpus) -> list[Pair]:
    """The pairs this visitor has made for this corpus, oldest first."""
    return st.session_state.setdefault("pairs", {}).setdefault(corpus.fingerprint, [])


def pointed(corpus: Corpus, clicked: int | None) -> list[int]:
    """The last two documents pointed at, in order."""
    chosen: list[int] = st.session_state.setdefault("pointed", {}).setdefault(corpus.fingerprint, [])
    seen = st.session_state.setdefault("pointed last", {})
    if clicked is not None and clicked < len(corpus) and clicked != seen.get(corpus.fingerprint):
        seen[corpus.fingerprint] = clicked  # the map goes on naming the last click, also after the pair was made
        if clicked not in chosen:
            chosen.append(clicked)
            del chosen[:-2]
    return chosen


def pair_editor(corpus: Corpus, clicked: int | None) -> None:
    """Widgets that add, take back, read and write pairs."""
    pairs, two = pairs_of(corpus), pointed(corpus, clicked)

    def add(first: int, second: int, kind: str) -> None:
        try:
            from_pairs([*pairs, (first, second, kind)], len(corpus)).check()
            pairs.append((first, second, kind))
            two.clear()
        except fc.FactScopeError as error:
            st.session_state["pair refused"] = str(error)

    def take_back() -> None:
        if two:
            two.clear()
        elif pairs:
            pairs.pop()

    st.markdown("**Pairs**")
    places = range(len(corpus))
    left, right = st.columns(2)
    name = lambda i: f"{i}: {corpus.titles[i]}"  # noqa: E731
    for position, (column, label) in enumerate(((left, "First document"), (right, "Second document"))):
        with column:
            given = two[position] if len(two) > position else None
            chosen = st.selectbox(
                label, places, index=given, format_func=name, placeholder="point at it, or choose", key=f"pair.{position}.{given}"
            )
            if chosen is not None and given is None and chosen not in two:
                two.append(chosen)
                st.rerun()
    ready = len(two) == 2
    must, cannot = st.columns(2)
    for column, kind, label, icon in ((must, "must", "Must link", "link"), (cannot, "cannot", "Cannot link", "link_off")):
        column.button(
            label,
            on_click=add,
            args=(*two, kind) if ready else None,
            disabled=not ready,
            width="stretch",
            icon=f":material/{icon}:",
            key=f"pair.{kind}",
        )
    st.button("Undo", on_click=take_back, disabled=not pairs and not two, width="stretch", icon=":material/undo:")
    if refused := st.session_state.pop("pair refused", None):
        sorry(refused)
    if pairs:
        table = [{"first": corpus.titles[i], "second": corpus.titles[j], "kind": kind} for i, j, kind in pairs]
        st.dataframe(table, hide_index=True, key="pairs table", height=min(240, 38 + 35 * len(table)))
    file, out = st.columns(2)
    with file:
        given_file = st.file_uploader("Read pairs (CSV: first,second,kind)", type=["csv"], key="pairs file")
        if given_file is not None and st.session_state.get("pairs read") != given_file.file_id:
            st.session_state["pairs read"] = given_file.file_id
            try:
                read = from_csv(io.StringIO(given_file.getvalue().decode("utf-8-sig")), len(corpus)).check()
                pairs[:] = list(read.pairs())
                st.rerun()
            except (fc.FactScopeError, UnicodeDecodeError) as error:
                sorry(error if isinstance(error, fc.FactScopeError) else f"{given_file.name} is no text in UTF-8.")
    written = list(pairs)  # as they are now
    with out:
        download(
            "Write pairs as CSV", lambda: from_pairs(written, len(corpus)).to_csv(), "pairs.csv", disabled=not pairs,
            icon=":material/download:",
        )  # fmt: skip
