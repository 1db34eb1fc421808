"""raise and assert: the call ends with Python's own exception, and says where."""

from __future__ import annotations

import linecache

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, kernel_of, refusal
from loopwright.ir.interp import interpret

RAISED = [
    ("ValueError", '"no"'), ("ValueError", ""), ("IndexError", "'it\\'s \"n\" \\\\ 0'"),
    ("RuntimeError", "'two\\nlines: a, b'"), ("ZeroDivisionError", 'f"limit {LIMIT}"'), ("TypeError", '"a" + "b"'),
    ("KeyError", '"name"'), ("OverflowError", "'é €'"), ("Exception", '"Error: with: colons"'),
    ("NotImplementedError", None), ("StopIteration", "'#'"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "message"), RAISED)
def test_an_exception_is_pythons(name, message):
    call = name if message is None else f"{name}({message})"
    function = define(f"def f(a):\n    if a[0] > 0:\n        raise {call}\n    a[0] = 7\n    return 1\n", LIMIT=3)
    with pytest.raises(Exception) as theirs:
        function(np.ones(1))
    array = np.ones(1)
    kernel = kernel_of(function, array)
    with pytest.raises(type(theirs.value)) as ours:
        interpret(kernel, (array,))
    assert type(ours.value) is type(theirs.value) and str(ours.value) == str(theirs.value)
    assert "example.py:3:9" in ours.value.__notes__[0] and array[0] == 1
    assert interpret(kernel, (-array,)) == 1


@pytest.mark.parametrize(
    ("test", "message"), [("a[0] < 1", '"large"'), ("len(a) == 2", None), ("a[0] < 1 and a[0] > -9", '"outside"')]
)
def test_an_assertion(test, message):
    function = define(f"def f(a):\n    assert {test}{'' if message is None else ', ' + message}\n    return a[0]\n")
    array = np.full(1, 3.0)
    with pytest.raises(AssertionError) as theirs:
        function(array)
    with pytest.raises(AssertionError) as ours:
        interpret(kernel_of(function, array), (array,))
    if message is not None:
        assert str(ours.value) == str(theirs.value)
    good = np.zeros(2)
    assert interpret(kernel_of(function, good), (good,)) == 0


def test_what_is_written_before_stays():
    function = define(
        "def f(a):\n    for i in range(4):\n        if i == 2:\n            raise ValueError('two')\n        a[i] = 1\n"
    )
    array = np.zeros(4)
    with pytest.raises(ValueError, match="two"):
        interpret(kernel_of(function, array), (array,))
    assert array.tolist() == [1, 1, 0, 0]


def test_two_numbers_of_the_run_are_told_and_others_by_name():
    function = define("def f(a, n):\n    raise ValueError(f'size {n} of {len(a)}: {a[0]}')\n")
    with pytest.raises(ValueError) as ours:
        interpret(kernel_of(function, np.zeros(2), 5), (np.zeros(2), 5))
    assert str(ours.value) == "size 5 of 2: {a[0]}"
    assert linecache.getline("example.py", 2)


def element(x):
    for i in range(len(x)):
        if x[i] < 0:
            raise ValueError(f"below 0: {x[i]:.2f} in {{x}}")
    return 1


def size(x):
    if len(x) < 3:
        raise ValueError("need 3, got %d" % len(x))  # noqa: UP031
    return 2


def total(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i]
        if s < 0.0:
            raise OverflowError(s)
    return s


def narrow(x):
    for i in range(len(x)):
        if x[i] > 100:
            raise ValueError("element " + str(x[i]))
    return 1


def pair(x):
    for i in range(len(x)):
        if x[i] > 100:
            raise ValueError(f"element {i} is {x[i]}")
    return 1


def shown(x):
    if x[0] > 0:
        raise ValueError("%s %.3e" % (x[0], x[-1]))  # noqa: UP031
    return 1


def truths(x):
    raise ValueError(f"{x[0] > 1} or {x[0]!s}")


@pytest.mark.parametrize("device", ["interpreter", "cpu", "emulated"])
@pytest.mark.parametrize(
    ("function", "array"),
    [
        (element, np.array([1.0, -2.5, -3.0])),
        (element, np.array([1, -2])),
        (element, np.array([0, -128], np.int8)),
        (size, np.zeros(2)),
        (total, np.array([1.5, -4.0])),
        (total, np.array([1.0, -np.inf])),
        (narrow, np.array([3, 200], np.uint8)),
        (narrow, np.array([2**64 - 1], np.uint64)),
        (pair, np.array([3, 200], np.uint8)),
        (pair, np.array([2**64 - 1], np.uint64)),
        (pair, np.array([1.0, 100.1], np.float32)),
        (pair, np.array([1.0, np.inf])[::-1]),
        (pair, np.zeros(0)),
        (shown, np.array([0.1, 2.0], np.float32)),
        (shown, np.array([0.1, np.nan])),
        (truths, np.array([2.0])),
        (truths, np.array([0.1], np.float32)),
    ],
)
def test_a_number_is_told_as_python_tells_it(function, array, device):
    def said(call):
        try:
            return call(array)
        except (ValueError, OverflowError) as error:
            return type(error), str(error)

    assert said(lw.kernel(function, device=device)) == said(function)


