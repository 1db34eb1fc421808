"""Sums whose iterations threads share, by schedules given as text: within a warp, in a block, in teams, over sizes that
divide and that do not. Whole numbers as data: every order gives the same sum."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree, device_text, outcome, refused

RANDOM = np.random.default_rng(5)
SHAPES = [(0, 0), (1, 1), (5, 3), (3, 0), (33, 40), (70, 7)]


def whole(*shape: int) -> Any:
    return RANDOM.integers(-9, 9, shape).astype(float)


def total(a):
    s = 1.0
    for i in range(a.shape[0]):
        s += a[i]
    return s


def rows(a, x, y):
    for i in range(a.shape[0]):
        s = 0.0
        t = 1e9
        for j in range(a.shape[1]):
            s += a[i, j] * x[j]
            t = min(t, a[i, j])
        y[i] = s + t


def boxes(a, y):
    for q in range(a.shape[0]):
        s = 0.0
        for i in range(a.shape[1]):
            t = 0.0
            for j in range(a.shape[2]):
                t = max(t, a[q, i, j])
            s += t
        y[q] = s


def planes(a, y):
    for q in range(a.shape[0]):
        s = 0.0
        for i in range(a.shape[1]):
            for j in range(a.shape[2]):
                s += a[q, i, j]
        y[q] = s


@pytest.mark.parametrize("size", [0, 1, 7, 100, 1000])
@pytest.mark.parametrize("threads", [2, 8, 32, 48, 96, 1024])
def test_one_block_sums_and_the_host_gets_it(size: int, threads: int) -> None:
    agree(total, whole(size), schedule=f"bind i thread.x {threads}", strict=False)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "schedule",
    [
        "split i 8; bind i.o block.x; bind i thread.y; bind j thread.x 8",
        "split i 8; bind i.o block.x; bind i thread.y; bind j thread.x 32",
        "bind i block.x; bind j thread.x 64",
        "bind i block.x; bind j thread.x 50",
        "bind i block.x; bind j thread.y 4",
        "bind i thread.y 3; bind j thread.x 16",
        "bind i block.x; split j 8; bind j.o thread.y 4; bind j thread.x",
        "bind i block.x; split j 8; bind j.o thread.y 16; bind j thread.x",
    ],
)
def test_rows(shape: tuple[int, int], schedule: str) -> None:
    agree(rows, whole(*shape), whole(shape[1]), whole(shape[0]), schedule=schedule, strict=False)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("threads", [(8, 8), (3, 2), (16, 8), (2, 32), (1, 16)])
def test_sums_of_what_teams_have_found_count_each_team_once(shape: tuple[int, int], threads: tuple[int, int]) -> None:
    y, x = threads
    schedule = f"bind q block.x; bind i thread.y {y}; bind j thread.x {x}"
    for kernel in (boxes, planes):
        agree(kernel, whole(*shape, 5), whole(shape[0]), schedule=schedule, strict=False)


@pytest.mark.parametrize("threads", [8, 64, 40])
def test_a_sum_in_a_loop_waits_until_all_have_read_the_last_one(threads: int) -> None:
    agree(boxes, whole(5, 9, 70), whole(5), schedule=f"bind q block.x; bind j thread.x {threads}", strict=False)


def columns(a, x, y):
    for j in range(a.shape[1]):
        s = 0.0
        t = 1e9
        for i in range(a.shape[0]):
            s += a[i, j] * x[i]
        for i in range(a.shape[0]):
            t = min(t, a[i, j] - s)
        y[j] = s + t


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("across", "down"), [(16, 4), (8, 8), (32, 3), (3, 5)])
def test_columns(shape: tuple[int, int], across: int, down: int) -> None:
    schedule = f"split j {across}; bind j.o block.x; bind j thread.x; bind i thread.y {down}; bind i.2 thread.y {down}"
    agree(columns, whole(*shape), whole(shape[0]), whole(shape[1]), schedule=schedule, strict=False)


def steps_of_columns(a, x, y):
    for q in range(x.shape[0]):
        for j in range(a.shape[1]):
            s = 0.0
            for i in range(a.shape[0]):
                s += a[i, j] * x[q]
            y[q, j] = s


def test_columns_in_a_loop_of_the_block_wait_for_one_another() -> None:
    schedule = "bind q block.x; split j 4; bind j thread.x; bind i thread.y 4"
    agree(steps_of_columns, whole(9, 30), whole(5), whole(5, 30), schedule=schedule, strict=False)


def some(a, y):
    for j in range(16):
        if y[j] > 0.0:
            s = 0.0
            for i in range(a.shape[0]):
                s += a[i, j]
            y[j] = s
        else:
            t = y[j]
            for i in range(a.shape[0]):
                t = max(t, a[i, j])
            y[j] = t - 1.0


@pytest.mark.parametrize("rows", [0, 1, 9])
def test_columns_under_a_condition(rows: int) -> None:
    schedule = "bind j thread.x; bind i thread.y 4; bind i.2 thread.y 4"
    agree(some, whole(rows, 16), whole(16), schedule=schedule, strict=False)


def in_loops(a, y):
    for j in range(16):
        s = 0.0
        for k in range(a.shape[0]):
            for i in range(a.shape[1]):
                s += a[k, i, j]
        y[j] = s


def test_columns_that_meet_in_loops_of_their_own_are_refused() -> None:
    refused(in_loops, whole(3, 9, 16), whole(16), schedule="bind j thread.x; bind i thread.y 4", strict=False,
            why="a loop of each column holds a barrier for threads along y")  # fmt: skip


def spmv(pointer, column, value, x, y):
    for row in range(y.shape[0]):
        s = 0.0
        for k in range(pointer[row], pointer[row + 1]):
            s += value[k] * x[column[k]]
        y[row] = s


TEAMS = "split row 16; bind row.o block.x; bind row thread.y; bind k thread.x 8"
TWO_WAYS = (
    "split row 16; separate row k 20; bind row.o block.x; bind row thread.y; bind k thread.x 8; "
    "split k.1 8; bind k.1.o thread.y 16; bind k.1 thread.x"
)


def sparse(rows: int, longest: int) -> tuple[Any, ...]:
    pointer = np.concatenate([[0], np.cumsum(RANDOM.integers(0, longest, rows))]).astype(np.int64)
    entries = int(pointer[-1])
    return pointer, RANDOM.integers(0, rows, entries), whole(entries), whole(rows), np.zeros(rows)


@pytest.mark.parametrize(("rows", "longest"), [(0, 3), (1, 9), (50, 5), (40, 300)])
@pytest.mark.parametrize("schedule", [TEAMS, TWO_WAYS])
def test_sparse_rows(rows: int, longest: int, schedule: str) -> None:
    agree(spmv, *sparse(max(rows, 1), longest), schedule=schedule, strict=False)


@pytest.mark.parametrize("schedule", [TEAMS, TWO_WAYS])
def test_an_index_that_is_wrong_is_reported_by_whichever_thread_finds_it(schedule: str) -> None:
    pointer, column, value, x, y = sparse(40, 60)
    column[len(column) // 2] = 40
    with lw.options(device="emulated", schedule=schedule):
        _, _, error = outcome(lw.kernel(spmv), [pointer, column, value, x, y])
    assert isinstance(error, lw.BoundsError) and "index 40 is out of bounds for axis 0 of 'x' with size 40" in str(
        error
    )


def product(a):
    s = a[0]
    for i in range(a.shape[0]):
        s *= a[i]
    return s


def bits(a):
    s = a[0]
    t = a[0]
    u = a[0]
    for i in range(a.shape[0]):
        s &= a[i]
        t |= a[i]
        u ^= a[i]
    return s, t, u


def extremes(a):
    s = a[0]
    t = a[0]
    u = a[0]
    v = a[0]
    for i in range(a.shape[0]):
        s = min(s, a[i])
        t = max(t, a[i])
        u = np.minimum(u, a[i])
        v = np.maximum(v, a[i])
    return s, t, u, v


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
@pytest.mark.parametrize("threads", [16, 96])
@pytest.mark.parametrize("kernel", [product, bits, extremes])
def test_integers_of_every_width(kernel: Any, threads: int, dtype: Any) -> None:
    a = RANDOM.integers(0, 100, 333).astype(dtype)
    agree(kernel, a, schedule=f"bind i thread.x {threads}")  # exact, so that strict allows it


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("values", [[0.0, -0.0], [1.5, -2.5, np.inf], [np.nan, 1.0, 2.0], [3.0, 1.0, np.nan]])
def test_least_and_greatest_floats_are_the_same_for_all_threads(values: list[float], dtype: Any) -> None:
    with lw.options(device="emulated", schedule="bind i thread.x 64"):
        got = lw.kernel(extremes)(np.array(values * 50, dtype))
    with np.errstate(all="ignore"):
        wanted = extremes(np.array(values * 50, dtype))
    np.testing.assert_array_equal(np.array(got), np.array(wanted))  # which of 0.0 and -0.0 is open


def pairs(a, y):
    for q in range(a.shape[0]):
        t = np.empty(32)
        for i in range(32):
            t[i] = a[q, i]
        for i in range(32):
            s = 0.0
            for j in range(32):
                s += t[j]
            y[q, i] = s


def test_teams_read_what_the_block_has_written_before() -> None:
    found = agree(pairs, whole(3, 32), np.zeros((3, 32)), strict=False,
                  schedule="bind q block.x; bind i thread.x; bind i.2 thread.y 4; bind j thread.x")  # fmt: skip
    assert "__syncthreads();" in device_text(found)


def exchange(a, y):
    for q in range(a.shape[0]):
        t = np.empty((4, 8))
        for i in range(4):
            for j in range(8):
                t[i, j] = a[q, i, j]
            for k in range(8):
                y[q, i, k] = t[i, 7 - k]


def exchange_in_warps(a, y):
    for q in range(a.shape[0]):
        t = np.empty((4, 32))
        for i in range(4):
            for j in range(32):
                t[i, j] = a[q, i, j]
            for k in range(32):
                y[q, i, k] = t[i, 31 - k]


def test_warps_exchange_elements_of_their_part_of_a_shared_array() -> None:
    agree(exchange_in_warps, whole(3, 4, 32), np.zeros((3, 4, 32)),
          schedule="bind q block.x; bind i thread.y; bind j thread.x; bind k thread.x")  # fmt: skip


def test_teams_do_not_exchange_elements_of_shared_arrays() -> None:
    refused(exchange, whole(3, 4, 8), np.zeros((3, 4, 8)),
            schedule="bind q block.x; bind i thread.y; bind j thread.x; bind k thread.x",
            why="teams of threads share 't': they would have to wait for one another")  # fmt: skip


def back(a, y):
    for q in range(a.shape[0]):
        for j in range(8):
            y[q, j] = a[q, j] + 1.0
        for k in range(8):
            a[q, k] = y[q, 7 - k]


def test_teams_wait_for_their_lanes_where_they_exchange_elements_of_others() -> None:
    found = agree(back, whole(9, 8), np.zeros((9, 8)), schedule="bind q thread.y 4; bind j thread.x; bind k thread.x")
    assert device_text(found).count("LW_MEET_TEAM(lw_team);") == 1  # a row may be one of many: its threads ask


def test_a_team_that_does_not_fit_a_warp_is_refused() -> None:
    refused(rows, whole(9, 9), whole(9), whole(9), strict=False,
            schedule="bind i thread.y 4; bind j thread.x 24",
            why="each iteration of 'i' would have a team of 24 threads: these have to be in one warp, so "
                "2, 4, 8, 16, 32 are possible")  # fmt: skip


IN_BLOCKS = "bind row block.x; bind k thread.x 40"
IN_WARPS = "bind row block.x; bind k thread.x 16"


@pytest.mark.parametrize("schedule", [TEAMS, TWO_WAYS, IN_BLOCKS, IN_WARPS])
def test_a_row_with_a_wrong_index_is_not_written(schedule: str) -> None:
    """Found: the threads that were left put a sum together without the one that a check had ended."""
    pointer, column, value, x, _ = sparse(40, 60)
    wrong = int(np.argmax(np.diff(pointer)))
    column[pointer[wrong] + 1] = 99
    y = np.full(40, 0.5)  # no sum of whole numbers
    with lw.options(device="emulated", schedule=schedule):
        _, _, error = outcome(lw.kernel(spmv), [pointer, column, value, x, y])
    assert isinstance(error, lw.BoundsError)
    sums = [np.dot(value[a:b], x[np.minimum(column[a:b], 39)]) for a, b in pairwise(pointer)]
    assert y[wrong] == 0.5
    assert all(got in (0.5, right) for got, right in zip(y, sums, strict=True))


def by_column(a, index, y):
    for j in range(y.shape[0]):
        s = 0.0
        for i in range(index.shape[0]):
            s += a[index[i], j]
        y[j] = s


def test_a_column_with_a_wrong_index_is_not_written() -> None:
    y = np.full(20, 0.5)
    schedule = "split j 8; bind j.o block.x; bind j thread.x; bind i thread.y 8"
    with lw.options(device="emulated", schedule=schedule):
        _, _, error = outcome(lw.kernel(by_column), [whole(9, 20), np.array([1, 2, 3, 9, 5]), y])
    assert isinstance(error, lw.BoundsError) and (y == 0.5).all()


def place(a):
    best = a[0]
    where = -1
    for i in range(a.shape[0]):
        if a[i] > best:
            best = a[i]
            where = i
    return where, best


LANES = "reduce i 64; split i.l 32; bind i.l.o block.x; bind i.l thread.x; bind i.m thread.x 32"


@pytest.mark.parametrize("schedule", ["", LANES, LANES.replace("i.m thread.x 32", "i.m thread.x 24"),
                                      LANES.replace("i.m thread.x 32", "i.m thread.x 64")])  # fmt: skip
@pytest.mark.parametrize("size", [1, 2, 40, 900])
def test_the_place_of_the_greatest_element(size: int, schedule: str) -> None:
    for values in (RANDOM.integers(-9, 9, size), RANDOM.random(size), np.zeros(size), -RANDOM.random(size)):
        agree(place, values, schedule=schedule)
    a = RANDOM.random(size)
    a[RANDOM.integers(0, size, size // 3)] = np.nan
    agree(place, a, schedule=schedule)


def test_which_iteration_it_was_is_kept_by_lanes_only() -> None:
    with (
        lw.options(device="emulated", schedule="bind i thread.x 32"),
        pytest.raises(lw.ScheduleError, match="which iteration sets 'best' would be lost: `reduce` keeps track of it"),
    ):
        lw.kernel(place)(np.zeros(9))
