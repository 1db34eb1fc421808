from __future__ import annotations

import pytest

from loopwright.analysis.trips import distance, irregular, offsets
from loopwright.ir.nodes import For
from loopwright.ir.text import parse_kernel


def _two(first: str, second: str, body: str = "a[j] = 0") -> tuple[object, For, For]:
    kernel = parse_kernel(f"""
kernel two(n: int64, m: int64, a: int64[1] C):
    for i in {first}:
        a[i] = 0
    for j in {second}:
        {body}
""")
    one, other = kernel.body
    assert isinstance(one, For) and isinstance(other, For)
    return kernel, one, other


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ("0 .. n", "0 .. n", "(0)"),
        ("0 .. n", "5 .. n + 5", "(5)"),
        ("0 .. 2 * n", "n .. 3 * n", "(v0)"),
        ("0 .. n * m", "1 .. n * m + 1", "(1)"),
        ("0 .. n", "1 .. n", None),
        ("0 .. n", "0 .. n step 2", None),
        ("0 .. n", "0 .. m", None),
    ],
)
def test_distance(first: str, second: str, found: str | None) -> None:
    form = distance(*_two(first, second))  # type: ignore[arg-type]
    assert found == (None if form is None else form.text())


@pytest.mark.parametrize(
    ("bounds", "body", "word"),
    [
        ("0 .. n", "a[j] = 0", None),
        ("0 .. a[0]", "a[j] = 0", "not known"),
        ("0 .. n", "break j", "a break"),
        ("0 .. n", "return", "a return"),
        ("0 .. n step m", "a[j] = 0", "not known"),
    ],
)
def test_irregular(bounds: str, body: str, word: str | None) -> None:
    kernel, one, other = _two("0 .. n", bounds, body)
    reason = irregular(kernel, (one, other))  # type: ignore[arg-type]
    assert reason is None if word is None else word in (reason or "") and "'j'" in (reason or "")


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [("0 .. n", "2 .. n - 1", (2, -1)), ("m .. n", "m .. n", (0, 0)), ("0 .. n", "0 .. m", None)],
)
def test_offsets(first: str, second: str, found: tuple[int, int] | None) -> None:
    assert offsets(*_two(first, second)) == found  # type: ignore[arg-type]
