"""Documents as points: in three dimensions (one panel or several that share a camera), in two, and their affinity as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from .style import SEQUENTIAL, colour, finish, text

# Panels side by side are narrow: the camera steps back until the cube fits.
DISTANCE = {1: 1.0, 2: 1.25, 3: 1.6}


@dataclass(frozen=True)
class Colouring:
    """What the colours mean: a group of each document with the groups' names, or a number of each."""

    title: str
    values: np.ndarray
    names: tuple[str, ...] = ()  # of the groups; none for numbers


@dataclass(frozen=True)
class Points:
    """One panel: a place for each document."""

    title: str
    places: np.ndarray  # documents × 2 or 3
    axes: tuple[str, ...]
    colouring: Colouring


def coordinates(panels: Sequence[Points], titles: Sequence[str], documents: np.ndarray, shown_of: int | None = None) -> go.Figure:
    """Documents in three dimensions, one scene a panel, or in two where the panels are flat.

    Hovering shows a title; `customdata` is the document's number, so that a click can fetch its text, which is never inside the figure.
    """
    flat = panels[0].places.shape[1] == 2
    figure = make_subplots(
        1, len(panels), specs=[[{"type": "xy" if flat else "scene"} for _ in panels]], subplot_titles=[text(p.title) for p in panels],
        horizontal_spacing=0.08 if flat else 0.02,
    )  # fmt: skip
    _add_points(figure, panels, titles, documents, first=1)
    finish(figure, height=560)
    if flat:
        figure.update_xaxes(automargin=True, zeroline=False, gridcolor="rgba(127,136,148,0.25)")
        figure.update_yaxes(automargin=True, zeroline=False, gridcolor="rgba(127,136,148,0.25)")
    figure.update_layout(legend={"y": -0.16 if flat else -0.02, "yanchor": "top", "x": 0.5, "xanchor": "center", "itemsizing": "constant"})
    if shown_of is not None and shown_of > len(titles):
        note = f"showing {len(titles):,} of {shown_of:,} documents"
        figure.add_annotation(text=note, x=1, y=1.06, xref="paper", yref="paper", showarrow=False, xanchor="right")
    return figure


def affinity_and_coordinates(
    A: np.ndarray, classes: Sequence[str], sizes: np.ndarray, panels: Sequence[Points], titles: Sequence[str], documents: np.ndarray
) -> go.Figure:
    """The NMF-PSPt figure whole: the affinity ordered by class, then what each method makes of it, under one camera."""
    letters = [f"({letter}) {name}" for letter, name in zip("abcdefgh", ["affinity", *(p.title for p in panels)], strict=False)]
    figure = make_subplots(
        1, len(panels) + 1, specs=[[{"type": "xy"}, *({"type": "scene"} for _ in panels)]], subplot_titles=[text(t) for t in letters],
        horizontal_spacing=0.02,
    )  # fmt: skip
    figure.add_trace(_heat(A, showscale=False), 1, 1)
    _class_borders(figure, classes, sizes, row=1, col=1)
    figure.update_xaxes(showticklabels=False, row=1, col=1)  # the same names as beside it, and the panel is small
    _add_points(figure, panels, titles, documents, first=2)
    finish(figure, height=420)
    figure.update_layout(legend={"y": -0.02, "yanchor": "top", "x": 0.5, "xanchor": "center", "itemsizing": "constant"})
    return figure


