"""Chunks for whoever is free: every iteration exactly once, whatever the order in which devices ask, fail and end."""

from __future__ import annotations

import heapq
import random
import threading
import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.placement.guided import PROBE, Guided

DOMAINS = st.builds(
    lambda start, size, step: range(start, start + size * step, step),
    st.integers(-50, 50),
    st.integers(0, 3000),
    st.sampled_from([1, 1, 2, -1, -3]),
)


def triangle(part: range) -> float:
    return float(sum(map(abs, part)))


def serve(
    guided: Guided, rates: Sequence[float], fixed: Sequence[float] | None = None, late: Sequence[float] | None = None
) -> list[float]:
    """Devices in virtual time, which take `fixed` for a chunk and 1 / rate for an iteration, and begin at `late`: when
    each ends."""
    ends = list(late or [0.0] * len(rates))
    waiting = [(at, device) for device, at in enumerate(ends)]
    told: dict[int, float | None] = {}
    heapq.heapify(waiting)
    while waiting:
        now, device = heapq.heappop(waiting)
        part = guided.take(device, told.get(device))
        if part is None:
            continue
        took = len(part) / rates[device] + (fixed[device] if fixed else 0.0)
        told[device] = len(part) / took
        ends[device] = now + took
        heapq.heappush(waiting, (ends[device], device))
    return ends


@given(DOMAINS, st.integers(1, 70), st.integers(1, 40), st.integers(0, 2**32), st.booleans())
def test_every_iteration_once_in_any_order(
    iterations: range, multiple: int, smallest: int, seed: int, counting: bool
) -> None:
    draw = random.Random(seed)
    devices = draw.randint(1, 4)
    guided = Guided(iterations, multiple, smallest, devices=devices, count=triangle if counting else None)
    alive, held, done = list(range(devices)), {}, []
    while guided.left or held:
        device = draw.choice(alive)
        if device in held:
            part = held.pop(device)
            if draw.random() < 0.1 and len(alive) > 1:  # it dies with its chunk half done
                half = draw.randint(0, len(part))
                done += part[:half]
                guided.give_back(part[half:])
                alive.remove(device)
            else:
                done += part
            continue
        part = guided.take(device, draw.choice([None, draw.uniform(0.01, 100)]))
        if part is not None:
            assert part
            held[device] = part
        elif not held and len(alive) > 1:
            alive.remove(device)  # whoever gets nothing leaves; somebody stays
    assert sorted(done) == sorted(iterations)
    assert sum(len(part) for device in range(devices) for part in guided.parts(device)) == len(iterations)
    assert sum(map(guided.taken, range(devices))) == len(iterations)


