"""Pages without a browser: they open, run and refuse without an exception."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import fact_core as fc
from fact_core.algorithms import algorithms
from fact_core.corpus import DEFAULT_VIEW, read_uploads
from fact_core.presets import PRESETS, resolve

ROOT = Path(__file__).parent.parent
APP = str(ROOT / "app.py")
NAMES = [*algorithms(), *(n for n, p in PRESETS.items() if p.options)]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page test has no browser that would ask again while a run goes on: the page waits for it."""
    import ui.runs

    monkeypatch.setattr(ui.runs, "PATIENCE", 100.0)


def opened(page: str = "explore", **choices: str) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=120)
    for key, value in choices.items():
        app.query_params[key] = value
    app.run()
    if page != "explore":
        app.switch_page(f"pages/{page}.py").run()
    assert not app.exception, app.exception
    return app


def metric(app: AppTest, label: str) -> float:
    return float(next(m.value for m in app.metric if m.label == label).replace(",", ""))


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
    assert len(json.loads(charts[0].proto.spec)["data"]) == 3  # objective, fit, graph term


def test_a_moved_slider_waits_for_run_and_the_change_is_told() -> None:
    app = opened(corpus="gaussians")
    before = metric(app, "Objective")
    app.slider(key=next(s.key for s in app.slider if s.label.startswith("k,"))).set_value(2)
    app.run()
    assert metric(app, "Objective") == before
    assert any("settings have changed" in i.value for i in app.info)
    press_run(app)
    assert metric(app, "Objective") != before
    assert not app.info
    assert any("documents changed their cluster" in c.value for c in app.caption)


@pytest.mark.parametrize("name", NAMES)
def test_every_method_runs_on_explore(name: str) -> None:
    app = opened(corpus="three-topics", method=name, restarts="2", **{f"{resolve(name).key}.max_iter": "20"})
    steps = {"max_iter": 20, "restarts": 2} if algorithms()[resolve(name).key].blocks else {}
    expected = fc.fit(fc.load_corpus("three-topics"), name, **steps)
    assert metric(app, "Objective") == pytest.approx(expected.objective[-1], rel=1e-4)
    assert metric(app, "Accuracy") == pytest.approx(expected.scores["accuracy"], abs=6e-4)
    assert not app.error


def test_the_solver_is_a_choice_and_grey_where_there_is_nothing_to_accelerate() -> None:
    app = opened(corpus="three-topics", method="cf", solver="accelerated", restarts="2", **{"cf.max_iter": "40"})
    fast, plain = (
        fc.fit(fc.load_corpus("three-topics"), "cf", max_iter=40, restarts=2, solver=s) for s in ("accelerated", "multiplicative")
    )
    assert metric(app, "Objective") == pytest.approx(fast.objective[-1], rel=1e-5)
    assert fast.objective[-1] < plain.objective[-1]
    app = opened(corpus="three-topics", method="kmeans", solver="accelerated")
    assert next(s for s in app.selectbox if s.label == "Solver").disabled
    assert not app.error


@pytest.mark.parametrize("view", ["Concepts", "Documents", "Map"])
def test_every_view_of_explore(view: str) -> None:
    app = opened(corpus="three-topics", view=view)
    assert not app.error


@pytest.mark.parametrize("corpus", ["three-topics", "digits", "gaussians"])
def test_every_built_in_corpus_opens(corpus: str) -> None:
    app = opened(corpus=corpus, method="kmeans")
    assert metric(app, "Accuracy") > 0.4
    app.switch_page("pages/corpus.py").run()
    assert not app.exception
    assert metric(app, "Documents") == len(fc.load_corpus(corpus))


@pytest.mark.parametrize("name", NAMES)
def test_every_method_on_concepts_and_coordinates(name: str) -> None:
    app = opened("concepts", corpus="three-topics", method=name, restarts="2", **{f"{resolve(name).key}.max_iter": "20"})
    assert not app.error
    app = opened("coordinates", **{"figure.show": name})
    assert not app.error
    assert len(app.get("plotly_chart")) == 1  # the affinity; the points are a component


def test_the_figure_of_the_paper_is_there_at_first_sight() -> None:
    app = opened("coordinates")
    assert app.selectbox(key="figure.corpus").value == "three-topics"
    heat = json.loads(app.get("plotly_chart")[0].proto.spec)["data"][0]
    assert heat["type"] == "heatmap"


def test_compare_gives_the_means_over_seeds() -> None:
    app = opened("compare", corpus="three-topics")
    app.multiselect(key="compare").set_value(["KM", "CF", "NC"])
    app.slider(key="compare.seeds").set_value(2)
    app.run()
    assert not app.exception
    table = app.dataframe[0].value
    corpus = fc.load_corpus("three-topics")
    expected = [fc.fit(corpus, "CF", n_clusters=3, seed=s, max_iter=200).scores["nmi"] for s in range(2)]
    assert table.set_index("method").loc["CF", "NMI"] == f"{np.mean(expected):.3f} ± {np.std(expected):.3f}"
    assert len(app.get("plotly_chart")) == 2


def test_a_concept_is_renamed_once_and_seen_elsewhere() -> None:
    app = opened("concepts", corpus="three-topics")
    next(t for t in app.text_input if t.label == "Its name").set_value("widgets")
    app.run()
    titles = [a["text"] for a in json.loads(app.get("plotly_chart")[0].proto.spec)["layout"]["annotations"]]
    assert "1 · widgets" in titles
    app.switch_page("pages/explore.py").run()
    heat = next(d for c in app.get("plotly_chart") for d in json.loads(c.proto.spec)["data"] if d["type"] == "heatmap")
    assert "1 widgets" in heat["x"]


