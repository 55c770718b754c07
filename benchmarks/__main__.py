"""`make bench`: speed and memory against peers, in one run on the same matrices.

Contenders take turns (a round of twenty steps each, five rounds), so that what disturbs the machine disturbs all of them; a time is the
median of the rounds. Ratios of one run mean something, times of two runs do not. `--million` adds the corpus of a million documents.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

import fact_core as fc

from . import cluster, large, ratios, steps


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--json", action="store_true", help="rows as JSON instead of text")
    parser.add_argument("--million", action="store_true", help="only a million documents of 100 terms: minutes, and some 10 GB")
    parser.add_argument("--documents", type=int, default=1_000_000, metavar="N", help="another number of documents for --million")
    parser.add_argument("--made-up-graph", action="store_true", help="with --million: spare the search for neighbours")
    parser.add_argument("--cluster", action="store_true", help="only the Dask engine: time and bytes a step, two workers on this machine")
    options = parser.parse_args()
    if options.million:
        large.report(options.documents, not options.made_up_graph)
        return
    folder = Path(os.environ.get("FACTSCOPE_DATA") or "nowhere")
    found = {name: fc.load_corpus(file) for name in ("Reuters21578", "TDT2", "ORL") if (file := folder / f"{name}.mat").exists()}
    if options.cluster:
        cluster.show(cluster.rows([*([found["Reuters21578"]] if "Reuters21578" in found else []), large.zipf(100_000)]))
        return
    texts = [found[name] for name in ("Reuters21578", "TDT2") if name in found] or [large.zipf(8000)]
    rows = []
    for corpus in texts:
        rows += (table := steps.table(corpus))
        if not options.json:
            steps.show(table)
    measured = ratios.all_of(rows, texts, found.get("ORL"))
    if options.json:
        json.dump({"steps": rows, "ratios": list(measured)}, sys.stdout, indent=2)
    else:
        ratios.show(measured)


if __name__ == "__main__":
    main()
