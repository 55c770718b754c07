"""Clocks and scales."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from fact_core.threads import limited

T = TypeVar("T")
ROUNDS = 5


@contextmanager
def using(count: int, blas: int | None = None) -> Iterator[None]:
    """So many threads for our products, and for BLAS as many or others."""
    with limited(count), threadpool_limits(count if blas is None else blas):
        yield


def clock(work: Callable[[], T]) -> tuple[float, T]:
    gc.collect()
    began = time.perf_counter()
    found = work()
    return time.perf_counter() - began, found


def taking_turns(contenders: dict[str, Callable[[], object]], rounds: int = ROUNDS) -> dict[str, list[float]]:
    """Seconds of each contender in each round, one after another within a round."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, work in contenders.items():
            times[name].append(clock(work)[0])
    return times


def peak(work: Callable[[], T]) -> tuple[float, T]:
    """Megabytes taken at most while something is made, and what was made."""
    gc.collect()
    tracemalloc.start()
    found = work()
    most = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return most, found


def median(values: list[float]) -> float:
    return float(np.median(values))
