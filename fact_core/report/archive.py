"""A report as one ZIP: figures, tables.tex, report.html, settings.json, and the script that makes all of it again."""

from __future__ import annotations

import html
import io
import json
import platform
import re
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from .. import tables
from ..corpus import Corpus
from ..figures.static import Style
from ..store.corpora import save_corpus
from ..study import VERSION
from . import files
from .kinds import Drawn
from .source import Source

FORMATS = ("pdf", "svg", "png", "csv")
PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "plotly", "matplotlib")
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same report is the same file


@dataclass(frozen=True)
class Item:
    """A figure or table of a report."""

    source: Source
    drawn: Drawn
    caption: str
    upload: Corpus | None = None  # the whole corpus, where it was uploaded

    @property
    def is_table(self) -> bool:
        return self.drawn.figure is None


def archive(
    items: Sequence[Item], style: Style | None = None, title: str = "FactScope report", *, draw: files.Draw = files.render
) -> bytes:
    """The ZIP; `draw` is who draws for print."""
    style = style or Style()
    packed = _uploads(items)
    named = [(f"{i:02d}-{item.source.kind}", _with_file(item)) for i, item in enumerate(items, start=1)]
    content: dict[str, bytes] = {}
    for name, item in named:
        for kind in ("csv",) if item.is_table else FORMATS:
            content[f"{'tables' if item.is_table else 'figures'}/{name}.{kind}"] = files.as_file(item.drawn, kind, style, draw=draw)
    content["tables.tex"] = files.latex_document([_tex(item) for _, item in named if item.is_table] or ["No tables."]).encode()
    content["report.html"] = _page(named, title).encode()
    content["settings.json"] = (json.dumps(settings(named, style, title), indent=2, ensure_ascii=False) + "\n").encode()
    content["reproduce.sh"] = script(named).encode()
    content |= packed
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zipped:
        for path, data in content.items():
            entry = zipfile.ZipInfo(path, EPOCH)
            entry.external_attr = (0o755 if path.endswith(".sh") else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            zipped.writestr(entry, data)
    return file.getvalue()


def settings(named: Sequence[tuple[str, Item]], style: Style, title: str) -> dict[str, Any]:
    """Everything that is needed to make the report again, as plain data."""
    versions = {"python": platform.python_version()} | {name: metadata.version(name) for name in PACKAGES}
    figures = [{"name": name, "caption": item.caption} | item.source.as_json() for name, item in named]
    return {"title": title, "factscope": VERSION, "versions": versions, "style": style.as_json(), "figures": figures}


def script(named: Sequence[tuple[str, Item]]) -> str:
    """A shell script that makes every figure again with `python -m fact_core figure`."""
    lines = [
        "#!/bin/sh",
        "# Makes every figure and table of this report again, into the folder given (default: reproduced).",
        "# Needs FactScope (fact_core); fetched corpora need their files in FACTSCOPE_DATA, or the network. PYTHON names the interpreter.",
        "set -eu",
        "# One thread, as the pages compute: sums in another order differ in the last digits.",
        "export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1",
        'out=$(mkdir -p "${1:-reproduced}" && cd "${1:-reproduced}" && pwd)',
        'cd "$(dirname "$0")"',
        'mkdir -p "$out/figures" "$out/tables"',
    ]
    for name, item in named:
        folder = "tables" if item.is_table else "figures"
        kinds = ("csv", "tex") if item.is_table else FORMATS
        outs = " ".join(f'--out "$out/{folder}/{name}.{kind}"' for kind in kinds)
        lines.append(f'"${{PYTHON:-python3}}" -m fact_core figure {item.source.kind} --settings settings.json --name {name} {outs}')
    return "\n".join([*lines, ""])


def _page(named: Sequence[tuple[str, Item]], title: str) -> str:
    parts = [f"<h1>{html.escape(title)}</h1>"]
    counts = {"Figure": 0, "Table": 0}
    for name, item in named:
        what = "Table" if item.is_table else "Figure"
        counts[what] += 1
        figure = item.drawn.figure
        body = files.table_html(item.drawn.numbers) if figure is None else files.figure_html(figure, name)
        words = f"<figcaption><b>{what} {counts[what]}.</b> {html.escape(item.caption)}</figcaption>"
        parts.append(f"<figure>{body}{words}</figure>")
    parts.append("<p>Made with FactScope; settings.json and reproduce.sh make it again.</p>")
    return files.page(title, parts)


def _tex(item: Item) -> str:
    if item.source.kind == "paper-table":
        whole = tables.latex(str(item.source.view["table"]), item.drawn.numbers)
        return whole.split(r"\begin{document}", 1)[1].rsplit(r"\end{document}", 1)[0].strip()
    return files.latex_table(item.drawn.numbers, item.caption)


def _with_file(item: Item) -> Item:
    if item.upload is None:
        return item
    return replace(item, source=replace(item.source, corpus_file=_file_name(item.upload)))


def _file_name(corpus: Corpus) -> str:
    return f"corpora/{re.sub(r'[^A-Za-z0-9]+', '-', corpus.name).strip('-') or 'corpus'}-{corpus.fingerprint[:8]}.npz"


def _uploads(items: Sequence[Item]) -> dict[str, bytes]:
    """The uploaded corpora, each once."""
    packed: dict[str, bytes] = {}
    for item in items:
        if item.upload is not None and _file_name(item.upload) not in packed:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "corpus.npz"
                save_corpus(item.upload, path)
                packed[_file_name(item.upload)] = path.read_bytes()
    return packed
