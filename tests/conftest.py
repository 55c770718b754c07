"""What several test files share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Nothing that was kept before answers for the code of today, and nothing of the tests is kept."""
    os.environ["FACTSCOPE_HOME"] = str(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of the authors' files, which may not be shipped: FACTSCOPE_DATA, or ../shared/data beside the repository."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("FACTSCOPE_DATA") or default).resolve()
    if not folder.is_dir():
        pytest.skip("the authors' files are not here; name their folder in FACTSCOPE_DATA")
    return folder
