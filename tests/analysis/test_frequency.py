"""How often loops run: against counting every iteration, and against the polynomials of `trip_counts`."""

from __future__ import annotations

import pytest

from loopwright.analysis import frequency
from loopwright.analysis.counts import trip_counts
from loopwright.analysis.frequency import ASSUMED_TRIPS, frequencies
from loopwright.ir.nodes import For, Kernel, Stmt
from loopwright.ir.text import parse_kernel


def kernel(body: str, params: str = "a: float64[2] C, n: int64") -> Kernel:
    return parse_kernel(f"kernel k({params}):\n" + "".join(f"    {line}\n" for line in body.strip("\n").split("\n")))


RECTANGLE = """
for i in 0 .. n:
    for j in 0 .. 7:
        a[i, j] = 0.0
"""
TRIANGLE = """
for i in 0 .. n:
    for j in 0 .. i:
        for k in j .. i:
            a[k, j] = 0.0
"""
TILES = """
for i.o in 0 .. n step 32:
    for i in i.o .. min(i.o + 32, n):
        for j in 0 .. n:
            a[i, j] = 0.0
"""


@pytest.mark.parametrize("n", [1, 3, 9, 32, 100, 129])
@pytest.mark.parametrize("text", [RECTANGLE, TRIANGLE, TILES])
def test_agrees_with_counting(text: str, n: int) -> None:
    found = frequencies(kernel(text), {"v1": n})
    counts: dict[str, int] = {}

    def count(body: tuple[Stmt, ...], numbers: dict[str, int]) -> None:
        for stmt in body:
            if isinstance(stmt, For):
                lower, upper, step = (eval(str(bound), {"min": min}, numbers) for bound in bounds[stmt.name])
                for turn in range(lower, upper, step):
                    counts[stmt.name] = counts.get(stmt.name, 0) + 1
                    count(stmt.body, {**numbers, stmt.name.replace(".", "_"): turn})

    bounds = {
        "i": ("0", "n", 1), "j": ("0", "7", 1), "i.o": ("0", "n", 32), "k": ("j", "i", 1),
    }  # fmt: skip
    if text == TRIANGLE:
        bounds["j"] = ("0", "i", 1)
    if text == TILES:
        bounds |= {"i": ("i_o", "min(i_o + 32, n)", 1), "j": ("0", "n", 1)}
    count(kernel(text).body, {"n": n})
    for loop, iterations in counts.items():
        assert found.iterations[loop] == pytest.approx(iterations, rel=1e-9)


@pytest.mark.parametrize("text", [RECTANGLE, TRIANGLE])
def test_agrees_with_the_polynomials(text: str) -> None:
    found = frequencies(kernel(text), {"v1": 1000})
    for loop, polynomial in trip_counts(kernel(text)).items():
        assert polynomial is not None
        assert found.iterations[loop] == pytest.approx(
            float(polynomial.value([1000] * len(polynomial.names))), rel=1e-9
        )


def test_a_branch_that_whole_tiles_take() -> None:
    text = """
for i.o in 0 .. n step 32:
    if i.o + 32 <= n:
        for i in i.o .. i.o + 32:
            a[i, 0] = 0.0
    else:
        for i.1 in i.o .. n:
            a[i.1, 0] = 0.0
"""
    found = frequencies(kernel(text), {"v1": 1000})
    assert found.iterations["i"] == 31 * 32
    assert found.iterations["i.1"] == 1000 - 31 * 32
    assert found.reached("i") == pytest.approx(31 / 32)
    assert found.reached("i.1") == pytest.approx(1 / 32)
    exact = frequencies(kernel(text), {"v1": 1024})
    assert exact.iterations["i.1"] == 0
    assert exact.reached("i.1") == 0


def test_what_data_decides_is_assumed_and_said() -> None:
    text = """
for i in 0 .. n:
    for k in p[i] .. p[i + 1]:
        a[i, k] = 0.0
"""
    found = frequencies(kernel(text, "a: float64[2] C, n: int64, p: int64[1] C"), {"v1": 10})
    assert found.assumed == ("k",)
    assert found.trips("k") == ASSUMED_TRIPS
    condition = """
for i in 0 .. n:
    if a[i, 0] > 0.0:
        a[i, 1] = 0.0
"""
    found = frequencies(kernel(condition), {"v1": 10})
    assert found.assumed == ("i",)
    assert sorted(found.statements.values()) == [1.0, 5.0, 10.0]


def test_sizes_that_are_not_given_are_assumed() -> None:
    found = frequencies(kernel(RECTANGLE), {})
    assert found.assumed == ("i",)
    assert found.iterations["j"] == 7 * ASSUMED_TRIPS


def test_no_iteration_at_all() -> None:
    found = frequencies(kernel(TILES), {"v1": 0})
    assert found.iterations["j"] == 0
    assert found.trips("j") == 0
    assert found.reached("j") == 0


def test_huge_sizes_take_no_longer() -> None:
    found = frequencies(kernel(TRIANGLE), {"v1": 10**9})
    assert found.iterations["k"] == pytest.approx(1e27 / 6, rel=1e-9)


def test_scalars_that_bounds_rest_on_are_followed() -> None:
    text = """
var m: int64
for i in 0 .. n:
    m = i * 2
    for j in 0 .. m + 1:
        a[i, j] = 0.0
"""
    assert frequencies(kernel(text), {"v1": 50}).iterations["j"] == pytest.approx(50 * 50)


def test_how_long_a_loop_is_each_time() -> None:
    found = frequencies(kernel(TRIANGLE), {"v1": 5})
    assert sum(found.lengths["j"].values()) == found.entries["j"]
    assert sum(length * times for length, times in found.lengths["j"].items()) == found.iterations["j"]


def test_where_a_stretch_begins_decides_nothing_unless_its_variable_does() -> None:
    text = """
for i in 0 .. n:
    for j in 8 * i .. 8 * i + 8:
        {inner}
"""
    inner = "for k in 0 .. 3:\n            a[i, k] = 0.0"
    alike = kernel(text.format(inner=inner))
    walk = frequency._Walk(frequency.KnownIntegers.of(alike, {"v1": 64}))
    walk.body(alike.body, 1.0, "")
    assert walk.visits == 3
    assert walk.iterations["k"] == 64 * 8 * 3
    sides = frequencies(kernel(text.format(inner="for k in 0 .. j:\n            a[i, k] = 0.0")), {"v1": 64})
    assert sides.iterations["k"] == pytest.approx(512 * 511 / 2, rel=1e-9)


def test_edges_of_blocks_are_seen_however_much_there_is_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frequency, "MOST_VISITS", 0)
    assert frequencies(kernel(TILES), {"v1": 100}).iterations["i"] == 100
    monkeypatch.setattr(frequency, "OUTER", -1)
    assert frequencies(kernel(TILES), {"v1": 100}).iterations["i"] == 4 * 32
