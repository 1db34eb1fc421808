"""Device text is compiled for the emulated device, or what is missing is said."""

from __future__ import annotations

import pytest

from devices.emulation import SAXPY, Session, written
from loopwright.config import current
from loopwright.devices.emulated import EmulatedGpu
from loopwright.devices.emulated_build import find_cxx
from loopwright.errors import CompilerError


def test_a_text_that_does_not_compile_names_the_line() -> None:
    with pytest.raises(CompilerError, match="device text:2:"):
        Session('extern "C" __global__ void bad() {\n  no_such_name = 1;\n}\n', "bad")


def test_a_missing_compiler_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPWRIGHT_CXX", "no-such-c++")
    with pytest.raises(CompilerError, match=r"no-such-c\+\+ was not found\n  try: .*LOOPWRIGHT_CXX"):
        EmulatedGpu().module(written(SAXPY, ("saxpy",)), current())


def test_the_compiler_is_the_sister_of_the_c_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOOPWRIGHT_CXX", raising=False)
    assert "++" in find_cxx(current())[0]
