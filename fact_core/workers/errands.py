"""What a worker is sent for: each errand with both its halves, how it is said in the server and how it is done in the worker.

An errand travels as plain data and arrays, beside its corpus, which the worker may have already; the answer comes back in the same way.
What costs a server more than a moment is an errand: a new one is one class here.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..algorithms.base import find
from ..answers import Later, parts_of, put_together, taken_apart
from ..corpus.model import Corpus
from ..errors import FactScopeError
from ..estimate import check, check_steps, check_umap
from ..fit import fit
from ..lessons import MOST_STEPS, Kind, Numbers, Scene, Track, numbers, record, scene
from ..lessons.cards import edges_of
from ..lessons.parcel import packed, unpacked
from ..lessons.scene import links_scene
from ..looks import Seen, look
from ..result import Result
from ..solve import Progress
from ..study import address
from .frames import Arrays, Message

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from ..figures.static import Style

RECORDED = 4  # runs a worker keeps with all their steps
CANCELLED: Message = {"stopped": "cancelled"}, {}
Run = tuple[str, Mapping[str, Any]]  # a method, and keywords of `record`


class Stopped(Exception):  # noqa: N818 (a person's wish, not an error)
    """An errand was stopped and left nothing."""


@dataclass(frozen=True)
class Desk:
    """What a worker has before it: what was said, and how it tells where it is."""

    corpus: Any  # None where an errand has none
    about: dict[str, Any]
    arrays: Arrays
    note: Callable[[Progress], object]
    cancelled: Callable[[], bool]

    @property
    def watch(self) -> dict[str, Any]:
        """The two as keywords of `fit`."""
        return {"progress": self.note, "cancelled": self.cancelled}


class Errand(ABC):
    corpus: Corpus | None
    long: ClassVar[bool] = False  # whether it may take as long as a person likes

    @property
    @abstractmethod
    def key(self) -> str:
        """The same for the same errand."""

    def check(self) -> None:  # noqa: B027 (most need little)
        """Raise a sentence where there is too little memory for it."""

    @abstractmethod
    def said(self) -> Message:
        """In the server: what the worker has to know beside the corpus."""

    @staticmethod
    @abstractmethod
    def done(at: Desk) -> Message:
        """In the worker."""

    @abstractmethod
    def heard(self, about: dict[str, Any], arrays: Arrays) -> Any:
        """In the server again: the answer."""


def _key(*parts: Any) -> str:
    return json.dumps(parts, sort_keys=True, default=_digest)


def _digest(value: Any) -> str:
    array = np.ascontiguousarray(value)
    return f"{array.dtype} {array.shape} {hashlib.sha256(array.tobytes()).hexdigest()}"


# Results ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Fit(Errand):
    """`fit(corpus, method, **settings)`; stopped, the result so far."""

    long = True
    corpus: Corpus = field(repr=False)
    method: str
    settings: Mapping[str, Any]

    @cached_property
    def key(self) -> str:
        try:
            return address(self.corpus.fingerprint, {}, self.method, self.settings)
        except FactScopeError:  # a question without an answer, which `fit` will refuse with the same sentence
            return _key(self.corpus.fingerprint, self.method, dict(self.settings))

    def check(self) -> None:
        check(self.corpus, self.method, self.settings)

    def said(self) -> Message:
        return {"method": self.method, "settings": dict(self.settings)}, {}

    @staticmethod
    def done(at: Desk) -> Message:
        return taken_apart(fit(at.corpus, at.about["method"], **at.about["settings"], **at.watch))

    def heard(self, about: dict[str, Any], arrays: Arrays) -> Result:
        return put_together(self.corpus, self.method, self.settings, about, arrays)


@dataclass(frozen=True, eq=False)
class OfResult(Errand):
    """Something about a result that was put together in this process."""

    result: Result = field(repr=False)

    @property
    def corpus(self) -> Corpus:  # type: ignore[override]
        return self.result.corpus

    @property
    def asked(self) -> tuple[str, dict[str, Any]]:
        problem = self.result.problem
        assert isinstance(problem, Later)
        return problem.asked

    @property
    def key(self) -> str:
        return address(self.corpus.fingerprint, {}, *self.asked)

    def said(self) -> Message:
        method, settings = self.asked
        parts, arrays = parts_of(self.result)
        return {"method": method, "settings": settings, "parts": parts}, {f"result {name}": values for name, values in arrays.items()}

    @staticmethod
    def result_at(at: Desk) -> Result:
        arrays = {name.removeprefix("result "): values for name, values in at.arrays.items() if name.startswith("result ")}
        return put_together(at.corpus, at.about["method"], at.about["settings"], at.about["parts"], arrays)


@dataclass(frozen=True, eq=False)
class Complete(OfResult):
    """A result out of the store with everything pages look at: coordinates, bases, warnings, scores without classes."""

    @staticmethod
    def done(at: Desk) -> Message:
        return taken_apart(OfResult.result_at(at))

    def heard(self, about: dict[str, Any], arrays: Arrays) -> Result:
        return put_together(self.corpus, *self.asked, about, arrays)


@dataclass(frozen=True, eq=False)
class Look(OfResult):
    """A look (:mod:`fact_core.looks`) at a result; what it is asked with are arrays and plain data."""

    what: str
    with_: Mapping[str, Any]

    @property
    def key(self) -> str:
        way = len(self.result.history), float(self.result.objective[-1])  # a run that was stopped is another one
        return _key(self.what, super().key, way, dict(self.with_))

    def check(self) -> None:
        if self.what == "umap":
            check_umap(len(self.with_["rows"]))

    def said(self) -> Message:
        about, arrays = super().said()
        given = {name: value for name, value in self.with_.items() if isinstance(value, np.ndarray)}
        plain = {name: value for name, value in self.with_.items() if name not in given}
        return about | {"what": self.what, "with": plain}, arrays | {f"with {name}": values for name, values in given.items()}

    @staticmethod
    def done(at: Desk) -> Message:
        given = {name.removeprefix("with "): values for name, values in at.arrays.items() if name.startswith("with ")}
        seen = look(OfResult.result_at(at), at.about["what"], **at.about["with"], **given)
        return {}, {str(place): values for place, values in enumerate(seen)}

    def heard(self, about: dict[str, Any], arrays: Arrays) -> Seen:
        return tuple(arrays.values())


# Lessons ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Play(Errand):
    """The scene of some runs with all their steps; that of `links` has one run, the keywords of `links_scene`."""

    corpus: Corpus = field(repr=False)
    runs: Sequence[Run]
    kind: Kind

    @property
    def key(self) -> str:
        return _key("scene", self.corpus.fingerprint, [[method, dict(settings)] for method, settings in self.runs], self.kind.value)

    def check(self) -> None:
        for method, settings in self.runs:
            check(self.corpus, method, {**settings, "restarts": 1})
        usual = len(self.corpus.label_names) or 1
        k = max(settings.get("n_clusters") or usual for _, settings in self.runs)
        steps = max(settings.get("steps", MOST_STEPS) for _, settings in self.runs)
        check_steps(self.corpus, k, steps, len(self.runs))

    def said(self) -> Message:
        return {"runs": [[method, dict(settings)] for method, settings in self.runs], "kind": self.kind.value}, {}

    @staticmethod
    def done(at: Desk) -> Message:
        runs, kind = at.about["runs"], Kind(at.about["kind"])
        if kind is Kind.LINKS:
            made = links_scene(at.corpus, **runs[0][1], **at.watch)
        else:
            made = scene([_recorded(at, *run) for run in runs], kind)
        return CANCELLED if at.cancelled() else packed(made)

    def heard(self, about: dict[str, Any], arrays: Arrays) -> Scene:
        return _unless_stopped(about, arrays)


@dataclass(frozen=True, eq=False)
class Follow(Errand):
    """The numbers of one document through every step of a run; () where it has no steps."""

    corpus: Corpus = field(repr=False)
    run: Run
    row: int

    @property
    def key(self) -> str:
        return _key("numbers", self.corpus.fingerprint, self.run[0], dict(self.run[1]), self.row)

    def said(self) -> Message:
        return {"run": [self.run[0], dict(self.run[1])], "row": self.row}, {}

    @staticmethod
    def done(at: Desk) -> Message:
        found = numbers(_recorded(at, *at.about["run"]), at.about["row"])
        return CANCELLED if at.cancelled() else packed(found)

    def heard(self, about: dict[str, Any], arrays: Arrays) -> Numbers | tuple[()]:
        return _unless_stopped(about, arrays) or ()


@dataclass(frozen=True, eq=False)
class Edges(Errand):
    """The number of entries of a method's graph."""

    corpus: Corpus = field(repr=False)
    method: str

    @property
    def key(self) -> str:
        return _key("edges", self.corpus.fingerprint, self.method)

    def check(self) -> None:
        check(self.corpus, self.method, {})

    def said(self) -> Message:
        return {"method": self.method}, {}

    @staticmethod
    def done(at: Desk) -> Message:
        return {"edges": edges_of(at.corpus, find(at.about["method"]))}, {}

    def heard(self, about: dict[str, Any], arrays: Arrays) -> int:
        return about["edges"]


