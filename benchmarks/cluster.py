"""The Dask engine against one process: time and bytes a step, two workers on this machine."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

import fact_core as fc

from .large import made_up

METHODS = ("nmf", "gnmf", "cf", "lccf")
STEPS = (5, 25)  # two runs: what only the start costs is in both


def rows(corpora: list[fc.Corpus], workers: int = 2, methods: tuple[str, ...] = METHODS) -> Iterator[dict[str, Any]]:
    """Median ms a step here and there, processor time of all processes there, and what a step sends over all connections, in MB."""
    from distributed import LocalCluster

    local = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1")
    with local as cluster, cluster.get_client() as client:
        client.run(_count)
        _count()
        for corpus in corpora:
            for method in methods:
                yield {"corpus": corpus.name, "documents": len(corpus), "method": method, **_measured(client, corpus, method)}


def show(table: Iterator[dict[str, Any]]) -> None:
    print(f"{'corpus':16} {'documents':>9} {'method':7} {'ms here':>8} {'ms there':>9} {'busy ms':>8} {'MB a step':>10} {'differs':>9}")
    for row in table:
        print(
            f"{row['corpus']:16} {row['documents']:9} {row['method']:7} {row['here']:8.1f} {row['there']:9.1f} {row['busy']:8.1f} "
            f"{row['megabytes']:10.3f} {row['differs']:9.1e}",
            flush=True,
        )


def _measured(client: Any, corpus: fc.Corpus, method: str) -> dict[str, float]:
    spare = method in ("gnmf", "lccf") and len(corpus) >= 50_000  # minutes of search; edges anywhere are the worst case
    common = {"n_clusters": 10, "restarts": 1, "assign": "argmax", **({"graph": made_up(len(corpus))} if spare else {})}
    here, local = _run(corpus, method, STEPS[1], common)
    spent = []
    for steps in STEPS:
        before = _spent(client)
        there, result = _run(corpus, method, steps, common | {"engine": "dask"})
        spent.append(_spent(client) - before)
    sent, busy = (spent[1] - spent[0]) / (STEPS[1] - STEPS[0])
    difference = max(float(np.abs(result.factors[name] / np.maximum(a, 1e-12) - 1)[a > 1e-12].max()) for name, a in local.factors.items())
    return {"here": here, "there": there, "busy": 1e3 * busy, "megabytes": sent / 1e6, "differs": difference}


def _run(corpus: fc.Corpus, method: str, steps: int, options: dict[str, Any]) -> tuple[float, fc.Result]:
    at: list[float] = []
    result = fc.fit(corpus, method, max_iter=steps, progress=lambda _: at.append(time.perf_counter()), **options)
    return 1e3 * float(np.median([after - before for before, after in pairwise(at)])), result


def _count() -> None:
    """Have every connection of this process count the bytes it sends."""
    from distributed.comm.tcp import TCP

    if hasattr(TCP, "sent"):
        return
    write = TCP.write

    async def counted(self: Any, *args: Any, **kwargs: Any) -> int:
        size = await write(self, *args, **kwargs)
        TCP.sent += size
        return size

    TCP.sent, TCP.write = 0, counted


def _here() -> tuple[int, float]:
    """Bytes sent and seconds computed by this process."""
    from distributed.comm.tcp import TCP

    return TCP.sent, time.process_time()


def _spent(client: Any) -> np.ndarray:
    return np.sum([_here(), *client.run(_here).values()], axis=0)
