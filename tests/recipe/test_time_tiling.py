from __future__ import annotations

import re
import textwrap

import pytest

from loopwright.analysis.isl_schedule import Wanted
from loopwright.ir.text import print_kernel
from loopwright.recipe.partial_schedule import PartialSchedule
from loopwright.recipe.target import CpuTarget
from loopwright.recipe.time_tiling import CACHES, TIMES, across_time, on_diagonals
from loopwright.steps.reschedule import Reschedule
from recipe.planning import JACOBI, JACOBI_SHAPES, PATHS, PATHS_SHAPES, Sizes, check_same, planned, reasons, steps
from steps.kernels import MATMUL, PREFIX, ROWS, WHILE

SEIDEL = """
kernel seidel(a: float64[2] C, l: int64):
    for t in 0 .. l:
        for i in 1 .. size(a, 0) - 1:
            for j in 1 .. size(a, 1) - 1:
                a[i, j] = a[i - 1, j] + a[i, j - 1] + a[i, j] + a[i, j + 1] + a[i + 1, j]
"""
SIZES: tuple[Sizes, ...] = ((0, 0, 0), (1, 1, 1), (2, 9, 3), (3, 3, 2), (5, 7, 4), (9, 6, 5))
LARGE: tuple[Sizes, ...] = ((21, 37, 17),)
"""Several tiles in each direction, the last ones not whole."""

SWEEPS = (
    "every iteration of 't' sweeps over the same arrays: several of them are done on a tile while it is in the cache"
)
DIAGONAL = "every loop must run in order, but tiles on a diagonal are independent"
BUFFERS = SWEEPS + ", and so is the copy of 'b' into 'a' for the next one"
TWICE = JACOBI.replace("= b[i.2, j.2]", "= b[i.2 - 1, j.2] + b[i.2, j.2]")
TAKEN = [
    (JACOBI, JACOBI_SHAPES, BUFFERS, 16),
    (TWICE, JACOBI_SHAPES, SWEEPS, 16),
    (SEIDEL, {"a": "nm"}, DIAGONAL, 0),
    (PATHS, PATHS_SHAPES, DIAGONAL, 0),
]
IDS = ["jacobi", "two sweeps", "seidel", "paths"]
"""The last number: sweeps that calls have more of, which may be any where no loop inside is shared."""


HEAT = """
kernel heat(a: float64[3] C, b: float64[3] C, l: int64):
    for t in 0 .. l:
        for i in 1 .. size(a, 0) - 1:
            for j in 1 .. size(a, 1) - 1:
                for k in 1 .. size(a, 2) - 1:
                    b[i, j, k] = a[i - 1, j, k] + a[i + 1, j, k] + a[i, j - 1, k] + a[i, j + 1, k] + a[i, j, k + 1]
        for i.2 in 1 .. size(a, 0) - 1:
            for j.2 in 1 .. size(a, 1) - 1:
                for k.2 in 1 .. size(a, 2) - 1:
                    a[i.2, j.2, k.2] = b[i.2, j.2, k.2]
"""


def over_time(text: str, strict: bool = False, l2_bytes: int = 512 << 10) -> PartialSchedule:
    target = CpuTarget(l2_bytes=l2_bytes)

    def both(partial: PartialSchedule) -> None:
        across_time(partial, target)
        if not partial.decisions:
            on_diagonals(partial, target)

    return planned(both, text, strict)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(("text", "shapes", "why", "sweeps"), TAKEN, ids=IDS)
def test_sweeps_and_recurrences_have_another_order(
    text: str, shapes: dict[str, str], why: str, sweeps: int, strict: bool
) -> None:
    partial = over_time(text, strict)
    assert steps(partial) == "reschedule smart tile 16 32 wavefront above 2097152" + (f" {sweeps}" if sweeps else "")
    assert reasons(partial) == [why]
    check_same(partial.written, partial.kernel, shapes, SIZES)


@pytest.mark.parametrize(("text", "shapes", "why", "sweeps"), TAKEN, ids=IDS)
def test_the_other_order_computes_the_same(text: str, shapes: dict[str, str], why: str, sweeps: int) -> None:
    partial = over_time(text, l2_bytes=2)
    assert steps(partial) == "reschedule smart tile 16 32 wavefront above 8" + (f" {sweeps}" if sweeps else "")
    check_same(partial.written, partial.kernel, shapes, (*SIZES, *LARGE))


@pytest.mark.parametrize(("text", "shapes", "why", "sweeps"), TAKEN, ids=IDS)
def test_small_tiles_compute_the_same(text: str, shapes: dict[str, str], why: str, sweeps: int) -> None:
    (decision,) = over_time(text).decisions
    assert decision.step == Reschedule(
        Wanted("smart", (TIMES.default, 32), wavefront=True), CACHES.default * (512 << 10), sweeps
    )
    partial = over_time(text)
    small = Reschedule(Wanted("smart", (2, 3), wavefront=True), above=8)
    check_same(partial.written, small.apply(partial.written), shapes, SIZES)


def test_three_dimensions() -> None:
    partial = over_time(HEAT, l2_bytes=2)
    assert steps(partial) == "reschedule smart tile 4 16 32 wavefront above 8 4"
    assert reasons(partial) == [BUFFERS]
    sizes: tuple[Sizes, ...] = ((0, 0, 0), (1, 1, 1), (3, 3, 2), (9, 5, 5), (19, 3, 3))
    check_same(partial.written, partial.kernel, {"a": "nnm", "b": "nnm"}, sizes)


