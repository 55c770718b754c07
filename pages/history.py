"""History: what was run here, to find, name, open again, export and delete."""

import io
import time
from functools import partial

import pandas as pd
import streamlit as st

import fact_core as fc
from fact_core.jobs import Job, jobs
from fact_core.presets import resolve
from fact_core.tabular import frame_csv
from ui.downloads import download
from ui.jobs import attempt, open_study, say_refusal
from ui.kept import open_in_explore, store
from ui.session import owner
from ui.words import plain, sorry

LISTED = 200


def runs() -> None:
    text = st.text_input("Find", key="history.find", placeholder="a name, a corpus or a method")
    found = store().find(text, owner=owner(), limit=LISTED)
    if not found:
        st.caption("Nothing fits that." if text else "Nothing yet: what you run in Explore will be here.")
        return
    table = pd.DataFrame(
        [
            {
                "name": k.name, "corpus": k.run.corpus, "method": resolve(k.run.method).name, "k": k.run.clusters,
                "settings": ", ".join(f"{n} = {v}" for n, v in k.run.options.items() if n not in {"n_clusters", "max_iter", "restarts"}),
                "accuracy": k.run.scores.get("accuracy"), "NMI": k.run.scores.get("nmi"),
                "when": pd.Timestamp(k.created, unit="s"), "kB": k.size / 1000,
            }
            for k in found
        ]
    )  # fmt: skip
    event = st.dataframe(
        table, hide_index=True, on_select="rerun", selection_mode="multi-row", key="history.table", height=min(460, 38 + 35 * len(table)),
        column_config={
            "accuracy": st.column_config.NumberColumn(format="%.3f"), "NMI": st.column_config.NumberColumn(format="%.3f"),
            "when": st.column_config.DatetimeColumn(format="distance"), "kB": st.column_config.NumberColumn(format="%.0f"),
            "settings": st.column_config.TextColumn(width="large"),
        },
    )  # fmt: skip
    if len(found) == LISTED:
        st.caption(f"The newest {LISTED} are shown; find the others by a word.")
    chosen = [found[i].run.address for i in event["selection"]["rows"] if i < len(found)]
    name, rename, opened, export, delete = st.columns([3, 1, 1, 1, 1], vertical_alignment="bottom")
    one = len(chosen) == 1
    given = name.text_input("Name of the chosen run", key=f"history.name.{chosen[0] if one else ''}", disabled=not one, max_chars=80)
    if rename.button("Name", icon=":material/edit:", width="stretch", disabled=not one):
        store().name(chosen[0], given, owner())
        st.rerun()
    if opened.button("Open", icon=":material/open_in_new:", width="stretch", disabled=not one, type="primary"):
        open_in_explore(chosen[0])
    packed = partial(exported, chosen, owner())  # made later, in a thread that does not know who is there
    download("Export", packed, "runs.zip", place=export, icon=":material/download:", width="stretch", disabled=not chosen)
    if delete.button("Delete", icon=":material/delete:", width="stretch", disabled=not chosen):
        store().delete(chosen, owner())
        st.rerun()
    if not chosen:
        st.caption("Choose runs at the left edge of the table.")


def rows_csv(job: Job) -> str:
    return frame_csv(job.rows())


def exported(addresses: list[str], owner: str) -> bytes:
    file = io.BytesIO()
    store().export(addresses, file, owner)
    return file.getvalue()


@st.fragment(run_every=3.0)
def studies() -> None:
    say_refusal()
    mine = jobs(owner())
    if not mine:
        st.caption("No studies yet: start one on the Sensitivity or the Paper tables page.")
    for job in mine:
        at = job.status()
        with st.container(border=True):
            words, opened, stop, go_on, rows, delete = st.columns([4, 1, 1, 1, 1, 1], vertical_alignment="center")
            words.text(at.title or job.id)
            done = f"{at.done:,} of {at.cells:,} runs" if at.cells else ""
            day = time.strftime("%d %b %H:%M", time.localtime(job.said["created"]))
            words.caption(", ".join(filter(None, [at.state.value, done, f"asked for {day}", plain(at.error)])))
            if opened.button("Open", key=f"open {job.id}", width="stretch", type="primary"):
                open_study(job)
            stop.button("Stop", key=f"stop {job.id}", on_click=attempt, args=(job.stop,), disabled=at.over, width="stretch")
            go_on.button("Go on", key=f"go on {job.id}", on_click=attempt, args=(job.resume,), disabled=not at.resumable, width="stretch")
            download("Rows", partial(rows_csv, job), "rows.csv", place=rows, key=f"rows {job.id}", width="stretch")
            delete.button("Forget", key=f"forget {job.id}", on_click=job.delete, width="stretch", help="Finished runs stay in the store.")


st.subheader("History", anchor=False)
try:
    for sentence in store().damaged()[:3]:
        st.warning(plain(sentence))
    st.markdown("**Runs**")
    runs()
    st.markdown("**Studies**")
    studies()
except fc.FactScopeError as error:
    sorry(error)
