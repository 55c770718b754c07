"""Lessons, runs to step through and cards of methods, as parts of the teaching page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from fact_core import FactScopeError
from fact_core.algorithms import Algorithm, algorithms
from fact_core.corpus import Corpus
from fact_core.lessons import (
    MOST_STEPS,
    SLIPS,
    SMALL,
    Card,
    Control,
    Kind,
    Lesson,
    Scene,
    Slip,
    card,
    kinds_for,
    small,
)
from fact_core.lessons.cards import Letter, rules_of
from fact_core.lessons.parcel import entitled
from fact_core.lessons.scene import check
from fact_core.workers import Edges, Errand, Follow, Play

from . import controls, links, runs
from .corpus import UPLOADED, corpus_in_sidebar, part, uploads, whole_corpus
from .player import player
from .words import plain, sorry

PRESENT = "present"
NO_BREAK = "\u00a0"  # a space at which no line ends
VIEWS = {
    Kind.PLANE: "documents and bases in the plane",
    Kind.AXES: "documents on three axes",
    Kind.TRIANGLE: "documents in the triangle of three concepts",
    Kind.CONCEPTS: "the concepts themselves",
}
PRESENTER = """<style>
[data-testid=stHeader], [data-testid=stSidebar], [data-testid=stExpandSidebarButton] { display: none; }
[data-testid=stMainBlockContainer] { padding: 0.9rem 1.6rem 0.4rem !important; max-width: none; }
[data-testid=stMarkdownContainer] { font-size: 1.12rem; line-height: 1.42; }
[data-testid=stMarkdownContainer] p, [data-testid=stMarkdownContainer] li { font-size: inherit; margin-bottom: 0.5rem; }
[data-testid=stWidgetLabel] [data-testid=stMarkdownContainer] { font-size: 0.95rem; }
button p, summary p, label p { margin: 0 !important; }
[data-testid=stVerticalBlock] { gap: 0.55rem; }
h2 { font-size: 1.75rem !important; padding: 0 !important; }
</style>"""


# Lessons --------------------------------------------------------------------------------------------------------------------


def show_lesson(lesson: Lesson, large: bool) -> None:
    """The text beside its figure; a sentence instead of the figure where it cannot be made."""
    left, right = st.columns([5, 8], gap="medium")
    with left:
        st.subheader(plain(lesson.title), anchor=False)
        st.markdown(lesson.text)
        with st.container(border=True):
            st.markdown(f"**Question.** {lesson.question}")
            with st.expander("Answer"):
                st.markdown(lesson.answer)
    with right:
        chosen = _chosen(lesson)
        shown = lesson_scene(lesson, chosen)
        if isinstance(shown, str):
            sorry(shown)
            return
        player(shown, f"lesson {lesson.name}", height=445 if large else 500, large=large, at_end=True)
        st.caption(" ".join((shown.legend, *shown.notes)))


def lesson_scene(lesson: Lesson, chosen: dict[str, Any]) -> Scene | str:
    """The figure of a lesson at these values of its controls, or a sentence that names the line at which it cannot be made."""
    at = "corpus"
    if lesson.corpus.endswith(UPLOADED) and lesson.corpus not in uploads():
        return lesson.wrong(at, f"{lesson.corpus} is not here.")
    try:
        whole = whole_corpus(lesson.corpus)
        at = "classes"
        corpus = small(part(lesson.corpus, whole, lesson.classes or whole.label_names, lesson.at_most))
        at = "figure"
        check(corpus, lesson.settings(lesson.methods[0], chosen).get("n_clusters", len(corpus.label_names)), lesson.figure)
        at = "methods"
        if lesson.figure is Kind.LINKS:
            settings = {p.name: p.default for p in algorithms()["rcf"].parameters} | {"seed": 0} | lesson.settings("rcf", chosen)
            wanted = {name: settings[name] for name in ("share", "alpha", "p", "lam", "seed")}
            asked = [("rcf", wanted)]
        else:
            asked = [(method, lesson.settings(method, chosen)) for method in lesson.methods]
        found = runs.obtain("learn", [Play(corpus, asked, lesson.figure)])
        return entitled(found[0], corpus) if found else runs.STOPPED
    except FactScopeError as error:
        return lesson.wrong(at, str(error))


def _chosen(lesson: Lesson) -> dict[str, Any]:
    """The controls of a lesson in a row."""
    if not lesson.controls:
        return {}
    places = st.columns(len(lesson.controls), vertical_alignment="bottom")
    chosen = {}
    for place, control in zip(places, lesson.controls, strict=True):
        with place:
            chosen[control.name] = _control(control, f"{lesson.name}.{control.name}")
    return chosen


def _control(control: Control, key: str) -> Any:
    if not control.choices:
        return links.slider(control.label, control.low, control.high, control.default, key, step=control.step)
    if all(isinstance(c, str) for c in control.choices):
        return links.option(control.label, {c: c for c in control.choices}, control.default, key)
    whole = all(isinstance(c, int) for c in control.choices)
    value = links.stops(control.label, [float(c) for c in control.choices], float(control.default), key)
    return int(value) if whole else value


# Step through ---------------------------------------------------------------------------------------------------------------


def step_through(large: bool) -> None:
    """A small problem, some methods, and the player over their steps; one document's numbers below."""
    whole = corpus_in_sidebar(key="learn.corpus", default="gaussians")
    corpus = small(whole)
    with st.sidebar:
        able = {key: m.title for key, m in algorithms().items() if controls.unavailable(m, corpus) is None}
        usual: list[str] = [m for m in (("nmf", "cf", "lcf") if len(corpus.terms) == 2 else ("hht", "pspt")) if m in able]
        methods = links.choices("Methods", list(able), usual, "learn.methods", format_func=able.__getitem__, max_selections=3)
        most = max(1, min(12, len(corpus)))
        k = (
            links.slider(
                "k, concepts",
                1,
                most,
                min(max(len(corpus.label_names), 1) if corpus.labels is not None else 3, most),
                f"learn.k.{corpus.fingerprint[:8]}",
            )
            if most > 1
            else 1
        )
        steps = links.slider("Steps", 10, MOST_STEPS, MOST_STEPS, "learn.steps", step=10)
        seed = links.number("Seed", 0, 2**31 - 1, 0, "learn.seed") or 0
        chosen: dict[str, dict[str, Any]] = {}
        for key in methods:
            if algorithms()[key].parameters:
                st.markdown(f"**{able[key]}**")
            chosen[key] = {p.name: controls.parameter(p, f"learn.{key}", len(corpus)) for p in algorithms()[key].parameters}
    if not methods:
        st.info("Choose a method or several in the sidebar.")
        return
    if len(corpus) < len(whole):
        st.caption(
            f"A part of {plain(whole.name)}, drawn class by class: {len(corpus):,} of {len(whole):,} documents ({SMALL} at the most)."
        )
    kinds = kinds_for(corpus, k)
    show, follow, document = st.columns([4, 3, 2])
    with show:
        view = links.choice("Show", {kind.value: VIEWS[kind] for kind in kinds}, kinds[0].value, "learn.view")
    moving = [key for key in methods if algorithms()[key].blocks]
    with follow:
        names = {"": "no document"} | {key: able[key] for key in moving}
        followed = links.choice("Follow the numbers of", names, next(iter(moving), ""), "learn.follow")
    with document:
        at = links.number("Document, from 0", 0, len(corpus) - 1, 0, "learn.row", disabled=not followed) or 0
    asked = {key: (key, chosen[key] | {"n_clusters": k, "steps": steps, "seed": seed}) for key in methods}
    row, detail = min(at, len(corpus) - 1), None
    errands: list[Errand] = [Play(corpus, list(asked.values()), Kind(view))]
    shown, *details = runs.obtain_or_stop("learn", errands + ([Follow(corpus, asked[followed], row)] if followed else []))
    if details and details[0]:
        detail = replace(details[0], row=str(corpus.titles[row]))
    if followed and (rules := rules_of(algorithms()[followed])):
        st.latex(r",\qquad ".join(rules[:2]))
    follow_it = partial(links.put, "learn.row")
    player(entitled(shown, corpus), "step through", height=560 if large else 520, large=large, shown=detail, clicked=follow_it)
    st.caption(shown.legend + " Click a document to follow its numbers. Space plays and pauses, the arrow keys step.")


