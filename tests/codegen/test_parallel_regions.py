"""What is found out about parallel loops before any text is written: what threads have for themselves, and how their
work is spread."""

from __future__ import annotations

import pytest

from codegen.scheduled import after
from loopwright.analysis.facts import NOTHING_PROVEN
from loopwright.codegen.cpu_lowering import lowered
from loopwright.codegen.decisions import ParallelRegion, Rows
from loopwright.codegen.function import Writer
from loopwright.codegen.parallel_regions import is_uneven, rows_of
from loopwright.ir.nodes import For
from loopwright.ir.printing import print_expr
from loopwright.ir.text import parse_kernel
from loopwright.ir.walk import loops
from steps.kernels import COUNT, ROWS

HEAD = "kernel f(p: int64[1] C, q: int32[1] C, a: float64[1] C, out: int64[1] C, n: int64):\n"


def region(text: str, name: str = "i") -> ParallelRegion | None:
    """What is decided of a loop that is parallel."""
    kernel, facts = after(text, f"parallelize {name}", strict=False)
    return lowered(Writer(kernel, facts, False, False).given).regions.get(name)


def test_a_nest_that_only_writes_its_own_needs_nothing() -> None:
    found = region(ROWS)
    assert found and (found.partials, found.sums, found.last, found.shares) == ((), (), (), "stretches")


def test_a_table_has_owners_and_copies() -> None:
    found = region(COUNT)
    assert found and [one.target for one in found.sums] == ["h"]
    assert found.owned and found.owned.array == "h" and print_expr(found.owned.index) == "a[i]"


def test_a_sum_in_one_element_has_partial_results() -> None:
    found = region(HEAD + "    for i in 0 .. size(a, 0):\n        out[3] = out[3] + p[i]\n")
    assert found and [one.reduction.target for one in found.partials] == ["out"] and not found.sums


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("for k in p[i] .. p[i + 1]:", ("p", "i")),
        ("for k in p[i - 1] .. p[i]:", ("p", "i - 1")),
        ("for k in int64(q[i + n]) .. int64(q[n + 1 + i]):", ("q", "i + n")),
        ("for k in p[i] .. p[i + 2]:", None),
        ("for k in p[2 * i] .. p[2 * i + 1]:", None),
        ("for k in p[i] .. int64(q[i + 1]):", None),
        ("for k in out[i] .. out[i + 1]:", None),
        ("for k in p[i + m] .. p[i + m + 1]:", None),
        ("for k in lo .. hi:", ("p", "i + 1")),
        ("for k in 0 .. n:", None),
    ],
)
def test_which_loops_are_over_rows(body: str, found: tuple[str, str] | None) -> None:
    text = f"""
{HEAD}    var m: int64
    var lo: int64
    var hi: int64
    for i in 0 .. 9:
        m = p[i]
        m = m + 1
        lo = p[i + 1]
        hi = p[i + 2]
        {body}
            out[i] = k
"""
    kernel = parse_kernel(text)
    loop = loops(kernel)["i"]
    assert isinstance(loop, For)
    rows = rows_of(loop, Writer(kernel, NOTHING_PROVEN, False, False).given)
    assert (rows and (rows.pointer, print_expr(rows.first), rows.loop)) == (found and (*found, "k"))
    assert isinstance(rows, Rows | None)


@pytest.mark.parametrize(
    ("lines", "uneven"),
    [
        (["for j in 0 .. n:", "    a[j] = 1.0"], False),
        (["for j in 0 .. i:", "    a[j] = 1.0"], True),
        (["for j in p[i] .. n:", "    a[j] = 1.0"], True),
        (["m = q[i]", "for j in 0 .. int64(m):", "    a[j] = 1.0"], True),
        (["m = int32(n)", "for j in 0 .. int64(m):", "    a[j] = 1.0"], False),
        (["for j in 0 .. n:", "    if a[j] > 1.0:", "        break j"], True),
        (["if a[i] > 0.0:", "    for j in 0 .. n:", "        a[j] = 1.0"], True),
        (["if i > 3:", "    for j in 0 .. n:", "        a[j] = 1.0"], False),
        (["while a[i] > 0.0 named w:", "    a[i] = a[i] - 1.0"], True),
    ],
)
def test_which_loops_are_uneven(lines: list[str], uneven: bool) -> None:
    body = "\n".join(f"        {line}" for line in lines)
    kernel = parse_kernel(f"{HEAD}    var m: int32\n    for i in 0 .. 9:\n{body}\n")
    loop = loops(kernel)["i"]
    assert isinstance(loop, For)
    assert is_uneven(loop) == uneven
