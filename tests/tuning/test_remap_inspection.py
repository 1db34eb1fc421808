"""What is found out about the order of iterations before there is one, and whole calls under `remap="auto"`, on the
emulated device with times that the test says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from benchmarks.gpu.irregular import by_branch, by_trips

import loopwright as lw
from analysis.irregular_programs import arguments_of, irregular_program
from frontend.judge import define
from loopwright.choice import remap
from loopwright.codegen.gpu import WRITERS
from loopwright.codegen.gpu_writer import NotOnGpu
from loopwright.devices.emulated import EmulatedGpu, EmulatedModule
from loopwright.devices.gpu import Timer
from loopwright.predict.remapped import remapped
from loopwright.runtime.specialise import as_arguments
from loopwright.tuning.remap_inspection import RemapInspection
from loopwright.tuning.sampled_iterations import sample_of


def regular(t, x, out):
    for i in range(out.shape[0]):
        for k in range(3):
            out[i] += x[i] * t[k]


def fails(t, x, out):
    for i in range(out.shape[0]):
        for k in range(t[i]):
            out[i] += x[i + k]


def sweeps(x, y, p, m):
    for t in range(m):  # noqa: B007 -- its name is asked for
        for i in range(x.shape[0]):
            s = 0.0
            for k in range(p.shape[1]):
                s += x[p[i, k]]
            y[i] = 0.25 * s
        for i in range(x.shape[0]):
            x[i] = y[i]


def neighbours_of(n: int, shuffled: bool) -> np.ndarray:
    """Of the nodes of a ring, whose numbers may have nothing to do with that."""
    regular = np.stack([np.roll(np.arange(n), 1), np.roll(np.arange(n), -1)], axis=1)
    order = np.random.default_rng(0).permutation(n) if shuffled else np.arange(n)
    found = np.empty_like(regular)
    found[order] = order[regular]
    return found


def test_neighbours_far_apart_promise_a_gain_that_the_new_order_costs() -> None:
    n = 4000
    found = {}
    for shuffled in (True, False):
        arguments = (np.ones(n), np.ones(n), neighbours_of(n, shuffled), 50)
        one = inspection(sweeps, *arguments)
        assert one.steps == "renumber p in t clusters"
        inspected = one.inspect(arguments)
        assert inspected is not None and inspected.versions is None
        found[shuffled] = inspected.measures
    assert found[True].ratio < 0.5 and found[False].ratio == 1.0
    assert remapped(found[True], 2e6).kept_ns < 2e6
    assert remapped(found[True], 1e6).kept_ns > 1e6  # a millisecond in any case
    assert remapped(found[False], 1e9).kept_ns > 1e9


def test_one_sweep_is_left_as_it_stands() -> None:
    arguments = (np.ones(4000), np.ones(4000), neighbours_of(4000, True), 1)
    found = inspection(sweeps, *arguments).inspect(arguments)
    assert found is not None and found.measures.ratio == 1.0


def call(n: int, most: int = 9) -> list[np.ndarray]:
    draw = np.random.default_rng(n)
    return [draw.integers(0, most, n), draw.random(n), np.zeros(n)]


def inspection(function: Callable[..., object], *arguments: object) -> RemapInspection:
    with lw.options(device="emulated"):
        return RemapInspection(lw.kernel(function).specialise(*arguments))


def test_the_sample_has_whole_warps_evenly_apart() -> None:
    assert sample_of(70).tolist() == list(range(64))
    sample = sample_of(1_000_000)
    assert len(sample) == 96 * 32 and sample[0] == 0 and sample[-1] > 999_900
    assert (sample.reshape(-1, 32)[:, 0] % 32 == 0).all()


def test_measures_of_a_sample_are_about_those_of_all_iterations() -> None:
    t, x, out = call(200_000)
    t[:] = np.where(np.random.default_rng(1).integers(0, 32, len(t)) == 0, 1000, 10)
    found = inspection(by_trips, t, x, out)
    assert found.steps == "redirect i"
    inspected = found.inspect((t, x, out))
    assert inspected is not None and inspected.versions is None  # nobody knows who writes to an array of NumPy
    exact = lw.kernel(by_trips).irregular(t, x, out).loops[0].entries[0].cost
    assert exact is not None
    assert inspected.measures.ratio == pytest.approx(exact.sorted / exact.found, rel=0.5)
    assert inspected.measures.ratio < 0.2
    assert inspected.measures.iterations == 200_000
    assert 23 * 200_000 < inspected.measures.touched_before < 25 * 200_000
    assert inspected.measures.touched_after > inspected.measures.touched_before


def test_each_branch_that_a_warp_takes_counts_once() -> None:
    t, x, out = call(50_000, 4)
    found = inspection(by_branch, t, x, out).inspect((t, x, out))
    assert found is not None and 0.25 < found.measures.ratio < 0.3
    t.sort()
    found = inspection(by_branch, t, x, out).inspect((t, x, out))
    assert found is not None and found.measures.ratio > 0.9


def test_arrays_on_the_gpu_have_versions_and_stay_as_they_are() -> None:
    host = call(5_000)
    with lw.options(device="emulated"):
        there = [lw.device_array(one) for one in host]
        found, given = inspection(by_trips, *there), as_arguments(there, ("t", "x", "out"))
        first, again = found.inspect(given), found.inspect(given)
        assert first is not None and again is not None and first.versions and first.versions == again.versions
        there[0].copy_from(host[0][::-1].copy())
        changed = found.inspect(given)
        assert changed is not None and changed.versions != first.versions
        np.testing.assert_array_equal(there[1].numpy(), host[1])


def test_regular_loops_and_few_iterations_are_left_alone() -> None:
    assert inspection(regular, *call(100)).steps == ""
    few = call(31)
    assert inspection(by_trips, *few).inspect(tuple(few)) is None


# ---- whole calls --------------------------------------------------------------------------------------------------


class Clock:
    """What calls are said to take, by what has run: a call that finds an order has launches of its own for that. Who
    makes a call says whether it is one in order."""

    def __init__(self) -> None:
        self.plain_ns, self.in_order_ns, self.sort_ns = 4_000_000, 1_000_000, 100_000
        self.launches = self.timers = 0
        self.in_order = False


class Told:
    """Says what the launches since it began are to have taken."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def __enter__(self) -> None:
        self.first = self.clock.launches

    def __exit__(self, *_: object) -> None:
        launches = self.clock.launches - self.first
        self.took_ns = self.clock.in_order_ns if self.clock.in_order else self.clock.plain_ns
        self.took_ns += self.clock.sort_ns if launches > 1 else 0

    def finished_ns(self) -> int | None:
        return self.took_ns


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    found = Clock()

    def timer(gpu: EmulatedGpu, stream: int = 0) -> Timer:
        found.timers += 1
        return Told(found)

    monkeypatch.setattr(EmulatedGpu, "timer", timer)
    monkeypatch.setattr("loopwright.memory.sampled.APART_NS", 0)
    monkeypatch.setattr("loopwright.memory.sampled.AGAIN_NS", 0)
    monkeypatch.setattr("loopwright.memory.sampled.MOST_CALLS", 1)
    monkeypatch.setattr("loopwright.memory.sampled.GAP_NS", 0)
    monkeypatch.setattr(remap, "MAKING_NS", 20_000_000)
    monkeypatch.setattr(remap, "INSPECT_NS", 1_000_000)
    launch = EmulatedModule._launch

    def launched(module: EmulatedModule, *arguments: Any) -> int:
        found.launches += 1
        return launch(module, *arguments)

    monkeypatch.setattr(EmulatedModule, "_launch", launched)
    with lw.options(device="emulated", store="off"):
        yield found


