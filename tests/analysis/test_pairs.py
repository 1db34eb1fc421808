"""Loops that exchange elements in pairs, and loops whose steps only a call knows: which of them need no order, and what
comes out where many threads run them at once."""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from benchmarks.gpu.shapes.rounds import fourier, fourier_in_blocks, sorting_network, walsh

import loopwright as lw
from analysis.judge import guard_holds
from codegen.on_gpu import agree
from loopwright.analysis import pairs
from loopwright.analysis.facts import LoopFacts

RANDOM = np.random.default_rng(11)


def bitonic_round(x, m):
    for i in range(x.shape[0]):
        other = i ^ m
        if other > i:
            a = x[i]
            b = x[other]
            if (a > b) == (i & 16 == 0):
                x[i] = b
                x[other] = a


def asked_in_one_condition(x, m):
    for i in range(x.shape[0]):
        j = m ^ i
        if i < j and x[i] > x[j]:
            x[i], x[j] = x[j], x[i]


def left_out(x, m):
    for i in range(x.shape[0]):
        j = i ^ m
        if j <= i:
            continue
        x[i], x[j] = x[j], x[i]


def gate_on_a_bit(x, m):
    for i in range(x.shape[0]):
        if i & (1 << m) == 0:
            j = i | (1 << m)
            u = x[i]
            v = x[j]
            x[i] = 0.6 * u + 0.8 * v
            x[j] = 0.8 * u - 0.6 * v


@pytest.mark.parametrize(
    ("kernel", "m", "sizes"),
    [
        (bitonic_round, 4, (0, 1, 8, 1024)),
        (asked_in_one_condition, 64, (0, 1, 128, 4096)),
        (left_out, 2, (0, 4, 1024)),
        (left_out, 0, (0, 4, 1000)),
        (gate_on_a_bit, 3, (0, 16, 2048)),
    ],
)
def test_pairs_need_no_order(kernel: Callable[..., Any], m: int, sizes: tuple[int, ...]) -> None:
    for n in sizes:
        found = agree(kernel, RANDOM.random(n), m, strict=True)
        assert found.facts.loops["i"].verdict == "parallel"


def walsh_by_halves(x):
    n = len(x)
    m = 1
    while m < n:
        for i in range(n):
            if i % (2 * m) < m:
                u = x[i]
                x[i] = u + x[i + m]
                x[i + m] = u - x[i + m]
        m <<= 1


