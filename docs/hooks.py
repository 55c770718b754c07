"""Pages of the documentation that are written from what the methods declare, and formulas that need nothing from the web.

mkdocs calls the functions named on_…; the others make Markdown of one method each.
"""

from __future__ import annotations

import inspect
import re
import sys
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File

from fact_core.algorithms import Algorithm, Needs, algorithms
from fact_core.estimators import options_of
from fact_core.lessons.slips import SLIPS, Slip, slips_of
from fact_core.presets import PRESETS

NEEDS = {
    Needs.GRAPH: "a neighbour graph of the documents",
    Needs.NONNEGATIVE: "data without negative values",
    Needs.NONNEGATIVE_KERNEL: "similarities without negative values",
    Needs.SUPERVISION: "the classes of some documents, or pairs",
    Needs.CLASSES: "classes, or pairs that imply them",
}


def on_files(files: Any, config: Any) -> Any:
    """Every method as a page of its own, the list of them, and the slips of the papers."""
    pages = {"methods/index.md": index(), "slips.md": slips()}
    pages |= {f"methods/{key}.md": page(method) for key, method in algorithms().items()}
    for path, content in pages.items():
        files.append(File.generated(config, path, content=content))
    return files


def on_config(config: Any) -> Any:
    """The methods in the menu, in the order of their families."""
    section = next(entry["Methods"] for entry in config["nav"] if "Methods" in entry)
    section += [{method.title: f"methods/{key}.md"} for key, method in algorithms().items()]
    return config


def on_page_content(html: str, **_: Any) -> str:
    """References in docstrings without the role before them."""
    return re.sub(r":(?:class|func|mod|meth):(?=<code>)", "", html)


def with_mathml(text: str) -> str:
    """`$…$` as MathML, which browsers draw themselves."""
    return re.sub(r"\$([^$]+)\$", lambda found: mathml(found[1]), text)


def mathml(tex: str) -> str:
    return convert(tex).replace("|", "&#124;")  # a bar would end the cell of a table


def index() -> str:
    lines = ["# Methods", "", "Every name in the papers' tables is one of these with options, and accepted wherever a key is.", ""]
    family = None
    for key, method in algorithms().items():
        if method.family is not family:
            family = method.family
            lines += ["", f"## {family.value}", "", "| method | key | minimises | paper |", "|---|---|---|---|"]
        lines.append(f"| [{method.title}]({key}.md) | `{key}` | {mathml(method.formula)} | {method.paper} |")
    lines += ["", "## Names of the papers' tables", "", "| name | method | options |", "|---|---|---|"]
    for name, preset in PRESETS.items():
        said = ", ".join(f"`{option}={value}`" for option, value in preset.options.items())
        lines.append(f"| {name} | [{algorithms()[preset.key].title}]({preset.key}.md) | {said or 'none'} |")
    return "\n".join(lines) + "\n"


def page(method: type[Algorithm]) -> str:
    """A method: its problem and rules as its file has them, its parameters, its class."""
    module = inspect.getdoc(sys.modules[method.__module__]) or ""
    lines = [f"# {method.title}", "", method.__doc__ or "", "", f'<p style="font-size:1.3em">{convert(method.formula)}</p>', ""]
    lines += [f"{method.paper}. Key `{method.key}`, family “{method.family.value}”. {method.note}".rstrip(), ""]
    wanted = [words for need, words in NEEDS.items() if need in method.needs]
    lines += [f"It needs {', and '.join(wanted)}.", ""] if wanted else []
    lines += ["## Problem and rules", "", module, ""]  # what is indented there are formulas, which Markdown leaves as they are
    if found := listed(slips_of(method.key)):
        lines += ["## Slips in the paper", "", *found, ""]
    lines += ["## Parameters", ""]
    if method.parameters:
        lines += ["| name | symbol | default | range | published | meaning |", "|---|---|---|---|---|---|"]
        for p in method.parameters:
            span = " or ".join(p.choices) if p.choices else f"{p.low:g} … {p.high:g}"
            published = ", ".join(f"{v:g}" for v in p.published)
            lines.append(f"| `{p.name}` | {p.symbol} | {p.show(p.default)} | {span} | {published} | {p.doc} |")
    else:
        lines.append("None of its own.")
    lines += ["", "| option | values, the default first |", "|---|---|"]
    lines.append(f"| `kernel` | {'linear, poly2, rbf' if method.kernels else 'linear'} |")
    lines.append(f"| `weighting` | {', '.join(w.value for w in method.weightings)} |")
    if Needs.GRAPH in method.needs:
        lines.append(f"| `graph` | {', '.join(dict.fromkeys([method.graph.value, 'binary', 'cosine', 'heat']))} |")
    if method.blocks:
        lines.append(f"| `init` | {', '.join(s.value for s in method.starts)} |")
        lines.append(f"| `max_iter` | {method.budget} |")
    lines.append(f"| `assign` | {', '.join(dict.fromkeys([method.assign.value, 'argmax', 'kmeans', 'cosine']))} |")
    signature = ", ".join(f"{name}={default!r}" for name, default in options_of(method).items())
    lines += ["", "## Use", "", "```python", "import fact_core as fc", "", f'result = fc.fit(corpus, "{method.key}", n_clusters=5)', "",
              f"from fact_core.estimators import {method.__name__}", "", f"{method.__name__}({signature})", "```", ""]  # fmt: skip
    return "\n".join(lines)


def listed(found: tuple[Slip, ...]) -> list[str]:
    return [with_mathml(f"* {s.place}: {s.printed}. Here: {s.here}. {s.why}") for s in found]


def slips() -> str:
    lines = ["# Slips in the papers", "", "Where a paper prints what cannot be meant, the methods here do what was meant. "
             "The file of each method says so at the rule concerned.", ""]  # fmt: skip
    lines += ["| paper | place | printed | here | why |", "|---|---|---|---|---|"]
    lines += [with_mathml(f"| {s.paper} | {s.place} | {s.printed} | {s.here} | {s.why} |") for s in SLIPS]
    return "\n".join(lines) + "\n"
