"""The methods as scikit-learn estimators."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers import clustered, told
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import fact_core as fc
from fact_core import estimators
from fact_core.algorithms import Needs, algorithms
from fact_core.estimators import CCF, CF, LCCF, LCF, LSI, NMF, RCF, HHt, KMeans, LabelPropagation, PSPt, SparseNMF, Spectral

CLASSES = [getattr(estimators, name) for name in estimators.__all__]
SLOW = {PSPt, LCF, HHt, SparseNMF}  # whole runs from every start, or searched steps: two starts show what ten do
CHECKED = [cls(restarts=2) if cls in SLOW else cls() for cls in CLASSES]


def expected_failures(estimator: estimators.Factorisation) -> dict[str, str]:
    """Why some of scikit-learn's checks cannot hold; only `check_clustering` is among them."""
    needs = estimator.method.needs
    if estimator.__sklearn_tags__().input_tags.positive_only:
        return {"check_clustering": "it standardises its data, and this method is defined for non-negative data only"}
    if Needs.CLASSES in needs:
        return {"check_clustering": "it passes no y, and this method is defined by the classes it is told of"}
    if isinstance(estimator, CCF):
        return {"check_clustering": "it passes no y, and without known classes on data of both signs 200 steps do not reach its score"}
    return {}


@parametrize_with_checks(CHECKED, expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check) -> None:  # type: ignore[no-untyped-def]
    check(estimator)


def test_every_method_has_its_class() -> None:
    assert set(estimators.__all__) == {method.__name__ for method in algorithms().values()}
    assert {cls.method for cls in CLASSES} == set(algorithms().values())
    assert len(CLASSES) >= 17


@pytest.mark.parametrize("cls", CLASSES)
def test_signatures_and_docstrings_are_the_methods_own(cls: type[estimators.Factorisation]) -> None:
    signature = inspect.signature(cls)
    for p in cls.method.parameters:
        if p.name != "share":
            assert signature.parameters[p.name].default == p.default
            assert p.doc in cls.__doc__
    assert "share" not in signature.parameters  # y says whose classes are known
    documented = cls.__doc__.split("Attributes")[0]
    assert all(f"\n{name} : " in documented for name in signature.parameters)
    assert cls.method.formula in cls.__doc__
    assert ("kernel" in signature.parameters) == cls.method.kernels
    with pytest.raises(TypeError, match="nonsense"):
        cls(nonsense=1)


@pytest.mark.parametrize("cls", CLASSES)
def test_a_class_finds_what_fit_finds(cls: type[estimators.Factorisation]) -> None:
    X, topic = clustered(40, 30, sharp=6)
    few = {} if not cls.method.blocks else {"max_iter": 15, "restarts": 2}
    k = {} if cls is LabelPropagation else {"n_clusters": 3}
    y = np.where(np.arange(40) < 6, topic, -1) if Needs.SUPERVISION in cls.method.needs else None
    model = cls(**k, **few, random_state=5).fit(X, y)
    seed = int(np.random.RandomState(5).randint(2**31 - 1))
    result = fc.fit(fc.from_matrix(X), cls.method.key, n_clusters=3, seed=seed, **few, **told(cls.method, 40, 3))
    assert np.array_equal(model.labels_, result.labels)
    assert np.allclose(model.embedding_, result.embedding)
    assert np.allclose(model.components_, result.basis.T)
    assert model.components_.shape == (3, 30)
    assert model.n_iter_ == max(1, len(result.objective) - 1)
    assert model.reconstruction_err_ > 0
    new = clustered(5, 30, seed=3, sharp=6)[0]
    assert np.allclose(model.transform(new), result.place(new).embedding)
    assert np.array_equal(model.predict(new), result.place(new).labels)


