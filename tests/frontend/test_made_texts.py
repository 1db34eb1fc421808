"""Texts that the run makes: sums of texts, joined characters; what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, refusal

DIGITS = "0123456789abcdef"


def complement(text, n):
    result = ""
    for c in text:
        if c == "A":
            result += "T"
        elif c == "T":
            result += "A"
        else:
            result = result + c
    return result


def aligned(text, n):
    first, second = "", ""
    i = min(n, len(text))
    while i > 0:
        i -= 1
        if i % 2:
            first = text[i] + first
            second = "-" + second
        else:
            first = "-" + first
            second = text[i] + second
    return first, second


def copies(text, n):
    out = ""
    for i in range(len(text)):
        out = text[i] + out
    kept = out
    out += "!!"
    if kept == "TCGA":
        out += "?"
    return out, kept, len(out), out[-1], out == kept, kept != "x"


def bars(text, n):
    out = ""
    for i in range(n):
        out += "-" * i + "|"
    return out + "=" * n


def in_base(text, n):
    out = ""
    while n > 0:
        out = DIGITS[n % 16] + out
        n //= 16
    return out


def joined(text, n):
    letters = []
    for k in range(n):
        letters.append("ACGT"[k % 4])
    return "".join(letters), ", ".join(letters), "".join(letters[::-1]), len("-".join(letters))


def added(text, c):
    text += c
    return text


def padded(text, n):
    while len(text) < n:
        text = "0" + text
    return text


def by_helpers(text, n):
    s, t = "", ""
    for _ in range(n):
        t = added(s, "x")
        s += "yz"
    return added(s, "1") + added(t, "2") + padded(s, 7), s, t


def turned(text, n):
    a, b = "x", "y"
    for _ in range(min(n, 6)):
        a, b = b, a + b
    return a, b


def searched(text, n):
    met = ""
    for c in text:
        if c not in met:
            met += c
    return met, "A" in met, met[1:n], met[::-1]


def early(text, n):
    result = ""
    for c in text:
        if c == "T":
            return result
        result += c
    return result + "$"


def from_codes(text, n):
    s = ""
    for k in range(n):
        s += chr(k * 9000 + 65)
    return s


FUNCTIONS = [
    complement, aligned, copies, bars, in_base, joined, by_helpers, turned, searched, early, from_codes,
]  # fmt: skip


@pytest.mark.parametrize("device", ["interpreter", "cpu"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_like_python(function, device):
    kernel = lw.kernel(function, device=device)
    for text, n in (("ACGTAA", 5), ("", 0), ("A", 1)):
        assert kernel(text, n) == function(text, n)


def test_what_is_no_character():
    with pytest.raises(ValueError, match="not in range"):
        lw.kernel(define("def f(n):\n    s = ''\n    for k in range(2):\n        s += chr(n)\n    return s\n"))(-1)


REFUSED = {
    "return s < 'b'": "compared with == and != only",
    "pair = (s, n)\n    s += 'b'\n    return pair": "is put into a tuple or a list",
    "rows = []\n    rows.append(s)\n    return rows": "a list of texts that the run makes",
    "return s + str(n / 2)": "a text of a Python float",
    "s += n\n    return s": "is added to a text",
    "return {s: 1}": "",
    "return np.array(s)": "no list of texts",
    "return ord(s)": "ord() takes a character",
}


@pytest.mark.parametrize("body", REFUSED)
def test_refused(body):
    text = f"def f(n):\n    s = ''\n    for k in range(n):\n        s += 'a'\n    {body}\n"
    assert REFUSED[body] in refusal(define(text), 3)


def among_others(a):
    s = ""
    for i in range(a.shape[0]):
        s += chr(a[i])
    n = 0
    for c in s:
        if c in "bY":
            n += 1
        if c not in "abc":
            n += 10
        if c in "b":
            n += 1000
    return n


def test_a_character_of_a_made_text_is_looked_for_in_longer_ones() -> None:
    codes = np.array([98, 89, 99, 120])
    assert lw.kernel(among_others)(codes) == among_others(codes)
