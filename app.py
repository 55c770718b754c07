"""FactScope: where people see how documents factor into concepts. Start it with `make run`."""

import streamlit as st

st.set_page_config(page_title="FactScope", page_icon="◧", layout="wide")
st.navigation([st.Page("pages/explore.py", title="Explore", icon=":material/explore:", default=True)], position="top").run()
