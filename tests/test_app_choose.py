"""The page that chooses k and λ, without a browser."""

from __future__ import annotations

import pytest
from test_app import opened
from test_app_studies import finished, own_home, traces, values  # noqa: F401

import fact_core as fc
from fact_core.jobs import jobs
from fact_core.selection import suggest

CHOICE = {"corpus": "three-topics", "choose.method": "lccf", "choose.values.lccf": "10, 100", "choose.runs": "3"}


def test_a_suggestion_with_the_curve_that_justifies_it_opens_in_explore() -> None:
    corpus = fc.load_corpus("three-topics")
    app = opened("choose", **CHOICE, **{f"choose.k.{corpus.fingerprint[:8]}": "2, 3, 4"})
    assert any("18 runs" in i.value for i in app.info)
    finished(app)
    expected = suggest(corpus, "lccf", [2, 3, 4], [10.0, 100.0], runs=3)
    said = [*app.success, *app.warning]
    assert any(f"k = {expected.k}" in s.value and f"λ = {expected.value:g}" in s.value for s in said)
    assert len(app.success) == expected.decided
    assert all(doubt in said[0].value for doubt in expected.doubts)
    lines = {t["name"]: t for t in traces(app)}
    table = expected.table.set_index(["value", "k"])
    assert values(lines["λ = 10"]["y"]) == pytest.approx(table["score"].loc[10.0].tolist())
    assert values(lines["suggested"]["x"]) == [expected.k]
    assert app.metric[0].value == f"{expected.row['accuracy']:.3f}"
    next(b for b in app.button if b.label == "Explore it").click()
    app.run()
    assert not app.exception, app.exception
    chosen = app.session_state["chosen"]
    assert chosen["method"] == "lccf"
    assert chosen["lccf.lam"] == expected.value
    assert chosen[f"k.{corpus.fingerprint[:8]}"] == expected.k


def test_what_cannot_be_chosen_from_is_said_and_nothing_starts() -> None:
    app = opened("choose", **CHOICE | {"choose.values.lccf": "10, many"})
    assert any("must be a number" in e.value for e in app.error)
    app = opened("choose", **CHOICE | {"choose.values.lccf": "-5"})
    assert any("between 0 and 10000" in e.value for e in app.error)
    assert jobs() == []
    offered = next(s for s in opened("choose", **CHOICE).selectbox if s.label == "Method").options
    assert any(name.startswith("LCCF-NCW") for name in offered)
    assert not any(name.startswith(("RCF", "Label propagation")) for name in offered)  # they are told classes
