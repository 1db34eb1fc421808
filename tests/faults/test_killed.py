"""Killed or interrupted in the middle of a compilation, and two processes at once: the next call works."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest

from faults.children import BUILD, LAUNCHER, PREAMBLE, USE, compiler_script, finish, run, start, until


def entries(cache: Path) -> list[Path]:
    """The libraries in the cache."""
    return list((cache / "objects").glob("*/*/kernel.so"))


@pytest.fixture
def slow(tmp_path):
    """A compiler that says `started` and then waits, as long as the file `slow` is there."""
    (tmp_path / "slow").touch()
    wait = f"echo $$ > {tmp_path}/pid; touch {tmp_path}/started; exec sleep 600"
    script = compiler_script(
        tmp_path / "slowcc", f'[ $kernel = 1 ] && [ -e {tmp_path}/slow ] && {{ {wait}; }}\nreal "$@"'
    )
    yield tmp_path, script
    with suppress(OSError):  # a compiler outlives its killed caller
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


def test_kill_9_in_the_middle_of_a_compilation(slow):
    folder, compiler = slow
    cache = folder / "cache"
    process = start(BUILD, cache, compiler)
    until(folder / "started")
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    process.stderr.close()
    assert entries(cache) == []
    (folder / "slow").unlink()
    assert run(USE, cache, compiler)[0] == "[2.0, 2.0, 2.0]"


@pytest.mark.parametrize("call", ["rename", "fsync"])
def test_kill_9_in_the_middle_of_writing_an_entry(tmp_path, call):
    suicide = f"""
from loopwright.toolchain import store
from loopwright.toolchain.cc import find_compiler
find_compiler(config)
os.{call} = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
build(HEADER + ADD, (), config)
"""
    process = start(PREAMBLE + suicide, tmp_path)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert entries(tmp_path) == []
    assert len(list((tmp_path / "work").iterdir())) == 2  # what it left behind: the entry and its lock file
    assert run(USE, tmp_path)[0] == "[2.0, 2.0, 2.0]"


def is_gone(pid: int) -> bool:
    """Whether a process ends: on a busy machine it is there for a moment after it was killed."""
    for _ in range(3000):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


def test_control_c_in_the_middle_of_a_compilation(slow):
    folder, compiler = slow
    code = (
        PREAMBLE
        + """
from loopwright.runtime.dispatch import Dispatch
kernel = Dispatch("add", ("a", "n"), {}, {"a"}, lambda wanted: Handmade(executable(ADD, config)))
a = np.zeros(3)
try:
    kernel.call(a, 2)
except KeyboardInterrupt:
    os.remove(os.path.join(os.path.dirname(sys.argv[1]), "slow"))
    kernel.call(a, 3)
    print(a.tolist())
"""
    )
    process = start(code, folder / "cache", compiler)
    until(folder / "started")
    time.sleep(0.5)  # until Popen has returned: an exception before that leaves it without the process that it started
    process.send_signal(signal.SIGINT)
    assert finish(process)[0] == "[3.0, 3.0, 3.0]"
    assert is_gone(int((folder / "pid").read_text()))


def test_two_processes_that_compile_the_same(tmp_path):
    processes = [start(LAUNCHER + USE, tmp_path) for _ in range(3)]
    assert [finish(process)[0] for process in processes] == ["[2.0, 2.0, 2.0]"] * 3
    assert len(entries(tmp_path)) == 2  # the launcher and the kernel, once each
    assert list((tmp_path / "work").iterdir()) == []


def test_one_of_two_processes_is_killed_while_the_other_waits_for_it(slow):
    folder, compiler = slow
    cache = folder / "cache"
    first = start(BUILD, cache, compiler)
    until(folder / "started")
    (folder / "slow").unlink()
    second = start(BUILD, cache, compiler)
    with pytest.raises(AssertionError, match="hangs"):
        finish(second, timeout_s=1.5)
    third = start(BUILD, cache, compiler)
    first.kill()
    first.communicate()
    assert finish(third)[0] == str(entries(cache)[0])
