"""A race has one winner, whose results are the caller's, whoever that is; nothing of a loser is left."""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.devices import gpus
from loopwright.devices.by_ctypes import CallEnded
from loopwright.errors import DeviceError, DeviceMemoryError
from loopwright.memory.call_in_steps import CallInSteps, copied_bytes
from loopwright.memory.gpu_call import NoRoom
from loopwright.runtime.execute import CallArguments
from loopwright.runtime.race_call import Entrant, RaceCall
from loopwright.runtime.sharing import on_one
from runtime.cuts import alone, same
from runtime.test_shared_call import CASES

TWO = "cpu, emulated"
STEPS = "place", "send", "compute"


@lw.kernel
def grown(a, b):
    for i in range(a.shape[0]):
        b[i] = b[i] * 3.0 + a[i]


@lw.kernel
def gathered(a, b, where):
    for i in range(where.shape[0]):
        a[i] = b[where[i]]


class HeldCpu:
    """See EndableEntry. before: done in the calling thread instead of the beginning of a call."""

    def __init__(self, entry: Any) -> None:
        self.entry = entry
        self.before: Callable[[], None] = lambda: None
        self.told, self.begun = threading.Event(), threading.Event()

    def renew(self) -> None:
        self.entry.renew()

    def end(self) -> None:
        self.entry.end()
        self.told.set()

    def run(self, arguments: Any, originals: Any) -> object:
        self.begun.set()
        self.before()
        return self.entry.run(arguments, originals)


def racing(kernel: Any, arguments: Any) -> tuple[RaceCall, HeldCpu]:
    with lw.options(devices=TWO, strict=True) as asked:
        prepared = kernel._dispatch.prepare(arguments, {})
        cpu, code = (kernel._dispatch._racer(prepared.signature, on_one(asked, name)) for name in ("cpu", "emulated"))
    held, gpu = HeldCpu(cpu), gpus.gpu_of("emulated")
    holds = code is not None and copied_bytes(code, prepared.arguments)[0] > 0
    both: list[Any] = [Entrant("cpu", 0.0, cpu=held), Entrant("emulated", 0.0, gpu=gpu, code=lambda: code, holds=holds)]
    return RaceCall(both, CallArguments(prepared.arguments, prepared.given)), held


def until_won(call: RaceCall) -> None:
    assert call.race.waited(lambda: call.race.winner is not None, 60)


def in_step(monkeypatch: pytest.MonkeyPatch, step: str, do: Callable[[], object]) -> None:
    """Do something at the beginning of a step on the GPU."""
    real = getattr(CallInSteps, step)

    def before(self: CallInSteps, *given: Any, **named: Any) -> Any:
        do()
        return real(self, *given, **named)

    monkeypatch.setattr(CallInSteps, step, before)


def after_the_cpu_has_begun(monkeypatch: pytest.MonkeyPatch, cpu: HeldCpu) -> None:
    in_step(monkeypatch, "compute", lambda: bool(cpu.begun.wait(60)))


def used_bytes() -> int:
    gpu: Any = gpus.gpu_of("emulated")
    return int(gpu.memory.used_bytes)


