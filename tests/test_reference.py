"""Agreement with the arrays of the methods' authors' own programs."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import reference

import fact_core as fc
from fact_core.constraints import from_classes
from fact_core.graph import GraphWeights, neighbour_graph

FROM_GIVEN_START = [
    ("lccf", "lccf", "W"),
    ("lccf_lam0_cf", "cf", "W"),
    ("lccf_lam0_cf", "lccf", "W"),
    ("lccf_ncw", "lccf", "W"),
    ("gnmf", "gnmf", "U"),
    ("gnmf_lam0_nmf", "nmf", "U"),
    ("gnmf_lam0_nmf", "gnmf", "U"),
]


@pytest.mark.parametrize("steps", [1, 10, 100])
@pytest.mark.parametrize(("name", "key", "other"), FROM_GIVEN_START)
def test_factors_and_objective(name: str, key: str, other: str, steps: int) -> None:
    r = reference(name)
    options: dict[str, object] = {"lam": float(r["lambda"]), "graph": r["G"]} if key in {"lccf", "gnmf"} else {}
    if name.endswith("ncw"):
        options["weighting"] = "ncw"
    corpus = fc.from_matrix(r["X"].T)
    result = fc.fit(corpus, key, n_clusters=3, init={other: r[f"{other}0"], "V": r["V0"]}, max_iter=steps, **options)
    np.testing.assert_allclose(result.factors[other], r[f"{other}_{steps}"], rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(result.factors["V"], r[f"V_{steps}"], rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(result.objective, r[f"obj_{steps}"], rtol=1e-8)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("kind", "t"), [("binary", None), ("cosine", None), ("heat", 2.0)])
def test_graphs(kind: str, t: float | None, sparse: bool) -> None:
    import scipy.sparse as sp

    X = reference("data")["X"].T
    S = neighbour_graph(sp.csr_array(X) if sparse else X, 5, GraphWeights(kind), t)
    np.testing.assert_allclose(S.toarray(), reference("graphs")[kind], rtol=1e-8, atol=1e-12)


WITHOUT_NORMALISATION = [
    ("lcf", "lcf", {"lam": 0.3}, {"W": "W", "V": "V"}),
    ("aa_hht", "hht", {}, {"H": "H"}),
    ("nc_hht", "hht", {"weighting": "ncw"}, {"H": "H"}),
    ("aa_pspt", "pspt", {"eta": 0.8, "scaling": "paper"}, {"P": "P", "s": "s"}),
    ("nc_pspt", "pspt", {"eta": 0.8, "scaling": "paper", "weighting": "ncw"}, {"P": "P", "s": "s"}),
    ("nmfsc_sH05", "sparse_nmf", {"sparseness_v": 0.5}, {"U": "W", "V": "H"}),  # Hoyer's letters: X ≈ WH
]


@pytest.mark.parametrize("steps", [1, 10, 100])
@pytest.mark.parametrize(("name", "key", "options", "letters"), WITHOUT_NORMALISATION, ids=lambda v: v if isinstance(v, str) else "")
def test_the_rest_of_the_family(name: str, key: str, options: dict[str, object], letters: dict[str, str], steps: int) -> None:
    r = reference(name)

    def ours(letter: str, what: str) -> np.ndarray:
        array = r[f"{letter}_{what}"]
        return array.T if name.startswith("nmfsc") and letter == "H" else array

    init = {block: ours(letter, "init") for block, letter in letters.items()}
    result = fc.fit(fc.from_matrix(reference("data")["X"].T), key, n_clusters=3, init=init, max_iter=steps, **options)
    for block, letter in letters.items():
        np.testing.assert_allclose(result.factors[block], ours(letter, str(steps)), rtol=1e-8, atol=1e-12)
    objective = r["obj"][: steps + 1] if "obj" in r else r[f"obj_{steps}"]
    np.testing.assert_allclose(result.objective, objective, rtol=1e-8)


# Semi-supervised: RCF and SemiLCCF on the loop's scale with their W called U, GDCF's W called U too; the others without any normalisation.


def labelled() -> dict[int, int]:
    return {int(i): int(reference("data")["gnd"][i]) for i in reference("e2cp")["labelled"]}


@pytest.mark.parametrize("steps", [1, 10, 100])
@pytest.mark.parametrize("told", [True, False], ids=["constraints", "graph"])
@pytest.mark.parametrize(("name", "key"), [("rcf", "rcf"), ("semilccf", "semi_lccf")])
def test_graphs_with_constraints(name: str, key: str, told: bool, steps: int) -> None:
    """From the constraints and the plain graph, and from the graph that the reference holds."""
    r = reference(name)
    pairs = list(from_classes(labelled(), 60).pairs())
    plain = reference("e2cp")["W"] if key == "rcf" else reference("graphs")["cosine"]
    options = {"constraints": pairs, "graph": plain} if told else {"graph": r["G"]}
    init = {"W": r["U_init"], "V": r["V_init"]}
    result = fc.fit(fc.from_matrix(r["X"].T), key, n_clusters=3, init=init, max_iter=steps, lam=float(r["lam"]), **options)
    c = np.linalg.norm(result.factors["V"], axis=0)
    np.testing.assert_allclose(result.problem.graph.toarray(), r["G"], rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(result.factors["V"] / c, r[f"V_{steps}"], rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(result.factors["W"] * c, r[f"U_{steps}"], rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(result.objective, r["obj"][: steps + 1], rtol=1e-8)


@pytest.mark.parametrize("steps", [1, 10, 100])
@pytest.mark.parametrize(
    ("key", "letters", "options"),
    [
        ("ccf", {"W": "W", "Z": "Z"}, {}),
        ("gdcf", {"W": "U", "V": "V", "B": "B"}, {"beta1": 0.5, "beta2": 0.1}),
        ("cnpcf", {"W": "W", "V": "V"}, {"lam_s": 10, "lam_h": 1, "p": 3}),
    ],
)
def test_semi_supervised(key: str, letters: dict[str, str], options: dict[str, object], steps: int) -> None:
    r = reference(key)
    init = {block: r[f"{letter}_init"] for block, letter in letters.items()}
    corpus = fc.from_matrix(r["X"].T)
    result = fc.fit(corpus, key, n_clusters=3, init=init, max_iter=steps, constraints=labelled(), **options)
    for block, letter in letters.items():
        np.testing.assert_allclose(result.factors[block], r[f"{letter}_{steps}"], rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(result.objective, r["obj"][: steps + 1], rtol=1e-8)
    known = result.problem.supervision
    if key == "ccf":
        np.testing.assert_allclose(result.factors["V"], r["A"] @ result.factors["Z"], rtol=1e-12)
    if key == "cnpcf":
        np.testing.assert_allclose(known.must_graph.toarray(), r["H"])
    if key == "gdcf":
        np.testing.assert_allclose(known.indicator.T, r["Q"])
