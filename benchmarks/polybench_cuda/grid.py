"""Grids of simple kernels: one thread for each item, 256 threads a block."""

from __future__ import annotations

Grid = tuple[tuple[int, ...], tuple[int, ...]]
"""Blocks and threads, x first: what stands in the brackets of a numba.cuda launch."""

LINE, ROWS, COLUMNS = 256, 8, 32


def line(count: int) -> Grid:
    """For one loop of so many iterations; also of none, which CUDA would refuse."""
    return (max(1, -(-count // LINE)),), (LINE,)


def plane(rows: int, columns: int) -> Grid:
    """For two loops; columns along x."""
    return (max(1, -(-columns // COLUMNS)), max(1, -(-rows // ROWS))), (COLUMNS, ROWS)


def space(planes: int, rows: int, columns: int) -> Grid:
    """For three loops; columns along x, planes along z."""
    (x, y), (width, height) = plane(rows, columns)
    return (x, y, max(1, planes)), (width, height, 1)
