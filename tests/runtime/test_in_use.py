"""Code while it is in use: constants that are equal or the same, what was measured, and arrays for results."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from loopwright.errors import NegativeSizeError
from loopwright.ir.captured import ABSENT, CapturedConstant
from loopwright.ir.signature import Shape
from loopwright.ir.variant import Compilation
from loopwright.runtime.in_use import MOST_RETIRED, Interpreted, InUse, allocator, facts_of, refreshed, runs_of

SPACE: dict[str, object] = {}


class Python:
    """Stands for compiled code: a Python function of the arguments, and constants of SPACE."""

    def __init__(self, function: Any = None, names: tuple[str, ...] = ()) -> None:
        self.interpret = function or (lambda arguments: None)
        self.constants = tuple(CapturedConstant("item", SPACE, name, SPACE.get(name, ABSENT)) for name in names)


def in_use(**values: object) -> InUse:
    """Code that relies on these values."""
    SPACE.clear()
    SPACE.update(values)
    code = cast(Any, Python(names=tuple(values)))
    return InUse(cast(Compilation, None), code, tuple(values.values()), "compiled", Interpreted(code))


def entry(calls: int, threads: int = 1) -> Any:
    return SimpleNamespace(threads=threads, calls=calls, total_ns=10 * calls, min_ns=9, last_ns=11, ended_ns=calls)


# ---- constants ----------------------------------------------------------------------------------------------------

KEY = (1, None, "none")


class Whole(int):
    """It prints as an int does, and may do anything else."""


def test_the_same_objects_keep_their_entries() -> None:
    one = in_use(a=1.5, b=(1, "x"), c=object())
    one.entries[KEY] = entry(1)
    assert refreshed(one) and KEY in one.entries


@pytest.mark.parametrize(
    "value", [1000, 1.5, -0.0, math.nan, "a text", (1000, (2.5, "x")), (), True, np.float32(1.5), np.int8(3)]
)
def test_an_equal_value_has_entries_made_anew(value: Any) -> None:
    one = in_use(a=value)
    one.entries[KEY] = entry(1)
    other = (*value,) if isinstance(value, tuple) else type(value)(value)
    if isinstance(value, float) and type(value) is float:
        other = float(repr(value))
    SPACE["a"] = other
    assert refreshed(one)
    assert (KEY in one.entries) == (other is value)
    assert one.values[0] is other
    assert refreshed(one)


@pytest.mark.parametrize(
    ("then", "now"),
    [
        (0.0, -0.0),
        (1, True),
        (1, 1.0),
        (1, 2),
        (np.float32(1.0), np.float64(1.0)),
        ((1, 2), (1, 3)),
        ((1, 2), (1, 2, 3)),
        ((1,), [1]),
        (1, Whole(1)),
        ([1], [1]),  # it may change
        ("a", "b"),
    ],
)
def test_another_value_is_another_program(then: object, now: object) -> None:
    one = in_use(a=then, b=7)
    one.entries[KEY] = entry(1)
    SPACE["a"] = now
    assert not refreshed(one)
    assert KEY in one.entries and one.values == (then, 7)  # as it was: it may come back


def test_what_is_gone_is_another_program() -> None:
    one = in_use(a=1)
    del SPACE["a"]
    assert not refreshed(one)
    none = in_use()
    assert refreshed(none)


def test_facts_as_launchers_take_them() -> None:
    SPACE.clear()
    SPACE["a"] = 1.5
    code = cast(Any, Python(names=("a", "b")))
    one = InUse(cast(Compilation, None), code, (1.5, ABSENT), "compiled", Interpreted(code))
    assert facts_of(one) == (("item", SPACE, "a", 1.5), ("item", SPACE, "b"))


# ---- what was measured --------------------------------------------------------------------------------------------


def test_runs_of_each_number_of_threads_that_has_run() -> None:
    one = in_use()
    one.entries[2, None, "none"] = entry(3, threads=2)
    one.entries[4, Shape((5,)), "none"] = entry(1, threads=4)
    one.entries[8, None, "none"] = entry(0, threads=8)
    assert [(run.threads, run.calls, run.total_ns, run.how) for run in runs_of(one)] == [
        (2, 3, 30, "compiled"), (4, 1, 10, "compiled"),
    ]  # fmt: skip
    one.interpreted.run((), ())
    last = list(runs_of(one))[-1]
    assert (last.threads, last.calls, last.how) == (1, 1, "interpreter")


def test_what_is_let_go_keeps_what_it_has_measured() -> None:
    one, retired = in_use(), list[int]()
    for number in range(MOST_RETIRED + 3):
        made = entry(number + 1, threads=2)
        made.retire = lambda number=number: retired.append(number)
        one.entries[number, None, "none"] = made
        one.let_go()
    assert not one.entries and retired == [0, 1, 2]
    one.retired[0].calls += 1  # one that was under way
    (run,) = runs_of(one)
    assert run.calls == 1 + sum(range(MOST_RETIRED + 4)) and run.ended_ns == MOST_RETIRED + 3


def test_calls_that_raise_count_and_those_that_are_stopped_do_not() -> None:
    def fails(arguments: Any) -> None:
        raise arguments[0]

    one = Interpreted(cast(Any, Python(fails)))
    for error in (ValueError(), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            one.run((error,), (error,))
    assert one.calls == 1


def test_the_interpreters_times() -> None:
    one = Interpreted(cast(Any, Python(lambda arguments: sum(arguments))))
    assert [one.run((1, 2), (1, 2)) for _ in range(3)] == [3] * 3
    assert one.calls == 3 and 0 < one.min_ns <= one.last_ns <= one.total_ns


# ---- results --------------------------------------------------------------------------------------------------------


def test_an_argument_that_is_returned_is_the_callers_object() -> None:
    view, mine = np.zeros(2), [0.0, 0.0]
    for result, wanted in ((view, mine), ((view, 5), (mine, 5))):
        one = Interpreted(cast(Any, Python(lambda arguments, result=result: result)))
        assert one.run((7, view), (7, mine)) == wanted
    fresh = np.zeros(2)
    assert Interpreted(cast(Any, Python(lambda arguments: fresh))).run((view,), (mine,)) is fresh
    number = 2**70
    assert Interpreted(cast(Any, Python(lambda arguments: number))).run((number,), ("as written",)) is number


@pytest.mark.parametrize(
    ("shape", "dtype", "fill"),
    [
        ((3,), "float64", 0.0),
        ((3,), "float64", -0.0),
        ((2, 0), "int8", 7),
        ((), "bool", True),
        ((2,), "float32", math.nan),
    ],
)
def test_arrays_of_results(shape: tuple[int, ...], dtype: str, fill: Any) -> None:
    first, second = (allocator(lambda arguments: [(shape, np.dtype(dtype), fill)])(()) for _ in range(2))
    [one], [other] = first, second
    assert isinstance(one, np.ndarray) and one is not other
    wanted = np.full(shape, fill, dtype)
    assert (one.shape, one.dtype, one.tobytes()) == (wanted.shape, wanted.dtype, wanted.tobytes())


def test_an_array_that_is_not_filled_and_none_at_all() -> None:
    make = allocator(lambda arguments: [((len(arguments),), np.dtype("int16"), None)])
    [one] = make((1, 2))
    assert isinstance(one, np.ndarray) and (one.shape, one.dtype) == ((2,), np.dtype("int16"))
    assert allocator(lambda arguments: [])(()) == ()


def test_a_negative_size_is_an_error() -> None:
    with pytest.raises(NegativeSizeError, match="negative dimensions are not allowed"):
        allocator(lambda arguments: [((3, -1), np.dtype("int8"), 0)])(())
