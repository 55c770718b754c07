"""What the teaching page is made of: recorded runs, cards, slips, lessons as files, and whether the lessons are true."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from helpers import problem_for, small_corpus

import fact_core as fc
from fact_core.algorithms import Algorithm, algorithms
from fact_core.algorithms.lccf import LCCF
from fact_core.algorithms.nmf import NMF
from fact_core.constraints import as_printed, from_share, propagate
from fact_core.figures.stage import stage
from fact_core.graph import GraphWeights
from fact_core.lessons import SLIPS, Kind, Lesson, Scene, card, kinds_for, numbers, parse, read_lessons, record, scene, small
from fact_core.lessons.lesson import SHIPPED
from fact_core.lessons.scene import links_scene
from fact_core.lessons.slips import joined_graph, propagation, rescaled
from fact_core.problem import graph_of

METHODS = list(algorithms())
by_method = pytest.mark.parametrize("key", METHODS)


# Recorded runs --------------------------------------------------------------------------------------------------------------


@by_method
def test_a_recorded_run_is_the_run_of_fit(key: str) -> None:
    corpus = small_corpus()
    track = record(corpus, key, seed=3, steps=25)
    result = fc.fit(corpus, key, restarts=1, seed=3, max_iter=25)
    assert np.array_equal(track.objective, result.objective)
    assert np.array_equal(track.labels, result.labels)
    assert len(track.iterates) == len(result.history)


def test_a_preset_and_options_are_recorded_as_fit_takes_them() -> None:
    corpus = small_corpus()
    track = record(corpus, "NC-PSPt", steps=20, start="kmeans", eta=0.5)
    assert np.array_equal(track.objective, fc.fit(corpus, "NC-PSPt", restarts=1, max_iter=20, init="kmeans", eta=0.5).objective)
    with pytest.raises(fc.FactScopeError, match="no parameter"):
        record(corpus, "nmf", lam=1.0)


@by_method
def test_the_declared_parts_of_an_update_make_the_update(key: str) -> None:
    method = algorithms()[key]()
    problem = problem_for(method, small_corpus())
    f = method.begin(problem, method.start(problem, np.random.default_rng(0)))
    given: dict[str, np.ndarray] = {}
    found = 0
    for block in method.blocks:
        given = method.given(problem, block, f, given)
        new = method.update(problem, block, dict(f), given)
        ratio = method.ratio(problem, block, f, given)
        if ratio is not None:
            found += 1
            made = f[block] * (sum(ratio.up.values()) / sum(ratio.down.values())) ** ratio.power
            assert np.allclose(made, new, rtol=1e-12, atol=1e-14)
        f = f | {block: new}
    assert found or key in {"kmeans", "spectral", "lsi", "label_propagation", "sparse_nmf"}


@pytest.mark.parametrize("key", ["nmf", "gnmf", "lccf", "lcf", "hht", "pspt", "rcf", "gdcf"])
def test_the_numbers_of_a_row_follow_it_through_every_step(key: str) -> None:
    track = record(small_corpus(), key, steps=12)
    shown = numbers(track, 5)
    assert shown is not None
    assert shown.up
    assert np.allclose(shown.old * (sum(shown.up.values()) / sum(shown.down.values())) ** shown.power, shown.new)
    assert np.array_equal(shown.after, [iterate.factors[shown.block][5] for iterate in track.iterates[1:]])
    assert np.array_equal(shown.old, [iterate.factors[shown.block][5] for iterate in track.iterates[:-1]])


def test_parts_that_do_not_make_the_update_are_not_shown() -> None:
    """A method may inherit the parts of another and change the update."""

    class Wrong(NMF):
        def update_V(self, problem, f, given):  # type: ignore[no-untyped-def]
            return super().update_V(problem, f, given) * 0.9

    track = record(small_corpus(), "nmf", steps=3)
    wrong = type(track)(track.title, track.corpus, Wrong(), track.problem, track.iterates, track.labels)
    shown = numbers(wrong, 0)
    assert shown is not None
    assert not shown.up
    assert numbers(record(small_corpus(), "spectral"), 0) is None


def test_large_corpora_are_drawn_from_class_by_class() -> None:
    digits = fc.load_corpus("digits")
    part = small(digits, 100)
    assert 90 <= len(part) <= 100
    assert part.class_sizes.min() >= 8
    assert small(part, 100) is part


# Wrong variants, for teaching -----------------------------------------------------------------------------------------------


def test_the_scale_of_v_can_be_kept_or_left() -> None:
    corpus = small_corpus()
    for key, keep in (("lccf", False), ("gnmf", True)):
        track = record(corpus, key, steps=30, normalise=keep, lam=10.0)
        lengths = np.array([np.linalg.norm(iterate.factors["V"], axis=0) for iterate in track.iterates[1:]])
        assert np.allclose(lengths, 1.0) == keep
        assert key.upper() in track.title
        assert track.title != key.upper()
    own = record(corpus, "lccf", steps=30, normalise=True)
    assert own.title == "LCCF"
    assert np.array_equal(own.objective, record(corpus, "lccf", steps=30).objective)
    assert rescaled(algorithms()["hht"](), True).__class__ is algorithms()["hht"]
    assert type(rescaled(LCCF(), False)) not in algorithms().values()


def test_propagation_step_by_step_ends_where_the_closed_form_is() -> None:
    corpus = small_corpus(n=36)
    S, known = graph_of(corpus, 4, GraphWeights.HEAT), from_share(corpus, 0.2)
    last = list(propagation(S, known, 0.4, 200, printed=False))
    assert len(last) == 401
    F = propagate(S, known, 0.4)
    assert np.allclose(last[-1], F.F(), atol=1e-12)
    assert np.allclose(joined_graph(S, last[-1]), F.graph(S), atol=1e-12)
    assert np.allclose(list(propagation(S, known, 0.4, 200, printed=True))[-1], as_printed(S, known, 0.4), atol=1e-9)


# Cards ----------------------------------------------------------------------------------------------------------------------


@by_method
def test_every_method_has_a_card(key: str) -> None:
    corpus, cls = small_corpus(), algorithms()[key]
    found = card(cls, corpus, 3)
    assert found.formula == cls.formula
    assert found.rules
    assert re.search(r"\b(19|20)\d\d\b", found.citation)
    assert found.source.startswith(found.source.strip()[:20])
    letters = {letter.tex for letter in found.letters}
    assert set(cls.blocks) <= letters
    sizes = cls().shapes(problem_for(cls(), corpus))
    for letter in found.letters:
        if letter.tex in sizes and letter.size:
            assert letter.size == " × ".join(f"{n:,}" for n in sizes[letter.tex])


def test_the_counts_of_table_2_with_numbers_put_in() -> None:
    corpus = small_corpus(sparse=True)  # n = 24 documents, m = 18 terms
    m, n, k, p = 18, 24, 3, 5
    found = {
        key: {cost.name.partition(",")[0]: cost.value for cost in card(algorithms()[key], corpus, k).costs} for key in ("nmf", "cf", "lccf")
    }
    assert found["nmf"]["additions"] == 2 * m * n * k + 2 * (m + n) * k**2
    assert found["nmf"]["multiplications"] == found["nmf"]["additions"] + (m + n) * k
    assert found["nmf"]["divisions"] == (m + n) * k
    assert found["cf"]["additions"] == 4 * n**2 * k + 4 * n * k**2
    assert found["cf"]["multiplications"] == found["cf"]["additions"] + 2 * n * k
    assert found["lccf"]["additions"] == found["lccf"]["multiplications"] == found["cf"]["additions"] + n * (p + 3) * k
    assert found["lccf"]["divisions"] == found["cf"]["divisions"] == 2 * n * k
    z = corpus.matrix.nnz
    assert found["cf"]["multiplications with additions"] == 2 * (2 * z) * k + 4 * n * k**2


@pytest.mark.parametrize("key", ["cf", "lccf", "lcf", "hht", "pspt", "rcf"])
def test_the_declared_work_has_as_many_products_with_the_kernel_as_a_step(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cls = algorithms()[key]
    assert cls.work is not None
    declared = int((re.match(r"(?:(\d)\*)?q\*k", cls.work.here) or [""])[1] or 1)
    corpus, counts = small_corpus(sparse=True), []
    kernel = type(problem_for(cls(), corpus).K)
    plain = kernel.__matmul__
    monkeypatch.setattr(kernel, "__matmul__", lambda K, A: counts.append(A.shape[-1]) or plain(K, A))
    made = []
    for steps in (10, 20):
        counts.clear()
        fc.fit(corpus, key, n_clusters=3, restarts=1, max_iter=steps)
        made.append(sum(counts) / 3)
    assert made[1] - made[0] == 10 * declared


def test_rules_made_for_another_objective_are_not_shown() -> None:
    class Other(NMF):
        """NMF with something added."""

        key, formula = "other", r"\|X-UV^\top\|^2+\mu\|V\|^2"

    assert card(Other, small_corpus(), 3).rules == ()
    assert card(Other, small_corpus(), 3).costs == ()
    assert card(algorithms()["semi_lccf"], small_corpus(), 3).rules == LCCF.rules


def test_the_slips_are_all_there() -> None:
    assert {key for slip in SLIPS for key in slip.methods} <= set(METHODS)
    assert all((slip.paper, slip.place, slip.printed, slip.here, slip.why) for slip in SLIPS)
    places = {(slip.paper, slip.place) for slip in SLIPS}
    spec = [("LCF", "4 and 9"), ("PSPt", "equation 6"), ("PSPt", "equation 7"), ("RCF", "equation 1"), ("RCF", "equation 15")]
    spec += [("RCF", "equation 16"), ("RCF", "equation 18"), ("RCF", "section 3.1"), ("LCCF", "section 3.3"), ("LCCF, GNMF", "proofs")]
    for paper, part in spec:
        assert any(paper == p and part in place for p, place in places), (paper, part)


# Scenes ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Kind.AXES, Kind.TRIANGLE, Kind.CONCEPTS])
def test_every_view_has_every_step_and_goes_into_a_figure(kind: Kind) -> None:
    corpus = small_corpus()
    made = scene([record(corpus, key, steps=15) for key in ("lccf", "pspt", "spectral")], kind)
    assert len(made.steps) == 16
    drawn = stage(made)
    packed = drawn.packed()
    traces = {move["trace"] for move in packed["moves"]}
    assert traces <= set(range(len(drawn.figure.data)))
    for move in packed["moves"]:
        array = drawn.arrays[move["array"]]
        assert array.ndim == 3
        assert len(array) in (1, 16)
        if not move.get("z"):
            assert max(move["rows"]) < array.shape[1]
            assert array.shape[2] == len(move["axes"])
    for panel in made.panels:
        assert len(panel.curve) == 16
        assert all(len(m.values) == 16 for m in panel.measures)
    assert np.ptp(made.panels[2].curve) == 0  # solved in one go: the last frame is held
    assert "solved in one go" in made.panels[2].notes


def test_the_plane_does_not_depend_on_the_scale_that_is_free() -> None:
    """U and V give the same picture as U/c and cV: CF is shown on two scales."""
    corpus = fc.load_corpus("gaussians")
    tracks = [record(corpus, "cf", n_clusters=3, steps=20, normalise=keep) for keep in (True, False)]
    first, second = (panel.view for panel in scene(tracks, Kind.PLANE).panels)
    assert np.allclose(first.bases, second.bases)
    assert np.allclose(first.made, second.made)


def test_views_that_cannot_be_shown_are_refused_with_a_sentence() -> None:
    corpus = small_corpus()
    with pytest.raises(fc.FactScopeError, match="two terms"):
        scene([record(corpus, "cf", steps=2)], Kind.PLANE)
    with pytest.raises(fc.FactScopeError, match="three concepts, not 4"):
        scene([record(corpus, "cf", n_clusters=4, steps=2)], Kind.TRIANGLE)
    assert Kind.TRIANGLE not in kinds_for(corpus, 4)
    assert kinds_for(fc.load_corpus("gaussians"), 3)[0] is Kind.PLANE


# Files ----------------------------------------------------------------------------------------------------------------------

GOOD = """---
title: A sixth lesson
corpus: gaussians
methods: cf, lcf
figure: plane
clusters: 3
controls:
  lcf.lam: 0.3 from 0.1, 0.3, 1
  seed: 0 from 0 to 9
