from __future__ import annotations

import functools
import re

import pytest

from loopwright.recipe import register_blocking
from loopwright.recipe.marks import marks
from loopwright.recipe.partial_schedule import PartialSchedule
from loopwright.recipe.register_blocking import PANEL as PANEL_BLOCKS
from loopwright.recipe.register_blocking import in_registers
from loopwright.recipe.target import CpuTarget
from loopwright.recipe.tunable import Choices
from loopwright.steps.vectorize import Vectorize
from recipe.planning import GEMM, MATMUL_BY_ELEMENTS, MATMUL_SHAPES, Sizes, check_same, planned, reasons, steps
from steps.kernels import MATMUL, ROWS, TOTAL

ADDS = "c[i, j] = c[i, j] + a[i, k] * b[k, j]"
SIZES: tuple[Sizes, ...] = ((0, 0, 0), (1, 1, 1), (3, 12, 2), (4, 12, 5), (9, 29, 3), (8, 13, 385), (509, 9, 2))
"""Less than a block, one, several and parts, and more than one stretch of depth, or than one panel."""


def blocked(text: str, strict: bool = False, target: CpuTarget | None = None) -> PartialSchedule:
    return planned(functools.partial(in_registers, target=target or CpuTarget()), text, strict)


def because(target: str, depth: str, rows: int, columns: int) -> list[str]:
    return [
        f"each element of '{target}' is added to in every iteration of '{depth}': blocks of {rows} x {columns} of them "
        "stay in registers meanwhile",
        "all columns use the same rows of 'a': a copy of those of 84 blocks lies in the order in which they are read",
        "all rows use the same columns of 'b': a copy of them lies in one piece",
        f"a whole block of {rows} x {columns} is unrolled, without tests",
        f"where fewer columns of '{target}' are left, a whole block is computed, and part of it kept",
        f"a row of '{target}' that is in no whole block stays in registers by itself",
    ]


ROW_BY_ROW = "; reorder i.1 k.1; specialize j.1 full; promote c k.1"
PANEL = "split i.o 84; reorder i.o.o j.o i.o; pack a j.o fill i blocks i.o; "
LAST_COLUMNS = (
    "; specialize i.1 full; complete j.1; promote c k.1; overrun j.1"
    "; reorder i.1.1 k.1.1; specialize j.1.1 full; promote c k.1.1"
)


@pytest.mark.parametrize("strict", [False, True])
def test_a_product_of_matrices(strict: bool) -> None:
    partial = blocked(MATMUL, strict)
    assert steps(partial) == (
        f"tile k 384 i 6 j 8; reorder k.o j.o i.o; {PANEL}pack b i.o fill j; specialize i j full; promote c k"
        f"{LAST_COLUMNS}"
    )  # the loops are in the order that is wanted already
    assert reasons(partial) == because("c", "k", 6, 8)
    check_same(partial.written, partial.kernel, MATMUL_SHAPES, SIZES)


@pytest.fixture(autouse=True)
def _no_versions_for_few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "few_columns" not in request.node.name:
        monkeypatch.setattr(register_blocking, "_for_few", lambda *_: None)


AGAIN = """
kernel again(a: float64[2] C, b: float64[2] C, c: float64[2] C, n: int64):
    for t in 0 .. n:
        for k in 0 .. size(a, 1):
            for i in 0 .. size(a, 0):
                for j in 0 .. size(b, 1):
                    c[i, j] = c[i, j] + a[i, k] * b[k, j]
        c[0, 0] = c[0, 0] * 0.5
"""


def test_a_loop_of_many_products_has_blocks_for_the_first_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    nest = AGAIN[AGAIN.index("        for k") : AGAIN.index("        c[0, 0]")]
    more = re.sub(r"\b([ijk])\b", r"\g<1>2", nest)
    text = AGAIN.replace("        c[0, 0]", more + "        c[0, 0]")
    assert sum(" fill " in one for one in steps(blocked(text)).split("; ")) == 2 + 2
    monkeypatch.setattr(register_blocking, "MOST_AROUND", 300)
    assert sum(" fill " in one for one in steps(blocked(text)).split("; ")) == 2


def test_a_product_has_a_version_for_few_columns() -> None:
    partial = blocked(AGAIN)
    assert steps(partial).startswith(
        "specialize 24*j j*k >= 96 in k; reorder i.1 j.1 k.1; promote c k.1; tile k 384 i 6 j 8; "
    )
    assert reasons(partial)[0].startswith("blocks of 'c' gain nothing where it has few columns")
    assert partial.few == {"i.1", "j.1", "k.1"}
    shapes, sizes = {"a": "nl", "b": "lm", "c": "nm"}, ((1, 1, 1), (3, 2, 4), (9, 29, 3), (40, 2, 40))
    check_same(partial.written, partial.kernel, shapes, sizes)


