"""Functions of complex numbers: `cmath`, NumPy's ufuncs, of numbers and of arrays; the parts of arrays as views."""

from __future__ import annotations

import cmath
import warnings

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, refusal
from loopwright.frontend import complex_library

NUMBERS = [
    complex(a, b) for a in (0.0, -0.0, 0.7, -1.3, 12.0, -45.0) for b in (0.0, -0.0, 0.4, -2.1, 3.0, 50.0)
] + [1 + 1e-9j, -1 + 1e-9j, 1e-310 + 1e-310j, 1e200 + 1e200j, 1e308 - 1e308j, 710 + 1j]  # fmt: skip
EXTREME = [complex(a, b) for a in (np.inf, -np.inf, np.nan, 1.5) for b in (np.inf, -np.inf, np.nan, 0.0, 2.0)]
FUNCTIONS = ("exp", "log", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")


def ours(function, *arguments):
    with lw.options(device="interpreter"):
        return lw.kernel(function)(*arguments)


def pythons(function, *arguments):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments)


def close(expected, found, near=1e-13):
    if isinstance(expected, tuple):
        return len(expected) == len(found) and all(close(a, b, near) for a, b in zip(expected, found, strict=True))
    a, b = np.asarray(expected), np.asarray(found)
    near = 2e-5 if a.dtype in (np.float32, np.complex64) else near
    alike = type(expected) is type(found) and a.dtype == b.dtype and a.shape == b.shape
    with np.errstate(all="ignore"):
        return alike and bool(np.allclose(a, b, near, near * 1e-3, equal_nan=True))


def check(function, *arguments):
    expected, found = pythons(function, *arguments), ours(function, *arguments)
    assert close(expected, found), f"Python {expected!r}, here {found!r}"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_numpy(name):
    function = define(f"def f(x, out):\n    out[:] = np.{name}(x)\n")
    for kind, some in ((np.complex128, NUMBERS), (np.complex64, [z for z in NUMBERS if abs(z) < 40])):
        x = np.array(some).astype(kind)
        found, expected = np.zeros_like(x), pythons(getattr(np, name), x)
        ours(function, x, found)
        for z, wanted, got in zip(x, expected, found, strict=True):
            with np.errstate(all="ignore"):
                assert close(wanted, got) or abs(wanted) > 1e300, (z, wanted, got)


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "sinh", "tanh"])
def test_what_is_not_finite(name):
    """Where C99 leaves the sign of a zero or of an infinity open, either is right."""
    function = define(f"def f(x, out):\n    out[:] = np.{name}(x)\n")
    x = np.array(EXTREME)
    found, expected = np.zeros_like(x), pythons(getattr(np, name), x)
    ours(function, x, found)
    for z, wanted, got in zip(x, expected, found, strict=True):
        if np.isnan(z) or name in ("sinh", "tanh"):
            assert np.isfinite(wanted) == np.isfinite(got), (z, wanted, got)
        else:
            assert close(abs(wanted.real), abs(got.real)) and close(abs(wanted.imag), abs(got.imag)), (z, wanted, got)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_cmath(name):
    function = define(f"import cmath\ndef f(z):\n    return cmath.{name}(z)\n", cmath=cmath)
    for z in (0.3 - 1.7j, -2 + 0j, 1e-3j):
        check(function, z)
        check(function, np.complex64(z))
        assert close(function(z), complex(getattr(complex_library, name)(np.complex128(z))))
    check(function, 0.5)


def test_polar_and_its_inverse():
    function = define(
        "import cmath\n"
        "def f(z, x):\n"
        "    return cmath.polar(z), cmath.phase(z), cmath.rect(x, 0.5), cmath.isnan(z), cmath.isfinite(z), cmath.pi\n"
    )
    check(function, -1 + 2j, 3.0)
    check(function, 2.0, 3)


OF_NUMBERS = [
    "abs(z)", "np.abs(z)", "np.absolute(z)", "np.conj(z)", "np.conjugate(z)", "np.real(z)", "np.imag(z)",
    "np.angle(z)", "np.square(z)", "np.reciprocal(z)", "np.negative(z)", "np.add(z, 1j)", "np.multiply(z, 2)",
    "np.divide(z, 3)", "np.power(z, 2)", "np.isnan(z)", "np.isfinite(z)", "np.isinf(z)", "np.equal(z, z)",
    "np.logical_and(z, 0)", "np.complex64(z)", "np.complex128(z)", "np.where(z == 0, 1, z)",
    "np.isclose(z, z + 1e-12)", "np.positive(z)", "np.iscomplexobj(z)", "np.isrealobj(z)",
]  # fmt: skip


@pytest.mark.parametrize("text", OF_NUMBERS)
def test_of_numbers_and_of_arrays(text):
    function = define(f"def f(z):\n    return {text}\n")
    for kind in (np.complex64, np.complex128):
        array = np.array([[0.3 - 1.7j, 2j], [-3, 0.5]], kind)
        if "real(" not in text and "imag(" not in text:  # views of arguments are not returned
            check(function, array)
        if "where" not in text:
            check(function, array[0, 0])
    if "np.angle" in text or "real" in text or "conj" in text:
        check(function, 2.5)


def test_methods():
    function = define(
        "def f(a):\n"
        "    z = a[0]\n"
        "    return a.conj(), a.conjugate(), z.conj(), z.item(), z.astype(np.complex64), a.astype(np.complex64),"
        " a.copy(), a.dtype == np.complex128, a.itemsize, a.nonzero()[0]\n"
    )
    check(function, np.array([0.3 - 1.7j, 0, 2j]))


def test_parts_of_reals():
    check(define("def f(a, x, n):\n    return a.imag + 1, x.real, x.imag, n.real, n.imag, (a * 1).real\n"),
          np.arange(3.0), 2.5, 3)  # fmt: skip


