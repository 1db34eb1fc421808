"""Plans as text and back."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies

from loopwright.ir.plan import Move, Plan, Share, whole
from loopwright.ir.variant import Variant

RANGES = strategies.tuples(strategies.integers(0, 9), strategies.integers(1, 99)).map(lambda ends: range(*ends))
BOXES = strategies.lists(RANGES, max_size=3).map(tuple)
NAMES = strategies.sampled_from(["a", "col", "return.0", "größe"])
MOVES = strategies.builds(Move, strategies.sampled_from(["in", "out"]), NAMES, BOXES)
VARIANTS = strategies.builds(
    Variant,
    strategies.sampled_from(["cpu", "cuda", "emulated", "simulated1"]),
    strategies.sampled_from(["recipe", "plain", "tile i 32 j 32; parallelize i.o", "bind i.o block.x"]),
    strategies.integers(0, 16),
)
SHARES = strategies.builds(Share, VARIANTS, BOXES, strategies.lists(MOVES, max_size=4).map(tuple))


ARRAYS = strategies.lists(strategies.sampled_from(["a", "col", "größe"]), unique=True, max_size=3).map(tuple)


@given(strategies.builds(Plan, strategies.lists(SHARES, min_size=1, max_size=4).map(tuple), ARRAYS, ARRAYS))
def test_a_plan_comes_back_from_its_text(plan: Plan) -> None:
    assert Plan.parse(str(plan)) == plan


def test_its_text() -> None:
    halves = Plan(
        (
            Share(Variant("cuda"), (range(256),), (Move("in", "a", (range(258), range(9))), Move("out", "s", ()))),
            Share(Variant("cpu", "tile i 32", 2), (range(256, 300),)),
        )
    )
    assert str(halves) == "0:256 on cuda: recipe\n  in a[0:258, 0:9]\n  out s[]\n256:300 on cpu 2: tile i 32"
    assert str(whole(Variant("cpu", threads=2))) == "all on cpu 2: recipe"
    summed = Plan(whole(Variant("cpu", threads=2)).shares, ("a", "b"), ("b",))
    assert str(summed) == "may read a, b; may write b\nall on cpu 2: recipe"
    assert str(summed._replace(reads=())) == "may write b\nall on cpu 2: recipe"


@pytest.mark.parametrize(
    "text",
    [
        "nothing",
        "",
        "may read a\nmay write a\nall on cpu 2: recipe",
        "all on cpu 2: recipe\nmay read a",
        "may write a; may read a\nall on cpu 2: recipe",
        "all on cpu",
        "0:1:2 on cpu 2: recipe",
        "  in a[0:1]",
        "all on cuda: recipe\n  up a[0:1]",
        "all on cuda: recipe\n in a[0:1]",
        "all on cuda: recipe\n  in a[zero]",
        "all on cpu 0: recipe",
    ],
)
def test_what_is_no_plan(text: str) -> None:
    with pytest.raises(
        ValueError, match=r"a plan has lines|a variant reads|number of threads|to unpack|invalid literal"
    ):
        Plan.parse(text)
