"""The server: app.py, and what machines ask of it. Start it with `make run`; `streamlit run app.py` does without the extras.

`/health` answers 200 while runs can be done and kept, 503 with the reasons otherwise. Workers get ready before the first visitor is there.
A mistake of ours is logged by its type and place, without a word of anybody's documents.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from streamlit.runtime import get_instance

from fact_core import log, memory
from fact_core.doctor import health

TIDY = 60  # seconds between two times memory is given back
C: ctypes.CDLL | None = None
with suppress(OSError, AttributeError):  # only glibc has these
    C = ctypes.CDLL("libc.so.6")
    C.mallopt(-8, 2)  # M_ARENA_MAX: two heaps for all threads instead of one for each, which keep what they once had
    # M_MMAP_THRESHOLD: pages' figures and answers get memory of their own, which goes back at once. Left alone, glibc raises the
    # threshold to 32 MB with the first large block it frees; they then lie on the heaps among small things that stay, and leave holes.
    C.mallopt(-3, 64 * 1024)


async def answer(request: Request) -> JSONResponse:
    checks = await run_in_threadpool(health)
    sound = all(check.ok for check in checks)
    body = {"ok": sound, "checks": {check.name: "ok" if check.ok else check.said for check in checks}}
    return JSONResponse(body, 200 if sound else 503, headers={"Cache-Control": "no-store"})


@asynccontextmanager
async def lifespan(app: st.App) -> AsyncIterator[None]:
    from ui import runs

    runs.begin()
    log.event("server.started")
    tidying = asyncio.create_task(tidy())
    yield
    tidying.cancel()
    runs.crew().close()
    log.event("server.ended")


async def tidy() -> None:
    """Give back, now and then, what closed sessions leave: many threads leave holes that are otherwise never returned to the system."""
    import pyarrow

    from ui import runs

    def everything() -> None:
        runs.forget()
        gc.collect()
        pyarrow.default_memory_pool().release_unused()
        memory.give_back()

    while True:
        await asyncio.sleep(TIDY)
        forget()
        await run_in_threadpool(everything)


def forget() -> None:
    """Let go of sessions that closed too long ago to be opened again: streamlit looks for them only when another one closes."""
    with suppress(AttributeError):  # its names for them are its own
        get_instance()._session_mgr._session_storage._cache.expire()  # type: ignore[attr-defined]


def note(error: Exception) -> None:
    log.failure("page.broke", error)


app = st.App("app.py", routes=[Route("/health", answer)], lifespan=lifespan, on_script_error=note)
