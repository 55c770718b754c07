"""Any of our Figures as PDF, SVG or PNG, with matplotlib alone: no browser, text as text, in the width a journal prints.

What is drawn is read from the Plotly figure itself: its data, colours, ranges, camera and legend. Sizes of type are those of the printed
page, so everything else (lines, points, the height) is scaled with them. The same figure gives the same bytes.
"""

from __future__ import annotations

import io
import math
import threading
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import plotly.graph_objects as go

from ..errors import FactScopeError, unknown

FORMATS = ("pdf", "svg", "png")
POINT = 72.0
SCREEN = 9.75  # points: what the figures' 13 pixels of type are
NARROW = 13  # times the size of type that a scene needs at the least
_lock = threading.Lock()  # matplotlib's settings are the process's


@dataclass(frozen=True)
class Width:
    """A place on paper: inches across, and the points its captions are set in."""

    inches: float
    size: float
    about: str


WIDTHS = {
    "ieee-1": Width(3.5, 8, "IEEE, one column"),
    "ieee-2": Width(7.16, 8, "IEEE, two columns"),
    "acm-1": Width(3.33, 8, "ACM, one column"),
    "acm-2": Width(7.0, 8, "ACM, two columns"),
    "a4": Width(6.3, 10, "A4, across the text"),
    "slide": Width(12.0, 20, "slide, 16:9"),
}
FONTS = {"sans": ["DejaVu Sans"], "serif": ["STIXGeneral"]}  # those that come with matplotlib
GREYS = (0.0, 0.45, 0.25, 0.65, 0.1, 0.55, 0.35, 0.75)
STROKES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
SYMBOLS = ("circle", "square", "triangle-up", "diamond", "x", "triangle-down", "cross", "pentagon", "star", "hexagon")


@dataclass(frozen=True)
class Style:
    """How a figure is printed."""

    width: str | float = "ieee-1"  # a name of WIDTHS, or inches
    height: float | None = None  # inches; by its content otherwise
    size: float | None = None  # points of type; those of the width otherwise
    font: str = "sans"  # "sans", "serif", or an installed family
    dpi: int = 300
    monochrome: bool = False  # greys, line styles, markers and hatches instead of colours

    def __post_init__(self) -> None:
        if isinstance(self.width, str) and self.width not in WIDTHS:
            try:
                object.__setattr__(self, "width", float(self.width))
            except ValueError:
                raise unknown("width", self.width, [*WIDTHS]) from None
        for what, value, low, high in (
            ("width", self.inches, 1, 40), ("height", self.height, 0.5, 60), ("size of type", self.points, 3, 72),
            ("resolution (dpi)", self.dpi, 20, 2400),
        ):  # fmt: skip
            if value is not None and not (isinstance(value, int | float) and low <= value <= high):
                raise FactScopeError(f"The {what} must lie between {low} and {high}, not be {value}.")

    @property
    def inches(self) -> float:
        return WIDTHS[self.width].inches if isinstance(self.width, str) else float(self.width)

    @property
    def points(self) -> float:
        return self.size if self.size is not None else WIDTHS[self.width].size if isinstance(self.width, str) else 9.0

    def as_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value != getattr(Style, name, None)}


