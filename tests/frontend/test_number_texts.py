"""Texts of whole numbers: `str(n)` and f-strings."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, refusal, same


def as_text(n):
    return str(n), len(str(n)), str(n)[0], "7" in str(n), str(n) == "12"


def of_several(n):
    return f"<{n}, {-n}>{n}" + str(3) + f"x{2.5}" + "!"


def joined(n):
    text = ""
    for k in range(3):
        if k > 0:
            text += ","
        text += str(n * k)
    return text


def palindromes(n):
    count = 0
    for k in range(30):
        text = str(k * k + n)
        if text == text[::-1]:
            count += 1
    return count


def by_a_helper(n):
    def label(k):
        return "id" + str(k)

    return label(n) + "/" + label(n // 2)


FUNCTIONS = [as_text, of_several, joined, palindromes, by_a_helper]
NUMBERS = [0, 7, -7, 10, 12, -12, 1234567890123456789, np.int8(-128), np.uint8(200), np.int64(-(2**63))]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_as_python(function):
    for n in NUMBERS[:-4] if function is not as_text else NUMBERS:
        same(function, n)
    if function is palindromes:
        with lw.options(device="emulated"):
            assert lw.kernel(function)(47) == function(47)


def test_with_a_text_and_in_a_message():
    def named(n, name):
        if n > 5:
            raise ValueError(f"bad {n}")
        return f"{name}_{n}"

    kernel = lw.kernel(named)
    assert (kernel(3, "a"), kernel(-3, "bc")) == ("a_3", "bc_-3")
    with pytest.raises(ValueError, match="bad 9"):
        kernel(9, "a")


@pytest.mark.parametrize(("text", "message"), [
    ("str(x)", "a text of a Python float"), ("f'{x:.2f}'", "a format in a text"), ("str(x > 1)", "a Python bool"),
    ("[str(int(x)), 'a']", "list"), ("{str(int(x)): 1}", "key"),
])  # fmt: skip
def test_refused(text, message):
    assert message in refusal(define(f"def f(x):\n    y = {text}\n    return y\n"), 1.5)
