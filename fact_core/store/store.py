"""Runs in SQLite, their arrays beside it as .npz; in FACTSCOPE_HOME, or the user's data folder.

A run is found by its address (:func:`fact_core.study.address`). Everything is JSON and arrays, no pickles. What is damaged is set aside
under a name that says so and computed again when somebody asks for it. Above the size limit (`FACTSCOPE_STORE`, 2 GB by default) arrays
not used for longest are removed first, then whole runs; those somebody has named last.

What a person ran or opened is in that person's history, under a name of their own if they gave one. A run itself belongs to nobody: the
same question has the same answer, and only who knows the documents can ask it.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..answers import reopened
from ..corpus import load_corpus
from ..corpus.model import Corpus
from ..errors import FactScopeError
from ..fit import fit
from ..limits import limit as allowed
from ..limits import shown_path
from ..result import Result
from ..study import Arrays, Run, arrays_of, selected
from .corpora import BROKEN
from .files import put, unwritable

OPENING = 30.0  # seconds in which a database that others are opening, too, is tried again
FRESH = 60.0  # seconds in which a second use of a run is not written down
_TABLES = """
CREATE TABLE IF NOT EXISTS runs (address TEXT PRIMARY KEY, body TEXT NOT NULL, corpus TEXT, method TEXT, created REAL, used REAL,
    size INTEGER, arrays INTEGER);
CREATE INDEX IF NOT EXISTS by_use ON runs (used);
CREATE TABLE IF NOT EXISTS history (owner TEXT NOT NULL, address TEXT NOT NULL, name TEXT NOT NULL DEFAULT '', created REAL,
    PRIMARY KEY (owner, address));
