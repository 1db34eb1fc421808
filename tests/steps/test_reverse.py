from __future__ import annotations

import pytest

from loopwright.ir.text import print_kernel
from loopwright.steps.reverse import Reverse
from loopwright.steps.schedule import apply_schedule, parse_schedule
from steps.kernels import MATMUL, PREFIX, TOTAL, WHILE, known
from steps.pictures import check_picture
from steps.same import check_same, refusal

HEAD = "\nkernel back(n: int64, m: int64, a: float64[1] C, c: int64[1] C):\n"


def _over(bounds: str, body: str = "a[i] = a[i] + 1.0") -> str:
    return f"{HEAD}    for i in {bounds}:\n        {body}\n"


def test_the_picture() -> None:
    check_picture(Reverse)


@pytest.mark.parametrize(
    ("bounds", "shown"),
    [
        ("0 .. n", "n - 1 .. -1 step -1"),
        ("m .. n", "n - 1 .. m - 1 step -1"),
        ("n .. 0 step -1", "1 .. n + 1"),
        ("n + 1 .. m step -1", "m + 1 .. n + 2"),
        ("0 .. n step 3", "(n - 1) // 3 * 3 .. -1 step -3"),
        ("1 .. n step 2", "(n - 2) // 2 * 2 + 1 .. 0 step -2"),
        ("m .. n step 4", "m + (n - m - 1) // 4 * 4 .. m - 1 step -4"),
        ("n .. 0 step -2", "n - (n - 1) // 2 * 2 .. n + 1 step 2"),
        ("n .. m step -5", "n - (n - m - 1) // 5 * 5 .. n + 1 step 5"),
        ("0 .. 6 step 4", "4 .. -1 step -4"),
        ("5 .. 0 step -4", "1 .. 6 step 4"),
        ("5 .. 2", "1 .. 4 step -1"),
        ("5 .. 2 step 4", "1 .. 4 step -4"),
        ("min(n, m) .. max(n, m)", "max(n, m) - 1 .. min(n, m) - 1 step -1"),
    ],
)
def test_bounds(bounds: str, shown: str) -> None:
    changed = check_same(_over(bounds), "reverse i", scalars=range(14), room=5)
    assert f"for i in {shown}:" in print_kernel(changed)


def test_backwards_twice_runs_the_same() -> None:
    for bounds in ("0 .. n step 3", "n .. 1 step -2", "1 .. n"):
        check_same(_over(bounds), "reverse i; reverse i", scalars=range(10))


@pytest.mark.parametrize(
    ("text", "loop", "word"),
    [
        (PREFIX, "i", "touch the same elements of 'a'"),
        (WHILE, "w", "while"),
        (MATMUL, "x", "no loop 'x'"),
        (MATMUL, "k", "touch the same elements of 'c'"),
        (TOTAL, "i", "'s'"),
        (_over("0 .. n", "if a[i] > 1.0:\n            return"), "i", "holds a return"),
        (_over("0 .. c[0]"), "i", "not known"),
        (_over("0 .. n step m"), "i", "not constant"),
        (_over("0 .. n parallel"), "i", "marked to run parallel"),
    ],
)
def test_refusals_say_why(text: str, loop: str, word: str) -> None:
    assert word in refusal(text, f"reverse {loop}")


def test_a_float_sum_turns_only_where_rounding_may_differ() -> None:
    kernel, facts = known(TOTAL)
    assert Reverse("i").illegal(kernel, facts, strict=False) is None


def test_the_last_value_and_values_of_an_iteration() -> None:
    text = """
kernel last(n: int64, a: float64[1] C) -> python float64:
    var s: float64
    s = 0.0
    for i in 0 .. n:
        s = a[i]
    return s
"""
    assert "'s'" in refusal(text, "reverse i", strict=False)
    own = text.replace("    s = 0.0\n", "").replace("return s", "return 1.0")
    own = own.replace("        s = a[i]\n", "        s = a[i]\n        a[i] = s + s\n")
    check_same(own, "reverse i")


def test_a_triangle_and_what_stands_inside() -> None:
    text = """
kernel triangle(n: int64, a: float64[2] C):
    var k: int64
    for i in 0 .. n:
        allocate t: float64[3] = 1.0
        for j in i .. n step 2:
            t[1] = t[1] + 2.0
            a[i, j] = t[1]
        k = 2
        while k > 0 named w:
            a[i, 0] = a[i, 0] + 1.0
            k = k - 1
"""
    check_same(text, "reverse i")
    assert "'t'" in refusal(text, "reverse j", strict=False)
    check_same(text.replace("t[1] = t[1] + 2.0\n            ", ""), "reverse j; reverse i")


LEAST = """kernel f(a: float64[1] C, n: int64) -> float64:
    var least: float64
    least = 1.0
    for i in 0 .. n:
        least = min(least, a[i])
    return least
"""


def test_the_least_of_two_zeros_is_the_first_one() -> None:
    assert "'least'" in refusal(LEAST, "reverse i")
    (step,) = parse_schedule("reverse i")
    assert step.illegal(*known(LEAST), strict=False) is None
    whole = LEAST.replace("float64[1]", "int64[1]").replace("least: float64", "least: int64")
    whole = whole.replace("-> float64", "-> int64").replace("1.0", "1")
    assert step.illegal(*known(whole), strict=True) is None


def test_instances() -> None:
    assert Reverse.instances(*known(MATMUL), strict=True) == (Reverse("i"), Reverse("j"))
    assert Reverse.instances(*known(PREFIX), strict=True) == ()


def test_text() -> None:
    assert str(Reverse("i")) == "reverse i"
    assert Reverse.parse(("i",)) == Reverse("i")
    with pytest.raises(ValueError, match="LOOP"):
        Reverse.parse(())


def test_bounds_near_the_end_of_the_whole_numbers() -> None:
    text = _over("m .. n", "c[0] = c[0] + 1")
    _, turned = apply_schedule(*known(text), parse_schedule("reverse i"), strict=True)
    assert "v1 >= -" in turned.guard.c_text
    check_same(_over("9223372036854775800 .. 9223372036854775807", "c[0] = c[0] + 1"), "reverse i", scalars=(1,))
    assert "not every iteration would run" in refusal(
        _over("-9223372036854775808 .. 0", "c[0] = c[0] + 1"), "reverse i"
    )
