"""A corpus as a matrix file that this package, scipy and MATLAB read again."""

from __future__ import annotations

import io

import numpy as np
import scipy.io
import scipy.sparse as sp

from .model import Corpus


def as_npz(corpus: Corpus) -> bytes:
    """The weighted matrix (scipy's layout), terms, labels and their names; no pickles."""
    X = sp.csr_array(corpus.matrix)
    file = io.BytesIO()
    arrays = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape), "format": np.array("csr")}
    arrays |= {"terms": corpus.terms.astype(str)}
    if corpus.labels is not None:
        arrays |= {"labels": np.array(corpus.label_names)[corpus.labels]}
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def as_mat(corpus: Corpus) -> bytes:
    """The weighted matrix as `fea`, classes from 1 as `gnd`, and the terms."""
    file = io.BytesIO()
    variables = {"fea": sp.csc_matrix(corpus.matrix), "terms": np.array(corpus.terms, dtype=object)}
    if corpus.labels is not None:
        variables |= {"gnd": corpus.labels[:, None] + 1.0}
    scipy.io.savemat(file, variables, do_compression=True)
    return file.getvalue()
