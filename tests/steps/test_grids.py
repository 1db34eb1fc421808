"""Why a grid cannot be: every refusal by the step that makes it so, before there is any code."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.analysis.analyse import analyse
from loopwright.analysis.facts import Facts
from loopwright.codegen.gpu import generate_gpu
from loopwright.codegen.gpu_writer import NotOnGpu
from loopwright.errors import ScheduleError
from loopwright.ir.gpu_target import CUDA, GpuTarget
from loopwright.ir.nodes import Kernel
from loopwright.ir.text import parse_kernel
from loopwright.steps.grids import not_on_gpu, unrunnable
from loopwright.steps.schedule import apply_schedule, check_grids, parse_schedule, print_schedule

PLANE = """
kernel plane(a: float64[2] C, n: int64):
    for i in 0 .. n:
        for j in 0 .. n:
            a[i, j] = 1.0
"""
WHILE = """
kernel repeated(a: float64[1] C, n: int64):
    while a[0] > 0.0 named w:
        for i in 1 .. n:
            a[i] = a[i] + 1.0
        a[0] = a[0] - 1.0
"""
BLOCK = """
kernel clamped(a: float64[1] C, n: int64):
    block b:
        if n > 9:
            leave b
        for i in 0 .. n:
            a[i] = 1.0
"""
DECIDING = """
kernel deciding(a: int64[1] C, b: float64[2] C, n: int64):
    for q in 0 .. n:
        for k in 0 .. a[a[q]]:
            for t in 0 .. 32:
                b[q, t] = b[q, t] + 1.0
"""
WAITING = """
kernel waiting(a: int64[1] C, b: float64[2] C, n: int64):
    var c: int64
    for q in 0 .. n:
        c = a[q]
        while a[c] > 0 named w:
            for t in 0 .. 32:
                b[q, t] = b[q, t] + 1.0
            c = c - 1
"""
EARLY = """
kernel early(b: float64[2] C, n: int64):
    for q in 0 .. n:
        while b[q, 0] < 9.0 named w:
            for t in 0 .. 32:
                b[q, t] = b[q, t] + 1.0
            if b[q, 1] > 3.0:
                continue w
            for u in 0 .. 32:
                b[q, u] = b[q, u] + 2.0
"""
COLUMNS = """
kernel columns(a: float64[2] C, b: float64[1] C, n: int64):
    var s: float64
    for j in 0 .. n:
        s = 0.0
        for i in 0 .. n:
            s = s + a[i, j]
        b[j] = s
"""
LOOPS = """
kernel loops(a: float64[3] C, b: float64[1] C, n: int64):
    var s: float64
    for j in 0 .. 16:
        s = 0.0
        for k in 0 .. n:
            for i in 0 .. n:
                s = s + a[k, i, j]
        b[j] = s
"""
SAME = """
kernel same(a: float64[2] C, b: float64[1] C, n: int64):
    var s: float64
    s = 0.0
    for j in 0 .. 16:
        s = s + a[0, j]
        for i in 0 .. n:
            s = s + a[i, j]
    b[0] = s
"""
RECORDS = """
kernel records(k: int64[1] C, p: float64[1] strided argument 1 offset 8, n: int64):
    for i in 0 .. n:
        p[k[i]] = p[k[i]] + 1.0
"""
LARGE = """
kernel large(a: float64[2] C, n: int64):
    for q in 0 .. n:
        allocate s: float64[7000]
        for t in 0 .. 1000:
            s[t] = a[q, t]
        for u in 0 .. 1000:
            a[q, u] = s[999 - u]
"""
BY_ONE = """
kernel by_one(a: float64[2] C, b: float64[1] C, n: int64):
    var s: float64
    for q in 0 .. n:
        for u in 0 .. 2:
            s = b[q]
            b[q] = s + 1.0
        for t in 0 .. 32:
            a[q, t] = s
"""
OWN = """
kernel own(a: float64[2] C, n: int64):
    for i in 0 .. n:
        allocate s: float64[600]
        for t in 0 .. 600:
            s[t] = a[i, t]
        for u in 0 .. 600:
            a[i, u] = s[599 - u]
