"""What is remembered, in processes of its own: found again without a pass, and never the cause of a failure."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from faults.children import finish, run, start
from faults.test_disk import mounted

SCRIPT = """
import loopwright as lw

K = 2


def helper(x):
    return x * K


@lw.kernel
def scale(a, n):
    for i in range(n):
        a[i] = helper(a[i]) + 1
"""
BEGIN = """
import os, signal, sys
import numpy as np
import loopwright as lw
from loopwright.config import CURRENT, current
from loopwright.devices import launcher as launchers
from loopwright.toolchain import store
launchers.header_folders = lambda: ()
from dataclasses import replace
CURRENT.set(replace(current(), cache=__import__("pathlib").Path(sys.argv[1]), compiler_flags=("-O0",), threads=2))
sys.path.insert(0, FOLDER)
import scaled
a = np.ones(3)
"""
CALL = "scaled.scale(a, 3)\nprint(a.tolist(), 'islpy' in sys.modules)\n"
ANSWER = "[3.0, 3.0, 3.0]"
MADE, FOUND = f"{ANSWER} True", f"{ANSWER} False"  # islpy is loaded where passes run, and only there


@pytest.fixture
def begin(tmp_path: Path) -> str:
    folder = tmp_path / "scripts"
    folder.mkdir()
    (folder / "scaled.py").write_text(SCRIPT)
    return BEGIN.replace("FOLDER", repr(str(folder)))


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def kept(cache: Path) -> list[Path]:
    return sorted((cache / "objects").glob("*/*/remembered.json"))


def test_the_next_process_runs_no_pass_and_loads_no_isl(begin, cache):
    assert run(begin + CALL, cache)[0] == MADE
    assert run(begin + CALL, cache)[0] == FOUND


def test_importing_the_package_loads_no_isl():
    code = "import sys, loopwright; print('islpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def test_explain_and_errors_load_it_when_they_need_it(begin, cache):
    errors = "\ntry:\n    scaled.scale(a, 4)\nexcept IndexError as error:\n    print(error)\n"
    explain = "\nprint([loop['verdict'] for loop in scaled.scale.explain(a, 3).to_dict()['loops']])\n"
    first = run(begin + errors + explain, cache)[0]
    assert "index 3 is out of bounds" in first and "nothing was written" in first and "['parallel']" in first
    assert run(begin + CALL + errors + explain, cache)[0].partition("\n") == (FOUND, "\n", first)


def test_processes_at_once(begin, cache):
    processes = [start(begin + CALL, cache) for _ in range(3)]
    assert [finish(process)[0].startswith(ANSWER) for process in processes] == [True] * 3
    assert len(kept(cache)) == 2
    assert list((cache / "work").iterdir()) == []
    assert run(begin + CALL, cache)[0] == FOUND


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("call", ["os.rename", "store._digest"])
def test_kill_9_while_it_is_kept(begin, cache, call, number):
    suicide = f"""
real, count = store.keep, 0
def keep(*arguments):
    global count
    count += 1
    if count == {number}:
        {call} = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    real(*arguments)
from loopwright import remembered
remembered.keep = keep
"""
    process = start(begin + suicide + CALL, cache)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert len(kept(cache)) == number - 1
    assert run(begin + CALL, cache)[0] == MADE
    assert run(begin + CALL, cache)[0] == FOUND


@pytest.mark.parametrize("harm", [lambda data: data[: len(data) // 2], lambda data: b"", lambda data: b"\xff" + data])
def test_a_damaged_entry_is_made_again(begin, cache, harm):
    run(begin + CALL, cache)
    for path in kept(cache):
        path.write_bytes(harm(path.read_bytes()))
    outputs = [run(begin + CALL, cache)[0] for _ in range(3)]  # one of the two entries leads to the other
    assert set(outputs[:2]) <= {MADE, FOUND} and outputs[2] == FOUND
    assert len(list((cache / "aside").iterdir())) == 2


def test_a_disk_that_fills_up_before_it_is_kept(begin, cache):
    full = """
import errno
from loopwright import remembered
def keep(folder, key, make, most_bytes):
    def fails(entry):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    store.keep(folder, key, fails)
remembered.keep = keep
"""
    assert run(begin + full + CALL, cache) == (MADE, "")
    assert kept(cache) == []
    assert run(begin + CALL, cache) == (MADE, "")
    assert run(begin + CALL, cache) == (FOUND, "")


def test_a_read_only_cache_is_read(begin, cache):
    with mounted(cache, "size=10m"):
        run(begin + CALL, cache)
        subprocess.run(["mount", "-o", "remount,ro", cache], check=True)
        assert run(begin + CALL, cache) == (FOUND, "")


def test_a_read_only_cache_in_which_only_this_is_missing_says_nothing(begin, cache):
    with mounted(cache, "size=10m"):
        run(begin + CALL, cache)
        for path in kept(cache):
            path.unlink()
            path.with_name("digest").unlink()
            path.parent.rmdir()
        subprocess.run(["mount", "-o", "remount,ro", cache], check=True)
        assert run(begin + CALL, cache) == (MADE, "")


def test_a_cache_of_anybody_is_not_believed(begin, cache):
    run(begin + CALL, cache)
    if os.getuid() != 0:
        pytest.skip("may not give files away")
    os.chown(cache, 12345, 12345)
    cache.chmod(0o777)
    output, trouble = run(begin + CALL, cache)
    assert output == MADE
    assert trouble.count("LoopwrightWarning") == 1
