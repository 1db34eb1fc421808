"""Structured dtypes as flat fields."""

from __future__ import annotations

import numpy as np

from loopwright.ir.signature import Field
from loopwright.ir.types import FLOAT32, FLOAT64, INT16, INT32
from loopwright.memory.records import alignment_of, fields_of, fields_overlap, is_complete


def test_fields_with_offsets_and_sub_arrays():
    dtype = np.dtype([("x", "f8"), ("m", "f4", (2, 3)), ("n", "i2")])
    assert fields_of(dtype) == (
        Field("x", FLOAT64, 0),
        Field("m", FLOAT32, 8, ((2, 12), (3, 4))),
        Field("n", INT16, 32),
    )


def test_nested_records_are_flattened():
    inner = np.dtype([("x", "f4"), ("y", "f4")])
    dtype = np.dtype([("id", "i4"), ("at", inner)])
    assert fields_of(dtype) == (Field("id", INT32, 0), Field("at.x", FLOAT32, 4), Field("at.y", FLOAT32, 8))


def test_fields_of_other_types_are_left_out():
    dtype = np.dtype([("name", "S8"), ("x", "f8"), ("big", ">f8"), ("half", "f2")])
    assert [field.name for field in fields_of(dtype)] == ["x"]


def test_numpys_own_address_of_a_field_is_ours():
    dtype = np.dtype([("a", "i2"), ("m", "f4", (2, 3)), ("b", "f8")], align=True)
    records = np.zeros(3, dtype)
    for field in fields_of(dtype):
        view = records[field.name]
        assert view.ctypes.data - records.ctypes.data == field.offset
        assert view.strides[1:] == tuple(stride for _, stride in field.tail)
        assert view.shape[1:] == tuple(size for size, _ in field.tail)


def test_alignment():
    assert alignment_of(np.dtype([("a", "i2"), ("b", "f8")])) == 0
    assert alignment_of(np.dtype([("a", "i2"), ("b", "f8")], align=True)) == 8
    assert alignment_of(np.dtype([("a", "i2"), ("b", "i2")])) == 2
    assert alignment_of(np.dtype([("name", "S3")])) == 1


def test_unions():
    union = np.dtype({"names": ["i", "f"], "formats": ["i4", "f4"], "offsets": [0, 2]})
    assert fields_overlap(union)
    assert not fields_overlap(np.dtype([("a", "i4", (3,)), ("b", "f4")]))


def test_whether_all_of_a_record_can_be_used():
    assert is_complete(np.dtype([("x", "f8"), ("v", "f4", (2, 3)), ("inner", [("n", "i2"), ("flag", "?")])]))
    for kind in ("S3", "U2", "O", "f2", "M8[s]", [("text", "S1")]):
        assert not is_complete(np.dtype([("x", "f8"), ("other", kind)]))
