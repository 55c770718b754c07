"""A figure or table as a file: PDF, SVG, PNG, HTML, CSV, and LaTeX for tables."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence

import pandas as pd
import plotly.graph_objects as go

from ..errors import FactScopeError, unknown
from ..figures.static import FORMATS, Style, render
from ..tables import escaped
from ..tabular import numbers_csv
from .kinds import Drawn

KINDS = (*FORMATS, "html", "csv", "tex")
GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta", "θ": "theta", "κ": "kappa",
    "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "π": "pi", "ρ": "rho", "σ": "sigma", "τ": "tau", "φ": "phi", "χ": "chi", "ψ": "psi",
    "ω": "omega",
    "Γ": "Gamma", "Δ": "Delta", "Θ": "Theta", "Λ": "Lambda", "Ξ": "Xi", "Π": "Pi", "Σ": "Sigma", "Φ": "Phi", "Ψ": "Psi", "Ω": "Omega",
}  # fmt: skip
SIGNS = {
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "±": r"$\pm$", "−": r"$-$", "·": r"$\cdot$", "×": r"$\times$", "≥": r"$\geq$", "≤": r"$\leq$", "–": "--", "—": "---", "…": r"\dots{}",
    "“": "``", "”": "''", "’": "'", "‘": "`", "→": r"$\to$", "²": r"\textsuperscript{2}", "³": r"\textsuperscript{3}",
    "|": r"\textbar{}", "\n": " ", "\t": " ",
}  # fmt: skip


Draw = Callable[[go.Figure, str, Style], bytes]  # as `render` is


def as_file(drawn: Drawn, kind: str, style: Style | None = None, *, caption: str = "", draw: Draw = render) -> bytes:
    """The bytes of a file of this kind; `draw` is who draws for print."""
    if kind == "csv":
        return numbers_csv(drawn.numbers).encode()
    if kind == "html":
        body = figure_html(drawn.figure, "figure") if drawn.figure is not None else table_html(drawn.numbers)
        return page(caption, [f"<figure>{body}<figcaption>{html.escape(caption)}</figcaption></figure>"]).encode()
    if kind == "tex":
        return latex_document([latex_table(drawn.numbers, caption)]).encode()
    if kind not in KINDS:
        raise unknown("kind of file", kind, KINDS)
    if drawn.figure is None:
        raise FactScopeError(f"This is a table: it can be written as csv, tex or html, not as {kind}.")
    return draw(drawn.figure, kind, style or Style())


def figure_html(figure: go.Figure, name: str) -> str:
    """The figure to move and to point at; plotly.js is the page's."""
    return figure.to_html(full_html=False, include_plotlyjs=False, div_id=name, config={"displaylogo": False, "responsive": True})


def page(title: str, parts: Sequence[str]) -> str:
    """A page that needs nothing else: plotly.js is inside."""
    from plotly.offline import get_plotlyjs

    style = (
        "body{font:16px/1.5 system-ui,sans-serif;max-width:960px;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}"
        "figure{margin:2.5rem 0}figcaption{color:#444;margin-top:.5rem}table{border-collapse:collapse;margin:auto}"
        "th,td{padding:.2rem .7rem;text-align:right}th:first-child,td:first-child{text-align:left}"
        "thead th{border-top:2px solid;border-bottom:1px solid}tbody tr:last-child td{border-bottom:2px solid}"
        ".scroll{overflow-x:auto}"
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title) or "FactScope"}</title>'
        f"<style>{style}</style><script>{get_plotlyjs()}</script></head>\n<body>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


def table_html(frame: pd.DataFrame) -> str:
    return f'<div class="scroll">{frame.to_html(index=False, border=0, na_rep="–", float_format=lambda v: f"{v:.4g}")}</div>'


def latex_table(frame: pd.DataFrame, caption: str) -> str:
    """A table environment with booktabs: words to the left, numbers to the right."""
    numbers = [pd.api.types.is_numeric_dtype(frame[name]) and frame[name].dtype != bool for name in frame]

    def cell(value: object) -> str:
        if value is None or value != value or value is pd.NA:
            return "--"
        return tex(f"{value:.4g}" if isinstance(value, float) else str(value))

    lines = [" & ".join(cell(v) for v in row) + r" \\" for row in frame.itertuples(index=False, name=None)]
    return "\n".join([
        r"\begin{table}[htbp]", r"\centering\small", rf"\caption{{{tex(caption)}}}",
        rf"\begin{{tabular}}{{{''.join('r' if n else 'l' for n in numbers)}}}", r"\toprule",
        " & ".join(tex(str(name)) for name in frame) + r" \\", r"\midrule", *lines, r"\bottomrule", r"\end{tabular}", r"\end{table}",
    ])  # fmt: skip


def latex_document(parts: Sequence[str]) -> str:
    """A document of table environments that every LaTeX compiles. pdfLaTeX has no signs for most scripts: it prints a question mark."""
    body = "\n\n".join(parts)
    rare = sorted({sign for sign in body if ord(sign) > 0xFF})
    known = [rf"\DeclareUnicodeCharacter{{{ord(sign):04X}}}{{?}}" for sign in rare]
    lines = [r"\documentclass{article}", r"\usepackage[landscape,margin=1cm]{geometry}", r"\usepackage{booktabs}", r"\pagestyle{empty}"]
    if known:
        lines += [r"\ifdefined\directlua\else\ifdefined\XeTeXversion\else", *known, r"\fi\fi"]
    return "\n".join([*lines, r"\begin{document}", body, r"\end{document}", ""])


def tex(words: str) -> str:
    """Any words as LaTeX writes them."""
    out = []
    for sign in words:
        out.append(
            f"$\\{GREEK[sign]}$" if sign in GREEK else SIGNS[sign] if sign in SIGNS else escaped(sign) if sign.isprintable() else " "
        )
    return "".join(out)
