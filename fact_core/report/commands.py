"""`figure` on the command line: a kind, or a figure of a paper, to PDF, SVG, PNG, HTML, CSV or LaTeX."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ..commands import class_arguments, finished, plain, setting, writer
from ..errors import FactScopeError, unknown
from ..figures.static import WIDTHS, Style, render
from ..store import Store
from ..store.files import put
from ..study import Method, Study
from .captions import caption
from .files import KINDS as FILES
from .files import as_file
from .kinds import KINDS, Needs, kind
from .papers import PAPERS, changed_view, paper_figure
from .source import Source, built, changed, of_kept


def add(commands: Any) -> None:
    """The command, for the parser of `python -m fact_core`."""
    figure = commands.add_parser(
        "figure", help="draw a figure for a report, or one of the papers", formatter_class=argparse.RawTextHelpFormatter
    )
    figure.set_defaults(call=run_figure)
    listed = "\n".join(f"  {k.name:<18} {k.title.lower()}; from {k.needs.value}" for k in KINDS.values())
    papers = "\n".join(f"  {name:<18} {p.title}" for name, p in PAPERS.items())
    widths = ", ".join(f"{name} ({w.about})" for name, w in WIDTHS.items())
    figure.epilog = f"kinds:\n{listed}\n\nfigures of the papers:\n{papers}\n\nwidths: {widths}, or inches"
    figure.add_argument("kind", metavar="KIND", help="a kind of figure, or a figure of a paper (both listed below)")
    figure.add_argument("--run", action="append", default=[], metavar="RUN", help="a run of the history: its address or its name")
    figure.add_argument("--settings", type=Path, metavar="FILE", help="settings of a figure, or the settings.json of a report")
    figure.add_argument("--name", metavar="NAME", help="which figure of a report's settings")
    figure.add_argument("--corpus", metavar="NAME|PATH", help="a built-in or fetched corpus, or a file")
    figure.add_argument("--algorithm", metavar="KEY[,KEY]", help="one or several methods")
    figure.add_argument("--clusters", type=int, metavar="K", help="number of clusters (default: the number of classes)")
    class_arguments(figure)
    figure.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="any keyword of fit: lam=100, weighting=ncw, …")
    figure.add_argument("--axis", action="append", default=[], metavar="NAME=A,B,…", help="values of a parameter, for figures of a study")
    figure.add_argument("--seeds", type=int, metavar="N", help="seeds 0 … N-1, for figures of a study")
    figure.add_argument("--seed", type=int, metavar="S", help="the seed of the runs (default 0)")
    figure.add_argument("--view", action="append", default=[], metavar="NAME=VALUE", help="what is seen: score=nmi, colour=cluster, …")
    figure.add_argument("--width", default=None, metavar="WIDTH", help="of the page it is for (default ieee-1)")
    figure.add_argument("--height", type=float, metavar="INCHES", help="default: by the content")
    figure.add_argument("--font", metavar="FAMILY", help="sans, serif, or an installed family")
    figure.add_argument("--font-size", type=float, metavar="POINTS", help="default: that of the width")
    figure.add_argument("--dpi", type=int, metavar="N", help="of a PNG (default 300)")
    figure.add_argument("--monochrome", action="store_true", help="greys, line styles and hatches instead of colours")
    figure.add_argument("--engine", default="matplotlib", choices=("matplotlib", "kaleido"), help="kaleido needs Chrome")
    figure.add_argument(
        "--out", action="append", type=Path, default=[], metavar="FILE", help=f"ending in {', '.join(FILES)}; may be repeated"
    )
    figure.add_argument("--workers", type=int, metavar="N", help="processes of a study (default: all cores)")
    figure.add_argument("--scheduler", metavar="tcp://…", help="a running Dask cluster instead")
    figure.add_argument("--json", action="store_true", help="print the settings and the numbers as JSON")


def run_figure(options: argparse.Namespace) -> None:
    if not options.out and not options.json:
        raise FactScopeError("Name a file with --out, such as --out figure.pdf.")
    for path in options.out:
        writer(path, *(f".{suffix}" for suffix in FILES))
    source, said, folder = asked(options)
    style = _style(options, said)
    drawn, made = built(source, lambda study, corpus: finished(study, options, corpus), folder)
    if (sentence := changed(source, made)) is not None:
        print(sentence, file=sys.stderr)
    words = caption(source, made)
    draw = partial(render, engine=options.engine)
    for path in options.out:
        data = as_file(drawn, path.suffix.lower().removeprefix("."), style, caption=words, draw=draw)
        put(path, partial(_write, data=data))
    if options.json:
        numbers = json.loads(drawn.numbers.to_json(orient="records", double_precision=10))
        print(json.dumps({"settings": source.as_json(), "caption": words, "numbers": numbers}, ensure_ascii=False))
    else:
        print(words)


def _write(file: Any, data: bytes) -> None:
    file.write(data)


def asked(options: argparse.Namespace) -> tuple[Source, dict[str, Any], Path | None]:
    """What the arguments ask for: from settings, from kept runs, a paper's figure, or said in full."""
    view = {name: plain(value) for name, value in (setting(text, "--view", "score=nmi") for text in options.view)}
    if sum(map(bool, (options.run, options.settings, options.corpus or options.algorithm))) > 1:
        raise FactScopeError("A figure is made from --run, from --settings, or from --corpus and --algorithm: give one of them.")
    if options.settings is not None:
        source, style = _from_settings(options.settings, options.kind, options.name)
        return changed_view(source, view), style, options.settings.absolute().parent
    if options.kind in PAPERS and not options.run:
        seeds = {} if options.seeds is None else {"seeds": tuple(range(options.seeds))}
        return changed_view(paper_figure(options.kind, options.corpus, **seeds), view), {}, None
    if options.run:
        return _from_runs(options.kind, options.run, view), {}, None
    return _in_full(options, view), {}, None


