"""A race in every interleaving: one winner, no outputs mixed, and a loser that fails loses nothing."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from itertools import permutations, product

import pytest

from loopwright.placement.race import Race


def endings(devices: int) -> Iterator[tuple[tuple[int, str], ...]]:
    """All orders in which devices end, each in each way: it finishes, fails, or notices that it is to stop."""
    for order in permutations(range(devices)):
        for ways in product(("finish", "fail", "notice"), repeat=devices):
            yield tuple(zip(order, ways, strict=True))


@pytest.mark.parametrize("devices", [1, 2, 3, 4])
def test_every_interleaving(devices: int) -> None:
    for story in endings(devices):
        race, output, errors, noticed = Race(devices), [], [], []
        first = next((device for device, way in story if way != "fail"), None)  # who notices nothing yet finishes
        for device, way in story:
            assert race.should_stop(device) == (race.winner is not None)
            if way == "fail":
                errors.append(RuntimeError(device))
                race.failed(device, errors[-1])
            elif way == "notice" and race.should_stop(device):
                race.stopped(device)
                noticed.append(device)
            elif race.finished(device):
                output += [device] * 3  # a winner hands over all it has
        assert race.over and race.decided(0) and race.ended(0)
        assert race.winner == first
        assert output == [] if first is None else [first] * 3
        assert [error for _, error in race.errors] == errors
        assert all(race.states[device] == "stopped" for device in noticed)
        if first is None:
            with pytest.raises(RuntimeError) as raised:
                race.result()
            assert raised.value is errors[0]
        else:
            assert race.result() == first and race.states.count("won") == 1


@pytest.mark.parametrize("seed", range(20))
def test_threads_that_race(seed: int) -> None:
    """Each works on a copy; only the winner's copy becomes the result, and all of it."""
    devices, draw = 4, random.Random(seed)
    race, output = Race(devices), [0] * 100
    fails = {device for device in range(devices) if draw.random() < 0.3}
    barrier = threading.Barrier(devices)

    def work(device: int) -> None:
        mine = [0] * 100
        barrier.wait()
        for index in range(100):
            if index == 50 and device in fails:
                race.failed(device, MemoryError(device))
                return
            if race.should_stop(device):
                race.stopped(device)
                return
            mine[index] = device + 1
        if race.finished(device):
            output[:] = mine

    threads = [threading.Thread(target=work, args=(device,)) for device in range(devices)]
    for one in threads:
        one.start()
    assert race.ended(10)
    for one in threads:
        one.join()
    assert race.over
    if len(fails) == devices:
        with pytest.raises(MemoryError):
            race.result()
        assert output == [0] * 100
    else:
        assert output == [race.result() + 1] * 100 and race.result() not in fails


def test_the_call_may_return_before_losers_have_stopped() -> None:
    race = Race(["cpu", "cuda:0"])
    assert not race.decided(0)
    assert race.finished(1)
    assert race.decided(0) and not race.ended(0) and not race.over
    assert race.should_stop(0) and not race.should_stop(1)
    assert str(race) == "cpu running, cuda:0 won"
    race.failed(0, MemoryError())
    assert race.over and race.result() == 1


def test_whoever_waits_is_woken() -> None:
    race = Race(2)
    threading.Timer(0.01, lambda: race.failed(0, OSError())).start()
    threading.Timer(0.02, lambda: race.finished(1)).start()
    assert race.decided(10) and race.winner == 1


def test_a_race_that_is_given_up_has_no_winner() -> None:
    race = Race(2)
    race.cancel()
    assert race.should_stop(0) and race.should_stop(1)
    assert not race.finished(0)
    race.stopped(1)
    assert race.states == ("lost", "stopped") and race.over
    with pytest.raises(RuntimeError, match="given up"):
        race.result()


def test_a_winner_stays_one_when_the_rest_is_given_up() -> None:
    race = Race(2)
    assert race.finished(0)
    race.cancel()
    assert race.result() == 0 and race.should_stop(1)


def test_nobody_stops_before_somebody_has_won() -> None:
    race = Race(["cpu", "cuda:0"])
    with pytest.raises(RuntimeError, match="cpu stopped, and nobody has won"):
        race.stopped(0)
    with pytest.raises(RuntimeError, match="yet"):
        race.result()


def test_a_device_ends_once() -> None:
    race = Race(["cpu", "cuda:0"])
    assert race.finished(0)
    for end in (lambda: race.finished(0), lambda: race.failed(0, OSError())):
        with pytest.raises(RuntimeError, match="cpu has won already"):
            end()
    with pytest.raises(ValueError, match="no device 2"):
        race.finished(2)
    with pytest.raises(ValueError, match="no device -1"):
        race.should_stop(-1)


def test_a_race_of_nobody_is_refused() -> None:
    for nobody in (0, []):
        with pytest.raises(ValueError, match="one device at least"):
            Race(nobody)


def test_asking_takes_no_lock() -> None:
    race = Race(2)
    with race._changed:
        started = time.perf_counter()
        asked = threading.Thread(target=race.should_stop, args=(0,))
        asked.start()
        asked.join(5)
        assert not asked.is_alive() and time.perf_counter() - started < 5
