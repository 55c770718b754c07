"""The inner loop of the sparse product, compiled. Imported only when it is needed: numba takes half a second.

It adds in the order in which scipy adds, one thread a row and without fused operations: bit by bit the same numbers as scipy's, whatever
the number of threads.
"""

from __future__ import annotations

from typing import Any

import numba.core.config
import numpy as np
from numba import njit

config: Any = numba.core.config
at = np.uintp  # indices without a sign need no check for being negative


def rows_times(indptr, indices, data, A, out, first, last):
    """out[i] = M[i] @ A for the rows first ≤ i < last of a CSR matrix M. Eight columns at a time stay in registers."""
    k = at(A.shape[1])
    zero = data.dtype.type(0)
    for i in range(first, last):
        begin, end = at(indptr[i]), at(indptr[i + 1])
        j = at(0)
        while j + at(8) <= k:
            a = b = c = d = e = f = g = h = zero
            for q in range(begin, end):
                x, row = data[q], A[at(indices[q])]
                a += x * row[j]
                b += x * row[j + at(1)]
                c += x * row[j + at(2)]
                d += x * row[j + at(3)]
                e += x * row[j + at(4)]
                f += x * row[j + at(5)]
                g += x * row[j + at(6)]
                h += x * row[j + at(7)]
            out[i, j] = a
            out[i, j + at(1)] = b
            out[i, j + at(2)] = c
            out[i, j + at(3)] = d
            out[i, j + at(4)] = e
            out[i, j + at(5)] = f
            out[i, j + at(6)] = g
            out[i, j + at(7)] = h
            j += at(8)
        if j + at(4) <= k:
            a = b = c = d = zero
            for q in range(begin, end):
                x, row = data[q], A[at(indices[q])]
                a += x * row[j]
                b += x * row[j + at(1)]
                c += x * row[j + at(2)]
                d += x * row[j + at(3)]
            out[i, j] = a
            out[i, j + at(1)] = b
            out[i, j + at(2)] = c
            out[i, j + at(3)] = d
            j += at(4)
        if j + at(2) <= k:
            a = b = zero
            for q in range(begin, end):
                x, row = data[q], A[at(indices[q])]
                a += x * row[j]
                b += x * row[j + at(1)]
            out[i, j] = a
            out[i, j + at(1)] = b
            j += at(2)
        if j < k:
            a = zero
            for q in range(begin, end):
                a += data[q] * A[at(indices[q])][j]
            out[i, j] = a


def compiled(cached: bool):
    """The loop, to be compiled at its first call; `cached` on disk, where there is a place for it."""
    return njit(nogil=True, cache=cached)(rows_times)


@njit(nogil=True, cache=True)
def pair_products(indptr, indices, data, width, near, out, first, last):
    """out[i, j] = M[i] · M[near[i, j]] for the rows first ≤ i < last of a CSR matrix M of some width; nothing where near is −1."""
    row = np.zeros(width, data.dtype)
    for i in range(first, last):
        for q in range(indptr[i], indptr[i + 1]):
            row[indices[q]] = data[q]
        for j in range(near.shape[1]):
            other = near[i, j]
            if other >= 0:
                total = 0.0
                for q in range(indptr[other], indptr[other + 1]):
                    total += data[q] * row[indices[q]]
                out[i, j] = total
        for q in range(indptr[i], indptr[i + 1]):
            row[indices[q]] = 0


@njit(nogil=True, cache=True)
def places(indptr, data, out, first, last):
    """The place of each number among those of its row, the largest first, for the rows first ≤ i < last of a CSR matrix."""
    for i in range(first, last):
        begin, end = indptr[i], indptr[i + 1]
        order = np.argsort(-data[begin:end], kind="mergesort")
        for j in range(end - begin):
            out[begin + order[j]] = j
