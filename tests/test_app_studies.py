"""The pages of studies without a browser: Sensitivity, Paper tables, History."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from test_app import metric, opened, press_run

import fact_core as fc
from fact_core.jobs import State, jobs
from fact_core.store import Store

SWEEP = {"corpus": "gaussians", "sweep.methods": ["LCCF", "KM"], "sweep.x.lam": "0, 1, 100", "sweep.seeds": "2"}


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    import ui.kept
    import ui.runs

    monkeypatch.setattr(ui.runs, "PATIENCE", 100.0)
    monkeypatch.setenv("FACTSCOPE_HOME", str(tmp_path))
    ui.kept.store.clear()
    ui.runs._memory.clear()
    yield
    ui.kept.store.clear()  # it stands for a folder that the next test does not have


def finished(app: AppTest) -> AppTest:
    """Press Run and wait for the job, as the page's own watching would."""
    press_run(app)
    for _ in range(600):
        if jobs() and jobs()[0].status().over:
            break
        time.sleep(0.1)
    assert jobs()[0].status().state is State.FINISHED, jobs()[0].status()
    app.run()
    assert not app.exception, app.exception
    return app


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def traces(app: AppTest, number: int = 0) -> list[dict]:
    return json.loads(app.get("plotly_chart")[number].proto.spec)["data"]


def values(numbers: object) -> list[float]:
    """Plotly may send arrays as bytes."""
    if isinstance(numbers, dict):
        import base64

        return np.frombuffer(base64.b64decode(numbers["bdata"]), dtype=numbers["dtype"]).tolist()
    return list(numbers)  # type: ignore[call-overload]


def test_a_sweep_shows_the_means_of_fit_and_opens_a_run() -> None:
    app = opened("sensitivity", **SWEEP)
    assert any("8 runs" in i.value for i in app.info)  # 3 values × 2 seeds, and k-means once a seed
    finished(app)
    lines = {t["name"]: t for t in traces(app)}
    corpus = fc.load_corpus("gaussians")
    expected = [[fc.fit(corpus, "lccf", lam=lam, seed=s, n_clusters=3).scores["accuracy"] for s in (0, 1)] for lam in (0.0, 1.0, 100.0)]
    assert values(lines["LCCF"]["y"]) == pytest.approx(np.mean(expected, axis=1))
    assert values(lines["LCCF, runs"]["y"]) == pytest.approx([e[s] for s in (0, 1) for e in expected])
    level = np.mean([fc.fit(corpus, "KM", seed=s, n_clusters=3).scores["accuracy"] for s in (0, 1)])
    assert values(lines["KM"]["y"]) == pytest.approx([level, level])
    x = values(lines["LCCF"]["x"])
    assert x[1:] == [0.0, 2.0]  # logarithms
    assert x[0] < 0
    # The same choices find the same job again, in another visit of the same browser too.
    assert len(jobs()) == 1
    # What is stored is what Explore would compute.
    address = lines["LCCF"]["customdata"][1]
    again = Store().reopen(address)
    assert again.objective[-1] == pytest.approx(fc.fit(corpus, "lccf", lam=1.0, n_clusters=3, seed=again.options["seed"]).objective[-1])


def test_two_parameters_are_a_heat_map() -> None:
    choices = {
        "corpus": "gaussians",
        "sweep.methods": "LCCF",
        "sweep.x.lam": "1, 100",
        "sweep.y": "p",
        "sweep.y.p": "3, 5",
        "sweep.seeds": "1",
    }
    app = finished(opened("sensitivity", **choices))
    heat, over = traces(app)
    corpus = fc.load_corpus("gaussians")
    expected = [[fc.fit(corpus, "lccf", lam=lam, p=p, n_clusters=3).scores["accuracy"] for lam in (1, 100)] for p in (3, 5)]
    shape = [int(n) for n in heat["z"]["shape"].split(",")] if isinstance(heat["z"], dict) else None
    found = np.array(values(heat["z"])).reshape(shape) if shape else np.array(heat["z"])
    assert found == pytest.approx(np.array(expected))
    assert len(over["customdata"]) == 4


@pytest.mark.parametrize(("choice", "sentence"), [("1, many", "must be a number"), ("1, 99999999", "must lie between"), (";,", None)])
def test_bad_values_get_a_sentence(choice: str, sentence: str | None) -> None:
    app = opened("sensitivity", **SWEEP | {"sweep.x.lam": choice})
    if sentence is not None:
        assert any(sentence in e.value for e in app.error)
    else:
        press_run(app)
        assert any("no values" in e.value for e in app.error)
    assert not jobs()


