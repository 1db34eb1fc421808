"""Each kernel as a program for a GPU, on the emulated device: the right results under the blocks that the recipe
chooses, and under blocks of odd sizes. Small ones, so that edges are everywhere."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

import loopwright as lw
from loopwright.recipe import gpu
from polybench.data import shaken, sizes
from polybench.test_verdicts import after, agree, every_module

BLOCKS = {"usual": (gpu.LINE, gpu.ROWS, gpu.COLUMNS), "odd": (96, 3, 10)}


@every_module
@pytest.mark.parametrize("blocks", BLOCKS)
def test_results(module: ModuleType, blocks: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in zip(("LINE", "ROWS", "COLUMNS"), BLOCKS[blocks], strict=True):
        monkeypatch.setattr(gpu, name, value)
    given = shaken(module.initialise(**(module.SIZES["MINI"] if blocks == "usual" else sizes(module))))
    kernel = lw.kernel(module.kernel)
    with lw.options(device="emulated"):
        agree(module, after(kernel, given), module.reference(**given))
    found: Any = kernel._dispatch.compiled()[0]
    assert not found.why_not_gpu
