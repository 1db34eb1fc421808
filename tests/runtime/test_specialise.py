"""From arguments to a Signature, or a refusal that says what to do."""

from __future__ import annotations

import enum

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from loopwright.errors import ArgumentTypeError, ArgumentValueError
from loopwright.ir import types
from loopwright.ir.signature import ArrayArgument, ConstantArgument, Field, ScalarArgument
from loopwright.runtime.specialise import as_arguments, signature_of


class Colour(enum.IntEnum):
    RED = 3


def one(value: object, written: tuple[int, ...] = ()):
    return signature_of((value,), written, ("x",)).arguments[0]


@pytest.mark.parametrize(
    ("value", "type", "weak"),
    [
        (True, types.BOOL, True),
        (3, types.INT64, True),
        (Colour.RED, types.INT64, True),
        (-(2**63), types.INT64, True),
        (2.5, types.FLOAT64, True),
        (np.float64(2.5), types.FLOAT64, False),
        (np.bool_(True), types.BOOL, False),
        *[(scalar.dtype.type(1), scalar, False) for scalar in types.ALL],
        (np.longlong(1), types.INT64, False),
    ],
)
def test_scalars(value, type, weak):
    assert one(value) == ScalarArgument(type, weak)


@pytest.mark.parametrize("value", [None, "wrap", (1, 2.5, True), ()])
def test_constants(value):
    assert one(value) == ConstantArgument(value)


def test_constants_that_python_calls_equal_are_different():
    values = [(1,), (True,), (1.0,), (0.0,), (-0.0,)]
    assert len({one(value) for value in values}) == len(values)


def test_arrays():
    grid = np.zeros((3, 4), np.float32)
    assert one(grid) == ArrayArgument(types.FLOAT32, 2, "C", True)
    assert one(grid.T) == ArrayArgument(types.FLOAT32, 2, "F", True)
    assert one(grid[:, ::2]) == ArrayArgument(types.FLOAT32, 2, "strided", True)
    assert one(np.zeros(())) == ArrayArgument(types.FLOAT64, 0, "C", True)
    assert one(np.zeros(3, np.longlong)) == ArrayArgument(types.INT64, 1, "C", True)
    shifted = np.zeros(33, np.uint8)[1:].view(np.float64)
    assert one(shifted) == ArrayArgument(types.FLOAT64, 1, "C", False)


def test_records():
    dtype = np.dtype([("x", "f8"), ("k", "i4")])
    fields = (Field("x", types.FLOAT64, 0), Field("k", types.INT32, 8))
    assert one(np.zeros(3, dtype)) == ArrayArgument(None, 1, "strided", False, fields, record_size=12)
    padded = np.dtype([("x", "f8"), ("k", "i4")], align=True)
    assert one(np.zeros(3, padded)) == ArrayArgument(None, 1, "strided", True, fields, record_size=16)
    for kind in (dtype, padded, np.dtype([("x", "f4", (2, 3)), ("k", "i1")])):
        assert one(np.zeros(3, kind)).dtype == kind
    for kind in (np.dtype([("x", dtype)]), np.dtype([("x", "f8"), ("name", "U4")])):
        assert one(np.zeros(3, kind)).dtype is None
    assert one(np.zeros(3)).dtype is None
    assert one(np.zeros(1, dtype)).aligned


@pytest.mark.parametrize(
    ("value", "what", "remedy"),
    [
        (np.zeros(3, ">f8"), "byte order", "x.astype(x.dtype.newbyteorder('='))"),
        (np.zeros(3, np.float16), "dtype float16", "x.astype(np.float64)"),
        (np.zeros(3, np.longdouble), "dtype", "x.astype(np.float64)"),
        (np.zeros(3, np.clongdouble), "dtype", ""),
        (np.array(["a"]), "<U1", "np.unique(x, return_inverse=True)[1]"),
        (np.array([None]), "object", ""),
        (np.zeros(3, "M8[s]"), "datetime64", "x.view(np.int64)"),
        (np.zeros(3, [("name", "S4")]), "no field", ""),
        (np.float16(1), "float16", "float(x)"),
        (np.str_("a"), "<U1", ""),
        (1j, "complex", "real and the imaginary"),
    ],
)
def test_other_types_are_refused(value, what, remedy):
    with pytest.raises(ArgumentTypeError) as caught:
        signature_of(as_arguments((value,), ("x",)), (), ("x",))
    assert "argument 'x'" in str(caught.value)
    assert what in str(caught.value)
    assert remedy in str(caught.value)


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 10**30, (1, 2**63)])
def test_an_int_that_does_not_fit(value):
    with pytest.raises(OverflowError, match=r"argument 'x'.*does not fit int64"):
        one(value)


def test_a_read_only_array_may_be_read_but_not_written():
    array = np.zeros(3)
    array.flags.writeable = False
    one(array)
    with pytest.raises(ArgumentValueError, match=r"(?s)argument 'x'.*read-only.*x\.copy\(\)"):
        one(array, written=(0,))


def test_the_same_array_twice_matters_where_it_is_written():
    x, y = np.zeros(5), np.zeros(5)

    def same(arguments: tuple[object, ...], written: tuple[int, ...]) -> list[int | None]:
        return [one.same_as for one in signature_of(arguments, written).arguments]

    assert same((x, x, y), ()) == [None, None, None]
    assert same((x, x, y), (0,)) == [None, 0, None]
    assert same((x, x[:], x), (2,)) == [None, 0, 0]
    assert same((y, x, y.copy(), x), (1,)) == [None, None, None, 1]
    assert same((x, x, y, y), (3,)) == [None, None, None, 2]
    assert not signature_of((x, x), (0, 1)).overlap


def test_overlap():
    x = np.zeros(10)
    assert signature_of((x[:6], x[4:]), (0,)).overlap
    assert signature_of((x[:6], x[4:]), (1,)).overlap
    assert not signature_of((x[:6], x[4:]), ()).overlap
    assert not signature_of((x[:5], x[5:]), (0, 1)).overlap
    assert not signature_of((x[::2], x[1::2]), (0, 1)).overlap
    assert signature_of((x, x.view("i8")), (0,)).overlap
    assert signature_of((x, x[::-1]), (1,)).overlap
    y = np.zeros(10)
    assert not signature_of((x[:6], x[4:], y), (2,)).overlap
    assert signature_of((as_strided(x, (5, 3), (8, 8)),), (0,)).overlap


def test_a_union_overlaps_itself():
    union = np.zeros(3, np.dtype({"names": ["i", "f"], "formats": ["i4", "f4"], "offsets": [0, 0]}))
    assert signature_of((union,), (0,)).overlap
    assert not signature_of((union,), ()).overlap


def test_arguments_of_other_libraries_become_arrays():
    tuple_, text = (1, 2), "x"
    found = as_arguments((memoryview(np.zeros(2)), tuple_, text, None, np.float32(1)))
    assert isinstance(found[0], np.ndarray)
    assert found[1:4] == (tuple_, text, None)
    with pytest.raises(ArgumentTypeError, match="argument 'b': a list"):
        as_arguments((1, [1]), ("a", "b"))
