"""Scores over a grid: against one parameter, over two, against the number of classes beside what is printed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..parameters import Param, Scale
from .style import NEUTRAL, SEQUENTIAL, colour, finish, text

SCORES = {
    "accuracy": "accuracy", "nmi": "NMI", "ari": "ARI", "purity": "purity", "silhouette": "silhouette", "cut": "cut",
    "coherence": "coherence",
    "objective": "objective", "steps": "steps", "seconds": "seconds",
}  # fmt: skip
MARKS = ("circle", "square", "diamond", "cross", "x", "triangle-up", "star", "hexagon")


def sensitivity(rows: pd.DataFrame, axis: Param, score: str, others: Sequence[Param] = ()) -> go.Figure:
    """A score against a parameter (LCCF figures 1 and 2, RCF figures 4 to 6).

    `rows` are those of a study. One line a method, and a value of each of the `others`: the mean over the seeds, with a band of one
    standard deviation and the runs as points, whose `customdata` is the run's address. A method without the parameter is a level line.
    Published settings are marked.
    """
    some = rows[rows["score"] == score]
    place = _places(axis, some[axis.name].dropna().unique()) if axis.name in some else {}
    figure = go.Figure()
    by = ["method", *(p.name for p in others if p.name in some)]
    for i, (key, line) in enumerate(some.groupby(by, sort=False, dropna=False)):
        name = text(", ".join([str(key[0]), *(_setting(p, v) for p, v in zip(others, key[1:], strict=True) if v == v)]))
        tone, mark = colour(i), MARKS[i % len(MARKS)]
        known = line[line[axis.name].notna()] if axis.name in line else line.iloc[:0]
        if known.empty:
            _level(figure, line, name, tone, list(place.values()))
            continue
        spread = known.groupby(axis.name)["value"].agg(["mean", "std"]).fillna({"std": 0.0})
        x = np.array([place[v] for v in spread.index])
        mean, sd = spread["mean"].to_numpy(), spread["std"].to_numpy()
        if sd.any():
            figure.add_scatter(
                x=np.concatenate([x, x[::-1]]), y=np.concatenate([mean + sd, (mean - sd)[::-1]]), fill="toself", fillcolor=_faint(tone),
                line={"width": 0}, mode="lines", hoverinfo="skip", showlegend=False, legendgroup=name, name=f"{name} ± sd",
            )  # fmt: skip
        figure.add_scatter(
            x=[place[v] for v in known[axis.name]], y=known["value"], mode="markers", name=f"{name}, runs", legendgroup=name,
            showlegend=False,
            marker={"color": tone, "size": 5, "opacity": 0.45, "symbol": mark}, customdata=known["run"],
            text=[f"{_setting(axis, v)}, seed {s}" for v, s in zip(known[axis.name], known["seed"], strict=True)],
            hovertemplate="%{text}<br>" + SCORES[score] + " %{y:.4g}<extra>" + name + "</extra>",
        )  # fmt: skip
        figure.add_scatter(
            x=x, y=mean, mode="lines+markers", name=name, legendgroup=name, line={"color": tone, "width": 2.5},
            marker={"size": 9, "symbol": mark}, customdata=_typical(known, axis.name, spread.index),
            text=[f"{_setting(axis, v)}<br>{SCORES[score]} {m:.4g} ± {s:.2g}" for v, m, s in zip(spread.index, mean, sd, strict=True)],
            hovertemplate="%{text}, mean of the seeds<extra>" + name + "</extra>",
        )  # fmt: skip
    for value in axis.published:
        if value in place:
            figure.add_vline(place[value], line={"color": NEUTRAL, "width": 1.5, "dash": "dot"})
            figure.add_annotation(
                x=place[value], y=1, yref="paper", yanchor="bottom", showarrow=False, text=f"published: {axis.show(value)}",
                font={"size": 11, "color": NEUTRAL},
            )  # fmt: skip
    finish(figure, x=_title(axis), y=SCORES[score], height=420)
    figure.update_layout(showlegend=True, legend={"y": 1.08})
    log = axis.scale is Scale.LOG
    figure.update_xaxes(zeroline=False, tickvals=list(place.values()), ticktext=[axis.show(v) for v in place] if place else None)
    figure.update_yaxes(zeroline=False)
    if log and place:
        figure.update_xaxes(title_text=f"{_title(axis)} (logarithmic)")
    return figure


def heat_map(rows: pd.DataFrame, x: Param, y: Param, score: str) -> go.Figure:
    """The mean of a score over two parameters; points over the cells carry the address of a typical run; published is framed."""
    some = rows[(rows["score"] == score) & rows[x.name].notna() & rows[y.name].notna()]
    table = some.pivot_table(index=y.name, columns=x.name, values="value", sort=True)
    means = table.to_numpy(dtype=float)
    columns: list[Any] = list(table.columns)
    lines: list[Any] = list(table.index)
    xs, ys = [x.show(v) for v in columns], [y.show(v) for v in lines]
    figure = go.Figure(
        go.Heatmap(
            z=means, x=xs, y=ys, colorscale=SEQUENTIAL, xgap=2, ygap=2, text=[[f"{v:.3g}" for v in line] for line in means],
            texttemplate="%{text}", colorbar={"title": {"text": SCORES[score], "side": "right"}, "thickness": 12}, hoverinfo="skip",
        )
    )  # fmt: skip
    # A heat map cannot be clicked in a page, points can.
    cells = [(i, j) for i in range(len(ys)) for j in range(len(xs)) if not np.isnan(means[i, j])]
    runs = {at: group for at, group in some.groupby([y.name, x.name])}
    groups = [runs[lines[i], columns[j]] for i, j in cells]
    figure.add_scatter(
        x=[xs[j] for _, j in cells], y=[ys[i] for i, _ in cells], mode="markers", showlegend=False, name="runs",
        marker={"size": 26, "opacity": 0.0, "symbol": "square"}, customdata=[_nearest_mean(g) for g in groups],
        text=[f"{x.symbol} = {xs[j]}, {y.symbol} = {ys[i]}<br>{SCORES[score]} {g['value'].mean():.4g}, {len(g)} runs"
              for (i, j), g in zip(cells, groups, strict=True)],
        hovertemplate="%{text}<extra></extra>",
    )  # fmt: skip
    for a in x.published:
        for b in y.published:
            if a in columns and b in lines:
                j, i = columns.index(a), lines.index(b)
                frame = {"color": "#D55E00", "width": 3}
                figure.add_shape(type="rect", x0=j - 0.5, x1=j + 0.5, y0=i - 0.5, y1=i + 0.5, line=frame)
                figure.add_annotation(
                    x=j,
                    y=i - 0.38,
                    text="published",
                    showarrow=False,
                    font={"size": 10, "color": "#D55E00"},
                    bgcolor="rgba(255,255,255,0.8)",
                )
    finish(figure, x=_title(x), y=_title(y), height=max(360, 46 * len(ys) + 130))
    figure.update_xaxes(type="category", showgrid=False)
    figure.update_yaxes(type="category", showgrid=False)
    return figure


def scores_against_k(table: pd.DataFrame, measure: str) -> go.Figure:
    """Means over the runs against the number of classes, with standard deviations; the printed ones dotted, in the same colour."""
    figure = go.Figure()
    for i, (method, line) in enumerate(table.groupby("method", sort=False)):
        name, tone, mark = text(method), colour(i), MARKS[i % len(MARKS)]
        for kind, values, sd in (
            ("recomputed", line[measure], line[f"{measure}_sd"]),
            ("printed", line[f"printed_{measure}"], None),
        ):
            if values.notna().any():
                printed = kind == "printed"
                figure.add_scatter(
                    x=line["k"], y=values, mode="lines+markers", name=f"{name}, printed" if printed else name, legendgroup=name,
                    line={"color": tone, "width": 1.5 if printed else 2.5, "dash": "dot" if printed else "solid"},
                    marker={"size": 8, "symbol": f"{mark}-open" if printed else mark},
                    error_y=None if sd is None else {"type": "data", "array": sd.fillna(0), "thickness": 1, "width": 3},
                    hovertemplate="k = %{x}<br>" + SCORES[measure] + " %{y:.3f}<extra>" + f"{name}, {kind}" + "</extra>",
                )  # fmt: skip
    finish(figure, x="k, number of classes", y=SCORES[measure], height=460)
    figure.update_layout(showlegend=True, legend={"orientation": "v", "x": 1.02, "y": 1, "xanchor": "left", "yanchor": "top"})
    figure.update_xaxes(dtick=1 if table["k"].nunique() < 12 else None, zeroline=False)
    return figure


def _places(axis: Param, values: Iterable[Any]) -> dict[Any, float]:
    """Where each value stands: its logarithm on a logarithmic scale (zero one step left of the smallest), a number of its own for words."""
    values = list(values)
    if axis.choices or any(isinstance(v, str) for v in values):
        return {v: float(i) for i, v in enumerate(values)}
    ordered = sorted(values)
    if axis.scale is not Scale.LOG:
        return {v: float(v) for v in ordered}
    positive = [float(np.log10(v)) for v in ordered if v > 0]
    step = min(np.diff(positive), default=1.0)
    zero = (positive[0] if positive else 0.0) - max(step, 0.5)
    return {v: float(np.log10(v)) if v > 0 else zero for v in ordered}


def _level(figure: go.Figure, line: pd.DataFrame, name: str, tone: str, places: list[float]) -> None:
    """A method that does not have the parameter: the same everywhere."""
    ends = [min(places), max(places)] if places else [0.0, 1.0]
    figure.add_scatter(
        x=ends, y=[line["value"].mean()] * 2, mode="lines", name=name, legendgroup=name, line={"color": tone, "width": 2, "dash": "dash"},
        customdata=[_nearest_mean(line)] * 2, hovertemplate="%{y:.4g}, whatever the parameter<extra>" + name + "</extra>",
    )  # fmt: skip


def _typical(known: pd.DataFrame, name: str, values: Iterable[Any]) -> list[str]:
    return [_nearest_mean(known[known[name] == v]) for v in values]


def _nearest_mean(runs: pd.DataFrame) -> str:
    """The run whose score is nearest to the mean: what a click on the mean opens."""
    return str(runs["run"].to_numpy()[(runs["value"] - runs["value"].mean()).abs().to_numpy().argmin()])


def _setting(param: Param, value: Any) -> str:
    return f"{text(param.symbol)} = {param.show(value)}"


def _title(param: Param) -> str:
    return text(param.symbol if param.doc == param.symbol else f"{param.symbol}, {param.doc}")


def _faint(tone: str) -> str:
    red, green, blue = (int(tone[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.15)"
