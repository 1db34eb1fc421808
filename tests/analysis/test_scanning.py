from __future__ import annotations

import pytest

from loopwright.analysis.scanning import Inexpressible, Stop, scanned
from loopwright.ir.nodes import For, Kernel
from loopwright.ir.printing import print_expr
from loopwright.ir.text import parse_kernel
from loopwright.ir.walk import loops

IJ = (Stop("i", "i"), Stop("j", "j"))
JI = (Stop("j", "j"), Stop("i", "i"))


def _nest(outer: str, inner: str, before: str = "", around: str = "0 .. 1") -> Kernel:
    return parse_kernel(f"""
kernel nest(n: int64, m: int64, p: int32, u: uint64, a: float64[2] C, c: int64[1] C):
    var k: int64
    k = 3
    for t in {around}:
        {before or "k = 4"}
        for i in {outer}:
            for j in {inner}:
                a[i, j] = 1.0
""")


def _bounds(kernel: Kernel, order: tuple[Stop, ...]) -> list[str]:
    known = loops(kernel)
    band = [loop for name in "ij" if isinstance(loop := known[name], For)]
    return [f"{print_expr(lower)} .. {print_expr(upper)}" for lower, upper in scanned(kernel, band, order)]


@pytest.mark.parametrize(
    ("outer", "inner", "found"),
    [
        ("0 .. n", "0 .. m", ["0 .. m", "0 .. n"]),
        ("0 .. n", "0 .. i", ["0 .. n - 1", "j + 1 .. n"]),
        ("0 .. size(a, 1)", "i .. size(a, 1)", ["0 .. size(a, 1)", "0 .. j + 1"]),
        ("0 .. int64(p)", "i .. int64(p)", ["0 .. int64(p)", "0 .. j + 1"]),
        ("0 .. n * m", "i .. n * m", ["0 .. n * m", "0 .. j + 1"]),
        ("t .. n", "i .. i + t", ["t .. n + t - 1", "max(j - t + 1, t) .. min(j + 1, n)"]),
        ("0 .. k", "i .. k", ["0 .. k", "0 .. j + 1"]),
        ("0 .. n // 3", "i .. n // 3", ["0 .. n // 3", "0 .. j + 1"]),
        ("0 .. 10", "i * 3 .. 30", ["0 .. 30", "0 .. (j + 3) // 3"]),
        ("10 .. 0 step -1", "i .. 0 step -1", ["10 .. 0", "10 .. j - 1"]),
    ],
)
def test_two_loops_the_other_way_round(outer: str, inner: str, found: list[str]) -> None:
    before = "k = int64(a[0, 0])" if "k" in outer else ""
    assert _bounds(_nest(outer, inner, before, "0 .. n" if "t" in outer else "0 .. 1"), JI) == found


def test_nothing_changes_where_nothing_depends() -> None:
    assert _bounds(_nest("0 .. n", "0 .. i"), IJ) == ["0 .. n", "0 .. i"]
    assert _bounds(_nest("c[0] .. c[1]", "0 .. n"), JI) == ["0 .. n", "c[0] .. c[1]"]


def test_tiles() -> None:
    tiles = (Stop("i.o", "i", 4), Stop("j.o", "j", 8))
    assert _bounds(_nest("0 .. n", "0 .. m"), (*tiles, *IJ)) == [
        "0 .. n", "0 .. m", "i.o .. min(i.o + 4, n)", "j.o .. min(j.o + 8, m)",
    ]  # fmt: skip
    assert _bounds(_nest("0 .. n", "0 .. i"), (*tiles, *IJ)) == [
        "0 .. n", "0 .. min(i.o + 3, n - 1)", "max(i.o, j.o + 1) .. min(i.o + 4, n)", "j.o .. min(i, j.o + 8)",
    ]  # fmt: skip
    assert _bounds(_nest("n .. 0 step -1", "0 .. i step 1"), (*tiles, *JI))[2] == "j.o .. min(i.o, j.o + 8)"


@pytest.mark.parametrize(
    ("outer", "inner", "word"),
    [
        ("0 .. n", "i .. n step 2", "step is not 1"),
        ("0 .. n", "0 .. i * n", "cannot be told"),
        ("0 .. n", "i .. c[i]", "cannot be told"),
        ("0 .. int64(u)", "i .. int64(u)", "cannot be told"),
        ("c[0] .. n", "i .. n", "cannot be told"),
    ],
)
def test_what_no_expression_gives_is_refused(outer: str, inner: str, word: str) -> None:
    with pytest.raises(Inexpressible, match=word):
        _bounds(_nest(outer, inner), JI)


def test_a_name_that_changes_inside_is_no_name_for_what_it_was() -> None:
    kernel = parse_kernel("""
kernel nest(n: int64, a: float64[2] C, c: int64[1] C):
    var k: int64
    k = c[0]
    for i in 0 .. k:
        for j in i .. i + 3:
            a[i, j] = 1.0
            k = k + 1
""")
    with pytest.raises(Inexpressible):
        _bounds(kernel, JI)
