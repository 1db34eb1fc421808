"""What is told of each kernel of a GPU's program, on the emulated GPU."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import even_in_one_thread
from loopwright.report import grids
from loopwright.report.explanation import Explanation, Generated, GridReport
from loopwright.report.grid_layout import grid_lines

random = np.random.default_rng(8)


@lw.kernel
def smooth(a, b, steps):  # type: ignore[no-untyped-def]
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                a[i, j] = b[i, j]


@lw.kernel
def columns(a, b):  # type: ignore[no-untyped-def]
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j]


@lw.kernel
def sparse(pointer, column, value, x, y):  # type: ignore[no-untyped-def]
    for row in range(y.shape[0]):
        s = 0.0
        for k in range(pointer[row], pointer[row + 1]):
            s += value[k] * x[column[k]]
        y[row] = s


@lw.kernel
def total(a):  # type: ignore[no-untyped-def]
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    return s


@lw.kernel
def turned(a, b):  # type: ignore[no-untyped-def]
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[j, i] = a[i, j]


@lw.kernel
def shrinking(a):  # type: ignore[no-untyped-def]
    for k in range(a.shape[0]):
        for i in range(k + 1, a.shape[0]):
            a[i] += a[k]


@lw.kernel
def chased(a):  # type: ignore[no-untyped-def]
    for i in range(1, a.shape[0]):
        a[i] = np.sqrt(a[i - 1] + a[i])


ONE_ROW_A_THREAD = "split i 64; bind i.o block.x; bind i thread.x"
IN_TILES = (
    "tile i 4 j 256; specialize i j full; reorder j i; tile i.2 4 j.2 256; bind i.o block.y; bind j.o block.x; "
    "bind j thread.x; bind j.1 thread.x; bind i.2.o block.y; bind j.2.o block.x; bind j.2 thread.x"
)
IN_LANES = "reduce i 262144; split i.l 256; bind i.l.o block.x; bind i.l thread.x"
FEWER = "split i 512; bind i.o block.x; bind i thread.x 256"
TURNED = "reorder j i; tile j 32 i 64; specialize j i full"
COPIED = (
    "bind j.o block.y; bind i.o block.x; bind j.p thread.x 32; bind i.p thread.y 8; bind j thread.y 8; "
    "bind i thread.x 32; bind j.1 thread.y 8; bind i.1 thread.x 32"
)
HALVES = (
    "cut i 500; split i 256; split i.1 256; bind i.o block.x; bind i thread.x; bind i.1.o block.x; bind i.1 thread.x"
)


def explained(kernel: Any, *arguments: Any, **options: Any) -> Explanation:
    with lw.options(device="emulated", **options):
        found: Explanation = kernel.explain(*arguments)
    return found


def reports(kernel: Any, *arguments: Any, **options: Any) -> tuple[GridReport, ...]:
    generated = explained(kernel, *arguments, **options).generated
    assert generated is not None
    return generated.grids


def without_compiler(found: tuple[GridReport, ...]) -> str:
    """The lines, without what another release of CUDA's compiler may change."""
    nothing: dict[str, Any] = {"registers": None, "shared_bytes": 0, "spilled_bytes": 0, "at_once": None}
    return "\n".join(grid_lines([replace(one, **nothing) for one in found]))


def matrix(rows: int = 1000, columns: int = 2000) -> np.ndarray:
    return np.zeros((rows, columns))


def every_kind() -> str:
    pointer = np.arange(1001) * 3
    entries = (pointer, np.zeros(3000, np.int32), np.zeros(3000), np.zeros(1000), np.zeros(1000))
    programs: dict[str, tuple[Any, ...]] = {
        "stencil in a loop over time": reports(smooth, matrix(), matrix(), 100, schedule=IN_TILES),
        "one row for each thread": reports(columns, matrix(), matrix(), schedule=ONE_ROW_A_THREAD),
        "sparse rows": reports(sparse, *entries, schedule="reduce k 64; bind row block.x; bind k.l thread.x"),
        "a sum": reports(total, np.zeros(1 << 20), schedule=IN_LANES),
        "turned in shared memory": reports(
            turned, matrix(), matrix(2000, 1000), schedule=f"{TURNED}; pack a j pad 1; {COPIED}"
        ),
        "the same without padding": reports(
            turned, matrix(), matrix(2000, 1000), schedule=f"{TURNED}; pack a j; {COPIED}"
        ),
        "fewer in each iteration": reports(shrinking, np.zeros(5000), schedule=FEWER),
    }
    return "\n\n".join(f"# {name}\n{without_compiler(found)}" for name, found in programs.items())


