"""The call path where there is a choice of variants: who is asked, when, and what is remembered."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import pytest

import loopwright as lw
from loopwright.choice.base import Chooser
from loopwright.config import Config
from loopwright.ir.signature import Shape, shape_of
from loopwright.ir.variant import Compilation, Variant
from loopwright.runtime import dispatch
from loopwright.runtime.compiled import Compiled

DEFAULT = Variant("cpu", threads=1)
OTHER = Variant("cpu", "split i 4; parallelize i.o", 1)
THIRD = Variant("cpu", "split i 8; parallelize i.o", 1)
ILLEGAL = Variant("cpu", "vectorize nothing", 1)


@dataclass
class Scripted:
    """Chooses as it is told, and notes what it is asked."""

    rule: Callable[[Shape], Variant] = lambda shape: DEFAULT
    over: bool = False
    calls: int = 2
    opens: bool = False
    wants: bool = False
    asked: list[Shape] = field(default_factory=list)
    told: list[tuple[Shape, Variant, int]] = field(default_factory=list)
    lost: list[Variant] = field(default_factory=list)
    experiments: list[list[float]] = field(default_factory=list)

    def shape_of(self, arguments: tuple[object, ...]) -> Shape:
        return shape_of(arguments)

    def choose(self, shape: Shape) -> Variant:
        self.asked.append(shape)
        return DEFAULT if self.rule(shape) in self.lost else self.rule(shape)

    def closely(self, shape: Shape) -> int:
        return 0

    def served(self, shape: Shape, variant: Variant, times_ns: Sequence[int], calls: int) -> bool:
        self.told.append((shape, variant, len(times_ns)))
        return self.opens

    def failed(self, variant: Variant, reason: str) -> None:
        self.lost.append(variant)

    def patience(self, shape: Shape, variant: Variant) -> tuple[int, int]:
        return self.calls, 2**62

    def due(self, shape: Shape) -> bool:
        return self.wants

    def experiment(self, shape: Shape, arguments: tuple[object, ...]) -> None:
        first = arguments[0]
        assert isinstance(first, np.ndarray)
        self.experiments.append(first.tolist())


@dataclass
class Known:
    """Experience of one chooser."""

    one: Scripted | None
    begun: list[bool] = field(default_factory=list)
    of_orders: Scripted | None = None
    glances: int = 0

    def chooser(self, compiled: Compiled, config: Config, served_ns: int, resident: bool) -> Chooser | None:
        self.begun.append(served_ns > 0)
        return self.one

    def orders(self, compiled: Compiled, config: Config) -> Chooser | None:
        self.glances += 1
        return self.of_orders


@pytest.fixture
def kernel() -> Iterator[lw.LoopKernel]:
    @lw.kernel
    def count(a, n):
        for i in range(n):
            a[i] += 1

    with lw.options(threads=1):
        yield count


def given(kernel: lw.LoopKernel, scripted: Scripted | None) -> Known:
    known = Known(scripted)
    kernel._dispatch._experience = known
    return known


def schedules(kernel: lw.LoopKernel) -> list[str]:
    """Of what has run."""
    return [run.compilation.schedule for run in kernel._dispatch.runs()]


def test_each_shape_has_its_own_choice_and_asks_once(kernel: lw.LoopKernel) -> None:
    scripted = Scripted(lambda shape: OTHER if shape.sizes[0] > 10 else DEFAULT, calls=100)
    given(kernel, scripted)
    small, large = np.zeros(10, int), np.zeros(20, int)
    for _ in range(5):
        kernel(small, 10)
        kernel(large, 20)
    assert small.tolist() == [5] * 10 and large.tolist() == [5] * 20
    assert sorted(schedules(kernel)) == [DEFAULT.schedule, OTHER.schedule]
    assert {shape.sizes for shape in scripted.asked} == {(10, 10), (20, 20)}
    assert len(scripted.asked) <= 4
    kernel(large, 3)
    assert (20, 3) in {shape.sizes for shape in scripted.asked}


def test_where_bits_must_not_depend_on_times_nobody_is_asked(kernel: lw.LoopKernel) -> None:
    scripted = Scripted(lambda shape: OTHER)
    given(kernel, scripted)
    a = np.zeros(4)
    with lw.options(deterministic=True):
        kernel(a, 4)
    assert not scripted.asked and schedules(kernel) == [DEFAULT.schedule]
    kernel(a, 4)
    assert scripted.asked and a.tolist() == [2] * 4


def test_it_is_told_of_calls_and_asked_again(kernel: lw.LoopKernel) -> None:
    scripted = Scripted(lambda shape: OTHER, calls=3)
    given(kernel, scripted)
    a = np.zeros(4)
    for _ in range(7):
        kernel(a, 4)
    assert scripted.told == [(Shape((4, 4)), OTHER, 3)] * 2
    scripted.opens, scripted.rule = True, lambda shape: DEFAULT
    for _ in range(4):
        kernel(a, 4)
    assert scripted.told[-1] == (Shape((4, 4)), OTHER, 3)
    assert a.tolist() == [11] * 4
    assert DEFAULT.schedule in schedules(kernel)


def test_one_that_cannot_be_made_is_told_and_the_default_serves(kernel: lw.LoopKernel) -> None:
    scripted = Scripted(lambda shape: ILLEGAL)
    given(kernel, scripted)
    a = np.zeros(4)
    kernel(a, 4)
    assert a.tolist() == [1] * 4 and scripted.lost == [ILLEGAL]


def test_variants_for_two_shapes_compile_at_the_same_time(kernel: lw.LoopKernel) -> None:
    given(kernel, Scripted(lambda shape: DEFAULT if shape.sizes[0] < 9 else OTHER if shape.sizes[0] < 19 else THIRD))
    kernel(np.zeros(4), 4)
    together, plain = threading.Barrier(2), kernel._dispatch.codes.compile

    def compile(wanted: Compilation) -> Compiled:
        together.wait(20)  # breaks where one has to wait for the other
        return plain(wanted)

    kernel._dispatch.codes.compile = compile
    arrays = np.zeros(10), np.zeros(20)
    with ThreadPoolExecutor(2) as pool:
        made = [pool.submit(contextvars.copy_context().run, kernel, one, len(one)) for one in arrays]
        assert [one.result(60) for one in made] == [None, None]
    assert sorted(schedules(kernel)) == sorted([DEFAULT.schedule, OTHER.schedule, THIRD.schedule])
    assert all(one.tolist() == [1] * len(one) for one in arrays)


def test_an_experiment_sees_the_arguments_before_the_call(kernel: lw.LoopKernel) -> None:
    scripted = Scripted(wants=True, calls=100)
    given(kernel, scripted)
    a = np.zeros(2)
    kernel(a, 2)
    kernel(a, 2)
    assert scripted.experiments == [[0.0, 0.0]]


def test_nothing_known_begins_after_a_while(kernel: lw.LoopKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "BEGIN_NS", 0)
    known = given(kernel, None)
    a = np.zeros(2)
    for _ in range(3):
        kernel(a, 2)
    assert known.begun == [False, True]  # the second time nothing came of it: it is not asked again
    scripted = Scripted(lambda shape: OTHER)
    other = given(kernel, scripted)
    kernel._dispatch.forget()
    other.one = None
    kernel(a, 2)
    assert other.begun == [False, True]


def test_orders_of_iterations_are_asked_about_once_and_first(
    kernel: lw.LoopKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "ORDERS_NS", 0)
    known = given(kernel, None)
    a = np.zeros(2)
    for _ in range(3):
        kernel(a, 2)
    assert known.glances == 1 and known.begun == [False]
    for options in ({"remap": "off"}, {"deterministic": True}):
        with lw.options(**options):
            kernel(a, 2)
    assert known.glances == 1
    kernel._dispatch.forget()
    known.of_orders = Scripted(lambda shape: OTHER)
    with lw.options(explore=False):
        for _ in range(3):
            kernel(a, 2)
    assert known.glances == 2 and known.of_orders.asked and OTHER.schedule in schedules(kernel)
    assert a.tolist() == [8.0, 8.0]


def test_nothing_begins_where_exploring_is_off(kernel: lw.LoopKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "BEGIN_NS", 0)
    known = given(kernel, None)
    with lw.options(explore=False):
        kernel(np.zeros(2), 2)
        kernel(np.zeros(2), 2)
    assert known.begun == [False]


def test_a_variant_can_be_pinned(kernel: lw.LoopKernel) -> None:
    a = np.zeros(8)
    with lw.options(variant=str(OTHER)):
        for _ in range(3):
            kernel(a, 8)
    assert a.tolist() == [3] * 8
    assert schedules(kernel) == [OTHER.schedule]
    with lw.options(variant=str(ILLEGAL)), pytest.raises(lw.ScheduleError, match="vectorize nothing"):
        kernel(a, 8)
    with lw.options(variant="fast please"), pytest.raises(ValueError, match="a variant reads"):
        kernel(a, 8)


def test_constants_that_change_ask_anew() -> None:
    kernel = lw.kernel(scale)
    scripted = Scripted(lambda shape: OTHER, calls=100)
    known = given(kernel, scripted)
    a = np.ones(4)
    with lw.options(threads=1):
        kernel(a)
        globals()["FACTOR"] = 5.0
        try:
            kernel(a)
        finally:
            globals()["FACTOR"] = 2.0
    assert a.tolist() == [10.0] * 4
    assert len(known.begun) == 2


FACTOR = 2.0


def scale(a):
    for i in range(len(a)):
        a[i] *= FACTOR


def test_whoever_has_nothing_more_to_choose_is_not_asked_again(kernel: lw.LoopKernel) -> None:
    scripted = Scripted(calls=100, rule=lambda shape: OTHER)
    given(kernel, scripted)
    kernel(np.zeros(10, int), 10)
    scripted.over = True
    for n in (11, 12, 13):
        kernel(np.zeros(n, int), n)
    assert len(scripted.asked) == 1 and set(schedules(kernel)) == {OTHER.schedule, DEFAULT.schedule}
