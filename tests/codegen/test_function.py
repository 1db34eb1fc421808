"""One C function under construction: its parameters are what it uses and does not declare, checks stand where nothing
is proven, and each place that may fail is known by a number."""

from __future__ import annotations

import re

import numpy as np
import pytest

from codegen.scheduled import after, host_text
from devices.handmade import HEADER
from loopwright.codegen.openmp import generate
from steps.kernels import COUNT, PREFIX, ROWS


def parameters(text: str, name: str) -> list[str]:
    """The names of a function's parameters."""
    [found] = re.findall(rf"LW_PART int {name}\((.*?)\) {{", text)
    return [one.split()[-1].lstrip("*") for one in found.split(", ")]


def test_a_function_has_what_its_text_uses_and_does_not_declare() -> None:
    text = host_text(ROWS, "parallelize i")
    ours = parameters(text, "lw_part_i_")
    assert {"lw_first", "lw_bound", "a_", "b_", "a_n1_", "b_n1_"} <= set(ours) and len(set(ours)) == len(ours)
    assert not {"i_", "j_", "lw_status", "threads"} & set(ours)
    assert "threads" in parameters(text, "lw_kernel")


def test_a_call_gives_a_function_its_parameters_in_order() -> None:
    text = host_text(ROWS, "parallelize i")
    wanted = parameters(text, "lw_part_i_")[2:]
    [given] = re.findall(r"lw_bad = lw_part_i_\(0, lw_count, (.*?)\);", text)
    assert given.split(", ") == wanted


def test_names_of_the_users_cannot_meet_ours() -> None:
    text = host_text("kernel k(lw_status: float64[1] C, `int`: int64):\n    lw_status[0] = float64(`int`)\n")
    assert "lw_status_[0L]" in text and "int_" in text


@pytest.mark.parametrize(
    ("index", "checks"), [("0", False), ("n", False), ("p[0]", True), ("p[n] % 4 - 4", True), ("min(p[0], 2)", True)]
)
def test_checks_stand_where_nothing_is_proven(index: str, checks: bool) -> None:
    text = f"kernel k(a: float64[1] C, p: int64[1] C, n: int64):\n    a[{index}] = 1.0\n"
    assert ("a_[LW_INDEX(" in host_text(text)) == checks
    assert "a_[LW_INDEX(" in host_text(text, check_all=True)


def test_where_all_is_checked_there_is_no_guard() -> None:
    assert "lw_guard" in host_text(ROWS) and "lw_guard" not in host_text(ROWS, check_all=True)
    assert "lw_guard" not in host_text(PREFIX)  # nothing is taken for granted


def test_each_place_that_may_fail_has_a_number() -> None:
    kernel, facts = after(COUNT.replace("h[a[i]] +", "h[a[i] - 1] +"), "", strict=False)
    program = generate(kernel, facts, False, False)
    assert [(site.kind, site.array, site.axis) for site in program.sites] == [("bounds", "h", 0)] * 2
    numbers = re.findall(r"LW_INDEX\(\(?a_\[i_\](?: - 1L\))?, h_n0_, (\d+)\)", program.text)
    assert sorted(set(numbers)) == ["0", "1"]


def test_fused_operations_are_allowed_only_where_bits_may_differ() -> None:
    for strict, flag in ((True, "-ffp-contract=off"), (False, "-ffp-contract=fast")):
        kernel, facts = after(ROWS, "", strict)
        assert generate(kernel, facts, False, strict).flags == (flag,)


def test_memory_of_local_arrays_is_given_back_on_every_way_out() -> None:
    text = host_text(
        "kernel k(n: int64) -> int64:\n    allocate t: int64[n]\n    if n > 3:\n        return 1\n    return t[0]\n"
    )
    assert text.count("lw_give_back(t_);") == 1 and text.index("lw_leave: lw_give_back(t_);") > text.rindex(
        "goto lw_leave;"
    )
    assert not re.search(r"return [^l]", text[text.index("LW_PART int lw_kernel") : text.index("lw_leave:")])


def test_the_least_float_is_known_by_its_bits() -> None:
    """Of two conditions side by side gcc asks the second one of every number: of floats in five instructions."""
    macro = HEADER[HEADER.index("#define LW_TRUNCATED(") :]
    macro = macro[: macro.index("})")]
    assert "LW_RARE(lw_bits((double)lw_number) != LW_LEAST)" in macro and "lw_number !=" not in macro
    bits = re.search(r"#define LW_LEAST INT64_C\((-0x[0-9A-F]+)\)", HEADER)
    assert bits is not None and np.array([int(bits[1], 16)]).view(np.float64)[0] == -(2.0**63)
