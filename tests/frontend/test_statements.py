"""Statements against CPython: assignment in all its forms, branches, early exits, nested functions."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, refusal, same, text_of

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]


def numbers(dtype: str = "float64", size: int = 6) -> np.ndarray:
    return np.array([3, 1, 0, 4, 1, 5][:size]).astype(dtype)


def accumulate(a):
    total = 0
    for i in range(len(a)):
        total += a[i]
    return total


def accumulate_float(a):
    total = 0.0
    for i in range(len(a)):
        total = total + a[i]
    return total


def running(a, out):
    carried = a[0]
    for i in range(1, len(a)):
        carried = a[i] * a[0]
        out[i] = carried
    return carried


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", [accumulate, accumulate_float])
def test_accumulators_of_every_type(function, dtype):
    if dtype == "bool":
        return  # 0 + np.True_ is an int64, then sums of int64
    same(function, numbers(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("out", ["int8", "int64", "uint16", "float32", "bool"])
def test_stores_convert_as_numpy(dtype, out):
    same(running, numbers(dtype), np.zeros(6, out))


def swaps(a, i, j):
    a[i], a[j] = a[j], a[i]
    x, y = a[0], a[1]
    x, y = y, x
    x, y, z = y + 1, x, x + y
    i, a[i] = j, x
    return x, y, z, i


def test_swaps_and_tuples():
    same(swaps, numbers(), 0, 3)
    same(swaps, numbers("int8"), -1, 2)


def chained(a):
    x = y = a[0] = a[1] + 1
    (u, v), w = (x, y), 3
    [p, q] = u, v
    return x, y, u, v, w, p, q


def test_chained_and_nested_targets():
    same(chained, numbers())


def augmented(a, k):
    a[k] += 2
    a[k + 1] -= a[k]
    a[-1] *= 3
    a[0] /= 2
    x = 7
    x //= 2
    x **= 2
    x <<= 3
    x |= 5
    x ^= 1
    x &= 60
    x >>= 1
    x %= 13
    y = 1.5
    y -= x
    return x, y


def test_augmented_assignment():
    same(augmented, numbers(), 1)
    same(augmented, numbers("int32"), 2)


def histogram(h, which):
    for i in range(len(which)):
        h[which[i]] += 1


def test_scatter_reads_and_writes_one_element():
    same(histogram, np.zeros(6, np.int32), numbers("uint8"))
    text = text_of(histogram, np.zeros(6, np.int32), numbers("int64"))
    assert "h[which[i]] = h[which[i]] + 1i32" in text


def branches(a, out):
    for i in range(len(a)):
        if a[i] > 3:
            kind = 1
        elif a[i] > 0:
            kind = 2
            if a[i] == 1:
                kind = 3
        else:
            kind = -1
        out[i] = kind


def test_branches():
    same(branches, numbers(), np.zeros(6, np.int16))


def early(a, limit):
    for i in range(a.shape[0]):
        if a[i] > limit:
            return i
    return -1


def test_return_from_a_loop():
    same(early, numbers(), 3)
    same(early, numbers(), 9)


def nothing(a):
    if a[0] > 3:
        return
    a[0] = 7


def test_return_of_nothing():
    same(nothing, numbers())
    same(nothing, numbers() + 3)


def annotated(n: int) -> float:
    """A docstring."""
    x: float = 1.5
    y: float
    "a bare string"
    y = x * n
    return y


def test_annotations_and_docstrings_say_nothing():
    same(annotated, 3)


def reused(a):
    t = 3
    a[0] = t
    t = a[1] * 0.5
    a[2] = t
    for t in range(2):
        a[t] += t
    t = a[0] > 1
    return t, a[1]


def test_a_reused_name_is_several_variables():
    same(reused, numbers())
    same(reused, numbers("float32"))


def joined(a, flag):
    if flag:
        x = 1
    else:
        x = a[0]
    if a[1] > 0:
        y = x
    else:
        y = 2
    return y


@pytest.mark.parametrize("dtype", ["int64", "float64", "float32"])
def test_a_variable_has_the_type_that_all_its_values_have(dtype):
    value = same(joined, numbers(dtype), False)
    assert isinstance(value, np.generic)


def maybe(a, n):
    for i in range(n):
        if a[i] > 3:
            found = i
    return found


def test_unassigned_is_seen_when_it_happens():
    same(maybe, numbers(), 6)
    assert same(maybe, numbers(), 2) is UnboundLocalError


def maybe_tuple(a, n):
    for i in range(n):
        if a[i] > 3:
            pair = a[i], i
    return pair[0] + pair[1]


def test_unassigned_tuple():
    same(maybe_tuple, numbers(), 6)
    assert same(maybe_tuple, numbers(), 2) is UnboundLocalError


def tuples(a):
    position = (0, 1)
    for i in range(len(a)):
        position = (position[1], position[0] + i)
    best, where = position
    best += 1
    position += (3,)
    return best, where, len(position), position[2], position[-1]


def test_tuples_as_variables():
    same(tuples, numbers())


def nested(a, scale):
    offset = 2

    def inner(x, power=2):
        def innermost(y):
            return y + offset

        return innermost(x) ** power * scale

    total = 0.0
    for i in range(len(a)):
        offset = i
        total += inner(a[i]) + inner(x=a[i], power=1)
    return total


def test_nested_functions_see_the_variables_around_them():
    same(nested, numbers(), 3)
    same(nested, numbers("float32"), 0.5)


def walrus(a):
    count = 0
    i = 0
    while (x := a[i]) > 0:
        count += x * i
        i += 1
    if (y := count) > 3 and (z := y + 1) > 2:
        count = z
    return count


def test_walrus():
    same(walrus, numbers())


def two_failures(a, b, n, k):
    a[k // n] = b[k]


def test_the_value_fails_before_the_index():
    assert same(two_failures, numbers(), numbers(), 0, 9) is IndexError
    assert same(two_failures, numbers(), numbers(), 0, 1) is ZeroDivisionError


def augmented_by_a_call(a, which):
    def bump(k):
        if a[k] > 3:
            return 1
        which[0] = k
        return a[k] + 1

    for i in range(3):
        a[which[i]] += bump(i) * bump(i + 1)
        a[which[0] // (i + 1)] -= bump(i)


def test_augmented_elements_whose_value_needs_statements():
    same(augmented_by_a_call, numbers(), np.array([2, 1, 0, 3]))
    same(augmented_by_a_call, numbers("int16"), np.array([2, 1, 0, 3], np.uint64))


def constant_operands():
    x = np.int16(5) or 6
    y = np.int32(0) and 2.5
    z = np.float64(0.0) or 3
    return x, y, z, not np.int8(0)


def test_known_numpy_numbers_as_conditions():
    same(constant_operands)


def unreachable(a):
    while True:
        a[0] += 1
        if a[0] > 10:
            return a[0]
        continue
        a[0] = undefined  # noqa: F821
    return 5


def test_what_cannot_be_reached_is_not_read():
    same(unreachable, numbers())


def rest_of_tuples(t, a, n):
    first, *rest = t
    *before, last = a[0], a[1], n
    (p, *q), r = (n, a[0], a[1]), n + 1
    for value in q:
        p += value
    return first, rest, len(rest), before[1] * last, p * r


def test_the_rest_of_a_tuple():
    same(rest_of_tuples, (1, 2.0, 3), np.array([1.5, 2.5]), 4)
    told = refusal(define("def f(a):\n    x, *y = a\n    return x\n", "rest.py"), np.zeros(3))
    assert "'*' before a name takes the rest of a tuple" in told


def another_name_is_updated(a, out):
    rest = a
    for i in range(len(out)):
        out[i] = rest // 2
        rest %= 2
    return out


def a_number_first(a, n):
    x = 0.0
    for i in range(n):
        x += a[i]
    if x > 3.0:
        x = a
        x += 1.0
    return x


def test_updates_in_place_under_another_name():
    same(another_name_is_updated, np.arange(5), np.zeros((3, 5), np.int64))
    same(a_number_first, np.arange(5.0), 2)
    same(a_number_first, np.arange(5.0), 4)


def test_a_bool_of_python_bounds_a_range():
    def f(a, flag):
        for i in range(flag, len(a)):
            a[i] += 1
        return a[flag:].sum()

    same(f, np.arange(4), True)
    same(f, np.arange(4), False)


def test_what_a_method_is_called_on_is_evaluated_once():
    def f(x, k):
        stack = [3, 2, 1]
        rows = x[np.arange(stack.pop(), 4)].copy()
        np.random.seed(k)
        drawn = x[np.random.permutation(len(x))[:k]].copy()
        return rows, len(stack), drawn, np.random.random()

    state = np.random.get_state()
    found = lw.kernel(f)(np.arange(15.0).reshape(5, 3), 3)
    expected = f(np.arange(15.0).reshape(5, 3), 3)
    np.random.set_state(state)
    assert all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True))


LIMIT = 3.0


def with_names_that_are_only_read(a, by):
    global LIMIT

    def moved(x):
        nonlocal by
        return x * by + LIMIT

    return moved(a[0]) + moved(a[1]), LIMIT


def test_global_and_nonlocal_say_nothing_of_names_that_are_only_read():
    same(with_names_that_are_only_read, np.array([1.0, 2.0]), 0.5)
    for text in (
        "def f(a):\n    global q\n    q = 1\n    a[0] = q\n",
        "def f(a):\n    global q\n    for q in range(3):\n        a[0] = q\n",
        "def f(a):\n    global q\n    def q(x):\n        return x\n    a[0] = q(1)\n",
    ):  # fmt: skip
        assert "is outside the language" in refusal(define(text), np.ones(2))
