"""Bytes → text, whatever encoding they are in, and out of gzip without letting a small file fill the memory."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib

from ..errors import FactScopeError
from ..limits import limit, size

_MAGIC = {
    b"PK\x03\x04": "a ZIP archive or office document",
    b"PK\x05\x06": "an empty ZIP archive",
    b"%PDF": "a PDF document",
    b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
    b"GIF8": "an image",
    b"\x89HDF": "an HDF5 file",
    b"MATLAB 5.0": "a MATLAB file",
    b"\xd0\xcf\x11\xe0": "an office document",
    b"\x7fELF": "a program",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a RAR archive",
    b"\x93NUMPY": "a NumPy array",
}
_SIGNS = frozenset("€‚„…‹›‘’“”•–—™©®«»°±§£´·\xa0")
_LATIN = {
    "cp1252": frozenset("àáâãäåæçèéêëìíîïñòóôõöøùúûüÿœßÀÁÂÄÅÆÇÈÉÊÎÑÓÔÖØÙÚÜŒ¿¡½²³"),
    "cp1250": (_central := frozenset("áčďéěíňóřšťúůýžäöüßąćęłńśźżőűÁČĎÉĚÍŇÓŘŠŤÚŮÝŽÄÖÜĄĆĘŁŃŚŹŻŐŰ")),
    "iso8859-2": _central,
    "cp1254": frozenset("âçğıîöşûüÂÇĞİÎÖŞÛÜ"),
}


def gunzip(name: str, data: bytes) -> bytes:
    most = int(limit("unpacked"))
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
            plain = packed.read(most + 1)
    except (OSError, EOFError, zlib.error):
        raise FactScopeError(f"{name} is packed with gzip but broken or cut short; fetch or pack it again.") from None
    if len(plain) > most:
        raise too_large(name, most)
    if not plain:
        raise FactScopeError(f"{name} is empty; choose a file with documents in it.")
    return plain


def too_large(name: str, most: float) -> FactScopeError:
    return FactScopeError(f"{name} unpacks to more than {size(most)}, so it is not read.")


def decode(name: str, data: bytes) -> str:
    """Bytes → text, in the encoding they are in: by byte order mark, as UTF-8 or UTF-16, or else as charset-normalizer guesses."""
    for magic, what in _MAGIC.items():
        if data.startswith(magic):
            raise FactScopeError(f"{name} is not text but {what}; give it its own suffix or save it as text.")
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF32_LE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    start = data[:4096]
    if start.count(0) > len(start) / 20:
        text = _without_mark(data)
    else:
        plain = data.replace(b"\0", b"")  # a stray zero is damage, and no text has one
        text = _utf8(plain)
        if text is None:
            text = _guess(plain)
    if text is None or _controls(text[:100_000]) > 0.02:
        raise FactScopeError(f"{name} is not text in any known encoding; save it as UTF-8.")
    return text


def _without_mark(data: bytes) -> str | None:
    """UTF-16 whose byte order mark is missing: in most texts one byte of every pair is then zero far more often than the other."""
    even, odd = data[:4096:2].count(0), data[1:4096:2].count(0)
    if max(even, odd) < 4 * min(even, odd) + 1:
        return None
    try:
        return data.decode("utf-16-be" if even > odd else "utf-16-le")
    except UnicodeDecodeError:
        return None


def _utf8(data: bytes) -> str | None:
    """UTF-8, also when a few bytes were damaged or the last character cut."""
    text = data.decode("utf-8", "replace")
    damaged = text.count("\ufffd")
    if damaged and damaged * 50 > sum(map(str.isalpha, text)) - sum(map(str.isascii, filter(str.isalpha, text))):
        return None
    return text


def _guess(data: bytes) -> str | None:
    """The Latin code page whose own letters and signs nearly all high bytes are, or else the guess of charset-normalizer,
    which on its own takes French for Czech and a single accent in a page of English for anything."""
    high = data.translate(None, bytes(range(128)))
    if len(high) < 0.3 * len(data):
        shares = {
            page: sum(c in letters or c in _SIGNS for c in high.decode(page, "replace")) / len(high) for page, letters in _LATIN.items()
        }
        page = max(shares, key=shares.__getitem__)
        if shares[page] > 0.95:
            return data.decode(page, "replace")
    from charset_normalizer import from_bytes

    best = from_bytes(data[:200_000]).best()
    if best is None and len(high) > 0.01 * len(data):
        return None
    return data.decode("utf-8" if best is None else best.encoding, "replace")


def _controls(text: str) -> float:
    """The share of characters no text has."""
    return sum(c < " " and c not in "\t\n\r\f\v\x1c\x1d\x1e\x1a" for c in text) / max(len(text), 1)
