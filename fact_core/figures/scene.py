"""Plotly's three-dimensional scene as matplotlib axes under Plotly's own camera.

Plotly puts the data into a box of the size of the aspect ratio around the origin and looks from `eye` to `center` with a lens of 45°.
Matplotlib's own cameras know no centre and no lens, so the projection here is Plotly's, and matplotlib draws with it. The picture is then
enlarged or made smaller until the box fills the panel: a panel on paper has another shape than one on the screen.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator
from mpl_toolkits.mplot3d import Axes3D

from . import words

LENS = np.pi / 4  # Plotly's vertical angle of view
EYE, UP = (1.25, 1.25, 1.25), (0.0, 0.0, 1.0)
WINDOW = 0.0925  # half of what matplotlib shows of the projected plane
FILL = 0.74  # share of the panel the box may take at the most, the rest is for the labels
LABELS = 5.6  # lines of type that labels need on both sides
PADDING = 1 / 32  # of the data's extent, that Plotly leaves on both sides


class Camera:
    """Where Plotly looks from: a matrix from the box of the data to the plane."""

    def __init__(self, camera: Any, aspect: np.ndarray, fill: float = FILL):
        get = lambda name, default: np.array(  # noqa: E731
            [default[i] if (value := getattr(getattr(camera, name), axis)) is None else value for i, axis in enumerate("xyz")], dtype=float
        )
        self.eye, self.center, self.up = get("eye", EYE), get("center", (0.0, 0.0, 0.0)), get("up", UP)
        self.flat = camera.projection.type == "orthographic"
        self.aspect, self.fill = aspect, fill

    @property
    def axes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """To the right, upwards, and towards the eye."""
        back = self.eye - self.center
        back = back / max(float(np.linalg.norm(back)), 1e-12)
        right = np.cross(self.up, back)
        if np.linalg.norm(right) < 1e-9:  # looking along the upward direction
            right = np.cross((0.0, 1.0, 0.0), back)
        right = right / np.linalg.norm(right)
        return right, np.cross(back, right), back

    @property
    def matrix(self) -> np.ndarray:
        """4 × 4, for points of the box: x and y on the plane, where ±1 is Plotly's upper and lower edge, and a depth."""
        turn = np.eye(4)
        turn[:3, :3] = self.axes
        turn[:3, 3] = -turn[:3, :3] @ self.eye
        lens = 1 / np.tan(LENS / 2)
        if self.flat:
            away = float(np.linalg.norm(self.eye - self.center))
            return np.diag([lens / away, lens / away, -1.0, 1.0]) @ turn
        return np.array([[lens, 0, 0, 0], [0, lens, 0, 0], [0, 0, 0, -10.0], [0, 0, -1, 0]]) @ turn

    @property
    def fitted(self) -> np.ndarray:
        """The same, scaled and moved until the box fills the window; where a person has gone closer than that, it stays as it is."""
        corners = np.array([[*corner, 1.0] for corner in product(*[(-a / 2, a / 2) for a in self.aspect])]).T
        seen = self.matrix @ corners
        if np.any(seen[3] <= 0.05):  # the eye is inside the box
            return np.diag([WINDOW, WINDOW, 1, 1]) @ self.matrix
        plane = seen[:2] / seen[3]
        low, high = plane.min(axis=1), plane.max(axis=1)
        if (high - low).max() > 2:
            return np.diag([WINDOW, WINDOW, 1, 1]) @ self.matrix
        size = 2 * self.fill / float((high - low).max())
        move = np.diag([size * WINDOW, size * WINDOW, 1.0, 1.0])
        move[:2, 3] = -size * WINDOW * (low + high) / 2 + (0.0, 0.05 * WINDOW)  # more labels stand below than above
        return move @ self.matrix


class Scene(Axes3D):
    """Matplotlib's three-dimensional axes that look through Plotly's camera."""

    name = "plotly scene"
    camera: Camera | None = None

    def get_proj(self) -> np.ndarray:
        if self.camera is None:
            return super().get_proj()
        self._view_u, self._view_v, self._view_w = self.camera.axes
        box = np.eye(4)
        for i, (low, high) in enumerate((self.get_xlim(), self.get_ylim(), self.get_zlim())):
            box[i, i] = self.camera.aspect[i] / (high - low)
            box[i, 3] = -self.camera.aspect[i] * (low + high) / (2 * (high - low))
        return self.camera.fitted @ box


