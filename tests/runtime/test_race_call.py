"""A race has one winner, whose results are the caller's, whoever that is; nothing of a loser is left."""

from __future__ import annotations

import copy
import threading
import time
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.errors import DeviceError, DeviceMemoryError
from loopwright.runtime.participants import Participant
from loopwright.runtime.race_call import FIRST, RaceCall, SliceParts, Stopped
from loopwright.runtime.shared_arrays import SharedArrays
from loopwright.runtime.shared_call import SharedCall
from runtime.cuts import alone, same
from runtime.test_shared_call import CASES

TWO = "cpu, emulated"


@lw.kernel
def grown(a, b):
    for i in range(a.shape[0]):
        b[i] = b[i] * 3.0 + a[i]


@lw.kernel
def gathered(a, b, where):
    for i in range(where.shape[0]):
        a[i] = b[where[i]]


def racing(kernel: Any, arguments: Any, devices: str = TWO) -> RaceCall:
    with lw.options(devices=devices, strict=True) as asked:
        prepared = kernel._dispatch.prepare(arguments, {})
        sharing = kernel._dispatch.sharing
        members, _ = sharing._members(sharing._kind(prepared.signature, asked), asked)
        return RaceCall(members, prepared.arguments)


class Slow:
    """Makes a device wait before each of its parts, until another one has won or for some time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, name: str, seconds: float = 30.0) -> None:
        self.wait = threading.Event()
        real = SharedArrays.prepared

        def prepared(arrays: SharedArrays, member: Participant, number: int, part: range) -> Any:
            if member.name == name and part.start > 0:
                self.wait.wait(seconds)
            return real(arrays, member, number, part)

        monkeypatch.setattr(SharedArrays, "prepared", prepared)
        wins = RaceCall._wins

        def won(call: RaceCall, place: int) -> bool:
            if call.members[place].name != name:
                threading.Timer(0.05, self.wait.set).start()
            return wins(call, place)

        monkeypatch.setattr(RaceCall, "_wins", won)


@pytest.mark.parametrize("slow", ["cpu", "emulated"])
@pytest.mark.parametrize("name", CASES)
def test_whoever_wins_the_result_is_that_of_one_device(monkeypatch: pytest.MonkeyPatch, name: str, slow: str) -> None:
    kernel, arguments = CASES[name]
    mine, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
    expected = alone(kernel, theirs)
    Slow(monkeypatch, slow)
    call = racing(kernel, mine)
    result = call.run()
    assert same(mine, theirs)
    assert same(result, expected)
    assert call.race.over
    if name not in ("nothing", "one", "two", "between", "between, without the last"):
        winner = call.race.winner
        assert winner is not None
        assert call.members[winner].name != slow


def test_a_loser_in_the_middle_of_the_callers_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPU has multiplied many elements by 3 when the GPU, which began with the old ones, has won."""
    a, b = np.random.default_rng(1).random((2, 900))
    expected = b * 3.0 + a
    Slow(monkeypatch, "cpu")
    call = racing(grown, (a, b))
    call.run()
    assert call.race.states[1] == "won"
    assert 0 < call.members[0].done < 900
    assert same(b, expected)


def test_a_loser_that_fails_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = np.random.default_rng(1).random((2, 300))
    expected = b * 3.0 + a
    for error in (DeviceError("it is lost"), DeviceMemoryError("it is full")):
        mine = b.copy()
        call = racing(grown, (a, mine))

        def broken(*_: Any, error: Exception = error) -> int:
            raise error

        with monkeypatch.context() as patched:
            patched.setattr(call.members[1].gpu, "allocate", broken)
            call.run()
        assert same(mine, expected)
        assert call.race.states == ("won", "failed")


def test_an_error_of_the_program_is_the_calls() -> None:
    where = np.arange(60)
    where[33] = 99
    a = np.zeros(60)
    with pytest.raises(lw.BoundsError, match="index 99 is out of bounds for axis 0 of 'b' with size 60"):
        racing(gathered, (a, np.arange(60.0), where)).run()


