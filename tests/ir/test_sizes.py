"""Which sizes are never negative, by their text alone."""

from __future__ import annotations

import pytest

from loopwright.ir.nodes import Assign
from loopwright.ir.sizes import is_never_negative
from loopwright.ir.text import parse_kernel


@pytest.mark.parametrize(
    ("size", "never"),
    [
        ("size(a, 0)", True),
        ("3", True),
        ("-3", False),
        ("n", False),
        ("size(a, 0) + 2", True),
        ("size(a, 0) + n", False),
        ("size(a, 0) - 2", False),
        ("max(size(a, 0) - 2, 0)", True),
        ("max(n, -1)", False),
        ("min(size(a, 0), 4)", True),
        ("min(size(a, 0), n)", False),
        ("size(a, 0) // 2", True),
        ("size(a, 0) // -2", False),
        ("n // 2", False),
        ("size(a, 0) * 3", True),
        ("size(a, 0) * n", False),
    ],
)
def test_never_negative(size: str, never: bool) -> None:
    (stmt,) = parse_kernel(f"kernel f(a: float64[1] C, n: int64):\n    var k: int64\n    k = {size}\n").body
    assert isinstance(stmt, Assign) and is_never_negative(stmt.value) is never
