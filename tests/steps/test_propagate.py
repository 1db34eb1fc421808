"""Sizes for which alone a kernel runs are numbers in it; other calls still raise what Python raises."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from loopwright.ir.interp import interpret
from loopwright.ir.text import print_kernel
from loopwright.steps.propagate import Propagate
from steps.kernels import known
from steps.pictures import check_picture
from steps.same import after, refusal

FIXED = """
kernel sums(p: float64[2] C, q: float64[2] C, o: float64[1] C):
    var t: int64
    t = checked(0, size(p, 1) == 3, unpack)
    for i in 0 .. size(p, 0):
        allocate w: float64[size(p, 1)]
        for k in 0 .. size(p, 1):
            w[k] = p[i, k] + float64(size(q, 1))
        for k.2 in 0 .. size(p, 1):
            o[i] = o[i] + w[k.2]
"""


def test_the_picture() -> None:
    check_picture(Propagate)


def test_loops_and_local_arrays_have_constant_lengths() -> None:
    changed = after(FIXED, "propagate p 1 3")
    text = print_kernel(changed)
    assert "allocate w: float64[3]" in text and text.count("in 0 .. 3:") == 2 and "size(q, 1)" in text
    assert "checked" not in text
    for rows in (0, 1, 4):
        found = []
        for kernel in (known(FIXED)[0], changed):
            o = np.zeros(rows)
            interpret(kernel, [np.arange(3.0 * rows).reshape(rows, 3), np.zeros((1, 2)), o])
            found.append(o.tolist())
        assert found[0] == found[1]


@pytest.mark.parametrize(
    ("text", "step"),
    [
        (FIXED, "propagate p 1 2"),
        (FIXED, "propagate p 0 3"),
        (FIXED, "propagate q 1 3"),
        (FIXED, "propagate w 0 3"),
        (FIXED.replace("== 3", "<= 3"), "propagate p 1 3"),
        (FIXED.replace("size(p, 1) == 3", "size(p, 1) == size(q, 1)"), "propagate p 1 3"),
    ],
)
def test_refused(text: str, step: str) -> None:
    assert "another size" in refusal(text, step) or "no array that is given" in refusal(text, step)


@lw.kernel
def moved(points, velocities, dt):
    for i in range(points.shape[0]):
        points[i] = points[i] + dt * velocities[i]
        x, y, z = points[i]
        points[i, 0] = x * y - z
    return points.shape[1]


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_calls_with_other_sizes_are_as_python_has_them(device: str) -> None:
    with lw.options(device=device):
        for rows, columns in ((4, 3), (0, 3), (0, 5), (1, 3)):
            mine, right = (np.arange(float(rows * columns)).reshape(rows, columns) for _ in range(2))
            given = np.ones((rows, columns)), 0.5
            assert moved(mine, *given) == moved.py_func(right, *given) == columns
            np.testing.assert_array_equal(mine, right)
        assert "propagate" in str(moved.explain(np.ones((4, 3)), np.ones((4, 3)), 0.5).schedule)
        for rows, columns, others in ((4, 2, 2), (4, 4, 4), (4, 3, 2), (1, 4, 4)):
            mine, right = np.ones((rows, columns)), np.ones((rows, columns))
            with pytest.raises(ValueError):
                moved.py_func(right, np.ones((rows, others)), 0.5)
            with pytest.raises(ValueError):
                moved(mine, np.ones((rows, others)), 0.5)
            np.testing.assert_array_equal(mine, right)
