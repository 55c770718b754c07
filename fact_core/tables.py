"""The papers' tables and parameter figures as studies, and what they give beside what is printed.

Run i of a table draws k classes with seed i; every method of that run sees the same classes and the same seed, so methods can be compared
in pairs. Everything is a fraction of one but differences, which are in points (hundredths).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from .algorithms import find
from .errors import FactScopeError, unknown
from .presets import resolve
from .printed import TABLES, Table, printed
from .study import Method, Study, accepted

MEASURES = ("accuracy", "nmi")
WORDS = {"accuracy": "accuracy", "nmi": "NMI"}
STEPS = {"Yale_32x32": 2000, "ORL": 2000}  # dense images need that many; the paper does not say
WHOLE = 10**9  # steps of a warm-up that is a whole run


def protocol(name: str) -> Table:
    table = TABLES.get(str(name).strip().lower())
    if table is None:
        raise unknown("table", name, TABLES)
    return table


def table_study(name: str, ks: Sequence[int] = (), runs: int | None = None, methods: Sequence[str] = ()) -> Study:
    """A printed table as a study: all its numbers of classes, runs and methods, or those asked for."""
    table = protocol(name)
    for k in ks:
        if not 1 <= k <= table.classes:
            raise FactScopeError(f"Table {table.name} draws from {table.classes} classes, so k cannot be {k}.")
    names = [next((m for m in table.methods if m.lower() == wish.strip().lower()), wish) for wish in methods] or list(table.methods)
    draws = tuple(dict.fromkeys(ks or table.ks))
    return Study(
        corpus=table.corpus, methods=tuple(Method(m, _options(table, m)) for m in names), title=table.title, classes=table.select,
        draws=draws, seeds=tuple(range(table.runs if runs is None else runs)), arrays=False,
    )  # fmt: skip


def _options(table: Table, method: str) -> dict[str, Any]:
    options: dict[str, Any] = dict(table.settings.get(resolve(method).name, table.settings.get(method, {})))
    if table.share is not None and "share" in accepted(method):
        options["share"] = table.share
    if (steps := table.steps or STEPS.get(table.corpus)) is not None and find(resolve(method).key).blocks:
        options["max_iter"] = steps
    if table.starts is not None:
        options |= {"restarts": table.starts, "warm_up": WHOLE}
    return options


def _published(corpus: str) -> dict[str, Any]:
    """The classes the figures of a corpus draw from, and what RCF is set to there."""
    tdt2 = corpus == "TDT2"
    return {
        "classes": {"largest": 30 if tdt2 else 13},
        "draws": (9 if tdt2 else 5,),
        "rcf": {"p": 5, "alpha": 0.5} if tdt2 else {"p": 4, "alpha": 0.3},
    }


def _lccf(axes: dict[str, list[float]]) -> Callable[[str], Study]:
    methods = (Method("LCCF"), Method("LCCF-NCW"))
    return lambda corpus: Study(corpus, methods, classes={"min_size": 10}, draws=(5,), axes=axes, seeds=tuple(range(5)))


def _rcf(axes: dict[str, list[float]]) -> Callable[[str], Study]:
    def study(corpus: str) -> Study:
        said = _published(corpus)
        own = {name: value for name, value in said["rcf"].items() if name not in axes}
        return Study(
            corpus, (Method("RCF", own),), classes=said["classes"], draws=said["draws"], axes=axes | {"share": [0.02, 0.2]},
            seeds=tuple(range(5)), options={"max_iter": 400},
        )  # fmt: skip

    return study


_SHARES = [0.02, 0.05, 0.1, 0.15, 0.2]


def _shares(corpus: str) -> Study:
    """All methods of RCF's tables against the share of labels; those that use none are level."""
    said = _published(corpus)
    methods = [Method(name) for name in ("KM", "CF", "LCCF", "CCF", "SemiLCCF", "CNPCF", "GDCF")]
    return Study(
        corpus, (*methods, Method("RCF", said["rcf"])), classes=said["classes"], draws=said["draws"], axes={"share": _SHARES},
        seeds=tuple(range(5)),
    )  # fmt: skip


def _kinds_of_links(corpus: str) -> Study:
    axes: dict[str, list[Any]] = {"share": _SHARES, "links": ["both", "must", "cannot"]}
    classes = {"at_most": 100} if corpus == "20Newsgroups" else {}
    return Study(corpus, (Method("RCF"),), classes=classes, draws=(5,), axes=axes, seeds=tuple(range(5)))


