"""Cycles to move data, counted by hand from what loops touch: what caches keep, whole lines, what threads share."""

from __future__ import annotations

import pytest

from loopwright.analysis.analyse import analyse
from loopwright.analysis.frequency import frequencies
from loopwright.cost.locality import CHANNELS, FILLED, L2, L3, LINE, MEMORY, cycles_to_move
from loopwright.ir.text import parse_kernel
from loopwright.recipe.target import CpuTarget

HUGE = 1 << 40
SIZES = {f"s{array}_{axis}": size for array in range(3) for axis, size in enumerate((64, 128))}


def moved(text: str, capacity: int = HUGE, threads: int = 1, sizes: dict[str, int] | None = None) -> float:
    """Bytes that come into a first cache of this capacity; the others are the first one's copies, at a rate that is
    taken out again."""
    kernel = parse_kernel(text)
    target = CpuTarget(l1_bytes=capacity, l2_bytes=capacity, l3_bytes=capacity * threads)
    found = sizes or SIZES
    rate = 1 / L2 + 1 / L3 + 1 / (MEMORY * min(1.0, CHANNELS / threads))
    return cycles_to_move(kernel, analyse(kernel), target, threads, frequencies(kernel, found), found) / rate


HEAD = "kernel k(a: float64[2] C, b: float64[2] C, n: int64):\n"
SWEEP = HEAD + "    for i in 0 .. size(a, 0):\n        for j in 0 .. size(a, 1):\n            {}\n"
AGAIN = HEAD + "    for t in 0 .. 10:\n        for i in 0 .. size(a, 0):\n            for j in 0 .. size(a, 1):\n"
AGAIN += "                a[i, j] = 1.0\n"
WHOLE = 64 * 128 * 8


@pytest.mark.parametrize(
    ("statement", "arrays"),
    [
        ("a[i, j] = 1.0", 1.0),
        ("a[i, j] = a[i, j] + 1.0", 1.0),  # the same elements
        ("a[i, j] = b[i, j]", 2.0),
        ("a[0, 0] = 1.0", LINE / WHOLE),
        ("a[i, 0] = 1.0", 64 * LINE / WHOLE),  # of each row a line
        ("a[0, j] = 1.0", 1 / 64),
        ("a[i, j // 2] = 1.0", 0.5),
    ],
)
def test_what_is_touched_comes_once(statement: str, arrays: float) -> None:
    assert moved(SWEEP.format(statement)) == pytest.approx(arrays * WHOLE)


def test_neighbours_are_one_box() -> None:
    text = SWEEP.replace("0 .. size(a, 1)", "1 .. size(a, 1) - 1").format("b[i, j] = a[i, j - 1] + a[i, j + 1]")
    assert moved(text) == pytest.approx(2 * WHOLE)


def test_a_cache_that_is_too_small_forgets() -> None:
    assert moved(AGAIN) == pytest.approx(WHOLE)
    assert moved(AGAIN, int(WHOLE / FILLED) + 1) == pytest.approx(WHOLE)
    assert moved(AGAIN, int(WHOLE / FILLED) - 1) == pytest.approx(10 * WHOLE)


def test_columns_of_rows_that_do_not_fit_are_fetched_by_lines() -> None:
    text = HEAD + "    for j in 0 .. size(a, 1):\n        for i in 0 .. size(a, 0):\n            a[i, j] = 1.0\n"
    assert moved(text) == pytest.approx(WHOLE)
    small = int(32 * LINE / FILLED)  # half a column's lines
    assert moved(text, small) == pytest.approx(64 * 128 * LINE)
    assert moved(text.replace("a: float64[2] C", "a: float64[2] F"), small) == pytest.approx(WHOLE)


@pytest.mark.parametrize(("layout", "row"), [("C", 8), ("last", 8), ("F", LINE), ("first", LINE), ("strided", LINE)])
def test_lines_go_by_the_layout(layout: str, row: int) -> None:
    text = SWEEP.format("a[3, j] = 1.0").replace("a: float64[2] C", f"a: float64[2] {layout}")
    assert moved(text) == pytest.approx(128 * row)


def test_where_data_decides_each_access_has_a_line() -> None:
    text = "kernel k(a: float64[1] C, p: int64[1] C):\n    for i in 0 .. size(p, 0):\n        a[p[i]] = 1.0\n"
    sizes = {"s0_0": 10**6, "s1_0": 1000}
    assert moved(text, sizes=sizes) == pytest.approx(1000 * 8 + 1000 * LINE)
    assert moved(text, sizes=sizes | {"s0_0": 100}) == pytest.approx(1000 * 8 + 100 * 8)  # there is no more


def test_where_data_decides_in_a_loop_inside() -> None:
    text = "kernel k(a: float64[1] C, p: int64[1] C, n: int64):\n    for t in 0 .. n:\n"
    text += "        for i in 0 .. 10:\n            a[p[i]] = 1.0\n"
    assert moved(text, sizes={"s0_0": 10**6, "s1_0": 10, "v2": 50}) == pytest.approx(2 * LINE + 500 * LINE)


def test_no_iterations_move_nothing() -> None:
    assert moved(SWEEP.format("a[i, j] = 1.0"), sizes={"s0_0": 0, "s0_1": 128}) == 0
    assert moved(HEAD + "    pass\n") == 0


def test_local_arrays_are_data_too() -> None:
    text = HEAD + "    allocate t: float32[1024]\n    for i in 0 .. 1024:\n        t[i] = 1.0f32\n"
    assert moved(text) == pytest.approx(4096)


def test_threads_share_a_parallel_loop_and_the_last_cache() -> None:
    text = SWEEP.format("a[i, j] = 1.0").replace("size(a, 0):", "size(a, 0) parallel:")
    assert moved(text, threads=4) == pytest.approx(WHOLE / 4)
    assert moved(text, threads=63) == pytest.approx(WHOLE / 32)  # one of them has two rows
    assert moved(SWEEP.format("a[i, j] = 1.0"), threads=4) == pytest.approx(WHOLE)


def test_each_cache_has_its_rate() -> None:
    kernel = parse_kernel(AGAIN)
    found = frequencies(kernel, SIZES)
    held = int(WHOLE / FILLED) + 1

    def cycles(l1: int, l2: int, l3: int, threads: int = 1) -> float:
        return cycles_to_move(
            kernel, analyse(kernel), CpuTarget(l1_bytes=l1, l2_bytes=l2, l3_bytes=l3), threads, found, SIZES
        )

    once = WHOLE / L2 + WHOLE / L3 + WHOLE / MEMORY
    assert cycles(held, held, held) == pytest.approx(once)
    assert cycles(1024, held, held) == pytest.approx(once + 9 * WHOLE / L2)
    assert cycles(1024, 1024, held) == pytest.approx(once + 9 * WHOLE / L2 + 9 * WHOLE / L3)
    assert cycles(held, held, held, 2) == pytest.approx(once + 9 * WHOLE / MEMORY)  # half of the last one each
    assert cycles(held, held, 8 * held, 8) == pytest.approx(once + WHOLE / MEMORY)  # eight at four times the rate
