"""Which nests are products, with which loops in tiles, and what comes out on the emulated device."""

from __future__ import annotations

from contextlib import suppress
from itertools import product
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree
from loopwright.recipe import grid_products
from loopwright.recipe.grid_products import contracted
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule
from recipe.planning import plan_of, steps

NEST = """
kernel nest(x: float32[4] C, w: float32[4] C, y: float32[4] C):
    for n in 0 .. size(y, 0):
        for i in 0 .. size(y, 1):
            for j in 0 .. size(y, 2):
                for o in 0 .. size(y, 3):
                    for a in 0 .. 3:
                        for b in 0 .. 3:
                            for c in 0 .. size(w, 2):
                                y[n, i, j, o] = y[n, i, j, o] + {term}
"""
LAST, FIRST = "x[n, i + a, j + b, c] * w[a, b, c, o]", "x[n, c, j + a, o + b] * w[i, c, a, b]"


def taken(text: str) -> tuple[PartialSchedule, list[str]]:
    """The plan after an attempt at its first nest, and what it binds to blocks; nothing where it is no product."""
    partial, bound = plan_of(text), list[str]()
    with suppress(NotTaken):
        (chain,) = partial.chains()
        free = [loop for loop in chain if partial.verdict(loop) == "parallel"]
        bound = [str(step) for step, _ in contracted(partial, chain, free)]
    return partial, [text for text in bound if "block" in text]


def test_channels_are_in_tiles_and_windows_around_them() -> None:
    partial, bound = taken(NEST.format(term=LAST))
    assert bound == ["bind n block.z", "bind i block.y", "bind j.o block.x"]  # and all columns of a tile in one block
    assert "tile j 64 o 64 c 16" in steps(partial) and "reorder j.o o.o a b c.o; promote y a whole" in steps(partial)
    assert steps(partial).startswith("specialize y.2 y.3 w.2 >= 24 in n")  # below, tiles would be mostly empty
    assert len(partial.short) == 2


def test_what_operands_have_in_common_is_in_tiles() -> None:
    """Images with the channels first: rows of an image, which moves along both, have blocks of their own."""
    partial, bound = taken(NEST.format(term=FIRST))
    assert bound == ["bind n block.z", "bind j block.y", "bind i.o block.x"]
    assert "tile i 64 o 64 c 16" in steps(partial)


SUMS = """
kernel nest(a: float64[2] C, b: float64[2] C, y: float64[2] C):
    var s: float64
    for i in 0 .. size(y, 0):
        for j in 0 .. size(y, 1):
            s = 0.0
            for k in 0 .. size(a, 1):
                s = s + {term}
            y[i, j] = s
"""


