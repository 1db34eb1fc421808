"""Compilers that are missing, broken, slow or strange."""

from __future__ import annotations

import pytest

from devices.handmade import ADD, HEADER, config_in
from faults.children import LAUNCHER, PREAMBLE, USE, compiler_script, run
from loopwright import errors
from loopwright.errors import CompilerError
from loopwright.toolchain import cc


@pytest.fixture(autouse=True)
def fresh_process(monkeypatch: pytest.MonkeyPatch):
    """As if nothing had been searched or said yet."""
    monkeypatch.setattr(errors, "_WARNED", set())
    monkeypatch.setattr(cc, "_searches", {})


def config(tmp_path, script: str, **changes):
    return config_in(tmp_path / "cache", compiler=compiler_script(tmp_path / "fakecc", script), **changes)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("exit 1", "does not answer to --version"),
        (
            '[ "$1" = --version ] && exit 0; echo "stdio.h: error: not found"; exit 1',
            "error: not found",
        ),
        ('[ "$1" = --version ] && exit 0; exit 0', "do not run here"),
        ('[ "$1" = --version ] && exit 0; printf "#!/bin/sh\nexit 1\n" > probe; chmod +x probe', "do not run here"),
        ("exec sleep 600", "hangs"),
        ('[ "$1" = --version ] && exit 0; exec sleep 600', "hangs"),
        ("kill -9 $$", "does not answer"),
    ],
)
def test_a_compiler_that_does_not_work_is_none(tmp_path, script, reason):
    broken = config(tmp_path, script, compile_timeout_s=0.5)
    assert cc.find_compiler(broken) is None
    assert "fakecc: " in cc.why_none(broken)
    assert reason in cc.why_none(broken)
    with pytest.raises(CompilerError, match="no working C compiler"):
        cc.build(HEADER + ADD, (), broken)


def test_a_compiler_that_hangs_on_a_kernel_is_stopped(tmp_path):
    slow = config(tmp_path, '[ $kernel = 1 ] && exec sleep 600; real "$@"', compile_timeout_s=4)
    assert cc.find_compiler(slow) is not None
    with pytest.raises(CompilerError, match="stopped after 4 s"):
        cc.build(HEADER + ADD, (), slow)
    assert list((tmp_path / "cache" / "work").iterdir()) == []


def test_a_compiler_that_crashes_on_a_kernel(tmp_path):
    crashing = config(tmp_path, '[ $kernel = 1 ] && { echo "internal compiler error"; kill -11 $$; }; real "$@"')
    with pytest.raises(CompilerError, match=r"(?s)ended with code -11.*internal compiler error"):
        cc.build(HEADER + ADD, (), crashing)


def test_a_compiler_that_succeeds_and_writes_nothing(tmp_path):
    lying = config(tmp_path, '[ $kernel = 1 ] && exit 0; real "$@"')
    with pytest.raises(CompilerError, match="ended with code 0"):
        cc.build(HEADER + ADD, (), lying)


def test_a_compiler_that_vanishes(tmp_path):
    going = config(tmp_path, 'real "$@"')
    assert cc.find_compiler(going) is not None
    (tmp_path / "fakecc").unlink()
    with pytest.raises(CompilerError, match=r"(?s)ended with code 127.*No such file"):
        cc.build(HEADER + ADD, (), going)


def test_without_any_compiler_a_kernel_still_runs(tmp_path):
    code = (
        PREAMBLE
        + """
from loopwright.runtime.dispatch import Dispatch
from loopwright.toolchain.cc import find_compiler
assert find_compiler(config) is None
def interpret(arguments):
    arguments[0][:] += arguments[1]
kernel = Dispatch("add", ("a", "n"), {}, {"a"}, lambda wanted: Handmade(None, interpret=interpret))
a = np.zeros(3)
kernel.call(a, 2); kernel.call(a, 2)
print(a.tolist())
"""
    )
    output, trouble = run(code, tmp_path, "no-such-compiler")
    assert output == "[4.0, 4.0, 4.0]"
    assert trouble.count("LoopwrightWarning") == 1
    assert "apt install gcc" in trouble


def test_without_pythons_headers_calls_go_through_ctypes(tmp_path):
    report = "\nprint(*launchers.launcher_kind(config))\n"
    output, trouble = run(USE + report, tmp_path)
    assert output.splitlines() == ["[2.0, 2.0, 2.0]", "ctypes Python.h is missing (apt install python3-dev)"]
    assert trouble == ""


def test_a_launcher_that_is_there_needs_no_headers(tmp_path):
    report = "\nprint(*launchers.launcher_kind(config))\n"
    for again in (LAUNCHER, ""):
        assert run(again + USE + report, tmp_path) == ("[2.0, 2.0, 2.0]\nextension", "")


def test_a_launcher_that_does_not_compile_or_load(tmp_path):
    for text in ("#error no", "int nothing;"):
        broken = f"from loopwright.devices import launcher\nlauncher._source = lambda: {text!r}\n"
        output, _ = run(LAUNCHER + broken + USE + "\nprint(launcher.launcher_kind(config)[0])\n", tmp_path)
        assert output.splitlines() == ["[2.0, 2.0, 2.0]", "ctypes"]
