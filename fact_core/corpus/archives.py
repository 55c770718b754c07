"""A ZIP archive or a folder of files: texts or images, one file a document, the folder that holds it its class.

Nothing is ever unpacked to disk: members are read into memory one by one, under limits on their number, their size together
and how far they expand. Hidden files, archives inside the archive and what is neither text nor image are left out and counted.
An archive whose only content is one table or matrix is read as that file.
"""

from __future__ import annotations

import io
import math
import os
import stat
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath

import numpy as np

from ..errors import FactScopeError
from ..limits import limit, size
from .decoding import decode
from .formats import READERS, TEXT_OPTIONS, ReadOptions, bare_name, parsing, read_bytes, read_texts, reads, suffix
from .model import Corpus, Dropped, TermWeighting, assemble

IMAGES = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".pgm", ".ppm", ".tif", ".tiff", ".webp"}
PACKED = {".zip", ".tar", ".tgz", ".bz2", ".xz", ".7z", ".rar"}
DECODERS = ("PNG", "JPEG", "BMP", "GIF", "PPM", "TIFF", "WEBP")  # whatever a file is named, no other decoder is let near it
SMALL = 10_000_000  # bytes below which no ratio is suspicious: text reaches 20, a bomb 1000
LARGEST_SIDE = 64  # larger images are made smaller; factors of thousands of pixels show no more and take long
COMMON_SIDE = 32  # of images that came in different sizes


@dataclass(frozen=True)
class Member:
    """One file: where it stands, how large it says it is, and how to get it."""

    path: PurePosixPath
    size: int
    read: Callable[[], bytes]
    link: bool = False  # to another file, which is never followed

    @property
    def folder(self) -> str:
        return self.path.parent.name

    def data(self) -> bytes:
        try:
            return self.read()
        except Exception:  # a damaged archive fails in many ways
            raise FactScopeError(f"{self.path.name} cannot be read: it is broken, protected or packed in an unknown way.") from None


@reads(".zip")
def read_zip(name: str, data: bytes, options: ReadOptions) -> Corpus:
    """A ZIP archive, read in memory."""
    with parsing(name, "a ZIP archive"):
        archive = zipfile.ZipFile(io.BytesIO(data))
        infos = [info for info in archive.infolist() if not info.is_dir()]
    with archive:
        if any(info.flag_bits & 1 for info in infos):
            raise FactScopeError(f"{name} is protected by a password; pack it again without one.")
        unpacked = sum(info.file_size for info in infos)
        if unpacked > SMALL and unpacked > limit("ratio") * len(data):
            raise FactScopeError(f"{name} unpacks to more than {limit('ratio'):.0f} times its size, so it is not read.")
        members = [_member(archive, info) for info in infos]
        return read_members(name, members, options)


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Member:
    path, link = PurePosixPath(info.filename.replace("\\", "/")), stat.S_ISLNK(info.external_attr >> 16)
    return Member(path, info.file_size, partial(archive.read, info), link)


def read_folder(folder: Path, options: ReadOptions) -> Corpus:
    """A folder, by the same rules as a ZIP archive."""
    members = []
    for where, folders, files in os.walk(folder):
        folders.sort()
        for path in (Path(where, file) for file in sorted(files)):
            if path.is_file():
                inside = path.resolve().is_relative_to(folder.resolve())
                members.append(Member(PurePosixPath(path.relative_to(folder).as_posix()), path.stat().st_size, path.read_bytes, not inside))
    return read_members(folder.resolve().name, members, options)


def read_members(name: str, members: Sequence[Member], options: ReadOptions) -> Corpus:
    """The corpus in these files."""
    if len(members) > limit("files"):
        raise FactScopeError(f"{name} has {len(members)} files, more than the {limit('files'):.0f} that are read.")
    if sum(member.size for member in members) > limit("unpacked"):
        raise FactScopeError(f"{name} holds more than {size(limit('unpacked'))}, so it is not read.")
    real = [m for m in members if not m.link]
    inside = [m for m in real if not m.path.is_absolute() and ".." not in m.path.parts]
    shown = [m for m in inside if not any(_hidden(part) for part in m.path.parts)]
    plain = [m for m in shown if suffix(m.path.name) not in PACKED]
    dropped = _notes({
        "a link to another file": len(members) - len(real), "a path that leads out of the archive": len(real) - len(inside),
        "hidden": len(inside) - len(shown), "an archive inside the archive": len(shown) - len(plain),
    })  # fmt: skip
    files = sorted((m for m in plain if m.size), key=lambda m: m.path.parts)
    dropped += _notes({"empty": len(plain) - len(files)})
    if not files:
        raise FactScopeError(f"{name} holds no files that can be read.")
    tables = [m for m in files if suffix(m.path.name) in READERS and suffix(m.path.name) not in (".txt", ".text")]
    if tables and 2 * len(tables) >= len(files):
        if len(tables) > 1:
            raise FactScopeError(
                f"{name} holds {len(tables)} tables or matrices, such as {tables[0].path.name} and {tables[1].path.name}; give one of them."
            )
        corpus = read_bytes(tables[0].path.name, tables[0].data(), options)
        return replace(corpus, dropped=(*corpus.dropped, *dropped, *_notes({f"beside {tables[0].path.name}": len(files) - 1})))
    images = [m for m in files if suffix(m.path.name) in IMAGES]
    if 2 * len(images) >= len(files):
        return _read_images(name, images, options, dropped + _notes({"not an image": len(files) - len(images)}))
    return _read_texts(name, files, options, dropped)


