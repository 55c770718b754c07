"""The notebooks run from the first cell to the last."""

from __future__ import annotations

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
pytest.importorskip("ipykernel", reason="ipykernel is not installed: it wants Python 3.11")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def test_there_is_one() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("FACTSCOPE_HOME", str(tmp_path))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=200, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    said = "\n".join(str(output.get("text", output.get("data", ""))) for cell in notebook.cells for output in cell.get("outputs", []))
    assert "k = " in said
    assert "NMI with the modules: 0." in said
    assert "lccf0" in said


def test_what_a_notebook_shows_is_what_was_run() -> None:
    for path in NOTEBOOKS:
        cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1)), f"{path.name} was not run from top to bottom"
        assert not any("/home/" in str(cell.outputs) or "/root/" in str(cell.outputs) for cell in cells)