@pytest.mark.parametrize(("term", "times"), [("a[i, k] * b[k, j]", 1), ("a[i, k] * b[i, k]", 0)])
def test_facts_of_elements_in_place_of_scalars_are_found_for_products_only(
    term: str, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And once each: they take longer than everything else that is asked."""
    begun: list[PartialSchedule] = []
    again = PartialSchedule.begin_again
    monkeypatch.setattr(grid_products, "contraction", lambda *_: [])
    monkeypatch.setattr(PartialSchedule, "begin_again", lambda partial: (begun.append(partial), again(partial))[1])
    taken(SUMS.format(term=term))
    assert len(begun) == times


@pytest.mark.parametrize(
    "term",
    [
        "x[n, i + a, j + b, o + c] * w[a, b, c, o]",  # no loop of depth without a window
        "x[n, 2 * j, i + a, c] * w[a, b, c, o]",  # rows are not neighbours
        "x[n, i, j, c] + w[a, b, c, o] * x[n, i + a, j + b, o + c]",
    ],
)
def test_no_such_products(term: str) -> None:
    assert taken(NEST.format(term=term))[1] == []


def convolution(x, w, y):
    for n in range(y.shape[0]):
        for i in range(y.shape[1]):
            for j in range(y.shape[2]):
                for o in range(y.shape[3]):
                    s = 0.0
                    for a in range(3):
                        for b in range(2):
                            for c in range(x.shape[3]):
                                s += x[n, i + a, j + b, c] * w[a, b, c, o]
                    y[n, i, j, o] = s


def channels_first(x, w, y):
    for n in range(y.shape[0]):
        for o in range(y.shape[1]):
            for i in range(y.shape[2]):
                for j in range(y.shape[3]):
                    s = 0.0
                    for c in range(x.shape[1]):
                        for a in range(w.shape[2]):
                            for b in range(w.shape[3]):
                                s += x[n, c, i + a, j + b] * w[o, c, a, b]
                    y[n, o, i, j] = s


def _numbers(*shapes: tuple[int, ...]) -> list[Any]:
    draw = np.random.default_rng(3)
    return [draw.integers(-3, 4, shape).astype(np.float32) for shape in shapes]


SIZES = (1, 2, 70, 25, 33), (2, 1, 3, 2, 4), (1, 1, 64, 32, 64), (0, 2, 30, 30, 30)
"""Images, rows and columns of the result, channels before and after."""


def test_convolutions_over_channels() -> None:
    """In tiles, some of them not whole, and where these would be mostly empty."""
    last: Any = lw.kernel(convolution)
    first: Any = lw.kernel(channels_first)
    for n, rows, columns, before, after in SIZES:
        x, w, y = _numbers((n, rows + 2, columns + 1, before), (3, 2, before, after), (n, rows, columns, after))
        wanted = np.zeros_like(y)
        for a, b in product(range(3), range(2)):
            wanted += x[:, a : a + rows, b : b + columns] @ w[a, b]
        turned = np.ascontiguousarray(np.moveaxis(y, 3, 1))
        with lw.options(device="emulated"):
            last(x, w, y)
            first(*(np.ascontiguousarray(one) for one in (np.moveaxis(x, 3, 1), w.transpose(3, 2, 0, 1))), turned)
        np.testing.assert_array_equal(y, wanted)
        np.testing.assert_array_equal(np.moveaxis(turned, 1, 3), wanted)
    assert not last.specialisations()[0].why_not_gpu and not first.specialisations()[0].why_not_gpu


def padded(x, w, y):
    for n in range(y.shape[0]):
        for j in range(y.shape[1]):
            for o in range(y.shape[2]):
                s = 0.0
                for b in range(3):
                    if 0 <= j + b - 1 < x.shape[1]:
                        for c in range(x.shape[2]):
                            s += x[n, j + b - 1, c] * w[b, c, o]
                y[n, j, o] = s


def test_a_window_with_conditions_is_one_grid() -> None:
    """Before, each of its iterations was a launch or three. Where there are few sums, lanes share each of them."""
    found = agree(padded, *_numbers((2, 9, 5), (3, 5, 7), (2, 9, 7)), strict=False)
    assert [one.loop for one in found.program.device.functions] == ["n", "n.1"]


def one_index(a, c, out):
    """An index of four: rows are what the three others have in common, and no operand has an element for each sum."""
    for p in range(c.shape[1]):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                for k in range(a.shape[2]):
                    for x in range(a.shape[3]):
                        out[p, j, k, x] += c[i, p] * a[i, j, k, x]


def second_index(a, c, out):
    for p in range(a.shape[0]):
        for q in range(c.shape[1]):
            for j in range(a.shape[1]):
                for k in range(a.shape[2]):
                    for x in range(a.shape[3]):
                        out[p, q, k, x] += c[j, q] * a[p, j, k, x]


def gated(x, gate, up, out):
    """Two products in one loop."""
    for i in range(x.shape[0]):
        for j in range(gate.shape[1]):
            g = 0.0
            u = 0.0
            for k in range(x.shape[1]):
                g += x[i, k] * gate[k, j]
                u += x[i, k] * up[k, j]
            out[i, j] = g / (1.0 + abs(g)) * u


def _schedule(function: Any, *args: Any) -> str:
    """After a call whose results are CPython's."""
    agree(function, *args, strict=False)
    with lw.options(device="emulated"):
        return str(lw.kernel(function).explain(*args).schedule)


@pytest.mark.parametrize("shape", [(5, 3, 2, 17), (1, 1, 1, 1), (3, 0, 2, 4), (0, 2, 2, 2), (18, 2, 3, 70)])
def test_products_of_one_index_of_several(shape: tuple[int, ...]) -> None:
    a, b = (np.random.default_rng(7).integers(-9, 9, size).astype("f8") for size in (shape, (max(shape), 6)))
    first = _schedule(one_index, a, b, np.zeros((6, *shape[1:])))
    second = _schedule(second_index, a, b, np.zeros((shape[0], 6, *shape[2:])))
    assert "bind j block.z; bind k block.z; bind p.o block.y" in first
    assert "bind p block.z; bind k block.z; bind q.o block.y" in second


@pytest.mark.parametrize(("n", "depth", "m"), [(40, 33, 30), (1, 1, 1), (3, 0, 2), (2, 70, 1), (0, 3, 3)])
def test_products_in_one_loop(n: int, depth: int, m: int) -> None:
    args = [one.astype("f8") for one in _numbers((n, depth), (depth, m), (depth, m), (n, m))]
    assert "expand g i j; expand u i j; distribute i" in _schedule(gated, *args)
