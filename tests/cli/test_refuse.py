"""Asked for what does not exist."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from loopwright.cli.refuse import REFUSED, existing_script


def test_a_script_that_exists(tmp_path: Path) -> None:
    script = tmp_path / "x.py"
    script.touch()
    assert existing_script(script) == script


@pytest.mark.parametrize(("name", "says"), [("", "is a folder"), ("typo.py", "no file"), ("no/x.py", "no file")])
def test_one_that_does_not(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, says: str) -> None:
    (tmp_path / "type.py").touch()
    with pytest.raises(typer.Exit) as stopped:
        existing_script(tmp_path / name)
    err = capsys.readouterr().err
    assert stopped.value.exit_code == REFUSED and says in err
    assert ("type.py" in err) == (name == "typo.py")


def test_an_option_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit):
        existing_script(Path("--threads"))
    assert "there is no option --threads" in capsys.readouterr().err


def test_a_kernel_of_a_script_where_a_script_is_wanted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.py").touch()
    with pytest.raises(typer.Exit):
        existing_script(tmp_path / "x.py:smooth")
    assert f"loopwright show {tmp_path / 'x.py:smooth'}" in capsys.readouterr().err
