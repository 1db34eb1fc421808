"""Parts of one loop for several devices: all iterations exactly once, balanced, and never worse than one device."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.placement.split import BALANCED, LEAST, Partitioning, Time, partition

MS = 1e6


def affine(fixed_ns: float, each_ns: float) -> Time:
    return lambda part: fixed_ns + each_ns * len(part)


def saw(wave_ns: float, wave: int, fixed_ns: float = 0.0) -> Time:
    """Blocks run `wave` at once, and the last wave is as long as a full one."""
    return lambda part: fixed_ns + wave_ns * -(-len(part) // wave)


def triangle(part: range) -> int:
    """Iterations of `for j in range(i)`."""
    return sum(part) if part.step == 1 and part.start >= 0 else sum(map(abs, part))


def counted(fixed_ns: float, each_ns: float, count: Callable[[range], float]) -> Time:
    return lambda part: fixed_ns + each_ns * count(part)


def assert_exactly_once(found: Partitioning, iterations: range) -> None:
    assert [one for part in found.parts for one in part] == list(iterations)
    for step in found.steps:
        assert [one for part in step.parts for one in part] == list(iterations)


CURVES = st.one_of(
    st.builds(affine, st.floats(0, 1e6), st.floats(0.01, 1e4)),
    st.builds(saw, st.floats(1, 1e5), st.integers(1, 300), st.floats(0, 1e6)),
    st.builds(counted, st.floats(0, 1e6), st.floats(0.01, 1e4), st.just(triangle)),
    st.builds(lambda at, one: lambda part: math.inf if len(part) > at else one(part), st.integers(0, 500),
              st.builds(affine, st.floats(0, 1e6), st.floats(0.01, 1e4))),
    st.builds(lambda seed: lambda part: float(hash((seed, part)) % 1000), st.integers()),  # no curve at all
    st.sampled_from([lambda _: math.nan, lambda _: -1.0, lambda _: math.inf, lambda _: 0.0]),
)  # fmt: skip
DOMAINS = st.builds(
    lambda start, size, step: range(start, start + size * step, step),
    st.integers(-50, 50),
    st.integers(0, 2000),
    st.sampled_from([1, 1, 1, 3, -1]),
)


@given(DOMAINS, st.lists(CURVES, min_size=1, max_size=5), st.integers(1, 70), st.floats(0, 1), st.booleans())
def test_every_iteration_once_and_never_worse_than_one_device(
    iterations: range, times: Sequence[Time], multiple: int, least: float, counting: bool
) -> None:
    found = partition(iterations, times, count=triangle if counting else None, multiple=multiple, least=least)
    assert len(found.parts) == len(found.times_ns) == len(times)
    assert_exactly_once(found, iterations)
    if not iterations:
        assert (found.makespan_ns, found.imbalance) == (0.0, 0.0)
        return
    for time in times:
        alone = time(iterations)
        assert found.makespan_ns <= alone or not alone >= 0
    assert found.makespan_ns == min(step.makespan_ns for step in found.steps)
    assert 0 <= found.imbalance <= 1
    for part, took, time in zip(found.parts, found.times_ns, times, strict=True):
        asked = time(part) if part else 0.0
        assert took == (asked if asked >= 0 else math.inf)


@given(st.integers(1, 5000), st.integers(2, 5), st.integers(2, 64))
def test_parts_begin_at_multiples_where_there_are_enough(size: int, devices: int, multiple: int) -> None:
    found = partition(range(7, 7 + size), [affine(0, 1)] * devices, multiple=multiple)
    if size >= devices * multiple:
        assert all((part.start - 7) % multiple == 0 for part in found.parts if part)
    elif size >= 2 * devices:
        assert len(found.devices) > 1  # a multiple that is too large does not keep devices out


def test_affine_devices_are_balanced_in_few_steps() -> None:
    """The notes' example: a GPU that needs half a second before it begins."""
    found = partition(range(100_000), [affine(0, 100_000), affine(500 * MS, 10_000)])
    steps = [step for step in found.steps if step.why.startswith("step")]
    assert len(steps) <= 8 and found.imbalance <= BALANCED
    share = (100_000 * 10_000 + 500 * MS) / 110_000  # c x = f + g (n - x)
    assert len(found.parts[0]) == pytest.approx(share, rel=0.005)


def test_a_device_20_times_slower_is_left_out_at_the_first_step() -> None:
    found = partition(range(1000), [affine(0, 10), affine(0, 200)])
    assert found.parts == (range(1000), range(1000, 1000))
    assert found.why == "device 0 alone"
    assert [step.why for step in found.steps] == ["device 0 alone", "device 1 alone", "step 1: equal parts"]


