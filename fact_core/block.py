"""One worker's documents, and what is computed there.

A block takes lists of calls, written down where `fit` was called (:mod:`fact_core.remote`), and carries them out on its own rows. All
workers are given the same calls. A call may end with the others: its results are added up over the workers, or rows of other workers'
documents are put beside one's own. That happens when somebody needs the outcome, for everything that waits by then in one exchange, and
from worker to worker, in the order of the blocks, so that all of them hold the same sums to the last bit.
"""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from .corpus.model import Matrix
from .products import times
from .threads import limited

LARGE = 2**13  # numbers of a sum that are better added up in slices, one a worker, than by everybody
ENDED = "another worker of this problem is lost"


class Name(NamedTuple):
    """Stands for an array among the arguments of a call."""

    number: int | str


class Then(Enum):
    """What is done with the outcome of a call."""

    KEEP = "keep"
    ADD_UP = "add up"  # over the workers
    SURROUND = "surround"  # with the rows of other workers' documents that edges lead to


class Call(NamedTuple):
    """`what(*arguments)` is to be known under a number; without anything to do, that number is forgotten."""

    number: int | str
    what: Callable[..., Any] | None = None
    arguments: tuple[Any, ...] = ()
    then: Then = Then.KEEP
    in_place: bool = False  # the array is there already and is written to

    @property
    def needs(self) -> list[int | str]:
        return [a.number for a in self.arguments if isinstance(a, Name)] + [self.number] * self.in_place


@dataclass(frozen=True)
class Edges:
    """The rows of S of some documents. Its columns are these documents, then those of others that edges lead to, in their order."""

    S: Matrix
    lent: dict[int, np.ndarray] = field(default_factory=dict)  # by worker: which of these documents' rows it needs
    lenders: tuple[int, ...] = ()  # workers whose rows are needed here