def _read_texts(name: str, files: Sequence[Member], options: ReadOptions, dropped: tuple[Dropped, ...]) -> Corpus:
    options.only(name, "a collection of text files", "weighting", *TEXT_OPTIONS)
    files, labels, notes = _classes(files)
    texts: dict[int, str] = {}
    for i, member in enumerate(files):
        try:
            texts[i] = decode(member.path.name, member.data())
        except FactScopeError:
            continue
    if not texts:
        raise FactScopeError(f"{name} holds neither texts nor images.")
    return read_texts(
        name,
        list(texts.values()),
        options,
        labels=None if labels is None else [labels[i] for i in texts],
        titles=[str(files[i].path) for i in texts],
        dropped=[*dropped, *notes, *_notes({"not text": len(files) - len(texts)})],
    )


def _read_images(name: str, files: Sequence[Member], options: ReadOptions, dropped: tuple[Dropped, ...]) -> Corpus:
    """Grey pixels; images of one size keep it up to a limit, others are brought to a common one."""
    options.only(name, "a collection of images", "weighting")
    try:
        from PIL import Image, ImageOps
    except ImportError:
        raise FactScopeError(f"{name} holds images, which need the package pillow; install it first.") from None
    files, labels, notes = _classes(files)
    pictures: dict[int, Image.Image] = {}
    too_large = 0
    for i, member in enumerate(files):
        try:
            with Image.open(io.BytesIO(member.data()), formats=DECODERS) as opened:
                if math.prod(opened.size) > limit("pixels"):  # its header says so; nothing has been decoded yet
                    too_large += 1
                    continue
                pictures[i] = ImageOps.exif_transpose(opened).convert("L")
                pictures[i].thumbnail((2 * LARGEST_SIDE, 2 * LARGEST_SIDE))  # thousands of photographs would fill the memory
        except Exception:  # its parsers meet any bytes at all, and fail in as many ways
            pictures.pop(i, None)
    if not pictures and too_large:
        raise FactScopeError(f"The images of {name} have more than the {limit('pixels') / 1e6:.0f} million pixels that are read.")
    if not pictures:
        raise FactScopeError(f"{name} holds no image that can be opened.")
    sizes = {picture.size for picture in pictures.values()}
    width, height = sizes.pop() if len(sizes) == 1 else (COMMON_SIDE, COMMON_SIDE)
    shrink = min(1.0, LARGEST_SIDE / max(width, height))
    size = max(1, round(width * shrink)), max(1, round(height * shrink))
    pixels = [np.asarray(p if p.size == size else p.resize(size, Image.Resampling.BOX)).ravel() for p in pictures.values()]
    if len(pixels) < 2:
        raise FactScopeError(f"{name} has one image; a corpus needs at least two.")
    return assemble(
        bare_name(name),
        np.array(pixels, dtype=np.float64),
        labels=None if labels is None else [labels[i] for i in pictures],
        titles=[str(files[i].path) for i in pictures],
        weighting=options.weighting or TermWeighting.NONE,
        image_shape=(size[1], size[0]),
        dropped=[
            *dropped,
            *notes,
            *_notes(
                {
                    "an image of too many pixels": too_large,
                    "cannot be opened as an image": len(files) - len(pictures) - too_large,
                }
            ),
        ],
    )


def _classes(files: Sequence[Member]) -> tuple[Sequence[Member], list[str] | None, tuple[Dropped, ...]]:
    """The files with their classes, the folder each is in; files beside the folders (a README) have none and are left out."""
    first = files[0].path.parent.parts
    depth = next(i for i in range(len(first), -1, -1) if all(m.path.parent.parts[:i] == first[:i] for m in files))
    inside = [m for m in files if m.path.parent.parts != first[:depth]]
    if len({m.folder for m in inside}) < 2:
        return files, None, ()
    return inside, [m.folder for m in inside], _notes({"beside the folders of the classes": len(files) - len(inside)})


def _hidden(part: str) -> bool:
    """What systems put beside a person's files."""
    return part in ("__MACOSX", "Thumbs.db", "desktop.ini") or (part.startswith(".") and part.strip(".") != "")


def _notes(counts: dict[str, int]) -> tuple[Dropped, ...]:
    return tuple(Dropped(count, "files", why) for why, count in counts.items() if count)
