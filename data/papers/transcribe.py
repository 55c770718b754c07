"""The papers' printed result tables as tidy CSV files, one number a row, made from the papers' texts.

    python data/papers/transcribe.py FOLDER

FOLDER holds gnmf.txt, lccf.txt, lcf.txt, nmf_pspt.txt and rcf.txt, each table there as lines of cells divided by tabs.
Numbers are kept to the printed digit and given as fractions of one. A cell that is not understood stops the script.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

COLUMNS = ["table", "corpus", "measure", "kernel", "share", "k", "method", "value", "sd"]


@dataclass(frozen=True)
class Paper:
    """Where a paper's tables are and how its words are called here."""

    file: str
    tables: range
    caption: str  # with the table's number as {n}; the groups corpus, measure and t where a caption has them
    per_cent: bool
    names: dict[str, str] = field(default_factory=dict)  # as printed → as here, beside NAMES
    corrections: dict[str, str] = field(default_factory=dict)  # as in the text → as on the page; each must occur


# Headings, methods and corpora under the names of FactScope's presets and catalogue.
NAMES = {
    "Accuracy": "accuracy", "AC": "accuracy",
    "Normalized Mutual Information": "nmi", "Mutual Information": "nmi", "NMI": "nmi",
    "KMeans": "KM", "Kmeans": "KM", "K-means": "KM", "LSI+K-means": "LSI",
    "Avg": "avg", "Avg.": "avg", "avg.": "avg",
    "Reuters": "Reuters21578", "Reuters-21578": "Reuters21578", "20Newsgroup": "20Newsgroups", "Yale": "Yale_32x32",
}  # fmt: skip

PAPERS = {
    "lccf": Paper(
        "lccf.txt",
        range(4, 8),
        r"^TABLE {n} .* on (?P<corpus>\S+) \((?P<measure>.+)\)$",
        per_cent=False,
        names={"TDT2": "TDT2_all"},  # 56 topics: more than the 30 of the file TDT2
    ),
    "gnmf": Paper(
        "gnmf.txt",
        range(2, 4),
        r"^Table {n}: .* on (?P<corpus>\S+)$",
        per_cent=True,
        names={"NMF": "NMF-NCW"},  # the text says that it is the weighted form
        corrections={
            # the heading of the second half stands one cell too far to the left
            "Accuracy (%)\t\t\tNormalized Mutual Information (%)\t\t\t\t": "Accuracy (%)\t\t\t\tNormalized Mutual Information (%)\t\t\t",
        },
    ),
    "lcf": Paper(
        "lcf.txt",
        range(2, 4),
        r"^Table {n}: .*on the (?P<corpus>\S+) database$",
        per_cent=True,
        corrections={
            # a caption cut into cells
            "Table 2:\tClustering\tResults\tCom\tnarison (\ton the\tYale\tdatabase": "Table 2: on the Yale database",
            # a caption cut into cells, misread, and read twice
            "Table 3.\tClustering\tRegulte (\tOmnarison\ton the\tORL database\n": "Table 3: on the ORL database\n",
            "Table 3.\tClustelling\tixesuits (\t\ton uic\tOIL database\n": "",
            # two headings in one cell and none in the next
            "Kmeans NMF\t\tCF": "Kmeans\tNMF\tCF",
        },
    ),
    "rcf": Paper(
        "rcf.txt",
        range(2, 14),
        r"^Table {n}\s*Clustering (?P<measure>\w+) performance on (?P<corpus>\w+) when \$t = (?P<t>\d+)\\%\$\.$",
        per_cent=True,
    ),
    "pspt": Paper(
        "nmf_pspt.txt",
        range(2, 4),
        r"^Table {n}\. .* on (?P<corpus>\S+) corpus$",
        per_cent=False,
        names={"TDT2": "TDT2_all"},  # 52 topics
    ),
}


def corrected(paper: Paper, text: str) -> str:
    for slip, right in paper.corrections.items():
        if slip not in text:
            raise ValueError(f"{paper.file}: the slip {slip!r} is not there")
        text = text.replace(slip, right)
    return text


def body(text: str, start: int) -> list[list[str]]:
    """The rows of cells that follow a caption, up to the next line of running text."""
    rows: list[list[str]] = []
    for line in text[start:].splitlines():
        if "\t" in line:
            rows.append([clean(cell) for cell in line.rstrip().split("\t")])
        elif line.strip():
            break
    return rows


def clean(cell: str) -> str:
    """A cell without its TeX: ``$\\textbf{76.36} \\pm \\textbf{17.29}$`` is 76.36±17.29."""
    cell = re.sub(r"\\textbf\{([^}]*)\}", r"\1", cell).replace(r"\pm", "±").replace("$", "").strip()
    return re.sub(r"\s*±\s*", "±", cell)


def number(printed: str, per_cent: bool) -> str:
    """To the printed digit, as a fraction."""
    return f"{Decimal(printed).scaleb(-2 if per_cent else 0):f}"


def transcribe(name: str, paper: Paper, n: int, text: str) -> Iterator[list[str]]:
    def named(word: str) -> str:
        word = word.removesuffix("(%)").strip()
        word = NAMES.get(word, word)
        return paper.names.get(word, word)

    captions = list(re.finditer(paper.caption.format(n=n), text, re.MULTILINE))
    if len(captions) != 1:
        raise ValueError(f"{paper.file}: {len(captions)} captions of table {n}")
    said = captions[0].groupdict()
    corpus, measure = named(said["corpus"]), named(said.get("measure", ""))
    share = number(said["t"], per_cent=True).rstrip("0") if "t" in said else ""
    kernel = "linear"
    columns: list[str] = []
    measures: list[str] = []  # of each column, where the columns differ in it
    for label, *cells in body(text, captions[0].end()):
        words = [named(cell) for cell in cells]
        if label.startswith("following are"):  # the lower half of LCCF's tables
            kernel = "poly2"
        elif {"accuracy", "nmi"} & set(words):  # over one half of the columns, or over all of them
            measure, measures = "", []
            for word in words:
                measure = word or measure
                measures.append(measure)
        elif label in ("k", "") and not any("algorithms" in word for word in words):
            columns = words
        elif label not in ("k", ""):
            if len(cells) != len(columns):
                raise ValueError(f"{name}: {len(cells)} cells in the row {label} and {len(columns)} columns")
            for i, (column, cell) in enumerate(zip(columns, cells, strict=True)):
                parts = re.fullmatch(r"(\d+\.\d+)(?:±(\d+\.\d+))?", cell)
                if parts is None:
                    raise ValueError(f"{name}: {cell!r} in the row {label} is no number")
                value, sd = (number(part, paper.per_cent) if part else "" for part in parts.groups())
                # LCCF prints methods down and k across, the others k down and methods across.
                k, method = (named(label), column) if label[0].isdigit() or named(label) == "avg" else (column, named(label))
                yield [name, corpus, measures[i] if i < len(measures) else measure, kernel, share, k, method, value, sd]


def main(folder: Path, out: Path) -> None:
    for key, paper in PAPERS.items():
        text = corrected(paper, (folder / paper.file).read_text(encoding="utf-8"))
        for n in paper.tables:
            rows = list(transcribe(f"{key}-{n}", paper, n, text))
            with (out / f"{key}-{n}.csv").open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerows([COLUMNS, *rows])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("python data/papers/transcribe.py FOLDER")
    main(Path(sys.argv[1]), Path(__file__).parent)
