"""What expressions are worth: exact forms, or symbols that stand for themselves."""

from __future__ import annotations

import islpy as isl
import pytest

from analysis.small import kernel
from loopwright.analysis.affine import Affine, Formula
from loopwright.analysis.sets import build, parsed
from loopwright.analysis.trace import Access, trace
from loopwright.analysis.values import fields_overlap
from loopwright.ir.nodes import ArrayParam
from loopwright.ir.types import FLOAT64, INT8

HEAD = 'def f(a: "float64[1]", x: "int64[1]", u: "uint8[1]", n: "int64", m: "int64", p: "int32", q: "int8"):\n'
NAMES = {"n": "v3", "m": "v4", "p": "v5", "q": "v6"}


def accesses(*lines: str) -> list[Access]:
    return trace(kernel(HEAD + "".join(f"    {line}\n" for line in lines))).accesses


def index(*lines: str) -> Affine:
    """The index of the last access to `a`."""
    return next(access for access in reversed(accesses(*lines)) if access.array == "a").index[0]


def values_of(form: Affine, **given: int) -> list[int]:
    """All values that a form may have where scalars have the values given."""
    points = build((), ("e",), (Formula(f"e = {form.text()}", form.symbols),))
    for name, value in given.items():
        points = points.intersect_params(parsed(f"{NAMES[name]} = {value}", (NAMES[name],)))
    found: list[int] = []
    every = points.project_out_all_params()
    every.foreach_point(lambda point: found.append(point.get_coordinate_val(isl.dim_type.set, 0).to_python()))
    return sorted(found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2 * n - m + 3", 2 * 7 - -5 + 3),
        ("n // 3", 2),
        ("m // 3", -2),
        ("m % 3", 1),
        ("n & 3", 3),
        ("m & 3", 3),
        ("n << 2", 28),
        ("m >> 1", -3),
        ("-m", 5),
        ("abs(m) + abs(n)", 12),
        ("min(n, m) + max(n, m)", 2),
        ("n if n > m else m", 7),
        ("n if n <= m else m", -5),
        ("(n + 1) % n", 1),
        ("m % n", 2),
        ("(n - 1) % n", 6),
    ],
)
def test_values_are_exact(text: str, expected: int) -> None:
    assert values_of(index(f"a[{text}] = 1.0"), n=7, m=-5) == [expected]


def test_remainders_are_at_least_limited() -> None:
    assert values_of(index("a[n % m] = 1.0"), n=7, m=-5) == [-4, -3, -2, -1, 0]
    assert values_of(index("a[n % m] = 1.0"), n=70, m=3) == [0, 1, 2]
    assert values_of(index("a[n % m] = 1.0"), n=70, m=0) == [0]


def test_narrow_arithmetic_is_opaque() -> None:
    (symbol,) = index("a[int64(q + 1)] = 1.0").symbols
    assert symbol.role == "opaque"
    assert symbol.intervals[0] == (INT8.minimum, INT8.maximum)
    assert index("a[int64(q) + 1] = 1.0").text() == "(v6 + 1)"


def test_assignments_are_followed() -> None:
    assert index("k = n + 1", "k = k * 2", "a[k - n] = 1.0").text() == "(v3 + 2)"


def test_where_paths_meet_only_what_they_agree_on_is_known() -> None:
    assert index("k = n", "j = n", "if m > 0:", "    k = m", "    j = n", "a[j] = 1.0").text() == "(v3)"
    (symbol,) = index("k = n", "j = n", "if m > 0:", "    k = m", "    j = n", "a[k] = 1.0").symbols
    assert symbol.role == "opaque"
    assert index("k = n", "if m > 0:", "    k = m", "    return", "a[k] = 1.0").text() == "(v3)"


def test_a_loop_changes_what_it_assigns() -> None:
    lines = ["k = n", "for i in range(m):", "    a[k] = 1.0", "    k = m", "a[k] = 2.0"]
    inside, after = (access.index[0].symbols[0] for access in accesses(*lines))
    assert (inside.birth, after.birth) == (("i",), ())
    assert inside is not after


def test_a_load_is_one_value_until_a_store() -> None:
    first, second, third = (
        access.index[0] for access in accesses("a[x[0]] = 1.0", "a[x[0]] = 2.0", "x[1] = 5", "a[x[0]] = 3.0")
        if access.array == "a"
    )  # fmt: skip
    assert first == second != third


def test_a_load_differs_between_iterations_that_store() -> None:
    text = ["for i in range(n):", "    a[x[0]] = 1.0"]
    assert index(*text).birth == ()
    assert index(*text, "    x[i] = 1").birth == ("i",)


def test_an_overlapping_argument_may_be_any_array() -> None:
    text = HEAD + "    a[x[0]] = 1.0\n    u[0] = x[0]\n    a[x[0]] = 1.0\n"
    for overlap in (False, True):
        forms = [a.index[0] for a in trace(kernel(text, overlap=overlap)).accesses if a.array == "a"]
        assert (forms[0] != forms[1]) is overlap


def test_a_byte_is_within_256() -> None:
    (symbol,) = index("a[u[n]] = 1.0").symbols
    assert symbol.intervals[0] == (0, 255)
    assert symbol.loads


def test_products_know_their_factors() -> None:
    form = index("for i in range(n):", "    a[(i + 1) * m + 2] = 1.0")
    product, m = sorted(form.symbols, key=lambda symbol: symbol.name, reverse=False)
    assert {s.name for s in product.factors} == {"v4", product.factors[1].name} and m.name == "v4"
    assert form.constant == 2


def test_fields_that_share_bytes() -> None:
    def field(name: str, offset: int, **more: object) -> ArrayParam:
        return ArrayParam(name, FLOAT64, 0, 1, offset=offset, **more)  # type: ignore[arg-type]

    assert not fields_overlap((field("p.x", 0), field("p.y", 8)))
    assert fields_overlap((field("p.x", 0), field("p.y", 4)))
    assert fields_overlap((field("p.x", 0, tail=((3, 8),)), field("p.y", 16)))
