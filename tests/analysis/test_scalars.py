"""Which scalars belong to one iteration."""

from __future__ import annotations

import pytest

from analysis.small import kernel
from loopwright.analysis.scalars import Scalars, live_after, scalars_of
from loopwright.ir.walk import loops

HEAD = 'def f(a: "float64[1]", b: "float64[1]", n: "int64", flag: "bool"):\n'


def scalars(text: str, loop: str = "i") -> Scalars:
    found = kernel(HEAD + "".join(f"    {line}\n" for line in text.strip().split("\n")))
    return scalars_of(loops(found)[loop], live_after(found)[loop])


CASES = {
    "written first": ("for i in range(n):\n    t = a[i]\n    b[i] = t", Scalars(("t",), (), (), (), ())),
    "read first": ("t = 0.0\nfor i in range(n):\n    b[i] = t\n    t = a[i]", Scalars((), (), (), ("t",), ())),
    "in both branches": (
        "for i in range(n):\n    if flag:\n        t = 1.0\n    else:\n        t = 2.0\n    b[i] = t",
        Scalars(("t",), (), (), (), ()),
    ),
    "in one branch": (
        "t = 0.0\nfor i in range(n):\n    if flag:\n        t = 1.0\n    b[i] = t",
        Scalars((), (), (), ("t",), ()),
    ),
    "an inner loop may not run": (
        "t = 0.0\nfor i in range(n):\n    for j in range(n):\n        t = 1.0\n    b[i] = t",
        Scalars((), (), (), ("t",), ()),
    ),
    "a sum of its own": (
        "for i in range(n):\n    s = 0.0\n    for j in range(n):\n        s += a[j]\n    b[i] = s",
        Scalars(("s",), (), (), (), ()),
    ),
    "read afterwards": ("for i in range(n):\n    t = a[i]\nb[0] = t", Scalars(("t",), ("t",), (), (), ())),
    "rewritten afterwards": ("for i in range(n):\n    t = a[i]\nt = 1.0\nb[0] = t", Scalars(("t",), (), (), (), ())),
    "read afterwards, not always written": (
        "t = 0.0\nfor i in range(n):\n    if a[i] > 0.0:\n        t = a[i]\nb[0] = t",
        Scalars((), (), (), (), ("t",)),
    ),
    "skipped by continue": (
        "t = 0.0\nfor i in range(n):\n    if a[i] > 0.0:\n        continue\n    t = a[i]\nb[0] = t",
        Scalars((), (), (), (), ("t",)),
    ),
    "written before continue": (
        "for i in range(n):\n    t = a[i]\n    if a[i] > 0.0:\n        continue\n    b[i] = t\nb[0] = t",
        Scalars(("t",), ("t",), (), (), ()),
    ),
    "a flag": (
        "found = False\nfor i in range(n):\n    if a[i] > 0.0:\n        found = True\nif found:\n    b[0] = 1.0",
        Scalars((), (), ("found",), (), ()),
    ),
    "two constants are no flag": (
        "found = False\nfor i in range(n):\n    if a[i] > 0.0:\n        found = True\n    if a[i] > 1.0:\n"
        "        found = False\nif found:\n    b[0] = 1.0",
        Scalars((), (), (), (), ("found",)),
    ),
    "after a while": (
        "for i in range(n):\n    k = 0\n    while k < 3:\n        k = k + 1\n    b[i] = 0.0 + float64(k)",
        Scalars(("k",), (), (), (), ()),
    ),
    "out of a while by break": (
        "for i in range(n):\n    while flag:\n        t = 1.0\n        break\n    b[i] = t",
        Scalars((), (), (), ("t",), ()),
    ),
    "after a block": (
        "for i in range(n):\n    with done:\n        t = 1.0\n        if flag:\n            leave(done)\n"
        "        t = 2.0\n    b[i] = t",
        Scalars(("t",), (), (), (), ()),
    ),
    "a block left from a loop in it": (
        "for i in range(n):\n    with done:\n        for j in range(n):\n            if flag:\n"
        "                t = 1.0\n                leave(done)\n        t = 2.0\n    b[i] = t",
        Scalars(("t",), (), (), (), ()),
    ),
    "a block left from a loop in it, too early": (
        "t = 0.0\nfor i in range(n):\n    with done:\n        while flag:\n            if flag:\n"
        "                leave(done)\n            t = 1.0\n        t = 2.0\n    b[i] = t",
        Scalars((), (), (), ("t",), ()),
    ),
    "a loop that surely runs, left after it has set one": (
        "t = 0.0\nfor i in range(n):\n    for j in range(4):\n        t = a[j]\n        if flag:\n            break\n"
        "    b[i] = t",
        Scalars(("t",), (), (), (), ()),
    ),
    "a loop that surely runs, left before it has set one": (
        "t = 0.0\nfor i in range(n):\n    for j in range(4):\n        if flag:\n            break\n        t = a[j]\n"
        "    b[i] = t",
        Scalars((), (), (), ("t",), ()),
    ),
    "a loop that may not run": (
        "t = 0.0\nfor i in range(n):\n    for j in range(n):\n        t = a[j]\n    b[i] = t",
        Scalars((), (), (), ("t",), ()),
    ),
    "a block left too early": (
        "t = 0.0\nfor i in range(n):\n    with done:\n        if flag:\n            leave(done)\n        t = 2.0"
        "\n    b[i] = t",
        Scalars((), (), (), ("t",), ()),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_sorting(name: str) -> None:
    text, expected = CASES[name]
    assert scalars(text) == expected


def test_read_in_the_next_iteration_of_a_loop_around() -> None:
    text = "t = 0.0\nfor j in range(n):\n    b[j] = t\n    for i in range(n):\n        t = a[i]"
    assert scalars(text).last == ("t",)
    assert scalars(text, "j").carried == ("t",)


def test_returned_values_are_read() -> None:
    assert scalars("t = 0.0\nfor i in range(n):\n    t = a[i]\nreturn t").last == ("t",)
    assert scalars("t = 0.0\nfor i in range(n):\n    t = a[i]\nif flag:\n    return t\nb[0] = 1.0").last == ("t",)


BLOCK = """
t = 0.0
with done:
    for j in range(n):
        if flag:
            leave(done)
        for i in range(n):
            t = a[i]
    t = 1.0
b[0] = t
"""


def test_read_behind_a_block_that_the_next_iteration_of_a_loop_around_may_leave() -> None:
    assert scalars(BLOCK).last == ("t",)
    assert scalars(BLOCK.replace("leave(done)", "b[1] = 2.0")).last == ()
