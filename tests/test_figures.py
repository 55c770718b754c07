"""Figures on paper: every kind as PDF, SVG and PNG without a browser, and what is in those files."""

from __future__ import annotations

import io
import re
import subprocess
from xml.etree import ElementTree

import numpy as np
import plotly.graph_objects as go
import pytest
from figure_kinds import CAMERA, PICTURES, SOURCES, drawn, made
from PIL import Image
from plotly.colors import sample_colorscale
from pypdf import PdfReader

import fact_core as fc
from fact_core.figures.static import WIDTHS, Style, render
from fact_core.figures.words import plain
from fact_core.report.captions import caption

SVG = "{http://www.w3.org/2000/svg}"
LINK = "{http://www.w3.org/1999/xlink}href"


@pytest.fixture(scope="module")
def computed() -> None:
    for name in SOURCES:
        drawn(name)


@pytest.fixture(autouse=True)
def no_browser(computed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """No program can be started, least of all a Chrome."""

    def refused(*arguments: object, **_: object) -> None:
        raise AssertionError(f"a program was started: {arguments}")

    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(subprocess, "Popen", refused)


def figure(name: str) -> go.Figure:
    found = drawn(name).figure
    assert found is not None
    return found


def svg(fig: go.Figure, **style: object) -> ElementTree.Element:
    return ElementTree.fromstring(render(fig, "svg", Style(**style)))  # type: ignore[arg-type]


def texts(root: ElementTree.Element) -> str:
    return "\n".join("".join(t.itertext()) for t in root.iter(f"{SVG}text"))


def group(root: ElementTree.Element, name: str) -> ElementTree.Element:
    found = [g for g in root.iter(f"{SVG}g") if g.get("id") == name]
    assert found, f"no group {name}"
    return found[0]


def places(root: ElementTree.Element, name: str) -> np.ndarray:
    """The points of a trace on the page, upwards; few points are written out, each as a path of its own."""
    there = group(root, name)
    used = [[float(u.get("x", "nan")), -float(u.get("y", "nan"))] for u in there.iter(f"{SVG}use")]
    paths = [np.array([float(n) for n in re.findall(r"-?[\d.]+", p.get("d", ""))]).reshape(-1, 2) for p in there.iter(f"{SVG}path")]
    return np.array(used or [(p.min(axis=0) + p.max(axis=0)) / 2 * (1, -1) for p in paths])


def words_of(fig: go.Figure) -> list[str]:
    """What must be readable: titles of axes, panels and legend."""
    said = [a.title.text for a in fig.select_xaxes() if a.visible is not False] + [
        a.title.text for a in fig.select_yaxes() if a.visible is not False
    ]
    for scene in fig.select_scenes():
        said += [scene[f"{a}axis"].title.text for a in "xyz"]
    named = [t for t in fig.data if t.name and t.showlegend is not False and t.type != "heatmap"]
    said += [t.name for t in named] if len(named) > 1 and fig.layout.showlegend is not False else []
    return [plain(w) for w in said if w]


def squeezed(words: str) -> str:
    return re.sub(r"\s+", "", words)


@pytest.mark.parametrize("name", PICTURES)
def test_every_kind_becomes_pdf_svg_and_png(name: str) -> None:
    fig = figure(name)
    page = PdfReader(io.BytesIO(render(fig, "pdf", Style("ieee-1")))).pages[0]
    assert float(page.mediabox.width) == pytest.approx(3.5 * 72)
    fonts = [f.get_object() for f in page["/Resources"]["/Font"].values()]  # type: ignore[index,union-attr]
    assert fonts
    assert all(f["/Subtype"] != "/Type3" for f in fonts)  # outlines, which journals refuse
    root = svg(fig)
    for words in words_of(fig):
        assert squeezed(words) in squeezed(page.extract_text()), words
        assert squeezed(words) in squeezed(texts(root)), words
    for i, trace in enumerate(fig.data):
        if trace.type in ("scatter", "scatter3d") and "markers" in (trace.mode or "") and trace.marker.opacity != 0:
            assert len(places(root, f"trace-{i}")) == len(trace.x)
    image = Image.open(io.BytesIO(render(fig, "png", Style("a4", dpi=100))))
    assert image.width == 630
    assert np.asarray(image.convert("L")).std() > 5  # something is drawn


@pytest.mark.parametrize("name", ["convergence", "coordinates", "affinity", "heat-map"])
@pytest.mark.parametrize("kind", ["pdf", "svg", "png"])
def test_the_same_figure_is_the_same_file(name: str, kind: str) -> None:
    assert render(figure(name), kind) == render(figure(name), kind)


def test_points_stand_where_the_data_and_the_range_say() -> None:
    fig = figure("bases")
    root = svg(fig, width="ieee-2")
    for i, trace in enumerate(fig.data):
        there = places(root, f"trace-{i}")
        for axis, (values, column) in enumerate(((trace.x, 0), (trace.y, 1))):
            slope, offset = np.polyfit(values, there[:, column], 1)
            assert np.abs(slope * np.asarray(values) + offset - there[:, column]).max() < 0.01
            panel = "" if trace.xaxis in (None, "x") else trace.xaxis[1:]
            low, high = (fig.layout[f"{'xy'[axis]}axis{panel}"]).range
            frame = box(group(root, f"axes_{panel or 1}"))
            assert slope * low + offset == pytest.approx(frame[axis][0], abs=0.05)
            assert slope * high + offset == pytest.approx(frame[axis][1], abs=0.05)


def box(axes: ElementTree.Element) -> list[tuple[float, float]]:
    """The frame of a panel: its background is the first path."""
    path = next(axes.iter(f"{SVG}path")).get("d", "")
    numbers = np.array([float(n) for n in re.findall(r"-?[\d.]+", path)]).reshape(-1, 2) * (1, -1)
    return [(float(numbers[:, i].min()), float(numbers[:, i].max())) for i in (0, 1)]


def test_a_logarithmic_axis_keeps_its_range_and_its_curve() -> None:
    fig = figure("convergence")
    assert fig.layout.yaxis.type == "log"
    root = svg(fig)
    line = next(group(root, "trace-0-line").iter(f"{SVG}path")).get("d", "")
    drawn_ = np.array([float(n) for n in re.findall(r"-?[\d.]+", line)]).reshape(-1, 2)
    low, high = fig.layout.yaxis.range
    (left, right), (bottom, top) = box(group(root, "axes_1"))
    x, y = np.asarray(fig.data[0].x, float), np.log10(fig.data[0].y)
    inside = (y < high) & (y > low)  # the line is cut off where it leaves the frame
    assert np.allclose(drawn_[inside, 0], left + x[inside] / fig.layout.xaxis.range[1] * (right - left), atol=0.05)
    assert np.allclose(-drawn_[inside, 1], bottom + (y[inside] - low) / (high - low) * (top - bottom), atol=0.05)


def seen(points: np.ndarray, camera: dict) -> np.ndarray:
    """Points on Plotly's screen but for scale and place: box of the data, view to the centre, division by the depth."""
    low, high = points.min(axis=0), points.max(axis=0)
    low, high = low - (high - low) / 32, high + (high - low) / 32
    inside = (points - low) / (high - low) - 0.5
    eye, center, up = (np.array([camera[n][a] for a in "xyz"], float) for n in ("eye", "center", "up"))
    z = (eye - center) / np.linalg.norm(eye - center)
    x = np.cross(up, z) / np.linalg.norm(np.cross(up, z))
    relative = inside - eye
    return np.stack([relative @ x, relative @ np.cross(z, x)], axis=1) / -(relative @ z)[:, None]


def like(a: np.ndarray, b: np.ndarray) -> float:
    """How far apart two sets of points are at the most, moved and scaled onto one another; turned they must not be."""
    a, b = ((p - p.mean(axis=0)) / np.sqrt(((p - p.mean(axis=0)) ** 2).sum(axis=1).mean()) for p in (a, b))
    return float(np.linalg.norm(a[:, None] - b[None], axis=2).min(axis=1).max())


def test_the_camera_is_plotlys() -> None:
    fig = figure("coordinates")
    points = np.concatenate([np.stack([t.x, t.y, t.z], axis=1) for t in fig.data]).astype(float)
    there = np.concatenate([places(svg(fig), f"trace-{i}") for i in range(len(fig.data))])
    assert like(seen(points, CAMERA), there) < 2e-3
    turned = go.Figure(fig).update_scenes(camera_eye={"x": 2.0, "y": 0.3, "z": 0.4})
    other = np.concatenate([places(svg(turned), f"trace-{i}") for i in range(len(fig.data))])
    assert like(seen(points, CAMERA), other) > 0.1
    flat = go.Figure(fig).update_scenes(camera_projection_type="orthographic")
    assert like(seen(points, CAMERA), np.concatenate([places(svg(flat), f"trace-{i}") for i in range(len(fig.data))])) > 0.01


def test_panels_share_the_camera_and_break_into_rows_where_a_column_is_narrow() -> None:
    fig = figure("coordinates with affinity")
    narrow, wide = (PdfReader(io.BytesIO(render(fig, "pdf", Style(w)))).pages[0].mediabox for w in ("ieee-1", "ieee-2"))
    assert float(narrow.height) > 0.8 * float(narrow.width)
    assert float(wide.height) < 0.5 * float(wide.width)


def test_cells_have_the_colours_of_the_scale() -> None:
    fig = figure("confusion")
    heat = fig.data[0]
    paths = [p for p in group(svg(fig), "trace-0").iter(f"{SVG}path") if "fill" in p.get("style", "")]
    shares = np.asarray(heat.z, float).ravel()
    assert len(paths) == shares.size
    corners = [np.array([float(n) for n in re.findall(r"-?[\d.]+", p.get("d", ""))]).reshape(-1, 2) for p in paths]
    at = np.array([(c.min(axis=0) + c.max(axis=0)) / 2 for c in corners]).reshape(*np.shape(heat.z), 2)
    assert (np.diff(at[:, :, 0], axis=1) > 5).all()  # columns to the right, rows downwards, as the reversed axis has them
    assert (np.diff(at[:, :, 1], axis=0) > 5).all()
    for path, share in zip(paths, shares, strict=True):
        wanted = [float(c) for c in re.findall(r"[\d.]+", sample_colorscale("Blues", [float(share)])[0])]
        given = re.search(r"fill: #(\w{6})", path.get("style", ""))
        assert given is not None
        assert np.allclose([int(given[1][i : i + 2], 16) for i in (0, 2, 4)], wanted, atol=2)


def test_black_and_white_print_has_no_colour_and_tells_lines_apart() -> None:
    fig = figure("curves")
    picture = np.asarray(Image.open(io.BytesIO(render(fig, "png", Style(monochrome=True)))).convert("RGB"), dtype=int)
    assert np.ptp(picture, axis=2).max() <= 2
    assert np.ptp(np.asarray(Image.open(io.BytesIO(render(fig, "png"))).convert("RGB"), dtype=int), axis=2).max() > 100
    root = svg(fig, monochrome=True)
    styles = [next(group(root, f"trace-{i}-line").iter(f"{SVG}path")).get("style", "") for i in range(len(fig.data))]
    dashes = [re.search(r"stroke-dasharray: ([^;]*)", s) for s in styles]
    assert len({d[1] if d else "solid" for d in dashes}) == len(fig.data) == 3
    symbols = {next(group(svg(figure("projection"), monochrome=True), f"trace-{i}").iter(f"{SVG}path")).get("d") for i in range(3)}
    assert len(symbols) == 3


def test_words_are_words_and_not_markup_or_mathematics() -> None:
    fig = go.Figure(go.Bar(x=["a &lt;b&gt; $x^2$", "λ, η — 中"], y=[1, 2], name="n"))
    fig.update_layout(xaxis={"title": {"text": "R&amp;D<br>second line"}})
    assert "a <b> $x^2$" in texts(svg(fig))
    assert "R&D" in texts(svg(fig))
    assert "λ, η — 中" in texts(svg(fig))


def test_many_long_names_do_not_run_into_one_another() -> None:
    fig = figure("class-sizes")
    root = svg(fig)
    names = {plain(n) for n in fig.data[0].x}
    turned = [t for t in root.iter(f"{SVG}text") if "".join(t.itertext()) in names]
    assert len(turned) == len(names)
    at = sorted(float(re.search(r"translate\(([\d.]+)", t.get("transform", ""))[1]) for t in turned)  # type: ignore[index]
    assert np.diff(at).min() > 4  # points: each has a line of its own


@pytest.mark.parametrize("fig", [go.Figure(), go.Figure(go.Scatter(x=[], y=[])), go.Figure(go.Scatter(x=[1], y=[np.nan]))])
def test_a_figure_of_nothing_is_a_page_of_nothing(fig: go.Figure) -> None:
    for kind in ("pdf", "svg", "png"):
        assert render(fig, kind)


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"width": "ieee-3"}, "did you mean “ieee-"), ({"width": 99}, "between 1 and 40"), ({"size": 1}, "size of type"),
        ({"dpi": 5}, "dpi"), ({"height": 0.1}, "height"), ({"font": "No Such Font"}, "no font"),
    ],
)  # fmt: skip
def test_a_style_that_cannot_be_is_refused(given: dict, word: str) -> None:
    with pytest.raises(fc.FactScopeError, match=re.escape(word)):
        render(figure("cluster-sizes"), "pdf", Style(**given))


