"""Loops over all elements by one number: which become nests, and that these do the same in the same order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.ir.flat_loops import flat_loops_as_nests
from loopwright.ir.interp import interpret
from loopwright.ir.nodes import For
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.verify import verify
from loopwright.ir.walk import loops

HEAD = """kernel k(a: float64[3] C, b: float64[1] C, c: float64[3] C) -> python float64:
    var s: float64
    var t: int64
    s = 0.0
    t = 5
    allocate d: float64[size(a, 0) * size(a, 1) * size(a, 2)] = 1.0
"""
FLAT = "    for k in 0 .. size(a, 0) * size(a, 1) * size(a, 2):\n"
ELEMENT = "a[k // (size(a, 1) * size(a, 2)), k // size(a, 2) % size(a, 1), k % size(a, 2)]"


def kernel(body: str, head: str = FLAT) -> Any:
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    return parse_kernel(HEAD + head + lines + "    return s\n")


def of_nests(one: Any) -> list[str]:
    return [name for name, loop in loops(one).items() if isinstance(loop, For)]


NESTS = {
    "read": (f"s = s * 0.5 + {ELEMENT}", 3),
    "stored": (ELEMENT + f" = s\ns = s + {ELEMENT} + 1.0", 3),
    "the number too": (f"s = s * 0.5 + {ELEMENT} * float64(k)", 3),
    "an array as long": (f"d[k] = d[k] + {ELEMENT}\ns = s + d[k]", 3),
    "two axes together": ("s = s * 0.5 + float64(k // size(a, 2)) * float64(k % size(a, 2))", 2),
    "of two axes one": ("s = s * 0.5 + float64(k % (size(a, 1) * size(a, 2)))", 2),
    "a name for it": ("t = k\n" + f"s = s * 0.5 + {ELEMENT.replace('k ', 't ')}", 3),
    "a test of it": ("t = checked(k, k < size(a, 0) * size(a, 1) * size(a, 2), index)\n"
                     f"s = s * 0.5 + {ELEMENT.replace('k ', 't ')}", 3),
    "the next element": (f"if k % size(a, 2) > 1:\n    continue k\ns = s * 0.5 + {ELEMENT}", 3),
    "the number before": (f"s = s * 0.5 + {ELEMENT} * float64(t)\nt = k", 3),
    "in a loop inside": (f"for i in 0 .. 2:\n    s = s * 0.5 + {ELEMENT} * float64(i)", 4),
}  # fmt: skip
NONE = {
    "leaves": f"if s > 3.0:\n    break k\ns = s + {ELEMENT}",
    "an array of any length": f"if k < size(b, 0):\n    b[k] = {ELEMENT}",
    "no digits": "s = s + d[k]",
    "other sizes": "s = s + float64(k % size(b, 0))",
    "no places of one number": "s = s + float64(k // size(a, 1)) * float64(k % size(a, 2))",
}


def outcome(one: Any, arrays: list[Any]) -> tuple[object, list[Any]]:
    own = [array.copy() for array in arrays]
    return interpret(one, own), own


@pytest.mark.parametrize("name", NESTS)
@pytest.mark.parametrize("shape", [(2, 3, 4), (1, 1, 1), (0, 3, 2), (3, 0, 2), (5, 2, 0), (2, 1, 3)])
def test_the_same_in_the_same_order(name: str, shape: tuple[int, ...]) -> None:
    body, count = NESTS[name]
    flat = kernel(body)
    nest = flat_loops_as_nests(flat)
    verify(nest)
    assert len(of_nests(nest)) == count
    assert parse_kernel(print_kernel(nest)) == nest
    rng = np.random.default_rng(1)
    arrays = [rng.random(shape), rng.random(7), rng.random(shape)]
    (wanted, wanted_arrays), (found, found_arrays) = outcome(flat, arrays), outcome(nest, arrays)
    assert repr(found) == repr(wanted)
    for mine, right in zip(found_arrays, wanted_arrays, strict=True):
        np.testing.assert_array_equal(mine, right)


@pytest.mark.parametrize("name", NONE)
def test_what_stays_as_it_is(name: str) -> None:
    flat = kernel(NONE[name])
    assert flat_loops_as_nests(flat) is flat


@pytest.mark.parametrize(
    "head",
    [
        FLAT.replace("0 ..", "1 .."), "    for k in 0 .. size(a, 0) * size(a, 1) * size(b, 0):\n",
        "    for k in 0 .. size(a, 0) * size(a, 1) * size(a, 2) step 2:\n", "    for k in 0 .. size(b, 0):\n",
    ],
)  # fmt: skip
def test_other_ranges_stay(head: str) -> None:
    flat = kernel(f"s = s + {ELEMENT}", head)
    assert flat_loops_as_nests(flat) is flat


def scaled(a: Any) -> Any:
    largest, out = -1.0, np.empty_like(a)
    for k in range(a.size):
        out.flat[k] = a.flat[k] * 2.0
    for (i, j), x in np.ndenumerate(out):
        if x > largest and i != j:
            largest = x
    return largest, out


@pytest.mark.parametrize("threads", [1, 3])
def test_no_access_is_checked_and_the_result_is_pythons(threads: int) -> None:
    compiled = lw.kernel(threads=threads)(scaled)
    for shape in ((40, 70), (1, 3), (0, 5), (5, 0)):
        a = np.random.default_rng(3).random(shape)
        (largest, out), (wanted, right) = compiled(a), scaled(a)
        assert largest == wanted
        np.testing.assert_array_equal(out, right)
    assert "checked" not in str(compiled.explain(a))