---
Some words about $X$.

## Question
Why?

## Answer
Because.
"""


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


def test_a_lesson_is_read() -> None:
    lesson = parse(GOOD, "sixth")
    assert (lesson.title, lesson.methods, lesson.figure) == ("A sixth lesson", ("cf", "lcf"), Kind.PLANE)
    assert (lesson.text, lesson.question, lesson.answer) == ("Some words about $X$.", "Why?", "Because.")
    chosen = {control.name: control.default for control in lesson.controls}
    assert lesson.settings("lcf", chosen | {"seed": 4}) == {"n_clusters": 3, "lam": 0.3, "seed": 4}
    assert lesson.settings("cf", chosen) == {"n_clusters": 3, "seed": 0}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("No dashes", 1, "three dashes"),
        ("", 1, "three dashes"),
        (GOOD[: GOOD.index("---\nSome")], 9, "second line of three dashes"),
        (changed("title: A sixth lesson\n", ""), 9, "“title”"),
        (changed("methods: cf, lcf", "methods: cf, lfc"), 4, "did you mean"),
        (changed("methods: cf, lcf", "methods: cf, lcf, nmf, hht"), 4, "not 4"),
        (changed("methods: cf, lcf", "methods: ,"), 4, "not 0"),
        (changed("figure: plane", "figure: plain"), 5, "plane"),
        (changed("clusters: 3", "clusters: many"), 6, "must be a number"),
        (changed("clusters: 3", "clusters: 3\nclusters: 4"), 7, "twice"),
        (changed("clusters: 3", "colour: red"), 6, "colour"),
        (changed("clusters: 3", "nonsense"), 6, "no setting"),
        (changed("clusters: 3", "  clusters: 3"), 6, "indented"),
        (changed("lcf.lam: 0.3 from 0.1, 0.3, 1", "lcf.lam: 0.2 from 0.1, 0.3, 1"), 8, "not among"),
        (changed("lcf.lam: 0.3 from 0.1, 0.3, 1", "lcf.lam: 99"), 8, "between"),
        (changed("seed: 0 from 0 to 9", "seed: 0 from 9 to 0"), 9, "no range"),
        (changed("seed: 0 from 0 to 9", "eta: 0.5"), 9, "eta"),
        (changed("seed: 0 from 0 to 9", "seed: 12 from 0 to 9"), 9, "not between"),
        (changed("## Question\nWhy?\n", ""), 15, "question"),
        (changed("## Answer\nBecause.\n", ""), 15, "answer"),
        (changed("Some words about $X$.", ""), 17, "no text"),
        (GOOD + "\n## Answer\nAgain.\n", 19, "second answer"),
        (changed("corpus: gaussians", "corpus: gaussians\nat most: none"), 4, "no number"),
    ],
)
def test_a_broken_lesson_names_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(fc.FactScopeError) as error:
        parse(text, "broken")
    assert str(error.value).startswith(f"broken.md, line {line}: "), error.value
    assert words in str(error.value)


def test_a_file_in_the_folder_is_a_lesson_and_a_broken_one_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACTSCOPE_LESSONS", str(tmp_path))
    before = read_lessons()
    assert len(before.lessons) == 5
    assert not before.problems
    (tmp_path / "sixth.md").write_text(GOOD, encoding="utf-8")
    (tmp_path / "broken.md").write_text(changed("figure: plane", "figure: plain"), encoding="utf-8")
    (tmp_path / "latin.md").write_bytes(GOOD.replace("Why?", "Où?").encode("latin-1"))
    (tmp_path / "1-parts.md").write_text(GOOD.replace("A sixth lesson", "Mine"), encoding="utf-8")
    shelf = read_lessons()
    assert [lesson.name for lesson in shelf.lessons].count("sixth") == 1
    assert [lesson.title for lesson in shelf.lessons if lesson.name == "1-parts"] == ["Mine"]
    assert len(shelf.lessons) == 6
    assert [problem.partition(":")[0] for problem in shelf.problems] == ["broken.md, line 5", "latin.md, line 14"]
    monkeypatch.setenv("FACTSCOPE_LESSONS", str(tmp_path / "nowhere"))
    assert read_lessons() == before


# Whether the lessons are true -------------------------------------------------------------------------------------------------


def shipped(name: str) -> Lesson:
    return parse((SHIPPED / f"{name}.md").read_text(encoding="utf-8"), name)


def played(name: str, **chosen: object) -> Scene:
    """The figure of a lesson with its controls at their defaults, but for those given."""
    lesson = shipped(name)
    corpus = fc.load_corpus(lesson.corpus)
    corpus = small(
        corpus.select(lesson.classes or corpus.label_names, at_most=lesson.at_most) if lesson.classes or lesson.at_most else corpus
    )
    values = {control.name: control.default for control in lesson.controls} | {n.replace("__", "."): v for n, v in chosen.items()}
    if lesson.figure is Kind.LINKS:
        fixed = {"p": 5, "lam": 100.0} | lesson.settings("rcf", values)
        return links_scene(corpus, **fixed)
    return scene([record(corpus, method, **lesson.settings(method, values)) for method in lesson.methods], lesson.figure)


def last(made: Scene, panel: int, name: str) -> float:
    return float(next(m.values[-1] for m in made.panels[panel].measures if m.name == name))


def test_lesson_1_concepts_of_nmf_become_sparse_and_those_of_cf_do_not() -> None:
    few, many, usual = played("1-parts", clusters=2), played("1-parts", clusters=12), played("1-parts")
    nmf, cf = ([last(made, panel, "sparseness") for made in (few, many)] for panel in (0, 1))
    assert nmf[1] > 1.7 * nmf[0]
    assert cf[1] < 1.3 * cf[0]
    assert usual.panels[1].curve[-1] > usual.panels[0].curve[-1]
    assert last(usual, 1, "accuracy") > last(usual, 0, "accuracy")


def test_lesson_2_lambda_has_no_effect_where_nothing_is_normalised() -> None:
    on, off = ([played("2-graph", lam=lam, normalise=switch) for lam in (0.0, 100.0)] for switch in ("on", "off"))
    assert last(on[1], 0, "neighbours apart") < 0.5 * last(on[0], 0, "neighbours apart")
    assert last(off[1], 0, "neighbours apart") == pytest.approx(last(off[0], 0, "neighbours apart"), rel=0.05)
    assert off[1].panels[0].curve[-1] == pytest.approx(off[0].panels[0].curve[-1], rel=0.001)
    assert on[1].panels[0].curve[-1] > 1.03 * on[0].panels[0].curve[-1]
    assert last(played("2-graph", lam=1.0, normalise="off"), 1, "any two apart") < 0.05
    assert last(played("2-graph", lam=1000.0), 0, "any two apart") < 0.15


def test_lesson_3_the_best_fit_is_not_the_best_answer() -> None:
    for seed in (0, 3):
        made = played("3-locality", seed=seed)
        assert made.panels[0].curve[-1] < 1 < made.panels[2].curve[-1]
        assert last(made, 2, "accuracy") == 1.0
        assert last(made, 0, "accuracy") < 0.8
        assert last(made, 2, "basis to nearest point") < 0.15
    assert last(played("3-locality", lcf__lam=0.0), 2, "basis to nearest point") > 0.3


def test_lesson_4_orthogonality_without_the_fit_is_chance() -> None:
    balanced, free, printed = (
        played("4-orthogonality", eta=0.6),
        played("4-orthogonality", eta=1.0),
        played("4-orthogonality", scaling="paper"),
    )
    assert last(balanced, 2, "largest cosine") < 0.5 * last(free, 2, "largest cosine")
    assert last(balanced, 2, "accuracy") > 0.98
    assert last(printed, 2, "largest cosine") < 0.02
    assert last(printed, 2, "accuracy") < 0.5
    assert last(played("4-orthogonality", eta=1.0, scaling="paper"), 2, "accuracy") > 0.98
    assert balanced.panels[0].view.places.min() < 0


def test_lesson_5_the_laplacian_tosses_a_coin() -> None:
    made = played("5-labels")
    right, printed = (panel.curve[-1] for panel in made.panels)
    assert right > 0.85
    assert 0.45 < printed < 0.55
    accuracies = [float(panel.notes[0].split()[-1]) for panel in made.panels]
    untold = float(made.notes[0].rstrip(".").split()[-1])
    assert accuracies[0] > untold > accuracies[1]
    assert last(played("5-labels", alpha=0.9), 1, "largest entry") > 20


def test_methods_of_a_class_of_ours_are_no_methods_of_the_menu() -> None:
    assert all(issubclass(cls, Algorithm) for cls in algorithms().values())
    record(small_corpus(), "lccf", steps=2, normalise=False)
    assert algorithms()["lccf"] is LCCF
