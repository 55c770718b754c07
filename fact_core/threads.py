"""How many cores this process uses, and work split over them.

As many as it may run on, unless it is told otherwise: by `FACTSCOPE_THREADS`, by what the workers of a pool are started with
(`OMP_NUM_THREADS` and `NUMBA_NUM_THREADS`, so that they do not fight over the cores), or by :func:`limited` for a while.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, TypeVar

from .errors import FactScopeError

T = TypeVar("T")
_limit: ContextVar[int | None] = ContextVar("threads", default=None)


def threads() -> int:
    """Threads a computation may use now."""
    told = _limit.get()
    return told if told is not None else _cores()


@cache
def _cores() -> int:
    wish = os.environ.get("FACTSCOPE_THREADS", "").strip()
    if wish:
        if not wish.isdecimal() or int(wish) < 1:
            raise FactScopeError(f"FACTSCOPE_THREADS must be a whole number of at least 1, not “{wish}”.")
        return int(wish)
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    told = [os.environ.get(name, "") for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")]
    return min([here, *(int(number) for number in told if number.isdecimal() and int(number) > 0)])


@contextmanager
def limited(count: int) -> Iterator[None]:
    """At most `count` threads for what this thread computes inside."""
    before = _limit.set(count)
    try:
        yield
    finally:
        _limit.reset(before)


class _OneBlasThread:
    """BLAS on one thread while anybody in this process wants it so."""

    def __init__(self) -> None:
        self._lock, self._inside = threading.Lock(), 0
        self._restore: Any = None

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._restore = _libraries().limit(limits=1, user_api="blas")

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0 and self._restore is not None:
                self._restore.restore_original_limits()
                self._restore = None


# Products of thin matrices gain nothing from the threads of BLAS, which wait for each other in a loop and keep ours from working.
one_blas_thread = _OneBlasThread()


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def split(work: Sequence[Callable[[], T]]) -> list[T]:
    """Do short pieces of work that release the interpreter at the same time, the first of them in this thread."""
    others = [_pool().submit(piece) for piece in work[1:]]
    first = work[0]()
    return [first, *(other.result() for other in others)]


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max(1, (os.cpu_count() or 1) - 1), thread_name_prefix="products")
