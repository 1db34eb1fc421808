"""The commands on real kernels, in real scripts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from loopwright.cli.main import app

RUNNER = CliRunner()

SCRIPT = """\
import sys
import numpy as np
import loopwright as lw

@lw.kernel
def scale(a, factor):
    for i in range(a.shape[0]):
        a[i] = a[i] * factor

def main(n):
    @lw.kernel
    def running(a):
        for i in range(1, len(a)):
            a[i] += a[i - 1]

    a = np.ones(n)
    scale(a, 2.0)
    scale(a, 2.0)
    scale(a.astype(np.float32), 2.0)
    running(a)
    print(int(a[-1]))

if __name__ == "__main__":
    main(int(sys.argv[1]))
"""


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return str(path)


def test_explain(script: str) -> None:
    result = RUNNER.invoke(app, ["explain", script, "100"])
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("400\n")
    for text in ("scale(a: float64[:], factor: float64)", "scale(a: float32[:]", "running(a: float64[:])"):
        assert text in result.stdout
    assert "2 calls on the cpu" in result.stdout
    assert "a[i - 1] (line 14) reads what a[i] (line 14) wrote in the iteration before" in result.stdout


def test_explain_as_json(script: str) -> None:
    result = RUNNER.invoke(app, ["explain", script, "--json", "100"])
    seen = json.loads(result.stdout)
    assert result.stderr == "400\n" and seen["status"] == 0
    assert [(one["name"], one["line"], len(one["explanations"])) for one in seen["kernels"]] == [
        ("scale", 6, 2),
        ("running", 12, 1),
    ]
    [loop] = seen["kernels"][0]["explanations"][0]["loops"]
    assert (loop["name"], loop["verdict"], loop["line"], loop["run"]) == ("i", "parallel", 7, "parallel")


def test_run_is_python(script: str) -> None:
    result = RUNNER.invoke(app, ["run", script, "3"])
    assert (result.exit_code, result.stdout, result.stderr) == (0, "12\n", "")


def test_run_sums_up(script: str) -> None:
    result = RUNNER.invoke(app, ["run", "--summary", script, "3"])
    assert result.stdout == "12\n"
    assert [line.split()[0] for line in result.stderr.splitlines()] == ["kernel", "scale", "scale", "running"]


def test_a_failing_script_fails(script: str) -> None:
    result = RUNNER.invoke(app, ["run", script])
    assert result.exit_code == 1
    assert result.stderr.endswith("IndexError: list index out of range\n")


@pytest.mark.parametrize(
    ("option", "text"), [("--ir", "for i in 0 .. "), ("--facts", "loop i: parallel"), ("--c", "#include <stdint.h>")]
)
def test_show_what_a_run_made(script: str, option: str, text: str) -> None:
    result = RUNNER.invoke(app, ["show", f"{script}:scale", option, "3"])
    assert result.exit_code == 0, result.output
    assert result.stdout.count(text) == 2


def test_show_for_types(script: str) -> None:
    result = RUNNER.invoke(app, ["show", f"{script}:scale", "--args", "int32[:] strided, int"])
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("# scale(a: int32[:], factor: int64)\n")


@pytest.mark.parametrize(
    ("types", "code", "says"),
    [
        ("int, int", 1, "KernelError"),
        ("float64[:]", 1, "missing 1 required positional argument: 'factor'"),
        ("float64[:], complex128", 1, "cannot take"),
        ("float99[:]", 2, "no type 'float99'"),
    ],
)
def test_show_refuses_types(script: str, types: str, code: int, says: str) -> None:
    result = RUNNER.invoke(app, ["show", f"{script}:scale", "--args", types])
    assert result.exit_code == code and says in result.stderr, result.output


def test_show_names_the_kernels_there_are(script: str) -> None:
    result = RUNNER.invoke(app, ["show", f"{script}:skale", "3"])
    assert result.exit_code == 2
    assert "scale (script.py:6), running (script.py:12)" in result.stderr


def test_devices_of_this_machine() -> None:
    result = RUNNER.invoke(app, ["devices"])
    assert result.exit_code == 0, result.output
    for name in ("CPU", "C compiler", "launcher", "cache folder", "options"):
        assert f" {name} " in result.stdout


def test_the_installed_command() -> None:
    command = Path(sys.executable).parent / "loopwright"
    ran = subprocess.run([command, "--version"], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.startswith("loopwright 0.")


IRREGULAR = """\
import numpy as np
import loopwright as lw

@lw.kernel
def work(t, out):
    for i in range(out.shape[0]):
        for k in range(t[i]):
            out[i] += 1.0

@lw.kernel
def other(a):
    for i in range(a.shape[0]):
        a[i] = 2.0

t, out = np.array([3, 1, 2]), np.zeros(3)
for _ in range(2):
    work(t, out)
t[0] = 9
work(t.astype(np.int32), out)
other(out)
print(out.sum())
"""


def test_show_irregular_looks_at_each_kind_of_call_before_it_is_made(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(IRREGULAR)
    result = RUNNER.invoke(app, ["show", f"{path}:work", "--irregular"])
    assert result.exit_code == 0, result.output
    assert result.stdout.count("# work (script.py:5)") == 2 and "other" not in result.stdout
    assert "range(t[i]): 2 iterations on average, 3 at most; 3 for all warps; sorted 3; at least 3" in result.stdout
    assert "range(t[i]): 4 iterations on average, 9 at most" in result.stdout
    assert result.stderr.endswith("6.0\n")
    both = RUNNER.invoke(app, ["show", str(path), "--irregular", "--ir"])
    assert "kernel other(" in both.stdout and "its iterations do not depend on data" in both.stdout


def test_show_irregular_needs_the_data_of_calls(script: str) -> None:
    result = RUNNER.invoke(app, ["show", script, "--irregular", "--args", "float64[:], float"])
    assert result.exit_code != 0 and "looks at the data of calls" in result.stderr
