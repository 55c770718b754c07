"""Whether everything is there and works, and what to do where it does not: `python -m fact_core doctor`."""

from __future__ import annotations

import importlib
import os
import platform
import shutil
import sys
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from . import __version__, memory
from .corpus import available_corpora
from .corpus.catalogue import data_folder
from .errors import FactScopeError
from .jobs import State, jobs
from .limits import SETTINGS, limit, public, shown_path, size
from .store import Store, home

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
NEEDED = {"numpy": "numpy", "scipy": "scipy", "scikit-learn": "sklearn", "pandas": "pandas", "plotly": "plotly", "psutil": "psutil",
          "sparse-dot-topn": "sparse_dot_topn", "pooch": "pooch", "pillow": "PIL"}  # fmt: skip
OPTIONAL = {
    "streamlit": "the application cannot start without it; install factscope[app]",
    "matplotlib": "figures cannot be written as PDF without it; install factscope[app]",
    "umap-learn": "UMAP views need it; install factscope[app]",
    "h5py": "MATLAB 7.3 files need it; install factscope[hdf5]",
    "distributed": "a Dask cluster needs it; install factscope[dask]",
}
LITTLE = 500e6  # bytes of disk below which a study may not fit


@dataclass(frozen=True)
class Check:
    """One thing looked at. What is not `ok` has to be seen to, unless it is only `optional`."""

    name: str
    ok: bool
    said: str
    do: str = ""
    optional: bool = False


def examine(url: str | None = None) -> Iterator[Check]:
    """Every check, as it is done."""
    for check in (installation, extras, settings, data, store, space, studies, workers, chrome, cluster):
        yield _done(check)
    if url:
        yield _done(lambda: server(url))


def health() -> list[Check]:
    """Those that say whether a running server can do its work; they take milliseconds."""
    return [_done(check) for check in (settings, writable, space, room)]


def _done(check: Callable[[], Check]) -> Check:
    try:
        return check()
    except FactScopeError as error:
        return Check(check.__name__, False, str(error), "Change what the sentence names.")
    except Exception as error:  # a broken installation breaks in any way
        return Check(getattr(check, "__name__", "check"), False, f"{type(error).__name__}: {error}", "Install FactScope again.")


def installation() -> Check:
    for package, module in NEEDED.items():
        try:
            importlib.import_module(module)
        except Exception as error:
            return Check("installation", False, f"{package} cannot be imported ({error})", "Run “make setup”, or install factscope again.")
    where = shown_path(Path(__file__).resolve().parent)
    return Check("installation", True, f"FactScope {__version__}, Python {platform.python_version()}, in {where}")


def extras() -> Check:
    missing = []
    for package, why in OPTIONAL.items():
        try:
            version(package)
        except PackageNotFoundError:
            missing.append(f"{package}: {why}")
    return Check("extras", not missing, "; ".join(missing) or f"{', '.join(OPTIONAL)} are here", "Install what you need.", optional=True)


def settings() -> Check:
    said = {s.variable: os.environ[s.variable] for name, s in SETTINGS.items() if limit(name) >= 0 and os.environ.get(s.variable)}
    mode = "a public server" if public() else "a server for people you know"
    return Check("settings", True, f"{mode}; {', '.join(f'{n}={v}' for n, v in said.items()) or 'the usual limits'}")


def data() -> Check:
    folder = data_folder()
    here = sum(c.here for c in available_corpora())
    if folder is None:
        return Check("data folder", True, f"none named in FACTSCOPE_DATA; {here} corpora are here without one")
    if not folder.is_dir():
        return Check("data folder", False, f"FACTSCOPE_DATA names {shown_path(folder)}, which is no folder", "Create it or name another.")
    if not os.access(folder, os.R_OK | os.X_OK):
        return Check("data folder", False, f"{shown_path(folder)} cannot be read", "Give this user the right to read it.")
    return Check("data folder", True, f"{shown_path(folder)}, {here} corpora are here")


