"""`python -m benchmarks.selection`: what choosing k and λ without labels is worth.

Corpora: TDT2, Reuters-21578 and 20 Newsgroups from FACTSCOPE_DATA. Seed s of 0 … 4 draws 4 + s classes of 30 documents or more, and 100
documents of each at most. Every k of 2 … 12 and every value of λ is run six times on 80 % of the documents (which the suggestion sees) and
once on all of them with the method's own defaults (from which accuracies are taken). The rule was fixed on seeds 5 … 8 before seeds 0 … 4
were looked at. Finished runs are kept: the same command goes on after it was stopped.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pandas as pd

import fact_core as fc
from fact_core.commands import watch
from fact_core.jobs import Job, State, start
from fact_core.selection import correlations, evidence_of, judged, selection_study
from fact_core.study import Study

CORPORA = {"TDT2": "TDT2", "Reuters21578": "Reuters", "20Newsgroups": "20 Newsgroups"}
KS, LAMS, PAPER = range(2, 13), (1.0, 10.0, 100.0, 1000.0), 100.0


def finished(study: Study, workers: int) -> Job:
    job = start(study, workers=workers, with_parent=True)
    at = watch(job, sys.stderr.isatty())
    if at.state is not State.FINISHED or at.failures:
        raise SystemExit(at.error or str(at.failures) or "stopped")
    return job


def problem(corpus: str, method: str, seed: int, workers: int) -> dict[str, object]:
    """One row: what was suggested, and the scores of that, of the paper's λ and of the best setting in hindsight."""
    true = 4 + seed % 5
    classes = {"min_size": 30, "random": true, "at_most": 100, "seed": seed}
    n = len(fc.load_corpus(corpus).select(**classes))
    study = selection_study(corpus, method, KS, LAMS, classes=classes)
    evidence = evidence_of(finished(study, workers), n)
    assert evidence is not None
    whole = finished(Study(corpus, study.methods, axes=study.axes, seeds=(0,), classes=classes), workers).rows()
    scores = whole.pivot_table(index=["n_clusters", "lam"], columns="score", values="value")
    both, lam, k = judged(evidence), judged(evidence, k=true), judged(evidence, value=PAPER)
    row: dict[str, object] = {
        "corpus": corpus, "method": method, "seed": seed, "documents": n, "classes": true, "k": both.k, "lam": both.value,
        "lam_given_k": lam.value, "k_given_lam": k.k, "decided": both.decided,
    }  # fmt: skip
    for score in ("accuracy", "nmi"):
        at = scores[score]
        row |= {f"{score}_paper": at[true, PAPER], f"{score}_lam": at[true, lam.value], f"{score}_best_lam": at[true].max(),
                f"{score}_k": at[k.k, PAPER], f"{score}_both": at[both.k, both.value], f"{score}_best": at.max()}  # fmt: skip
    table = evidence.table.merge(
        scores[["accuracy"]].reset_index().rename(columns={"n_clusters": "k", "lam": "value", "accuracy": "whole"})
    )
    return row | {f"rho_{name}": value for name, value in correlations(table, "whole").items()}


def in_words(rows: pd.DataFrame) -> str:
    """The tables of the documentation, in Markdown."""
    rows = rows.assign(corpus=rows["corpus"].map(CORPORA), off=(rows["k"] - rows["classes"]).abs())
    near = (rows["off"] <= 1).groupby([rows["method"], rows["corpus"]], sort=False).mean()
    means = rows.groupby(["method", "corpus"], sort=False).mean(numeric_only=True)
    lines = ["| method | corpus | paper's λ, k known | suggested λ, k known | best λ, k known | suggested k, paper's λ | suggested k and λ "
             "| best k and λ | k off by | within 1 |", "|---|---|---|---|---|---|---|---|---|---|"]  # fmt: skip
    shown = ("paper", "lam", "best_lam", "k", "both", "best")
    for where, row in means.iterrows():
        cells = [f"{row[f'accuracy_{c}']:.3f} / {row[f'nmi_{c}']:.3f}" for c in shown]
        lines.append(f"| {where[0]} | {where[1]} | {' | '.join(cells)} | {row['off']:.1f} | {near[where]:.0%} |")  # type: ignore[index]
    names = [c.removeprefix("rho_") for c in rows if c.startswith("rho_")]
    lines += ["", f"| method | corpus | {' | '.join(names)} |", "|---" * (2 + len(names)) + "|"]
    for where, row in means.iterrows():
        cells = [f"{row['rho_' + name]:+.2f}" for name in names]
        lines.append(f"| {where[0]} | {where[1]} | {' | '.join(cells)} |")  # type: ignore[index]
    lines += ["", "| method | the data decide | problems | suggested k and λ | best k and λ | k off by |", "|---|---|---|---|---|---|"]
    for (method, decided), own in rows.groupby(["method", "decided"], sort=False):
        cells = [f"{own[f'accuracy_{c}'].mean():.3f} / {own[f'nmi_{c}'].mean():.3f}" for c in ("both", "best")]
        lines.append(f"| {method} | {'yes' if decided else 'no'} | {len(own)} | {' | '.join(cells)} | {own['off'].mean():.1f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", default="LCCF-NCW")
    parser.add_argument("--corpora", default=",".join(CORPORA))
    parser.add_argument("--seeds", default="0,1,2,3,4")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--csv", type=Path, help="one row a problem")
    parser.add_argument("--out", type=Path, help="the tables in Markdown")
    options = parser.parse_args()
    rows = []
    for method in options.methods.split(","):
        for corpus in options.corpora.split(","):
            for seed in map(int, options.seeds.split(",")):
                rows.append(problem(corpus, method, seed, options.workers))
                print(", ".join(f"{name} {value}" for name, value in list(rows[-1].items())[:10]), file=sys.stderr, flush=True)
                if options.csv:
                    pd.DataFrame(rows).round(4).to_csv(options.csv, index=False)
    said = in_words(pd.DataFrame(rows))
    if options.out:
        options.out.write_text(said, encoding="utf-8")
    print(said)


if __name__ == "__main__":
    main()
