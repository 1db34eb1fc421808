"""A script runs as Python would run it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from loopwright.cli.script import INTERRUPTED, run_script


def script(folder: Path, text: str) -> Path:
    path = folder / "script.py"
    path.write_text(text, encoding="utf-8")
    return path


def test_it_runs_as_main_with_its_arguments(tmp_path: Path) -> None:
    path = script(
        tmp_path, "import sys\nseen = (__name__, __file__, sys.argv, sys.path[0], sys.modules[__name__].seen0)\n"
    )
    path.write_text("seen0 = 1\n" + path.read_text())
    ended = run_script(path, ["a", "--b"])
    assert (ended.status, ended.failure) == (0, None)
    assert ended.namespace["seen"] == ("__main__", str(path), [str(path), "a", "--b"], str(tmp_path), 1)


def test_its_neighbours_can_be_imported(tmp_path: Path) -> None:
    (tmp_path / "neighbour_of_script.py").write_text("x = 7")
    ended = run_script(script(tmp_path, "from neighbour_of_script import x"), [])
    del sys.modules["neighbour_of_script"]
    assert ended.namespace["x"] == 7


def test_another_name_leaves_main_out(tmp_path: Path) -> None:
    ended = run_script(script(tmp_path, "ran = False\nif __name__ == '__main__':\n    ran = True"), [], "other")
    assert ended.namespace["ran"] is False and "other" not in sys.modules


def test_everything_is_put_back(tmp_path: Path) -> None:
    before = sys.argv, list(sys.path), sys.modules["__main__"]
    run_script(script(tmp_path, "import sys\nsys.path.append('x')\nraise ValueError"), ["a"])
    assert (sys.argv, sys.path, sys.modules["__main__"]) == before


@pytest.mark.parametrize(
    ("leaves", "status", "says"),
    [
        ("sys.exit()", 0, ""),
        ("sys.exit(3)", 3, ""),
        ("sys.exit('no data')", 1, "no data\n"),
        ("raise KeyboardInterrupt", INTERRUPTED, None),
    ],
)
def test_exit_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], leaves: str, status: int, says: str | None
) -> None:
    assert run_script(script(tmp_path, f"import sys\n{leaves}"), []).status == status
    err = capsys.readouterr().err
    assert says is None or err == says


def test_a_failure_is_printed_without_our_frames(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = script(tmp_path, "def f():\n    return 1 // 0\n\nf()\n")
    ended = run_script(path, [])
    err = capsys.readouterr().err
    assert ended.status == 1 and isinstance(ended.failure, ZeroDivisionError)
    assert err.startswith(f'Traceback (most recent call last):\n  File "{path}", line 4, in <module>')
    assert err.endswith("ZeroDivisionError: integer division or modulo by zero\n")


def test_a_syntax_error_is_printed_without_our_frames(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = script(tmp_path, "def f(:\n")
    assert run_script(path, []).status == 1
    assert capsys.readouterr().err.startswith(f'  File "{path}", line 1')


def test_kernels_of_a_failed_script_stay_alive(tmp_path: Path) -> None:
    ended = run_script(script(tmp_path, "kept = object()\nraise ValueError"), [])
    assert "kept" in ended.namespace
