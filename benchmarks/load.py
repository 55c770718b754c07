"""`python -m benchmarks.load`: thirty people on one server for three minutes, while two studies run.

Each visitor speaks the protocol a browser does: opens pages, moves sliders, presses Run, lets fragments run again when the server asks
for it, saves a figure or a table now and then, and thinks for some seconds in between. A page answer is the time from the message to the
end of the script it started. Memory is that of the server and of its workers: when it has begun and nobody was there; before the visitors
come, when somebody has looked at every page on every corpus and saved a file of each kind, so that everything is imported and read; during;
and after their sessions have been forgotten and the same somebody came again.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

import psutil
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

ROOT = Path(__file__).parent.parent
THINKING = (2.0, 8.0)  # seconds between two actions of a person
CORPORA = ("scipy-docs", "three-topics", "digits", "gaussians")
METHODS = ("lccf", "nmf", "gnmf", "cf", "kmeans", "NC-PSPt", "LCCF-NCW", "lcf")
FILES = (".pdf", ".svg", ".png", ".html", ".csv")
PAGES = ("", "corpus", "concepts", "coordinates", "compare", "constraints", "history")


class Visitor:
    """One browser."""

    def __init__(self, address: str, seed: int):
        self.address, self.rng = address, random.Random(seed)
        self.pages: dict[str, str] = {}
        self.page = self.session = ""
        self.query = f"corpus={self.rng.choice(CORPORA)}&method={self.rng.choice(METHODS)}"
        self.sliders: dict[str, Any] = {}
        self.run_button = ""
        self.trigger = ""  # the button to be pressed next
        self.popovers: dict[str, str] = {}  # menus of files, each with the fragment it is in
        self.files: dict[str, str] = {}  # the files that can be had, by button
        self.opened = ""  # the one menu that is open
        self.urls: dict[str, asyncio.Future[str]] = {}  # files asked for
        self.saved: list[float] = []  # seconds
        self.values: dict[str, list[float]] = {}
        self.answers: list[tuple[str, float]] = []
        self.errors: list[str] = []
        self.timers: dict[str, asyncio.Task[None]] = {}
        self.finished, self.part_finished = asyncio.Event(), asyncio.Event()
        self.seen: set[str] = set()
        self.asked_again: set[str] = set()

    async def live(self, seconds: float) -> None:
        try:
            async with websockets.connect(
                f"ws://{self.address}/_stcore/stream",
                subprotocols=["streamlit", "x"],
                max_size=None,
                open_timeout=60,  # type: ignore[list-item]
            ) as self.socket:
                listening = asyncio.create_task(self.listen())
                end = time.monotonic() + seconds
                await self.act("open")
                while time.monotonic() < end:
                    await asyncio.sleep(self.rng.uniform(*THINKING))
                    await self.act(self.rng.choices(["slide", "run", "page", "save"], [3, 4, 2, 1])[0])
                listening.cancel()
                for timer in self.timers.values():
                    timer.cancel()
        except Exception as error:
            self.errors.append(f"{type(error).__name__}: {error}")

    async def act(self, what: str) -> None:
        """One thing a person does, timed to the end of the script."""
        trigger, self.trigger = self.trigger, ""
        if what == "save":
            return await self.save()
        if what == "page" and self.pages:
            self.page = self.rng.choice([p for p in PAGES if p in self.pages])
            for timer in self.timers.values():
                timer.cancel()
            self.timers, self.values = {}, {}
        elif what in ("slide", "run") and self.sliders:
            slider = self.rng.choice(list(self.sliders.values()))
            steps = round((slider.max - slider.min) / slider.step) if slider.step else 0
            self.values[slider.id] = [slider.min + slider.step * self.rng.randint(0, min(steps, 12))]
            trigger = self.run_button if what == "run" else ""
        self.sliders, self.run_button, self.popovers, self.files, self.opened = (
            {},
            "",
            {},
            {},
            "",
        )  # what is on the page by then comes with the answer
        self.finished.clear()
        began = time.monotonic()
        await self.send(trigger)
        try:
            await asyncio.wait_for(self.finished.wait(), 60)
        except TimeoutError:
            self.errors.append(f"no answer to {what} on {self.page or 'explore'} in 60 s")
        self.answers.append((what, time.monotonic() - began))

    async def save(self, kind: str = "") -> None:
        """Open a menu of files, if there is one, press a button there, and fetch the file."""
        if self.popovers:
            self.opened = self.rng.choice(list(self.popovers))
            self.part_finished.clear()
            await self.send(fragment=self.popovers[self.opened], auto=False)
            await asyncio.wait_for(self.part_finished.wait(), 60)
        files = [file for button, file in self.files.items() if kind in button]
        if not files:
            return
        began, number = time.monotonic(), f"{id(self)}-{len(self.urls)}"
        self.urls[number] = asyncio.get_running_loop().create_future()
        message = BackMsg()
        asked = message.backend_operation_request
        asked.request_id, asked.session_id, asked.deferred_file.file_id = number, self.session, self.rng.choice(files)
        await self.socket.send(message.SerializeToString())
        try:
            url = await asyncio.wait_for(self.urls[number], 60)
            await asyncio.sleep(self.rng.uniform(0, 0.3))  # a browser far away
            await asyncio.to_thread(fetched, f"http://{self.address}{url}")
            self.saved.append(time.monotonic() - began)
        except Exception as error:
            self.errors.append(f"a file was not had on {self.page or 'explore'}: {type(error).__name__} {error}")

    async def send(self, trigger: str = "", fragment: str = "", auto: bool = True) -> None:
        message = BackMsg()
        client = message.rerun_script
        client.query_string, client.page_script_hash = self.query, self.pages.get(self.page, "")
        client.fragment_id, client.is_auto_rerun = fragment, bool(fragment) and auto
        client.context_info.url = f"http://{self.address}/{self.page}"
        for name, value in self.values.items():
            state = WidgetState(id=name)
            state.double_array_value.data.extend(value)
            client.widget_states.widgets.append(state)
        if self.opened:
            client.widget_states.widgets.append(WidgetState(id=self.opened, bool_value=True))
        if trigger:
            client.widget_states.widgets.append(WidgetState(id=trigger, trigger_value=True))
        await self.socket.send(message.SerializeToString())

    async def listen(self) -> None:
        try:
            await self.hear()
        except Exception as error:
            self.errors.append(f"{type(error).__name__}: {error}")

    async def hear(self) -> None:
        async for data in self.socket:
            message = ForwardMsg()
            message.ParseFromString(data)  # type: ignore[arg-type]
            kind = message.WhichOneof("type")
            if kind == "new_session":
                self.session = message.new_session.initialize.session_id
            elif kind == "navigation":
                self.pages = {"" if p.is_default else p.url_pathname: p.page_script_hash for p in message.navigation.app_pages}
            elif kind == "delta":
                self.look(message.delta)
            elif kind == "page_info_changed":
                self.query = message.page_info_changed.query_string
            elif kind == "auto_rerun":
                again = message.auto_rerun
                self.asked_again.add(again.fragment_id)
                if again.fragment_id in self.timers:
                    self.timers[again.fragment_id].cancel()
                self.timers[again.fragment_id] = asyncio.create_task(self.again(again.fragment_id, again.interval))
            elif kind == "backend_operation_response":
                said = message.backend_operation_response
                if said.error_msg:
                    self.urls[said.request_id].set_exception(RuntimeError(said.error_msg))
                else:
                    self.urls[said.request_id].set_result(said.deferred_file.url)
            elif kind == "script_finished":
                if message.script_finished == ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY:
                    self.part_finished.set()
                if message.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
                    self.errors.append("a script did not compile")
                if message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                    for fragment in set(self.timers) - self.asked_again:  # no longer on the page
                        self.timers.pop(fragment).cancel()
                    self.asked_again = set()
                    self.finished.set()

    async def again(self, fragment: str, interval: float) -> None:
        with contextlib.suppress(websockets.ConnectionClosed):
            while True:
                await asyncio.sleep(interval)
                await self.send(fragment=fragment)

    def look(self, delta: Any) -> None:
        if delta.WhichOneof("type") == "add_block" and (menu := delta.add_block.popover).id and menu.label == "Save":
            self.popovers[menu.id] = delta.fragment_id
        if delta.WhichOneof("type") != "new_element":
            return
        element = delta.new_element
        kind = element.WhichOneof("type")
        if kind == "slider" and not element.slider.disabled and element.slider.data_type == 0 and not element.slider.options:
            self.sliders[element.slider.id] = element.slider
        elif kind == "button" and element.button.label == "Run":
            self.run_button = element.button.id
        elif kind == "download_button" and element.download_button.deferred_file_id and not element.download_button.disabled:
            self.files[element.download_button.id] = element.download_button.deferred_file_id
        elif kind == "exception":
            self.errors.append(f"an exception was shown: {element.exception.type}")
        elif kind == "alert" and element.alert.format == 1:
            self.seen.add(element.alert.body)


def fetched(url: str) -> int:
    with urllib.request.urlopen(url, timeout=30) as answer:
        return len(answer.read())


def memory(server: psutil.Process) -> dict[str, float]:
    family = [server, *server.children(recursive=True)]
    parts = {"server": 0.0, "workers": 0.0}
    for process in family:
        line = " ".join(process.cmdline())
        if "fact_core.jobs" in line or "spawn_main" in line or "resource_tracker" in line:
            continue  # studies, which are not there before and after
        parts["workers" if "fact_core.workers" in line else "server"] += process.memory_info().rss / 1e6
    return {name: round(megabytes, 1) for name, megabytes in parts.items()}


def studies() -> list[Any]:
    """Two studies, enough work for the whole time."""
    from fact_core.jobs import start
    from fact_core.study import Method, Study

    return [
        start(
            Study(corpus, (Method("lccf"), Method("CF-NCW")), axes={"lam": [1, 3, 10, 30, 100, 300]}, seeds=tuple(range(400))),
            workers=1, owner=f"load {corpus}",
        )
        for corpus in ("digits", "three-topics")
    ]  # fmt: skip


async def crowd(address: str, visitors: int, seconds: float) -> list[Visitor]:
    people = [Visitor(address, seed) for seed in range(visitors)]
    await asyncio.gather(*(arrive(person, i, visitors, seconds) for i, person in enumerate(people)))
    return people


async def arrive(person: Visitor, i: int, visitors: int, seconds: float) -> None:
    late = min(20.0, seconds / 4) * i / visitors  # a class does not open its laptops in the same instant
    await asyncio.sleep(late)
    await person.live(seconds - late)


async def every_page(address: str) -> list[str]:
    """One person for each corpus, all at once, who look at every page and save figures: what is read and imported once is then in memory,
    in the server and in every worker."""
    return [error for errors in await asyncio.gather(*(_every_page(address, corpus) for corpus in CORPORA)) for error in errors]


async def _every_page(address: str, corpus: str) -> list[str]:
    visitor = Visitor(address, CORPORA.index(corpus))
    visitor.query = f"corpus={corpus}&method=lccf"
    async with websockets.connect(f"ws://{address}/_stcore/stream", subprotocols=["streamlit", "x"], max_size=None) as visitor.socket:  # type: ignore[list-item]
        listening = asyncio.create_task(visitor.listen())
        await visitor.act("open")
        for page in PAGES:
            visitor.page = page
            await visitor.act("look")
            await asyncio.sleep(1.5)
            for kind in FILES:
                await visitor.save(kind)
        listening.cancel()
        for timer in visitor.timers.values():
            timer.cancel()
    return visitor.errors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visitors", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--forget", type=float, default=140, help="seconds to wait at the end: streamlit keeps a closed session for 120")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as home:
        os.environ["FACTSCOPE_HOME"] = home
        log = Path(home) / "log.jsonl"
        command = [sys.executable, "-m", "streamlit", "run", "serve.py", "--server.port", str(port), "--server.fileWatcherType", "none"]
        process = subprocess.Popen(command, cwd=ROOT, env=os.environ | {"FACTSCOPE_LOG": str(log)}, stdout=subprocess.DEVNULL)
        jobs = []
        try:
            for _ in range(240):
                try:
                    with urllib.request.urlopen(f"http://{address}/_stcore/health", timeout=1):
                        break
                except OSError:
                    time.sleep(0.25)
            server = psutil.Process(process.pid)
            time.sleep(5)  # for the workers to be there
            start = memory(server)
            errors = asyncio.run(every_page(address))
            time.sleep(5)
            before = memory(server)
            jobs = studies()
            time.sleep(5)
            people = asyncio.run(crowd(address, options.visitors, options.seconds))
            during = memory(server)
            states = [job.status() for job in jobs]
            for job in jobs:
                job.stop()
            time.sleep(options.forget)
            with urllib.request.urlopen(f"http://{address}/health", timeout=10) as health:
                sound = json.load(health)["ok"]
            errors += asyncio.run(every_page(address))
            time.sleep(5)
            after = memory(server)
            kept = [len(set(job.rows()["cell"])) for job in jobs]
            events = Counter(json.loads(line)["event"] for line in log.read_text().splitlines())
            restarted = process.poll() is not None
        finally:
            for job in jobs:
                job.stop()
            process.terminate()
            process.wait(20)
    answers = [seconds for person in people for _, seconds in person.answers]
    files = [seconds for person in people for seconds in person.saved]
    kinds = {what for person in people for what, _ in person.answers}
    said = {
        "visitors": options.visitors, "seconds": options.seconds, "answers": len(answers),
        "median": statistics.median(answers), "p95": statistics.quantiles(answers, n=20)[-1], "slowest": max(answers),
        "median by kind": {k: statistics.median(s for p in people for w, s in p.answers if w == k) for k in sorted(kinds)},
        "files saved": len(files), "median of a file": statistics.median(files) if files else None,
        "errors": dict(Counter(errors + [error for person in people for error in person.errors])),
        "sentences": sorted({s for p in people for s in p.seen}),
        "studies": [
            {"state": str(at.state), "done": at.done, "kept": k, "failed": len(at.failures)} for at, k in zip(states, kept, strict=True)
        ],
        "memory, nobody there": start, "memory before": before, "memory during": during, "memory after": after,  # MB
        "growth of the server": after["server"] / before["server"] - 1,
        "growth with workers": sum(after.values()) / sum(before.values()) - 1,
        "events": dict(events), "healthy": sound, "server ended": restarted,
    }  # fmt: skip
    if options.json:
        print(json.dumps(said, indent=2))
        return
    for name, value in said.items():
        print(f"{name:<20} {f'{value:.3f}' if isinstance(value, float) else value}")


if __name__ == "__main__":
    main()
