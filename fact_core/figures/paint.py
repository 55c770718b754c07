"""Plotly's flat traces, axes, shapes and annotations painted on matplotlib axes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib import ticker
from matplotlib.transforms import blended_transform_factory

from . import words

GRID = "#DDDDDD"
INK = "#222222"
MANY = 3000  # cells of a heat map that are still drawn one by one; more are one picture
PADDING = 1 / 18  # of the extent, that Plotly leaves beside points
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "oooo", "++++", "----")


@dataclass
class Axis:
    """One axis of a panel: which place a value has."""

    layout: Any
    categories: list[str] | None = None  # None for numbers

    @property
    def log(self) -> bool:
        return self.layout.type == "log"

    @property
    def reversed(self) -> bool:
        given = self.layout.range
        return self.layout.autorange == "reversed" or (given is not None and given[0] is not None and given[0] > given[1])

    def place(self, values: Any) -> np.ndarray:
        if values is None:
            return np.array([])
        if self.categories is None:
            return np.array([np.nan if v is None else float(v) for v in values])
        at = {name: float(i) for i, name in enumerate(self.categories)}
        return np.array([at[str(v)] if str(v) in at else float(v) for v in values])

    def spot(self, value: Any) -> float:
        """Where a shape or an annotation stands: there a number is the place itself, on an axis of categories, too."""
        return float(self.place([value])[0]) if isinstance(value, str) else float(value)


@dataclass
class Panel:
    """Two axes and what is drawn between them."""

    ax: Any
    x: Axis
    y: Axis
    traces: list[tuple[int, Any]]  # with their numbers in the figure
    bars: list[Any] = field(default_factory=list)  # what colour bars are made of, with their Plotly settings
    stacked: Any = 0.0  # how high the bars stand so far, where they stand on one another


def axis_of(layout: Any, traces: list[tuple[int, Any]], letter: str) -> Axis:
    """Numbers or categories, as the layout says or the values are; categories in the order in which they come."""
    if layout.type in (None, "-", "category", "multicategory"):
        values = [v for _, t in traces for v in words.listed(getattr(t, letter, None))]
        if layout.type == "category" or (values and not words.is_number(values)):
            given = words.listed(layout.categoryarray)
            return Axis(layout, list(dict.fromkeys(str(v) for v in [*given, *values])))
    return Axis(layout)


def paint(panel: Panel, barmode: str | None, style: Any, scale: float) -> None:
    """All traces of a panel, then its axes."""
    bars = [t for _, t in panel.traces if t.type == "bar"]
    before: tuple[np.ndarray, np.ndarray] | None = None
    for order, trace in panel.traces:
        if trace.visible in (False, "legendonly"):
            continue
        if trace.type in ("scatter", "scattergl"):
            before = _scatter(panel, order, trace, before, style, scale)
        elif trace.type == "bar":
            _bar(panel, order, trace, bars.index(trace) if trace in bars else 0, len(bars), barmode or "group", style, scale)
        elif trace.type in ("heatmap", "contour", "image"):
            _cells(panel, order, trace, style, scale)
        else:
            raise NotImplementedError(f"traces of the type {trace.type}")
    _axes(panel, style, scale)


def _scatter(panel: Panel, order: int, trace: Any, before: Any, style: Any, scale: float) -> tuple[np.ndarray, np.ndarray]:
    ax = panel.ax
    y = panel.y.place(trace.y)
    x = panel.x.place(trace.x) if trace.x is not None else np.arange(len(y), dtype=float)
    mode = trace.mode or ("lines" if len(x) > 20 else "lines+markers")
    own = trace.line.color or (trace.marker.color if isinstance(trace.marker.color, str) else None) or words.COLORWAY[order % 10]
    step = {"hv": "steps-post", "vh": "steps-pre", "hvh": "steps-mid"}.get(trace.line.shape or "", "default")
    if trace.fill not in (None, "none"):
        given = trace.fillcolor
        shade = words.colour(given) if given else (*words.colour(own)[:3], 0.5)
        shade = words.grey(shade) if style.monochrome else shade
        if trace.fill == "tonexty" and before is not None and len(before[0]) == len(x):
            ax.fill_between(x, before[1], y, color=shade, lw=0, gid=f"trace-{order}-fill", zorder=1)
        elif trace.fill == "tozeroy":
            ax.fill_between(x, 0, y, color=shade, lw=0, gid=f"trace-{order}-fill", zorder=1)
        else:
            ax.fill(x, y, color=shade, lw=0, gid=f"trace-{order}-fill", zorder=1)
    width = 2.0 if trace.line.width is None else float(trace.line.width)
    if "lines" in mode and width > 0:
        shade = style.shade(own, order, trace.opacity)
        line = style.dashed(trace.line.dash, order)
        more = style.spaced(order, len(x)) if "markers" not in mode else {}
        ax.plot(x, y, color=shade, lw=0.75 * scale * width, ls=line, drawstyle=step, gid=f"trace-{order}-line", zorder=2.5, **more)
    if "markers" in mode:
        _markers(panel, order, trace, x, y, own, style, scale)
    if "text" in mode:
        said = words.listed(trace.text) if not isinstance(trace.text, str) else [trace.text] * len(x)
        for at, to, word in zip(x, y, said, strict=False):
            up = str(trace.textposition or "").startswith("top")
            ax.annotate(words.plain(word), (at, to), xytext=(0, 3 if up else 0), textcoords="offset points", ha="center",
                        va="bottom" if up else "center", fontsize=0.85 * style.size)  # fmt: skip
    for error, across in ((trace.error_y, False), (trace.error_x, True)):
        if error is not None and error.array is not None and error.visible is not False:
            spread = np.asarray(error.array, dtype=float)
            both = spread if error.arrayminus is None else np.array([np.asarray(error.arrayminus, dtype=float), spread])
            ax.errorbar(x, y, **{"xerr" if across else "yerr": both}, fmt="none", ecolor=style.shade(own, order, None),
                        elinewidth=0.8 * scale, capsize=2 * scale, gid=f"trace-{order}-error")  # fmt: skip
    return x, y


def _markers(panel: Panel, order: int, trace: Any, x: np.ndarray, y: np.ndarray, own: str, style: Any, scale: float) -> None:
    m = trace.marker
    opacity = (1.0 if m.opacity is None else float(np.mean(m.opacity))) * (1.0 if trace.opacity is None else trace.opacity)
    if opacity == 0:  # there to be pointed at, not to be seen
        return
    size = np.asarray(6 if m.size is None else m.size, dtype=float)
    symbol, is_open = style.symbol(m.symbol if isinstance(m.symbol, str) or m.symbol is None else m.symbol[0], order)
    common = {"s": (0.75 * scale * size) ** 2, "marker": symbol, "gid": f"trace-{order}", "zorder": 3}
    if m.color is None or isinstance(m.color, str):
        shade = style.shade(m.color or own, order, opacity)
        edge = words.colour(m.line.color) if m.line.width and m.line.color else "none"
        width = 0.75 * scale * (m.line.width or (1.5 if is_open else 0))
        panel.ax.scatter(x, y, color="none" if is_open else shade, edgecolors=shade if is_open else edge, linewidths=width, **common)
    elif all(isinstance(c, str) for c in m.color):
        panel.ax.scatter(x, y, color=[words.colour(c, opacity) for c in m.color], lw=0, **common)
    else:
        ramp = words.colour_map(m.colorscale, bool(m.reversescale), style.monochrome)
        found = panel.ax.scatter(
            x, y, c=np.asarray(m.color, dtype=float), cmap=ramp, vmin=m.cmin, vmax=m.cmax, alpha=opacity, lw=0, **common
        )
        if m.showscale is not False:
            panel.bars.append((found, m.colorbar))


def _bar(panel: Panel, order: int, trace: Any, which: int, several: int, mode: str, style: Any, scale: float) -> None:
    flat = trace.orientation == "h"
    along, value = (panel.y.place(trace.y), panel.x.place(trace.x)) if flat else (panel.x.place(trace.x), panel.y.place(trace.y))
    if len(along) == 0:
        along = np.arange(len(value), dtype=float)
    gap = float(np.min(np.diff(np.unique(along)))) if len(np.unique(along)) > 1 else 1.0
    side_by_side = mode == "group" and several > 1
    width = 0.8 * gap / (several if side_by_side else 1) if trace.width is None else np.asarray(trace.width, dtype=float)
    at = along + (0.8 * gap * ((which + 0.5) / several - 0.5) if side_by_side else 0.0)
    given = trace.marker.color
    opacity = trace.opacity if trace.opacity is not None else trace.marker.opacity
    if given is None or isinstance(given, str):
        shades = [style.shade(given or words.COLORWAY[order % 10], order, opacity)] * len(at)
        hatches = [style.hatch(order)] * len(at)
    else:
        shades = [style.tone(c, i, opacity) for i, c in enumerate(given)]
        hatches = [""] * len(at)
    base = 0.0 if trace.base is None else np.asarray(trace.base, dtype=float)
    if mode == "stack":
        base = panel.stacked
    draw = panel.ax.barh if flat else panel.ax.bar
    lengths: dict[str, Any] = {"height": width, "left": base} if flat else {"width": width, "bottom": base}
    patches = draw(at, value, color=shades, lw=0.3 if style.monochrome else 0, edgecolor=INK, zorder=2, gid=f"trace-{order}", **lengths)
    for patch, hatch in zip(patches, hatches, strict=True):
        patch.set_hatch(hatch)
        patch.set_gid(f"trace-{order}")
    if mode == "stack":
        panel.stacked = base + value
    if trace.text is not None and trace.textposition in (None, "outside", "auto"):
        said = [trace.text] * len(at) if isinstance(trace.text, str) else list(trace.text)
        small = min(0.85 * style.size, _room(panel, at, flat) if not flat else style.size)
        for place, end, word in zip(at, np.asarray(base) + value, said, strict=True):
            shown = words.plain(word if not isinstance(word, float) else f"{word:g}")
            spot, away = ((end, place), (2, 0)) if flat else ((place, end), (0, 1.5))
            if small >= 3.5:
                panel.ax.annotate(shown, spot, xytext=away, textcoords="offset points", ha="left" if flat else "center",
                                  va="center" if flat else "bottom", fontsize=small, annotation_clip=False)  # fmt: skip
    if trace.error_y is not None and trace.error_y.array is not None:
        panel.ax.errorbar(at, value, yerr=np.asarray(trace.error_y.array, dtype=float), fmt="none", ecolor=INK, elinewidth=0.8, capsize=2)


def _room(panel: Panel, at: np.ndarray, flat: bool) -> float:
    """Points of text height at which numbers of three figures over bars do not run into one another."""
    box = panel.ax.get_position()
    inches = panel.ax.get_figure().get_size_inches()
    return float((box.height * inches[1] if flat else box.width * inches[0]) * 72 / max(len(at), 1) / 2.2)


def _cells(panel: Panel, order: int, trace: Any, style: Any, scale: float) -> None:
    ax = panel.ax
    z = np.asarray([[np.nan if v is None else v for v in row] for row in trace.z], dtype=float) if trace.type != "image" else trace.z
    z = np.asarray(z)
    if trace.type == "image":
        ax.imshow(z.astype(np.uint8), interpolation="none", aspect="equal", origin="upper", gid=f"trace-{order}")
        return
    x = panel.x.place(trace.x) if trace.x is not None else np.arange(z.shape[1]) * (trace.dx or 1.0) + (trace.x0 or 0.0)
    y = panel.y.place(trace.y) if trace.y is not None else np.arange(z.shape[0]) * (trace.dy or 1.0) + (trace.y0 or 0.0)
    finite = z[np.isfinite(z)]
    low = trace.zmin if trace.zmin is not None else float(finite.min()) if len(finite) else 0.0
    high = trace.zmax if trace.zmax is not None else float(finite.max()) if len(finite) else 1.0
    common = {"cmap": words.colour_map(trace.colorscale, bool(trace.reversescale), style.monochrome), "vmin": low, "vmax": high}
    if trace.type == "contour":
        found = ax.contourf(x, y, z, levels=12, **common)
    elif z.size > MANY and not panel.x.log and not panel.y.log and _even(x) and _even(y):
        edges = [*_edges(x, False)[[0, -1]], *_edges(y, False)[[0, -1]]]
        found = ax.imshow(z, extent=edges, origin="lower", aspect="auto", interpolation="none", gid=f"trace-{order}", zorder=1, **common)
    else:
        line = (
            {"edgecolors": "white", "linewidth": 0.75 * scale * (trace.xgap or 0)} if trace.xgap else {"edgecolors": "face", "linewidth": 0}
        )
        found = ax.pcolormesh(_edges(x, panel.x.log), _edges(y, panel.y.log), z, gid=f"trace-{order}", zorder=1, **line, **common)
    if trace.texttemplate:
        span = max(high - low, 1e-300)
        said = trace.text if trace.text is not None else np.full(z.shape, "")
        size = min(style.size, _room(panel, x, False) * 0.95, 1.4 * _room(panel, y, True))
        for (r, c), value in np.ndenumerate(z):
            shown = words.filled(trace.texttemplate, said[r][c], value)
            if shown and size >= 3.0:
                back = found.cmap(np.clip((value - low) / span, 0, 1)) if np.isfinite(value) else (1, 1, 1, 1)
                ink = "white" if np.dot(back[:3], (0.299, 0.587, 0.114)) < 0.55 else INK
                ax.text(x[c], y[r], shown, ha="center", va="center", fontsize=size, color=ink, zorder=4)
    if trace.showscale is not False:
        panel.bars.append((found, trace.colorbar))


def _even(places: np.ndarray) -> bool:
    return len(places) < 3 or bool(np.allclose(np.diff(places), np.diff(places)[0]))


def _edges(centres: np.ndarray, log: bool) -> np.ndarray:
    """Borders half-way between the centres of cells."""
    c = np.log10(centres) if log else centres
    if len(c) == 1:
        edges = np.array([c[0] - 0.5, c[0] + 0.5])
    else:
        middle = (c[:-1] + c[1:]) / 2
        edges = np.concatenate([[2 * c[0] - middle[0]], middle, [2 * c[-1] - middle[-1]]])
    return 10**edges if log else edges


def _axes(panel: Panel, style: Any, scale: float) -> None:
    ax = panel.ax
    for name, axis in (("x", panel.x), ("y", panel.y)):
        layout, drawn = axis.layout, getattr(ax, f"{name}axis")
        if axis.log:
            getattr(ax, f"set_{name}scale")("log")
        getattr(ax, f"set_{name}lim")(*limits(panel, name))
        getattr(ax, f"set_{name}label")(words.plain(layout.title.text), fontsize=style.size)
        if layout.showgrid is not False and axis.categories is None and layout.visible is not False:
            ax.grid(True, axis=name, color=GRID, lw=0.5, zorder=0)
        ax.tick_params(name, labelsize=0.9 * style.size, width=0.5, length=2.5, color="#777777")
        _ticks(axis, drawn, style)
        if layout.showticklabels is False or layout.visible is False:
            ax.tick_params(name, which="both", length=0, labelbottom=False, labelleft=False)
    if panel.x.layout.visible is False and panel.y.layout.visible is False:
        ax.set_axis_off()
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_linewidth(0.6)
        ax.spines[side].set_color("#777777")
    if panel.y.layout.scaleanchor or panel.x.layout.scaleanchor:
        ax.set_aspect(float(panel.y.layout.scaleratio or 1.0), adjustable="box")


def _ticks(axis: Axis, drawn: Any, style: Any) -> None:
    layout = axis.layout
    if layout.tickvals is not None:
        places = axis.place(layout.tickvals)
        names = words.listed(layout.ticktext) if layout.ticktext is not None else [words.number(layout.tickformat)(p) for p in places]
        drawn.set_ticks(places, [words.plain(t) for t in names])
        if axis.log:
            drawn.set_minor_locator(ticker.NullLocator())
    elif axis.categories is not None:
        drawn.set_ticks(range(len(axis.categories)), [words.plain(c) for c in axis.categories])
    elif axis.log:
        drawn.set_major_locator(ticker.LogLocator(10, numticks=7))
        drawn.set_minor_locator(ticker.NullLocator())
        drawn.set_major_formatter(ticker.FuncFormatter(lambda v, _: power(v)) if _decades(drawn) else ticker.FuncFormatter(_short))
        if not _decades(drawn):
            drawn.set_major_locator(ticker.LogLocator(10, subs=(1, 2, 5), numticks=12))
    else:
        whole = layout.tickformat == "d" or (layout.dtick is not None and float(layout.dtick) == int(layout.dtick))
        if layout.dtick is not None and isinstance(layout.dtick, int | float):
            drawn.set_major_locator(ticker.MultipleLocator(float(layout.dtick)))
        else:
            drawn.set_major_locator(ticker.MaxNLocator(layout.nticks or 6, integer=whole, steps=[1, 2, 2.5, 5, 10]))
        if layout.tickformat:
            form: Callable[[float], str] = words.number(layout.tickformat)
            drawn.set_major_formatter(ticker.FuncFormatter(lambda v, _: form(v)))


def _decades(drawn: Any) -> bool:
    low, high = sorted(drawn.get_view_interval())
    return bool(high >= 30 * low)


def _short(value: float, _: Any) -> str:
    return f"{value:.3g}"


def power(value: float) -> str:
    """1, 10, 100, then 10³ and so on; 10⁻⁴ and so on below."""
    exponent = round(np.log10(value)) if value > 0 else 0
    if 0 <= exponent <= 2 or exponent == -1:
        return f"{value:g}"
    digits = str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{digits}"


def limits(panel: Panel, name: str) -> tuple[float, float]:
    """The range of an axis: the one given, or as Plotly finds it."""
    axis = panel.x if name == "x" else panel.y
    given = axis.layout.range
    if given is not None and given[0] is not None and given[1] is not None:
        low, high = float(given[0]), float(given[1])
        return (10**low, 10**high) if axis.log else (low, high)
    values, pad, edge = [np.array([])], 0.0, []
    for _, trace in panel.traces:
        if trace.type in ("heatmap", "contour", "image"):
            if trace.type == "image":
                size = np.asarray(trace.z).shape[1 if name == "x" else 0]
                edge += [-0.5, size - 0.5]
                continue
            own = getattr(trace, name)
            length = np.asarray(trace.z).shape[1 if name == "x" else 0]
            edge += list(_edges(axis.place(own) if own is not None else np.arange(length, dtype=float), axis.log)[[0, -1]])
        elif trace.type == "bar":
            flat = trace.orientation == "h"
            places = axis.place(getattr(trace, name))
            if flat == (name == "y"):  # the side on which bars stand
                gap = float(np.min(np.diff(np.unique(places)))) if len(np.unique(places)) > 1 else 1.0
                edge += [float(places.min()) - gap / 2, float(places.max()) + gap / 2] if len(places) else []
            else:
                values += [places, np.zeros(1), np.asarray(panel.stacked).ravel()]
                pad = PADDING
        else:
            places = (
                axis.place(getattr(trace, name)) if getattr(trace, name) is not None else np.arange(len(words.listed(trace.y)), dtype=float)
            )
            values.append(places)
            lines_only = trace.mode == "lines" and not (trace.fill and name == "y")
            pad = max(pad, 0.0 if lines_only and name == "x" else PADDING)
    known = np.concatenate(values)
    known = known[np.isfinite(known) & ((known > 0) | (not axis.log))]
    if axis.log:
        known = np.log10(known)
    bounds = [*edge] if not axis.log else [float(np.log10(e)) for e in edge]
    if len(known):
        low, high = float(known.min()), float(known.max())
        spread = (high - low) * pad if high > low else 0.5
        stands = pad and any(t.type == "bar" for _, t in panel.traces) and low == 0
        bounds += [low if stands else low - spread, high + spread]
    if axis.categories is not None and not edge:
        bounds += [-0.5, len(axis.categories) - 0.5]
    if not bounds:
        bounds = [0.0, 1.0]
    low, high = min(bounds), max(bounds)
    if axis.layout.rangemode == "tozero" and not axis.log:
        low, high = min(low, 0.0) if low < 0 else 0.0, max(high, 0.0)
    if high <= low:
        low, high = low - 0.5, high + 0.5
    if axis.log:
        low, high = 10**low, 10**high
    return (high, low) if axis.reversed else (low, high)


def shape(panel: Panel, given: Any, style: Any, scale: float) -> None:
    """A line or a rectangle of the layout, in data or along the whole panel."""
    ax = panel.ax
    ends = {}
    transforms = {}
    for name, axis in (("x", panel.x), ("y", panel.y)):
        ref = str(given[f"{name}ref"] or name)
        whole = ref == "paper" or ref.endswith("domain")
        values = [given[f"{name}0"], given[f"{name}1"]]
        ends[name] = [float(v) for v in values] if whole else [axis.spot(v) for v in values]
        transforms[name] = ax.transAxes if whole else ax.transData
    transform = blended_transform_factory(transforms["x"], transforms["y"])
    line = given.line
    look = {
        "color": style.plain(words.colour(line.color or "#444444", given.opacity)),
        "lw": 0.75 * scale * (2 if line.width is None else line.width),
    }
    if given.type == "line":
        ax.plot(
            ends["x"], ends["y"], transform=transform, ls=words.dash(line.dash), zorder=3, scalex=False, scaley=False, gid="shape", **look
        )
    elif given.type == "rect":
        from matplotlib.patches import Rectangle

        (x0, x1), (y0, y1) = ends["x"], ends["y"]
        fill = style.plain(words.colour(given.fillcolor, given.opacity)) if given.fillcolor else "none"
        ax.add_patch(Rectangle((x0, y0), x1 - x0, y1 - y0, transform=transform, facecolor=fill, edgecolor=look["color"], lw=look["lw"],
                               zorder=1.5, gid="shape"))  # fmt: skip


def annotation(panel: Panel, given: Any, style: Any, scale: float) -> None:
    """Words at a place of the data or of the panel, with their arrow."""
    spot: list[float] = []
    kinds: list[str] = []
    for name, axis in (("x", panel.x), ("y", panel.y)):
        ref, value = str(given[f"{name}ref"] or name), given[name]
        if ref == "paper" or ref.endswith("domain"):
            spot.append(float(value))
            kinds.append("axes fraction")
        else:
            at = axis.spot(value)
            spot.append(10**at if axis.log else at)  # Plotly's annotations of a logarithmic axis say the exponent
            kinds.append("data")
    across = {"left": "left", "right": "right"}.get(given.xanchor or "", "center")
    up = {"top": "top", "bottom": "bottom"}.get(given.yanchor or "", "bottom" if given.showarrow is not False else "center")
    arrow = None
    away = (0.75 * scale * float(given.xshift or 0), 0.75 * scale * float(given.yshift or 0))
    if given.showarrow is not False:
        arrow = {"arrowstyle": "-|>", "lw": 0.6 * scale, "color": words.colour(given.arrowcolor or INK), "shrinkB": 0}
        away = (
            0.75 * scale * float(given.ax if given.ax is not None else -10),
            -0.75 * scale * float(given.ay if given.ay is not None else -30),
        )
    size = style.size * (float(given.font.size) / 13 if given.font.size else 0.95)
    panel.ax.annotate(
        words.plain(given.text), tuple(spot), xycoords=(kinds[0], kinds[1]), xytext=away, textcoords="offset points", ha=across, va=up,
        arrowprops=arrow, fontsize=min(size, 1.1 * style.size), annotation_clip=False, zorder=5, rotation=-(given.textangle or 0),
        color=words.colour(given.font.color) if given.font.color and not style.monochrome else INK,
        bbox={"facecolor": words.colour(given.bgcolor), "edgecolor": "none", "pad": 1} if given.bgcolor else None,
    )  # fmt: skip
