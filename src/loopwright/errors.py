"""Every exception of Loopwright: what went wrong, where (the user's line and a caret), why, and what to do.

It owns the classes and how they print. The wording of each error is in the module that raises it and, as people
see it, in tests/golden/errors.
"""

from __future__ import annotations

import builtins
import importlib
import linecache
import math
import signal
import sys
import warnings
from dataclasses import dataclass
from functools import reduce
from pathlib import Path, PurePath
from typing import Literal, Protocol

import numpy as np


class SourcePlace(Protocol):
    """Where something stands in the user's source; `ir.nodes.Location` is one."""

    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...
    @property
    def end_column(self) -> int: ...


def describe(title: str, what: str, at: SourcePlace | None, why: str = "", remedy: str = "") -> str:
    """The full text of an error: `file:line:column: title: what`, the line with carets and why, `try: remedy`."""
    lines = [f"{title}: {what}" if title else what]
    at = getattr(at, "of_user", at)
    if at is not None:
        lines[0] = f"{PurePath(at.file).name}:{at.line}:{at.column + 1}: {lines[0]}"
        lines += _picture(at, why)
    elif why:
        lines.append(f"  {why}")
    if remedy:
        lines.append(f"  try: {remedy}")
    return "\n".join(lines)


def _picture(at: SourcePlace, why: str) -> list[str]:
    code = linecache.getline(at.file, at.line).rstrip()
    if not code:
        return [f"  {why}"] if why else []
    margin = len(code) - len(code.lstrip())
    cut = min(margin, at.column, 8) if margin > 8 else 0
    end = min(max(at.end_column, at.column + 1), max(len(code), at.column + 1))
    carets = " " * (at.column - cut) + "^" * (end - at.column)
    return [f"{at.line:>5} | {code[cut:]}", f"      | {carets} {why}".rstrip()]


class LoopwrightError(Exception):
    """The base of every error that Loopwright raises on purpose."""


@dataclass(eq=False)
class KernelError(LoopwrightError):
    """A function is outside the language, found before anything ran: what, where, why, and what to write instead.

    Examples:
        >>> import numpy as np
        >>> import loopwright as lw
        >>> @lw.kernel
        ... def power(a):
        ...     return np.abs(np.fft.fft(a)) ** 2
        >>> try:
        ...     power(np.ones(4))
        ... except lw.KernelError as error:
        ...     print(error.what, "|", error.remedy)
        'np.fft.fft' is outside the language | write its loops out, or call it before and pass the result
    """

    what: str
    at: SourcePlace | None = None
    why: str = ""
    remedy: str = ""

    def __str__(self) -> str:
        return describe("KernelError", self.what, self.at, self.why, self.remedy)


class FieldError(KernelError):
    """A field that was taken for a number that stays is assigned. Its class has noted that: the same call, made once
    more, hands over the place where the number is."""


class PlanError(LoopwrightError, ValueError):
    """A plan that was asked for cannot be run: it leaves out iterations, has some twice, or names a device that takes
    no part.

    Examples:
        >>> import numpy as np
        >>> import loopwright as lw
        >>> @lw.kernel
        ... def halve(a):
        ...     for i in range(len(a)):
        ...         a[i] *= 0.5
        >>> with lw.options(devices="cpu, emulated", plan="0:3 on cpu 2: recipe\\n4:9 on emulated: recipe"):
        ...     halve(np.ones(9))
        Traceback (most recent call last):
        loopwright.errors.PlanError: the plan leaves out iterations 3 to 3, between those on cpu and on emulated
    """


class ArgumentTypeError(LoopwrightError, TypeError):
    """An argument of a call has a type, dtype or number of axes that the function cannot take.

    Examples:
        >>> import numpy as np
        >>> import loopwright as lw
        >>> @lw.kernel
        ... def halve(a):
        ...     a[:] *= 0.5
        >>> halve(np.ones(3, np.float16))
        Traceback (most recent call last):
        loopwright.errors.ArgumentTypeError: argument 'a': dtype float16 is not supported...
    """


class ArgumentValueError(LoopwrightError, ValueError):
    """An argument of a call has the right type but cannot be used: read-only where it is written, say.

    Examples:
        >>> import numpy as np
        >>> import loopwright as lw
        >>> @lw.kernel
        ... def halve(a):
        ...     a[:] *= 0.5
        >>> a = np.ones(3)
        >>> a.flags.writeable = False
        >>> halve(a)
        Traceback (most recent call last):
        loopwright.errors.ArgumentValueError: argument 'a': ...read-only...
    """


