from __future__ import annotations

import pytest

from loopwright.ir.text import print_kernel
from loopwright.steps.swap import Swap
from steps.kernels import MATMUL, WHILE, known
from steps.pictures import check_picture
from steps.same import check_same, refusal

HEAD = "\nkernel places(n: int64, m: int64, a: float64[1] C, b: float64[2] C):\n    var s: float64\n"
COLUMNS = f"""{HEAD}
    for k in 0 .. n:
        for i in k + 1 .. n:
            b[i, k] = b[i, k] + b[k, k]
        for j in k + 3 .. n:
            b[j, j] = b[j, j] + 2.0
        for l in 0 .. k + 4:
            b[l, l] = b[l, l] + 1.0
"""
TIED = f"""{HEAD}
    for i in 0 .. n:
        s = a[i]
        b[i, 0] = s
        allocate t: float64[2] = 0.0
        t[0] = a[i]
        a[i] = t[1]
        a[i] = 2.0 * a[i]
"""


def test_the_picture() -> None:
    check_picture(Swap)


def test_loops_change_places_where_they_touch_nothing_in_common() -> None:
    changed = check_same(COLUMNS, "swap k 2")
    text = print_kernel(changed)
    assert text.index("for j in") < text.index("for i in") < text.index("for l in")
    assert "would change places" in refusal(COLUMNS, "swap k 3")


FLAGGED = """kernel f(a: float64[1] C, n: int64) -> int64:
    var last.set: bool
    var last: int64
    last.set = False
    for i in 0 .. n:
        last = i
        last.set = True
        a[i] = 2.0 * a[i]
    return checked(last, last.set, unassigned)
"""


def test_a_flag_is_not_set_before_its_scalar() -> None:
    for step in ("swap i 2", "fission i 2", "distribute i last"):
        assert "'last' would have no value where it is needed" in refusal(FLAGGED, step)


@pytest.mark.parametrize(
    ("text", "step", "word"),
    [
        (TIED, "swap i 2", "both statements use 's'"),
        (TIED, "swap i 4", "both statements use the local array 't'"),
        (TIED, "swap i 5", "would change places"),
        (TIED, "swap i 6", "would change places"),
        (TIED, "swap i 7", "name a place from 2 on"),
        (TIED.replace("0 .. n", "0 .. n parallel"), "swap i 2", "marked to run parallel"),
        (MATMUL, "swap x 2", "no loop 'x'"),
        (WHILE, "swap w 2", "while"),
    ],
)
def test_refusals_say_why(text: str, step: str, word: str) -> None:
    assert word in refusal(text, step)


def test_instances_and_text() -> None:
    assert Swap.instances(*known(COLUMNS), strict=True) == (Swap("k", 2),)
    assert str(Swap.parse(("k", "2"))) == "swap k 2"
