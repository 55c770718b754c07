"""Messages between a server and its workers: JSON and arrays, one after the other through a pipe; nothing is ever unpickled."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

Arrays = dict[str, np.ndarray]
Message = tuple[dict[str, Any], Arrays]
CORPUS = "corpus "  # how the names of the arrays begin that a corpus is made of


def send(pipe: BinaryIO, about: Mapping[str, Any], arrays: Mapping[str, np.ndarray] | None = None) -> None:
    whole = {name: np.ascontiguousarray(values) for name, values in (arrays or {}).items()}
    if any(values.dtype.hasobject for values in whole.values()):
        raise TypeError("only arrays of numbers travel")
    head = json.dumps([about, [[name, a.dtype.str, np.shape(arrays[name])] for name, a in whole.items()]]).encode()  # type: ignore[index]
    pipe.write(struct.pack(">Q", len(head)) + head)
    for values in whole.values():
        pipe.write(values.tobytes())
    pipe.flush()


def receive(pipe: BinaryIO) -> Message:
    """The next message; EOFError when the other side is gone."""
    about, listed = json.loads(_read(pipe, struct.unpack(">Q", _read(pipe, 8))[0]))
    arrays = {}
    for name, kind, shape in listed:
        dtype = np.dtype(kind)
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        arrays[name] = np.frombuffer(bytearray(_read(pipe, size)), dtype).reshape(shape)  # writable, as other arrays are
    return about, arrays


def _read(pipe: BinaryIO, size: int) -> bytes:
    pieces = []
    while size:
        piece = pipe.read(size)
        if not piece:
            raise EOFError
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
