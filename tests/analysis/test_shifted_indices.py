"""Elements at places that a table shifts: which loops need no order, and what comes out where many threads run them."""

from __future__ import annotations

import linecache
import random
import re
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree

CX = np.array([0, 1, -1, 0, 5])


def pushed(f, g, c):
    for x in range(f.shape[1]):
        for k in range(f.shape[0]):
            g[k, (x + c[k]) % f.shape[1]] = f[k, x]


def pushed_by_name(f, g, c):
    n = f.shape[1]
    for x in range(n):
        for k in range(f.shape[0]):
            to = (x + 2 * k - c[k]) % n
            g[k, to] = f[k, x]


def bounced(f, g, c):
    n = f.shape[1]
    for x in range(n):
        if f[0, x] > 0.5:
            for k in range(f.shape[0]):
                g[k, (x + c[k]) % n] = f[f.shape[0] - 1 - k, x]
        else:
            for k in range(f.shape[0]):
                g[k, (x + c[k]) % n] = f[k, x]


def added_to(f, g, c):
    for x in range(f.shape[1]):
        for k in range(f.shape[0]):
            g[k, (x + c[k]) % f.shape[1]] += f[k, x]


def inside(f, g, c):
    for x in range(f.shape[1]):
        for k in range(f.shape[0]):
            if 0 <= x + c[k] < f.shape[1]:
                g[k, x + c[k]] = f[k, x]


def another_shift(f, g, c):
    n = f.shape[1]
    for x in range(n):
        for k in range(f.shape[0]):
            g[k, (x + c[k]) % n] = f[k, x]
            g[k, (x + c[k] + 1) % n] = f[k, x] + 1


def no_key(f, g, c):
    for x in range(f.shape[1]):
        for k in range(f.shape[0]):
            g[0, (x + c[k]) % f.shape[1]] = f[k, x]


def shorter_period(f, g, c):
    for x in range(f.shape[1]):
        for k in range(f.shape[0]):
            g[k, (x + c[k]) % (f.shape[1] - 1)] = f[k, x]


def twice_as_far(f, g, c):
    for x in range(f.shape[1]):
        for k in range(f.shape[0]):
            g[k, (2 * x + c[k]) % f.shape[1]] = f[k, x]


def shifts_that_change(f, g, c):
    for x in range(f.shape[1]):
        for k in range(f.shape[0]):
            g[k, (x + c[k]) % f.shape[1]] = f[k, x]
            c[k] += 1


def in_tiles(f, g, c):
    n = f.shape[1]
    for x in range(0, n, 8):
        for y in range(x, min(x + 8, n)):
            for k in range(f.shape[0]):
                g[k, (y + c[k]) % n] = f[k, y]


