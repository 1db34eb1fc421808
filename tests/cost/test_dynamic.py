"""Instructions that are executed: as many multiplications, roots and stores as the loops have, whatever the compiler
has unrolled, for products, stencils, sums and potentials. No GPU is needed."""

from __future__ import annotations

import re
import sys
from collections import Counter
from dataclasses import replace

import pytest

from cost.register_tiles import FLOAT32_TILES
from cost.variants import floats, made, potential, product, stencil, total
from loopwright.analysis.frequency import frequencies
from loopwright.config import current
from loopwright.cost.dynamic import InstructionCounts, counted
from loopwright.ir.nodes import Body, For, If, Kernel
from loopwright.ir.program import DeviceText
from loopwright.ir.text import print_kernel
from loopwright.steps.threads import BLOCKS
from loopwright.toolchain.device_text import DEVICE_HEADER, of_width
from loopwright.toolchain.nvrtc import build
from loopwright.toolchain.sass import Instruction, instructions

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="NVRTC comes as a wheel for Linux")

IN_BLOCKS = (
    "tile i 16 j 16; reorder i.o j.o i j k; bind i.o block.y; bind j.o block.x; bind i thread.y; bind j thread.x"
)


def listed(text: DeviceText) -> dict[str, tuple[Instruction, ...]]:
    only = of_width(text, 32)
    only = replace(only, text=DEVICE_HEADER + only.text)
    found = instructions(build(only, "sm_90", current(), lines=True).path, current())
    assert found is not None
    return found


def executed(kernel: Kernel, text: DeviceText, sizes: dict[str, int], unknown: int = 0) -> Counter[str]:
    """Instructions by name that all threads together execute. unknown: how many loops nobody knows the length of."""
    code = listed(text)
    found = frequencies(kernel, sizes)
    every: Counter[str] = Counter()
    nests = [stmt for stmt in kernel.body if isinstance(stmt, For)]
    for nest, function in zip(nests, text.functions, strict=True):
        blocks, inside = 1.0, (nest,)
        while len(inside) == 1 and isinstance(loop := inside[0], For) and loop.run in BLOCKS:
            blocks, inside = found.iterations[loop.name], loop.body  # type: ignore[assignment]
        own = code[f"{function.name}_32"]
        for one, weight in zip(own, weights(own, function.region, inside, found, unknown), strict=True):
            every[one.name] += weight * function.threads * blocks  # type: ignore[assignment]
    return every


def weights(code, place, inside: Body, found, unknown: int) -> tuple[float, ...]:  # type: ignore[no-untyped-def]
    counts: InstructionCounts = counted(code, place, inside, found, DEVICE_HEADER.count("\n"))
    assert len(counts.unmatched) == unknown
    return counts.weights


def run(function, arguments, schedule: str = "", unknown: int = 0) -> Counter[str]:  # type: ignore[no-untyped-def]
    one = made(function, arguments, schedule)
    assert one.text is not None
    return executed(one.kernel, one.text, dict(one.shape.sizes), unknown)


@pytest.mark.parametrize(("n", "depth"), [(64, 64), (128, 1000), (64, 7)])
def test_a_product_of_one_element_for_each_thread(n: int, depth: int) -> None:
    found = run(product, (floats(n, depth), floats(depth, n), floats(n, n)), IN_BLOCKS)
    assert found["FFMA"] == pytest.approx(n * n * depth)
    assert found["LDG"] == pytest.approx(2 * n * n * depth + n * n)
    assert found["STG"] == pytest.approx(n * n)