@pytest.mark.parametrize("name", [name for name in CASES if name != "gathered"])
def test_whoever_wins_the_result_is_that_of_one_device(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    kernel, arguments = CASES[name]
    theirs = copy.deepcopy(arguments)
    expected = alone(kernel, theirs)
    for loser in (1, 0):
        mine = copy.deepcopy(arguments)
        call, cpu = racing(kernel, mine)
        with monkeypatch.context() as patched:
            if loser:
                in_step(patched, "compute", lambda call=call: until_won(call))  # type: ignore[misc]
            elif call.entrants[1].code() is not None:
                cpu.before = lambda call=call: until_won(call)  # type: ignore[misc]
            result = call.run()
            [one.result() for one in call.losers]
        assert same(mine, theirs) and same(result, expected)
        assert call.race.over
        assert call.race.winner == 1 - loser or call.entrants[1].code() is None


@pytest.mark.parametrize("step", STEPS)
def test_a_gpu_is_given_up_at_every_step(monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    a, b = np.random.default_rng(1).random((2, 900))
    expected, before = b * 3.0 + a, used_bytes()
    call, _ = racing(grown, (a, b))
    call.entrants = [call.entrants[0], call.entrants[1]._replace(holds=False)]
    in_step(monkeypatch, step, lambda: until_won(call))
    call.run()
    [one.result() for one in call.losers]
    assert same(b, expected) and call.race.states == ("won", "stopped")
    assert used_bytes() - before < a.nbytes


def test_a_loser_in_the_middle_of_the_callers_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPU has multiplied many elements by 3 when the GPU, which began with the old ones, has won."""
    a, b = np.random.default_rng(1).random((2, 900))
    expected = b * 3.0 + a
    call, cpu = racing(grown, (a, b))
    after_the_cpu_has_begun(monkeypatch, cpu)

    def half() -> None:
        b[:450] *= 3.0
        assert cpu.told.wait(60)
        b[450:600] = -1.0
        raise CallEnded

    cpu.before = half
    call.run()
    assert call.race.states == ("stopped", "won")
    assert same(b, expected)
    assert call.stop_delay_ns > 0


def test_a_cpu_that_is_done_too_late_has_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = np.random.default_rng(1).random((2, 900))
    expected = b * 3.0 + a
    call, cpu = racing(grown, (a, b))
    after_the_cpu_has_begun(monkeypatch, cpu)
    cpu.before = lambda: until_won(call)
    cpu.end = lambda: None  # type: ignore[method-assign]
    call.run()
    assert call.race.states == ("lost", "won")
    assert same(b, expected)


@pytest.mark.parametrize(
    "error", [DeviceError("it is lost"), NoRoom(DeviceMemoryError("it is full")), ValueError("odd")]
)
@pytest.mark.parametrize("step", STEPS)
def test_a_loser_that_fails_loses_nothing(monkeypatch: pytest.MonkeyPatch, step: str, error: Exception) -> None:
    a, b = np.random.default_rng(1).random((2, 300))
    expected, before = b * 3.0 + a, used_bytes()
    call, _ = racing(grown, (a, b))

    def fail() -> None:
        raise error

    in_step(monkeypatch, step, fail)
    call.run()
    [one.result() for one in call.losers]
    assert same(b, expected) and used_bytes() - before < a.nbytes
    assert call.race.states[0] == "won" and call.race.states[1] in ("failed", "lost")


def test_a_gpu_goes_on_where_the_cpu_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = np.random.default_rng(1).random((2, 300))
    expected = b * 3.0 + a
    call, cpu = racing(grown, (a, b))
    after_the_cpu_has_begun(monkeypatch, cpu)

    def fail() -> None:
        raise MemoryError("no room")

    cpu.before = fail
    call.run()
    assert call.race.states == ("failed", "won")
    assert same(b, expected)


def test_where_all_fail_the_first_error_is_the_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    call, cpu = racing(grown, (np.ones(300), np.ones(300)))

    def lost() -> None:
        raise DeviceError("it is lost")

    def fail() -> None:
        assert call.race.waited(lambda: call.race.states[1] == "failed", 60)
        raise MemoryError("no room")

    in_step(monkeypatch, "compute", lost)
    cpu.before = fail
    with pytest.raises(DeviceError, match="it is lost"):
        call.run()


def test_a_winner_that_cannot_bring_home_what_it_made(monkeypatch: pytest.MonkeyPatch) -> None:
    call, cpu = racing(grown, (np.ones(300), np.ones(300)))
    after_the_cpu_has_begun(monkeypatch, cpu)

    def lost() -> None:
        raise DeviceError("it is lost")

    in_step(monkeypatch, "bring_back", lost)
    cpu.before = lambda: until_won(call)
    with pytest.raises(DeviceError, match="it is lost"):
        call.run()


def test_an_error_of_the_program_is_the_calls() -> None:
    where = np.arange(60)
    where[33] = 99
    with pytest.raises(lw.BoundsError, match="index 99 is out of bounds for axis 0 of 'b' with size 60"):
        racing(gathered, (np.zeros(60), np.arange(60.0), where))[0].run()


@pytest.mark.parametrize("won", [False, True])
def test_ctrl_c_leaves_nobody_at_work(monkeypatch: pytest.MonkeyPatch, won: bool) -> None:
    a, b = np.ones(400), np.ones(400)
    before = used_bytes()
    call, cpu = racing(grown, (a, b))
    after_the_cpu_has_begun(monkeypatch, cpu)

    def interrupted() -> None:
        if won:
            until_won(call)
        raise KeyboardInterrupt

    cpu.before = interrupted
    with pytest.raises(KeyboardInterrupt):
        call.run()
    [one.result() for one in call.losers if not won]
    assert call.race.states[0] == "failed"
    assert (b == 4).all() or not won
    assert used_bytes() - before < a.nbytes


def test_one_that_is_late_does_not_begin() -> None:
    a, b = np.random.default_rng(1).random((2, 300))
    expected = b * 3.0 + a
    call, _ = racing(grown, (a, b))
    call.entrants = [call.entrants[0], call.entrants[1]._replace(starts_ns=1e12, holds=False)]
    call.run()
    [one.result() for one in call.losers]
    assert same(b, expected) and call.race.states == ("won", "stopped")
    assert call.running[1].began_ns == 0
    late, _ = racing(grown, (a, b))
    late.entrants = [late.entrants[0]._replace(starts_ns=1e12), late.entrants[1]]
    late.run()
    assert same(b, expected * 3.0 + a) and late.race.states == ("stopped", "won") and not late.running[0].began_ns


@lw.kernel
def long(a, n):
    for i in range(a.shape[0]):
        for _ in range(n):
            a[i] = a[i] * 0.5 + 1.0


def test_a_call_on_a_cpu_is_ended_by_another_thread() -> None:
    a = np.zeros(64)
    _, cpu = racing(long, (a, 1_000_000_000))
    threading.Timer(0.05, cpu.end).start()
    begun = time.perf_counter()
    with pytest.raises(CallEnded):
        cpu.run((a, 1_000_000_000), None)
    assert time.perf_counter() - begun < 10  # all of it takes minutes
    with pytest.raises(CallEnded):
        cpu.run((a, 1), None)
    cpu.renew()
    a[:] = 0.0
    cpu.run((a, 1), None)
    assert (a == 1.0).all()


def test_calls_of_two_threads() -> None:
    """They come one after the other; each gets its own result."""
    given = [np.random.default_rng(k).random((2, 2000)) for k in range(2)]
    wrong: list[int] = []

    def work(k: int) -> None:
        with lw.options(devices=TWO, plan="race", strict=True):
            for _ in range(8):
                a, b = given[k].copy()
                grown(a, b)
                if not same(b, given[k][1] * 3.0 + a):
                    wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
    [one.start() for one in threads]
    [one.join(60) for one in threads]
    assert not wrong and not any(one.is_alive() for one in threads)


def test_arrays_that_stay_on_devices_do_not_race() -> None:
    with lw.options(devices=TWO, plan="race"):
        a, b = (lw.distributed_array(np.ones(30)) for _ in range(2))
        grown(a, b)
    assert b.numpy()[-1] == 4
