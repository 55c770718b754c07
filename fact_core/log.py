"""What happened, for whoever runs the server: one JSON object a line, and not a word of anybody's documents.

Facts are numbers, or names made of letters, digits and a few signs; anything else is logged by its length. Sentences shown to people
may quote their files, so they are not logged either: an error is its type and the places in the code it came through.
`FACTSCOPE_LOG` is `off`, `stderr` or the path of a file; without it the application logs to stderr and the library not at all.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
import traceback
from pathlib import Path

PLAIN = re.compile(r"[\w.:+-]{0,64}")
_lock = threading.Lock()
_default = "off"


def begin() -> None:
    """Log to stderr from now on where nothing else was said: what the application does."""
    global _default
    _default = "stderr"


def event(what: str, **facts: object) -> None:
    """Write one line; a log that cannot be written never stops what is logged."""
    where = os.environ.get("FACTSCOPE_LOG", "").strip() or _default
    if where == "off":
        return
    now = time.time()
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now % 1 * 1000):03d}Z"
    line = json.dumps({"time": stamp, "event": what, "pid": os.getpid()} | {name: _plain(value) for name, value in facts.items()}) + "\n"
    try:
        with _lock:
            if where == "stderr":
                sys.stderr.write(line)
                sys.stderr.flush()
            else:
                with open(Path(where).expanduser(), "a", encoding="utf-8") as file:
                    file.write(line)
    except (OSError, ValueError):
        pass


def failure(what: str, error: BaseException, **facts: object) -> None:
    """A mistake of ours: its type and where it came through, not what it says."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames[-8:]]
    event(what, error=type(error).__name__, places=places, **facts)


def _plain(value: object) -> object:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    text = str(value)
    return text if PLAIN.fullmatch(text) else f"({len(text)} characters)"
