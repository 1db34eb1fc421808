from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.steps.resolve import Resolve
from steps.before_after import check_same
from steps.kernels import known
from steps.pictures import check_picture

SCATTER = """
kernel scatter(q: float64[1] C, p: int64[1] C, x: float64[1] C, first: int64):
    var t: float64
    var u: float64
    u = 0.0
    for i in first .. size(p, 0):
        {body}
    q[0] = u
"""


def test_the_picture() -> None:
    check_picture(Resolve)


@pytest.mark.parametrize(
    "body",
    [
        "q[p[i]] = x[i]",
        "t = x[i] * 2.0\n        q[p[i]] = t + float64(i)",
        "if x[i] > 0.4:\n            t = x[i]\n            q[p[i]] = t",
        "q[i % 3] = x[i]",
    ],
)
def test_the_last_one_wins(body: str, tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    calls: list[list[object]] = [
        [np.arange(7.0), random.integers(-7, 7, n), random.random(n), first]
        for n in (0, 1, 2, 40) for first in (0, 1, 5)
    ]  # fmt: skip
    check_same(SCATTER.format(body=body), "resolve i", calls, tmp_path)


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("q[p[i]] = q[i] + 1.0", "reads"),
        ("u = u + 1.0\n        q[p[i]] = x[i]", "hand on"),
        ("q[p[i]] = x[i]\n        x[i] = 0.0", "does more"),
        ("for k in 0 .. 2:\n            q[p[i]] = x[k]", "does more"),
    ],
)
def test_refusals_say_why(body: str, word: str) -> None:
    rejection = Resolve("i").illegal(*known(SCATTER.format(body=body)), strict=False)
    assert rejection is not None and word in rejection.reason


def inverse(p, q):
    for i in range(len(p)):
        q[p[i]] = i


def spread(idx, row, x, out):
    for i in range(len(idx)):
        if x[i] >= 0.0:
            out[row[i], idx[i]] = 2.0 * x[i]


@pytest.mark.parametrize("n", [0, 1, 5, 3000])
def test_scatters_are_shared_on_a_gpu(n: int) -> None:
    random = np.random.default_rng(n)
    for function, args in (
        (inverse, (random.integers(-max(1, n // 3), max(1, n // 3), n), np.full(max(1, n // 3), -5))),
        (spread, (random.integers(0, 9, n), random.integers(0, 4, n), random.random(n) - 0.3, np.zeros((4, 9)))),
    ):
        kernel, right = lw.kernel(function), [one.copy() for one in args]  # type: ignore[attr-defined]
        function(*right)
        with lw.options(device="emulated"):
            kernel(*args)
            schedule = str(kernel.explain(*args).to_dict()["schedule"])
        np.testing.assert_array_equal(args[-1], right[-1])
        assert schedule.startswith("resolve i; ")


def test_a_place_outside_is_an_error_all_the_same() -> None:
    q: Any = np.zeros(4, np.int64)
    with lw.options(device="emulated"), pytest.raises(IndexError):
        lw.kernel(inverse)(np.array([0, 9, 1]), q)


def picked(p, r, x, q):
    for i in range(len(p)):
        q[p[i]] = x[r[i]]


def test_an_error_of_an_iteration_whose_place_others_overwrite_is_one_too() -> None:
    q = np.zeros(4)
    with lw.options(device="emulated"), pytest.raises(IndexError):
        lw.kernel(picked)(np.array([0, 0, 1]), np.array([99, 1, 2]), np.arange(5.0), q)
