"""Where elements lie: layouts, records, and the text of an address."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from codegen.execution import compiled
from codegen.scheduled import N, check, host_text, small
from loopwright.analysis.analyse import analyse
from loopwright.ir.text import parse_kernel
from loopwright.recipe.marks import marks
from loopwright.steps.schedule import apply_schedule


@pytest.mark.parametrize("layout", ["C", "F", "last", "first", "strided"])
def test_layouts(layout: str, tmp_path: Path) -> None:
    text = f"""
kernel shift(a: int32[3] {layout}, b: int32[3] C):
    for i in 0 .. size(a, 0):
        for j in 0 .. size(a, 1):
            for k in 0 .. size(a, 2):
                b[i, j, k] = a[i, j, k] + a[i, 0, k]
"""
    whole = small(30, 31, 64, dtype="int32")
    array = {
        "C": np.ascontiguousarray(whole[:, :, :32]),
        "F": np.asfortranarray(whole[:, :, :32]),
        "last": whole[:, :, :32],
        "first": np.asfortranarray(whole)[:, ::2][:, :15],
        "strided": whole[::-1, :, ::2],
    }[layout]
    check(text, [array, np.zeros(array.shape, "int32")], tmp_path, "parallelize i; vectorize k")


def test_a_field_at_the_start_of_a_record_beside_a_smaller_one(tmp_path: Path) -> None:
    text = """
kernel move(p.x: float64[1] strided, p.n: int32[1] strided argument 0 offset 8):
    for i in 0 .. size(p.x, 0):
        p.x[i] = p.x[i] + 1.0
        p.n[i] = p.n[i] + 2i32
"""
    records = np.zeros(N, dtype=[("x", "f8"), ("n", "i4"), ("pad", "i4")])
    kernel = parse_kernel(text)
    facts = analyse(kernel)
    scheduled, _ = apply_schedule(kernel, facts, marks(kernel, facts, False), False)
    compiled(scheduled, tmp_path, facts, check_all=False, strict=False, threads=4).run((records,))
    assert (records["x"] == 1).all() and (records["n"] == 2).all() and (records["pad"] == 0).all()


CUBE = """
kernel cube(a: float64[3] {layout}):
    for i in 0 .. size(a, 0):
        for j in 0 .. size(a, 1):
            for k in 0 .. size(a, 2):
                a[i, j, k] = 1.0
"""


# ---- text -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("layout", "names"), [("C", {"a_n1_", "a_n2_"}), ("F", {"a_n0_", "a_n1_"})], ids=["C", "F"])
def test_the_address_of_an_element_goes_by_sizes_where_it_is_dense(layout: str, names: set[str]) -> None:
    text = host_text(CUBE.format(layout=layout))
    for found in re.findall(r" a_\[([^=]*?)\] = 1\.0;", text):
        assert set(re.findall(r"a_\w+", found)) == names
    assert "call->strides" not in text


@pytest.mark.parametrize(("layout", "strides"), [("last", 2), ("first", 2), ("strided", 3)])
def test_strides_that_no_layout_tells_come_with_the_call(layout: str, strides: int) -> None:
    text = host_text(CUBE.format(layout=layout))
    entry = text[text.index("lw_entry(") :]
    assert entry.count("call->strides[0]") == strides


def test_a_field_of_a_record_begins_behind_others() -> None:
    text = host_text("kernel k(p.n: int32[1] strided argument 0 offset 8):\n    p.n[0] = 2i32\n")
    assert "(call->data[0] + 8)" in text


def test_elements_that_are_not_aligned_have_a_type_of_their_own() -> None:
    text = host_text("kernel k(a: float64[1] strided unaligned):\n    a[0] = 2.0\n")
    assert "lw_u_double" in text
    assert "lw_u_double" not in host_text("kernel k(a: float64[1] strided):\n    a[0] = 2.0\n")


def test_the_size_of_a_result_is_that_of_the_array_that_it_is_made_after() -> None:
    text = host_text("""
kernel made(a: float64[2] C) -> array b:
    result b: float64[size(a, 1), 4, size(a, 0) + 1]
    for i in 0 .. size(a, 1):
        b[i, 2, 0] = a[0, i]
""")
    assert "b_n0_" not in text and "b_n1_" not in text and "b_n2_" in text
