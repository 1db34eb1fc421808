"""Complex numbers: arithmetic to the last bit, comparisons, types, what a variable becomes, what is refused."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import alike, define, refusal

EDGES = (0.0, -0.0, 1.0, -2.5, 1e-310, 1e300, np.inf, -np.inf, np.nan)
KINDS = (complex, np.complex64, np.complex128)
BINARY = ("x + y", "x - y", "x * y", "x / y", "x == y", "x != y", "y - x", "y / x")


def ours(function, *arguments):
    """What a kernel of the function gives, in the interpreter."""
    with lw.options(device="interpreter"):
        return lw.kernel(function)(*arguments)


def pythons(function, *arguments):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments)


def same(function, *arguments):
    expected, found = pythons(function, *arguments), ours(function, *arguments)
    assert equal(expected, found), f"{arguments}: Python {expected!r}, here {found!r}"
    return found


def equal(expected, found):
    """Equal in type and bits; all NaNs are one."""
    if isinstance(expected, tuple):
        return len(expected) == len(found) and all(map(equal, expected, found))
    if not isinstance(expected, complex | np.complexfloating):
        return alike(expected, found)
    kind = np.float32 if isinstance(expected, np.complex64) else np.float64
    parts = ((kind(getattr(one, part)) for one in (expected, found)) for part in ("real", "imag"))
    return type(expected) is type(found) and all((a != a and b != b) or alike(a, b) for a, b in parts)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", BINARY)
def test_operators_to_the_last_bit(text, kind):
    function = define(f"def f(x, y):\n    return {text}\n")
    some = [0.3 - 1.7j, -2.5 + 0.125j, 1e-3 + 4e5j, 7.0 + 0j, 1j / 3]
    for x, y in itertools.product(some, repeat=2):
        same(function, kind(x), kind(y))


@pytest.mark.parametrize("text", ["x + y", "x - y", "x * y", "x / y", "x == y"])
def test_operators_of_what_is_not_finite_as_numpy(text):
    each = text.replace("x", "x[i]").replace("y", "y[i]")
    function = define(f"def f(x, y, out):\n    for i in range(len(x)):\n        out[i] = {each}\n")
    numbers = np.array([complex(a, b) for a in EDGES for b in EDGES])
    x, y = (one.ravel().copy() for one in np.meshgrid(numbers, numbers))
    expected = np.zeros(len(x), np.complex128)
    found = expected.copy()
    with np.errstate(all="ignore"):
        for i in range(len(x)):  # of numbers, not of arrays: NumPy's loops of those use other instructions
            expected[i] = eval(text, {"x": x[i], "y": y[i]})
    ours(function, x, y, found)
    for a, b, wanted, got in zip(x, y, expected, found, strict=True):
        assert equal(wanted, got), (a, b)


@pytest.mark.parametrize("text", ["x * y", "x / y", "x - y", "x + y"])
def test_pythons_own_numbers_are_computed_as_python_does(text):
    function = define(f"def f(x, y):\n    return {text}\n")
    numbers = [complex(a, b) for a in (0.0, -1.5, 3.0, 1e200) for b in (-0.0, 2.0, 1e-200)]
    for x, y in itertools.product(numbers, repeat=2):
        try:
            expected = function(x, y)
        except (ZeroDivisionError, OverflowError):
            continue
        assert equal(expected, ours(function, x, y)), (x, y)


MIXED = [
    (2j, 3), (2j, 0.1), (3, 2j), (0.1, 1 + 2j), (np.complex64(2j), 0.1), (np.complex64(1 + 2j), 3),
    (np.complex64(1j), 1j / 3), (np.complex64(2j), np.float64(0.1)), (np.complex64(2j), np.float32(0.1)),
    (np.complex64(2j), np.int64(3)), (np.complex64(2j), np.int8(3)), (np.complex128(2j), np.uint64(3)),
    (np.complex128(2j), True), (1j, np.float32(0.1)), (1j, np.int16(3)), (1j, np.float64(0.1)), (np.bool_(True), 1j),
]  # fmt: skip


@pytest.mark.parametrize("pair", MIXED, ids=str)
def test_types_mix_as_in_numpy(pair):
    same(define("def f(x, y):\n    return x + y, x - y, x * y, x / y, x == y, y != x\n"), *pair)


@pytest.mark.parametrize("kind", KINDS)
def test_parts_signs_and_truth(kind):
    function = define(
        "def f(z):\n"
        "    w = -z if z else 5\n"
        "    return z.real, z.imag, z.conjugate(), -z, +z, abs(z), not z, bool(z), w * 1j, z and 1, z or 2j\n"
    )
    for z in (3 - 4j, 0j, -0.0 + 2j, 1 + 0j):
        found, expected = ours(function, kind(z)), function(kind(z))
        assert all(equal(a, b) for a, b in zip(expected[:8], found[:8], strict=True))
        assert expected[8:] == found[8:]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("power", [0, 1, 2, 3, 4, 7, -1, -2, 2.0, 3.0])
def test_small_whole_powers_are_products(kind, power):
    function = define(f"def f(z):\n    return z ** {power}, pow(z, {power})\n")
    for z in (0.3 - 1.7j, 2 + 1j, -1j / 3):
        expected, found = function(kind(z)), ours(function, kind(z))
        assert np.allclose(expected, found, rtol=1e-6 if kind is np.complex64 else 4e-16)
        assert type(expected[0]) is type(found[0])
        if power in (2, 3):
            assert equal(expected, found)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("power", [5, -3, 0.5, 2.5, 1 + 2j, 0, 150, 0j, 2 - 0j])
def test_other_powers(kind, power):
    function = define("def f(z, n):\n    return z ** n, 2 ** z, z ** -0.5\n")
    for z in (0.3 - 1.7j, -1.25 + 0j):
        expected, found = function(kind(z), power), ours(function, kind(z), power)
        assert np.allclose(expected, found, rtol=2e-5 if kind is np.complex64 else 1e-13)
        assert list(map(type, expected)) == list(map(type, found))


def test_powers_of_zero():
    function = define("def f(z, n):\n    return z ** n\n")
    for n in (0j, 2 + 0j, 0.5 + 1j):
        same(function, np.complex128(0), np.complex128(n))
    assert np.isnan(ours(function, np.complex128(0), np.complex128(-1 + 1j)))


def test_a_variable_is_complex_from_the_start():
    function = define(
        """
        def f(c, n):
            z, w, k = 0, 0.0, 1
            for i in range(n):
                z = z * z + c
                w += z.imag * 1j
                k *= 1j
            return z, w, k
        """
    )
    for c in (0.1 - 0.2j, np.complex64(0.5j), np.complex128(-0.3 + 0.3j)):
        same(function, c, 3)


def test_constants_from_outside_and_written():
    function = define(
        "OMEGA, PAIR = 2 - 1j, (1j, 2)\n"
        "def f(x):\n"
        "    table = (1j, 2.0, -1j)\n"
        "    made = complex(x, 2), complex(1), complex(), complex(imag=x)\n"
        "    return x * OMEGA + PAIR[0], 1j * 1j, (-8) ** 0.5, made, table\n"
    )
    same(function, 3.0)


def test_tuples_lists_helpers_and_none():
    function = define(
        """
        def turned(z, by=1j):
            if by.imag > 0:
                return z * by
            return z / by

        def f(pair, n):
            z, a = pair
            found = []
            best = None
            for k in range(n):
                found.append(z * k)
                if best is None or abs(z * k) > abs(best):
                    best = z * k
            x, y = turned(z), turned(z, -1j)
            x, y = y, x
            return found, best, (x, (y, a)), z in (1j, 2j)
        """
    )
    same(function, (2j, 3), 3)
    same(function, (np.complex128(2 + 1j), 3), 0)


def test_several_returns_agree_on_a_type():
    function = define("def f(n):\n    if n > 3:\n        return 1j * n, n\n    return 2.0, n\n")
    assert ours(function, 4) == (4j, 4) and ours(function, 2) == (2 + 0j, 2)


REFUSED = {
    "a[0] < a[1]": "an order between a NumPy complex128 and a NumPy complex128",
    "max(a[0], a[1])": "have no order|they have no order",
    "a[0] // 2": "'//' between a NumPy complex128 and a Python int",
    "a[0] % 2": "'%' between",
    "1j // 2": "'//' between a Python complex and a Python int",
    "int(a[0])": "cannot be converted to int64",
    "float(a[0])": "cannot be converted to float64",
    "np.float64(a[0])": "cannot be converted to float64",
    "round(a[0])": "cannot be converted to int64",
    "a[a[0]]": "an index must be an integer",
    "~a[0]": "'~' of a NumPy complex128",
    "a.max()": "minima and maxima of complex numbers",
    "np.argmin(a)": "minima and maxima of complex numbers",
    "np.floor(a[0])": "np.floor() of a NumPy complex128",
    "np.arcsin(a)": "np.arcsin() of complex numbers is outside the language",
    "np.sort(a)": "an order between",
    "math.sqrt(a[0])": "cannot be converted to float64",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_has_no_meaning_is_refused(text):
    words = refusal(define(f"import math\ndef f(a):\n    return {text}\n"), np.ones(3, complex))
    assert any(word in words for word in REFUSED[text].split("|")), words


def test_a_complex_number_does_not_go_into_reals():
    for text in ("a[0] = z[0]", "a[:] = z", "a += z", "a[0] += 1j", "a[a > 0] = 1j", "a.fill(1j)"):
        words = refusal(define(f"def f(a, z):\n    {text}\n"), np.ones(3), np.ones(3, complex))
        assert "complex" in words and ("cannot be converted" in words or "do not go into an array" in words), words
