"""Verdicts of whole kernels: planted dependences that must never be called parallel, and loops that must be found."""

from __future__ import annotations

import pytest

from analysis.small import kernel
from loopwright.analysis.analyse import analyse
from loopwright.analysis.facts import LoopFacts
from loopwright.ir.nodes import ArrayParam, For, Kernel, Load, Store, Var
from loopwright.ir.types import FLOAT64, INT64

HEAD = (
    'def f(a: "float64[1]", b: "float64[2]", c: "float64[1]", x: "int64[1]", y: "int32[1]", n: "int64", '
    'm: "int64", p: "int32", flag: "bool"):\n'
)


def loops(text: str, **overrides: object) -> dict[str, LoopFacts]:
    body = "".join(f"    {line}\n" for line in text.strip().split("\n"))
    return dict(analyse(kernel(HEAD + body, **overrides)).loops)


PLANTED = {
    "RAW, one iteration on": "for i in range(1, n):\n    a[i] = a[i - 1]",
    "RAW, far on": "for i in range(n):\n    a[i + 7] = a[i]",
    "WAR": "for i in range(n):\n    a[i] = a[i + 1]",
    "WAW, one element": "for i in range(n):\n    a[0] = c[i]",
    "WAW, every fourth": "for i in range(n):\n    a[i % 4] = c[i]",
    "WAW, every second": "for i in range(n):\n    a[i // 2] = c[i]",
    "a negative step": "for i in range(n, 0, -1):\n    a[i] = a[i - 1]",
    "a negative step, the other way": "for i in range(n - 1, -1, -1):\n    a[i] = a[i + 1]",
    "a step of two": "for i in range(0, n, 2):\n    a[i + 2] = a[i]",
    "a step of three, met after two": "for i in range(0, n, 3):\n    a[i] = a[i + 6]",
    "a step known at run time": "for i in range(0, n, m):\n    a[i + 1] = a[i]",
    "coefficients that meet": "for i in range(n):\n    a[2 * i] = a[3 * i]",
    "the mirrored element": "for i in range(n):\n    a[i] = a[n - 1 - i]",
    "across the diagonal": "for i in range(n):\n    for j in range(n):\n        b[i, j] = b[j, i]",
    "a triangle that touches itself": "for i in range(n):\n    for j in range(i + 1):\n        b[i, j] = b[j, 0]",
    "through an inner loop": "for i in range(n):\n    for j in range(m):\n        a[j] = a[j] * 2.0 + 1.0",
    "diagonals": "for i in range(n):\n    for j in range(m):\n        a[i + j] = c[i]",
    "from the end": "for i in range(n):\n    a[i] = a[-1]",
    "around the end": "for i in range(len(a)):\n    a[i] = a[i - 1]",
    "only around the end": "for i in range(len(a) + 1):\n    a[i - 1] = c[0]",
    "around the end, by a remainder": "for i in range(len(a)):\n    a[(i + 1) % len(a)] = a[i]",
    "an index that may be negative": "for i in range(-n, n):\n    a[i] = a[0] + 1.0",
    "indirect write": "for i in range(n):\n    a[x[i]] = c[i]",
    "indirect read": "for i in range(n):\n    a[i] = a[x[i]]",
    "indirect through what the loop writes": "for i in range(n):\n    x[i] = x[x[i]]",
    "an index that changes": "k = 0\nfor i in range(n):\n    if c[i] > 0.0:\n        a[k] = c[i]\n        k = k + 1",
    "data decides": "for i in range(n):\n    if c[i] > 0.0:\n        a[0] = c[i]",
    "a condition that lets two through": "for i in range(n):\n    if i > n - 3:\n        a[0] = c[i]",
    "only one branch": "for i in range(n):\n    if i > 3:\n        a[i] = 1.0\n    else:\n        a[i + 4] = 2.0",
    "after continue": "for i in range(1, n):\n    if c[i] > 0.0:\n        continue\n    a[i] = a[i - 1]",
    "in a lazy operand": "for i in range(1, n):\n    a[i] = a[i - 1] if c[i] > 0.0 else 0.0",
    "in a condition": "for i in range(1, n):\n    if a[i - 1] > 0.0:\n        a[i] = 1.0",
    "in a loop's bound": "for i in range(1, n):\n    for j in range(x[i - 1]):\n        x[i] = j",
    "in a while condition": "for i in range(1, n):\n    k = i\n"
    "    while a[k - 1] > 0.0:\n        k = k + 1\n    a[i] = 1.0",
    "in an index": "for i in range(1, n):\n    x[i] = 0\n    a[x[i - 1]] = 1.0",
    "a scalar": "s = 0.0\nfor i in range(n):\n    a[i] = s\n    s = c[i]",
    "a scalar from an inner loop": "s = 0.0\nfor i in range(n):\n"
    "    for j in range(m):\n        s = c[j]\n    a[i] = s",
    "a scalar kept from some iteration": "s = 0.0\nfor i in range(n):\n    if c[i] > 0.0:\n        s = c[i]\na[0] = s",
    "a running sum": "s = 0.0\nfor i in range(n):\n    s += c[i]\n    a[i] = s",
    "a local array": "t = zeros(m)\nfor i in range(n):\n    a[i] = t[0]\n    t[0] = c[i]",
    "a local array, partly filled": "t = zeros(m)\nfor i in range(n):\n    t[i % m] = c[i]\n    a[i] = t[0]",
    "break": "for i in range(n):\n    a[i] = 1.0\n    if c[i] > 0.0:\n        break",
    "return": "for i in range(n):\n    a[i] = 1.0\n    if c[i] > 0.0:\n        return",
    "leave": "with out:\n    for i in range(n):\n        a[i] = 1.0\n        if c[i] > 0.0:\n            leave(out)",
    "narrow arithmetic that wraps": "for i in range(n):\n    a[int64(int8(i) * int8(64))] = c[i]",
    "a cast that wraps": "for i in range(n):\n    a[int64(int8(i))] = c[i]",
    "rows that overlap": "for i in range(n):\n    for j in range(m + 1):\n        a[i * m + j] = c[i]",
    "rows of unknown width": "for i in range(n):\n    for j in range(m):\n        a[i * p + j * p] = c[i]",
    "products": "for i in range(n):\n    a[i * i - i] = c[i]",
    "two statements": "for i in range(n):\n    a[i] = c[i]\n    c[i] = a[i + 1]",
    "masks": "for i in range(n):\n    a[i & 7] = c[i]",
    "shifts": "for i in range(n):\n    a[i >> 1] = c[i]",
    "minimum": "for i in range(n):\n    a[min(i, 5)] = c[i]",
    "absolute": "for i in range(n):\n    a[abs(i - 5)] = c[i]",
    "a choice": "for i in range(n):\n    a[i if flag else 0] = c[i]",
    "a scalar between": "for i in range(n):\n    k = i // 2\n    a[k + 1] = c[i]",
    "a scalar joined": "for i in range(n):\n    k = i\n    if i > 3:\n        k = 3\n    a[k] = c[i]",
    "a stored index": "for i in range(n):\n    x[0] = i\n    a[x[0] // 2] = c[i]",
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_dependence_is_never_parallel(name: str) -> None:
    found = loops(PLANTED[name])["i"]
    assert found.verdict in ("sequential", "undecided"), found
    assert found.reason


PARALLEL = {
    "copy": "for i in range(n):\n    a[i] = c[i]",
    "in place": "for i in range(n):\n    a[i] = a[i] * 2.0",
    "stencil": "for i in range(1, n - 1):\n    for j in range(1, m - 1):\n        b[i, j] = c[i - 1] + c[i + 1]",
    "odd from even": "for i in range(n):\n    a[2 * i] = a[2 * i + 1]",
    "even steps": "for i in range(0, n, 2):\n    a[i] = a[i + 1]",
    "halves": "for i in range(n):\n    a[i] = a[i + n]",
    "transposed triangle": "for i in range(n):\n    for j in range(i):\n        b[i, j] = b[j, i]",
    "mirrored half": "for i in range(n // 2):\n    t = a[i]\n    a[i] = a[n - 1 - i]\n    a[n - 1 - i] = t",
    "one iteration writes": "for i in range(n):\n    if i == 4:\n        a[0] = c[i]",
    "branches on data": "for i in range(n):\n    if c[i] > 0.0:\n        a[i] = 1.0\n    else:\n        a[i] = 2.0",
    "gather": "for i in range(n):\n    a[i] = c[x[i]]",
    "sparse rows": "for i in range(n):\n    s = 0.0\n"
    "    for k in range(x[i], x[i + 1]):\n        s += c[y[k]]\n    a[i] = s",
    "a while inside": "for i in range(n):\n    k = 0\n    while c[k] > 0.0:\n        k = k + 1\n    a[i] = float64(k)",
    "break inside": "for i in range(n):\n    for j in range(m):\n"
    "        if c[j] > 0.0:\n            break\n        b[i, j] = 1.0",
    "continue": "for i in range(n):\n    if c[i] > 0.0:\n        continue\n    a[i] = 1.0",
    "a block inside": "for i in range(n):\n    with done:\n"
    "        if c[i] > 0.0:\n            leave(done)\n        a[i] = 1.0",
    "a private array": "for i in range(n):\n    t = zeros(m)\n    t[0] = c[i]\n    a[i] = t[0]",
    "around the end of another": "for i in range(len(a)):\n    a[i] = c[i - 1] + c[(i + 1) % len(c)]",
    "a rotation": "for i in range(len(a)):\n    a[(i + 1) % len(a)] = c[i]",
    "from the end": "for i in range(n):\n    a[i] = c[-1]",
    "tiles": "for i in range(0, n, 32):\n    for j in range(i, min(i + 32, n)):\n        a[j] = c[j]",
    "tiles by hand": "for i in range(n // 32):\n    k = i * 32\n    for j in range(32):\n        a[k + j] = c[j]",
    "by hand": "for i in range(n):\n    for j in range(m):\n        a[i * m + j] = c[j]",
    "a choice of places": "for i in range(n):\n    a[i if i < 5 else i + 1] = c[i]",
    "narrow bounds": "for i in range(int64(p)):\n    a[i] = c[i]",
    "last value": "t = 0.0\nfor i in range(n):\n    t = c[i]\n    a[i] = t\na[0] = t",
    "one row at a time": "for k in range(n):\n    for i in range(m):\n        b[k, i] = b[k - 1, i] if k > 0 else 1.0",
    "bits": "for i in range(n):\n    a[2 * (i >> 1) + (i & 1)] = c[i]",
}


@pytest.mark.parametrize("name", PARALLEL)
def test_a_parallel_loop_is_found(name: str) -> None:
    found = loops(PARALLEL[name])["i"]
    assert found.verdict == "parallel", found


def test_private_and_last() -> None:
    found = loops(PARALLEL["last value"])["i"]
    assert (found.private, found.last) == (("t",), ("t",))


def test_a_while_loop_is_sequential() -> None:
    assert loops("k = 0\nwhile k < n:\n    a[k] = 1.0\n    k = k + 1")["while1"].verdict == "sequential"


def test_overlapping_arguments_keep_every_storing_loop_in_order() -> None:
    text = "for i in range(n):\n    a[i] = c[i]\nfor j in range(n):\n"
    text += "    s = c[j]\nt = zeros(n)\nfor k in range(n):\n    t[k] = c[k]"
    found = loops(text, overlap=True)
    assert {name: loop.verdict for name, loop in found.items()} == {
        "i": "sequential", "j": "parallel", "k": "parallel",
    }  # fmt: skip
    assert "overlap" in found["i"].reason
    assert loops(text)["i"].verdict == "parallel"


@pytest.mark.parametrize(("offset", "verdict"), [(8, "parallel"), (4, "sequential")])
def test_fields_of_records(offset: int, verdict: str) -> None:
    i = Var("i", INT64)
    fields = (ArrayParam("p.x", FLOAT64, 0, 1), ArrayParam("p.y", FLOAT64, 0, 1, offset=offset))
    loop = kernel(HEAD + "    for i in range(len(a)):\n        a[i] = 1.0\n").body[0]
    assert isinstance(loop, For)
    body = (Store("p.x", (i,), Load("p.y", (i,), FLOAT64)),)
    found = Kernel("f", fields, (For("i", loop.lower, loop.step, loop.step, body),))
    assert analyse(found).loops["i"].verdict == verdict


def test_an_inner_loop_has_a_verdict_of_its_own() -> None:
    text = "for i in range(1, n):\n    for j in range(m):\n        b[i, j] = b[i - 1, j]"
    found = loops(text)
    assert (found["i"].verdict, found["j"].verdict) == ("sequential", "parallel")


def test_too_hard_is_undecided() -> None:
    lines = ["for i in range(n):"]
    for k in range(2, 12):
        lines.append(f"    if (i * {k} + n) % {k + 1} != (i + m) // {k} or i % {k} == {k - 1}:")
        lines.append(f"        a[(i * {k} + m) % {k + 3} + (n - i) // {k}] = a[(i + {k} * m) % {k + 2}] + 1.0")
    assert loops("\n".join(lines))["i"].verdict in ("undecided", "sequential")


def test_facts_are_for_the_nodes_of_the_kernel() -> None:
    found = kernel(HEAD + "    for i in range(n):\n        a[i] = c[i]\n")
    facts = analyse(found)
    (loop,) = found.body
    assert isinstance(loop, For)
    (store,) = loop.body
    assert isinstance(store, Store) and isinstance(store.value, Load)
    assert facts.bounds_of(store)[0].condition == "len(a) >= n"
    assert facts.bounds_of(store.value)[0].condition == "len(c) >= n"
