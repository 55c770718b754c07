"""One name for a concept in every view."""

from __future__ import annotations

import streamlit as st

import fact_core as fc


def short_names(result: fc.Result) -> list[str]:
    """The number of each concept, with the name a person gave it."""
    given = _given(result)
    return [f"{c + 1} {given[c]}" if c in given else f"{c + 1}" for c in range(result.n_clusters)]


def long_names(result: fc.Result) -> list[str]:
    """The number with the given name, or with the two heaviest terms."""
    given = _given(result)
    tops = result.concepts(2)
    return [f"{c + 1} · {given.get(c) or ', '.join(term for term, _ in tops[c]) or 'empty'}" for c in range(result.n_clusters)]


def rename(result: fc.Result, concept: int, name: str) -> None:
    given = _given(result)
    if name.strip():
        given[concept] = name.strip()
    else:
        given.pop(concept, None)


def _given(result: fc.Result) -> dict[int, str]:
    key = (result.corpus.fingerprint, repr(result.algorithm), result.n_clusters, repr(result.options))
    return st.session_state.setdefault("concept names", {}).setdefault(key, {})


def given_names(result: fc.Result) -> dict[int, str]:
    return dict(_given(result))


def given_name(result: fc.Result, concept: int) -> str:
    return _given(result).get(concept, "")
