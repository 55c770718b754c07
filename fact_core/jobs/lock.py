"""A lock the operating system takes back when its holder dies, however it dies: whether a job is at work is never a guess."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import BinaryIO

if os.name == "nt":
    import msvcrt

    def _lock(file: BinaryIO, alone: bool) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
else:
    import fcntl

    def _lock(file: BinaryIO, alone: bool) -> None:
        fcntl.flock(file, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)


def take(path: Path, seconds: float = 2.0) -> BinaryIO | None:
    """The lock, held until the returned file is closed; None if somebody has it, and not just looks at it."""
    file = open(path, "ab")  # noqa: SIM115 (stays open)
    until = time.monotonic() + seconds
    while True:
        try:
            _lock(file, alone=True)
            return file
        except OSError:
            if time.monotonic() > until:
                file.close()
                return None
            time.sleep(0.02)


def held(path: Path) -> bool:
    """Whether somebody has the lock. Those who look share it, so they do not take each other for a holder."""
    try:
        with open(path, "rb") as file:
            _lock(file, alone=False)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False
