"""Pages without a browser: they open, run and refuse without an exception."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import fact_core as fc
from fact_core.algorithms import algorithms
from fact_core.corpus import DEFAULT_VIEW
from fact_core.presets import PRESETS, resolve

APP = str(Path(__file__).parent.parent / "app.py")
pytestmark = pytest.mark.xdist_group("app")


def opened(**choices: str) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=120)
    for key, value in choices.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception, app.exception
    return app


def metric(app: AppTest, label: str) -> float:
    return float(next(m.value for m in app.metric if m.label == label))


def press_run(app: AppTest) -> AppTest:
    next(b for b in app.button if b.label == "Run").click()
    app.run()
    assert not app.exception, app.exception
    return app


def default_corpus() -> fc.Corpus:
    whole = fc.load_corpus("scipy-docs")
    return whole.select([c for c in whole.label_names if c in DEFAULT_VIEW["classes"]], at_most=DEFAULT_VIEW["at_most"])


def test_a_result_is_there_at_first_sight() -> None:
    app = opened()
    expected = fc.fit(default_corpus(), "lccf")
    assert metric(app, "Accuracy") == pytest.approx(expected.scores["accuracy"], abs=6e-4)
    assert metric(app, "Objective") == pytest.approx(expected.objective[-1], rel=1e-4)
    charts = app.get("plotly_chart")
    assert len(charts) == 3
    curve = json.loads(charts[0].proto.spec)
    assert len(curve["data"]) == 3  # objective, fit, graph term


def test_a_moved_slider_waits_for_run() -> None:
    app = opened(corpus="gaussians")
    before = metric(app, "Objective")
    app.slider(key=next(s.key for s in app.slider if s.label.startswith("k,"))).set_value(2)
    app.run()
    assert metric(app, "Objective") == before
    assert any("settings have changed" in i.value for i in app.info)
    press_run(app)
    assert metric(app, "Objective") != before
    assert not app.info


@pytest.mark.parametrize("name", [*algorithms(), *(n for n, p in PRESETS.items() if p.options)])
def test_every_method_runs_on_the_page(name: str) -> None:
    app = opened(corpus="three-topics", method=name, restarts="2", **{f"{resolve(name).key}.max_iter": "20"})
    expected = fc.fit(fc.load_corpus("three-topics"), name, max_iter=20, restarts=2)
    assert metric(app, "Objective") == pytest.approx(expected.objective[-1], rel=1e-4)
    assert metric(app, "Accuracy") == pytest.approx(expected.scores["accuracy"], abs=6e-4)
    assert not app.error


@pytest.mark.parametrize("corpus", ["three-topics", "digits", "gaussians"])
def test_every_built_in_corpus_opens(corpus: str) -> None:
    app = opened(corpus=corpus, method="kmeans")
    assert metric(app, "Accuracy") > 0.4


def test_what_cannot_be_done_is_said_where_the_person_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(corpus="three-topics", method="kmeans")
    shown = metric(app, "Objective")
    monkeypatch.setenv("FACTSCOPE_MEMORY", "1k")
    app.selectbox(key="kernel").set_value("rbf")
    press_run(app)
    assert len(app.error) == 1
    assert "of memory" in app.error[0].value
    assert metric(app, "Objective") == shown  # the last result is still there
