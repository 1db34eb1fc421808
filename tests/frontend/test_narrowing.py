"""Stores of NumPy numbers that do not fit: what Python raises where the options ask for it, and else they wrap.

NumPy's rule for one element: a NumPy number goes into a signed integer type as its `int()` does, so that it must fit;
into an unsigned type it wraps. Python numbers raise under all options.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import alike, define, outcome
from loopwright.analysis.analyse import analyse
from loopwright.frontend.capture import capture
from loopwright.frontend.lower import lower
from loopwright.ir.interp import interpret
from loopwright.ir.nodes import Checked, Kernel
from loopwright.ir.simplify import simplify
from loopwright.ir.text import print_kernel
from loopwright.ir.types import ALL
from loopwright.ir.walk import expressions
from loopwright.runtime.specialise import signature_of

RAISING = [{"strict": True}, {"checks": "all"}, {"narrowing": "raise"}]
DEVICES = ["cpu", "interpreter", "emulated"]
INTEGERS = [kind.name for kind in ALL if kind.is_integer]
FLOATS = [0.0, -0.0, -0.5, -1.0, 127.9, 128.0, -128.9, -129.0, 300.7, 2.0**31, -(2.0**31) - 1, 2.0**62, 2.0**63,
          2.0**64, -(2.0**63), -(2.0**64), 1e30, -1e30, math.inf, -math.inf, math.nan]  # fmt: skip


def narrow(a, b):
    for i in range(len(b)):
        a[i] = b[i]


def given(kind: str) -> list[np.generic]:
    """Numbers of a type at its ends, at those of the narrower types, and between."""
    dtype = np.dtype(kind)
    if dtype.kind == "b":
        return [np.False_, np.True_]
    if dtype.kind == "f":
        with np.errstate(all="ignore"):
            return [dtype.type(x) for x in FLOATS]
    info = np.iinfo(dtype)
    ends = {
        end + by for bits in (0, 7, 8, 15, 16, 31, 32, 63, 64) for end in (2**bits, -(2**bits)) for by in (-1, 0, 1)
    }
    return [dtype.type(x) for x in sorted(ends) if info.min <= x <= info.max]


def kernel_of(function, *arguments: object, raises: bool = True) -> Kernel:
    source = capture(function)
    names = [parameter.name for parameter in source.parameters]
    return lower(source, signature_of(arguments, [0], names), narrowing_raises=raises).kernel


@pytest.mark.parametrize("to", [kind.name for kind in ALL])
def test_each_type_into_each_type_as_python_does(to):
    for kind in ALL:
        kernel = kernel_of(narrow, np.zeros(1, to), np.zeros(1, kind.name))
        for x in given(kind.name):
            if np.dtype(to).kind == "u" and kind.is_float and not -1.0 < float(x) <= np.iinfo(to).max:
                continue  # NumPy leaves it to C, where it is undefined
            own, ours, b = np.zeros(1, to), np.zeros(1, to), np.array([x])
            expected = outcome(narrow, (own, b))
            found = outcome(lambda *arguments, kernel=kernel: interpret(kernel, arguments), (ours, b))
            assert alike(expected, found), f"{x!r} into {to}: Python {expected!r}, here {found!r}"
            assert alike(own, ours), f"{x!r} into {to}: Python {own}, here {ours}"


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("options", RAISING, ids=str)
def test_a_narrowing_store_raises_what_python_raises(device, options):
    kernel = lw.kernel(narrow)
    with lw.options(device=device, **options):
        for b, to, error, what in (
            (np.array([5, 300]), np.int8, OverflowError, "Python integer 300 out of bounds for int8"),
            (np.array([5, -129], np.int16), np.int8, OverflowError, "Python integer -129 out of bounds for int8"),
            (np.array([5, 2**64 - 1], np.uint64), np.int64, OverflowError, f"Python integer {2**64 - 1} out of bounds"),
            (np.array([5, math.nan]), np.int32, ValueError, "cannot convert float NaN to integer"),
            (np.array([5, -math.inf], np.float32), np.int32, OverflowError, "cannot convert float infinity to integer"),
            (np.array([5, 1e300]), np.int64, OverflowError, "float 1e\\+300 out of bounds for int64"),
        ):
            with pytest.raises(error):
                narrow(np.zeros(2, to), b)
            a = np.zeros(2, to)
            line = narrow.__code__.co_firstlineno + 2
            with pytest.raises(error, match=f"test_narrowing.py:{line}:16: {what}") as told:
                kernel(a, b)
            assert a[1] == 0, "what does not fit is not written"
            assert "a[i] = b[i]\n      |                ^^^^" in str(told.value)


@pytest.mark.parametrize("device", DEVICES)
def test_a_narrowing_store_wraps_by_default(device):
    kernel = lw.kernel(narrow)
    for options in ({}, {"strict": True, "narrowing": "wrap"}, {"checks": "all", "narrowing": "wrap"}):
        with lw.options(device=device, **options):
            a = np.zeros(3, np.int8)
            kernel(a, np.array([300, -129, 2**40 + 7]))
            assert a.tolist() == [44, 127, 7]


def test_options_of_one_call_say_nothing_of_the_next_one():
    kernel, b = lw.kernel(narrow), np.array([300])
    for options, raises in (({}, False), ({"strict": True}, True), ({}, False), ({"checks": "all"}, True), ({}, False)):
        with lw.options(**options):
            if raises:
                with pytest.raises(OverflowError):
                    kernel(np.zeros(1, np.int8), b)
            else:
                kernel(np.zeros(1, np.int8), b)


@pytest.mark.parametrize("options", [{}, {"strict": True}], ids=str)
def test_code_that_checks_every_index_means_the_same_by_its_stores(options):
    """The condition on the sizes fails, and with a branch it is not certain that an access does."""
    text = "def f(a, b, n):\n    for i in range(n):\n        if b[i] != 0:\n            a[i] = b[i]\n"
    kernel = lw.kernel(define(text, "careful.py"))
    a, b = np.zeros(2, np.int8), np.array([300, 300, 0, 0])
    with lw.options(**options):
        if options:
            with pytest.raises(OverflowError):
                kernel(a, b, 4)
        else:
            kernel(a, b, 4)  # `a` is too short for n, but nothing is written there
            assert a.tolist() == [44, 44]


def test_stores_that_always_fit_have_no_check():
    for to, kind in itertools.product(INTEGERS, INTEGERS):
        kernel = kernel_of(narrow, np.zeros(1, to), np.zeros(1, kind))
        a, b = np.iinfo(to), np.iinfo(kind)
        needed = a.min < 0 and not a.min <= b.min <= b.max <= a.max
        assert ("overflow" in print_kernel(kernel)) == needed, (kind, to)
    assert "checked" not in print_kernel(kernel_of(narrow, np.zeros(1), np.zeros(1, np.int64)))


@pytest.mark.parametrize(
    ("stored", "verdict"),
    [("b[i] % 100", "proven"), ("np.int64(i % 100)", "proven"), ("b[i] & 63", "proven"), ("b[i]", "checked")],
)
def test_a_store_that_is_proven_to_fit_costs_nothing(stored, verdict):
    function = define(f"def f(a, b):\n    for i in range(len(a)):\n        a[i] = {stored}\n", "proven.py")
    kernel = simplify(kernel_of(function, np.zeros(1, np.int8), np.zeros(1, np.int64)))
    facts = analyse(kernel)
    checks = [facts.bounds_of(part)[0].kind for part in expressions(kernel.body) if isinstance(part, Checked)]
    assert checks == [verdict]


def test_a_loop_that_may_raise_is_parallel_all_the_same():
    kernel = lw.kernel(narrow)
    a, b = np.zeros(1000, np.int8), np.arange(1000) % 128
    with lw.options(strict=True):
        loops = kernel.explain(a, b).to_dict()["loops"]
        assert loops[0]["verdict"] == "parallel"


def test_augmented_stores_of_a_narrow_array():
    def add(a, b):
        for i in range(len(b)):
            a[i] += b[i]

    kernel = lw.kernel(add)
    a, b = np.array([100, 100], np.int8), np.array([27, 28])
    own = a.copy()
    with pytest.raises(OverflowError):
        add(own, b)
    with lw.options(strict=True), pytest.raises(OverflowError, match="128 out of bounds for int8"):
        kernel(a, b)
    assert a.tolist() == own.tolist() == [127, 100]
