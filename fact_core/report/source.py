"""Where a figure comes from, as plain data: a kind, a study (documents, methods, settings, seeds), and what was chosen to be seen.

The same form is in a page's memory, in a report's settings.json and on the command line; :func:`built` makes the figure from it anywhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..corpus import Corpus, load_corpus
from ..errors import FactScopeError
from ..fit import fit
from ..jobs import Job
from ..presets import resolve
from ..selection import evidence_of
from ..store.corpora import read_corpus
from ..study import Cell, Method, Run, Study, selected
from .kinds import Drawn, Kind, Material, Needs, kind

Work = Callable[[Study, Corpus | None], Job]  # a study and, where it was uploaded, its corpus → the finished job


@dataclass(frozen=True)
class Source:
    """Everything a figure is made from."""

    kind: str
    study: Study
    view: Mapping[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] = ()  # of the runs; by their methods otherwise
    corpus_file: str = ""  # of a corpus that was uploaded and travels with the report
    fingerprint: str = ""  # of the documents it was first made from

    def as_json(self) -> dict[str, Any]:
        said = {name: value for name, value in asdict(self).items() if value and name != "study"}
        return json.loads(json.dumps(said | {"study": self.study.as_json()}))

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Source:
        try:
            study = Study.from_json(said["study"])
            return cls(
                kind(said["kind"]).name, study, dict(said.get("view", {})), tuple(said.get("names", ())), str(said.get("corpus_file", "")),
                str(said.get("fingerprint", "")),
            )  # fmt: skip
        except (KeyError, TypeError, AttributeError) as error:
            raise FactScopeError(f"These are no settings of a figure: {type(error).__name__} {error}.") from None

    @property
    def about(self) -> Kind:
        return kind(self.kind)


def of_runs(
    name: str,
    runs: Sequence[tuple[str, Mapping[str, Any]]],
    *,
    corpus: str,
    reading: Mapping[str, Any],
    select: Mapping[str, Any],
    **more: Any,
) -> Source:
    """The source of a figure of runs: methods with the keywords of `fit` they were run with, all with one seed."""
    seeds = {options.get("seed", 0) for _, options in runs} or {0}
    methods = tuple(Method(method, {n: v for n, v in options.items() if n != "seed" and v is not None}) for method, options in runs)
    return Source(name, Study(corpus, methods, reading=reading, classes=select, seeds=tuple(sorted(seeds))), **more)


def of_kept(name: str, run: Run, **more: Any) -> Source:
    """The source of a figure of a run in the store."""
    if not run.source:
        raise FactScopeError(f"{run.corpus} was uploaded, so this run can only be drawn where it was made.")
    return of_runs(
        name, [(run.method, run.options)], corpus=run.source["corpus"], reading=run.source["reading"], select=run.select,
        fingerprint=run.chosen, **more,
    )  # fmt: skip


def corpus_of(source: Source, folder: Path | None = None) -> Corpus:
    """The whole corpus; `folder` is where the settings are, and an uploaded corpus beside them."""
    if source.corpus_file:
        path = (folder or Path()) / source.corpus_file
        if not path.is_file():
            raise FactScopeError(f"The uploaded corpus of this figure, {source.corpus_file}, is not beside its settings.")
        return read_corpus(path)
    return load_corpus(source.study.corpus, **source.study.reading)


def material(source: Source, work: Work, folder: Path | None = None, whole: Corpus | None = None) -> Material:
    """What the figure is drawn from, computed; `work` does that for a study."""
    about, study = source.about, source.study
    if about.needs is Needs.ROWS:
        packed = corpus_of(source, folder) if source.corpus_file else None
        return Material(corpus=packed, rows=work(study, packed).rows(), study=study)
    whole = corpus_of(source, folder) if whole is None else whole
    if about.needs is Needs.CORPUS:
        return Material(corpus=selected(whole, {name: value for name, value in study.classes.items() if value is not None}))
    if about.needs is Needs.EVIDENCE:
        corpus = selected(whole, {name: value for name, value in study.classes.items() if value is not None})
        job = work(study, whole if source.corpus_file else None)
        return Material(corpus=corpus, evidence=evidence_of(job, len(corpus)), study=study)
    cells = study.cells()
    if about.needs is Needs.RUN and len(cells) != 1:
        raise FactScopeError(f"The figure “{about.name}” shows one run, and {len(cells)} were asked for.")
    if len({json.dumps(cell.select, sort_keys=True) for cell in cells}) > 1 and about.name != "scores":
        raise FactScopeError(f"The figure “{about.name}” shows runs on the same documents, and these are on several choices of classes.")
    results = [fit(selected(whole, cell.select), cell.method, **cell.options) for cell in cells]
    return Material(corpus=results[0].corpus, results=results, names=names_of(source, cells), study=study)


def names_of(source: Source, cells: Iterable[Cell]) -> list[str]:
    cells = list(cells)
    if len(source.names) == len(cells):
        return list(source.names)
    names = [", ".join([resolve(c.method).name, *(f"{n} = {v}" for n, v in c.point.items())]) for c in cells]
    several = len(source.study.seeds) > 1 and source.kind != "scores"
    return [f"{n}, seed {c.seed}" if several else n for n, c in zip(names, cells, strict=True)]


def built(source: Source, work: Work, folder: Path | None = None) -> tuple[Drawn, Material]:
    """The figure, and what it was drawn from."""
    made = material(source, work, folder)
    return source.about.draw(made, source.view), made


def changed(source: Source, made: Material) -> str | None:
    """The sentence for documents that are not those the figure was first made from."""
    if not source.fingerprint or made.corpus is None or made.corpus.fingerprint == source.fingerprint:
        return None
    return (
        f"{made.corpus.name} is not what it was when this figure was made (other documents, or other versions of the packages whose "
        "docstrings it reads), so the numbers will differ."
    )