def test_a_pasted_text_falls_where_place_says() -> None:
    app = opened("concepts", corpus="three-topics", method="cf")
    corpus = fc.load_corpus("three-topics")
    app.text_area(key="new text").set_value(corpus.documents[-1])
    app.run()
    result = fc.fit(corpus, "cf")
    number = int(result.place(corpus.documents[-1]).labels[0]) + 1
    assert f"concept {number} ·" in app.success[0].value
    app.text_area(key="new text").set_value("qqqq zzzz")
    app.run()
    assert "None of its words" in app.warning[0].value


def test_reading_choices_change_the_vocabulary_everywhere() -> None:
    app = opened("corpus", corpus="three-topics")
    before = metric(app, "Terms")
    app.selectbox(key="read.three-topics.stem").set_value("porter")
    app.run()
    assert not app.exception
    assert metric(app, "Terms") < before
    app.switch_page("pages/explore.py").run()
    assert not app.exception
    assert any(f"{int(metric_terms(app)):,} terms" in c.value for c in app.caption)


def metric_terms(app: AppTest) -> int:
    return len(fc.load_corpus("three-topics", stem="porter").terms)


def test_what_cannot_be_done_is_said_where_the_person_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(corpus="three-topics", method="kmeans")
    shown = metric(app, "Objective")
    monkeypatch.setenv("FACTSCOPE_MEMORY", "1k")
    app.selectbox(key="kernel").set_value("rbf")
    press_run(app)
    assert len(app.error) == 1
    assert "of memory" in app.error[0].value
    assert metric(app, "Objective") == shown  # the last result is still there


def test_an_uploaded_corpus_survives_page_changes() -> None:
    """The uploader itself needs a browser; what it leaves in the session does not."""
    metals, colours, more = "iron silver gold", "red green blue", ("alpha", "beta", "gamma", "delta", "omega")
    rows = "label,text\n" + "\n".join(f"{'ab'[i % 2]},{(metals, colours)[i % 2]} {more[i % 5]}" for i in range(20))
    app = AppTest.from_file(APP, default_timeout=120)
    app.session_state["uploads"] = {"mine.csv (uploaded)": (("mine.csv", rows.encode()),)}
    app.query_params["corpus"] = "mine.csv (uploaded)"
    app.query_params["method"] = "kmeans"
    app.run()
    assert not app.exception
    assert metric(app, "Accuracy") == 1.0
    assert len(read_uploads([("mine.csv", rows.encode())])) == 20
    for page in ("corpus", "compare", "concepts", "explore"):
        app.switch_page(f"pages/{page}.py").run()
        assert not app.exception
        assert app.selectbox(key="corpus").value == "mine.csv (uploaded)"


def test_constraints_with_another_number_of_clusters_leave_out_what_cannot_have_it() -> None:
    app = opened("constraints", corpus="gaussians")
    app.slider(key=next(s.key for s in app.slider if s.label.startswith("k,"))).set_value(4).run()
    assert not app.exception, app.exception
    assert not app.error
    methods = app.dataframe[0].value["method"].tolist()
    assert "RCF" in methods
    assert not any("propagation" in m for m in methods)


def test_constraints_by_share_score_every_method_both_ways() -> None:
    app = opened("constraints", corpus="three-topics", share="0.2")
    assert not app.error
    table = app.dataframe[0].value.set_index("method")
    assert {"RCF", "SemiLCCF", "CCF", "GDCF", "CNPCF", "Label propagation", "LCCF, without"} <= set(table.index)
    expected = fc.fit(fc.load_corpus("three-topics"), "rcf", share=0.2, lam=100.0, p=5, alpha=0.5)
    assert table.loc["RCF", "accuracy, all documents"] == pytest.approx(expected.scores["accuracy"])
    assert table.loc["RCF", "NMI, without the labelled"] == pytest.approx(expected.scores_unlabelled["nmi"])
    assert len(app.get("plotly_chart")) == 3  # before, after, kinds of links


def test_pairs_are_made_taken_back_and_contradictions_named() -> None:
    app = opened("constraints", corpus="three-topics", known="pairs")
    fingerprint = fc.load_corpus("three-topics").fingerprint

    def pair(first: int, second: int, kind: str) -> None:
        app.session_state["pointed"] = {fingerprint: [first, second]}
        app.run()
        app.button(key=f"pair.{kind}").click()
        app.run()
        assert not app.exception

    pair(0, 1, "must")
    pair(1, 2, "must")
    assert app.session_state["pairs"][fingerprint] == [(0, 1, "must"), (1, 2, "must")]
    pair(0, 2, "cannot")
    assert "cannot be together, but must-links join them" in app.error[0].value
    assert len(app.session_state["pairs"][fingerprint]) == 2
    for _ in range(2):  # the first takes back what was pointed at, the second the last pair
        next(b for b in app.button if b.label == "Undo").click()
        app.run()
    assert app.session_state["pairs"][fingerprint] == [(0, 1, "must")]


def test_a_corpus_without_classes_can_only_have_pairs() -> None:
    lines = "\n".join(f"{'iron silver gold' if i % 2 else 'red green blue'} {('alpha', 'beta', 'gamma')[i % 3]}" for i in range(20))
    app = AppTest.from_file(APP, default_timeout=120)
    app.session_state["uploads"] = {"plain.txt (uploaded)": (("plain.txt", lines.encode()),)}
    app.query_params["corpus"] = "plain.txt (uploaded)"
    app.run()
    app.switch_page("pages/constraints.py").run()
    assert not app.exception
    assert app.selectbox(key="known").options == ["pairs of documents"]
