"""The server's process shows and never computes: every page and view, driven with what factorises replaced by something that raises.

Workers and the processes of studies are other processes, where nothing is replaced: what is shown can only have come from them.
"""

from __future__ import annotations

import textwrap
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import scipy.sparse.linalg
import sklearn.cluster
import sklearn.metrics
from figure_kinds import drawn
from streamlit.testing.v1 import AppTest
from test_app import APP, opened
from test_app_studies import finished, own_home  # noqa: F401 (a store and a memory of its own for each test)

import fact_core as fc
import fact_core.algorithms.base
import fact_core.algorithms.cnpcf
import fact_core.algorithms.spectral
import fact_core.constraints
import fact_core.figures.static
import fact_core.friends
import fact_core.graph
import fact_core.kernel
import fact_core.projection
import fact_core.solve
from fact_core.algorithms import algorithms
from fact_core.figures.static import render
from fact_core.lessons import read_lessons
from fact_core.lessons.record import record

# What no factorisation, and nothing that is computed from its problem, can do without.
HEAVY: list[tuple[Any, str]] = [
    (fact_core.solve, "iterates"),
    (fact_core.solve, "_updated"),
    (fact_core.algorithms.base.Algorithm, "given"),
    (fact_core.algorithms.base.Algorithm, "update"),
    (fact_core.graph, "nearest"),
    (fact_core.algorithms.cnpcf, "nearest"),
    (fact_core.graph, "_nearest_of"),
    (fact_core.graph, "weighted_edges"),
    (fact_core.constraints, "spread"),
    (fact_core.constraints, "normalised"),
    (fact_core.kernel, "between"),
    (fact_core.kernel.LinearKernel, "__matmul__"),
    (fact_core.kernel.FormedKernel, "__matmul__"),
    (fact_core.algorithms.spectral, "eigsh"),
    (scipy.sparse.linalg, "splu"),
    (sklearn.cluster.KMeans, "fit"),
    (sklearn.metrics, "silhouette_score"),
    (fact_core.figures.static, "_page"),
    (fact_core.friends, "to_pyldavis"),
]
SMALL = {"corpus": "three-topics", "restarts": "2", "lccf.max_iter": "20"}


class ServerComputes(AssertionError):  # noqa: N818
    """Something heavy was about to run in this process."""