class Brush:
    """A style at work: what a colour, a dash, a symbol of a trace becomes on paper. Traces of one name look the same."""

    def __init__(self, style: Style, figure: go.Figure):
        self.size, self.monochrome = style.points, style.monochrome
        names = [str(t.legendgroup or t.name or f"trace {i}") for i, t in enumerate(figure.data)]
        known = {name: number for number, name in enumerate(dict.fromkeys(names))}
        self._numbers = [known[name] for name in names]

    def tone(self, given: Any, number: int, opacity: float | None) -> Any:
        """The colour, or the grey of this number."""
        from . import words

        found = words.colour(given, opacity)
        coloured = max(found[:3]) - min(found[:3]) > 0.02
        return (*(GREYS[number % len(GREYS)],) * 3, found[3]) if self.monochrome and coloured else found

    def shade(self, given: Any, trace: int, opacity: float | None) -> Any:
        return self.tone(given, self._numbers[trace], opacity)

    def plain(self, rgba: Any) -> Any:
        from . import words

        return words.grey(rgba) if self.monochrome else rgba

    def dashed(self, given: str | None, trace: int) -> Any:
        from . import words

        return words.dash(STROKES[self._numbers[trace] % len(STROKES)] if self.monochrome else given)

    def spaced(self, trace: int, points: int) -> dict[str, Any]:
        """Where there are more lines than line styles, markers along them tell them apart."""
        from . import words

        number = self._numbers[trace]
        if not self.monochrome or number < len(STROKES):
            return {}
        return {"marker": words.marker(SYMBOLS[number % len(SYMBOLS)])[0], "markersize": self.size / 2, "markevery": max(1, points // 8)}

    def symbol(self, given: Any, trace: int) -> tuple[str, bool]:
        from . import words

        return words.marker(SYMBOLS[self._numbers[trace] % len(SYMBOLS)] if self.monochrome and given in (None, "circle") else given)

    def hatch(self, trace: int) -> str:
        from .paint import HATCHES

        return HATCHES[self._numbers[trace] % len(HATCHES)] if self.monochrome else ""


def render(figure: go.Figure, kind: str, style: Style | None = None, *, engine: str = "matplotlib") -> bytes:
    """The figure as a file of this kind: "pdf", "svg" or "png"."""
    kind, style = kind.lower().removeprefix("."), style or Style()
    if kind not in FORMATS:
        raise unknown("kind of picture", kind, FORMATS)
    if engine == "kaleido":
        return _by_chrome(figure, kind, style)
    if engine != "matplotlib":
        raise unknown("way to draw", engine, ("matplotlib", "kaleido"))
    try:
        import matplotlib
    except ImportError:
        raise FactScopeError("Pictures for print are drawn with matplotlib, which is not installed; pip install matplotlib.") from None
    settings: Any = {
        "pdf.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "factscope", "font.family": _families(style.font, figure),
        "font.size": style.points, "axes.titlesize": style.points, "text.color": "#222222",
        "axes.unicode_minus": True, "text.parse_math": False, "hatch.linewidth": 0.4,
        "axes.labelcolor": "#222222", "xtick.labelcolor": "#222222", "ytick.labelcolor": "#222222", "path.simplify": False,
    }  # fmt: skip
    with _lock, matplotlib.rc_context(settings):
        page = _page(figure, style)
        file = io.BytesIO()
        nothing = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {"Software": None}}[kind]
        page.savefig(file, format=kind, dpi=style.dpi, metadata=nothing, facecolor="white")
    return file.getvalue()


def _families(font: str, figure: go.Figure) -> list[str]:
    """The font asked for, behind it one that has every sign we write, and behind that installed ones with the signs still missing."""
    from matplotlib.font_manager import FontProperties, fontManager

    if font not in FONTS and font not in {entry.name for entry in fontManager.ttflist}:
        raise unknown("font", font, [*FONTS, *sorted({entry.name for entry in fontManager.ttflist})])
    families = [*FONTS.get(font, [font]), "DejaVu Sans"]
    missing = {sign for sign in _signs(figure) if ord(sign) > 0x2FFF or 0x0590 <= ord(sign) < 0x1E00} - _has(
        fontManager.findfont(FontProperties(family="DejaVu Sans"))
    )
    for entry in fontManager.ttflist if missing else ():
        if entry.name not in families and not entry.name.startswith("Last Resort") and missing & (found := _has(entry.fname)):
            families.append(entry.name)
            missing -= found
    return families


@lru_cache(maxsize=256)
def _has(file: str) -> frozenset[str]:
    """The signs of a font."""
    from matplotlib.font_manager import get_font

    return frozenset(map(chr, get_font(file).get_charmap()))


def _signs(figure: go.Figure) -> set[str]:
    """The letters of everything that is written in a figure."""
    layout = figure.layout
    said = [layout.title.text, *(a.text for a in layout.annotations), *(t.name for t in figure.data)]
    for axis in (*figure.select_xaxes(), *figure.select_yaxes()):
        said += [axis.title.text, *(axis.ticktext if axis.ticktext is not None else ())]
    for trace in figure.data:
        for values in (getattr(trace, "x", None), getattr(trace, "y", None)):
            said += [v for v in values if isinstance(v, str)] if values is not None and len(values) and isinstance(values[0], str) else []
    return set("".join(str(words) for words in said if words))


def _by_chrome(figure: go.Figure, kind: str, style: Style) -> bytes:
    """Plotly's own way, through a browser."""
    pixels = {"width": round(style.inches * 200), "height": round(style.inches * 200 * (figure.layout.height or 450) / 700)}
    try:
        return figure.to_image(format=kind, **pixels)
    except (ValueError, RuntimeError, ImportError, OSError) as error:
        why = str(error).strip().split("\n")[0].rstrip(".") or "Chrome was not found"
        raise FactScopeError(
            f"Kaleido could not draw the figure ({why}); matplotlib, the default, needs neither Kaleido nor Chrome."
        ) from None


def _page(figure: go.Figure, style: Style) -> Any:
    """The whole figure on a matplotlib page."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.gridspec import GridSpec

    brush, scale = Brush(style, figure), style.points / SCREEN
    places = _places(figure)
    columns, rows = _cells(places, style)
    page = Figure(figsize=(style.inches, style.height or _height(figure, places, len(columns), len(rows), style)), layout="compressed")
    FigureCanvasAgg(page)
    page.get_layout_engine().set(  # type: ignore[call-arg,union-attr]
        w_pad=0.03, h_pad=0.03, wspace=0.03, hspace=0.03
    )
    weights: dict[str, Any] = {"width_ratios": [b - a for a, b in columns], "height_ratios": [b - a for a, b in rows]}
    grid = GridSpec(len(rows), len(columns), figure=page, **weights)
    used: set[int] = set()
    handles: dict[str, Any] = {}
    for place in places:
        where = grid[place["cell"]]
        ax, mappables = _panel(page, where, figure, place, brush, scale)
        title, which = _title(figure, place)
        used |= {which} if which is not None else set()
        single = len(places) == 1 and figure.layout.title.text
        words_above = title or (figure.layout.title.text if single else "")
        if words_above:
            ax.set_title(_wrapped(words_above, style.inches, style.points), fontsize=style.points, pad=4 if place["scene"] is None else 0)
        _colour_bars(page, ax, mappables, brush)
        handles |= {name: handle for name, handle in _entries(figure, place, brush, scale).items() if name not in handles}
        place["ax"] = ax
    if len(places) > 1 and figure.layout.title.text:
        page.suptitle(_wrapped(figure.layout.title.text, style.inches, style.points), fontsize=style.points)
    _beside(figure, places, used, page, brush, scale)
    _legend(figure, page, handles, brush)
    _fit_labels(page, places, style)
    if _square(places) and style.height is None:
        _cut(page, places, style)
    return page


def _places(figure: go.Figure) -> list[dict[str, Any]]:
    """The panels: which axes or scene, where, with which traces."""
    found: dict[Any, dict[str, Any]] = {}
    for order, trace in enumerate(figure.data):
        if trace.type in ("scatter3d", "surface", "mesh3d"):
            name = getattr(trace, "scene", None) or "scene"
            layout = figure.layout[name]
            place = found.setdefault(name, {"scene": layout, "domain": (_domain(layout.domain.x), _domain(layout.domain.y)), "traces": []})
        else:
            across, up = getattr(trace, "xaxis", None) or "x", getattr(trace, "yaxis", None) or "y"
            x, y = figure.layout[f"xaxis{across[1:]}"], figure.layout[f"yaxis{up[1:]}"]
            new = {"scene": None, "x": x, "y": y, "names": (across, up), "domain": (_domain(x.domain), _domain(y.domain)), "traces": []}
            place = found.setdefault((across, up), new)
        place["traces"].append((order, trace))
    return list(found.values())


def _domain(given: Any) -> tuple[float, float]:
    return (0.0, 1.0) if given is None or given[0] is None else (float(given[0]), float(given[1]))


def _cells(places: list[dict[str, Any]], style: Style) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """The columns and rows (from the top) of the grid, and the cell of each panel. Too small scenes in a row break it."""
    columns, rows = (_tracks([p["domain"][i] for p in places]) for i in (0, 1))
    fit = max(1, int(style.inches * POINT // (NARROW * style.points)))
    if any(p["scene"] is not None for p in places) and len(rows) == 1 and len(columns) == len(places) > fit:
        fit = math.ceil(len(places) / math.ceil(len(places) / fit))
        for i, place in enumerate(sorted(places, key=lambda p: p["domain"][0])):
            place["cell"] = (i // fit, i % fit)
        return [(i / fit, (i + 1) / fit) for i in range(fit)], [(0.0, 1.0)] * math.ceil(len(places) / fit)
    columns, rows = columns or [(0.0, 1.0)], rows[::-1] or [(0.0, 1.0)]
    for place in places:
        place["cell"] = (_track(rows, place["domain"][1]), _track(columns, place["domain"][0]))
    return columns, rows


def _tracks(domains: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Rows or columns that hold all of these; where they overlap, only the narrow ones."""
    kept: list[tuple[float, float]] = []
    for low, high in sorted(set(domains), key=lambda d: d[1] - d[0]):
        if all(high <= a + 1e-6 or low >= b - 1e-6 for a, b in kept):
            kept.append((low, high))
    return sorted(kept)


def _track(tracks: list[tuple[float, float]], domain: tuple[float, float]) -> slice:
    inside = [i for i, (a, b) in enumerate(tracks) if a >= domain[0] - 1e-6 and b <= domain[1] + 1e-6]
    return slice(inside[0], inside[-1] + 1)


def _height(figure: go.Figure, places: list[dict[str, Any]], columns: int, rows: int, style: Style) -> float:
    """Inches: as high as the figure is on the screen with type of this size; square panels as high as they are wide."""
    line = 1.6 * style.points / POINT
    names = sum(t.showlegend is not False and bool(t.name) for t in figure.data)
    if _square(places):
        legend = line * math.ceil(names / max(1, style.inches * POINT / style.points / 12)) if names > 1 else 0
        flat = any(p["scene"] is None for p in places)
        return rows * min(style.inches / columns, 5.5) * (0.95 if flat and columns == 1 else 1.0) + rows * line + legend
    natural = 0.85 * (figure.layout.height or 450) * 0.75 / POINT * style.points / SCREEN
    listed = any(p["y"].type == "category" for p in places if p["scene"] is None)  # a line of type for each, however many
    return min(max(natural, 0.35 * style.inches), 9.0 if listed else 0.85 * style.inches * rows)


def _panel(page: Any, where: Any, figure: go.Figure, place: dict[str, Any], brush: Brush, scale: float) -> tuple[Any, list[Any]]:
    traces = place["traces"]
    if place["scene"] is not None:
        from . import scene

        ax = page.add_subplot(where, axes_class=scene.Scene)
        mappables = [(m, t.marker.colorbar) for o, t in traces if (m := scene.draw(ax, t, o, brush, scale)) is not None]
        columns = where.get_gridspec().ncols
        scene.look(ax, place["scene"], [t for _, t in traces], brush.size, scale, page.get_figwidth() * POINT / columns)
        return ax, [(m, bar) for m, bar in mappables if bar is not None]
    from . import paint

    ax = page.add_subplot(where)
    panel = paint.Panel(ax, paint.axis_of(place["x"], traces, "x"), paint.axis_of(place["y"], traces, "y"), traces)
    paint.paint(panel, figure.layout.barmode, brush, scale)
    for given in figure.layout.shapes:
        refs = {str(given.xref or "x").split()[0], str(given.yref or "y").split()[0]}
        if refs <= {*place["names"], "paper"} and refs != {"paper"}:
            paint.shape(panel, given, brush, scale)
    for given in figure.layout.annotations:
        across, up = str(given.xref or "x").split()[0], str(given.yref or "y").split()[0]
        if across in (place["names"][0], "paper") and up in (place["names"][1], "paper") and (across, up) != ("paper", "paper"):
            paint.annotation(panel, given, brush, scale)
    place["panel"] = panel
    return ax, panel.bars


def _title(figure: go.Figure, place: dict[str, Any]) -> tuple[str, int | None]:
    """A panel's title is an annotation over the middle of its upper edge."""
    (left, right), (_, top) = place["domain"]
    for i, given in enumerate(figure.layout.annotations):
        over = (given.xref, given.yref) == ("paper", "paper") and given.showarrow is False and given.yanchor == "bottom"
        if over and abs(given.x - (left + right) / 2) < 1e-3 and abs(given.y - top) < 1e-3:
            return given.text or "", i
    return "", None


def _beside(figure: go.Figure, places: list[dict[str, Any]], used: set[int], page: Any, brush: Brush, scale: float) -> None:
    """Annotations of the whole figure that are no panel's title."""
    from .words import plain

    for i, given in enumerate(figure.layout.annotations):
        if i in used or (given.xref, given.yref) != ("paper", "paper"):
            continue
        flat = [p for p in places if "panel" in p]
        if len(places) == 1 and flat and 0 <= given.y <= 1:
            from .paint import annotation

            annotation(flat[0]["panel"], given, brush, scale)
        elif given.y > 0.5:
            page.suptitle(plain(given.text), x=0.995, ha="right", fontsize=0.85 * brush.size, color="#555555")
        else:
            page.supxlabel(plain(given.text), fontsize=0.8 * brush.size, x=0.99, ha="right", color="#555555")


def _colour_bars(page: Any, ax: Any, mappables: list[Any], brush: Brush) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    from .words import number, plain

    for mappable, given in mappables:
        bar = page.colorbar(mappable, ax=ax, shrink=0.9, aspect=25, pad=0.02)
        bar.outline.set_linewidth(0.4)
        bar.ax.tick_params(labelsize=0.85 * brush.size, width=0.4, length=2)
        bar.set_label(plain(given.title.text), fontsize=0.9 * brush.size)
        if given.tickvals is not None:
            bar.set_ticks([float(v) for v in given.tickvals], labels=[plain(t) for t in given.ticktext or given.tickvals])
        else:
            bar.ax.yaxis.set_major_locator(MaxNLocator(given.nticks or 5))
            if given.tickformat:
                form = number(given.tickformat)
                bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _, form=form: form(v)))


