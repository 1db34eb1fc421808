"""Reading the command line."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest
from typer.testing import CliRunner

from loopwright.cli import explain, run, show
from loopwright.cli.main import app

RUNNER = CliRunner()


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "script.py"
    path.write_text("import sys\nprint(sys.argv[1:])\n")
    return str(path)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """What the commands were called with; each ends with status 3."""
    seen: list[tuple[object, ...]] = []

    def record(*arguments: object) -> int:
        seen.append(arguments)
        return 3

    for command, name in ((run, "run_and_sum_up"), (explain, "explain_script"), (show, "show")):
        monkeypatch.setattr(command, name, record)
    return seen


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("run SCRIPT", ([], False)),
        ("run --summary SCRIPT --summary -n 3", (["--summary", "-n", "3"], True)),
        ("explain SCRIPT --json -n 3", (["-n", "3"], True)),
        ("explain SCRIPT -- --json", (["--json"], False)),
    ],
)
def test_options_are_ours_or_the_scripts(
    script: str, calls: list[tuple[object, ...]], line: str, expected: tuple[list[str], bool]
) -> None:
    result = RUNNER.invoke(app, line.replace("SCRIPT", script).split())
    assert result.exit_code == 3, result.output
    assert calls == [(Path(script), *expected)]


def test_show_shows_the_ir_unless_told_otherwise(script: str, calls: list[tuple[object, ...]]) -> None:
    RUNNER.invoke(app, ["show", f"{script}:f"])
    RUNNER.invoke(app, ["show", script, "--c", "--facts", "--args", "int", "more"])
    RUNNER.invoke(app, ["show", f"{script}:f", "--steps", "split i 4"])
    assert calls == [
        (Path(script), "f", ["ir"], None, [], None),
        (Path(script), "", ["facts", "c"], "int", ["more"], None),
        (Path(script), "f", ["ir"], None, [], "split i 4"),
    ]


def test_config_and_version_and_help() -> None:
    assert "compile_timeout_s" in RUNNER.invoke(app, ["config"]).output
    assert RUNNER.invoke(app, ["--version"]).output == f"loopwright {version('loopwright')}\n"
    for command in ("run", "explain", "show", "devices", "config"):
        assert command in RUNNER.invoke(app, ["--help"]).output
        assert RUNNER.invoke(app, [command, "--help"]).exit_code == 0


@pytest.mark.parametrize("line", ["run no_such.py", "explain no_such.py", "show no_such.py:f", "dance", "config --all"])
def test_bad_lines_end_with_two(line: str) -> None:
    assert RUNNER.invoke(app, line.split()).exit_code == 2
