"""How errors read: what, where, why and what to do; which of Python's own errors a failed check is; warnings once."""

from __future__ import annotations

import linecache
import math
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import loopwright
from loopwright import errors
from loopwright.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    BoundsError,
    CompilerError,
    DeviceError,
    DeviceMemoryError,
    KernelError,
    LoopwrightError,
    LoopwrightWarning,
    NegativeSizeError,
    ScheduleError,
    StoreError,
    check_failed,
    describe,
    warn_once,
)
from loopwright.ir.location import Location

LINES = ("def f(a):", "    a[0] = b", " " * 20 + "c = d  ", "")


@pytest.fixture(autouse=True)
def source() -> Iterator[None]:
    """A file that is nowhere but in Python's cache of lines."""
    linecache.cache["/x/blur.py"] = (1, None, [line + "\n" for line in LINES], "/x/blur.py")
    yield
    del linecache.cache["/x/blur.py"]


def at(line: int, column: int, end: int) -> Location:
    return Location("/x/blur.py", line, column, end)


# ---- the text -----------------------------------------------------------------------------------------------------


def test_all_parts_of_an_error() -> None:
    assert describe("KernelError", "no b", at(2, 11, 12), "it is unknown", "give it a value").split("\n") == [
        "blur.py:2:12: KernelError: no b",
        "    2 |     a[0] = b",
        "      |            ^ it is unknown",
        "  try: give it a value",
    ]


def test_an_error_of_nowhere() -> None:
    assert describe("", "no b", None) == "no b"
    assert describe("E", "no b", None, "it is unknown", "give it one") == "E: no b\n  it is unknown\n  try: give it one"


def test_a_place_whose_text_is_gone() -> None:
    for gone in (at(4, 0, 1), at(99, 0, 1), Location("/nowhere/x.py", 1, 0, 1)):
        first = f"{Path(gone.file).name}:{gone.line}:1: E: what"
        assert describe("E", "what", gone) == first
        assert describe("E", "what", gone, "why") == f"{first}\n  why"


@pytest.mark.parametrize(
    ("column", "end", "carets"),
    [
        (4, 8, "    ^^^^"),
        (4, 4, "    ^"),  # at least one
        (4, 0, "    ^"),  # it ends on another line
        (4, 99, "    ^^^^^^^^"),  # no further than the line
        (12, 99, "            ^"),  # right behind it
    ],
)
def test_carets_stand_under_the_place(column: int, end: int, carets: str) -> None:
    assert describe("E", "what", at(2, column, end)).split("\n")[1:] == ["    2 |     a[0] = b", f"      | {carets}"]


def test_a_line_far_to_the_right_is_moved_with_its_carets() -> None:
    lines = describe("E", "what", at(3, 24, 25)).split("\n")
    assert lines[0].startswith("blur.py:3:25:")  # but the column is the user's
    assert lines[1:] == ["    3 | " + " " * 12 + "c = d", "      | " + " " * 16 + "^"]
    before = describe("E", "what", at(3, 3, 4)).split("\n")  # a place in the margin stays in sight
    assert before[1:] == ["    3 | " + " " * 17 + "c = d", "      | ^"]


# ---- the classes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "python"),
    [
        (ArgumentTypeError, TypeError),
        (ArgumentValueError, ValueError),
        (BoundsError, IndexError),
        (ScheduleError, ValueError),
        (CompilerError, RuntimeError),
        (DeviceError, RuntimeError),
        (DeviceMemoryError, MemoryError),
        (NegativeSizeError, ValueError),
    ],
)
def test_each_is_caught_as_pythons_own_too(error: type[Exception], python: type[Exception]) -> None:
    assert issubclass(error, python) and issubclass(error, LoopwrightError)
    assert issubclass(DeviceMemoryError, DeviceError)
    assert issubclass(LoopwrightWarning, UserWarning) and not issubclass(LoopwrightWarning, LoopwrightError)


def test_an_index_out_of_bounds() -> None:
    error = BoundsError("a", 1, -7, 5, at(2, 4, 8), before_run=True)
    assert str(error).split("\n") == [
        "blur.py:2:5: BoundsError: index -7 is out of bounds for axis 1 of 'a' with size 5",
        "    2 |     a[0] = b",
        "      |     ^^^^ nothing was written",
    ]
    assert str(BoundsError("a", 0, 0, 0)).endswith("\n  the loop stopped here; earlier writes remain")


def test_a_kernel_outside_the_language() -> None:
    assert str(KernelError("no lambdas")) == "KernelError: no lambdas"
    error = KernelError("no lambdas", at(1, 4, 5), "why", "def")
    assert str(error).split("\n")[2:] == ["      |     ^ why", "  try: def"]


