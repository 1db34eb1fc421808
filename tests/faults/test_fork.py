"""Processes forked after threads were used: one thread, one warning, no hang."""

from __future__ import annotations

import os

import pytest

from faults.children import LAUNCHER, PREAMBLE, run

FORK = (
    PREAMBLE
    + """
from loopwright.runtime.dispatch import Dispatch
def compile(wanted):
    return Handmade(executable(THREADS, config, parallel=True))
kernel = Dispatch("threads", ("out",), {}, {"out"}, compile)
out = np.zeros(2, np.int64)
def call(who):
    kernel.call(out)
    print(who, *out, flush=True)
def in_child(who, work):
    child = os.fork()
    if not child:
        try:
            work(who)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
"""
)


@pytest.fixture(params=["extension", "ctypes"])
def forked(request, tmp_path_factory):
    cache = tmp_path_factory.getbasetemp() / f"forks {request.param}"  # one for all: the launcher is built once

    def go(code: str) -> tuple[list[str], str]:
        text = (LAUNCHER if request.param == "extension" else "") + FORK + code
        text += "\nassert launchers.launcher_kind(config)[0] == " + repr(request.param)
        output, trouble = run(text, cache)
        return output.splitlines(), trouble

    return go


pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")


def test_a_child_of_a_process_that_used_threads(forked):
    code = """
call("parent")
def work(who):
    call(who)
    call(who)
    in_child("grandchild", call)
in_child("child", work)
call("parent")
"""
    output, trouble = forked(code)
    assert output == ["parent 2 2", "child 1 1", "child 1 1", "grandchild 1 1", "parent 2 2"]
    assert trouble.count("LoopwrightWarning") == 1
    assert "'spawn' or 'forkserver'" in trouble


def test_a_child_of_a_process_that_used_none(forked):
    output, trouble = forked('in_child("child", call)\ncall("parent")')
    assert output == ["child 2 2", "parent 2 2"]
    assert "LoopwrightWarning" not in trouble


def test_a_child_of_a_process_that_used_one_thread(forked):
    code = """
from dataclasses import replace
token = CURRENT.set(replace(config, threads=1))
call("parent")
CURRENT.reset(token)
in_child("child", call)
"""
    output, _ = forked(code)
    assert output == ["parent 1 1", "child 2 2"]


def test_a_fork_while_another_thread_compiles(forked):
    """The locks that it holds are nobody's in the child."""
    code = """
import contextvars, threading, time
inside, leave = threading.Event(), threading.Event()
plain = kernel.codes.compile
def waits(wanted):
    inside.set()
    leave.wait(30)
    return plain(wanted)
kernel.codes.compile = waits
thread = threading.Thread(target=contextvars.copy_context().run, args=(kernel.prepare, (out,), {}))
thread.start()
inside.wait(30)
kernel.codes.compile = plain
in_child("child", call)
leave.set()
thread.join()
call("parent")
"""
    output, _ = forked(code)
    assert output == ["child 2 2", "parent 2 2"]
