"""The wording of every refusal, in golden files: the user's line, a caret, why, and what to write instead."""

from __future__ import annotations

import math
import re
import textwrap

import numpy as np
import pytest

from frontend import refused
from frontend.judge import define, refusal

RECORD = np.dtype([("x", "f8"), ("n", "i4")])
ARGUMENTS = {
    "a": np.zeros(4), "b": np.zeros(4, np.int8), "u": np.zeros(4, np.uint16), "t": np.zeros(4, bool),
    "k": np.zeros(4, np.int64), "w": np.zeros(4, np.uint64), "m": np.zeros((3, 4)), "p": np.zeros(4, RECORD), "n": 3,
}  # fmt: skip


def cases(text: str) -> dict[str, str]:
    """Name and source of each case: the name starts in the first column, the source in column 22."""
    found: dict[str, list[str]] = {}
    for line in text.strip("\n").split("\n"):
        if line[:22].strip():
            found[line[:22].strip()] = []
        list(found.values())[-1].append(line[22:])
    return {name: "\n".join(lines) + "\n" for name, lines in found.items()}


class Problem(Exception):
    """An exception that is not made of one message."""

    def __init__(self, what, where):
        super().__init__(what, where)


def message(source: str) -> str:
    function = define(source, math=math, names=[1, 2], table=np.arange(3), Problem=Problem)
    parameters = re.match(r"def f\((.*?)\):", source)
    assert parameters
    return refusal(function, *(ARGUMENTS[name.strip()] for name in parameters[1].split(",")))


@pytest.mark.parametrize("topic", ["STATEMENTS", "EXPRESSIONS", "NUMBERS", "CALLS", "RETURNS"])
def test_wording(topic, golden):
    text = getattr(refused, topic)
    parts = [f"# {name}\n{message(source)}\n" for name, source in cases(text).items()]
    golden(f"errors/{topic.lower()}.txt", "\n".join(parts))


def test_every_message_points_at_the_line():
    for topic in (refused.STATEMENTS, refused.EXPRESSIONS, refused.NUMBERS, refused.CALLS, refused.RETURNS):
        for name, source in cases(topic).items():
            text = message(source)
            assert re.match(r"example\.py:\d+:\d+: KernelError: ", text), name
            assert "^" in text, name


INDENTED = """
    class Holder:
        def make(scale):
            def decorated(function):
                return function

            @decorated
            @decorated
            def f(a):
                b = "é"; a[0] = unknown * scale
            return f

    f = Holder.make(2)
    """


def test_carets_of_indented_functions_and_wide_text():
    function = define(textwrap.dedent(INDENTED))
    assert refusal(function, np.zeros(2)) == (
        "example.py:9:29: KernelError: name 'unknown' is not defined\n"
        '    9 |     b = "é"; a[0] = unknown * scale\n'
        "      |                     ^^^^^^^\n"
        "  try: define it before the function is called"
    )


def test_the_first_error_of_the_text_is_the_one_that_is_told():
    function = define("def f(a):\n    x = {'a'}\n    y = b'y'\n    return x\n")
    assert "a key that is a str" in refusal(function, np.zeros(2))


def test_an_error_in_a_helper_points_into_the_helper():
    source = """
        def f(a):
            return helper(a[0])
        """
    helper = define("def helper(x):\n    return {'x'}\n", file="other.py")
    assert refusal(define(source, helper=helper), np.zeros(2)).startswith("other.py:2:12: KernelError: a key")
