"""Arrays whose rows lie on the workers of a cluster.

To methods and to the loop they are arrays: what is done with them is written down, and carried out by all workers on their own rows
(:mod:`fact_core.block`) when somebody looks at a number. So a step of the loop, which looks at its objective, is one message to each
worker. An array has one row a document, in blocks on the workers, or is the same on all of them; products that run over the documents
lead from the first kind to the second. What would mix the rows of different documents in any other way is a TypeError.
"""

from __future__ import annotations

import asyncio
import math
import operator
import pickle
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from .block import Call, Name, Then
from .errors import FactScopeError

LOST = "The Dask cluster lost a worker and its documents; start the run again."


class Session:
    """The blocks of one problem on a cluster, and what is written down for them."""

    def __init__(self, client: Any, blocks: list[Any], rows: list[np.ndarray]):
        self.client, self.blocks, self.rows = client, blocks, rows
        self.actors: list[Any] = client.gather(blocks)
        self.calls: list[Call] = []
        self.own: list[dict[int | str, Any]] = [{} for _ in blocks]  # what is to be sent to one worker only
        self._arrays: WeakValueDictionary[int, Remote] = WeakValueDictionary()
        self._count = 0

    def placed(self, a: np.ndarray, by_documents: bool) -> Remote:
        """An array from here: its rows to their workers, or all of it to all of them, when it is first needed there."""
        array = self._new(a.shape, a.dtype, by_documents)
        array.still_here = a
        return array

    def call(
        self,
        what: Callable[..., Any],
        *arguments: Any,
        shape: tuple[int, ...],
        dtype: Any,
        by_documents: bool,
        then: Then = Then.KEEP,
        out: Remote | None = None,
    ) -> Remote:
        """`what(*arguments)`, written down; the array that will hold it."""
        array = self._new(shape, dtype, by_documents) if out is None else out
        self._named(array)
        array.known = None
        self.write(Call(array.number, what, tuple(map(self._named, arguments)), then, out is not None))
        return array

    def write(self, call: Call) -> None:
        self.calls.append(call)

    def value(self, array: Remote) -> np.ndarray:
        """The numbers themselves. What a step has one number of for each start is fetched at the same time."""
        if array.still_here is not None:
            return array.still_here
        if array.by_documents:
            whole = np.empty(array.shape, array.dtype)
            for rows, part in zip(self.rows, self._send([[array.number]] * len(self.actors)), strict=True):
                whole[..., rows, :] = part[array.number]
            return whole
        if array.known is None:
            others = [other for other in list(self._arrays.values()) if other.ndim < 2 and other.elsewhere and other is not array]
            wanted = [array, *others]
            found = self._send([[other.number for other in wanted], *([] for _ in self.actors[1:])])[0]
            for other in wanted:
                other.known = np.array(found[other.number])
        return np.asarray(array.known)

    def ask(self, method: str, arguments: list[tuple[Any, ...]]) -> list[Any]:
        """The answers of all blocks, or the first failure."""
        try:
            answers = [getattr(actor, method)(*of) for actor, of in zip(self.actors, arguments, strict=True)]
            return self.client.sync(_all, answers)
        except OSError:
            raise FactScopeError(LOST) from None
        except RuntimeError as error:
            if "Actor was lost" in str(error):  # that is how Dask says it
                raise FactScopeError(LOST) from None
            raise

    def end(self) -> None:
        """Have the blocks that wait for others wait no more."""
        for actor in self.actors:
            with suppress(RuntimeError):  # this one is lost
                actor.end()

    def close(self) -> None:
        """Have the workers forget everything."""
        self.actors = []
        with suppress(OSError):
            self.client.cancel(self.blocks)  # now, and not when Python comes to collect what refers to them

    def _new(self, shape: tuple[int, ...], dtype: Any, by_documents: bool) -> Remote:
        self._count += 1
        array = self._arrays[self._count] = Remote(self, self._count, shape, np.dtype(dtype), by_documents)
        return array

    def _named(self, argument: Any) -> Any:
        if isinstance(argument, Remote):
            if (a := argument.still_here) is not None:
                argument.still_here = None
                for rows, own in zip(self.rows, self.own, strict=True):
                    own[argument.number] = a[..., rows, :] if argument.by_documents else a
            return Name(argument.number)
        return argument.copy() if isinstance(argument, np.ndarray) else argument  # as it is now, whatever becomes of it

    def _send(self, wanted: list[list[int]]) -> list[dict[int, Any]]:
        """All that is written down to all workers; what is wanted of each, back."""
        if not self.actors:
            raise FactScopeError("These factors were on a Dask cluster, and their run has ended: look at them while it goes on.")
        calls, self.calls = pickle.dumps(self.calls), []  # once for all of them
        own, self.own = self.own, [{} for _ in self.actors]
        return self.ask("run", [(calls, *of) for of in zip(own, wanted, strict=True)])


async def _all(answers: list[Any]) -> list[Any]:
    return await asyncio.gather(*answers)


