"""The types of a call, written as text."""

from __future__ import annotations

import numpy as np
import pytest

from loopwright.cli.example_arguments import FORM, TypesError, example_arguments


def test_scalars_of_python_and_of_numpy() -> None:
    arguments = example_arguments("int, float, bool, None, float32, np.uint8")
    assert [type(argument) for argument in arguments] == [int, float, bool, type(None), np.float32, np.uint8]


@pytest.mark.parametrize(
    ("text", "dtype", "rank"),
    [("float64[:]", "f8", 1), ("np.int32[:, :]", "i4", 2), ("bool[:,:,:]", "?", 3), ("float32[ : ]", "f4", 1)],
)
def test_arrays(text: str, dtype: str, rank: int) -> None:
    [array] = example_arguments(text)
    assert isinstance(array, np.ndarray)
    assert (array.dtype, array.ndim, array.flags.c_contiguous) == (np.dtype(dtype), rank, True)
    assert rank == 1 or not array.flags.f_contiguous


def test_layouts() -> None:
    c, fortran, strided = example_arguments("float64[:, :] C, float64[:, :] F, float64[:, :] strided")
    assert isinstance(c, np.ndarray) and isinstance(fortran, np.ndarray) and isinstance(strided, np.ndarray)
    assert c.flags.c_contiguous and fortran.flags.f_contiguous and not fortran.flags.c_contiguous
    assert not strided.flags.c_contiguous and not strided.flags.f_contiguous


def test_records() -> None:
    [array] = example_arguments("{x: float64, id: int32}[:]")
    assert isinstance(array, np.ndarray)
    assert array.dtype == np.dtype([("x", "f8"), ("id", "i4")], align=True)


def test_nothing_and_the_form_that_is_advised() -> None:
    assert example_arguments(" ") == ()
    assert len(example_arguments(FORM)) == 5


@pytest.mark.parametrize(
    "text", ["float65[:]", "floot", "float64[:, :] Q", "{x float64}[:]", "{}[:]", "float64[3]", ", int"]
)
def test_what_is_no_type_is_refused(text: str) -> None:
    with pytest.raises(TypesError):
        example_arguments(text)
