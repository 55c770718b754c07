"""Runs on disk: found again, reopened, removed when they are too many, and never fatal when damaged."""

from __future__ import annotations

import errno
import json
import sqlite3
import zipfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fact_core as fc
from fact_core.corpus.text import from_texts
from fact_core.store import Claim, Store, read_corpus, save_corpus
from fact_core.store import store as module
from fact_core.store.files import put
from fact_core.study import Cell, Method, Run, Study, describe, run_cell
from tests.helpers import small_corpus

CORPUS = small_corpus(n=30, k=4)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "home")


def cell(seed: int = 0, method: str = "LCCF-NCW", **options: Any) -> Cell:
    made = Study("x", (Method(method, {"max_iter": 8, "restarts": 2, **options}),), draws=(3,), seeds=(seed,)).cells()
    return made[0]


def kept(store: Store, seed: int = 0, owner: str | None = "", **options: Any) -> Run:
    found = run_cell(cell(seed, **options), CORPUS)
    assert found is not None
    store.keep(*found, owner=owner)
    return found[0]


def same(a: fc.Result, b: fc.Result) -> None:
    np.testing.assert_array_equal(a.labels, b.labels)
    np.testing.assert_array_equal(a.objective, b.objective)
    assert list(a.terms) == list(b.terms)
    assert a.scores == b.scores
    assert a.options == b.options
    assert a.algorithm == b.algorithm
    assert a.stopped == b.stopped
    np.testing.assert_array_equal(a.embedding, b.embedding)
    assert a.concepts(3) == b.concepts(3)


@pytest.mark.parametrize("method", ["LCCF-NCW", "gnmf", "spectral", "kmeans", "pspt", "RCF"])
def test_a_run_is_found_again_and_reopened(store: Store, method: str) -> None:
    run = kept(store, method=method)
    again = Store(store.folder)
    found = again.get([run.address, "nothing"])
    assert list(found) == [run.address]
    assert found[run.address].run == run
    direct = fc.fit(CORPUS.select(random=3, seed=0), method, max_iter=8, restarts=2, seed=0)
    for corpus in (CORPUS, direct.corpus):
        same(again.reopen(run.address, corpus), direct)
    again._file(run.address).unlink()
    same(again.reopen(run.address, CORPUS), direct)  # computed again, and kept
    assert again.arrays(run.address) is not None


def test_reopening_needs_the_right_corpus(store: Store) -> None:
    run = kept(store)
    with pytest.raises(fc.FactScopeError, match="upload it again"):
        store.reopen(run.address)
    with pytest.raises(fc.FactScopeError, match="not the corpus of this run"):
        store.reopen(run.address, small_corpus(seed=5))
    with pytest.raises(fc.FactScopeError, match="no longer in the store"):
        store.reopen("nothing", CORPUS)


def test_a_result_of_a_page_is_kept_and_reopened_by_name(store: Store) -> None:
    whole = fc.load_corpus("gaussians")
    options = {"lam": 3, "max_iter": 5, "restarts": 1, "seed": 2}
    result = fc.fit(whole, "lccf", **options)  # type: ignore[arg-type]
    run = describe(result, "lccf", options, source={"corpus": "gaussians", "reading": {}})
    store.keep(run)
    same(store.reopen(run.address), result)


def test_find_name_delete_export(store: Store, tmp_path: Path) -> None:
    first, second = kept(store, 0), kept(store, 1, method="nmf")
    hidden = kept(store, 2, owner="somebody")
    cell = kept(store, 3, owner=None)
    assert [k.run.address for k in store.find()] == [cell.address, hidden.address, second.address, first.address]
    assert [k.run.address for k in store.find(owner="")] == [second.address, first.address]
    assert [k.run.address for k in store.find(owner="somebody")] == [hidden.address]
    store.delete([cell.address])
    store.name(first.address, " 100 % sure_thing ")
    assert [k.name for k in store.find("100 % sure_")] == ["100 % sure_thing"]
    assert store.find("%nmf%") == []
    assert [k.run.method for k in store.find("nmf")] == ["nmf"]
    store.export([first.address, second.address], tmp_path / "out.zip")
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        assert set(archive.namelist()) == {"runs.json", f"{first.address}.npz", f"{second.address}.npz"}
        assert json.loads(archive.read("runs.json"))[0]["run"]["address"] in (first.address, second.address)
    store.delete([first.address])
    assert store.get([first.address]) == {}
    assert not store._file(first.address).exists()


