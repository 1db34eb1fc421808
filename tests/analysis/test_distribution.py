from __future__ import annotations

from loopwright.analysis.distribution import Edges, SharedLoop, components, distributed, together
from loopwright.ir.nodes import For, Stmt, Store
from loopwright.ir.text import parse_kernel


def edges(text: str) -> Edges:
    """`0>1 1>2` as the numbers that come after each of 0 to 4."""
    pairs = [tuple(map(int, one.split(">"))) for one in text.split()]
    return {number: frozenset(b for a, b in pairs if a == number) for number in range(5)}


def test_what_needs_one_another_in_turn_is_one_group_and_what_is_needed_comes_first() -> None:
    numbers = range(5)
    assert components(numbers, edges("")) == [{0}, {1}, {2}, {3}, {4}]
    assert components(numbers, edges("4>0 2>1 1>2")) == [{1, 2}, {3}, {4}, {0}]
    assert components(numbers, edges("0>3 3>1 1>0 4>2")) == [{0, 1, 3}, {4}, {2}]


def test_the_rest_stays_together_where_nothing_apart_has_to_come_between() -> None:
    apart = components(range(5), edges("0>2 2>4"))
    assert together(apart, edges("0>2 2>4"), {0, 1, 3, 4}) == [{0, 1, 3}, {2}, {4}]
    assert together(apart, edges(""), {0, 1, 3, 4}) == [{0, 1, 3, 4}, {2}]
    assert together(apart, edges("0>2 2>4"), set()) == apart


def test_loops_are_shared_by_what_they_carry() -> None:
    kernel = parse_kernel("""
kernel parts(n: int64, a: float64[2] C, b: float64[2] C, c: float64[2] C):
    for i in 1 .. n:
        for j in 1 .. n:
            a[i, j] = b[i - 1, j] + 1.0
            c[i, j] = c[i, j - 1] + a[i, j]
            b[i, j] = 2.0 * a[i, j]
""")
    (loop,) = kernel.body
    assert isinstance(loop, For)

    def shape(parts: tuple[SharedLoop | Stmt, ...]) -> str:
        return " ".join(
            f"{one.loop.name}({shape(one.parts)})" if isinstance(one, SharedLoop) else one.array
            for one in parts if isinstance(one, SharedLoop | Store)
        )  # fmt: skip

    def found(*targets: str) -> str:
        parts = distributed(kernel, loop, (), targets)
        assert parts is not None
        return shape(parts)

    assert found() == "i(j(a) j(b)) i(j(c))"
    assert found("a") == "i(j(a) j(b)) i(j(c))"
    assert found("c") == "i(j(a b)) i(j(c))"
