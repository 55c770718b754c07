"""Files, folders and uploads → corpus; all formats are read through here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from ..errors import FactScopeError
from ..limits import limit, size
from . import matrices, tables  # noqa: F401  (imported to register their formats)
from .archives import Member, read_folder, read_members
from .decoding import decode, gunzip
from .formats import READERS, ReadOptions, read_bytes, suffix
from .model import Corpus

READABLE = tuple(sorted(s.removeprefix(".") for s in READERS))  # suffixes, .gz not counted
MATRICES = (".mat", ".npz", ".npy", ".mtx", ".mm")
LISTS = (".txt", ".text")
_ROLES = {
    "terms": ("term", "vocab", "word", "feature"),
    "labels": ("label", "gnd", "classes", "target"),
    "titles": ("title", "name", "docs"),
}


def read_path(path: Path, options: ReadOptions) -> Corpus:
    """The corpus in a file or folder."""
    try:
        if path.is_dir():
            return read_folder(path, options)
        if not path.is_file():
            raise FactScopeError(f"There is no file {path}.")
        data = path.read_bytes()
    except OSError as problem:
        raise FactScopeError(f"{path} cannot be opened: {(problem.strerror or 'it is not readable').lower()}.") from None
    return read_bytes(path.name, data, options)


def _inside(name: str) -> str:
    """A name below nothing: a folder that was uploaded keeps the folders inside it, which are classes."""
    return "/".join(part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")) or "file"


def read_files(files: Sequence[tuple[str, bytes]], options: ReadOptions) -> Corpus:
    """Files that came together: one of any kind, a matrix with the lists of its terms or labels, or one text or image a document."""
    if not files:
        raise FactScopeError("No file was given.")
    together = sum(len(data) for _, data in files)
    if together > limit("upload"):
        raise FactScopeError(f"These files have {size(together)}, more than the {size(limit('upload'))} that are read at a time.")
    if len(files) > limit("files"):
        raise FactScopeError(f"These are {len(files)} files, more than the {limit('files'):.0f} that are read at a time.")
    files = [(_inside(name), data) for name, data in files]
    main = [(name, data) for name, data in files if suffix(name) not in LISTS]
    if len(files) == 1:
        return read_bytes(*files[0], options)
    if len(main) == 1 and suffix(main[0][0]) in MATRICES:
        beside = {}
        for name, data in files:
            if suffix(name) in LISTS:
                lines = decode(name, gunzip(name, data) if data[:2] == b"\x1f\x8b" else data).splitlines()
                while lines and not lines[-1].strip():
                    lines.pop()
                role = next((role for role, hints in _ROLES.items() if any(hint in name.lower() for hint in hints)), name)
                beside[role if role not in beside else name] = [line.strip() for line in lines]
        return read_bytes(*main[0], replace(options, beside=beside))
    members = [Member(PurePosixPath(name), len(data), lambda data=data: data) for name, data in files]  # type: ignore[misc]
    return read_members("uploaded files", members, options)
