from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.ir.nodes import Break, Continue, For, Kernel
from loopwright.ir.text import parse_kernel
from loopwright.steps import nest
from loopwright.steps.step import Rejection
from steps.kernels import known

TEXT = """
kernel f(a: float64[2] C, h: int64[1] C, n: int64, s: int64):
    var m: int64
    m = n
    for i in 0 .. n:
        for j in 0 .. i:
            for k in 0 .. n:
                a[i, j] = a[i, k]
        m = m - 1
    for p in 0 .. m:
        m = 2
        break p
    for q in 0 .. h[0]:
        continue q
    for r in 0 .. n step s:
        a[r, 0] = 1.0
    while m > 0 named w:
        m = m - 1
"""


def _kernel() -> Kernel:
    return parse_kernel(TEXT)


@pytest.mark.parametrize(
    ("names", "word"),
    [
        (("x",), "no loop 'x'"),
        (("w",), "while"),
        (("r",), "not constant"),
        (("i", "i"), "named twice"),
        (("i", "j"), ""),
    ],
)
def test_loops_that_are_not_there(names: tuple[str, ...], word: str) -> None:
    rejection = nest.missing(_kernel(), names)
    assert (rejection is None) if not word else (rejection is not None and word in rejection.reason)


def test_bands() -> None:
    kernel = _kernel()
    band = nest.band_of(kernel, ("k", "j"))
    assert not isinstance(band, Rejection) and [loop.name for loop in band] == ["j", "k"]
    imperfect, apart = nest.band_of(kernel, ("i", "j")), nest.band_of(kernel, ("j", "p"))
    assert isinstance(imperfect, Rejection) and "no perfect nest" in imperfect.reason
    assert isinstance(apart, Rejection) and "not nested" in apart.reason
    assert nest.nested(band, ()).body[0].name == "k"  # type: ignore[union-attr]


def test_bounds_that_may_change() -> None:
    kernel = _kernel()
    changing = [n for n in "ijkpq" if nest.changes_inside(nest.the_loop(kernel, n)) is not None]
    assert changing == ["p"]  # the bound of q is read from an array that nothing changes


def test_jumps() -> None:
    kernel = _kernel()
    p, q = nest.the_loop(kernel, "p"), nest.the_loop(kernel, "q")
    assert nest.jumps_in(p, Break) is not None and nest.jumps_in(p, Continue) is None
    assert nest.jumps_in(q, Continue) is not None and nest.jumps_in(q, Break) is None


def test_sizes() -> None:
    kernel = _kernel()
    assert nest.too_large(kernel, 1) is None
    rejection = nest.too_large(kernel, nest.LIMIT)
    assert rejection is not None and str(nest.LIMIT) in rejection.reason
    assert nest.size_of(parse_kernel("kernel f(n: int64):\n    pass\n").body) == 0


def test_arguments_that_overlap() -> None:
    kernel = parse_kernel(
        "kernel f(a: float64[1] C, n: int64):\n    overlap\n    for i in 0 .. n:\n        a[i] = 1.0\n"
    )
    rejection = nest.reordering(kernel, kernel, strict=False)
    assert rejection is not None and "overlap" in rejection.reason


def test_is_inside() -> None:
    kernel = _kernel()
    i, k, p = (nest.the_loop(kernel, name) for name in "ikp")
    assert isinstance(k, For) and nest.is_inside(kernel, k, i) and not nest.is_inside(kernel, k, p)


FREE = """
kernel f(a: float64[2] C, b: float64[1] C, n: int64, m: int64):
    var s: float64
    for i in 0 .. n:
        for j in 0 .. m:
            s = a[i, j]
            a[i, j] = 2.0 * s
    for k in 0 .. n:
        for l in 0 .. k:
            a[k, l] = 0.0
    for p in 0 .. n:
        for q in 0 .. m:
            b[p] = b[p] + a[p, q]
"""


@pytest.mark.parametrize(("names", "free"), [("ij", True), ("i", True), ("kl", False), ("pq", False), ("p", True)])
def test_nests_whose_iterations_touch_nothing_in_common(names: str, free: bool) -> None:
    kernel, facts = known(FREE)
    band = nest.band_of(kernel, tuple(names))
    assert not isinstance(band, Rejection) and nest.out_of_order(kernel, facts, band) is free


def test_what_was_proven_of_another_loop_of_its_name_is_not_believed() -> None:
    kernel, facts = known(FREE)
    (other, *_) = parse_kernel(FREE).body
    marked = replace(kernel, body=(replace(kernel.body[0], run="parallel"), *kernel.body[1:]))  # type: ignore[arg-type]
    assert isinstance(other, For) and not nest.out_of_order(kernel, facts, (other,))
    assert not nest.out_of_order(marked, facts, (marked.body[0],))  # type: ignore[arg-type]
    assert not nest.out_of_order(replace(kernel, overlap=True), facts, (nest.the_loop(kernel, "i"),))  # type: ignore[arg-type]


TIED = """
kernel f(a: float64[2] C, b: float64[1] C, c: float64[2] C, n: int64, m: int64):
    var s: float64
    var t: float64
    t = 0.0
    for i in 0 .. n:
        for j in 1 .. m:
            s = a[i, j - 1]
            a[i, j] = 2.0 * s
    for k in 0 .. n:
        for l in 1 .. k:
            c[k, l] = c[k, l - 1]
    for p in 0 .. n:
        for q in 0 .. m:
            b[p] = b[p] + a[p, q]
    for u in 1 .. n:
        for v in 1 .. m:
            c[u, v] = c[u - 1, v] + c[u, v - 1]
    for g in 1 .. n:
        for h in 1 .. m - 1:
            a[g, h] = a[g - 1, h + 1]
    for x in 0 .. n:
        t = 1.0
        for y in 1 .. m:
            t = t + a[x, y]
        b[x] = t
    for z in 0 .. n:
        for w in 1 .. m:
            t = c[z, w]
            c[z, w] = t + 1.0
    b[0] = t
"""


@pytest.mark.parametrize(
    ("names", "order", "kept"),
    [
        ("ij", "ji", True),  # i needs no order, and j runs as before for each i
        ("kl", "lk", False),  # the one's bound is the other's variable
        ("pq", "qp", True),
        ("uv", "vu", False),  # both need theirs
        ("gh", "hg", False),  # h needs none for each g alone
        ("uv", "uv", True),
        ("zw", "wz", False),  # which iteration is the last one matters
    ],
)
def test_loops_that_need_no_order_change_places(names: str, order: str, kept: bool) -> None:
    kernel, facts = known(TIED)
    band = nest.band_of(kernel, tuple(names))
    assert not isinstance(band, Rejection) and nest.only_free_loops_move_in(kernel, facts, band, tuple(order)) is kept


def test_a_scalar_that_a_loop_hands_on_ties_what_it_is_in() -> None:
    kernel, facts = known(TIED.replace("            s = a[i, j - 1]\n", "            s = s + a[i, j]\n"))
    band = nest.band_of(kernel, ("i", "j"))
    assert not isinstance(band, Rejection) and not nest.only_free_loops_move_in(kernel, facts, band, ("j", "i"))
