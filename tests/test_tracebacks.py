"""What a user sees of the way that an error of a call takes."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright import tracebacks
from loopwright.numba import njit

HERE = Path(__file__).name


def outside(a: Any) -> None:
    with open("x"):
        a[0] = 1


def bounds(a: Any, k: Any = 9) -> None:
    for i in range(len(a)):
        a[i + k] = 1.0


def own(a: Any) -> None:
    if a[0] == 0:
        raise ValueError("it is zero")


def files_of(call: Callable[[], object]) -> list[str]:
    with pytest.raises(Exception) as caught:
        call()
    return [Path(frame.filename).name for frame in traceback.extract_tb(caught.value.__traceback__)][1:]


@pytest.mark.parametrize("door", [lw.kernel, njit])
@pytest.mark.parametrize("function", [outside, bounds, own])
def test_the_frames_are_the_users(function: Any, door: Any) -> None:
    files = files_of(lambda: door(function)(np.zeros(3)))
    assert files[0] == HERE
    assert len(files) <= 2
    assert len(files_of(lambda: door(function)(np.zeros(3), 1, 2))) <= 2


def test_a_kernel_that_has_run_adds_no_frame() -> None:
    kernel = lw.kernel(own)
    kernel(np.ones(3))
    for call in (lambda: kernel(np.zeros(3)), lambda: kernel(np.ones(3), 2), lambda: kernel(a=object())):
        assert files_of(call) == [HERE]


def test_debugging_shows_all_of_them() -> None:
    with lw.options(debug=("times",)):
        assert len(files_of(lambda: lw.kernel(outside)(np.zeros(3)))) > 5


def test_a_mistake_of_ours_keeps_its_frames() -> None:
    def fails() -> None:
        raise KeyError("a table without it")

    here = tracebacks.__file__
    code = compile("def inside(f):\n    f()\ndef mistaken():\n    raise KeyError('x')\n", here, "exec")
    names: dict[str, Any] = {}
    exec(code, names)
    for call, kept in ((names["mistaken"], 2), (lambda: names["inside"](fails), 3)):
        try:
            call()
        except KeyError as error:
            shown = traceback.extract_tb(tracebacks.for_user(error).__traceback__)
        assert len(shown) == kept