@dataclass(eq=False)
class BoundsError(LoopwrightError, IndexError):
    """An index outside its array. `before_run`: found before anything ran, so that every array is untouched.

    array: the array's name; axis: which index, from 0; index: its value; size: the array's size there, in elements.

    Examples:
        >>> import numpy as np
        >>> import loopwright as lw
        >>> @lw.kernel
        ... def gather(x, index, out):
        ...     for k in range(len(out)):
        ...         out[k] = x[index[k]]
        >>> try:
        ...     gather(np.arange(5.0), np.array([1, 9]), np.zeros(2))
        ... except IndexError as error:
        ...     print(error.array, error.axis, error.index, error.size, error.before_run)
        x 0 9 5 False
    """

    array: str
    axis: int
    index: int
    size: int
    at: SourcePlace | None = None
    before_run: bool = False

    def __str__(self) -> str:
        what = f"index {self.index} is out of bounds for axis {self.axis} of '{self.array}' with size {self.size}"
        state = "nothing was written" if self.before_run else "the loop stopped here; earlier writes remain"
        return describe("BoundsError", what, self.at, state)


@dataclass(eq=False)
class ScheduleError(LoopwrightError, ValueError):
    """A schedule's text does not parse, names no loop, or asks for a step that is not legal.

    Examples:
        >>> import numpy as np
        >>> import loopwright as lw
        >>> @lw.kernel
        ... def total(a):
        ...     s = 0.0
        ...     for i in range(len(a)):
        ...         s += a[i]
        ...     return s
        >>> with lw.options(schedule="tile i 32 j 32"):
        ...     total(np.ones(3))
        Traceback (most recent call last):
        loopwright.errors.ScheduleError: 'tile i 32 j 32' is not legal: there is no loop 'j' (there are: i)...
    """

    what: str
    text: str = ""
    position: int | None = None
    remedy: str = ""

    def __str__(self) -> str:
        lines = [self.what]
        if self.position is not None:
            lines += [f"  {self.text}", "  " + " " * self.position + "^"]
        if self.remedy:
            lines.append(f"  try: {self.remedy}")
        return "\n".join(lines)


class CompilerError(LoopwrightError, RuntimeError):
    """The C compiler failed on generated text, or gave a library that cannot be loaded. Carries its output."""


StoreFault = Literal["locked", "full", "read-only", "newer", "foreign", "damaged", "missing", "other"]


@dataclass(eq=False)
class StoreError(LoopwrightError):
    """The store of measurements does not do what it was asked. No call fails of it: calls go on without a store."""

    what: str
    remedy: str = ""
    fault: StoreFault = "other"

    def __str__(self) -> str:
        return describe("", self.what, None, "", self.remedy)


class LoopwrightWarning(UserWarning):
    """Something still works, but not as well as it could; said once, with what to do about it."""


_WARNED: set[str] = set()


def warn_once(topic: str, text: str) -> None:
    """Give `text` as a LoopwrightWarning at the line that called into this package; once per topic and process."""
    if topic in _WARNED:
        return
    _WARNED.add(topic)
    package = str(Path(__file__).parent)
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, LoopwrightWarning, stacklevel=level)


class DeviceError(LoopwrightError, RuntimeError):
    """A GPU does not do what it was asked: no driver, a failed launch, a fault that the emulated device has found."""


class DeviceMemoryError(DeviceError, MemoryError):
    """A GPU has no room for an array. The message names sizes."""


class OffGpuError(DeviceMemoryError):
    """A GPU leaves a call to the CPU, as its data leave too little to do at once. It can be made anew: by whoever would
    run it elsewhere where there is no room."""


class NegativeSizeError(LoopwrightError, ValueError):
    """A local array was to be made with a negative size."""


_CHECKS: dict[str, tuple[type[Exception], str]] = {
    "zero_division": (ZeroDivisionError, "integer division or modulo by zero"),
    "overflow": (OverflowError, "a number does not fit the integer type it is converted to"),
    "unassigned": (UnboundLocalError, "a variable is read before it has a value"),
    "negative_shift": (ValueError, "negative shift count"),
    "negative_power": (ValueError, "integers to negative integer powers are not allowed"),
    "zero_step": (ValueError, "range() arg 3 must not be zero"),
    "not_finite": (ValueError, "cannot convert a NaN or an infinite or too large float to an int"),
    "index": (IndexError, "an index is out of bounds, or a mask has another size than what it chooses from"),
    "shape": (
        ValueError,
        "arrays of these sizes do not go together: operands could not be broadcast (an axis of one element "
        "is stretched where an argument has it, or where the text says so: a[:1], a[:, None], keepdims=True)",
    ),
    "reshaped": (ValueError, "an array cannot get this shape, which has another number of elements"),
    "unpack": (ValueError, "a sequence has more or fewer elements than the names it is unpacked into"),
    "empty": (ValueError, "zero-size array to reduction operation which has no identity"),
    "pop": (IndexError, "pop from empty list"),
    "none": (TypeError, "a variable that is None is used as a number"),
    "resized": (ValueError, "a name that stands for several arrays is given one of another size"),
    "negative_size": (NegativeSizeError, "negative dimensions are not allowed"),
    "memory": (MemoryError, "no memory for a local array"),
    "off_gpu": (OffGpuError, "the data leave a GPU too little to do at once"),
    "device": (DeviceError, "the GPU does not do what it was asked"),
}


