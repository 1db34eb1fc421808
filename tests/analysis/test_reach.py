"""What a call touches, needs and writes of each array."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from analysis.small import kernel
from loopwright.analysis.analyse import analyse
from loopwright.analysis.reach import reach, whole_box
from loopwright.errors import BoundsError
from loopwright.ir.boxes import Box, Reach
from loopwright.ir.interp import interpret
from loopwright.ir.nodes import Kernel
from loopwright.recipe.gpu import gpu_recipe

HEAD = 'def f(a: "float64[2]", b: "float64[2]", x: "int64[1]", y: "float64[1]", z: "float64[1]", n: "int64"):\n'
NAMES = ("a", "b", "x", "y", "z", "n")

INSIDE = """for i in range(1, a.shape[0] - 1):
    for j in range(1, a.shape[1] - 1):
        b[i, j] = a[i - 1, j] + a[i, j + 1]"""
SUMS = """for i in range(b.shape[0]):
    for j in range(b.shape[1]):
        b[i, j] = 0.0
        for k in range(z.shape[0]):
            b[i, j] += z[k]"""

# For each function the arrays of which nothing is needed, and what is known exactly.
CASES: dict[str, tuple[str, dict[str, tuple[tuple[str, str], ...]]]] = {
    "for i in range(x.shape[0]):\n    y[i] = z[i] + 2.0": ("y", {"y": (("0", "s2_0 - 1"),)}),
    INSIDE: (
        "b",
        {"b": (("1", "s0_0 - 2"), ("1", "s0_1 - 2")), "a": (("0", "s0_0 - 2"), ("1", "s0_1 - 1"))},
    ),
    SUMS: (
        "b",
        {},
    ),
    "for i in range(b.shape[0]):\n    for j in range(b.shape[1]):\n        b[i, j] += 1.0": ("", {}),
    "for i in range(a.shape[0]):\n    for j in range(a.shape[1]):\n        b[j, i] = a[i, j]": ("b", {}),
    "for i in range(n):\n    y[i] = z[x[i]]": ("y", {"z": (("0", "s4_0 - 1"),)}),
    "for i in range(n):\n    y[x[i]] = z[i]": ("", {"y": (("0", "s3_0 - 1"),)}),
    "for i in range(n):\n    if z[i] > 1.0:\n        y[i] = 1.0": ("", {}),
    "for i in range(n):\n    if z[i] > 1.0:\n        y[i] = 1.0\n    else:\n        y[i] = 2.0": ("", {}),
    "for i in range(n):\n    if i < 3:\n        y[i] = 1.0\n    else:\n        y[i] = 2.0": ("y", {}),
    "for i in range(n):\n    if i == 2:\n        break\n    y[i] = 1.0": ("", {}),
    "for i in range(n):\n    y[2 * i] = z[i]": ("", {}),
    "for i in range(0, n):\n    y[i] = z[i]\nfor j in range(n):\n    z[j] = y[j]": ("y", {}),
    "for i in range(n - 1, -1, -1):\n    y[i] = z[n - 1 - i]": ("y", {}),
    "for i in range(1, n):\n    y[i] = y[i - 1]": ("", {}),
    "for i in range(b.shape[0]):\n    for j in range(i + 1):\n        b[i, j] = 1.0": ("", {}),
    "y[-1] = 1.0": ("y", {}),
    "i = 0\nwhile i < n:\n    y[i] = 1.0\n    i += 1": ("", {}),
    "if n < 3:\n    return\nfor i in range(n):\n    y[i] = 1.0": ("y", {}),
    "for t in range(n):\n    for i in range(y.shape[0]):\n        y[i] = z[i] + t": ("y", {}),
}
POISON = 12345.0


def made(text: str) -> Kernel:
    return kernel(HEAD + "".join(f"    {line}\n" for line in text.split("\n")))


def reached(one: Kernel) -> dict[str, Reach]:
    facts = analyse(one)
    recipe = gpu_recipe(one, facts, False)
    return {NAMES[k]: found for k, found in reach(one, facts, recipe.kernel, recipe.facts).items()}


@pytest.mark.parametrize("text", CASES)
def test_what_is_found(text: str) -> None:
    without_need, exact = CASES[text]
    found = reached(made(text))
    written = {name for name, one in found.items() if one.written is not None}
    assert {name for name in written if found[name].needed is None} == set(without_need)
    for name, ends in exact.items():
        box = found[name].touched
        assert box is not None and box.ends == ends


@pytest.mark.parametrize("text", CASES)
def test_nothing_else_counts(text: str) -> None:
    """Values outside of what is needed change nothing of what is written, and nothing else is written."""
    one = made(text)
    found = reached(one)
    ran = 0
    for rows, columns, length, n in product((0, 1, 3, 5), (1, 4), (1, 4, 7), (0, 1, 3, 4)):
        random = np.random.default_rng(rows * 100 + n)
        arrays = [random.integers(0, 4, shape).astype(float) for shape in ((rows, columns), (columns, rows))]
        arrays += [random.integers(0, length, length), *random.integers(0, 4, (2, length)).astype(float)]
        if "b[j" not in text:
            arrays[1] = arrays[1].reshape(rows, columns)
        before = [array.copy() for array in arrays]
        try:
            interpret(one, (*arrays, n))
        except (BoundsError, IndexError):
            continue
        ran += 1
        values = {f"s{k}_{axis}": size for k, array in enumerate(arrays) for axis, size in enumerate(array.shape)}
        _compare(one, found, before, arrays, values | {"v5": n})
    assert ran > 3


def _compare(
    one: Kernel,
    found: dict[str, Reach],
    before: list[np.ndarray],
    after: list[np.ndarray],
    values: dict[str, int],
) -> None:
    poisoned = [array.copy() for array in before]
    written = []
    for k, array in enumerate(poisoned):
        reach_of = found.get(NAMES[k], Reach(None, None, None))
        needed, box = inside(reach_of.needed, array, values), inside(reach_of.written, array, values)
        if array.dtype.kind == "f":
            array[~needed] = POISON
        written.append(box)
        np.testing.assert_array_equal(after[k][~box], before[k][~box])
    interpret(one, (*poisoned, values["v5"]))
    for k, box in enumerate(written):
        np.testing.assert_array_equal(poisoned[k][box], after[k][box])


def inside(box: Box | None, array: np.ndarray, values: dict[str, int]) -> np.ndarray:
    mask = np.zeros(array.shape, bool)
    ranges = None if box is None else box.at(values, array.shape)
    if ranges is not None:
        mask[tuple(slice(one.start, one.stop) for one in ranges)] = True
    return mask


def test_what_runs_may_touch_more_than_what_was_written() -> None:
    """Then the whole array is there; what it means is still what counts."""
    narrow, wide = made("for i in range(1, n):\n    y[i] = z[i]"), made("for i in range(n):\n    y[i] = z[i]")
    found = reach(narrow, analyse(narrow), wide, analyse(wide))
    assert found[3].touched is not None and found[3].touched.ends == whole_box(3, 1).ends
    assert found[3].written is not None and found[3].written.ends == (("1", "v5 - 1"),)


def test_an_empty_array_has_no_box() -> None:
    assert whole_box(0, 2).at({"s0_0": 0, "s0_1": 3}, (0, 3)) is None
    assert whole_box(0, 0).at({}, ()) == ()