def in_tiles_of_a_period(f, g, c):
    for x in range(0, f.shape[1] // 8 * 8, 8):
        for y in range(x, x + 8):
            for k in range(f.shape[0]):
                g[k, (y + c[k]) % 8] = f[k, y]


def backwards_within_a_period(f, g, c):
    for x in range(6, -1, -1):
        for k in range(f.shape[0]):
            g[k, (x + c[k]) % 7] = f[k, x % f.shape[1]]


def backwards_beyond_a_period(f, g, c):
    for x in range(10, -1, -1):
        for k in range(f.shape[0]):
            g[k, (x + c[k]) % 5] = f[k, x % f.shape[1]]


APART = (pushed, pushed_by_name, bounced, added_to, inside, in_tiles, backwards_within_a_period)
TIED = (
    another_shift,
    no_key,
    shorter_period,
    twice_as_far,
    shifts_that_change,
    in_tiles_of_a_period,
    backwards_beyond_a_period,
)


def arguments(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.random.default_rng(n).random((len(CX), n)), np.zeros((len(CX), max(n, 8))), CX.copy()


@pytest.mark.parametrize("n", [2, 7, 300])
@pytest.mark.parametrize("kernel", [*APART, *TIED])
def test_iterations_need_no_order_where_they_never_meet(kernel: Any, n: int) -> None:
    found = agree(kernel, *arguments(n))
    assert (found.analysed.facts.loops["x"].verdict == "parallel") == (kernel in APART)


@pytest.mark.parametrize("kernel", [*APART, *TIED])
def test_threads_of_a_processor_agree(kernel: Any) -> None:
    mine, wanted = arguments(3000), arguments(3000)
    kernel(*wanted)
    lw.kernel(device="cpu")(kernel)(*mine)
    for one, other in zip(mine, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


def some_nest(chance: random.Random) -> str:
    """A loop over x, or over parts of its iterations and those in one, and a loop over shifts."""
    shift = chance.choice(("c[k]", "2 * c[k]", "c[k] + k", "k", "c[0]", "c[x]", "c[k] - c[0]"))
    sign = chance.choice(("x", "x", "x", "2 * x", "-x", "n - 1 - x"))
    key = chance.choice(("k", "k", "k", "0", "k // 2", "k + 1"))
    start, stop = chance.choice(("0", "0", "1", "-1")), chance.choice(("n", "n", "n - 1", "n + 1"))
    bounds = f"{start}, {stop}" if chance.random() < 0.8 else f"{stop}, {start}, {chance.choice((-1, -2))}"
    head, periods = (
        f"for x in range({bounds}):\n        mark(x)\n",
        ["n", "n", "n", "n + 1", "n - 1", "3", "(n + k)"],
    )
    if chance.random() < 0.5:
        part = chance.choice((2, 3))
        end = chance.choice((f"xo + {part}", f"min(xo + {part}, n)"))
        head = f"for xo in range(0, n, {part}):\n        mark(xo)\n        for x in range(xo, {end}):\n"
        periods = [f"{part}", "n"]
    period = chance.choice(periods)
    places = [f"{key}, ({sign} + {more}) % {period}" for more in (shift, chance.choice((shift, f"{shift} + 1")))]
    inner = " " * (12 if "xo" in head else 8)
    stores = "".join(f"{inner}    g[{place}] = f[k, x]\n" for place in places)
    return f"def f(f, g, c, n, m):\n    {head}{inner}for k in range(m):\n{stores}"


class Seen:
    """An array that notes in which iteration each element is set."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.shape, self.iteration, self.by = shape, 0, dict[tuple[int, ...], set[int]]()

    def mark(self, iteration: int) -> None:
        self.iteration = iteration

    def __setitem__(self, place: tuple[int, ...], value: float) -> None:
        element = tuple(int(index) % size for index, size in zip(place, self.shape, strict=True))
        self.by.setdefault(element, set()).add(self.iteration)


def test_random_nests_whose_iterations_never_meet() -> None:
    """What is proven parallel sets each element in one iteration, for shifts and sizes of every kind."""
    proven = 0
    for seed in range(120):
        text = some_nest(random.Random(seed))
        name, scope = f"<shifts {seed}>", dict[str, Any]()
        plain = re.sub(r" *mark\(\w+\)\n", "", text)
        linecache.cache[name] = (len(plain), None, plain.splitlines(keepends=True), name)
        exec(compile(plain, name, "exec"), scope)
        arrays = np.ones((14, 14)), np.zeros((14, 14)), np.zeros(14, np.int64)
        with lw.options(device="interpreter"):
            loops = lw.kernel(scope["f"]).specialise(*arrays, 5, 3).analysed.facts.loops
        if loops["xo" if "xo" in loops else "x"].verdict != "parallel":
            continue
        proven += 1
        for size in range(1, 8):
            seen = Seen((14, 14))
            exec(text, scope | {"mark": seen.mark}, marked := dict[str, Any]())
            marked["f"].__globals__["mark"] = seen.mark
            with suppress(ZeroDivisionError, IndexError):
                marked["f"](arrays[0], seen, np.random.default_rng(size).integers(-3, 4, 14), size, size % 3 + 1)
            assert all(len(iterations) == 1 for iterations in seen.by.values()), plain
    assert proven >= 3
