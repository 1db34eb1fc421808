"""Sizes of blocks and local arrays."""

from __future__ import annotations

import pytest

from loopwright.ir.nodes import Allocate
from loopwright.ir.text import parse_kernel
from loopwright.steps.threads import block_size, constant_size


@pytest.mark.parametrize(
    ("size", "bytes_", "constant"), [("4", 64, 4), ("4", 31, None), ("n", 64, None), ("2, 3", 64, 6), ("-1", 64, None)]
)
def test_arrays_that_fit(size: str, bytes_: int, constant: int | None) -> None:
    [made] = parse_kernel(f"kernel k(n: int64):\n    allocate t: float64[{size}]\n").body
    assert isinstance(made, Allocate)
    assert constant_size(made, bytes_) == constant


def test_a_block_has_room_for_the_largest_of_its_loops() -> None:
    text = """
kernel k(a: float64[1] C, n: int64):
    for i in 0 .. 24 thread.x:
        a[i] = 1.0
    for j in 0 .. n thread.y 3:
        for k in 0 .. n thread.x 8:
            a[k] = 2.0
"""
    assert block_size(parse_kernel(text).body) == (24, 3, 1)
