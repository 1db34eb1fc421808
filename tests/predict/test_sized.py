"""Models of time over how much there is to do: exact where the truth is a sum of costs, at what was measured, and with
errors that grow with the distance. Whole stores are test_model.py's."""

from __future__ import annotations

import math

import numpy as np
import pytest

from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.predict.estimates import EXTRAPOLATED, INTERPOLATED
from loopwright.predict.evidence import Evidence, MeasuredShape
from loopwright.predict.sized import MOST_SITES, UNTRIED, Sized
from loopwright.profile.measurement import Work

A, B, GPU = Variant("cpu", "a", 2), Variant("cpu", "b", 2), Variant("cuda")


def work(n: float, copied: float = 0.0) -> Work:
    return Work(n * n, n, n, 8.0 * n * n, copied, 0.0)


def site(n: int, time_ns: float, noise: float = 0.003, swing: float = 0.01, copied: float = 0.0) -> MeasuredShape:
    return MeasuredShape(Shape((n,)), work(n, copied), time_ns, noise, swing)


def linear(n: float) -> float:
    return 1000.0 + 2.0 * n * n


def evidence(*sites: MeasuredShape, variant: Variant = A) -> Evidence:
    return Evidence(variant, sites)


def at(models: Sized, n: float, copied: float = 0.0) -> tuple[list[float], list[float], list[int]]:
    times, errors, hows = models.at(Shape((int(n),)), work(n, copied))
    return times.tolist(), errors.tolist(), hows.tolist()


SIZES = (16, 32, 64, 128, 256, 512, 1024)
LINEAR = evidence(*(site(n, linear(n)) for n in SIZES))


def test_a_sum_of_costs_is_found_between_and_beyond() -> None:
    models = Sized([(LINEAR, None)])
    for n in (20, 100, 700):
        [time], [error], [how] = at(models, n)
        assert time == pytest.approx(linear(n), rel=0.03) and how == INTERPOLATED and error < 0.1
    [time], _, [how] = at(models, 4096)
    assert time == pytest.approx(linear(4096), rel=0.05) and how == EXTRAPOLATED
    assert at(models, 8)[2] == [EXTRAPOLATED]


def test_a_step_that_no_cost_says_is_followed() -> None:
    def time(n: int) -> float:
        return linear(n) * (3 if n > 128 else 1)

    models = Sized([(evidence(*(site(n, time(n)) for n in SIZES)), None)])
    for n in SIZES:
        assert at(models, n)[0] == [pytest.approx(time(n), rel=0.05)]


def test_errors_grow_with_the_distance_and_with_what_swings() -> None:
    models = Sized([(LINEAR, None)])
    errors = [at(models, n)[1][0] for n in (1024, 1400, 5000, 50_000)]
    assert errors == sorted(errors) and errors[0] < errors[-1]
    wild = evidence(*(site(n, linear(n), swing=0.3) for n in SIZES), variant=B)
    _, [calm, restless], _ = at(Sized([(LINEAR, None), (wild, None)]), 64)
    assert restless > calm + 0.3


def test_one_site_has_the_error_that_is_assumed() -> None:
    models = Sized([(evidence(site(64, 5000.0)), None)])
    [time], [error], _ = at(models, 64)
    assert time == pytest.approx(5000) and error < UNTRIED
    assert math.isnan(models.left_out_errors[0])
    [far], [error], [how] = at(models, 64 * math.e)
    assert error == pytest.approx(UNTRIED * math.sqrt(math.sqrt(1 + 1 + 4)), rel=0.05)  # of three logarithms
    assert far == pytest.approx(5000 * math.e**2, rel=0.2) and how == EXTRAPOLATED


def test_what_is_left_out_is_missed_by_little_where_costs_say_all() -> None:
    rough = evidence(*(site(n, linear(n) * (1.5 if k % 2 else 1.0)) for k, n in enumerate(SIZES)), variant=B)
    smooth, uneven = Sized([(LINEAR, None), (rough, None)]).left_out_errors
    assert smooth < 0.05 < uneven


