"""A corpus in one file, with everything a study needs of it: how an upload travels to a job's workers.

What reads new texts (`Corpus.reader`) is code and stays behind.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from ..corpus.model import Corpus, Dropped, TermWeighting
from ..errors import FactScopeError
from .files import put

BROKEN = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)  # what a damaged .npz raises


def save_corpus(corpus: Corpus, path: Path) -> None:
    put(path, lambda file: np.savez_compressed(file, **arrays_of_corpus(corpus)))  # type: ignore[arg-type]


def arrays_of_corpus(corpus: Corpus, *, texts: bool = True) -> dict[str, np.ndarray]:
    """A corpus as arrays of numbers; without `texts` its documents have neither text nor title, which no method looks at."""
    counts, none = corpus.counts, [""] * len(corpus)
    about = {
        "name": corpus.name, "terms": list(corpus.terms), "documents": list(corpus.documents) if texts else none,
        "titles": list(corpus.titles) if texts else none,
        "label_names": corpus.label_names, "weighting": corpus.weighting.value, "unit_length": corpus.unit_length,
        "population": corpus.population, "has_text": corpus.has_text, "image_shape": corpus.image_shape, "shape": counts.shape,
        "dropped": [[d.count, d.what, d.why] for d in corpus.dropped],
    }  # fmt: skip
    arrays = {"about": np.frombuffer(json.dumps(about).encode(), dtype=np.uint8), "document_frequency": corpus.document_frequency}
    arrays |= {part: getattr(counts, part) for part in ("data", "indices", "indptr")} if sp.issparse(counts) else {"counts": counts}
    if corpus.labels is not None:
        arrays["labels"] = corpus.labels
    return arrays


def read_corpus(file: Path | BinaryIO) -> Corpus:
    try:
        with np.load(file, allow_pickle=False) as arrays:
            return corpus_of(dict(arrays))
    except BROKEN:
        raise FactScopeError("The corpus of this job is no longer there or damaged; start the job again.") from None


def corpus_of(arrays: dict[str, Any]) -> Corpus:
    """The corpus in these arrays."""
    about = json.loads(arrays["about"].tobytes())
    shape = tuple(about.pop("shape"))
    sparse = "counts" not in arrays
    return Corpus(
        counts=sp.csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape) if sparse else arrays["counts"],
        labels=arrays.get("labels"), document_frequency=arrays["document_frequency"],
        **about | {
            "terms": np.array(about["terms"], dtype=object), "label_names": tuple(about["label_names"]),
            "weighting": TermWeighting(about["weighting"]), "dropped": tuple(Dropped(*d) for d in about["dropped"]),
            "image_shape": about["image_shape"] and tuple(about["image_shape"]),
        },
    )  # fmt: skip
