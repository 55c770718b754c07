"""The corpus in the sidebar: the same for every page, with the choices made on the corpus page."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from fact_core import FactScopeError, log
from fact_core.corpus import DEFAULT_VIEW, READABLE, Corpus, available_corpora, load_corpus, read_uploads
from fact_core.limits import limit, size

from . import links
from .words import plain, sorry

DEFAULT = "scipy-docs"
FEW_CLASSES = 10  # a corpus of more classes starts with its largest ones
FIRST_CLASSES = 6
UPLOADED = " (uploaded)"
READ = 8  # ways of reading uploads that a session keeps

Files = tuple[tuple[str, bytes], ...]


@dataclass(frozen=True)
class Origin:
    """Where the documents of a page come from, in the plain words a study, a kept run and a report use."""

    name: str  # in the list of corpora
    whole: Corpus = field(repr=False)
    reading: dict[str, Any]  # options of `load_corpus`
    select: dict[str, Any]  # keywords of `Corpus.select`; empty for all of it

    @property
    def upload(self) -> bool:
        return self.name.endswith(UPLOADED)

    @property
    def source(self) -> dict[str, Any]:
        """How `load_corpus` finds the whole again; empty for an upload."""
        return {} if self.upload else {"corpus": self.name, "reading": self.reading}


def origin_of(corpus: Corpus) -> Origin:
    """Where a corpus chosen in the sidebar comes from."""
    return st.session_state["origins"][corpus.fingerprint]


@st.cache_resource(show_spinner="Reading the corpus …", max_entries=16)
def _read(name: str, options: tuple[tuple[str, Any], ...]) -> Corpus:
    return load_corpus(name, **dict(options))


@st.cache_resource(show_spinner=False, max_entries=48)
def _selected(_corpus: Corpus, fingerprint: str, classes: tuple[str, ...], at_most: int | None) -> Corpus:
    """One object for one choice, so that graphs and kernels made for it are shared by all runs and all visitors."""
    return _corpus.select(classes, at_most=at_most)


def _chosen(name: str, whole: Corpus, classes: tuple[str, ...], at_most: int | None) -> Corpus:
    """The same for any corpus; the documents of an upload are seen by nobody else, also where the numbers are the same."""
    if not name.endswith(UPLOADED):
        return _selected(whole, whole.fingerprint, classes, at_most)
    mine: dict[Any, Corpus] = st.session_state.setdefault("chosen of uploads", {})
    if (key := (name, id(whole), classes, at_most)) not in mine:
        while len(mine) >= 8:
            del mine[next(iter(mine))]
        mine[key] = whole.select(classes, at_most=at_most)
    return mine[key]


def uploads() -> dict[str, Files]:
    """What this visitor has uploaded, by name. The uploader forgets it when the page changes; the session does not."""
    return st.session_state.setdefault("uploads", {})


def whole_corpus(name: str, **options: Any) -> Corpus:
    """A corpus by the name it has in the list, read with these options; uploads are read for their visitor only."""
    chosen = tuple(sorted((option, value) for option, value in options.items() if value is not None))
    if not name.endswith(UPLOADED):
        return _read(name, chosen)
    read: dict[Any, Corpus] = st.session_state.setdefault("read uploads", {})
    if (name, chosen) not in read:
        while len(read) >= READ:
            del read[next(iter(read))]
        read[name, chosen] = read_uploads(list(uploads()[name]), name=name.removesuffix(UPLOADED), **dict(chosen))
    return read[name, chosen]


def corpus_names() -> list[str]:
    return [*(c.name for c in available_corpora() if c.here), *uploads()]


def reading_options(name: str) -> dict[str, Any]:
    """How the corpus page says this corpus is to be read."""
    return {key: value for key, value in st.session_state.get("reading", {}).get(name, {}).items() if value is not None}


STOP_WORDS = {None: "English", "none": "keep all words"}
STEMS = {None: "as written", "porter": "Porter", "snowball": "Snowball"}
WEIGHTS = {None: "the corpus' own", "tfidf": "tf-idf, (1 + log tf) · log(n/df)", "tf": "counts", "binary": "0-1", "none": "as given"}


def choose_reading(name: str, text: bool) -> dict[str, Any]:
    """Widgets for how words become numbers; kept for the session and used on every page. Choices about words need a corpus of texts."""
    chosen: dict[str, Any] = st.session_state.setdefault("reading", {}).setdefault(name, {})
    for label, option, names in (
        ("Term weights", "weighting", WEIGHTS),
        ("Stop words", "stop_words", STOP_WORDS),
        ("Stemming", "stem", STEMS),
    ):
        values = list(names)
        chosen[option] = st.selectbox(
            label, values, index=values.index(chosen.get(option)), format_func=names.__getitem__,
            disabled=option != "weighting" and not text, key=f"read.{name}.{option}",
        )  # fmt: skip
    few, many = st.columns(2)
    chosen["min_df"] = few.number_input(
        "min_df", 1, 50, value=chosen.get("min_df"), key=f"read.{name}.min_df", disabled=not text, placeholder="default",
        help="A term must be in at least so many documents.",
    )  # fmt: skip
    chosen["max_df"] = many.number_input(
        "max_df, share", 0.05, 1.0, value=chosen.get("max_df"), step=0.05, key=f"read.{name}.max_df", disabled=not text,
        placeholder="default", help="A term may be in at most this share of the documents.",
    )  # fmt: skip
    if not text:
        st.caption("This corpus came as a matrix: its words are what they are.")
    return reading_options(name)


def effects(name: str, chosen: dict[str, Any]) -> list[dict[str, Any]]:
    """What other choices about words would make of the vocabulary."""
    others = {
        "as chosen now": chosen,
        "default reading": {},
        "all words kept": chosen | {"stop_words": "none"},
        "Porter stems": chosen | {"stem": "porter"},
        "Snowball stems": chosen | {"stem": "snowball"},
        "terms of a single document kept": chosen | {"min_df": 1},
        "terms of five documents or more": chosen | {"min_df": 5},
    }
    rows = []
    for label, options in others.items():
        try:
            read = whole_corpus(name, **options)
            rows.append({"choice": label, "terms": len(read.terms), "documents": len(read), "entries": int(read.counts.nnz)})
        except FactScopeError as error:
            rows.append({"choice": label, "note": str(error)})
    return rows


def take_upload() -> None:
    """The uploader; what it takes becomes the corpus of the session, and a sentence says why where it cannot."""
    folder = st.toggle("Upload a whole folder", key="upload folder", help="One folder a class inside it, with texts or images.")
    given = st.file_uploader(
        "Upload a corpus", type=None if folder else [*READABLE, "gz"], accept_multiple_files="directory" if folder else True,
        key=f"uploader {folder}",
        help="A table or JSON lines with a text column, one document a line, a ZIP with one folder a class (texts or images), a matrix "
        "(.mat, .npz, .mtx, with a list of terms beside it), or several text files.",
    )  # fmt: skip
    if not given:
        return
    most, together = limit("upload"), sum(file.size for file in given)
    if together > most:  # before any of it is copied
        sorry(f"These files have {size(together)}, more than the {size(most)} one person may upload here.")
        return
    files = tuple((file.name, file.getvalue()) for file in given)
    name = (files[0][0] if len(files) == 1 else f"{len(files)} files, {files[0][0]} …") + UPLOADED
    if uploads().get(name) == files:
        return
    digest = hashlib.sha256(b"".join(f"{file} {len(data)} ".encode() + data for file, data in files)).hexdigest()
    if st.session_state.get("refused upload", ("", ""))[0] == digest:
        sorry(st.session_state["refused upload"][1])
        return
    try:
        read = read_uploads(list(files))
    except FactScopeError as error:
        st.session_state["refused upload"] = digest, str(error)
        log.event("upload.refused", files=len(files), bytes=together)
        sorry(error)
        return
    log.event("upload.read", files=len(files), bytes=together, documents=len(read), terms=len(read.terms))
    _make_room(most - together)
    uploads()[name] = files
    links.put("corpus", name)


def _make_room(left: float) -> None:
    """Forget the oldest uploads of this visitor until the others take no more than this."""
    mine = uploads()
    while mine and sum(len(data) for files in mine.values() for _, data in files) > left:
        oldest = next(iter(mine))
        del mine[oldest]
        for place in ("read uploads", "chosen of uploads"):
            kept = st.session_state.get(place, {})
            for key in [key for key in kept if key[0] == oldest]:
                del kept[key]


def pick_corpus(key: str = "corpus", default: str = DEFAULT) -> tuple[str, Corpus]:
    """The select box; the name and the whole corpus. Raises `FactScopeError` where it cannot be read."""
    about = {c.name: c.about for c in available_corpora()}
    name = links.choice("Corpus", {n: n for n in corpus_names()}, default, key, help="Upload your own on the Corpus page.")
    words = about.get(name, "your own upload")
    st.caption(plain(f"{words[:1].upper()}{words[1:].rstrip('.')}."))
    return name, whole_corpus(name, **reading_options(name))


def choose_classes(name: str, whole: Corpus) -> Corpus:
    """Widgets for the choice of classes; the chosen part."""
    if whole.labels is None:
        return part(name, whole)
    view = DEFAULT_VIEW if name == DEFAULT else {}
    first = [c for c in whole.label_names if c in view.get("classes", ())] or _first_classes(whole)
    chosen = links.choices(
        "Classes", whole.label_names, first, f"{name}.classes", placeholder="all classes", help="Nothing chosen means all of them."
    )
    at_most = links.number("Documents per class, at most", 2, 10**6, view.get("at_most"), f"{name}.at_most", placeholder="all", step=10)
    return part(name, whole, tuple(c for c in whole.label_names if c in (chosen or whole.label_names)), at_most)


def part(name: str, whole: Corpus, classes: tuple[str, ...] = (), at_most: int | None = None) -> Corpus:
    """Some classes of a corpus, whose origin is then known."""
    some = bool(classes) and (classes != whole.label_names or at_most is not None)
    corpus = _chosen(name, whole, classes, at_most) if some else whole
    select: dict[str, Any] = {"classes": list(classes)} if some and classes != whole.label_names else {}
    select |= {"at_most": at_most} if some and at_most is not None else {}
    st.session_state.setdefault("origins", {})[corpus.fingerprint] = Origin(name, whole, reading_options(name), select)
    return corpus


def choose(name: str, reading: Mapping[str, Any], select: Mapping[str, Any], upload: str | None = None) -> Corpus:
    """Choose for the person, as the corpus page and the sidebar would; `upload` is the fingerprint of a corpus that was uploaded."""
    if upload is not None:
        origins: dict[str, Origin] = st.session_state.get("origins", {})
        name = next((o.name for o in origins.values() if o.upload and o.whole.fingerprint == upload), name)
    if name not in corpus_names():
        raise FactScopeError(f"{name} is not among the corpora here; upload it on the Corpus page to open this.")
    whole = whole_corpus(name, **reading)
    st.session_state.setdefault("reading", {})[name] = dict(reading)
    for key in [k for k in st.session_state if str(k).startswith(f"read.{name}.")]:
        del st.session_state[key]
    links.put("corpus", name)
    chosen, at_most = whole.select(**select).label_names, select.get("at_most")
    if whole.labels is not None:
        links.put(f"{name}.classes", list(chosen))
        links.put(f"{name}.at_most", at_most)
    return part(name, whole, chosen, at_most)


def corpus_in_sidebar(key: str = "corpus", default: str = DEFAULT) -> Corpus:
    """Let a person pick a corpus and classes; the chosen part of it. A sentence ends the script where it cannot be read."""
    with st.sidebar:
        try:
            name, whole = pick_corpus(key, default)
        except FactScopeError as error:
            sorry(error)
            st.stop()
        with st.popover("Choose classes", width="stretch", disabled=whole.labels is None):
            corpus = choose_classes(name, whole)
        classes = f" in {len(corpus.label_names)} of {len(whole.label_names)} classes" if whole.labels is not None else ""
        st.caption(f"{len(corpus):,} of {len(whole):,} documents{classes}, {len(corpus.terms):,} terms")
        return corpus


def _first_classes(corpus: Corpus) -> list[str]:
    if len(corpus.label_names) <= FEW_CLASSES:
        return list(corpus.label_names)
    largest = sorted(range(len(corpus.label_names)), key=lambda c: -corpus.class_sizes[c])[:FIRST_CLASSES]
    return [corpus.label_names[c] for c in sorted(largest)]