def _from_settings(path: Path, wanted: str, name: str | None) -> tuple[Source, dict[str, Any]]:
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise FactScopeError(f"The settings {path} cannot be read.") from None
    except json.JSONDecodeError as error:
        raise FactScopeError(f"The settings {path} are no JSON: {error.msg} in line {error.lineno}.") from None
    if not isinstance(said, dict):
        raise FactScopeError(f"The settings {path} must be one JSON object.")
    if "settings" in said:  # what `figure --json` prints
        said = said["settings"]
    style = said.get("style", {})
    if "figures" in said:
        figures = {f.get("name", str(i)): f for i, f in enumerate(said["figures"], start=1)}
        if name is None:
            fitting = [n for n, f in figures.items() if f.get("kind") == wanted]
            if len(fitting) != 1:
                raise FactScopeError(
                    f"{path.name} has {len(fitting)} figures of the kind {wanted}; name one with --name: {', '.join(figures)}."
                )
            name = fitting[0]
        if name not in figures:
            raise unknown("figure in these settings", name, figures)
        said = figures[name]
    source = Source.from_json(said)
    if kind(wanted).name != source.kind:
        raise FactScopeError(f"These are the settings of the figure “{source.kind}”, not of “{wanted}”.")
    return source, style


def _from_runs(wanted: str, runs: list[str], view: dict[str, Any]) -> Source:
    store, found = Store(), []
    for name in runs:
        kept = store.get([name]).get(name) or next((k for k in store.find(name) if k.name == name), None)
        if kept is None:
            raise FactScopeError(
                f"There is no run “{name}” in the history; sweep --json and the History page show their addresses and names."
            )
        found.append(kept.run)
    first = of_kept(kind(wanted).name, found[0], view=view)
    if any((r.source, r.select) != (found[0].source, found[0].select) for r in found):
        raise FactScopeError("The runs of one figure must be on the same documents.")
    methods = tuple(m for r in found for m in of_kept(wanted, r).study.methods)
    seeds = {r.options.get("seed", 0) for r in found}
    if len(seeds) > 1:
        raise FactScopeError("The runs of one figure must have the same seed.")
    return replace(first, study=replace(first.study, methods=methods))


def _in_full(options: argparse.Namespace, view: dict[str, Any]) -> Source:
    about = kind(options.kind)
    if options.corpus is None or (options.algorithm is None and about.needs is not Needs.CORPUS):
        raise FactScopeError(
            f"The figure “{about.name}” is made from {about.needs.value}: give --corpus and --algorithm, --run, or --settings."
        )
    fixed = {name: plain(value) for name, value in (setting(text, "--set", "lam=100") for text in options.set)}
    fixed |= {"n_clusters": options.clusters} if options.clusters is not None else {}
    axes = {}
    for text in options.axis:
        name, values = setting(text, "--axis", "lam=1,10,100")
        axes[name] = [plain(v) for v in values.split(",") if v.strip()]
    study_kind = about.needs in (Needs.ROWS, Needs.EVIDENCE)
    if axes and not study_kind:
        raise FactScopeError(f"The figure “{about.name}” is no figure of a study, so it takes no --axis.")
    seeds = (options.seed or 0,) if options.seeds is None else tuple(range(options.seeds))
    several = study_kind or about.name == "scores"
    if options.seeds is not None and not several:
        raise FactScopeError(f"The figure “{about.name}” shows runs of one seed: give --seed.")
    drawn = options.random_classes is not None
    classes = {"classes": options.classes.split(",") if options.classes else None, "largest": options.largest, "min_size": options.min_size,
               "max_size": options.max_size, "at_most": options.at_most}  # fmt: skip
    study = Study(
        options.corpus, tuple(Method(n.strip()) for n in (options.algorithm or "").split(",") if n.strip()), axes=axes, seeds=seeds,
        options=fixed, classes={n: v for n, v in classes.items() if v is not None}, draws=(options.random_classes,) if drawn else (),
        title=f"{options.algorithm or about.title} on {options.corpus}",
    )  # fmt: skip
    return Source(about.name, study, view)


def _style(options: argparse.Namespace, said: dict[str, Any]) -> Style:
    """The settings' style, and over it what the arguments say."""
    asked = {"width": options.width, "height": options.height, "font": options.font, "size": options.font_size, "dpi": options.dpi}
    given = {name: value for name, value in asked.items() if value is not None} | ({"monochrome": True} if options.monochrome else {})
    try:
        return Style(**{**said, **given})
    except TypeError:
        raise FactScopeError(f"The style of these settings is not known: {said}.") from None