def _add_points(figure: go.Figure, panels: Sequence[Points], titles: Sequence[str], documents: np.ndarray, first: int) -> None:
    flat = panels[0].places.shape[1] == 2
    hover = [text(t) for t in titles]
    seen: set[str] = set()
    for column, panel in enumerate(panels, start=first):
        for name, rows, marker in _groups(panel.colouring, 5 if flat else 4):
            trace = {"x": panel.places[rows, 0], "y": panel.places[rows, 1], "mode": "markers", "marker": marker}
            trace |= {"name": text(name), "legendgroup": name, "showlegend": bool(name) and name not in seen}
            trace |= {"customdata": documents[rows], "text": [hover[i] for i in rows]}
            trace |= {"hovertemplate": "%{text}<extra></extra>"}
            seen.add(name)
            kind = go.Scatter(**trace) if flat else go.Scatter3d(z=panel.places[rows, 2], **trace)
            figure.add_trace(kind, 1, column)
        names = [text(a) for a in panel.axes]
        if flat:
            figure.update_xaxes(title_text=names[0], row=1, col=column)
            figure.update_yaxes(title_text=names[1], row=1, col=column)
        else:
            axis = {
                "showspikes": False,
                "backgroundcolor": "rgba(127,136,148,0.06)",
                "gridcolor": "rgba(127,136,148,0.35)",
                "nticks": 4,
                "tickfont": {"size": 10},
            }
            scene = {f"{a}axis": axis | {"title": {"text": n, "font": {"size": 11}}} for a, n in zip("xyz", names, strict=True)}
            figure.update_scenes(
                scene | {"camera": _camera(len(panels)), "aspectmode": "cube"},
                row=1,
                col=column,
            )


def affinity(A: np.ndarray, classes: Sequence[str], sizes: np.ndarray, shown_of: int | None = None) -> go.Figure:
    """The affinity of the documents, ordered by class, as a heat map; `sizes` are the classes' numbers of rows."""
    figure = go.Figure(_heat(A))
    _class_borders(figure, classes, sizes)
    finish(figure, height=480)
    figure.update_xaxes(title_text="documents, by class")
    figure.update_yaxes(title_text="documents, by class")
    if shown_of is not None and shown_of > len(A):
        figure.update_layout(title={"text": f"showing {len(A):,} of {shown_of:,} documents", "font": {"size": 12}})
    return figure


def _heat(A: np.ndarray, showscale: bool = True) -> go.Heatmap:
    return go.Heatmap(
        z=A, colorscale=SEQUENTIAL, showscale=showscale, colorbar={"title": {"text": "affinity", "side": "right"}, "thickness": 12},
        hovertemplate="%{y}, %{x}<br>affinity %{z:.3f}<extra></extra>",
    )  # fmt: skip


def _class_borders(figure: go.Figure, classes: Sequence[str], sizes: np.ndarray, **where: Any) -> None:
    """Lines between the classes of a square matrix and their names beside it."""
    edges = np.concatenate([[0], np.cumsum(sizes)])
    for edge in edges[1:-1] - 0.5:
        figure.add_vline(edge, line={"color": "#D55E00", "width": 1.5}, **where)
        figure.add_hline(edge, line={"color": "#D55E00", "width": 1.5}, **where)
    ticks = {"tickvals": (edges[:-1] + edges[1:] - 1) / 2, "ticktext": [text(c) for c in classes], "showgrid": False, "constrain": "domain"}
    figure.update_xaxes(**ticks, **where)
    figure.update_yaxes(autorange="reversed", scaleanchor="x", automargin=True, **ticks, **where)


def _camera(panels: int) -> dict[str, dict[str, float]]:
    away = DISTANCE[min(panels, 3)]
    return {"eye": {"x": 1.5 * away, "y": 1.4 * away, "z": 0.9 * away}, "center": {"x": 0, "y": 0, "z": -0.1}}


def _groups(colouring: Colouring, size: int) -> list[tuple[str, np.ndarray, dict[str, object]]]:
    """Name, rows and marker of each trace."""
    if not colouring.names:
        bar = {"title": {"text": text(colouring.title), "side": "right"}, "thickness": 12, "len": 0.7}
        every = np.arange(len(colouring.values))
        return [("", every, {"size": size, "color": colouring.values, "colorscale": "Viridis", "colorbar": bar, "opacity": 0.9})]
    outline = {"width": 0.5, "color": "rgba(127,136,148,0.6)"}
    return [
        (name, np.flatnonzero(colouring.values == g), {"size": size, "color": colour(g), "opacity": 0.9, "line": outline})
        for g, name in enumerate(colouring.names)
    ]
