"""Whether a MATLAB file of version 5 to 7 is put together as it says.

scipy reads such files in compiled code that believes their tags: a damaged type or length makes it read outside its memory and
takes the whole process with it. An upload must not do that, so the tags are followed here first, and only a file in which every
element is of a known type and lies inside the one around it is given to scipy.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator

import numpy as np

from ..limits import limit

MATRIX, COMPRESSED = 14, 15
WIDTH = {1: 1, 2: 1, 3: 2, 4: 2, 5: 4, 6: 4, 7: 4, 9: 8, 12: 8, 13: 8, 16: 1, 17: 2, 18: 4}  # bytes a value, by type of element
CELL, STRUCT, OBJECT, CHAR, SPARSE, LAST_NUMERIC = 1, 2, 3, 4, 5, 15  # classes of arrays; numbers are those from 6 to 15
FUNCTION, OPAQUE = 16, 17  # what is code, or of a class only MATLAB knows
DEEPEST = 12  # cells in cells in cells


class HoldsObjectsError(ValueError):
    """The file is sound, but has objects or function handles in it."""


def check(data: bytes) -> None:
    """Raises ValueError where the file is not put together as it says, or holds more than numbers, texts, cells and structs."""
    order = {b"IM": "<", b"MI": ">"}.get(data[126:128])
    if order is None:
        raise ValueError("no version 5 file")
    left = int(limit("unpacked"))
    for kind, block in _elements(memoryview(data)[128:], order):
        if kind == COMPRESSED:
            packed = zlib.decompressobj()
            plain = memoryview(packed.decompress(block, left + 1))
            left -= len(plain)
            if left < 0:
                raise ValueError("it unpacks to more than can be read")
            for inner, content in _elements(plain, order):
                _check_element(inner, content, order)
        else:
            _check_element(kind, block, order)


def _elements(block: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    """Type and content of each element; one of up to four bytes shares a word with its tag."""
    at = 0
    while at + 8 <= len(block):
        kind, size = struct.unpack_from(order + "II", block, at)
        begin, step = at + 8, size if kind == COMPRESSED else size + -size % 8
        if kind >> 16:
            kind, size, begin, step = kind & 0xFFFF, kind >> 16, at + 4, 0
            if size > 4:
                raise ValueError("a small element that is not small")
        if begin + size > len(block):
            raise ValueError("an element longer than what holds it")
        yield kind, block[begin : begin + size]
        at += 8 + step


def _check_element(kind: int, block: memoryview, order: str, depth: int = 0) -> None:
    if kind == MATRIX:
        if len(block):  # without content it is an empty array
            _check_array(block, order, depth)
    elif kind not in WIDTH or len(block) % WIDTH[kind]:
        raise ValueError("an element of no known type")


def _points_inside(body: list[tuple[int, memoryview]], rows: int, lengths: list[int], order: str) -> bool:
    """Whether a sparse array's row numbers and column pointers stay within it: some versions of scipy follow them while they read."""
    if any(kind not in (5, 6) for kind, _ in body[:2]):
        return False
    row, start = (np.frombuffer(values, np.dtype(order + "i4")) for _, values in body[:2])
    filled = int(start[-1])
    return bool(
        start[0] == 0 and np.all(np.diff(start) >= 0) and filled <= min(lengths[0], lengths[2])
        and (filled == 0 or (row[:filled].min() >= 0 and row[:filled].max() < rows))
    )  # fmt: skip


def _flags(parts: list[tuple[int, memoryview]], order: str) -> int:
    """What an array says first: its class and whether it is complex; 0 where it says nothing."""
    return struct.unpack(order + "II", parts[0][1])[0] if parts and parts[0][0] == 6 and len(parts[0][1]) == 8 else 0


def _check_array(block: memoryview, order: str, depth: int) -> None:
    parts = list(_elements(block, order))
    if _flags(parts, order) & 0xFF in (OBJECT, FUNCTION, OPAQUE):
        raise HoldsObjectsError
    if depth > DEEPEST or len(parts) < 3 or [kind for kind, _ in parts[:2]] != [6, 5] or len(parts[0][1]) != 8:
        raise ValueError("an array without flags, shape and name")
    for kind, content in parts:
        _check_element(kind, content, order, depth + 1)
    flags = _flags(parts, order)
    shape = struct.unpack(f"{order}{len(parts[1][1]) // 4}i", parts[1][1])
    if len(shape) < 2 or min(shape) < 0:
        raise ValueError("an array of impossible shape")
    size, body = math.prod(shape), parts[3:]
    lengths = [len(values) // WIDTH[kind] for kind, values in body if kind != MATRIX]
    arrays = len(body) - len(lengths)
    family = flags & 0xFF
    if family == CELL:
        right = arrays == size == len(body)
    elif family == STRUCT:
        right = size <= max(arrays, 1) and len(lengths) == 2
    elif family == SPARSE:
        right = arrays == 0 and len(lengths) in (3, 4) and lengths[1] == shape[1] + 1 and len(set(lengths[2:])) == 1
        right = right and _points_inside(body, shape[0], lengths, order)
    elif family == CHAR:
        right = arrays == 0 and len(lengths) <= 1
    elif family <= LAST_NUMERIC:
        right = arrays == 0 and lengths in ([size], [size, size])
    else:
        right = True
    if not right:
        raise ValueError("an array whose content does not fit its shape")
