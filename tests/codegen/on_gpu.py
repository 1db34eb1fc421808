"""Running a kernel both ways: in the interpreter, and as a program for a GPU on the emulated device; and arrays in the
memory of that one."""

from __future__ import annotations

import copy
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.devices.gpus import gpu_of
from loopwright.memory.on_device import OnDevice, on_device
from loopwright.recipe import gpu

Outcome = tuple[list[Any], object, Exception | None]


def outcome(kernel: Callable[..., object], arguments: list[Any]) -> Outcome:
    """The arguments after a call, what it gave, and what it raised."""
    with np.errstate(all="ignore"):
        try:
            return arguments, kernel(*arguments), None
        except Exception as error:
            return arguments, None, error


def equal(got: object, wanted: object) -> None:
    """The same type, shape and values; NaN is NaN, and -0.0 is not 0.0."""
    if isinstance(wanted, tuple):
        assert isinstance(got, tuple) and len(got) == len(wanted)
        for one, other in zip(got, wanted, strict=True):
            equal(one, other)
    elif isinstance(wanted, np.ndarray | np.generic):
        assert type(got) is type(wanted)
        assert np.asarray(got).dtype == wanted.dtype
        np.testing.assert_array_equal(np.asarray(got), wanted)
        if wanted.dtype.kind == "f":
            np.testing.assert_array_equal(
                np.signbit(np.asarray(got)) | np.isnan(wanted), np.signbit(wanted) | np.isnan(wanted)
            )
    else:
        assert got == wanted and type(got) is type(wanted)


def agree(
    function: Callable[..., object], *arguments: Any, schedule: str = "", strict: bool = True, why_not: str = ""
) -> Any:
    """Call it both ways on arguments of their own, which must end alike, and give the Specialisation. why_not: the
    reason for which it runs on the CPU, '' where it must run on the GPU, also where one thread does all of it there.
    Arguments: an array, or a function that makes one, where a copy would not do."""
    kernel = lw.kernel(function)
    with lw.options(device="interpreter"):
        wanted = outcome(lw.kernel(function), made(arguments))
    stays = nullcontext() if why_not else even_in_one_thread()
    # What is left for the host hardly does more than launch: the C compiler need not take pains with it.
    host = () if why_not else ("-O0",)
    with lw.options(device="emulated", schedule=schedule, strict=strict, compiler_flags=host), stays:
        got = outcome(kernel, made(arguments))
    if type(got[2]) is not type(wanted[2]):
        raise got[2] or AssertionError(f"no {wanted[2]!r}")
    if got[2] is not None:
        assert str(got[2]) == str(wanted[2])
    equal(got[1], wanted[1])
    for mine, right in zip(got[0], wanted[0], strict=True):
        equal(mine, right)
    found: Any = kernel._dispatch.compiled()[0]
    assert found.why_not_gpu == why_not
    return found


@contextmanager
def even_in_one_thread() -> Iterator[None]:
    """What one thread of a GPU would do is done there, and not on the CPU, which is faster. Of several threads that
    are here at once, the last to leave puts back what was there before the first came."""
    with _counting:
        _inside.append(gpu.better_off)
        gpu.better_off = _never
    try:
        yield
    finally:
        with _counting:
            before, *_ = _inside
            _inside.pop()
            if not _inside:
                gpu.better_off = before


def _never(*_: object) -> str:
    return ""


_counting = threading.Lock()
_inside: list[Callable[..., str]] = []
"""What each of them found: of the first, the recipe's own."""


def refused(function: Callable[..., object], *arguments: Any, schedule: str, why: str, strict: bool = True) -> None:
    """A step of the schedule says why it cannot be."""
    options = lw.options(device="emulated", schedule=schedule, strict=strict)
    with options, pytest.raises(lw.ScheduleError, match=re.escape(f"is not legal: {why}")):
        lw.kernel(function)(*made(arguments))


def made(arguments: tuple[Any, ...]) -> list[Any]:
    return [one() if callable(one) else copy.deepcopy(one) for one in arguments]


def device_text(found: Any) -> str:
    """The CUDA text of a Specialisation."""
    text: str = found.program.device.text
    return text


@contextmanager
def in_gpu_memory(whole: Any, view: Any) -> Iterator[OnDevice]:
    """A view of an array, as an argument that lies in the emulated GPU's memory just as it does in the host's: not
    aligned, with gaps, backwards. (Of what comes from the host, a dense copy is there, which is always aligned.) In the
    end the array has what is there then."""
    memory, flat = gpu_of("emulated"), whole.reshape(-1)
    address = memory.allocate(max(whole.nbytes, 1))
    if whole.nbytes:
        memory.upload(address, flat)
    begins = view.__array_interface__["data"][0] - whole.__array_interface__["data"][0] if view.size else 0
    try:
        yield on_device(address + begins, view.shape, view.dtype, view.strides, "emulated", None)
        memory.synchronize()
        if whole.nbytes:
            memory.download(flat, address)
    finally:
        memory.release(address)
