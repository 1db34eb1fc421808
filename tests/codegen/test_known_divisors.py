"""Divisions by what is the same in a whole call: by a reciprocal, with Python's results, whatever the numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.scheduled import host_text


def divided(a: Any, n: Any, quotient: Any, remainder: Any) -> None:
    for i in range(len(a)):
        quotient[i] = a[i] // n
        remainder[i] = a[i] % n


def remainders(a: Any, n: Any, remainder: Any) -> None:
    for i in range(len(a)):
        remainder[i] = a[i] % n


def by_elements(a: Any, b: Any, quotient: Any, remainder: Any) -> None:
    """Each number waits for the one before."""
    x = a[0] - a[0]
    for i in range(len(a)):
        x = (x + a[i]) % b[i]
        quotient[i] = (a[i] - x) // b[i]
        remainder[i] = x


def by_sizes(a: Any, quotient: Any, remainder: Any) -> None:
    for i in range(len(a)):
        quotient[i] = a[i] // len(quotient) if a[i] else 7
        remainder[i] = (a[i] - 1) % len(remainder)


EDGES = [0, 1, 5, 2**31, 2**32 - 2, 2**32 - 1, 2**32, 2**32 + 1, 2**40, 2**63 - 1]
DIVISORS = [1, 2, 3, 7, 641, 2**16, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1, 2**32, 2**32 + 1, 2**62 + 1, 2**63 - 1]


@pytest.mark.parametrize("element", [np.int64, np.uint64])
def test_quotients_and_remainders_are_those_of_python(element: Any) -> None:
    both, one = lw.kernel(divided), lw.kernel(remainders)
    rng = np.random.default_rng(5)
    drawn = [int(rng.integers(2**62)) >> int(bits) for bits in rng.integers(0, 62, 200)]
    signs = (1, -1) if element is np.int64 else (1,)
    numbers = [sign * number for number in (*EDGES, *drawn) for sign in signs]
    numbers += [-(2**63)] if element is np.int64 else [2**64 - 1]
    a = np.array(numbers, element)
    for divisor in (sign * by for by in DIVISORS for sign in signs):
        quotient, remainder, again = np.zeros_like(a), np.zeros_like(a), np.zeros_like(a)
        both(a, element(divisor), quotient, remainder)
        one(a, element(divisor), again)
        wrapped = 2**63 if element is np.int64 else 0
        assert quotient.tolist() == [(n // divisor + wrapped) % 2**64 - wrapped for n in numbers]
        assert remainder.tolist() == again.tolist() == [n % divisor for n in numbers]


@pytest.mark.parametrize("element", [np.int64, np.uint64])
def test_by_elements_of_any_sign(element: Any) -> None:
    rng = np.random.default_rng(7)
    values = (
        [*EDGES, *(-n for n in EDGES), -(2**63), *DIVISORS] if element is np.int64 else [*EDGES, *DIVISORS, 2**64 - 1]
    )
    a, b = (np.array([values[k] for k in rng.integers(0, len(values), 4000)], element) for _ in range(2))
    mine, pythons = ([np.zeros_like(a), np.zeros_like(a)] for _ in range(2))
    lw.kernel(by_elements)(a, b, *mine)
    with np.errstate(all="ignore"):
        by_elements(a, b, *pythons)
    for one, other in zip(mine, pythons, strict=True):
        np.testing.assert_array_equal(one, other)


def test_by_zero_as_numpy() -> None:
    a, quotient, remainder = np.array([-3, 0, 5]), np.ones(3, np.int64), np.ones(3, np.int64)
    with np.errstate(all="ignore"):
        lw.kernel(divided)(a, np.int64(0), quotient, remainder)
    assert quotient.tolist() == remainder.tolist() == [0, 0, 0]


@pytest.mark.parametrize("size", [1, 2, 3, 64, 1000])
def test_by_sizes(size: int) -> None:
    a = np.arange(size) - size // 2
    quotient, remainder, right, rest = np.zeros((4, size), np.int64)
    lw.kernel(by_sizes)(a, quotient, remainder)
    by_sizes(a, right, rest)
    assert (quotient == right).all() and (remainder == rest).all()


HEAD = "kernel f(a: int64[1] C, b: int64[1] C, n: int64):\n    var m: int64\n    m = n\n"


@pytest.mark.parametrize(
    ("divisor", "is_known"),
    [("n", True), ("size(a, 0)", True), ("b[i]", False), ("i", False), ("(n + 1)", False)],
)
def test_which_divisors(divisor: str, is_known: bool) -> None:
    text = host_text(f"{HEAD}    for i in 0 .. size(b, 0):\n        b[i] = b[i] // {divisor}\n")
    assert ("lw_known_floordiv_int64(" in text.split("lw_kernel", 1)[1]) == is_known


def test_not_of_products() -> None:
    text = host_text(f"{HEAD}    for i in 0 .. size(b, 0):\n        b[i] = (b[i] * 2654435761) % n\n")
    assert "lw_known_mod_int64(" not in text.split("lw_kernel", 1)[1]


def test_not_by_an_argument_that_changes() -> None:
    text = host_text(f"{HEAD}    for i in 0 .. size(b, 0):\n        b[i] = b[i] // n\n        n = n + 1\n")
    assert "lw_known_floordiv_int64(" not in text.split("lw_kernel", 1)[1]
