"""Choose k and λ without labels: what several runs on parts of the documents agree about."""

from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

import fact_core as fc
from fact_core.algorithms import Needs, algorithms
from fact_core.corpus import Corpus
from fact_core.jobs import Job
from fact_core.parameters import Param
from fact_core.presets import PRESETS
from fact_core.selection import CRITERIA, MEANING, RUNS, SHARE, evidence_of, judged, selection_study, tunable, usual_values
from fact_core.study import CLUSTERS, Study
from fact_core.tabular import frame_csv
from ui import figures, links
from ui.controls import unavailable
from ui.corpus import Origin, corpus_in_sidebar, origin_of
from ui.downloads import download
from ui.jobs import follow, where_it_runs
from ui.words import plain, sorry


def asked(corpus: Corpus, origin: Origin) -> Study:
    """The method, the k and the values to choose from, how often each is run."""
    names = {key: f"{m.title} — {m.family.value}" for key, m in algorithms().items() if fits(m, corpus)}
    names |= {name: f"{name} — as in the tables" for name, p in PRESETS.items() if p.options and p.key in names}
    method = links.choice("Method", names, "LCCF-NCW" if "LCCF-NCW" in names else next(iter(names)), "choose.method")
    ks = links.values("k to choose from", replace(CLUSTERS, low=2, high=len(corpus)), range(2, 11), f"choose.k.{corpus.fingerprint[:8]}")
    p = tunable(method)
    values = links.values(f"{p.symbol} to choose from", p, usual_values(p), f"choose.values.{method}") if p is not None else None
    runs = links.slider("Runs of each setting", 3, 20, RUNS, "choose.runs", help="Each on other documents and from another seed.")
    share = links.slider("Share of the documents in a run", 0.5, 1.0, SHARE, "choose.share", step=0.05, help="1 varies the seed only.")
    made = selection_study(origin.name, method, ks, values, runs=runs, share=share, reading=origin.reading, classes=origin.select)
    return replace(made, title=f"k{f' and {p.symbol}' if p else ''} for {method} on {corpus.name}")


def fits(method: type[fc.algorithms.Algorithm], corpus: Corpus) -> bool:
    return not method.needs & Needs.SUPERVISION and unavailable(method, corpus) is None


def open_choice(method: str, p: Param | None, k: int, value: float | None) -> None:
    """Explore with the suggested setting."""
    key = PRESETS[method].key if method in PRESETS else method
    links.put("method", method)
    links.put(f"k.{corpus.fingerprint[:8]}", k)
    if p is not None:
        links.put(f"{key}.{p.name}", value)
    st.session_state.pop("asked", None)
    st.switch_page("pages/explore.py")


def show(job: Job, rows: pd.DataFrame) -> None:
    evidence = evidence_of(job, len(corpus))
    if evidence is None:
        st.caption("A suggestion appears as soon as a setting has been run three times.")
        return
    found, p, method = judged(evidence), evidence.parameter, job.study.methods[0].name
    chosen, symbol = (found.k, found.value), "" if p is None else p.symbol
    words, button = st.columns([5, 1], vertical_alignment="center")
    so_far = "" if job.status().over else "So far: "
    title = f"{so_far}**k = {found.k}**" + ("" if p is None else f" and **{symbol} = {found.value:g}**")
    if found.decided:
        why = ("Leaving out any one of the runs leads to the same choice.", *found.hints)
        words.info(f"{title}. {' '.join(why)}", icon=":material/adjust:")
    else:
        words.warning(f"{title}, with doubts. {' '.join((*found.doubts, *found.hints))}", icon=":material/help:")
    if button.button("Explore it", icon=":material/explore:", width="stretch"):
        open_choice(method, p, *chosen)
    table = found.table
    known = [name for name in ("score", *CRITERIA) if name in table and table[name].notna().any()]
    criterion = links.choice("Criterion", {name: name for name in known}, known[0], "choose.criterion", help="What the curves show.")
    st.caption(MEANING[criterion])
    left, right = st.columns([3, 2], gap="medium")
    of = partial(figures.of_evidence, study=job.study, evidence=evidence, origin=origin)
    with left:
        figures.show(of("criterion", criterion=criterion), f"choose curves {criterion}")
    with right:
        figures.show(of("consensus"), "choose consensus")
    right.caption("How often each two documents are together at the suggested setting: clear blocks are clusters found again and again.")
    if p is not None and table["value"].nunique() > 1:
        with left:
            figures.show(of("setting-map", criterion=criterion), f"choose map {criterion}")
    if corpus.labels is not None:
        left, right = st.columns(2, gap="medium")
        with left:
            figures.show(of("criteria"), "choose correlations")
        left.caption("This corpus has classes, so it can be said how each criterion would have done; the suggestion does not see them.")
        best, here = table.iloc[int(table["accuracy"].argmax())], found.row["accuracy"]
        right.metric(
            "Accuracy at the suggestion", f"{here:.3f}", f"{here - best['accuracy']:+.3f} against the best tried", delta_color="off"
        )
        at = f"k = {best['k']:g}" + ("" if p is None else f", {symbol} = {best['value']:g}")
        right.caption(f"The best in hindsight is {best['accuracy']:.3f}, at {at}. Means over the runs.")
    with st.expander("All settings"):
        st.dataframe(table.rename(columns={"value": symbol or "value"}), hide_index=True, key="choose table")
    download("Settings as CSV", lambda: frame_csv(table), "settings.csv", icon=":material/download:")


corpus = corpus_in_sidebar()
with st.sidebar:
    try:
        origin = origin_of(corpus)
        study = asked(corpus, origin)
    except fc.FactScopeError as error:
        sorry(error)
        st.stop()
    run = st.button("Run", type="primary", icon=":material/play_arrow:", width="stretch")
    scheduler = where_it_runs()
st.subheader(f"Choose {plain(study.title)}", anchor=False)
st.caption(
    "Every setting is run several times, each time on another part of the documents and from another seed. A good setting finds the same "
    "clusters again, keeps neighbours together and gives concepts whose terms occur together. No class is looked at."
)
follow(study, origin, run, scheduler, show)
