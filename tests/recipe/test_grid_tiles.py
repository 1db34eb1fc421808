"""Products of matrices by the default recipe of a GPU, on the emulated device, which finds accesses outside of arrays,
races and early reads. Sizes are no multiples of a tile."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.compiler import analysed, program_of
from loopwright.config import current
from loopwright.frontend.capture import capture
from loopwright.ir.variant import compilation_of
from loopwright.runtime.specialise import as_arguments, signature_of
from loopwright.steps.schedule import print_schedule
from loopwright.toolchain import nvrtc
from loopwright.toolchain.device_text import complete, of_width

RANDOM = np.random.default_rng(3)


@lw.kernel
def product(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def numbers(*shape: int, dtype: Any = float) -> Any:
    return RANDOM.integers(-4, 5, shape).astype(dtype)


def wanted(a: Any, b: Any, c: Any) -> Any:
    """One term after the other, as the loops add them."""
    result = c.copy()
    with np.errstate(all="ignore"):
        for k in range(a.shape[1]):
            result += a[:, k, None] * b[None, k, :]
    return result


def check(a: Any, b: Any, c: Any) -> None:
    right = wanted(a, b, c)
    with lw.options(device="emulated"):
        product(a, b, c)
    np.testing.assert_array_equal(c, right)


SIZES = [
    (1, 1, 1), (7, 7, 7), (127, 65, 17), (129, 127, 16), (200, 70, 33), (128, 128, 32), (128, 129, 8), (257, 3, 9),
    (3, 257, 1), (0, 5, 5), (5, 0, 5), (5, 5, 0),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_of_any_size(dtype: Any) -> None:
    for n, m, k in SIZES:
        check(numbers(n, k, dtype=dtype), numbers(k, m, dtype=dtype), numbers(n, m, dtype=dtype))


def test_nothing_beyond_the_ends_reaches_a_result() -> None:
    """Zeros that fill a tile, times an infinity or NaN beside it, or added to a negative zero, would be seen."""
    n, m, k = 131, 67, 13
    a, b = numbers(n, k), numbers(k, m)
    a[130, 12], a[0, 12], b[12, 66], b[3, 0] = np.nan, np.inf, -np.inf, np.nan
    check(a, b, numbers(n, m))
    c = np.full((n, m), -0.0)
    with lw.options(device="emulated"):
        product(np.zeros((n, 0)), np.zeros((0, m)), c)
    assert np.signbit(c).all()
    with lw.options(device="emulated"):
        product(np.full((n, k), -1.0), np.zeros((k, m)), c)
    assert np.signbit(c).all()


def test_only_the_target_is_written() -> None:
    """Views of larger arrays: what lies around them stays, and elements are apart."""
    n, m, k = 130, 66, 11
    around = [numbers(*shape) for shape in ((n + 3, 2 * k + 5), (k + 2, m + 7), (n + 4, 3 * m + 1))]
    a, b, c = (
        around[0][1 : n + 1, 3 : 2 * k + 3 : 2],
        around[1][1 : k + 1, 5 : m + 5],
        around[2][2 : n + 2, 1 : 3 * m + 1 : 3],
    )
    kept, right = around[2].copy(), wanted(a, b, c)
    kept[2 : n + 2, 1 : 3 * m + 1 : 3] = right
    with lw.options(device="emulated"):
        product(a, b, c)
    np.testing.assert_array_equal(around[2], kept)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_all_blocks_do_the_same(dtype: Any) -> None:
    """Once without tests and for a short last tile of the depth; nothing is kept in memory that belongs in registers,
    where places in arrays take 32 bits."""
    source = capture(product.__wrapped__)
    arguments = tuple(numbers(9, 9, dtype=dtype) for _ in range(3))
    signature = signature_of(as_arguments(arguments), [2], ["a", "b", "c"])
    with lw.options(device="emulated"):
        wanted = compilation_of(signature, current())
        found = analysed(source, wanted)
        text = program_of(found, wanted).device
    schedule = print_schedule(found.recipe.schedule)
    assert "complete i" in schedule and "overrun j" in schedule and schedule.count(" fill double;") == 6
    assert text is not None
    body = text.text[text.text.index("lw_turn") :]
    body = body[: body.index('extern "C" __global__')]
    assert body.count("lw_arrive_or_zero<1>") == 6 and body.count("c_r_[") >= 2
    kernels = dict(nvrtc.build(complete(of_width(text, 32)), "sm_90", current()).kernels)
    spilt = {name: needs.spill_store_bytes for name, needs in kernels.items()}
    assert len(kernels) == 7 and not spilt.pop("lw_grid_i_o__32")
    assert max(spilt.values()) <= 32  # a few numbers, in the version for products that are short on one side


@lw.kernel
def lower(a, b, c):
    for i in range(c.shape[0]):
        for k in range(a.shape[1]):
            for j in range(i + 1):
                c[i, j] += a[i, k] * b[j, k]


@lw.kernel
def upper(a, b, c):
    for i in range(c.shape[0]):
        for j in range(i + 1, c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[j, k]


@lw.kernel
def with_itself(a, b, c):
    for i in range(c.shape[0]):
        for k in range(a.shape[1]):
            for j in range(i + 1):
                c[i, j] += a[i, k] * a[j, k]


@lw.kernel
def both_ways(a, b, c):
    for i in range(c.shape[0]):
        for k in range(a.shape[1]):
            for j in range(c.shape[1]):
                c[i, j] += a[i, k] * b[j, k] + b[i, k] * a[j, k]


TRIANGLES = {
    "lower": (lower, lambda a, b: np.tril(a @ b.T)),
    "upper": (upper, lambda a, b: np.triu(a @ b.T, 1)),
    "with_itself": (with_itself, lambda a, b: np.tril(a @ a.T)),
    "both_ways": (both_ways, lambda a, b: a @ b.T + b @ a.T),
}


@pytest.mark.parametrize("name", TRIANGLES)
def test_triangles_and_products_of_rows_with_rows(name: str) -> None:
    """What lies outside of a triangle stays as it is, whatever the operands hold there."""
    kernel, terms = TRIANGLES[name]
    for n, m in [(0, 3), (1, 1), (64, 8), (129, 9), (200, 3)]:
        a, b, c = numbers(n, m), numbers(n, m), numbers(n, n)
        wanted = c + terms(a, b)
        with lw.options(device="emulated"):
            kernel(a, b, c)
        np.testing.assert_array_equal(c, wanted)
    with lw.options(device="emulated"):
        schedule = kernel.explain(a, b, c).to_dict()["schedule"]
    versions, stages = {"both_ways": (3, 12), "upper": (3, 6)}.get(name, (1, 2))  # some for short sides too
    tiles = re.findall(r"tile i\S* 64 j\S* 64 k\S* 16", str(schedule))
    assert len(tiles) == versions and str(schedule).count("stage ") == stages


@lw.kernel
def shortest(n, path):
    for k in range(n):
        for i in range(n):
            for j in range(n):
                path[i, j] = min(path[i, j], path[i, k] + path[k, j])


@pytest.mark.parametrize("least", [0, -2])
def test_rows_that_change_while_others_are_read(least: int) -> None:
    """All rows of a thread are loaded before the first one is written. Lengths below zero change row and column k in
    the midst of iteration k, so that the order shows."""
    for n in (0, 1, 2, 5, 9, 14):
        path = RANDOM.integers(least, 9, (n, n))
        right = path.copy()
        for k in range(n):
            for i in range(n):
                for j in range(n):
                    right[i, j] = min(right[i, j], right[i, k] + right[k, j])
        with lw.options(device="emulated"):
            shortest(n, path)
        np.testing.assert_array_equal(path, right)
    with lw.options(device="emulated"):
        assert str(shortest.explain(9, np.zeros((9, 9))).to_dict()["schedule"]).count("promote path ") == 4
