from __future__ import annotations

import pytest

from loopwright.analysis.analyse import analyse, apart_from
from loopwright.analysis.linear_recurrences import LinearValue
from loopwright.analysis.reductions import NotAReduction
from loopwright.analysis.scans import CarriedValue, RunningValue, advance_of, carried_value, levels_of, packed_arrays
from loopwright.ir.nodes import For, Kernel
from loopwright.ir.queries import types_assigned
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.walk import loops

HEAD = """
kernel one(a: float64[1] C, b: float64[1] C, c: float64[2] C, p: int64[1] C):
    var s: float64
    var v: float64
    var k: int64
    s = 0.0
    v = 0.0
    k = 0
    for i in 0 .. size(a, 0):
"""


def kernel_of(*lines: str) -> tuple[Kernel, For]:
    """A kernel, and its loop, which has these lines."""
    kernel = parse_kernel(HEAD + "".join(f"        {line}\n" for line in lines))
    loop = loops(kernel)["i"]
    assert isinstance(loop, For)
    return kernel, loop


def values_of(loop: For, *names: str) -> list[CarriedValue]:
    types = types_assigned(loop.body)
    return [carried_value(loop, name, types[name]) for name in names]


def advance(names: str, *lines: str) -> list[str]:
    """The lines of what the updates of these scalars need."""
    kernel, loop = kernel_of(*lines)
    values = values_of(loop, *names)
    levels_of(loop, values)
    new = Kernel("k", kernel.params, advance_of(loop, values))
    return [line.strip() for line in print_kernel(new).splitlines() if ":" not in line or "var" not in line][1:]


def packed(*lines: str) -> set[str]:
    """The arrays that are written in the order of k."""
    kernel, loop = kernel_of(*lines)
    return packed_arrays(kernel, loop, values_of(loop, "k"))


def test_updates_need_no_stores_and_nothing_that_only_others_need() -> None:
    lines = advance("s", "v = a[i]", "k = k + 1", "b[i] = s", "s = s + v", "for j in 0 .. k:", "    c[i, j] = s")
    assert lines == ["v = a[i]", "s = s + v"]


def test_what_decides_about_an_update_is_kept() -> None:
    lines = advance(
        "s", "if a[i] > 0.0:", "    b[i] = s", "else:", "    s = s + 1.0", "if a[i] < 1.0:", "    continue i"
    )
    assert lines[:2] == ["if not a[i] > 0.0:", "s = s + 1.0"] and lines[-1] == "continue i"
    lines = advance("s", "for j in 0 .. 9:", "    if a[j] > v:", "        break j", "    s = s + 1.0")
    assert lines[-3:] == ["if a[j] > v:", "break j", "s = s + 1.0"]
    assert advance("s", "for j in 0 .. 9:", "    if a[j] > v:", "        break j", "s = s + 1.0") == ["s = s + 1.0"]


@pytest.mark.parametrize(
    ("lines", "word"),
    [
        (("v = s", "s = s + v"), "depends on 's'"),
        (("if s > 0.0:", "    s = s + 1.0"), "depends on 's'"),
        (("b[i] = 1.0", "s = s + b[i]"), "writes to 'b'"),
        (("for j in 0 .. 2:", "    s = s + b[j]", "    b[i] = s"), "writes to 'b'"),
        (("allocate t: float64[2] = 0.0", "s = s + t[0]"), "writes to 't'"),
    ],
)
def test_what_is_not_known_before_the_loop_is_no_update(lines: tuple[str, ...], word: str) -> None:
    with pytest.raises(NotAReduction, match=word):
        advance("s", *lines)


@pytest.mark.parametrize(
    ("lines", "levels"),
    [
        (("s = 0.5 * s + a[i]", "k = k + 1"), ["s k"]),
        (("s = s * float64(k)", "k = k + 1"), ["k", "s"]),
        (("if k > 3:", "    s = 0.0", "s = s + a[i]", "v = maximum(v, s)", "k = k + 1"), ["k", "s", "v"]),
    ],
)
def test_what_depends_on_others_comes_after_them(lines: tuple[str, ...], levels: list[str]) -> None:
    _, loop = kernel_of(*lines)
    values = values_of(loop, *("s v k" if len(levels) == 3 else "s k").split())
    assert [" ".join(value.name for value in level) for level in levels_of(loop, values)] == levels


def test_values_that_depend_on_one_another_have_no_levels() -> None:
    _, loop = kernel_of("s = 0.5 * s + v", "v = 0.5 * v - s")
    with pytest.raises(NotAReduction, match="depends on 's'"):
        levels_of(loop, values_of(loop, "s", "v"))


