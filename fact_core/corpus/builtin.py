"""Corpora that are on every machine where this runs: nothing to fetch, nothing to ship.

``scipy-docs`` are the docstrings of the installed scientific packages, each public function or class a document and its module
the class. They are read from the source with :mod:`ast`, so that no package is imported for it: that is as fast as importing
scipy alone, has no side effects, and lets this library read the docstrings of an application framework it must not import.
"""

from __future__ import annotations

import ast
import gc
import importlib.util
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from .formats import TEXT_OPTIONS, ReadOptions
from .model import Corpus, Dropped, TermWeighting, assemble
from .text import from_texts

SHORTEST = 40  # words a docstring must have to say anything about its topic

# What a page shows first: six topics that a person can tell apart, and that methods tell apart to different degrees.
DEFAULT_VIEW: MappingProxyType[str, Any] = MappingProxyType(
    {
        "classes": ("scipy.signal", "scipy.ndimage", "scipy.interpolate", "scipy.linalg", "sklearn.metrics", "streamlit"),
        "at_most": 80,
    }
)

# Three topics far from each other, in the sizes of the NMF-PSPt paper's figure.
THREE_TOPICS = {"scipy.optimize": 26, "sklearn.ensemble": 15, "streamlit": 43}
INSTEAD = "sklearn.metrics"  # where a topic's package is not installed

# Two of the three lie in about the same direction from the origin: a cone of two bases holds all points and tells
# those two apart badly, while centres do not mind where the origin is (the LCF paper's figure).
GAUSSIAN_MEANS = np.array([[2.0, 2.2], [6.0, 6.5], [7.5, 2.0]])
GAUSSIAN_SD = 0.55


@dataclass(frozen=True)
class Source:
    """One class of scipy-docs: the folders or files of a package it is read from."""

    name: str
    paths: tuple[str, ...]
    methods: bool = False  # the methods of classes are documents too (commands of an application, methods of a data frame)


_SCIPY = "cluster fft integrate interpolate io linalg ndimage optimize signal sparse spatial special stats"
_SKLEARN = "cluster datasets decomposition ensemble linear_model metrics model_selection preprocessing utils"
SOURCES = (
    *(Source(f"scipy.{part}", (part,)) for part in _SCIPY.split()),
    *(Source(f"sklearn.{part}", (part,)) for part in _SKLEARN.split()),
    Source("numpy", ("_core/fromnumeric.py", "_core/numeric.py", "_core/_add_newdocs.py", "lib")),
    Source("numpy.ma", ("ma",)),
    Source("numpy.polynomial", ("polynomial",)),
    Source("matplotlib", ("axes/_axes.py", "axes/_base.py", "figure.py"), methods=True),
    Source("pandas", ("core/frame.py", "core/series.py", "core/generic.py", "core/groupby/groupby.py"), methods=True),
    Source("streamlit", ("elements", "commands"), methods=True),
)


@dataclass(frozen=True)
class Docstring:
    title: str
    topic: str
    text: str


@lru_cache(maxsize=1)
def docstrings() -> tuple[tuple[Docstring, ...], tuple[Dropped, ...]]:
    """All docstrings, by class and name, and what was left out."""
    kept: list[Docstring] = []
    seen: set[str] = set()
    short = twice = 0
    missing = []
    busy = gc.isenabled()
    gc.disable()  # a syntax tree is a million small objects without cycles; looking for cycles in it takes a quarter of the time
    try:
        for source in SOURCES:
            package, _, part = source.name.partition(".")
            root = _folder(package)
            if root is None:
                missing.append(source.name)
                continue
            found: dict[str, str] = {}
            for path in _python_files(root, source.paths):
                for title, doc in _documented(path, root / part, source):
                    found.setdefault(title, doc)
            for title in sorted(found):
                text = prose(found[title])
                if len(text.split()) < SHORTEST:
                    short += 1
                elif text in seen:
                    twice += 1
                else:
                    seen.add(text)
                    kept.append(Docstring(title, source.name, text))
    finally:
        if busy:
            gc.enable()
    notes = [Dropped(short, "docstrings", f"fewer than {SHORTEST} words"), Dropped(twice, "docstrings", "the same as another")]
    notes += [Dropped(1, "modules", f"{name} is not installed") for name in missing]
    return tuple(kept), tuple(note for note in notes if note.count)


def prose(docstring: str) -> str:
    """A docstring without its examples, references and pointers to others: they are about everything, or about other things."""
    sections = re.split(r"^(?=\S[^\n]*\n *[-=~]{3,}\s*$)", docstring, flags=re.M)
    kept = [section for section in sections if not re.match(r"(Examples?|References|See Also)\s*\n", section, flags=re.I)]
    return re.sub(r"^\.\. \w+::.*$|%\(\w+\)s|:\w+:(?=`)", " ", "".join(kept), flags=re.M).strip()


def _folder(package: str) -> Path | None:
    """Where a package is installed, without importing it."""
    spec = importlib.util.find_spec(package)
    return Path(spec.submodule_search_locations[0]) if spec is not None and spec.submodule_search_locations else None


