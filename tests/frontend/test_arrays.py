"""Indices, views, shapes, records and constant tables against CPython."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, kernel_of, refusal, same, same_made, text_of

OFFSETS = (-1, 0, 1)
WEIGHTS = (0.25, 0.5, 0.25)
PAIRS = ((0, 1), (1, 0), (-1, -1))
MIXED = (1, 2.5, 3)


def grid(dtype="float64"):
    return np.arange(24).reshape(2, 3, 4).astype(dtype)


def indices(a, i, out):
    out[0] = a[i, 1, 2] + a[i][1][2] + a[i, 1][2] + a[i][1, 2]
    out[-1] = a[-1, -2, -3]
    row = a[i]
    line = row[2]
    again = a
    out[1] = row[0, 0] + line[3] + again[0, 0, 0]
    for k in range(len(line)):
        line[k] += 100
    out[2] = a[i, 2, 1]


@pytest.mark.parametrize("kind", [int, np.int8, np.uint16, np.int32, np.uint64, np.int64])
def test_indices_and_views(kind):
    same(indices, grid(), kind(1), np.zeros(5))


def moving_view(a, out):
    i = 0
    row = a[i]
    i = 1
    out[0] = row[0]
    while i >= 0:
        line = a[i]
        i -= 1
        out[1] += line[1]


def test_a_view_keeps_its_index():
    same(moving_view, np.arange(6.0).reshape(2, 3), np.zeros(2))


def unused_view(a, i):
    row = a[i]  # noqa: F841
    a[0, 0] = 1


def unused_argument(a, i):
    def nothing(row):
        a[0, 0] = 1

    nothing(a[i])


@pytest.mark.parametrize("function", [unused_view, unused_argument])
def test_a_view_that_is_not_used_is_out_of_range_all_the_same(function):
    for shape in ((2, 2), (2, 0), (0, 0)):
        for i in (-3, -2, 1, 2):
            same(function, np.zeros(shape), i)


def outside(a, i):
    return a[i]


def test_a_tuple_written_out_in_an_index():
    def moved(a, rest, n):
        for m in range(n):
            a[m, *rest] += 2
            a[(m, *rest)] *= 3
            a[*rest, m] = a[0, *rest[1:], m]
        return a[1, *rest], a[0, *rest[:1]].sum()

    same(moved, np.arange(8.0).reshape(2, 2, 2), (0, 1), 2)


def test_an_index_outside_is_an_error():
    assert same(outside, np.zeros(3), 3) is IndexError
    assert same(outside, np.zeros(3), -4) is IndexError
    assert same(outside, np.zeros(3), -3) == 0.0


def shapes(a, b):
    n, m, k = a.shape
    height = a.shape[0]
    last = a.shape[-1]
    rest = a.shape[1:]
    line = a[0, 1]
    square = (n, m, k) == a.shape
    other = a.shape != b.shape
    return (
        n * m * k, a.size, len(a), a.ndim, height + last, rest[0], len(rest), line.shape[0], line.size, len(a[0]),
        len(a.shape), b.ndim, square, other, a.itemsize,
    )  # fmt: skip


def test_shapes():
    same(shapes, grid(), np.zeros(3))


def zero_dimensional(a):
    a[()] += 2
    return a[()]


def test_an_array_without_axes():
    same(zero_dimensional, np.array(3.5))


def tables(a, k):
    total = 0.0
    for d in range(3):
        total += WEIGHTS[d] * a[1 + OFFSETS[d]]
        total += MIXED[d]
    for d in range(len(PAIRS)):
        total += a[PAIRS[0][1]] * d
    return total + OFFSETS[k] + PAIRS[1][0]


def test_tuples_of_constants_are_indexed_by_variables():
    same(tables, np.arange(4.0), 2)
    assert same(tables, np.arange(4.0), 3) is IndexError
    same(tables, np.arange(4, dtype=np.float32), -1)


RECORD = np.dtype([("x", "f8"), ("n", "i4"), ("v", "f4", (3,)), ("flag", "?"), ("m", "u1", (2, 2))])


def particles(size=4):
    p = np.zeros(size, RECORD)
    p["x"] = np.arange(size)
    p["n"] = 10 - np.arange(size)
    p["v"] = np.arange(3 * size).reshape(size, 3)
    return p


def fields(p, out):
    x = p["x"]
    for i in range(len(p)):
        p["x"][i] += p[i]["n"]
        one = p[i]
        one["n"] = i
        p[i]["flag"] = x[i] > 8
        p["v"][i, 1] = p[i]["v"][2] + p["v"][i][0]
        velocity = one["v"]
        velocity[2] += 1
        p["m"][i, 1, 0] = one["m"][0, 1] + i
        for k in range(p["v"].shape[1]):
            out[i] += p["v"][i, k]
    return p.shape[0], p.ndim, p["m"].shape[2], p.size


def test_fields_of_records():
    same(fields, particles(), np.zeros(4))


def attributes(p):
    for i in range(p.shape[0]):
        p.x[i] *= 2
        p[i].n += 1
        p.v[i, 0] = p[i].v[1]
        p[i].x = p.n[i]
    return p.x[1]


def test_fields_as_attributes_of_records():
    records = particles().view(np.recarray)
    same(attributes, records)


def grid_of_records(p):
    for i in range(p.shape[0]):
        for j in range(p.shape[1]):
            p[i, j]["x"] = p["n"][i, j] + p[i]["x"][j] + p[i][j]["n"]


def test_records_of_two_axes():
    same(grid_of_records, particles(6).reshape(2, 3))


def test_each_field_is_an_array():
    kernel = kernel_of(fields, particles(), np.zeros(4))
    assert [(a.name, a.rank, a.offset, a.argument) for a in kernel.arrays] == [
        ("p.x", 1, 0, 0), ("p.n", 1, 8, 0), ("p.v", 2, 12, 0), ("p.flag", 1, 24, 0), ("p.m", 3, 25, 0),
        ("out", 1, 0, 1),
    ]  # fmt: skip


def only_one_field(p):
    for i in range(len(p)):
        p["n"][i] = p.shape[0]


def test_sizes_of_records_are_those_of_the_first_field():
    same(only_one_field, particles())
    text = text_of(only_one_field, particles())
    assert "size(p.x, 0)" in text
    assert "size(p.n" not in text
    assert "p.v" not in text


def field_by_name(p, name):
    return p[name][0] + p["x"][1]


def test_a_field_named_by_an_argument():
    same(field_by_name, particles(), "n")
    assert "has no field 'y'" in refusal(field_by_name, particles(), "y")


def copies(p, q):
    for i in range(2):
        p[i] = q[2 * i]
    first = q[0]
    p[3] = first
    q[0]["v"][1] = 7.0
    p[-1] = first
    return p[0]["x"]


def turned_round(p):
    for i in range(len(p) // 2):
        held = p[i]
        n = held["n"]
        p[i] = p[len(p) - 1 - i]
        p[len(p) - 1 - i]["n"] = n


def beyond(p, q):
    p[1] = q[len(q)]


def test_whole_records():
    same(copies, particles(), particles()[::-1].copy())
    same(turned_round, particles(5))
    same(beyond, particles(), particles())
    same_made(copies, lambda: (lambda p: (p, p))(particles()))
    for kernel, arguments in ((lw.kernel(copies), (particles(), particles()[::-1].copy())),):
        own, ours = (tuple(one.copy() for one in arguments) for _ in range(2))
        copies(*own)
        kernel(*ours)
        assert all((mine == theirs).all() for mine, theirs in zip(own, ours, strict=True))


def test_whole_records_are_refused():
    other = np.zeros(4, [("x", "f8"), ("n", "i4"), ("text", "S3")])
    assert "fields one by one" in refusal(copies, particles(), other)
    assert "fields one by one" in refusal(beyond, other, other.copy())

    def number_for_record(p):
        p[0] = 1.0

    assert "fields one by one" in refusal(number_for_record, particles())


def twice(a, b):
    a[0] += 1
    b[0] += 1
    return a[0]


def test_one_array_given_twice():
    a = np.zeros(3)
    same(twice, a, a)
    assert "b[" not in text_of(twice, a, a)
    assert len(kernel_of(twice, a, a).arrays) == 1


def types(a):
    kind = a.dtype
    wide = kind == np.float64
    one = a.dtype.type(1)
    if a.dtype == np.float32:
        one += 1
    return one, wide


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
def test_dtypes_are_known(dtype):
    same(types, np.zeros(2, dtype))


def test_an_item_of_a_tuple_of_numbers():
    function = define("def f(a, k):\n    t = (a[0], a[1], a[2] + 1)\n    return t[k], a.shape[k - k], (k, 9)[0 * k]\n")
    for k in (0, 2, -1, -3):
        same(function, np.arange(3.0), k)
    with pytest.raises(IndexError):
        lw.kernel(function)(np.arange(3.0), 3)
    assert "not all of its items are numbers" in refusal(define("def f(a, k):\n    return (a, k)[k]\n"), np.ones(2), 1)


def adds_the_first_row(b, c):
    b += b[0]
    return c


def twice_the_last_row(b, c):
    return b[-1] * 2.0


@pytest.mark.parametrize("function", [adds_the_first_row, twice_the_last_row])
def test_a_row_that_does_not_exist_is_an_error_where_it_has_no_elements(function):
    for shape in ((0, 3), (0, 0)):
        for run in (function, lw.kernel(function)):
            with pytest.raises(IndexError):
                run(np.zeros(shape), np.zeros(1))
    assert lw.kernel(function)(np.ones((1, 0)), np.zeros(1)).shape == function(np.ones((1, 0)), np.zeros(1)).shape


def flags_of(x):
    return x.flags.c_contiguous, x.flags.f_contiguous, x.flags.contiguous


def test_flags_of_the_layout_of_arguments():
    kernel = lw.kernel(flags_of)
    a = np.arange(12.0).reshape(3, 4)
    for x in (
        a, a.T, a[:, :1], a[:1], a[::2], a[:, ::2], np.zeros((0, 3)), np.zeros((3, 0)), np.ones(3), np.ones(6)[::2],
        np.ones((1, 1)), a.reshape(3, 2, 2), a.reshape(3, 2, 2).transpose(2, 1, 0), a.astype(complex), a.T * 1j,
    ):  # fmt: skip
        assert kernel(x) == flags_of(x)
    for text in ("(x * 2).flags.c_contiguous", "x.T.flags.f_contiguous", "x[0].flags.contiguous"):
        told = refusal(define(f"def f(x):\n    return {text}\n"), a)
        assert "arrays that are arguments only" in told and "example.py:2" in told
    assert "'.flags' of an array is outside the language" in refusal(define("def f(x):\n    return x.flags\n"), a)