def test_every_kind(golden: Any) -> None:
    golden("report/grids.txt", every_kind())


def test_without_a_call_there_are_formulas() -> None:
    a, b = matrix(40, 50), matrix(40, 50)
    with lw.options(device="emulated", schedule=IN_TILES):
        smooth(a, b, 2)
    one = next(one for one in smooth.explanations() if one.generated is not None and one.generated.grids)
    assert one.generated is not None
    first = one.generated.grids[0]
    assert (first.blocks, first.blocks_words) == (None, "ceil((a.shape[0] - 2) / 4) x ceil((a.shape[1] - 2) / 256)")
    assert first.bytes_least is None and "a.shape[0] * a.shape[1]" in first.bytes_words
    assert [access.said for access in first.accesses] == ["8 bytes apart: coalesced, 8 sectors a warp"] * 5


def test_numbers_for_programs() -> None:
    (found,) = reports(columns, matrix(), matrix(), schedule=ONE_ROW_A_THREAD)
    assert (found.blocks, found.block, found.threads) == (16, (64, 1, 1), 64)
    assert found.bytes_least == 2 * 8 * 1000 * 2000
    read, write = found.accesses
    assert (read.text, read.write, write.write, read.memory) == ("a[i, j]", False, True, "global")
    assert (read.sectors, read.least, read.threads, read.bytes) == (32, 8, 32, 8)
    assert found.registers is None or found.registers > 0


def test_a_statement_in_two_kernels_says_nothing_of_one() -> None:
    found = reports(columns, matrix(), matrix(), schedule=HALVES)
    assert len(found) == 2 and all(one.bytes_least is None and not one.bytes_words for one in found)


def test_what_one_thread_runs_is_said() -> None:
    with even_in_one_thread():
        (found,) = reports(chased, np.zeros(5000))
    assert "kernel single: 1 block of 1 thread" in "\n".join(grid_lines([found]))


def test_why_the_cpu_runs_it() -> None:
    whole = matrix()
    assert explained(columns, whole, matrix()).to_dict()["generated"]["not_on_gpu"] == ""
    shared = explained(columns, whole[:-1], whole[1:])
    assert shared.generated is not None and shared.generated.not_on_gpu == "arguments overlap in memory"
    assert "not on a GPU: arguments overlap in memory" in str(shared)


def test_without_cudas_compiler_the_loops_still_say_all_they_know(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grids, "find_nvrtc", lambda: None)
    (found,) = reports(columns, matrix(), matrix(), schedule=ONE_ROW_A_THREAD)
    assert (found.registers, found.occupancy, found.blocks) == (None, None, 16)
    assert "16 blocks of 64 threads\n" in "\n".join(grid_lines([found]))


def test_what_a_kernel_needs_in_one_line() -> None:
    one = GridReport("grid_i", 256, 40, 2048, 16, 6, 0.75, "registers", (16, 16, 1), 12)
    assert list(grid_lines([one])) == [
        "kernel grid_i: 12 blocks of 256 threads (16 x 16), 40 registers each, 2.0 KiB shared, 16 bytes spilled; "
        "6 blocks a multiprocessor, 75% of its threads (registers limit it)"
    ]
    assert list(grid_lines([replace(one, registers=None, blocks=None, block=None)])) == [
        "kernel grid_i: 256 threads a block"
    ]
    two = [replace(one, fault="CUDA: no", registers=None)] * 2
    assert [line for line in grid_lines(two) if "CUDA" in line] == ["CUDA: no"]


def test_no_kernels_are_no_lines() -> None:
    assert list(grid_lines(Generated(1, "", 0.0, True, "").grids)) == []


def counts(keys, h):  # type: ignore[no-untyped-def]
    for i in range(keys.shape[0]):
        h[keys[i]] += 1


def test_blocks_that_go_on_from_part_to_part_are_few() -> None:
    schedule = "split i 64; bind i.o block.x; bind i thread.x 8"
    with lw.options(device="emulated", schedule=schedule):
        few, many = lw.kernel(counts), lw.kernel(counts)
        for kernel, size in ((few, 640), (many, 64 * 1025)):
            kernel(np.zeros(size, np.int64), np.zeros(9, np.int64))
        assert "10 blocks of 8 threads" in str(few.explain(np.zeros(640, np.int64), np.zeros(9, np.int64)))
        assert "1024 blocks of 8 threads" in str(many.explain(np.zeros(64 * 1025, np.int64), np.zeros(9, np.int64)))
        assert "min(ceil(len(keys) / 64), 1024) blocks of 8 threads" in str(many.explanations()[0])