_CONVERGING = (Method("NMF"), Method("CF"), Method("LCCF"))
_LAMBDAS = [1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1e3, 3e3, 1e4]
FIGURES: dict[str, tuple[str, tuple[str, ...], Callable[[str], Study]]] = {
    "lccf-fig-1": ("LCCF figure 1: scores against λ", ("TDT2_all", "Reuters21578"), _lccf({"lam": _LAMBDAS})),
    "lccf-fig-2": ("LCCF figure 2: scores against p", ("TDT2_all", "Reuters21578"), _lccf({"p": [3, 5, 7, 9, 13, 17, 21, 25]})),
    "lccf-fig-3": (
        "LCCF figure 3: convergence of NMF, CF and LCCF",
        ("TDT2_all", "Reuters21578"),
        lambda corpus: Study(corpus, _CONVERGING, classes={"min_size": 10}, draws=(5,), options={"restarts": 1}),
    ),
    "rcf-fig-1": ("RCF figure 1: scores against the share of labels, TDT2", ("TDT2",), _shares),
    "rcf-fig-2": ("RCF figure 2: scores against the share of labels, Reuters", ("Reuters21578",), _shares),
    "rcf-fig-3": ("RCF figure 3: must-links, cannot-links and both", ("20Newsgroups",), _kinds_of_links),
    "rcf-fig-4": ("RCF figure 4: scores against α", ("TDT2", "Reuters21578"), _rcf({"alpha": [0.1, 0.3, 0.5, 0.7, 0.9]})),
    "rcf-fig-5": ("RCF figure 5: scores against p", ("TDT2", "Reuters21578"), _rcf({"p": [2, 3, 4, 5, 6, 8, 10]})),
    "rcf-fig-6": ("RCF figure 6: scores against λ", ("TDT2", "Reuters21578"), _rcf({"lam": _LAMBDAS})),
}  # fmt: skip


def figure_study(name: str, corpus: str | None = None) -> Study:
    """A printed figure over a parameter, or over steps, as a study on one of its corpora."""
    if name not in FIGURES:
        raise unknown("figure", name, FIGURES)
    title, corpora, make = FIGURES[name]
    study = make(corpus or corpora[0])
    return Study(**{**vars(study), "title": f"{title}, {study.corpus}"})


def _siblings(table: Table) -> Iterable[Table]:
    """The tables of the same experiment: another measure of it is printed in a table of its own."""
    same = (table.name.split("-")[0], table.corpus, table.share, table.methods)
    return (t for t in TABLES.values() if (t.name.split("-")[0], t.corpus, t.share, t.methods) == same)


def beside_printed(name: str, rows: pd.DataFrame, ks: Sequence[int] = (), methods: Sequence[str] = ()) -> pd.DataFrame:
    """One row for each k and method of a table: mean and sd over the runs, the printed number, the difference in points.

    All `ks` and `methods` asked for are there, those without a run yet with their printed numbers only; by default what there are runs of.
    `p_best` is the paired Wilcoxon test of the accuracies against the best method at that k, over the same class choices.
    """
    table = protocol(name)
    said = {(p.measure, p.k, p.preset.lower()): p.value for t in _siblings(table) for p in printed(t.name)}
    found = []
    for k in ks or sorted(rows["k"].unique()):
        at_k = rows[rows["k"] == k]
        by_run = {measure: _by_run(at_k, measure) for measure in MEASURES}
        best = by_run["accuracy"].mean().idxmax() if len(by_run["accuracy"]) else None
        for method in methods or dict.fromkeys(at_k["method"]):
            known = method in by_run["accuracy"]
            row: dict[str, Any] = {"table": table.name, "k": int(k), "method": method}
            row["runs"] = int(by_run["accuracy"][method].count()) if known else 0
            for measure in MEASURES:
                values = by_run[measure][method].dropna() if known else pd.Series(dtype=float)
                row |= {measure: values.mean(), f"{measure}_sd": values.std() if len(values) > 1 else np.nan}
            row |= {f"printed_{m}": said.get((m, int(k), str(method).lower()), np.nan) for m in MEASURES}
            row |= {f"{m}_difference": 100 * (row[m] - row[f"printed_{m}"]) for m in MEASURES}
            pair = by_run["accuracy"][[method, best]].dropna() if known and method != best else None
            found.append(row | {"best": method == best, "p_best": np.nan if pair is None else paired(*pair.to_numpy().T)["wilcoxon"]})
    return pd.DataFrame(found)