class Block:
    """An actor of Dask's: it stays on its worker as long as the client holds it."""

    def __init__(self, rank: int, threads: int):
        from distributed import get_worker

        self.worker, self.rank, self.threads = get_worker(), rank, threads
        self.peers: list[tuple[str, str]] = []  # where all blocks are, and under which key
        self.values: dict[int | str, Any] = {}
        self.waiting: dict[int | str, tuple[Then, Any]] = {}  # for the other workers
        self.round, self.parcels = 0, dict[tuple[int, int], asyncio.Future[Any]]()
        self.ended = False

    async def meet(self, peers: list[tuple[str, str]]) -> None:
        self.peers = peers

    async def run(self, calls: bytes, own: dict[int | str, Any], wanted: list[int]) -> dict[int, Any]:
        """Carry out the (pickled) calls; `own` are values of this worker alone."""
        self.values |= {name: a.copy() if isinstance(a, np.ndarray) else a for name, a in own.items()}  # what a message holds is read-only
        left: list[Call] = pickle.loads(calls)  # from our own client, which may run anything here anyway: that is what Dask is for
        while left or self.waiting:
            left = await asyncio.to_thread(self._work, left)
            if self.waiting:
                await self._exchange()
        return {number: self.values[number] for number in wanted}

    def _work(self, calls: list[Call]) -> list[Call]:
        """Every call that needs nobody else; the others, in their order."""
        left, missing, read = list[Call](), set(self.waiting), set[int | str]()  # `read`: what is still needed as it is
        with limited(self.threads):
            for call in calls:
                overwrites = call.in_place or call.what is None
                if not missing.isdisjoint(call.needs) or (overwrites and (call.number in missing or call.number in read)):
                    left.append(call)
                    missing.add(call.number)
                    read.update(call.needs)
                elif call.what is None:
                    del self.values[call.number]
                else:
                    value = call.what(*map(self._meant, call.arguments), **({"out": self.values[call.number]} if call.in_place else {}))
                    if call.then is Then.KEEP:
                        self.values[call.number] = value
                    else:
                        self.waiting[call.number] = call.then, value
                        missing.add(call.number)
                        read.update(call.needs)
        return left

    def _meant(self, argument: Any) -> Any:
        return self.values[argument.number] if isinstance(argument, Name) else argument

    # With the other workers -----------------------------------------------------------------------------------------------

    async def _exchange(self) -> None:
        """Finish what waits: one parcel to each worker, and one more where sums are large and workers many."""
        waiting, self.waiting = self.waiting, {}
        sums = {name: part for name, (then, part) in waiting.items() if then is Then.ADD_UP}
        rows = {name: part for name, (then, part) in waiting.items() if then is Then.SURROUND}
        everybody = [rank for rank in range(len(self.peers)) if rank != self.rank]
        cut = {name: part.shape for name, part in sums.items() if len(everybody) > 1 and part.size > LARGE}
        slices = {name: np.array_split(sums[name].ravel(), len(self.peers)) for name in cut}
        edges: Edges = self.values["S"] if rows else Edges(np.empty((0, 0)))

        def meant_for(rank: int) -> dict[int | str, np.ndarray]:
            lent = {name: part[..., edges.lent[rank], :] for name, part in rows.items() if rank in edges.lent}
            return {name: slices[name][rank] if name in cut else part for name, part in sums.items()} | lent

        there = {rank: parcel for rank in everybody if (parcel := meant_for(rank))}
        got = await self._swap(there, everybody if sums else edges.lenders) | {self.rank: meant_for(self.rank)}
        self.values |= {name: reduce(np.add, (got[rank][name] for rank in sorted(got))) for name in sums}
        for name, part in rows.items():
            self.values[name] = np.concatenate([part, *(got[rank][name] for rank in edges.lenders)], axis=-2)
        if cut:
            mine = {name: self.values[name] for name in cut}
            got = await self._swap(dict.fromkeys(everybody, mine), everybody) | {self.rank: mine}
            for name, shape in cut.items():
                self.values[name] = np.concatenate([got[rank][name] for rank in sorted(got)]).reshape(shape)

    async def _swap(self, there: dict[int, Any], senders: Any) -> dict[int, Any]:
        """Parcels to some workers, and those of some workers back."""
        if self.ended:
            raise OSError(ENDED)
        self.round += 1
        sent = [self._sent(rank, self.round, parcel) for rank, parcel in there.items()]
        got = await asyncio.gather(*(self._parcel(self.round, rank) for rank in senders), *sent)
        for rank in senders:
            del self.parcels[self.round, rank]
        return dict(zip(senders, got, strict=False))

    async def _sent(self, rank: int, turn: int, parcel: Any) -> None:
        """Straight to the other worker; Dask's own proxies of actors would wait for ever for one that is lost."""
        from distributed.protocol import to_serialize

        address, key = self.peers[rank]
        arguments = [to_serialize(a) for a in (turn, self.rank, parcel)]
        reply = await self.worker.rpc(address).actor_execute(actor=key, function="take", args=arguments, kwargs={})
        if reply["status"] != "OK":
            raise reply["exception"]

    async def take(self, turn: int, rank: int, parcel: Any) -> None:
        """Called by another worker, perhaps before this one has come as far."""
        expected = self._parcel(turn, rank)
        if not expected.done():
            expected.set_result(parcel)

    async def end(self) -> None:
        """Wait for nobody any more: a worker is lost, or has failed."""
        self.ended = True
        for expected in self.parcels.values():
            if not expected.done():
                expected.set_exception(OSError(ENDED))

    def _parcel(self, turn: int, rank: int) -> asyncio.Future[Any]:
        if (turn, rank) not in self.parcels:
            self.parcels[turn, rank] = asyncio.get_running_loop().create_future()
        return self.parcels[turn, rank]


def smoothed(edges: Edges, V: np.ndarray) -> np.ndarray:
    """The rows of S·V, V with the rows of the other workers' documents below its own."""
    return times(edges.S, V)
