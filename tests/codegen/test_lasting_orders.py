"""Orders of iterations that serve more than one call, or more than one iteration of a loop around."""

from __future__ import annotations

import pytest

from loopwright.codegen.lasting_orders import LastingOrder, lasting_orders
from steps.before_after import after

WORK = """
kernel work(t: int64[1] C, x: float64[1] C, a: float64[1] C, n: int64, m: int64):
    var s: float64
    var e: int64
    e = n + 1
    for step in 0 .. 2:
        for i in 0 .. size(a, 0):
            s = x[i]
            for k in 0 .. t[i]:
                s = s * 2.0
            a[i] = s
"""


def lasting(text: str) -> tuple[frozenset[str], ...]:
    """What each order that lasts depends on."""
    return tuple(one.arguments for one in lasting_orders(after(text, "redirect i")))


def test_what_an_order_depends_on() -> None:
    (one,) = lasting_orders(after(WORK, "redirect i; split i.a 8; bind i.a.o block.x; bind i.a thread.x"))
    assert one == LastingOrder("i.k", "i.b", "i.d", frozenset({"t"}))


@pytest.mark.parametrize(
    ("old", "new", "arguments"),
    [
        ("t[i]:", "t[i] + m:", {"t", "m"}),
        ("t[i]:", "t[i] + e:", {"t", "n"}),
        ("for k in 0 .. t[i]:", "if x[t[i]] > 0.0:", {"t", "x"}),
        ("size(a, 0)", "e", {"t", "n"}),
    ],
)
def test_scalars_and_all_arrays_that_decide(old: str, new: str, arguments: set[str]) -> None:
    assert lasting(WORK.replace(old, new)) == (arguments,)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a[i] = s", "a[i] = s\n            t[i] = 3"),  # an iteration of the loop around finds other elements
        ("t[i]:", "t[i] + step:"),
        ("    for step", "    for q in 0 .. n:\n        t[q] = q\n    for step"),  # the call itself writes them
    ],
)
def test_what_does_not_last(old: str, new: str) -> None:
    text = WORK.replace(old, new)
    assert text != WORK and lasting(text) == ()


def test_a_kernel_without_orders_has_none() -> None:
    assert lasting_orders(after(WORK, "parallelize i")) == ()
