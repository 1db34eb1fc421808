"""What loops read where data say; and conversions between numbers of 64 bits, which lanes do by arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from loopwright.codegen.gathers import gathers, looks_up
from loopwright.ir.nodes import For
from loopwright.ir.text import parse_kernel
from loopwright.ir.walk import statements

FRAME = "kernel k(a: float64[1] C, b: int64[1] C, c: float64[1] C):\n    var t: int64\n    for i in 0 .. size(b, 0):\n"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("        c[i] = a[i + 1] * float64(b[i])\n", []),
        ("        c[i] = a[b[i]]\n", [False]),
        ("        t = b[i] + 1\n        if t < 9:\n            c[i] = a[t]\n", [True]),
        ("        c[i] = a[b[i]] if b[i] < 9 else 0.0\n", [True]),
        ("        if b[i] < 9:\n            c[i] = a[2 * i]\n", []),
        ("        c[i // 2] = 1.0\n", [False]),
    ],
)
def test_which_accesses_are_where_data_say(body: str, found: list[bool]) -> None:
    loop = next(statements(parse_kernel(FRAME + body).body, For))
    assert list(gathers(loop)) == found


BYTES = "kernel k(a: float64[1] C, t: uint8[1] C, b: uint8[1] C, c: uint8[1] C, x: int64[1] C):\n"


@pytest.mark.parametrize(
    ("stored", "found"),
    [
        ("c[i] = uint8(x[b[i]])", True),
        ("x[i] = x[b[i]] // 3 + 1", True),
        ("a[i] = a[b[i]]", True),
        ("c[i] = t[b[i]]", False),  # as narrow as all else
        ("x[i] = x[x[i]]", False),
        ("a[i] = 0.5 * a[b[i]]", False),  # something is computed
        ("a[i] = sqrt(a[b[i]])", False),
        ("c[i] = uint8(x[i])", False),
    ],
)
def test_which_loops_only_look_things_up(stored: str, found: bool) -> None:
    kernel = parse_kernel(f"{BYTES}    for i in 0 .. size(b, 0):\n        {stored}\n")
    assert looks_up(next(statements(kernel.body, For))) == found


def palette(image: np.ndarray, table: np.ndarray, out: np.ndarray) -> None:
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            out[i, j] = table[image[i, j]] * 255 // 256


@pytest.mark.parametrize("columns", [0, 1, 3, 4, 5, 67])
def test_a_palette(columns: int) -> None:
    draw = np.random.default_rng(columns)
    image = draw.integers(0, 256, (3, columns)).astype(np.uint8)
    table = draw.integers(-(10**6), 10**6, 256)
    mine, pythons = np.zeros((2, 3, columns), np.int64)
    lw.kernel(palette)(image, table, mine)
    palette(image, table, pythons)
    np.testing.assert_array_equal(mine, pythons)


def doubles(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    for i in range(x.shape[0]):
        out[i] = x[i] * 1.0 + y[i] * 1.0 + i * 0.5


def wholes(x: np.ndarray) -> np.ndarray:
    out = np.empty(x.shape[0], np.int64)
    for i in range(x.shape[0]):
        out[i] = int(x[i])
    return out


def clipped(x: np.ndarray) -> np.ndarray:
    out = np.empty(x.shape[0], np.int16)
    for i in range(x.shape[0]):
        v = x[i]
        if v > 32767:
            v = 32767
        elif v < -32768:
            v = -32768
        out[i] = int(v)
    return out


EDGES = [0, 1, -1, 2**31, -(2**31), 2**32 - 1, 2**32, 2**52 - 1, 2**52, 2**53 + 1, -(2**53) - 1, 2**62 + 257, 2**63 - 1]


def test_whole_numbers_become_the_nearest_doubles() -> None:
    random = np.random.default_rng(0)
    x = np.concatenate([np.array([*EDGES, -(2**63)]), random.integers(-(2**63), 2**63 - 1, 1000)])
    y = np.concatenate([np.array([2**63, 2**64 - 1], np.uint64), random.integers(0, 2**64 - 1, len(x) - 2, np.uint64)])
    for zero in (np.zeros_like(x), x):
        out = np.empty(len(x))
        wide = y if zero is x else np.zeros_like(y)
        with lw.options(threads=1, strict=True):
            lw.kernel(doubles)(x, wide, out)
        assert (out == x * 1.0 + wide * 1.0 + np.arange(len(x)) * 0.5).all()


@pytest.mark.parametrize("large", [2.0**50, 2.0**51, -(2.0**51), 2.0**51 + 1, 2.0**52 + 1, -(2.0**62), -(2.0**63)])
def test_doubles_are_cut_off_towards_zero(large: float) -> None:
    """Also those that the arithmetic of lanes does not reach, somewhere among others."""
    x = np.random.default_rng(1).normal(0, 1000, 1000)
    x[:6] = 0.0, -0.0, -0.5, 0.99999999999999989, -1.5, 2.0**51 - 0.5
    x[777] = large
    assert (lw.kernel(wholes)(x) == x.astype(np.int64)).all()
    assert (lw.kernel(clipped)(x) == np.clip(x, -32768, 32767).astype(np.int16)).all()


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), 2.0**63, -(2.0**64)])
def test_what_does_not_fit_fails_where_python_fails(wrong: float) -> None:
    x = np.ones(1000)
    x[400] = wrong
    with pytest.raises((ValueError, OverflowError)):
        lw.kernel(wholes)(x)


def compared(a: np.ndarray, limit: int, out: np.ndarray) -> int:
    n = 0
    for i in range(a.shape[0]):
        out[i] = 200 if a[i] > limit else 3
        if limit <= a[i]:
            n += 1
        if a[i] == limit:
            n += 1000
    return n


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.uint16, np.int16, np.int32])
def test_narrow_elements_are_compared_with_any_whole_number(kind: type) -> None:
    ends = np.iinfo(kind)
    a = np.random.default_rng(2).integers(ends.min, ends.max, 300, kind, endpoint=True)
    a[:4] = ends.min, ends.max, 0, 1
    near = [end + by for end in (ends.min, ends.max, 0, -512, 512, -131072, 131072) for by in (-1, 0, 1)]
    for limit in (*near, 2**40, -(2**40), 2**63 - 1, -(2**63), 2**32, 2**16 + 1, 2**16):
        out, wanted = np.zeros(300, np.uint8), np.zeros(300, np.uint8)
        wide = a.astype(np.int64)
        assert lw.kernel(compared)(a, limit, out) == compared(wide, limit, wanted)
        assert (out == wanted).all()
