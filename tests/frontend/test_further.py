"""Splits, np.einsum, np.select, methods of ufuncs; sets."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, kernel_of, outcome, refusal, same
from frontend.numpy_table import expressions, function_of, judge
from loopwright.ir.interp import interpret

EXPRESSIONS = """
np.array_split(a, 3); np.array_split(a, 4)[1]; np.hsplit(m, 2); np.vsplit(m[:2], 2); np.split(a[:6], 3)
np.split(a, [2, 4]); np.dsplit(c3, 2); np.isscalar(x); np.moveaxis(c3, 0, 2).copy()
np.select([a < 1, a > 2], [a, b], 0.0); np.squeeze(m[:1]); np.squeeze(m[:, :1], axis=1); np.ix_(p2, p2)[0].copy()
m[np.ix_(p2, p2)]; np.add.reduce(a); np.multiply.reduce(a); np.maximum.reduce(a); np.add.accumulate(a)
np.maximum.accumulate(a); np.minimum.accumulate(a); np.add.at(a, i, 1.0); np.subtract.at(a, i, 1.0)
np.maximum.at(a, i, b); np.einsum('ij,jk->ik', q, q); np.einsum('ij,ij->i', q, q); np.einsum('ij', m)
np.einsum('ij->', m); np.einsum('i,j->ij', a, b); np.einsum('ii', q); np.einsum('ijk,k->ij', c3, c3[0, 0])
np.array_split(m, 2, axis=1); np.split(m, 2, axis=1); np.moveaxis(c3, -1, 0).copy(); np.squeeze(c3[:1]); np.isin(i, p)
np.isin(m, a); np.isin(i, [1, 2]); np.intersect1d(i, p); np.union1d(i, p); np.setdiff1d(i, p); np.setxor1d(i, p)
np.unique(i); np.unique(i, return_counts=True); np.unique(i, return_index=True); np.unique(i, return_inverse=True)
np.unique(m)
"""


@pytest.mark.parametrize("text", expressions(EXPRESSIONS))
def test_as_numpy(text):
    judge(text)


def interpreted(function):
    return lambda *given: interpret(kernel_of(function, *given), given)


def test_what_is_wrong_raises():
    for text in ("np.split(a, 3)", "np.squeeze(m, axis=1)", "np.einsum('ij,ij->i', m, q)", "np.add.at(a, p2, b)"):
        function, arguments = function_of(text)
        assert outcome(function, tuple(copy.deepcopy(arguments))) is ValueError
        assert outcome(interpreted(function), tuple(arguments)) is ValueError


def test_what_a_method_of_a_ufunc_is_given_by_place():
    function = define("def f(m, a):\n    np.add.reduce(m, 0, None, a)\n")
    assert "takes an array and an axis" in refusal(function, np.ones((2, 3)), np.zeros(3))


def numbers_in(data):
    words = np.frombuffer(data, np.uint32)
    bytes_again = np.frombuffer(words, dtype=np.uint8)
    total = 0
    for one in words:
        total += int(one)
    return total, words[1:].copy(), np.frombuffer(bytes_again.reshape(4, -1).T.flatten(), dtype=np.uint16)


def written_through(a):
    numbers = np.frombuffer(a)
    numbers[0] = 7.0
    return numbers[1], a[0]


def test_frombuffer():
    for data in (b"0123456789ab\xff\x00\xfe\x80", b"abcd"):
        found, expected = lw.kernel(numbers_in)(data), numbers_in(data)
        assert found[0] == expected[0]
        assert [one.tolist() for one in found[1:]] == [one.tolist() for one in expected[1:]]
    same(numbers_in, np.arange(3.0))
    same(written_through, np.ones(3))
    other = define("def f(a):\n    bits = np.frombuffer(a, np.int64)\n    bits[0] = 0\n    return a[0]\n")
    assert "give a copy here" in refusal(other, np.ones(3))
    with pytest.raises(ValueError):
        lw.kernel(define("def f(b):\n    return np.frombuffer(b, np.uint32)\n"))(b"abc")
    assert "takes bytes or an array" in refusal(define("def f():\n    return np.frombuffer()\n"))
