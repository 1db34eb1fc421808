"""What a warp touches, against the addresses that its threads compute."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from benchmarks.gpu import kernels
from benchmarks.polybench import gemver, symm, syrk

import loopwright as lw
from loopwright.analysis import coalescing
from loopwright.analysis.analyse import analyse
from loopwright.analysis.coalescing import FAR, KnownSizes, WarpAccess, warp_accesses
from loopwright.codegen.gpu_writer import NotOnGpu
from loopwright.cost.call_shape import shape_of
from loopwright.ir.gpu_target import CUDA
from loopwright.ir.interp import evaluation
from loopwright.ir.nodes import Allocate, Assign, Body, For, If, Kernel, Load, Stmt, Store
from loopwright.ir.text import parse_kernel
from loopwright.ir.user_text import user_element
from loopwright.ir.walk import expressions, own_expressions, statements, subexpressions
from loopwright.steps.threads import block_size
from meaning.choices import Choices
from meaning.grids import on_grid
from meaning.nests import arguments, nest

random = np.random.default_rng(2)


def scheduled(kernel: Any, arguments: list[Any], schedule: str | None = None) -> Kernel:
    options = {"device": "emulated"} | ({} if schedule is None else {"schedule": schedule})
    with lw.options(**options):
        found: Kernel = kernel.specialise(*arguments).kernel
    return found


def nests(kernel: Kernel) -> Iterator[Body]:
    """What the blocks of each grid do."""
    for stmt in statements(kernel.body):
        if isinstance(stmt, For) and stmt.run.startswith("block.") and stmt.body[0] not in blocks_inside(stmt):
            yield stmt.body


def blocks_inside(loop: For) -> list[Stmt]:
    return [stmt for stmt in loop.body if isinstance(stmt, For) and stmt.run.startswith("block.")]


def accesses(kernel: Kernel, inside: Body, shape: KnownSizes, shared: bool = True) -> tuple[WarpAccess, ...]:
    local = frozenset(stmt.array for stmt in statements(inside) if isinstance(stmt, Allocate))
    there = local if shared else frozenset[str]()
    return warp_accesses(kernel, inside, block_size(inside), there, local - there, shape)


# ---- an independent witness: each thread computes its first address ---------------------------------------------


class Lane:
    """One thread of the first block: the address of the first element that each access touches, as an offset."""

    def __init__(self, kernel: Kernel, inside: Body, place: tuple[int, int, int], arrays: dict[str, Any]) -> None:
        self.state: dict[str, Any] = dict(arrays)
        self.place, self.found = place, dict[int, int]()
        for stmt in statements(kernel.body):
            if isinstance(stmt, For) and not stmt.run.startswith("thread."):
                at = 0 if stmt.run.startswith("block.") else 1  # of the host's loops, any turn
                self.state[stmt.name] = np.int64(at)
        self.body(inside)

    def body(self, body: Body) -> None:
        for stmt in body:
            match stmt:
                case For():
                    turn = self.place["xyz".index(stmt.run[-1])] if stmt.run.startswith("thread.") else 0
                    step = int(evaluation(stmt.step)(self.state))
                    lower, upper = (int(evaluation(bound)(self.state)) for bound in (stmt.lower, stmt.upper))
                    if not (turn < stmt.threads if stmt.threads else True) or lower + turn * step >= upper:
                        continue
                    self.state[stmt.name] = np.int64(lower + turn * step)
                    self.body(stmt.body)
                case If():
                    self.body(stmt.then)
                case Allocate():
                    sizes = [int(evaluation(size)(self.state)) for size in stmt.shape]
                    self.state[stmt.array] = np.zeros(sizes, stmt.element.dtype)
                case _:
                    for expr in own_expressions(stmt):
                        for part in subexpressions(expr):
                            if isinstance(part, Load):
                                self.note(part)
                    if isinstance(stmt, Store):
                        self.note(stmt)
                    if isinstance(stmt, Assign):
                        self.state[stmt.name] = evaluation(stmt.value)(self.state)

    def note(self, node: Load | Store) -> None:
        index = [int(evaluation(expr)(self.state)) for expr in node.index]
        self.found[id(node)] = sum(i * s for i, s in zip(index, self.state[node.array].strides, strict=True))


def witnessed(kernel: Kernel, inside: Body, arrays: dict[str, Any]) -> dict[int, list[int]]:
    """By access, what the threads of the first warp touch first."""
    x, y, z = block_size(inside)
    lanes = [Lane(kernel, inside, (t % x, t // x % y, t // (x * y)), arrays) for t in range(min(32, x * y * z))]
    nodes = [n for n in (*expressions(inside), *statements(inside)) if isinstance(n, Load | Store)]
    return {id(n): [lane.found[id(n)] for lane in lanes if id(n) in lane.found] for n in nodes}


def of_module(module: Any, **sizes: int) -> tuple[Any, list[Any]]:
    return lw.kernel(module.kernel), list(module.initialise(**sizes).values())


def matrices(count: int, n: int, dtype: str) -> list[Any]:
    return [random.random((n, n)).astype(dtype) for _ in range(count)]


PROGRAMS = {
    "gemm64": (kernels.gemm, matrices(3, 256, "float64")),
    "gemm32": (kernels.gemm, matrices(3, 256, "float32")),
    "transposed": (kernels.transpose, matrices(2, 128, "float64")),
    "jacobi": (kernels.jacobi_2d, matrices(2, 300, "float32")),
    "sum": (kernels.total, [random.random(300000)]),
    "strided": (kernels.add, [random.random(4000)[::2], random.random(6000)[::3], np.zeros(2000)]),
    "fortran": (kernels.transpose, [np.asfortranarray(random.random((128, 128))), np.zeros((128, 128))]),
    "convolution": (kernels.convolve, [np.ones((260, 260), "f"), np.ones((5, 5), "f"), np.zeros((256, 256), "f")]),
    "gemver": of_module(gemver, n=300),
    "syrk": of_module(syrk, n=300, m=200),
    "symm": of_module(symm, n=300, m=200),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_sectors_are_those_of_the_addresses(name: str) -> None:
    kernel, arguments = PROGRAMS[name]
    made = scheduled(kernel, arguments)
    arrays = {param.name: arguments[param.argument] for param in made.params}
    strides = shape_of(made, arguments).strides
    for param in made.arrays:
        placed = np.lib.stride_tricks.as_strided(arrays[param.name], strides=strides[param.argument])
        arrays[param.name] = placed
    in_grids = {id(stmt) for inside in nests(made) for stmt in statements(inside)}
    for stmt in statements(made.body, Allocate):
        if id(stmt) not in in_grids:
            arrays[stmt.array] = np.zeros([int(evaluation(size)(arrays)) for size in stmt.shape], stmt.element.dtype)
    seen = 0
    for inside in nests(made):
        truth = witnessed(made, inside, arrays)
        for access in accesses(made, inside, shape_of(made, arguments)):
            starts = truth[id(access.node)]
            if not starts or access.apart in ("data", "unknown"):
                continue
            if name in ("syrk", "symm", "gemm32", "gemm64") and len(starts) < access.threads:
                continue  # the first block has the first row of a triangle, which is short, or few parts of a sum
            seen += 1
            # Threads along y that share a column all ask for what one of them does: the same sectors. Or there is one
            # thread for a row of the block, outside of what its threads share.
            assert access.threads in (1, len(starts), len(set(starts)), len(starts) // min(32, block_size(inside)[0]))
            element = access.node.type if isinstance(access.node, Load) else access.node.value.type
            if access.memory == "global":
                starts = [start - min(starts) for start in starts]
                bytes_ = {start + k for start in starts for k in range(0, access.bytes, element.size_bytes)}
                assert access.sectors == len({byte // 32 for byte in bytes_})
                assert access.least == -(-len(bytes_) * element.size_bytes // 32)
            elif len(starts) > 1:
                assert access.apart == starts[1] - starts[0]
    assert seen > 0


def agree(made: Kernel, inside: Body, arrays: dict[str, Any], shape: KnownSizes) -> int:
    """How many accesses of a grid were found to touch what their threads compute."""
    truth = witnessed(made, inside, arrays)
    seen = 0
    for access in accesses(made, inside, shape, shared=False):
        starts = truth[id(access.node)]
        if access.apart in ("data", "unknown") or len(starts) != access.threads:
            continue  # the witness looks at the first turn of each loop only, and some threads have none
        element = access.node.type if isinstance(access.node, Load) else access.node.value.type
        bytes_ = {s - min(starts) + k for s in starts for k in range(0, access.bytes, element.size_bytes)}
        assert access.sectors == len({byte // 32 for byte in bytes_})
        seen += 1
    return seen


def test_random_grids() -> None:
    seen = 0
    for seed in range(50):
        first = parse_kernel(nest(seed))
        made, *_ = on_grid(Choices(seed), first, analyse(first), False)
        given = arguments(first, seed, 0)
        shape = shape_of(made, given)
        arrays = {param.name: given[param.argument] for param in made.params}
        for param in made.arrays:
            placed = np.lib.stride_tricks.as_strided(arrays[param.name], strides=shape.strides[param.argument])
            arrays[param.name] = placed
        for inside in nests(made):
            with suppress(NotOnGpu, IndexError, KeyError):  # the witness knows no arrays of the host's part
                seen += agree(made, inside, arrays, shape)
    assert seen > 15


# ---- by hand ------------------------------------------------------------------------------------------------------


@lw.kernel
def gathered(a, index, b):  # type: ignore[no-untyped-def]
    for i in range(b.shape[0]):
        b[i] = a[index[i]] + a[i // 2] + a[0]


@lw.kernel
def copied(a, b):  # type: ignore[no-untyped-def]
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j]


def said(kernel: Any, arguments: list[Any], schedule: str, known: bool = True) -> dict[str, WarpAccess]:
    made = scheduled(kernel, arguments, schedule)
    shape = shape_of(made, arguments) if known else KnownSizes({}, {})
    (inside,) = nests(made)
    return {user_element(one.node.array, one.node.index): one for one in accesses(made, inside, shape)}


def test_what_data_decides_is_said_to_be_so() -> None:
    arguments = [random.random(512), np.arange(512), np.zeros(512)]
    found = said(gathered, arguments, "split i 256; bind i.o block.x; bind i thread.x")
    assert {text: one.apart for text, one in found.items()} == {
        "index[i]": 8, "a[index[i]]": "data", "a[i // 2]": "unknown", "a[0]": 0, "b[i]": 8,
    }  # fmt: skip
    assert (found["a[0]"].sectors, found["a[0]"].least) == (1, 1)
    assert (found["a[index[i]]"].sectors, found["b[i]"].sectors) == (0, 8)


ROWS = "split i 64; bind i.o block.x; bind i thread.x"


@pytest.mark.parametrize(("known", "apart"), [(True, 800), (False, FAR)])
def test_rows_apart(known: bool, apart: int) -> None:
    found = said(copied, [random.random((128, 100)), np.zeros((128, 100))], ROWS, known)
    assert (found["a[i, j]"].apart, found["a[i, j]"].sectors, found["a[i, j]"].least) == (apart, 32, 8)


def test_a_row_of_threads_shorter_than_a_warp() -> None:
    tile = "tile i 8 j 8; bind i.o block.y; bind j.o block.x; bind i thread.y; bind j thread.x"
    found = said(copied, [random.random((64, 100)), np.zeros((64, 100))], tile)
    # four rows of 64 bytes, 800 bytes apart
    assert (found["a[i, j]"].apart, found["a[i, j]"].sectors, found["a[i, j]"].least) == (8, 8, 8)
    found = said(copied, [random.random((64, 99)), np.zeros((64, 99))], tile)
    assert found["a[i, j]"].sectors > found["a[i, j]"].least  # rows of 792 bytes begin inside of sectors


@pytest.mark.parametrize(("name", "apart"), [("gemm32", 16), ("gemm64", 16)])
def test_elements_side_by_side_are_touched_at_once_as_far_as_a_load_reaches(name: str, apart: int) -> None:
    made = scheduled(*PROGRAMS[name])
    first = accesses(made, next(nests(made)), shape_of(made, PROGRAMS[name][1]), shared=False)[0]
    assert (first.node.array, first.bytes, first.apart) == ("c", 16, apart)  # four of each thread, in a row
    assert (first.sectors, first.least) == (16, 16)


@pytest.mark.parametrize(
    ("starts", "width", "ways"),
    [
        ([4 * t for t in range(32)], 4, 1),
        ([128 * t for t in range(32)], 4, 32),
        ([132 * t for t in range(32)], 4, 1),
        ([8 * t for t in range(32)], 4, 2),
        ([0] * 32, 4, 1),
        ([8 * t for t in range(32)], 8, 1),
        ([16 * t for t in range(32)], 8, 2),
        ([16 * t for t in range(32)], 16, 1),
        ([32 * t for t in range(32)], 16, 2),
        (list(range(32)), 1, 1),
        ([-4 * t for t in range(32)], 4, 1),
    ],
)
def test_bank_conflicts(starts: list[int], width: int, ways: int) -> None:
    assert coalescing._conflicts(starts, width, CUDA) == ways
