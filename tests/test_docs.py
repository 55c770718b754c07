"""The documentation builds, strictly, and says what the methods declare."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fact_core.algorithms import algorithms
from fact_core.lessons.slips import SLIPS

pytest.importorskip("mkdocstrings", reason="mkdocstrings is not installed: it wants Python 3.11")
ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    told = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, env=told, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def words(page: Path) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", page.read_text(encoding="utf-8")))


@pytest.mark.parametrize("key", algorithms())
def test_every_method_has_its_page(site: Path, key: str) -> None:
    method, text = algorithms()[key], words(site / "methods" / f"{key}.html")
    assert method.__doc__ in text
    assert all(p.doc in text for p in method.parameters)
    assert f"from fact_core.estimators import {method.__name__}" in text
    assert "<math" in (site / "methods" / f"{key}.html").read_text(encoding="utf-8")
    assert method.title in words(site / "methods" / "index.html")


def test_nothing_is_loaded_from_the_web(site: Path) -> None:
    for page in site.rglob("*.html"):
        loaded = re.findall(r'<(?:script|link|img|iframe)[^>]+(?:src|href)="(https?://[^"]+)"', page.read_text(encoding="utf-8"))
        assert not loaded, f"{page.name} loads {loaded}"


def test_the_reference_has_the_public_calls(site: Path) -> None:
    text = words(site / "reference.html")
    for name in (
        "fact_core.fit.fit",
        "fact_core.selection",
        "fact_core.friends",
        "fact_core.estimators.Factorisation",
        "suggest",
        "judged",
    ):
        assert name in text
    assert ":class:" not in text


def test_slips_are_those_of_the_lessons(site: Path) -> None:
    text = words(site / "slips.html")
    assert all(slip.place in text for slip in SLIPS)
    assert "$" not in text


def test_the_readme_and_the_pages_link_to_files_that_are_there() -> None:
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"
