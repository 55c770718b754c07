"""The methods as scikit-learn estimators: `from fact_core.estimators import LCCF`.

One class for each method of the registry, made from what the method declares, so that a new file among the methods is a new class here.
X is documents × terms and used as given: weigh and scale it first, as with `TfidfVectorizer`. Sparse input stays sparse.

`transform` places documents among the concepts one by one (out of sample); a document that was among those of the fit keeps the coordinates
the fit gave it. The semi-supervised methods take known classes as `y`, with −1 for the documents whose class is not known.
"""

from __future__ import annotations

import hashlib
import inspect
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .algorithms import Algorithm, Needs, algorithms
from .corpus import from_matrix
from .corpus.model import Matrix
from .errors import FactScopeError
from .fit import fit
from .graph import BLOCK

UNKNOWN = -1  # scikit-learn's mark of a document whose class is not known


class Factorisation(ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, BaseEstimator):
    """What all of them share."""

    method: type[Algorithm]

    def fit(self, X: Any, y: Any = None) -> Factorisation:
        """Factorise the documents × terms X. `y` matters to the semi-supervised methods only."""
        X = validate_data(
            self, X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2, ensure_non_negative=self._positive_only
        )  # fmt: skip
        options = self.get_params(deep=False)
        seed = int(check_random_state(options.pop("random_state")).randint(2**31 - 1))
        if Needs.SUPERVISION in self.method.needs:
            options |= self._known(X, y, options.get("n_clusters"))
        names = getattr(self, "feature_names_in_", None)
        self.result_ = result = fit(from_matrix(X, terms=names, name="X"), self.method.key, seed=seed, **options)
        self._keys = _keys(X)
        self.embedding_ = result.embedding
        self.components_ = result.basis.T
        self.labels_ = result.labels
        self.n_iter_ = max(1, len(result.objective) - 1)
        self.reconstruction_err_ = result.algorithm.error(result.problem, result.factors, result.history[-1])
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> np.ndarray:
        """Factorise X; the coordinates of its documents."""
        return self.fit(X, y, **fit_params).embedding_

    def fit_predict(self, X: Any, y: Any = None, **fit_params: Any) -> np.ndarray:
        """Factorise X; the clusters of its documents."""
        return self.fit(X, y, **fit_params).labels_

    def transform(self, X: Any) -> np.ndarray:
        """The coordinates of documents, documents × concepts."""
        return self._place(X)[0]

    def predict(self, X: Any) -> np.ndarray:
        """The clusters of documents."""
        return self._place(X)[1]

    def _place(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False, ensure_non_negative=self._positive_only)
        keys = _keys(X)
        if keys == self._keys:
            return self.embedding_, self.labels_
        place = {key: i for i, key in reversed(list(enumerate(self._keys)))}  # of equal documents the first
        known = np.array([place.get(key, -1) for key in keys])
        V, labels = self.embedding_[known], self.labels_[known]
        new = np.flatnonzero(known < 0)
        at_once = max(1, BLOCK // len(self._keys))  # similarities to the documents of the fit are held for so many
        for some in (new[first : first + at_once] for first in range(0, len(new), at_once)):
            placed = self.result_.place(X[some])
            V[some], labels[some] = placed.embedding, placed.labels
        return V, labels

    def _known(self, X: Matrix, y: Any, k: int | None) -> dict[str, Any]:
        """What a semi-supervised method is told."""
        if y is None:
            if Needs.CLASSES in self.method.needs:
                raise FactScopeError(f"{type(self).__name__} requires y to be passed, but the target y is None; −1 marks an unknown class.")
            if k is None:
                raise FactScopeError(f"{type(self).__name__} was given neither n_clusters nor the classes of any document.")
            return {"constraints": ()}
        y = np.ravel(np.asarray(y))
        if len(y) != X.shape[0]:
            raise FactScopeError(f"y has {len(y)} entries, and X has {X.shape[0]} documents.")
        classes = {i: c for i, c in enumerate(y.tolist()) if c is not None and c == c and c != UNKNOWN}
        if not classes and k is None:
            raise FactScopeError(f"{type(self).__name__} was given no n_clusters, and y knows the class of no document.")
        return {"constraints": classes, "n_clusters": k if k is not None else len(set(classes.values()))}

    @property
    def _positive_only(self) -> bool:
        kernel = Needs.NONNEGATIVE_KERNEL in self.method.needs and getattr(self, "kernel", "linear") == "linear"
        return kernel or Needs.NONNEGATIVE in self.method.needs

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self._positive_only
        tags.target_tags.required = Needs.CLASSES in self.method.needs
        return tags


def _keys(X: Matrix) -> list[bytes]:
    """Of each document something that equal documents share, whether they come sparse or dense."""
    rows = sp.csr_array(X)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    indices = rows.indices.astype(np.int64)
    parts = [slice(a, b) for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)]
    return [hashlib.blake2b(indices[part].tobytes() + rows.data[part].tobytes(), digest_size=16).digest() for part in parts]