def writable() -> Check:
    """Whether the store takes something, really."""
    folder = home()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe-{os.getpid()}"
        probe.write_bytes(b"x" * 4096)
        probe.unlink()
    except OSError as error:
        said = f"{shown_path(folder)} cannot be written to: {(error.strerror or 'it is refused').lower()}"
        return Check("store", False, said, "Make room or give this user the right to write, or name another folder in FACTSCOPE_HOME.")
    return Check("store", True, f"{shown_path(folder)} can be written to")


def store() -> Check:
    if not (check := writable()).ok:
        return check
    kept = Store()
    damaged, runs = kept.damaged(), len(kept.find(limit=10**9))
    kept.close()
    said = f"{shown_path(home())}, {runs} runs kept"
    if damaged:
        return Check("store", False, f"{said}; set aside as damaged: {' '.join(damaged[:3])}", "Nothing is lost that cannot be "
                     "computed again; look for a failing disk, then delete the files that end in .damaged.", optional=True)  # fmt: skip
    return Check("store", True, said)


def space() -> Check:
    folder = next(p for p in (home(), *home().parents) if p.exists())
    free = float(shutil.disk_usage(folder).free)
    return Check("disk", free > LITTLE / 10, f"{size(free)} free", "Make room, or name another folder in FACTSCOPE_HOME.")


def room() -> Check:
    free = memory.free()
    return Check("memory", free > 200e6, f"{size(free)} free", "End something else, or let fewer workers run (FACTSCOPE_WORKERS).")


def studies() -> Check:
    found = [job.status().state for job in jobs()]
    dead = found.count(State.INTERRUPTED)
    said = f"{found.count(State.RUNNING)} at work, {dead} interrupted, {len(found)} in all"
    return Check("studies", not dead, said, "Start the server: it lets interrupted studies go on.", optional=True)


def workers() -> Check:
    """One worker, really started."""
    import numpy as np

    from .corpus.model import from_matrix
    from .workers import Crew

    crew = Crew(1)
    try:
        found = crew.fit(from_matrix(np.eye(6) + 0.1, name="check"), "nmf", {"n_clusters": 2, "max_iter": 2, "restarts": 1})
    finally:
        crew.close()
    cores, free = os.cpu_count() or 1, size(memory.free())
    return Check("workers", len(found.labels) == 6, f"a worker started and factorised; {cores} cores, {free} of memory free")


def chrome() -> Check:
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        return Check("Chrome", False, "none was found", "Only browser tests and exports through it need one: apt install chromium.", True)
    return Check("Chrome", True, shown_path(Path(path)))


def cluster() -> Check:
    address = os.environ.get("FACTSCOPE_SCHEDULER", "").strip()
    if not address:
        return Check("cluster", True, "none named in FACTSCOPE_SCHEDULER; studies run on this machine")
    from distributed import Client

    try:
        with Client(address, timeout=5, set_as_default=False) as client:
            count = len(client.scheduler_info(n_workers=-1)["workers"])
    except (OSError, TimeoutError, ValueError):
        return Check("cluster", False, f"nothing answers at {address}", "Start a scheduler there, or unset FACTSCOPE_SCHEDULER.")
    return Check("cluster", count > 0, f"{count} workers at {address}", "Start workers: dask worker " + address)


def server(url: str) -> Check:
    try:
        with urllib.request.urlopen(url.rstrip("/") + "/_stcore/health", timeout=5) as answer:
            return Check("server", answer.status == 200, f"{url} answers")
    except (OSError, ValueError) as error:
        return Check("server", False, f"{url} does not answer ({getattr(error, 'reason', error)})", "Start it with “make run”.")


def as_json(checks: list[Check]) -> dict[str, object]:
    return {"ok": all(c.ok or c.optional for c in checks), "checks": [asdict(c) for c in checks]}


def report(checks: Iterator[Check]) -> int:
    """The checks as people read them, and the exit code."""
    bad = 0
    for check in checks:
        sign = "ok" if check.ok else "note" if check.optional else "BAD"
        print(f"{sign:>4}  {check.name}: {check.said}")
        if not check.ok and check.do:
            print(f"      {check.do}")
        bad += not check.ok and not check.optional
        sys.stdout.flush()
    print("Everything that is needed works." if not bad else f"{bad} thing{'s' * (bad != 1)} to see to.")
    return 1 if bad else 0