def test_an_assertion_tells_numbers_which_are_computed_where_it_fails():
    function = define("""
        def f(x):
            for i in range(len(x)):
                assert x[i] < 9 or i > 7, f"{i}: {x[i]:.2f}, {x}"
            k = len(x)
            assert k < 3 or x[k - 3] > 0, f"{k} {x[k - 3]}"
            return k
    """)
    for array in (np.array([1.0, 2.5, 10.5]), np.array([-1.0, 2.5, 0.5]), np.ones(3), np.ones(2)):
        results = []
        for call in (lambda x: interpret(kernel_of(function, x), (x,)), function):
            try:
                results.append(call(array))
            except AssertionError as error:
                results.append(str(error).replace(str(array), "{x}"))
        assert results[0] == results[1]


def test_what_takes_a_loop_is_told_by_name():
    function = define("def f(a):\n    raise ValueError(f'{a[0]} {max(a)}')\n")
    for array, says in ((np.ones(1, np.float32), "1.0 {max(a)}"), (np.ones(1), "1.0 {max(a)}")):
        with pytest.raises(ValueError) as ours:
            interpret(kernel_of(function, array), (array,))
        assert str(ours.value) == says


def test_an_assertion_names_variables_of_the_function():
    function = define("""
        def f(a):
            n, k = len(a), 2 * a[0]
            for i in range(n):
                assert a[i] > 0, f"element {i} of {n}: {a[i]:.3f} and {k!r}"
            assert k < 9, k
            return k
    """)
    kernel = kernel_of(function, np.ones(2))
    with pytest.raises(AssertionError, match=r"element 0 of 2: {a\[i\]} and {k}\n"):
        interpret(kernel, (np.zeros(2),))
    with pytest.raises(AssertionError, match=r"^18.0\n"):
        interpret(kernel, (np.full(2, 9.0),))
    assert interpret(kernel, (np.ones(2),)) == 2.0


def test_what_follows_is_not_needed():
    function = define("def f(n):\n    if n > 0:\n        return 1\n    else:\n        raise ValueError\n")
    assert interpret(kernel_of(function, 3), (3,)) == 1
    with pytest.raises(ValueError):
        interpret(kernel_of(function, 3), (0,))


class Own(Exception):
    """An exception that is not Python's own."""

    class Inner(ValueError):
        """One inside another class."""


class Shown(Exception):
    """One that keeps what it says elsewhere."""

    def __init__(self, message: str = "nothing") -> None:
        self.shown = message


class Pair(Exception):
    """One that is made of two values."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(first, second)


@pytest.mark.parametrize("raised", ["Own('no')", "Own", "Own.Inner('deep')", "Shown('here')", "Shown"])
def test_own_classes_are_raised(raised):
    function = define(f"def f(a):\n    if a[0] > 0:\n        raise {raised}\n    return 1\n", Own=Own, Shown=Shown)
    array = np.ones(1)
    with pytest.raises(Exception) as theirs:
        function(array)
    with pytest.raises(type(theirs.value)) as ours:
        interpret(kernel_of(function, array), (array,))
    assert type(ours.value) is type(theirs.value) and str(ours.value) == str(theirs.value)
    assert vars(ours.value).get("shown") == vars(theirs.value).get("shown")


@lw.kernel
def own_error(place):
    if place == 0:
        raise Own.Inner("deep")
    if place == 1:
        raise Shown("here")
    return place


def test_own_classes_are_raised_by_compiled_code():
    with pytest.raises(Own.Inner, match="deep"):
        own_error(0)
    with pytest.raises(Shown) as found:
        own_error(1)
    assert found.value.shown == "here" and own_error(2) == 2


@pytest.mark.parametrize(("statement", "message"), [
    ("raise", "'raise' alone"), ("raise Pair(1)", "'Pair' cannot be raised here"),
    ("raise ValueError('x', 1)", "takes one message"), ("raise a", "this is not an exception class"),
])  # fmt: skip
def test_refused(statement, message):
    assert message in refusal(define(f"def f(a):\n    {statement}\n", Pair=Pair), np.zeros(1))
