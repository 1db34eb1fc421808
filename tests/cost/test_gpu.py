"""Metrics of GPU variants: what is better comes out better, and the memory test. No GPU is needed."""

from __future__ import annotations

import math
import sys
from dataclasses import replace

import pytest

from cost.variants import H100, Made, floats, made, product, stencil, total
from loopwright.analysis.analyse import analyse
from loopwright.analysis.coalescing import KnownSizes
from loopwright.codegen.gpu import generate_gpu
from loopwright.config import current
from loopwright.cost.gpu import GridWork, gpu_metrics, grid_works, metrics_of
from loopwright.cost.metrics import Metrics
from loopwright.cost.prune import prune
from loopwright.ir.text import parse_kernel
from loopwright.steps.schedule import apply_schedule, parse_schedule
from loopwright.toolchain import sass
from loopwright.toolchain.cubin import KernelResources
from loopwright.toolchain.device_text import of_width

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="NVRTC comes as a wheel for Linux")

IN_BLOCKS = (
    "tile i {y} j {x}; reorder i.o j.o i j k; bind i.o block.y; bind j.o block.x; bind i thread.y; bind j thread.x"
)
TURNED = "tile i 32 j 8; reorder j.o i.o j i k; bind j.o block.y; bind i.o block.x; bind j thread.y; bind i thread.x"
N = 1024
SQUARE = (floats(N, N), floats(N, N), floats(N, N))


def works(one: Made, shape: KnownSizes | None = None) -> tuple[GridWork, ...]:
    assert one.text is not None
    return grid_works(one.kernel, one.text, H100, shape or one.shape, current())


def metrics(one: Made) -> Metrics:
    assert one.text is not None
    return gpu_metrics(one.kernel, one.text, H100, one.shape, current())


def test_register_tiles_surpass_one_element_for_each_thread() -> None:
    tiles, plain = metrics(made(product, SQUARE)), metrics(made(product, SQUARE, IN_BLOCKS.format(y=16, x=16)))
    assert tiles.names == ("efficiency", "utilisation", "roofline")
    assert tiles.values[0] > 5 * plain.values[0]
    assert tiles.values[2] > 2 * plain.values[2]


def test_neighbours_in_memory_surpass_columns() -> None:
    along = works(made(product, SQUARE, IN_BLOCKS.format(y=8, x=32)))
    across = works(made(product, SQUARE, TURNED))
    assert along[0].blocks == across[0].blocks == N * N / 256
    assert across[0].bytes > 5 * along[0].bytes
    assert along[0].bytes == pytest.approx(N**3 / 32 * (4 + 1) * 32 + N * N * 4 * 2, rel=0.05)
    kept = prune({"along": metrics_of(along, H100), "across": metrics_of(across, H100)})
    assert kept.measure == ("along",)
    assert "its roofline" in kept.dropped["across"]


def test_the_bytes_of_a_stencil_are_those_of_its_arrays_and_edges() -> None:
    [work] = works(made(stencil, (floats(N, N), floats(N, N))))
    assert 2 * 4 * N * N < work.bytes < 1.4 * 2 * 4 * N * N


def test_what_memory_holds_up_is_told() -> None:
    one = metrics(made(total, (floats(1 << 24, dtype="float64"),)))
    assert any("memory holds it up" in note for note in one.notes)
    work = works(made(product, SQUARE))
    assert not any("memory" in note for note in metrics_of(work, H100).notes)
    assert any("memory" in note for note in metrics_of(work, H100, least_bytes=1e12).notes)
    assert metrics_of(work, H100, least_bytes=1e12).values[2] == pytest.approx(16 * 132 / 1e12, rel=1e-3)


def test_sizes_scale_the_work() -> None:
    one = made(product, SQUARE, IN_BLOCKS.format(y=16, x=16))
    deeper = KnownSizes({**one.shape.sizes, "s0_1": 2 * N, "s1_0": 2 * N}, one.shape.strides)
    [small], [large] = works(one), works(one, deeper)
    assert large.instructions == pytest.approx(2 * small.instructions, rel=0.1)
    assert large.blocks == small.blocks
    assert large.regions == pytest.approx(2 * small.regions, rel=0.1)


def test_no_elements_at_all() -> None:
    one = made(product, SQUARE, IN_BLOCKS.format(y=16, x=16))
    [work] = works(one, KnownSizes(dict.fromkeys(one.shape.sizes, 0), {}))
    assert work.blocks == 0
    assert metrics_of((work,), H100).values[0] == float("inf")


