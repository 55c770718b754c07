"""Lessons as files: Markdown with a few lines in front that name the corpus, the methods, the figure and the controls.

    ---
    title: Locality
    order: 3
    corpus: gaussians
    methods: nmf, cf, lcf
    figure: plane
    clusters: 3
    controls:
      lcf.lam: 0.3 from 0, 0.01, 0.1, 0.3, 1
      seed: 0 from 0 to 9
    ---
    Text in Markdown, with $TeX$.

    ## Question
    What … ?

    ## Answer
    …

A control is a parameter of one of the methods (`lam` for all that have it, `lcf.lam` for one) or one of :data:`OPTIONS`; it has a default
and a range, `from LOW to HIGH by STEP` or `from A, B, C`, or the parameter's own. The same names outside of `controls` fix a value. What is
wrong in a file is said in one sentence that names the file and the line, and the other lessons are still there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..algorithms import algorithms
from ..algorithms.starts import Start
from ..errors import FactScopeError, unknown
from ..kernel import Kernel, Weighting
from ..parameters import Param, Scale
from ..presets import resolve
from ..store import home
from .record import MOST_STEPS
from .scene import Kind

SHIPPED = Path(__file__).resolve().parent.parent.parent / "data" / "lessons"  # beside the package, as the papers' tables are
MOST_METHODS = 3
LONGEST = 200_000  # characters of a lesson: more is no lesson

# What a run can be told beside the parameters of its method.
OPTIONS: dict[str, Param] = {
    option.name: option
    for option in (
        Param("clusters", 3, "k", "number of concepts", 1, 60),
        Param("steps", MOST_STEPS, "steps", "steps of a run", 1, MOST_STEPS),
        Param("seed", 0, "seed", "the random start", 0, 2**31 - 1),
        Param("start", "random", "start", "where a run starts", choices=tuple(s.value for s in Start)),
        Param("weighting", "none", "weighting", "weighting of the documents", choices=tuple(w.value for w in Weighting)),
        Param("kernel", "linear", "kernel", "kernel", choices=tuple(k.value for k in Kernel)),
        Param("normalise", "on", "unit columns of V", "V at unit length after every step", choices=("on", "off")),
    )
}
KEYS = ("title", "order", "corpus", "classes", "at most", "methods", "figure", "controls")
REQUIRED = ("title", "corpus", "methods", "figure")


@dataclass(frozen=True)
class Control:
    """One widget of a lesson."""

    name: str
    label: str
    default: Any
    choices: tuple[Any, ...] = ()  # or else a range
    low: float = 0
    high: float = 0
    step: float = 0
    help: str = ""


@dataclass(frozen=True)
class Lesson:
    """One lesson, checked."""

    name: str  # of its file, without the ending
    title: str
    order: float
    corpus: str
    classes: tuple[str, ...]
    at_most: int | None
    methods: tuple[str, ...]
    figure: Kind
    controls: tuple[Control, ...]
    fixed: dict[str, Any]
    text: str
    question: str
    answer: str
    lines: dict[str, int] = field(default_factory=dict, compare=False)  # where each key stands

    def settings(self, method: str, chosen: dict[str, Any]) -> dict[str, Any]:
        """Keywords of `record` for one method, from what is fixed and what a person chose."""
        key = resolve(method).key
        names = {p.name for p in algorithms()[key].parameters}
        found: dict[str, Any] = {}
        for name, value in sorted((self.fixed | chosen).items(), key=lambda item: "." in item[0]):  # what names the method counts more
            owner, _, plain = name.rpartition(".")
            if owner and resolve(owner).key != key:
                continue
            if plain in names:
                found[plain] = value
            elif plain in OPTIONS:
                found |= (
                    {"n_clusters": value} if plain == "clusters" else {plain: value == "on"} if plain == "normalise" else {plain: value}
                )
        return found

    def wrong(self, key: str, why: str) -> str:
        """A sentence about something that came out only when the lesson was opened, at the line that says it."""
        return f"{self.name}.md, line {self.lines.get(key, 1)}: {why}"


@dataclass(frozen=True)
class Shelf:
    """All lessons in their order, and a sentence for each file that is none."""

    lessons: tuple[Lesson, ...]
    problems: tuple[str, ...]


def folders() -> tuple[Path, ...]:
    """Where lessons are looked for: the shipped ones, then a teacher's own (FACTSCOPE_LESSONS, or `lessons` in FactScope's data folder)."""
    named = os.environ.get("FACTSCOPE_LESSONS", "").strip()
    return SHIPPED, Path(named).expanduser() if named else home() / "lessons"


def read_lessons(places: Iterable[Path] | None = None) -> Shelf:
    """Every `*.md` of these folders. A teacher's file takes the place of a shipped one with the same name."""
    found: dict[str, Lesson] = {}
    problems: list[str] = []
    for folder in folders() if places is None else places:
        for path in sorted(folder.glob("*.md")) if folder.is_dir() else ():
            try:
                found[path.stem] = parse(path.read_text(encoding="utf-8-sig"), path.stem)
            except FactScopeError as error:
                problems.append(str(error))
            except UnicodeDecodeError as error:
                line = error.object[: error.start].count(b"\n") + 1
                problems.append(f"{path.name}, line {line}: this is no text in UTF-8.")
            except OSError as error:
                problems.append(f"{path.name} could not be read: {error.strerror}.")
    return Shelf(tuple(sorted(found.values(), key=lambda lesson: (lesson.order, lesson.title))), tuple(problems))


