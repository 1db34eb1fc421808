"""What is only of the launcher without a C extension: slots, threads, times, and code that is a Python function here.
What it shares with the extension is in test_launcher.py."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from loopwright.config import options
from loopwright.devices import by_ctypes
from loopwright.devices.base import ARGUMENT, FRESH, NUMPY_SCALAR, PYTHON_SCALAR
from loopwright.devices.by_ctypes import (
    CallStruct,
    Constants,
    Dispatcher,
    Entry,
    FailureStruct,
    Slot,
    fill_slot,
    read_slot,
)
from loopwright.ir.types import ALL, BOOL, FLOAT32, INT8, INT64, UINT8, UINT64, Scalar

Code = Callable[[CallStruct], int]
INTERRUPTIBLE = by_ctypes.interruptible.__wrapped__


@pytest.fixture(autouse=True)
def nothing_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where there is no compiler, and no thread was started yet."""
    monkeypatch.setattr(by_ctypes, "interruptible", lambda: None)
    monkeypatch.setattr(by_ctypes, "_most_threads", 2**31)
    monkeypatch.setattr(by_ctypes, "_pool_started", False)
    monkeypatch.setattr(by_ctypes, "_notify", None)


KEPT: list[object] = []
"""Functions that C code has the addresses of."""


@pytest.fixture(autouse=True, scope="module")
def forget() -> Iterator[None]:
    yield
    KEPT.clear()


def address(code: Code) -> int:
    function = Entry.FUNCTION(lambda call: code(call.contents))
    KEPT.append(function)
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def entry(code: Code, guard: Code | None = None, **changes: Any) -> Entry:
    given: dict[str, Any] = {
        "threads": 3,
        "parallel": False,
        "returns": 0,
        "values": (),
        "constants": (),
        "fresh": None,
        "fail": lambda site, index, size: LookupError(site, index, size),
        "guard_failed": lambda arguments, originals: ("guard", arguments, originals),
        "payload": None,
    }
    return Entry(entry=address(code), guard=address(guard) if guard else 0, **(given | changes))


def numbers(at: int, count: int) -> list[int]:
    return list((ctypes.c_int64 * count).from_address(at))


def part(call: CallStruct, field: str, position: int) -> int:
    """The pointer that a table of a call has for one argument."""
    return (ctypes.c_void_p * (position + 1)).from_address(getattr(call, field))[position] or 0


# ---- scalars ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [-(2**63), 2**63 - 1, True, np.int8(-1), np.uint64(2**64 - 1), np.bool_(True)])
def test_integers_are_extended_to_64_bits(value: int) -> None:
    slot = Slot()
    fill_slot(slot, value)
    assert slot.u == int(value) % 2**64


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1])
def test_an_int_beyond_64_bits(value: int) -> None:
    with pytest.raises(OverflowError, match=f"the Python int {value} does not fit int64"):
        fill_slot(Slot(), value)


def test_floats_have_their_own_width() -> None:
    slot = Slot()
    fill_slot(slot, np.float32(0.1))
    assert slot.f == np.float32(0.1) and slot.u < 2**32
    fill_slot(slot, 0.1)
    assert slot.d == 0.1
    fill_slot(slot, np.float64("nan"))
    assert slot.d != slot.d


def test_what_is_no_number_leaves_a_slot_as_it_is() -> None:
    slot = Slot(i=7)
    for value in (None, "text", np.str_("text"), (1,)):
        fill_slot(slot, value)
    assert slot.i == 7


@pytest.mark.parametrize(
    ("scalar", "bits", "value"),
    [
        (BOOL, 0x100, False),  # of the slot's bytes one counts
        (BOOL, 0x102, True),
        (INT8, 2**64 - 1, -1),
        (UINT8, 2**64 - 1, 255),
        (INT64, 2**63, -(2**63)),
        (UINT64, 2**63, 2**63),
    ],
)
def test_a_returned_scalar(scalar: Scalar, bits: int, value: int) -> None:
    for code, kind in ((PYTHON_SCALAR, type(value)), (NUMPY_SCALAR, scalar.dtype.type)):
        found = read_slot(Slot(u=bits), code + ALL.index(scalar))
        assert found == value and type(found) is kind


def test_a_returned_float() -> None:
    assert read_slot(Slot(f=0.1), PYTHON_SCALAR + ALL.index(FLOAT32)) == float(np.float32(0.1))


# ---- calls --------------------------------------------------------------------------------------------------------


def test_arrays_arrive_with_sizes_and_strides() -> None:
    array, seen = np.arange(24.0).reshape(2, 3, 4)[:, ::-1, ::2], []

    def look(call: CallStruct) -> int:
        seen.append((part(call, "data", 1), numbers(part(call, "shape", 1), 3), numbers(part(call, "strides", 1), 3)))
        return 0

    assert entry(look).run((5, array)) is None
    assert seen == [(array.ctypes.data, [2, 3, 2], [96, -32, 16])]


def test_a_call_without_arguments() -> None:
    seen: list[int] = []

    def look(call: CallStruct) -> int:
        seen.append(call.threads)
        return 0

    assert entry(look).run(()) is None
    assert seen == [3]


