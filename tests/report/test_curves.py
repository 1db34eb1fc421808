"""Sizes, curves, regions and where curves meet."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.ir.signature import Shape
from loopwright.predict.model import models_of
from loopwright.profile.measurement import Work
from loopwright.report.curves import (
    MOST_SIZES,
    crossings,
    curves_of,
    fastest,
    latest,
    regions_of,
    sizes_of,
    thinned,
    works_of,
)
from report.stored import CPU, DEFAULT, ONE_THREAD, SIZES, TILED, WRONG, row, rows

ON_CPU = [one for one in rows() if one.machine == CPU.fingerprint]


def works(*sizes: tuple[int, ...], iterations: float = 0.0, footprint: float = 0.0) -> dict[Shape, Work]:
    return {Shape(one): Work(iterations * sum(one), footprint_bytes=footprint * sum(one)) for one in sizes}


@pytest.mark.parametrize(
    ("found", "word", "values"),
    [
        (works((4, 4), (8, 8)), "n", [4, 8]),
        (works((4, 3), (8, 3)), "n", [4, 8]),
        (works((7, 7)), "n", [7]),
        (works((4, 9), (8, 7), iterations=2), "iterations", [26, 30]),
        (works((4, 9), (8, 7), footprint=8), "bytes", [104, 120]),
        (works((4, 9), (8, 7)), "product", [36, 56]),
        (works((4,), (8, 7)), "product", [4, 56]),
        (works(()), "product", [1]),
    ],
)
def test_what_stands_for_the_size(found: dict[Shape, Work], word: str, values: list[float]) -> None:
    sizes = sizes_of(found)
    assert (sizes.word, list(sizes.of.values())) == (word, values)


def test_the_newest_measurement_counts_and_failures_are_no_times() -> None:
    found = latest(
        [row(DEFAULT, 64, 5.0, made_at=1.0), row(DEFAULT, 64, 7.0, made_at=2.0), row(WRONG, 64, 9.0, outcome="wrong")]
    )
    sizes = sizes_of(works_of(found.values()))
    assert curves_of(found, sizes) == {DEFAULT: ((64.0, 7.0),)}


def test_regions_are_what_calls_would_choose() -> None:
    of = works_of(ON_CPU)
    sizes = sizes_of(of)
    small, large = regions_of(models_of(ON_CPU), of, sizes)
    assert (small.variant, small.first, small.last) == (ONE_THREAD, 64, 64)
    assert (large.variant, large.first, large.last) == (TILED, 128, 1024)
    assert small.high == large.low == pytest.approx((64 * 128) ** 0.5)


def test_a_tie_goes_to_the_default_as_in_calls() -> None:
    found = [one for n in SIZES for one in (row(TILED, n, n**3 * 1.0), row(DEFAULT, n, n**3 * 1.005))]
    of = works_of(found)
    [region] = regions_of(models_of(found), of, sizes_of(of))
    assert region.variant == DEFAULT


def test_no_measurement_no_region() -> None:
    assert regions_of(models_of([]), {}, sizes_of({})) == ()


def test_long_curves_are_thinned_and_keep_their_ends() -> None:
    long = tuple((float(x), 1.0) for x in range(1000))
    assert len(thinned(long)) == MOST_SIZES
    assert (thinned(long)[0], thinned(long)[-1]) == (long[0], long[-1])


def test_the_fastest_of_several_curves() -> None:
    assert fastest([((1.0, 5.0), (2.0, 5.0)), ((2.0, 4.0), (3.0, 9.0))]) == ((1.0, 5.0), (2.0, 4.0), (3.0, 9.0))


def test_where_curves_meet() -> None:
    rising, flat = ((1.0, 1.0), (100.0, 100.0)), ((1.0, 10.0), (100.0, 10.0))
    assert crossings(rising, flat) == ((pytest.approx(10.0), True),)
    assert crossings(flat, rising) == ((pytest.approx(10.0), False),)
    assert crossings(rising, rising) == crossings(rising, ()) == ()
    assert crossings(rising, ((200.0, 1.0), (300.0, 1.0))) == ()  # never measured at the same sizes
    there_and_back = ((1.0, 1.0), (10.0, 100.0), (100.0, 1.0))
    assert [gpu for _, gpu in crossings(there_and_back, flat)] == [True, False]


def test_work_that_is_known_beats_zeros() -> None:
    known = row(DEFAULT, 64, 5.0)
    of = works_of([replace(known, work=Work()), known, replace(known, work=Work())])
    assert of[known.shape] == known.work


def test_the_default_is_the_one_of_all_threads() -> None:
    found = [one for n in SIZES for one in (row(ONE_THREAD, n, n**3 * 1.0), row(DEFAULT, n, n**3 * 1.005))]
    of = works_of(found)
    assert [region.variant for region in regions_of(models_of(found), of, sizes_of(of))] == [DEFAULT]