"""
EXCHANGE = """
kernel exchange(a: float64[3] C, b: float64[3] C, n: int64):
    for q in 0 .. n:
        allocate t: float64[4, 8]
        for i in 0 .. 4:
            for j in 0 .. 8:
                t[i, j] = a[q, i, j]
            for k in 0 .. 8:
                b[q, i, k] = t[i, 7 - k]
"""
TEAMS = """
kernel teams(a: float64[2] C, n: int64):
    for i in 0 .. n:
        allocate t: float64[8]
        for j in 0 .. 8:
            t[j] = a[i, j]
        for k in 0 .. 8:
            a[i, k] = t[7 - k]
"""
COLUMN_ARRAY = """
kernel turned(a: float64[2] C, n: int64):
    for j in 0 .. 16:
        allocate t: float64[8]
        for i in 0 .. 8:
            t[i] = a[i, j]
        for k in 0 .. 8:
            a[k, j] = t[7 - k]
"""

ROWS_THAT_ADD = """
kernel total(a: float64[3] C, b: float64[1] C, c: float64[1] C, n: int64):
    var s: float64
    for q in 0 .. n:
        s = 0.0
        for j in 0 .. n:
            if b[j] > 0.0:
                for i in 0 .. n:
                    s = s + a[q, j, i]
        c[q] = s
