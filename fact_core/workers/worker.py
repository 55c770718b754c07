"""A worker's life: tasks from stdin, answers to stdout, until the server is gone."""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
import time
from collections import OrderedDict
from typing import Any

import numpy as np
import psutil

from .. import log, memory
from ..corpus.model import Corpus, from_matrix
from ..errors import FactScopeError
from ..fit import fit
from ..solve import Progress
from ..store.corpora import corpus_of
from .errands import ERRANDS, Desk
from .frames import CORPUS, Message, receive, send

KEPT = 2  # corpora, with the graphs and kernels made for them
OFTEN = 0.1  # seconds between two messages of a run


class Worker:
    def __init__(self, inbox: Any, outbox: Any):
        self.outbox = outbox
        self.tasks: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self.unwanted: set[int] = set()  # tasks to be stopped
        self.corpora: OrderedDict[str, Corpus] = OrderedDict()
        threading.Thread(target=self.listen, args=(inbox,), daemon=True).start()

    def listen(self, inbox: Any) -> None:
        try:
            while True:
                about, arrays = receive(inbox)
                if about["do"] == "stop":
                    self.unwanted.add(about["task"])
                else:
                    self.tasks.put((about, arrays))
        finally:  # the server is gone
            os._exit(0)

    def live(self) -> None:
        while True:
            about, arrays = self.tasks.get()
            os.environ.update(about.get("environment", {}))
            try:
                said, found = self.done(about, arrays)
                said["say"] = "done"
            except FactScopeError as error:
                said, found = {"say": "refused", "sentence": str(error)}, {}
            except MemoryError:
                said, found = {"say": "refused", "sentence": "There is not enough memory for this run; fewer documents would fit."}, {}
            except Exception as error:  # a mistake of ours: it is raised where the task came from
                log.failure("worker.broke", error, do=about["do"])
                said, found = {"say": "broke", "error": f"{type(error).__name__}: {error}"}, {}
            memory.give_back()
            said |= {"task": about["task"], "memory": psutil.Process().memory_info().rss}
            self.unwanted.discard(about["task"])
            send(self.outbox, said, found)

    def done(self, about: dict[str, Any], arrays: dict[str, np.ndarray]) -> Message:
        key, number, last = about["corpus"], about["task"], 0.0
        sent = {name.removeprefix(CORPUS): arrays.pop(name) for name in list(arrays) if name.startswith(CORPUS)}
        if sent:
            self.corpora[key] = corpus_of(sent)
            while len(self.corpora) > KEPT:
                self.corpora.popitem(last=False)
        if key:
            self.corpora.move_to_end(key)

        def note(at: Progress) -> None:
            nonlocal last
            if (now := time.monotonic()) - last >= OFTEN:
                send(self.outbox, {"say": "progress", "task": number, "at": [at.done, at.total, at.start], "curve": list(at.history)})
                last = now

        return ERRANDS[about["do"]].done(Desk(self.corpora.get(key), about, arrays, note, lambda: number in self.unwanted))


def main() -> None:
    outbox = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not come between the messages
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("500")  # where memory runs out, a run goes before the server
    worker = Worker(sys.stdin.buffer, outbox)
    fit(from_matrix(np.eye(6) + 0.1), "lccf", n_clusters=2, max_iter=1, restarts=1, p=2)  # imports what every run needs
    send(outbox, {"say": "ready", "task": 0})
    worker.live()
