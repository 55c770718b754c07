"""Memory asked for before it is taken: a sentence instead of a crash."""

from __future__ import annotations

import os
import re

import psutil

from .errors import FactScopeError

UNITS = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}


def budget() -> float:
    """Bytes one run may take: `FACTSCOPE_MEMORY` (such as 4GB) or six tenths of what is free now."""
    wish = os.environ.get("FACTSCOPE_MEMORY", "").strip()
    if not wish:
        return 0.6 * psutil.virtual_memory().available
    return amount("FACTSCOPE_MEMORY", wish)


def amount(variable: str, wish: str) -> float:
    """The bytes an environment variable asks for."""
    match = re.fullmatch(r"(?i)([\d.]+)\s*([kmgt]?)i?b?", wish)
    if match is None:
        raise FactScopeError(f"{variable} must be a size such as 4GB, not “{wish}”.")
    return float(match[1]) * UNITS[match[2].lower()]


def ask(what: str, needed: float, fits: str) -> None:
    """Refuse what would not fit; `fits` says what would."""
    have = budget()
    if needed > have:
        raise FactScopeError(f"{what} needs {size(needed)} of memory and {size(have)} may be used; {fits}.")


def size(bytes_: float) -> str:
    return f"{bytes_ / 1e9:.1f} GB" if bytes_ >= 1e8 else f"{bytes_ / 1e6:.0f} MB"