"""

AT_ONCE = {
    "threads": (PLANE, "bind i thread.y 64; bind j thread.x 17",
                "a block would have 17 x 64 x 1 threads: 1024 are the most"),
    "while": (WHILE, "bind i block.x", "the number of iterations of a loop around others depends on data"),
    "several ends": (BLOCK, "bind i block.x", "a function with several ends holds loops of its own"),
    "meetings": (DECIDING, "bind q block.x; bind t thread.x", "the number of barriers of a block depends on data"),
    "meetings in a while loop": (WAITING, "bind q block.x; bind t thread.x",
                                 "the number of barriers of a block depends on data"),
    "a while loop that goes on early": (EARLY, "bind q block.x; bind t thread.x",
                                        "the number of barriers of a block depends on data"),
    "columns that come back": (COLUMNS, "bind j thread.x 8; bind i thread.y 8",
                               "other statements stand between the threads of 'j' and those inside it"),
    "meetings of columns": (LOOPS, "bind j thread.x; bind i thread.y 4",
                            "a loop of each column holds a barrier for threads along y"),
    "a sum of columns": (SAME, "bind j thread.x; bind i thread.y 4",
                         "the threads of 'j' and those inside it add to the same"),
    "a sum of rows": (ROWS_THAT_ADD, "bind q block.x; bind j thread.y 8; bind i thread.x 32",
                      "the threads of 'j' and those inside it add to the same"),
    "threads along z": (COLUMNS, "bind j thread.y 8; bind i thread.z 8",
                        "other statements stand between the threads of 'j' and those inside it"),
    "records": (RECORDS, "bind i block.x",
                "elements of 'p' lie in records: they cannot be updated by several threads at once"),
}  # fmt: skip
"""What no further step can mend: `bind` refuses."""

AT_LAST = {
    "shared memory": (LARGE, "bind q block.x; bind t thread.x; bind u thread.x",
                      "'s' does not fit into the shared memory of a block: it needs 56000 bytes, 49152 are the most"),
    "unknown size": (LARGE.replace("7000", "n"), "bind q block.x; bind t thread.x; bind u thread.x",
                     "'s' cannot be in the shared memory of a block: its size is not constant"),
    "an array and a scalar": (BY_ONE, "bind q block.x; bind t thread.x",
                              "a block would write to an array and to a scalar at once, outside of its threads"),
    "a thread's array": (OWN, "bind i thread.x 32",
                         "each thread would need an array 's' of its own, and it is too large"),
    "teams that share": (EXCHANGE, "bind q block.x; bind i thread.y; bind j thread.x; bind k thread.x",
                         "teams of threads share 't': they would have to wait for one another"),
    "arrays of teams": (TEAMS, "bind i thread.y 4; bind j thread.x; bind k thread.x",
                        "several teams of threads would each need an array 't' in shared memory"),
    "arrays of columns": (COLUMN_ARRAY, "bind j thread.x; bind i thread.y; bind k thread.y",
                          "several columns of threads would each need an array 't' in shared memory"),
    "a large team": (COLUMNS, "bind j thread.y 4; bind i thread.x 24",
                     "each iteration of 'j' would have a team of 24 threads: these have to be in one warp, so "
                     "2, 4, 8, 16, 32 are possible"),
}  # fmt: skip
"""What depends on all that is bound: the last step of the grid is told."""


def after(text: str, schedule: str, gpu: GpuTarget = CUDA) -> tuple[Kernel, Facts]:
    kernel = parse_kernel(text)
    return apply_schedule(kernel, replace(analyse(kernel), gpu=gpu), parse_schedule(schedule), False)


@pytest.mark.parametrize("name", AT_ONCE)
def test_a_loop_that_cannot_be_bound(name: str) -> None:
    text, schedule, reason = AT_ONCE[name]
    *before, last = parse_schedule(schedule)
    kernel, facts = after(text, print_schedule(tuple(before)))
    found = last.illegal(kernel, facts, False)
    assert found is not None and found.reason == reason


@pytest.mark.parametrize("name", AT_LAST)
def test_a_grid_that_cannot_run(name: str) -> None:
    text, schedule, reason = AT_LAST[name]
    steps = parse_schedule(schedule)
    kernel, facts = after(text, schedule)
    for shown in range(1, len(steps)):
        after(text, print_schedule(steps[:shown]))  # further steps could mend it
    with pytest.raises(ScheduleError) as found:
        check_grids(kernel, facts, steps)
    assert str(found.value).startswith(f"'{steps[-1]}' is not legal: {reason}")
    with pytest.raises(NotOnGpu) as told:
        generate_gpu(kernel, facts, False)
    assert str(told.value) == reason


def test_warps_have_a_row_each_of_what_a_block_shares() -> None:
    wide, schedule = EXCHANGE.replace("8", "32").replace("7", "31"), "bind q block.x; bind i thread.y; bind j thread.x"
    kernel, facts = after(wide, f"{schedule}; bind k thread.x")
    assert unrunnable(kernel, facts, ("q",)) is None
    kernel, facts = after(wide.replace("t[i, 31 - k]", "t[i + k - k, 31 - k]"), f"{schedule}; bind k thread.x")
    assert unrunnable(kernel, facts, ("q",)) is not None


def test_threads_are_fewer_on_a_smaller_gpu() -> None:
    kernel, facts = after(PLANE, "bind i thread.y 16", replace(CUDA, threads=256))
    last = parse_schedule("bind j thread.x 17")[0]
    found = last.illegal(kernel, facts, False)
    assert found is not None and found.reason == "a block would have 17 x 16 x 1 threads: 256 are the most"


@pytest.mark.parametrize(("kilobytes", "fits"), [(54, False), (56, True)])
def test_shared_memory_of_another_gpu(kilobytes: int, fits: bool) -> None:
    steps = "bind q block.x; bind t thread.x; bind u thread.x"
    for gpu in (
        replace(CUDA, shared_bytes=kilobytes * 1024),
        replace(CUDA, asked_shared_bytes=kilobytes * 1024),
    ):
        kernel, facts = after(LARGE, steps, gpu)
        assert (unrunnable(kernel, facts, ("q",)) is None) == fits


SUMS = """
kernel sums(a: float64[2] C, b: float64[1] C, n: int64):
    var s: float64
    for q in 0 .. n:
        allocate t: float64[100]
        for i in 0 .. 100:
            t[i] = a[q, i]
        s = 0.0
        for j in 0 .. 100:
            s = s + a[q, j] * t[99 - j]
        b[q] = s
"""
COUNTS = """
kernel counts(k: int64[2] C, d: float64[1] C, a: float64[1] C, c: float64[1] C, n: int64):
    for q in 0 .. n:
        allocate t: float64[100]
        for i in 0 .. 100:
            t[i] = d[i]
        for j in 0 .. 4096:
            a[k[q, j]] = a[k[q, j]] + 1.0
        for l in 0 .. 4096:
            c[k[q, l]] = c[k[q, l]] + t[99 - l % 100]
