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
    assert "'*args' is outside the language" in refusal(define("def f(x):\n    return helper(x)\n", helper=helper), 1)


def test_methods_of_objects_are_refused():
    class Thing:
        def method(self, x):
            return x

    function = define("def f(x):\n    return thing.method(x)\n", thing=Thing())
    assert "'thing.method' is outside the language" in refusal(function, 1)
    function = define("def f(x):\n    return thing(x)\n", thing=len)
    assert "len() takes an array" in refusal(function, 1)
