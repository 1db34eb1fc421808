"""The two numbers, and the cases that the paper prints. It tells what they became, and not of which addresses: where a
test has to assume a record or a distribution, it says so."""

from __future__ import annotations

import pytest

from loopwright.analysis.efficiency import (
    ElementPlaces,
    activity_factor,
    array_uses,
    memory_efficiency,
    transaction_efficiency,
    transactions,
)
from loopwright.ir.data_layout import DataLayout
from loopwright.ir.nodes import For
from loopwright.ir.text import parse_kernel
from loopwright.recipe.layouts import places_of

HALF_WARP, FERMI_LINE = 16, 128
"""Section 3.3.2: 16 threads are served together; a Tesla M2075 moves lines of 128 bytes."""


def fields(stride: int, width: int, count: int, lanes: int = HALF_WARP, groups: int = 64) -> list[list[int]]:
    """The addresses that threads touch which read `count` fields one after the other, of records that lie `stride`
    bytes apart: for each instruction those of half a warp."""
    return [
        [(group * lanes + lane) * stride + width * field for lane in range(lanes)]
        for group in range(groups)
        for field in range(count)
    ]


def test_transactions() -> None:
    assert transactions([0, 4, 8], 4) == 1 and transactions([0, 32, 64], 4) == 3
    assert transactions([28], 8) == 2, "an element over the end of a segment"
    assert transactions([], 8) == 0 and transactions([5, 5, 5], 1) == 1


def test_black_scholes_goes_from_18_to_100_percent() -> None:
    """Section 4.1. Assumed: a record of 11 floats, one instruction for each."""
    records = transaction_efficiency(fields(44, 4, 11), 4, FERMI_LINE)
    planes = transaction_efficiency(fields(4, 4, 1), 4, FERMI_LINE)
    assert 0.165 < records < 0.185 and planes == 1.0
    assert memory_efficiency(fields(44, 4, 11), 4, FERMI_LINE) == pytest.approx(records / 2)


def test_k_means_is_equal_in_one_dimension_and_gets_worse_with_more() -> None:
    """Figure 9a: with N = 1 both are equivalent; records get worse as N grows, planes stay high."""
    found = [memory_efficiency(fields(4 * n, 4, n, lanes=32), 4, FERMI_LINE) for n in (1, 2, 4, 8, 16, 32)]
    assert found == [1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125]


def test_sky_server_is_below_40_percent_and_planes_make_it_twice_as_good() -> None:
    """Section 3.2 and figure 10a: less than 40 % for records of ten long and floating-point fields, of which a join
    looks at few. Assumed: keys of 8 bytes; matches lie where a hash puts them, so that planes do not reach 100 %."""
    records = memory_efficiency(fields(80, 8, 1), 8)
    assert records == 0.25
    scattered = [[(7919 * (16 * g + lane) % 4096) * 8 for lane in range(16)] for g in range(64)]
    assert records <= memory_efficiency(scattered, 8) < 0.5


def test_shortest_paths_go_from_71_to_100_percent() -> None:
    """Section 4.4: edges (source, destination, weight) and nodes (id, distance). Assumed: sectors of 32 bytes, two of
    three fields of an edge are used with both of a node, gathered from neighbouring numbers, as in a road network."""
    edges, nodes = fields(12, 4, 2), fields(8, 4, 2)
    found = memory_efficiency([*edges, *nodes], 4)
    assert 0.3 < found < 0.72
    assert memory_efficiency([*fields(4, 4, 1), *fields(4, 4, 1)], 4) == 1.0


def test_activity_factor() -> None:
    """Section 2.2.2: 100 % without divergence. A loop over bucket lists of other lengths goes on for the longest."""
    assert activity_factor([32, 32, 32]) == 1.0 and activity_factor([]) == 1.0
    lengths = [1] * 31 + [8]
    assert activity_factor([sum(turn < one for one in lengths) for turn in range(8)]) == (32 + 7) / (8 * 32)


# ---- from the text ----------------------------------------------------------------------------------------------