def parse(text: str, name: str = "lesson") -> Lesson:
    """A lesson from the text of its file, or a sentence that names the line."""
    lines = text.splitlines()

    def wrong(line: int, why: str) -> FactScopeError:
        return FactScopeError(f"{name}.md, line {line}: {why}")

    if len(text) > LONGEST:
        raise wrong(1, f"a lesson has {LONGEST:,} characters at the most.")
    if not lines or lines[0].strip() != "---":
        raise wrong(1, "a lesson begins with a line of three dashes, then says its title, corpus, methods and figure.")
    end = next((i for i, line in enumerate(lines[1:], start=2) if line.strip() == "---"), None)
    if end is None:
        raise wrong(len(lines), "a second line of three dashes is missing, after the settings and before the text.")
    said, where, ranges = _front(lines[1 : end - 1], wrong)
    for key in REQUIRED:
        if not said.get(key):
            raise wrong(end, f"the settings above do not say “{key}”.")

    def checked(key: str, make: Any) -> Any:
        try:
            return make(said[key])
        except FactScopeError as error:
            raise wrong(where[key], str(error)) from None

    methods = checked("methods", lambda value: tuple(resolve(m).name if resolve(m).options else resolve(m).key for m in _list(value)))
    if not 1 <= len(methods) <= MOST_METHODS:
        raise wrong(where["methods"], f"a figure shows one to {MOST_METHODS} methods side by side, not {len(methods)}.")
    figure = checked("figure", _figure)
    known = _names(methods)
    fixed: dict[str, Any] = {}
    for key in said:
        if key not in KEYS:
            fixed[key] = checked(key, lambda value, key=key: _declared(key, known).check(value))
    controls = []
    for key, (value, line) in ranges.items():
        try:
            controls.append(_control(key, value, _declared(key, known)))
        except FactScopeError as error:
            raise wrong(line, str(error)) from None
        where[key] = line
    order = checked("order", _number) if "order" in said else 1000.0
    at_most = checked("at most", lambda value: int(_number(value))) if "at most" in said else None
    if at_most is not None and at_most < 1:
        raise wrong(where["at most"], "at least one document of each class must be left.")
    body, question, answer = _sections(lines[end:], end + 1, wrong)
    return Lesson(
        name, said["title"], order, said["corpus"], tuple(_list(said.get("classes", ""))), at_most, methods, figure, tuple(controls), fixed,
        body, question, answer, where,
    )  # fmt: skip


Wrong = Any  # a function from a line and a reason to the error


def _front(lines: list[str], wrong: Wrong) -> tuple[dict[str, str], dict[str, int], dict[str, tuple[str, int]]]:
    """Values and lines by key, and the controls."""
    said: dict[str, str] = {}
    where: dict[str, int] = {}
    controls: dict[str, tuple[str, int]] = {}
    inside = False
    for number, line in enumerate(lines, start=2):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        indented = line[0] in " \t"
        key, colon, value = line.strip().partition(":")
        key, value = key.strip(), value.strip()
        if not key or (not colon and not indented):
            raise wrong(number, f"“{line.strip()[:60]}” is no setting; a setting is a name, a colon and a value.")
        if indented:
            if not inside:
                raise wrong(number, f"“{key}” is indented, but only what follows “controls:” is.")
            if key in controls:
                raise wrong(number, f"the control “{key}” is there twice.")
            controls[key] = (value, number)
            continue
        inside = key.lower() == "controls"
        key = key.lower() if key.lower() in KEYS else key
        if key in said:
            raise wrong(number, f"“{key}” is said twice.")
        if inside and value:
            raise wrong(number, "controls stand below “controls:”, one a line, indented.")
        said[key], where[key] = value, number
    said.pop("controls", None)
    return said, where, controls