def test_versions_for_few_columns_have_no_lanes() -> None:
    partial = blocked(AGAIN)
    marked = marks(partial.kernel, partial.present_facts(), False, few=partial.few)
    without = {step.loop for step in marked if isinstance(step, Vectorize)}
    assert without and not without & partial.few


def test_a_nest_inside_of_others_is_cut_out_and_put_into_order() -> None:
    partial = blocked(GEMM)
    assert steps(partial) == (
        "fission i 2; reorder k i.1 j.2; tile k 384 i.1 6 j.2 8; reorder k.o j.2.o i.1.o; split i.1.o 84; "
        "reorder i.1.o.o j.2.o i.1.o; pack a j.2.o fill i.1 blocks i.1.o; pack b i.1.o fill j.2; "
        "specialize i.1 j.2 full; promote c k; specialize i.1.1 full; complete j.2.1; promote c k.1; overrun j.2.1; "
        "reorder i.1.1.1 k.1.1; specialize j.2.1.1 full; promote c k.1.1"
    )
    assert reasons(partial) == because("c", "k", 6, 8)
    check_same(partial.written, partial.kernel, MATMUL_SHAPES, SIZES)


@pytest.mark.parametrize(
    ("element", "target", "rows", "columns"),
    [
        ("float64", CpuTarget(vector_bytes=16), 6, 4),
        ("float32", CpuTarget(vector_bytes=32), 6, 16),
        ("float64", CpuTarget(vector_bytes=64, registers=32), 6, 32),
        ("float64", CpuTarget(vector_bytes=4), 6, 2),  # less than one element
    ],
)
def test_blocks_are_as_large_as_the_registers_hold(element: str, target: CpuTarget, rows: int, columns: int) -> None:
    partial = blocked(MATMUL.replace("float64", element), target=target)
    assert steps(partial).startswith(f"tile k 384 i {rows} j {columns};")
    assert reasons(partial) == because("c", "k", rows, columns)
    check_same(partial.written, partial.kernel, MATMUL_SHAPES, ((0, 1, 1), (rows + 1, columns + 1, 3)))


def test_the_innermost_loop_need_not_be_the_vector() -> None:
    partial = blocked(MATMUL_BY_ELEMENTS)
    wanted = f"reorder k i j; tile k 384 i 6 j 8; reorder k.o j.o i.o; {PANEL}pack b i.o fill j; specialize i j full"
    wanted += "; promote c k"
    assert steps(partial) == wanted + LAST_COLUMNS
    check_same(partial.written, partial.kernel, MATMUL_SHAPES, SIZES)


TILED = "tile k 384 j 12 i 4; reorder i j"
TRIANGLES = {
    "below": (
        ("k i j", "n n i+1", ADDS),
        f"reorder k j i; {TILED}; pack b i.o fill j; specialize i j full; promote c k{LAST_COLUMNS}",
    ),
    "above": (("k i j", "n n n", ADDS), f"reorder k j i; {TILED}; specialize i j full; promote c k{ROW_BY_ROW}"),
    "by elements": (
        ("i j k", "n i+1 n", ADDS),
        f"reorder k j i; {TILED}; pack b i.o fill j; specialize i j full; promote c k{LAST_COLUMNS}",
    ),
    "transposed": (
        ("i j k", "n i+1 n", "c[i, j] = c[i, j] + 2.0 * a[i, k] * a[j, k]"),
        f"reorder k j i; {TILED}; pack a i.o fill j; specialize i j full; promote c k{LAST_COLUMNS}",
    ),
    "two transposed": (
        ("i k j", "n n i+1", "c[i, j] = c[i, j] + a[j, k] * b[i, k] + b[j, k] * a[i, k]"),
        f"reorder k j i; {TILED}; pack a i.o fill j; pack b i.o fill j; specialize i j full; promote c k{LAST_COLUMNS}",
    ),
}


