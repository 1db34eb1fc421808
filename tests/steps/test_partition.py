from __future__ import annotations

import random

import pytest

from loopwright.ir.text import print_kernel
from loopwright.steps.partition import Partition
from loopwright.steps.schedule import apply_schedule, parse_schedule
from recipe.planning import check_same
from steps.kernels import MATMUL, ROWS, WHILE, known
from steps.pictures import check_picture

SIZES = ((0, 0, 0), (1, 1, 1), (2, 2, 2), (1, 3, 1), (3, 1, 2), (7, 5, 3))
HEAD = """
kernel f(a: float64[2] C, b: float64[2] C, n: int64):
    var s: int64
    for i in 0 .. size(a, 0):
        for j in 0 .. size(a, 1):
            {}
"""
BODIES = {
    "border": ["if i > 0 and i < size(a, 0) - 1 and j > 0 and j < size(a, 1) - 1:", "    b[i, j] = a[i, j - 1]",
               "else:", "    b[i, j] = 7.0"],
    "others": ["if j != i:", "    b[i, j] = b[i, j] + a[i, j]"],
    "self": ["if j == i:", "    b[i, j] = b[i, j] + a[i, j]", "else:", "    b[i, j] = 2.0"],
    "upper": ["if j > i:", "    b[i, j] = a[i, j]"],
    "beyond": ["if j < n and a[i, j] > 2.0:", "    b[i, j] = 1.0"],
    "clamped": ["b[i, j] = a[i, max(j - 1, 0)] + a[i, min(j + 1, size(a, 1) - 1)]"],
    "clamped on both sides": ["b[i, j] = a[i, min(max(j - 2, 0), size(a, 1) - 1)]",
                              "b[i, j] = b[i, j] + a[i, max(min(j + 1, size(a, 1) - 1), 0)]"],
    "clamped window": ["for d in -1 .. 2:", "    for e in -1 .. 2:", "        s = min(max(j + e, 0), size(a, 1) - 1)",
                       "        b[i, j] = b[i, j] + a[min(max(i + d, 0), size(a, 0) - 1), s]"],
    "clamped and around": ["b[i, j] = a[i, (min(max(j - 1, 0), size(a, 1) - 1) + 1) % size(a, 1)]"],
    "around": ["b[i, j] = a[i, (j + 1) % size(a, 1)] + a[i, j - 1]"],
    "twice around": ["b[i, j] = a[i, (j + 2 * size(a, 1) - 2) % size(a, 1)]"],
    "scalar": ["s = j + 1", "if s == size(a, 1):", "    s = 0", "b[i, s] = a[i, s]"],
    "either": ["if i == 0 or j == 0 or j == size(a, 1) - 1:", "    b[i, j] = 0.0", "else:",
               "    b[i, j] = a[i - 1, j + 1]"],
    "last row": ["if i + 1 >= size(a, 0):", "    b[i, j] = 0.0", "else:", "    if j + 1 >= size(a, 1):",
                 "        b[i, j] = 1.0", "    else:", "        b[i, j] = a[i + 1, j + 1]"],
    "several": ["if j > 2:", "    b[i, j] = a[i, j - 3]", "if j < n:", "    b[i, j] = b[i, j] + 1.0"],
    "window": ["for d in 0 .. 3:", "    for e in 0 .. 3:",
               "        if i + d > 0 and i + d <= size(a, 0) and j + e > 0 and j + e <= size(a, 1):",
               "            b[i, j] = b[i, j] + a[i + d - 1, j + e - 1]"],
    "mirrored window": ["for d in -1 .. 2:", "    s = 2 * j + d", "    if s < 0:", "        s = -s",
                        "    if s >= size(a, 1):", "        s = (2 * size(a, 1) - 1 - s) % size(a, 1)",
                        "    b[i, j] = b[i, j] + a[i, s]"],
    "selected": ["b[i, j] = a[i, j - 1] if j > 0 else a[i, j]"],
}  # fmt: skip


def test_the_picture() -> None:
    check_picture(Partition)


@pytest.mark.parametrize("counts", ["0 .. size(a, 1)", "size(a, 1) - 1 .. -1 step -1"])
@pytest.mark.parametrize("name", BODIES)
def test_the_same_is_computed(name: str, counts: str) -> None:
    text = HEAD.replace("0 .. size(a, 1)", counts).format("\n            ".join(BODIES[name]))
    kernel, facts = known(text)
    step = Partition("j")
    assert step.illegal(kernel, facts, strict=True) is None
    check_same(kernel, step.apply(kernel), {"a": "nm", "b": "nm"}, SIZES)


def test_the_steady_iterations_are_free_where_the_others_tie_the_loop() -> None:
    text = HEAD.format("if j != i:\n                b[i, j] = b[i, j] + b[i, i]")
    kernel, facts = known(text)
    assert facts.loops["j"].verdict == "parallel"
    _, found = apply_schedule(kernel, facts, parse_schedule("partition j; vectorize j"), strict=True)
    assert found.loops["j"].verdict == "parallel"