@pytest.mark.parametrize(("slower", "devices"), [(9, (0, 1)), (11, (0,))])
def test_a_device_is_left_out_below_a_tenth_of_the_largest_part(slower: int, devices: tuple[int, ...]) -> None:
    times = [affine(0, 10), affine(0, 10 * slower)]
    assert partition(range(100_000), times).devices == devices
    assert partition(range(100_000), times, least=0).devices == (0, 1)
    assert partition(range(100_000), times, least=0.5).devices == (0,)
    assert LEAST == 0.10


def test_the_cpu_may_be_left_out_and_gets_no_remainder() -> None:
    found = partition(range(1001), [affine(0, 1000), affine(0, 10), affine(0, 10)])
    assert found.parts[0] == range(0) and found.devices == (1, 2)


def test_on_a_saw_the_best_is_taken_not_the_last() -> None:
    """By brute force over all cuts, the result is within half a percent of the best there is."""
    cpu, gpu = affine(0, 1000), saw(250_000, 1000, 20_000)
    for size in (3000, 5500, 7777, 10_000, 20_000):
        cuts = [max(cpu(range(cut)) if cut else 0, gpu(range(cut, size)) if cut < size else 0) for cut in range(size)]
        found = partition(range(size), [cpu, gpu])
        assert found.makespan_ns <= min(cuts) * (1 + 2 * BALANCED), size
        assert len(found.steps) <= 2 + 15 + 1


def test_two_saws_and_a_line() -> None:
    times = [affine(0, 900), saw(200_000, 512), saw(150_000, 320)]
    found = partition(range(12_345), times)
    assert_exactly_once(found, range(12_345))
    best = min(
        max(times[0](range(a)), times[1](range(a, b)), times[2](range(b, 12_345)))
        for a in range(1, 12_345, 61)
        for b in range(a, 12_345, 61)
    )
    assert found.makespan_ns <= best * 1.02


def test_a_triangle_is_cut_by_its_area() -> None:
    times = [counted(0, 5, triangle)] * 2
    found = partition(range(10_000), times, count=triangle)
    assert len(found.parts[0]) == pytest.approx(10_000 / math.sqrt(2), rel=0.001)
    assert found.imbalance < 0.01


def test_a_triangle_whose_times_know_nothing_of_it_is_balanced_all_the_same() -> None:
    found = partition(range(4000), [counted(0, 5, triangle), counted(1000, 15, triangle)])
    assert found.imbalance <= 0.01
    assert triangle(found.parts[0]) / triangle(range(4000)) == pytest.approx(0.75, abs=0.01)


def test_rows_without_iterations_inside() -> None:
    found = partition(range(100), [affine(0, 1), affine(0, 1)], count=lambda part: 0)
    assert [len(part) for part in found.parts] == [50, 50]


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_fewer_iterations_than_devices(size: int) -> None:
    times = [affine(0, 400), affine(0, 100), affine(0, 300), affine(0, 100)]
    found = partition(range(5, 5 + size), times)
    assert_exactly_once(found, range(5, 5 + size))
    assert found.makespan_ns == {0: 0, 1: 100, 2: 100, 3: 200}[size]  # 200: the others would take 300 or 400


def test_what_does_not_fit_a_device_goes_elsewhere() -> None:
    """Memory for 100 iterations: by itself it cannot run the loop at all, and in parts it can."""
    small = affine(0, 10)
    found = partition(range(400), [affine(0, 30), lambda part: math.inf if len(part) > 100 else small(part)])
    assert found.devices == (0, 1) and 90 <= len(found.parts[1]) <= 100


def test_nothing_is_known_of_any_device() -> None:
    found = partition(range(10), [lambda _: math.nan, lambda _: math.inf])
    assert_exactly_once(found, range(10))
    assert found.devices == (0,) and found.makespan_ns == math.inf


def test_equals_go_to_fewer_devices() -> None:
    constant = affine(100, 0)
    assert partition(range(10), [constant, constant, constant]).devices == (0,)


def test_steps_are_registered_with_the_times_of_their_own_sizes() -> None:
    times = [affine(0, 10), affine(300, 25)]
    for step in partition(range(999), times).steps:
        assert step.times_ns == tuple(time(part) if part else 0.0 for part, time in zip(step.parts, times, strict=True))


def test_imbalance_is_the_part_that_the_first_to_end_waits() -> None:
    found = partition(range(3), [affine(0, 10), affine(0, 10)])
    assert found.makespan_ns == 20 and found.imbalance == 0.5
    assert partition(range(3), [affine(0, 10)]).imbalance == 0


def test_parts_are_monotone_in_speed() -> None:
    sizes = [len(partition(range(10_000), [affine(0, 100), affine(0, each)]).parts[1]) for each in (400, 200, 100, 50)]
    assert all(a < b for a, b in pairwise(sizes))


@pytest.mark.parametrize(
    "wrong", [{"times": []}, {"least": -0.1}, {"least": 1.1}, {"least": math.nan}, {"multiple": 0}, {"steps": 0}]
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"at least|must lie"):
        partition(range(10), **{"times": [affine(0, 1)], **wrong})  # type: ignore[arg-type]
