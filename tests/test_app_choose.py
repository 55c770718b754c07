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
    said = app.info if expected.decided else app.warning
    assert f"k = {expected.k}" in said[0].value
    assert f"λ = {expected.value:g}" in said[0].value
    assert all(sentence in said[0].value for sentence in (*expected.doubts, *expected.hints))
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
    app.switch_page("pages/history.py").run()  # from where a study finds back to this page
    next(b for b in app.button if b.label == "Open" and not b.disabled).click()
    app.run()
    assert not app.exception, app.exception
    assert any(f"k = {expected.k}" in s.value for s in [*app.info, *app.warning])


def test_what_cannot_be_chosen_from_is_said_and_nothing_starts() -> None:
    app = opened("choose", **CHOICE | {"choose.values.lccf": "10, many"})
    assert any("must be a number" in e.value for e in app.error)
    app = opened("choose", **CHOICE | {"choose.values.lccf": "-5"})
    assert any("between 0 and 10000" in e.value for e in app.error)
    assert jobs() == []
    offered = next(s for s in opened("choose", **CHOICE).selectbox if s.label == "Method").options
    assert any(name.startswith("LCCF-NCW") for name in offered)
    assert not any(name.startswith(("RCF", "Label propagation")) for name in offered)  # they are told classes
