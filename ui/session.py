"""Who is there: one key for a browser, so that what a person uploads, runs and starts is found again after a reload, and by nobody else."""

from __future__ import annotations

import secrets

import streamlit as st

COOKIE = "factscope"
YEAR = 365 * 24 * 3600
LENGTH = 43  # of a key: 32 random bytes in base 64


def owner() -> str:
    """The key of this browser: from its cookie, or a new one that it then keeps."""
    if "owner" not in st.session_state:
        known = str(st.context.cookies.get(COOKIE, ""))
        plain = len(known) == LENGTH and known.replace("-", "").replace("_", "").isalnum()
        st.session_state["owner"] = known if plain else secrets.token_urlsafe(32)
        st.session_state["cookie is new"] = not plain
    return st.session_state["owner"]


def leave_cookie() -> None:
    """Let a new browser keep its key; called once a script, before anything is drawn."""
    key = owner()
    if st.session_state["cookie is new"]:
        st.html(
            f'<script>document.cookie = "{COOKIE}={key}; max-age={YEAR}; path=/; samesite=strict" '
            '+ (location.protocol === "https:" ? "; secure" : "")</script>',
            unsafe_allow_javascript=True,
        )
