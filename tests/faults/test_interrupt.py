"""Ctrl-C, and other signals with handlers in Python, during a kernel that would run for minutes: it ends soon, arrays
hold what some iterations left, and the next call is right."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from faults.children import TESTS

SOON_S = 5.0  # a quiet machine takes 0.1 s at most; kernels here would take minutes
LONG_KERNELS = """
import os, signal, sys, threading, time
from pathlib import Path
import numpy as np
import loopwright as lw
from loopwright.devices import launcher as launchers

signal.signal(signal.SIGINT, signal.default_int_handler)

@lw.kernel
def parallel(a, n):
    for i in range(len(a)):
        x = a[i]
        for k in range(n):
            x = x * 0.5 + 1.0
        a[i] = x

@lw.kernel
def sequential_outer(a, n):
    for t in range(n):
        for i in range(1, len(a)):
            a[i] = (a[i - 1] + a[i]) * 0.5

@lw.kernel
def innermost(a, n):
    s = 0.0
    for i in range(n):
        s = s * 0.5 + a[i % 8]
    return s

@lw.kernel
def backwards(a, n):
    s = 0.0
    for i in range(n, 0, -1):
        s = s * 0.5 + a[i % 8]
        if s < 0:
            break
    return s

@lw.kernel
def in_steps(a, n):
    s = 0.0
    for i in range(0, 3 * n, 3):
        s = s * 0.5 + a[i % 8]
    return s

@lw.kernel
def reduction(a, n):
    s = 0.0
    for i in range(n):
        s += a[i % 8]
    return s

@lw.kernel
def rows(a, n):
    for i in range(2):
        for j in range(n):
            a[i] += 1.0

@lw.kernel
def while_loop(a, n):
    s = 0.0
    k = n
    while k > 0:
        s = s * 0.5 + a[k % 8]
        k -= 1
    return s

@lw.kernel
def time_loop(a, n):
    b = np.zeros(len(a))
    for t in range(n):
        for i in range(1, len(a) - 1):
            b[i] = a[i - 1] + a[i + 1]
        for i in range(1, len(a) - 1):
            a[i] = 0.5 * b[i]

@lw.kernel
def triangle(a, n):
    for i in range(len(a)):
        for r in range(n):
            for j in range(i):
                a[i] += 0.001

@lw.kernel
def scatter(index, a, n):
    for t in range(n):
        for i in range(len(index)):
            a[index[i]] += 1.0

LONG = 10**11
MANY = np.arange(200_000) * 37 % 8
kernels = (parallel, sequential_outer, innermost, backwards, in_steps, reduction, rows, while_loop, time_loop, triangle)
calls = {kernel.__name__: lambda n, kernel=kernel: kernel(np.ones(1000), n) for kernel in kernels}
calls["scatter"] = lambda n: scatter(MANY, np.zeros(8), n)
how = dict(compiler_flags=("-O1",), cache=Path(sys.argv[1]), store="off", threads=2)
"""
EACH = """
changes = eval(sys.argv[2])
if changes.pop("ctypes", False):
    launchers.header_folders = lambda: ()
with lw.options(**(how | changes)):
    for call in [calls[name] for name in sys.argv[3].split()]:
        before = call(3)
        print("go", flush=True)
        try:
            call(LONG)
            print("ended", flush=True)
        except KeyboardInterrupt:
            print("stopped", call(3) == before, flush=True)
"""


class Child:
    """A Python process whose lines are read as they come."""

    def __init__(self, code: str, cache: Path, *arguments: str) -> None:
        program = cache / "program.py"  # kernels are read from their files
        program.write_text(code)
        path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
        self.process = subprocess.Popen(
            [sys.executable, str(program), str(cache), *arguments],
            env={**os.environ, "PYTHONPATH": path},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._lines: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                self._lines.put(line.strip())
        self._lines.put("")

    def line(self, within_s: float = 60.0) -> str:
        """The next line; '' at the end. An AssertionError where there is none in time."""
        try:
            return self._lines.get(timeout=within_s)
        except queue.Empty:
            raise AssertionError("it goes on") from None

    def interrupt(self, after_s: float = 0.05, number: int = signal.SIGINT) -> None:
        time.sleep(after_s)
        self.process.send_signal(number)

    def __enter__(self) -> Child:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self.process.kill()
        self._reader.join(30)
        assert self.process.stderr is not None
        trouble = self.process.stderr.read()
        self.process.stderr.close()
        self.process.wait(30)
        assert kind is not None or self.process.returncode == 0, trouble


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("interrupts")  # one for all: the launcher is built once


ALL = "parallel sequential_outer innermost backwards in_steps reduction rows while_loop time_loop triangle scatter"
SOME = "parallel reduction time_loop"


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({}, ALL),
        ({"threads": 1}, "parallel reduction rows scatter"),
        ({"strict": True}, SOME),
        ({"checks": "all"}, SOME),
        ({"ctypes": True}, SOME),
    ],
    ids=str,
)
def test_every_shape_of_kernel_ends(cache: Path, changes: dict[str, object], names: str) -> None:
    ends = []
    with Child(LONG_KERNELS + EACH, cache, repr(changes), names) as child:
        while child.line() == "go":
            child.interrupt()
            ends.append(child.line(SOON_S))
    assert ends == ["stopped True"] * len(names.split())


def test_a_handler_that_does_not_raise_lets_it_go_on(cache: Path) -> None:
    code = """
seen = []
signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
with lw.options(**how):
    innermost(np.ones(8), 3)
    print("go", flush=True)
    n = 150_000_000
    found = innermost(np.ones(8), n)
    print(found == 2.0, len(seen), signal.getsignal(signal.SIGINT).__name__, flush=True)
