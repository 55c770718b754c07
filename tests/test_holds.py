"""What keeps a server standing: limits, estimates, workers, logs, sharing, the doctor."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import psutil
import pytest
import scipy.sparse as sp
from corpus_files import TEXTS, image, reasons, zipped
from streamlit.runtime import Runtime, RuntimeConfig
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.session_manager import SessionInfo
from streamlit.testing.v1 import AppTest

import fact_core as fc
import serve
from fact_core import doctor, limits, log, memory
from fact_core.__main__ import main
from fact_core.algorithms import algorithms
from fact_core.answers import on, put_together, taken_apart, weight
from fact_core.corpus import load_corpus, read_upload
from fact_core.estimate import check, check_umap
from fact_core.jobs import State, jobs, start
from fact_core.store.shares import opened, share, shares, take_back
from fact_core.study import Method, Study, describe
from fact_core.tabular import documents_csv, frame_csv
from fact_core.workers import Crew, Stopped
from fact_core.workers import crew as crews
from fact_core.workers.frames import send
from tests.helpers import small_corpus, told
from ui import runs, session

ROOT = Path(__file__).parent.parent
APP = str(ROOT / "app.py")


@pytest.fixture(scope="module")
def crew():
    found = Crew(1)
    yield found
    found.close()


# Limits


def test_every_setting_is_read_in_one_place_and_documented(monkeypatch: pytest.MonkeyPatch) -> None:
    document = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
    for name, setting in limits.SETTINGS.items():
        monkeypatch.delenv(setting.variable, raising=False)
        usual = limits.limit(name)
        assert f"| `{setting.variable}` | {setting.usual or '–'} | {setting.public or '–'} |" in document
        monkeypatch.setenv("FACTSCOPE_PUBLIC", "1")
        assert not usual or limits.limit(name) <= usual
        monkeypatch.setenv(setting.variable, "7")
        assert limits.limit(name) == 7
        monkeypatch.setenv(setting.variable, "rather a lot")
        with pytest.raises(fc.FactScopeError, match=setting.variable):
            limits.limit(name)
        monkeypatch.delenv(setting.variable)
        monkeypatch.delenv("FACTSCOPE_PUBLIC")


def test_memory_is_never_more_than_is_free(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FACTSCOPE_MEMORY", "1000TB")
    assert memory.budget() <= psutil.virtual_memory().total
    monkeypatch.setattr(memory, "CONTAINER", tmp_path)
    for name, value in (("memory.max", 2e9), ("memory.current", 1.5e9), ("memory.stat", "")):
        (tmp_path / name).write_text(f"{value:.0f}\n" if value else "anon 3\ninactive_file 100000000\n")
    assert memory.free() == 6e8
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.free() == pytest.approx(psutil.virtual_memory().available, rel=0.2)


def test_a_public_server_names_no_paths_and_opens_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "secret.txt"
    file.write_text("\n".join(TEXTS))
    assert len(load_corpus(file)) == 6
    monkeypatch.setenv("FACTSCOPE_PUBLIC", "1")
    for source in (file, "/etc", "../../etc/passwd", str(tmp_path)):
        with pytest.raises(fc.FactScopeError) as refused:
            load_corpus(source)
        assert str(tmp_path) not in str(refused.value).replace(str(source), "")
    monkeypatch.setenv("FACTSCOPE_HOME", str(file))
    assert str(tmp_path) not in doctor.writable().said


def test_images_and_links_are_counted_out_before_they_cost_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACTSCOPE_PIXELS", "100")
    pictures = {f"{i}.png": image(np.random.default_rng(i).integers(0, 255, (9, 9))) for i in range(3)}
    corpus = read_upload("x.zip", zipped(pictures | {"large.png": image(np.zeros((40, 40)))}))
    assert reasons(corpus) == {"an image of too many pixels": 1}
    assert len(corpus) == 3


# Memory before the crash


@pytest.mark.parametrize(
    ("method", "settings", "sparse"),
    [
        ("nmf", {}, True), ("lccf", {}, True), ("cf", {"kernel": "poly2", "weighting": "ncw"}, True), ("rcf", {}, True),
        ("rcf", {"keep": 0}, True), ("lccf", {}, False), ("semi_lccf", {"share": 0.3}, True), ("spectral", {}, True),
    ],
)  # fmt: skip
def test_estimates_hold_and_are_not_far_off(method: str, settings: dict, sparse: bool) -> None:
    rng = np.random.default_rng(0)
    X = sp.random_array((1500, 3000), density=0.01, rng=rng, format="csr") if sparse else rng.random((1500, 300))
    labels = np.arange(1500) % 5
    settings = settings | {"n_clusters": 5, "max_iter": 2, "restarts": 3}
    fc.fit(small_corpus(), method, **{k: v for k, v in settings.items() if k not in {"n_clusters"}})  # imports are no part of a run
    corpus = fc.from_matrix(X, labels=labels)
    tracemalloc.start()
    fc.fit(corpus, method, **settings)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    estimate = sum(check(corpus, method, settings).values())
    assert peak < estimate, (peak, estimate)
    assert estimate < 12 * peak, (peak, estimate)


def test_what_does_not_fit_is_told_with_what_would(monkeypatch: pytest.MonkeyPatch, crew: Crew) -> None:
    corpus = small_corpus(n=600, m=40)
    monkeypatch.setenv("FACTSCOPE_MEMORY", "4MB")
    kinds = (("cf", {"kernel": "rbf"}, "or the linear kernel would fit"), ("lccf", {}, r"about \d+ documents would fit"))
    for method, settings, fits in kinds:
        with pytest.raises(fc.FactScopeError, match=fits) as refused:
            crew.fit(corpus, method, settings)
        assert "4 MB may be used" in str(refused.value)
    number = int(str(refused.value).split("about ")[1].split()[0])
    assert 10 < number < 600
    check(corpus.take(np.arange(number)), "lccf", {})  # as many really fit
    with pytest.raises(fc.FactScopeError, match="principal components"):
        check_umap(5000)
    assert main(["run", "--corpus", "digits", "--algorithm", "lccf"]) == 2


def test_results_are_remembered_up_to_so_many_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    result = fc.fit(small_corpus(), "nmf", n_clusters=3, max_iter=2)
    monkeypatch.setattr(runs, "ROOM", 3.5 * weight(result))
    remembered = runs.Memory()
    for key in "abcd":
        remembered.put(key, result)
        remembered.get("a")  # looked at again and again
    assert [key for key in "abcd" if remembered.get(key)] == ["a", "c", "d"]
    monkeypatch.setattr(runs, "ROOM", 1)
    remembered.put("e", result)  # even one that is too large is there for the page that asked for it
    assert [key for key in "abcde" if remembered.get(key)] == ["e"]


def test_answers_nobody_asks_for_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(runs.time, "monotonic", lambda: now[0])
    remembered = runs.Memory()
    for key in ("looked at", "left alone"):
        remembered.put(key, np.zeros(3))
    now[0] = runs.IDLE - 1
    remembered.get("looked at")
    now[0] = runs.IDLE + 1
    remembered.forget()
    assert remembered.get("looked at") is not None
    assert remembered.get("left alone") is None


def test_sessions_too_old_to_be_opened_again_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    storage = MemorySessionStorage(ttl_seconds=120)
    monkeypatch.setattr(storage._cache, "_timer", lambda: now[0])
    monkeypatch.setattr(Runtime, "_instance", None)
    Runtime(RuntimeConfig(APP, None, MemoryMediaFileStorage("/media"), MemoryUploadedFileManager("/upload"), session_storage=storage))

    def closed(name: str) -> weakref.ref[Any]:
        session: Any = type("Session", (), {"id": name})()
        storage.save(SessionInfo(client=None, session=session))
        return weakref.ref(session)

    old = closed("old")
    now[0] = 100
    young = closed("young")
    serve.forget()
    assert old() is not None
    now[0] = 130
    serve.forget()
    assert old() is None
    assert young() is not None


@pytest.mark.skipif(serve.C is None, reason="needs glibc")
def test_what_a_page_takes_at_once_goes_back_at_once() -> None:
    """A large block has a mapping of its own, also after a larger one was freed, with which glibc by itself stops doing that."""
    script = """
