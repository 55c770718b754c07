"""One visual language for all figures: colours, fonts, margins.

Colours are told apart with every common colour-vision deficiency (after Okabe and Ito, and Tol), and legible on white and on near-black.
Cluster c has colour c in every view.
"""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

PALETTE = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#B8A800", "#7A5BC4",
    "#44AA99", "#AA4466", "#999933", "#6699CC", "#DD7788", "#117733", "#997700", "#8899AA",
)  # fmt: skip
SEQUENTIAL = "Blues"
NEUTRAL = "#7F8894"


def colour(cluster: int) -> str:
    """The colour of a cluster, the same everywhere; it comes round again after the sixteenth."""
    return PALETTE[cluster % len(PALETTE)]


def finish(figure: go.Figure, *, x: str | None = None, y: str | None = None, height: int = 340, **layout: Any) -> go.Figure:
    """Axis titles, margins and a ground that takes the page's colour."""
    figure.update_layout(
        height=height,
        margin={"l": 10, "r": 10, "t": 36, "b": 10},
        font={"size": 13},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "xanchor": "right", "x": 1.0, "title": {"text": ""}},
        **layout,
    )
    if x is not None:
        figure.update_xaxes(title_text=x, automargin=True)
    if y is not None:
        figure.update_yaxes(title_text=y, automargin=True)
    return figure


def text(words: object) -> str:
    """Any words as words: plotly would take some of them for markup, or for a place to fill in."""
    return str(words).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("%{", "%&#123;")