"""
    with Child(LONG_KERNELS + code, cache) as child:
        assert child.line() == "go"
        for _ in range(3):
            child.interrupt(0.08)
        assert child.line() == "True 3 <lambda>"


def test_an_ignored_signal_stays_ignored(cache: Path) -> None:
    code = """
signal.signal(signal.SIGINT, signal.SIG_IGN)
with lw.options(**how):
    innermost(np.ones(8), 3)
    print("go", flush=True)
    print(innermost(np.ones(8), 100_000_000), flush=True)
"""
    with Child(LONG_KERNELS + code, cache) as child:
        assert child.line() == "go"
        child.interrupt(0.1)
        assert child.line() == "2.0"


@pytest.mark.parametrize("how_called", ["extension", "ctypes"])
def test_other_signals_raise_what_their_handlers_raise(cache: Path, how_called: str) -> None:
    code = f"""
if {how_called == "ctypes"}:
    launchers.header_folders = lambda: ()
def late(number, frame):
    raise TimeoutError("too late")
signal.signal(signal.SIGALRM, late)
a = np.zeros(1000)
with lw.options(**how):
    parallel(a, 3)
    for seconds in (0.001, 0.1, 0.2):
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            parallel(a, LONG)
        except TimeoutError as error:
            print(error, flush=True)
    assert signal.getsignal(signal.SIGALRM) is late
"""
    with Child(LONG_KERNELS + code, cache) as child:
        assert [child.line(30), child.line(SOON_S), child.line(SOON_S), child.line()] == [*["too late"] * 3, ""]


def test_a_handler_may_call_kernels_and_be_interrupted_itself(cache: Path) -> None:
    code = """
def handler(number, frame):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print("inside", innermost(np.ones(8), 3), flush=True)
    innermost(np.ones(8), LONG)
signal.signal(signal.SIGINT, handler)
with lw.options(**how):
    innermost(np.ones(8), 3)
    print("go", flush=True)
    try:
        parallel(np.ones(1000), LONG)
    except KeyboardInterrupt:
        print("stopped", flush=True)
"""
    with Child(LONG_KERNELS + code, cache) as child:
        assert child.line() == "go"
        child.interrupt(0.1)
        assert child.line(SOON_S) == "inside 1.75"
        child.interrupt(0.1)
        assert child.line(SOON_S) == "stopped"


def test_calls_of_other_threads_run_to_their_end(cache: Path) -> None:
    code = """
found = []
def work():
    with lw.options(**how):
        found.append(float(innermost(np.ones(8), 150_000_000)))
with lw.options(**how):
    innermost(np.ones(8), 3)
    parallel(np.ones(1000), 3)
    other = threading.Thread(target=work)
    other.start()
    print("go", flush=True)
    try:
        parallel(np.ones(1000), LONG)
    except KeyboardInterrupt:
        print("stopped", flush=True)
    other.join()
    print(found, flush=True)
"""
    with Child(LONG_KERNELS + code, cache) as child:
        assert child.line() == "go"
        child.interrupt(0.1)
        assert [child.line(SOON_S), child.line()] == ["stopped", "[2.0]"]


def test_elements_are_whole_and_the_next_call_is_right(cache: Path) -> None:
    code = """
@lw.kernel
def count(a, n):
    for t in range(n):
        for i in range(len(a)):
            a[i] += 1.0
a = np.zeros(100_000)
with lw.options(**how):
    count(a, 1)
    for _ in range(2):
        print("go", flush=True)
        try:
            count(a, LONG)
        except KeyboardInterrupt:
            pass
        whole = (a == np.floor(a)).all() and (a >= 1).all()  # some may have seen more iterations of `t` than others
        before = a.copy()
        count(a, 5)
        print(whole, (a == before + 5).all(), flush=True)
"""
    with Child(LONG_KERNELS + code, cache) as child:
        for _ in range(2):
            assert child.line() == "go"
            child.interrupt()
            assert child.line(SOON_S) == "True True"


def test_a_process_forked_in_the_middle_can_be_interrupted(cache: Path) -> None:
    code = """
def work():
    time.sleep(0.15)
    if not os.fork():
        signal.signal(signal.SIGINT, signal.default_int_handler)
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            with lw.options(**(how | {"threads": 1})):
                innermost(np.ones(8), LONG)
        except KeyboardInterrupt:
            print("child", flush=True)
        os._exit(0)
    os.wait()
    os.kill(os.getpid(), signal.SIGINT)
with lw.options(**(how | {"threads": 1})):
    innermost(np.ones(8), 3)
    threading.Thread(target=work).start()
    try:
        innermost(np.ones(8), LONG)
    except KeyboardInterrupt:
        print("parent", flush=True)
"""
    with Child(LONG_KERNELS + code, cache) as child:
        assert [child.line(), child.line(SOON_S)] == ["child", "parent"]


def test_the_first_call_is_interrupted_while_it_compiles(tmp_path: Path) -> None:
    code = """
with lw.options(**(how | {"compiler_flags": ()})):
    for again in range(3):
        print("go", flush=True)
        try:
            time_loop(np.ones(1000), LONG)
        except KeyboardInterrupt:
            print("stopped", flush=True)
    print(innermost(np.ones(8), 3), flush=True)
"""
    with Child(LONG_KERNELS + code, tmp_path) as child:
        for _ in range(3):
            assert child.line() == "go"
            child.interrupt(0.15)
            assert child.line(SOON_S) == "stopped"
        assert child.line() == "1.75"
