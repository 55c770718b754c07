"""Bases as what they are: points among the points, pictures among the pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from .style import colour, finish, text


@dataclass(frozen=True)
class Bases:
    """One panel: points in the plane, their clusters, and the bases a method found."""

    title: str
    places: np.ndarray  # points × 2
    clusters: np.ndarray
    bases: np.ndarray  # bases × 2


def bases_over_points(panels: Sequence[Bases], axes: Sequence[str]) -> go.Figure:
    """The points of the plane by cluster, and the bases as diamonds (LCF figure 5); the panels have the same ranges, the origin in them."""
    figure = make_subplots(1, len(panels), subplot_titles=[text(p.title) for p in panels], horizontal_spacing=0.08)
    every = np.concatenate([np.concatenate([p.places, p.bases]) for p in panels] + [np.zeros((1, 2))])
    low, high = every.min(axis=0), every.max(axis=0)
    pad = 0.06 * np.where(high > low, high - low, 1.0)
    clusters = sorted({int(c) for p in panels for c in p.clusters})
    for column, panel in enumerate(panels, start=1):
        for c in clusters:
            rows = np.flatnonzero(panel.clusters == c)
            figure.add_scatter(
                x=panel.places[rows, 0], y=panel.places[rows, 1], mode="markers", name=f"cluster {c + 1}", legendgroup=f"{c}",
                showlegend=column == 1, marker={"size": 6, "color": colour(c), "opacity": 0.8}, customdata=rows,
                hovertemplate="point %{customdata}<extra>cluster " + f"{c + 1}</extra>", row=1, col=column,
            )  # fmt: skip
        figure.add_scatter(
            x=panel.bases[:, 0], y=panel.bases[:, 1], mode="markers", name="basis", legendgroup="basis", showlegend=column == 1,
            marker={"size": 12, "color": "#111111", "symbol": "diamond", "line": {"width": 1.5, "color": "#FFFFFF"}},
            hovertemplate="basis<br>%{x:.4g}, %{y:.4g}<extra></extra>", row=1, col=column,
        )  # fmt: skip
        figure.update_xaxes(title_text=text(axes[0]), range=[low[0] - pad[0], high[0] + pad[0]], zeroline=True, row=1, col=column)
        figure.update_yaxes(range=[low[1] - pad[1], high[1] + pad[1]], zeroline=True, row=1, col=column)
    finish(figure, height=400)
    figure.update_yaxes(title_text=text(axes[1]), row=1, col=1)
    figure.update_layout(legend={"y": -0.2, "yanchor": "top", "x": 0.5, "xanchor": "center", "itemsizing": "constant"})
    return figure


def basis_images(pictures: np.ndarray, names: Sequence[str], columns: int = 6) -> go.Figure:
    """Bases of pictures as pictures in a grid (concepts × rows × columns), each from black, nothing, to white, its largest value."""
    columns = max(1, min(columns, len(pictures)))
    rows = -(-len(pictures) // columns)
    figure = make_subplots(
        rows, columns, subplot_titles=[text(n) for n in names], horizontal_spacing=0.02, vertical_spacing=min(0.3, 0.24 / rows)
    )
    for i, picture in enumerate(pictures):
        figure.add_heatmap(
            z=picture, zmin=min(0.0, float(picture.min())), zmax=float(picture.max()) or 1.0, colorscale="Gray", showscale=False,
            hovertemplate=text(names[i]) + "<br>row %{y}, column %{x}<br>%{z:.4g}<extra></extra>", row=i // columns + 1,
            col=i % columns + 1,
        )  # fmt: skip
        name = "x" if i == 0 else f"x{i + 1}"
        figure.update_yaxes(scaleanchor=name, row=i // columns + 1, col=i % columns + 1)
    finish(figure, height=rows * (max(110, 700 // columns) + 34) + 30)
    figure.update_xaxes(visible=False, constrain="domain")
    figure.update_yaxes(visible=False, autorange="reversed", constrain="domain")
    figure.update_annotations(font={"size": 12})
    return figure
