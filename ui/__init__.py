"""What the pages share, and the only package that imports streamlit."""

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

# Until `st.navigation` has been called once, streamlit runs a file of a folder named `pages` by itself when a link leads to it,
# without app.py. The first link after a server start is therefore run again, through app.py.
if PagesManager.uses_pages_directory:
    PagesManager.uses_pages_directory = False
    st.rerun()