RECORDS = """
kernel records(p.x: float64[1] strided argument 0, p.v: float64[1] strided argument 0 offset 8,
               p.w: float64[1] strided argument 0 offset 120, b: int64[1] C argument 1, t: int64 argument 2):
    for k in 0 .. t:
        for i in 1 .. size(p.x, 0):
            {}
"""
PLAIN = """
kernel plain(a: float64[2] C, b: float64[2] F, n: int64, m: int64):
    for i in 0 .. n:
        for j in 0 .. m:
            {}
"""


def use(statement: str, array: str, layout: str = "", record: int = 128) -> tuple[float, float]:
    """Bytes that are used and moved of `p` for each of the 1000 records that a pass is taken to have."""
    kernel = parse_kernel(RECORDS.format(statement))
    (outer,) = kernel.body
    assert isinstance(outer, For)
    layouts = {array: DataLayout.parse(layout.split())} if layout else {}
    found = array_uses(kernel, outer.body, places_of(kernel, outer.body, {0: record}, layouts))[array]
    return found.used / 1000, found.moved / 1000


@pytest.mark.parametrize(
    ("statement", "layout", "used", "moved"),
    [
        ("p.x[i] = 0.0", "", 16, 128),
        ("p.x[i] = 0.0", "soa", 16, 16),
        ("p.x[i] = p.v[i]", "", 24, 128),
        ("p.x[i] = p.v[i]", "soa", 24, 24),
        ("p.x[i] = p.v[i]", "aos", 24, 32),
        ("p.x[i] = p.w[i]", "", 24, 192),
        ("p.x[i] = p.w[i]", "aosoa 8", 24, 24),
        ("p.x[i] = p.v[i - 1]", "", 24, 129),
    ],
)
def test_what_a_pass_moves(statement: str, layout: str, used: float, moved: float) -> None:
    assert use(statement, "p", layout) == pytest.approx((used, moved), rel=0.02)


def test_a_record_that_is_used_up_is_moved_in_full() -> None:
    text = RECORDS.format("p.x[i] = p.v[i]").replace("offset 120", "offset 8").replace("p.w", "p.u")
    kernel = parse_kernel(text)
    (outer,) = kernel.body
    assert isinstance(outer, For)
    found = array_uses(kernel, outer.body, places_of(kernel, outer.body, {0: 16}))["p"]
    assert (found.used, found.moved) == pytest.approx((24_000, 32_000), rel=0.02)


def test_where_data_decides_each_access_moves_a_line() -> None:
    kernel = parse_kernel(RECORDS.format("p.x[i] = p.v[b[i]]"))
    (outer,) = kernel.body
    assert isinstance(outer, For)
    found = array_uses(kernel, outer.body, places_of(kernel, outer.body, {0: 128}))["p"]
    assert found.by_data == 64_000.0 and found.moved == 128_000 + found.by_data


def plain_efficiency(statement: str, array: str) -> float:
    kernel = parse_kernel(PLAIN.format(statement))
    return array_uses(kernel, kernel.body, places_of(kernel, kernel.body, {}))[array].efficiency


def test_rows_and_columns() -> None:
    assert plain_efficiency("a[i, j] = b[i, j]", "a") == 1.0
    assert plain_efficiency("a[i, j] = b[i, j]", "b") == 0.125
    assert plain_efficiency("a[j, i] = b[j, i]", "a") == 0.125
    assert plain_efficiency("a[j, i] = b[j, i]", "b") == 1.0
    assert plain_efficiency("a[i, j] = a[i, j] + b[0, 0]", "b") == 0.125, "a single element has a line of its own"


def test_addresses() -> None:
    sizes, begin = (100, 3), (10,)
    pair = ElementPlaces("p", "p.l", 4, DataLayout("aosoa", (8,)), sizes, begin, True, (2,), 1)
    assert pair.address([0, 1]) == 4 * DataLayout("aosoa", (8,)).place((10, 2), sizes)
    given = ElementPlaces("p", "p", 8, DataLayout("aos"), (100,), begin, True, (), 0, 128, 24)
    assert given.address([2]) == 12 * 128 + 24
