"""Features of row pointers."""

from __future__ import annotations

import numpy as np
import pytest

from loopwright.profile.features import MOST_ROWS, lengths_of_rows, row_features


def pointers(lengths: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def test_of_few_rows_all_are_looked_at() -> None:
    mean, spread, longest = lengths_of_rows(pointers(np.array([1, 2, 3, 10])))
    assert (mean, longest) == (4.0, 2.5) and spread == pytest.approx(np.std([1, 2, 3, 10]) / 4.0)


@pytest.mark.parametrize("array", [np.zeros(0, int), np.zeros(1, int)])
def test_no_row(array: np.ndarray) -> None:
    assert lengths_of_rows(array) == (0.0, 0.0, 0.0)


def test_empty_rows_and_rows_that_go_backward() -> None:
    assert lengths_of_rows(np.zeros(9, np.int32)) == (0.0, 0.0, 0.0)
    assert lengths_of_rows(np.array([0, 4, 2, 6]))[2] == 1.5
    assert lengths_of_rows(np.array([9, 5, 1], np.uint8)) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("seed", range(3))
def test_of_many_rows_a_part_says_the_same(seed: int) -> None:
    lengths = np.random.default_rng(seed).geometric(0.05, 1_000_000)
    mean, spread, _ = lengths_of_rows(pointers(lengths))
    assert mean == pytest.approx(lengths.mean()) and spread == pytest.approx(lengths.std() / lengths.mean(), rel=0.1)


def test_a_pattern_that_repeats_is_seen() -> None:
    lengths = np.tile([1, 1, 1, 29], 50_000)
    assert lengths_of_rows(pointers(lengths))[1:] == pytest.approx((np.std(lengths) / 8.0, 29 / 8.0))


def test_no_more_than_the_bound_is_read() -> None:
    class Counting(np.ndarray):
        def __getitem__(self, key: object) -> object:
            if isinstance(key, np.ndarray):
                read.append(key.size)
            return super().__getitem__(key)

    read: list[int] = []
    lengths_of_rows(pointers(np.full(10**6, 3)).view(Counting))
    assert 0 < sum(read) <= MOST_ROWS * 65 / 64


def test_every_call_has_as_many_features() -> None:
    rows = pointers(np.array([2, 2]))
    assert row_features((1.0, rows, [0, 2]), (1,)) == (2.0, 0.0, 1.0)
    assert row_features((1.0, rows, [0, 2]), (1, 2, 7)) == (2.0, 0.0, 1.0) + (0.0,) * 6
    assert row_features((rows.astype(float), rows[None, :]), (0, 1)) == (0.0,) * 6
    assert row_features((rows,), ()) == ()
    read_only = rows.copy()
    read_only.flags.writeable = False
    assert row_features((read_only[::1],), (0,)) == (2.0, 0.0, 1.0)