def check_failed(
    kind: str, at: SourcePlace | None, value: int | float | None = None, to: str = "", second: int | float | None = None
) -> Exception:
    """The exception for a failed check of the generated code or the interpreter: Python's own class for it. `value`:
    the number that could not be converted to the integer type `to`, where the check is about one. Of the user's
    exceptions `to` is the text, and `value` and `second` the numbers in it."""
    if kind == "raised":
        return _raised(with_numbers(to, value, second), at)
    error, what = _CHECKS[kind] if value is None or _fits(value, to) else _not_converted(value, to)
    return error(describe("", what, at))


def name_of_class(kind: type) -> str:
    """`module:name`, by which `class_named` finds a class of the user's: its own, or one that its module gave it, as in
    `Point = namedtuple("P", "x y")`."""
    name = f"{kind.__module__}:{kind.__qualname__}"
    if class_named(name) is kind:
        return name
    others = vars(sys.modules.get(kind.__module__, builtins)).items()
    return next((f"{kind.__module__}:{other}" for other, value in others if value is kind), name)


def class_named(name: str) -> type | None:
    """The class of this name, in a module that is loaded; None where there is none. A name alone is one of Python's."""
    module, _, path = name.rpartition(":")
    if module.startswith("loopwright.") and module not in sys.modules:  # what results are made with, loaded when needed
        importlib.import_module(module)
    found: object = sys.modules.get(module) if module else builtins
    found = reduce(lambda owner, part: getattr(owner, part, None), path.split("."), found)
    return found if isinstance(found, type) else None


NUMBER = "\ue000"
"""Stands around a number in what an exception says, three times: around what it is (1: an integer, 2: uint64, 3:
float64, 4: float32, 5: bool) and its format, and around the text of it."""


def with_numbers(text: str, *values: int | float | None) -> str:
    """What an exception says with its numbers in place; where one is not told, with the text that computes it."""
    if NUMBER not in text:
        return text
    before, *pieces = text.split(NUMBER)
    told = zip(pieces[::3], pieces[1::3], pieces[2::3], values, strict=False)
    return before + "".join(f"{_shown(form, value) or source}{after}" for form, source, after, value in told)


def _shown(form: str, value: int | float | None) -> str:
    """A number as Python formats it; nothing where it is not told."""
    if value is None:
        return ""
    if form == "4":
        return str(np.float32(value))
    return format(bool(value) if form.startswith("5") else value, form[1:])


def kinds_of_two(text: str) -> tuple[int, ...]:
    """What the two numbers are that an exception tells; nothing where it tells fewer."""
    pieces = text.split(NUMBER) if NUMBER in text else ()
    return tuple(int(form[0]) for form in pieces[1::3]) if len(pieces) == 7 else ()


def _raised(text: str, at: SourcePlace | None) -> Exception:
    """The user's exception: what it says is what Python's would, and where it was raised is a note of it."""
    name, _, says = text.partition(": ")
    kind = class_named(name)
    assert kind is not None and issubclass(kind, Exception), f"{name} is gone"
    error = kind(says) if says else kind()
    if at is not None:
        error.add_note(describe("", "raised here", at))
    return error


def is_of_a_handler(error: BaseException) -> bool:
    """Whether a handler of signals, one that is installed now, was running when this was raised. It is meant for the
    caller then, whatever we were at: a TimeoutError, say, is an OSError and no word of a folder."""
    codes = frozenset(map(_code_of, map(signal.getsignal, signal.valid_signals())))
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code not in codes:
        trace = trace.tb_next
    return trace is not None


def _code_of(handler: object) -> object:
    while (inner := getattr(handler, "func", None)) is not None:  # of functools.partial
        handler = inner
    if not callable(handler):
        return None
    return getattr(handler, "__code__", None) or getattr(handler.__call__, "__code__", None)


def _fits(value: int | float, to: str) -> bool:
    """Whether an integer type, such as 'uint8', holds a number: then the check was about something else."""
    bits, signed = int(to.lstrip("uint")), not to.startswith("u")
    least = -(2 ** (bits - 1)) if signed else 0
    return math.isfinite(value) and least <= int(value) < least + 2**bits


def _not_converted(value: int | float, to: str) -> tuple[type[Exception], str]:
    if isinstance(value, int):
        return OverflowError, f"Python integer {value} out of bounds for {to}"
    if math.isnan(value):
        return ValueError, "cannot convert float NaN to integer"
    if math.isinf(value):
        return OverflowError, "cannot convert float infinity to integer"
    return OverflowError, f"float {value!r} out of bounds for {to}"
