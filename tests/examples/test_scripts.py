"""Every small example runs, as a newcomer would run it, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(path.name for path in FOLDER.glob("*.py") if path.name not in ("__init__.py", "tour.py"))
SAYS = {
    "stencil.py": "parallel",
    "particles_records.py": "bounces each",
    "monte_carlo.py": "pi is about 3.14",
    "sparse.py": "columns",
}


def test_all_scripts_are_known() -> None:
    assert set(SCRIPTS) == set(SAYS)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_runs_and_explains_itself(name: str) -> None:
    command = [sys.executable, "-W", "error", str(FOLDER / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert SAYS[name] in done.stdout and "parallel" in done.stdout


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_short(name: str) -> None:
    assert len((FOLDER / name).read_text().splitlines()) <= 40
