from __future__ import annotations

import pytest

from loopwright.ir.text import print_kernel
from loopwright.steps.sink import Sink
from steps.kernels import MATMUL, WHILE, known
from steps.pictures import check_picture
from steps.same import check_same, refusal

HEAD = """
kernel sinks(n: int64, m: int64, k: int64[1] C, a: float64[1] C, b: float64[2] C):
    var s: float64
    var t: float64
    var z: int64
"""
PLAIN = f"""{HEAD}
    for i in 0 .. n:
        a[i] = 1.0
        s = 2.0 * a[i]
        if s > 1.0:
            s = s - 1.0
        for j in 0 .. m:
            b[i, j] = b[i, j] + s
"""


def test_the_picture() -> None:
    check_picture(Sink)


def test_scalars_and_their_conditions_go_in_and_other_statements_stay() -> None:
    text = print_kernel(check_same(PLAIN, "sink j"))
    assert text.index("a[i] = 1.0") < text.index("for j in") < text.index("s = 2.0 * a[i]") < text.index("if s > 1.0")


def test_loops_with_nothing_between_them_change_places() -> None:
    check_same(PLAIN.replace("        a[i] = 1.0\n", ""), "sink j; reorder j i")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (PLAIN.replace("+ s\n", "+ s\n            s = s + 1.0\n"), "'s' is set in 'j' too"),
        (PLAIN + "        a[i] = s\n", "'s' is also used after 'j'"),
        (PLAIN + "    a[0] = s\n", "'s' is also used after 'j'"),
        (PLAIN.replace("+ s\n", "+ s\n            a[j] = 0.0\n"), "'j' changes 'a', which is read before it"),
        (PLAIN.replace("0 .. m", "0 .. int64(s)"), "how often 'j' runs depends on 's'"),
        (
            PLAIN.replace("        a[i] =", "        s = 0.0\n        a[i] =").replace("s = 2.0 *", "s = s +"),
            "only once is right",
        ),
        (PLAIN.replace("2.0 * a[i]", "t").replace("+ s\n", "+ s\n            t = s + 1.0\n"), "'t' is set in 'j' too"),
        (PLAIN.replace("2.0 * a[i]", "2.0 * a[k[i]]"), "may fail, also where that has no iterations"),
        (PLAIN.replace("0 .. m", "0 .. m parallel"), "marked parallel already"),
        (MATMUL, "no scalars are set just before"),
        (WHILE, "no loop 'j'"),
    ],
)
def test_refusals_say_why(text: str, word: str) -> None:
    assert word in refusal(text, "sink j")


def test_what_may_fail_goes_into_a_loop_that_surely_runs() -> None:
    text = PLAIN.replace("2.0 * a[i]", "2.0 * a[k[i]]").replace("        a[i] = 1.0\n", "").replace("0 .. m", "0 .. 2")
    check_same(text, "sink j", [2])


def test_instances_and_text() -> None:
    assert Sink.instances(*known(PLAIN), strict=True) == (Sink("j"),)
    assert str(Sink.parse(("j",))) == "sink j"
