"""FactScope: where people see how documents factor into concepts. Start it with `make run`."""

import streamlit as st

from ui import runs
from ui.jobs import go_on_after_a_restart
from ui.look import less_empty_space, own_downloads_only
from ui.session import leave_cookie

st.set_page_config(page_title="FactScope", page_icon="◧", layout="wide")
runs.begin()
pages = {
    "": [
        st.Page("pages/explore.py", title="Explore", icon=":material/explore:", default=True),
        st.Page("pages/corpus.py", title="Corpus", icon=":material/library_books:"),
        st.Page("pages/concepts.py", title="Concepts", icon=":material/lightbulb:"),
        st.Page("pages/coordinates.py", title="Coordinates", icon=":material/scatter_plot:"),
        st.Page("pages/compare.py", title="Compare", icon=":material/compare_arrows:"),
        st.Page("pages/constraints.py", title="Constraints", icon=":material/link:"),
        st.Page("pages/learn.py", title="Learn", icon=":material/school:"),
    ],
    "Studies": [
        st.Page("pages/sensitivity.py", title="Sensitivity", icon=":material/tune:"),
        st.Page("pages/choose.py", title="Choose k and λ", icon=":material/adjust:"),
        st.Page("pages/tables.py", title="Paper tables", icon=":material/table_chart:"),
    ],
    "Yours": [
        st.Page("pages/history.py", title="History", icon=":material/history:"),
        st.Page("pages/report.py", title="Report", icon=":material/description:"),
    ],
}
less_empty_space()
own_downloads_only()
leave_cookie()
go_on_after_a_restart()
st.navigation(pages, position="top").run()