@pytest.fixture
def only_shows(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    found: list[str] = []  # also what a thread or an `except` would swallow

    def forbidden(name: str) -> Any:
        def raises(*_: Any, **__: Any) -> None:
            found.append(f"{name}, asked for by {' → '.join(f.name for f in traceback.extract_stack()[-7:-1])}")
            raise ServerComputes(name)

        return raises

    for place, name in HEAVY:
        assert hasattr(place, name)
        monkeypatch.setattr(place, name, forbidden(f"{place.__name__}.{name}"))
    yield
    assert not found, "\n".join(found)


def charts(app: AppTest) -> int:
    return len(app.get("plotly_chart")) + len(app.get("bidi_component"))


def seen(app: AppTest, least: int = 1) -> AppTest:
    """Nothing went wrong, and there is something to see."""
    assert not app.exception, app.exception
    assert not app.error, [e.value for e in app.error]
    assert charts(app) >= least
    return app


def forget() -> None:
    """What the server remembers, as if it had been started anew; the store has the runs."""
    import ui.runs

    ui.runs._memory.clear()


@pytest.mark.parametrize(
    "compute",
    [
        lambda corpus: fc.fit(corpus, "nmf", max_iter=2),
        lambda corpus: fc.fit(corpus, "kmeans"),
        lambda corpus: fc.fit(corpus, "spectral"),
        lambda corpus: fc.fit(corpus, "label_propagation"),
        lambda corpus: record(corpus, "cf", steps=2),
        lambda corpus: render(drawn("convergence").figure, "svg"),
        lambda corpus: fact_core.problem.graph_of(corpus, 3, fact_core.graph.GraphWeights.HEAT),
    ],
)
def test_the_guard_sees_a_factorisation(compute: Any) -> None:
    guard = pytest.MonkeyPatch()
    watch = only_shows.__wrapped__(guard)  # type: ignore[attr-defined]
    next(watch)
    try:
        with pytest.raises(ServerComputes):
            compute(fc.load_corpus("gaussians"))
        with pytest.raises(AssertionError, match="asked for by"):
            next(watch)
    finally:
        guard.undo()


@pytest.mark.usefixtures("only_shows")
def test_explore_concepts_and_what_comes_out_of_the_store() -> None:
    for view in ("Overview", "Concepts", "Documents", "Map"):
        seen(opened(**SMALL, view=view), 0 if view == "Documents" else 1)
    forget()
    app = seen(opened(**SMALL), 3)
    next(t for t in app.toggle if t.label.startswith("Whoever")).set_value(True)
    app.run()
    token = seen(app).code[0].value.split("shared=")[1]
    forget()
    seen(opened(shared=token, view="Map"))
    app = opened("history")
    assert len(app.dataframe[0].value) == 1
    forget()
    app = seen(opened("concepts", **SMALL))
    app.text_area(key="new text").set_value("minimise a scalar function by gradient descent")
    seen(app.run())
    assert "It falls to concept" in app.success[0].value


@pytest.mark.usefixtures("only_shows")
@pytest.mark.parametrize("method", ["cnpcf", "rcf", "kmeans", "LCCF-NCW", "NC-PSPt"])
def test_a_kernel_a_graph_and_a_weighting_that_pages_look_at(method: str) -> None:
    key = {"LCCF-NCW": "lccf", "NC-PSPt": "pspt"}.get(method, method)
    choices = {"method": method, "corpus": "three-topics", "restarts": "2", f"{key}.max_iter": "10"}
    choices |= {"kernel": "rbf"} if algorithms()[key].kernels else {}
    app = seen(opened("concepts", **choices))
    app.text_area(key="new text").set_value("minimise a scalar function by gradient descent")
    seen(app.run())
    forget()
    seen(opened(**choices), 2)


@pytest.mark.usefixtures("only_shows")
def test_coordinates_compare_and_constraints() -> None:
    seen(opened("coordinates"), 2)
    seen(opened("coordinates", **{"figure.show": "lccf", "figure.corpus": "gaussians"}), 2)
    seen(opened("compare", corpus="three-topics", **{"compare.seeds": "1", "compare.steps": "20"}), 2)
    seen(opened("constraints", corpus="gaussians"), 4)
    forget()
    app = opened("constraints", corpus="gaussians", known="pairs")
    app.session_state["pairs"] = {fc.load_corpus("gaussians").fingerprint: [(0, 1, "must"), (0, 100, "cannot")]}
    seen(app.run(), 4)


@pytest.mark.usefixtures("only_shows")
def test_learn() -> None:
    for lesson in read_lessons().lessons:
        seen(opened("learn", lesson=lesson.name))
    seen(opened("learn", learn="steps", **{"learn.corpus": "gaussians"}))
    app = seen(opened("learn", learn="steps", **{"learn.corpus": "three-topics", "learn.view": "triangle", "learn.methods": "lccf"}))
    app.number_input(key="learn.row").set_value(7)
    seen(app.run())
    for card in ("lccf", "work"):
        app = opened("learn", learn="methods", card=card, corpus="three-topics")
        seen(app, 0)
        assert app.latex or app.dataframe


@pytest.mark.usefixtures("only_shows")
def test_studies_history_corpus_and_printed_tables() -> None:
    k = fc.load_corpus("gaussians").fingerprint[:8]
    seen(finished(opened("sensitivity", corpus="gaussians", **{"sweep.methods": "LCCF", "sweep.x.lam": "1, 100", "sweep.seeds": "1"})), 2)
    choice = {"choose.method": "lccf", "choose.values.lccf": "10", "choose.runs": "3", f"choose.k.{k}": "2, 3"}
    app = seen(finished(opened("choose", corpus="gaussians", **choice)), 2)
    app.switch_page("pages/history.py").run()
    next(b for b in app.button if b.label == "Open" and not b.disabled).click()
    seen(app.run(), 2)
    seen(opened("corpus", corpus="gaussians"))
    seen(opened("tables"), 0)


SAVED = """
import streamlit as st
from fact_core.report.archive import archive
from fact_core.report.kinds import KINDS, Needs
from ui import figures, report, runs
from ui.corpus import corpus_in_sidebar

corpus = corpus_in_sidebar(default="gaussians")
tasks = [runs.Task(corpus, m, {"max_iter": 10}) for m in ("rcf", "lccf")]
results = runs.obtain("saved", tasks)
for name, kind in KINDS.items():
    if kind.needs not in (Needs.RUN, Needs.RUNS) or name == "basis-images":
        continue
    made = figures.of_runs(name, tasks[:1], results[:1], **({"propagated": True} if name == "links" else {}))
    report.add(made.source, made.drawn, made.caption)
made = figures.of_runs("coordinates", tasks[:1], results[:1], affinity=True)
report.add(made.source, made.drawn, made.caption)
figures._saved(made, "points")
assert runs.file_of(results[0], "pyldavis")().startswith(b"<!doctype html>")
st.text(f"{len(archive([entry.final for entry in report.items()[-2:]], draw=runs.printer()))} bytes")
"""


@pytest.mark.usefixtures("only_shows")
def test_what_is_saved_and_reported(tmp_path: Path) -> None:
    (tmp_path / "page.py").write_text(SAVED)
    app = AppTest.from_file(str(tmp_path / "page.py"), default_timeout=120).run()
    assert not app.exception, app.exception
    assert int(app.text[0].value.split()[0]) > 10_000
    gathered = app.session_state["report"]
    assert len(gathered) > 10
    app = AppTest.from_file(APP, default_timeout=120)
    app.session_state["report"] = gathered[-3:]
    app.run()
    app.switch_page("pages/report.py").run()
    assert not app.exception, app.exception
    assert len(app.get("image")) == 2  # and a table


@pytest.mark.usefixtures("only_shows")
def test_umap_comes_from_a_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import ui.runs

    stub = """
    import os, pathlib

    class UMAP:  # the real one takes ten seconds to be imported
        def __init__(self, dimensions, **_): self.dimensions = dimensions

        def fit_transform(self, X):
            pathlib.Path(__file__).with_name("process").write_text(str(os.getpid()))
            return 10.0 * X[:, : self.dimensions]
    """
    (tmp_path / "umap.py").write_text(textwrap.dedent(stub))
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{Path(APP).parent}")
    crew = fact_core.workers.Crew(1)
    monkeypatch.setattr(ui.runs, "crew", lambda: crew)
    try:
        k = fc.load_corpus("three-topics").fingerprint[:8]
        app = opened("coordinates", **{"figure.show": "lccf", f"figure.k.{k}": "4"})
        app.selectbox(key="figure.axes").set_value(fact_core.projection.Projection.UMAP)
        seen(app.run(), 2)
        worker = str(crew._idle[0].process.pid)
    finally:
        crew.close()
    assert (tmp_path / "process").read_text() == worker
