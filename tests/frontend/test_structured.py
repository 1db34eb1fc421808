"""Arguments that hold others: tuples, named tuples and dataclasses of arrays; functions."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any, NamedTuple

import numpy as np
import pytest

import loopwright as lw


class Point(NamedTuple):
    x: np.ndarray[Any, Any]
    scale: float


@dataclasses.dataclass(frozen=True)
class Grid:
    values: np.ndarray[Any, Any]
    step: int


def halved(x):
    return x / 2


@lw.kernel
def total(pair, point, grid):
    result = 0.0
    for i in range(len(pair[0])):
        result += pair[0][i] * pair[1] + point.x[i] * point.scale
        grid.values[i] = result * grid.step
    return result


@lw.kernel
def applied(function, a):
    for i in range(len(a)):
        a[i] = function(a[i])


@pytest.mark.parametrize("size", [0, 1, 3])
def test_what_they_hold_is_used_and_written(size):
    def given():
        return (np.arange(float(size)), 2), Point(np.ones(size), 0.5), Grid(np.zeros(size), 3)

    ours, theirs = given(), given()
    assert total(*ours) == total.__wrapped__(*theirs)
    assert (ours[2].values == theirs[2].values).all()


def test_other_types_are_other_code():
    grid = Grid(np.zeros(2), 1)
    assert total((np.arange(2), 1.5), Point(np.ones(2, np.float32), 2.0), grid) == 5.5
    with pytest.raises(lw.KernelError, match="this is a str"):
        total((np.arange(2.0), "x"), Point(np.ones(2), 2.0), grid)


def test_functions_as_arguments():
    a = np.arange(3.0)
    applied(halved, a)
    assert a.tolist() == [0, 0.5, 1]
    with pytest.raises(lw.ArgumentTypeError):
        applied(abs, a)  # not written in Python


class Side(enum.Enum):
    LEFT = "left"
    RIGHT = 2


class Code(enum.IntEnum):
    FIRST = 1
    SECOND = 2


@lw.kernel
def at_side(a, side, other=Side.RIGHT):
    count = 0
    for x in a:
        if x == Code.FIRST:
            count += Code.SECOND.value
    if side is Side.LEFT:
        return a[0] + other.value, count
    return (a[-1] if side == Side.RIGHT else 0.0), len(Code.SECOND.name)


def test_members_of_enums():
    a = np.array([1.0, 3.0, 1.0, 5.0])
    for side in (Side.LEFT, Side.RIGHT, Side.LEFT):
        assert at_side(a, side) == at_side.py_func(a, side)


def test_a_read_only_array_inside():
    values = np.zeros(2)
    values.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        total((np.arange(2.0), 1), Point(np.ones(2), 1.0), Grid(values, 1))


@lw.kernel
def of_a_record(record, x):
    return x * record["slope"] + record["offset"]


@lw.kernel
def into_a_record(record):
    record["slope"] = 1.0


def test_one_record_is_read():
    records = np.array([(2.0, 3), (0.5, 1)], dtype=[("slope", "f8"), ("offset", "i4")])
    for record in records:
        assert (of_a_record(record, np.arange(3.0)) == of_a_record.py_func(record, np.arange(3.0))).all()
    with pytest.raises(ValueError, match="read-only, and the function writes to it"):
        into_a_record(records[0])


@lw.kernel
def of_a_type(x, dtype, kind=np.float32):
    out = np.zeros(len(x), dtype)
    for i in range(len(x)):
        out[i] = x[i] * kind(0.5)
    return out, x.astype(dtype)


def doubled(x):
    return 2.0 * x


PAIR = (np.ones(2), 3.0)


@lw.kernel
def with_defaults(x, function=doubled, pair=PAIR, turn=1j):
    return function(x[0]) + pair[0].sum() * pair[1], turn * x[1]


@pytest.mark.parametrize("arguments", [(np.int16,), (np.dtype("f4"), np.float64), (float, float)])
def test_types_of_numbers(arguments):
    found, expected = of_a_type(np.arange(5.0), *arguments), of_a_type.py_func(np.arange(5.0), *arguments)
    for mine, theirs in zip(found, expected, strict=True):
        assert mine.dtype == theirs.dtype and (mine == theirs).all()


def test_defaults_that_hold_others():
    x = np.array([1.0, 2.0])
    for _ in range(2):
        assert with_defaults(x) == with_defaults.py_func(x) == (8.0, 2j)
    assert with_defaults(x, turn=1.0) == (8.0, 2.0)


def of_rows(matrix, x):
    total = np.zeros(matrix.shape[0])
    for i in range(matrix.shape[0]):
        for k in range(matrix.indptr[i], matrix.indptr[i + 1]):
            total[i] += matrix.data[k] * x[matrix.indices[k]]
    return total


def scaled_triples(matrix, by):
    for k in range(len(matrix.data)):
        matrix.data[k] *= by * (matrix.row[k] + matrix.col[k])
    return matrix.shape


def sum_of_all(matrix):
    return matrix.sum()


def test_sparse_matrices():
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.random(5, 3, 0.5, format="csr", random_state=1)
    matrix.data.flags.writeable = False
    x = np.arange(3.0)
    assert np.allclose(lw.kernel(of_rows)(matrix, x), matrix @ x)
    assert np.allclose(lw.kernel(of_rows)(matrix[1:3], x), matrix[1:3] @ x)
    triples, ours = matrix.tocoo().copy(), matrix.tocoo().copy()
    assert lw.kernel(scaled_triples)(ours, 2.0) == scaled_triples(triples, 2.0) == (5, 3)
    assert np.array_equal(ours.toarray(), triples.toarray())
    with pytest.raises(lw.KernelError, match=r"'.sum' of an object of the class 'csr_matrix' is outside"):
        lw.kernel(sum_of_all)(matrix)
