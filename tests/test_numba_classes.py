"""`jitclass`: its objects do what those of the class that it is made of do in Python."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.frontend.object_class import attributes_assigned
from loopwright.frontend.parse import parse
from loopwright.numba import boolean, float32, float64, int32, int64, njit
from loopwright.numba.experimental import jitclass
from loopwright.runtime.code_table import CodeTable


@pytest.fixture(autouse=True, scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with lw.options(cache=tmp_path_factory.mktemp("cache"), compiler_flags=("-O0",), threads=1):
        yield


class PlainWalk:
    """Steps of a walker; it counts them."""

    limit = 3

    def __init__(self, n: int, dt: float) -> None:
        self.place = np.zeros(n)
        self.speed = np.arange(float(n))
        self.dt = dt
        self.time = 0.0
        self.count = 0
        self.turned = False
        self.note = 7

    def step(self, times: int) -> int:
        for _ in range(times):
            for i in range(len(self.place)):
                self.place[i] += self.dt * self.speed[i]
            self.time += self.dt
            self.count_one()
        self.turned = not self.turned
        return self.count

    def count_one(self) -> None:
        self.count += 1

    @property
    def energy(self) -> Any:
        return 0.5 * np.sum(self.speed**2)

    @staticmethod
    def half(x: float) -> float:
        return x / 2

    def report(self, bonus: float = 0.5) -> Any:
        return self.energy + self.half(self.dt) + self.count + bonus


FIELDS = [("place", float64[:]), ("speed", float64[::1]), ("dt", float64), ("time", float64), ("count", int64),
          ("turned", boolean), ("note", int64)]  # fmt: skip
Walk: Any = jitclass(FIELDS)(PlainWalk)


def drive(walk: Any, times: int) -> Any:
    total = 0.0
    for _ in range(times):
        total += walk.step(2) + walk.energy + walk.time + walk.half(3.0)
        if walk.turned:
            total += 100.0
    walk.note = int(total)
    return total, walk.report(bonus=2.0)


def state(walk: Any) -> tuple[Any, ...]:
    return tuple(getattr(walk, name) for name, _ in FIELDS)


def alike(plain: Any, made: Any) -> None:
    for expected, found in zip(state(plain), state(made), strict=True):
        np.testing.assert_array_equal(found, expected)
        assert type(found) is type(expected)


def test_methods_and_kernels_change_the_object() -> None:
    plain, made = PlainWalk(3, 0.25), Walk(3, 0.25)
    assert made.step(3) == plain.step(3)
    alike(plain, made)
    assert made.report() == plain.report() and made.energy == plain.energy and Walk.half(3.0) == 1.5
    assert njit(drive)(made, 3) == drive(plain, 3)
    alike(plain, made)
    made.count = plain.count = 40
    assert made.step(1) == plain.step(1)
    alike(plain, made)
    assert Walk.limit == 3 and Walk.__doc__ == PlainWalk.__doc__


def test_on_the_emulated_device() -> None:
    plain, made = PlainWalk(3, 0.25), Walk(3, 0.25)
    with lw.options(device="emulated"):
        made.step(2)
    plain.step(2)
    alike(plain, made)


def both(first: Any, second: Any) -> Any:
    first.count = 5
    second.count += 1
    first.place[0] = 1.0
    return first.count, second.count, second.place[0] + first.place[0]


def test_one_object_as_two_arguments() -> None:
    plain, made = PlainWalk(2, 0.5), Walk(2, 0.5)
    assert njit(both)(made, made) == both(plain, plain) == (6, 6, 2.0)
    other = copy.deepcopy(made)
    assert njit(both)(made, other) == (5, 7, 2.0)
    assert (made.count, other.count) == (5, 7)
    again = pickle.loads(pickle.dumps(made.__dict__))
    assert again.keys() == made.__dict__.keys()


def order(walk: Any) -> Any:
    return walk.count + walk.step(1) * 10 + walk.count * 100


def test_a_field_is_read_where_it_stands() -> None:
    assert njit(order)(Walk(2, 0.5)) == order(PlainWalk(2, 0.5)) == 110


def test_types_of_fields() -> None:
    @jitclass([("small", int32), ("thin", float32)])
    class Narrow:
        def __init__(self) -> None:
            self.small = 3
            self.thin = 0.1

        def halve(self) -> Any:
            self.thin *= 0.5
            return self.thin

    narrow = Narrow()
    assert (type(narrow.small), type(narrow.thin)) == (np.int32, np.float32)
    assert narrow.halve() == np.float32(np.float32(0.1) * np.float32(0.5))
    assert type(narrow.halve()) is np.float32


def test_fields_from_annotations_and_objects_in_objects() -> None:
    @jitclass
    class Inner:
        value: float
        count: int

        def __init__(self, value: float) -> None:
            self.value = value
            self.count = 0

        def add(self, x: float) -> None:
            self.value += x
            self.count += 1

    @jitclass([("inner", Inner.class_type.instance_type), ("scale", float64)])
    class Outer:
        def __init__(self, inner: Any) -> None:
            self.inner = inner
            self.scale = 2.0

        def add(self, a: Any) -> Any:
            for x in a:
                self.inner.add(x * self.scale)
            return self.inner.value

    inner = Inner(1)
    outer = Outer(inner)
    assert outer.add(np.arange(4.0)) == 13.0
    assert (inner.value, inner.count) == (13.0, 4)


def calls_nothing(walk: Any) -> Any:
    return walk.nothing(1)


def reads_nothing(walk: Any) -> Any:
    return walk.nothing


def gives_it_back(walk: Any) -> Any:
    return walk


def compares(walk: Any) -> Any:
    return walk == walk


def counts(walk: Any) -> Any:
    return len(walk)


def unpacks(walk: Any) -> Any:
    first, *_ = walk
    return first


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (calls_nothing, "'.nothing' of an object of the class 'PlainWalk' is outside the language"),
        (reads_nothing, "'.nothing' of an object of the class 'PlainWalk'"),
        (gives_it_back, "cannot be returned"),
        (compares, "cannot be compared"),
        (counts, "is no tuple"),
        (unpacks, "is no tuple"),
    ],
)
def test_what_an_object_does_not_do(function: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(lw.KernelError, match=message):
        njit(function)(Walk(2, 0.5))


def give_another(walk: Any) -> None:
    walk.place = np.zeros(3)


def name_another(walk: Any) -> None:
    walk.pace = 1.0


def one_or_another(first: Any, second: Any, n: int) -> Any:
    walk = first
    for _ in range(n):
        walk = second
    return walk.count


def test_what_cannot_be_assigned() -> None:
    with pytest.raises(lw.KernelError, match=r"write into the one that it has: walk.place\[:\]"):
        njit(give_another)(Walk(2, 0.5))
    with pytest.raises(lw.KernelError, match="no field 'pace'"):
        njit(name_another)(Walk(2, 0.5))
    with pytest.raises(lw.KernelError, match="one object or another"):
        njit(one_or_another)(Walk(2, 0.5), Walk(2, 0.5), 1)
    walk = Walk(2, 0.5)
    with pytest.raises(AttributeError, match="no field 'pace'"):
        walk.pace = 1.0
    for wrong in (np.zeros(3, int), np.zeros((2, 2)), 3.0):
        with pytest.raises(TypeError, match="the field 'place' is a float64"):
            walk.place = wrong


def test_a_field_without_a_value() -> None:
    @jitclass([("a", int64)])
    class Empty:
        def __init__(self) -> None:
            pass

        def get(self) -> Any:
            return self.a

    with pytest.raises(AttributeError, match="gives the field 'a' no value"):
        Empty().get()


def test_which_attributes_are_assigned() -> None:
    assert attributes_assigned([parse(drive)[1].tree, parse(order)[1].tree]) == {"note"}


SCRIPT = """
import sys
from loopwright.numba import int64, njit
from loopwright.numba.experimental import jitclass
K = int(sys.argv[1])
def helper(x): return x + K
@jitclass([("n", int64), ("m", int64)])
class P:
    def __init__(self, n): self.n = n; self.m = 0
    def bump(self):
        self.n = self.n * FACTOR + helper(0)
        return self.n
