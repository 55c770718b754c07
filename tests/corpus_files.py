"""Small corpora and files that the corpus tests share."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from fact_core.corpus import Corpus
from fact_core.errors import FactScopeError

TEXTS = [
    "The cat sat on the mat and the cat purred",
    "A cat and a dog fight over the mat",
    "Stock prices fell as the market closed lower",
    "The market for stocks and bonds rose sharply",
    "Dogs bark while cats purr softly at night",
    "Bonds fell when market prices rose again",
]
LABELS = ["pets", "pets", "money", "money", "pets", "money"]
COUNTS = np.array([[2, 0, 1, 0], [1, 1, 0, 0], [0, 0, 3, 1], [0, 2, 0, 5]], float)


@contextmanager
def refused(*words: str) -> Iterator[None]:
    """Something is refused with one sentence that has these words in it, and with nothing else."""
    with pytest.raises(FactScopeError) as caught:
        yield
    message = str(caught.value)
    assert message.endswith((".", "?")), message
    # One sentence: no stop followed by the capital letter of another one, no line break, no trace of a program.
    assert not re.search(r"[.?!]\s+[A-Z]", message), message
    assert not any(trace in message for trace in ("\n", "Error", "Traceback")), message
    assert 15 < len(message) < 320, message
    for word in words:
        assert word in message, message


def zipped(files: dict[str, bytes | str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def image(pixels: np.ndarray, kind: str = "PNG") -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(pixels.astype(np.uint8)).save(buffer, kind)
    return buffer.getvalue()


def reasons(corpus: Corpus) -> dict[str, int]:
    return {note.why: note.count for note in corpus.dropped}


def counts_of(corpus: Corpus) -> np.ndarray:
    return corpus.counts.toarray() if hasattr(corpus.counts, "toarray") else corpus.counts