# How a class is made of a method ----------------------------------------------------------------------------------------------

_OPTIONS = {
    "n_clusters": ("int", "number of concepts, and of clusters"),
    "kernel": ("str", "inner product of two documents: linear, poly2 or rbf"),
    "weighting": ("str", "weighting of the documents"),
    "graph": ("str or affinity", "weights of the neighbour graph: binary, cosine or heat; or a symmetric matrix, documents × documents"),
    "init": ("str or dict", "where it starts, or the factors themselves"),
    "assign": ("str", "how clusters are read from the coordinates: argmax, kmeans or cosine"),
    "restarts": ("int", "starts, of which the one with the lowest objective goes on"),
    "max_iter": ("int", "steps"),
    "tol": ("float or None", "relative change at which it stops before max_iter; None takes all steps"),
    "random_state": ("int, RandomState or None", "the same number gives the same result"),
}
_ATTRIBUTES = {
    "components_": ("array (n_clusters, n_features)", "the weight of each term in each concept"),
    "embedding_": ("array (n_samples, n_clusters)", "the coordinates of the documents of the fit"),
    "labels_": ("array (n_samples,)", "their clusters"),
    "reconstruction_err_": ("float", "Frobenius norm of what the method approximates less its approximation"),
    "n_iter_": ("int", "steps taken; 1 for a method solved in one go"),
    "result_": ("fact_core.Result", "everything else: objective by step and term, concepts, warnings"),
    "n_features_in_": ("int", "terms seen in fit"),
    "feature_names_in_": ("array (n_features_in_,)", "their names, where X had names"),
}


def options_of(method: type[Algorithm]) -> dict[str, Any]:
    """The keywords of a method's class with their defaults: k, its parameters, and what of `fit` matters to it."""
    semi = Needs.SUPERVISION in method.needs
    found: dict[str, Any] = {} if method.clusters_are_classes else {"n_clusters": None if semi else 8}
    found |= {p.name: p.default for p in method.parameters if p.name != "share"}  # y says whose classes are known
    if method.kernels:
        found["kernel"] = "linear"
    if len(method.weightings) > 1:
        found["weighting"] = "none"
    if Needs.GRAPH in method.needs:
        found["graph"] = method.graph.value
    found["assign"] = method.assign.value
    if method.blocks:
        found |= {"init": method.starts[0].value, "restarts": 10, "max_iter": method.budget, "tol": None}
    return found | {"random_state": None}


def describe(method: type[Algorithm]) -> str:
    """The docstring of a method's class."""
    said = {p.name: (type(p.default).__name__, f"{p.symbol}: {p.doc}" if p.symbol != p.name else p.doc) for p in method.parameters}
    lines = []
    for name, default in options_of(method).items():
        kind, doc = said.get(name) or _OPTIONS[name]
        kind = f"{kind} or None" if default is None and "None" not in kind else kind
        if name == "weighting":
            doc += f": {' or '.join(w.value for w in method.weightings)}"
        if name == "n_clusters" and default is None:
            doc += "; the number of known classes by default"
        lines += [f"{name} : {kind}, default={default!r}", f"    {doc}"]
    attributes = [line for name, (kind, doc) in _ATTRIBUTES.items() for line in (f"{name} : {kind}", f"    {doc}")]
    about = [method.__doc__ or "", "", f"Minimises :math:`{method.formula}` ({method.paper}). {method.note}".rstrip(), ""]
    if Needs.SUPERVISION in method.needs:
        about += ["`fit` takes known classes as y; −1 marks a document whose class is not known.", ""]
    return "\n".join([*about, "Parameters", "----------", *lines, "", "Attributes", "----------", *attributes, ""])


def _made(method: type[Algorithm]) -> type[Factorisation]:
    options = options_of(method)
    kinds = inspect.Parameter
    parameters = [kinds("self", kinds.POSITIONAL_OR_KEYWORD)]
    parameters += [
        kinds(name, kinds.POSITIONAL_OR_KEYWORD if name == "n_clusters" else kinds.KEYWORD_ONLY, default=default)
        for name, default in options.items()
    ]
    signature = inspect.Signature(parameters)

    def initialise(*given: Any, **named: Any) -> None:
        bound = signature.bind(*given, **named)
        bound.apply_defaults()
        self = bound.arguments.pop("self")
        for name, value in bound.arguments.items():
            setattr(self, name, value)

    initialise.__signature__ = signature  # type: ignore[attr-defined]
    initialise.__name__, initialise.__qualname__ = "__init__", f"{method.__name__}.__init__"
    body = {"__init__": initialise, "__doc__": describe(method), "__module__": __name__, "method": method}
    return type(method.__name__, (Factorisation,), body)


if TYPE_CHECKING:

    def __getattr__(name: str) -> type[Factorisation]: ...


_classes = {method.__name__: _made(method) for method in algorithms().values()}
globals().update(_classes)
__all__ = [*_classes]
