"""What an iteration hands on in a scalar: where it is, and that results are Python's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw


def subsequence(a: Any, b: Any, t: Any) -> None:
    for i in range(1, t.shape[0]):
        for j in range(1, t.shape[1]):
            if a[i - 1] == b[j - 1]:
                t[i, j] = t[i - 1, j - 1] + 1
            else:
                t[i, j] = max(t[i - 1, j], t[i, j - 1])


def distances(a: Any, b: Any, t: Any) -> None:
    for i in range(t.shape[0]):
        for j in range(t.shape[1]):
            if i < len(a) and j < len(b) and a[i] == b[j]:
                t[i, j] = 0
            else:
                t[i, j] = 99
                if i > 0:
                    t[i, j] = min(t[i, j], t[i - 1, j] + 1)
                if j > 0:
                    t[i, j] = min(t[i, j], t[i, j - 1] + 1)


def reached(a: Any, b: Any, t: Any) -> None:
    """Most iterations write nothing, and wait for none."""
    for i in range(1, t.shape[0]):
        for j in range(1, t.shape[1]):
            if t[i, j - 1] > t[i, j] + 1:
                t[i, j] = t[i, j - 1]


def in_steps(a: Any, b: Any, t: Any) -> None:
    """Of a size that the call tells."""
    for i in range(1, t.shape[0]):
        for j in range(1, t.shape[1], len(a) + 1):
            if t[i, j] > 1:
                t[i, j] = t[i, j - 1]
            else:
                t[i, j] = 5


def one_number(a: Any, b: Any, t: Any) -> None:
    """The C compiler keeps it in a register itself."""
    for i in range(1, t.shape[0]):
        for j in range(1, t.shape[1]):
            t[i, j] = t[i, j - 1] // 2 + t[i - 1, j]


def down(a: Any, b: Any, t: Any) -> None:
    """The element of a row before lies as far off as the call tells."""
    before = 0
    for j in range(1, t.shape[1]):
        for i in range(1, t.shape[0]):
            before = before % 5 + t[i, j]
            t[i, j] = t[i - 1, j] // 2 + t[i, j - 1] + before


@pytest.mark.parametrize(("function", "element", "carried"), [
    (subsequence, np.int32, True),
    (subsequence, np.int64, False),  # one choice, without a jump
    (distances, np.int64, True),
    (reached, np.int64, False),
    (in_steps, np.int32, False),
    (one_number, np.int64, False),
    (down, np.int64, True),
])  # fmt: skip
def test_which_elements_are_carried(function: Any, element: Any, carried: bool) -> None:
    rng = np.random.default_rng(3)
    kernel = lw.kernel(function)
    for n, m in ((1, 1), (2, 9), (12, 17)):
        a, b = (rng.integers(0, 3, k - 1).astype(np.int8) for k in (n, m))
        mine = rng.integers(0, 4, (n, m)).astype(element)
        pythons = mine.copy()
        kernel(a, b, mine)
        function(a, b, pythons)
        np.testing.assert_array_equal(mine, pythons)
    assert ("carry t" in str(kernel.explain(a, b, mine).to_dict()["schedule"])) == carried


def smooth(x: Any) -> None:
    for i in range(1, len(x)):
        x[i] = 0.5 * x[i - 1] + x[i]


def test_elements_with_a_stride_are_carried() -> None:
    kernel = lw.kernel(smooth)
    for part, carried in ((slice(None, None, 3), True), (slice(None, None, -1), True), (slice(0, 6), False)):
        mine, pythons = np.arange(20.0), np.arange(20.0)
        kernel(mine[part])
        smooth(pythons[part])
        np.testing.assert_array_equal(mine, pythons)
        assert ("carry x i again" in kernel.explain(mine[part]).schedule) == carried
