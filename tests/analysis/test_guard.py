"""The guard: one C expression of all conditions, and where its values come from."""

from __future__ import annotations

import itertools

from analysis.small import kernel
from loopwright.analysis.analyse import analyse
from loopwright.analysis.facts import Condition, SizeGuard
from loopwright.analysis.guard import parameter_texts
from loopwright.ir.nodes import ArrayParam, Kernel, ScalarParam
from loopwright.ir.types import FLOAT64, INT64


def guard(text: str) -> SizeGuard:
    return analyse(kernel(text)).guard


def test_nothing_to_ask() -> None:
    text = 'def f(a: "float64[1]"):\n    for i in range(len(a)):\n        a[i] = 1.0\n'
    assert guard(text) == SizeGuard((), "", ())


def test_sizes_and_scalars() -> None:
    text = 'def f(a: "float64[1]", n: "int64"):\n    for i in range(n):\n        a[i] = 1.0\n'
    condition = Condition("((s0_0 >= v1) || (v1 <= 0))", (("s0_0", "v1"), ("v1",)))
    parameters = (("s0_0", ("size", 0, 0)), ("v1", ("scalar", 1, 0)))
    assert guard(text) == SizeGuard((condition,), "len(a) >= n", parameters)  # type: ignore[arg-type]


def test_ranges_keep_forms_from_overflow() -> None:
    text = 'def f(a: "float64[1]", n: "int64"):\n    for i in range(n):\n        a[i + 2] = 1.0\n'
    assert guard(text).c_text.endswith("&& v1 <= 281474976710656 && v1 >= -281474976710656")
    text = text.replace("int64", "int32")
    assert "2814" not in guard(text).c_text


def test_unsigned_values_must_look_positive() -> None:
    text = 'def f(a: "float64[1]", n: "uint64"):\n    for i in range(int64(n)):\n        a[i] = 1.0\n'
    assert guard(text).c_text.endswith("v1 <= 281474976710656 && v1 >= 0")


def test_what_a_violation_needs_is_among_the_parameters() -> None:
    text = 'def f(a: "float64[1]", n: "int64", m: "int64"):\n    for j in range(m):\n'
    text += "        for i in range(n):\n            a[i] = 1.0\n"
    assert [name for name, _ in guard(text).parameters] == ["s0_0", "v1", "v2"]


def test_products_are_written_out() -> None:
    text = 'def f(a: "float64[1]", n: "int64", m: "int64"):\n    for i in range(n):\n'
    text += "        for j in range(m):\n            a[i * m + j] = 1.0\n"
    assert guard(text).c_text.startswith("((v1 * v2 <= s0_0) || (v1 <= 0)) && ")
    assert guard(text).conditions[0].compared == (("v1", "v2", "s0_0"), ("v1",))
    assert guard(text).text == "n * m <= len(a) and n within 2**31 and m within 2**31"


def test_names_for_people() -> None:
    params = (
        ArrayParam("p.x", FLOAT64, 0, 2),
        ArrayParam("p.y", FLOAT64, 0, 3, offset=8, tail=((3, 8),)),
        ScalarParam("n", INT64, 1),
    )
    names = parameter_texts(Kernel("f", params, ()))
    assert names == {"s0_0": "p.shape[0]", "s0_1": "p.shape[1]", "v1": "n"}


def test_it_is_passed_over_only_where_all_loops_that_rely_on_it_are_idle() -> None:
    text = 'def f(a: "float64[1]", b: "float64[1]", n: "int64", m: "int64"):\n    for i in range(n):\n'
    text += "        a[i] = 1.0\n    for j in range(m):\n        b[j] = 1.0\n"
    found = guard(text)
    assert [name for name, _ in found.parameters] == ["s0_0", "s1_0", "v2", "v3"]
    python = found.c_text.replace("&&", " and ").replace("||", " or ")
    for n, m in itertools.product((-1, 0, 1, 3, 4), repeat=2):
        passes = eval(python, {"s0_0": 3, "s1_0": 3, "v2": n, "v3": m})
        assert not passes or (n <= 3 and m <= 3), (n, m)
        assert passes or n > 3 or m > 3, (n, m)


def test_a_choice_stands_in_brackets() -> None:
    text = 'def f(a: "float64[1]", n: "int64"):\n    for i in range(n):\n        a[(i + 2) % 4] = 1.0\n'
    assert guard(text).text == "(len(a) >= 4 or len(a) >= n + 2) and n within 2**48"


def test_what_data_decide_asks_for_no_other_version() -> None:
    """Two versions that ask for one another let no call pass."""
    text = 'def f(a: "float64[1]", t: "KIND[1]", m: "int64"):\n    if WHERE:\n'
    text += "        for i in range(len(t)):\n            a[t[i]] += 1.0\n"
    text += "    else:\n        for j in range(len(t)):\n            a[t[j]] += 2.0\n"
    assert guard(text.replace("KIND", "int8").replace("WHERE", "m >= 50")).conditions == ()
    assert guard(text.replace("KIND", "uint8").replace("WHERE", "m >= 50")).text == "len(a) >= 256"
    assert guard(text.replace("KIND", "uint8").replace("WHERE", "len(a) < 50")).text == "len(a) >= 256 or len(a) <= 49"