def test_small_arrays_keep_their_loops() -> None:
    new, _, small = print_kernel(over_time(SEIDEL).kernel).partition("    else:\n")
    assert "    if 8 * size(a, 0) * size(a, 1) > 2097152:\n" in new
    loops = SEIDEL.partition("l: int64):\n")[2]
    assert textwrap.dedent(small.replace(".1", "")).strip() == textwrap.dedent(loops).strip()


def test_few_sweeps_keep_their_loops() -> None:
    """One stretch of sweeps is one tile for each diagonal, which threads could not share."""
    new = print_kernel(over_time(JACOBI).kernel).partition("    else:\n")[0]
    assert " > 2097152 and l > 16:\n" in new


@pytest.mark.parametrize("counted", ["l .. 0 step -1", "0 .. l step 2"])
def test_sweeps_counted_in_another_way(counted: str) -> None:
    partial = over_time(JACOBI.replace("t in 0 .. l", f"t in {counted}"), l2_bytes=2)
    assert steps(partial) == "reschedule smart tile 16 32 wavefront above 8"
    check_same(partial.written, partial.kernel, JACOBI_SHAPES, SIZES)


def inside(*lines: str) -> str:
    """Two loops on two matrices, a vector and a condition, in a loop that repeats them; then lines in them."""
    return (
        "kernel k(a: float64[2] C, b: float64[2] C, v: float64[1] C, l: int64):\n    for t in 0 .. l:\n"
        "        for i in 1 .. size(a, 0) - 1:\n            for j in 1 .. size(a, 1) - 1:\n"
        + "".join(f"                {line}\n" for line in lines)
    )


SEIDEL_LINE = SEIDEL.strip().splitlines()[-1].strip()
OTHER = re.sub(r"\b([tij])\b", r"\1.2", SEIDEL.partition("l: int64):\n")[2]).replace("a[", "b[")
COPIES = [f"b[i, j] = a[i, j] + {number}.0" for number in range(4)]


def nest_of(loops: str) -> str:
    """Loops around a stencil along the second of them, in as many dimensions as are left."""
    first, *names = loops.split()
    lines = [f"kernel k(a: float64[{len(names)}] C, l: int64):", f"    for {first} in 0 .. l:"]
    for depth, name in enumerate(names):
        lines.append(f"{'    ' * (depth + 2)}for {name} in 1 .. size(a, {depth}):")
    index = ", ".join(names)
    return "\n".join([*lines, f"{'    ' * (len(names) + 2)}a[{index}] = a[{index}] + a[{names[0]} - 1, {index[3:]}]\n"])


NOT_TAKEN = {
    "one loop": PREFIX,
    "no order is needed": ROWS,
    "a sum": MATMUL,
    "no loop with bounds": WHILE,
    "two loops": SEIDEL.strip().replace("j - 1", "1").partition("    for t")[0]
    + "    for i in 1 .. size(a, 0):\n        for j in 1 .. size(a, 1):\n"
    + "            a[i, j] = a[i - 1, j] + a[i, j - 1]\n",
    "one dimension": """
kernel k(a: float64[1] C, b: float64[1] C, l: int64):
    for t in 0 .. l:
        for i in 1 .. size(a, 0) - 1:
            b[i] = a[i - 1] + a[i] + a[i + 1]
        for i.2 in 1 .. size(a, 0) - 1:
            a[i.2] = b[i.2]
""",
    "four dimensions": nest_of("t g i j k"),
    "the sum of all sweeps": inside("b[i, j] = b[i, j] + a[i, j]"),
    "a condition": inside("if a[i, j] > 0.0:", "    " + SEIDEL_LINE),
    "a scalar": inside("x = a[i - 1, j]", "a[i, j] = x + a[i, j - 1] + a[i + 1, j]").replace(
        "    for t", "    var x: float64\n    for t"
    ),
    "five statements": inside(SEIDEL_LINE, *COPIES),
    "a nest inside is shared as it is": """
kernel k(a: float64[2] C):
    for k in 0 .. size(a, 0):
        for i in k + 1 .. size(a, 0):
            for j in k + 1 .. size(a, 0):
                a[i, j] = a[i, j] - a[i, k] * a[k, j]
""",
    "every tile needs its order": inside("v[0] = 0.5 * v[0] + a[i, j]"),
}


@pytest.mark.parametrize("text", [
    SEIDEL.replace("    for t", "    a[0, 0] = 1.0\n    for t"),
    SEIDEL.replace("(a:", "(b: float64[2] C, a:") + OTHER,
], ids=["something before the loop", "another loop after it"])  # fmt: skip
def test_a_nest_beside_other_statements_is_tiled_alone(text: str) -> None:
    partial = over_time(text, l2_bytes=2)
    assert steps(partial).startswith("reschedule smart tile 16 32 wavefront in t above ")
    check_same(partial.written, partial.kernel, {"a": "nm", "b": "nm", "v": "l"}, SIZES[1:])


@pytest.mark.parametrize("text", NOT_TAKEN.values(), ids=NOT_TAKEN.keys())
def test_the_order_stays(text: str) -> None:
    assert steps(over_time(text)) == ""


def test_four_statements_are_not_too_many() -> None:
    partial = over_time(inside(SEIDEL_LINE, *COPIES[:3]), l2_bytes=2)
    assert reasons(partial) == [DIAGONAL]
    check_same(partial.written, partial.kernel, {"a": "nm", "b": "nm", "v": "l"}, SIZES)


def test_a_threshold_follows_from_the_second_cache() -> None:
    assert steps(over_time(SEIDEL, l2_bytes=1 << 20)).endswith(f"above {CACHES.default << 20}")
