"""What Streamlit's own settings do not reach."""

import streamlit as st


def less_empty_space() -> None:
    """The bar of pages is half as high as the space that is left for it."""
    st.html("<style>[data-testid='stMainBlockContainer'] { padding-top: 5rem; }</style>")


def own_downloads_only() -> None:
    """The grid's own CSV leaves formulas in cells as they are; the downloads beside the tables do not (`fact_core.tabular`)."""
    st.html("<style>button[aria-label='Download as CSV'] { display: none; }</style>")
