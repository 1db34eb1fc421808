"""Runs a generated program in every way there is, and says where two of them differ.

CPython's own run is right by definition. It also tells, by the processor's `inexact` flag, whether any float was
rounded: if none was, the order of sums does not matter and even `strict=False` must agree to the last bit.
"""

from __future__ import annotations

import ctypes
import hashlib
import linecache
import platform
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from .arguments import Made, Recipe, Setting, make

_INEXACT = {"x86_64": 0x20, "aarch64": 0x10}.get(platform.machine())
_LIBC = ctypes.CDLL(None) if hasattr(ctypes.CDLL(None), "feclearexcept") else ctypes.CDLL("libm.so.6")


@dataclass(frozen=True)
class Outcome:
    """What one run did: the value that it returned or the exception, and the buffers of its arguments afterwards."""

    value: object
    error: BaseException | None
    buffers: list[np.ndarray]
    inexact: bool = False
    returned_argument: int | None = None


def function_of(source: str, name: str = "kernel") -> FunctionType:
    """The function that the text defines, with the text where `inspect` and tracebacks find it."""
    file = f"<program {hashlib.sha256(source.encode()).hexdigest()[:16]}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"__name__": "generated", "__file__": file}
    exec(compile(source, file, "exec"), namespace)
    function = namespace[name]
    assert isinstance(function, FunctionType)
    return function


def run(call: Callable[..., object], recipes: tuple[Recipe, ...]) -> Outcome:
    """Call it with fresh arguments, after giving the globals of its program the values of this call."""
    made = make(recipes)
    set_globals(call, recipes)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        clear_inexact()
        try:
            value, error = call(*made.arguments), None
        except Exception as raised:
            value, error = None, raised
        inexact = was_inexact()
    return Outcome(value, error, made.buffers, inexact, _position(value, made))


def set_globals(call: Callable[..., object], recipes: tuple[Recipe, ...]) -> None:
    """Give the globals of a function, or of a kernel's function, the values that they have in this call."""
    function = getattr(call, "__wrapped__", call)
    if isinstance(function, FunctionType):
        function.__globals__.update(make(tuple(one for one in recipes if isinstance(one, Setting))).settings)


def _position(value: object, made: Made) -> int | None:
    if not isinstance(value, np.ndarray):
        return None
    return next((at for at, argument in enumerate(made.arguments) if argument is value), None)


def clear_inexact() -> None:
    """Forget what was rounded before."""
    if _INEXACT is not None:
        _LIBC.feclearexcept(_INEXACT)


def was_inexact() -> bool:
    """Whether any float was rounded since then; also true where the processor does not tell."""
    return _INEXACT is None or _LIBC.fetestexcept(_INEXACT) != 0


# ---- comparison ----


def difference(right: Outcome, other: Outcome, strict: bool = True, in_order: bool = True) -> str:
    """Where the other run differs from the right one: '' where it does not.

    strict: the sign of zero counts. in_order: the same class of exception is wanted, not just any."""
    if right.error is not None:
        return _error_difference(right, other, in_order)
    if other.error is not None:
        return f"raised {other.error!r}, where CPython returned {right.value!r}"
    if text := value_difference(right.value, other.value, strict):
        return f"returned value: {text}"
    if right.returned_argument != other.returned_argument:
        return f"returned argument {other.returned_argument} instead of {right.returned_argument}"
    for number, (wanted, got) in enumerate(zip(right.buffers, other.buffers, strict=True)):
        if not same_values(wanted, got, strict):
            return f"buffer {number}:\n  CPython {wanted!r}\n  here    {got!r}"
    return ""


_CLASSES = (IndexError, ZeroDivisionError, OverflowError, UnboundLocalError, ValueError, TypeError, MemoryError)


def _class_of(error: BaseException) -> type[BaseException]:
    return next((known for known in _CLASSES if isinstance(error, known)), type(error))


def _error_difference(right: Outcome, other: Outcome, in_order: bool) -> str:
    assert right.error is not None
    if other.error is None:
        return f"returned {other.value!r}, where CPython raised {right.error!r}"
    if in_order and _class_of(right.error) is not _class_of(other.error) and not _same_line(right.error, other.error):
        return f"raised {other.error!r}, where CPython raised {right.error!r}"
    return ""


_SEVERAL = (IndexError, ZeroDivisionError, OverflowError, ValueError, UnboundLocalError)


def _same_line(right: BaseException, other: BaseException) -> bool:
    """Whether both name one line, which does several things that may fail: which of them is found first is left open
    (docs/safety.md, what is not guaranteed)."""
    if not isinstance(right, _SEVERAL) or not isinstance(other, _SEVERAL):
        return False
    lines, trace = set(), right.__traceback__
    while trace is not None:
        lines.add((trace.tb_frame.f_code.co_filename, trace.tb_lineno))
        trace = trace.tb_next
    return any(f"{file}:{line}:" in str(other) for file, line in lines)


def value_difference(right: object, other: object, strict: bool = True) -> str:
    """'' where two returned values are alike in type and value. A scalar that may be a Python number or a NumPy one
    as the run goes (right is a Python number, other NumPy's of the same value) passes too."""
    if isinstance(right, tuple):
        if not isinstance(other, tuple) or len(right) != len(other):
            return f"{other!r} instead of {right!r}"
        return next((text for a, b in zip(right, other, strict=True) if (text := value_difference(a, b, strict))), "")
    if isinstance(right, np.ndarray):
        if not isinstance(other, np.ndarray) or not same_values(right, other, strict):
            return f"{other!r} instead of {right!r}"
        return ""
    if right is None or other is None:
        return "" if right is other else f"{other!r} instead of {right!r}"
    return "" if _same_scalar(right, other, strict) else f"{other!r} instead of {right!r}"


def _same_scalar(right: object, other: object, strict: bool) -> bool:
    if type(right) is type(other):
        return same_values(np.asarray(right), np.asarray(other), strict)
    if isinstance(right, np.generic) or not isinstance(other, np.generic):
        return False
    return right == other.item()


def same_values(right: np.ndarray, other: np.ndarray, strict: bool) -> bool:
    """Same dtype and shape, and the same value everywhere; all NaNs are alike; strict tells -0.0 from 0.0."""
    if right.dtype != other.dtype or right.shape != other.shape:
        return False
    if right.dtype.names:
        return all(same_values(right[name], other[name], strict) for name in right.dtype.names)
    if right.dtype.kind != "f":
        return right.tobytes() == other.tobytes()  # of a bool, what is neither 0 nor 1 tells too
    if not np.array_equal(right, other, equal_nan=True):
        return False
    return not strict or bool(np.array_equal(np.signbit(right) & (right == 0), np.signbit(other) & (other == 0)))
