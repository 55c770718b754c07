"""A result in other people's tools: pyLDAvis and topicwizard. Both are optional and imported when asked for.

Concept c of the result is topic c there, under the same number: nothing is sorted anew.
"""

from __future__ import annotations

import base64
import importlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .errors import FactScopeError
from .result import Result

NOT_INSTALLED = "{name} is not installed; pip install 'factscope[{extra}]' brings it."


def shares(result: Result) -> tuple[np.ndarray, np.ndarray]:
    """Documents × concepts and concepts × terms, each row adding up to 1.

    A document or concept that is left with nothing has the same share of everything.
    """
    if (why := shares_refusal(result)) is not None:
        raise FactScopeError(why)
    return _rows_to_one(result.embedding), _rows_to_one(result.basis.T)


def shares_refusal(result: Result) -> str | None:
    """Why a result has no shares, in a sentence; None if it has."""
    if result.embedding.min() < 0 or result.basis.min() < 0:
        return f"{result.algorithm.title} has negative coordinates here, which are no shares of a document."
    return None


def concept_names(result: Result, terms: int = 3) -> list[str]:
    """The number of each concept with its heaviest terms."""
    return [f"{c}: {', '.join(term for term, _ in own)}" for c, own in enumerate(result.concepts(terms), start=1)]


# pyLDAvis ---------------------------------------------------------------------------------------------------------------------


def to_pyldavis(result: Result, **options: Any) -> Any:
    """A result as pyLDAvis' PreparedData: `pyLDAvis.display`, `show` and `save_html` take it. `options` are those of its `prepare`."""
    pyldavis = _package("pyLDAvis", "pyldavis")
    V, U = shares(result)
    counts = result.corpus.counts
    frequency = np.asarray(abs(counts).sum(axis=0)).ravel()
    used = frequency > 0
    return pyldavis.prepare(
        _rows_to_one(U[:, used]), V, np.asarray(abs(counts).sum(axis=1)).ravel(), [str(t) for t in result.corpus.terms[used]],
        frequency[used], **{"sort_topics": False, "n_jobs": 1, "R": min(30, int(used.sum()))} | options,
    )  # fmt: skip


def pyldavis_page(result: Result, **options: Any) -> str:
    """The pyLDAvis view as one HTML page that holds all it needs and loads nothing from the web."""
    prepared = to_pyldavis(result, **options)
    pyldavis, urls = _package("pyLDAvis", "pyldavis"), importlib.import_module("pyLDAvis.urls")
    inside = {
        "d3_url": _data_url(urls.D3_LOCAL, "text/javascript"), "ldavis_url": _data_url(urls.LDAVIS_LOCAL, "text/javascript"),
        "ldavis_css_url": _data_url(urls.LDAVIS_CSS_LOCAL, "text/css"),
    }  # fmt: skip
    body, said = pyldavis.prepared_data_to_html(prepared, **inside), prepared.to_json()
    body = body.replace(said, said.replace("<", r"\u003c"))  # a term may hold the end of a script
    return f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>pyLDAvis</title></head><body>{body}</body></html>\n'


def pyldavis_refusal(result: Result) -> str | None:
    """Why pyLDAvis cannot show a result, in a sentence; None if it can."""
    if importlib.util.find_spec("pyLDAvis") is None:
        return NOT_INSTALLED.format(name="pyLDAvis", extra="pyldavis")
    if result.n_clusters < 2:
        return "pyLDAvis needs two concepts at least."
    return shares_refusal(result)


# topicwizard ------------------------------------------------------------------------------------------------------------------


def to_topicwizard(result: Result, names: Sequence[str] | None = None) -> dict[str, Any]:
    """A result as topicwizard's TopicData, for its figures and its application."""
    V, U = shares(result)
    corpus = result.corpus
    return {
        "corpus": [str(text) for text in corpus.documents],
        "vocab": np.array([str(term) for term in corpus.terms]),
        "document_term_matrix": sp.csr_matrix(corpus.counts),  # it knows the older kind only
        "document_topic_matrix": V,
        "topic_term_matrix": U,
        "document_representation": sp.csr_matrix(corpus.matrix),
        "transform": None if corpus.reader is None else lambda texts: result.place(list(texts)).embedding,
        "topic_names": list(names or concept_names(result)),
    }


def open_in_topicwizard(result: Result, names: Sequence[str] | None = None, **options: Any) -> Any:
    """Start topicwizard's application on a result; `options` are those of its `visualize`, such as port and exclude_pages."""
    topicwizard = _package("topicwizard", "topicwizard")
    corpus = result.corpus
    said: dict[str, Any] = {"document_names": [str(title) for title in corpus.titles]}
    if corpus.labels is not None:
        said["group_labels"] = np.array(corpus.label_names, dtype=object)[corpus.labels]  # pandas takes no list there
    return topicwizard.visualize(topic_data=to_topicwizard(result, names), **said | options)


def _rows_to_one(A: np.ndarray) -> np.ndarray:
    total = A.sum(axis=1, keepdims=True)
    return np.where(total > 0, A / np.where(total > 0, total, 1.0), 1.0 / A.shape[1])


def _data_url(path: str, kind: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(Path(path).read_bytes()).decode()}"


def _package(name: str, extra: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise FactScopeError(NOT_INSTALLED.format(name=name, extra=extra)) from None
