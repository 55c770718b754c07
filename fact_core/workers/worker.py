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

from .. import log
from ..answers import taken_apart
from ..corpus.model import Corpus, from_matrix
from ..errors import FactScopeError
from ..fit import fit
from ..projection import Projection, projected
from ..solve import Progress
from ..store.corpora import corpus_of
from .frames import Message, receive, send

KEPT = 2  # corpora, with the graphs and kernels made for them
OFTEN = 0.1  # seconds between two messages of a fit


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
                said, found = getattr(self, about["do"])(about, arrays)
                said["say"] = "done"
            except FactScopeError as error:
                said, found = {"say": "refused", "sentence": str(error)}, {}
            except MemoryError:
                said, found = {"say": "refused", "sentence": "There is not enough memory for this run; fewer documents would fit."}, {}
            except Exception as error:  # a mistake of ours: it is raised where the task came from
                log.failure("worker.broke", error, do=about["do"])
                said, found = {"say": "broke", "error": f"{type(error).__name__}: {error}"}, {}
            said |= {"task": about["task"], "memory": psutil.Process().memory_info().rss}
            self.unwanted.discard(about["task"])
            send(self.outbox, said, found)

    def fit(self, about: dict[str, Any], arrays: dict[str, np.ndarray]) -> Message:
        key = about["corpus"]
        if arrays:
            self.corpora[key] = corpus_of(arrays)
            while len(self.corpora) > KEPT:
                self.corpora.popitem(last=False)
        self.corpora.move_to_end(key)
        number, last = about["task"], 0.0

        def note(at: Progress) -> None:
            nonlocal last
            if (now := time.monotonic()) - last >= OFTEN:
                send(self.outbox, {"say": "progress", "task": number, "at": [at.done, at.total, at.start], "curve": list(at.history)})
                last = now

        result = fit(self.corpora[key], about["method"], progress=note, cancelled=lambda: number in self.unwanted, **about["settings"])
        return taken_apart(result)

    def umap(self, about: dict[str, Any], arrays: dict[str, np.ndarray]) -> Message:
        return {}, {"places": projected(arrays["embedding"], Projection.UMAP, about["dimensions"])}


def main() -> None:
    outbox = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not come between the messages
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("500")  # where memory runs out, a run goes before the server
    worker = Worker(sys.stdin.buffer, outbox)
    fit(from_matrix(np.eye(6) + 0.1), "lccf", n_clusters=2, max_iter=1, restarts=1, p=2)  # imports what every run needs
    send(outbox, {"say": "ready", "task": 0})
    worker.live()
