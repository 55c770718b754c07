"""What the pages share, and the only package that imports streamlit."""