def walsh_of_even_blocks(x):
    n = len(x)
    m = 1
    while m < n:
        for i in range(n):
            if (i // m) % 2 == 0:
                u = x[i]
                x[i] = u + x[i + m]
                x[i + m] = u - x[i + m]
        m = m * 2


@pytest.mark.parametrize("n", [0, 1, 2, 64, 512])
@pytest.mark.parametrize("kernel", [sorting_network, walsh, walsh_by_halves, walsh_of_even_blocks, fourier])
def test_rounds_of_pairs(kernel: Callable[..., Any], n: int) -> None:
    given = (RANDOM.random(n),)
    if kernel is fourier:
        roots = np.exp(-2j * np.pi * np.arange(max(1, n // 2)) / max(1, n))
        given = (roots, RANDOM.random(n) + 1j * RANDOM.random(n))
    found = agree(kernel, *given, strict=True)
    assert found.analysed.facts.loops["i"].verdict == "parallel"
    assert "block.x" in "; ".join(str(decision.step) for decision in found.analysed.recipe.decisions)


@pytest.mark.parametrize("n", [0, 1, 2, 64, 512])
def test_blocks_of_a_length_that_grows(n: int) -> None:
    found = agree(fourier_in_blocks, RANDOM.random(max(1, n // 2)), RANDOM.random(n), strict=True)
    assert [found.analysed.facts.loops[name].verdict for name in ("s", "k")] == ["parallel", "parallel"]
    assert "block.x" in "; ".join(str(decision.step) for decision in found.analysed.recipe.decisions)


def stage(x, w, h):
    n = x.shape[0]
    for start in range(0, n, 2 * h):
        for k in range(h):
            a = start + k
            t = w[k] * x[a + h]
            x[a + h] = x[a] - t
            x[a] = x[a] + t


def stage_backwards(x, w, h):
    n = x.shape[0]
    for start in range(n - 2 * h, -1, -2 * h):
        for k in range(h):
            a = start + k
            t = w[k] * x[a + h]
            x[a + h] = x[a] - t
            x[a] = x[a] + t


@pytest.mark.parametrize("kernel", [stage, stage_backwards])
@pytest.mark.parametrize(("n", "h"), [(0, 4), (8, 4), (96, 4), (96, 1), (4096, 32)])
def test_steps_that_a_call_tells(kernel: Callable[..., Any], n: int, h: int) -> None:
    found = agree(kernel, RANDOM.random(n), RANDOM.random(h), h, strict=True)
    assert [found.analysed.facts.loops[name].verdict for name in ("start", "k")] == ["parallel", "parallel"]


def over_steps(x, steps):
    for step in steps:
        for start in range(0, x.shape[0], step):
            for k in range(step):
                x[start + k] = x[start + k] * 0.5 + step


def test_steps_that_may_be_negative_are_no_launches() -> None:
    """What could not be counted would launch a grid for each iteration."""
    with lw.options(device="emulated"):
        found = lw.kernel(over_steps).specialise(np.ones(64), np.array([2, 4, 8], np.int32))
    assert found.analysed.facts.loops["start"].verdict == "parallel"
    assert "would be a launch" in found.why_not_gpu


def test_a_step_of_zero_raises() -> None:
    with pytest.raises(ValueError, match="zero"):
        lw.kernel(stage)(np.ones(8), np.ones(4), 0)


def blocks_that_meet(x, h):
    for start in range(0, x.shape[0] - 2 * h, h):
        for k in range(2 * h):
            x[start + k] = x[start + k] * 0.5 + k


def neither_way_known(x, h):
    for start in range(4, 60, h):
        x[start] = x[start - 1] + 1.0


def growing(x):
    size = 1
    for r in range(60):
        size = size * 2
        for i in range(0, 64, size):
            x[i] = x[i] + x[i // 2] + r


def no_limit(x, n):
    size = 3
    while size != n:
        for i in range(0, 64, size):
            for j in range(size):
                x[(i + j) % 64] += x[i]
        size = size * 3


@pytest.mark.parametrize(
    ("kernel", "given"),
    [(blocks_that_meet, (64, 5)), (neither_way_known, (64, 1)), (neither_way_known, (64, 7)), (growing, (64,)),
     (no_limit, (64, 27))],
)  # fmt: skip
def test_others_keep_their_order(kernel: Callable[..., Any], given: tuple[int, ...]) -> None:
    wanted = RANDOM.random(given[0])
    got = wanted.copy()
    made = lw.kernel(kernel)
    with np.errstate(over="ignore"):
        kernel(wanted, *given[1:])
        made(got, *given[1:])
    np.testing.assert_array_equal(got, wanted)
    loops = made.specialise(got, *given[1:]).facts.loops
    assert any(loops[name].verdict not in ("parallel", "reduction") for name in ("start", "i") if name in loops)


PARTNERS = ("i ^ c", "c ^ i", "i | c", "i + c", "i ^ 4", "i + 1", "i - c", "i | 2", "i ^ d")
TESTS = (
    "{p} > i", "i < {p}", "{p} >= i", "{p} < i", "i & c == 0", "i & c != 0", "c & i == 0", "(i // c) % 2 == 0",
    "(i // c) & 1 == 0", "(i // c) % 2 == 1", "i % (2 * c) < c", "i % (c + c) < c", "i % (2 * c) <= c", "i % 2 == 0",
    "i & 4 == 0", "i & 2 == 0", "i ^ d > i", "not {p} <= i", "not i & c",
)  # fmt: skip
BODIES = (
    "x[i], x[{p}] = x[{p}], x[i]",
    "x[i] = x[{p}] + i",
    "x[{p}] = i",
    "x[i] = x[{p}]\n{in}x[{q}] = 7",
    "if x[i] > x[{p}]:\n{in}    x[i], x[{p}] = x[{p}], x[i]",
)


def some_exchange(chance: random.Random) -> tuple[str, str]:
    """The bodies of a loop over i and of one that marks what each iteration touches, whatever is stored."""
    partner, other = chance.choice(PARTNERS), chance.choice(PARTNERS)
    test = chance.choice(TESTS).format(p=f"({partner})")
    if chance.random() < 0.3:
        test = f"{test} and x[i] >= 0" if chance.random() < 0.5 else f"{test} or x[i] < 0"
    named = chance.random() < 0.5
    body = chance.choice(BODIES).replace("{in}", "            ").format(p="p" if named else partner, q=other)
    head = f"        p = {partner}\n" if named else ""
    loop = f"{head}        if {test}:\n            {body}\n"
    if chance.random() < 0.2:
        loop += f"        x[{chance.choice(('i', 'i ^ c'))}] += 1\n"
    return loop, f"    for i in range({chance.choice((0, 0, 1))}, n):\n"


def facts_of(text: str, *arguments: object) -> tuple[Callable[..., Any], LoopFacts | None]:
    """The function, and what is known of its loop over i, unless that does nothing."""
    name, scope = f"<pairs {hash(text)}>", dict[str, Any]()
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), scope)
    with lw.options(device="interpreter"):
        made = lw.kernel(scope["f"]).specialise(*arguments)
    return scope["f"], made.facts.loops.get("i")


def test_random_exchanges_in_any_order() -> None:
    """What is proven parallel gives the same in any order, also where the masks are sums of powers of two, or zero."""
    proven = 0
    for seed in range(400):
        chance = random.Random(seed)
        loop, head = some_exchange(chance)
        masks = f"    c = {chance.choice((1, 2, 4, 3, 6, 'abs(m)', '1 << m'))}\n    d = m\n"
        text = f"def f(x, n, m):\n{masks}{head}{loop}"
        _, facts = facts_of(text, np.zeros(64, np.int64), 16, 2)
        if facts is None or facts.verdict != "parallel":
            continue
        proven += 1
        for m in (0, 1, 2, 3):
            scope: dict[str, Any] = {}
            exec(f"def some(x, n, m, order):\n{masks}    for i in order:\n{loop}", scope)
            start = np.random.default_rng(seed).integers(0, 9, 64)
            order = list(range(1 if "(1, n)" in head else 0, 16))
            try:
                scope["some"](wanted := start.copy(), 16, m, order)
            except ZeroDivisionError:
                continue
            for _ in range(5):
                scope["some"](got := start.copy(), 16, m, chance.sample(order, len(order)))
                np.testing.assert_array_equal(got, wanted, err_msg=f"{seed} {m}\n{text}")
    assert proven > 40, proven


HEADS = (
    "range(0, n, h)", "range(0, n, 2 * h)", "range(n - 1, -1, -h)", "range(h, n - h, 3 * h)", "range(0, n, m)",
    "range(n // h)", "range(n // (2 * h))", "range(m)", "range(1, n // h)", "range(0, n, h + 1)", "range(m, n, len(y))",
    "range(n // len(y))",
)  # fmt: skip
INNER = (
    "range(h)",
    "range(2 * h)",
    "range(h + 1)",
    "range(s, s + h)",
    "range(m)",
    "range(h // 2)",
    "range(len(y))",
    "",
)
PLACES = (
    "s + k", "s + k + h", "s * h + k", "s * (2 * h) + k", "s * 2 * h + h + k", "k", "k + h", "s", "s * h", "s * h + h",
    "s - k", "s * len(y) + k", "s * m + k", "n - 1 - s * h", "s // 2 + k", "s + h - k - 1", "s * h + k // 2",
)  # fmt: skip


def some_blocks(chance: random.Random) -> tuple[str, str]:
    """The head of a loop over s, and what an iteration does, with indices that wrap where they are too large."""
    inner = chance.choice(INNER)
    places = [chance.choice(PLACES) for _ in range(3)]
    if not inner or "s +" in inner:
        places = [place.replace("s + k", "k") if inner else place.replace("k", "0") for place in places]
    store, load, other = places
    body = f"x[{store}] = x[{load}] + 1" if chance.random() < 0.7 else f"x[{store}] = y[0] + s"
    lines = [body]
    if chance.random() < 0.4:
        lines.append(f"x[{other}] = x[{load}] * 2")
    if chance.random() < 0.3:
        lines.insert(0, "c = s * h")
        lines[1] = lines[1].replace("s * h", "c")
    if inner:
        return chance.choice(HEADS), f"        for k in {inner}:\n" + "".join(f"            {line}\n" for line in lines)
    return chance.choice(HEADS), "".join(f"        {line}\n" for line in lines)


def test_random_blocks_in_any_order() -> None:
    """Loops over blocks whose length only a call knows: what is proven parallel gives the same in any order."""
    proven = held = 0
    for seed in range(500):
        chance = random.Random(seed)
        head, body = some_blocks(chance)
        text = f"def f(x, y, n, h, m):\n    for s in {head}:\n{body}"
        name, scope = f"<blocks {seed}>", dict[str, Any]()
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        exec(compile(text, name, "exec"), scope)
        with lw.options(device="interpreter"):
            made = lw.kernel(scope["f"]).specialise(np.zeros(64, np.int64), np.zeros(4, np.int64), 16, 2, 3)
        if made.facts.loops["s"].verdict != "parallel":
            continue
        proven += 1
        lines = f"def some(x, y, n, h, m, order):\n    for s in order:\n{body}"
        exec(lines, scope)
        for n, h, m in ((16, 1, 1), (16, 2, 3), (24, 3, 2), (17, 4, 5), (30, 5, 1)):
            start, y = np.random.default_rng(seed).integers(0, 9, 400), np.arange(chance.choice((1, 2, 5)))
            order = list(eval(head, {"n": n, "h": h, "m": m, "y": y, "len": len}))
            if not guard_holds(made.written, made.facts.guard, {"x": start, "y": y, "n": n, "h": h, "m": m}):
                continue
            held += 1
            scope["some"](wanted := start.copy(), y, n, h, m, order)
            for _ in range(3):
                scope["some"](got := start.copy(), y, n, h, m, chance.sample(order, len(order)))
                np.testing.assert_array_equal(got, wanted, err_msg=f"{seed} {(n, h, m)}\n{text}")
    assert proven > 60 and held > 150, (proven, held)


def test_a_long_loop_is_walked_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not once for each assignment in it."""
    steps = [f"        t{k} = x[i + {k}]\n        x[i + {k} * n] = t{k}\n" for k in range(60)]
    seen = 0
    real = pairs.statements

    def counted(*arguments: Any) -> Iterator[Any]:
        nonlocal seen
        for one in real(*arguments):
            seen += 1
            yield one

    monkeypatch.setattr(pairs, "statements", counted)
    _, facts = facts_of(f"def f(x, n):\n    for i in range(n):\n{''.join(steps)}", np.zeros(9), 3)
    assert facts.verdict == "sequential" and 0 < seen < 10 * 2 * len(steps)
