"""What a server allows, read in this one place from the environment.

Each setting has a usual value and one for a server that strangers use (`FACTSCOPE_PUBLIC=1`); a variable set by hand counts before both.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from .errors import FactScopeError

UNITS = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}


@dataclass(frozen=True)
class Setting:
    variable: str
    usual: str
    public: str
    doc: str
    bytes: bool = False  # whether it is a size such as 4GB


SETTINGS = {
    "upload": Setting("FACTSCOPE_UPLOAD", "200MB", "20MB", "size of the files one person may upload and keep at a time", True),
    "unpacked": Setting("FACTSCOPE_UNPACKED", "1GB", "200MB", "size an archive or packed file may unpack to", True),
    "ratio": Setting("FACTSCOPE_RATIO", "200", "100", "times its own size an archive of more than 10 MB may unpack to"),
    "files": Setting("FACTSCOPE_FILES", "200000", "20000", "files in one archive or upload"),
    "pixels": Setting("FACTSCOPE_PIXELS", "50000000", "20000000", "pixels of one image, looked at before it is decoded"),
    "side": Setting("FACTSCOPE_SIDE", "5000000", "500000", "rows or columns of a matrix"),
    "memory": Setting("FACTSCOPE_MEMORY", "", "1GB", "memory one run may take; without it six tenths of what is free", True),
    "seconds": Setting("FACTSCOPE_TIME", "1800", "120", "seconds one run may take"),
    "workers": Setting("FACTSCOPE_WORKERS", "", "", "processes that factorise for the pages; without it one a core, four at most"),
    "jobs": Setting("FACTSCOPE_JOBS", "4", "1", "studies one person may have at work at a time"),
    "store": Setting("FACTSCOPE_STORE", "2GB", "2GB", "size of all kept runs; above it those not used for longest go first", True),
}


def public() -> bool:
    """Whether strangers use this server."""
    return os.environ.get("FACTSCOPE_PUBLIC", "").strip().lower() in {"1", "true", "yes", "on"}


def limit(name: str) -> float:
    """The value of a setting; 0 where nothing was said and there is no usual value."""
    setting = SETTINGS[name]
    wish = os.environ.get(setting.variable, "").strip() or (setting.public if public() else setting.usual)
    if not wish:
        return 0.0
    if setting.bytes:
        return amount(setting.variable, wish)
    try:
        value = float(wish)
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        raise FactScopeError(f"{setting.variable} must be a positive number, not “{wish}”.")
    return value


def amount(variable: str, wish: str) -> float:
    """The bytes an environment variable asks for."""
    match = re.fullmatch(r"(?i)(\d+(?:\.\d+)?|\.\d+)\s*([kmgt]?)i?b?", wish)
    if match is None:
        raise FactScopeError(f"{variable} must be a size such as 4GB, not “{wish}”.")
    return float(match[1]) * UNITS[match[2].lower()]


def size(bytes_: float) -> str:
    return f"{bytes_ / 1e9:.1f} GB" if bytes_ >= 1e8 else f"{bytes_ / 1e6:.0f} MB" if bytes_ >= 1e6 else f"{bytes_ / 1e3:.0f} kB"


def duration(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 120 else f"{seconds:.0f} seconds"


def shown_path(path: Path) -> str:
    """A path in a sentence; of a public server only its last name, as the rest is nobody's business."""
    return path.name if public() else str(path)