# Methods --------------------------------------------------------------------------------------------------------------------


def show_card(method: type[Algorithm], corpus: Corpus, k: int) -> None:
    """All a method declares, with the numbers of this corpus."""
    try:
        found: Card = card(method, corpus, k, _edges)
    except FactScopeError as error:
        sorry(error)
        return
    st.subheader(found.title, anchor=False)
    st.markdown(f"{found.about} *{method.paper}.*")
    left, right = st.columns([11, 10], gap="medium")
    with left:
        st.markdown("**Objective**, minimised")
        st.latex(found.formula)
        if found.rules:
            st.markdown("**One step**" if method.blocks else "**The solution**")
            for rule in found.rules:
                st.latex(rule)
        st.markdown("**Work of one step**")
        if found.costs:
            rows = "".join(f"| {cost.name} | ${{{cost.formula}}}$ | {cost.value:,} |\n" for cost in found.costs)
            st.markdown("| | formula | here |\n|---|---|---:|\n" + rows)
            st.caption(_sizes(found.sizes))
        else:
            st.caption("Solved in one go." if not method.blocks else "Not counted: it depends on the data.")
    with right:
        st.markdown(f"**Letters**, with the sizes of {plain(corpus.name)}")
        st.markdown("| | shape | meaning |\n|---|---|---|\n" + "".join(map(_letter, found.letters)))
        if found.parameters:
            st.markdown("**Parameters**")
            rows = "".join(f"| {p.symbol} | `{p.name}` | {p.show(p.default)} | {_range(p)} | {p.doc} |\n" for p in found.parameters)
            st.markdown("| | in Python | default | range | meaning |\n|---|---|---|---|---|\n" + rows)
    st.markdown("**What differs from the paper, and why**")
    if found.note:
        st.markdown(found.note)
    slip_list(found.slips)
    if not found.slips and not found.note:
        st.caption("Nothing that we know of.")
    st.markdown(f"**Citation.** {found.citation}")
    with st.expander("As its file says it"):
        st.code(found.source, language=None, wrap_lines=True)