def _entries(figure: go.Figure, place: dict[str, Any], brush: Brush, scale: float) -> dict[str, Any]:
    """Names and signs of the legend."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    from . import words

    shown: dict[str, Any] = {}
    given = figure.layout.showlegend
    candidates = [t for t in figure.data if t.name and t.showlegend is not False and t.type not in ("heatmap", "contour", "image")]
    if given is False or (given is None and len(candidates) < 2):
        return {}
    for order, trace in place["traces"]:
        if trace not in candidates or trace.visible is False:
            continue
        name = words.plain(trace.name)
        if trace.type == "bar":
            c = trace.marker.color if isinstance(trace.marker.color, str) else words.COLORWAY[order % 10]
            shown[name] = Patch(
                facecolor=brush.shade(c, order, None), hatch=brush.hatch(order), lw=0.3 if brush.monochrome else 0, edgecolor="#222222"
            )
            continue
        mode = trace.mode or "lines"
        own = trace.line.color or (trace.marker.color if isinstance(trace.marker.color, str) else None) or words.COLORWAY[order % 10]
        symbol, is_open = brush.symbol(trace.marker.symbol if isinstance(trace.marker.symbol, str | None) else None, order)
        shade = brush.shade(own, order, None)
        spaced = brush.spaced(order, 8) if "markers" not in mode else {}
        if "lines" in mode:
            look = {"ls": brush.dashed(trace.line.dash, order), "lw": 0.75 * scale * (trace.line.width or 2), "color": shade}
        else:
            look = {"ls": "none", "color": brush.shade(trace.marker.color if isinstance(trace.marker.color, str) else own, order, None)}
        if "markers" in mode:
            look |= {"marker": symbol, "markersize": 0.55 * brush.size, "markeredgewidth": 0 if not is_open else 0.8}
            look |= {"markerfacecolor": "none"} if is_open else {}
        elif spaced:
            look |= {"marker": spaced["marker"], "markersize": spaced["markersize"]}
        shown[name] = Line2D([], [], **look)
    return shown


def _legend(figure: go.Figure, page: Any, handles: dict[str, Any], brush: Brush) -> None:
    """Above the panels or below them, as on the screen, in as many columns as fit."""
    if not handles:
        return
    below = (figure.layout.legend.y or 0) < 0
    widest = max(_text_width(name, 0.9 * brush.size) for name in handles) + 3.2 * brush.size
    columns = max(1, min(len(handles), int(page.get_figwidth() * POINT * 0.98 // widest)))
    columns = math.ceil(len(handles) / math.ceil(len(handles) / columns))
    page.legend(
        list(handles.values()), list(handles), loc="outside lower center" if below else "outside upper right", ncols=columns, frameon=False,
        fontsize=0.9 * brush.size, handlelength=2.2, handletextpad=0.5, columnspacing=1.2, borderaxespad=0.1, borderpad=0.1,
        labelspacing=0.3,
    )  # fmt: skip


def _text_width(words: str, size: float) -> float:
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties, fontManager, get_font

    font = get_font(fontManager.findfont(FontProperties(family=rcParams["font.family"][0])))
    font.set_size(size, 72)
    font.set_text(words)
    return float(font.get_width_height()[0]) / 64


def _fit_labels(page: Any, places: list[dict[str, Any]], style: Style) -> None:
    """Names under an axis that would run into one another are turned; where even that is too close, only some are written."""
    page.draw_without_rendering()
    for place in places:
        ax = place["ax"]
        frame = ax.get_window_extent()
        ax.set_title(_wrapped(ax.get_title(), float(frame.width) / page.dpi, style.points), fontsize=style.points)
        if "panel" not in place:
            continue
        ax.set_xlabel(_wrapped(ax.get_xlabel(), 1.1 * float(frame.width) / page.dpi, style.points))
        ax.set_ylabel(_wrapped(ax.get_ylabel(), 1.1 * float(frame.height) / page.dpi, style.points))
        shown = [label for label in ax.get_xticklabels() if label.get_text() and label.get_visible()]
        boxes = sorted((label.get_window_extent() for label in shown), key=lambda box: box.x0 + box.x1)
        between = 0.4 * style.points * page.dpi / POINT
        if not any(a.x1 + between > b.x0 for a, b in pairwise(boxes)):
            continue
        if place["panel"].x.categories is None and place["x"].ticktext is None:
            ax.locator_params(axis="x", nbins=2)
            continue
        step = abs(boxes[1].x0 + boxes[1].x1 - boxes[0].x0 - boxes[0].x1) / 2 * POINT / page.dpi
        size = 0.9 * style.points
        if step >= 1.6 * size:
            ax.tick_params("x", labelrotation=35)
            for label in shown:
                label.set(ha="right", rotation_mode="anchor")
            continue
        small = max(min(size, step / 1.1), min(5.0, size))
        every = math.ceil(1.1 * small / step - 1e-9)
        ax.set_xticks(ax.get_xticks()[::every], [label.get_text() for label in ax.get_xticklabels()][::every], rotation=90, fontsize=small)


def _cut(page: Any, places: list[dict[str, Any]], style: Style) -> None:
    """Square panels leave some of the height empty: the page ends where the drawing does."""
    for _ in range(2):
        page.draw_without_rendering()
        used = page.get_tightbbox()
        page.set_figheight(min(page.get_figheight(), float(used.height) + 0.06))


def _wrapped(marked: str, inches: float, size: float) -> str:
    """Words in lines that a panel of this width can hold."""
    import textwrap

    from .words import plain

    letters = max(10, int(inches * POINT / (0.55 * size)))
    return "\n".join("\n".join(textwrap.wrap(line, letters, break_long_words=False)) or line for line in plain(marked).split("\n"))


def _square(places: list[dict[str, Any]]) -> bool:
    return bool(places) and all(p["scene"] is not None or p["y"].scaleanchor or p["x"].scaleanchor for p in places)
