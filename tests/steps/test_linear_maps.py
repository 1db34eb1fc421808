"""Linear recurrences in chunks, where maps of floats overflow, cancel or vanish and the scalar does not: the result is
what the loop as written makes of it."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from codegen.execution import compiled
from loopwright.ir.interp import interpret
from loopwright.ir.nodes import If
from loopwright.steps.schedule import apply_schedule, parse_schedule
from steps.kernels import known

Numbers = list[float]


TEXT = """
kernel one(a: {type}[1] C, b: {type}[1] C, y: {type}[1] C, d: {type}) -> {type}:
    var s: {type}
    s = d
    for i in 0 .. size(a, 0):
        s = {update}
        y[i] = s
    return s
"""


def results(
    type_: str, update: str, start: float, a: Numbers, b: Numbers, chunks: int
) -> tuple[Numbers, Numbers, bool]:
    """The scalar after each iteration, as written and in chunks, and whether one of these was computed again."""
    kernel, facts = known(TEXT.format(type=type_, update=update))
    changed, _ = apply_schedule(kernel, facts, parse_schedule(f"scan i {chunks}"), strict=False)
    found: list[Numbers] = []
    dtype = np.dtype(type_)
    for one in (kernel, changed):
        y = np.zeros(len(a), dtype)
        last = interpret(one, [np.array(a, dtype), np.array(b, dtype), y, dtype.type(start)])
        found.append([*y.tolist(), float(last)])  # type: ignore[arg-type]
    return found[0], found[1], any(isinstance(stmt, If) for stmt in changed.body)


UPDATE = "a[i] * s + b[i]"
INF = float("inf")
NAN = float("nan")

EXACT: list[tuple[float, Numbers, Numbers]] = [
    (1.0, [2.0] * 400, [-1.0] * 400),  # it stays at 1, and chunks have 2 ** 100
    (1.0, [1.7] * 114, [-0.7] * 114),  # likewise, and 57 of them lose all digits but two
    (1e11, [1.234567e-160, 1e-158, 1e200, 1e110] * 4, [0.0] * 16),  # products lose digits, and are enlarged then
    (0.0, [1e200] * 12, [0.0] * 12),  # it stays at 0, and a product of factors is infinite: 0 * inf
    (0.0, [1e300] * 8 + [0.0] * 4, [0.0] * 11 + [5.0]),
    (1.0, [1e200, 1e-200] * 20, [0.0] * 40),
    (1e-300, [1e200, 1e200, 1e-200, 1e-200] * 4, [0.0] * 16),
    (1e300, [1e-200, 1e-200, 1e200, 1e150] * 4, [0.0] * 16),  # too small within a chunk, and not in the end
    (1e300, [1e-110] * 4 + [1.0] * 12, [0.0] * 16),
    (1.0, [1.0, NAN, 1.0, 1.0] + [1.0] * 12, [1.0] * 16),
    (1.0, [1.0] * 16, [1.0] * 9 + [NAN] + [1.0] * 6),
    (1.0, [1.0] * 16, [1.0] * 5 + [INF] + [1.0] * 10),
    (1.0, [1.0] * 16, [1.0] * 5 + [INF] + [1.0] * 4 + [-INF] + [1.0] * 5),
    (0.0, [1.0] * 5 + [INF] + [1.0] * 10, [0.0] * 16),
    (INF, [0.5] * 16, [1.0] * 16),
    (INF, [0.5] * 8 + [0.0] + [0.5] * 7, [1.0] * 16),
    (-INF, [0.5, -2.0] * 8, [-1.0] * 16),
    (INF, [-1.0] + [1e200] * 15, [0.0] * 9 + [INF] + [0.0] * 6),
    (INF, [1.0] * 16, [0.0] * 7 + [-INF] + [0.0] * 8),
    (INF, [1e-200] * 16, [0.0] * 16),  # factors vanish, and 0 * inf is no number
    (NAN, [0.0] * 16, [1.0] * 16),
    (1.0, [4.0] * 600, [0.0] * 600),  # to infinity
    (3.0, [0.5] * 1200, [0.0] * 1200),  # to 0
    (-0.0, [1.0] * 8, [-0.0] * 8),
]


@pytest.mark.parametrize(("start", "a", "b"), EXACT)
def test_what_is_not_to_be_trusted_is_computed_again(start: float, a: Numbers, b: Numbers) -> None:
    for chunks, update in ((2, UPDATE), (4, UPDATE), (7, UPDATE), (4, "s * a[i]")):
        wanted, found, has_check = results("float64", update, start, a, b, chunks)
        assert has_check
        np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-300)
        assert np.signbit(found).tolist() == np.signbit(wanted).tolist() or np.isnan(wanted).any()


def test_compiled_code_sees_what_is_not_to_be_trusted(tmp_path: Path) -> None:
    kernel, facts = known(TEXT.format(type="float64", update=UPDATE))
    schedule = parse_schedule("scan i 4; parallelize i.a; parallelize i.v; parallelize i.c")
    changed, facts = apply_schedule(kernel, facts, schedule, False)
    entry = compiled(changed, tmp_path, facts, check_all=False, strict=False, threads=2)
    for start, a, b in EXACT:
        both = [np.zeros(len(a)) for _ in range(2)]
        with np.errstate(all="ignore"):
            interpret(kernel, [np.array(a), np.array(b), both[0], start])
        entry.run((np.array(a), np.array(b), both[1], start))
        np.testing.assert_allclose(both[1], both[0], rtol=1e-13, atol=1e-300)


FORGETTING = [
    "a[i] if b[i] > 0.0 else a[i] * s",
    "0.0 if b[i] > 0.0 else s + a[i]",
    "a[i] if b[i] > 0.0 else 0.5 * s",
]


@pytest.mark.parametrize("update", FORGETTING)
def test_what_is_forgotten_is_forgotten_even_if_it_was_no_number(update: str) -> None:
    for special in (NAN, INF, 1e308):
        a, b = [1.0] * 16, [0.0] * 16
        a[3], b[9] = special, 1.0
        for chunks in (2, 4, 5):
            wanted, found, _ = results("float64", update, special, a, b, chunks)
            np.testing.assert_array_equal(found, wanted)


def _gains(rng: random.Random) -> float:
    return rng.choice([0.0, 1.0, -1.0, 0.5, 0.9, 1.1, 2.0, -3.0, 1e-30, 1e30])


Draw = Callable[[random.Random], float]
DRAWS: list[tuple[Draw, Draw]] = [
    (lambda rng: rng.uniform(0.5, 1.0), lambda rng: rng.gauss(0.0, 1.0)),
    (lambda rng: rng.gauss(0.0, 1.0), lambda rng: rng.gauss(0.0, 1.0)),
    (_gains, lambda rng: rng.choice([0.0, 1.0, -2.0])),
    (lambda rng: rng.uniform(0.9, 1.2), lambda _: 0.0),
    (lambda rng: 10.0 ** rng.randint(-6, 6), lambda rng: 10.0 ** rng.randint(-6, 6)),
]


@pytest.mark.parametrize(("type_", "accuracy"), [("float64", 1e-11), ("float32", 1e-3)])
@pytest.mark.parametrize("draw", DRAWS)
def test_random_recurrences_are_as_exact_as_the_loop_itself(
    type_: str, accuracy: float, draw: tuple[Draw, Draw]
) -> None:
    """An error counts beside what the terms of the last iterations were: to lose the same digits in another way is no
    fault. Where the loop gives a finite number, so do chunks."""
    rng = random.Random(5)
    for size in (0, 1, 5, 63, 64, 200):
        a, b = ([draw[kind](rng) for _ in range(size)] for kind in (0, 1))
        start = rng.choice([0.0, 1.0, -5.0])
        with np.errstate(all="ignore"):
            wanted, found, _ = results(type_, UPDATE, start, a, b, 4)
            scale, largest = abs(start), []
            for x, factor, added in zip([start, *wanted], a, b, strict=False):
                scale = max(abs(factor) * scale, abs(factor * x), abs(added))
                largest.append(scale)
        for mine, right, size_of_terms in zip(found, wanted, [*largest, *largest[-1:]], strict=False):
            if np.isfinite(right):
                assert abs(mine - right) <= accuracy * max(abs(right), size_of_terms), (type_, size)


def test_whole_numbers_wrap_and_need_no_check() -> None:
    text = """
kernel hash(a: int64[1] C, h: int64[1] C):
    var x: int64
    x = 5381
    for i in 0 .. size(a, 0):
        x = 6364136223846793005 * x + a[i]
        h[i] = x
"""
    kernel, facts = known(text)
    changed, _ = apply_schedule(kernel, facts, parse_schedule("scan i 4"), strict=True)
    assert not any(isinstance(stmt, If) for stmt in changed.body)
    for size in (0, 1, 4, 5, 50):
        a = np.random.default_rng(size).integers(-(2**63), 2**63 - 1, size)
        both = [np.zeros(size, np.int64) for _ in range(2)]
        for one, h in zip((kernel, changed), both, strict=True):
            interpret(one, [a.copy(), h])
        np.testing.assert_array_equal(*both)
