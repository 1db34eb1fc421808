"""Arguments that are long texts, against CPython: one kernel serves all of them."""

from __future__ import annotations

import pytest

import loopwright as lw
from frontend.judge import define
from loopwright.frontend import text_methods
from loopwright.frontend.long_texts import METHODS
from loopwright.ir.long_text import is_long_text

LONG = "ACGTTGCA\u00e9\u20ac" * 130
OTHER = "GGTAC" * 300


def counted(text):
    n = 0
    for k, c in enumerate(text):
        if c == "A":
            n += k
        elif c in "CG":
            n += 10
    d = {}
    for c in text:
        d[ord(c)] = d.get(ord(c), 0) + 1
    return n, len(text), text[3], text[-1], d


def places(text, part):
    hits = []
    for i in range(len(text) - len(part) + 1):
        if text[i : i + len(part)] == part:
            hits.append(i)
    return hits, text.count(part), text.find(part), part in text, "" in text, "GGG" not in text, text in text


def turned(text):
    made = ""
    for c in reversed(text):
        made += c
    return made, text[::-1], text[5:9], text, text.startswith("AC"), text.endswith("C")


def is_a(text, i):
    return text[i] == "A"


def by_helper(a, b):
    n = 0
    for i in range(min(len(a), len(b))):
        n += is_a(a, i) + 2 * is_a(b, i)
    for x, y in zip(a, b, strict=False):
        n += x != y
    return n, a == b, a != b, a == a


@pytest.mark.parametrize("function, more", [(counted, ()), (places, ("TAC",)), (turned, ()), (by_helper, (OTHER,))])
def test_long_texts(function, more):
    kernel = lw.kernel(function)
    for text in (LONG, OTHER, LONG + OTHER):
        assert kernel(text, *more) == function(text, *more)


def test_one_kernel_serves_all_of_them_and_short_ones_are_constants():
    kernel = lw.kernel(counted)
    for text in (LONG, OTHER):
        kernel(text)
    assert len(kernel._expanded) == 1
    assert kernel(LONG[:30]) == counted(LONG[:30])
    assert is_long_text("a" * 1025)
    assert not is_long_text("a" * 1024)


def test_what_only_a_constant_can_do_is_still_done():
    def f(text):
        return text.upper().count("A"), len(text)

    assert lw.kernel(f)(LONG) == f(LONG)


def test_an_index_outside():
    def f(text, k):
        return text[k]

    with pytest.raises(IndexError):
        lw.kernel(f)(LONG, len(LONG))


def test_refused():
    function = define("""
        def f(text):
            text += "x"
            return text
    """)
    with pytest.raises(lw.KernelError, match="is a text of the caller, and is changed here"):
        lw.kernel(function)(LONG)


def test_the_methods_are_those_that_there_are():
    assert set(text_methods._ASKED) == METHODS