import ctypes, serve
C, word = ctypes.CDLL("libc.so.6"), ctypes.sizeof(ctypes.c_size_t)
C.malloc.restype, C.malloc.argtypes, C.free.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]
C.free(C.malloc(30_000_000))
head = ctypes.c_size_t.from_address(C.malloc(10_000_000) - word)
print("its own" if head.value & 2 else "on the heap")
"""
    said = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert said.stdout.split("\n")[-2] == "its own"


# Workers


@pytest.mark.parametrize("key", [*algorithms(), "LCCF-NCW", "NC-PSPt"])
def test_a_worker_finds_what_fit_finds(key: str, crew: Crew) -> None:
    corpus = small_corpus(n=40)
    settings = {"max_iter": 15, "seed": 3, **({"restarts": 2} if key != "kmeans" else {})}
    here, there = fc.fit(corpus, key, **settings), crew.fit(corpus, key, settings)
    np.testing.assert_allclose(there.objective, here.objective, rtol=1e-9)
    np.testing.assert_array_equal(there.labels, here.labels)
    np.testing.assert_allclose(there.embedding, here.embedding, atol=1e-10)
    np.testing.assert_allclose(there.basis, here.basis, atol=1e-10)
    assert (there.options, there.warnings, there.scores) == (here.options, here.warnings, here.scores)
    assert there.algorithm == here.algorithm
    np.testing.assert_array_equal(there.supervised, here.supervised)
    graph = here.problem.S
    if graph is not None:
        np.testing.assert_allclose(abs(there.problem.S - graph).max(), 0, atol=1e-12)
    np.testing.assert_allclose(there.problem.K @ np.ones((40, 1)), here.problem.K @ np.ones((40, 1)))
    np.testing.assert_allclose(there.place(corpus.matrix[:2]).embedding, here.place(corpus.matrix[:2]).embedding, rtol=1e-6, atol=1e-9)


def test_pairs_travel_and_mistakes_come_back_as_sentences(crew: Crew) -> None:
    corpus = small_corpus(n=40)
    pairs = [[0, 3, "must"], [0, 1, "cannot"]]
    assert list(crew.fit(corpus, "rcf", {"constraints": pairs, "max_iter": 5}).supervised) == [0, 1, 3]
    with pytest.raises(fc.FactScopeError, match="between 1 and the number of documents"):
        crew.fit(corpus, "cf", {"n_clusters": 99})
    with pytest.raises(RuntimeError, match="TypeError"):  # ours stay loud
        crew.fit(corpus, "cf", {"progress": "a keyword no page gives"})
    assert len(crew.fit(corpus, "cf", {"max_iter": 3}).labels) == 40


def test_a_run_is_stopped_ended_by_the_clock_and_waits_in_line(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, long = small_corpus(n=60), {"max_iter": 10**6, "restarts": 1}
    begun, stop = threading.Event(), threading.Event()
    found: list[fc.Result] = []
    steps: list[int] = []

    def note(said: dict) -> None:
        steps.append(said["at"][0])
        begun.set()

    run = threading.Thread(target=lambda: found.append(crew.fit(corpus, "lccf", long, note=note, stopped=stop.is_set)))
    run.start()
    assert begun.wait(60)
    line: list[int] = []
    with pytest.raises(Stopped):
        crew.fit(corpus, "nmf", {}, stopped=lambda: len(line) > 2, line=line.append)
    assert line[0] == 1
    stop.set()
    run.join(60)
    assert found[0].stopped == "cancelled"
    assert 0 < len(found[0].history) < 10**6
    assert steps == sorted(steps)
    monkeypatch.setenv("FACTSCOPE_TIME", "0.5")
    with pytest.raises(fc.FactScopeError, match=r"ended after .* at step \d+ of 1000000; about \d+ steps would fit"):
        crew.fit(corpus, "lccf", long)


def test_a_run_that_looks_at_no_clock_is_ended_all_the_same(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stopped process stands for one that is inside a long call and hears nothing."""
    corpus, settings = small_corpus(), {"n_clusters": 3, "max_iter": 100_000, "restarts": 1}
    held = threading.Event()

    def hold(said: dict) -> None:
        os.kill(pid, signal.SIGSTOP)
        held.set()

    pid = crew._idle[0].process.pid
    with pytest.raises(Stopped):
        crew.fit(corpus, "pspt", settings, note=hold, stopped=held.is_set)
    assert not psutil.pid_exists(pid)
    monkeypatch.setenv("FACTSCOPE_TIME", "1")
    pid = crew._idle[0].process.pid
    with pytest.raises(fc.FactScopeError, match="ended after 1 seconds, the longest a run may take here"):
        crew.fit(corpus, "pspt", settings, note=hold)
    assert not psutil.pid_exists(pid)
    monkeypatch.delenv("FACTSCOPE_TIME")
    assert len(crew.fit(corpus, "nmf", {"n_clusters": 3, "max_iter": 3}).labels) == len(corpus)