def test_fonts_and_sizes_are_those_asked_for() -> None:
    page = PdfReader(io.BytesIO(render(figure("cluster-sizes"), "pdf", Style("slide", font="serif")))).pages[0]
    assert float(page.mediabox.width) == pytest.approx(WIDTHS["slide"].inches * 72)
    assert any("STIX" in str(f.get_object()["/BaseFont"]) for f in page["/Resources"]["/Font"].values())  # type: ignore[index,union-attr]
    sizes = {
        float(t.group(1)) for t in re.finditer(r"font-size: ?([\d.]+)", render(figure("cluster-sizes"), "svg", Style(size=11)).decode())
    }
    short = {float(t.group(1)) for t in re.finditer(r"font: ([\d.]+)px", render(figure("cluster-sizes"), "svg", Style(size=11)).decode())}
    assert 11.0 in sizes | short


def test_kaleido_is_used_only_if_asked_for_and_says_why_it_cannot() -> None:
    with pytest.raises(fc.FactScopeError, match="needs neither Kaleido nor Chrome"):
        render(figure("cluster-sizes"), "png", engine="kaleido")
    with pytest.raises(fc.FactScopeError, match="no way to draw"):
        render(figure("cluster-sizes"), "png", engine="crayon")


@pytest.mark.parametrize("name", SOURCES)
def test_every_kind_has_a_caption_from_its_settings_and_numbers(name: str) -> None:
    source = SOURCES[name]
    words = caption(source, made(name))
    assert words.endswith(".")
    assert source.study.corpus in words or source.kind == "paper-table"
    assert "{" not in words
    assert len(drawn(name).numbers) > 0
    if name == "convergence":
        assert words == (
            "Convergence of LCCF on three-topics: the objective and its terms against the step. "
            "84 documents in 3 classes; k = 3, λ = 100, p = 5, seed 0."
        )


