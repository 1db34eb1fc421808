"""Local arrays that an iteration fills before it reads them."""

from __future__ import annotations

import pytest

from analysis.small import kernel
from loopwright.analysis.analyse import analyse
from loopwright.analysis.facts import LoopFacts
from loopwright.analysis.local_arrays import is_apart, leaves_all
from loopwright.ir.nodes import Store
from loopwright.ir.walk import statements

HEAD = 'def f(a: "float64[2]", x: "int64[1]", n: "int64", m: "int64"):\n'


def loop(text: str, name: str = "i") -> LoopFacts:
    facts = analyse(kernel(HEAD + "".join(f"    {line}\n" for line in text.strip().split("\n"))))
    return facts.loops[name]


FILL = "    for j in range(m):\n        t[j] = a[i, j]\n"
USE = "    for k in range(m):\n        a[i, k] = t[m - 1 - k]"
PRIVATE = {
    "filled, then read": "t = empty(m)\nfor i in range(n):\n" + FILL + USE,
    "one element": "t = empty(4)\nfor i in range(n):\n    t[0] = a[i, 0]\n    a[i, 0] = t[0] * 2.0",
    "in each turn of an inner loop": "t = empty(m)\nfor i in range(n):\n    for p in range(m):\n        t[p] = 0.0\n"
    "        for s in range(m):\n            t[p] += a[i, s]\n    for q in range(m):\n        a[i, q] = t[q]",
    "in two parts": "t = empty(m)\nfor i in range(n):\n    t[0] = 1.0\n"
    "    for j in range(1, m):\n        t[j] = a[i, j]\n" + USE,
    "read by an index within it": "t = empty(m)\nfor i in range(n):\n" + FILL + "    a[i, 0] = t[x[i]]",
    "allocated inside": "for i in range(n):\n    t = zeros(m)\n    t[0] += 1.0\n    a[i, 0] = t[0]",
}


@pytest.mark.parametrize("why", PRIVATE)
def test_private(why: str) -> None:
    found = loop(PRIVATE[why])
    assert (found.verdict, found.private) == ("parallel", ("t",))


SHARED = {
    "read before": "t = zeros(m)\nfor i in range(n):\n    a[i, 0] = t[0]\n    t[0] = a[i, 1]",
    "not all of it filled": "t = zeros(m)\nfor i in range(n):\n    for j in range(1, m):\n        t[j] = a[i, j]\n"
    + USE,
    "filled only at times": "t = zeros(m)\nfor i in range(n):\n    if a[i, 0] > 0.0:\n        t[0] = 1.0\n"
    "    a[i, 1] = t[0]",
    "filled at an unknown place": "t = zeros(m)\nfor i in range(n):\n    t[x[i]] = 1.0\n    a[i, 1] = t[0]",
    "filled by a loop that breaks": "t = zeros(m)\nfor i in range(n):\n    for j in range(m):\n        t[j] = 1.0\n"
    "        if a[i, j] > 0.0:\n            break\n" + USE,
    "filled but for some": "t = zeros(m)\nfor i in range(n):\n    for j in range(m):\n        if a[i, j] > 0.0:\n"
    "            continue\n        t[j] = 1.0\n" + USE,
    "read afterwards": "t = zeros(m)\nfor i in range(n):\n" + FILL + USE + "\na[0, 0] = t[0]",
    "read in the other branch": "t = zeros(m)\nfor i in range(n):\n    if i < 3:\n        t[0] = 1.0\n    else:\n"
    "        a[i, 0] = t[0]",
    "from an earlier turn of an inner loop": "t = zeros(m)\nfor i in range(n):\n    for j in range(1, m):\n"
    "        a[i, j] = t[j - 1]\n        t[j] = 1.0",
}


@pytest.mark.parametrize("why", SHARED)
def test_shared(why: str) -> None:
    found = loop(SHARED[why])
    assert found.verdict in ("sequential", "undecided")
    assert "t" not in found.private


def test_an_argument_is_never_private() -> None:
    text = "for i in range(n):\n    for j in range(m):\n        a[0, j] = 1.0\n"
    text += "    for k in range(m):\n        a[1, k] = a[0, k]"
    assert loop(text).verdict == "sequential"


WRITES = {
    "all of it": ("for j in range(m):\n        a[j, 0] = a[i, 1]", True),
    "nothing": ("for j in range(m):\n        if x[j] > 0:\n            a[j, 0] = 1.0", False),
    "more each time": ("for j in range(i):\n        a[j, 0] = 1.0", False),
    "less each time": ("for j in range(i, m):\n        a[j, 0] = 1.0", False),
    "one after the other": ("a[i, 0] = 1.0", False),
    "but in the last iteration": ("if i < n - 1:\n        a[0, 0] = 1.0", False),
    "one of two": ("a[0, 0] = 1.0\n    a[1, 0] = 2.0", False),
    "both of two": ("for j in range(2):\n        a[j, 0] = 1.0\n    a[1, 0] = 2.0", True),
}


@pytest.mark.parametrize("what", WRITES)
def test_what_the_last_iteration_leaves(what: str) -> None:
    body, is_all = WRITES[what]
    text = kernel(f"{HEAD}    for i in range(n):\n        " + body.replace("\n", "\n    ") + "\n")
    store = next(stmt for stmt in statements(text.body) if isinstance(stmt, Store))
    assert leaves_all(text, ["i"], store, analyse(text).known) == is_all


def test_what_an_iteration_reads_of_its_own() -> None:
    begin = f"{HEAD}    for i in range(n):\n"
    text = kernel(f"{begin}        a[0, 0] = 1.0\n        a[0, 1] = a[0, 0]\n    a[0, 0] = 2.0\n")
    assert is_apart(text, "i", "a", {}) and is_apart(text, "i", "b", {})
    text = kernel(f"{begin}        a[0, 1] = a[0, 0]\n        a[0, 0] = 1.0\n")
    assert not is_apart(text, "i", "a", {})
