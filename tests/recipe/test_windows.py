"""Windows are counted from 0, and those with several results, or conditions, are gone through side by side."""

from __future__ import annotations

import pytest

from loopwright.recipe.partial_schedule import PartialSchedule
from loopwright.recipe.windows import counted_from_zero, windows_side_by_side
from recipe.planning import check_same, plan_of, reasons, steps

HEAD = """kernel k(a: float64[2] C, o: float64[2] C, z: int64[1] C):
    var s: float64
    var t: float64
    for i in {r} .. size(a, 0) - {r}:
        for j in {r} .. size(a, 1) - {r}:
            s = 0.0
            t = 1.0
"""
INNER = """            for p in i - {r} .. i + {r} + 1:
                for q in j - {r} .. j + {r} + 1:
                    """
END = "            o[i, j] = s * t\n"
SUMS = "s = s + a[p, q]\n                    t = max(t, a[p, q])\n"
RING = "if abs(p - i) > 1 or abs(q - j) > 1:\n                        s = s + a[p, q]\n"
SHAPES = {"a": "nm", "o": "nm", "z": "m"}
SIDE_BY_SIDE = "reorder p.n q.n j.1.1"


def windows(text: str) -> PartialSchedule:
    """The plan after both; what is counted anew counts as written."""
    partial = plan_of(text)
    counted_from_zero(partial)
    windows_side_by_side(partial)
    return partial


@pytest.mark.parametrize("part", [SUMS, RING])
def test_several_results_or_conditions(part: str) -> None:
    partial = windows((HEAD + INNER + part + END).format(r=4))
    assert steps(partial).startswith("normalize p; normalize q; split j 64; expand s j")
    assert steps(partial).endswith(SIDE_BY_SIDE)
    assert "64 iterations of 'j' go through their windows side by side" in reasons(partial)
    written = plan_of((HEAD + INNER + part + END).format(r=4)).kernel
    check_same(written, partial.kernel, SHAPES, ((0, 0, 0), (9, 9, 9), (11, 14, 1), (10, 80, 2)))


@pytest.mark.parametrize("part", [SUMS, RING])
def test_of_any_width(part: str) -> None:
    text = (HEAD + INNER + part + END).format(r="r").replace("z: int64[1] C", "z: int64[1] C, r: int64")
    assert steps(windows(text)).endswith(SIDE_BY_SIDE)


LEFT = {
    "short, and written out later": (HEAD + INNER + SUMS + END).format(r=1),
    "far apart": (HEAD + INNER + SUMS.replace("[p, q]", "[q, p]") + END).format(r=4),
    "places that data tell": (HEAD + INNER + SUMS.replace("[p, q]", "[p, z[q]]") + END).format(r=4),
    "stores": (HEAD + INNER + SUMS + "                    o[p, q] = t\n" + END).format(r=4),
}


@pytest.mark.parametrize("name", LEFT)
def test_others_are_not_side_by_side(name: str) -> None:
    assert "split" not in steps(windows(LEFT[name]))


def test_a_width_that_differs_is_not_counted() -> None:
    triangle = (HEAD + INNER + SUMS + END).format(r=4).replace("j - 4 .. j + 4 + 1", "j - 4 .. size(a, 1)")
    assert steps(windows(triangle)) == "normalize p"


CLAMPED = INNER.replace("j - {r} .. j + {r} + 1", "max(j - {r}, 0) .. min(j + {r} + 1, size(a, 1))")


@pytest.mark.parametrize("part", [SUMS, SUMS.splitlines(keepends=True)[0]])
def test_a_window_that_ends_where_the_array_does(part: str) -> None:
    text = (HEAD.replace("1) - {r}", "1)").replace("j in {r}", "j in 0") + CLAMPED + part + END).format(r=4)
    partial = windows(text)
    assert steps(partial).startswith("normalize p; skew j q -1; guard q.s j; split j 64; expand s j")
    assert steps(partial).endswith("reorder p.n q.s j.1.1")
    check_same(plan_of(text).kernel, partial.kernel, SHAPES, ((0, 0, 0), (9, 1, 9), (11, 6, 1), (10, 80, 2)))


NOT_WIDENED = {
    "bytes, of which AVX2 leaves none out": ("float64[2]", "uint8[2]"),
    "no end that goes along": ("min(j + 4 + 1, size(a, 1))", "size(a, 1)"),
    "no start that goes along": ("max(j - 4, 0)", "0"),
}


@pytest.mark.parametrize("name", NOT_WIDENED)
def test_others_are_not_widened(name: str) -> None:
    text = (HEAD.replace("1) - {r}", "1)").replace("j in {r}", "j in 0") + CLAMPED + SUMS + END).format(r=4)
    old, new = NOT_WIDENED[name]
    changed = text.replace(old, new, 1).replace("a[p, q]", "float64(a[p, q])")
    assert changed != text and "guard" not in steps(windows(changed))


def test_extremes_alone() -> None:
    """Before blocks of registers are looked for, which are for sums."""
    for part, taken in ((SUMS.splitlines(keepends=True)[1].strip() + "\n", True), ("s = s + a[p, q]\n", False)):
        partial = plan_of((HEAD + INNER + part + END).format(r=4))
        counted_from_zero(partial)
        windows_side_by_side(partial, extremes=True)
        assert ("split j 64" in steps(partial)) == taken


ROW = "            for q in max(j - 4, 0) .. min(j + 4 + 1, size(a, 1)):\n                "


@pytest.mark.parametrize(
    ("part", "taken"), [("s = s + a[i, q]\n", False), ("if a[i, q] > 1.0:\n                    s = s + 1.0\n", True)]
)
def test_a_window_of_one_loop_only_under_conditions(part: str, taken: bool) -> None:
    text = (HEAD.replace("1) - {r}", "1)").replace("j in {r}", "j in 0") + ROW + part + END).format(r=4)
    assert ("guard q.s j" in steps(windows(text))) == taken
