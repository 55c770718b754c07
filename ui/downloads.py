"""Buttons that make a file when they are pressed."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from mimetypes import guess_type
from threading import Thread
from typing import Any

import streamlit as st
from streamlit.runtime import get_instance
from streamlit.runtime.scriptrunner import add_script_run_ctx, get_script_run_ctx


def download(label: str, made: Callable[[], str | bytes], file: str, *, place: Any = st, **look: Any) -> None:
    """A button whose file `made` gives.

    The page does not run again: the file would be forgotten with the page it belonged to, sometimes before the browser fetched it. For
    the same reason the file is held for its visitor until their page runs the next time: by itself Streamlit forgets it as soon as the
    pages of any two visitors have run.
    """
    visitor, mime = get_script_run_ctx(), guess_type(file)[0] or "application/octet-stream"

    def hold() -> bytes:
        data = made()
        data = data.encode() if isinstance(data, str) else data
        get_instance().media_file_mgr.add(data, mime, f"download {label} {file}", file, True)
        return data

    def held() -> bytes:
        """The file, made in the name of the visitor: the thread that asks for it has none."""
        task = Future[bytes]()
        thread = Thread(target=_carried_out, args=(task, hold), daemon=True)
        add_script_run_ctx(thread, visitor)
        thread.start()
        return task.result()

    place.download_button(label, held, file, mime, on_click="ignore", **look)


def _carried_out(task: Future[bytes], work: Callable[[], bytes]) -> None:
    try:
        task.set_result(work())
    except Exception as error:  # raised where the file is waited for
        task.set_exception(error)
