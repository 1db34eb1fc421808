"""Other processes, for faults that a process cannot survive or should not have: started, watched, killed."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

TESTS = Path(__file__).parents[1]
# Calls go through ctypes, unless LAUNCHER is in front: the launcher takes a second to compile, in each new cache.
LAUNCHER = "launcher = True\n"
PREAMBLE = """
import os, sys, signal, warnings
from pathlib import Path
import numpy as np
from devices.handmade import ADD, NOTHING, THREADS, HEADER, Handmade, config_in, executable
from loopwright.config import CURRENT
from loopwright.devices import launcher as launchers
from loopwright.toolchain.cc import build
signal.signal(signal.SIGINT, signal.default_int_handler)
if "launcher" not in globals():
    launchers.header_folders = lambda: ()
config = config_in(Path(sys.argv[1]), compiler=sys.argv[2])
CURRENT.set(config)
"""
BUILD = PREAMBLE + "print(build(HEADER + ADD, (), config).path)\n"
USE = (
    PREAMBLE
    + """
from loopwright.runtime.dispatch import Dispatch
kernel = Dispatch("add", ("a", "n"), {}, {"a"}, lambda wanted: Handmade(executable(ADD, config)))
a = np.zeros(3)
kernel.call(a, 2)
print(a.tolist())
"""
)


def start(code: str, cache: Path, compiler: str = "", talk: bool = False) -> subprocess.Popen[str]:
    """A Python process that runs this code; its arguments are the cache and the compiler's name. talk: something will
    be written to its input."""
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "default"}
    return subprocess.Popen(
        [sys.executable, "-c", code, str(cache), compiler],
        env=environment,
        text=True,
        stdin=subprocess.PIPE if talk else None,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def finish(process: subprocess.Popen[str], timeout_s: float = 60) -> tuple[str, str]:
    """Its output and its errors; an AssertionError where it fails, or hangs (it is killed then)."""
    try:
        output, trouble = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # and what it forked
        output, trouble = process.communicate()
        raise AssertionError(f"hangs:\n{output}\n{trouble}") from None
    assert process.returncode == 0, trouble
    return output.strip(), trouble


def run(code: str, cache: Path, compiler: str = "") -> tuple[str, str]:
    """Start and finish."""
    return finish(start(code, cache, compiler))


def until(path: Path) -> None:
    """Wait until the file is there."""
    for _ in range(3000):
        if path.exists():
            return
        time.sleep(0.01)
    raise AssertionError(f"{path.name} never came")


def compiler_script(path: Path, text: str) -> str:
    """A compiler of our own: a shell script. $kernel is 1 where it is to compile a kernel; `real` is the true one."""
    real = shutil.which("cc")
    path.write_text(
        "#!/bin/bash\nkernel=0\n"
        'for word; do [ "$word" = kernel.c ] && kernel=1; done\n'
        f'real() {{ exec {real} "$@"; }}\n{text}\n'
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)
