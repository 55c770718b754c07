"""People's own words on a page: shown as they are, never taken for Markdown, a formula, an icon, a link or markup.

Streamlit reads headings, captions, messages and help texts as Markdown. Whatever comes from a file (names, classes, terms, sentences
that quote them) goes through :func:`plain` before it gets there.
"""

from __future__ import annotations

import re

import streamlit as st

JOINER = "\u2060"  # takes no room; a backslash is gone before icons, emoji and bare addresses are looked for
MARKS = re.compile(r"([\\`*_\[\]<>~$&]|^[#+=-]|^\d+(?=[.)]))")  # the last two begin headings and lists


def plain(words: object) -> str:
    """Markdown that shows these words."""
    line = " ".join(str(words).split())
    line = re.sub(r"(:|@|(?<![^\W_])www\.)(?=\S)", rf"\1{JOINER}", line, flags=re.IGNORECASE)
    return MARKS.sub(lambda mark: f"{JOINER}{mark[0]}" if mark[0].isdigit() else f"\\{mark[0]}", line)


def sorry(error: object) -> None:
    """Say why something could not be done."""
    st.error(plain(error))
