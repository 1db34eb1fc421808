"""Conditional updates without a jump: which ones, and that they are the same to the last bit."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.scheduled import host_text
from loopwright.codegen.if_conversion import choices_of, count_behind, count_of, flag_of, recurrence_of, update_of
from loopwright.ir.nodes import If
from loopwright.ir.text import parse_kernel
from loopwright.ir.walk import statements


def found(condition: str, *then: str, otherwise: str = "") -> bool:
    lines = [f"if {condition}:", *("    " + one for one in then), *(["else:", "    " + otherwise] if otherwise else [])]
    inside = "".join(f"        {line}\n" for line in lines)
    kernel = parse_kernel(
        "kernel f(a: float64[1] C, b: float64[1] C, k: int64):\n    var s: float64\n    var n: int64\n    s = 0.0\n"
        f"    n = 0\n    for i in 0 .. size(a, 0):\n{inside}        b[i] = s\n"
    )
    return update_of(next(statements(kernel.body, If))) is not None


@pytest.mark.parametrize(
    ("condition", "then", "taken"),
    [
        ("a[i] > 0.0", ["s = s + a[i]"], True),
        ("a[i] > 0.0", ["s = s - 2.0 * a[i]"], True),
        ("i > k", ["s = s + 1.0"], True),
        ("a[i] > 0.0 and a[i] < 2.0", ["s = s + (a[i] - s)"], True),
        ("i > k", ["s = s + a[i]"], False),  # which may not be there
        ("i > 0 and a[i] > 0.0", ["s = s + a[i]"], False),
        ("a[i] > 0.0", ["s = s + a[i] / 2.0"], False),
        ("a[i] > 0.0", ["s = s * a[i]"], False),
        ("a[i] > 0.0", ["s = 1.0 + s"], False),
        ("a[i] > 0.0", ["n = n + 1"], False),
        ("a[i] > 0.0", ["s = s + a[i]", "n = n + 1"], False),
    ],
)
def test_which_updates(condition: str, then: list[str], taken: bool) -> None:
    assert found(condition, *then) == taken


def counted(a: Any, b: Any) -> Any:
    up = down = 0
    for i in range(1, len(a)):
        if (a[i] >= 0) != (a[i - 1] >= 0):
            up += 1
        if a[i] > b[i]:
            down -= 3
    return up, down


@pytest.mark.parametrize("size", [0, 1, 2, 17, 1000])
def test_counts_in_lanes_are_sums_of_what_may_be_nothing(size: int) -> None:
    a, b = np.random.default_rng(size).normal(size=(2, size))
    a[::7] = np.nan
    assert lw.kernel(counted)(a, b) == counted(a, b)


@pytest.mark.parametrize(
    ("then", "taken"),
    [
        (["n = n + 1"], True),
        (["n = n - 3"], True),
        (["n = n + k"], False),
        (["s = s + 1.0"], False),
        (["n = n + 1", "s = 1.0"], False),
    ],
)
def test_which_are_counts(then: list[str], taken: bool) -> None:
    lines = "".join(f"            {one}\n" for one in then)
    kernel = parse_kernel(
        "kernel f(a: float64[1] C, k: int64):\n    var s: float64\n    var n: int64\n    s = 0.0\n    n = 0\n"
        f"    for i in 0 .. size(a, 0):\n        if a[i] > 0.0:\n{lines}        a[i] = s + float64(n)\n"
    )
    assert (count_of(next(statements(kernel.body, If))) is not None) == taken


def test_none_with_another_branch() -> None:
    assert not found("a[i] > 0.0", "s = s + a[i]", otherwise="s = 0.0")


def running(a: Any, limit: Any, out: Any) -> Any:
    total = -0.0 * limit
    for i in range(len(a)):
        x = a[i]
        if x > limit:
            total += x - limit
        elif x != x:
            total -= x
        out[i] = total
    return total


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("special", [0.0, -0.0, math.inf, -math.inf, math.nan, 1e-320, 1e308])
def test_the_same_bits(kind: type, special: float) -> None:
    kernel = lw.kernel(running)
    for place in (0, 3, 9):
        a = np.random.default_rng(place).normal(size=10).astype(kind)
        with np.errstate(all="ignore"):
            a[place] = special
        for limit in (kind(0.0), kind(-0.0), kind(0.5), kind(math.nan)):
            mine, pythons = np.zeros(10, kind), np.zeros(10, kind)
            with np.errstate(all="ignore"):
                results = kernel(a, limit, mine), running(a, limit, pythons)
            assert np.array_equal(np.signbit(mine), np.signbit(pythons)) or np.isnan(pythons).any()
            np.testing.assert_array_equal(mine, pythons)
            np.testing.assert_array_equal(*results)


def chosen(condition: str, then: list[str], otherwise: list[str]) -> bool:
    branches = f"            if {condition}:\n" + "".join(f"                {one}\n" for one in then)
    if otherwise:
        branches += "            else:\n" + "".join(f"                {one}\n" for one in otherwise)
    names = ("low", "high", "mid", "left")
    kernel = parse_kernel(
        "kernel f(a: float64[1] C, k: int64):\n    var s: float64\n"
        + "".join(f"    var {one}: int64\n" for one in names)
        + "".join(f"    {one} = 0\n" for one in names)
        + "    s = 0.0\n    for i in 0 .. size(a, 0):\n"
        + f"        while low < high named go:\n{branches}            mid = mid + 1\n"
        + "        a[i] = float64(low + high + left) + s\n"
    )
    return choices_of(next(statements(kernel.body, If))) is not None


@pytest.mark.parametrize(
    ("condition", "then", "otherwise", "taken"),
    [
        ("a[mid] < 1.0", ["low = mid + 1"], ["high = mid"], True),
        ("a[mid] < 1.0 and mid > k", ["low = mid"], ["high = mid - 1", "left = 3"], True),
        ("a[mid] < 1.0", ["low = low + 1"], ["low = 7"], True),
        ("mid < k", ["low = mid + 1"], ["high = mid"], False),  # no matter of data: the processor may guess it
        ("a[mid] < 1.0", ["low = mid + 1"], [], False),
        ("a[mid] < 1.0", ["low = high"], ["high = low"], True),
        ("a[mid] < 1.0", ["low = mid", "left = low"], ["high = mid"], False),  # which reads what the branch has changed
        ("a[mid] < 1.0", ["low = mid", "low = low + 1"], ["high = mid"], False),
        ("a[mid] < 1.0", ["low = mid // k"], ["high = mid"], False),
        ("a[mid] < 1.0", ["s = 1.0"], ["high = mid"], False),
        ("a[mid] < 1.0", ["low = mid", "left = 1"], ["high = mid", "mid = k"], False),
    ],
)
def test_which_halves_are_chosen(condition: str, then: list[str], otherwise: list[str], taken: bool) -> None:
    assert chosen(condition, then, otherwise) == taken


def places(edges: Any, values: Any, out: Any) -> None:
    for i in range(len(values)):
        low = 0
        high = len(edges)
        while low < high:
            mid = (low + high) // 2
            if edges[mid] <= values[i]:
                low = mid + 1
            else:
                high = mid
        out[i] = low


@pytest.mark.parametrize("count", [0, 1, 2, 3, 64, 1000])
def test_a_search_by_halves_without_a_jump(count: int) -> None:
    draw = np.random.default_rng(count)
    edges = np.sort(draw.normal(size=count))
    values = np.concatenate([draw.normal(size=50), edges[:20], [np.inf, -np.inf, np.nan]])
    mine, pythons = np.zeros((2, len(values)), np.int64)
    kernel = lw.kernel(places)
    kernel(edges, values, mine)
    places(edges, values, pythons)
    np.testing.assert_array_equal(mine, pythons)


def halves(up: Any, down: Any, x: Any) -> tuple[int, int, int, int]:
    a = c = e = g = 0
    b = d = f = h = len(up)
    while a < b:
        m = (a + b) // 2
        if up[m] < x:
            a = m + 1
        else:
            b = m
    while c < d:
        m = (c + d) // 2
        if up[m] <= x:
            c = m + 1
        else:
            d = m
    while e < f:
        m = (e + f) // 2
        if down[m] > x:
            e = m + 1
        else:
            f = m
    while g < h:
        m = (g + h) // 2
        if down[m] >= x:
            g = m + 1
        else:
            h = m
    return a, c, e, g


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_each_comparison_chooses_as_python(kind: type) -> None:
    up = np.sort(np.random.default_rng(7).integers(-9, 9, 50)).astype(kind)
    special = [math.inf, -math.inf, math.nan] if kind is not np.int64 else []
    kernel = lw.kernel(halves)
    for x in (*range(-10, 11), *special):
        assert kernel(up, up[::-1].copy(), kind(x)) == halves(up, up[::-1], kind(x))


STEPS = ("(int64(a[i]) * 3 + k) ^ 77", "(x * 5 + n) & 255", "(x * x + 9) % 101")
WORK = "".join(f"            x = {step}\n" for step in STEPS)


@pytest.mark.parametrize(
    ("lines", "work", "taken"),
    [
        (["if x < n:", "    n = x", "    j = i"], WORK, True),
        (["if x < n:", "    n = n + 1", "    j = j - 1", "else:", "    n = n - 1", "    j = j + 1"], WORK, True),
        (["if x < n:", "    n = -x", "    j = i"], WORK, True),
        (["if x < n:", "    n = x", "    j = i"], "", False),  # who waits for the choice, waits long
        (["if x < n:", "    n = x"], WORK, False),  # the C compiler does without a jump
        (["if x < n:", "    n = x", "    s = 1.0"], WORK, False),
        (["if x < n:", "    n = j", "    j = n"], WORK, False),  # one reads the other
        (["if k < 3:", "    n = x", "    j = i"], WORK, False),  # the same in each iteration
        (["if x < n:", "    n = x", "    j = i * k"], WORK, False),
    ],
)
def test_which_choices(lines: list[str], work: str, taken: bool) -> None:
    inside = "".join(f"            {line}\n" for line in lines)
    text = host_text(
        "kernel f(a: float64[1] C, b: int64[1] C, k: int64):\n    var s: float64\n    var n: int64\n    var j: int64\n"
        "    var x: int64\n    s = 0.0\n    n = 1000\n    j = 0\n    x = 3\n    for t in 0 .. 3:\n"
        f"        for i in 0 .. size(a, 0):\n{work}{inside}            b[i] = n + j + int64(s)\n",
        "",
    )
    assert ("= lw_chosen_lt_int64(lw_one, lw_other," in text) == taken


TOTAL = "            x = x + int64(a[i])\n"
ENDED = TOTAL + "            if x < 0:\n                break i\n"


@pytest.mark.parametrize(
    ("work", "lines", "taken"),
    [
        (ENDED, ["if x > n:", "    n = x", "    j = i"], True),
        (TOTAL, ["if x > n:", "    n = x", "    j = i"], False),  # the first ones of a long walk are few of all
        (ENDED.replace("int64(a[i])", "k"), ["if x > n:", "    n = x", "    j = i"], False),  # no data decide
        (ENDED, ["if k > n:", "    n = k", "    j = i"], False),
    ],
)
def test_the_best_of_a_short_walk_is_chosen(work: str, lines: list[str], taken: bool) -> None:
    inside = "".join(f"            {line}\n" for line in lines)
    text = host_text(
        "kernel f(a: float64[1] C, b: int64[1] C, k: int64):\n    var n: int64\n    var j: int64\n    var x: int64\n"
        f"    for t in 0 .. size(b, 0):\n        n = 0\n        j = 0\n        x = 3\n"
        f"        for i in 0 .. size(a, 0):\n{work}{inside}        b[t] = n + j\n",
        "",
    )
    assert ("lw_chosen_gt_int64(lw_one, lw_other," in text) == taken


def trimmed(quality: Any, out: Any) -> None:
    for r in range(quality.shape[0]):
        best = total = 0
        cut = quality.shape[1]
        for j in range(quality.shape[1] - 1, -1, -1):
            total += 20 - int(quality[r, j])
            if total < 0:
                break
            if total > best:
                best = total
                cut = j
        out[r] = cut


def test_short_walks_as_python() -> None:
    quality = np.random.default_rng(3).integers(0, 42, (200, 30)).astype(np.uint8)
    mine, pythons = np.zeros((2, 200), np.int64)
    lw.kernel(trimmed)(quality, mine)
    trimmed(quality, pythons)
    np.testing.assert_array_equal(mine, pythons)


def best_offset(a: Any, b: Any, most: int, out: Any) -> int:
    seen = 0
    for i in range(most, len(a)):
        least = 1000
        place = -1
        for d in range(most):
            x = int(a[i]) ^ int(b[i - d])
            x = x - ((x >> 1) & 0x5555)
            x = (x & 0x3333) + ((x >> 2) & 0x3333)
            x = (x * 0x1111 >> 12) & 15
            if x < least:
                least = x
                place = d
        out[i] = place * 100 + least
        seen += place
    return seen


def births(count: int, seed: int, rate: float) -> tuple[int, int, float]:
    some = others = 50
    state, time = seed, 0.0
    for _ in range(count):
        total = rate * some + others
        state = (state * 1103515245 + 12345) % 2147483648
        time += 1.0 / (total + 1.0)
        if state / 2147483648 * total < rate * some:
            some -= 1
            others += 1
        else:
            some += 1
            others -= 1
    return some, others, time


def test_choices_as_python() -> None:
    a, b = np.random.default_rng(6).integers(0, 65536, (2, 400)).astype(np.uint16)
    mine, pythons = np.zeros((2, 400), np.int64)
    assert lw.kernel(best_offset)(a, b, 12, mine) == best_offset(a, b, 12, pythons)
    np.testing.assert_array_equal(mine, pythons)
    assert lw.kernel(births)(3000, 7, 0.7) == pytest.approx(births(3000, 7, 0.7), rel=1e-13)


def in_a_loop(condition: str, then: list[str], otherwise: list[str]) -> If:
    lines = [f"if {condition}:", *("    " + one for one in then)]
    lines += ["else:", *("    " + one for one in otherwise)] if otherwise else []
    kernel = parse_kernel(
        "kernel f(a: int64[1] C, k: int64):\n    var x: int64\n    var y: int64\n    var q: bool\n    x = 3\n"
        "    y = 5\n    q = False\n    for i in 0 .. size(a, 0):\n"
        + "".join(f"        {line}\n" for line in lines)
        + "        a[i] = x + y + int64(q)\n"
    )
    return next(statements(kernel.body, If))


@pytest.mark.parametrize(
    ("condition", "then", "otherwise", "taken"),
    [
        ("x & 1 == 0", ["x = x >> 1"], ["x = 3 * x + 1"], True),
        ("x > y", ["x = x - y"], ["y = y - x"], True),
        ("x > y", ["x = x - y"], [], False),
        ("x > k", ["y = y + 1"], ["y = y - 1"], False),  # nothing to wait for
        ("x > a[i]", ["x = x - y"], ["y = y - x"], False),  # no matter of the numbers alone
        ("x > y", ["x = x - y", "y = x"], ["y = y - x"], False),  # which reads what the branch has changed
        ("x > y", ["x = x // y"], ["y = y - x"], False),
        ("x > y", ["x = x << k"], ["y = y - x"], False),
        ("x > y", ["x = (x - y) * (x + y)"], ["y = y - x"], False),  # takes long
    ],
)
def test_which_recurrences(condition: str, then: list[str], otherwise: list[str], taken: bool) -> None:
    assert (recurrence_of(in_a_loop(condition, then, otherwise)) is not None) == taken


@pytest.mark.parametrize(
    ("value", "taken"),
    [
        ("x >> 1 if x & 1 == 0 else 3 * x + 1", True),
        ("x - y if x > y else x + 1", True),
        ("x if x > y else x + 1", False),
        ("x + 1 if x < y else 0", False),  # seldom guessed wrong
        ("x + 1 if k < y else x - 1", False),
        ("x + 1 if x > a[i] else x - 1", False),
        ("x + 1", False),
    ],
)
def test_which_recurrences_are_expressions(value: str, taken: bool) -> None:
    found = in_a_loop("x > 2", [f"x = {value}"], [])
    assert (recurrence_of(found.then[0]) is not None) == taken  # type: ignore[arg-type]


def steps(a: Any) -> int:
    found = 0
    for i in range(len(a)):
        x = a[i]
        while x != 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            found += 1
        y = a[i]
        while y > 8:
            if y & 12 != 0:
                y = y - 5
            else:
                y = y - 3
            found += y
    return found


def test_recurrences_choose_by_bits() -> None:
    a, kernel = np.arange(1, 90), lw.kernel(steps)
    assert kernel(a) == steps(a)
    with open(kernel.explain(a).generated.source_path) as source:
        text = source.read()
    assert text.count("= lw_chosen_no_bits(lw_one, lw_other, (x_ >> 1), ((3L * x_) + 1L));") > 0
    assert text.count("= lw_chosen_any_bits(lw_one, lw_other, (y_ - 5L), (y_ - 3L));") > 0


@pytest.mark.parametrize(
    ("condition", "then", "otherwise", "taken"),
    [
        ("a[i] > 3", ["q = True"], [], True),
        ("i > 3 and a[i] > 3", ["q = False"], [], True),
        ("a[i] > 3", ["q = True"], ["q = False"], False),
        ("a[i] > 3", ["q = True", "x = 2"], [], False),
        ("a[i] > 3 and not q", ["q = True"], [], False),
        ("a[i] > 3", ["x = 1"], [], False),
    ],
)
def test_which_flags(condition: str, then: list[str], otherwise: list[str], taken: bool) -> None:
    assert (flag_of(in_a_loop(condition, then, otherwise)) is not None) == taken


def walks(numbers: Any, out: Any) -> None:
    for i in range(len(numbers)):
        x = numbers[i]
        y = 1 + i % 7
        steps = 0
        while x > 1 and steps < 200:
            if x % 2 == 0:
                x = x // 2
            else:
                x = 3 * x + 1
            steps += 1
        z = numbers[i]
        while z != y and z > 0 and y > 0:
            if z > y:
                z = z - y
            else:
                y = y - z
            steps += 1000
        crc = numbers[i]
        for _ in range(8):
            if crc & 1:
                crc = (crc >> 1) ^ 0xEDB88320
            else:
                crc >>= 1
        out[i] = steps * 100 + z + (crc << 20)


def peaks(image: Any, limit: Any, out: Any) -> int:
    found = 0
    for i in range(1, image.shape[0] - 1):
        for j in range(1, image.shape[1] - 1):
            is_peak, is_near = True, False
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    if (di != 0 or dj != 0) and image[i + di, j + dj] >= image[i, j]:
                        is_peak = False
                    if image[i + di, j + dj] == limit:
                        is_near = True
            out[i, j] = is_near
            found += is_peak
    return found


def test_recurrences_and_flags_as_python() -> None:
    numbers = np.random.default_rng(3).integers(-5, 900, 200)
    mine, pythons = np.zeros((2, 200), np.int64)
    lw.kernel(walks)(numbers, mine)
    walks(numbers, pythons)
    np.testing.assert_array_equal(mine, pythons)
    image = np.random.default_rng(4).integers(0, 9, (30, 20)).astype(float)
    image[::5, ::4] = np.nan
    ours, his = np.zeros((2, 30, 20), bool)
    assert lw.kernel(peaks)(image, 3.0, ours) == peaks(image, 3.0, his)
    np.testing.assert_array_equal(ours, his)


@pytest.mark.parametrize(
    ("body", "compared"),
    [
        ("s = 0.5 * s + a[i] - (1.0 if s > 0.0 else -1.0)", True),  # the sum waits as long for itself
        ("if a[i] > 0.5:\n            t = 255.0\n        else:\n            t = 0.0\n        s = 0.5 * s + t", True),
        ("s = 0.5 * s + 0.25 * (1.0 if s > a[i] else 0.5)", False),  # twice as long
        ("t = (1.0 if a[i] - s * b[i] >= 0.0 else -1.0)\n        s = s + b[i] * t", False),
        ("s = 0.5 * s + (1.0 if n > 3 else -1.0)", False),
        ("s = 0.5 * s + (a[i] if a[i] > 0.5 else -1.0)", False),
    ],
)
def test_two_constants_by_a_comparison_of_floats(body: str, compared: bool) -> None:
    text = (
        "kernel f(a: float64[1] C, b: float64[1] C, n: int64):\n    var s: float64\n    var t: float64\n    s = 0.0\n"
    )
    text += f"    for i in 0 .. size(a, 0):\n        {body}\n        b[i] = s\n"
    assert ("LW_COMPARED(float64" in host_text(text)) == compared


def levels(x: Any, out: Any, least: Any, two: Any) -> Any:
    s = x[0] * 0
    for i in range(len(x)):
        v = x[i]
        if v < least:
            p = two[0] * 0 + 3.0
        else:
            p = two[0] * 0 + 4.0
        s = s * 0.5 + p
        q = -0.0 if v > least else 2.0
        r = 1.0 if v >= least else math.inf
        if v == least:
            t = 5.0
        else:
            t = -0.0
        u = 1.5 if least <= v else 0.0
        w = 7.0 if v != least else -7.0
        out[i, 0], out[i, 1], out[i, 2], out[i, 3], out[i, 4], out[i, 5] = q, r, t, u, w, s


def test_choices_by_comparisons_are_those_of_python() -> None:
    x = np.array([0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 5e-324, 0.5])
    for least in (0.0, -0.0, 0.5, math.nan, math.inf):
        mine, expected = np.zeros((2, len(x), 6))
        kernel = lw.kernel(levels)
        with lw.options(strict=True):
            kernel(x, mine, least, x[2:])
        levels(x, expected, least, x[2:])
        np.testing.assert_array_equal(mine.view(np.int64), expected.view(np.int64))
    assert "LW_COMPARED(float64" in kernel.specialise(x, mine, least, x[2:]).program.text


def summits(a: Any, out: Any) -> None:
    for i in range(1, a.size - 1):
        top = True
        if a[i - 1] > a[i]:
            top = False
        if a[i + 1] > a[i]:
            top = False
        out[i] = top


def test_a_flag_of_each_iteration_is_set_without_a_jump_in_lanes() -> None:
    a, out = np.array([1.0, 3.0, math.nan, 2.0, 2.0, 5.0, 0.0, -0.0]), np.zeros(8, np.bool_)
    expected, kernel = out.copy(), lw.kernel(summits)
    summits(a, expected)
    kernel(a, out)
    generated = kernel.explain(a, out).generated
    assert generated is not None
    assert "top_ = top_ & !(" in Path(generated.source_path).read_text()
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(
    ("condition", "then", "taken"),
    [
        ("0 <= r and r < 8 and b[r] == 1", "n = n + k", True),
        ("0 <= r and (r < 8 and b[r] == 1)", "n = n - 3", True),
        ("r < 8 and b[r] == 1", "n = n + k * 2", False),
        ("r < 8 and b[r] == 1", "n = k", False),
        ("b[i] == 0 and b[r] == 1", "n = n + k", False),  # which of the two jumps is guessed wrong, nobody knows
        ("0 <= r and r < k", "n = n + k", False),
        ("b[r] == 1", "n = n + k", False),  # the C compiler does without a jump
    ],
)
def test_which_counts_behind_conditions(condition: str, then: str, taken: bool) -> None:
    kernel = parse_kernel(
        "kernel f(a: float64[1] C, b: int64[1] C, k: int64, r: int64):\n    var n: int64\n    n = 0\n"
        f"    for i in 0 .. size(a, 0):\n        if {condition}:\n            {then}\n        a[i] = float64(n)\n"
    )
    assert (count_behind(next(statements(kernel.body, If))) is not None) == taken


def turned(boards: Any, out: Any, least: Any) -> None:
    for g in range(boards.shape[0]):
        x = int(boards[g, 0]) * least
        sign = 0
        if x < 0:
            x = -x
            sign = 128
        n, k = sign, 0
        for d in range(-2, 3):
            r = g + d
            while 0 <= r < boards.shape[1] and boards[g, r] == 2:
                r += 1
                k += 1
            if 0 <= r < boards.shape[1] and boards[g, r] == 1:
                n += k
            if r >= 1 and r < boards.shape[1] and boards[g, r - 1] != 0:
                n -= 7
        out[g] = n + x


def test_counts_behind_conditions_as_python() -> None:
    boards = np.random.default_rng(3).integers(-1, 3, (40, 30)).astype(np.int8)
    for threads in (1, 3):
        kernel = lw.kernel(turned, threads=threads)
        for least in (-3, 0, 5, -(2**40)):
            mine, right = np.zeros((2, 40), np.int64)
            kernel(boards, mine, least)
            turned(boards, right, least)
            assert (mine == right).all()
