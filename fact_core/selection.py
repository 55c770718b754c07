"""Which k, which λ, when nobody knows the classes.

Every setting of a grid is run several times, each time on another share of the documents and from another seed. That is a study as any
other (:func:`selection_study`), so it can be watched, stopped and resumed. What the runs say of each setting is :class:`Evidence`;
:func:`judged` makes a :class:`Suggestion` of it, and :func:`suggest` does all of this in one call.

The score of a setting is the mean of three standardised criteria that look at different things: whether other documents and other seeds
give the same clusters (agreement), whether neighbours stay together (cut), whether the terms of a concept occur together (coherence).
Each alone misleads: agreement likes two clusters, the cut likes few, coherence likes many. The silhouette and the cophenetic correlation
are shown and not used. What this is worth is measured in `benchmarks/selection.py`.

Leaving out one run after the other tells whether the data decide: if that changes the answer, the suggestion says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from .algorithms.base import find
from .corpus import load_corpus
from .corpus.model import Corpus, sample_rows
from .criteria import agreement, consensus, consensus_documents, consensus_order, cophenetic, mean_agreement
from .errors import FactScopeError
from .fit import whole
from .jobs import Job, State, Status, start
from .parameters import Param, Scale
from .presets import resolve
from .store import Store
from .study import Method, Study

RUNS = 6
SHARE = 0.8
STARTS = 3  # of a run; the grid is large
FOUND_AGAIN = 0.6  # agreement below which two runs have not found the same clusters
CRITERIA = {"agreement": 1, "cut": -1, "coherence": 1, "silhouette": 1, "cophenetic": 1}  # and which way is better
SCORED = ("agreement", "cut", "coherence")
MEANING = {
    "score": "Mean of agreement, cut and coherence, each standardised over the settings that were tried.",
    "agreement": "Adjusted Rand index of two runs on other documents and from other seeds: 1 where they find the same clusters.",
    "cut": "Share of its edges in the neighbour graph a cluster has with other clusters; lower is better.",
    "coherence": "NPMI of the ten heaviest terms of a concept: 1 where they always occur together, 0 as often as by chance.",
    "silhouette": "How much nearer documents are to their own cluster than to the next, in the coordinates.",
    "cophenetic": "How tree-like the consensus of the runs is: 1 where each two documents are always or never together.",
}
Setting = tuple[int, Any]  # k, and the value of the parameter; None where the method has none


def tunable(method: str) -> Param | None:
    """The parameter of a method that is chosen with k: the first one, p and the share of labels aside, of which the papers name a value."""
    named = [p for p in find(resolve(method).key).parameters if p.published and p.name not in {"p", "share"}]
    return named[0] if named else None


def usual_values(p: Param) -> tuple[float, ...]:
    """What is tried of a parameter: its default, two powers of ten below it and one above; or fifths of a linear range."""
    if p.scale is Scale.LOG:
        values = [p.default * ten for ten in (0.01, 0.1, 1, 10)]
    else:
        values = sorted({p.low + fifth * (p.high - p.low) / 5 for fifth in range(1, 5)} | {p.default})
    return tuple(float(f"{v:.3g}") for v in values if p.low <= v <= p.high)


def selection_study(
    corpus: str,
    method: str,
    ks: Iterable[int],
    values: Iterable[float] | None = None,
    *,
    runs: int = RUNS,
    share: float = SHARE,
    options: Mapping[str, Any] | None = None,
    reading: Mapping[str, Any] | None = None,
    classes: Mapping[str, Any] | None = None,
) -> Study:
    """The runs to choose by: every k with every value, `runs` times on a `share` of the documents.

    `values` are those of the :func:`tunable` parameter (by default :func:`usual_values`). A share of 1 varies the seed only. `options` are
    further keywords of `fit`, `reading` those of `load_corpus`, `classes` those of `Corpus.select`.
    """
    algorithm = find(resolve(method).key)
    if algorithm.clusters_are_classes:
        raise FactScopeError(f"{algorithm.title} finds the classes it is told of, so there is no k to choose.")
    axes: dict[str, Sequence[Any]] = {"n_clusters": [whole("number of clusters", k, 2) for k in dict.fromkeys(ks)]}
    if not axes["n_clusters"]:
        raise FactScopeError("There is no k to choose from.")
    p = tunable(method)
    if p is not None:
        axes[p.name] = [p.check(v) for v in dict.fromkeys(usual_values(p) if values is None else values)]
    elif values:
        raise FactScopeError(f"{algorithm.title} has no parameter to choose beside k.")
    if whole("number of runs", runs, 1) < 3:
        raise FactScopeError("Three runs of each setting at least are needed to see whether they agree.")
    return Study(
        corpus, (Method(method),), axes=axes, seeds=tuple(range(runs)), sample=share, reading=reading or {}, classes=classes or {},
        options=({"restarts": STARTS} if algorithm.blocks else {}) | dict(options or {}), title=f"k for {method} on {corpus}",
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the finished runs of a selection study say."""

    parameter: Param | None
    n: int  # documents in all
    runs: pd.DataFrame  # one row a run: k, value, seed, and its scores
    labellings: dict[
        Setting, dict[int, np.ndarray]
    ]  # by setting and seed: the cluster of each of the n documents, −1 where it was left out

    @cached_property
    def _agreements(self) -> dict[Setting, pd.DataFrame]:
        return {setting: pd.DataFrame(agreement(list(own.values())), list(own), list(own)) for setting, own in self.labellings.items()}

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row a setting: its criteria, the spread of the agreement, the score they come to, and scores against classes where known."""
        found = self._table(None)
        documents = consensus_documents(self.n)
        found["cophenetic"] = [cophenetic(consensus(list(self.labellings[own].values()), documents)) for own in _settings(found)]
        return found

    def _table(self, without: int | None) -> pd.DataFrame:
        rows = []
        for (k, value), own in self._agreements.items():
            seeds = [seed for seed in own.index if seed != without]
            mean, error = mean_agreement(own.loc[seeds, seeds].to_numpy())
            rows.append({"k": k, "value": value, "runs": len(seeds), "agreement": mean, "agreement_se": error})
        table = pd.DataFrame(rows, columns=["k", "value", "runs", "agreement", "agreement_se"])
        means = self.runs[self.runs["seed"] != without].drop(columns="seed").groupby(["k", "value"], dropna=False).mean().reset_index()
        table = table.astype({"value": float}).merge(means, on=["k", "value"], how="left")
        return table.assign(score=scored(table)).sort_values(["k", "value"], ignore_index=True)

    @cached_property
    def left_out(self) -> list[pd.DataFrame]:
        """The same table without one run after the other."""
        return [self._table(seed) for seed in sorted(set(self.runs["seed"]))]

    def consensus(self, setting: Setting) -> np.ndarray:
        """How often each two documents are together, in an order that shows the clusters; at most a few hundred documents."""
        C = consensus(list(self.labellings[setting].values()), consensus_documents(self.n))
        order = consensus_order(C)
        return C[np.ix_(order, order)]


def _settings(table: pd.DataFrame) -> list[Setting]:
    return [(int(k), None if value != value else float(value)) for k, value in zip(table["k"], table["value"], strict=True)]


def scored(table: pd.DataFrame) -> pd.Series:
    """The mean of the standardised criteria; one that is not known everywhere is left out."""
    parts = []
    for name in SCORED:
        if name in table and (values := table[name] * CRITERIA[name]).notna().all():
            spread = float(values.std(ddof=0))
            parts.append((values - values.mean()) / (spread if spread > 0 else 1.0))
    return sum(parts) / max(len(parts), 1)  # type: ignore[return-value]


def evidence_of(job: Job, n: int, store: Store | None = None) -> Evidence | None:
    """What is there so far of a selection study on n documents; None if too little to judge by."""
    store = store or Store(job.home)
    study, cells, addresses = job.study, job.cells(), job.addresses()
    parameter = tunable(study.methods[0].name)
    kept = store.get(addresses)
    rows, labellings = [], dict[Setting, dict[int, np.ndarray]]()
    for cell, address in zip(cells, addresses, strict=bool(addresses)):
        labels = (store.arrays(address, "labels") or {}).get("labels") if address in kept else None
        if labels is None:
            continue
        k = cell.point["n_clusters"]
        value = float(cell.point[parameter.name]) if parameter is not None else None
        every = np.full(n, -1, dtype=np.int64)
        every[sample_rows(n, cell.select["sample"], cell.select["draw"])] = labels
        labellings.setdefault((k, value), {})[cell.seed] = every
        rows.append({"k": k, "value": value, "seed": cell.seed} | _shown(kept[address].run.scores))
    enough = {setting: own for setting, own in labellings.items() if len(own) > 2}
    if not enough:
        return None
    runs = pd.DataFrame([row for row in rows if (row["k"], row["value"]) in enough]).astype({"value": float})
    return Evidence(parameter, n, runs, enough)


def _shown(scores: Mapping[str, float]) -> dict[str, float]:
    return {name: scores[name] for name in ("cut", "coherence", "silhouette", "accuracy", "nmi") if name in scores}


@dataclass(frozen=True)
class Suggestion:
    """A choice, the table that justifies it, and why it may be wrong."""

    k: int
    value: Any  # of the parameter; None where the method has none
    parameter: Param | None
    table: pd.DataFrame
    doubts: tuple[str, ...]  # sentences; none where the data decide
    hints: tuple[str, ...]  # what else might be tried

    @property
    def decided(self) -> bool:
        return not self.doubts

    @property
    def row(self) -> dict[str, Any]:
        """The row of the table for this choice."""
        row = self.table.iloc[_settings(self.table).index((self.k, self.value))]
        return {str(name): value for name, value in row.items()}

    @property
    def settings(self) -> dict[str, Any]:
        """Keywords of `fit`."""
        return {"n_clusters": self.k} | ({} if self.parameter is None else {self.parameter.name: self.value})

    def __str__(self) -> str:
        said = "" if self.parameter is None else f" and {self.parameter.symbol} = {self.value:g}"
        return " ".join([f"k = {self.k}{said}.", *self.doubts, *self.hints])


def judged(evidence: Evidence, *, k: int | None = None, value: Any = None) -> Suggestion:
    """The setting with the highest score, among those with this k or this value if one is given, and whether the data decide."""

    def best(table: pd.DataFrame) -> Setting:
        rows = [
            (score, setting)
            for setting, score in zip(_settings(table), table["score"], strict=True)
            if (k is None or setting[0] == k) and (value is None or setting[1] == value)
        ]
        if not rows:
            raise FactScopeError("There is no finished setting to choose from.")
        return max(rows, key=lambda row: row[0])[1]

    found = best(evidence.table)
    others = [best(table) for table in evidence.left_out]
    doubts, hints = _doubts(evidence, found, others), _edges(evidence, found, k is None, value is None)
    return Suggestion(*found, evidence.parameter, evidence.table, tuple(doubts), tuple(hints))


def _doubts(evidence: Evidence, found: Setting, others: list[Setting]) -> Iterable[str]:
    table, p = evidence.table, evidence.parameter
    ks = sorted({found[0], *(k for k, _ in others)})
    values = sorted({found[1], *(v for _, v in others)}) if p is not None else []
    if len(ks) > 1:
        yield f"The data do not decide on k: with one of the runs left out it would be {_or(ks)}."
    if p is not None and len(values) > 1:
        start = f"They do not decide on {p.symbol} either" if len(ks) > 1 else f"The data do not decide on {p.symbol}"
        yield f"{start}: with one of the runs left out it would be {_or(values)}."
    agreed = table["agreement"].iloc[_settings(table).index(found)]
    if agreed < FOUND_AGAIN:
        yield f"Even there two runs agree by {agreed:.2f} only: other documents and other seeds give other clusters."


def _edges(evidence: Evidence, found: Setting, free_k: bool, free_value: bool) -> Iterable[str]:
    table, p = evidence.table, evidence.parameter
    edges: list[tuple[str, float, pd.Series, float]] = [("k", found[0], table["k"], 2)] if free_k else []
    edges += [(p.symbol, found[1], table["value"], p.low)] if free_value and p is not None else []
    for what, here, tried, least in edges:
        if tried.nunique() > 1 and here in (tried.min(), tried.max()) and here != least:
            yield f"{what} = {here:g} is the {'smallest' if here == tried.min() else 'largest'} that was tried; a wider range may say more."


def _or(values: Sequence[float]) -> str:
    words = [f"{v:g}" for v in values]
    return f"{', '.join(words[:-1])} or {words[-1]}"


def correlations(table: pd.DataFrame, with_score: str = "accuracy") -> dict[str, float]:
    """How each criterion would have done: its rank correlation with a score against the classes, over the settings; 1 is perfect."""
    from scipy.stats import spearmanr

    found = {}
    for name, sign in ({"score": 1} | CRITERIA).items():
        if name in table and with_score in table:
            some = table[[name, with_score]].dropna()
            varies = len(some) > 2 and some.nunique().min() > 1
            found[name] = float(spearmanr(sign * some[name], some[with_score]).statistic) if varies else float("nan")
    return found


def suggest(
    corpus: Corpus | str,
    method: str = "lccf",
    ks: Iterable[int] = range(2, 11),
    values: Iterable[float] | None = None,
    *,
    runs: int = RUNS,
    share: float = SHARE,
    options: Mapping[str, Any] | None = None,
    workers: int | None = None,
    progress: Callable[[Status], object] | None = None,
) -> Suggestion:
    """k and λ for a method on a corpus, by runs that need no classes.

    What was computed before is taken from the store; called again after it was interrupted, it goes on.
    """
    chosen = load_corpus(corpus) if isinstance(corpus, str) else corpus
    name = corpus if isinstance(corpus, str) else corpus.name
    study = selection_study(name, method, ks, values, runs=runs, share=share, options=options)
    job = start(study, None if isinstance(corpus, str) else chosen, workers=workers, with_parent=True)
    try:
        while not (at := job.status()).over:
            if progress is not None:
                progress(at)
            time.sleep(0.1)
    except BaseException:
        job.stop()
        raise
    found = evidence_of(job, len(chosen)) if at.state is State.FINISHED else None
    if found is None:
        raise FactScopeError(at.error or "The runs were stopped before there was enough to choose by.")
    return judged(found)
