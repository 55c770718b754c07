"""`sweep`, `table` and `select`: studies on the command line.

All run as jobs, as a page's studies do: cells that were computed before, here or there, are taken from the store.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from . import selection, tables
from .corpus import Corpus, load_corpus
from .errors import FactScopeError
from .jobs import Job, State, Status, start
from .store.files import put
from .study import Method, Study
from .tabular import frame_csv

REVIVALS = 3  # of a job whose process dies while it is watched


def add(commands: Any) -> None:
    """The three commands, for the parser of `python -m fact_core`."""
    sweep = commands.add_parser("sweep", help="run methods over values of their parameters and over seeds")
    sweep.set_defaults(call=run_sweep)
    sweep.add_argument("--corpus", required=True, metavar="NAME|PATH", help="a built-in or fetched corpus, or a file")
    sweep.add_argument("--algorithm", required=True, metavar="KEY[,KEY]", help="one or several methods")
    sweep.add_argument("--axis", action="append", default=[], metavar="NAME=A,B,…", help="values of a parameter or option: lam=1,10,100")
    sweep.add_argument("--seeds", type=int, default=1, metavar="N", help="seeds 0 … N-1 (default 1)")
    sweep.add_argument("--clusters", type=int, metavar="K", help="number of clusters (default: the number of classes)")
    class_arguments(sweep, "the seed of each run")
    sweep.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="any keyword of fit: p=5, weighting=ncw, …")
    sweep.add_argument("--max-iter", type=int, metavar="N", help="steps (default: the method's own, mostly 200)")
    sweep.add_argument("--restarts", type=int, metavar="R", help="starts, of which the best goes on (default 10)")
    sweep.add_argument("--out", type=Path, metavar="FILE", help="write the rows to a .csv or .json file")

    table = commands.add_parser("table", help="recompute a table of the papers beside what is printed")
    table.set_defaults(call=run_table)
    table.add_argument("name", metavar="TABLE", help=f"one of {', '.join(tables.TABLES)}")
    table.add_argument("--k", metavar="2-10", help="numbers of classes, such as 3,6,10 (default: the table's)")
    table.add_argument("--runs", type=int, metavar="N", help="random choices of classes (default: the table's)")
    table.add_argument("--methods", metavar="A,B", help="rows of the table (default: all)")
    table.add_argument("--resume", action="store_true", help="go on where it was stopped (it always does: finished runs are kept)")
    table.add_argument("--out", type=Path, metavar="FILE", help="write the table to a .csv, .tex or .json file")

    select = commands.add_parser("select", help="choose k and λ without labels")
    select.set_defaults(call=run_select)
    select.add_argument("--corpus", required=True, metavar="NAME|PATH", help="a built-in or fetched corpus, or a file")
    select.add_argument("--algorithm", default="lccf", metavar="KEY", help="a method (default lccf)")
    select.add_argument("--k", default="2-10", metavar="2-10", help="numbers of clusters to choose from (default 2-10)")
    select.add_argument("--values", metavar="A,B,…", help="values of the method's λ (or η) to choose from (default: around the paper's)")
    select.add_argument("--runs", type=int, default=selection.RUNS, metavar="N", help=f"runs of each setting (default {selection.RUNS})")
    select.add_argument("--share", type=float, default=selection.SHARE, metavar="S", help="documents each run sees (default 0.8)")
    class_arguments(select)
    select.add_argument("--seed", type=int, default=0, metavar="S", help="of --random-classes and --at-most")
    select.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="any keyword of fit: p=5, weighting=ncw, …")
    select.add_argument("--out", type=Path, metavar="FILE", help="write the table of the settings to a .csv or .json file")
    for command in (sweep, table, select):
        command.add_argument("--workers", type=int, metavar="N", help="processes (default: all cores)")
        command.add_argument("--scheduler", metavar="tcp://…", help="a running Dask cluster instead (also FACTSCOPE_SCHEDULER)")
        command.add_argument("--json", action="store_true", help="rows as JSON instead of text")


def class_arguments(command: argparse.ArgumentParser, seed: str = "the seed") -> None:
    """The choice of classes."""
    command.add_argument("--classes", metavar="A,B", help="only these classes")
    command.add_argument("--random-classes", type=int, metavar="K", help=f"K classes drawn with {seed}")
    command.add_argument("--largest", type=int, metavar="C", help="the C largest classes")
    command.add_argument("--min-size", type=int, metavar="A", help="only classes of at least A documents")
    command.add_argument("--max-size", type=int, metavar="B", help="only classes of at most B documents")
    command.add_argument("--at-most", type=int, metavar="N", help="at most N documents of each class")


def run_sweep(options: argparse.Namespace) -> None:
    writer(options.out, ".csv", ".json")
    axes = {}
    for text in options.axis:
        name, values = setting(text, "--axis", "lam=1,10,100")
        axes[name] = [plain(v) for v in values.split(",") if v.strip()]
    fixed = {name: plain(value) for name, value in (setting(text, "--set", "lam=100") for text in options.set)}
    fixed |= {
        n: v for n, v in (("n_clusters", options.clusters), ("max_iter", options.max_iter), ("restarts", options.restarts)) if v is not None
    }
    study = Study(
        options.corpus, tuple(Method(name.strip()) for name in options.algorithm.split(",") if name.strip()),
        classes=chosen_classes(options),
        draws=() if options.random_classes is None else (options.random_classes,), axes=axes, seeds=tuple(range(options.seeds)),
        options=fixed, title=f"{options.algorithm} on {options.corpus}",
    )  # fmt: skip
    rows = computed(study, options)
    if options.out:
        write(options.out, rows)
    if options.json:
        print(as_json(rows))
    elif not options.out:
        print(sweep_in_words(rows, [name for name in axes if name in rows]))


def run_table(options: argparse.Namespace) -> None:
    writer(options.out, ".csv", ".tex", ".json")
    methods = [name for name in (options.methods or "").split(",") if name.strip()]
    study = tables.table_study(options.name, numbers(options.k) if options.k else (), options.runs, methods)
    rows = computed(study, options)
    table = tables.beside_printed(options.name, rows)
    if options.out:
        write(options.out, table, lambda: tables.latex(options.name, table))
    if options.json:
        print(as_json(table))
    elif not options.out:
        print(table_in_words(options.name, table, rows))


def run_select(options: argparse.Namespace) -> None:
    writer(options.out, ".csv", ".json")
    values = None if options.values is None else [plain(v) for v in options.values.split(",") if v.strip()]
    classes = chosen_classes(options) | ({"random": options.random_classes} if options.random_classes is not None else {})
    classes |= {"seed": options.seed} if {"random", "at_most"} & set(classes) else {}
    study = selection.selection_study(
        options.corpus, options.algorithm, numbers(options.k), values, runs=options.runs, share=options.share, classes=classes,
        options={name: plain(value) for name, value in (setting(text, "--set", "p=5") for text in options.set)},
    )  # fmt: skip
    n = len(load_corpus(options.corpus).select(**classes))
    evidence = selection.evidence_of(finished(study, options), n)
    if evidence is None:
        raise FactScopeError("Too few runs could be done to choose by.")
    found = selection.judged(evidence)
    p = evidence.parameter
    table = found.table.drop(columns="value") if p is None else found.table.rename(columns={"value": p.name})
    if options.out:
        write(options.out, table)
    if options.json:
        said = {
            "suggestion": found.settings,
            "decided": found.decided,
            "doubts": found.doubts,
            "hints": found.hints,
            "settings": json.loads(as_json(table)),
        }
        print(json.dumps(said | {"correlations": selection.correlations(table)}, indent=2, ensure_ascii=False))
    elif not options.out:
        print(f"{table.drop(columns='runs').round(3).to_string(index=False, na_rep='')}\n\n{found}")


def chosen_classes(options: argparse.Namespace) -> dict[str, Any]:
    """What :func:`class_arguments` asked for, but for the random ones."""
    said = {"classes": options.classes.split(",") if options.classes else None, "largest": options.largest, "min_size": options.min_size,
            "max_size": options.max_size, "at_most": options.at_most}  # fmt: skip
    return {name: value for name, value in said.items() if value is not None}


def computed(study: Study, options: argparse.Namespace, corpus: Corpus | None = None) -> pd.DataFrame:
    """The rows of a study; `corpus` is one that was uploaded."""
    return finished(study, options, corpus).rows()


def finished(study: Study, options: argparse.Namespace, corpus: Corpus | None = None) -> Job:
    """The job of a study, which ends with this process."""
    if options.workers is not None and options.workers < 1:
        raise FactScopeError(f"The number of workers must be at least 1, not {options.workers}.")
    job = start(study, corpus, workers=options.workers, scheduler=options.scheduler, with_parent=True)
    at = watch(job, sys.stderr.isatty())
    if at.state is not State.FINISHED:
        raise FactScopeError(at.error or "The job was stopped; the same command goes on from what is finished.")
    for label, sentence in list(at.failures.items())[:5]:
        print(f"{label}: {sentence}", file=sys.stderr)
    if len(at.failures) > 5:
        print(f"… and {len(at.failures) - 5} more runs that failed.", file=sys.stderr)
    return job


def watch(job: Job, bar: bool) -> Status:
    """Follow a job to its end, with a bar on a terminal; Ctrl-C stops it, and what is finished stays."""
    before = signal.signal(signal.SIGTERM, _interrupt)
    revivals = 0
    try:
        while True:
            at = job.status()
            if bar:
                print(f"\r{progress_in_words(at)}\x1b[K", end="", file=sys.stderr, flush=True)
            if at.state is State.INTERRUPTED and revivals < REVIVALS:
                revivals += 1
                job.resume(with_parent=True)
            elif at.over:
                return at
            time.sleep(0.1)
    except KeyboardInterrupt:
        job.stop()
        raise
    finally:
        signal.signal(signal.SIGTERM, before)
        if bar:
            print("\r\x1b[K", end="", file=sys.stderr)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def progress_in_words(at: Status) -> str:
    done = round(30 * at.share)
    left = f", {duration(at.left)} left" if at.left is not None else ""
    return f"{'█' * done}{'░' * (30 - done)} {at.done}/{at.cells} runs, {at.steps} steps{left}"


def duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min {rest} s" if minutes else f"{rest} s"


def sweep_in_words(rows: pd.DataFrame, axes: list[str]) -> str:
    shown = [s for s in ("accuracy", "nmi", "silhouette", "cut", "objective", "seconds") if (rows["score"] == s).any()]
    spread = (
        rows[rows["score"].isin(shown)].groupby(["method", "k", *axes, "score"], sort=False, dropna=False)["value"].agg(["mean", "std"])
    )
    words = [f"{mean:.4g}" + (f" ± {sd:.2g}" if sd == sd else "") for mean, sd in spread.to_numpy()]
    return pd.Series(words, index=spread.index).unstack("score")[shown].reset_index().to_string(index=False, na_rep="")


def table_in_words(name: str, table: pd.DataFrame, rows: pd.DataFrame) -> str:
    def cell(row: Any, measure: str) -> str:
        if row[measure] != row[measure]:
            return ""
        sd, said = row.get(f"{measure}_sd", float("nan")), row[f"printed_{measure}"]
        return f"{row[measure]:.3f}" + (f" ± {sd:.3f}" if sd == sd else "") + (
            f" ({said:.3f}, {row[f'{measure}_difference']:+.1f})" if said == said else "")  # fmt: skip

    about = tables.protocol(name)
    lines = [f"{about.title}; {about.protocol}. In brackets the printed number and the difference in points."]
    means = tables.averages(table).assign(k="avg")
    every = [row for _, row in table.iterrows()] + [row for _, row in means.iterrows()]
    shown = pd.DataFrame([{"k": r["k"], "method": r["method"]} | {tables.WORDS[m]: cell(r, m) for m in tables.MEASURES} for r in every])
    lines.append(shown.to_string(index=False))
    tests = tables.significance(rows)
    best = str(means.sort_values("accuracy")["method"].iloc[-1])
    for _, test in tests[(tests["method"] == best) | (tests["against"] == best)].iterrows():
        sign, other = (1, test["against"]) if test["method"] == best else (-1, test["method"])
        if test["wilcoxon"] == test["wilcoxon"]:
            lines.append(f"{best} against {other}: {sign * test['difference']:+.1f} points over {test['pairs']} pairs, "
                         f"p = {test['wilcoxon']:.2g} (Wilcoxon), {test['t']:.2g} (paired t)")  # fmt: skip
    return "\n".join([*lines, *about.notes])


def numbers(text: str) -> list[int]:
    """2-4,8 → 2, 3, 4, 8."""
    found: list[int] = []
    for part in text.split(","):
        low, dash, high = part.strip().partition("-")
        if not low.isdecimal() or (dash and not high.isdecimal()):
            raise FactScopeError(f"--k takes numbers such as 3,6,10 or 2-10, not “{text}”.")
        found += range(int(low), int(high or low) + 1)
    return found


def setting(text: str, option: str, example: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise FactScopeError(f"{option} takes NAME=VALUE, such as {example}, not “{text}”.")
    return name.strip(), value


def plain(value: str) -> Any:
    """A value as JSON has it; what is none is a word."""
    try:
        return json.loads(value)
    except json.JSONDecodeError:
        return None if value == "None" else value.strip()


def as_json(frame: pd.DataFrame) -> str:
    rows = [{name: None if value != value else value for name, value in row.items()} for row in frame.to_dict("records")]
    return json.dumps(rows, indent=2, ensure_ascii=False, default=lambda number: number.item())


def writer(path: Path | None, *kinds: str) -> None:
    """Refuse a file before hours of work, not after."""
    if path is not None and path.suffix.lower() not in kinds:
        raise FactScopeError(f"--out takes a file ending in {' or '.join(kinds)}, not {path.name}.")
    if path is not None and not path.absolute().parent.is_dir():
        raise FactScopeError(f"There is no folder {path.absolute().parent} to write {path.name} to.")


def write(path: Path, frame: pd.DataFrame, tex: Callable[[], str] | None = None) -> None:
    kind = path.suffix.lower()
    text = as_json(frame) + "\n" if kind == ".json" else tex() if kind == ".tex" and tex is not None else frame_csv(frame)
    put(path, lambda file: file.write(text.encode()))
