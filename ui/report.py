"""What a person gathers for a report: figures and tables in order, each with its caption; kept for the session."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import Any

import streamlit as st

from fact_core.corpus import Corpus
from fact_core.figures.static import Style
from fact_core.report.archive import Item
from fact_core.report.kinds import Drawn
from fact_core.report.source import Source

_numbers = count(1)


@dataclass
class Entry:
    """A figure or table of the report; its caption may change."""

    item: Item
    caption: str
    number: int = field(default_factory=lambda: next(_numbers))  # its own, whatever its place

    @property
    def final(self) -> Item:
        return Item(self.item.source, self.item.drawn, self.caption, self.item.upload)


def items() -> list[Entry]:
    return st.session_state.setdefault("report", [])


def add(source: Source, drawn: Drawn, caption: str, upload: Corpus | None = None) -> None:
    items().append(Entry(Item(source, drawn, caption, upload), caption))


def move(entry: Entry, by: int) -> None:
    """Up or down by so many places."""
    every = items()
    at = every.index(entry)
    every.insert(max(0, min(len(every) - 1, at + by)), every.pop(at))


def remove(entry: Entry) -> None:
    items().remove(entry)


def style() -> Style:
    """How figures are printed."""
    found: Any = st.session_state.get("figure style")
    return Style() if found is None else found


def put_style(new: Style) -> None:
    st.session_state["figure style"] = new
