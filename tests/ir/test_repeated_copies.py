from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.ir import repeated_copies
from loopwright.ir.nodes import Kernel
from loopwright.ir.repeated_copies import copies_made_once
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.verify import verify

STEP = """        for j in {lower} .. {upper}:
            v[j] = u[j - 1] + u[j + 1]
"""
KERNEL = """kernel f(u: float64[1] C, w: float64[1] C, n: int64, k: int64):
    var s: float64
    s = 0.0
    for t in 0 .. n:
        allocate v: float64[size(u, 0)]
        for i in 0 .. {there}:
            v[i] = {source}[i]
{inside}        for k.2 in 0 .. size(u, 0):
            u[k.2] = v[k.2]
{behind}"""
FROM_1 = STEP.format(lower=1, upper="size(u, 0) - 1")


def parsed(inside: str = FROM_1, there: str = "size(u, 0)", source: str = "u", behind: str = "") -> Kernel:
    kernel = parse_kernel(KERNEL.format(inside=inside, there=there, source=source, behind=behind))
    verify(kernel)
    return kernel


def put_back(kernel: Kernel) -> str:
    """Where the nest begins and ends that puts back what was changed; '' where copies stay in the loop."""
    changed = copies_made_once(kernel)
    verify(changed)
    before, _, inside = print_kernel(changed).partition("    for t in 0 .. n:\n")
    assert ("allocate v" in before) == ("allocate v" not in inside) == (changed is not kernel)
    return "" if changed is kernel else inside.rpartition("for k.2 in ")[2].partition(":")[0]


def test_the_picture() -> None:
    assert "v[j] = u[j - 1] + u[j + 1]" in (inspect.getdoc(repeated_copies) or "")
    assert put_back(parsed()) == "1 .. size(u, 0) - 1"


@pytest.mark.parametrize(
    "inside",
    [
        STEP.format(lower="k", upper="size(u, 0) - 1"),  # which may be negative
        STEP.format(lower=1, upper="int64(w[0])"),
        FROM_1 + "        v[0] = v[1]\n",
        FROM_1 + "        u[0] = v[1]\n",
        "        v[0] = 1.0\n",
    ],
)
def test_all_is_put_back_where_more_may_be_changed(inside: str) -> None:
    assert put_back(parsed(inside)) == "0 .. size(u, 0)"


@pytest.mark.parametrize(
    "kernel",
    [
        parsed(FROM_1 + "        if s > 1.0:\n            break t\n"),
        parsed(there="n"),
        parsed(source="w"),
        parsed(behind="        v[0] = 1.0\n"),
        parsed(behind="        u[0] = 1.0\n"),
    ],
)
def test_copies_that_stay(kernel: Kernel) -> None:
    assert put_back(kernel) == ""


def stepped(u: Any, steps: int) -> Any:
    for _ in range(steps):
        v = u.copy()
        for i in range(1, u.shape[0] - 1):
            for j in range(2, u.shape[1]):
                v[i, j] = u[i - 1, j] + u[i, j - 2] - u[i + 1, j]
        u = v
    return u


def upwards(u: Any, steps: int) -> Any:
    total = 0.0
    for t in range(steps):
        old = u.copy()
        for i in range(t, len(u)):
            old[i] = u[i - t] + 1.0
        old[0] += 3.0
        total += old[0]
        u[:] = old
    return total


@pytest.mark.parametrize("function", [stepped, upwards])
def test_results(function: Callable[..., Any]) -> None:
    shape = (7, 9) if function is stepped else (8,)
    for steps in (0, 1, 2, 5):
        given = np.random.default_rng(steps).integers(-9, 9, shape).astype(np.float64)
        mine, other = given.copy(), given.copy()
        np.testing.assert_array_equal(lw.kernel(function)(mine, steps), function(other, steps))
        np.testing.assert_array_equal(mine, other)


def of_another_length(u: Any, w: Any, n: int) -> None:
    for _ in range(n):
        v = np.empty(w.shape[0])
        for i in range(w.shape[0]):
            v[i] = u[i]
        for j in range(1, w.shape[0] - 1):
            v[j] = u[j - 1] + u[j + 1] + w[j]
        for k in range(w.shape[0]):
            u[k] = v[k]


def test_no_iterations_read_nothing() -> None:
    lw.kernel(of_another_length)(np.arange(3.0), np.ones(9), 0)
    mine, other = np.arange(9.0), np.arange(9.0)
    lw.kernel(of_another_length)(mine, np.ones(9), 3)
    of_another_length(other, np.ones(9), 3)
    assert mine.tolist() == other.tolist()


def of_a_result(u: Any, n: int) -> Any:
    for _ in range(n):
        v = u.copy()
        v[1:-1] = u[:-2] + u[2:]
        u = v
    return u


def test_a_result_is_copied_once() -> None:
    kernel = lw.kernel(of_a_result)
    text = print_kernel(kernel.specialise(np.arange(9.0), 3).analysed.written)
    assert text.index("allocate v") < text.index("for _ in") and kernel(np.arange(9.0), 0).tolist() == list(range(9))
