"""What a call returns, as numbers."""

from __future__ import annotations

from loopwright.devices.base import ARGUMENT, FRESH, NUMPY_SCALAR, PYTHON_SCALAR, Returns, returns_of
from loopwright.ir.nodes import ArrayParam, Const, Kernel, ResultArray, ReturnedArray, ReturnedScalar, ScalarParam
from loopwright.ir.types import ALL, FLOAT32, FLOAT64, INT64

PARAMS = (ScalarParam("n", INT64, 0), ArrayParam("a", FLOAT64, 1, 1), ArrayParam("b", FLOAT64, 2, 1))
RESULTS = tuple(ResultArray(name, FLOAT64, (Const(3, INT64),), None) for name in ("r", "s"))


def test_nothing():
    assert returns_of(Kernel("k", PARAMS, ())) == Returns(0)


def test_one_value_and_a_tuple_of_one():
    returned = (ReturnedArray("b"),)
    assert returns_of(Kernel("k", PARAMS, (), returned=returned)) == Returns(1, ((ARGUMENT, 2),))
    assert returns_of(Kernel("k", PARAMS, (), returned=returned, returns_tuple=True)) == Returns(2, ((ARGUMENT, 2),))
    assert returns_of(Kernel("k", PARAMS, (), returned=(), returns_tuple=True)) == Returns(2)


def test_scalars_are_numbered_without_the_arrays_between_them():
    returned = (ReturnedScalar(FLOAT32, False), ReturnedArray("s"), ReturnedScalar(INT64, True), ReturnedArray("a"))
    found = returns_of(Kernel("k", PARAMS, (), RESULTS, returned, True))
    assert found == Returns(
        2,
        ((NUMPY_SCALAR + ALL.index(FLOAT32), 0), (FRESH, 1), (PYTHON_SCALAR + ALL.index(INT64), 1), (ARGUMENT, 1)),
    )
