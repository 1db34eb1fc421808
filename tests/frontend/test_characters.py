"""Texts as sequences of characters, against CPython."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import alike, define, refusal, same

SEQUENCES = ["ACGTN", "GATTACAnnxyzé☃GT", "A", "$MKRT$AA$", "", "GGGGGGGGG", "a\x00b\U0001f600cdefghi"]


def next_stop(seq, stop="$"):
    out = np.zeros(len(seq), np.int64)
    last = len(seq) - 1
    for i in range(len(seq) - 1, -1, -1):
        if seq[i] == stop:
            last = i
        else:
            out[i] = last
    return out


def scored(seq, first):
    n = 0
    codes = [n]
    for k, c in enumerate(seq):
        if c in "ACGT":
            n += k
        elif c == "N" or c > "a" or c <= "$":
            n -= 1
        if c != "AB" and c not in "xyz":
            codes.append(ord(c))
        n += 10 * (c == first) + 3 * (c == "A") + len(c)
    for c, e in zip(seq, seq[1:]):  # noqa: B905, RUF007
        if c < e:
            n += 100
        if c == e:
            n += 7
    return n, codes, "A" in seq, "GT" in seq, "" in seq


@pytest.mark.parametrize("text", SEQUENCES)
def test_characters(text):
    if text:
        same(next_stop, text, "$")
    same(scored, text, "G")
    same(scored, text, "☃")


def test_an_index_is_pythons():
    function = define("def f(text, i):\n    return ord(text[i]), text[i] == text[-i]\n")
    for i in (0, 3, -3, -4, 4, -5):
        same(function, "abcd", i)


def test_what_is_known_of_a_text():
    function = define("""
        def f(mode, n):
            if mode.lower() == "sum" or mode.startswith("S") and "um" in mode[1:]:
                n += len(mode[:2]) + ord("a") + mode.count("u") + int(mode < "T") + int(mode >= mode)
            if chr(65) + "" if False else mode.upper()[-1] == "M":
                n *= 2
            return n
        """)
    for mode in ("Sum", "SUM", "mean", "Sxum"):
        same(function, mode, 3)


def test_on_every_device():
    for device in ("emulated", "interpreter"):
        with lw.options(device=device):
            for text in ("GATTACAnnxyzé☃GT", "$MKRT$AA$"):
                assert alike(lw.kernel(next_stop)(text), next_stop(text))


@pytest.mark.parametrize(("body", "message"), [
    ("return text[9]", "out of range for a text of 4"), ("return ord(text)", "ord() takes a character"),
    ("return text.find(text[i])", "takes what is known"),
    ("return text[i] < 'ab'", "equality only"), ("return {text[i]: 1}", ""),
    ("return text[i] + 1", ""), ("return chr(0.5)", "a constant code"),
])  # fmt: skip
def test_refused(body, message):
    assert message in refusal(define(f"def f(text, i):\n    {body}\n"), "abcd", 2)


def test_a_long_text_is_no_table():
    function = define("def f(text, i):\n    return text[i] == 'a'\n")
    assert "np.frombuffer" in refusal(function, "a" * 1025, 3)
    same(define("def f(text):\n    return len(text), text[1024] == 'a', text[-1] == 'b'\n"), "a" * 1025)


def test_a_text_without_characters():
    """In a loop that never runs nothing is asked of it; else it is an IndexError, as in Python."""
    function = define("""
        def f(text, n):
            count = 0
            for i in range(n):
                if text[i] == "a":
                    count += 1
            return count, len(text)
        """)
    for device in ("auto", "interpreter", "emulated"):
        with lw.options(device=device):
            same(function, "", 0)
            with pytest.raises(IndexError, match="out of bounds"):
                lw.kernel(function)("", 2)


def test_a_character_is_given_another_name_and_returned():
    function = define("""
        def f(text, i):
            last = text[0]
            for c in text:
                last = c
            return last, text[i], last > "a"
    """)
    for i in (0, -1, 2):
        assert lw.kernel(function)("abcd", i) == function("abcd", i)


def kinds(text):
    counts, low, up = [0] * 6, "", ""
    for i in range(len(text)):
        c = text[i]
        tests = (c.isupper(), c.islower(), c.isdigit(), c.isspace(), c.isalpha(), c.isalnum())
        for k in range(6):
            counts[k] += tests[k]
        low += c.lower()
        up = c.upper() + up
        if text[i].isupper() and not text[i - 1].isupper():
            counts[0] += 100
    return counts, low, up


def test_methods_of_characters_that_the_run_finds():
    for text in ("aB c9é½²ÀÿµT\tx", "", "Zz_"):
        same(kinds, text)
    upper = define("def f(text, i):\n    return text[i].upper()\n")
    with pytest.raises(ValueError, match="becomes several ones"):
        lw.kernel(upper)("aß", 1)
    with pytest.raises(ValueError, match="know those up to"):
        lw.kernel(upper)("aа", 1)
    text = "def f(k):\n    return ('ab', 'c', 'd')[k].isupper()\n"
    assert "of a text that the run chooses" in refusal(define(text), 2)
