"""The text of the steady part of loops whose tiles arrive ahead, and what it computes at the ends of tiles."""

from __future__ import annotations

import re

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import device_text


@lw.kernel
def product(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@pytest.mark.parametrize("columns", [128, 129, 132])
@pytest.mark.parametrize("around", [0, 1])
def test_whole_blocks_and_ends_over_many_tiles(columns: int, around: int) -> None:
    """Aligned or not, whole or not: tiles come one after the other, and a short last one."""
    random = np.random.default_rng(columns)
    a = random.integers(-4, 5, (130, 16 * 4 + 5)).astype(np.float32)
    b = random.integers(-4, 5, (16 * 4 + 5, columns + around)).astype(np.float32)[:, around:]
    c = np.zeros((130, columns), np.float32)
    with lw.options(device="emulated"):
        product(a, b, c)
    np.testing.assert_array_equal(c, a @ b)


def text_of(rows: int, columns: int, schedule: str = "") -> str:
    """Of a product, with single blanks."""
    with lw.options(device="emulated", schedule=schedule):
        found = product.specialise(
            *(np.zeros(shape, np.float32) for shape in ((rows, 64), (64, columns), (rows, columns)))
        )
    return re.sub(r"\s+", " ", device_text(found))


@pytest.fixture(scope="module")
def text() -> str:
    return text_of(128, 128)


def steady(text: str) -> list[str]:
    """The loops over whole tiles of the version for long sides."""
    text = text[: text.index('extern "C" __global__')]
    begins = [one.start() for one in re.finditer(r"for \(int lw_left = lw_rounds\(", text)]
    return [text[begin : text.index("lw_turn ^= 1;", begin) + 20] for begin in begins]


def test_there_are_a_text_for_whole_blocks_and_one_for_others(text: str) -> None:
    whole, other = steady(text)
    assert "lw_arrive_or_zero<" not in whole and "lw_arrive_or_zero<" in other


def test_a_tile_is_waited_for_before_it_is_used_and_the_next_one_asked_for_meanwhile(text: str) -> None:
    for part in steady(text):
        waited, met = part.index("lw_arrived();"), part.index("__syncthreads();")
        asked, used = part.index("lw_arrive"), part.index("c_r_[")
        assert waited < met < part.index("lw_arrive", waited + 12) < used and asked == waited
        assert part.count("__syncthreads();") == part.count("lw_arrived();") == 1


def test_one_tile_is_filled_while_the_other_one_is_used(text: str) -> None:
    for part in steady(text):
        filled = re.findall(r"lw_arrive(?:_or_zero)?<\d>\(.*?;", part)
        assert filled and all("(lw_turn ^ 1) * " in one for one in filled)
        [used] = re.findall(r"\] \+ \((a_p_.*?)\)\);", part)
        assert used.count("lw_turn * ") == 2 and "^" not in used
        assert part.count("lw_turn ^= 1;") == 1


def test_addresses_go_on_from_tile_to_tile(text: str) -> None:
    """They are worked out before the loop, and moved on by what two tiles are apart."""
    for part in steady(text):
        for array in "ab":
            assert re.search(rf"lw_from_{array}_\w* \+= lw_along_{array}_\w*;", part)
        assert "a_n1_ *" not in part and "* b_n1_" not in part


def test_a_schedule_without_copies_ahead_has_no_steady_part() -> None:
    plain = "tile i 16 j 16; bind i.o block.y; bind j.o block.x; bind i thread.y; bind j thread.x"
    assert "lw_rounds(" not in text_of(128, 128, plain)
