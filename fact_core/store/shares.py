"""Runs that somebody shares on purpose: a copy with its documents, for whoever has the link, to look at and nothing else.

A share is two files in FACTSCOPE_HOME/shared under a name nobody can guess; whose it is stands there only as a hash. Taking it back
deletes both.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import secrets
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..answers import reopened
from ..errors import FactScopeError
from ..result import Result
from ..study import Run, arrays_of
from .corpora import BROKEN, arrays_of_corpus, corpus_of
from .files import put

GONE = "There is no such shared run; its owner may have taken it back."


@dataclass(frozen=True)
class Share:
    token: str
    run: Run
    names: dict[str, str]  # that the person gave to concepts, by number from 0
    created: float


def share(folder: Path, result: Result, run: Run, owner: str, names: dict[int, str] | None = None) -> str:
    """Share a run; the token that opens it."""
    token = secrets.token_urlsafe(24)
    arrays = {f"corpus {name}": values for name, values in arrays_of_corpus(result.corpus).items()}
    arrays |= {f"result {name}": values for name, values in arrays_of(result).items()}
    put(folder / "shared" / f"{token}.npz", lambda file: np.savez_compressed(file, **arrays))  # type: ignore[arg-type]
    said = {"run": asdict(run), "owner": _hash(owner), "names": {str(c): n for c, n in (names or {}).items()}, "created": time.time()}
    put(folder / "shared" / f"{token}.json", lambda file: file.write(json.dumps(said).encode()))
    return token


def shares(folder: Path, owner: str) -> list[Share]:
    """What a person shares, newest first."""
    mine = []
    for file in (folder / "shared").glob("*.json"):
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            said = json.loads(file.read_bytes())
            if said["owner"] == _hash(owner):
                mine.append(_share(file.stem, said))
    return sorted(mine, key=lambda s: -s.created)


def opened(folder: Path, token: str) -> tuple[Result, Share]:
    """A shared run, for anybody who has its token."""
    if not re.fullmatch(r"[\w-]{32}", token):
        raise FactScopeError(GONE)
    try:
        it = _share(token, json.loads((folder / "shared" / f"{token}.json").read_bytes()))
        with np.load(folder / "shared" / f"{token}.npz", allow_pickle=False) as kept:
            arrays = dict(kept)
        corpus = corpus_of({n.removeprefix("corpus "): a for n, a in arrays.items() if n.startswith("corpus ")})
        found = {n.removeprefix("result "): a for n, a in arrays.items() if n.startswith("result ")}
        return reopened(it.run, corpus, found), it
    except (*BROKEN, TypeError):
        raise FactScopeError(GONE) from None


def take_back(folder: Path, token: str, owner: str) -> None:
    """End a share; only its owner can."""
    if any(it.token == token for it in shares(folder, owner)):
        for suffix in (".json", ".npz"):
            (folder / "shared" / f"{token}{suffix}").unlink(missing_ok=True)


def _share(token: str, said: dict[str, Any]) -> Share:
    return Share(token, Run(**said["run"]), said["names"], said["created"])


def _hash(owner: str) -> str:
    return hashlib.sha256(owner.encode()).hexdigest()
