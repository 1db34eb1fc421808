"""Which function a call means, wherever it was found."""

from __future__ import annotations

import math
import types

import numpy as np

import loopwright
from frontend.judge import define, refusal, same


def test_functions_by_any_name():
    tools = types.ModuleType("tools")
    tools.root = math.sqrt
    tools.largest = max
    tools.single = np.float32
    tools.twice = define("def twice(x):\n    return x * 2\n", file="tools.py")
    text = """
        def f(x):
            g = tools.root
            return g(x), tools.largest(x, 2), tools.single(x), tools.twice(x)
        """
    function = define(text, tools=tools)
    same(function, 4.0)


def test_a_kernel_calls_a_kernel():
    helper = loopwright.kernel(define("def helper(x):\n    return x * 2\n", file="helper.py"))
    function = define("def f(x):\n    return helper(x) + 1\n", helper=helper)
    from frontend.judge import kernel_of
    from loopwright.ir.interp import interpret

    assert interpret(kernel_of(function, 2), (2,)) == 5


def test_keywords_of_functions():
    same(define("def f(n):\n    return np.zeros(dtype=np.int8, shape=n)\n"), 3)


def test_helpers_that_are_wrapped_are_not_unwrapped():
    import functools

    def doubled(function):
        @functools.wraps(function)
        def wrapper(*args):
            return 2 * function(*args)

        return wrapper

    def identity(x):
        return x

    helper = doubled(identity)
    same(define("def f(x):\n    return helper(x)\n", helper=helper), 1)


def test_methods_of_objects_are_refused():
    class Thing:
        def method(self, x):
            return x

    function = define("def f(x):\n    return thing.method(x)\n", thing=Thing())
    assert "'thing.method' is outside the language" in refusal(function, 1)
    function = define("def f(x):\n    return thing(x)\n", thing=len)
    assert "len() takes an array" in refusal(function, 1)


def test_the_items_of_a_tuple_are_handed_over():
    function = define("""
        def fill(a, value, b):
            a[0] = value
            b[1] = value
        def line(x, slope, offset):
            return x * slope + offset
        def f(x, y, z):
            pair = (2.0, 1)
            both = (x, 9.0, y)
            fill(*both)
            fill(z, *(4.0, x))
            return line(x[0], *pair) + line(*pair, offset=3.0) + line(*pair, *(5.0,))
        """)
    same(function, np.zeros(3), np.ones(3), np.ones(3))
    assert "needs a tuple, and this is a 1-dimensional array" in refusal(
        define("def f(a):\n    return max(*a)\n"), np.ones(3)
    )


def test_types_convert():
    function = define("""
        def f(x, n, y):
            kind = type(x[0])
            return kind(n) * x[0], type(n)(2.7), type(y)(n)
        """)
    for x in (np.ones(2, np.float32), np.ones(2, np.int16)):
        same(function, x, 3, 1.5)