def test_variants_side_by_side_are_as_alone() -> None:
    """Whether they were measured at the same sites or at others."""
    twice = evidence(*(site(n, 2 * linear(n)) for n in SIZES), variant=B)
    fewer = evidence(*(site(n, 3 * linear(n)) for n in SIZES[::2]), variant=B)
    for other in (twice, fewer):
        both = Sized([(LINEAR, None), (other, None)])
        for n in (20, 100, 3000):
            alone = [at(Sized([(one, None)]), n) for one in (LINEAR, other)]
            times, _, hows = at(both, n)
            assert times == pytest.approx([one[0][0] for one in alone], rel=1e-6)
            assert hows == [one[2][0] for one in alone]


def test_inside_is_told_of_each_variants_own_sites() -> None:
    small = evidence(*(site(n, linear(n)) for n in SIZES[:3]), variant=B)
    models = Sized([(LINEAR, None), (small, None)])
    assert at(models, 512)[2] == [INTERPOLATED, EXTRAPOLATED] and at(models, 32)[2] == [INTERPOLATED] * 2


def test_how_far_it_is_to_a_variants_own_sites() -> None:
    rough = [linear(n) * (1.3 if k % 2 else 1.0) for k, n in enumerate(SIZES)]
    every = evidence(*(site(n, time) for n, time in zip(SIZES, rough, strict=True)))
    fewer = evidence(*every.sites[::2], variant=B)
    models = Sized([(every, None), (fewer, None)])
    [first, other], [later, same] = at(models, 32)[1], at(models, 64)[1]
    assert first == pytest.approx(later) and other > 1.5 * same


def test_sites_of_the_same_work_are_one() -> None:
    times = (90.0, 100.0, 100.0 * 100 / 90)
    models = Sized([(evidence(*(site(64, time) for time in times)), None)])
    assert at(models, 64)[0] == [pytest.approx(100)] and math.isnan(models.left_out_errors[0])


def test_of_many_sites_the_far_apart_ones_are_kept() -> None:
    sizes = np.geomspace(16, 4096, 3 * MOST_SITES).astype(int)
    models = Sized([(evidence(*(site(int(n), linear(n)) for n in sizes)), None)])
    for n in (16, 100, 4000):
        [time], _, [how] = at(models, n)
        assert time == pytest.approx(linear(n), rel=0.03) and how == INTERPOLATED


def test_arrays_are_new_ones() -> None:
    models = Sized([(LINEAR, None)])
    for part in models.at(Shape((64,)), work(64)):
        part[...] = 0
    assert at(models, 64)[0] == [pytest.approx(linear(64), rel=0.02)] and at(models, 64)[2] == [INTERPOLATED]


def test_no_work_and_no_end_of_it() -> None:
    models = Sized([(LINEAR, None)])
    for one in (Work(), Work(1e30, 1e15, 1e15, 1e30)):
        times, errors, _ = models.at(Shape((1,)), one)
        assert np.isfinite(times).all() and np.isfinite(errors).all() and (times >= 0).all()


def test_nothing() -> None:
    assert Sized([]).left_out_errors == []


# ---- copies ---------------------------------------------------------------------------------------------------------


class Fixed:
    """A byte takes a nanosecond."""

    def time_ns(self, to_device_bytes: float, to_host_bytes: float) -> float:
        return to_device_bytes + to_host_bytes


def test_known_copies_are_no_part_of_a_devices_own_time() -> None:
    sites = [site(n, linear(n) + 8.0 * n * n, copied=8.0 * n * n) for n in SIZES]
    models = Sized([(Evidence(GPU, tuple(sites)), Fixed())])
    for copied in (0.0, 8.0 * 64 * 64):
        assert at(models, 64, copied)[0] == [pytest.approx(linear(64), rel=0.05)]


def test_where_copies_are_not_known_they_are_a_cost() -> None:
    sites = [site(n, linear(n) + 8.0 * n * n * part, copied=8.0 * n * n * part) for n in SIZES for part in (0, 1)]
    models = Sized([(Evidence(GPU, tuple(sites)), None)])
    for part in (0, 1):
        wanted = linear(64) + 8.0 * 64 * 64 * part
        assert at(models, 64, 8.0 * 64 * 64 * part)[0] == [pytest.approx(wanted, rel=0.05)]