def _python_files(root: Path, paths: tuple[str, ...]) -> Iterator[Path]:
    for path in (root / p for p in paths):
        files = [path] if path.suffix else sorted(path.rglob("*.py"))
        for file in files:
            if file.is_file() and not any(part in ("tests", "externals", "lib") for part in file.relative_to(root).parts[1:]):
                yield file


def _documented(path: Path, top: Path, source: Source) -> Iterator[tuple[str, str]]:
    """The public functions and classes of a file, by qualified name, with their docstrings."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError):
        return
    home = _homes(path, top, source.name, tree)
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            doc = ast.get_docstring(node)
            name = node.name.removesuffix("_gen")  # scipy.stats writes a distribution as norm_gen and offers norm
            if doc and (module := home(name)):
                yield f"{module}.{name}", doc
            if source.methods and isinstance(node, ast.ClassDef):
                for item in node.body:
                    if isinstance(item, ast.FunctionDef) and not item.name.startswith("_") and (doc := ast.get_docstring(item)):
                        # A mixin or base is where methods are written, not what they are called by.
                        if not node.name.endswith("Mixin"):
                            yield f"{source.name}.{node.name.strip('_').removesuffix('Base')}.{item.name}", doc
                        elif module := home(item.name):
                            yield f"{module}.{item.name}", doc
        elif isinstance(node, ast.Expr) and isinstance(call := node.value, ast.Call) and getattr(call.func, "id", "") == "add_newdoc":
            words = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            if len(words) >= 2 and (module := home(words[-2])):
                yield f"{module}.{words[-2]}", inspect.cleandoc(words[-1])


def _homes(path: Path, top: Path, topic: str, tree: ast.Module) -> Callable[[str], str]:
    """The function from a name to the module that offers it: the outermost whose ``__init__.py`` mentions it, or else a public
    file that has it in its ``__all__``; nothing for the helpers that implementation files hold too."""
    folders = [folder for folder in reversed(path.parents) if folder.is_relative_to(top)]
    listed = {
        word.value
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
        for word in ast.walk(node.value)
        if isinstance(word, ast.Constant)
    }

    def home(name: str) -> str:
        if name.startswith("_"):
            return ""
        for folder in folders:
            if name in _mentioned(folder):
                return ".".join((topic, *folder.relative_to(top).parts))
        parts = path.relative_to(top).with_suffix("").parts
        return ".".join((topic, *parts)) if name in listed and not any(part.startswith("_") for part in parts) else ""

    return home


@cache
def _mentioned(folder: Path) -> frozenset[str]:
    init = folder / "__init__.py"
    return frozenset(re.findall(r"\w+", init.read_text(encoding="utf-8"))) if init.is_file() else frozenset()


def scipy_docs(options: ReadOptions) -> Corpus:
    """The docstrings of the installed scientific packages."""
    options.only("scipy-docs", "a collection of texts", "weighting", *TEXT_OPTIONS)
    documents, dropped = docstrings()
    return from_texts(
        [d.text for d in documents],
        [d.topic for d in documents],
        titles=[d.title for d in documents],
        options=options.text,
        weighting=options.weighting or TermWeighting.TFIDF,
        dropped=dropped,
        name="scipy-docs",
    )


def three_topics(options: ReadOptions) -> Corpus:
    """Three topics of scipy-docs in the sizes of the NMF-PSPt paper's figure; weights are those of all of scipy-docs."""
    corpus = scipy_docs(options)
    rng = np.random.default_rng(0)
    rows = []
    for topic, size in THREE_TOPICS.items():
        topic = topic if topic in corpus.label_names else INSTEAD
        there = np.flatnonzero(corpus.labels == corpus.label_names.index(topic))
        rows.append(np.sort(rng.choice(there, min(size, len(there)), replace=False)))
    return replace(corpus.take(np.concatenate(rows)), name="three-topics")


def digits(options: ReadOptions) -> Corpus:
    """Handwritten digits of 8 × 8 pixels, from scikit-learn."""
    from sklearn.datasets import load_digits

    options.only("digits", "a collection of images", "weighting")
    X, y = load_digits(return_X_y=True)
    return assemble("digits", X, labels=y, weighting=options.weighting or TermWeighting.NONE, image_shape=(8, 8))


def gaussians(options: ReadOptions) -> Corpus:
    """150 points of three Gaussians in the plane, coordinates as they are."""
    options.only("gaussians", "a set of points")
    labels = np.repeat(np.arange(3), 50)
    X = GAUSSIAN_MEANS[labels] + GAUSSIAN_SD * np.random.default_rng(0).standard_normal((150, 2))
    titles = [f"point {i + 1}" for i in range(150)]
    return assemble("gaussians", X, labels=labels + 1, terms=("x", "y"), titles=titles, weighting=TermWeighting.NONE, unit_length=False)


BUILT_IN: dict[str, Callable[[ReadOptions], Corpus]] = {
    "scipy-docs": scipy_docs,
    "three-topics": three_topics,
    "digits": digits,
    "gaussians": gaussians,
}
