"""Several runs beside one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

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


def curves_apart(objectives: Mapping[str, np.ndarray]) -> go.Figure:
    """The objective of several runs, each in a panel with its own axis (LCCF figure 3); the start, far above, is left to zooming out."""
    figure = make_subplots(1, len(objectives), subplot_titles=[text(n) for n in objectives], horizontal_spacing=0.28 / len(objectives))
    for i, (name, values) in enumerate(objectives.items()):
        shown = np.asarray(values, dtype=float)
        figure.add_scatter(
            x=np.arange(len(shown)), y=shown, name=text(name), line={"color": colour(i), "width": 2.5}, mode="lines", showlegend=False,
            hovertemplate="step %{x}<br>%{y:.5g}<extra>" + text(name) + "</extra>", row=1, col=i + 1,
        )  # fmt: skip
        after = shown[1:] if len(shown) > 1 else shown
        spread = float(after.max() - after.min()) or abs(float(after.max())) or 1.0
        figure.update_yaxes(range=[after.min() - 0.05 * spread, after.max() + 0.05 * spread], nticks=6, automargin=True, row=1, col=i + 1)
        figure.update_xaxes(range=[0, max(len(shown) - 1, 1)], row=1, col=i + 1)
    finish(figure, x="step", height=320)
    figure.update_yaxes(title_text="objective", row=1, col=1)
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
