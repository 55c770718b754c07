"""The command line: `python -m fact_core corpora | algorithms | run | sweep | table | select | figure | doctor`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from . import commands as studies
from . import doctor, metrics
from .algorithms import algorithms
from .corpus import available_corpora, load_corpus
from .errors import FactScopeError
from .estimate import check
from .fit import fit
from .report import commands as reports
from .result import Result
from .solve import Progress
from .tabular import TABLES, concepts_csv, documents_csv


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one sentence."""

    def error(self, message: str) -> NoReturn:
        raise FactScopeError(f"{message[:1].upper()}{message[1:]}; see {self.prog} --help.")


def parser() -> Parser:
    top = Parser(prog="python -m fact_core", description="Factorise document collections into concepts.")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    listing = commands.add_parser("corpora", help="what can be factorised")
    listing.set_defaults(call=list_corpora)

    methods = commands.add_parser("algorithms", help="the methods and their parameters")
    methods.set_defaults(call=list_algorithms)

    run = commands.add_parser("run", help="factorise one corpus with one method")
    run.set_defaults(call=run_one)
    run.add_argument("--corpus", required=True, metavar="NAME|PATH", help="a built-in or fetched corpus, or a file")
    run.add_argument("--algorithm", required=True, metavar="KEY")
    run.add_argument("--clusters", type=int, metavar="K", help="number of clusters (default: the number of classes)")
    studies.class_arguments(run)
    run.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="any keyword of fit: lam=100, p=5, weighting=ncw, …")
    run.add_argument("--max-iter", type=int, metavar="N", help="steps (default: the method's own, mostly 200)")
    run.add_argument("--restarts", type=int, default=10, metavar="R", help="starts, of which the best goes on (default 10)")
    run.add_argument("--seed", type=int, default=0, metavar="S")
    run.add_argument("--out", type=Path, metavar="DIR", help="write the result there: result.json, factors.npz and tables as .csv")
    doctor_ = commands.add_parser("doctor", help="whether everything is there and works, and what to do where it does not")
    doctor_.set_defaults(call=examine)
    doctor_.add_argument("--url", metavar="http://…", help="a running server to ask, too")
    for command in (listing, methods, run, doctor_):
        command.add_argument("--json", action="store_true", help="one JSON object instead of text")
    studies.add(commands)
    reports.add(commands)
    return top


def main(arguments: list[str] | None = None) -> int:
    try:
        options = parser().parse_args(arguments)
        return options.call(options) or 0
    except FactScopeError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output went away, as `head` does
        sys.stderr.close()
    return 0