def test_a_run_stays_while_it_is_in_somebody_elses_history(store: Store) -> None:
    run = kept(store, owner="a")
    store.remember(run.address, "b")
    store.name(run.address, "ours", "a")
    assert [k.name for k in store.find(owner="b")] == [""]  # names are one's own
    assert [store.get([run.address], who)[run.address].name for who in ("a", "b", "")] == ["ours", "", ""]
    store.delete([run.address], "a")
    assert store.find(owner="a") == []
    assert [k.run.address for k in store.find(owner="b")] == [run.address]
    store.delete([run.address], "b")
    assert store.get([run.address]) == {}


def test_least_recently_used_arrays_go_first_then_runs_and_named_ones_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FRESH", 0.0)
    store = Store(tmp_path)
    runs = [kept(store, seed) for seed in range(5)]
    one = store.get([runs[0].address])[runs[0].address].size
    store.name(runs[1].address, "mine")
    store.get([runs[2].address])  # used
    small = Store(tmp_path, limit=4.2 * one)
    small.keep(runs[4])
    left = small.get(r.address for r in runs)
    assert [left[r.address].arrays for r in runs] == [False, True, True, False, True]
    assert sum(k.size for k in left.values()) <= small.limit
    tiny = Store(tmp_path, limit=one // 2)
    tiny.keep(runs[4])
    assert all(not k.arrays for k in tiny.get(r.address for r in runs).values())
    nothing = Store(tmp_path, limit=1)
    nothing.keep(runs[4])
    assert len(nothing.find()) == 0


def test_claims(store: Store) -> None:
    living = {"a", "b"}

    def claim(owner: str, what: str = "x") -> Claim:
        return store.claim(what, owner, living.__contains__)

    assert claim("a") is Claim.MINE
    assert claim("a") is Claim.MINE
    assert Store(store.folder).claim("x", "b", living.__contains__) is Claim.TAKEN
    living.remove("a")
    assert claim("b") is Claim.MINE
    store.release("b")
    living.add("a")
    assert claim("a") is Claim.MINE
    run = kept(store)
    assert claim("b", run.address) is Claim.DONE


def test_damaged_entries_and_files_are_set_aside(store: Store) -> None:
    run, other, third = kept(store, 0), kept(store, 1), kept(store, 2)
    with sqlite3.connect(store.folder / "runs.sqlite") as db:
        db.execute("UPDATE runs SET body = '{' WHERE address = ?", (other.address,))
        db.execute("UPDATE runs SET body = (SELECT body FROM runs WHERE address = ?) WHERE address = ?", (run.address, third.address))
    db.close()
    store._file(run.address).write_bytes(b"PK nonsense")
    assert list(store.get([run.address, other.address, third.address])) == [run.address]  # the third says it is another run
    assert store.arrays(run.address) is None
    assert not store.get([run.address])[run.address].arrays
    said = store.damaged()
    assert all(any(wrong.address in s for s in said) for wrong in (other, third))
    assert any(run.address in s and ".damaged" in s for s in said)
    assert len(store.reopen(run.address, CORPUS).labels) == run.documents


def test_no_pickle_is_ever_read(store: Store) -> None:
    run = kept(store)
    np.savez(store._file(run.address), labels=np.array([{}], dtype=object))
    assert store.arrays(run.address) is None


@pytest.mark.parametrize("content", [b"this is no database" * 100, b"SQLite format 3\0" + b"\1" * 5000])
def test_a_damaged_database_is_set_aside_whole(store: Store, content: bytes) -> None:
    kept(store)
    store.close()
    for part in store.folder.glob("runs.sqlite*"):
        part.unlink()
    (store.folder / "runs.sqlite").write_bytes(content)
    again = Store(store.folder)
    assert again.find() == []
    assert any("runs.sqlite" in s for s in again.damaged())
    kept(again)
    assert len(again.find()) == 1


def test_a_database_with_a_damaged_page_is_set_aside_at_the_start_and_on_the_way(store: Store) -> None:
    for seed in range(8):
        kept(store, seed)
    store._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # type: ignore[union-attr]
    file = store.folder / "runs.sqlite"
    whole = file.read_bytes()
    size = int.from_bytes(whole[16:18], "big")
    damaged = whole[:size] + b"\xff" * (len(whole) - size)  # its first page is sound
    file.write_bytes(damaged)
    store._connection.execute("PRAGMA shrink_memory")  # type: ignore[union-attr]
    with pytest.raises(fc.FactScopeError, match="was found damaged and has been set aside; try again"):
        store.find()
    kept(store)
    assert len(store.find()) == 1
    store.close()
    file.write_bytes(damaged)
    again = Store(store.folder)
    assert again.find() == []
    assert sum("runs.sqlite." in s for s in again.damaged()) >= 2


def test_a_database_that_another_is_opening_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused: list[str] = []

    class Busy(sqlite3.Connection):
        def execute(self, sql: str, *arguments: object) -> sqlite3.Cursor:  # type: ignore[override]
            if "journal_mode" in sql and len(refused) < 3:
                refused.append(sql)
                raise sqlite3.OperationalError("database is locked")
            return super().execute(sql, *arguments)

    monkeypatch.setattr(module.sqlite3, "connect", partial(sqlite3.connect, factory=Busy))
    assert Store(tmp_path).find() == []
    assert len(refused) == 3


def test_a_folder_that_cannot_be_written_to_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(fc.FactScopeError, match="name another folder in FACTSCOPE_HOME"):
        Store(tmp_path / "file" / "home").find()
    store = Store(tmp_path / "home")
    run = kept(store)
    store.close()
    (tmp_path / "home" / "runs.sqlite").rename(tmp_path / "moved")
    (tmp_path / "home" / "runs.sqlite").mkdir()
    with pytest.raises(fc.FactScopeError, match="Nothing can be kept in"):
        store.keep(run)


def test_a_full_disk_is_a_sentence(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    kept(store)
    with store._db() as db:
        pages = db.execute("PRAGMA page_count").fetchone()[0]
    store._connection.execute(f"PRAGMA max_page_count = {pages}")  # type: ignore[union-attr]
    large = replace(next(iter(store.find())).run, address="0" * 100_000)
    with pytest.raises(fc.FactScopeError, match="the disk is full"):
        store.keep(large)
    store.close()

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module.np, "savez_compressed", full)
    with pytest.raises(fc.FactScopeError, match="the disk is full"):
        kept(store, 1)
    assert not list(store.folder.rglob("*.part"))
    monkeypatch.setenv("FACTSCOPE_STORE", "plenty")
    with pytest.raises(fc.FactScopeError, match="FACTSCOPE_STORE must be a size"):
        Store(store.folder)


def test_a_file_that_could_not_be_written_leaves_the_one_before(tmp_path: Path) -> None:
    def half(file: Any) -> None:
        file.write(b"hal")
        raise OSError(errno.ENOSPC, "No space left on device")

    put(tmp_path / "a", lambda file: file.write(b"whole"))
    with pytest.raises(fc.FactScopeError, match="the disk is full"):
        put(tmp_path / "a", half)
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("a", b"whole")]


def test_a_corpus_travels_whole(tmp_path: Path) -> None:
    texts = from_texts(["ship sea wave", "sea \ud800 sail", "bread oven flour", "oven yeast"], ["a", "a", "b", "b"], name="T")
    for i, corpus in enumerate([texts, CORPUS, small_corpus(sparse=True), fc.load_corpus("digits"), fc.from_matrix(CORPUS.matrix)]):
        save_corpus(corpus, tmp_path / f"{i}.npz")
        again = read_corpus(tmp_path / f"{i}.npz")
        assert again.fingerprint == corpus.fingerprint
        assert (list(again.documents), list(again.titles), again.image_shape, again.dropped) == (
            list(corpus.documents), list(corpus.titles), corpus.image_shape, corpus.dropped)  # fmt: skip
        np.testing.assert_array_equal(np.asarray(again.matrix.sum(axis=0)), np.asarray(corpus.matrix.sum(axis=0)))
    (tmp_path / "bad.npz").write_bytes(b"PK")
    for bad in ("bad.npz", "missing.npz"):
        with pytest.raises(fc.FactScopeError, match="start the job again"):
            read_corpus(tmp_path / bad)
