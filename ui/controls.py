"""Widgets made from what the methods declare."""

from __future__ import annotations

from typing import Any

import streamlit as st

from fact_core.algorithms import Algorithm, Needs, algorithms
from fact_core.assign import Assign
from fact_core.corpus import Corpus
from fact_core.graph import GraphWeights
from fact_core.kernel import Kernel, Weighting
from fact_core.parameters import Param, Scale
from fact_core.presets import PRESETS, Preset, resolve
from fact_core.solve import Solver

from . import links

DEFAULT = "lccf"
WEIGHTINGS = {Weighting.NONE: "none", Weighting.NCW: "normalised cut (NCW)", Weighting.NCW_EXACT: "normalised cut, exact"}
KERNELS = {Kernel.LINEAR: "linear", Kernel.POLY2: "polynomial, degree 2", Kernel.RBF: "Gaussian (rbf)"}
ASSIGN = {Assign.ARGMAX: "largest coordinate", Assign.KMEANS: "k-means on the coordinates", Assign.COSINE: "k-means on their directions"}
SOLVERS = {Solver.MULTIPLICATIVE: "multiplicative, as in the papers", Solver.ACCELERATED: "accelerated"}
GRAPHS = {GraphWeights.BINARY: "0-1", GraphWeights.COSINE: "cosine", GraphWeights.HEAT: "heat kernel"}


def method_picker(corpus: Corpus) -> Preset:
    """A method, by family, or a row of the papers' tables; one that cannot take this corpus says why."""
    names = {}
    for key, method in algorithms().items():
        reason = unavailable(method, corpus)
        names[key] = f"{method.title} — {method.family.value}" + (f" (not here: {reason})" if reason else "")
    names |= {name: f"{name} — as in the tables" for name, preset in PRESETS.items() if preset.options}
    return resolve(links.choice("Method", names, DEFAULT, "method"))


def unavailable(method: type[Algorithm], corpus: Corpus) -> str | None:
    """Why a method cannot take this corpus, in a few words; None if it can."""
    if Needs.SUPERVISION in method.needs and corpus.labels is None:
        return "no classes are known"
    if method.needs & (Needs.NONNEGATIVE | Needs.NONNEGATIVE_KERNEL) and corpus.counts.min() < 0:
        return "the data have negative values"
    return None


def settings_for(preset: Preset, corpus: Corpus) -> dict[str, Any]:
    """Sliders for the method's parameters and the options of the run; keywords of `fit`. What a method lacks is grey, with the reason."""
    method = algorithms()[preset.key]
    settings: dict[str, Any] = {p.name: parameter(p, method.key, len(corpus)) for p in method.parameters}
    most = max(2, min(len(corpus), 60))
    settings["n_clusters"] = links.slider(
        "k, clusters", 1, most, min(len(corpus.label_names) or 5, most), f"k.{corpus.fingerprint[:8]}", help="How many concepts to find."
    )
    note = "Normalised-cut weighting makes a document that is like many others count less, so that small classes are not drowned."
    if preset.options:
        _fixed("Document weighting", WEIGHTINGS[Weighting(preset.options.get("weighting", "none"))], preset)
    else:
        known = {w: WEIGHTINGS[w] for w in method.weightings}
        settings["weighting"] = _option("Document weighting", "weighting", known, Weighting.NONE, help=note)
    with st.expander("More options"):
        if preset.options:
            _fixed("Kernel", KERNELS[Kernel(preset.options.get("kernel", "linear"))], preset)
        else:
            why = None if method.kernels else f"{method.title} works on the documents' terms themselves."
            kernel = _option("Kernel", "kernel", KERNELS, Kernel.LINEAR, disabled=bool(why), help=why)
            settings |= {"kernel": kernel} if method.kernels else {}
        why = None if Needs.GRAPH in method.needs else f"{method.title} uses no graph."
        graph = _option("Graph weights", f"{method.key}.graph", GRAPHS, method.graph, disabled=bool(why), help=why)
        settings |= {"graph": graph} if not why else {}
        settings["assign"] = _option("Clusters from", f"{method.key}.assign", ASSIGN, method.assign)
        if method.blocks:
            if len(method.starts) > 1:
                settings["init"] = _option("Start", f"{method.key}.init", {s: s.value for s in method.starts}, method.starts[0])
            note = "Every run takes all of them."
            settings["max_iter"] = links.slider("Steps", 10, 2000, method.budget, f"{method.key}.max_iter", step=10, help=note)
            why = None if method.multiplicative else f"{method.title} takes no multiplicative steps, so there is nothing to accelerate."
            note = "The papers' steps, or the same updates repeated and extrapolated: the same objective in a fifth of the time or less."
            solver = _option("Solver", "solver", SOLVERS, Solver.MULTIPLICATIVE, disabled=bool(why), help=why or note)
            settings |= {"solver": solver} if not why else {}
            settings["restarts"] = links.slider("Starts", 1, 20, 10, "restarts", help="The one with the lowest objective is kept.")
        settings["seed"] = links.number("Seed", 0, 2**31 - 1, 0, "seed", help="The same seed gives the same numbers.") or 0
    return settings


def parameter(p: Param, key: str, documents: int) -> Any:
    """The widget for one parameter: its symbol, its sentence, and a logarithmic slider where the range is logarithmic."""
    label, name = p.doc if p.choices else f"{p.symbol}, {p.doc}", f"{key}.{p.name}"
    note = f"Published: {', '.join(f'{v:g}' for v in p.published)}." if p.published else None
    if p.choices:
        return links.choice(label, {c: c for c in p.choices}, p.default, name, help=note)
    if p.scale is Scale.LOG:
        return links.stops(label, p.stops(), float(p.default), name, help=note)
    if p.whole:
        return links.slider(label, int(p.low), int(min(p.high, documents - 1)), int(min(p.default, documents - 1)), name, help=note)
    return links.slider(label, float(p.low), float(p.high), float(p.default), name, step=(p.high - p.low) / 100, help=note)


def _fixed(label: str, value: str, preset: Preset) -> None:
    st.selectbox(label, [value], disabled=True, key=f"fixed.{label}.{preset.name}", help=f"{preset.name} fixes this.")


def _option(label: str, key: str, names: dict[Any, str], default: Any, **more: Any) -> str:
    return links.choice(label, {option.value: name for option, name in names.items()}, default.value, key, **more)
