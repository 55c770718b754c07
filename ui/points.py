"""The one component of our own: points that keep their camera and can be clicked.

`st.plotly_chart` replaces a chart whose figure changes, which turns every 3-D view back to where it began, and 3-D points cannot be
selected there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import streamlit as st

HERE = Path(__file__).parent
PLOTLY = HERE.parent / "static" / "plotly.min.js"


def plotly_js() -> None:
    """See that the browser can be served plotly.js: it comes with the plotly package, nothing is loaded from the web."""
    if not PLOTLY.exists():
        from plotly.offline import get_plotlyjs

        PLOTLY.parent.mkdir(exist_ok=True)
        PLOTLY.write_text(get_plotlyjs(), encoding="utf-8")


@st.cache_resource(show_spinner=False)
def _component() -> object:
    plotly_js()
    return st.components.v2.component(
        "factscope_points",
        html='<div class="factscope-points" style="width:100%"></div>',
        js=(HERE / "points.js").read_text(encoding="utf-8"),
        isolate_styles=False,
    )


def points(figure: go.Figure, key: str) -> int | None:
    """Draw the figure; the number of the document clicked last."""
    state = _component()(  # type: ignore[operator]
        data={"figure": figure.to_json(), "key": key}, key=key, default={"camera": None, "point": None},
        on_camera_change=lambda: None, on_point_change=lambda: None,
    )  # fmt: skip
    return None if state.point is None else int(state.point)


def camera(key: str) -> dict[str, Any] | None:
    """Where a person turned the points of this key to; None for where they began."""
    found = getattr(st.session_state.get(key), "camera", None)
    return dict(found) if found else None