"""
BORDERS = {
    "sums of warps": (SUMS, "bind q block.x; bind i thread.x 64; bind j thread.x 64", 800 + 16, 32),
    "sums of threads": (SUMS, "bind q block.x; bind i thread.x 50; bind j thread.x 50", 800 + 400, 32),
    "sums of smaller warps": (SUMS, "bind q block.x; bind i thread.x 64; bind j thread.x 64", 800 + 32, 16),
    "sums of one warp": (SUMS, "bind q block.x; bind i thread.x 32; bind j thread.x 32", 800, 32),
    "sums of columns": (COLUMNS, "split j 32; bind j.o block.x; bind j thread.x; bind i thread.y 4", 8 * 32 * 4, 32),
}
"""Schedules, what they need to the byte, and threads of a warp."""


@pytest.mark.parametrize("name", BORDERS)
def test_all_that_a_block_shares_is_counted(name: str) -> None:
    text, schedule, needed, warp = BORDERS[name]
    steps = parse_schedule(schedule)
    kernel, facts = after(text, schedule, replace(CUDA, shared_bytes=needed, warp=warp))
    check_grids(kernel, facts, steps)
    device = generate_gpu(kernel, facts, False).device
    assert device is not None
    assert sum(one.count * 8 for one in device.functions[0].shared) == needed
    with pytest.raises(ScheduleError, match=f"it needs {needed} bytes, {needed - 1} are the most"):
        check_grids(kernel, replace(facts, gpu=replace(facts.gpu, shared_bytes=needed - 1)), steps)


@pytest.mark.parametrize(("kilobytes", "copies"), [(16, [1365, 582]), (4, [341, 70]), (1, [28]), (0.8, [])])
def test_copies_take_what_is_left(kilobytes: float, copies: list[int]) -> None:
    steps = "bind q block.x; bind i thread.x 64; bind j thread.x 64; bind l thread.x 64"
    most = int(kilobytes * 1024)
    kernel, facts = after(COUNTS, steps, replace(CUDA, shared_bytes=most))
    device = generate_gpu(kernel, facts, False).device
    assert device is not None
    shared = device.functions[0].shared
    assert [one.count for one in shared if one.name.startswith("lw_copy")] == copies
    assert sum(-(-one.count * 8 // 16) * 16 for one in shared) <= most


def test_what_threads_own_needs_no_shared_memory() -> None:
    text = LARGE.replace("s[999 - u]", "s[u]").replace("7000", "1000")
    steps = "bind q block.x; bind t thread.x 1000; bind u thread.x 1000"
    small = replace(CUDA, shared_bytes=1024)
    kernel, facts = after(text, steps, small)
    assert unrunnable(kernel, facts, ("q",)) is None
    device = generate_gpu(kernel, facts, False).device
    assert device is not None and not device.functions[0].shared


TWO = PLANE + "    for k in 0 .. n:\n        if a[0, k] > 1.0:\n            return\n        a[0, k] = 2.0\n"


def test_what_stands_beside_a_grid_is_not_its_fault() -> None:
    kernel, facts = after(TWO, "bind i block.x; bind j thread.x 32")
    assert unrunnable(kernel, facts, ("i", "j")) is None
    found = not_on_gpu(kernel, facts)
    assert found is not None and found.reason == "how a loop around others is left depends on data"


def test_a_local_array_of_one_thread_alone() -> None:
    kernel, facts = after(LARGE, "")
    found = not_on_gpu(kernel, facts)
    assert found is not None and found.reason == "each thread would need an array 's' of its own, and it is too large"
    kernel, facts = after(LARGE.replace("7000", "n"), "")
    assert not_on_gpu(kernel, facts) is not None
    kernel, facts = after(LARGE.replace("7000", "512").replace("1000", "512").replace("999", "511"), "")
    assert not_on_gpu(kernel, facts) is None
