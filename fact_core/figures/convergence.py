"""The objective against the step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from .style import PALETTE, finish

NAMES = {"graph": "graph term", "locality": "locality term", "orthogonality": "orthogonality term", "labels": "known classes"}


def convergence(terms: Mapping[str, Sequence[float] | np.ndarray], budget: int | None = None) -> go.Figure:
    """The objective by term, one value a step; the sum too where there is more than one term.

    A random start lies orders of magnitude above the first step, so the axis shows the steps and leaves the start to the hover and to
    zooming out. It is logarithmic where the curves differ a hundredfold or more, since the lower ones would not show otherwise.
    """
    total = np.sum([np.asarray(v) for v in terms.values()], axis=0)
    steps = np.arange(len(total))
    curves = {"objective": total} | ({name: np.asarray(values) for name, values in terms.items()} if len(terms) > 1 else {})
    figure = go.Figure()
    for i, (name, values) in enumerate(curves.items()):
        label = NAMES[name] if name in NAMES else str(name)
        figure.add_scatter(
            x=steps, y=values, name=label, mode="lines" if len(steps) > 1 else "markers",
            line={"color": PALETTE[i], "width": 3 if i == 0 else 2, "dash": ("solid", "dash", "dot", "dashdot")[i % 4]},
            hovertemplate="%{y:.6g}<extra>" + label + "</extra>",
        )  # fmt: skip
    finish(figure, x="step", y="objective", showlegend=len(curves) > 1, hovermode="x unified")
    figure.update_xaxes(zeroline=False, range=[0, max(budget or len(total) - 1, 1)])
    figure.update_yaxes(zeroline=False)
    after = np.concatenate([values[1:] for values in curves.values()]) if len(total) > 1 else total
    low, high = float(after.min()), float(after.max())
    if low > 0 and high >= 100 * low:
        figure.update_yaxes(type="log", exponentformat="power", dtick=1, range=[np.log10(low / 1.5), np.log10(high * 1.5)])
    elif high > low:
        figure.update_yaxes(range=[low - 0.05 * (high - low), high + 0.05 * (high - low)])
    return figure
