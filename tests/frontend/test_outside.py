"""What is asked of the world outside a function, and which answers are told apart."""

from __future__ import annotations

import enum
import math
import sys
import types
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define
from loopwright.frontend.capture import capture
from loopwright.frontend.outside import Outside, UnknownError

QUESTION = ("name", (), "x")


def outside(**found: object) -> Outside:
    """What a function sees that finds these globals, and names x."""
    function = define("def f(a):\n    a[0] = x\n")
    function.__globals__.update(found)
    return Outside(capture(function))


def mark(value: object) -> str:
    return outside(x=value).mark(QUESTION)


class Level(enum.IntEnum):
    LOW = 1


def plain(n):
    return n


DIFFERENT: list[object] = [
    None, True, 1, 1.0, -1, 0.0, -0.0, math.inf, -math.inf, math.nan, "1", "", "None", (), (1,), (1.0,),
    ((1,),), (True,),
    np.int8(1), np.uint8(1), np.int64(1), np.float32(1), np.float64(1), np.float64(-0.0), np.bool_(True), Level.LOW,
    np.float32, np.float64, float, int, range, abs, math.floor, np.floor, np.sqrt, math.sqrt, math, np, np.linalg,
    np.dtype("f8"), np.dtype("f4"), np.dtype([("x", "f8")]), np.dtype([("y", "f8")]), plain, lw.prange,
    lw.kernel(plain),
]  # fmt: skip


def test_different_things_have_different_marks():
    marks = [mark(value) for value in DIFFERENT]
    assert len(set(marks)) == len(marks)
    assert marks == [mark(value) for value in DIFFERENT]


class Number(int):
    def __int__(self) -> int:
        raise RuntimeError("no")


class Text(str):
    pass


class Failing:
    def __getattr__(self, name: str) -> object:
        raise RuntimeError(name)


UNKNOWN = [
    object(), [], {}, np.zeros(1), Level, Text("a"), Number(3), Failing(), 10**10000, lambda n: n,
    np.void(b"12"), types.ModuleType("nowhere"), "a".upper, types.SimpleNamespace(n=1), (1, object()),
]  # fmt: skip


@pytest.mark.parametrize("value", UNKNOWN, ids=lambda value: type(value).__name__)
def test_what_no_text_tells_from_others_has_none(value):
    with pytest.raises(UnknownError):
        mark(value)


def test_a_name_that_is_nowhere_has_a_mark_as_well():
    assert mark("nothing") != outside().mark(QUESTION) == "nothing"


def test_functions_of_one_text_are_told_apart_by_number():
    there = outside(x=plain, y=plain)
    assert there.mark(QUESTION) == there.mark(("name", (), "y"))
    copy = types.FunctionType(plain.__code__, plain.__globals__, plain.__name__)
    there = outside(x=plain, y=copy)
    assert there.mark(QUESTION) != there.mark(("name", (), "y"))


def test_an_answer_stays_what_it_was():
    there = outside(x=1)
    source = there.source
    assert found(there.name(source, "x")) == 1
    source.function.__globals__["x"] = 2
    assert found(there.name(source, "x")) == 1
    assert list(there.asked) == [QUESTION]


def found(answer: Any) -> object:
    assert answer is not None
    return answer.value


def test_questions_are_answered_again_along_the_same_way():
    module = types.ModuleType("outside_test_module")
    module.inner, module.pair = plain, (1, plain)
    sys.modules[module.__name__] = module
    first = outside(x=module)
    first.name(first.source, "x")
    inner = found(first.attribute(module, "inner"))
    first.name(first.source_of(inner), "math")
    first.attribute(module, "pair")
    first.attribute(module, "absent")
    ways = [QUESTION, *(("attribute", QUESTION, name) for name in ("inner", "pair", "absent"))]
    assert set(first.asked) == {*ways, ("name", ways[1], "math")}
    again = outside(x=module)
    for question, answer in first.asked.items():
        assert (answer and answer.value) is ((other := again.answer(question)) and other.value)
    assert again.asked.keys() == first.asked.keys()
    item = ("name", ("item", ways[2], 1), "np")
    assert found(again.answer(item)) is np
    del sys.modules[module.__name__]


@pytest.mark.parametrize(
    "question",
    [
        ("name", ("name", (), "absent"), "y"),
        ("attribute", ("name", (), "absent"), "y"),
        ("name", QUESTION, "y"),  # of a number
        ("name", ("item", QUESTION, 0), "y"),
        ("attribute", ("item", (), 0), "y"),
        ("attribute", ("what", "is", "this", "?"), "y"),
    ],
)
def test_a_way_that_leads_nowhere_has_no_answer(question):
    assert outside(x=1).answer(question) is None


def test_attributes_of_what_never_changes_are_no_questions():
    there = outside(x=np)
    there.name(there.source, "x")
    for owner, name in ((np.float32(1), "dtype"), (np.dtype("f8"), "type"), (np.float64, "name"), ("a", "b")):
        there.attribute(owner, name)
    assert list(there.asked) == [QUESTION] and not there.untold
    there.attribute(np, "float32")
    assert len(there.asked) == 2


def test_an_owner_that_no_way_leads_to_is_noted():
    there = outside()
    there.source_of(plain)
    assert there.untold == "plain" and not there.asked
    there = outside()
    space = types.SimpleNamespace(n=1)
    there.attribute(space, "n")
    assert there.untold == "n" and not there.asked
    assert {(one.kind, one.key) for one in there.constants if one.namespace in (space, vars(space))} == {
        ("type", ""), ("dict", ""), ("item", "n"),
    }  # fmt: skip


def test_a_kernel_and_its_function_have_one_way_but_not_the_same_attributes():
    kernel = lw.kernel(plain)
    there = outside(x=kernel)
    there.name(there.source, "x")
    there.attribute(kernel, "n")
    assert not there.untold
    there.attribute(plain, "n")
    assert there.untold == "n"
