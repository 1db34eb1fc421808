"""Where conditions on a loop's variable hold: points, from the text of the conditions."""

from __future__ import annotations

import pytest

from loopwright.ir.nodes import For
from loopwright.ir.text import parse_kernel, print_expr
from loopwright.ir.walk import loops
from loopwright.steps.steady import SteadyState, steady_iterations

KERNEL = """
kernel f(a: float64[2] C, b: float64[2] C, n: int64, k: int64):
    var s: int64
    for i in 0 .. size(a, 0):
        for j in 0 .. size(a, 1):
            {}
"""


def steady(*lines: str) -> SteadyState | None:
    kernel = parse_kernel(KERNEL.format("\n            ".join(lines)))
    loop = loops(kernel)["j"]
    assert isinstance(loop, For)
    return steady_iterations(loop)


def points(found: SteadyState | None) -> tuple[str, str, str, str] | None:
    if found is None:
        return None
    shown = [None if part is None else print_expr(part) for part in (found.low, found.high, found.hole)]
    return (shown[0] or "", shown[1] or "", shown[2] or "", " & ".join(map(print_expr, found.tests)))


def under(condition: str) -> list[str]:
    return [f"if {condition}:", "    b[i, j] = 0.0"]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("j > 0", ("1", "", "", "")),
        ("j >= k", ("k", "", "", "")),
        ("j + 2 < n", ("", "n - 2", "", "")),
        ("n <= j + 1", ("n - 1", "", "", "")),
        ("j > 0 and j < size(a, 1) - 1", ("1", "size(a, 1) - 1", "", "")),
        ("i > 0 and j > 0", ("1", "", "", "i > 0")),
        ("j == 0 or j == size(a, 1) - 1", ("1", "size(a, 1) - 1", "", "")),
        ("j != i", ("", "", "i", "")),
        ("j == i", ("", "", "i", "")),
        ("not (j < i)", ("i", "", "", "")),
        ("i - j > k", ("", "i - k", "", "")),
        ("j < 3", ("3", "", "", "")),
        ("j >= 0", None),
        ("j * 2 > n", ("(n + 2) // 2", "", "", "")),
        ("j * 2 < size(a, 1)", ("", "(size(a, 1) - 1) // 2 + 1", "", "")),
        ("j * 3 <= 7", ("3", "", "", "")),  # mostly not
        ("2 * j < 2 * n - 3", ("", "n - 1", "", "")),  # 2 * j <= 2 * n - 4
        ("n - 2 * j < k", ("(n - k + 2) // 2", "", "", "")),
        ("j * j > n", None),
        ("j != i and j != k", ("", "", "i", "")),
        ("j != i and j > 0", None),
        ("a[i, j] > 0.0", None),
        ("i > 0", None),
    ],
)
def test_conditions(condition: str, expected: tuple[str, str, str, str] | None) -> None:
    assert points(steady(*under(condition))) == expected


@pytest.mark.parametrize(
    ("value", "expected", "simple"),
    [
        ("a[i, max(j - 1, 0)]", ("1", "", "", ""), "j - 1"),
        ("a[i, min(j + 1, size(a, 1) - 1)]", ("", "size(a, 1) - 1", "", ""), "j + 1"),
        ("a[i, (j + 1) % size(a, 1)]", ("", "size(a, 1) - 1", "", ""), "j + 1"),
        ("a[i, (j - 1) % size(a, 1)]", ("1", "", "", ""), "j - 1"),
        ("a[i, (j - 1 + size(a, 1)) % size(a, 1)]", ("1", "", "", ""), "j - 1"),
        ("a[i, (j * 2) % size(a, 1)]", None, ""),
        ("a[i, j % 7]", None, ""),
        ("a[i, j % n]", None, ""),
        ("a[i, (i + 1) % size(a, 1)]", None, ""),
        ("a[i, j - 1]", ("1", "", "", ""), ""),
    ],
)
def test_minima_maxima_remainders(value: str, expected: tuple[str, str, str, str] | None, simple: str) -> None:
    found = steady(f"b[i, j] = {value}")
    assert points(found) == expected
    if simple:
        assert found is not None
        assert simple in [print_expr(known) for known in found.known.values()]


def test_what_a_scalar_is_worth_is_followed() -> None:
    wrapped = ["s = j + 1", "if s == size(a, 1):", "    s = 0", "b[i, j] = a[i, s]"]
    assert points(steady(*wrapped)) == ("", "size(a, 1) - 1", "", "")
    assert points(steady("s = j + 1", "if a[i, j] > 0.0:", "    s = 0", *under("s < n"))) is None
    assert points(steady("s = j + 1", *under("s < n"))) == ("", "n - 1", "", "")


def test_numbers_that_are_corrected_at_borders_mostly_are_not() -> None:
    mirrored = ["s = 2 * j + d", "if s < 0:", "    s = -s", "if s >= n:", "    s = 2 * n - 2 - s", "b[i, j] = a[i, s]"]
    window = ["for d in -2 .. 3:", *("    " + line for line in mirrored)]
    assert points(steady(*window)) == ("1", "(n - 3) // 2 + 1", "", "")
    rows = ["for d in -2 .. 3:", "    s = 2 * i + d", "    if s < 0:", "        s = 0", "    b[i, j] = a[s, j - 1]"]
    assert points(steady(*rows)) == ("1", "", "", "2 - i * 2 <= 0")
    assert points(steady("s = j", "if s >= n:", "    b[i, j] = 0.0")) == ("n", "", "", "")  # corrects nothing


def test_of_a_condition_that_no_iteration_changes_most_of_the_work_is_steady() -> None:
    last = ["if i + 1 >= size(a, 0):", "    b[i, j] = 0.0", "else:"]
    rest = ["    if j + 1 >= size(a, 1):", "        b[i, j] = 1.0", "    else:", "        b[i, j] = a[i + 1, j + 1]"]
    assert points(steady(*last, *rest)) == ("", "size(a, 1) - 1", "", "not i + 1 >= size(a, 0)")
    turned = ["if i + 1 < size(a, 0):", *rest, "else:", "    b[i, j] = 0.0"]
    assert points(steady(*turned)) == ("", "size(a, 1) - 1", "", "i + 1 < size(a, 0)")


def test_short_loops_inside_are_looked_through() -> None:
    window = [
        "for d in 0 .. 3:",
        "    if j + d - 1 >= 0 and j + d - 1 < size(a, 1):",
        "        b[i, j] = a[i, j + d - 1]",
    ]
    assert points(steady(*window)) == ("1", "size(a, 1) - 1", "", "")
    rows = ["for d in 0 .. 3:", "    if i + d > 0 and j + d > 0:", "        b[i, j] = 1.0"]
    assert points(steady(*rows)) == ("1", "", "", "1 - i <= 0")
    assert points(steady("for d in 0 .. 99:", "    if j + d >= 2:", "        b[i, j] = 1.0")) is None


def test_only_one_condition_tells_what_is_outside() -> None:
    one, two = steady(*under("j > 0 and a[i, j] > 0.0")), steady(*under("j > 0"), *under("j > 2"))
    assert one is not None and two is not None
    assert [print_expr(value) for value in one.outside.values()] == ["False"]
    assert not two.outside
