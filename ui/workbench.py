"""The method, its sliders and Run in the sidebar; the result they lead to."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

import fact_core as fc
from fact_core.algorithms import algorithms

from . import controls, kept, runs
from .corpus import corpus_in_sidebar
from .words import plain, sorry


@dataclass(frozen=True)
class Shown:
    """What is on the page: what was asked, the result, the one before it on the same corpus, and whether the sliders have moved since."""

    task: runs.Task | None  # none for a run that somebody shares
    result: fc.Result
    previous: fc.Result | None
    moved: bool


def workbench() -> Shown:
    """Draws the sidebar, runs what is asked for (at first sight, too) and ends the script with a sentence where nothing can be shown."""
    corpus = corpus_in_sidebar()
    with st.sidebar:
        preset = controls.method_picker(corpus)
        st.caption(f"{algorithms()[preset.key].__doc__} {algorithms()[preset.key].note}")
        settings = controls.settings_for(preset, corpus)
        clicked = st.button("Run", type="primary", icon=":material/play_arrow:", width="stretch")
    task = runs.Task(corpus, preset.name if preset.options else preset.key, settings)
    state = st.session_state
    before: runs.Task | None = state.get("asked")
    if before is None or before.corpus is not corpus or (clicked and before.key != task.key):
        state["asked"], state["asked before"] = task, before if before is not None and before.corpus is corpus else None
    asked: runs.Task = state["asked"]
    try:
        result = runs.obtain("workbench", [asked])[0]
    except fc.FactScopeError as error:
        sorry(error)
        if (last := state.get("asked before")) is None:
            st.session_state.pop("asked")
            st.stop()
        state["asked"] = asked = last
        result = runs.obtain("workbench", [asked])[0]
    if result.stopped != "cancelled":
        kept.enter(asked, result)
    if (why := kept.trouble()) is not None:
        st.warning(plain(why))
    earlier: runs.Task | None = state.get("asked before")
    previous = (runs.remembered(earlier) or kept.recalled(earlier)) if earlier is not None else None
    return Shown(asked, result, previous, asked.key != task.key)
