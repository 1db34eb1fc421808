"""The arguments of a call made larger or smaller: made-up data of the same kind, where sizes are all that matters."""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np

from loopwright.ir.signature import Shape, shape_of
from loopwright.memory.arrays import Array
from loopwright.tuning.arguments import Saved, restore, save

LEAST = 16
"""A length or number below this is taken for a constant of the problem: 3 coordinates, 5 weights, 10 steps."""

MOST_BYTES = 1 << 31


def scaled(saved: Saved, factor: float, apart: Collection[int] = (), deeper: float = 1.0) -> tuple[Saved, Shape] | None:
    """New arguments whose sizes are `factor` times those of the saved ones, and their shape. apart: places in
    `Shape.sizes` whose sizes are `deeper` times as large instead. Among each of the two kinds, equal sizes stay equal,
    and those that differed by a few still do. The data is the old data, repeated or cut.

    None where data may be indices, where arrays are views or share memory, and where it would be too large."""
    arguments = restore(saved).arguments
    arrays = [one for one in arguments if isinstance(one, np.ndarray)]
    if any(one.dtype.kind != "f" or not _is_plain(one) for one in arrays):
        return None
    if len({id(one.base) if one.base is not None else id(one) for one in arrays}) < len(arrays):
        return None
    sizes = iter(_scaled_sizes(shape_of(arguments).sizes, factor, apart, deeper))
    made: list[object] = []
    total = 0
    for one in arguments:
        if isinstance(one, np.ndarray):
            shape = tuple(next(sizes) for _ in one.shape)
            total += one.itemsize * math.prod(shape)
            if total > MOST_BYTES:
                return None
            data = np.resize(one.reshape(-1, order="A"), shape)
            made.append(data if one.flags.c_contiguous else np.asfortranarray(data))
        elif isinstance(one, int | np.integer) and not isinstance(one, bool):
            made.append(type(one)(next(sizes)))
        else:
            made.append(one)
    return save(made), shape_of(made)


def _is_plain(array: Array) -> bool:
    return bool(array.size and (array.flags.c_contiguous or array.flags.f_contiguous))


def _scaled_sizes(sizes: tuple[int, ...], factor: float, apart: Collection[int], deeper: float) -> list[int]:
    """The new ones, in the same order."""
    usual = _scaled_lengths(tuple(size for place, size in enumerate(sizes) if place not in apart), factor)
    deep = _scaled_lengths(tuple(sizes[place] for place in apart), deeper)
    return [(deep if place in apart else usual).get(size, size) for place, size in enumerate(sizes)]


def _scaled_lengths(sizes: tuple[int, ...], factor: float) -> dict[int, int]:
    """For each size the new one. Sizes that are near to one another (n and n + 1) keep their distance."""
    found: dict[int, int] = {}
    anchor: int | None = None
    for size in sorted({size for size in sizes if size >= LEAST}):
        if anchor is None or size - anchor > max(4, anchor // 64):
            anchor = size
        found[size] = max(1, round(anchor * factor)) + (size - anchor)
    return found
