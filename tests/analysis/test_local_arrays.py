"""Local arrays that an iteration fills before it reads them."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import Any

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
    "by earlier turns": "t = empty(m)\nfor i in range(n):\n    t[0] = a[i, 0]\n    for j in range(1, m):\n"
    "        t[j] = t[j - 1] * 0.5 + a[i, j]\n    for k in range(m - 2, -1, -1):\n"
    "        t[k] = t[k] + t[k + 1]\n    a[i, 0] = t[x[i]]",
    "by earlier turns of several loops": "t = empty(m)\nfor i in range(n):\n    t[0] = a[i, 0]\n"
    "    for p in range(3):\n        for j in range(1, m):\n            t[j] = t[j - 1] + a[i, j]\n"
    "        a[i, p] = t[m - 1]",
    "backwards, by threes": "t = empty(m)\nfor i in range(n):\n    t[m - 1] = 1.0\n"
    "    for j in range(m - 4, -1, -3):\n        t[j] = t[j + 3] + a[i, j]",
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
    "from a later turn": "t = zeros(m)\nfor i in range(n):\n    t[0] = 1.0\n    for j in range(1, m - 1):\n"
    "        a[i, j] = t[j + 1]\n        t[j] = 1.0",
    "from earlier turns, but for the first": "t = zeros(m)\nfor i in range(n):\n    for j in range(1, m):\n"
    "        t[j] = t[j - 1] + a[i, j]",
    "from further back than was written": "t = zeros(m)\nfor i in range(n):\n    t[0] = 1.0\n"
    "    for j in range(2, m):\n        t[j] = t[j - 2] + a[i, j]",
    "from earlier turns at times": "t = zeros(m)\nfor i in range(n):\n    t[0] = 1.0\n    for j in range(1, m):\n"
    "        if a[i, j] > 0.0:\n            t[j] = 1.0\n        a[i, j] = t[j - 1]",
    "from earlier turns whose while may not run": "t = zeros(m)\nfor i in range(n):\n    t[0] = 1.0\n"
    "    for j in range(1, m):\n        a[i, j] = t[j - 1]\n        k = x[j]\n        while k > 0:\n"
    "            t[j] = 1.0\n            k -= 1",
    "in turns of a while": "t = zeros(m)\nfor i in range(n):\n    k = x[i]\n    while k > 0:\n        a[i, 0] = t[k]\n"
    "        t[k] = 1.0\n        k -= 1",
    "backwards, where earlier turns have more": "t = zeros(m)\nfor i in range(n):\n    t[m - 1] = 1.0\n"
    "    for j in range(m - 2, 0, -1):\n        t[j] = t[j - 1] + a[i, j]",
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


class _Scratch:
    """An array that knows which elements this iteration has written."""

    def __init__(self, size: int) -> None:
        self.size, self.written, self.stale = size, set[int](), False

    def place(self, k: int) -> int:
        if not -self.size <= k < self.size:
            raise IndexError
        return k % self.size

    def __getitem__(self, k: int) -> float:
        self.stale |= self.place(k) not in self.written
        return 1.0

    def __setitem__(self, k: int, value: float) -> None:
        self.written.add(self.place(k))


def _statements(rng: random.Random, loops: tuple[str, ...], depth: int, pad: str) -> str:
    """Random statements that read and write elements of `t`."""
    text = ""
    for _ in range(rng.randint(1, 3)):
        kind = rng.choice(["write", "write", "move", "read", "if", "loop"]) if depth else rng.choice(["write", "move"])
        inner = [f"{name} + {rng.randint(-2, 2)}" for name in loops[1:]] or ["0"]
        index, other = (rng.choice([*inner, str(rng.randint(0, 2)), "m - 1"]) for _ in range(2))
        if kind == "write":
            text += f"{pad}t[{index}] = a[i, 0]\n"
        elif kind == "move":
            text += f"{pad}t[{index}] = t[{other}] + 1.0\n"
        elif kind == "read":
            text += f"{pad}a[i, 1] = t[{index}]\n"
        elif kind == "if":
            text += f"{pad}if a[i, 0] > {rng.choice(['0.0', '5.0'])}:\n" + _statements(rng, loops, 0, pad + "    ")
        else:
            name = f"{'jkpq'[len(loops) - 1]}{rng.randint(0, 99)}"
            bounds = rng.choice(["m", f"{rng.randint(0, 2)}, m", f"{rng.randint(0, 2)}, m - 1", "m - 1, -1, -1",
                                 f"m - {rng.randint(1, 3)}, {rng.randint(-1, 1)}, -{rng.randint(1, 2)}"])  # fmt: skip
            text += f"{pad}for {name} in range({bounds}):\n"
            text += _statements(rng, (*loops, name), depth - 1, pad + "    ")
    return text


def _recurrences(rng: random.Random) -> str:
    """Random loops up and down that go on from elements which they have written."""
    text = "".join(f"        t[{k}] = 1.0\n" for k in rng.sample(["0", "1", "m - 1", "m - 2"], rng.randint(1, 3)))
    for name in "jk"[: rng.randint(1, 2)]:
        is_up, step, pad = rng.random() < 0.6, rng.choice([1, 1, 1, 2, 3]), "        "
        up, down = f"{rng.randint(0, 3)}, m - {rng.randint(0, 2)}", f"m - {rng.randint(1, 3)}, {rng.randint(-1, 2)}"
        if rng.random() < 0.3:
            text, pad = f"{text}{pad}for o{name} in range({rng.choice('3m')}):\n", f"{pad}    "
        text += f"{pad}for {name} in range({up if is_up else down}, {step if is_up else -step}):\n"
        for _ in range(rng.randint(1, 2)):
            back = rng.randint(1, 2) * (-1 if is_up else 1) if rng.random() < 0.7 else rng.randint(-3, 3)
            test = rng.choice(["a[i, 0] > 0.0", f"{name} > 2", "", "", ""])
            text += f"{pad}    if {test}:\n    " if test else ""
            text += f"{pad}    t[{name}] = t[{name} + {back}] + 1.0\n"
        if rng.random() < 0.15:
            text += f"{pad}    if a[i, 0] > 5.0:\n{pad}        {rng.choice(['break', 'continue'])}\n"
    return f"{text}        a[i, 1] = t[{rng.choice(['0', 'm - 1', '1'])}]\n"


def _is_private(body: str) -> bool:
    """Whether the analysis says so. If it does, nothing stale is read, in runs of many sizes."""
    facts = analyse(kernel(f"{HEAD}    t = empty(m)\n    for i in range(n):\n{body}"))
    if "t" not in facts.loops["i"].private:
        return False
    for m in range(1, 8):
        for sign in (-1.0, 1.0, 9.0):
            scratch, names = _Scratch(m), dict[str, Any]()
            exec(f"def f(a, m, t, i):\n{body}", names)
            with suppress(IndexError):  # the call ends there
                names["f"]({(0, 0): sign, (0, 1): 0.0}, m, scratch, 0)
            assert not scratch.stale, (m, sign, body)
    return True


@pytest.mark.parametrize("seed", range(6))
def test_random_scratch_is_never_private_where_something_stale_is_read(seed: int) -> None:
    rng = random.Random(seed)
    begun = "        for z in range(m):\n            t[z] = 0.0\n", "        t[0] = 1.0\n", ""
    assert sum(_is_private(rng.choice(begun) + _statements(rng, ("i",), 2, "        ")) for _ in range(40)) > 2


def test_random_recurrences_in_scratch() -> None:
    rng = random.Random(7)
    assert sum(_is_private(_recurrences(rng)) for _ in range(300)) > 8