# Figures ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Print(Errand):
    """A figure drawn for print: a second of matplotlib for a large one, and a report has many."""

    figure: go.Figure = field(repr=False)
    suffix: str
    style: Style
    corpus: None = None

    @property
    def key(self) -> str:
        return _key("print", self.figure.to_json(), self.suffix, self.style.as_json())

    def said(self) -> Message:
        parts = {"data": [trace.to_plotly_json() for trace in self.figure.data], "layout": self.figure.layout.to_plotly_json()}
        about, arrays = packed(parts)
        return about | {"suffix": self.suffix, "style": self.style.as_json()}, arrays

    @staticmethod
    def done(at: Desk) -> Message:
        import plotly.graph_objects as go  # a worker that prints nothing does without

        from ..figures.static import Style, render

        figure = go.Figure(**unpacked(at.about, at.arrays))
        return {}, {"file": np.frombuffer(render(figure, at.about["suffix"], Style(**at.about["style"])), dtype=np.uint8)}

    def heard(self, about: dict[str, Any], arrays: Arrays) -> bytes:
        return arrays["file"].tobytes()


_tracks: OrderedDict[str, Track] = OrderedDict()


def _recorded(at: Desk, method: str, settings: dict[str, Any]) -> Track:
    """The run with all its steps, taken once: its picture and the numbers of its rows are asked for one after the other."""
    key = _key(at.about["corpus"], method, settings)
    track = _tracks.pop(key, None) or record(at.corpus, method, **settings, **at.watch)
    if not at.cancelled():
        _tracks[key] = track
        while len(_tracks) > RECORDED:
            _tracks.popitem(last=False)
    return track


def _unless_stopped(about: dict[str, Any], arrays: Arrays) -> Any:
    if about.get("stopped") == "cancelled":
        raise Stopped
    return unpacked(about, arrays)


ERRANDS: dict[str, type[Errand]] = {cls.__name__: cls for cls in (Fit, Complete, Look, Play, Follow, Edges, Print)}