def test_first_come_first_served_and_a_worker_that_has_grown_is_replaced(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, short, line = small_corpus(), {"n_clusters": 3, "max_iter": 3, "restarts": 1}, list[int]()
    crew._lines[True].append(somebody := object())  # who came first, and has not taken the idle worker yet
    with pytest.raises(Stopped):
        crew.fit(corpus, "nmf", short, stopped=lambda: len(line) > 2, line=line.append)
    crew._lines[True].remove(somebody)
    assert line[0] == 2
    crew.fit(corpus, "nmf", short)
    pid = crew._idle[0].process.pid
    crew.fit(corpus, "nmf", short)
    assert crew._idle[0].process.pid == pid
    monkeypatch.setattr(crews, "LARGE", 1.0)
    crew.fit(corpus, "nmf", short)
    assert crew._idle[0].process.pid != pid
    assert not psutil.pid_exists(pid)


def test_no_word_of_a_document_goes_to_a_worker(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[bytes] = []
    monkeypatch.setattr(crews, "send", lambda pipe, about, arrays=None: (sent.append(str(about).encode() + b"".join(
        a.tobytes() for a in (arrays or {}).values())), send(pipe, about, arrays)))  # fmt: skip
    corpus = read_upload("mine.csv", "\n".join(["title,text", *(f"the title {i},{text}" for i, text in enumerate(TEXTS))]).encode())
    crew.fit(corpus, "nmf", {"n_clusters": 2, "max_iter": 3})
    assert b"market" in b"".join(sent)  # a term
    assert not any(words.encode() in b"".join(sent) for words in ("the title 1", *TEXTS))


def test_studies_have_the_same_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACTSCOPE_HOME", str(tmp_path))
    monkeypatch.setenv("FACTSCOPE_TIME", "0.5")
    monkeypatch.setenv("FACTSCOPE_JOBS", "1")
    study = Study("gaussians", (Method("lccf"), Method("kmeans")), options={"max_iter": 10**6, "restarts": 1})
    job = start(study, workers=1, owner="me")
    with pytest.raises(fc.FactScopeError, match="1 of your studies"):
        start(Study("gaussians", (Method("nmf"),)), owner="me")
    end = time.monotonic() + 60
    while not (at := job.status()).over and time.monotonic() < end:
        time.sleep(0.05)
    assert at.state is State.FINISHED
    assert "longest a run may take" in at.failures["lccf, seed 0"]
    assert set(job.rows()["method"]) == {"kmeans"}
    assert len(jobs("me")) == 1


def test_a_result_shared_by_two_people_shows_each_their_own_documents() -> None:
    X = small_corpus().matrix
    mine, theirs = (fc.corpus.model.assemble("x", X, weighting="none", titles=[f"{who} {i}" for i in range(24)]) for who in ("my", "your"))  # type: ignore[attr-defined]
    assert mine.fingerprint == theirs.fingerprint
    result = fc.fit(mine, "nmf", n_clusters=3, max_iter=5)
    again = on(result, theirs)
    assert again.corpus.titles[0] == "your 0"
    assert on(result, mine) is result
    np.testing.assert_array_equal(again.embedding, result.embedding)
    assert weight(result) >= sum(f.nbytes for f in result.factors.values())


def test_taken_apart_is_json_and_arrays_of_numbers() -> None:
    with pytest.raises(TypeError, match="only arrays of numbers travel"):
        send(io.BytesIO(), {}, {"a": np.array([{}], dtype=object)})
    for key, method in algorithms().items():
        corpus = small_corpus()
        result = fc.fit(corpus, key, max_iter=3, **told(method, 24, 3))
        about, arrays = taken_apart(result)
        about = json.loads(json.dumps(about))
        assert all(a.dtype.kind in "fiu" for a in arrays.values())
        again = put_together(corpus, key, told(method, 24, 3), about, arrays)
        np.testing.assert_array_equal(again.objective, result.objective)
        assert list(again.history) == list(result.history)
        assert again.history[-1] == result.history[-1]
        assert again.history[1:] == result.history[1:]
        assert weight(again) < weight(result)  # arrays instead of a dict a step


# Spreadsheets, words, logs


def test_cells_that_begin_like_formulas() -> None:
    names = ["=1+1", "+x", "-x", "@x", "\tx", "\rx", "  =cmd|x", "＝1", "fine"]
    frame = pd.DataFrame({"name": names, "value": [-1.5] * 8 + [float("nan")]})
    lines = frame_csv(frame).splitlines()
    again = pd.read_csv(io.StringIO(frame_csv(frame)))
    assert list(again["name"][:8]) == [f"'{name}" for name in frame["name"][:8]]
    assert again["name"][8] == "fine"
    assert list(again["value"][:8]) == [-1.5] * 8
    assert lines[-1] == "fine,"
    corpus = fc.corpus.model.assemble("x", small_corpus().matrix, weighting="none", titles=["=HYPERLINK(1)"] * 24, labels=["@a", "-b"] * 12)  # type: ignore[attr-defined]
    table = pd.read_csv(io.StringIO(documents_csv(fc.fit(corpus, "nmf", n_clusters=2, max_iter=2), ["=1", "+2"])))
    assert all(str(cell)[0] not in "=+-@" for cell in [*table.columns, *table["title"], *table["class"]])


def test_words_of_people_are_no_markdown() -> None:
    from ui.words import plain

    for words in ("**a**", "_a_", "[a](b)", "![a](b)", "<b>", "$x$", "~~a~~", "`a`", "a\\b", "&lt;", "# a", "- a", "1. a"):
        assert plain(words) != words
        assert plain(words).replace("\\", "").replace("\u2060", "") == words.replace("\\", "")
    for words in (":smile:", ":red[a]", ":material/home:", "https://a.b", "www.a.b", "a@b.c"):
        assert "\u2060" in plain(words)
    for words in ("scipy-docs", "3 files: not text", "A sentence, with (brackets) and 3.5 numbers."):
        assert plain(words) == words
    assert plain("a\n\n# b") == "a # b"


def test_logs_have_no_words_of_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACTSCOPE_LOG", str(tmp_path / "log"))
    log.event("upload", documents=3, name="My secret diary, page 1", method="LCCF-NCW", seconds=0.123456, list=[1, "two words"], none=None)
    try:
        raise ValueError("secret")
    except ValueError as error:
        log.failure("broke", error)
    first, second = (json.loads(line) for line in (tmp_path / "log").read_text().splitlines())
    assert (first["documents"], first["method"], first["seconds"]) == (3, "LCCF-NCW", 0.1235)
    assert first["name"] == "(23 characters)"
    assert second["error"] == "ValueError"
    assert second["places"][0].startswith("test_holds.py:")
    assert "secret" not in (tmp_path / "log").read_text()
    monkeypatch.setenv("FACTSCOPE_LOG", str(tmp_path / "no" / "such" / "folder"))
    log.event("nothing happens")


# Sharing


def test_a_share_shows_the_run_until_it_is_taken_back(tmp_path: Path) -> None:
    corpus = read_upload("mine.txt", "\n".join(TEXTS).encode())
    result = fc.fit(corpus, "nmf", n_clusters=2, max_iter=5)
    run = describe(result, "nmf", {"n_clusters": 2, "max_iter": 5})
    token = share(tmp_path, result, run, "me", {1: "animals"})
    again, it = opened(tmp_path, token)
    assert list(again.corpus.documents) == TEXTS
    np.testing.assert_array_equal(again.labels, result.labels)
    np.testing.assert_allclose(again.basis, result.basis)
    assert it.names == {"1": "animals"}
    assert "me" not in (tmp_path / "shared" / f"{token}.json").read_text().split('"owner": "')[1][:64]
    assert [s.token for s in shares(tmp_path, "me")] == [token]
    assert shares(tmp_path, "you") == []
    take_back(tmp_path, token, "you")
    assert opened(tmp_path, token)
    for suffix in (".json", ".npz"):  # a file that nobody shared
        shutil.copy(tmp_path / "shared" / f"{token}{suffix}", tmp_path / f"private{suffix}")
    with pytest.raises(fc.FactScopeError, match="no such shared run"):
        opened(tmp_path, "../private")
    assert len(set(token)) > 10  # 32 signs of 64, by chance
    other = share(tmp_path, result, run, "me")
    with np.load(tmp_path / "shared" / f"{other}.npz") as whole:
        np.savez(tmp_path / "shared" / f"{other}.npz", **dict(whole) | {"result labels": np.array([{}] * 6, dtype=object)})
    with pytest.raises(fc.FactScopeError, match="no such shared run"):  # an object is never opened
        opened(tmp_path, other)
    take_back(tmp_path, other, "me")
    take_back(tmp_path, token, "me")
    assert not list((tmp_path / "shared").iterdir())  # nor a document
    for wrong in (token, "", "../../etc/passwd", "x" * 32):
        with pytest.raises(fc.FactScopeError, match="no such shared run"):
            opened(tmp_path, wrong)


def test_a_browser_has_a_key_that_nobody_can_guess_or_choose(monkeypatch: pytest.MonkeyPatch) -> None:
    def visit(cookie: str | None) -> tuple[str, str]:
        shown: list[str] = []
        cookies = {} if cookie is None else {session.COOKIE: cookie}
        fake = SimpleNamespace(session_state={}, context=SimpleNamespace(cookies=cookies), html=lambda html, **_: shown.append(html))
        monkeypatch.setattr(session, "st", fake)
        session.leave_cookie()
        return session.owner(), "".join(shown)

    first, said = visit(None)
    assert len(first) == session.LENGTH
    assert len(set(first)) > 15
    assert first in said
    assert visit(None)[0] != first
    assert visit(first) == (first, "")  # it is known, and need not be told again
    for wrong in ("", "admin", "x" * 42, "x" * 44, f'{"x" * 30}"</script>xx', "../" * 14 + "x", " " * 43):
        key, said = visit(wrong)
        assert key != wrong
        assert len(key) == session.LENGTH
        assert said.count("script>") == 2


def test_two_browsers_share_on_purpose_only(monkeypatch: pytest.MonkeyPatch) -> None:
    import ui.runs

    monkeypatch.setattr(ui.runs, "PATIENCE", 100.0)
    words = ("iron silver", "red green")
    rows = "label,text\n" + "\n".join(f"{'ab'[i % 2]},{words[i % 2]} {'xyz'[i % 3]}y{i % 4}a" for i in range(20))

    def visitor(**parameters: str) -> AppTest:
        app = AppTest.from_file(APP, default_timeout=60)
        for key, value in parameters.items():
            app.query_params[key] = value
        return app

    mine = visitor(corpus="mine.csv (uploaded)", method="kmeans")
    mine.session_state["uploads"] = {"mine.csv (uploaded)": (("mine.csv", rows.encode()),)}
    mine.run()
    assert not mine.exception, mine.exception
    theirs = visitor(corpus="mine.csv (uploaded)", method="kmeans").run()
    assert "mine.csv (uploaded)" not in theirs.selectbox(key="corpus").options
    theirs.switch_page("pages/history.py").run()
    assert not any("mine" in str(table.value) for table in theirs.dataframe)
    assert next(t for t in mine.toggle if t.label.startswith("Whoever")).value is False
    assert not mine.code  # no link before somebody wants one
    next(t for t in mine.toggle if t.label.startswith("Whoever")).set_value(True)
    mine.run()
    token = mine.code[0].value.split("shared=")[1]
    looking = visitor(shared=token).run()
    assert not looking.exception, looking.exception
    assert any(m.label == "Accuracy" for m in looking.metric)
    assert not [b for b in looking.button if b.label == "Run"]
    next(t for t in mine.toggle if t.label.startswith("Whoever")).set_value(False)
    mine.run()
    late = visitor(shared=token).run()
    assert "no such shared run" in late.error[0].value


# The doctor


def test_the_doctor_says_what_to_do(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("FACTSCOPE_SCHEDULER", raising=False)
    monkeypatch.setenv("FACTSCOPE_HOME", str(tmp_path / "home"))
    assert main(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ok"]
    assert {"installation", "data folder", "store", "Chrome", "cluster", "workers"} <= {c["name"] for c in found["checks"]}
    assert all(check.ok for check in doctor.health())
    (tmp_path / "home" / "runs.sqlite.1.damaged").write_text("")
    assert (doctor.store().ok, "runs.sqlite.1.damaged" in doctor.store().said) == (False, True)
    monkeypatch.setenv("FACTSCOPE_TIME", "never")
    assert [(check.name, check.said) for check in doctor.health() if not check.ok] == [
        ("settings", "FACTSCOPE_TIME must be a positive number, not “never”.")
    ]
    monkeypatch.delenv("FACTSCOPE_TIME")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FACTSCOPE_HOME", str(tmp_path / "file" / "home"))
    monkeypatch.setenv("FACTSCOPE_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setenv("FACTSCOPE_SCHEDULER", "tcp://127.0.0.1:1")
    assert [check.name for check in doctor.health() if not check.ok] == ["store"]
    monkeypatch.setattr(doctor, "workers", doctor.room)
    assert main(["doctor", "--url", "http://127.0.0.1:1"]) == 1
    said = capsys.readouterr().out
    for words in ("BAD  store", "FACTSCOPE_HOME", "BAD  data folder", "BAD  cluster", "BAD  server", "make run", "4 things to see to"):
        assert words in said, said
