"""The store behind the pages: runs are looked up before anything is computed, kept afterwards, and opened again in Explore."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import streamlit as st

import fact_core as fc
from fact_core.presets import resolve
from fact_core.store import Store
from fact_core.study import address, arrays_of, describe

from . import links
from .corpus import choose, origin_of
from .session import owner

if TYPE_CHECKING:
    from .runs import Task


GRACE = 2.0  # seconds in which a computed run is in the store


@st.cache_resource(show_spinner=False)
def store() -> Store:
    return Store()


def recalled(task: Task) -> fc.Result | None:
    """A run computed before, whoever asked for it, as far as it was kept; None where the store has nothing or cannot be read."""
    origin = origin_of(task.corpus)
    try:
        where = address(origin.whole.fingerprint, origin.select, task.method, task.settings)
        found = store().get([where]).get(where)
        return store().recall(found.run, task.corpus) if found is not None else None
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


def enter(task: Task, result: fc.Result) -> None:
    """Put a finished run into this person's history."""
    if st.session_state.get("entered") == task.key:
        return
    st.session_state["entered"] = task.key
    origin, kept, keep = origin_of(task.corpus), store(), keeper([task])
    where = address(origin.whole.fingerprint, origin.select, task.method, task.settings)

    def once_more() -> None:
        """A result from memory may have been deleted from the store since; one that was just computed is there by now."""
        with suppress(fc.FactScopeError):
            if not kept.get([where]):
                keep(task, result)

    try:
        kept.remember(where, owner())
        threading.Timer(GRACE, once_more).start()
    except fc.FactScopeError as error:
        st.session_state.setdefault("store trouble", {})["why"] = str(error)


def open_in_explore(address: str) -> None:
    """Show a kept run in Explore, with the corpus and the sliders it was made with; a sentence where that cannot be."""
    from .runs import Task, remember

    found = store().get([address]).get(address)
    if found is None:
        raise fc.FactScopeError("That run is no longer in the store.")
    run = found.run
    corpus = choose(
        run.source.get("corpus", run.corpus), run.source.get("reading", {}), run.select, None if run.source else run.fingerprint
    )
    if corpus.fingerprint != run.chosen:
        raise fc.FactScopeError(f"The documents of this run cannot be chosen on the page: {run.corpus} has changed, or they were drawn.")
    settings = {name: value for name, value in run.options.items() if value is not None} | {"n_clusters": run.clusters}
    preset = resolve(run.method)
    task = Task(corpus, preset.name if preset.options else preset.key, settings)
    if (there := store().recall(run, corpus)) is not None:
        remember(task, there)
    links.put("method", task.method)
    for name, value in (run.parameters | settings).items():
        if name in preset.options:
            continue
        shared = name in {"kernel", "weighting", "restarts", "solver", "seed"}
        key = f"k.{corpus.fingerprint[:8]}" if name == "n_clusters" else name if shared else f"{run.key}.{name}"
        links.put(key, value)
    st.session_state["asked"], st.session_state["asked before"] = task, None
    store().remember(address, owner())
    st.switch_page("pages/explore.py")


def trouble() -> str | None:
    """Why nothing is kept at present, in a sentence."""
    said: dict[str, Any] = st.session_state.get("store trouble", {})
    return said.get("why")
