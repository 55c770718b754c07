"""What workers are sent for gives what it gives here, and can be stopped."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from figure_kinds import drawn

import fact_core as fc
from fact_core.algorithms import algorithms
from fact_core.answers import complete, parts_of, put_together
from fact_core.figures.stage import stage
from fact_core.figures.static import Style, render
from fact_core.lessons import Kind, card, numbers, record, scene
from fact_core.lessons.parcel import entitled
from fact_core.lessons.scene import Cloud, links_scene
from fact_core.looks import look
from fact_core.study import arrays_of, label_free
from fact_core.workers import Complete, Crew, Edges, Follow, Look, Play, Print, Stopped
from tests.helpers import small_corpus


@pytest.fixture(scope="module")
def crew() -> Iterator[Crew]:
    found = Crew(1)
    yield found
    found.close()


@pytest.mark.parametrize("key", [*algorithms(), "LCCF-NCW"])
def test_a_worker_sees_of_a_result_what_is_seen_here(key: str, crew: Crew) -> None:
    corpus = small_corpus(n=40)
    settings = {"max_iter": 10, "seed": 3, "n_clusters": 3}
    here = fc.fit(corpus, key, **settings)
    about, _ = parts_of(here)
    kept = put_together(corpus, key, settings, {name: about[name] for name in ("k", "options", "stopped", "seconds")}, arrays_of(here))
    assert not complete(kept)
    there = crew.do(Complete(kept))
    assert complete(there)
    np.testing.assert_allclose(there.embedding, here.embedding, atol=1e-12)
    np.testing.assert_allclose(there.basis, here.basis, atol=1e-12)
    assert there.warnings == here.warnings
    assert there.__dict__["label_free"] == pytest.approx(label_free(here))
    asked: dict[str, dict] = {"affinity": {"groups": corpus.labels}, "place": {"rows": np.asarray(corpus.matrix[:2])}}
    asked |= {"links": {"some": np.arange(0, 40, 3)}} if here.problem.constraints is not None else {}
    for what, given in asked.items():
        for a, b in zip(crew.do(Look(there, what, given)), look(here, what, **given), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)
    half = replace(there, history=there.history[:-1] or there.history, stopped="cancelled")
    keys = [Look(there, "place", {"rows": np.asarray(corpus.matrix[i : i + 2])}).key for i in (0, 1)]
    assert Look(half, "place", asked["place"]).key not in keys or len(there.history) == 1
    assert len(set(keys)) == 2


@pytest.mark.parametrize("kind", list(Kind))
def test_a_worker_plays_what_is_played_here(kind: Kind, crew: Crew) -> None:
    corpus = fc.load_corpus("gaussians")
    run = ("lccf", {"n_clusters": 3, "steps": 12, "seed": 1})
    if kind is Kind.LINKS:
        links = {"share": 0.1, "alpha": 0.5, "p": 5, "lam": 100.0, "seed": 0}
        played, here = crew.do(Play(corpus, [("rcf", links)], kind)), links_scene(corpus, **links)
    else:
        played, here = crew.do(Play(corpus, [run], kind)), scene([record(corpus, run[0], **run[1])], kind)
        followed, expected = crew.do(Follow(corpus, run, 7)), numbers(record(corpus, run[0], **run[1]), 7)
        np.testing.assert_allclose(followed.after, expected.after)
        assert list(followed.down) == list(expected.down)
        for name, values in expected.down.items():
            np.testing.assert_allclose(followed.down[name], values)
    assert (played.legend, played.curve_name, played.notes) == (here.legend, here.curve_name, here.notes)
    for there, own in zip(played.panels, here.panels, strict=True):
        assert (there.title, there.notes) == (own.title, own.notes)
        np.testing.assert_allclose(there.curve, own.curve)
        assert type(there.view) is type(own.view)
        for name, values in vars(own.view).items():
            if isinstance(values, np.ndarray):
                np.testing.assert_allclose(getattr(there.view, name), values, atol=1e-12)
        if isinstance(there.view, Cloud):
            assert set(there.view.titles) == {""}  # a worker is not told; whoever looks has the own
            assert entitled(played, corpus).panels[0].view.titles == corpus.titles
    figure = stage(entitled(played, corpus)).figure
    assert len(figure.data) == len(stage(here).figure.data)


def test_runs_to_step_through_are_stopped_and_fit_into_memory(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = small_corpus(n=280, m=400)
    asked = Play(corpus, [("cf", {"n_clusters": 12, "seed": seed}) for seed in range(40)], Kind.CONCEPTS)
    noted: list[dict] = []
    with pytest.raises(Stopped):
        crew.do(asked, note=noted.append, stopped=lambda: bool(noted))
    assert noted[0]["at"][1] == 200
    monkeypatch.setenv("FACTSCOPE_MEMORY", "100MB")
    with pytest.raises(fc.FactScopeError, match=r"Keeping 200 steps of 40 runs needs .* fewer steps, concepts or methods would fit"):
        crew.do(asked)
    assert crew.do(Edges(corpus, "lccf")) == card(algorithms()["lccf"], corpus, 3).sizes["e"]


def test_what_takes_a_moment_does_not_wait_for_long_runs() -> None:
    crew, corpus = Crew(1, spare=1), small_corpus(n=60)
    begun, stop, line = threading.Event(), threading.Event(), list[int]()
    try:
        long = {"max_iter": 10**7, "restarts": 1}
        run = threading.Thread(target=lambda: crew.fit(corpus, "lccf", long, note=lambda said: begun.set(), stopped=stop.is_set))
        run.start()
        assert begun.wait(60)
        assert crew.do(Edges(corpus, "lccf")) > 0
        with pytest.raises(Stopped):  # the other worker is not for a second run
            crew.fit(corpus, "nmf", {}, stopped=lambda: len(line) > 2, line=line.append)
        assert line[0] == 1
        assert run.is_alive()
        stop.set()
        run.join(60)
        assert len(crew.fit(corpus, "nmf", {"max_iter": 3}, line=line.append).labels) == 60
    finally:
        stop.set()
        crew.close()


@pytest.mark.parametrize("kind", ["convergence", "coordinates", "class-purity"])
def test_a_worker_prints_what_is_printed_here(kind: str, crew: Crew) -> None:
    figure = drawn(kind).figure
    for suffix in ("svg", "pdf"):
        assert crew.do(Print(figure, suffix, Style())) == render(figure, suffix, Style())
    with pytest.raises(fc.FactScopeError, match="font"):
        crew.do(Print(figure, "svg", Style(font="no such font")))