class Repeated:
    """Calls of a kernel with arrays that stay on the GPU, each compared with Python's."""

    def __init__(self, clock: Clock, function: Callable[..., object] = by_trips) -> None:
        self.clock, self.kernel = clock, lw.kernel(function)
        self.host = call(300)
        self.host[0][:] = np.where(np.arange(300) % 32 == 0, 60, 1)
        self.host[0][-60:] = 1
        self.there: list[Any] = [lw.device_array(one) for one in self.host]
        self.expected = [one.copy() for one in self.host]
        function(*self.expected)

    def call(self, times: int) -> None:
        for _ in range(times):
            self.clock.in_order = "redirect" in self.serves
            self.there[2].copy_from(np.zeros(len(self.host[2])))
            self.kernel(*self.there)
            np.testing.assert_array_equal(self.there[2].numpy(), self.expected[2])

    @property
    def serves(self) -> str:
        """What the next call runs, unless it is the one that is inspected."""
        served = self.kernel._dispatch.served()
        return "" if not served or served[0].decision is None else str(served[0].decision.variant)

    @property
    def schedules(self) -> dict[str, int]:
        return {run.compilation.schedule: run.calls for run in self.kernel._dispatch.runs()}


def test_calls_that_take_long_are_put_in_order(clock: Clock) -> None:
    calls = Repeated(clock)
    calls.call(80)
    assert calls.schedules["redirect i; recipe"] > 40
    text = str(calls.kernel.explain(*calls.there))
    assert "predicted to pay: warps would do" in text and "measured 1 ms instead of 4 ms" in text
    assert "emulated: redirect i; recipe" in text


