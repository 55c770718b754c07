"""Studies on a page: started there, run in processes of their own, watched from wherever the person is."""

from __future__ import annotations

import os
from collections.abc import Callable

import pandas as pd
import streamlit as st

import fact_core as fc
from fact_core.commands import duration
from fact_core.jobs import Job, State, Status, job_of, resume_interrupted, start
from fact_core.limits import public
from fact_core.printed import TABLES
from fact_core.study import Study, axis
from fact_core.tables import FIGURES

from . import links
from .corpus import Origin, choose
from .session import owner
from .words import plain, sorry

HERE = "the corpus above"  # where a figure of a paper is to be made, if not on a corpus of the paper
FRAME = 1.5  # seconds between two pictures of a running study


@st.cache_resource(show_spinner=False)
def go_on_after_a_restart() -> None:
    """Once a server: let the jobs go on whose processes died with the machine."""
    resume_interrupted()


def where_it_runs() -> str | None:
    """The choice of a cluster; None for processes on this machine."""
    if public():  # a scheduler is trusted with everything, so a stranger cannot name one
        return None
    with st.popover("Where it runs", width="stretch"):
        here = f"{os.cpu_count() or 1} processes on this machine"
        return st.text_input(
            "Dask scheduler", value=os.environ.get("FACTSCOPE_SCHEDULER", ""), key="scheduler", placeholder=here,
            help="The address of a running cluster, such as tcp://10.0.0.1:8786, whose workers have FactScope. Empty: " + here + ".",
        ).strip() or None  # fmt: skip


def follow(study: Study, origin: Origin | None, run: bool, scheduler: str | None, show: Callable[[Job, pd.DataFrame], None]) -> bool:
    """The study of the page's choices: started if `run`, watched while it is at work, its rows shown as they come; whether there is one.

    The same choices lead to the same job: after a change of page or a reload it is there as it is by then.
    """
    upload = origin.whole if origin is not None and origin.upload else None
    try:
        cells = len(study.cells())
        job = job_of(study, upload, owner())
        if run:
            job = start(study, upload, owner=owner(), scheduler=scheduler)
    except fc.FactScopeError as error:
        sorry(error)
        st.stop()
    if not job.exists:
        st.info(
            f"{cells:,} run{'s' * (cells != 1)}. Press Run to start them; the page may be left meanwhile.", icon=":material/play_arrow:"
        )
        return False
    busy = not job.status().over

    @st.fragment(run_every=FRAME if busy else None)
    def watch() -> None:
        try:
            at = job.status()
            _bar(job, at)
            rows = job.rows()
        except fc.FactScopeError as error:
            sorry(error)
            return
        if busy and at.over:
            st.rerun()
        show(job, rows)

    watch()
    return True


def open_study(job: Job) -> None:
    """Show a study on the page it was asked for, with the choices it was made of."""
    study = job.study
    if study.sample is not None:
        open_selection(job)
    table = next((name for name, t in TABLES.items() if t.title == study.title), None)
    figure = next((name for name, (title, *_) in FIGURES.items() if study.title.startswith(title)), None)
    methods = [m.name for m in study.methods]
    if table is not None:
        links.put("table", table)
        links.put(f"table.k.{table}", [str(k) for k in study.draws])
        links.put(f"table.methods.{table}", methods)
        links.put("table.runs", len(study.seeds))
        st.switch_page("pages/tables.py")
    links.put("sweep", figure or "own")
    if figure is not None and study.corpus in FIGURES[figure][1]:
        links.put(f"sweep.on.{figure}", study.corpus)
        links.put("sweep.runs", len(study.seeds))
        st.switch_page("pages/sensitivity.py")
    upload = job.said["upload"]
    corpus = choose(study.corpus, study.reading, study.classes, upload or None)
    if figure is not None:
        links.put(f"sweep.on.{figure}", HERE)
        links.put("sweep.runs", len(study.seeds))
    else:
        links.put("sweep.methods", methods)
        links.put("sweep.seeds", len(study.seeds))
        links.put("sweep.y", "")
        for place, (name, values) in zip("xy", study.axes.items(), strict=False):
            links.put(f"sweep.{place}", name)
            links.put(f"sweep.{place}.{name}", ", ".join(axis(name, methods).show(v) for v in values))
        if "n_clusters" in study.options:
            links.put(f"sweep.k.{corpus.fingerprint[:8]}", study.options["n_clusters"])
    st.switch_page("pages/sensitivity.py")


def open_selection(job: Job) -> None:
    """Show a choice of k and λ with the settings it was made of."""
    study, method = job.study, job.study.methods[0].name
    corpus = choose(study.corpus, study.reading, study.classes, job.said["upload"] or None)
    ks, *values = study.axes.values()
    links.put("choose.method", method)
    links.put(f"choose.k.{corpus.fingerprint[:8]}", ", ".join(map(str, ks)))
    if values:
        links.put(f"choose.values.{method}", ", ".join(f"{v:g}" for v in values[0]))
    links.put("choose.runs", len(study.seeds))
    links.put("choose.share", study.sample)
    st.switch_page("pages/choose.py")


def attempt(do: Callable[[], object]) -> None:
    """What a button does, such as stopping a job; a refusal is said when the page is drawn."""
    try:
        do()
    except fc.FactScopeError as error:
        st.session_state["study refused"] = str(error)


def say_refusal() -> None:
    if (why := st.session_state.pop("study refused", None)) is not None:
        sorry(why)


def _bar(job: Job, at: Status) -> None:
    """Where it is, and what can be done about it."""
    say_refusal()
    if not at.over:
        left = f", {duration(at.left)} left" if at.left is not None else ""
        inside = "; ".join(f"{r['label']}: step {r['done']} of {r['total']}" for r in at.running[:2] if r["total"])
        bar, button = st.columns([6, 1], vertical_alignment="center")
        bar.progress(at.share, f"{at.done:,} of {at.cells:,} runs{left}" if at.cells else "Getting ready …")
        button.button("Stop", icon=":material/stop:", on_click=attempt, args=(job.stop,), width="stretch", key=f"stop {job.id}")
        st.caption(plain(inside) or " ")
    elif at.resumable:
        words, button = st.columns([6, 1], vertical_alignment="center")
        button.button("Go on", icon=":material/play_arrow:", on_click=attempt, args=(job.resume,), width="stretch", key=f"resume {job.id}")
        if at.state is State.FAILED:
            with words:
                sorry(at.error or "This study could not be run.")
            return
        why = "Stopped" if at.state is State.STOPPED else "Interrupted"
        words.info(f"{why} after {at.done:,} of {at.cells:,} runs; those are kept.", icon=":material/pause:")
    for label, sentence in list(at.failures.items())[:3]:
        st.warning(plain(f"{label}: {sentence}"))
    if len(at.failures) > 3:
        st.warning(f"… and {len(at.failures) - 3} more runs that could not be done.")