def test_what_a_call_returns() -> None:
    def put(call: CallStruct) -> int:
        Slot.from_address(call.returned).i = -5
        return 0

    fresh, argument = np.zeros(2), np.zeros(1)
    values = ((PYTHON_SCALAR + ALL.index(INT64), 0), (ARGUMENT, 1), (FRESH, 0))
    one = entry(put, returns=2, values=values, fresh=lambda arguments: (fresh,))
    found = one.run((1, argument), ("as", "written"))
    assert found[0] == -5 and found[1] == "written" and found[2] is fresh  # type: ignore[index]
    assert entry(put, returns=1, values=values[:1]).run(()) == -5
    assert entry(put, returns=0, values=values[:1]).run(()) is None
    assert entry(put, returns=1, values=((ARGUMENT, 0),)).run((argument,)) is argument


def test_a_failure_is_what_its_site_says_and_the_call_counts() -> None:
    def fail(call: CallStruct) -> int:
        failure = FailureStruct.from_address(call.failure)
        assert (failure.site, failure.index, failure.size) == (-1, 0, 0)
        failure.site, failure.index, failure.size = 4, -9, 2**62
        return 1

    one, told = entry(fail), []
    one.watch(told.append, 1, 0)
    with pytest.raises(LookupError) as caught:
        one.run(())
    assert caught.value.args == (4, -9, 2**62)
    assert one.calls == 1 and told == []


def test_a_guard_that_is_false_runs_nothing() -> None:
    one = entry(lambda call: pytest.fail("it ran"), guard=lambda call: 0)
    assert one.run((1,), ("written",)) == ("guard", (1,), ("written",))
    assert one.run((1,)) == ("guard", (1,), (1,))
    assert one.calls == 0


# ---- threads ------------------------------------------------------------------------------------------------------


def threads_of(parallel: bool, threads: int = 8) -> int:
    seen: list[int] = []

    def look(call: CallStruct) -> int:
        seen.append(call.threads)
        return 0

    entry(look, parallel=parallel, threads=threads).run(())
    return seen[0]


def test_the_cap_is_told_once_to_whom_it_may_concern() -> None:
    told: list[str] = []
    by_ctypes.on_limited(lambda: told.append("limited"))
    assert threads_of(True) == 8 and told == []
    by_ctypes.limit_threads(2)
    assert threads_of(True, 2) == 2 and threads_of(False) == 2 and told == []
    assert threads_of(True) == 2 and threads_of(True) == 2
    assert told == ["limited"]


def test_whether_threads_may_have_been_started() -> None:
    assert threads_of(False) == 8 and threads_of(True, 1) == 1
    assert not by_ctypes.pool_started()
    by_ctypes.limit_threads(1)
    assert threads_of(True) == 1 and not by_ctypes.pool_started()
    by_ctypes.limit_threads(2)
    assert threads_of(True) == 2 and by_ctypes.pool_started()


# ---- times --------------------------------------------------------------------------------------------------------


def test_times_of_calls_that_took_so_long() -> None:
    one = entry(lambda call: 0)
    for spent_ns in (30, 10, 20):
        one.record(spent_ns)
    assert (one.calls, one.total_ns, one.min_ns, one.last_ns) == (3, 60, 10, 20)


def test_an_observer_is_told_what_it_was_not_told_before() -> None:
    one, told = entry(lambda call: 0), []
    one.watch(told.append, 3, 100)
    for spent_ns in (1, 2, 3, 4, 100, 5):
        one.record(spent_ns)
        one.tell()
    assert told == [(1, 2, 3), (4, 100)]
    one.watch(None, 1, 0)
    one.tell()
    assert len(told) == 2


def test_no_compiler_no_interrupts(tmp_path: Path) -> None:
    with options(compiler=str(tmp_path / "no-compiler"), cache=tmp_path):
        assert INTERRUPTIBLE() is None


# ---- what the extension has and this one does without --------------------------------------------------------------


def test_constants_hold_as_long_as_they_are_the_same_objects() -> None:
    space: dict[str, object] = {"a": 1.5, "b": (1,)}
    assert Constants(()).hold()
    for facts in ([("item", space, "a", space["a"])], [("item", space, "c")]):
        constants = Constants(facts)  # type: ignore[arg-type]
        assert constants.hold()
        space[facts[0][2]] = float("1.5")  # type: ignore[index]  # equal, but another one
        assert not constants.hold()


def test_every_call_goes_the_slow_way() -> None:
    def slow(args: tuple[object, ...], kwargs: Any) -> object:
        return args, dict(kwargs)

    one = Dispatcher(
        slow=slow,
        context=None,
        names=("a",),
        defaults=(),
        written=(True,),
        refuses=bool,
        describe=lambda dtype: 0,
        indices=(0,),
        failed=None,
        own=None,
    )  # type: ignore[arg-type]
    assert one(1, b=2) == ((1,), {"b": 2})
    assert one.key((1,)) is None
    one.add(b"key", None, entry(lambda call: 0))
    assert one.find(b"key", None, (1,)) is None
    one.clear()