class Remote(NDArrayOperatorsMixin):
    """An array (…, n, k) in blocks of rows, one a document; or, not `by_documents`, an array of any shape that all workers hold."""

    def __init__(self, session: Session, number: int, shape: tuple[int, ...], dtype: np.dtype, by_documents: bool):
        self.session, self.number, self.shape, self.dtype, self.by_documents = session, number, shape, dtype, by_documents
        self.known: np.ndarray | None = None  # the numbers, once somebody has looked at them
        self.still_here: np.ndarray | None = None  # the numbers, until they are sent

    @property
    def elsewhere(self) -> bool:
        return self.known is None and self.still_here is None

    def __del__(self) -> None:
        if self.still_here is None:
            self.session.write(Call(self.number))

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def mT(self) -> _Transposed:
        return _Transposed(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.session.value(self), dtype=dtype)

    def __float__(self) -> float:
        return float(np.asarray(self))

    def __bool__(self) -> bool:
        return bool(np.asarray(self))

    def __getitem__(self, index: Any) -> Remote:
        if self.by_documents and not (isinstance(index, int) and self.ndim > 2):
            raise TypeError(f"documents on several workers cannot be chosen by {index}")
        shape = np.broadcast_to(np.empty(()), self.shape)[index].shape
        return self.session.call(operator.getitem, self, index, shape=shape, dtype=self.dtype, by_documents=self.by_documents)

    def astype(self, dtype: Any, copy: bool = True) -> Remote:
        if np.dtype(dtype) == self.dtype:
            return self
        return self.session.call(np.asarray, self, np.dtype(dtype), shape=self.shape, dtype=dtype, by_documents=self.by_documents)

    def sum(self, axis: int, keepdims: bool = False) -> Remote:
        """Over the rows."""
        if axis != -2:
            raise TypeError(f"arrays on several workers are not added up along axis {axis}")
        total = np.einsum("...ij->...j", self)
        return total[..., None, :] if keepdims else total

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = (None,), **options: Any) -> Any:
        if method != "__call__" or options or ufunc.nout > 1:
            return NotImplemented
        return _product(*inputs) if ufunc is np.matmul else _by_entry(ufunc, *inputs, out=out[0])

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        return _FUNCTIONS[function](*arguments, **options) if function in _FUNCTIONS else NotImplemented


class _Transposed:
    """Aᵀ, which is nothing but the left side of a product."""

    def __init__(self, A: Remote):
        self.A = A

    def __matmul__(self, B: Remote) -> Remote:
        A = self.A
        if not isinstance(B, Remote) or A.by_documents != B.by_documents:
            raise TypeError("a product over documents needs both sides by documents")
        shape = (*np.broadcast_shapes(A.shape[:-2], B.shape[:-2]), A.shape[-1], B.shape[-1])
        then = Then.ADD_UP if A.by_documents else Then.KEEP
        return A.session.call(_across, A, B, shape=shape, dtype=np.result_type(A.dtype, B.dtype), by_documents=False, then=then)


def _across(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return A.mT @ B


def _product(A: Any, B: Any) -> Remote:
    """A·B, where it runs over something else than documents."""
    if not isinstance(A, Remote) or not isinstance(B, Remote) or B.by_documents:
        raise TypeError("documents on several workers can only be multiplied from the right, or transposed from the left")
    shape = (*np.broadcast_shapes(A.shape[:-2], B.shape[:-2]), A.shape[-2], B.shape[-1])
    return A.session.call(np.matmul, A, B, shape=shape, dtype=np.result_type(A.dtype, B.dtype), by_documents=A.by_documents)


def _by_entry(what: Callable[..., Any], *inputs: Any, out: Remote | None = None) -> Remote:
    """A function of the entries of arrays (and numbers), one by one."""
    arrays = [a for a in inputs if isinstance(a, Remote)]
    shapes = [getattr(a, "shape", ()) for a in inputs]
    documents = any(a.by_documents for a in arrays)
    for a, shape in zip(inputs, shapes, strict=True):
        if documents and not (isinstance(a, Remote) and a.by_documents) and shape[-2:-1] not in ((), (1,)):
            raise TypeError(f"an array of shape {shape} does not lie where the documents are")
    session, shape = arrays[0].session, np.broadcast_shapes(*shapes)
    if out is not None and (out.shape != shape or out.by_documents != documents):
        raise TypeError(f"the outcome of shape {shape} does not fit where it is to be written")
    dtype = what(*(np.empty(0, a.dtype) if isinstance(a, Remote | np.ndarray) else a for a in inputs)).dtype
    return session.call(what, *inputs, shape=shape, dtype=dtype, by_documents=documents, out=out)


def _einsum(subscripts: str, *operands: Remote) -> Remote:
    """Sums over the last axes; over the rows of documents, over all workers. Leading axes are written as dots."""
    left, outcome = subscripts.replace("...", "").split("->")
    letters = left.split(",")
    sizes = {letter: size for own, a in zip(letters, operands, strict=True) for letter, size in zip(own, a.shape[-len(own) :], strict=True)}
    documents = {a.by_documents for a in operands}
    if len(documents) > 1 or (documents == {True} and (len({own[-2] for own in letters}) > 1 or letters[0][-2] in outcome)):
        raise TypeError(f"{subscripts} does not add up over the documents")
    lead = np.broadcast_shapes(*(a.shape[: a.ndim - len(own)] for own, a in zip(letters, operands, strict=True)))
    return operands[0].session.call(
        np.einsum, subscripts, *operands, shape=(*lead, *(sizes[letter] for letter in outcome)), by_documents=False,
        dtype=np.result_type(*(a.dtype for a in operands)), then=Then.ADD_UP if documents == {True} else Then.KEEP,
    )  # fmt: skip


def _stack(arrays: list[Remote]) -> Remote:
    first = arrays[0]
    shape = (len(arrays), *first.shape)
    return first.session.call(_stacked, *arrays, shape=shape, dtype=first.dtype, by_documents=first.by_documents)


def _stacked(*arrays: np.ndarray) -> np.ndarray:
    return np.stack(arrays)


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.einsum: _einsum,
    np.where: partial(_by_entry, np.where),
    np.stack: _stack,
    np.ndim: lambda a: a.ndim,
}