def test_documents_of_the_fit_keep_their_coordinates() -> None:
    X, _ = clustered(30, 20)
    model = LCCF(3, random_state=0)
    V = model.fit_transform(X)
    assert np.array_equal(model.transform(X), V)
    assert np.array_equal(model.transform(sp.csr_matrix(X)[::-2]), V[::-2])
    new = clustered(4, 20, seed=1)[0]
    mixed = model.transform(np.vstack([new, X[:3]]))
    assert np.array_equal(mixed[4:], V[:3])
    assert np.allclose(mixed[:4], model.result_.place(new).embedding)
    assert np.array_equal(model.predict(np.vstack([X, new]))[:30], model.labels_)


def test_equal_documents_keep_their_own_coordinates() -> None:
    X = np.repeat(clustered(15, 20)[0], 2, axis=0)
    model = LCCF(3, lam=0, max_iter=3, restarts=1, random_state=0)  # so short a run leaves equal documents apart
    V = model.fit_transform(X)
    assert not np.allclose(V[0], V[1])
    assert np.array_equal(model.transform(X), V)
    assert np.array_equal(model.transform(X[1:2]), V[:1])


def test_sparse_stays_sparse_and_agrees_with_dense() -> None:
    X, _ = clustered(30, 20)
    sparse, dense = (LCCF(3, max_iter=30, random_state=0).fit(A) for A in (sp.csr_array(X), X))
    assert sp.issparse(sparse.result_.corpus.counts)
    assert sp.issparse(sparse.result_.problem.X)
    assert np.allclose(sparse.embedding_, dense.embedding_)
    new = clustered(4, 20, seed=1)[0]
    assert np.allclose(sparse.transform(new), dense.transform(sp.csr_matrix(new)))


def test_many_documents_are_placed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = clustered(30, 20)
    model = LCCF(3, max_iter=30, random_state=0).fit(X)
    new = clustered(25, 20, seed=2)[0]
    at_once = model.transform(new), model.predict(new)
    sizes = []
    place = type(model.result_).place
    monkeypatch.setattr(type(model.result_), "place", lambda self, rows: sizes.append(rows.shape[0]) or place(self, rows))
    monkeypatch.setattr(estimators, "BLOCK", 30 * 7)
    assert np.allclose(model.transform(new), at_once[0])
    assert sizes == [7, 7, 7, 4]
    assert np.array_equal(model.predict(new), at_once[1])


def test_reconstruction_error_is_that_of_the_factors() -> None:
    X, _ = clustered(30, 20)
    K = X @ X.T
    for model in (NMF, CF, LSI, SparseNMF):
        fitted = model(3, random_state=0).fit(X)
        scale = X.max() if model is SparseNMF else 1.0  # Hoyer's factors are of X over its maximum
        assert fitted.reconstruction_err_ == pytest.approx(np.linalg.norm(X - scale * fitted.embedding_ @ fitted.components_), rel=1e-6)
    means = KMeans(3, random_state=0).fit(X)
    assert means.reconstruction_err_ == pytest.approx(np.linalg.norm(X - means.components_[means.labels_]))
    H = HHt(3, random_state=0).fit(X)
    assert H.reconstruction_err_ == pytest.approx(np.linalg.norm(K - H.embedding_ @ H.embedding_.T))
    P = PSPt(3, random_state=0).fit(X)
    assert P.reconstruction_err_ == pytest.approx(np.linalg.norm(K - P.embedding_ * P.result_.factors["s"] @ P.embedding_.T))
    E = Spectral(3, random_state=0).fit(X)
    assert E.reconstruction_err_ == pytest.approx(np.sqrt((np.linalg.eigvalsh(K)[:-3] ** 2).sum()))


def test_names_and_pandas() -> None:
    X, _ = clustered(30, 20)
    frame = pd.DataFrame(X, columns=[f"word{j}" for j in range(20)], index=[f"d{i}" for i in range(30)])
    model = LCCF(3, max_iter=20, random_state=0).set_output(transform="pandas")
    V = model.fit_transform(frame)
    assert list(V.columns) == ["lccf0", "lccf1", "lccf2"]
    assert list(V.index) == list(frame.index)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert model.result_.concepts(1)[0][0][0].startswith("word")
    assert isinstance(model.transform(frame.iloc[:4]), pd.DataFrame)


