"""The numbers that iterations are sorted by."""

from __future__ import annotations

import numpy as np

from loopwright.analysis.path_keys import CLASSES, key_of
from loopwright.analysis.path_vectors import PathEntry
from loopwright.ir.interp import evaluation

TRIPS = PathEntry("trips", "range(t[i])", frozenset({"t"}), None, "t")
MORE = PathEntry("trips", "range(u[i])", frozenset({"u"}), None, "u")
BRANCHES = tuple(PathEntry("branch", "a[i] > 0", frozenset({"a"}), None, f"b{k}") for k in range(9))


def key(entries: tuple[PathEntry, ...], *values: int) -> int:
    """The key of an iteration whose scalars have these values."""
    found = key_of(entries)
    assert found is not None
    names = (entry.scalar for entry in entries)
    return int(evaluation(found)({name: np.int64(value) for name, value in zip(names, values, strict=True)}))


def test_without_entries_there_is_no_key() -> None:
    assert key_of(()) is None


def test_longer_iterations_come_first() -> None:
    trips = [*range(70), 100, 1000, 10**6, 2**31, 2**40, 2**62]
    keys = [key((TRIPS,), t) for t in trips]
    assert keys == sorted(keys, reverse=True)
    assert keys[0] == CLASSES - 1 and keys[-1] == 0 and len(set(keys[:12])) == 12


def test_what_shares_a_class_differs_little() -> None:
    by_class: dict[int, list[int]] = {}
    for t in range(1, 5000):
        by_class.setdefault(key((TRIPS,), t), []).append(t)
    assert max(each[-1] / each[0] for each in by_class.values()) < 1.1


def test_several_loops_count_together() -> None:
    assert key((TRIPS, MORE), 30, 70) == key((TRIPS,), 100)


def test_branches_count_more_than_trips() -> None:
    taken = [key((TRIPS, BRANCHES[0]), t, 1) for t in (0, 1, 9, 10**6)]
    passed = [key((TRIPS, BRANCHES[0]), t, 0) for t in (0, 1, 9, 10**6)]
    assert max(passed) < CLASSES // 2 <= min(taken) and max(taken) < CLASSES
    assert taken == sorted(taken, reverse=True)


def test_each_way_through_branches_has_its_key() -> None:
    ways = [key(BRANCHES[:2], *way) for way in ((0, 0), (0, 1), (1, 0), (1, 1))]
    assert ways == [0, 1, 2, 3]
    assert key((*BRANCHES[:2], TRIPS), 0, 0, 0) == 63  # which order they stand in does not matter


def test_what_does_not_fit_is_left_out() -> None:
    for entries in (BRANCHES, (*BRANCHES, TRIPS)):
        for value in (0, 1, 2**40):
            assert 0 <= key(entries, *(min(value, 1) for _ in BRANCHES), *[value] * (len(entries) - 9)) < CLASSES
    assert key(BRANCHES, *[0] * 8, 1) == key(BRANCHES, *[0] * 9)
