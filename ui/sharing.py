"""Sharing a run by a link: only on purpose, and only to look at."""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st

import fact_core as fc
from fact_core.store import home
from fact_core.store.shares import Share, opened, share, shares, take_back
from fact_core.study import describe

from . import names
from .corpus import origin_of
from .runs import Task, completed
from .session import owner
from .words import plain, sorry

LINK = "shared"  # in the address of Explore


@st.cache_resource(show_spinner=False, max_entries=8, ttl=60)
def _opened(token: str) -> tuple[fc.Result, Share]:
    """Kept for a minute only: what is taken back must be gone."""
    return opened(home(), token)


def shared_run() -> fc.Result | None:
    """The run this page's link shares, with a word about it; None without such a link. A sentence ends the script where it is gone."""
    token = st.query_params.get(LINK)
    if token is None:
        return None
    try:
        result, it = _opened(token)
    except fc.FactScopeError as error:
        sorry(error)
        st.page_link("pages/explore.py", label="Go on to FactScope", icon=":material/explore:")
        st.stop()
    for concept, name in it.names.items():
        if not names.given_name(result, int(concept)):
            names.rename(result, int(concept), name)
    result = completed(result)
    st.info("Somebody shares this run with you, to look at. What you choose elsewhere is your own.", icon=":material/visibility:")
    return result


def share_switch(result: fc.Result, task: Task) -> None:
    """The switch that makes a run visible to whoever has its link, and hides it again."""
    with st.popover("Share", icon=":material/share:", width="stretch"):
        try:
            origin = origin_of(task.corpus)
            run = describe(result, task.method, task.settings, whole=origin.whole, select=origin.select, source=origin.source)
            mine = next((it for it in shares(home(), owner()) if it.run.address == run.address), None)
            wanted = st.toggle("Whoever has the link may look at this run", value=mine is not None, key=f"share.{run.address}")
            if wanted and mine is None:
                token = share(home(), result, run, owner(), names.given_names(result))
            elif mine is not None and not wanted:
                take_back(home(), mine.token, owner())
                _opened.clear()
                token = None
            else:
                token = mine.token if mine is not None else None
        except fc.FactScopeError as error:
            sorry(error)
            return
        if token is None:
            st.caption("Now nobody else sees it. A link to it carries a copy of its documents, too; it can be taken back at any time.")
            return
        place = urlsplit(str(st.context.url or ""))
        st.code(f"{place.scheme}://{place.netloc}{place.path}?{LINK}={token}", language=None, wrap_lines=True)
        st.caption(f"It shows this run on {plain(result.corpus.name)} with its documents, and nothing of yours besides.")
