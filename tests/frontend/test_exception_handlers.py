"""`try`: handlers catch what Python raises there, no more and no less, and with everything written before in place."""

from __future__ import annotations

import math

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, refusal, same

# The body of a `try` in a loop over x, and values of `k` and `y` to run it with.
BODIES = (
    "r += a[k]",
    "a[k] = r; r = 1.0",
    "r += m[k][1] + m[0, k]",
    "row = m[k]; r = 1.0",
    "r += m[k, :].sum()",
    "r += a[np.array([k, 0])].sum()",
    "r += n // k + n % k",
    "r += y / (k - 1) + y // 2.0 + 1.0 % (y - 2.5)",
    "r += n / k",
    "r += (y - 2.5) ** (k - 2)",
    "r += 10.0 ** (y * 100)",
    "r += math.sqrt(k - 2.0) + math.log(y) + math.log(k + 2.0, y - 1.5)",
    "r += math.exp(y * 400.0)",
    "r += math.atanh(y / 2.5) + math.fmod(y, k)",
    "r += int(math.nan if k == 1 else math.inf if k == 2 else y)",
    "r += a[0] if k > 1 else a[k + 3]",
    "r += 1.0 if k > 1 or a[k - 5] > 0 else 2.0",
    "b = np.zeros(k - 1); r += len(b)",
    "b = a[: 2 * k + 2] + a[:4]; r += b.sum()",
    "r += max([v for v in a if v > y * 2])",
    "p, q = a[: k + 1]; r += p + q",
    "r += d[k]",
    "d[k] += 1",
    "r += l[k] + l.index(k)",
    "l.pop(); l.pop(); r = 1.0",
    "b = np.linalg.solve(m[:2, :2] * k, a[:2]); r += b[0]",
    "r += a[a[:k] > 0].sum()",
    "r += helped(a, k)",
    "if k: raise KeyError('k')",
    "r += ord('abc'[k])",
    "r += 1 << (k - 1)",
    "for j in range(0, 9, k): r += a[j]",
    "while a[k] < 9 and k < 9: k += 1",
)
WHOLE = """
def helped(a, i):
    for j in range(3):
        if a[i + j] > 2:
            return a[i - 3 * j]
    return 0.5

def f(a, m, n, y):
    r, log = 0.0, np.zeros((4, 2))
    {tables}
    for k in range(-2, 7):
        r = 0.5
        try:
            log[0, 0] += 1
            {body}
            log[0, 1] += r
        except {first}:
            log[1, 0] += r
            log[1, 1] += 1
            continue
        except ({second}):
            log[2, 0] += r
            log[2, 1] += 1
        else:
            log[3, 0] += r
        log[3, 1] += 1
    return log, len(l), d
"""
CLASSES = [
    ("IndexError", "ValueError, ZeroDivisionError, OverflowError, KeyError, np.linalg.LinAlgError"),
    ("ArithmeticError", "LookupError, ValueError"),
    ("Exception", "KeyError"),
]


@pytest.mark.parametrize("number", range(len(CLASSES)))
def test_what_python_catches_is_caught(number):
    first, second = CLASSES[number]
    for place, body in enumerate(BODIES):
        if place % len(CLASSES) != number:
            continue
        tables = "d, l = {1: 2.0}, [3, 1]" if "d[" in body or "l." in body else "d, l = (), ()"
        lines = "\n            ".join(body.split("; "))
        text = WHOLE.format(body=lines, first=first, second=second, tables=tables)
        function = define(text, f"try{place}.py", math=math)
        for y in (2.5, 1.0) if "y" in body else (2.5,):
            same(function, np.array([1.0, 2, 3, 4]), np.arange(12.0).reshape(4, 3), 7, y)


def test_what_a_handler_does_not_name_ends_the_call():
    text = (
        "def f(a, k):\n    a[0] = 1\n    try:\n        a[1] = 7 // k\n        a[k] = 2\n"
        "    except {}:\n        a[2] = 3\n"
    )
    for name in ("IndexError", "ZeroDivisionError", "KeyError"):
        function = define(text.format(name))
        for k in (0, 1, 5):
            same(function, np.zeros(3), k)


def test_an_error_before_the_body_is_not_caught():
    function = define("""
        def f(m, k):
            row = m[k]
            try:
                return row[0]
            except IndexError:
                return np.float64(-1)
    """)
    assert same(function, np.ones((2, 2)), 3) is IndexError
    assert same(function, np.ones((2, 0)), 1) == -1


def test_handlers_in_handlers_and_helpers():
    function = define("""
        def get(a, i):
            try:
                v = a[i]
            except IndexError:
                return np.float64(-1)
            return v + 1

        def f(a, k):
            s = get(a, k)
            try:
                try:
                    s += 7 // (k - 2)
                    s += 10.0
                except ZeroDivisionError:
                    s += a[k + 5]
                s += 100.0
                t = 1
            except IndexError:
                t = 0
                if k == 3:
                    raise ValueError("three")
            return s, t
    """)
    for k in (-9, 0, 2, 3, 8):
        same(function, np.arange(7.0)[: 5 + (k == 2)], k)
        same(function, np.arange(9.0), k)


