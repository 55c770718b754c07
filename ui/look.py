"""What Streamlit's own settings do not reach."""

import streamlit as st


def less_empty_space() -> None:
    """The bar of pages is half as high as the space that is left for it."""
    st.html("<style>[data-testid='stMainBlockContainer'] { padding-top: 5rem; }</style>")