@pytest.fixture(scope="module")
def texts() -> tuple[list[str], np.ndarray]:
    corpus = fc.load_corpus("three-topics")
    return list(corpus.documents), corpus.labels


def nmi(model, X, y) -> float:  # type: ignore[no-untyped-def]
    return normalized_mutual_info_score(y, model.predict(X))


def test_a_pipeline_is_searched_and_pickled(texts: tuple[list[str], np.ndarray]) -> None:
    documents, classes = texts
    pipeline = make_pipeline(TfidfVectorizer(stop_words="english", min_df=2), LCCF(3, restarts=3, max_iter=60, random_state=0))
    search = GridSearchCV(pipeline, {"lccf__lam": [1.0, 100.0], "lccf__p": [3, 5]}, scoring=nmi, cv=3)
    search.fit(documents, classes)
    assert len(search.cv_results_["mean_test_score"]) == 4
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ > 0.5
    best = search.best_estimator_
    again = pickle.loads(pickle.dumps(best))  # our own object: scikit-learn's people keep fitted pipelines so
    assert np.array_equal(again.predict(documents), best.predict(documents))
    assert np.array_equal(again[-1].labels_, best[-1].labels_)
    new = ["eigenvalues of a symmetric matrix by decomposition", "the confusion of true and predicted labels"]
    assert np.array_equal(again.transform(new), best.transform(new))
    assert adjusted_rand_score(classes, best.fit_predict(documents)) > 0.5


@pytest.mark.parametrize("cls", CLASSES)
def test_clones_and_pickles(cls: type[estimators.Factorisation]) -> None:
    X, topic = clustered(30, 20)
    few = {"max_iter": 3} if cls.method.blocks else {}
    model = clone(cls(**few, random_state=1)).fit(X, topic)
    again = pickle.loads(pickle.dumps(model))  # our own object, as joblib sends it to workers
    new = clustered(4, 20, seed=1)[0]
    assert np.array_equal(again.labels_, model.labels_)
    assert np.array_equal(again.transform(new), model.transform(new))


def test_known_classes_come_as_y() -> None:
    X, topic = clustered(60, 30, noise=0.6, sharp=6)
    y = np.where(np.arange(60) < 12, topic, -1)
    model = RCF(random_state=0).fit(X, y)
    assert model.embedding_.shape == (60, 3)
    assert list(model.result_.supervised) == list(range(12))
    assert np.array_equal(RCF(random_state=0).fit_predict(X, y), model.labels_)
    names = np.array(["a", "b", "c"], dtype=object)[topic]
    names[12:] = None
    assert np.array_equal(RCF(random_state=0).fit(X, names).labels_, model.labels_)
    assert np.array_equal(RCF(random_state=0).fit(X, np.where(y < 0, np.nan, y)).labels_, model.labels_)
    without = RCF(3, random_state=0).fit(X)
    assert np.array_equal(without.labels_, LCCF(3, graph="heat", random_state=0).fit(X).labels_)
    assert adjusted_rand_score(topic, LabelPropagation().fit(X, y).labels_) > 0.5


def test_what_cannot_be_done_is_said_in_a_sentence() -> None:
    X, topic = clustered(30, 20)
    with pytest.raises(ValueError, match="between 0 and 10000"):
        LCCF(3, lam=-1).fit(X)
    with pytest.raises(ValueError, match="number of clusters must lie between 1 and"):
        LCCF(31).fit(X)
    with pytest.raises(ValueError, match="no weighting “nc”"):
        LCCF(3, weighting="nc").fit(X)
    with pytest.raises(ValueError, match="29 entries"):
        RCF().fit(X, topic[1:])
    with pytest.raises(ValueError, match="requires y"):
        LabelPropagation().fit(X)
    with pytest.raises(ValueError, match="neither n_clusters nor"):
        RCF().fit(X)
    with pytest.raises(ValueError, match="knows the class of no document"):
        RCF().fit(X, np.full(30, -1))
    with pytest.raises(ValueError, match="Negative values"):
        NMF(3).fit(X - 0.5)
