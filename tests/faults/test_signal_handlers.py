"""What a caller's signal handler raises is told from errors of ours, and reaches the caller."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

import loopwright as lw
from loopwright.errors import is_of_a_handler
from loopwright.toolchain import cc
from loopwright.toolchain.store import find, keep, obtain

KEY = "a" * 64


def late(number: int, frame: FrameType | None, word: str = "late") -> None:
    raise TimeoutError(word)


class Handler:
    def __call__(self, number: int, frame: FrameType | None) -> None:
        late(number, frame)

    def method(self, number: int, frame: FrameType | None) -> None:
        late(number, frame)


@pytest.fixture(autouse=True)
def before() -> Iterator[None]:
    handler = signal.getsignal(signal.SIGALRM)
    yield
    signal.signal(signal.SIGALRM, handler)


def raised(act: Callable[[], object]) -> Exception:
    try:
        act()
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize(
    "handler", [late, partial(late, word="?"), Handler(), Handler().method, lambda *_: late(0, None)]
)
def test_whatever_the_handler_is(handler: Callable[..., None]) -> None:
    signal.signal(signal.SIGALRM, handler)
    assert is_of_a_handler(raised(lambda: signal.raise_signal(signal.SIGALRM)))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    assert not is_of_a_handler(raised(lambda: os.stat("/nowhere/at/all")))
    assert not is_of_a_handler(raised(lambda: signal.Signals("no number")))  # SIG_DFL is of an enumeration, too


def test_a_folder_is_not_given_up_for_a_handler(tmp_path: Path) -> None:
    signal.signal(signal.SIGALRM, late)

    def make(folder: Path) -> None:
        (folder / "half").write_text("half")
        signal.raise_signal(signal.SIGALRM)

    for way in (obtain, keep):
        with pytest.raises(TimeoutError, match="late"):
            way(tmp_path, KEY, make)
    assert find(tmp_path, KEY) is None
    whole = obtain(tmp_path, KEY, lambda folder: (folder / "whole").write_bytes(b"1") and None)
    assert whole.folder.is_relative_to(tmp_path) and find(tmp_path, KEY) is not None


def test_it_reaches_who_waits_for_the_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    signal.signal(signal.SIGALRM, late)

    @lw.kernel
    def twice(a):
        for i in range(len(a)):
            a[i] *= 2.0

    a = np.ones(100)
    real = cc.run_compiler

    def interrupted(*given: object) -> tuple[int | None, str]:
        signal.raise_signal(signal.SIGALRM)
        return real(*given)

    with lw.options(cache=tmp_path, store="off", device="cpu"):
        with monkeypatch.context() as patch:
            patch.setattr(cc, "run_compiler", interrupted)
            with pytest.raises(TimeoutError, match="late"):
                twice(a)
        assert a.tolist() == [1.0] * 100
        twice(a)
    assert a.tolist() == [2.0] * 100