@pytest.mark.parametrize(("parts", "wanted"), TRIANGLES.values(), ids=TRIANGLES.keys())
def test_triangles(parts: tuple[str, str, str], wanted: str) -> None:
    loops, extents, statement = parts
    text = nest(statement, loops, extents)
    partial = blocked(text.replace("j in 0 .. n", "j in i + 1 .. n"), strict=True)
    assert steps(partial) == wanted
    shapes = {"a": "nn", "b": "nn", "c": "nn", "v": "n", "n": "n"}
    check_same(partial.written, partial.kernel, shapes, ((0, 0, 0), (1, 1, 1), (3, 3, 3), (12, 12, 12), (29, 29, 29)))


def test_what_is_computed_of_rows_alone_is_computed_once() -> None:
    partial = blocked(MATMUL.replace("a[i, k] *", "3.0 * a[i, k] *"))
    assert "pack a j.o fill i blocks i.o computed; pack b i.o fill j" in steps(partial)
    check_same(partial.written, partial.kernel, MATMUL_SHAPES, SIZES)
    rest = planned(functools.partial(in_registers, target=CpuTarget()), MATMUL, choices=Choices({PANEL_BLOCKS.name: 0}))
    assert "blocks" not in steps(rest) and "split" not in steps(rest)


def test_columns_are_copied() -> None:
    partial = blocked(nest("c[i, j] = c[i, j] + a[i, k] * b[j, k]"))
    wanted = f"tile k 384 i 6 j 8; reorder k.o j.o i.o; {PANEL}pack b i.o fill j; specialize i j full; promote c k"
    assert steps(partial) == wanted + LAST_COLUMNS
    assert "'j' goes down columns of 'b': in a copy of a block it goes along rows" in reasons(partial)
    shapes = {"a": "nn", "b": "nn", "c": "nn", "v": "n", "n": "n"}
    check_same(partial.written, partial.kernel, shapes, ((0, 0, 0), (1, 1, 1), (13, 13, 13)))


def test_two_products_one_after_the_other() -> None:
    second = MATMUL.partition("    for")[2].replace("c[", "d[")
    for name in "kij":
        second = second.replace(f"{name} in", f"{name}.2 in").replace(f"[{name},", f"[{name}.2,")
        second = second.replace(f" {name}]", f" {name}.2]")
    partial = blocked(MATMUL.replace("c: float64[2] C", "c: float64[2] C, d: float64[2] C") + "    for" + second)
    assert [text for text in steps(partial).split("; ") if text.startswith(("tile", "promote"))] == [
        "tile k 384 i 6 j 8", "promote c k", "promote c k.1", "promote c k.1.1", "tile k.2 384 i.2 6 j.2 8",
        "promote d k.2", "promote d k.2.1", "promote d k.2.1.1",
    ]  # fmt: skip
    check_same(partial.written, partial.kernel, {**MATMUL_SHAPES, "d": "nm"}, SIZES[:-1])


def nest(statement: str, loops: str = "k i j", extents: str = "n n n") -> str:
    """Loops around a statement on three matrices and a vector."""
    lines = ["kernel k(a: float64[2] C, b: float64[2] C, c: float64[2] C, v: float64[1] C, n: int64):"]
    for depth, (name, upper) in enumerate(zip(loops.split(), extents.split(), strict=True), start=1):
        lines.append(f"{'    ' * depth}for {name} in 0 .. {upper}:")
    pad = "    " * (len(loops.split()) + 1)
    return "\n".join([*lines, *(pad + line for line in statement.split("\n"))]) + "\n"


NOT_TAKEN = {
    "two loops": ROWS,
    "a scalar": TOTAL,
    "a triangle of the depth": nest(ADDS, "i k j", "n i+1 n"),
    "two statements": nest(ADDS + "\nb[k, j] = 0.0"),
    "a condition": nest("if a[i, k] > 0.0:\n    " + ADDS),
    "a scalar that ties the iterations": nest("s = s + b[k, j]\nc[i, j] = c[i, j] + a[i, k] * s").replace(
        "n: int64):\n", "n: int64):\n    var s: float64\n    s = 0.0\n"
    ),
    "nothing is added to": nest("c[i, j] = a[i, k] * b[k, j]"),
    "the other element is another one": nest("c[i, j] = c[i, k] + a[i, k] * b[k, j]"),
    "the other element is in another column": nest("c[i, j] = c[i, 0] + a[i, k] * b[k, j]"),
    "no operand": nest("c[i, j] = c[i, j] + 1.0"),
    "no operand stays in the rows": nest("c[i, j] = c[i, j] + a[i, k]"),
    "no operand stays in the columns": nest("c[i, j] = c[i, j] + b[k, j]"),
    "a column of an operand in each row": nest("c[i, j] = c[i, j] + a[k, i] * b[i, k]"),
    "an operand with steps of two": nest("c[i, j] = c[i, j] + a[i, k] * b[k, 2 * j]"),
    "a triangle of the depth and the vector": nest(ADDS, extents="n n k+1"),
    "the target moves in every loop": nest("c[i + k, j] = c[i + k, j] + a[i, k] * b[k, j]"),
    "the target stays along the vector": nest("v[i] = v[i] + a[i, k] * b[k, j]"),
    "a loop in between": nest(ADDS, "i x k j", "n n n n"),
    "a loop in between that has to be cut out": nest(ADDS, "i x k j", "n n n n").replace(
        "        for x", "        v[i] = 1.0\n        for x"
    ),
}


