"""How the types of variables grow from round to round, and are tried narrower."""

from __future__ import annotations

import numpy as np

from frontend.judge import define, kernel_of, refusal
from loopwright.frontend import infer
from loopwright.frontend.infer import Types
from loopwright.frontend.promote import WEAK_FLOAT, WEAK_INT, NumberType
from loopwright.ir.types import FLOAT32, INT64, UINT64

SINGLE = NumberType(FLOAT32, weak=False)
KEY = ("x",)


def test_types_grow_until_an_assignment_changes_nothing():
    types = Types()
    types.begin()
    assert types.of(KEY) is None
    assert types.assign(KEY, WEAK_INT) == WEAK_INT
    assert types.assign(KEY, WEAK_FLOAT) == WEAK_FLOAT
    assert not types.are_settled()
    types.begin()
    assert types.assign(KEY, WEAK_INT) == WEAK_FLOAT
    types.assign(KEY, WEAK_FLOAT)
    assert types.are_settled()


def test_a_type_that_no_assignment_needs_any_more_is_given_up():
    types = Types()
    types.begin()
    types.assign(KEY, WEAK_INT)
    types.assign(KEY, WEAK_FLOAT)
    assert not types.are_settled()
    types.begin()
    types.assign(KEY, SINGLE)
    assert not types.are_settled()
    types.begin()
    types.assign(KEY, SINGLE)
    assert types.of(KEY) == SINGLE
    assert types.are_settled()


def test_what_has_no_type_in_common():
    types = Types()
    types.begin()
    types.assign(KEY, NumberType(INT64, weak=False))
    assert types.assign(KEY, NumberType(UINT64, weak=False)) is None
    assert types.assign(KEY, 2) is None
    types.assign(("pair",), 2)
    assert types.assign(("pair",), 2) == 2
    assert types.assign(("pair",), 3) is None


def test_trials_end():
    types = Types()
    for number in range(20):
        types.begin()
        types.assign(KEY if number % 2 else ("y",), WEAK_INT)
        if types.are_settled():
            break
    assert types.are_settled()


def test_the_root_of_a_number_that_becomes_single():
    function = define("""
        def f(a, out):
            x = 0
            for i in range(len(a)):
                y = np.sqrt(x)
                out[i] = y + a[i]
                x = x + a[i]
            return y
        """)
    kernel = kernel_of(function, np.zeros(3, np.float32), np.zeros(3))
    assert [part.type for part in kernel.returned] == [FLOAT32]


def test_constants_beyond_int64_beside_unsigned_numbers():
    function = define("""
        def f(a):
            h = 0xCBF29CE484222325
            for i in range(len(a)):
                h = (h ^ a[i]) * 0x100000001B3
            return h
        """)
    from frontend.judge import same

    same(function, np.arange(5, dtype=np.uint64))


def test_types_that_grow_without_end_are_refused(monkeypatch):
    monkeypatch.setattr(infer, "_MOST_ROUNDS", 1)
    assert "the types of its variables are not found" in refusal(
        define("def f(a):\n    x = 0\n    x += a[0]\n"), np.ones(1)
    )
