from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from loopwright.ir.nodes import Allocate, Const
from loopwright.ir.walk import statements
from loopwright.steps.hold import Hold
from steps.before_after import check_same
from steps.kernels import known
from steps.pictures import check_picture

FRAME = "kernel some(a: float64[2] C, b: float64[1] C, x: int64[1] C):\n"
TILES = "reschedule smart tile 4 wavefront"
BOTH_WAYS = """
    for i in 1 .. size(a, 0):
        for j in 1 .. size(a, 1):
            a[i, j] = a[i - 1, j] + a[i, j - 1] - a[i - 1, j - 1]
"""
IN_PLACE = """
    for i in 1 .. size(a, 0) - 1:
        for j in 1 .. size(a, 1) - 1:
            a[i, j] = a[i - 1, j] - a[i + 1, j] + a[i, j - 1] + a[i, j + 1]
"""
TRIANGLE = """
    for k in 0 .. min(size(a, 0), size(a, 1)):
        for i in k + 1 .. min(size(a, 0), size(a, 1)):
            a[i, k] = a[i, k] + a[k, k]
            for j in k + 1 .. min(size(a, 0), size(a, 1)):
                a[i, j] = a[i, j] - a[i, k] * a[k, j]
"""
SOMETIMES = """
    for i in 2 .. size(b, 0):
        if b[i - 2] > 3.0:
            b[i] = b[i - 1] + 1.0
"""
ROW = """
    for i in 0 .. size(a, 0):
        for j in 1 .. size(a, 1):
            a[i, j] = a[i, j] + a[i, j - 1]
"""


def test_picture() -> None:
    check_picture(Hold)


@pytest.mark.parametrize(
    ("text", "schedule"),
    [
        (BOTH_WAYS, f"{TILES}; hold a i"),
        (BOTH_WAYS, f"{TILES}; hold a i pad 3; skew i j 1; reorder j.s i"),
        (IN_PLACE, f"{TILES}; hold a i; skew i j 1; reorder j.s i"),
        (SOMETIMES, "split i 3; hold b i"),
        (ROW, "split j 4; hold a j"),
    ],
)
def test_what_is_computed_stays(text: str, schedule: str, tmp_path: Path) -> None:
    draw = np.random.default_rng(3)
    sizes = ((0, 0), (1, 1), (1, 6), (2, 3), (5, 4), (9, 13))
    calls = [
        [draw.integers(-3, 5, (n, m)).astype(float), draw.integers(0, 6, n + m).astype(float), np.zeros(9, int)]
        for n, m in sizes
    ]
    check_same(FRAME + text.lstrip("\n"), schedule, calls, tmp_path)


def test_a_panel_is_a_box_of_its_own(tmp_path: Path) -> None:
    """Loops of a triangle lie in the stretch of the outermost one; a loop of one iteration around changes nothing."""
    panel = TRIANGLE.replace("i in k + 1 .. min(size(a, 0), size(a, 1))", "i in k + 1 .. min(k.o + 4, size(a, 0))")
    panel = panel.replace("j in k + 1 .. min(size(a, 0), size(a, 1))", "j in k + 1 .. min(k.o + 4, size(a, 0))")
    panel = panel.replace("k in 0 .. min(size(a, 0), size(a, 1))", "k in k.o .. min(k.o + 4, size(a, 0))")
    panel = "\n    for k.o in 0 .. size(a, 0) step 4:" + panel.replace("\n", "\n    ").rstrip() + "\n"
    text = FRAME + panel.lstrip("\n")
    calls = [[np.random.default_rng(n).integers(-2, 3, (n, n)).astype(float), np.ones(1), np.zeros(1, int)]
             for n in (0, 1, 3, 4, 5, 11)]  # fmt: skip
    for schedule in ("hold a k", "split k 4; hold a k pad 1"):
        changed = check_same(text, schedule, calls, tmp_path)
        (made,) = statements(changed.body, Allocate)
        assert made.shape[0] == Const(4, made.shape[0].type)


ROW_OF_TILES = """
    for k.o in 0 .. min(size(a, 0), size(a, 1)) - 3 step 3:
        for j.o in k.o + 3 .. size(a, 1) step 2:
            for k in k.o .. k.o + 3:
                for i in k + 1 .. k.o + 3:
                    for j in j.o .. min(j.o + 2, size(a, 1)):
                        a[i, j] = a[i, j] - a[i, k] * a[k, j]
"""


def test_tiles_have_an_array_each(tmp_path: Path) -> None:
    """What is read of another tile stays as it is, whatever the first one becomes."""
    calls = [[np.random.default_rng(n).integers(-2, 3, (n, m)).astype(float), np.ones(1), np.zeros(1, int)]
             for n, m in ((0, 0), (3, 7), (4, 5), (11, 11), (8, 17))]  # fmt: skip
    changed = check_same(FRAME + ROW_OF_TILES.lstrip("\n"), "hold a k pad 1", calls, tmp_path)
    shapes = [tuple(size.value for size in made.shape if isinstance(size, Const))
              for made in statements(changed.body, Allocate)]  # fmt: skip
    assert shapes == [(3, 3), (2, 4)]


REFUSED = {
    "no box": ("for i in 1 .. size(b, 0):\n        b[i] = b[i - 1]", "hold b i", "no constant number of iterations"),
    "checked": ("for i in 0 .. 4:\n        b[x[i]] = 1.0", "hold b i", "an error may end 'i' in the middle"),
    "far apart": (
        "for i.o in 0 .. size(b, 0) - 4 step 4:\n        for i in i.o .. i.o + 4:\n            b[i] = b[i - i.o]",
        "hold b i",
        "an index is more than a loop and a number",
    ),
    "two places": (
        "for i.o in 0 .. size(b, 0) - 4 step 4:\n        for i in i.o .. i.o + 4:\n            b[i] = b[1]",
        "hold b i",
        "whose distance is not known",
    ),
    "two places that are written": (
        "for k in 4 .. size(b, 0):\n        for i in 0 .. 4:\n            b[i] = 0.0\n            b[k] = 1.0",
        "hold b i",
        "whose distance is not known",
    ),
    "unused": ("for i in 0 .. min(2, size(b, 0)):\n        b[i] = 1.0", "hold a i", "does not use 'a'"),
    "large": ("for i in 0 .. min(99999999, size(b, 0)):\n        b[i] = 1.0", "hold b i", "the limit is"),
    "left": (
        "for i in 0 .. min(4, size(b, 0)):\n        if b[i] > 1.0:\n            break i\n        b[i] = 2.0",
        "hold b i",
        "may be left",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    body, step, reason = REFUSED[name]
    kernel, facts = known(f"{FRAME}    {body}\n")
    rejection = Hold(*step.split()[1:]).illegal(kernel, facts, strict=False)
    assert rejection is not None and reason in rejection.reason


def test_steps_that_could_be_taken_are_found() -> None:
    kernel, _ = known(FRAME + SOMETIMES.lstrip("\n"))
    assert list(Hold.candidates(kernel)) == [Hold("b", "i")]


def test_texts_are_read_back() -> None:
    for text in ("hold a i", "hold a i pad 1"):
        assert str(Hold.parse(tuple(text.split()[1:]))) == text