def _sections(lines: list[str], first: int, wrong: Wrong) -> tuple[str, str, str]:
    """The text, the question and the answer."""
    parts: dict[str, list[str]] = {"text": [], "question": [], "answer": []}
    at = "text"
    for number, line in enumerate(lines, start=first):
        heading = re.fullmatch(r"#{1,6}\s*(question|answer)\s*", line.strip().lower())
        if heading is None:
            parts[at].append(line)
            continue
        at = heading[1]
        if parts[at]:
            raise wrong(number, f"there is a second {at}.")
    found = {name: "\n".join(body).strip() for name, body in parts.items()}
    last = first + len(lines) - 1
    for name, why in (("text", "there is no text."), ("question", "a lesson ends in a question, below a heading “## Question”.")):
        if not found[name]:
            raise wrong(max(last, 1), why)
    if not found["answer"]:
        raise wrong(max(last, 1), "the question has no answer, below a heading “## Answer”.")
    return found["text"], found["question"], found["answer"]


def _names(methods: tuple[str, ...]) -> dict[str, Param]:
    """What can be set in a lesson with these methods."""
    known = dict(OPTIONS)
    for method in methods:
        key = resolve(method).key
        for p in algorithms()[key].parameters:
            known.setdefault(p.name, p)
            known[f"{key}.{p.name}"] = p
    return known


def _declared(name: str, known: dict[str, Param]) -> Param:
    if name not in known:
        raise unknown("setting", name, [*KEYS, *known])
    return known[name]


def _control(name: str, value: str, p: Param) -> Control:
    """A control from its line: DEFAULT [from A, B, C | from LOW to HIGH [by STEP]]."""
    default_text, said, range_text = (
        (part.strip() for part in re.split(r"\b(from)\b", value, maxsplit=1)) if "from" in value.split() else (value, "", "")
    )
    default = p.check(default_text) if default_text else p.default
    method, _, _ = name.rpartition(".")
    of = f" of {algorithms()[resolve(method).key].title}" if method else ""
    label = f"{p.doc[:1].upper()}{p.doc[1:]}{of}" if p.choices else f"{p.symbol}{of}, {p.doc}"
    span = re.fullmatch(r"(\S+)\s+to\s+(\S+)(?:\s+by\s+(\S+))?", range_text)
    if span and not p.choices:
        low, high = p.check(span[1]), p.check(span[2])
        step = _number(span[3]) if span[3] else 1 if p.whole else (high - low) / 20
        if not (low < high and 0 < step <= high - low):
            raise FactScopeError(f"“{range_text}” is no range.")
        if not low <= default <= high:
            raise FactScopeError(f"The default {p.show(default)} is not between {p.show(low)} and {p.show(high)}.")
        return Control(name, label, default, (), low, high, int(step) if p.whole else step)
    if said:
        choices = tuple(p.check(c) for c in _list(range_text))
        if len(set(choices)) < 2:
            raise FactScopeError(f"“{name}” needs two values or more to choose from, or LOW to HIGH.")
        if default not in choices:
            raise FactScopeError(f"The default {p.show(default)} is not among {', '.join(map(p.show, choices))}.")
        return Control(name, label, default, choices)
    if p.choices or p.scale is Scale.LOG:
        choices = p.choices or p.stops()
        return Control(name, label, default, choices if default in choices else tuple(sorted({*choices, default})))
    top = p.high if p.high < 1000 else max(10, default)
    return Control(name, label, default, (), p.low, top, 1 if p.whole else (top - p.low) / 20)


def _figure(value: str) -> Kind:
    try:
        return Kind(value.strip().lower())
    except ValueError:
        raise unknown("figure", value, [kind.value for kind in Kind]) from None


def _list(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]


def _number(value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise FactScopeError(f"“{value}” is no number.") from None
