"""A nest that sets what the next one adds to is left out where locals can begin with its constant instead."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from loopwright.ir.text import print_kernel
from loopwright.steps.promote import Promote
from loopwright.steps.schedule import apply_schedule, parse_schedule
from steps.before_after import check_same
from steps.kernels import known

PRODUCT = """
kernel product(a: float64[2] C, b: float64[2] C, c: float64[2] C):
    for i in 0 .. size(c, 0):
        for j in 0 .. size(c, 1):
            c[i, j] = {value}
    for i.1 in 0 .. size(c, 0):
        for j.1 in 0 .. size(c, 1):
            for k in 0 .. size(a, 1):
                c[i.1, j.1] = c[i.1, j.1] + a[i.1, k] * b[k, j.1]
"""
TILES = "tile i.1 2 j.1 3 k 4; complete i.1 j.1; reorder k.o k i.1 j.1"
FILLED = "promote c k.o whole filled"


def calls(value: float = 7.0) -> list[list[object]]:
    found: list[list[object]] = []
    for n, m, depth in product((0, 1, 2, 5), (0, 3, 4), (0, 1, 4, 6)):
        random = np.random.default_rng(n + m + depth)
        found.append([random.random((n, depth)), random.random((depth, m)), np.full((n, m), value)])
    return found


def test_the_locals_begin_with_the_constant(tmp_path: Path) -> None:
    changed = check_same(PRODUCT.format(value="-0.0"), f"{TILES}; {FILLED}", calls(), tmp_path)
    text = print_kernel(changed)
    assert "c.r[i.1.r - i.1.o, j.1.r - j.1.o] = -0.0" in text and text.count("c[") == 2, "two stores, whole and not"
    assert "for i in" not in text


def test_without_tests_inside_a_tile(tmp_path: Path) -> None:
    schedule = "tile i.1 2 j.1 3; reorder k i.1 j.1; promote c k whole filled"
    text = print_kernel(check_same(PRODUCT.format(value="1.0"), schedule, calls(), tmp_path))
    assert text.count("c[") == 1


def test_products_of_several(tmp_path: Path) -> None:
    text = """
kernel several(a: float64[2] C, c: float64[3] C):
    for n in 0 .. size(c, 0):
        for i in 0 .. size(c, 1):
            for j in 0 .. size(c, 2):
                c[n, i, j] = 0.5
    for n.1 in 0 .. size(c, 0):
        for i.1 in 0 .. size(c, 1):
            for j.1 in 0 .. size(c, 2):
                for k in 0 .. size(a, 0):
                    c[n.1, i.1, j.1] = c[n.1, i.1, j.1] + a[k, 0]
"""
    schedule = "tile i.1 2 j.1 3 k 4; complete i.1 j.1; reorder k.o k i.1 j.1; promote c k.o whole filled"
    some: list[list[object]] = [[np.ones((k, 1)), np.zeros((2, n, 4))] for k, n in product((0, 3), (0, 3))]
    assert "c[n," not in print_kernel(check_same(text, schedule, some, tmp_path))


REFUSED = {
    "another value": ("= {value}", "= a[i, 0]"),
    "fewer elements": ("for j in 0 .. size(c, 1)", "for j in 0 .. size(b, 1)"),
    "others first": ("for j in 0 ..", "for j in 1 .."),
    "not all": ("            c[i, j] = {value}", "            if a[i, 0] > 0.0:\n                c[i, j] = {value}"),
    "a diagonal": ("c[i, j] = {value}", "c[i, i] = {value}"),
    "other axes": ("c[i, j] = {value}", "c[j, i] = {value}"),
    "another array": ("c[i, j] = {value}", "b[i, j] = {value}"),
    "something between": ("    for i.1 in", "    a[0, 0] = c[0, 0]\n    for i.1 in"),
}


@pytest.mark.parametrize("case", sorted(REFUSED))
def test_refusals(case: str) -> None:
    old, new = REFUSED[case]
    assert old in PRODUCT
    text = PRODUCT.replace(old, new).format(value="0.0")
    kernel, facts = apply_schedule(*known(text), parse_schedule(TILES), strict=False)
    plain = Promote("c", "k.o", whole=True)
    assert plain.illegal(kernel, facts, strict=False) is None
    rejection = Promote("c", "k.o", whole=True, filled=True).illegal(kernel, facts, strict=False)
    assert rejection is not None and "right before" in rejection.reason


def test_what_runs_in_each_iteration_of_another_loop_is_filled_once() -> None:
    text = PRODUCT.format(value="0.0").replace("    for i.1 in", "    for t in 0 .. 3:\n     for i.1 in")
    text = text.replace("        for j.1", "         for j.1").replace("            for k", "             for k")
    text = text.replace("                c[i.1", "                 c[i.1")
    kernel, facts = apply_schedule(*known(text), parse_schedule(TILES), strict=False)
    assert Promote("c", "k.o", whole=True, filled=True).illegal(kernel, facts, strict=False) is not None
