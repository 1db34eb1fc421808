"""What Python's objects are as Values, and what Values are called in messages."""

from __future__ import annotations

import math

import numpy as np
import pytest

from loopwright.frontend.values import Array, Fixed, Items, Literal, Number, describe, from_object
from loopwright.ir.nodes import Const, Dim
from loopwright.ir.types import BOOL, FLOAT32, FLOAT64, INT8, INT64


def test_literals_are_told_apart_as_python_would():
    different = [Literal(1), Literal(True), Literal(1.0), Literal(0.0), Literal(-0.0), Literal(0), Literal(False)]
    assert len(set(different)) == len(different)
    assert Literal(math.nan) == Literal(math.nan)
    assert Literal(1) != 1


def test_objects():
    assert from_object(3) == Literal(3)
    assert from_object(True) == Literal(True)
    assert from_object(np.float32(0.5)) == Number(Const(0.5, FLOAT32), weak=False)
    assert from_object(np.float64(0.5)) == Number(Const(0.5, FLOAT64), weak=False)
    assert from_object(np.bool_(True)) == Number(Const(True, BOOL), weak=False)
    assert from_object((1, (2.5, None))) == Items((Literal(1), Items((Literal(2.5), Fixed(None)))))
    assert from_object(np.float16(1)) == Fixed(np.float16(1))
    assert from_object(math) == Fixed(math)


DESCRIBED = {
    "a Python int": Literal(3),
    "a Python float": Literal(3.0),
    "a NumPy int8": Number(Const(1, INT8), weak=False),
    "a Python bool": Number(Const(True, BOOL), weak=True),
    "a 1-dimensional array": Array("a", INT64, (Number(Dim("a", 0), weak=True),)),
    "a tuple": Items(()),
    "None": Fixed(None),
    "a str": Fixed("x"),
    "an int": Fixed(3),
    "an ndarray": Fixed(np.zeros(2)),
    "a module": Fixed(math),
}


@pytest.mark.parametrize("text", DESCRIBED)
def test_descriptions(text):
    assert describe(DESCRIBED[text]) == text


def test_types_of_numbers():
    assert Literal(3).number_type == Number(Const(3, INT64), weak=True).number_type
    assert Literal(True).number_type.type == BOOL
    assert Literal(0.5).number_type.type == FLOAT64
