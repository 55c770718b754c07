"""What several test files share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of the authors' files, which may not be shipped: FACTSCOPE_DATA, or ../shared/data beside the repository."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("FACTSCOPE_DATA") or default).resolve()
    if not folder.is_dir():
        pytest.skip("the authors' files are not here; name their folder in FACTSCOPE_DATA")
    return folder
