"""Times of calls that return before a GPU has run them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.devices import gpus
from loopwright.devices.emulated import EmulatedModule
from loopwright.devices.gpu import Timer
from loopwright.errors import DeviceError
from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.memory.on_device import OnDevice, on_device
from loopwright.memory.sampled import AGAIN_NS, APART_NS, GAP_NS, Sampled
from memory.watched import Watched


class Late:
    """A timer whose end is reached when the test says so."""

    def __init__(self, gpu: Slow, stream: int) -> None:
        self.gpu, self.stream = gpu, stream

    def __enter__(self) -> None:
        self.gpu.done("enter")

    def __exit__(self, *_: object) -> None:
        self.gpu.done("exit")

    def finished_ns(self) -> int | None:
        self.gpu.done("asked")
        return self.gpu.took_ns


class Slow(Watched):
    def __init__(self) -> None:
        super().__init__()
        self.took_ns: int | None = None
        self.happened: list[str] = []
        self.lost_at = ""

    def timer(self, stream: int = 0) -> Timer:
        self.done(f"timer {stream}")
        return Late(self, stream)

    def done(self, what: str) -> None:
        self.happened.append(what)
        if what == self.lost_at:
            raise DeviceError("lost")


def test_one_at_a_time_and_read_once_without_waiting() -> None:
    gpu = Slow()
    sampled = Sampled(gpu)
    assert sampled.ended_ns(0) is None
    with sampled.around(0, 10):
        pass
    with sampled.around(0, 20 + APART_NS):
        pass
    assert gpu.happened == ["timer 0", "enter", "exit"]  # the first one is not over
    assert sampled.ended_ns(11) is None and gpu.happened[-1] == "exit"  # it was not asked so soon
    assert sampled.ended_ns(10 + AGAIN_NS) is None and gpu.happened[-1] == "asked"
    gpu.took_ns = 1234
    assert sampled.ended_ns(10 + 2 * AGAIN_NS) == 1234
    assert sampled.ended_ns(10 + 9 * AGAIN_NS) is None


def test_calls_that_follow_one_another_are_not_all_timed() -> None:
    gpu = Slow()
    gpu.took_ns = 5
    sampled, found = Sampled(gpu), []
    for now in range(0, 10 * APART_NS, APART_NS // 10):
        found.append(sampled.ended_ns(now))
        with sampled.around(0, now):
            pass
    assert gpu.happened.count("enter") == 10 and found.count(5) == 9 + 1
    with sampled.around(7, 10 * APART_NS):
        pass
    assert gpu.happened[-3:] == ["timer 7", "enter", "exit"]


@pytest.mark.parametrize("where", ["timer 0", "enter", "exit", "asked"])
def test_a_gpu_that_is_lost_is_not_asked_again_and_the_call_is_made(where: str) -> None:
    gpu = Slow()
    gpu.lost_at, calls = where, 0
    sampled = Sampled(gpu)
    for now in (0, APART_NS, 2 * APART_NS):
        assert sampled.ended_ns(now) is None
        with sampled.around(0, now):
            calls += 1
    assert calls == 3 and gpu.happened.count(where) == 1 and gpu.happened[-1] in (where, "exit")


# ---- whole calls --------------------------------------------------------------------------------------------------


def add(a, b):
    for i in range(a.shape[0]):
        a[i] += b[i]


def there(gpu: Watched, values: np.ndarray) -> OnDevice:
    address = gpu.allocate(values.nbytes)
    gpu.upload(address, values)
    return on_device(address, values.shape, values.dtype, None, "emulated", None)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    """The GPU of all kernels that are compiled in the test."""
    slow = Slow()
    monkeypatch.setattr(gpus, "gpu_of", lambda _: slow)
    monkeypatch.setattr("loopwright.memory.sampled.APART_NS", 0)
    monkeypatch.setattr("loopwright.memory.sampled.AGAIN_NS", 0)
    monkeypatch.setattr("loopwright.memory.sampled.MOST_CALLS", 1)
    with lw.options(device="emulated"):
        yield slow


class Told:
    """Who chooses, and hears how long calls took."""

    def __init__(self) -> None:
        self.times: list[int] = []
        self.residents: list[bool] = []
        self.over = False

    def chooser(self, compiled: object, config: object, served_ns: int, resident: bool) -> Told:
        self.residents.append(resident)
        return self

    def shape_of(self, arguments: tuple[object, ...]) -> Shape:
        return Shape((10,))

    def choose(self, shape: Shape) -> Variant:
        return DEFAULT

    def closely(self, shape: Shape) -> int:
        return 0

    def served(self, shape: Shape, variant: Variant, times_ns: tuple[int, ...], calls: int) -> bool:
        self.times += times_ns
        return False

    def patience(self, shape: Shape, variant: Variant) -> tuple[int, int]:
        return 1, 2**62

    def due(self, shape: Shape) -> bool:
        return False


DEFAULT = Variant("emulated")


def test_calls_with_arrays_on_the_gpu_are_told_as_the_gpu_timed_them(gpu: Slow) -> None:
    told, kernel = Told(), lw.kernel(add)
    kernel._dispatch._experience = told  # type: ignore[assignment]
    a, b = there(gpu, np.zeros(10)), there(gpu, np.ones(10))
    for _ in range(3):  # the long way, then repeated
        kernel(a, b)
    assert told.residents == [True] and told.times == []
    for took_ns in (111, 222, 333):
        gpu.took_ns = took_ns
        kernel(a, b)
    assert told.times == [111, 222, 333]
    result = np.empty(10)
    gpu.download(result, a.ctypes.data)
    assert result.tolist() == [6.0] * 10
    assert sum(run.calls for run in kernel._dispatch.runs()) == 6


def test_between_two_that_are_timed_nothing_is_asked() -> None:
    gpu = Slow()
    sampled = Sampled(gpu)
    with sampled.around(0, 10):
        pass
    assert sampled.quiet_ns == 0  # until it has been told, calls ask
    gpu.took_ns = 1234
    assert sampled.ended_ns(10 + 2 * AGAIN_NS) == 1234
    assert 10 + 2 * AGAIN_NS < sampled.quiet_ns < 10 + APART_NS
    sampled.time_last(4)
    assert sampled.quiet_ns == 0


def test_repeated_calls_leave_the_clock_alone_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = lw.kernel(remap="auto")(by_count)
    with lw.options(device="emulated"):
        given = [lw.device_array(one) for one in (np.ones(1, np.int64), np.ones(1), np.zeros(1))]
    for _ in range(50):
        kernel(*given)
    asked: list[int] = []
    around = Sampled.around
    monkeypatch.setattr(Sampled, "around", lambda self, stream, now: asked.append(now) or around(self, stream, now))
    monkeypatch.setattr("loopwright.memory.sampled.APART_NS", 10**15)
    for _ in range(200):
        kernel(*given)
    assert 1 <= len(asked) < 150


def by_count(t, x, out):
    for i in range(out.shape[0]):
        s = 0.0
        for _k in range(t[i]):
            s = s * 0.5 + x[i]
        out[i] = s


def test_calls_that_wait_are_told_by_the_cpu_s_clock(gpu: Slow) -> None:
    told, kernel = Told(), lw.kernel(add)
    kernel._dispatch._experience = told  # type: ignore[assignment]
    kernel(np.zeros(10), np.ones(10))
    kernel(np.zeros(10), there(gpu, np.ones(10)))  # nobody can say what such a call is to take
    assert told.residents == [False]
    assert len(told.times) == 1 and told.times[0] > 0 and gpu.happened == []


@pytest.fixture
def late(gpu: Slow, monkeypatch: pytest.MonkeyPatch) -> int:
    """What a compiler takes at each launch, as it is told: a thousand seconds."""
    launch, late_ns = EmulatedModule._launch, 10**12

    def launched(module: EmulatedModule, *arguments: Any) -> int:
        module.late_ns += late_ns
        return launch(module, *arguments)

    monkeypatch.setattr(EmulatedModule, "_launch", launched)
    return late_ns


def test_what_a_compiler_takes_in_a_call_is_not_told(gpu: Slow, late: int) -> None:
    told, kernel = Told(), lw.kernel(add)
    kernel._dispatch._experience = told  # type: ignore[assignment]
    kernel(np.zeros(10), np.ones(10))
    assert -late < told.times[0] < 0, "that time did not really go by here"


def test_a_timed_call_in_which_something_was_compiled_is_not_told(gpu: Slow, late: int) -> None:
    told, kernel = Told(), lw.kernel(add)
    kernel._dispatch._experience = told  # type: ignore[assignment]
    a, b = there(gpu, np.zeros(10)), there(gpu, np.ones(10))
    kernel(a, b)
    kernel(a, b)
    gpu.took_ns = 111
    kernel(a, b)  # the long way: it asks for the time of the one before
    assert told.times == []


def test_nobody_who_watches_no_time(gpu: Slow) -> None:
    kernel = lw.kernel(add)
    a, b = there(gpu, np.zeros(10)), there(gpu, np.ones(10))
    for _ in range(3):
        kernel(a, b)
    assert gpu.happened == []


def made(sampled: Sampled, times: list[int]) -> list[int | None]:
    """What is told after each of the calls that are made at these times, which take no time of the host."""
    told = []
    for now in times:
        with sampled.around(0, now):
            pass
        sampled.made(now)
        told.append(sampled.waited_ns())
    return told


@pytest.mark.parametrize(("calls", "skipped"), [(1, 0), (2, 1), (3, 1), (4, 2), (16, 2)])
def test_the_last_of_so_many_calls_are_timed_together_and_waited_for(calls: int, skipped: int) -> None:
    gpu = Slow()
    gpu.took_ns = 7 * (calls - skipped)
    sampled = Sampled(gpu)
    sampled.time_last(calls)
    assert made(sampled, list(range(calls + 1))) == [None] * (calls - 1) + [7, None]  # long before usual times
    assert gpu.happened == ["timer 0", "enter", "exit", "asked"] and not sampled.closely


def test_calls_that_do_not_follow_one_another_are_not_timed_together() -> None:
    gpu = Slow()
    gpu.took_ns = 12
    sampled = Sampled(gpu)
    sampled.time_last(6)
    assert made(sampled, [0, 1, 2, 3, 3 + GAP_NS, 4 + GAP_NS]) == [None] * 5 + [6]
    sampled.time_last(4)
    assert made(sampled, [k * GAP_NS for k in range(9, 13)]) == [None] * 3 + [12]


def test_more_and_more_calls_are_timed_together_while_they_follow_one_another() -> None:
    gpu = Slow()
    gpu.took_ns = 840
    sampled, now, told = Sampled(gpu), 0, []
    for _ in range(5 * APART_NS // 10_000):
        now += 10_000
        told.append(sampled.ended_ns(now))
        made(sampled, [now])
    assert [one for one in told if one] == [840, 420, 210, 105, 105]


def test_a_stretch_with_a_call_like_no_other_is_begun_anew() -> None:
    gpu = Slow()
    gpu.took_ns = 6
    sampled = Sampled(gpu)
    sampled.time_last(4)
    assert made(sampled, [0, 1, 2]) == [None] * 3
    sampled.forget()
    assert made(sampled, [3, 4]) == [None, 3]


def test_a_gpu_that_is_lost_in_a_call_that_is_waited_for_tells_no_time() -> None:
    gpu = Slow()
    sampled = Sampled(gpu)
    sampled.time_last(1)
    gpu.lost_at = "exit"
    with sampled.around(0, 9 * APART_NS):
        pass
    assert sampled.waited_ns() is None