def test_numbers_are_those_drawn() -> None:
    numbers, fig = drawn("projection").numbers, figure("projection")
    assert np.allclose(np.sort(np.concatenate([t.x for t in fig.data])), np.sort(numbers["component 1"]))
    numbers = drawn("sensitivity").numbers
    mean = next(t for t in figure("sensitivity").data if t.name == "LCCF, p = 3")
    assert mean.y[0] == pytest.approx(
        numbers.loc[(numbers["method"] == "LCCF") & (numbers["p"] == 3) & (numbers["lam"] == 1.0), "nmi"].iloc[0]
    )


@pytest.mark.parametrize(
    ("name", "view", "word"),
    [
        ("coordinates", {"colour": "mood"}, "no colouring"), ("coordinates", {"concepts": [1, 9, 2]}, "Two or three of the 3 concepts"),
        ("coordinates", {"projection": "pca", "dimensions": 4}, "2 or 3 dimensions"), ("coordinates", {"scores": 1}, "choice for the"),
        ("sensitivity", {"score": "beauty"}, "no score"), ("sensitivity", {"axis": "eta"}, "no axis"),
        ("heat-map", {"y": "lam", "x": "lam"}, "two parameters"),
        ("confusion", {"names": ["one"]}, "1 names"), ("scores-against-k", {"table": "gnmf-9"}, "no table"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_said(name: str, view: dict, word: str) -> None:
    with pytest.raises(fc.FactScopeError, match=word):
        SOURCES[name].about.draw(made(name), view)
