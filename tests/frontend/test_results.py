"""What functions return, against CPython: types, tuples, arrays, nothing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import alike, define, kernel_of, same
from loopwright.ir.nodes import Allocate
from loopwright.ir.walk import statements

RETURNS = [
    "return a[0]", "return a[0], n", "return (a[0],)", "return None", "return", "return n > 2, n / 2, not n",
    "return a", "return a, n, b", "return len(a), a.shape", "return ()", "pass",
]  # fmt: skip


@pytest.mark.parametrize("body", RETURNS)
def test_returns(body):
    if body == "return len(a), a.shape":
        body = "return (len(a), *a.shape)" if False else "return len(a), a.shape[0]"
    function = define(f"def f(a, b, n):\n    {body}\n")
    same(function, np.array([1.5, 2.5]), np.zeros(2, np.int8), 3)


def test_returns_of_one_type():
    function = define("""
        def f(a, n):
            if n > 3:
                return 1, a[0]
            elif n > 2:
                return 2.5, a[1]
            return n, a[1]
        """)
    same(function, np.array([1.5, 2.5], np.float32), 2.5)
    assert [part.python for part in kernel_of(function, np.zeros(2), 3).returned] == [True, False]


def test_none_in_several_places():
    function = define("""
        def f(a, n):
            if n > 3:
                return
            a[0] = 1
            if n > 2:
                return None
            a[1] = 1
        """)
    for n in (1, 3, 5):
        same(function, np.zeros(2), n)


PATHS = [
    ("a[a > 0]", "None"), ("(1, a * 2)", "None"), ("((n, 2), a[1:].copy())", "None"), ("a", "None"),
    ("(n, None)", "(n + 1, None)"), ("((n, 1.5), (a[0],))", "((n + 1, 2.5), (a[1],))"),
    ("a * 2", "a[1:] + 1"), ("(n, [1, n])", "None"), ("n > 1", "None"),
    ("a[:n] + 0", "np.zeros(n)"), ("(a.sum(), a[a > 1], n)", "(a.max(), a[a > 0], n)"),
    ("[n, 1.5]", "[n, 2.5]"), ("[]", "[]"), ("([n], (n,))", "([n + 1], (2,))"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), PATHS)
def test_nested_results_computed_sizes_and_nothing_at_times(one, other):
    for first, second in ((one, other), (other, one)):
        function = define(f"def f(a, n):\n    if n > 1:\n        return {first}\n    return {second}\n")
        for n in (0, 2):
            for size in (2, 5):
                same(function, np.arange(float(size)), n)


def test_names_of_lists():
    function = define("""
        def f(a, n):
            x, y = [1, 2], (1, 2)
            if n > 1:
                x, y = [n, 3], (n, 3)
            return x, y, x + [n], [x, a.sum()]
        """)
    for n in (0, 2):
        same(function, np.arange(3.0), n)


def test_nothing_at_the_end():
    function = define("def f(a, n):\n    for i in range(len(a)):\n        if a[i] > n: return i, a[:i].copy()\n")
    for n in (-1, 1, 9):
        same(function, np.arange(4.0), n)
        same(function, np.zeros(0), n)


def test_a_number_that_may_be_none_beside_one_that_is_not():
    function = define("""
        def f(a, n):
            best = None
            for i in range(len(a)):
                if a[i] > n:
                    best = i
            if n == 7:
                return best, (n, best)
            if best != None:
                return best, (best, -1)
            return -1, (n, 2)
        """, "presence.py")  # fmt: skip
    for n in (-1, 1, 7, 9):
        same(function, np.arange(4.0), n)


def test_an_axis_as_long_as_a_list_beside_one_that_a_call_tells():
    @lw.kernel
    def rows_of_steps(a, n):
        kept = [a[0]]
        for x in a:
            if x > kept[-1] + 1:
                kept.append(x)
        kept = np.array(kept)
        rows = np.zeros((n, kept.size))
        for k in range(n):
            rows[k] = k * kept
        return kept, rows

    a = np.linspace(0, 5, 13)
    for n in (0, 1, 100):  # a gigabyte for each of the rows would be more than there is
        for mine, pythons in zip(rows_of_steps(a, n), rows_of_steps.__wrapped__(a, n), strict=True):
            np.testing.assert_array_equal(mine, pythons)


@pytest.mark.parametrize("device", ["cpu", "interpreter"])  # a GPU would copy a gigabyte
def test_an_array_whose_size_elements_say(device):
    @lw.kernel
    def sums(labels, values):
        k = labels.max() + 1
        count, total = np.zeros(k, np.int64), np.zeros((k, values.shape[1]))
        for i in range(labels.shape[0]):
            count[labels[i]] += 1
            for j in range(values.shape[1]):
                total[labels[i], j] += values[i, j]
        return total, count, np.bincount(labels)

    random = np.random.default_rng(2)
    with lw.options(device=device):
        for most in (9, 1):
            arguments = random.integers(0, most, 40), random.random((40, 3))
            for mine, pythons in zip(sums(*arguments), sums.__wrapped__(*arguments), strict=True):
                np.testing.assert_allclose(mine, pythons)
                assert mine.shape == pythons.shape and mine.dtype == pythons.dtype
        with pytest.raises(MemoryError):
            sums(np.array([2**40]), np.zeros((1, 3)))


PARTS = [
    "out[:k]", "out[:k], count[:k]", "out[:k], k", "out[:k], out", "out[:k], out[:k]", "out[:k], out[k:]", "out[k:]",
    "out[:k, 1]", "out[:k, ::-1]", "out[:, :k]", "[out[:k], (count[:k], k)]", "out[: k - 9]", "out[: k + 99]",
    "out[:k][:2]", "out[:k] * 2, out[:k]", "z[:k]", "z[:k], z.real[:k]", "out[1:-1]", "out[:k].T", "count[:0], out[:k]",
    "out[:k].copy()", "out[:k].copy(), k, out[:k].copy()", "out.copy(), out", "a.copy(), count[:k].copy()",
    "a[:k].copy()",
]  # fmt: skip


@pytest.mark.parametrize("written", PARTS)
def test_parts_of_local_arrays_of_computed_sizes(written):
    function = define(f"""
        def f(a, limit):
            out = np.empty((len(a), 2))
            count = np.zeros(len(a), np.int32)
            z = np.zeros(len(a), np.complex64)
            out[:] = 7.0
            k = 0
            for i in range(len(a)):
                if a[i] > limit:
                    out[k, 0], out[k, 1] = a[i], i
                    count[k] += k
                    z[k] = a[i] + 1j
                    k += 1
            return {written}
        """, f"parts{PARTS.index(written)}.py")  # fmt: skip
    for limit in (-1.0, 0.5, 2.0):
        same(function, np.random.default_rng(3).random(20), limit)
    same(function, np.zeros(0), 0.0)


@pytest.mark.parametrize(
    ("shape", "place", "written"),
    [("len(a)", "k", "out[:k], k"), ("(len(a), 2)", "k, 1", "out[:k]"), ("len(a)", "k", "k, out[:k].copy()")],
)
def test_the_first_part_of_a_local_array_is_that_array_made_shorter(shape, place, written):
    function = define(f"""
        def f(a):
            out = np.empty({shape})
            k = 0
            for x in a:
                if x > 0.5:
                    out[{place}] = x
                    k += 1
            return {written}
        """, f"shorter {shape} {written}.py")  # fmt: skip
    kernel = kernel_of(function, np.zeros(3))
    assert [result.name for result in kernel.results] == ["out"]
    assert not any(statements(kernel.body, Allocate))


@pytest.mark.parametrize(
    "written", ["d.copy(), c", "c.copy(), c.copy()", "c[:k].copy(), d", "d[:k].copy(), c[:k].copy()"]
)
def test_copies_share_no_memory(written):
    function = define(f"""
        def f(n, k):
            c = np.zeros(n)
            d = c
            c[0] = 1.0
            return {written}
        """, f"copies {written}.py")  # fmt: skip
    same(function, 5, 3)
    assert not np.shares_memory(*lw.kernel(function)(5, 3))


def test_a_part_of_an_array_that_several_returns_share_is_copied_once():
    function = define("""
        def f(a, limit):
            out = np.empty(len(a))
            k = 0
            for x in a:
                if x > limit:
                    out[k] = x
                    k += 1
            if k > 3:
                return out[: k - 3], True
            return out[:k], False
        """)
    for limit in (0.0, 0.8):
        same(function, np.linspace(0, 1, 7), limit)
    kernel = kernel_of(function, np.zeros(3), 0.0)
    assert [made.array for made in statements(kernel.body, Allocate)] == ["out"]


VIEWS = [
    "a[1:]", "a.T", "a[i]", "a[i - 2, 1:]", "a[::-1, 1::2]", "a[:, None, 2], n", "a[9:]", "a[...]",
    "np.swapaxes(a, 0, 1)", "z[1:].real", "z[0, ::2].imag, z", "z.T[1]", "[a[1], n]",
]  # fmt: skip


@pytest.mark.parametrize("written", VIEWS)
def test_parts_of_arguments_share_their_memory(written):
    function = define(
        f"def f(a, z, n, i):\n    a[0, 0] = 7.0\n    return {written}\n", f"views{VIEWS.index(written)}.py"
    )
    a, z = np.arange(12.0).reshape(3, 4), np.arange(12.0).reshape(3, 4) * (1 + 2j)
    for i in (0, 1):
        for first in (a, np.asfortranarray(a), a[::-1]):
            same(function, first, z, 3, i)
            ours, mine = (first.copy("K"), z.copy()), (first.copy("K"), z.copy())
            for one, other in zip(
                _arrays(lw.kernel(function)(*ours, 3, i)), _arrays(function(*mine, 3, i)), strict=True
            ):
                assert one.strides == other.strides
                assert [np.shares_memory(one, whole) for whole in ours] == [
                    np.shares_memory(other, whole) for whole in mine
                ]
                one[...] = 5
                other[...] = 5
            assert all(np.array_equal(one, other) for one, other in zip(ours, mine, strict=True))


def _arrays(value):
    if isinstance(value, np.ndarray):
        return [value]
    return [array for one in value for array in _arrays(one)] if isinstance(value, tuple | list) else []


def first_row_above(a, limit):
    for row in a:
        if row[0] > limit:
            return row
    return a[-1]


def test_parts_found_in_loops():
    for limit in (3.0, 99.0):
        same(first_row_above, np.arange(12.0).reshape(3, 4), limit)
    with pytest.raises(IndexError):
        lw.kernel(define("def f(a, i):\n    return a[i]\n", "row.py"))(np.zeros((2, 3)), -3)


def test_parts_of_what_cannot_be_written():
    a = np.zeros((2, 3))
    a.flags.writeable = False
    assert not lw.kernel(define("def f(a):\n    return a[1:]\n", "part.py"))(a).flags.writeable


class Pair(NamedTuple):
    number: float
    array: np.ndarray


def of_any_form(u, n):
    if n < 0:
        return u
    if n == 0:
        return u[1:]
    if n == 1:
        return np.ones(len(u) + 1)
    if n == 2:
        return 3, u
    if n == 3:
        return 2.5
    if n == 4:
        return [1, 2]
    if n == 5:
        return Pair(1.0, u * 2)
    if n == 6:
        return None
    if n == 7:
        return {1: 2.0}
    if n == 8:
        return u > 0.5
    if n == 9:
        return np.outer(u, u)
    if n == 10:
        return n > 3, 1j * n
    for x in u:
        if x > n:
            return x, (u, x)
    return None


@pytest.mark.parametrize("n", range(-1, 13))
def test_each_return_has_a_form_of_its_own(n):
    expected = same(of_any_form, np.array([0.0, 11.5, 2.0]), n)
    assert n != 6 or expected is None
    u = np.array([0.0, 11.5, 2.0])
    result = lw.kernel(of_any_form)(u, n)
    assert alike(result, of_any_form(u, n))
    if n == -1:
        assert result is u
    if n == 0:
        assert np.shares_memory(result, u)


def test_forms_that_come_and_go_between_calls():
    """One kind of call has one form only, and another kind several: neither keeps what belongs to the other."""
    kernel = lw.kernel(
        define(
            "def f(a, k):\n    if k is None:\n        return a\n    if k > 1:\n        return k\n    return a * k\n",
            "forms.py",
        )
    )
    a = np.arange(3.0)
    assert kernel(a, None) is a and kernel(a, 2) == 2
    assert alike(kernel(a, 1), a * 1) and kernel(a, None) is a


def test_forms_that_are_found_in_another_order_than_they_are_written_in():
    function = define("def f(a):\n    return (a.max(axis=1) if a.shape[1] else 0), a + a[0]\n")
    for shape in ((2, 3), (2, 0)):
        same(function, np.ones(shape))


def test_forms_on_a_gpu():
    with lw.options(device="emulated"):
        u = np.array([0.0, 11.5, 2.0])
        for n in (-1, 1, 3, 8, 11):
            assert alike(lw.kernel(of_any_form)(u, n), of_any_form(u, n))


def test_an_array_of_two_unknown_sizes_that_may_be_none():
    """Lists of lists of computed lengths become an array in a branch that the types choose."""
    function = define("""
        def f(a, n):
            result = None
            if len(a.shape) == 1:
                rows = []
                for i in range(0, len(a), n):
                    rows.append([])
                    for j in range(n + 1):
                        rows[-1].append(a[i] * j)
                result = np.array(rows)
            return result
        """)
    for n in (1, 2, 5):
        same(function, np.arange(6.0), n)
