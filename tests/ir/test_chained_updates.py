"""Updates of one scalar in a row: which get one name, and that sums of several parts need no order."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.ir import chained_updates
from loopwright.ir.chained_updates import one_name_for_updates
from loopwright.ir.interp import interpret
from loopwright.ir.nodes import Assign, Kernel
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.verify import verify
from loopwright.ir.walk import statements

HEAD = """kernel f(a: float64[1] C, b: float64[1] C) -> tuple(python float64, python float64):
    var s: float64
    var s.2: float64
    var s.3: float64
    var u: float64
    s = 1.0
    s.2 = 2.0
    u = 0.0
    for i in 0 .. size(a, 0):
"""


def parsed(body: str) -> Kernel:
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    return parse_kernel(HEAD.replace("    s.2 = 2.0\n", "") + lines + "    return s, u\n")


JOINED = {
    "two": "s.2 = s + a[i]\ns = s.2 + b[i]",
    "three": "s.2 = s + a[i]\ns.3 = s.2 + b[i]\ns = s.3 + 1.0",
    "another operation": "s.2 = s * a[i]\ns = s.2 - b[i]",
    "something between": "s.2 = s + a[i]\nb[i] = a[i] * 2.0\nif a[i] > 0.5:\n    u = u + 1.0\ns = s.2 + b[i]",
    "read between": "s.2 = s + a[i]\nb[i] = s.2\ns = s.2 + b[i]",
}


@pytest.mark.parametrize("name", JOINED)
def test_one_name(name: str) -> None:
    before = parsed(JOINED[name])
    after = one_name_for_updates(before)
    verify(after)
    assert {one.name for one in statements(after.body, Assign)} <= {"s", "u"}
    found = []
    for kernel in (before, after):
        arrays = np.random.default_rng(3).random((2, 9))
        found.append((interpret(kernel, tuple(arrays)), arrays))
    assert repr(found[0]) == repr(found[1])


def test_the_picture() -> None:
    body = "s.2 = s + a[i]\nb[i] = 0.0\ns = s.2 + b[i]"
    text = inspect.getdoc(chained_updates) or ""
    after = print_kernel(one_name_for_updates(parsed(body)))
    for line in body.splitlines():
        assert line in text
    for line in ("s = s + a[i]", "b[i] = 0.0", "s = s + b[i]"):
        assert line in text
        assert f"        {line}\n" in after


@pytest.mark.parametrize(
    "body",
    [
        "s.2 = s + a[i]\nu = s\ns = s.2 + b[i]",
        "s.2 = s + a[i]\ns = 2.0\ns = s.2 + b[i]",
        "s.2 = s + a[i]\nif a[i] > 0.5:\n    break i\ns = s.2 + b[i]",
        "s.2 = s + a[i]\ns = s.2 + b[i]\nu = s.2",
        "s.2 = u + a[i]\ns = s.2 + b[i]",
        "s.2 = s + a[i]\ns = s.2 + s",
        "s.2 = s + a[i]\ns = sqrt(s.2)",
        "s = s + a[i]",
        "s.2 = s + a[i]\nif a[i] > 0.5:\n    s.2 = s + 1.0\ns = s.2 + b[i]",
    ],
)
def test_what_stays_as_it_is(body: str) -> None:
    kernel = parsed(body)
    assert one_name_for_updates(kernel) is kernel


def energies(m: Any, v: Any, r: Any) -> float:
    total = 0.0
    for i in range(len(m)):
        total += 0.5 * m[i] * v[i] * v[i]
        total += m[i] * 9.81 * r[i]
        total -= 0.25 * r[i]
    return total


def both_ends(a: Any) -> tuple[int, float]:
    count, most = 0, a[0]
    for i in range(1, len(a)):
        count += int(a[i] > 0.5)
        count += int(a[i - 1] < 0.25)
        most = max(most, a[i])
        most = max(most, a[i - 1] * 2.0)
    return count, most


@pytest.mark.parametrize("size", [1, 2, 1000])
def test_sums_of_several_parts_are_reductions(size: int) -> None:
    m, v, r = np.random.default_rng(size).random((3, size))
    np.testing.assert_allclose(lw.kernel(energies)(m, v, r), energies(m, v, r), rtol=1e-12)
    assert lw.kernel(strict=True)(energies)(m, v, r) == energies(m, v, r)
    assert lw.kernel(both_ends)(m) == both_ends(m)
    assert "parallelize i" in str(lw.kernel(energies).explain(m, v, r))
    assert "parallelize i" in str(lw.kernel(both_ends).explain(m))
