"""Each kernel as a program for a GPU, on the emulated device: the right results under the blocks that the recipe
chooses, and under blocks of odd sizes. Small ones, so that edges are everywhere."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

import loopwright as lw
from loopwright.recipe import grid_blocks, grid_stencils, grid_triangles
from polybench.data import shaken, sizes
from polybench.test_verdicts import after, agree, every_module

NUMBERS = (
    (grid_triangles, "LINE"),
    (grid_blocks, "LINE"),
    (grid_stencils, "COLUMNS"),
    (grid_blocks, "ROWS"),
    (grid_blocks, "COLUMNS"),
)
BLOCKS = {"usual": tuple(getattr(*number).default for number in NUMBERS), "odd": (96, 96, 96, 3, 10)}


@every_module
@pytest.mark.parametrize("blocks", BLOCKS)
def test_results(module: ModuleType, blocks: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, value in zip(NUMBERS, BLOCKS[blocks], strict=True):
        monkeypatch.setattr(*number, replace(getattr(*number), default=value))
    given = shaken(module.initialise(**(module.SIZES["MINI"] if blocks == "usual" else sizes(module))))
    kernel = lw.kernel(module.kernel)
    with lw.options(device="emulated"):
        agree(module, after(kernel, given), module.reference(**given))
    found: Any = kernel._dispatch.compiled()[0]
    assert not found.why_not_gpu
