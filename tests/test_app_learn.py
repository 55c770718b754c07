"""The teaching page without a browser: every lesson, the cards of all methods, what a teacher drops into the folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from test_app import patient  # noqa: F401 (pages wait for their runs)

import fact_core as fc
import ui.lessons
from fact_core.algorithms import algorithms
from fact_core.corpus.model import assemble
from fact_core.lessons import Scene, card, read_lessons

APP = str(Path(__file__).parent.parent / "app.py")
LESSON = """---
title: Dropped
order: 0
corpus: {corpus}
methods: cf
figure: {figure}
clusters: 3
controls:
  steps: 20 from 10, 20
---
Text.

## Question
Which?

## Answer
This.
"""


def learn(**choices: str) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=120)
    for key, value in choices.items():
        app.query_params[key] = value
    app.run()
    app.switch_page("pages/learn.py").run()
    assert not app.exception, app.exception
    return app


def words(app: AppTest) -> str:
    return "\n".join(m.value for m in app.markdown)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FACTSCOPE_LESSONS", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("lesson", read_lessons().lessons, ids=lambda lesson: lesson.name)
def test_every_lesson_opens_and_its_controls_move(lesson: object) -> None:
    app = learn(lesson=lesson.name, present="1")
    assert not app.error
    assert not app.warning
    assert app.subheader[0].value == lesson.title
    assert lesson.question in words(app)
    assert app.expander[0].label == "Answer"
    assert app.toggle(key="present").value is True
    control = lesson.controls[0]
    slider = next(s for s in (*app.slider, *app.select_slider) if s.key == f"{lesson.name}.{control.name}")
    slider.set_value(float(control.choices[0]) if control.choices else control.low).run()
    assert not app.exception
    assert not app.error


def test_a_dropped_lesson_appears_and_a_broken_one_gives_a_sentence(folder: Path) -> None:
    app = learn()
    assert app.selectbox(key="lesson").value == "1-parts"
    (folder / "dropped.md").write_text(LESSON.format(corpus="gaussians", figure="plane"), encoding="utf-8")
    (folder / "broken.md").write_text(LESSON.format(corpus="gaussians", figure="plain"), encoding="utf-8")
    app.run()  # no restart, no code
    assert app.selectbox(key="lesson").options[0] == "1. Dropped"
    assert [w.value for w in app.warning] == [
        "A lesson could not be read. broken.md, line 6: There is no figure “plain”: did you mean “plane”?"
    ]
    app.selectbox(key="lesson").set_value("dropped").run()
    assert app.subheader[0].value == "Dropped"
    assert not app.error


@pytest.mark.parametrize(("corpus", "figure", "line"), [("nowhere", "plane", 4), ("three-topics", "plane", 6)])
def test_a_lesson_that_cannot_be_played_says_so_at_its_line(folder: Path, corpus: str, figure: str, line: int) -> None:
    (folder / "dropped.md").write_text(LESSON.format(corpus=corpus, figure=figure), encoding="utf-8")
    app = learn(lesson="dropped")
    assert app.error[0].value.startswith(f"dropped.md, line {line}: ")
    assert app.subheader[0].value == "Dropped"  # the text is still there


@pytest.mark.parametrize("corpus", ["gaussians", "three-topics", "digits"])
def test_stepping_through_each_small_problem(corpus: str) -> None:
    app = learn(learn="steps", **{"learn.corpus": corpus, "learn.steps": "20"})
    assert not app.error
    views = app.selectbox(key="learn.view").options
    assert len(views) == {"gaussians": 4, "three-topics": 3, "digits": 2}[corpus]
    app.number_input(key="learn.row").set_value(7).run()
    app.multiselect(key="learn.methods").set_value([]).run()
    assert "Choose a method" in app.info[0].value
    assert not app.exception


@pytest.mark.parametrize("key", list(algorithms()))
def test_every_method_can_be_stepped_through_and_has_a_card(key: str) -> None:
    app = learn(learn="steps", **{"learn.corpus": "three-topics", "learn.methods": key, "learn.steps": "10"})
    assert not app.error
    app = learn(learn="methods", card=key, corpus="three-topics")
    assert not app.error
    shown = card(algorithms()[key], fc.load_corpus("three-topics"), 3)
    assert app.subheader[0].value == shown.title
    assert [latex.value.strip("$\n ") for latex in app.latex][: 1 + len(shown.rules)] == [shown.formula, *shown.rules]
    assert shown.citation in words(app)
    assert all(slip.why in words(app) for slip in shown.slips)
    assert all(f"{cost.value:,}" in words(app) for cost in shown.costs)


def test_all_slips_and_the_work_side_by_side() -> None:
    assert "section 3.1" in words(learn(learn="methods", card="slips"))
    table = learn(learn="methods", card="work", corpus="three-topics").dataframe[0].value
    assert set(table["method"]) >= {"NMF", "CF", "LCCF"}


def test_two_people_with_the_same_numbers_see_their_own_titles(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scene is made once for both, without titles."""
    shown: list[Scene] = []
    monkeypatch.setattr(ui.lessons, "player", lambda scene, *_, **__: shown.append(scene))

    def look(who: str) -> list[str]:
        mine = assemble("x", np.eye(6) + 0.1, weighting="none", titles=[f"{who} {i}" for i in range(6)])
        monkeypatch.setattr(ui.lessons, "corpus_in_sidebar", lambda **_: mine)
        learn(learn="steps", **{"learn.methods": "nmf", "learn.k": "3", "learn.steps": "10"})
        return list(shown[-1].panels[0].view.titles)  # type: ignore[union-attr]

    assert look("my") == [f"my {i}" for i in range(6)]
    assert look("your") == [f"your {i}" for i in range(6)]
