"""`loopwright build`: code that is compiled ahead of time runs where there is no compiler, and nowhere it must not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from loopwright.cli.main import app
from loopwright.config import CURRENT, DEFAULT, Config, current
from loopwright.frontend.outside import Outside, UnknownError
from loopwright.specialisation import WATCHERS

RUNNER = CliRunner()
SCRIPT = """
import sys
from enum import Enum
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import loopwright as lw

SCALE = 2.0

class Line(NamedTuple):
    x: np.ndarray
    slope: float

class Mode(Enum):
    FAST = 1
    SLOW = 2

class Defaults:
    offset = 1.0

TABLE, settings, MODE = np.array([1.0, 2.0]), SimpleNamespace(scale=3.0), Mode.FAST

def squared(x):
    return x * x * SCALE

@lw.kernel
def held(a):
    for i in range(len(a)):
        a[i] = a[i] * settings.scale + TABLE[i] + Defaults.offset
    return MODE is Mode.FAST

@lw.kernel
def smooth(a, b):
    for i in range(1, len(a) - 1):
        b[i] = SCALE * (a[i - 1] + a[i + 1])

@lw.kernel
def total(function, line):
    s = 0.0
    for x in line.x:
        s += function(x) * line.slope
    return s

@lw.kernel
def drawn(n):
    s = 0.0
    for i in range(n):
        s += np.random.random()
    return s

@lw.kernel
def first_above(a, b, limit):
    for i in range(len(a)):
        if a[i] > limit:
            return b[i]
    return -1.0

a = np.arange(6.0)
b = np.zeros(6)
smooth(a, b)
np.random.seed(3)
print(b, total(squared, Line(a, 0.5)), drawn(3))
print(first_above(a, a, 2.0), first_above(a, a[:4], 2.0))
c = np.zeros(2)
print(held(c), c)
try:
    smooth(a, b[:3])
except lw.BoundsError as error:
    print(str(error).splitlines()[0])
if "more" in sys.argv:
    print({step.why for step in smooth.explain(a, b).decisions})
    print(total(squared, Line(a.astype(np.float32), 0.5)))
    SCALE = 10.0
    smooth(a, b)
    print(b)
    TABLE[:], settings.scale, Defaults.offset, MODE = 10.0, 2.0, 5.0, Mode.SLOW
    print(held(c), c)
"""
PRINTED = """\
[ 0.  4.  8. 12. 16.  0.] 55.0 1.5498504641056248
3.0 3.0
True [2. 3.]
sim.py:37:9: BoundsError: index 3 is out of bounds for axis 0 of 'b' with size 3
"""


def environment(cache: Path) -> dict[str, str]:
    """Of a machine without a compiler."""
    packages = os.pathsep.join(part for part in sys.path if part)
    return {"PATH": "/nowhere", "PYTHONPATH": packages, "HOME": str(cache), "LOOPWRIGHT_CACHE": str(cache)}


def run(*words: str | Path, env: dict[str, str], cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *map(str, words)], cwd=cwd, env=env, capture_output=True, text=True)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder that a script was built in, and what the command said."""
    folder = tmp_path_factory.mktemp("built")
    (folder / "sim.py").write_text(SCRIPT)
    command = "from loopwright.cli.main import run; run()"
    env = {**os.environ, "LOOPWRIGHT_CFLAGS": "-O0", "PYTHONPATH": os.pathsep.join(part for part in sys.path if part)}
    ran = run("-c", command, "build", "sim.py", env=env, cwd=folder)
    assert ran.returncode == 0, ran.stderr
    return folder, ran.stdout


@pytest.fixture
def node(built: tuple[Path, str], tmp_path: Path) -> Path:
    """A folder elsewhere, with the script and its build."""
    shutil.copy(built[0] / "sim.py", tmp_path)
    shutil.copytree(built[0] / "sim.loopwright", tmp_path / "sim.loopwright")
    return tmp_path


def test_it_says_what_is_in_it(built):
    folder, said = built
    assert said.startswith(PRINTED)
    lines = said.removeprefix(PRINTED).splitlines()
    assert lines[0].startswith(f"built 5 kinds of calls for x86-64-v3 into {folder / 'sim.loopwright'} (")
    assert lines[1:5] == [
        "  drawn(n: int64)",
        "  first_above(a: float64[:], b: float64[:], limit: float64)",
        "  held(a: float64[:])",
        "  smooth(a: float64[:], b: float64[:])",
    ]
    assert lines[6:] == ["It is used wherever it lies beside sim.py."]
    assert sorted(path.name for path in folder.iterdir()) == ["sim.loopwright", "sim.py"]
    told = json.loads((folder / "sim.loopwright" / "build.json").read_text())
    assert told["script"] == "sim.py" and "avx2" in told["needs"] and "avx512f" not in told["needs"]
    assert {path.stat().st_mode & 0o022 for path in (folder / "sim.loopwright").rglob("*")} == {0}


def test_all_of_it_runs_without_a_compiler(node):
    """Named tuples, functions as arguments, random numbers, objects, global arrays, a failed condition on sizes; and
    nothing is compiled."""
    ran = run("-W", "error", "sim.py", env=environment(node / "cache"), cwd=node)
    assert (ran.stdout, ran.stderr, ran.returncode) == (PRINTED, "", 0)
    assert not (node / "cache").exists()


