"""Random kernels through everything in ir/: they verify, print and parse back, and mean the same when simplified."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ir.random_kernels import kernels, outcome
from loopwright.ir.nodes import Checked, Kernel, Load, Store
from loopwright.ir.simplify import simplify
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.verify import verify
from loopwright.ir.walk import expressions, statements

MANY = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))


@MANY
@given(kernels())
def test_print_and_parse_round_trip(kernel: Kernel) -> None:
    verify(kernel)
    text = print_kernel(kernel)
    assert parse_kernel(text) == kernel
    assert print_kernel(parse_kernel(text)) == text


@MANY
@given(kernels(), st.integers(0, 2**32))
def test_simplify_keeps_the_meaning(kernel: Kernel, seed: int) -> None:
    simple = simplify(kernel)
    verify(simple)
    assert simplify(simple) is simple
    for run in range(3):
        assert outcome(simple, seed + run) == outcome(kernel, seed + run)


@MANY
@given(kernels())
def test_simplify_moves_and_drops_but_never_copies(kernel: Kernel) -> None:
    def occurrences(kernel: Kernel) -> list[object]:
        nodes = [*statements(kernel.body), *expressions(kernel.body)]
        return [node for node in nodes if isinstance(node, Load | Store | Checked)]

    simple = occurrences(simplify(kernel))
    assert len({id(node) for node in simple}) == len(simple) <= len(occurrences(kernel))
