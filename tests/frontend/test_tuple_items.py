"""`tuple(...)` of comprehensions and of what can be gone over, against CPython."""

from __future__ import annotations

import numpy as np
import pytest

from frontend.judge import define, refusal, same


def without_axis(a):
    rest = tuple(n for k, n in enumerate(a.shape) if k != 1)
    lower = tuple([n - 1 for n in a.shape])
    return np.zeros(rest).shape, a[lower], rest, lower


def with_another_item(a, place, value):
    changed = tuple(value if k == place else n for k, n in enumerate(a.shape))
    return changed, tuple(range(3)), tuple(float(x) * 0.5 for x in (1, 2)), tuple("abc")[1] == "b", tuple()


def of_changing_values(a):
    total = 0.0
    kept = tuple(total + x for x in (a[0], a[1]))
    a[0] = 7.0
    total += 1.0
    return kept, (total, a[0])


def test_tuples_of_what_is_gone_over():
    same(without_axis, np.arange(60.0).reshape(3, 4, 5))
    for place in range(3):
        same(with_another_item, np.zeros((3, 4, 5)), place, 9)
    same(of_changing_values, np.arange(3.0))


@pytest.mark.parametrize(("text", "message"), [
    ("tuple(a)", "the length of this tuple is only known when the code runs"),
    ("tuple(x for x in a)", "the length of this tuple is only known when the code runs"),
    ("tuple(x for x in (1, 2) if x > n)", "which items this tuple has must be known at compile time"),
    ("tuple(x for x in range(99))", "the length of this tuple is 99"),
    ("tuple(x + y for x in (1, 2) for y in (1, 2))", "a comprehension in tuple() has one 'for' here"),
])  # fmt: skip
def test_refused(text, message):
    assert message in refusal(define(f"def f(a, n):\n    return {text}\n"), np.zeros(3), 1)
