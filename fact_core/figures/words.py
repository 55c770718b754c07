"""What Plotly writes as text, read as what it means: colours, colour scales, dashes, markers, number formats, marked-up words."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Colour = tuple[float, float, float, float]
COLORWAY = ("#636efa", "#EF553B", "#00cc96", "#ab63fa", "#FFA15A", "#19d3f3", "#FF6692", "#B6E880", "#FF97FF", "#FECB52")
MARKERS = {
    "circle": "o", "square": "s", "diamond": "D", "cross": "P", "x": "X", "triangle-up": "^", "triangle-down": "v", "triangle-left": "<",
    "triangle-right": ">", "pentagon": "p", "hexagon": "h", "star": "*",
}  # fmt: skip
# In widths of the line, as Plotly draws them.
DASHES: dict[str, tuple[float, ...]] = {
    "dot": (1, 1.6), "dash": (4, 2), "dashdot": (4, 2, 1, 2), "longdash": (7, 2.5), "longdashdot": (7, 2.5, 1, 2.5),
}  # fmt: skip


def plain(marked: object) -> str:
    """Words without Plotly's markup."""
    words = re.sub(r"<br\s*/?>", "\n", "" if marked is None else str(marked))
    return html.unescape(re.sub(r"</?(?:b|i|u|s|em|strong|sup|sub|span|a)(?:\s[^>]*)?>", "", words))


def colour(value: Any, opacity: float | None = None) -> Colour:
    """A colour as red, green, blue and opacity between 0 and 1."""
    from matplotlib.colors import to_rgba

    found = re.fullmatch(r"rgba?\(([^)]*)\)", str(value).replace(" ", ""))
    if found:
        parts = [float(p.rstrip("%")) for p in found[1].split(",")]
        rgba = (parts[0] / 255, parts[1] / 255, parts[2] / 255, parts[3] if len(parts) > 3 else 1.0)
    else:
        r, g, b, a = to_rgba(str(value))
        rgba = (float(r), float(g), float(b), float(a))
    return (*rgba[:3], rgba[3] * (1.0 if opacity is None else float(opacity)))


def grey(rgba: Colour) -> Colour:
    """The same lightness without the hue."""
    light = float(np.dot(rgba[:3], (0.299, 0.587, 0.114)))
    return light, light, light, rgba[3]


def colour_map(scale: Any, reverse: bool = False, monochrome: bool = False) -> Any:
    """Plotly's colour scale, a name or pairs of place and colour, as a matplotlib colour map; nothing where there is no number."""
    import plotly.colors
    from matplotlib.colors import LinearSegmentedColormap

    if scale is None:
        scale = "Viridis"
    if isinstance(scale, str):
        scale = plotly.colors.get_colorscale(scale)
    elif scale and isinstance(scale[0], str):
        scale = [(i / (len(scale) - 1), c) for i, c in enumerate(scale)]
    pairs = [(float(place), colour(c)) for place, c in scale]
    if monochrome:
        pairs = [(place, grey(c)) for place, c in pairs]
    if reverse:
        pairs = [(1 - place, c) for place, c in reversed(pairs)]
    return LinearSegmentedColormap.from_list("plotly", pairs, N=512).with_extremes(bad=(0, 0, 0, 0))


def dash(name: str | None) -> Any:
    """Plotly's dash as matplotlib's line style."""
    if not name or name == "solid":
        return "-"
    if name in DASHES:
        return 0, DASHES[name]
    return 0, tuple(float(part.strip().removesuffix("px").removesuffix("%")) for part in str(name).split(","))


def marker(symbol: Any) -> tuple[str, bool]:
    """Plotly's symbol as matplotlib's marker, and whether it is open."""
    name = str(symbol or "circle")
    return MARKERS.get(name.removesuffix("-open").removesuffix("-dot"), "o"), "-open" in name


def number(wanted: str | None) -> Callable[[float], str]:
    """A number as a d3 format says it (those with a Python counterpart: .2f, .0%, ,d, .3g, ~s is not)."""
    if not wanted:
        return lambda value: f"{value:g}"
    said = str(wanted).replace("~", "")
    try:
        f"{0.0:{said}}"
    except ValueError:
        said = said.replace("d", ".0f") if re.fullmatch(r",?d", said) else "g"
    return lambda value: f"{value:{said}}".replace("-", "−")


def filled(template: str, words: Any, z: float) -> str:
    """Plotly's text template of a cell, such as %{text} or %{z:.2f}."""

    def value(found: re.Match[str]) -> str:
        name, wanted = found[1], found[2]
        return plain(words) if name == "text" else number(wanted)(z) if name == "z" else ""

    return plain(re.sub(r"%\{(\w+)(?::([^}]*))?\}", value, template))


def listed(values: Any) -> list[Any]:
    return [] if values is None else list(values)


def is_number(values: Sequence[Any]) -> bool:
    """Whether an axis of these values is one of numbers; Plotly takes words that look like numbers for numbers, too."""
    try:
        [float(v) for v in values if v is not None]
    except (TypeError, ValueError):
        return False
    return True
