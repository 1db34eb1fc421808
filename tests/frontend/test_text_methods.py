"""Parts of texts between bounds that the run finds, and what is asked of them, against CPython."""

from __future__ import annotations

import pytest

import loopwright as lw
from frontend.judge import define, refusal


def parts(text, i, j):
    t = text[i:j]
    met = 0
    for k in range(len(text) - 1):
        if text[k : k + 2] == "ab":
            met += 1
        for c in text[k : k + 3]:
            met += ord(c)
    return t, t.startswith("ab"), t.endswith("b"), text[::j] == t, len(text[i:]), t[::-1] + "x", t == text[:j], met


def test_parts():
    kernel = lw.kernel(parts, device="interpreter")
    for text, i, j in (("abcab", 0, 2), ("abcab", -3, 99), ("", 4, -1), ("xbab", 2, 4)):
        assert kernel(text, i, j) == parts(text, i, j)
    assert lw.kernel(parts)("abcab", 0, 2) == parts("abcab", 0, 2)


def numbers(text, n):
    found, k = [int("12")], 0
    while k < len(text):
        j = k
        while j < len(text) and text[j] != ",":
            j += 1
        found.append(int(text[k:j]))
        k = j + 1
    return found, int(text[n])


def test_numbers_of_texts():
    kernel = lw.kernel(numbers, device="interpreter")
    assert kernel("7,-020, +3\n,4_1,9223372036854775807", 0) == numbers("7,-020, +3\n,4_1,9223372036854775807", 0)
    for text in ("1a", " ", "1__2", "_1", "1_", "+-2"):
        for one in (numbers, kernel):
            with pytest.raises(ValueError, match="invalid literal"):
                one(text, 0)
    with pytest.raises(OverflowError):
        kernel("9223372036854775808", 0)


def test_refused():
    function = define("def f(s, i):\n    t = s[i:]\n    return t.rfind('a')\n")
    assert "'.rfind()' of a text that is made while the code runs" in refusal(function, "abc", 1)
