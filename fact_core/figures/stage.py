"""Scenes that move: a figure of the first frame, and for each trace that moves the numbers of every other frame.

The browser holds them all and moves the traces itself, so that nothing is asked of the server while a run is played.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from ..lessons.scene import CORNERS, Cloud, Grid, Scene
from .style import NEUTRAL, colour, finish, text

FAINT = "rgba(127,136,148,0.25)"
INK = "ink"  # `meta` of a trace that takes the colour of the page's text
BLUES = [[0.0, "rgba(0,114,178,0.03)"], [1.0, "rgba(0,114,178,1)"]]
SIGNED = [[0.0, "rgb(213,94,0)"], [0.5, "rgba(127,136,148,0.06)"], [1.0, "rgb(0,114,178)"]]


@dataclass
class Stage:
    """A figure with its moves, ready to be sent."""

    figure: go.Figure
    arrays: list[np.ndarray] = field(default_factory=list)  # frames × points × axes, or frames × rows × columns
    moves: list[dict[str, Any]] = field(default_factory=list)

    def move(self, array: np.ndarray, **how: Any) -> None:
        self.arrays.append(np.asarray(array, dtype=np.float32))
        self.moves.append({"trace": len(self.figure.data) - 1, "array": len(self.arrays) - 1} | how)

    def again(self, **how: Any) -> None:
        """The newest trace moves with the array before."""
        self.moves.append({"trace": len(self.figure.data) - 1, "array": len(self.arrays) - 1} | how)

    def packed(self) -> dict[str, Any]:
        """As it is sent: places as single-precision numbers, shades (−1 … 1) as whole numbers up to 127, −128 for none."""
        shades = {move["array"] for move in self.moves if move.get("z")}
        arrays = [_bytes(_whole(a) if i in shades else a) for i, a in enumerate(self.arrays)]
        return {"figure": self.figure.to_json(), "arrays": arrays, "moves": self.moves}


def _whole(shades: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(shades), -128, np.round(127 * np.clip(np.nan_to_num(shades), -1, 1))).astype(np.int8)


def _bytes(a: np.ndarray) -> dict[str, Any]:
    return {"shape": a.shape, "whole": a.dtype == np.int8, "data": base64.b64encode(np.ascontiguousarray(a).tobytes()).decode()}


def stage(scene: Scene, height: int = 520, font: int = 13) -> Stage:
    """One column a method: what it shows above, its curve below with the point of the frame on it."""
    columns = len(scene.panels)
    figure = make_subplots(
        2, columns, row_heights=[0.78, 0.22], vertical_spacing=0.17, horizontal_spacing=0.09 if columns < 3 else 0.07,
        subplot_titles=[text(p.title) for p in scene.panels] + [f"{scene.curve_name} against the step"] * columns,
    )  # fmt: skip
    drawn = Stage(figure)
    named: set[str] = set()
    for column, panel in enumerate(scene.panels, start=1):
        if isinstance(panel.view, Cloud):
            _cloud(drawn, panel.view, column, named)
        else:
            _grid(drawn, panel.view, column)
        _curve(drawn, panel.curve, scene, column)
    finish(figure, height=height)
    figure.update_xaxes(fixedrange=True)
    figure.update_yaxes(fixedrange=True)
    for place, title in enumerate(figure.layout.annotations[: 2 * columns]):
        title.font.size = font + 1 if place < columns else font - 2
    figure.update_layout(
        font={"size": font}, margin={"l": 8, "r": 8, "t": 30, "b": 26}, uirevision="stage",
        legend={"y": 0.27, "yanchor": "middle", "x": 0.5, "xanchor": "center", "itemsizing": "constant", "bgcolor": "rgba(0,0,0,0)"},
    )  # fmt: skip
    return drawn


def _cloud(drawn: Stage, view: Cloud, column: int, named: set[str]) -> None:
    figure, solid = drawn.figure, view.places.shape[2] == 3
    axes = "xyz" if solid else "xy"  # three coordinates are seen through a camera, which the browser has

    def add(places: np.ndarray, **more: Any) -> None:
        figure.add_trace(go.Scatter(x=places[:, 0], y=places[:, 1], cliponaxis=not solid, **more), 1, column)

    if solid:
        _axes(drawn, view, add)
        view = replace(view, places=view.places / max(map(abs, view.reach)))
    if view.corners:
        triangle = CORNERS[[0, 1, 2, 0]]
        add(triangle, mode="lines", line={"color": NEUTRAL, "width": 1}, hoverinfo="skip", showlegend=False)
        for c, (x, y) in enumerate(CORNERS):
            figure.add_annotation(text=f"{c + 1}", x=x, y=y, showarrow=False, yshift=10 if c == 2 else -10, row=1, col=column)
    if view.edges is not None and len(view.edges):
        rows = [int(i) for a, b in view.edges for i in (a, b, -1)]
        add(
            _gathered(view.places[0], rows),
            mode="lines",
            line={"color": "rgba(127,136,148,0.45)", "width": 1},
            hoverinfo="skip",
            showlegend=False,
        )
        drawn.move(view.places, axes=axes, rows=rows)
    moves = len(view.places) > 1 or solid
    if moves and (view.edges is None or not len(view.edges)):
        drawn.arrays.append(np.asarray(view.places, dtype=np.float32))
    for g, name in enumerate(view.names):
        rows = np.flatnonzero(view.groups == g).tolist()
        open_ = view.made is not None
        marker: dict[str, Any] = {"size": 7, "color": colour(g), "opacity": 0.9, "line": {"width": 0.5, "color": NEUTRAL}}
        if open_:
            marker |= {"size": 6, "opacity": 0.55, "symbol": "circle-open", "line": {"width": 1, "color": colour(g)}}
        add(
            view.places[0][rows], mode="markers", marker=marker, name=text(name), legendgroup=name, showlegend=name not in named,
            customdata=rows, text=[text(view.titles[i]) for i in rows], hovertemplate="%{text}<extra></extra>",
        )  # fmt: skip
        named.add(name)
        if moves:
            drawn.again(axes=axes, rows=rows)
    if view.made is not None:
        drawn.arrays.append(np.asarray(view.made, dtype=np.float32))
        for g in range(len(view.names)):
            rows = np.flatnonzero(view.groups == g).tolist()
            add(view.made[0][rows], mode="markers", marker={"size": 4, "color": colour(g)}, hoverinfo="skip", showlegend=False)
            drawn.again(axes=axes, rows=rows)
    if view.bases is not None:
        k = view.bases.shape[1]
        length = np.maximum(np.linalg.norm(view.bases, axis=2, keepdims=True), np.finfo(float).tiny)
        far = view.bases / length * 1.5 * view.reach[1]  # the ray goes on to the edge of the panel
        with_origin = np.concatenate([view.bases, far, np.zeros_like(view.bases[:, :1])], axis=1)
        rays = [i for c in range(k) for i in (2 * k, k + c, -1)]
        line = {"color": NEUTRAL, "width": 1.2, "dash": "dot"}
        add(_gathered(with_origin[0], rays), mode="lines", line=line, hoverinfo="skip", showlegend=False)
        drawn.move(with_origin, axes=axes, rows=rays)
        more = {
            "meta": INK,
            "hovertemplate": "basis<extra></extra>",
            "showlegend": "bases" not in named,
            "name": "bases",
            "legendgroup": "bases",
        }
        add(
            view.bases[0],
            mode="markers",
            marker={"size": 13, "symbol": "diamond", "color": "#000", "line": {"width": 1, "color": "#FFF"}},
            **more,
        )
        named.add("bases")
        drawn.again(axes=axes, rows=list(range(k)))
    if solid:
        plain = {"showticklabels": False, "showgrid": False, "zeroline": False}
        across = f"x{'' if column == 1 else column}"
        figure.update_xaxes(range=[-0.86, 0.86], row=1, col=column, **plain)
        figure.update_yaxes(range=[-1.12 if view.reach[0] < 0 else -0.5, 1.15], row=1, col=column, scaleanchor=across, **plain)
        return
    low, high = view.reach
    hidden = {"showticklabels": False, "showgrid": False} if view.corners else {"gridcolor": FAINT}
    top = high if not view.corners else 0.98
    figure.update_xaxes(range=[low, high], zeroline=False, row=1, col=column, **hidden)
    anchor = {"scaleanchor": f"x{'' if column == 1 else column}"} if view.corners else {}
    figure.update_yaxes(range=[low, top], zeroline=False, row=1, col=column, **hidden, **anchor)


def _axes(drawn: Stage, view: Cloud, add: Callable[..., None]) -> None:
    """Three axes of length 1, to both sides where coordinates can be negative, and their names at the ends."""
    back = view.reach[0] / max(map(abs, view.reach))
    ends = np.concatenate([np.eye(3), back * np.eye(3)])
    lines = [i for a in range(3) for i in (a + 3, a, -1)]
    add(_gathered(ends, lines)[:, :2], mode="lines", line={"color": NEUTRAL, "width": 1.2}, hoverinfo="skip", showlegend=False)
    drawn.move(ends[None], axes="xyz", rows=lines)
    add(ends[:3, :2], mode="text", text=[text(a) for a in view.axes], meta=INK, hoverinfo="skip", showlegend=False)
    drawn.move(1.08 * np.eye(3)[None], axes="xyz", rows=[0, 1, 2])


def _grid(drawn: Stage, view: Grid, column: int) -> None:
    figure, first = drawn.figure, view.values[0]
    scale = {"colorscale": SIGNED, "zmin": -1, "zmax": 1} if view.signed else {"colorscale": BLUES, "zmin": 0, "zmax": 1}
    names = view.rows and not view.signed
    gaps = {} if view.pixels or view.signed else {"xgap": 2, "ygap": 1}
    hover = {"hoverinfo": "skip"} if view.pixels else {"hovertemplate": "%{y}, %{x}: %{z:.2f}<extra></extra>"}
    figure.add_trace(go.Heatmap(z=first, showscale=False, **gaps, **hover, **scale), 1, column)
    drawn.move(view.values, z=True)
    if view.pixels:
        plain = {"showticklabels": False, "ticks": "", "showgrid": False, "zeroline": False, "constrain": "domain"}
        figure.update_xaxes(row=1, col=column, **plain)
        figure.update_yaxes(row=1, col=column, autorange="reversed", scaleanchor=f"x{'' if column == 1 else column}", **plain)
        return
    if names:
        ticks = {"tickvals": list(range(len(view.rows))), "ticktext": [text(r) for r in view.rows]}
        figure.update_yaxes(row=1, col=column, autorange="reversed", automargin=True, showgrid=False, zeroline=False, **ticks)
        across = {"tickvals": list(range(len(view.columns))), "ticktext": [text(c) for c in view.columns]}
        figure.update_xaxes(row=1, col=column, title_text="concept", showgrid=False, zeroline=False, **across)
        return
    kinds, sizes = list(dict.fromkeys(view.rows)), [0]
    for kind in kinds:
        sizes.append(sizes[-1] + view.rows.count(kind))
    middle = [(a + b - 1) / 2 for a, b in pairwise(sizes)]
    for edge in sizes[1:-1]:
        for shape in (
            {"x0": edge - 0.5, "x1": edge - 0.5, "y0": -0.5, "y1": sizes[-1] - 0.5},
            {"y0": edge - 0.5, "y1": edge - 0.5, "x0": -0.5, "x1": sizes[-1] - 0.5},
        ):
            figure.add_shape(type="line", line={"color": NEUTRAL, "width": 1}, row=1, col=column, **shape)
    short = [text(kind.rpartition(".")[2]) for kind in kinds]
    ticks = {"tickvals": middle, "ticktext": short, "showgrid": False, "zeroline": False, "constrain": "domain"}
    figure.update_xaxes(row=1, col=column, **ticks)
    figure.update_yaxes(row=1, col=column, autorange="reversed", automargin=True, tickangle=-90, **ticks)


def _curve(drawn: Stage, values: np.ndarray, scene: Scene, column: int) -> None:
    figure, steps = drawn.figure, scene.steps
    after = values[1:] if len(values) > 1 else values
    after = after[np.isfinite(after)]
    low, high = (float(after.min()), float(after.max())) if len(after) else (0.0, 1.0)
    share = scene.curve_name != "objective"
    log = not share and low > 0 and high >= 30 * low
    if share:
        low, high = 0.0, 1.0
    elif not log:
        pad = 0.08 * (high - low) or abs(high) * 0.05 or 1.0
        low, high = low - pad, high + pad
    else:
        low, high = low / 1.4, high * 1.4
    line = {"color": colour(0), "width": 2}
    figure.add_scatter(
        x=steps, y=values, mode="lines", line=line, hovertemplate="step %{x}: %{y:.6g}<extra></extra>", showlegend=False, row=2, col=column
    )
    # The start lies far above the rest: its point waits at the upper edge.
    edge = 1e-4 * (high - low)  # what lies on the edge itself is not drawn
    inside = np.clip(np.nan_to_num(values, nan=high), low + edge * (not log), high - edge)
    marker = {"size": 11, "color": colour(5), "line": {"width": 1.5, "color": "#FFF"}}
    figure.add_scatter(
        x=steps[:1], y=inside[:1], mode="markers", marker=marker, hoverinfo="skip", showlegend=False, cliponaxis=False, row=2, col=column
    )
    drawn.move(np.stack([np.asarray(steps, dtype=float), inside], axis=1)[:, None, :], axes="xy", rows=[0])
    figure.update_xaxes(nticks=5, range=[0, max(int(steps[-1]), 1)], gridcolor=FAINT, zeroline=False, row=2, col=column)
    span = [np.log10(low), np.log10(high)] if log else [low, high]
    more: dict[str, Any] = {"type": "log", "exponentformat": "power", "dtick": 1 if high < 1e5 * low else 2} if log else {"nticks": 4}
    if share:
        more |= {"tickformat": ".0%"}
    figure.update_yaxes(range=span, gridcolor=FAINT, zeroline=False, automargin=True, row=2, col=column, **more)


def _gathered(places: np.ndarray, rows: list[int]) -> np.ndarray:
    """These rows, nothing where a row is −1."""
    return np.where(np.array(rows)[:, None] >= 0, places[rows], np.nan)
