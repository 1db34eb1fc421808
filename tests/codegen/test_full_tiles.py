"""The kernel for whole tiles only: when the host starts it, and what is left out of its text."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from cost.register_tiles import FLOAT64_TILES
from loopwright.analysis.analyse import analyse
from loopwright.codegen.bound_nest import BoundNest
from loopwright.codegen.gpu_writer import GpuWriter
from loopwright.codegen.lowered import FullTiles
from loopwright.codegen.lowering import lower
from loopwright.config import current
from loopwright.devices.emulated import EmulatedModule
from loopwright.ir.nodes import For
from loopwright.ir.text import parse_kernel
from loopwright.toolchain import nvrtc
from loopwright.toolchain.device_text import complete, of_width, only

RANDOM = np.random.default_rng(3)
TILED = """
kernel tiled(n: int64, m: int64, p: int32[1] C, a: float64[1] C, b: float64[1] C):
    for i.o in 0 .. n step 8 block.x:
        for k.o in 0 .. m step 4:
            allocate t: float64[4] double
            if {condition}:
                for x in 0 .. 4 thread.x:
                    t[x] = a[k.o + x]
            else:
                for x.1 in 0 .. 4 thread.x:
                    t[x.1] = (a[k.o + x.1] if k.o + x.1 < m else 0.0)
            for i in i.o .. min(i.o + 8, n):
                b[i] = b[i] + t[0]
"""


@lw.kernel
def product(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the names of kernels end with, in the order in which they are started."""
    names: list[str] = []
    known = EmulatedModule._launched

    def launched(self: Any, kernel: int, *others: Any) -> int:
        names.append(self._kernels[kernel].rsplit("_", 1)[1].removeprefix("asks"))
        return known(self, kernel, *others)

    monkeypatch.setattr(EmulatedModule, "_launched", launched)
    return names


def multiply(rows: int, columns: int, depth: int, more: int = 0) -> None:
    """more: columns of b that nobody asks for."""
    shapes = ((rows, depth), (depth, columns + more), (rows, columns))
    a, b, c = (RANDOM.integers(-4, 5, shape).astype(float) for shape in shapes)
    wanted = c + a @ b[:, :columns]
    with lw.options(device="emulated", schedule=FLOAT64_TILES):
        product(a, b, c)
    np.testing.assert_array_equal(c, wanted)


@pytest.mark.parametrize("shape", [(128, 64, 16), (256, 64, 48), (128, 192, 32), (128, 64, 0)])
def test_whole_tiles(shape: tuple[int, int, int], started: list[str]) -> None:
    multiply(*shape)
    assert started == ["even"]


@pytest.mark.parametrize("shape", [(127, 64, 16), (128, 62, 16), (128, 64, 17), (128, 64, 4), (129, 128, 33)])
def test_other_tiles(shape: tuple[int, int, int], started: list[str]) -> None:
    multiply(*shape)
    assert started == ["32"]


def test_rows_that_begin_between_two_wide_copies(started: list[str]) -> None:
    multiply(128, 64, 16, more=2)
    multiply(128, 64, 16, more=1)
    assert started == ["even", "32"]


@pytest.mark.skipif(sys.platform != "linux", reason="NVRTC comes as a wheel for Linux")
def test_there_is_little_left_to_compile() -> None:
    with lw.options(device="emulated"):
        text = product.specialise(*(np.zeros((64, 64)) for _ in range(3))).program.device
    assert "if (!lw_even && lw_next < lw_upper) {" in text.text
    whole = only(text, [text.kernels[2]])
    assert whole.kernels[0].endswith("_even")
    sizes = [nvrtc.build(complete(one), "sm_90", current()).path.stat().st_size for one in (of_width(text, 32), whole)]
    assert sizes[1] < sizes[0] / 2


# ---- what the host can ask --------------------------------------------------------------------------------------


def asked(condition: str) -> bool:
    """Whether a launch can be asked for the condition of the first branch."""
    full = decided(TILED.format(condition=condition))
    return full is not None and len(full.tests) == 1


def decided(text: str) -> FullTiles | None:
    """What is decided of the only nest of a kernel."""
    kernel = parse_kernel(text)
    (block,) = (stmt for stmt in kernel.body if isinstance(stmt, For))
    found = lower(BoundNest(block, (block,), block.body, (4, 1, 1)), GpuWriter(kernel, analyse(kernel), True).given)
    return found.of(FullTiles, block.name)


@pytest.mark.parametrize("condition", ["k.o + 4 <= m", "i.o + k.o + 4 <= m - n", "n <= m"])
def test_a_condition_that_sizes_decide(condition: str) -> None:
    assert asked(condition)


@pytest.mark.parametrize(
    "condition",
    ["k.o + 4 < m", "k.o * 2 <= m", "m - k.o <= n", "k.o <= i.o", "k.o + 4 <= int64(p[0])", "k.o + 4 <= m or n <= m"],
)
def test_a_condition_that_the_text_has_to_ask(condition: str) -> None:
    assert not asked(condition)


def test_without_other_tiles_there_is_nothing_to_spare() -> None:
    assert decided("kernel one(n: int64, a: float64[1] C):\n    for i in 0 .. n block.x:\n        a[i] = 1.0\n") is None
