"""What the texts of a GPU's program are written with: parameters, widths of distances, arrays of threads, and how many
blocks share a multiprocessor."""

from __future__ import annotations

import re

import pytest

from codegen.scheduled import grid_text
from loopwright.analysis.analyse import analyse
from loopwright.codegen.gpu import generate_gpu
from loopwright.codegen.gpu_writer import NotOnGpu, _blocks_at_once
from loopwright.ir.gpu_target import CUDA, GpuTarget
from loopwright.ir.text import parse_kernel


@pytest.mark.parametrize(
    ("threads", "words", "bounds"),
    [(256, 64, (2,)), (128, 64, (4,)), (128, 128, (2,)), (256, 128, ()), (256, 8, ()), (64, 128, (4,)), (64, 64, (8,))],
)
def test_blocks_that_share_the_registers(threads: int, words: int, bounds: tuple[int, ...]) -> None:
    assert _blocks_at_once(threads, 4 * words, CUDA) == bounds


def test_half_the_registers_hold_half_the_blocks() -> None:
    assert _blocks_at_once(128, 256, GpuTarget(registers=32768)) == (2,)


ADD = """
kernel add(a: float64[1] C, b: {element}[1] {layout}, x: float64, n: int64):
    for i in 0 .. n:
        a[i] = x + float64(b[{index}])
"""


def added(element: str = "float64", layout: str = "C", index: str = "i", steps: str = "bind i block.x") -> str:
    return grid_text(ADD.format(element=element, layout=layout, index=index), steps)


def test_what_is_only_read_is_constant() -> None:
    assert "LW_GLOBAL(const double) b_" in added() and "LW_GLOBAL(double) a_" in added()


def test_a_kernel_has_what_it_uses_as_parameters_and_no_more() -> None:
    head = added().split("{")[0]
    assert "double x_" in head
    assert "n_," not in head.replace("n0_,", "")  # how many blocks there are is the host's


def test_one_kernel_for_each_width_of_distances() -> None:
    text = added()
    for bits in (32, 64):
        assert re.search(rf"__global__ void __launch_bounds__\(1\) lw_grid_i__{bits}\(", text)
        assert f"lw_grid_i_<int{bits}_t>(" in text
    assert "(lw_int)" in added(layout="strided")


def test_a_check_tells_the_device() -> None:
    text = added("int64", index="int64(x)")
    assert "LW_INDEX(" in text and "failure" in text
    assert "LW_INDEX(" not in added()


def test_overlapping_arguments_are_not_for_a_gpu() -> None:
    kernel = parse_kernel(
        "kernel k(a: float64[1] C):\n    overlap\n    for i in 0 .. size(a, 0) block.x:\n        a[i] = 1.0\n"
    )
    with pytest.raises(NotOnGpu, match=r"^arguments overlap in memory$"):
        generate_gpu(kernel, analyse(kernel), False)
