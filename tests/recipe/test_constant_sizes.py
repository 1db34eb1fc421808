"""Which sizes the recipe takes for numbers: those that loops or local arrays are as long as."""

from __future__ import annotations

import pytest

from loopwright.recipe.constant_sizes import with_constant_sizes
from recipe.planning import plan_of, steps

HEAD = "kernel k(p: float64[2] C, o: float64[1] C):\n    var t: int64\n"
ASKED = HEAD + "    t = checked(0, size(p, 1) == 3, unpack)\n"


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        (ASKED + "    for k in 0 .. size(p, 1):\n        o[k] = p[0, k]\n", "propagate p 1 3"),
        (ASKED + "    allocate w: float64[size(p, 1)]\n    w[0] = o[0]\n    o[1] = w[0]\n", "propagate p 1 3"),
        (ASKED + "    for k in 0 .. size(p, 0):\n        o[k] = p[k, 0]\n", ""),
        (HEAD + "    for k in 0 .. size(p, 1):\n        o[k] = p[0, k]\n", ""),
    ],
)
def test_taken(text: str, taken: str) -> None:
    partial = plan_of(text)
    with_constant_sizes(partial)
    assert steps(partial) == taken