@pytest.mark.parametrize("depth", [64, 1024])
def test_a_product_in_register_tiles(depth: int) -> None:
    # Whole tiles of 128 x 128, the tiles of 16 along the depth written out; versions for edges are in the code, too.
    found = run(product, (floats(256, depth), floats(depth, 256), floats(256, 256)), FLOAT32_TILES)
    assert found["FFMA"] == pytest.approx(256 * 256 * depth)
    assert found["STG"] == pytest.approx(256 * 256 / 4)  # four elements at once
    per_thread = 256 * 256 / 128
    assert found["BAR"] == pytest.approx(per_thread * (depth // 16 + 1), rel=0.02)


def test_edges_of_tiles_count_as_often_as_they_are() -> None:
    whole = run(product, (floats(1024, 64), floats(64, 1024), floats(1024, 1024)), FLOAT32_TILES)
    edges = run(product, (floats(1000, 64), floats(64, 1000), floats(1000, 1000)), FLOAT32_TILES)
    assert whole["FFMA"] == pytest.approx(1024 * 1024 * 64)
    # The threads at the edges execute what their warps do, for nothing where they are beyond it.
    assert 1000 * 1000 * 64 < edges["FFMA"] < 1.1 * 1024 * 1024 * 64
    assert edges["LDG"] > 1.3 * whole["LDG"]  # what is added to is read element by element there


@pytest.mark.parametrize(
    ("n", "depth", "by_16", "in_all"),
    [
        (256, 64, 4 * 20, 4),
        (256, 16, 20, 1),
        (256, 10, 16 + 16, 1),  # no whole tile at all: of each array element by element
        (256, 70, 4 * 20 + 32, 5),
        (100, 200, 13 * 32, 13),  # no whole block
        (1000, 64, (14 + 2) + (3.5 + 2) + 3 * (49 * 20 + 15 * 32) / 64, 4),  # an eighth of the blocks in each direction
    ],
)
def test_parts_of_a_product_that_are_written_apart(n: int, depth: int, by_16: float, in_all: int) -> None:
    """Whole tiles, ends of blocks and ends of the depth have texts of their own: all that is multiplied, copied and
    waited for is counted once."""
    found = run(product, (floats(n, depth), floats(depth, n), floats(n, n)), FLOAT32_TILES)
    threads = (-(-n // 128)) ** 2 * 128
    assert found["FFMA"] == pytest.approx(threads * 128 * depth)
    assert found["LDGSTS"] == pytest.approx(threads * by_16)
    assert found["BAR"] == pytest.approx(threads * (in_all + 1))


def test_a_stencil() -> None:
    # Blocks begin at multiples of 256 columns, of which the first is none: the columns are in 33 warps.
    found = run(stencil, (floats(1026, 1026), floats(1026, 1026)))
    assert found["FADD"] == pytest.approx(3 * 1024 * 33 * 32)
    assert found["FMUL"] == pytest.approx(1024 * 33 * 32)
    assert found["STG"] == pytest.approx(1024 * 33 * 32)


@pytest.mark.parametrize("n", [1 << 18, 1 << 22, 3 << 20])
def test_a_sum(n: int) -> None:
    found = run(total, (floats(n, dtype="float64"),))
    assert found["DFMA"] == pytest.approx(n)
    # 512 blocks of 512 threads add up 262144 partial sums: in each a thread adds its own one, its warp five times, and
    # the first warp the other 15. One more block does the same with what these have found, and adds it to zero.
    assert found["DADD"] == pytest.approx(512 * (6 * 512 + 15 * 32) + 5 * 512 + 16 * 32)


def test_a_potential() -> None:
    found = run(potential, (floats(300), floats(300), floats(300), floats(64, 64)), IN_BLOCKS)
    # A few more outside of the loop, in the functions of slow paths.
    assert found["MUFU"] == pytest.approx(2 * 64 * 64 * 300, rel=0.01)


def test_a_loop_of_unknown_length_counts_once_and_is_told() -> None:
    one = made(stencil, (floats(66, 66), floats(66, 66)))
    assert one.text is not None
    [function] = one.text.functions
    code = listed(one.text)[f"{function.name}_32"]
    lines = [line for instruction in code for line in instruction.lines]
    assert max(lines) > DEVICE_HEADER.count("\n")
    counts = counted(code, function.region, (), frequencies(one.kernel, {}), DEVICE_HEADER.count("\n"))
    assert counts.unmatched


@pytest.mark.parametrize(("n", "rounds"), [(33, 64), (10, 32), (64, 64), (100, 128), (200, 224)])
def test_threads_that_share_too_few_iterations(n: int, rounds: int) -> None:
    """In a loop that all threads of a row share, those of a warp go round together, and the loops inside it run: of 64
    threads, two warps for 33 iterations, one for ten."""
    schedule = (
        "reorder j i k; split i 8; split j 256; reorder i.o j.o i j k; "
        "bind i.o block.y; bind j.o block.x; bind i thread.y; bind j thread.x 64"
    )
    found = run(product, (floats(64, 50), floats(50, n), floats(64, n)), schedule)
    assert found["FFMA"] == pytest.approx(64 * rounds * 50, rel=0.03)


def counts_of(keys, counts):  # type: ignore[no-untyped-def]
    for i in range(keys.shape[0]):
        counts[keys[i]] += 1


@pytest.mark.parametrize("n", [1 << 20, 1 << 24])
def test_updates_that_look_ahead(n: int) -> None:
    """Keys are read several at once, and one by one at the end: each is read once. How many counts each block clears
    and adds up is not known, and is told."""
    arguments = (floats(n, dtype="int64"), floats(1000, dtype="int64"))
    one = made(counts_of, arguments)
    assert one.text is not None and "lw_at += " in one.text.text
    assert run(counts_of, arguments, unknown=2)["LDG"] == pytest.approx(n, rel=0.02)


def test_the_tiles_of_these_tests_are_those_of_long_sides() -> None:
    given = (floats(2048, 2048), floats(2048, 2048), floats(2048, 2048))
    versions, tiles = made(product, given).kernel, made(product, given, FLOAT32_TILES).kernel
    [long] = [stmt.then for stmt in versions.body if isinstance(stmt, If)]
    text = print_kernel(replace(versions, body=long))
    assert re.sub(r"\b([ijk])\.2\b", r"\1.1", text) == print_kernel(tiles)  # `i.1` is in another version