@pytest.mark.parametrize("text", NOT_TAKEN.values(), ids=NOT_TAKEN.keys())
def test_no_blocks(text: str) -> None:
    assert steps(blocked(text)) == ""


def test_that_nest_is_taken_where_nothing_is_wrong_with_it() -> None:
    assert "promote c k" in steps(blocked(nest(ADDS)))


WINDOW = """
kernel k(a: float64[2] C, b: float64[2] C, w: float64[2] C):
    for i in 0 .. size(a, 0) - size(w, 0) + 1:
        for j in 0 .. size(a, 1) - size(w, 0) + 1:
            for p in 0 .. size(w, 0):
                for q in 0 .. size(w, 0):
                    b[i, j] = b[i, j] + a[i + p, j + q] * w[p, q]
"""
SCALAR = (
    WINDOW.replace("w: float64[2] C):\n", "w: float64[2] C):\n    var s: float64\n")
    .replace("            for p", "            s = 0.0\n            for p")
    .replace("b[i, j] = b[i, j] +", "s = s +")
    + "            b[i, j] = s * 2.0\n"
)
WINDOW_SHAPES = {"a": "nm", "b": "nm", "w": "ll"}
WINDOW_SIZES: tuple[Sizes, ...] = ((0, 0, 0), (1, 1, 1), (2, 2, 3), (7, 27, 3), (5, 13, 2), (18, 18, 17))
"""None, one, windows larger than the array, whole blocks and parts, and more than one stretch of the window's rows."""

IN_WINDOWS = "reorder p q i j; tile i 6 j 8; split p 24; reorder p.o j.o i.o p q; specialize i j full; promote b p"


@pytest.mark.parametrize("strict", [False, True])
def test_windows(strict: bool) -> None:
    partial = blocked(WINDOW, strict)
    assert steps(partial) == IN_WINDOWS
    assert reasons(partial)[0] == because("b", "p' and 'q", 6, 8)[0]
    check_same(partial.written, partial.kernel, WINDOW_SHAPES, WINDOW_SIZES)


@pytest.mark.parametrize(("old", "new"), [(" * w[p, q]", ""), ("q in 0", "q in p")], ids=["no weights", "a triangle"])
def test_other_windows(old: str, new: str) -> None:
    partial = blocked(WINDOW.replace(old, new))
    assert steps(partial) == IN_WINDOWS
    check_same(partial.written, partial.kernel, WINDOW_SHAPES, WINDOW_SIZES)


def test_the_sum_of_a_window_in_a_scalar_goes_to_its_element() -> None:
    partial = blocked(SCALAR)
    assert steps(partial).startswith("demote s; fission j 3; fission j 2;") and steps(partial).endswith("promote b p")
    assert reasons(partial)[0] == "what 's' adds up can be added side by side in elements"
    check_same(partial.written, partial.kernel, WINDOW_SHAPES, WINDOW_SIZES[1:])


def test_strips_of_windows_may_be_rows() -> None:
    choices = Choices({"strips of register blocks": 1, "depth of a register block": 64})
    partial = planned(functools.partial(in_registers, target=CpuTarget()), WINDOW, choices=choices)
    assert steps(partial) == IN_WINDOWS.replace("split p 24; reorder p.o j.o i.o", "split p 4; reorder p.o i.o j.o")
    check_same(partial.written, partial.kernel, WINDOW_SHAPES, WINDOW_SIZES)