def test_arrays_beyond_32_bits_take_the_other_kernels() -> None:
    one = made(product, SQUARE, IN_BLOCKS.format(y=16, x=16))
    [near], [far] = works(one), works(one, KnownSizes(dict.fromkeys(one.shape.sizes, 1 << 17), {}))
    assert far.instructions / (1 << 17) != pytest.approx(near.instructions / N, rel=0.2)  # other code
    assert one.text is not None
    for bits in (32, 64):
        only = of_width(one.text, bits)
        assert only.kernels == tuple(name for name in one.text.kernels if name.endswith(f"_{bits}"))
        assert only.text.count('extern "C"') == len(only.kernels)
        assert only.text.count("\n") == one.text.text.count("\n")


def test_without_nvdisasm_instructions_are_counted_from_the_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sass, "find_nvdisasm", lambda: None)
    [work] = works(made(product, SQUARE, IN_BLOCKS.format(y=16, x=16)))
    assert N < work.instructions < 100 * N
    assert "nvdisasm is missing" in work.notes[0]
    assert work.resources.registers > 0
    assert metrics_of((work,), H100).values[1] == 0


NEEDS = KernelResources(32, 0, 0, 0, 0, 0, None, 0, 0)
WORK = GridWork("k", 1000.0, 10.0, 256, 132 * 8.0, 1.0, 0.0, NEEDS)


def test_idle_multiprocessors_count() -> None:
    full, one_more = metrics_of((WORK,), H100), metrics_of((replace(WORK, blocks=132 * 8.0 + 1),), H100)
    assert one_more.values[0] == pytest.approx(full.values[0] * 8 / 9)
    assert metrics_of((replace(WORK, blocks=1.0),), H100).values[0] == pytest.approx(full.values[0] * 8)


def test_no_more_blocks_at_once_than_there_are() -> None:
    # Eight would fit: with one block for each multiprocessor, only its own warps help.
    one_each = metrics_of((replace(WORK, blocks=132.0),), H100)
    assert one_each.values[1] == pytest.approx(1000 / 10 * (8 - 1) / 2)
    assert metrics_of((WORK,), H100).values[1] == pytest.approx(1000 / 10 * ((8 - 1) / 2 + 7 * 8))


def test_a_block_that_does_not_fit_is_told() -> None:
    one = metrics_of((replace(WORK, resources=replace(NEEDS, shared_bytes=300 << 10)),), H100)
    assert one.values[1] == 0
    assert "no block fits" in one.notes[0]


def test_starting_kernels_costs() -> None:
    # 16,000 cycles of instructions in each of a thousand launches, and 4,000 to begin it.
    large = replace(WORK, blocks=1000 * WORK.blocks)
    once, often = metrics_of((large,), H100), metrics_of((replace(large, launches=1000.0),), H100)
    assert often.values[:2] == pytest.approx(once.values[:2])
    assert 1 / once.values[2] == pytest.approx(16_000_000 + 4000)
    assert 1 / often.values[2] == pytest.approx(20_000_000)


def test_several_kernels_add_up() -> None:
    twice = metrics_of((WORK, WORK), H100)
    assert twice.values[0] == pytest.approx(metrics_of((WORK,), H100).values[0] / 2)
    assert twice.values[1] == pytest.approx(metrics_of((WORK,), H100).values[1])
    assert metrics_of((), H100).values[0] == float("inf")


ROWS = """
kernel sums(p: int64[1] C, v: float64[1] C, y: float64[1] C):
    var s: float64
    for i in 0 .. size(y, 0):
        s = 0.0
        for k in p[i] .. p[i + 1]:
            s = s + v[k]
        y[i] = s
"""


def test_rows_in_equal_parts_are_for_a_measurement_to_judge() -> None:
    kernel = parse_kernel(ROWS.strip("\n") + "\n")
    balanced, facts = apply_schedule(kernel, analyse(kernel), parse_schedule("balance i k 2048"), strict=False)
    text = generate_gpu(balanced, facts, False).device
    assert text is not None
    found = gpu_metrics(balanced, text, H100, KnownSizes({"s0_0": 1001, "s1_0": 9999, "s2_0": 1000}, {}), current())
    assert all(math.isnan(value) for value in found.values)
    assert any("cannot be judged" in note for note in found.notes)


def test_what_one_thread_does_alone_counts_all_its_iterations() -> None:
    # Nothing is bound: one thread of the GPU does it all, and every other multiprocessor waits.
    kernel = parse_kernel(ROWS.strip("\n").replace("p[i] .. p[i + 1]", "0 .. size(v, 0)") + "\n")
    text = generate_gpu(kernel, analyse(kernel), False).device
    assert text is not None
    shape = KnownSizes({"s0_0": 0, "s1_0": 700, "s2_0": 1000}, {})
    [work] = grid_works(kernel, text, H100, shape, current())
    assert work.threads * work.blocks == 1
    assert 700_000 < work.instructions < 30 * 700_000