def test_products_of_floats_are_maps_and_those_of_whole_numbers_are_totals() -> None:
    _, loop = kernel_of("s = s * a[i]", "k = k * p[i]")
    assert [type(value) for value in values_of(loop, "s", "k")] == [LinearValue, RunningValue]


def test_a_store_belongs_to_the_iteration_that_passes_its_element() -> None:
    assert packed("b[k] = a[i]", "k = k + 1") == {"b"}
    assert packed("b[k] = a[i]", "b[k + 1] = v", "k = 2 + k") == {"b"}
    assert packed("if a[i] > 0.0:", "    k = k + 2", "    b[k - 2] = v", "    b[k - 1] = v") == {"b"}
    assert packed("if a[i] > 0.0:", "    for j in 0 .. 2:", "        c[k, j] = v", "    k = k + 1") == {"c"}
    assert packed("b[k] = v", "c[k, i] = v", "k = k + 1") == {"b", "c"}


@pytest.mark.parametrize(
    "lines",
    [
        ("b[k + 1] = v", "k = k + 1"),
        ("b[k - 1] = v", "k = k + 1"),
        ("k = k + 1", "b[k] = v"),
        ("k = k + 1", "b[k - 2] = v"),
        ("b[k] = v", "k = k + 0"),
        ("b[k] = v", "if a[i] > 0.0:", "    k = k + 1"),
        ("if a[i] > 0.0:", "    b[k] = v", "    if v > 0.0:", "        continue i", "    k = k + 1"),
        ("b[k] = v", "k = k + 1", "k = k - 1"),
        ("b[k] = v", "k = k + p[i]"),
        ("b[k] = b[i]", "k = k + 1"),
        ("b[k] = v", "b[i] = v", "k = k + 1"),
        ("b[2 * k] = v", "k = k + 1"),
        ("c[k, 0] = v", "c[0, k] = v", "k = k + 1"),
        ("b[k] = v", "k = k + 9999999999"),
    ],
)
def test_other_stores_may_meet(lines: tuple[str, ...]) -> None:
    assert packed(*lines) == set()


def test_a_loop_apart_from_its_scalars() -> None:
    kernel, loop = kernel_of("s = s + a[i]", "b[i] = s", "c[k, 0] = s", "k = k + 1")
    facts = analyse(kernel)
    assert facts.loops["i"].verdict == "sequential"
    assert apart_from(kernel, facts, loop, {"s"}, {"c"}).verdict == "sequential"
    assert apart_from(kernel, facts, loop, {"s", "k"}, ()).verdict == "undecided"
    assert apart_from(kernel, facts, loop, {"s", "k"}, {"c"}).verdict == "parallel"


SCANNED = """
kernel one(a: float64[1] C, b: float64[1] C, p: int64[1] C):
    var k: int64
    var n: int64
    var l: int64
    k = {start}
    for r in 0 .. {times}:
        allocate x: int64[8]
        allocate y: int64[8]
        for c in 0 .. 8:
            n = 0
            for j in 8 * c .. 8 * c + 8:
                if a[j] > 0.0:
                    n = n + {added}
            x[c] = {counted}
        for m in 0 .. 8:
            y[m] = k
            k = k + x[m]
            {more}
        for d in 0 .. 8 asserted:
            l = {given}
            for i in 8 * d .. 8 * d + 8:
                if a[i] > 0.0:
                    b[l] = a[i]
                    l = l + {added}
"""


def packed_in_chunks(start="0", added="1", given="y[d]", more="p[m] = 0", times="1", counted="n") -> set[str]:
    """The arrays that the innermost loop of a scan writes in the order of l."""
    text = SCANNED.format(start=start, added=added, given=given, more=more, times=times, counted=counted)
    kernel = parse_kernel(text)
    loop = loops(kernel)["i"]
    assert isinstance(loop, For)
    return packed_arrays(kernel, loop, values_of(loop, "l"))


def test_where_chunks_begin_only_grows_too() -> None:
    assert packed_in_chunks() == packed_in_chunks(start="7", added="3", times="5") == {"b"}


@pytest.mark.parametrize(
    "changed",
    [
        {"start": "-1"},
        {"added": "-1"},
        {"given": "y[d] - 1"},
        {"given": "p[d]"},
        {"more": "k = k + x[m]"},  # twice: it may pass the end of int64
        {"more": "k = k + p[m]"},
        {"more": "k = k - 1"},
        {"more": "x[m] = -1"},
        {"more": "x[m] = k"},
        {"more": "y[m] = p[m]"},
        {"counted": "k"},  # it doubles
    ],
)
def test_where_chunks_begin_may_be_anywhere(changed: dict[str, str]) -> None:
    assert packed_in_chunks(**changed) == set()
