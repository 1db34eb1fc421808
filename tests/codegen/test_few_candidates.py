"""Better extremes among few candidates: where they are chosen without a jump, and that results are Python's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.scheduled import host_text
from loopwright.codegen.few_candidates import better_extreme
from loopwright.ir.nodes import If
from loopwright.ir.text import parse_kernel
from loopwright.ir.walk import statements

HEAD = """
kernel f(a: int64[2] C, x: float64[2] C, c: int64[1] C, out: int64[1] C):
    var best: int64
    var far: float64
    var at: int64
    for i in 0 .. size(a, 0):
        best = 1000
        far = 0.0
        at = 0
        for k in 0 .. {most}:
            {lines}
        out[i] = best + at
"""
LEAST = ("if a[i, k] < best:", "    best = a[i, k]", "    at = k")
FARTHEST = ("if x[i, k] >= far:", "    far = x[i, k]", "    at = k")


def text_of(lines: tuple[str, ...], most: str = "8") -> str:
    return HEAD.format(most=most, lines="\n            ".join(lines))


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        (LEAST, "best"),
        (FARTHEST, "far"),
        (LEAST[:2], "best"),
        ((*LEAST, "else:", "    at = 0"), None),
        ((*LEAST, "    c[k] = 1"), None),
        (("if a[i, k] < best:", "    at = k"), None),  # nothing that is compared changes
        (("if a[i, k] == best:", *LEAST[1:]), None),
        (("if a[i, k] < best:", "    best = a[i, k]", "    at = a[i, k] // k"), None),
    ],
)
def test_what_a_better_candidate_keeps(lines: tuple[str, ...], name: str | None) -> None:
    found = better_extreme(next(statements(parse_kernel(text_of(lines)).body, If)))
    assert (None if found is None else found.name) == name


@pytest.mark.parametrize(
    ("lines", "most", "chosen"),
    [
        (LEAST, "8", "lw_chosen_lt_int64(lw_one, lw_other, k_, at_)"),
        (FARTHEST, "8", "lw_chosen_ge_float64(lw_one, lw_other, k_, at_)"),
        (LEAST, "17", "lw_chosen_lt_int64(lw_one, lw_other, k_, at_)"),
        (LEAST, "65", None),  # later ones are seldom better
        (LEAST, "size(a, 1)", "lw_chosen_lt_int64(lw_one, lw_other, k_, at_)"),  # where these are few
        (FARTHEST, "size(a, 1)", "lw_chosen_ge_float64(lw_one, lw_other, k_, at_)"),
        ((*LEAST, "a[i, k] = best"), "8", None),  # the next candidates would wait
    ],
)
def test_where_a_jump_is_left_out(lines: tuple[str, ...], most: str, chosen: str | None) -> None:
    text = host_text(text_of(lines, most))
    assert ("lw_next" in text) == (chosen is not None) and (chosen is None or chosen in text)


LONG = "d = ((k * 7 + best) ^ at) * 3 + a[i, k] * a[i, k] + (k + at) * (k - best) - c[k] * 5"


@pytest.mark.parametrize(
    ("lines", "chosen"),
    [
        ((LONG, "if d < best:", "    best = d", "    at = k"), True),
        ((LONG, "for m in 0 .. 3:", "    d = d + m", "if d < best:", "    best = d", "    at = k"), True),
        ((LONG, "for m in 0 .. k:", "    d = d + m", "if d < best:", "    best = d", "    at = k"), False),
        (("d = a[i, k] + 1", "if d < best:", "    best = d", "    at = k"), False),  # who waits for it, waits long
        ((LONG, *FARTHEST), False),  # of floats for longer
    ],
)
def test_of_many_that_take_long_the_better_is_chosen(lines: tuple[str, ...], chosen: bool) -> None:
    text = host_text(text_of(lines, "size(a, 1)").replace("    var at", "    var d: int64\n    var at"))
    assert ("lw_next" in text and "<= 40) {" not in text and "<= 24) {" not in text) == chosen


@lw.kernel(device="cpu", threads=1)
def colours(image, palette, out):
    for i in range(image.shape[0]):
        best = 1 << 30
        which = -1
        for c in range(palette.shape[0]):
            d = 0
            for k in range(3):
                diff = int(image[i, k]) - int(palette[c, k])
                d += diff * diff
            if d < best:
                best = d
                which = c
        out[i, 0] = which
        out[i, 1] = best


def test_colours_are_those_of_python() -> None:
    random = np.random.default_rng(7)
    for count in (0, 1, 40):
        image, palette = (random.integers(0, 9, (n, 3)).astype(np.uint8) for n in (60, count))
        mine, right = np.zeros((2, 60, 2), np.int64)
        colours(image, palette, mine)
        colours.__wrapped__(image, palette, right)
        assert (mine == right).all()


@lw.kernel(device="cpu", threads=1)
def nearest(x, c, keys, place, least, last):
    for i in range(x.shape[0]):
        best = 1e300
        at = -1
        for k in range(9):
            d = (x[i, 0] - c[k, 0]) * (x[i, 0] - c[k, 0]) + (x[i, 1] - c[k, 1]) * (x[i, 1] - c[k, 1])
            if d < best:
                best = d
                at = k
        place[i] = at
        least[i] = best
        most = -100
        before = 0
        for k in range(5):
            key = keys[(i + 3 * k) % keys.shape[0]]
            if key >= most:
                before = most
                most = key
        last[i] = 1000 * before + most


def test_results_are_those_of_python() -> None:
    random = np.random.default_rng(7)
    x, c = random.integers(0, 4, (200, 2)).astype(float), random.integers(0, 4, (9, 2)).astype(float)
    x[3, 0], c[4, 1] = np.nan, np.inf
    keys = random.integers(-5, 5, 200)

    def results() -> tuple[np.ndarray, ...]:
        return np.zeros(200, np.int64), np.zeros(200), np.zeros(200, np.int64)

    mine, right = results(), results()
    with np.errstate(invalid="ignore"):
        nearest.__wrapped__(x, c, keys, *right)
    nearest(x, c, keys, *mine)
    for one, other in zip(mine, right, strict=True):
        np.testing.assert_array_equal(one, other)


def test_how_many_are_few_where_a_loop_begins() -> None:
    whole, floats = (host_text(text_of(lines, "size(a, 1)")) for lines in (LEAST, FARTHEST))
    assert "if (lw_trip(0L, a_n1_, 1L) <= 40) {" in whole and "if (lw_trip(0L, a_n1_, 1L) <= 24) {" in floats
    assert whole.count("lw_chosen_lt_int64(lw_one") == 2 and "lw_any" in whole  # more of them skip blocks, with jumps
    alone = host_text(
        text_of(LEAST, "size(a, 1)").replace("for i in 0 .. size(a, 0):", "if size(a, 0) > 3:").replace("[i", "[0")
    )
    assert "lw_chosen_lt_int64(lw_one" not in alone  # it begins once


def pages(referred: Any, frames: Any, used: Any) -> Any:
    faults = 0
    for t in range(len(referred)):
        hit = -1
        for f in range(len(frames)):
            if frames[f] == referred[t]:
                hit = f
                break
        if hit < 0:
            faults += 1
            hit = 0
            for f in range(1, len(frames)):
                if used[f] < used[hit]:
                    hit = f
            frames[hit] = referred[t]
        used[hit] = t
    return faults


@pytest.mark.parametrize("count", [1, 2, 16, 41, 42, 200])
@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_the_oldest_of_few_pages_goes(count: int, kind: type) -> None:
    referred = np.random.default_rng(count).integers(0, 3 * count, 2000)
    mine, right = ((np.full(count, -1), np.full(count, -1).astype(kind)) for _ in range(2))
    assert lw.kernel(pages)(referred, *mine) == pages(referred, *right)
    assert all((one == other).all() for one, other in zip(mine, right, strict=True))