def test_a_name_that_the_body_may_not_have_given():
    function = define("""
        def f(a, k):
            if k > 5:
                x = np.zeros(2)
            try:
                x = a[k:] * (1 // k)
                z = x[1]
            except ArithmeticError:
                pass
            except Exception:
                x[0] = 9
            return x, z
    """)
    for k in (0, 1, 2, 3, 7):
        same(function, np.arange(3.0), k)


@lw.kernel
def reciprocals(a, out):
    bad = 0
    for i in range(len(out)):
        try:
            out[i] = 1.0 / float(a[i])
        except ZeroDivisionError:
            bad += 1
        except IndexError:
            return bad, i
    return bad, -1


def test_compiled():
    for size in (3, 5, 0):
        a, out, own = np.array([2.0, 0.0, 4.0]), np.zeros(size), np.zeros(size)
        assert reciprocals(a, out) == reciprocals.__wrapped__(a, own)
        assert out.tolist() == own.tolist()


REFUSED = {
    "a[np.array([0, k])] = 1.0": "after it has written some elements",
    "a[0] = math.gamma(a[1])": "math.gamma",
}


def test_refused():
    text = "def f(a, k):\n    try:\n        {}\n    {}\n        a[0] = 2.0\n"
    for body, what in REFUSED.items():
        assert what in refusal(define(text.format(body, "except Exception:"), math=math), np.ones(3), 1)
    handlers = {
        "finally:\n        return": "'finally' that jumps", "except Exception as a:": "used as a value",
        "except MemoryError:": "cannot be caught", "except (k, ValueError):": "not an exception class",
    }  # fmt: skip
    for handler, what in handlers.items():
        assert what in refusal(define(text.format("a[k] = 1", handler), math=math), np.ones(3), 1)


def finally_index(a, k):
    try:
        x = a[k]
    finally:
        a[0] = 9
    return x


def finally_message(a, k):
    n = 0
    try:
        n += 1
        if k > 5:
            raise ValueError(f"{k} is more than {n + 4}")
        a[0] += 1
    finally:
        a[1] += n
    return a[k]


def finally_division(a, k):
    try:
        return 1 // k
    finally:
        a[1] += 1


def finally_nested(a, k):
    for i in range(4):
        try:
            try:
                if i == 1:
                    continue
                if i == 3:
                    a[i + 7] = 1
            finally:
                a[0] += 10
        except IndexError:
            a[2] = -1
        finally:
            a[1] += 1
    return a.sum()


def raised_again(a, k):
    try:
        if k == 0:
            raise KeyError("zero")
        x = a[k]
    except KeyError:
        a[3] = 7
        raise
    except IndexError:
        x = np.float64(0.0)
    return x


def counted(a, k):
    try:
        return a[k]
    finally:
        a[0] += 1


def finally_in_helper(a, k):
    try:
        s = counted(a, 1) + counted(a, k)
    except IndexError:
        s = np.float64(-1.0)
    return s


def finally_in_loops(a, k):
    n = 0
    while True:
        try:
            n += 1
            if n > 5:
                break
            for j in range(9):
                if j == n:
                    break
            else:
                a[0] = 77
            if n == k:
                continue
            a[2] += n
        finally:
            a[3] += j
    return n, a[2]


def finally_nans(a, k):
    try:
        n = int(a[k])
    finally:
        a[0] = 1
    return n


@pytest.mark.parametrize("function", [
    finally_index, finally_message, finally_division, finally_nested, finally_in_helper, finally_in_loops, finally_nans,
    raised_again,
])  # fmt: skip
def test_finally_and_raise_alone(function):
    for k in (0, 1, 2, 3, 9):
        same(function, np.array([0.0, np.nan, 2.0, 3.0]), k)
    if function is finally_message:
        with pytest.raises(ValueError, match="9 is more than 5"):
            lw.kernel(function)(np.ones(4), 9)


def raised_by_none(a):
    raise


def test_raise_alone_in_a_function_that_a_handler_without_it_calls():
    function = define(
        """
        def f(a, k):
            try:
                a[k] += 1
                raise ValueError("out")
            except ValueError:
                try:
                    a[k + 3] += 1
                except IndexError:
                    again(a)
                raise
    """,
        again=raised_by_none,
    )
    assert "no handler of this function is around" in refusal(function, np.ones(4), 2)


def test_finally_after_results_of_other_types_and_changed_names():
    function = define("""
        def f(a, k):
            try:
                if k == 3:
                    return a[k] * 2.0, k
                return a[0] + 0.5, 7
            finally:
                k = 10
                a[0] = k
    """)
    for k in (0, 3):
        same(function, np.ones(4), k)


def test_linear_algebra_that_fails_before_finally():
    function = define("""
        def f(m, a):
            try:
                r = np.linalg.inv(m)
            except np.linalg.LinAlgError:
                a[0] = -5
                raise
            finally:
                a[1] = 3
            return r
    """)
    same(function, np.zeros((2, 2)), np.ones(3))
    same(function, np.eye(2), np.ones(3))


def test_a_name_without_a_value_in_a_body_that_catches_everything():
    function = define("""
        def f(a, k):
            n = 0
            while True:
                try:
                    n += 1
                    if n > 5:
                        a[3] += j
                        break
                    j = n
                    a[k] += n
                except:
                    a[0] += j
                    raise
            return n
    """)
    for k in (0, 2, 9):
        same(function, np.array([0.0, 1.0, 2.0, 3.0]), k)
