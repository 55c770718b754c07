"""What the pages share, and the only package that imports streamlit."""

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

# Until `st.navigation` has been called once, streamlit runs a file of a folder named `pages` by itself when a link leads to it,
# without app.py. It is told not to; where it has looked for that folder already, the first link after a server start is run again.
looked, PagesManager.uses_pages_directory = PagesManager.uses_pages_directory, False
if looked:
    st.rerun()
