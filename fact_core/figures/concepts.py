"""Concepts as lists of terms."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from .style import colour, finish, text


def concept_terms(concepts: Sequence[Sequence[tuple[str, float]]], names: Sequence[str], columns: int = 3) -> go.Figure:
    """One panel a concept: its heaviest terms as bars, in the concept's colour."""
    columns = min(columns, len(concepts))
    rows = -(-len(concepts) // columns)
    figure = make_subplots(
        rows, columns, subplot_titles=[text(n) for n in names], horizontal_spacing=0.12, vertical_spacing=0.32 / max(rows, 2)
    )
    most = max((len(c) for c in concepts), default=1)
    for i, terms in enumerate(concepts):
        words, weights = [text(t) for t, _ in terms], [w for _, w in terms]
        # The words are category positions: the same word may stand in several panels, but only once in each.
        figure.add_bar(
            x=weights, y=words, orientation="h", marker_color=colour(i), showlegend=False,
            hovertemplate="%{y}<br>weight %{x:.4g}<extra></extra>", row=i // columns + 1, col=i % columns + 1,
        )  # fmt: skip
    figure.update_yaxes(type="category", autorange="reversed", automargin=True, showgrid=False)
    figure.update_xaxes(nticks=4, rangemode="tozero")
    finish(figure, height=rows * (most * 19 + 75) + 40)
    for column in range(1, columns + 1):
        figure.update_xaxes(title_text="weight", row=rows, col=column)
    return figure
