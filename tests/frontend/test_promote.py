"""Types of results, asked of NumPy's own scalars."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from loopwright.frontend.promote import (
    UFUNCS,
    WEAK_BOOL,
    WEAK_FLOAT,
    WEAK_INT,
    NoSuchOperation,
    NumberType,
    binary,
    common,
    join,
    resolve,
)
from loopwright.ir.types import ALL, BOOL, FLOAT32, FLOAT64, INT8, INT32, INT64, UINT8, UINT64

STRONG = [NumberType(scalar, weak=False) for scalar in ALL]
KINDS = [*STRONG, WEAK_BOOL, WEAK_INT, WEAK_FLOAT]


def example(kind: NumberType) -> object:
    return kind.type.dtype.type(1).item() if kind.weak else kind.type.dtype.type(1)


@pytest.mark.parametrize("op", UFUNCS)
def test_numpy_agrees(op):
    for left, right in itertools.product(KINDS, KINDS):
        if left.weak and right.weak:
            continue
        try:
            expected = UFUNCS[op](example(left), example(right)).dtype
        except TypeError:
            with pytest.raises(NoSuchOperation):
                binary(op, left, right)
            continue
        if expected == np.float16:
            with pytest.raises(NoSuchOperation, match="float16"):
                binary(op, left, right)
            continue
        operand, result = binary(op, left, right)
        assert (result.type.dtype, result.weak) == (expected, False)
        assert operand in ALL


def test_python_agrees():
    assert binary("add", WEAK_BOOL, WEAK_BOOL) == (INT64, WEAK_INT)
    assert binary("truediv", WEAK_INT, WEAK_INT) == (FLOAT64, WEAK_FLOAT)
    assert binary("and", WEAK_BOOL, WEAK_BOOL) == (BOOL, WEAK_BOOL)
    assert binary("shl", WEAK_BOOL, WEAK_BOOL) == (INT64, WEAK_INT)
    assert binary("mod", WEAK_INT, WEAK_FLOAT) == (FLOAT64, WEAK_FLOAT)
    with pytest.raises(NoSuchOperation):
        binary("or", WEAK_FLOAT, WEAK_INT)


def test_join():
    assert join(WEAK_INT, NumberType(INT8, weak=False)) == NumberType(INT8, weak=False)
    assert join(NumberType(FLOAT32, weak=False), WEAK_FLOAT) == NumberType(FLOAT32, weak=False)
    assert join(NumberType(INT32, weak=False), WEAK_FLOAT) == NumberType(FLOAT64, weak=False)
    assert join(WEAK_INT, WEAK_FLOAT) == WEAK_FLOAT
    assert join(WEAK_INT, NumberType(INT64, weak=False)) == NumberType(INT64, weak=False)
    assert join(NumberType(INT64, weak=False), NumberType(UINT64, weak=False)) is None
    for left, right in itertools.product(KINDS, KINDS):
        assert common(left, right) == common(right, left)
        assert common(left, left) == left


def test_functions():
    assert resolve(np.sqrt, (WEAK_INT,)) == ((FLOAT64,), FLOAT64)
    assert resolve(np.arctan2, (NumberType(FLOAT32, weak=False), WEAK_INT)) == ((FLOAT32, FLOAT32), FLOAT32)
    assert resolve(np.isnan, (NumberType(FLOAT32, weak=False),)) == ((FLOAT32,), BOOL)
    with pytest.raises(NoSuchOperation, match="float16"):
        resolve(np.sqrt, (NumberType(UINT8, weak=False),))


def test_words():
    kinds = WEAK_INT, WEAK_BOOL, NumberType(INT8, weak=False), NumberType(BOOL, weak=False)
    assert [str(kind) for kind in kinds] == ["a Python int", "a Python bool", "a NumPy int8", "a NumPy bool"]
