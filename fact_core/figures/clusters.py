"""Clusters against classes, and their sizes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from .style import NEUTRAL, SEQUENTIAL, colour, finish, text


def confusion(table: np.ndarray, classes: Sequence[str], clusters: Sequence[str], order: np.ndarray | None = None) -> go.Figure:
    """Classes × clusters as a heat map with the counts; `order` arranges the clusters, so that the best match is the diagonal."""
    order = np.arange(table.shape[1]) if order is None else order
    counts = table[:, order]
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    few = counts.size <= 400
    figure = go.Figure(
        go.Heatmap(
            z=share,
            x=[text(clusters[int(c)]) for c in order],
            y=[text(c) for c in classes],
            customdata=counts,
            text=np.where(counts > 0, counts.astype(str), "") if few else None,
            texttemplate="%{text}" if few else None,
            colorscale=SEQUENTIAL,
            zmin=0,
            zmax=1,
            xgap=2 if few else 0,
            ygap=2 if few else 0,
            showscale=not few,
            colorbar={"title": {"text": "share of class", "side": "right"}, "tickformat": ".0%", "thickness": 12},
            hovertemplate="class %{y}<br>cluster %{x}<br>%{customdata} documents, %{z:.0%} of the class<extra></extra>",
        )
    )
    finish(figure, x="cluster", y="class", height=max(340, 24 * len(classes) + 90))
    figure.update_xaxes(type="category", showgrid=False)
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    return figure


def cluster_sizes(sizes: np.ndarray, clusters: Sequence[str]) -> go.Figure:
    """Documents in each cluster, in the clusters' colours."""
    return _bars(sizes, clusters, [colour(c) for c in range(len(sizes))], "cluster")


def class_purity(table: np.ndarray, classes: Sequence[str], clusters: Sequence[str]) -> go.Figure:
    """What each cluster is made of: the shares of the classes (`table` is classes × clusters), the largest one written out."""
    share = table / np.maximum(table.sum(axis=0, keepdims=True), 1)
    top = share.argmax(axis=0)
    figure = go.Figure()
    for c, name in enumerate(classes):
        figure.add_bar(
            x=[text(n) for n in clusters], y=share[c], name=text(name), marker_color=colour(c), customdata=table[c],
            hovertemplate="cluster %{x}<br>" + text(name) + "<br>%{customdata} documents, %{y:.1%}<extra></extra>",
        )  # fmt: skip
    for i, name in enumerate(clusters):
        if table[:, i].sum():
            figure.add_annotation(x=text(name), y=1, text=f"{share[top[i], i]:.0%}", showarrow=False, yanchor="bottom", font={"size": 11})
    finish(figure, x="cluster", y="share of the cluster", height=400, barmode="stack", showlegend=True)
    figure.update_layout(legend={"y": -0.22, "yanchor": "top", "x": 0.5, "xanchor": "center"})
    figure.update_xaxes(type="category")
    figure.update_yaxes(range=[0, 1.08], tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1])
    return figure


def class_sizes(sizes: np.ndarray, classes: Sequence[str], chosen: Sequence[bool] | None = None) -> go.Figure:
    """Documents in each class; those that are not chosen are pale."""
    chosen = [True] * len(sizes) if chosen is None else chosen
    return _bars(sizes, classes, [colour(0) if c else NEUTRAL for c in chosen], "class")


def _bars(sizes: np.ndarray, names: Sequence[str], colours: Sequence[str], what: str) -> go.Figure:
    figure = go.Figure(
        go.Bar(
            x=[text(n) for n in names], y=sizes, text=sizes if len(sizes) <= 40 else None, textposition="outside", cliponaxis=False,
            marker_color=colours, hovertemplate=what + " %{x}<br>%{y} documents<extra></extra>",
        )
    )  # fmt: skip
    finish(figure, x=what, y="documents")
    figure.update_xaxes(type="category")
    return figure