def test_what_is_not_in_it_is_interpreted(node):
    """Other types, and other values of globals, of attributes, and of the elements of a global array."""
    ran = run("sim.py", "more", env=environment(node / "cache"), cwd=node)
    assert (
        ran.stdout
        == PRINTED + "{'chosen when it was built ahead of time'}\n55.0\n[ 0. 20. 40. 60. 80.  0.]\nFalse [19. 21.]\n"
    )
    assert "no working C compiler was found" in ran.stderr and ran.stderr.count("LoopwrightWarning") == 1
    assert f"What was built ahead of time ({node / 'sim.loopwright'}) has no code for such a call" in ran.stderr


def test_a_processor_that_lacks_instructions(node):
    """It goes on without the folder, and says what is missing and what would run."""
    told = node / "sim.loopwright" / "build.json"
    told.write_text(json.dumps({**json.loads(told.read_text()), "needs": ["avx512_of_tomorrow"]}))
    ran = run("sim.py", env=environment(node / "cache"), cwd=node)
    assert ran.stdout == PRINTED
    assert "is not used: it was built for processors with avx512_of_tomorrow, which this one (" in ran.stderr
    assert "build it here, or with --processor x86-64" in ran.stderr and "no working C compiler" in ran.stderr


# ---- in this process ----------------------------------------------------------------------------------------------


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Path]:
    token = CURRENT.set(replace(DEFAULT, compiler_flags=("-O0",)))  # its cache: the launcher is compiled once
    yield tmp_path
    CURRENT.reset(token)


def refused(*words: object, code: int = 2) -> str:
    result = RUNNER.invoke(app, ["build", *map(str, words)])
    assert result.exit_code == code, result.output
    return result.stderr


def test_a_script_that_fails_or_calls_no_kernel(here):
    script = here / "s.py"
    script.write_text("raise SystemExit(7)")
    result = RUNNER.invoke(app, ["build", str(script)])
    assert (result.exit_code, result.stdout) == (7, f"loopwright: {script} ended with 7: nothing is built\n")
    script.write_text("print(1)")
    assert "called no kernel: it made none" in refused(script)
    script.write_text("import loopwright as lw\n@lw.kernel\ndef f(a):\n    a[0] = 1.0\n")
    assert "called no kernel: it made 1, and called none on the CPU" in refused(script)
    assert sorted(path.name for path in here.iterdir()) == ["s.py"]
    assert WATCHERS == [] and current().compiler_flags == ("-O0",) and current().built is None


def test_a_place_that_cannot_be_written(here):
    script = here / "s.py"
    script.write_text("")
    (here / "full").mkdir()
    (here / "full" / "mine.txt").write_text("")
    assert "holds something else than a build" in refused(script, "--out", here / "full")
    assert "is a file" in refused(script, "--out", script)
    assert "nothing can be written to" in refused(script, "--out", here / "gone" / "x")
    assert "there is no processor 'i386'\n  try: one of portable, native" in refused(script, "--processor", "i386")


def test_what_is_left_out_is_told(here, monkeypatch: pytest.MonkeyPatch):
    script = here / "s.py"
    script.write_text(
        "import numpy, loopwright as lw\n@lw.kernel\ndef f(a):\n    a[0] = 1.0\nf(numpy.zeros(1))\n"
        "@lw.kernel\ndef g(a):\n    a[0] = 2\ng(numpy.zeros(1, numpy.int8))\n"
    )

    def structures(self: Outside) -> str:
        if self.source.name == "g":
            raise UnknownError("a function of another kind")
        return "[]"

    monkeypatch.setattr(Outside, "structures", structures)
    result = RUNNER.invoke(app, ["build", str(script)])
    assert result.exit_code == 0, result.output
    assert "built 1 kind of call" in result.stdout
    assert "not in it: g(a: int8[:]): it depends on something that another process could not recognise" in result.stdout


def test_no_compiler(here):
    (here / "s.py").write_text("")
    token = CURRENT.set(Config(cache=here / "cache", compiler="/nowhere/cc"))
    assert "no working C compiler was found (/nowhere/cc: not found). To install one" in refused(here / "s.py")
    CURRENT.reset(token)


def test_it_is_made_again(here):
    """For this very machine, elsewhere, over an older one."""
    script, out = here / "s.py", here / "out"
    script.write_text(
        "import sys, numpy, loopwright as lw\n@lw.kernel\ndef f(a):\n    a[0] = 1.0\nf(numpy.zeros(int(sys.argv[1])))\n"
    )
    out.mkdir()
    for _ in range(2):
        result = RUNNER.invoke(app, ["build", str(script), "--out", str(out), "--processor", "native", "3"])
        assert result.exit_code == 0, result.output
        assert f"LOOPWRIGHT_BUILT={out} python s.py" in result.stdout
        assert result.stdout.startswith("built 1 kind of call for native into")
    assert json.loads((out / "build.json").read_text())["processor"] == "native"
    assert sorted(path.name for path in here.iterdir()) == ["out", "s.py"]
    assert sorted(path.name for path in out.iterdir()) == ["build.json", "objects"]
