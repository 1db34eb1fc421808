"""Arguments of a call made larger or smaller."""

from __future__ import annotations

import numpy as np
import pytest

from loopwright.ir.signature import Shape
from loopwright.tuning import scaled as scaling
from loopwright.tuning.arguments import restore, save
from loopwright.tuning.scaled import scaled


def product(m: int, n: int, k: int) -> tuple[object, ...]:
    return np.zeros((m, n)), np.arange(float(m * k)).reshape(m, k), np.ones((k, n), order="F"), 1.5, True


def sizes(given: tuple[object, ...], *how: object) -> tuple[int, ...]:
    found = scaled(save(given), *how)  # type: ignore[arg-type]
    assert found is not None
    made = [one for one in restore(found[0]).arguments if isinstance(one, np.ndarray)]
    assert sum((one.shape for one in made), ()) == found[1].sizes
    return found[1].sizes


def test_all_sizes_grow_alike() -> None:
    assert sizes(product(100, 40, 60), 2.0) == (200, 80, 200, 120, 120, 80)


def test_sizes_near_one_another_keep_their_distance_and_small_ones_stay() -> None:
    given = np.zeros((100, 3)), np.zeros(101), 102, np.int32(5)
    found = scaled(save(given), 0.5)
    assert found is not None and found[1] == Shape((50, 3, 51, 52, 5))
    assert [type(one) for one in restore(found[0]).arguments[2:]] == [int, np.int32]


def test_some_sizes_grow_apart_though_all_are_equal() -> None:
    assert sizes(product(64, 64, 64), 1.0, {3, 4}, 2.0) == (64, 64, 64, 128, 128, 64)
    assert sizes(product(64, 64, 64), 0.5, {3, 4}, 2.0) == (32, 32, 32, 128, 128, 32)


def test_at_one_they_stay_what_they_were() -> None:
    given = product(64, 48, 20)
    found = scaled(save(given), 1.0, {3, 4}, 1.0)
    assert found is not None
    for one, other in zip(restore(found[0]).arguments, given, strict=True):
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))


def test_layouts_stay() -> None:
    found = scaled(save(product(64, 48, 20)), 3.0)
    assert found is not None
    c, _, b, *rest = restore(found[0]).arguments
    assert isinstance(c, np.ndarray) and c.flags.c_contiguous
    assert isinstance(b, np.ndarray) and b.flags.f_contiguous and rest == [1.5, True]


MEMORY = np.zeros(64)


@pytest.mark.parametrize(
    "given",
    [
        (np.zeros(64, int),),
        (MEMORY[:40], MEMORY[32:]),
        (MEMORY, MEMORY),
        (np.zeros((64, 64))[::2],),
        (np.zeros(0),),
    ],
)
def test_what_cannot_be_made_up(given: tuple[object, ...]) -> None:
    assert scaled(save(given), 2.0) is None


def test_what_would_be_too_large_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling, "MOST_BYTES", 3 * 64 * 64 * 8)
    assert scaled(save(product(64, 64, 64)), 1.0) is not None
    assert scaled(save(product(64, 64, 64)), 1.0, {3, 4}, 1.1) is None
    assert scaled(save(product(64, 64, 64)), 1e30) is None
