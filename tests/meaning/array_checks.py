"""Compares runs of array programs with CPython's: values, dtypes, shapes, exceptions, arguments after the call.

Sums and products may be rounded in another order than NumPy's, so floats are compared with a tolerance.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import loopwright as lw
from loopwright.errors import NegativeSizeError

from .arguments import Cells, Recipe
from .judge import Outcome, function_of, run
from .judge import _same_line as same_line
from .programs import Program
from .ways import Way, eagerly, interpreter, lowered

CLASSES = (IndexError, ZeroDivisionError, OverflowError, UnboundLocalError, ValueError, TypeError, MemoryError)


def difference(right: Outcome, other: Outcome) -> str:
    """Where the other run differs from CPython's: '' where it does not."""
    if right.error is not None:
        if isinstance(other.error, NegativeSizeError) and not isinstance(right.error, NameError):
            return ""  # arrays that are returned are made before anything else happens
        if other.error is None:
            return f"returned {other.value!r}, where CPython raised {right.error!r}"
        if _class(right.error) is _class(other.error) or same_line(right.error, other.error):
            return ""
        return f"raised {other.error!r} instead of {right.error!r}"
    if other.error is not None:
        return f"raised {other.error!r}, where CPython returned {right.value!r}"
    if text := _different(right.value, other.value):
        return f"returned value: {text}"
    for number, (wanted, got) in enumerate(zip(right.buffers, other.buffers, strict=True)):
        if not _close(wanted, got):
            return f"buffer {number}:\n  CPython {wanted!r}\n  here    {got!r}"
    return ""


def _class(error: BaseException) -> type[BaseException]:
    return next((known for known in CLASSES if isinstance(error, known)), type(error))


def _different(right: object, other: object) -> str:
    if isinstance(right, tuple):
        if not isinstance(other, tuple) or len(right) != len(other):
            return f"{other!r} instead of {right!r}"
        return next((text for a, b in zip(right, other, strict=True) if (text := _different(a, b))), "")
    if right is None or isinstance(right, np.ndarray) or isinstance(other, np.ndarray):
        alike = type(right) is type(other)
    else:
        alike = type(right) is type(other) or (not isinstance(right, np.generic) and isinstance(other, np.generic))
    if not alike or (right is not None and not _close(np.asarray(right), np.asarray(other))):
        return f"{other!r} instead of {right!r}"
    return ""


def _close(right: np.ndarray, other: np.ndarray) -> bool:
    if right.dtype != other.dtype or right.shape != other.shape:
        return False
    if right.dtype.kind not in "fc":
        return bool(np.array_equal(right, other))
    near = 1e-4  # also float64, which may be computed of float32
    with np.errstate(all="ignore"):
        return bool(np.allclose(other, right, rtol=near, atol=near, equal_nan=True))


def outcomes_of(program: Program) -> list[Outcome]:
    """What CPython does, call by call."""
    function = function_of(program.source)
    return [run(function, call) for call in program.calls]


def _is_about_no_element(call: tuple[Recipe, ...], right: Outcome) -> bool:
    """An index of rows that have no elements is an error in CPython only, see docs/language.md."""
    arrays = [recipe for recipe in call if isinstance(recipe, Cells)]
    return isinstance(right.error, IndexError) and any(0 in array.shape for array in arrays)


def check_interpreted(program: Program, outcomes: list[Outcome] | None = None) -> None:
    """The interpreter agrees on every call. Raises KernelError for a refusal."""
    function = function_of(program.source)
    for number, (call, right) in enumerate(zip(program.calls, outcomes or outcomes_of(program), strict=True)):
        if isinstance(right.error, NameError | AttributeError):
            continue
        try:
            kernel, simple = lowered(function, call)
        except lw.ArgumentValueError as error:  # something read-only that may be written
            assert "read-only" in str(error)
            continue
        if _is_about_no_element(call, right):
            continue
        text = difference(right, run(interpreter(kernel), call))
        assert not text, f"call {number}, interpreter: {text}"
        if simple is not kernel:
            text = difference(right, run(interpreter(simple), call))
            assert not text, f"call {number}, interpreter after simplify: {text}"


def check_ways(program: Program, cache: Path, ways: list[Way], outcomes: list[Outcome] | None = None) -> None:
    """Compiled code agrees on every call in these ways. Raises KernelError for a refusal."""
    right = outcomes or outcomes_of(program)
    with eagerly():
        for way in ways:
            kernel = lw.kernel(function_of(program.source))
            for number, (call, wanted) in enumerate(zip(program.calls, right, strict=True)):
                _check_call(kernel, number, call, wanted, way, cache)


def _check_call(kernel: object, number: int, call: tuple[Recipe, ...], wanted: Outcome, way: Way, cache: Path) -> None:
    with lw.options(threads=way.threads, strict=way.strict, checks=way.checks, cache=cache, compiler_flags=way.flags,
                    device=way.device):  # fmt: skip
        other = run(kernel, call)  # type: ignore[arg-type]
    if isinstance(other.error, lw.KernelError):
        raise other.error
    if isinstance(other.error, lw.ArgumentValueError) and "read-only" in str(other.error):
        return
    text = "" if _is_about_no_element(call, wanted) else difference(wanted, other)
    assert not text, f"call {number}, {way}: {text}"
