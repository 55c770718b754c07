"""Studies as data: what they expand to, how cells are told apart, what a cell gives."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import fact_core as fc
from fact_core import study as module
from fact_core.study import Method, Study, address, arrays_of, label_free, rows, run_cell, selected
from tests.helpers import small_corpus


def study(**changes: Any) -> Study:
    said: dict[str, Any] = {
        "corpus": "gaussians", "methods": (Method("LCCF-NCW", {"p": 4}), Method("nmf")), "axes": {"lam": [1, 10.0]}, "seeds": (0, 3),
        "options": {"restarts": 2, "max_iter": 5, "p": 3},
    }  # fmt: skip
    return Study(**said | changes)


def test_cells_are_the_grid_and_a_method_without_the_parameter_is_a_base_line() -> None:
    cells = study().cells()
    assert [(c.method, c.point, c.seed) for c in cells] == [
        ("LCCF-NCW", {"lam": 1}, 0), ("LCCF-NCW", {"lam": 10.0}, 0), ("nmf", {}, 0),
        ("LCCF-NCW", {"lam": 1}, 3), ("LCCF-NCW", {"lam": 10.0}, 3), ("nmf", {}, 3),
    ]  # fmt: skip
    assert cells[0].options == {"restarts": 2, "max_iter": 5, "p": 4, "lam": 1, "seed": 0}
    assert cells[2].options == {"restarts": 2, "max_iter": 5, "seed": 0}
    assert cells[1].label == "LCCF-NCW, lam = 10.0, seed 0"


def test_run_i_draws_classes_with_seed_i_for_every_method() -> None:
    cells = study(draws=(2, 3), classes={"min_size": 2, "largest": None}, axes={}).cells()
    assert len(cells) == 2 * 2 * 2
    assert {json.dumps(c.select) for c in cells if c.seed == 3} == {
        json.dumps({"min_size": 2, "random": k, "seed": 3}) for k in (2, 3)
    }  # fmt: skip
    corpus = small_corpus(n=40, k=5)
    chosen: dict[tuple[int, int], set[str]] = {}
    for cell in cells:
        found = run_cell(cell, corpus)
        assert found is not None
        chosen.setdefault((cell.select["random"], cell.seed), set()).add(found[0].chosen)
    assert all(len(seen) == 1 for seen in chosen.values())
    assert len(set().union(*chosen.values())) == 4


def test_a_study_survives_json() -> None:
    made = study(draws=(2,), title="λ")
    again = Study.from_json(json.loads(json.dumps(made.as_json())))
    assert again == made
    assert again.cells() == made.cells()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"methods": ()}, "at least one method"),
        ({"seeds": ()}, "at least one seed"),
        ({"seeds": (-1,)}, "seed must be a whole number"),
        ({"draws": (0,)}, "number of classes must be"),
        ({"methods": (Method("lcff"),)}, "did you mean “lcf”"),
        ({"axes": {"lamda": [1]}}, "did you mean “lam”"),
        ({"axes": {"lam": []}}, "no values"),
        ({"axes": {"lam": [-1]}}, "must lie between"),
        ({"axes": {"lam": ["much"]}}, "must be a number"),
        ({"methods": (Method("nmf", {"lam": 1}),), "axes": {}, "options": {}}, "no parameter “lam”"),
        ({"methods": (Method("nmf", {"kernel": "rbf"}),), "axes": {}, "options": {}}, "linear one"),
        ({"options": {"speed": 1}}, "no parameter or option “speed”"),
    ],
)
def test_what_cannot_be_run_is_said_before_it_runs(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(fc.FactScopeError, match=sentence):
        study(**changes).cells()


def test_the_same_run_has_the_same_address_however_it_is_said() -> None:
    def at(method: str, select: dict[str, Any] | None = None, fingerprint: str = "f", **options: Any) -> str:
        return address(fingerprint, select or {}, method, options)

    base = at("LCCF-NCW", seed=1)
    assert base == at("lccf", weighting="ncw", seed=1)
    assert base == at("lccf-ncw", lam=100, p=5.0, kernel="linear", restarts=10, max_iter=200, assign=None, graph="cosine", seed=1)
    others = [
        at("LCCF-NCW", seed=2), at("LCCF-NCW", seed=1, lam=99), at("LCCF", seed=1), at("LCCF-NCW", seed=1, max_iter=201),
        at("LCCF-NCW", {"random": 2}, seed=1), at("LCCF-NCW", fingerprint="g", seed=1), at("LCCF-NCW", seed=1, graph="binary"),
    ]  # fmt: skip
    assert len({base, *others}) == len(others) + 1


def test_another_version_of_the_code_is_another_address(monkeypatch: pytest.MonkeyPatch) -> None:
    before = address("f", {}, "nmf", {"seed": 0})
    monkeypatch.setattr(module, "VERSION", "another")
    assert address("f", {}, "nmf", {"seed": 0}) != before


def test_a_cell_gives_what_fit_gives() -> None:
    corpus = small_corpus()
    cells = study().cells()
    found = [run_cell(cell, corpus) for cell in cells]
    table = rows(cells, [run for run, _ in found])  # type: ignore[misc]
    assert list(table.columns) == ["cell", "run", "corpus", "method", "k", "seed", "lam", "score", "value"]
    result = fc.fit(corpus, "LCCF-NCW", p=4, lam=10, restarts=2, max_iter=5, seed=3)
    mine = table[table["cell"] == 4].set_index("score")["value"]
    for score, value in result.scores.items():
        assert mine[score] == value
    assert mine["objective"] == result.objective[-1]
    assert mine["steps"] == 5
    assert table[table["method"] == "nmf"]["lam"].isna().all()
    _, arrays = found[4]  # type: ignore[misc]
    for name, values in arrays_of(result).items():
        np.testing.assert_array_equal(arrays[name], values)
    assert rows(cells, [None] * len(cells)).empty


def test_cancelled_cells_are_none_and_unlabelled_corpora_have_no_accuracy() -> None:
    X = small_corpus().matrix
    corpus = fc.from_matrix(X)
    (cell,) = study(methods=(Method("nmf", {"n_clusters": 3}),), axes={}, seeds=(0,), options={}).cells()
    assert run_cell(cell, corpus, cancelled=lambda: True) is None
    found = run_cell(cell, corpus, arrays=False)
    assert found is not None
    run, arrays = found
    assert arrays == {}
    assert set(run.scores) == {"silhouette", "cut", "objective", "seconds", "steps"}


def test_label_free_scores() -> None:
    X = np.zeros((12, 2))
    X[:6, 0] = X[6:, 1] = 1 + 0.01 * np.arange(6)
    result = fc.fit(fc.from_matrix(X, labels=[0] * 6 + [1] * 6), "kmeans", seed=0)
    found = label_free(result)
    assert found["cut"] == 0
    assert found["silhouette"] > 0.9
    one = fc.fit(fc.from_matrix(X), "kmeans", n_clusters=1)
    assert label_free(one) == {"cut": 0.0}


def test_cells_on_the_same_classes_share_one_corpus() -> None:
    corpus = small_corpus(n=40, k=5)
    first = selected(corpus, {"random": 2, "seed": 1})
    assert selected(corpus, {"random": 2, "seed": 1}) is first
    for seed in range(2, 6):
        selected(corpus, {"random": 2, "seed": seed})
    assert len(module._choices) <= module.KEPT