def _by_run(rows: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Runs × methods."""
    some = rows[rows["score"] == measure]
    return some.pivot_table(index=["k", "seed"], columns="method", values="value", sort=False)


def averages(table: pd.DataFrame) -> pd.DataFrame:
    """The means over k of each method's row, printed ones over the same k: those with a run, or all where there is none."""
    columns = [f"{kind}{m}" for m in MEASURES for kind in ("", "printed_")]
    some = table["runs"].groupby(table["method"]).transform("max") > 0
    means = table[(table["runs"] > 0) | ~some].groupby("method", sort=False)[columns].mean()
    for m in MEASURES:
        means[f"{m}_difference"] = 100 * (means[m] - means[f"printed_{m}"])
    return means.reset_index()


def significance(rows: pd.DataFrame, measure: str = "accuracy") -> pd.DataFrame:
    """Every two methods over the same class choices, all k together: mean difference in points, paired tests."""
    by_run = _by_run(rows, measure)
    found = []
    for one, other in combinations(by_run.columns, 2):
        a, b = by_run[[one, other]].dropna().to_numpy().T
        found.append({"method": one, "against": other, "pairs": len(a), "difference": 100 * float((a - b).mean()) if len(a) else np.nan}
                     | paired(a, b))  # fmt: skip
    return pd.DataFrame(found, columns=["method", "against", "pairs", "difference", "wilcoxon", "t"])


def paired(a: np.ndarray, b: np.ndarray) -> dict[str, float]:
    """The p-values of Wilcoxon's signed-rank test and of the paired t-test; 1 where nothing differs, none for fewer than two pairs."""
    from scipy.stats import ttest_rel, wilcoxon

    if len(a) < 2:
        return {"wilcoxon": np.nan, "t": np.nan}
    if np.allclose(a, b, atol=1e-12):
        return {"wilcoxon": 1.0, "t": 1.0}
    if np.ptp(a - b) < 1e-12:  # the same difference everywhere leaves the t-test no variance
        return {"wilcoxon": float(wilcoxon(a, b).pvalue), "t": 0.0}
    return {"wilcoxon": float(wilcoxon(a, b).pvalue), "t": float(ttest_rel(a, b).pvalue)}


def latex(name: str, table: pd.DataFrame) -> str:
    """A document with the table: recomputed mean ± sd in per cent, the printed numbers below, the best of each column in bold."""
    about = protocol(name)
    ks = sorted(table["k"].unique())
    means = averages(table).set_index("method")
    lines = [
        r"\documentclass{article}", r"\usepackage[landscape,margin=1cm]{geometry}", r"\usepackage{booktabs}", r"\pagestyle{empty}",
        r"\begin{document}",
    ]  # fmt: skip
    for measure in [m for m in MEASURES if table[m].notna().any()]:
        cells = table.set_index(["method", "k"]).reindex(pd.MultiIndex.from_product([means.index, ks], names=["method", "k"]))
        top = {k: round(100 * table.loc[table["k"] == k, measure].max(), 1) for k in ks} | {"avg": round(100 * means[measure].max(), 1)}

        def shown(value: float, sd: float, column: Any, top: dict[Any, float] = top) -> str:
            if value != value:
                return "--"
            number = f"{100 * value:.1f}"
            number = rf"\textbf{{{number}}}" if float(f"{100 * value:.1f}") >= top[column] else number
            return number + (rf"\,$\pm$\,{100 * sd:.1f}" if sd == sd else "")

        runs = sorted(table["runs"].unique())
        count = f"{runs[0]}" if len(runs) == 1 else f"{runs[0]}--{runs[-1]}"
        caption = (
            f"{about.title}. Recomputed {WORDS[measure]} in per cent, mean and standard deviation over {count} runs; below, as printed."
        )
        lines += [
            r"\begin{table}[htbp]", r"\centering\scriptsize\setlength{\tabcolsep}{3pt}", rf"\caption{{{escaped(caption)}}}",
            rf"\begin{{tabular}}{{l{'r' * (len(ks) + 1)}}}", r"\toprule", " & ".join(["$k$", *map(str, ks), r"Avg. \\"]), r"\midrule",
        ]  # fmt: skip
        for method in means.index:
            at = [cells.loc[(method, k)] for k in ks]
            row = [shown(c[measure], c[f"{measure}_sd"], c.name[1]) for c in at] + [shown(means.loc[method, measure], np.nan, "avg")]
            below = [c[f"printed_{measure}"] for c in at] + [means.loc[method, f"printed_{measure}"]]
            lines.append(" & ".join([escaped(method), *row]) + r" \\")
            if any(v == v for v in below):
                lines.append(" & ".join(["", *(f"({100 * v:.1f})" if v == v else "--" for v in below)]) + r" \\")
        lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    return "\n".join([*lines, r"\end{document}", ""])


def escaped(text: str) -> str:
    for plain, tex in {"\\": r"\textbackslash ", "%": r"\%", "_": r"\_", "&": r"\&", "#": r"\#", "$": r"\$"}.items():
        text = text.replace(plain, tex)
    return text
