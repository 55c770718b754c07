"""Corpora that are fetched once, when somebody asks for them.

The authors' files do not allow shipping them. Each is checked by SHA-256 and only then given its name, so a broken download leaves
nothing behind. They are kept in ``FACTSCOPE_HOME/corpora``, or in the user's data folder; a file of the same name in the folder
``FACTSCOPE_DATA`` is used before anything is fetched. Two more come through scikit-learn, which checks them likewise.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..errors import FactScopeError
from ..limits import shown_path
from .files import read_path
from .formats import TEXT_OPTIONS, ReadOptions
from .model import Corpus, TermWeighting, assemble
from .text import from_texts

_AUTHORS = "http://www.cad.zju.edu.cn/home/dengcai/Data"
_SECONDS = 30  # without an answer


@dataclass(frozen=True)
class Fetched:
    """A corpus that can be fetched."""

    name: str
    about: str
    file: str  # that is there once it was fetched
    url: str = ""
    sha256: str = ""
    fetch: Callable[[ReadOptions], Corpus] | None = None  # instead of the address


def data_folder() -> Path | None:
    """The folder of a person's own corpora, where one is named."""
    named = os.environ.get("FACTSCOPE_DATA", "").strip()
    return Path(named).expanduser() if named else None


def cache_folder() -> Path:
    """Where fetched corpora are kept."""
    home = os.environ.get("FACTSCOPE_HOME", "").strip()
    if home:
        return Path(home).expanduser() / "corpora"
    import platformdirs

    return Path(platformdirs.user_data_dir("factscope", appauthor=False)) / "corpora"


def is_here(entry: Fetched) -> bool:
    """Whether it can be read without the network."""
    other = data_folder() if entry.fetch is None else _scikit_folder()
    return any((folder / entry.file).is_file() for folder in (cache_folder(), other) if folder is not None)


def fetch(entry: Fetched, options: ReadOptions) -> Corpus:
    """The corpus, from the data folder, the cache or the network."""
    if entry.fetch is not None:
        try:
            return entry.fetch(options)
        except FactScopeError:
            raise
        except (OSError, EOFError, ValueError) as problem:
            raise _not_fetched(entry, problem, f"a table or archive named {entry.name}") from None
    return read_path(fetched_file(entry), options)


def fetched_file(entry: Fetched) -> Path:
    """The file, fetched if it is not here yet."""
    given = data_folder()
    if given is not None and (given / entry.file).is_file():
        return given / entry.file
    import pooch

    pooch.get_logger().setLevel("WARNING")
    try:
        path = pooch.retrieve(
            entry.url,
            known_hash=f"sha256:{entry.sha256}",
            fname=entry.file,
            path=cache_folder(),
            downloader=pooch.HTTPDownloader(timeout=_SECONDS, chunk_size=2**16),
        )
    except (OSError, ValueError) as problem:  # no network, an error page, no room; not the file that was expected
        raise _not_fetched(entry, problem, entry.file) from None
    return Path(path)


def _not_fetched(entry: Fetched, problem: Exception, what: str) -> FactScopeError:
    if isinstance(problem, (PermissionError, FileExistsError, NotADirectoryError)):
        why = f"{shown_path(cache_folder())} cannot be written to"
    elif isinstance(problem, OSError):
        why = "the place it comes from cannot be reached or does not have it"
    else:
        why = "what came is not the expected file"
    where = data_folder()
    folder = f"the folder {shown_path(where)}" if where is not None else "a folder and name that folder in FACTSCOPE_DATA"
    return FactScopeError(f"{entry.name} could not be fetched, as {why}; try later, or put {what} into {folder}.")


def _newsgroups(options: ReadOptions) -> Corpus:
    from sklearn.datasets import fetch_20newsgroups

    options.only("20newsgroups-text", "a collection of texts", "weighting", *TEXT_OPTIONS)
    with contextlib.redirect_stdout(io.StringIO()):  # it announces downloads where a program's own output goes
        bunch = fetch_20newsgroups(
            data_home=_scikit_home("20news-bydate_py3.pkz"), subset="all", remove=("headers", "footers", "quotes"), shuffle=False
        )
    return from_texts(
        bunch.data,
        [bunch.target_names[i] for i in bunch.target],
        options=options.text,
        weighting=options.weighting or TermWeighting.TFIDF,
        name="20newsgroups-text",
    )


def _olivetti(options: ReadOptions) -> Corpus:
    from sklearn.datasets import fetch_olivetti_faces

    options.only("olivetti", "a collection of images", "weighting")
    with contextlib.redirect_stdout(io.StringIO()):
        bunch = fetch_olivetti_faces(data_home=_scikit_home("olivetti_py3.pkz"))
    weighting = options.weighting or TermWeighting.NONE
    return assemble("olivetti", bunch.data, labels=bunch.target + 1, weighting=weighting, image_shape=(64, 64))


def _scikit_folder() -> Path:
    return Path(os.environ.get("SCIKIT_LEARN_DATA", "~/scikit_learn_data")).expanduser()


def _scikit_home(file: str) -> str:
    """scikit-learn's own folder if it has fetched the file before, else ours."""
    return str(_scikit_folder() if (_scikit_folder() / file).is_file() else cache_folder())


CATALOGUE = {
    entry.name: entry
    for entry in (
        Fetched(
            "TDT2",
            "news of 1998, the 30 largest topics (9394 documents, counts)",
            "TDT2.mat",
            f"{_AUTHORS}/TDT2/TDT2.mat",
            "a28844f8bf18076838ede0d7554c8c2476d6b6d1c7eb57558e7288e10d16fde9",
        ),
        Fetched(
            "TDT2_all",
            "news of 1998, all 96 topics (10212 documents, counts)",
            "TDT2_all.mat",
            f"{_AUTHORS}/TDT2/TDT2_all.mat",
            "fc7c23e270159fc98b2e1fc05bbcd9f9fbb62d6d4084f2cb9f170e064cc70612",
        ),
        Fetched(
            "Reuters21578",
            "Reuters news of 1987 in 65 topics (8293 documents, counts)",
            "Reuters21578.mat",
            f"{_AUTHORS}/Reuters21578/Reuters21578.mat",
            "2e442026efc64cfbcd3a531b4bc99b21eed6c5463276dbfa69d096f91dd5c245",
        ),
        Fetched(
            "20Newsgroups",
            "postings in 20 newsgroups (18846 documents, counts)",
            "20Newsgroups.mat",
            f"{_AUTHORS}/20Newsgroups/20Newsgroups.mat",
            "dc1418f7291a4c09a4ab3b6a7d31c129d6edad7643ac5ec6bdaf67180a000ae8",
        ),
        Fetched(
            "Yale_32x32",
            "faces of 15 people (165 images of 32 × 32 pixels)",
            "Yale_32x32.mat",
            f"{_AUTHORS}/Yale/Yale_32x32.mat",
            "beb3cc9f448c1ab786583c8f5429368c299843ee88263f9650ed463004ef7633",
        ),
        Fetched(
            "ORL",
            "faces of 40 people (400 images of 32 × 32 pixels)",
            "ORL.mat",
            "https://jundongl.github.io/scikit-feature/files/datasets/ORL.mat",
            "e257ec36002e48688ed7f3b9fda13f479f2fd98864fa0672d1353eda1912b189",
        ),
        Fetched("20newsgroups-text", "postings in 20 newsgroups, as text (scikit-learn)", "20news-bydate_py3.pkz", fetch=_newsgroups),
        Fetched("olivetti", "faces of 40 people (400 images of 64 × 64 pixels, scikit-learn)", "olivetti_py3.pkz", fetch=_olivetti),
    )
}