def _edges(corpus: Corpus, method: type[Algorithm]) -> int:
    return runs.obtain_or_stop("card", [Edges(corpus, method.key)])[0]


def _letter(letter: Letter) -> str:
    shape = letter.shape + (f" = {letter.size}" if letter.size else "")
    return f"| ${letter.tex}$ | {shape.replace(' ', NO_BREAK)} | {letter.meaning} |\n"


def _range(p: Any) -> str:
    return ", ".join(p.choices) if p.choices else f"{p.low:g} to {p.high:g}".replace(" ", NO_BREAK)


def _sizes(sizes: dict[str, int]) -> str:
    meaning = {
        "m": "terms", "n": "documents", "k": "concepts", "p": "neighbours", "z": "numbers of X that are not zero",
        "q": "multiplications for one column times K", "e": "numbers of the graph that are not zero",
    }  # fmt: skip
    return "; ".join(f"{letter} = {sizes[letter]:,} {meaning[letter]}" for letter in meaning if letter in sizes) + "."


def slip_list(slips: Sequence[Slip]) -> None:
    titles = {key: m.title for key, m in algorithms().items()}
    for slip in slips:
        concerned = ", ".join(titles.get(key, key) for key in slip.methods)
        st.markdown(f"- **{slip.paper}, {slip.place}** ({concerned}). Printed: {slip.printed}. Here: {slip.here}. {slip.why}")


def slips_table() -> None:
    """Every slip in one list."""
    st.markdown("What the papers print and cannot mean, with what this program does instead.")
    slip_list(SLIPS)


def cost_table(corpus: Corpus, k: int) -> None:
    """LCCF table 2 with the numbers of this corpus, and the work of this program beside it."""
    rows = []
    for method in algorithms().values():
        found = card(method, corpus, k, _edges)
        if found.costs:
            row: dict[str, Any] = {"method": found.title}
            row |= {
                cost.name.partition(",")[0] + (" (printed)" if found.cost_source and "program" not in cost.name else ""): cost.value
                for cost in found.costs
            }
            rows.append(row)
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        key="learn.costs",
        column_config={c: st.column_config.NumberColumn(format="localized") for c in rows[0] if c != "method"},
    )
