"""Memory asked for before it is taken: a sentence instead of a crash."""

from __future__ import annotations

import ctypes
from contextlib import suppress
from pathlib import Path

import psutil

from .errors import FactScopeError
from .limits import limit, size

CONTAINER = Path("/sys/fs/cgroup")  # where Linux says what a container may take


def free() -> float:
    """Bytes that can still be taken, on the machine and in the container this runs in."""
    return min(float(psutil.virtual_memory().available), _free_in_container())


def budget() -> float:
    """Bytes one run may take: `FACTSCOPE_MEMORY` (such as 4GB), never more than is free; without it six tenths of that."""
    wish = limit("memory")
    return min(wish, 0.9 * free()) if wish else 0.6 * free()


def ask(what: str, needed: float, fits: str) -> None:
    """Refuse what would not fit; `fits` says what would."""
    have = budget()
    if needed > have:
        raise FactScopeError(f"{what} needs {size(needed)} of memory and {size(have)} may be used; {fits}.")


def give_back() -> None:
    """Return to the system what was freed and is still held, where the C library can."""
    with suppress(OSError, AttributeError):  # only glibc has it
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def _free_in_container() -> float:
    for most, now in (("memory.max", "memory.current"), ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes")):
        try:
            return max(0.0, float((CONTAINER / most).read_text()) - float((CONTAINER / now).read_text()) + _reclaimable())
        except (OSError, ValueError):  # no container, another version, or “max”
            continue
    return float("inf")


def _reclaimable() -> float:
    """Pages of files, which count as used and are given back when somebody needs them."""
    try:
        lines = (CONTAINER / "memory.stat").read_text().split("\n")
        return float(next(line.split()[1] for line in lines if line.startswith(("inactive_file ", "total_inactive_file "))))
    except (OSError, ValueError, StopIteration, IndexError):
        return 0.0