def test_a_loss_is_noticed_within_three_calls(clock: Clock) -> None:
    clock.in_order_ns = 5_000_000
    calls = Repeated(clock)
    calls.call(60)
    assert calls.schedules["redirect i; recipe"] == 3
    assert "no gain" in str(calls.kernel.explain(*calls.there)) or "not to pay" in str(
        calls.kernel.explain(*calls.there)
    )


@pytest.mark.parametrize("options", [{"remap": "off"}, {"schedule": " "}, {"recipe": "plain"}])
def test_other_options_leave_iterations_as_they_stand(clock: Clock, options: dict[str, Any]) -> None:
    with lw.options(**options):
        calls = Repeated(clock)
        calls.call(30)
        assert not any("redirect" in schedule for schedule in calls.schedules)


def test_a_kernel_that_data_does_not_decide_about_is_not_timed(clock: Clock) -> None:
    calls = Repeated(clock, regular)
    calls.call(20)
    assert list(calls.schedules.values()) == [20] and clock.timers == 0


def test_arrays_of_the_host_are_left_alone(clock: Clock) -> None:
    kernel, host = lw.kernel(by_trips), call(300)
    for _ in range(20):
        kernel(*host)
    assert [run.compilation.schedule for run in kernel._dispatch.runs()] == ["recipe"]


def test_a_failing_check_is_named_as_the_user_wrote_it(clock: Clock) -> None:
    calls = Repeated(clock, fails)
    calls.call(40)
    assert calls.schedules["redirect i; recipe"] > 0
    calls.host[0][298] = 7
    calls.there[0].copy_from(calls.host[0])
    with pytest.raises(lw.BoundsError, match=r"index 30[0-4] is out of bounds for axis 0 of 'x'"):
        calls.kernel(*calls.there)
        calls.there[2].numpy()


@pytest.mark.parametrize("first", [0, 40])
def test_random_irregular_programs_are_put_in_order_while_they_run(
    clock: Clock, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remap, "LEAST_GAIN", -100.0)
    monkeypatch.setattr(remap, "MAKING_NS", -1e9)
    done = 0
    for seed in range(first, first + 20):
        function = define(irregular_program(seed), f"ordered{seed}.py")
        kernel, host = lw.kernel(strict=True)(function), arguments_of(seed, 70)
        with np.errstate(all="ignore"):
            there = [lw.device_array(one) if isinstance(one, np.ndarray) else one for one in host]
            for _ in range(12):
                function(*host)
                served = kernel._dispatch.served()
                clock.in_order = bool(served and "redirect" in str(served[0].plan))
                kernel(*there)
                for mine, right in zip(there, host, strict=True):
                    if isinstance(right, np.ndarray):
                        np.testing.assert_array_equal(mine.numpy(), right)
        done += any("redirect" in run.compilation.schedule for run in kernel._dispatch.runs())
    assert done > 4


def test_code_in_order_that_would_leave_the_gpu_does_not_serve(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise NotOnGpu("warps have another size")

    monkeypatch.setitem(WRITERS, "sorted", refused)
    calls = Repeated(clock)
    calls.call(40)
    assert calls.schedules["recipe"] == 40


def test_without_room_for_an_order_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    found, arguments = inspection(by_trips, *call(5_000)), tuple(call(5_000))
    assert found.inspect(arguments) is not None
    monkeypatch.setattr(EmulatedGpu, "free_bytes", lambda gpu: 4 * 9 * 5_000 - 1)
    assert found.inspect(arguments) is None


def test_what_was_learned_is_kept(clock: Clock, tmp_path: Any) -> None:
    """A process that begins with a store where predictions were much too short begins with longer ones."""
    with lw.options(store=tmp_path / "store.sqlite3"):
        clock.in_order_ns = 5_000_000
        calls = Repeated(clock)
        calls.call(60)
        again = Repeated(clock)
        again.call(30)
    assert calls.schedules["redirect i; recipe"] == 3
    assert "in order" in str(again.kernel.explain(*again.there))


def test_steps_that_the_option_names_serve_every_call(clock: Clock) -> None:
    with lw.options(remap="redirect i"):
        calls = Repeated(clock)
        calls.call(20)
        assert calls.schedules == {"redirect i; recipe": 20}
        assert "the option remap='redirect i' decides" in str(calls.kernel.explain(*calls.there))
