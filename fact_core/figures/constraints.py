"""Constraints as pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from .style import colour, finish, text


def link_matrix(Z: np.ndarray, classes: Sequence[str], sizes: np.ndarray, title: str) -> go.Figure:
    """Must-links (blue), cannot-links (orange) among documents ordered by class; between −1 and 1 after propagation."""
    most = float(np.abs(Z).max()) or 1.0
    figure = go.Figure(
        go.Heatmap(
            z=Z, zmin=-most, zmax=most, colorscale=[[0, "#D55E00"], [0.5, "#F7F7F7"], [1, "#0072B2"]],
            colorbar={"title": {"text": "cannot … must", "side": "right"}, "thickness": 12, "tickformat": ".2g", "nticks": 5},
            hovertemplate="%{y}, %{x}<br>%{z:.3g}<extra></extra>",
        )
    )  # fmt: skip
    edges = np.concatenate([[0], np.cumsum(sizes)])
    for edge in edges[1:-1] - 0.5:
        figure.add_vline(edge, line={"color": "#7F8894", "width": 1})
        figure.add_hline(edge, line={"color": "#7F8894", "width": 1})
    finish(figure, height=400)
    figure.update_layout(title={"text": text(title), "font": {"size": 13}})
    ticks = {"tickvals": (edges[:-1] + edges[1:] - 1) / 2, "ticktext": [text(c) for c in classes], "showgrid": False, "constrain": "domain"}
    figure.update_xaxes(title_text="documents, by class", **ticks)
    figure.update_yaxes(title_text="documents, by class", autorange="reversed", scaleanchor="x", automargin=True, **ticks)
    return figure


def constraint_effect(scores: Mapping[str, Mapping[str, float]]) -> go.Figure:
    """Scores by the kind of constraints used (RCF figure 3): one group of bars a kind, one bar a score."""
    kinds = list(scores)
    figure = go.Figure()
    for i, score in enumerate(next(iter(scores.values()))):
        values = [scores[kind][score] for kind in kinds]
        figure.add_bar(
            x=[text(k) for k in kinds], y=values, name=text(score), marker_color=colour(i),
            text=[f"{v:.3f}" for v in values], textposition="outside", cliponaxis=False,
            hovertemplate="%{x}<br>" + text(score) + " %{y:.3f}<extra></extra>",
        )  # fmt: skip
    finish(figure, x="constraints used", y="score", height=400, barmode="group")
    figure.update_yaxes(range=[0, 1.08])
    return figure
