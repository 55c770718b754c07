"""The arrow of the architecture: nothing points backwards, and the library knows nothing of the application."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
# From left to right; a module may import from its own layer and those before it.
LAYERS = [
    {"errors", "parameters", "limits", "log"},
    {"memory"},
    {"threads", "compiled"},
    {"corpus", "printed"},
    {"products"},
    {"graph", "kernel", "block"},
    {"remote"},
    {"constraints"},
    {"problem"},
    {"newcomers"},
    {"assign", "metrics", "concepts", "projection", "criteria"},
    {"algorithms"},
    {"solve", "presets", "warnings", "engine"},
    {"estimate"},
    {"result"},
    {"fit", "tabular", "friends"},
    {"estimators"},
    {"study"},
    {"answers", "looks"},
    {"store"},
    {"lessons"},
    {"figures"},
    {"jobs", "workers"},
    {"tables", "selection"},
    {"commands", "doctor"},
    {"report"},
    {"__main__"},
]


def imports(path: Path) -> set[str]:
    """The absolute names of all modules a file imports, wherever in the file."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(filter(None, [base, node.module]))
            names |= {module} | {f"{module}.{alias.name}" for alias in node.names}
    return names


def layer(module: str) -> int:
    return next(i for i, names in enumerate(LAYERS) if module in names)


def test_no_module_of_the_library_imports_a_later_one() -> None:
    for path in (ROOT / "fact_core").rglob("*.py"):
        own = path.relative_to(ROOT / "fact_core").parts[0].removesuffix(".py")
        if own == "__init__":
            continue
        for name in imports(path):
            parts = name.split(".")
            known = any(len(parts) > 1 and parts[1] in names for names in LAYERS)
            if parts[0] == "fact_core" and known:
                assert layer(parts[1]) <= layer(own), f"{path.relative_to(ROOT)} imports {name}"


def test_only_the_application_imports_streamlit() -> None:
    for path in (ROOT / "fact_core").rglob("*.py"):
        assert not any(name.split(".")[0] in {"streamlit", "ui"} for name in imports(path)), path
    script = "import sys, fact_core.__main__, fact_core.figures; print(*[m in sys.modules for m in ['streamlit', 'umap', 'matplotlib']])"
    loaded = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True, text=True, cwd=ROOT, check=True,
    )  # fmt: skip
    assert loaded.stdout.split() == ["False"] * 3


def test_files_are_handed_out_in_one_place() -> None:
    """`ui.downloads` says why."""
    using = [path.name for folder in ("pages", "ui") for path in (ROOT / folder).glob("*.py") if ".download_button(" in path.read_text()]
    assert using == ["downloads.py"]


def test_figures_do_not_compute_runs() -> None:
    for path in (ROOT / "fact_core" / "figures").glob("*.py"):
        assert not any(".fit" in name or ".solve" in name for name in imports(path)), path