def test_a_figure_of_a_paper_is_one_click_away() -> None:
    app = opened("sensitivity", corpus="digits")
    app.query_params["sweep.on.lccf-fig-3"] = "the corpus above"
    app.button(key="figure lccf-fig-3").click().run()
    app.selectbox(key="sweep.on.lccf-fig-3").set_value("the corpus above").run()
    assert not app.exception, app.exception
    for job in jobs():
        job.stop()
    app.slider(key="sweep.runs").set_value(1).run()
    finished(app)
    names = {t["name"] for t in traces(app)}
    assert names == {"NMF", "CF", "LCCF"}


def test_paper_tables_show_print_alone_and_then_beside(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACTSCOPE_DATA", str(shared_data))
    choices = {"table": "lcf-2", "table.k.lcf-2": "2", "table.methods.lcf-2": "KM", "table.runs": "2"}
    app = opened("tables", **choices)
    shown = app.dataframe[0].value
    assert shown.loc["KM", "k = 2"].startswith("– / ")
    finished(app)
    whole = fc.load_corpus("Yale_32x32")
    scores = [fc.fit(whole.select(random=2, seed=s), "KM", seed=s, restarts=10, warm_up=10**9).scores["accuracy"] for s in (0, 1)]
    assert app.dataframe[0].value.loc["KM", "k = 2"].startswith(f"{100 * np.mean(scores):.1f} / ")


def test_a_table_whose_corpus_is_not_here_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FACTSCOPE_DATA", str(tmp_path))
    app = opened("tables", table="rcf-12")
    assert any("not here" in i.value for i in app.info)
    assert any("repeats table 10" in c.value for c in app.caption)
    assert next(b for b in app.button if b.label == "Run").disabled


def test_history_finds_names_opens_and_deletes() -> None:
    app = opened(corpus="gaussians", method="nmf")
    first = metric(app, "Objective")
    app.selectbox(key="method").set_value("cf").run()
    press_run(app)
    until(lambda: len(Store().find()) == 2)
    app.switch_page("pages/history.py").run()
    assert not app.exception, app.exception
    assert len(app.dataframe[0].value) == 2
    app.text_input(key="history.find").set_value("nmf").run()
    assert len(app.dataframe[0].value) == 1
    assert app.dataframe[0].value["corpus"].tolist() == ["gaussians"]
    kept = [k for k in Store().find("nmf")]
    assert len(kept) == 1
    # A selection in a table cannot be made without a browser: the calls behind the buttons are made instead.
    store, owner = Store(), app.session_state["owner"]
    store.name(kept[0].run.address, "my run", owner)
    app.text_input(key="history.find").set_value("my run").run()
    assert app.dataframe[0].value["name"].tolist() == ["my run"]
    assert store.reopen(kept[0].run.address).objective[-1] == pytest.approx(first, rel=1e-4)
    store.delete([kept[0].run.address], owner)
    app.run()
    assert any("Nothing fits" in c.value for c in app.caption)


def test_what_was_computed_before_is_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    import ui.runs

    first = metric(opened(corpus="gaussians", method="nmf"), "Objective")
    until(lambda: bool(Store().find("nmf")))
    ui.runs._memory.clear()  # a new server
    monkeypatch.setattr(ui.runs.fc, "fit", lambda *_, **__: pytest.fail("computed again"))
    assert metric(opened(corpus="gaussians", method="nmf"), "Objective") == first


def test_more_answers_than_memory_has_room_for_are_shown_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    import ui.runs

    opened()  # with its own runs out of the way
    done: list[str] = []
    crew, do = ui.runs.crew(), ui.runs.crew().do
    monkeypatch.setattr(crew, "do", lambda errand, **watch: done.append(type(errand).__name__) or do(errand, **watch))
    monkeypatch.setattr(ui.runs, "ROOM", 1.0)  # the latest answer only
    monkeypatch.setattr(ui.runs, "PATIENCE", 0.0)
    app = opened("compare", corpus="gaussians", **{"compare.seeds": "1", "compare.steps": "20"})
    shown = lambda: any("agreement" in str(c.proto.id) for c in app.get("plotly_chart"))  # noqa: E731
    for _ in range(60):
        if shown():
            break
        time.sleep(0.3)
        app.run()
        assert not app.exception, app.exception
    assert shown()
    assert done.count("Fit") == 1 + 6  # Explore's and one of each method: none was done again


def test_a_store_that_cannot_be_written_does_not_stop_anybody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("FACTSCOPE_HOME", str(tmp_path / "file" / "home"))
    import ui.kept

    ui.kept.store.clear()
    app = opened(corpus="gaussians", method="nmf")
    assert metric(app, "Objective") > 0
    assert any("FACTSCOPE_HOME" in w.value or "file" in w.value for w in app.warning)
    app.switch_page("pages/history.py").run()
    assert not app.exception
    assert app.error
