"""Widgets made from what the methods declare."""

from __future__ import annotations

from typing import Any

import streamlit as st

from fact_core.algorithms import Needs, algorithms
from fact_core.assign import Assign
from fact_core.corpus import Corpus
from fact_core.graph import GraphWeights
from fact_core.kernel import Kernel, Weighting
from fact_core.parameters import Param, Scale
from fact_core.presets import PRESETS, Preset, resolve

DEFAULT = "lccf"
WEIGHTINGS = {Weighting.NONE: "none", Weighting.NCW: "normalised cut (NCW)", Weighting.NCW_EXACT: "normalised cut, exact"}
KERNELS = {Kernel.LINEAR: "linear", Kernel.POLY2: "polynomial, degree 2", Kernel.RBF: "Gaussian (rbf)"}
ASSIGN = {Assign.ARGMAX: "largest coordinate", Assign.KMEANS: "k-means on the coordinates", Assign.COSINE: "k-means on their directions"}
GRAPHS = {GraphWeights.BINARY: "0-1", GraphWeights.COSINE: "cosine", GraphWeights.HEAT: "heat kernel"}


def method_picker() -> Preset:
    """A method, by family, or a row of the papers' tables."""
    names = {key: f"{method.title} — {method.family.value}" for key, method in algorithms().items()}
    names |= {name: f"{name} — as in the tables" for name, preset in PRESETS.items() if preset.options}
    return resolve(linked_choice("Method", "method", names, DEFAULT))


def settings_for(preset: Preset, corpus: Corpus) -> dict[str, Any]:
    """Sliders for the method's parameters and the options of the run; keywords of `fit`."""
    method = algorithms()[preset.key]
    settings: dict[str, Any] = {p.name: parameter(p, method.key, len(corpus)) for p in method.parameters}
    most = max(2, min(len(corpus), 60))
    settings["n_clusters"] = st.slider(
        "k, clusters", 1, most, min(len(corpus.label_names) or 5, most), key=f"k.{corpus.fingerprint}", bind="query-params",
        help="How many concepts to find.",
    )  # fmt: skip
    if not preset.options:
        note = "Normalised-cut weighting makes a document that is like many others count less, so that small classes are not drowned."
        known = {w: WEIGHTINGS[w] for w in method.weightings}
        settings["weighting"] = _option("Document weighting", "weighting", known, Weighting.NONE, help=note)
    with st.expander("More options"):
        if not preset.options and method.kernels:
            settings["kernel"] = _option("Kernel", "kernel", KERNELS, Kernel.LINEAR)
        if Needs.GRAPH in method.needs:
            settings["graph"] = _option("Graph weights", f"{method.key}.graph", GRAPHS, method.graph)
        settings["assign"] = _option("Clusters from", f"{method.key}.assign", ASSIGN, method.assign)
        if method.blocks:
            if len(method.starts) > 1:
                settings["init"] = _option("Start", f"{method.key}.init", {s: s.value for s in method.starts}, method.starts[0])
            settings["max_iter"] = st.slider(
                "Steps",
                10,
                2000,
                method.budget,
                step=10,
                key=f"{method.key}.max_iter",
                bind="query-params",
                help="Every run takes all of them.",
            )
            settings["restarts"] = st.slider(
                "Starts", 1, 20, 10, key="restarts", bind="query-params", help="The one with the lowest objective is kept."
            )
        settings["seed"] = st.number_input(
            "Seed", 0, 2**31 - 1, 0, key="seed", bind="query-params", help="The same seed gives the same numbers."
        )
    return settings


def parameter(p: Param, key: str, documents: int) -> Any:
    """The widget for one parameter: its symbol, its sentence, and a logarithmic slider where the range is logarithmic."""
    label, name = p.doc if p.choices else f"{p.symbol}, {p.doc}", f"{key}.{p.name}"
    note = f"Published: {', '.join(f'{v:g}' for v in p.published)}." if p.published else None
    if p.choices:
        return st.selectbox(label, p.choices, index=p.choices.index(p.default), key=name, bind="query-params", help=note)
    if p.scale is Scale.LOG:
        return st.select_slider(
            label, p.stops(), value=float(p.default), format_func=lambda v: f"{v:g}", key=name, bind="query-params", help=note
        )
    if p.whole:
        return st.slider(label, int(p.low), int(min(p.high, documents - 1)), int(p.default), key=name, bind="query-params", help=note)
    return st.slider(
        label, float(p.low), float(p.high), float(p.default), step=(p.high - p.low) / 100, key=name, bind="query-params", help=note
    )


def linked_choice(label: str, key: str, names: dict[str, str], default: str, **more: Any) -> str:
    """A select box of values shown under names, whose value is in the link.

    Streamlit's own binding puts the shown name into the link; links are shared and typed, so they carry the value.
    """
    if key not in st.session_state:
        wanted = st.query_params.get(key, default)
        st.session_state[key] = wanted if wanted in names else default
    if st.session_state[key] not in names:
        st.session_state[key] = default
    chosen = st.selectbox(label, list(names), key=key, persist_state="session", format_func=names.__getitem__, **more)
    if chosen == default:
        st.query_params.pop(key, None)
    else:
        st.query_params[key] = chosen
    return chosen


def _option(label: str, key: str, names: dict[Any, str], default: Any, **more: Any) -> str:
    return linked_choice(label, key, {option.value: name for option, name in names.items()}, default.value, **more)