VIEWS = [
    "a.real[:] = 5", "a.imag[1:] = a.real[:-1]", "a.real *= 2", "a.imag = a.real", "a.real = 1.5", "a[::2].imag += 3",
    "r = a.real\n    r[0] = 7\n    a[1] = r[0] * 1j", "a.real[:] = a.imag[::-1]", "a.real[a.imag > 0] = -1",
    "a.T.imag[0] = 9", "np.add(a.real, 1, out=a.imag)", "a.imag = a.imag[::-1]",
    "for x in a.real:\n        a[0] += x * 1j",
]  # fmt: skip


@pytest.mark.parametrize("text", VIEWS)
def test_parts_of_an_array_are_views(text):
    function = define(f"def f(a):\n    {text}\n    return a.real.sum(), a.imag.copy()\n")
    whole = np.array([1 + 2j, -3 + 0.5j, 4 - 1j, 2j, 0.25, 6])
    for make in (lambda: whole.copy(), lambda: whole.copy()[::-2], lambda: whole.astype(np.complex64)):
        mine, theirs = make(), make()
        expected, found = function(mine), ours(function, theirs)
        assert close(expected, found) and close(mine, theirs)


def test_a_part_of_an_expression_is_not_assigned_to():
    assert "cannot be assigned to" in refusal(define("def f(a):\n    (a + 1).real = 2\n"), np.ones(2, complex))


ARRAYS = [
    "m @ m", "m @ v", "v @ v", "np.dot(v, v)", "np.vdot(v, v * 1j)", "np.inner(v, v)", "np.outer(v, v)",
    "m.T.conj() @ m", "m @ m.real", "m.sum()", "m.sum(axis=0)", "m.prod()", "m.mean(axis=1)", "m.mean()", "m.std()",
    "m.var(axis=0)", "np.linalg.norm(m)", "np.cumsum(v)", "np.cumprod(v)", "np.nansum(v)", "np.diff(v)",
    "np.linalg.solve(m, v)", "np.linalg.inv(m)", "np.linalg.det(m)", "np.linalg.solve(m, m)", "np.trace(m)",
    "np.where(np.abs(m) > 1, m, 0)", "m[np.abs(m) > 1]", "v[[2, 0]]", "np.concatenate((v, v))", "np.stack((v, v))",
    "m.reshape(9)", "m.any()", "m.all(axis=0)", "np.count_nonzero(m)", "abs(m).max()", "np.roll(v, 1)", "m / m.T",
    "m ** 2 - m * 2 + 1j", "v[:, None] * v", "m.flatten()", "np.array([1, 2j, v[0]])", "np.full((2, 2), 1 + 2j)",
    "np.ones(2, complex)", "np.eye(2, dtype=complex)", "np.zeros_like(m)", "np.full_like(v, 2)", "v == v[::-1]",
    "np.array_equal(v, v)", "np.allclose(m, m * (1 + 1e-9))", "np.convolve(v, v)", "np.cov(m)", "sum(v)",
    "np.diag(v)", "np.triu(m)", "np.tile(v, 2)", "np.repeat(v, 2)", "np.flip(v).copy()",
    "np.array([z * k for k, z in enumerate(v)])", "np.average(v)", "np.nonzero(m)", "np.add.outer(v, v)",
    "np.interp(0.5, np.arange(3), np.abs(v))", "np.round(np.abs(v), 2)", "m.T.copy()",
]  # fmt: skip


@pytest.mark.parametrize("text", ARRAYS)
def test_arrays(text):
    function = define(f"def f(m, v):\n    return {text}\n")
    m = np.array([[1 + 2j, 0.5, -1j], [2 - 1j, 3j, 0.25], [0, 1.5 + 1j, -2]])
    check(function, m, m[0] * 2)
    check(function, m.T, m[:, 1])
    if "linalg" not in text and "cov" not in text:
        check(function, m.astype(np.complex64), m[1].astype(np.complex64))


def test_arrays_without_elements():
    check(define("def f(a):\n    return a * 2j, a.sum(), a.prod(), a.conj(), np.exp(a)\n"), np.zeros(0, complex))


def test_masks_in_a_loop():
    function = define(
        """
        def f(z, c, n):
            counts = np.zeros(z.shape, np.int64)
            for k in range(n):
                inside = np.less(abs(z), 2.0)
                counts[inside] = k
                z[inside] = z[inside] ** 2 + c[inside]
            return counts
        """
    )
    c = np.linspace(-2, 0.5, 6) + 1j * np.linspace(-1, 1, 4)[:, None]
    mine, theirs = np.zeros_like(c), np.zeros_like(c)
    assert close(function(mine, c, 9), ours(function, theirs, c, 9)) and close(mine, theirs)


def test_names_that_change_places():
    function = define(
        """
        def f(u, v, n):
            for t in range(n):
                u[1:-1] = v[1:-1] + 0.1j * (v[2:] - 2 * v[1:-1] + v[:-2])
                u, v = v, u
            return v
        """
    )
    u, v = np.zeros(6, complex), np.arange(6) * (1 + 0.5j)
    check(function, u, v, 3)


def test_records_with_complex_fields():
    function = define(
        """
        def f(p):
            total = 0j
            for i in range(len(p)):
                p[i]["z"] = p[i]["z"] * 2 + p["m"][i]
                total += p[i]["w"]
            return total
        """
    )
    p = np.zeros(3, [("m", "f4"), ("z", "c16"), ("w", "c8")])
    p["z"], p["w"], p["m"] = [1j, 2, 3], [1, 1j, 1 + 1j], 2
    mine, theirs = p.copy(), p.copy()
    assert close(function(mine), ours(function, theirs))
    assert mine.tobytes() == theirs.tobytes()
