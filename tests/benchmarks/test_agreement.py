"""A wrong result is found out, whoever computed it."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.agreement import judged, same, wrong
from benchmarks.results import WRONG
from benchmarks.timing import Race, Timing

RIGHT = {"a": np.array([1.0, 2.0, 1000.0])}


def changed(by: float, at: int = 0) -> dict[str, np.ndarray]:
    """RIGHT with one element moved."""
    array = RIGHT["a"].copy()
    array[at] += by
    return {"a": array}


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (RIGHT, True),
        (changed(5e-7), True),
        (changed(5e-5), False),
        (changed(5e-4, at=2), True),
        (changed(np.nan), False),
        ({"a": RIGHT["a"][:2]}, False),
    ],
)
def test_floats_agree_within_the_tolerance(other: dict[str, np.ndarray], expected: bool) -> None:
    assert same(RIGHT, other, 1e-6) is expected


def test_nan_does_not_agree_with_itself() -> None:
    assert not same(changed(np.inf), changed(np.inf), 1e-6)


def test_integers_agree_exactly_or_not_at_all() -> None:
    big = {"a": np.array([10**9, 0])}
    assert same(big, big, 1e-6)
    assert not same(big, {"a": np.array([10**9 + 1, 0])}, 1e-6)


def test_every_array_counts() -> None:
    assert not same({**RIGHT, "b": np.zeros(2)}, {**RIGHT, "b": np.ones(2)}, 1e-6)


def test_the_one_who_stands_alone_is_wrong() -> None:
    assert wrong({"w": RIGHT, "x": changed(1.0), "y": RIGHT, "z": RIGHT}, 1e-6) == {"x"}
    assert wrong({"w": RIGHT, "x": RIGHT}, 1e-6) == frozenset()


def test_where_two_differ_nobody_is_believed() -> None:
    assert wrong({"w": RIGHT, "x": changed(1.0)}, 1e-6) == {"w", "x"}
    assert wrong({"w": RIGHT, "x": changed(1.0), "y": changed(1.0), "z": RIGHT}, 1e-6) == set("wxyz")


def test_only_the_right_ones_get_a_time() -> None:
    timing = Timing((2.0, 4.0))
    results = {"w": RIGHT, "x": changed(1.0), "y": RIGHT}
    race = Race(dict.fromkeys(results, timing), results, {"z": "ValueError: late"})
    cells = judged(race, 1e-6, {"w": 0.5}, {"v": "TypeError: early"})
    assert {name: cell.fault for name, cell in cells.items()} == {
        "w": "", "x": WRONG, "y": "", "z": "ValueError: late", "v": "TypeError: early",
    }  # fmt: skip
    assert (cells["w"].median_s, cells["w"].first_call_s, cells["x"].median_s) == (3.0, 0.5, None)
