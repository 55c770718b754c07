"""Whatever people give: a sentence, never a traceback, and the server stays."""

from __future__ import annotations

import io
from pathlib import Path

import bad_inputs
import pytest
from streamlit.testing.v1 import AppTest

import fact_core as fc
from fact_core.__main__ import main
from fact_core.constraints import from_csv
from fact_core.corpus import read_uploads
from tests.helpers import small_corpus

APP = str(Path(__file__).parent.parent / "app.py")
FILES = bad_inputs.files()
UPLOADED = [
    "a bomb", "a pickle", "a function handle", "enormous pictures", "deep JSON", "paths that lead out", "a header alone",
]  # fmt: skip


@pytest.fixture(autouse=True)
def _small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits of a public server are reached by smaller files."""
    import ui.runs

    for name, value in {"UPLOAD": "20MB", "UNPACKED": "50MB", "FILES": "2000"}.items():
        monkeypatch.setenv(f"FACTSCOPE_{name}", value)
    monkeypatch.setattr(ui.runs, "PATIENCE", 100.0)


def sentence(error: object) -> None:
    """One a person can read: it ends, fits on a screen, and has nothing of a program in it."""
    said = str(error)
    assert len(said.split()) > 3, said
    assert said.endswith((".", "?")), said
    assert len(said) < 1500, said
    assert not any(trace in said for trace in ("Traceback", "Error:", "\n", "site-packages")), said


def test_there_are_enough() -> None:
    assert bad_inputs.count() >= 200


OBJECTS, ELSEWHERE, TOO_WIDE = "MATLAB objects or function handles", "refers to other files, which are not opened", "more than can be read"
SAID = {  # of what is refused for its own reason, and not because something else stumbles over it later
    "an object": OBJECTS, "a function handle": OBJECTS, "something opaque": OBJECTS, "an object beside a matrix": OBJECTS,
    "a function in HDF5": OBJECTS, "HDF5 that names another file": ELSEWHERE, "HDF5 stored in another file": ELSEWHERE,
    "HDF5 made of another file": ELSEWHERE, "enormous HDF5": "an array of more than 50 MB", "a password": "protected by a password",
    "a bomb": "more than 200 times its size", "a gzip bomb": "unpacks to more than 50 MB", "an absurd shape": TOO_WIDE,
    "an absurd size": TOO_WIDE, "enormous pictures": "more than the 50 million pixels", "too much together": "more than the 20 MB",
    "too many together": "These are 2001 files, more than the 2000", "a link": "no files that can be read",
    "paths that lead out": "no files that can be read", "archives inside": "no files that can be read",
}  # fmt: skip


@pytest.mark.parametrize("why", FILES)
def test_files_made_by_hand(why: str) -> None:
    with pytest.raises(fc.FactScopeError) as refused:
        read_uploads(FILES[why])
    sentence(refused.value)
    assert SAID.get(why, "") in str(refused.value)


def test_noise_under_every_suffix() -> None:
    for name, data in bad_inputs.noise():
        with pytest.raises(fc.FactScopeError) as refused:
            read_uploads([(name, data)])
        sentence(refused.value)


@pytest.mark.parametrize(("method", "settings"), bad_inputs.SETTINGS)
def test_settings(method: str, settings: dict[str, object]) -> None:
    with pytest.raises(fc.FactScopeError) as refused:
        fc.fit(small_corpus(), method, **settings)  # type: ignore[arg-type]
    sentence(refused.value)


@pytest.mark.parametrize("text", bad_inputs.PAIRS[2:])
def test_files_of_pairs(text: str) -> None:
    with pytest.raises(fc.FactScopeError) as refused:
        from_csv(io.StringIO(text), 24).check()
    sentence(refused.value)


def shown(app: AppTest) -> None:
    """The page is there, with nothing of a traceback on it."""
    assert not app.exception, app.exception
    for error in app.error:
        sentence(error.value.replace("\\", "").replace("\u2060", ""))


@pytest.mark.parametrize(("page", "what", "parameters"), bad_inputs.links(), ids=lambda value: value if isinstance(value, str) else "")
def test_links(page: str, what: str, parameters: dict[str, str]) -> None:
    """A value no control can have is not taken: the page shows what it shows without it, or a sentence."""
    app = AppTest.from_file(APP, default_timeout=60)
    app.query_params["corpus"] = "gaussians"
    app.query_params["method"] = "kmeans"
    app.query_params["figure.corpus"] = "gaussians"
    app.query_params["compare"] = "KM"
    for key, value in parameters.items():
        app.query_params[key] = value
    app.run()
    if page != "explore":
        app.switch_page(f"pages/{page}.py").run()
    shown(app)


@pytest.mark.parametrize("why", UPLOADED)
def test_uploads_on_the_page(why: str) -> None:
    app = AppTest.from_file(APP, default_timeout=60)
    app.query_params["corpus"] = "gaussians"
    app.query_params["method"] = "kmeans"
    app.run()
    app.switch_page("pages/corpus.py").run()
    app.file_uploader[0].set_value([(name, data, "application/octet-stream") for name, data in FILES[why]])
    app.run()
    shown(app)
    assert len(app.error) == 1
    app.run()  # and again, as a browser does
    shown(app)
    assert app.selectbox(key="corpus").value == "gaussians"


@pytest.mark.parametrize(
    "arguments",
    [
        [], ["fly"], ["run"], ["run", "--corpus", "nowhere", "--algorithm", "cf"], ["run", "--corpus", "gaussians", "--algorithm", "magic"],
        ["run", "--corpus", "gaussians", "--algorithm", "cf", "--set", "lam"],
        ["run", "--corpus", "gaussians", "--algorithm", "cf", "--seed", "x"],
        ["sweep", "--corpus", "gaussians", "--algorithm", "cf", "--axis", "lam="], ["table", "nothing"], ["doctor", "--speed"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_the_command_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    sentence(said.err.strip())
