"""Several runs beside one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from .style import SEQUENTIAL, colour, finish, text

DASHES = ("solid", "dash", "dot", "dashdot", "longdash")


def curves(objectives: Mapping[str, np.ndarray], relative: bool = False) -> go.Figure:
    """The objective of several runs against the step: as it is, or as the distance above the lowest value each reaches, relative to it."""
    figure = go.Figure()
    for i, (name, values) in enumerate(objectives.items()):
        shown = np.asarray(values, dtype=float)
        if relative:
            best = shown.min()
            shown = (shown - best) / (abs(best) or 1.0)
            shown = np.where(shown > 0, shown, np.nan)  # the lowest value itself has no place on a logarithmic axis
        line = {"color": colour(i), "width": 2.5, "dash": DASHES[i // 16 % len(DASHES)]}
        figure.add_scatter(
            x=np.arange(len(shown)), y=shown, name=text(name), line=line,
            mode="lines" if len(shown) > 1 else "markers", marker={"size": 10},
            hovertemplate="step %{x}<br>%{y:.5g}<extra>" + text(name) + "</extra>",
        )  # fmt: skip
    finish(figure, x="step", y="above its lowest value, relative" if relative else "objective", height=400)
    figure.update_layout(showlegend=True)
    figure.update_yaxes(type="log", exponentformat="power")
    return figure


def agreement(table: np.ndarray, names: Sequence[str]) -> go.Figure:
    """Agreement between clusterings (adjusted Rand index) as a matrix."""
    labels = [text(n) for n in names]
    figure = go.Figure(
        go.Heatmap(
            z=table, x=labels, y=labels, zmin=0, zmax=1, colorscale=SEQUENTIAL, xgap=2, ygap=2,
            text=np.round(table, 2), texttemplate="%{text}",
            showscale=False,
            hovertemplate="%{y}<br>%{x}<br>ARI %{z:.3f}<extra></extra>",
        )
    )  # fmt: skip
    finish(figure, x="method", y="method", height=max(320, 42 * len(names) + 120))
    figure.update_yaxes(autorange="reversed", type="category", showgrid=False)
    figure.update_xaxes(type="category", showgrid=False)
    return figure
