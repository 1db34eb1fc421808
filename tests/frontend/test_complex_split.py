"""Complex numbers become pairs of reals: which variables, arrays and statements there are then, and in which order."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, kernel_of, refusal, same, same_made, same_value, text_of

C128, C64 = np.ones(4, complex), np.ones((3, 4), np.complex64)


def lines_of(text, *arguments):
    """The statements of the kernel, without their indentation."""
    return [line.strip() for line in text_of(define(text), *arguments).splitlines()]


def test_an_argument_is_seen_as_pairs():
    (param,) = kernel_of(define("def f(a):\n    a[0, 0] = 1j\n"), C64).params
    assert (param.element.name, param.rank, param.layout, param.tail, param.is_pairs) == (
        "float32", 3, "C", ((2, 4),), True,
    )  # fmt: skip
    layouts = ((C64.T, "strided", False), (C64[:, ::2], "strided", False), (C64[:, 1:], "last", True))
    for array, layout, is_pairs in layouts:
        (param,) = kernel_of(define("def f(a):\n    a[0, 0] = 1j\n"), array).params
        assert (param.layout, param.is_pairs) == (layout, is_pairs)


def test_each_part_is_stored_on_its_own():
    found = lines_of("def f(a, b):\n    for i in range(len(a)):\n        a[i] += b[i] * 2j\n", C128, C128.copy())
    assert found[-2].startswith("a[i, 0] = a[i, 0] + ") and found[-1].startswith("a[i, 1] = a[i, 1] + ")


def test_what_is_read_of_the_place_itself_is_read_first():
    found = lines_of("def f(a):\n    for i in range(len(a)):\n        a[i] = a[i] * a[i]\n", C128)
    assert found[-3:] == [
        "a.imag = a[i, 0] * a[i, 1] + a[i, 1] * a[i, 0]", "a[i, 0] = a[i, 0] * a[i, 0] - a[i, 1] * a[i, 1]",
        "a[i, 1] = a.imag",
    ]  # fmt: skip


def test_both_parts_of_a_variable_are_of_the_old_value():
    found = lines_of("def f(c, n):\n    z = c[0]\n    for i in range(n):\n        z = z * z\n    c[1] = z\n", C128, 3)
    at = found.index("z.real.new = z.real * z.real - z.imag * z.imag")
    assert found[at + 1 : at + 3] == ["z.imag = z.real * z.imag + z.imag * z.real", "z.real = z.real.new"]
    turned = lines_of("def f(c, n):\n    z = c[0]\n    for i in range(n):\n        z = z * 1j\n    c[1] = z\n", C128, 3)
    assert any(line.startswith("z.real.new = ") for line in turned)


def test_names_do_not_meet():
    function = define(
        """
        def f(a, p):
            z = a[0]
            z.real
            for i in range(len(a)):
                z = z * a[i] + p["real"][i]
            return z
        """
    )
    p = np.zeros(4, [("real", "f8")])
    same(function, C128 * 1j, p)


def test_aliases_and_overlaps():
    function = define(
        """
        def f(a, b):
            for i in range(len(a)):
                a[i] = a[i] * b[i] + 1j
            b[:] = a[::-1] * 2
            return a.sum()
        """
    )

    def shifted():
        whole = np.arange(6) + 1j * np.arange(6, 0, -1)
        return whole[:5], whole[1:]

    def itself():
        whole = np.arange(4) * (1 - 1j)
        return whole, whole

    def parts():
        whole = np.arange(4) * (1 - 1j)
        return whole, whole.view(float)[1:5]

    for make in (shifted, itself, lambda: (itself()[0], itself()[1][::-1])):
        same_made(function, make)
    same_made(define("def f(a, b):\n    for i in range(len(a)):\n        a[i] = a[i] * b[i]\n"), parts)


def test_choices_evaluate_what_they_choose():
    function = define(
        """
        def f(a, i):
            z = a[i] if i < len(a) else -1j
            w = a[i] * 2 if i < len(a) else z
            inside = i < len(a) and a[i] == 1
            return z + 0, w + 0, inside
        """
    )
    same(function, C128, 1)
    same_value(function, C128, 9)


def test_results_are_complex_arrays():
    function = define(
        "def f(a, n):\n"
        "    b = np.zeros((n, 2), np.complex64)\n"
        "    b[:, 1] = 2j\n"
        "    return a, b, (a * 1j, [1j, n]), a[a.real > 0]\n"
    )
    a = np.array([1 + 1j, -2, 3])
    for device in ("interpreter", "cpu"):
        with lw.options(device=device):
            found = lw.kernel(function)(a, 3)
        expected = function(a, 3)
        assert found[0] is a and found[1].dtype == np.complex64 and (found[1] == expected[1]).all()
        assert (found[2][0] == expected[2][0]).all() and found[2][1] == [1j, 3] and type(found[2][1][0]) is complex
        assert found[3].shape == (2,) and (found[3] == expected[3]).all()
        assert found[1].flags.writeable and found[1].flags.c_contiguous


def test_a_local_that_may_have_no_value():
    function = define("def f(a):\n    for z in a:\n        w = z * 2\n    return w\n")
    assert same(function, C128[:0]) is UnboundLocalError


@pytest.mark.parametrize("kind", [complex, np.complex64, np.complex128])
def test_scalar_arguments_by_ctypes_and_the_extension(kind):
    def scaled(z, a, w=1j):
        total = z * 0
        for x in a:
            total += z * x - w
        return total, z

    kernel = lw.kernel(scaled)
    expected = scaled(kind(1 + 2j), C128)
    for _ in range(2):
        found = kernel(kind(1 + 2j), C128)
        assert np.allclose(found, expected) and list(map(type, found)) == list(map(type, expected))


def test_what_has_no_meaning_is_found_at_its_line():
    text = refusal(define("def f(a):\n    b = a * 2\n    return np.maximum(b, a)\n"), C128)
    assert "example.py:3:" in text and "complex numbers" in text
