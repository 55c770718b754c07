"""The result tables of the papers: what is printed in them, and how each was made.

The numbers are in ``data/papers/*.csv``, transcribed to the printed digit by the script beside them; :data:`TABLES` holds the protocol
of each table, with what is odd about it in ``notes``. Nothing printed was changed, also where it cannot be right.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from .errors import FactScopeError, unknown

_FOLDER = Path(__file__).resolve().parent.parent / "data" / "papers"  # beside the package, in a checkout or an editable installation


@dataclass(frozen=True)
class Printed:
    """One printed number, as a fraction of one."""

    table: str
    corpus: str
    measure: str  # accuracy or nmi
    kernel: str  # linear or poly2
    share: float | None  # of labelled documents
    k: int | None  # None: the printed average over k
    method: str
    value: float
    sd: float | None
    digits: int  # of the value after the point, as printed

    @property
    def preset(self) -> str:
        """The preset that computes it."""
        return self.method if self.kernel == "linear" else f"{self.method} {self.kernel}"


@dataclass(frozen=True)
class Table:
    """How a printed table was made."""

    name: str
    title: str
    corpus: str  # in the catalogue
    classes: int  # to draw from, in the authors' file
    documents: int  # in these classes
    ks: tuple[int, ...]
    runs: int  # random choices of k classes
    methods: tuple[str, ...]  # presets, in the printed order
    measures: tuple[str, ...]
    select: Mapping[str, Any] = field(default_factory=dict)  # what leaves these classes, for Corpus.select
    kernels: tuple[str, ...] = ("linear",)
    share: float | None = None  # of labelled documents of each class, for the methods that use labels
    starts: int | None = None  # of which a run keeps the best, where the paper says
    steps: int | None = None  # of a run, where the paper says
    settings: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # of each preset, where the paper says
    notes: tuple[str, ...] = ()

    @property
    def protocol(self) -> str:
        """The classes, in words."""
        low, high, at_most = (self.select.get(key) for key in ("min_size", "max_size", "at_most"))
        largest = "largest " if "largest" in self.select else ""
        sizes = f" of {low} to {high} documents" if high else f" of at least {low} documents" if low else ""
        cut = f", {at_most} documents of each" if at_most else ""
        return f"{self.classes} {largest}classes{sizes}{cut}"


@dataclass(frozen=True)
class Misfit:
    """A printed average that the printed rows do not give."""

    table: str
    measure: str
    method: str
    printed: float
    recomputed: float


# The paper's text confirms both averages of the RCF column (it counts gains from them). Of the others it cannot be told from the paper
# whether the average is wrong or one of the rows.
MISFITS = (
    Misfit("rcf-4", "accuracy", "GDCF", 0.8549, 0.8539),
    Misfit("rcf-9", "nmi", "CCF", 0.6308, 0.6358),
    Misfit("rcf-9", "nmi", "RCF", 0.9420, 0.9419),
    Misfit("rcf-12", "accuracy", "GDCF", 0.8170, 0.8181),
    Misfit("rcf-12", "accuracy", "RCF", 0.9678, 0.8358),
)

_MEASURES = ("accuracy", "nmi")
_IN_WORDS = {"accuracy": "accuracy", "nmi": "NMI"}
_CORPORA = {"TDT2_all": "TDT2", "Reuters21578": "Reuters", "20Newsgroups": "20 Newsgroups", "Yale_32x32": "Yale"}
_TWO_TO_TEN = tuple(range(2, 11))


def _title(paper: str, number: int, corpus: str, *rest: str) -> str:
    return ", ".join([f"{paper} table {number}: {_CORPORA.get(corpus, corpus)}", *rest])


def _lccf() -> Iterator[Table]:
    linear = ("KM", "KM-NCW", "AA", "NC", "NMF", "NMF-NCW", "CF", "CF-NCW", "LCCF", "LCCF-NCW")
    methods = (*linear, *(f"{m} poly2" for m in linear if not m.startswith("NMF")))
    published = {"lam": 100.0, "p": 5}
    repeated = "The LCCF row is the same with both kernels, though the text reports a gain: one of the two must be a misprint."
    pools = {"TDT2_all": (56, 10021), "Reuters21578": (41, 8213)}
    places = [(corpus, measure) for corpus in pools for measure in _MEASURES]
    for number, (corpus, measure) in enumerate(places, start=4):
        yield Table(
            f"lccf-{number}", _title("LCCF", number, corpus, _IN_WORDS[measure]), corpus, *pools[corpus], _TWO_TO_TEN, 50, methods,
            (measure,), {"min_size": 10}, kernels=("linear", "poly2"), settings={m: published for m in methods if m.startswith("LCCF")},
            notes=(repeated,) if corpus == "Reuters21578" else (),
        )  # fmt: skip


def _gnmf() -> Iterator[Table]:
    notes = ("NMF is printed without a suffix; it is the normalised-cut weighted form.",)
    for number, corpus, documents in ((2, "TDT2", 9394), (3, "Reuters21578", 8067)):
        yield Table(
            f"gnmf-{number}", _title("GNMF", number, corpus), corpus, 30, documents, _TWO_TO_TEN, 50, ("KM", "LSI", "NMF-NCW", "GNMF"),
            _MEASURES, {"largest": 30}, settings={"GNMF": {"lam": 10.0, "p": 5}}, notes=notes,
        )  # fmt: skip


def _lcf() -> Iterator[Table]:
    notes = ("The printed sd of an average is the average of the sds.",)
    for number, corpus, classes, documents in ((2, "Yale_32x32", 15, 165), (3, "ORL", 40, 400)):
        yield Table(
            f"lcf-{number}", _title("LCF", number, corpus), corpus, classes, documents, _TWO_TO_TEN, 10,
            ("KM", "NMF", "CF", "SparseNMF", "LCF"), _MEASURES, starts=10, settings={"LCF": {"lam": 0.3}}, notes=notes,
        )  # fmt: skip


def _rcf() -> Iterator[Table]:
    methods = ("KM", "CF", "LCCF", "CCF", "SemiLCCF", "CNPCF", "GDCF", "RCF")
    pools: dict[str, tuple[int, int, dict[str, int]]] = {
        "TDT2": (30, 9394, {"largest": 30}),
        "Reuters21578": (13, 7495, {"largest": 13}),
        "20Newsgroups": (20, 2000, {"at_most": 100}),
    }
    rcf = {"Reuters21578": {"lam": 100.0, "p": 4, "alpha": 0.3}, "TDT2": {"lam": 100.0, "p": 5, "alpha": 0.5}}
    notes = {
        "TDT2": (),
        "Reuters21578": (
            "The paper names 13 classes of more than 50 documents, 7495 in all: the 13 largest; a fourteenth of the file has 53.",
        ),
        "20Newsgroups": (
            "The paper says about 100 documents a class, and does not give RCF's settings here.",
            "The paper's collection has 18808 documents and 45434 terms, the authors' file 18846 and 26214.",
        ),
    }  # fmt: skip
    odd = {
        4: "The average of GDCF does not fit its rows.",
        5: "The sds of CCF repeat those of table 3.",
        9: "The averages of CCF and RCF do not fit their rows.",
        12: "The RCF column repeats table 10's, and its average does not fit its rows; nor does GDCF's. Shown as printed.",
        13: "The sds of RCF repeat those of table 11; at k = 2 there is an sd beside 100 %.",
    }
    places = [(corpus, share, measure) for corpus in pools for share in (0.02, 0.2) for measure in _MEASURES]
    for number, (corpus, share, measure) in enumerate(places, start=2):
        classes, documents, select = pools[corpus]
        lccf = {"lam": 100.0, "p": 5}
        yield Table(
            f"rcf-{number}", _title("RCF", number, corpus, _IN_WORDS[measure], f"{share:.0%} labelled"), corpus, classes, documents,
            tuple(range(3, 31, 3)) if corpus == "TDT2" else _TWO_TO_TEN, 10, methods, (measure,), select, share=share, steps=400,
            settings={"LCCF": lccf, "SemiLCCF": lccf, **({"RCF": rcf[corpus]} if corpus in rcf else {})},
            notes=(*notes[corpus], *([odd[number]] if number in odd else [])),
        )  # fmt: skip


def _pspt() -> Iterator[Table]:
    methods = ("AA", "NMF", "AA-HHt", "AA-PSPt", "NC", "NMF-NCW", "NC-HHt", "NC-PSPt")
    pools = {"TDT2_all": (53, 5127, "52 classes with 5333"), "Reuters21578": (39, 2445, "40 classes with 2710")}
    for number, (corpus, (classes, documents, said)) in enumerate(pools.items(), start=2):
        yield Table(
            f"pspt-{number}", _title("NMF-PSPt", number, corpus), corpus, classes, documents, _TWO_TO_TEN, 20, methods, _MEASURES,
            {"min_size": 10, "max_size": 1000}, starts=10, settings={m: {"eta": 0.8} for m in methods if m.endswith("PSPt")},
            notes=(f"The paper counts {said} documents; the authors' file has {classes} with {documents}.",),
        )  # fmt: skip


TABLES: dict[str, Table] = {t.name: t for make in (_lccf, _gnmf, _lcf, _rcf, _pspt) for t in make()}


def printed(table: str) -> list[Printed]:
    """The printed numbers of a table (“lccf-4”)."""
    name = str(table).strip().lower()
    if name not in TABLES:
        raise unknown("table", table, TABLES)
    return list(_read(name))


@cache
def _read(name: str) -> tuple[Printed, ...]:
    try:
        text = (_FOLDER / f"{name}.csv").read_text(encoding="utf-8")
    except OSError:
        raise FactScopeError(
            "The papers' printed numbers are not here: they are in the folder data/papers of FactScope's source, "
            "so run it from there or install it with “pip install -e”."
        ) from None
    return tuple(_row(row) for row in csv.DictReader(text.splitlines()))


def _row(row: dict[str, str]) -> Printed:
    return Printed(
        table=row["table"],
        corpus=row["corpus"],
        measure=row["measure"],
        kernel=row["kernel"],
        share=float(row["share"]) if row["share"] else None,
        k=None if row["k"] == "avg" else int(row["k"]),
        method=row["method"],
        value=float(row["value"]),
        sd=float(row["sd"]) if row["sd"] else None,
        digits=len(row["value"].partition(".")[2]),
    )
