"""The player: all frames of a scene are sent at once, and the browser plays, pauses, steps and scrubs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from fact_core.figures.stage import stage
from fact_core.lessons.scene import Numbers, Scene

from .points import plotly_js

HERE = Path(__file__).parent


@st.cache_resource(show_spinner=False)
def _component() -> object:
    plotly_js()
    return st.components.v2.component(
        "factscope_player",
        html=(HERE / "player.html").read_text(encoding="utf-8"),
        css=(HERE / "player.css").read_text(encoding="utf-8"),
        js=(HERE / "player.js").read_text(encoding="utf-8"),
        isolate_styles=False,
    )


def player(
    scene: Scene, key: str, *, height: int = 520, large: bool = False, at_end: bool = False, shown: Numbers | None = None,
    clicked: Callable[[int], None] | None = None,
) -> None:  # fmt: skip
    """Draw the scene; `clicked` is told the number of a document that is clicked, before the page is drawn again."""

    def report() -> None:
        point = st.session_state[key].point
        if clicked is not None and point is not None:
            clicked(int(point))

    data = stage(scene, height, 16 if large else 13).packed() | {
        "key": key,
        "steps": scene.steps.tolist(),
        "curve": scene.curve_name,
        "tracks": [
            {
                "title": p.title,
                "values": _numbers(p.curve),
                "measures": [{"name": m.name, "values": _numbers(m.values)} for m in p.measures],
                "notes": list(p.notes),
            }
            for p in scene.panels
        ],
        "large": large,
        "atEnd": at_end,
        "numbers": None if shown is None else _row(shown),
    }
    _component()(data=data, key=key, default={"point": None}, on_point_change=report)  # type: ignore[operator]


def _row(shown: Numbers) -> dict[str, Any]:
    return {
        "block": shown.block,
        "row": shown.row,
        "old": _numbers(shown.old),
        "up": {name: _numbers(values) for name, values in shown.up.items()},
        "down": {name: _numbers(values) for name, values in shown.down.items()},
        "power": shown.power,
        "new": _numbers(shown.new),
        "after": _numbers(shown.after),
    }


def _numbers(values: np.ndarray) -> list[Any]:
    """As JSON can carry them: what is not finite becomes nothing."""
    plain = np.asarray(values, dtype=object)
    return np.where(np.isfinite(values), plain, np.array(None)).tolist()
