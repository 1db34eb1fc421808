from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from loopwright.ir.text import print_kernel
from loopwright.ir.walk import loops
from loopwright.steps.schedule import apply_schedule, parse_schedule
from loopwright.steps.unroll import Unroll
from steps.before_after import check_same
from steps.kernels import MATMUL, PREFIX, ROWS, TOTAL, WHILE, known
from steps.pictures import check_picture
from steps.test_specialize import numbers, square_calls

FRAME = "kernel some(a: float64[1] C, x: int64[1] C, n: int64, m: int64):\n"
SOME = {
    "up": """
    for i in m .. n step 3:
        a[i] = a[i] + float64(i)
""",
    "down": """
    for i in n - 1 .. m step -2:
        a[i] = a[i] * 2.0 + a[0]
""",
    "constant": """
    for i in 1 .. 8:
        a[i] = a[i - 1] + a[i]
""",
    "jumps": """
    for i in 0 .. n:
        if a[i] > 3.0:
            continue i
        a[i] = 3.0
""",
    "break": """
    for i in 0 .. n:
        for j in 0 .. n:
            if a[j] > 3.0:
                break j
            a[j] = a[i] + 1.0
        while a[i] > 1.0 named w:
            a[i] = a[i] - 1.0
""",
    "local": """
    var s: float64
    s = 0.0
    for i in 0 .. n:
        allocate t: float64[2] = 1.0
        t[0] = a[i] + s
        s = t[0] + t[1]
        a[i] = s
""",
    "data": """
    for i in 0 .. x[0]:
        a[i] = a[i] + 1.0
""",
    "changes": """
    for i in 0 .. x[0]:
        x[0] = x[0] - 1
""",
    "triangle": """
    for i in 0 .. n:
        for j in i .. n:
            a[j] = a[j] + a[i]
""",
}


def text_of(name: str) -> str:
    return FRAME + SOME[name].lstrip("\n")


def test_the_picture() -> None:
    check_picture(Unroll)


@pytest.mark.parametrize(
    ("text", "step", "word"),
    [
        (WHILE, Unroll("w", 2), "while"),
        (ROWS, Unroll("k", 2), "no loop 'k'"),
        (ROWS, Unroll("i"), "no constant number"),
        (ROWS, Unroll("i", 1000000), "the limit is 20000"),
        (text_of("jumps"), Unroll("i", 2), "'continue' ends iterations of 'i'"),
        (text_of("break"), Unroll("j", 2), "'break' ends iterations of 'j'"),
        (text_of("data"), Unroll("i", 2), "may change"),
        (text_of("changes"), Unroll("i", 2), "may change"),
    ],
)
def test_refusals_say_why(text: str, step: Unroll, word: str) -> None:
    rejection = step.illegal(*known(text), strict=True)
    assert rejection is not None and word in rejection.reason
    marked = apply_schedule(*known(ROWS), parse_schedule("vectorize j"), strict=True)
    assert Unroll("j", 2).illegal(*marked, strict=True) is not None
    assert Unroll("i", 2).illegal(*marked, strict=True) is not None


@pytest.mark.parametrize("name", ["up", "down", "break", "local", "triangle"])
@pytest.mark.parametrize("factor", [2, 3, 7])
def test_any_number_of_iterations(name: str, factor: int) -> None:
    calls: list[list[object]] = [
        [numbers(23), np.zeros(1, int), n, m] for n, m in product((-1, 0, 1, 2, 6, 7, 20, 23), (0, 1, 4))
    ]
    check_same(text_of(name), f"unroll i {factor}", calls)


def test_compiled(tmp_path: Path) -> None:
    calls: list[list[object]] = [[numbers(23), np.zeros(1, int), n, m] for n, m in product((0, 1, 6, 23), (0, 4))]
    check_same(text_of("up"), "unroll i 4", calls, tmp_path)
    check_same(text_of("down"), "unroll i 4", calls, tmp_path)
    check_same(text_of("local"), "unroll i 3", calls, tmp_path)
    check_same(text_of("triangle"), "unroll j 4; unroll i 2", calls, tmp_path)


def test_every_access_stays_proven() -> None:
    for text, schedule in ((text_of("up"), "unroll i 4"), (text_of("down"), "unroll i 4"), (PREFIX, "unroll i 3")):
        kernel, facts = known(text)
        _, found = apply_schedule(kernel, facts, parse_schedule(schedule), strict=True)
        before = {bounds.kind for some in facts.bounds.values() for bounds in some}
        assert {bounds.kind for some in found.bounds.values() for bounds in some} == before == {"proven"}


def test_constant_numbers_of_iterations() -> None:
    calls: list[list[object]] = [[numbers(23), np.zeros(1, int), 0, 0]]
    assert loops(check_same(text_of("constant"), "unroll i", calls)) == {}
    assert loops(check_same(text_of("constant"), "unroll i 7", calls)) == {}
    text = print_kernel(check_same(text_of("constant"), "unroll i 3", calls))
    assert "for i.u in 1 .. 7 step 3:" in text and "for i in 7 .. 8:" in text
    schedule = "split i 4; specialize i full; unroll i"
    text = print_kernel(check_same(ROWS, schedule, [[numbers(9, 2), numbers(9, 2)], [numbers(3, 2), numbers(3, 2)]]))
    assert "b[i.o + 3, j" in text
    assert "for j.i" not in text


def test_in_a_tile_indices_of_locals_are_constants() -> None:
    schedule = "reorder i k j; tile i 2 k 4 j 3; reorder k.o i.o j.o k i j; specialize i j full; promote c k; unroll i"
    text = print_kernel(check_same(MATMUL, schedule, square_calls((0, 1, 7))))
    assert "c.r[1, j.2 - j.o] = c.r[1, j.2 - j.o] + a[i.o + 1, k] * b[k, j.2]" in text


def test_near_the_ends_of_the_type_the_guard_says_no() -> None:
    _, facts = apply_schedule(*known(text_of("up")), parse_schedule("unroll i 4"), strict=True)
    assert "n within 2**48 and m within 2**48" in facts.guard.text


def test_instances() -> None:
    found = {str(step) for step in Unroll.instances(*known(text_of("constant")), strict=True)}
    assert found == {"unroll i", "unroll i 2", "unroll i 4", "unroll i 8"}
    assert {step.loop for step in Unroll.instances(*known(TOTAL), strict=True)} == {"i", "j"}


def test_text() -> None:
    assert str(Unroll("i")) == "unroll i" and Unroll.parse(("i",)) == Unroll("i")
    assert str(Unroll("i", 4)) == "unroll i 4" and Unroll.parse(("i", "4")) == Unroll("i", 4)
    for words in ((), ("i", "1"), ("i", "2", "3")):
        with pytest.raises(ValueError, match="NUMBER"):
            Unroll.parse(words)
