"""A product of matrices in Triton, tuned by Triton itself: fp32 throughout, no TF32. Its import needs Triton."""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl

TILES = ((64, 64, 16, 4, 3), (128, 64, 16, 4, 3), (64, 128, 16, 4, 3), (128, 128, 16, 8, 3), (128, 128, 32, 8, 2),
         (128, 256, 16, 8, 2))  # fmt: skip
"""Rows, columns and depth of a block's tile, warps, stages."""
GROUP = 8


@triton.autotune(
    configs=[
        triton.Config({"ROWS": rows, "COLUMNS": columns, "DEPTH": depth}, num_warps=warps, num_stages=stages)
        for rows, columns, depth, warps, stages in TILES
    ],
    key=["m", "n", "k"],
)
@triton.jit
def tile_of_product(
    a, b, c, m, n, k, GROUP: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr
):
    # Programs of a group have neighbouring rows of tiles, and share columns of b in the cache.
    program = tl.program_id(0)
    down, across = tl.cdiv(m, ROWS), tl.cdiv(n, COLUMNS)
    group = program // (GROUP * across)
    height = min(down - group * GROUP, GROUP)
    inside = program % (GROUP * across)
    row = (group * GROUP + inside % height) * ROWS + tl.arange(0, ROWS)
    column = (inside // height) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for start in range(0, k, DEPTH):
        deep = start + tl.arange(0, DEPTH)
        x = tl.load(a + row[:, None] * k + deep[None, :], mask=(row[:, None] < m) & (deep[None, :] < k), other=0.0)
        y = tl.load(
            b + deep[:, None] * n + column[None, :], mask=(deep[:, None] < k) & (column[None, :] < n), other=0.0
        )
        total = tl.dot(x, y, total, input_precision="ieee")
    tl.store(c + row[:, None] * n + column[None, :], total, mask=(row[:, None] < m) & (column[None, :] < n))


def product(a: Any, b: Any, c: Any) -> None:
    """c = a b, of contiguous fp32 tensors."""
    (m, k), n = a.shape, b.shape[1]
    tile_of_product[lambda given: (triton.cdiv(m, given["ROWS"]) * triton.cdiv(n, given["COLUMNS"]),)](
        a, b, c, m, n, k, GROUP
    )
