"""Paper tables: the printed numbers, and beside them what the methods give here."""

import pandas as pd
import streamlit as st

import fact_core as fc
from fact_core import tables
from fact_core.jobs import Job
from fact_core.printed import MISFITS, TABLES
from fact_core.tabular import frame_csv
from ui import figures, links
from ui.corpus import corpus_names
from ui.downloads import download
from ui.jobs import follow, where_it_runs
from ui.words import sorry

BELOW, ABOVE = "213,94,0", "0,114,178"  # orange and blue, told apart by everybody
FULL = 10.0  # points of difference at which a cell has its full colour


def coloured(differences: pd.DataFrame) -> pd.DataFrame:
    """Backgrounds: blue above print, orange below."""
    css = "background-color: rgba({}, {:.2f})"
    return differences.map(lambda d: "" if d != d else css.format(ABOVE if d > 0 else BELOW, 0.55 * min(1.0, abs(d) / FULL)))


def _percent(value: float) -> str:
    return f"{100 * value:.1f}" if value == value else "–"


def printed_beside(beside: pd.DataFrame, measure: str) -> None:
    """One row a method, one column a k: recomputed and printed, coloured by the difference."""
    means = tables.averages(beside).assign(k="average")
    every = pd.concat([beside.assign(k=beside["k"].astype(str)), means], ignore_index=True)
    every["cell"] = [f"{_percent(v)} / {_percent(p)}" for v, p in zip(every[measure], every[f"printed_{measure}"], strict=True)]
    order, columns = (list(dict.fromkeys(every[c])) for c in ("method", "k"))
    wide, points = (
        every.pivot(index="method", columns="k", values=v)
        .reindex(index=order, columns=columns)
        .rename(columns=lambda c: c if c == "average" else f"k = {c}")
        for v in ("cell", f"{measure}_difference")
    )
    st.dataframe(wide.style.apply(lambda _: coloured(points), axis=None), key=f"beside {measure}", height=38 + 35 * len(wide))


def show(job: Job | None, rows: pd.DataFrame) -> None:
    beside = tables.beside_printed(name, rows, ks, methods)
    for measure in tables.MEASURES:
        if beside[measure].notna().any() or beside[f"printed_{measure}"].notna().any():
            runs = sorted({int(r) for r in beside["runs"] if r})
            over = f", mean of {'–'.join(map(str, dict.fromkeys([runs[0], runs[-1]])))} runs" if runs else ""
            st.markdown(f"**{'Accuracy' if measure == 'accuracy' else 'NMI'}, recomputed / printed**, per cent{over}")
            printed_beside(beside, measure)
    if job is None or rows.empty:
        return
    st.caption("Blue is above print, orange below; the full colour is ten points. Differences and standard deviations are in the CSV.")
    csv, tex, tidy, more = st.columns([1, 1, 1, 3])
    download("Table as CSV", lambda: frame_csv(beside), f"{name}.csv", place=csv, icon=":material/download:", width="stretch")
    download("As LaTeX", lambda: tables.latex(name, beside), f"{name}.tex", place=tex, icon=":material/download:", width="stretch")
    download("Every run", lambda: frame_csv(rows), f"{name}-runs.csv", place=tidy, icon=":material/download:", width="stretch")
    with more:
        figures.menu(figures.of_study("paper-table", job.study, rows, None, table=name), "tables paper", "Report")
    left, right = st.columns(2, gap="large")
    with left:
        known = [m for m in tables.MEASURES if beside[m].notna().any()]
        measure = st.segmented_control(
            "Measure", known, default=known[0], required=True, format_func=tables.WORDS.__getitem__, key="tables.measure"
        )
        figures.show(figures.of_study("scores-against-k", job.study, rows, None, table=name, score=measure), "tables against k")
    with right:
        st.markdown("**Are the differences real?**", help="Every two methods over the same choices of classes, all k together.")
        tests = tables.significance(rows)
        st.dataframe(
            tests, hide_index=True, key="tables tests", height=min(460, 38 + 35 * len(tests)),
            column_config={
                "difference": st.column_config.NumberColumn("points", format="%+.1f"),
                "wilcoxon": st.column_config.NumberColumn("p, Wilcoxon", format="%.2g"),
                "t": st.column_config.NumberColumn("p, paired t", format="%.2g"),
            },
        )  # fmt: skip


with st.sidebar:
    here = corpus_names()
    titles = {n: t.title + ("" if t.corpus in here else " (corpus not here)") for n, t in TABLES.items()}
    name = links.choice("Table", titles, "gnmf-2", "table")
    table = TABLES[name]
    every_k = [str(k) for k in table.ks]
    ks = [int(k) for k in links.choices("k, numbers of classes", every_k, every_k, f"table.k.{name}") or every_k]
    methods = links.choices("Methods", list(table.methods), list(table.methods), f"table.methods.{name}") or list(table.methods)
    runs = links.slider("Runs", 1, max(50, table.runs), 5, "table.runs", help=f"Random choices of classes; the paper has {table.runs}.")
    run = st.button("Run", type="primary", icon=":material/play_arrow:", width="stretch", disabled=table.corpus not in here)
    scheduler = where_it_runs()

st.subheader(table.title, anchor=False)
st.caption(
    f"{table.protocol}; {table.runs} runs in the paper. Finished runs are kept: asking for more runs or methods computes only those."
)
odd = [f"The printed average of {m.method} is {m.printed:.4f}, its rows give {m.recomputed:.4f}." for m in MISFITS if m.table == name]
for note in (*table.notes, *odd):
    st.caption(f":material/info: {note}")
if table.corpus not in here:
    st.info(
        f"{table.corpus} is not here, so only the printed numbers can be shown. "
        f"Put {table.corpus}.mat into a folder and name that folder in FACTSCOPE_DATA."
    )
try:
    study = tables.table_study(name, ks, runs, methods)
    if table.corpus not in here or not follow(study, None, run, scheduler, show):
        show(None, pd.DataFrame(columns=["k", "method", "seed", "score", "value"]))
except fc.FactScopeError as error:
    sorry(error)