@njit
def drive(p, times):
    s, made = 0, P(1)
    for i in range(times):
        s += p.bump()
        p.m = i
    return s, made.bump()
print(drive(P(1), 2))
"""


def test_the_next_process_sees_what_changed(tmp_path: Path) -> None:
    def run(factor: int, k: int) -> str:
        script = tmp_path / "script.py"
        script.write_text(SCRIPT.replace("FACTOR", str(factor)))
        done = subprocess.run([sys.executable, script, str(k)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert [run(2, 1), run(2, 1), run(2, 5), run(3, 5)] == ["(10, 3)", "(10, 3)", "(26, 7)", "(37, 8)"]


@jitclass([("a", float64[:]), ("n", int64)])
class Series:
    def __init__(self, a: Any) -> None:
        self.a = a
        self.n = 0

    def __len__(self) -> int:
        return len(self.a)

    def total(self) -> Any:
        return self.a.sum() + self.first

    @property
    def first(self) -> Any:
        return self.a[0]

    def fill(self, x: float) -> None:
        self.a[:] = x

    def emptied(self) -> None:
        self.fill(0.0)

    def deep(self, k: int) -> Any:
        return 0 if k == 0 else self.deep(k - 1)


def is_there(series: Any) -> Any:
    return 1 if series else 2


def is_not_there(walk: Any) -> Any:
    if not walk:
        return 1
    return 2


def fill_by_hand(series: Any) -> None:
    emptied(series)


def emptied(series: Any) -> None:
    series.emptied()


def test_read_only_arrays_of_objects_are_read() -> None:
    fixed = np.arange(1.0, 4.0)
    fixed.flags.writeable = False
    series = Series(fixed)
    assert series.total() == 7.0
    for change in (series.emptied, lambda: series.fill(1.0), lambda: njit(fill_by_hand)(series)):
        with pytest.raises(ValueError, match="read-only"):
            change()
    with lw.options(device="emulated"):
        njit(fill_by_hand)(other := Series(np.ones(3)))
    assert other.a.tolist() == [0.0, 0.0, 0.0]


def test_whether_an_object_is_true() -> None:
    assert len(Series(np.zeros(0))) == 0
    with pytest.raises(lw.KernelError, match="whether an object of the class 'Series' is true"):
        njit(is_there)(Series(np.zeros(0)))
    assert njit(is_not_there)(Walk(2, 0.5)) == 2


def test_methods_that_call_themselves() -> None:
    with pytest.raises(lw.KernelError, match="'deep' calls itself"):
        Series(np.zeros(2)).deep(3)


class Bins:
    """Numbers of both kinds, an array in each branch, and what a method does before the last line."""

    def __init__(self, n: int, low: Any = 0, *, scale: float = 2.0) -> None:
        self.low, self.kept = low, 5.7
        if n > 3:
            self.counts = np.zeros(n)
        else:
            self.counts = np.ones(3) * n
        self.seen = 0
        self.seen += 3
        self.total = scale
        self.fill(scale)
        self.total /= 2

    def fill(self, x: float) -> None:
        for k in range(len(self.counts)):
            self.counts[k] += x * self.low / self.kept
            self.seen += 1

    @property
    def size(self) -> Any:
        return self.counts.size


BINS = [("low", float64), ("kept", int32), ("counts", float64[:]), ("seen", int64), ("total", float64)]
Bins = jitclass(BINS)(Bins)  # type: ignore[misc]


def made_in_loops(n: int, others: Any) -> Any:
    first = Bins(n, scale=3.0)
    found = []
    for k in range(4):
        one = Bins(k + 2, k)
        one.fill(2.0)
        one.seen -= k
        found.append((one.total + one.low, one.size + one.kept + one.seen, one.counts.sum()))
    given = Series(others)
    given.emptied()
    return first, (first.seen, first.total), found, given.a[0] + given.n


def last_of(n: int) -> Any:
    for k in range(n):
        one = Bins(k + 1)
    return one.seen


def twice(n: int) -> Any:
    one = Bins(n)
    return one, one


def of_another_type(n: int) -> Any:
    return Series(np.zeros(n, np.int32)).n


def handed_back(one: Any) -> Any:
    return one


def test_objects_that_a_kernel_makes() -> None:
    for n in (2, 5):
        others = [np.ones(3), np.ones(3)]
        expected, found = made_in_loops(n, others[0]), njit(made_in_loops)(n, others[1])
        assert found[1:] == expected[1:] and type(found[0]) is Bins
        np.testing.assert_array_equal(others[0], others[1])
        found[0].fill(4.0)
        expected[0].fill(4.0)
        for name, _ in BINS:
            np.testing.assert_array_equal(getattr(found[0], name), getattr(expected[0], name))
    for function, argument, message in (
        (last_of, 2, "'one' stands for one object or another"), (twice, 2, "an object is returned twice"),
        (of_another_type, 2, "the field 'a' is float64 with 1 axes, and is given int32"),
        (handed_back, Bins(2), "an object of the class 'Bins' cannot be returned"),
    ):  # fmt: skip
        with pytest.raises(lw.KernelError, match=message):
            njit(function)(argument)


def shifted_at_times(walk: Any, by: Any = None) -> Any:
    if by is not None:
        walk.note = by
    return walk.note + walk.count


def test_a_field_that_later_calls_assign() -> None:
    @jitclass([("note", int64), ("count", int64)])
    class Notes:
        def __init__(self) -> None:
            self.note, self.count = 3, 4

    call = njit(shifted_at_times)
    first, second = Notes(), Notes()
    assert [call(first) for _ in range(3)] == [7, 7, 7]
    assert [call(first, 5), call(first, 6), call(second, 8), call(first), second.note] == [9, 10, 12, 10, 8]


@jitclass([("k", int64), ("total", float64), ("order", int64[:])])
class Batches:
    def __init__(self, n: int) -> None:
        self.k, self.total, self.order = 0, 0.0, np.arange(n)

    def next(self) -> Any:
        found = slice(self.k * 4, min((self.k + 1) * 4, len(self.order)))
        self.k += 1
        self.order[0] += 10
        return found


def in_batches(batches: Any, x: Any, times: int) -> Any:
    sums = np.zeros(times)
    for t in range(times):
        for k in batches.order[batches.next()]:
            sums[t] += x[k % len(x)]
    batches.total += sums.sum()
    return sums


def test_a_slice_keeps_its_bounds_when_the_fields_that_it_is_made_of_change() -> None:
    x = np.arange(12.0)
    sums = njit(in_batches)(Batches(12), x, 3)
    assert sums.tolist() == [16.0, 22.0, 38.0]  # order[0] is 10 when it is read first


def test_calls_with_new_objects_compile_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    call, x = njit(in_batches), np.arange(12.0)
    first = Batches(12)
    call(first, x, 2)
    monkeypatch.setattr(CodeTable, "_made", lambda *_: pytest.fail("compiled again"))
    second = Batches(12)
    call(second, x, 2)
    assert (second.k, second.total) == (first.k, first.total) == (2, first.total)
