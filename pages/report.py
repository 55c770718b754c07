"""Report: the figures and tables gathered on the way, their captions and order, and the archive that holds and remakes them."""

import streamlit as st

import fact_core as fc
from fact_core.figures.static import FONTS, WIDTHS, Style
from fact_core.report.archive import archive
from ui import report, runs
from ui.downloads import download
from ui.words import sorry

PREVIEW = 110  # dots per inch

entries = report.items()
heading, export = st.columns([3, 1], vertical_alignment="center")
heading.subheader("Report", anchor=False)
if not entries:
    st.info("Nothing yet. Under every figure there is a Save menu with “Add to report”; tables have one, too.", icon=":material/add:")

with st.sidebar:
    now = report.style()
    st.markdown("**On paper**")
    names = [*WIDTHS, "other"]
    chosen = st.selectbox(
        "Width", names, index=names.index(now.width) if isinstance(now.width, str) else len(WIDTHS), key="report.width",
        format_func=lambda w: f"{WIDTHS[w].about}, {WIDTHS[w].inches:g} in" if w in WIDTHS else "other",
    )  # fmt: skip
    width: str | float = chosen if chosen in WIDTHS else st.number_input("Inches", 1.0, 40.0, now.inches, 0.1, key="report.inches")
    sizes = st.number_input("Size of type, points", 3.0, 72.0, now.size, 0.5, key="report.size", placeholder="that of the width")
    families = list(FONTS)
    font = st.selectbox("Font", families, index=families.index(now.font) if now.font in families else 0, key="report.font")
    dpi = st.number_input("Dots per inch of PNG", 20, 2400, now.dpi, 50, key="report.dpi")
    monochrome = st.toggle("For black-and-white print", now.monochrome, key="report.monochrome", help="Greys, line styles and hatches.")
    style = Style(width=width, size=sizes, font=font, dpi=int(dpi), monochrome=monochrome)
    report.put_style(style)


@st.cache_data(show_spinner=False, max_entries=60)
def preview(number: int, style: Style, _figure: object) -> bytes:
    return runs.printer()(_figure, "png", Style(**{**style.as_json(), "dpi": PREVIEW}))


counts = {"Figure": 0, "Table": 0}
for place, entry in enumerate(entries):
    what = "Table" if entry.item.is_table else "Figure"
    counts[what] += 1
    with st.container(border=True):
        picture, words = st.columns([3, 2], gap="medium")
        with picture:
            if entry.item.drawn.figure is None:
                st.dataframe(entry.item.drawn.numbers, hide_index=True, key=f"report.table.{entry.number}")
            else:
                try:
                    st.image(preview(entry.number, style, entry.item.drawn.figure), width=min(720, round(style.inches * PREVIEW)))
                except fc.FactScopeError as error:
                    sorry(error)
        with words:
            entry.caption = st.text_area(f"{what} {counts[what]}", entry.caption, key=f"report.caption.{entry.number}", height=160)
            with st.container(horizontal=True, gap="small"):
                last = place == len(entries) - 1
                key = f"report.{{}}.{entry.number}".format
                st.button("Up", icon=":material/arrow_upward:", key=key("up"), disabled=place == 0, on_click=report.move, args=(entry, -1))
                st.button("Down", icon=":material/arrow_downward:", key=key("down"), disabled=last, on_click=report.move, args=(entry, 1))
                st.button("Remove", icon=":material/delete:", key=key("away"), on_click=report.remove, args=(entry,))
title = st.text_input("Title of the report", "FactScope report", key="report.title") if entries else ""
draw = runs.printer()
download(
    "Export ZIP", lambda: archive([entry.final for entry in entries], style, title, draw=draw), "report.zip", place=export, type="primary",
    icon=":material/folder_zip:", width="stretch", disabled=not entries,
    help="Figures as PDF, SVG, PNG and CSV, tables.tex, report.html, settings.json, and reproduce.sh, which makes them again.",
)  # fmt: skip
