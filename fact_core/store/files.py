"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from ..errors import FactScopeError
from ..limits import shown_path


def put(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file under another name and give it its own when it is complete."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(part, "wb") as file:
            write(file)
        os.replace(part, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink()
        raise FactScopeError(unwritable(path.parent, error)) from None


def unwritable(folder: Path, error: OSError) -> str:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    why = "the disk is full" if full else f"it cannot be written to ({error.strerror or error})"
    return f"Nothing can be kept in {shown_path(folder)}, as {why}; make room, or name another folder in FACTSCOPE_HOME."
