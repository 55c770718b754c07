"""The one component of our own: points that keep their camera and can be clicked.

`st.plotly_chart` replaces a chart whose figure changes, which turns every 3-D view back to where it began, and 3-D points cannot be
selected there.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import streamlit as st

import fact_core as fc
from fact_core.figures import Colouring

from .names import long_names

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


def colouring(by: str, result: fc.Result, rows: np.ndarray, concept: int = 0) -> Colouring:
    """Colours of these documents by class, by cluster, or by the weight of a concept."""
    labels = result.corpus.labels
    if by == "class" and labels is not None:
        return Colouring(by, labels[rows], result.corpus.label_names)
    if by == "concept weight":
        return Colouring(f"weight of {long_names(result)[concept]}", result.embedding[rows, concept])
    return Colouring("cluster", result.labels[rows], tuple(long_names(result)))


def points(figure: go.Figure, key: str) -> int | None:
    """Draw the figure; the number of the document clicked last."""
    state = _component()(  # type: ignore[operator]
        data={"figure": figure.to_json(), "key": key}, key=key, default={"camera": None, "point": None},
        on_camera_change=lambda: None, on_point_change=lambda: None,
    )  # fmt: skip
    return None if state.point is None else int(state.point)
