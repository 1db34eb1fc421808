"""`loopwright migrate`: what it prints, and that a file changes where that is asked for only."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from loopwright.cli.migrate import migrate

TEXT = (
    b"from numba import njit\r\n\r\n@njit\r\ndef f(a):\r\n    global b; b = 1\r\n\r\n"
    b"@njit\r\ndef g(a):\r\n    return a[0]\r\n"
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "fast.py"
    path.write_bytes(TEXT)
    return path


def test_it_lists_the_functions_and_shows_what_would_change(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    migrate(file, write=False)
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["function", "line", "decorator", "verdict", "why", "instead"]
    assert " ".join(lines[0].split()) == (
        "f 4 @njit refused line 5: 'global' is outside the language "
        "return the value, or write it into an array argument"
    )
    assert lines[1].split() == ["g", "8", "@njit", "runs"] and lines[2].startswith("'runs': nothing in its text")
    assert lines[-2:] == ["-from numba import njit", "+from loopwright.numba import njit"]
    assert file.read_bytes() == TEXT


def test_it_writes_the_imports(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    migrate(file, write=True)
    assert file.read_bytes() == TEXT.replace(b"from numba", b"from loopwright.numba")
    assert capsys.readouterr().out.endswith(f"{file} imports loopwright.numba now\n")
    migrate(file, write=True)
    assert capsys.readouterr().out == f"{file} does not import numba\n"


def test_a_file_that_is_no_python_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "wrong.py").write_text("def f(:\n")
    with pytest.raises(typer.Exit):
        migrate(tmp_path / "wrong.py", write=False)
    assert "wrong.py is not Python: " in capsys.readouterr().err


def test_imports_that_stay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "gpu.py"
    path.write_text("from numba import cuda\n")
    migrate(path, write=True)
    out = capsys.readouterr().out
    assert "has no function that numba compiles" in out and "line 1: this import is left as it is: " in out
    assert out.endswith("no import has to be changed\n") and path.read_text() == "from numba import cuda\n"