@pytest.mark.parametrize("name", ["clamped on both sides", "clamped window"])
def test_where_both_ends_are_clamped_the_steady_iterations_are_at_neither(name: str) -> None:
    kernel, _ = known(HEAD.format("\n            ".join(BODIES[name])))
    text = print_kernel(Partition("j").apply(kernel))
    middle = next(part for part in text.split("for j")[1:] if "for j in" not in part and "max(" not in part)
    assert "min(" not in middle.split(":", 1)[1]


def test_bounds_are_proven_anew() -> None:
    kernel, facts = known(HEAD.format("b[i, j] = a[i, j - 1]"))
    after, found = apply_schedule(kernel, facts, parse_schedule("partition j"), strict=True)
    ends = {found.bounds[key][1].may_be_negative for key in found.bounds if len(found.bounds[key]) == 2}
    assert ends == {True, False}
    assert after is not kernel


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (WHILE, "while"),
        (ROWS, "no condition on 'i'"),
        (MATMUL, "no condition on 'j'"),
        (HEAD.format("if j > 0:\n                break j"), "break"),
        (HEAD.format("if j > 0:\n                continue j"), "continue"),
        (HEAD.replace("size(a, 1):", "size(a, 1) step 2:").format("b[i, max(j - 1, 0)] = 0.0"), "neither 1 nor -1"),
    ],
)
def test_refusals_say_why(text: str, word: str) -> None:
    loop = "w" if text is WHILE else "i" if text is ROWS else "j"
    rejection = Partition(loop).illegal(*known(text), strict=True)
    assert rejection is not None and word in rejection.reason


def test_text() -> None:
    assert Partition.parse(("j",)) == Partition("j")
    assert str(Partition("j")) == "partition j"


def _random_body(draw: random.Random) -> list[str]:
    def whole() -> str:
        term = draw.choice(["i", "n", "size(a, 0)", "size(a, 1)", "2 * i", "i - n", "n + i", "s"])
        return draw.choice([str(draw.randint(-3, 5)), term, f"{term} {draw.choice('+-')} {draw.randint(1, 3)}"])

    def moving(names: str = "jjjd") -> str:
        of = draw.choice(names)
        of = draw.choice([of, of, f"{draw.choice([2, 3, -2])} * {of}"])
        away = draw.randint(1, 4)
        return draw.choice([of, f"{of} + {away}", f"{of} - {away}", f"{of} + i", f"i - {of}", f"{of} + d", "s"])

    def condition(depth: int = 0) -> str:
        if depth < 2 and draw.random() < 0.5:
            joined = f"({condition(depth + 1)} {draw.choice(['and', 'or'])} {condition(depth + 1)})"
            return draw.choice([joined, joined, f"not {joined}"])
        sides = [moving(), whole()]
        draw.shuffle(sides)
        test = f"{sides[0]} {draw.choice(['<', '<=', '>', '>=', '==', '!='])} {sides[1]}"
        return draw.choice([test, test, "a[i, j] > 1.0"])

    def place() -> str:
        around = f"({moving()}) % size(a, 1)"
        return draw.choice([around, f"min(max({moving()}, 0), size(a, 1) - 1)", "j"])

    def value() -> str:
        read = f"a[i, {place()}]"
        return draw.choice([read, f"{read} + b[i, {place()}]", f"({read} if {condition()} else 2.0)"])

    def statement() -> list[str]:
        kind = draw.randint(0, 4)
        if kind == 0:
            return [f"s = {moving()}"]
        if kind == 1:
            return [f"if {condition()}:", f"    s = {moving()}", f"    b[i, {place()}] = {value()}"]
        if kind == 2:
            return [f"if {condition()}:", f"    b[i, j] = {value()}", "else:", f"    b[i, j] = b[i, j] + {value()}"]
        if kind == 3:
            return [f"s = {moving()}", f"if s {draw.choice(['<', '>='])} {whole()}:", f"    s = {whole()} - s"]
        return [f"b[i, {place()}] = {value()}"]

    inside = [line for _ in range(draw.randint(1, 3)) for line in statement()]
    return ["s = 1", "for d in 0 .. 2:", *("    " + line for line in inside)]


@pytest.mark.parametrize("part", range(6))
def test_random_bodies(part: int) -> None:
    taken = 0
    for seed in range(40 * part, 40 * (part + 1)):
        kernel, facts = known(HEAD.format("\n            ".join(_random_body(random.Random(seed)))))
        step = Partition("j")
        if step.illegal(kernel, facts, strict=True) is None:
            taken += 1
            check_same(kernel, step.apply(kernel), {"a": "nm", "b": "nm"}, SIZES)
    assert taken > 10