def test_a_schedule_that_does_not_parse() -> None:
    error = ScheduleError("no such step", "tile i 3; sprit j", 10, "split")
    assert str(error).split("\n") == ["no such step", "  tile i 3; sprit j", "            ^", "  try: split"]
    assert str(ScheduleError("no loop 'q'", "tile q 3")) == "no loop 'q'"
    assert str(ScheduleError("empty", "", 0)) == "empty\n  \n  ^"


def test_a_store_that_fails() -> None:
    assert str(StoreError("it is locked", "wait")) == "it is locked\n  try: wait"
    assert StoreError("it fails").fault == "other"


def test_two_errors_of_the_same_text_are_two() -> None:
    assert KernelError("a") != KernelError("a")


# ---- failed checks ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "error", "text"),
    [
        ("zero_division", ZeroDivisionError, "integer division or modulo by zero"),
        ("overflow", OverflowError, "a number does not fit the integer type it is converted to"),
        ("unassigned", UnboundLocalError, "a variable is read before it has a value"),
        ("negative_shift", ValueError, "negative shift count"),
        ("negative_power", ValueError, "integers to negative integer powers are not allowed"),
        ("zero_step", ValueError, "range() arg 3 must not be zero"),
        ("not_finite", ValueError, "cannot convert a NaN or an infinite or too large float to an int"),
        ("index", IndexError, "an index is out of bounds, or a mask has another size than what it chooses from"),
        ("reshaped", ValueError, "an array cannot get this shape, which has another number of elements"),
        ("negative_size", NegativeSizeError, "negative dimensions are not allowed"),
        ("memory", MemoryError, "no memory for a local array"),
        ("device", DeviceError, "the GPU does not do what it was asked"),
    ],
)
def test_a_failed_check_is_pythons_own_error(kind: str, error: type[Exception], text: str) -> None:
    found = check_failed(kind, at(1, 0, 3))
    assert type(found) is error
    assert str(found) == f"blur.py:1:1: {text}\n    1 | def f(a):\n      | ^^^"


@pytest.mark.parametrize(
    ("value", "to", "error", "text"),
    [
        (256, "uint8", OverflowError, "Python integer 256 out of bounds for uint8"),
        (-1, "uint64", OverflowError, "Python integer -1 out of bounds for uint64"),
        (128, "int8", OverflowError, "Python integer 128 out of bounds for int8"),
        (-129, "int8", OverflowError, "Python integer -129 out of bounds for int8"),
        (2**63, "int64", OverflowError, f"Python integer {2**63} out of bounds for int64"),
        (math.nan, "int32", ValueError, "cannot convert float NaN to integer"),
        (-math.inf, "int32", OverflowError, "cannot convert float infinity to integer"),
        (1e300, "int64", OverflowError, "float 1e+300 out of bounds for int64"),
        (2.0**63, "int64", OverflowError, f"float {2.0**63!r} out of bounds for int64"),
    ],
)
def test_the_number_that_could_not_be_converted_is_told(
    value: float, to: str, error: type[Exception], text: str
) -> None:
    found = check_failed("overflow", None, value, to)
    assert (type(found), str(found)) == (error, text)


@pytest.mark.parametrize(("value", "to"), [(255, "uint8"), (0, "uint8"), (-128, "int8"), (127.9, "int8"), (5, "int64")])
def test_a_number_that_fits_was_not_what_failed(value: float, to: str) -> None:
    assert type(check_failed("zero_division", None, value, to)) is ZeroDivisionError


# ---- warnings -----------------------------------------------------------------------------------------------------


@pytest.fixture
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "_WARNED", set())


@pytest.mark.usefixtures("nothing_said")
def test_a_warning_is_said_once_for_each_topic() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for topic in ("disk", "disk", "compiler", "disk"):
            warn_once(topic, f"no {topic}")
    assert [(str(one.message), one.category) for one in caught] == [
        ("no disk", LoopwrightWarning), ("no compiler", LoopwrightWarning),
    ]  # fmt: skip


@pytest.mark.usefixtures("nothing_said")
def test_a_warning_names_the_line_that_called_us() -> None:
    """However deep inside the package it is said."""
    ours = str(Path(loopwright.__file__).parent / "deep.py")
    space: dict[str, object] = {"warn_once": warn_once}
    exec(compile("def outer():\n    inner()\ndef inner():\n    warn_once('deep', 'text')\n", ours, "exec"), space)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        space["outer"]()  # type: ignore[operator]
    assert caught[0].filename == __file__