def list_corpora(options: argparse.Namespace) -> None:
    found = available_corpora()
    if options.json:
        rows = [{"name": c.name, "kind": c.kind, "here": c.here, "about": c.about} for c in found]
        print(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    width = max(len(c.name) for c in found)
    for c in found:
        print(f"{c.name:<{width}}  {c.kind + ('' if c.here else ', to be fetched'):<24}  {c.about}")


def list_algorithms(options: argparse.Namespace) -> None:
    if options.json:
        rows = [
            {"key": a.key, "title": a.title, "family": a.family.value, "paper": a.paper, "formula": a.formula, "about": _first(a.__doc__),
             "parameters": [{"name": p.name, "symbol": p.symbol, "default": p.default, "low": p.low, "high": p.high, "scale": p.scale.value,
                             "choices": list(p.choices), "doc": p.doc} for p in a.parameters]}
            for a in algorithms().values()
        ]  # fmt: skip
        print(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    for a in algorithms().values():
        print(f"{a.key:<10} {a.title}: {_first(a.__doc__)}  ({a.paper})")
        if a.note:
            print(f"{'':<10}   {a.note}")
        for p in a.parameters:
            values = f"one of {', '.join(p.choices)}" if p.choices else f"{p.low:g} … {p.high:g}"
            print(f"{'':<10}   {p.name:<12} {p.symbol}, {p.doc}; {values}, default {p.default}")


def examine(options: argparse.Namespace) -> int:
    if not options.json:
        return doctor.report(doctor.examine(options.url))
    found = doctor.as_json(list(doctor.examine(options.url)))
    print(json.dumps(found, indent=2, ensure_ascii=False))
    return 0 if found["ok"] else 1


def run_one(options: argparse.Namespace) -> None:
    settings = {"seed": options.seed, "restarts": options.restarts, "max_iter": options.max_iter, "n_clusters": options.clusters}
    settings |= dict(_setting(text) for text in options.set)
    corpus = load_corpus(options.corpus).select(
        classes=options.classes.split(",") if options.classes else None,
        largest=options.largest, min_size=options.min_size, max_size=options.max_size,
        random=options.random_classes, at_most=options.at_most, seed=options.seed,
    )  # fmt: skip
    bar = _bar if sys.stderr.isatty() and not options.json else None
    check(corpus, options.algorithm, settings)
    result = fit(corpus, options.algorithm, progress=bar, **settings)
    if bar:
        print("\r\x1b[K", end="", file=sys.stderr)
    if options.out:
        write(result, options.out)
    if options.json:
        print(json.dumps(result.as_json(), ensure_ascii=False))
    else:
        print(summary(result))


def summary(result: Result) -> str:
    corpus, scores = result.corpus, result.scores
    settings = ", ".join(f"{name} = {value}" for name, value in (result.algorithm.settings() | result.options).items() if value is not None)
    classes = f", {len(corpus.label_names)} classes" if corpus.labels is not None else ""
    lines = [
        f"{result.algorithm.title} on {corpus.name}: {len(corpus)} documents, {len(corpus.terms)} terms{classes}, k = {result.n_clusters}",
        f"  {settings}",
        *(f"  left out: {d}" for d in corpus.dropped),
        f"  {len(result.objective) - 1} steps in {result.seconds:.2f} s, stopped by {result.stopped}; "
        f"objective {result.objective[0]:.6g} → {result.objective[-1]:.6g}",
    ]
    if corpus.labels is not None:
        single = metrics.single_cluster_accuracy(corpus.labels)
        lines.append(
            f"  accuracy {scores['accuracy']:.3f} (one single cluster: {single:.3f}), "
            f"NMI {scores['nmi']:.3f}, ARI {scores['ari']:.3f}, purity {scores['purity']:.3f}"
        )
    for c, (terms, size) in enumerate(zip(result.concepts(8), result.sizes, strict=True), start=1):
        lines.append(f"  {c:>3} ({size} documents)  {', '.join(term for term, _ in terms)}")
    return "\n".join(lines)


def write(result: Result, folder: Path) -> None:
    """The whole run as files: what was done, the factors, the documents' clusters and coordinates, the concepts' terms."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "result.json").write_text(json.dumps(result.as_json(), indent=2, ensure_ascii=False), encoding="utf-8")
        np.savez_compressed(folder / "factors.npz", **result.factors)  # type: ignore[arg-type]
        (folder / "documents.csv").write_text(documents_csv(result), encoding="utf-8")
        (folder / "concepts.csv").write_text(concepts_csv(result), encoding="utf-8")
        for name, table in TABLES.items():
            (folder / name).write_text(table(result), encoding="utf-8")
    except OSError as error:
        raise FactScopeError(f"The result could not be written to {folder}: {error.strerror}.") from None


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise FactScopeError(f"--set takes NAME=VALUE, such as lam=100, not “{text}”.")
    try:
        return name.strip(), json.loads(value)
    except json.JSONDecodeError:
        return name.strip(), None if value == "None" else value


def _bar(at: Progress) -> None:
    if at.done % 5 == 0 or at.done == at.total:
        done = round(30 * at.share)
        print(
            f"\r{'█' * done}{'░' * (30 - done)} {at.done}/{at.total} steps, objective {at.iterate.objective:.6g}\x1b[K",
            end="",
            file=sys.stderr,
        )


def _first(doc: str | None) -> str:
    return (doc or "").strip().split("\n")[0]


if __name__ == "__main__":
    sys.exit(main())
