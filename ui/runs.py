"""Runs of a page: started, watched, kept for the session."""

from __future__ import annotations

import time
from typing import Any

import streamlit as st

import fact_core as fc
from fact_core.corpus import Corpus
from fact_core.figures import convergence
from fact_core.solve import Progress

FRAME = 0.25  # seconds between two pictures of a growing curve


def run(corpus: Corpus, method: str, settings: dict[str, Any]) -> fc.Result:
    """`fc.fit`, with the curve growing on the page while it works."""
    place = st.empty()
    drawn = time.monotonic()
    curve: dict[str, list[float]] = {}

    def watch(at: Progress) -> None:
        nonlocal drawn
        if at.iterate.step == 0:
            curve.clear()
        for name, value in at.iterate.terms.items():
            curve.setdefault(name, []).append(value)
        if time.monotonic() - drawn < FRAME:
            return
        drawn = time.monotonic()
        with place.container():
            st.progress(at.share, f"Start {at.start + 1}, step {at.iterate.step}: {at.done} of {at.total} steps")
            st.plotly_chart(convergence(curve, settings.get("max_iter")), key=f"growing-{at.done}")

    try:
        return fc.fit(corpus, method, progress=watch, **settings)
    finally:
        place.empty()


def kept(page: str) -> tuple[fc.Result, Any] | tuple[None, None]:
    """The result this page showed last in this session, and what it was asked with."""
    return st.session_state.get(f"result-{page}", (None, None))


def keep(page: str, result: fc.Result, asked: Any) -> None:
    st.session_state[f"result-{page}"] = (result, asked)
