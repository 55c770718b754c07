"""The store behind the pages: runs are looked up before anything is computed, kept afterwards, and opened again in Explore."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

import fact_core as fc
from fact_core.corpus import Corpus
from fact_core.presets import resolve
from fact_core.store import Kept, Store
from fact_core.study import address, arrays_of, describe

from . import links
from .corpus import Origin, corpus_names, origin_of, part, read_as, whole_corpus
from .session import owner

if TYPE_CHECKING:
    from .runs import Task


@st.cache_resource(show_spinner=False)
def store() -> Store:
    return Store()


def recalled(task: Task) -> fc.Result | None:
    """A run computed before, whoever asked for it; None where the store has nothing or cannot be read."""
    origin = origin_of(task.corpus)
    try:
        where = address(origin.whole.fingerprint, origin.select, task.method, task.settings)
        found = store().get([where]).get(where)
        return store().reopen(where, task.corpus) if found is not None and found.arrays else None
    except fc.FactScopeError:
        return None


def keeper(tasks: Sequence[Task]) -> Callable[[Task, fc.Result], None]:
    """What keeps the results of these tasks, in a thread that knows nothing of the session."""
    origins = {task.key: origin_of(task.corpus) for task in tasks}
    kept, trouble = store(), st.session_state.setdefault("store trouble", {})

    def keep(task: Task, result: fc.Result) -> None:
        origin = origins[task.key]
        run = describe(result, task.method, task.settings, whole=origin.whole, select=origin.select, source=origin.source)
        try:
            kept.keep(run, arrays_of(result))
            trouble.pop("why", None)
        except fc.FactScopeError as error:  # the result is there all the same; the page says that it will not last
            trouble["why"] = str(error)

    return keep


def enter(task: Task) -> None:
    """Put a finished run into this person's history."""
    origin = origin_of(task.corpus)
    if st.session_state.get("entered") == task.key:
        return
    st.session_state["entered"] = task.key
    try:
        store().remember(address(origin.whole.fingerprint, origin.select, task.method, task.settings), owner())
    except fc.FactScopeError as error:
        st.session_state.setdefault("store trouble", {})["why"] = str(error)


def open_in_explore(address: str) -> None:
    """Show a kept run in Explore, with the corpus and the sliders it was made with; a sentence where that cannot be."""
    from .runs import Task, remember

    found = store().get([address]).get(address)
    if found is None:
        raise fc.FactScopeError("That run is no longer in the store.")
    run = found.run
    corpus = _corpus_of(found)
    settings = {name: value for name, value in run.options.items() if value is not None} | {"n_clusters": run.clusters}
    preset = resolve(run.method)
    task = Task(corpus, preset.name if preset.options else preset.key, settings)
    if found.arrays:
        remember(task, store().reopen(address, corpus))
    links.put("method", task.method)
    for name, value in (run.parameters | settings).items():
        if name in preset.options:
            continue
        shared = name in {"kernel", "weighting", "restarts", "seed"}
        key = f"k.{corpus.fingerprint[:8]}" if name == "n_clusters" else name if shared else f"{run.key}.{name}"
        links.put(key, value)
    st.session_state["asked"], st.session_state["asked before"] = task, None
    store().remember(address, owner())
    st.switch_page("pages/explore.py")


def _corpus_of(found: Kept) -> Corpus:
    """The documents of a kept run, chosen in the sidebar as it chose them."""
    run = found.run
    name = run.source.get("corpus") or _upload_of(run.fingerprint)
    if name not in corpus_names():
        raise fc.FactScopeError(f"{run.corpus} is not among the corpora here; upload it on the Corpus page to open this run.")
    reading = dict(run.source.get("reading", {}))
    whole = whole_corpus(name, **reading)
    chosen = whole.select(**run.select)
    read_as(name, reading)
    links.put("corpus", name)
    at_most = run.select.get("at_most")
    if whole.labels is not None:
        links.put(f"{name}.classes", list(chosen.label_names))
        links.put(f"{name}.at_most", at_most)
    corpus = part(name, whole, chosen.label_names, at_most)
    if corpus.fingerprint != run.chosen:
        raise fc.FactScopeError(f"The documents of this run cannot be chosen on the page: {run.corpus} has changed, or they were drawn.")
    return corpus


def _upload_of(fingerprint: str) -> str:
    """The name of this visitor's upload with this content."""
    origins: dict[str, Origin] = st.session_state.get("origins", {})
    return next((o.name for o in origins.values() if o.upload and o.whole.fingerprint == fingerprint), "")


def trouble() -> str | None:
    """Why nothing is kept at present, in a sentence."""
    said: dict[str, Any] = st.session_state.get("store trouble", {})
    return said.get("why")