@pytest.mark.parametrize("seed", range(4))
def test_every_iteration_once_with_threads(seed: int) -> None:
    size, devices = 20_000, 4
    guided, done = Guided(range(size), 8, devices=devices), bytearray(size)
    again = threading.Lock()

    def work(device: int) -> None:
        draw, rate = random.Random(seed * devices + device), None
        while (part := guided.take(device, rate)) is not None:
            if device and draw.random() < 0.05:
                guided.give_back(part)
                return
            for one in part:
                with again:
                    done[one] += 1
            time.sleep(draw.random() * 1e-4)
            rate = len(part) / draw.uniform(1, 10)

    threads = [threading.Thread(target=work, args=(device,)) for device in range(devices)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    work(0)  # whoever lives does what is left
    assert guided.left == 0 and done == b"\x01" * size


@pytest.mark.parametrize("rates", [(1, 1), (1, 3), (1, 10), (5, 1), (1, 4, 4), (2, 3, 5, 7), (1,)])
def test_devices_end_together(rates: Sequence[float]) -> None:
    guided = Guided(range(100_000), smallest=16, devices=len(rates))
    ends = serve(guided, rates)
    assert max(ends) <= 100_000 / sum(rates) * 1.03
    assert sum(map(guided.chunks, range(len(rates)))) < 40 * len(rates)


def test_a_slow_device_is_waited_for_no_longer_than_its_probe_takes() -> None:
    assert max(serve(Guided(range(64_000), smallest=64), (1, 0.02))) <= 64_000
    ends = serve(Guided(range(64_000), smallest=64), (1, 0.001))
    assert ends[0] <= 64_000 and ends[1] == pytest.approx(64_000 * PROBE / 0.001)


def test_a_slow_device_gets_no_last_chunk() -> None:
    guided = Guided(range(10_000), smallest=1000)
    assert guided.take(0, 1.0) is not None and guided.take(1, 0.05) is not None
    while guided.left:
        assert guided.take(1, 0.05) is None or guided.left > 1000
        guided.take(0, 1.0)


@pytest.mark.parametrize("rates", [(1,) * 6, (1, 1, 1, 1, 1, 0.9), (1, 2, 3, 4, 5, 6, 7, 8)])
def test_somebody_always_takes_the_last_chunk(rates: Sequence[float]) -> None:
    guided = Guided(range(100), smallest=7, devices=len(rates))
    for _ in range(100):
        for device, rate in enumerate(rates):
            guided.take(device, rate)
    assert guided.left == 0


def test_whoever_is_the_only_one_to_ask_gets_all_in_the_end() -> None:
    """The fast device has gone because nothing was left; then a third one gives its chunk back."""
    guided = Guided(range(100), smallest=10, devices=3)
    part = guided.take(2, 1.0)
    assert part is not None
    while guided.take(1, 100.0) is not None:
        pass
    guided.give_back(part)
    for _ in range(10):
        guided.take(0, 0.01)
    assert guided.left == 0


def test_a_device_that_comes_late_finds_its_share() -> None:
    ends = serve(Guided(range(100_000), smallest=16), (1, 4), late=(0, 10_000))
    assert max(ends) <= (100_000 + 40_000) / 5 * 1.03


def test_a_fixed_cost_is_part_of_the_rate() -> None:
    ends = serve(Guided(range(100_000), smallest=1000), (1, 4), fixed=(0, 500))
    assert max(ends) < 100_000 / 5 * 1.4


def test_the_cpu_takes_from_the_low_end_and_two_devices_have_one_box_each() -> None:
    guided = Guided(range(10, 1010), 16)
    assert guided.take(0, None) == range(10, 26)
    assert guided.take(1, None) == range(986, 1010)  # ends where a multiple begins, from the first iteration on
    assert guided.take(0, 1.0) == range(26, 26 + 240)
    serve(guided, (1, 2))
    (low,), (high,) = guided.parts(0), guided.parts(1)
    assert low.start == 10 and low.stop == high.start and high.stop == 1010
    assert (low.stop - 10) % 16 == 0


def test_chunks_halve_towards_the_end() -> None:
    guided = Guided(range(1 << 12))
    sizes = [len(guided.take(0, 1.0) or ()) for _ in range(5)]
    assert sizes == [1024, 768, 576, 432, 324]  # half of the half that a device as fast as the other one gets


def test_one_device_gets_everything_at_once() -> None:
    guided = Guided(range(1000), devices=1)
    assert guided.take(0, None) == range(1000)
    assert guided.take(0, None) is None


def test_a_triangle_is_given_out_by_work() -> None:
    guided = Guided(range(10_000), count=triangle)
    low, high = guided.take(0, 1.0), guided.take(1, 1.0)
    assert low is not None and high is not None
    assert triangle(low) == pytest.approx(triangle(range(10_000)) / 4, rel=0.01)
    assert triangle(high) == pytest.approx(triangle(range(10_000)) * 3 / 16, rel=0.01)


def test_what_a_lost_device_had_goes_to_the_others() -> None:
    guided = Guided(range(100), smallest=10)
    part = guided.take(1, 1.0)
    assert part == range(75, 100)
    guided.give_back(part[5:])
    assert (guided.taken(1), guided.parts(1), guided.left) == (5, (range(75, 80),), 95)
    assert guided.take(0, 1.0) == range(75)  # it is alone now, and gets all that lies in one piece
    assert guided.take(0, 1.0) == range(80, 100)
    assert guided.take(0, 1.0) is None


def test_neighbours_that_are_given_back_become_one() -> None:
    guided = Guided(range(100))
    one, two = guided.take(0, 1.0), guided.take(0, 1.0)
    assert one is not None and two is not None
    guided.give_back(two, device_lost=False)
    guided.give_back(one, device_lost=False)
    assert guided.take(0, 1.0) == one


def test_a_device_that_asks_again_is_not_lost() -> None:
    guided = Guided(range(1000))
    part = guided.take(1, 1.0)
    assert part is not None
    guided.give_back(part)
    assert guided.take(1, 1.0) == part
    assert len(guided.take(0, 1.0) or ()) == 188


@pytest.mark.parametrize("part", [range(50, 60), range(40), range(0, 10, 2), range(-5, 5)])
def test_only_what_was_taken_comes_back(part: range) -> None:
    guided = Guided(range(100))
    assert guided.take(0, 1.0) == range(25)
    with pytest.raises(ValueError, match="not part of a chunk"):
        guided.give_back(part)
    guided.give_back(range(25))
    with pytest.raises(ValueError, match="not part of a chunk"):
        guided.give_back(range(25))
    guided.give_back(range(0))


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan"), float("inf")])
def test_a_rate_that_is_none_changes_nothing(rate: float) -> None:
    guided, told = Guided(range(1000)), Guided(range(1000))
    assert guided.take(0, 2.0) == told.take(0, 2.0)
    assert guided.take(0, rate) == told.take(0, 2.0)
    assert len(guided.take(1, rate) or ()) == pytest.approx(1000 * PROBE, abs=1)


@pytest.mark.parametrize("numbers", [{"multiple": 0}, {"smallest": 0}, {"devices": 0}])
def test_numbers_below_one_are_refused(numbers: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be above 0"):
        Guided(range(10), **numbers)


def test_no_iterations() -> None:
    guided = Guided(range(0))
    assert guided.take(0, None) is None and guided.left == 0 and guided.parts(0) == ()