def test_ctrl_c_stops_all(monkeypatch: pytest.MonkeyPatch) -> None:
    call = racing(grown, (np.ones(300), np.ones(300)))
    real = SharedCall._on_host

    def interrupted(*given: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(SharedCall, "_on_host", interrupted)
    with pytest.raises(KeyboardInterrupt):
        call.run()
    assert call.race.over or call.race.states[0] == "running"
    assert call.race.states[1] in ("stopped", "lost", "won")
    monkeypatch.setattr(SharedCall, "_on_host", real)


def test_ctrl_c_while_a_winner_waits_for_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """It brings home what it has made, and nobody waits for ever."""
    a, b = np.ones(400), np.ones(400)
    call = racing(grown, (a, b))
    real, begun = SharedArrays.prepared, threading.Event()

    def prepared(arrays: SharedArrays, member: Participant, number: int, part: range) -> Any:
        if member.name == "cpu":
            begun.set()
            while call.race.winner is None:
                time.sleep(0.001)
            raise KeyboardInterrupt
        begun.wait(60)  # else it may have won before the CPU has begun
        return real(arrays, member, number, part)

    monkeypatch.setattr(SharedArrays, "prepared", prepared)
    with pytest.raises(KeyboardInterrupt):
        call.run()
    assert call.race.states == ("failed", "won")
    assert (b == 4).all()


def test_no_memory_is_kept_of_a_race_that_could_not_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    from loopwright.devices import gpus

    gpu: Any = gpus.gpu_of("emulated")
    call = racing(grown, (np.ones(5000), np.ones(5000)))
    before = gpu.memory.used_bytes

    def lost(*_: object, **__: object) -> None:
        raise DeviceError("it is lost")

    monkeypatch.setattr(gpu, "upload", lost)
    call.run()
    assert call.race.states == ("won", "failed")
    assert gpu.memory.used_bytes == before


def test_the_winner_serves_from_then_on(monkeypatch: pytest.MonkeyPatch) -> None:
    Slow(monkeypatch, "emulated")
    grown._dispatch.learn_anew()
    a = np.random.default_rng(1).random(4000)
    with lw.options(devices=TWO, plan="race", strict=True):
        for _ in range(5):
            b = np.ones(4000)
            grown(a, b)
            assert (b == 3.0 + a).all()
        (kind,) = grown._dispatch.sharing._kinds.values()
    (division,) = kind.divisions.values()
    decision = division.decide()
    assert (decision.kind, decision.devices) == ("single", (0,))


def test_loops_that_cannot_race_are_made_by_one() -> None:
    @lw.kernel
    def chain(a):
        for i in range(1, a.shape[0]):
            a[i] += a[i - 1]

    with lw.options(devices=TWO, plan="race"):
        for _ in range(3):
            a = np.ones(30)
            chain(a)
            assert a[-1] == 30
        there = lw.distributed_array(np.ones(30))
        chain(there)
        grown(there, there_too := lw.distributed_array(np.ones(30)))
    assert there.numpy()[-1] == 30
    assert there_too.numpy()[-1] == 33


def test_slices_are_all_iterations_and_end_when_told() -> None:
    stop = False
    parts = SliceParts(lambda: stop)
    parts.fixed(0, range(5, 133))
    first = parts.take(0, None)
    assert first == range(5, 5 + round(128 * FIRST))
    rest = [part for part in iter(lambda: parts.take(0, 20e-6), None) if part is not None]
    assert [k for part in (first, *rest) for k in part] == list(range(5, 133))
    assert max(map(len, rest)) == 20  # a millisecond
    stop = True
    with pytest.raises(Stopped):
        parts.take(0, None)


def test_slices_of_a_gpu_grow_while_they_take_no_longer() -> None:
    """One that is not full takes as long for half of its threads."""
    parts = SliceParts(lambda: False, on_gpu=True)
    parts.fixed(0, range(1024))
    found = [part for part in iter(lambda: parts.take(0, 1e-9), None) if part is not None]
    assert [k for part in found for k in part] == list(range(1024))
    assert list(map(len, found)) == [128, 256, 512, 128]  # no time passes here


def test_the_loser_stops_soon() -> None:
    """Within some slices, of which each takes about a millisecond."""
    a = np.random.default_rng(1).random(200_000)
    call = racing(grown, (a, np.ones(200_000)))
    begun = time.perf_counter()
    call.run()
    assert time.perf_counter() - begun < 10
    assert call.race.over
    assert call.ended_ns >= call.won_ns
