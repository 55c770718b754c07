"""How a choice of k and λ is justified."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from .compare import DASHES
from .style import NEUTRAL, SEQUENTIAL, colour, finish, text


def criterion_curves(table: pd.DataFrame, criterion: str, symbol: str = "", chosen: tuple[int, float | None] | None = None) -> go.Figure:
    """A criterion against k, one line for each value of the parameter, with the standard error of the agreement; the choice ringed.

    `table` is that of :class:`fact_core.selection.Evidence`.
    """
    figure = go.Figure()
    values = table["value"].drop_duplicates().sort_values().tolist()
    for i, value in enumerate(values):
        own = table[table["value"].isna() if value != value else table["value"] == value].sort_values("k")
        name = f"{text(symbol)} = {value:g}" if value == value else text(criterion)
        error = {"type": "data", "array": own["agreement_se"], "thickness": 1, "width": 3} if criterion == "agreement" else None
        figure.add_scatter(
            x=own["k"], y=own[criterion], name=name, mode="lines+markers", error_y=error, marker={"size": 7},
            line={"color": colour(i), "width": 2.5, "dash": DASHES[i % len(DASHES)]},
            hovertemplate="k = %{x}<br>%{y:.3f}<extra>" + name + "</extra>",
        )  # fmt: skip
    for i, value in enumerate(values):
        if chosen is not None and (value == chosen[1] or (value != value and chosen[1] is None)):
            here = table[(table["k"] == chosen[0]) & (table["value"].isna() if value != value else table["value"] == value)]
            figure.add_scatter(
                x=here["k"], y=here[criterion], name="suggested", mode="markers", hoverinfo="skip",
                marker={"size": 18, "symbol": "circle-open", "color": colour(i), "line": {"width": 3}},
            )  # fmt: skip
    finish(figure, x="k, clusters", y=criterion, height=380)
    figure.update_layout(showlegend=True)
    figure.update_xaxes(dtick=1, zeroline=False)
    return figure


def setting_map(table: pd.DataFrame, criterion: str, symbol: str, chosen: tuple[int, float | None] | None = None) -> go.Figure:
    """A criterion over k and the parameter as a heat map; the choice framed."""
    grid = table.pivot(index="value", columns="k", values=criterion)
    ys = [f"{v:g}" for v in grid.index]
    figure = go.Figure(
        go.Heatmap(
            z=grid.to_numpy(), x=list(grid.columns), y=ys, colorscale=SEQUENTIAL, xgap=2, ygap=2, text=np.round(grid.to_numpy(), 2),
            texttemplate="%{text}", showscale=False, hovertemplate="k = %{x}<br>%{y}<br>%{z:.3f}<extra></extra>",
        )
    )  # fmt: skip
    if chosen is not None and chosen[1] is not None:
        x, y = chosen[0], ys.index(f"{chosen[1]:g}")
        figure.add_shape(type="rect", x0=x - 0.5, x1=x + 0.5, y0=y - 0.5, y1=y + 0.5, line={"color": colour(5), "width": 4})
    finish(figure, x="k, clusters", y=text(symbol), height=120 + 44 * len(ys))
    figure.update_xaxes(dtick=1, showgrid=False)
    figure.update_yaxes(type="category", showgrid=False)
    return figure


def consensus_matrix(C: np.ndarray, documents: int) -> go.Figure:
    """How often each two documents are together, ordered so that clusters are blocks; `documents` is how many there are in all."""
    figure = go.Figure(
        go.Heatmap(
            z=C, zmin=0, zmax=1, colorscale=SEQUENTIAL, showscale=False,
            hovertemplate="together in %{z:.0%} of the runs that had both<extra></extra>",
        )
    )  # fmt: skip
    if np.isnan(C).any():  # no run had both documents
        never = np.where(np.isnan(C), 1.0, np.nan)
        figure.add_heatmap(z=never, colorscale=[[0, NEUTRAL], [1, NEUTRAL]], showscale=False, hoverinfo="skip")
    finish(figure, x=f"documents ({len(C)} of {documents})", y="documents", height=430)
    figure.update_yaxes(autorange="reversed", showticklabels=False, showgrid=False, scaleanchor="x", constrain="domain")
    figure.update_xaxes(showticklabels=False, showgrid=False, constrain="domain")
    return figure


def correlation_bars(found: dict[str, float]) -> go.Figure:
    """The rank correlation of each criterion with accuracy."""
    shown = {name: value for name, value in found.items() if value == value}
    figure = go.Figure(
        go.Bar(
            x=list(shown.values()), y=list(shown), orientation="h", text=[f"{v:+.2f}" for v in shown.values()], textposition="auto",
            marker={"color": [colour(0) if v > 0 else NEUTRAL for v in shown.values()]}, hovertemplate="%{y}: %{x:+.3f}<extra></extra>",
        )
    )  # fmt: skip
    finish(figure, x="rank correlation with accuracy, over the settings", height=110 + 34 * len(shown))
    figure.update_xaxes(range=[-1, 1])
    figure.update_yaxes(autorange="reversed")
    return figure