def look(ax: Scene, layout: Any, traces: list[Any], size: float, scale: float, width: float) -> None:
    """Ranges, labels, grid and camera of a scene; `width` in points."""
    ratio = layout.aspectratio
    cube = layout.aspectmode in (None, "auto", "cube") or ratio.x is None
    aspect = np.ones(3) if cube else np.array([ratio.x, ratio.y, ratio.z], dtype=float)
    for name in "xyz":
        axis = layout[f"{name}axis"]
        getattr(ax, f"set_{name}lim")(*extent(axis, [getattr(t, name) for t in traces]))
        getattr(ax, f"set_{name}label")(words.plain(axis.title.text), fontsize=0.9 * size, labelpad=(-3 if name == "z" else -5) * scale)
        drawn = getattr(ax, f"{name}axis")
        drawn.set_pane_color((0.965, 0.965, 0.965, 1.0))
        drawn._axinfo["grid"].update(color=(0.82, 0.82, 0.82, 1.0), linewidth=0.5)
        drawn.line.set_linewidth(0.6)
        ax.tick_params(name, labelsize=0.75 * size, pad=-3 * scale, width=0.5)
        drawn.set_major_locator(MaxNLocator(max(2, (axis.nticks or 5) - 1)))
    ax.camera = Camera(layout.camera, aspect, max(0.4, min(FILL, 1 - LABELS * size / width)))
    ax.set_proj_type("ortho" if ax.camera.flat else "persp")
    back = ax.camera.axes[2]
    ax.view_init(elev=float(np.degrees(np.arcsin(np.clip(back[2], -1, 1)))), azim=float(np.degrees(np.arctan2(back[1], back[0]))))
    ax.set_box_aspect(tuple(aspect))


def extent(axis: Any, values: list[Any]) -> tuple[float, float]:
    """The range of an axis of a scene, as Plotly has it: the one given, or that of the data and a little more."""
    if axis.range is not None and axis.range[0] is not None and axis.range[1] is not None:
        return float(axis.range[0]), float(axis.range[1])
    known = np.concatenate([np.asarray(v, dtype=float) for v in values if v is not None and len(v)] or [np.zeros(1)])
    known = known[np.isfinite(known)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    spread = (high - low) * PADDING if high > low else 1.0
    return (high + spread, low - spread) if axis.autorange == "reversed" else (low - spread, high + spread)


def draw(ax: Scene, trace: Any, order: int, style: Any, scale: float) -> Any:
    """One trace of points or lines; what a colour bar can be made of, where colours are numbers."""
    x, y, z = (np.asarray(v, dtype=float) for v in (trace.x, trace.y, trace.z))
    mode, found = trace.mode or "markers", None
    if "lines" in mode:
        shade = style.shade(trace.line.color or words.COLORWAY[order % 10], order, trace.opacity)
        ax.plot(x, y, z, color=shade, lw=0.75 * scale * (trace.line.width or 2), ls=words.dash(trace.line.dash), gid=f"trace-{order}-line")
    if "markers" in mode:
        m = trace.marker
        opacity = (1.0 if m.opacity is None else m.opacity) * (1.0 if trace.opacity is None else trace.opacity)
        size = np.asarray(8 if m.size is None else m.size, dtype=float)
        symbol, is_open = style.symbol(m.symbol, order)
        common = {"s": (0.75 * scale * size) ** 2, "marker": symbol, "depthshade": False, "gid": f"trace-{order}", "zorder": 2 + order}
        if m.color is not None and not isinstance(m.color, str):
            ramp = words.colour_map(m.colorscale, bool(m.reversescale), style.monochrome)
            found = ax.scatter(
                x, y, z, c=np.asarray(m.color, dtype=float), cmap=ramp, vmin=m.cmin, vmax=m.cmax, alpha=opacity, lw=0, **common
            )
        else:
            shade = style.shade(m.color or words.COLORWAY[order % 10], order, opacity)
            edge = words.colour(m.line.color) if m.line.width else "none"
            ax.scatter(
                x, y, z, c=["none" if is_open else shade], edgecolors=[shade if is_open else edge],
                linewidths=0.75 * scale * (m.line.width or (1 if is_open else 0)), **common,
            )  # fmt: skip
    return found