DISTANCES = """
kernel k(a: float64[2] C, b: float64[3] C, l: int64):
    for x in 0 .. size(b, 0):
        for i in 0 .. size(b, 1):
            for j in 0 .. size(b, 2):
                for p in 0 .. l:
                    for q in 0 .. l:
                        b[x, i, j] = b[x, i, j] + a[x * l - p + i + l, q + j]
"""
IN_LANES = {
    "tested as they come": (DISTANCES, {"a": "nm", "b": "lll"}, ((2, 1, 1), (6, 3, 2), (42, 11, 6))),
    "their bounds depend on the row": (WINDOW.replace("p in 0", "p in i"), WINDOW_SHAPES, WINDOW_SIZES[:-1]),
}


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(("text", "shapes", "sizes"), IN_LANES.values(), ids=IN_LANES.keys())
def test_windows_without_blocks(text: str, shapes: dict[str, str], sizes: tuple[Sizes, ...], strict: bool) -> None:
    partial = blocked(text, strict)
    assert steps(partial) == "reorder p q j; unroll_and_jam q 2"
    assert reasons(partial) == [
        "each element of 'b' is added to in every iteration of 'q': neighbouring ones along 'j' are added to side by "
        "side"
    ]
    check_same(partial.written, partial.kernel, shapes, sizes)


NO_WINDOW = {
    "of 8 x 8, which the compiler writes out": WINDOW.replace(".. size(w, 0):", ".. 8:"),
    "in a scalar, of 3 x 3": SCALAR.replace(".. size(w, 0):", ".. 3:"),
    "its bounds depend on the column": WINDOW.replace("q in 0 ..", "q in j .."),
    "something else is done for each row of it": WINDOW.replace(
        "    for q", "    w[p, p] = 1.0\n                for q"
    ),
    "its columns are copied": WINDOW.replace("w[p, q]", "w[j, q]"),
    "a scalar that something else reads": SCALAR.replace("s * 2.0", "s * w[0, 0]").replace("= s +", "= 0.5 * s +")
    + "            w[0, 0] = s\n",
}


@pytest.mark.parametrize("text", NO_WINDOW.values(), ids=NO_WINDOW.keys())
def test_no_windows(text: str) -> None:
    assert steps(blocked(text)) == ""


def test_a_larger_window_of_constant_size() -> None:
    assert steps(blocked(WINDOW.replace(".. size(w, 0):", ".. 9:"))).endswith("promote b p")


CHANNELS = """
kernel k(a: float64[3] C, b: float64[2] C, w: float64[3] C):
    var s: float64
    for i in 0 .. size(a, 1) - 2:
        for j in 0 .. size(a, 2) - 2:
            s = 0.0
            for c in 0 .. size(a, 0):
                for p in 0 .. 3:
                    for q in 0 .. 3:
                        s = s + a[c, i + p, j + q] * w[c, p, q]
            b[i, j] = s
"""


def test_a_small_window_over_several_channels() -> None:
    partial = blocked(CHANNELS)
    assert steps(partial).startswith("demote s; fission j 2; fission i 2; reorder c p q i.1 j.1; tile i.1 6 j.1 8;")
    assert steps(partial).endswith("promote b c")
    sizes: tuple[Sizes, ...] = ((3, 3, 0), (3, 3, 3), (9, 27, 4), (14, 10, 26))
    check_same(partial.written, partial.kernel, {"a": "lnm", "b": "nm", "w": "lll"}, sizes)


MOMENTS = """
kernel k(a: float64[2] C, b: float64[2] C):
    for n in 0 .. size(a, 0):
        for i in 0 .. ROWS:
            for j in 0 .. COLUMNS:
                b[i, j] = b[i, j] + a[n, i] * a[n, j]
"""


@pytest.mark.parametrize(
    ("rows", "columns", "found"),
    [
        ("3", "3", ""),  # the C compiler keeps them all in registers
        ("4", "4", ""),
        ("5", "7", "tile n 384 i 5 j 8;"),
        ("size(a, 1)", "3", "tile n 384 i 6 j 4;"),
        ("size(a, 1)", "1", ""),
        ("3", "25", "tile n 384 i 3 j 8;"),
    ],
)
def test_blocks_are_no_larger_than_short_loops_fill(rows: str, columns: str, found: str) -> None:
    partial = blocked(MOMENTS.replace("ROWS", rows).replace("COLUMNS", columns))
    assert steps(partial).startswith(found) and bool(found) == bool(steps(partial))
    if found:
        sizes: tuple[Sizes, ...] = ((0, 25, 1), (1, 25, 1), (7, 25, 1), (400, 26, 1))
        check_same(partial.written, partial.kernel, {"a": "nm", "b": "mm"}, sizes)


def test_all_is_taken_back_where_a_cut_is_not_legal() -> None:
    text = GEMM.replace("            for j.2", "            a[i, k] = c[i, 0]\n            for j.2")
    assert steps(blocked(text)) == ""