CREATE TABLE IF NOT EXISTS claims (address TEXT PRIMARY KEY, owner TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS damaged (address TEXT, body TEXT, found REAL);
"""


class Claim(Enum):
    MINE = auto()  # to be computed by whoever asked
    DONE = auto()  # already kept
    TAKEN = auto()  # somebody else is at it


@dataclass(frozen=True)
class Kept:
    """A run in the store."""

    run: Run
    name: str  # that a person gave it
    created: float
    used: float
    size: int  # bytes on disk
    arrays: bool  # whether its factors are still there


def home() -> Path:
    """Where everything is kept."""
    named = os.environ.get("FACTSCOPE_HOME", "").strip()
    if named:
        return Path(named).expanduser().absolute()
    import platformdirs

    return Path(platformdirs.user_data_dir("factscope", appauthor=False))


class Store:
    """Opened when first used; may be shared by threads, and the folder by processes."""

    def __init__(self, folder: Path | None = None, limit: float | None = None):
        self.folder = folder or home()
        self.limit = allowed("store") if limit is None else limit
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None

    # Runs -----------------------------------------------------------------------------------------------------------------

    def keep(self, run: Run, arrays: Arrays | None = None, *, owner: str | None = None) -> None:
        """Keep a finished run, and give up the claim on it; with an `owner` it is in that person's history, too."""
        body = json.dumps(asdict(run))
        size = len(body)
        if arrays:
            put(self._file(run.address), lambda file: np.savez_compressed(file, **arrays))  # type: ignore[arg-type]
            size += self._file(run.address).stat().st_size
        now = time.time()
        with self._db() as db:
            db.execute(
                "INSERT INTO runs (address, body, corpus, method, created, used, size, arrays) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (address) DO UPDATE "
                "SET used = excluded.used, size = max(size, excluded.size), arrays = max(arrays, excluded.arrays)",
                (run.address, body, run.corpus, run.method, now, now, size, int(bool(arrays))),
            )
            db.execute("DELETE FROM claims WHERE address = ?", (run.address,))
            if owner is not None:
                db.execute(_REMEMBER, (owner, run.address, now))
        self._make_room()

    def get(self, addresses: Iterable[str], owner: str = "") -> dict[str, Kept]:
        """Those of these runs that are here, under the names `owner` gave them."""
        wanted = list(addresses)
        with self._db() as db:
            found = []
            for first in range(0, len(wanted), 500):
                some = wanted[first : first + 500]
                marks = ",".join("?" * len(some))
                now = time.time()
                db.execute(f"UPDATE runs SET used = ? WHERE used <= ? AND address IN ({marks})", [now, now - FRESH, *some])
                found += db.execute(f"{_SELECT} AND h.owner = ? WHERE r.address IN ({marks}) GROUP BY r.address", [owner, *some]).fetchall()
        return {kept.run.address: kept for kept in self._read(found)}

    def remember(self, address: str, owner: str) -> None:
        """Put a kept run into a person's history."""
        with self._db() as db:
            db.execute(_REMEMBER, (owner, address, time.time()))

    def find(self, text: str = "", *, owner: str | None = None, limit: int = 200) -> list[Kept]:
        """Runs whose name, corpus or method has this in it, newest first: all of them, or those in the history of `owner`."""
        like = "%" + text.strip().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        mine = "" if owner is None else "AND h.owner = ?"
        with self._db() as db:
            found = db.execute(
                f"{_SELECT} WHERE (coalesce(h.name, '') || ' ' || r.corpus || ' ' || r.method) LIKE ? ESCAPE '\\' {mine} "
                "GROUP BY r.address ORDER BY max(coalesce(h.created, r.created)) DESC LIMIT ?",
                [like, *([] if owner is None else [owner]), limit],
            ).fetchall()
        return self._read(found)

    def name(self, address: str, name: str, owner: str = "") -> None:
        with self._db() as db:
            db.execute(_REMEMBER, (owner, address, time.time()))
            db.execute("UPDATE history SET name = ? WHERE owner = ? AND address = ?", (name.strip(), owner, address))

    def delete(self, addresses: Iterable[str], owner: str | None = None) -> None:
        """Forget runs; with an `owner`, only that person's, and a run stays while it is in somebody else's history."""
        for address in list(addresses):
            with self._db() as db:
                who = "owner" if owner is None else "?"
                db.execute(f"DELETE FROM history WHERE address = ? AND owner = {who}", (address, *([] if owner is None else [owner])))
                if db.execute("SELECT 1 FROM history WHERE address = ?", (address,)).fetchone():
                    continue
                db.execute("DELETE FROM runs WHERE address = ?", (address,))
            self._file(address).unlink(missing_ok=True)

    def export(self, addresses: Iterable[str], to: Path | BinaryIO, owner: str = "") -> None:
        """Runs as a .zip: what they are as JSON, and the arrays of each."""
        found = list(self.get(addresses, owner).values())

        def write(file: Any) -> None:
            with zipfile.ZipFile(file, "w") as archive:
                archive.writestr("runs.json", json.dumps([asdict(kept) for kept in found], indent=2, ensure_ascii=False))
                for kept in found:
                    if kept.arrays and self._file(kept.run.address).is_file():
                        archive.write(self._file(kept.run.address), f"{kept.run.address}.npz")

        put(to, write) if isinstance(to, Path) else write(to)

    def arrays(self, address: str, *only: str) -> Arrays | None:
        """Factors, clusters and the objective by term, or `only` some of them; None if they are not here (any more)."""
        file = self._file(address)
        if not file.exists():
            return None
        try:
            with np.load(file, allow_pickle=False) as arrays:
                return {name: arrays[name] for name in only or arrays.files}
        except BROKEN:
            self._set_aside(file)
            with self._db() as db:
                db.execute("UPDATE runs SET arrays = 0 WHERE address = ?", (address,))
            return None

    def reopen(self, address: str, corpus: Corpus | None = None) -> Result:
        """A kept run as a result again, on the corpus it was made of (before or after classes were chosen), or on the one it names.

        Where its arrays are gone it is computed again: the same settings and seed give the same numbers.
        """
        kept = self.get([address]).get(address)
        if kept is None:
            raise FactScopeError("That run is no longer in the store.")
        run = kept.run
        if corpus is None:
            if not run.source:
                raise FactScopeError(f"{run.corpus} was uploaded; upload it again to open this run.")
            corpus = load_corpus(run.source["corpus"], **run.source["reading"])
        if corpus.fingerprint == run.fingerprint:
            corpus = selected(corpus, run.select)
        if (found := self.recall(run, corpus)) is not None:
            return found
        again = fit(corpus, run.method, **run.options)
        self.keep(run, arrays_of(again))
        return again

    def recall(self, run: Run, corpus: Corpus) -> Result | None:
        """The result of a kept run on the very corpus it was made of, as far as it was kept; None where its arrays are gone."""
        if corpus.fingerprint != run.chosen:
            raise FactScopeError(f"That is not the corpus of this run: {run.corpus} has changed since, or is another one.")
        if (arrays := self.arrays(run.address)) is None:
            return None
        return reopened(run, corpus, arrays)

    # Claims ---------------------------------------------------------------------------------------------------------------

    def claim(self, address: str, owner: str, alive: Callable[[str], bool]) -> Claim:
        """Ask to compute a run; a claim holds as long as its owner lives, and until the run is kept or the claim released."""
        with self._db() as db:
            if db.execute("SELECT 1 FROM runs WHERE address = ?", (address,)).fetchone():
                return Claim.DONE
            holder = db.execute("SELECT owner FROM claims WHERE address = ?", (address,)).fetchone()
            if holder is not None and holder[0] != owner and alive(holder[0]):
                return Claim.TAKEN
            db.execute("INSERT OR REPLACE INTO claims VALUES (?, ?)", (address, owner))
        return Claim.MINE

    def release(self, owner: str) -> None:
        with self._db() as db:
            db.execute("DELETE FROM claims WHERE owner = ?", (owner,))

    # What goes wrong ------------------------------------------------------------------------------------------------------

    def damaged(self) -> list[str]:
        """What was found damaged and set aside, in sentences."""
        with self._db() as db:
            said = [f"The entry of run {address} could not be read." for (address,) in db.execute("SELECT address FROM damaged")]
        return said + [f"{p.relative_to(self.folder)} could not be read." for p in sorted(self.folder.rglob("*.damaged"))]

    def _read(self, found: Iterable[tuple[Any, ...]]) -> list[Kept]:
        read = []
        for address, body, *rest in found:
            try:
                run = Run(**json.loads(body))
                if run.address != address:
                    raise ValueError(address)
            except (ValueError, TypeError):
                with self._db() as db:
                    db.execute("INSERT INTO damaged SELECT address, body, ? FROM runs WHERE address = ?", (time.time(), address))
                    db.execute("DELETE FROM runs WHERE address = ?", (address,))
                continue
            name, created, used, size, arrays = rest
            read.append(Kept(run, name, created, used, size, bool(arrays)))
        return read

    def _set_aside(self, file: Path) -> None:
        try:
            os.replace(file, file.with_name(f"{file.name}.{time.time_ns()}.damaged"))
        except FileNotFoundError:
            pass
        except OSError as error:
            raise FactScopeError(unwritable(self.folder, error)) from None

    def _make_room(self) -> None:
        with self._db() as db:
            total = db.execute("SELECT coalesce(sum(size), 0) FROM runs").fetchone()[0]
            if total <= self.limit:
                return
            oldest = db.execute(
                "SELECT address, size, length(body), arrays FROM runs "
                "ORDER BY EXISTS (SELECT 1 FROM history h WHERE h.address = runs.address AND h.name <> ''), used"
            ).fetchall()
            for only_arrays in (True, False):
                for address, size, body, arrays in oldest:
                    if total <= 0.9 * self.limit:
                        return
                    if only_arrays and arrays:
                        self._file(address).unlink(missing_ok=True)
                        db.execute("UPDATE runs SET arrays = 0, size = ? WHERE address = ?", (body, address))
                        total -= size - body
                    elif not only_arrays:
                        for table in ("runs", "history"):
                            db.execute(f"DELETE FROM {table} WHERE address = ?", (address,))
                        total -= body

    def _file(self, address: str) -> Path:
        return self.folder / "runs" / address[:2] / f"{address}.npz"

    @contextmanager
    def _db(self) -> Iterator[sqlite3.Connection]:
        """One transaction. What the disk refuses becomes a sentence; a damaged file is set aside, and the next call has a new one."""
        file = self.folder / "runs.sqlite"
        with self._lock:
            try:
                db = self._connection or self._open(file)
                db.execute("BEGIN IMMEDIATE")
                try:
                    yield db
                except BaseException:
                    if db.in_transaction:  # a full disk has ended it already
                        db.execute("ROLLBACK")
                    raise
                db.execute("COMMIT")
            except OSError as error:
                raise FactScopeError(unwritable(self.folder, error)) from None
            except sqlite3.OperationalError as error:
                said = str(error)
                why = "the disk is full" if "full" in said else "another process does not let go of it" if "locked" in said else said
                raise FactScopeError(
                    f"Nothing can be kept in {shown_path(self.folder)}: {why}; see to that, or name another folder in FACTSCOPE_HOME."
                ) from None
            except sqlite3.DatabaseError:
                self._begin_anew(file)
                raise FactScopeError(f"{shown_path(file)} was found damaged and has been set aside; try again.") from None

    def _open(self, file: Path) -> sqlite3.Connection:
        self.folder.mkdir(parents=True, exist_ok=True)
        until, damaged = time.monotonic() + OPENING, False
        while True:
            db = self._connection = sqlite3.connect(file, timeout=30, isolation_level=None, check_same_thread=False)
            try:
                if db.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                    raise sqlite3.DatabaseError
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("PRAGMA synchronous = NORMAL")
                db.executescript(_TABLES)
                return db
            except sqlite3.OperationalError as error:
                self.close()
                # Two processes that turn a new file into WAL at once are refused without any waiting.
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
                time.sleep(0.05)
            except sqlite3.DatabaseError:
                self._begin_anew(file)
                if damaged:
                    raise
                damaged = True

    def _begin_anew(self, file: Path) -> None:
        """Set the whole database aside, with what SQLite keeps beside it."""
        self.close()
        for part in ("", "-wal", "-shm"):
            self._set_aside(file.with_name(file.name + part))

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None


_SELECT = (
    "SELECT r.address, r.body, max(coalesce(h.name, '')), max(coalesce(h.created, r.created)), r.used, r.size, r.arrays "
    "FROM runs r LEFT JOIN history h ON h.address = r.address"
)
_REMEMBER = "INSERT OR IGNORE INTO history (owner, address, created) VALUES (?, ?, ?)"
