from __future__ import annotations

import pytest

from loopwright.ir.data_layout import DataLayout
from loopwright.ir.linear import variable
from loopwright.ir.printing import print_expr
from loopwright.ir.text import parse_kernel
from loopwright.steps.shadows import Shadow, conversion, members_of, shadows_of
from loopwright.steps.step import Rejection

FIELDS = """
kernel fields(p.x: float64[1] strided argument 0, p.k: int32[2] strided argument 0 offset 8 tail 3:4,
              p.y: float64[1] strided argument 0 offset 24, a: float64[2] C):
    for i in 0 .. size(p.x, 0):
        p.x[i] = p.y[i] + float64(p.k[i, 2]) + a[i, 1]
"""
KERNEL = parse_kernel(FIELDS)


def shadows(array: str, layout: str) -> tuple[Shadow, ...]:
    found = shadows_of(KERNEL, array, KERNEL.body, DataLayout.parse(layout.split()))
    assert not isinstance(found, Rejection)
    return found


def test_what_a_name_means() -> None:
    members = members_of(KERNEL, "p")
    assert not isinstance(members, Rejection)
    assert [(one.name, one.rank, one.tail, one.count) for one in members] == [
        ("p.x", 1, (), 1), ("p.k", 1, (3,), 3), ("p.y", 1, (), 1)
    ]  # fmt: skip
    assert isinstance(members_of(KERNEL, "p.x"), Rejection) and isinstance(members_of(KERNEL, "q"), Rejection)
    plain = members_of(KERNEL, "a")
    assert not isinstance(plain, Rejection) and [one.rank for one in plain] == [2]


@pytest.mark.parametrize(
    ("layout", "names", "axes"),
    [
        ("soa", ["p.x.l", "p.k.l", "p.y.l"], [1, 2, 1]),
        ("aos", ["p.l", "p.k.l"], [2, 2]),
        ("aosoa 4", ["p.l", "p.k.l"], [3, 3]),
        ("order 1 0", ["p.l", "p.k.l"], [2, 2]),
    ],
)
def test_fields_of_one_type_share_a_shadow_but_for_planes(layout: str, names: list[str], axes: list[int]) -> None:
    found = shadows("p", layout)
    assert [one.name for one in found] == names and [len(one.axes) for one in found] == axes


def test_where_elements_are() -> None:
    i, c = variable("i"), variable("c")
    pair, k = shadows("p", "aosoa 4")
    assert [print_expr(one) for one in pair.index(pair.members[1], (i,))] == ["i // 4", "1", "i % 4"]
    assert [print_expr(one) for one in k.index(k.members[0], (i, c))] == ["i // 4", "c", "i % 4"]
    assert [print_expr(one) for one in k.allocate().shape] == ["(size(p.k, 0) + 3) // 4", "3", "4"]
    assert k.keeps(1) and not k.keeps(0)


def test_conversions_run_once_over_all_records() -> None:
    found = shadows("p", "soa")
    taken = {one.name for one in found}
    assert len(conversion("p", found, {"p.x", "p.k", "p.y"}, taken, back=False)) == 1
    assert conversion("p", found, set(), taken, back=True) == ()
