"""The ratios FactScope promises, beside what was promised."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import fact_core as fc
from fact_core.algorithms import Needs, configured
from fact_core.algorithms.base import Factors
from fact_core.graph import neighbour_graph
from fact_core.problem import Problem, graph_of, problem_of
from fact_core.products import load
from fact_core.solve import Solver, iterates, solve
from fact_core.threads import threads

from .large import made_up, step_time, zipf
from .measure import clock, median, taking_turns

Ratio = dict[str, Any]
ROOT = Path(__file__).parent.parent
FAR = 500  # the plain step whose objective the accelerated solver has to reach


def all_of(rows: list[dict[str, Any]], texts: list[fc.Corpus], orl: fc.Corpus | None) -> Iterator[Ratio]:
    """Every ratio, as soon as it is measured."""
    for corpus in texts:
        yield from of_steps([row for row in rows if row["corpus"] == corpus.name])
    for corpus in (fc.load_corpus("three-topics"), texts[0]):
        yield from of_restarts(corpus)
    if orl is not None:
        yield of_acceleration("cf", orl.select(largest=10), 10, "ten people of ORL", 8)
        yield of_acceleration("cf", orl, 40, "ORL", 8)
    for method in ("cf", "lccf"):
        yield of_acceleration(method, texts[0], 10, texts[0].name, 5)
    yield from of_size()
    for corpus in texts:
        yield of_graph(corpus)
    yield from of_starting()


def of_steps(rows: list[dict[str, Any]]) -> list[Ratio]:
    row = {r["what"]: r for r in rows}
    where = rows[0]["corpus"]

    def ratio(what: str, one: str, other: str, target: str, column: str = "ms_per_step") -> Ratio:
        return {"what": f"{what}, {where}", "value": row[one][column] / row[other][column], "unit": "×", "target": target}

    dense, four, mu = "LCCF, textbook with dense kernel", "four sparse products (scipy)", "scikit-learn NMF (mu)"
    return [
        ratio("LCCF step faster than with a dense kernel", dense, "LCCF, 2 threads", "≥ 15"),
        ratio("LCCF takes less memory than with a dense kernel", dense, "LCCF, 2 threads", "≥ 20", "peak_mb"),
        ratio("NMF step faster than scikit-learn's mu, 1 thread", f"{mu}, 1 thread", "NMF, 1 thread", "≥ 1.2"),
        ratio("NMF step faster than scikit-learn's mu, 2 threads", f"{mu}, 2 threads", "NMF, 2 threads", "≥ 1.5"),
        {"what": f"NMF objective against scikit-learn's after 100 steps, {where}", "unit": "relative", "target": "≤ 1e-8",
         "value": abs(row["NMF, 1 thread"]["objective"] / row[f"{mu}, 1 thread"]["objective"] - 1)},
        *(ratio(f"{key} step against four sparse products, {n}", f"{key}, {n}", four, target)
          for n, target in (("1 thread", "≤ 1.3"), ("2 threads", "< 1")) for key in ("CF", "LCCF")),
    ]  # fmt: skip


def prepared(method: str, corpus: fc.Corpus, k: int) -> Problem:
    algorithm = configured(method, {})
    problem = problem_of(corpus, k, graph=graph_of(corpus, 5, algorithm.graph) if Needs.GRAPH in algorithm.needs else None)
    load(problem.X, np.empty((problem.n, k)))
    return problem


def of_restarts(corpus: fc.Corpus) -> list[Ratio]:
    """Ten starts of thirty steps, against ten runs of thirty steps one after another."""
    k = (len(corpus.label_names) or 10) if len(corpus) < 1000 else 10
    found = []
    for method in ("cf", "lccf", "nmf"):
        problem, algorithm = prepared(method, corpus, k), configured(method, {})

        def run(starts: int, p: Problem = problem, a: Any = algorithm) -> None:
            solve(a, p, seed=np.random.SeedSequence(0), restarts=starts, max_iter=30, warm_up=30)

        times = taking_turns({"together": lambda run=run: run(10), "in turn": lambda run=run: [run(1) for _ in range(10)]})
        value = median(times["in turn"]) / median(times["together"])
        what = f"ten starts of {algorithm.title} together faster than in turn, {threads()} threads, {corpus.name}"
        found.append({"what": what, "value": value, "unit": "×", "target": "≥ 2"})
    return found


def of_acceleration(method: str, corpus: fc.Corpus, k: int, where: str, target: int) -> Ratio:
    """Time to the objective of plain step 500, the median over five starts."""
    problem, algorithm = prepared(method, corpus, k), configured(method, {})
    values, took = [], []
    for seed in range(5):
        start = algorithm.start(problem, np.random.default_rng(seed))
        plain, goal = clock(lambda s=start: _after(algorithm, problem, s, FAR))
        fast, steps = clock(lambda s=start, g=goal: _until(algorithm, problem, s, g))
        values.append(plain / fast if steps is not None else 0.0)
        took.append(steps)
    words = ", ".join("never" if steps is None else str(steps) for steps in took)
    what = f"accelerated {algorithm.title} faster to the objective of step {FAR}, {where} (in {words} steps)"
    return {"what": what, "value": median(values), "unit": "×", "target": f"≥ {target}"}


def _after(algorithm: Any, problem: Problem, start: Factors, steps: int) -> float:
    loop = iterates(algorithm, problem, start)
    for _ in range(steps):
        next(loop)
    return next(loop).objective


def _until(algorithm: Any, problem: Problem, start: Factors, goal: float) -> int | None:
    for at in iterates(algorithm, problem, start, Solver.ACCELERATED):
        if at.objective <= goal:
            return at.step
        if at.step == FAR:
            return None
    return None


def of_size() -> list[Ratio]:
    """Twice the documents, out of a generated corpus that does not fit the caches."""
    problems = []
    for documents in (60_000, 120_000):
        corpus = zipf(documents, length=100)
        problems.append(problem_of(corpus, 10, graph=made_up(documents)))
    load(problems[0].X, np.empty((60_000, 10)))
    found = []
    for method in ("gnmf", "lccf"):
        times = [[step_time(method, p, 3)[0] for p in problems] for _ in range(3)]
        value = median([large for _, large in times]) / median([small for small, _ in times])
        found.append({"what": f"{method.upper()} step with twice the documents (zipf, 60 000 → 120 000)", "value": value, "unit": "×",
                      "target": "≤ 2.2"})  # fmt: skip
    return found


def of_graph(corpus: fc.Corpus) -> Ratio:
    seconds = median([clock(lambda: neighbour_graph(corpus.matrix, 5))[0] for _ in range(5)])
    return {"what": f"exact graph of {len(corpus)} documents, {corpus.name}", "value": seconds, "unit": "s", "target": "< 1"}


def of_starting() -> list[Ratio]:
    def fresh(script: str, rounds: int) -> float:
        def run() -> object:
            return subprocess.run(
                [sys.executable, "-c", script], cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )

        run()
        return median([clock(run)[0] for _ in range(rounds)])

    found = [
        {
            "what": "import fact_core, the interpreter's own start included",
            "value": fresh("import fact_core", 5),
            "unit": "s",
            "target": "≤ 1",
        }
    ]
    page = "from streamlit.testing.v1 import AppTest; app = AppTest.from_file('app.py', default_timeout=60).run(); assert not app.exception"
    try:
        found.append({"what": "first page of a new process", "value": fresh(page, 3), "unit": "s", "target": "≤ 4"})
    except subprocess.CalledProcessError:
        print("the page could not be measured: is streamlit installed?", file=sys.stderr)
    return found


def show(found: Iterable[Ratio]) -> None:
    print(f"{'measured':<104}{'value':>12}  {'promised':<9}")
    for ratio in found:
        value = f"{ratio['value']:.1e}" if ratio["unit"] == "relative" else f"{ratio['value']:.2f} {ratio['unit']}"
        print(f"{ratio['what']:<104}{value:>12}  {ratio['target']:<9}{'' if kept(ratio) else ' missed'}", flush=True)


def kept(ratio: Ratio) -> bool:
    sign, bound = ratio["target"].split()
    tests: dict[str, Callable[[float, float], bool]] = {"≥": float.__ge__, "≤": float.__le__, "<": float.__lt__}
    return bool(tests[sign](float(ratio["value"]), float(bound)))
