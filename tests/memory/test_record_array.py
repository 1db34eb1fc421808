from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.memory.record_array import Record, RecordArray

MIXED = np.dtype([("x", "f8"), ("v", "f4", 3), ("k", "i8"), ("on", "?")], align=True)


def records(n: int | tuple[int, ...], dtype: np.dtype[Any] = MIXED) -> np.ndarray[Any, Any]:
    """Small whole numbers."""
    draw = np.random.default_rng(1)
    made = np.zeros(n, dtype)
    for name in dtype.names or ():
        made[name] = draw.integers(0, 2, made[name].shape)
    return made


def planes(source: Any, dtype: Any = None) -> RecordArray:
    made = lw.array(source, dtype)
    assert isinstance(made, RecordArray)
    return made


def same(some: Any, others: Any) -> bool:
    """Whether all fields have equal elements, in arrays of one shape."""
    pairs = [(some[name], others[name]) for name in MIXED.names or ()]
    return all(a.shape == b.shape and (a == b).all() for a, b in ((np.asarray(a), np.asarray(b)) for a, b in pairs))


# ---- beside NumPy ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (2, 3), (0, 4), (2, 1, 3)])
def test_it_looks_like_one_of_numpys(shape: tuple[int, ...]) -> None:
    given = records(shape)
    p = planes(given)
    assert (p.shape, p.ndim, p.size, p.dtype, len(p)) == (shape, len(shape), given.size, MIXED, shape[0])
    assert same(np.asarray(p), given) and same(p.numpy(), given) and same(p, given)
    assert same(pickle.loads(pickle.dumps(p)), given) and same(copy.deepcopy(p), given)
    for name in MIXED.names or ():
        assert (p[name] == given[name]).all() and (getattr(p, name) == given[name]).all()
    assert p.layout == "soa" and p.nbytes == given.size * (8 + 12 + 8 + 1)


@pytest.mark.parametrize("index", [slice(1, 3), slice(None, None, -2), 2, -1, [1, 3, 1], np.arange(6) > 2, Ellipsis,
                                   (slice(0, 4),), np.int64(3)])  # fmt: skip
def test_parts(index: Any) -> None:
    given, p = records(6), planes(records(6))
    assert same(p[index], given[index])
    p[index] = given[0]
    given[index] = given[0]
    assert same(p, given)


def test_basic_indices_are_views() -> None:
    p = planes(records(6))
    p[2:4]["x"] = 9.0
    p[1]["x"] = 8.0
    p.k = 7
    p["v"] = [1, 2, 3]
    assert p["x"][1:4].tolist() == [8, 9, 9] and p.k.tolist() == [7] * 6 and p["v"][0].tolist() == [1, 2, 3]
    assert p["x"].base is p.x.base and [one["k"] for one in p] == [7] * 6
    assert isinstance(p[0], Record) and "7" in repr(p[0]) and "soa" in repr(p)


def test_each_field_is_a_plane_and_so_is_each_axis_of_one() -> None:
    p = planes(5, MIXED)
    assert p.x.flags.c_contiguous and p.v.shape == (5, 3) and p.v.flags.f_contiguous and not p.v.any()
    plain = lw.array(5, MIXED, layout="aos")
    assert type(plain) is np.ndarray and plain.shape == (5,)


@pytest.mark.parametrize(
    ("source", "dtype", "layout", "error", "text"),
    [
        (5, "f8", "soa", ValueError, "has no fields"),
        (5, MIXED, "rows", ValueError, "'soa' or 'aos' is wanted"),
        (5, [("shape", "f8")], "soa", ValueError, "cannot be called 'shape'"),
        (5, [("a b", "f8")], "soa", ValueError, "cannot be called 'a b'"),
        (5, [("s", "S4")], "soa", lw.ArgumentTypeError, "a type that kernels do not know"),
        (5, [("r", [("x", "f8")])], "soa", lw.ArgumentTypeError, "a type that kernels do not know"),
    ],
)
def test_what_cannot_be_made(source: Any, dtype: Any, layout: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        lw.array(source, np.dtype(dtype), layout)


def test_fields_that_are_not_there() -> None:
    p = planes(3, MIXED)
    for wrong in (lambda: p["y"], lambda: p[0]["y"], lambda: p.__setitem__("y", 1), lambda: p[0].__setitem__("y", 1)):
        with pytest.raises(ValueError, match="no field of name y"):
            wrong()
    with pytest.raises(AttributeError, match="no field 'y': there are x, v, k, on"):
        p.y = 1
    with pytest.raises(ValueError, match="without a copy"):
        np.array(p, copy=False)


# ---- in kernels -------------------------------------------------------------------------------------------------


def work(p: Any, t: int) -> float:
    """Reads and writes fields in all the ways there are."""
    total = 0.0
    for _ in range(t):
        for i in range(len(p)):
            p[i]["x"] += 0.5 * p["v"][i, 1] + p[i]["k"]
            p["v"][i, 2] = p["x"][i] + i
            if p[i]["on"]:
                total += p[i - 1]["x"]
        total += p.shape[0] + p[0]["x"]
    return total


@pytest.mark.parametrize("device", ["cpu", "interpreter", "emulated"])
@pytest.mark.parametrize("n", [1, 2, 37])
def test_results_are_those_of_an_array_of_records(device: Any, n: int) -> None:
    kernel = lw.kernel(work)
    with lw.options(device=device, strict=True):
        for part in (slice(None), slice(None, None, 2), slice(None, None, -1)):
            given, p = records(n), planes(records(n))
            wanted = work(given[part], 3)
            assert kernel(p[part], 3) == wanted and same(p, given)


def test_axes_of_records_and_axes_of_a_field_are_told_apart() -> None:
    """Both kernels have one argument of two axes, and the same text."""

    @lw.kernel
    def first(p: Any) -> Any:
        return p[1]["x"][0] if p.ndim == 1 else p[1, 0]["x"]

    one = planes(np.array([((1.0, 2.0),), ((3.0, 4.0),)], [("x", "f8", 2)]))
    two = planes(np.array([[(1.0,), (2.0,)], [(5.0,), (6.0,)]], [("x", "f8")]))
    assert [first(one), first(two), first(one)] == [3.0, 5.0, 3.0]


def test_an_index_that_is_wrong_names_the_field() -> None:
    @lw.kernel
    def read(p: Any, b: Any) -> float:
        total = 0.0
        for i in range(len(b)):
            total += p[b[i]]["x"]
        return total

    with pytest.raises(lw.BoundsError) as error:
        read(planes(records(3)), np.array([0, 3]))
    assert (error.value.array, error.value.index, error.value.size) == ("p.x", 3, 3)


def test_the_same_array_twice_and_views_that_overlap() -> None:
    @lw.kernel
    def add(p: Any, q: Any) -> None:
        for i in range(1, len(p)):
            p[i]["x"] += q[i - 1]["x"]

    given, p = np.zeros(6, [("x", "f8")]), planes(6, [("x", "f8")])
    given["x"] = p["x"] = np.arange(6)
    add(p, p)
    add.__wrapped__(given, given)  # type: ignore[attr-defined]
    add(p[1:], p[:-1])
    add.__wrapped__(given[1:], given[:-1])  # type: ignore[attr-defined]
    assert p["x"].tolist() == given["x"].tolist()


def test_other_arrays_of_records_stay_what_they_are() -> None:
    kernel = lw.kernel(work)
    given = records(9)
    again = given.copy()
    assert kernel(given, 2) == kernel(planes(again), 2) == work(again, 2)


def test_fields_as_attributes() -> None:
    @lw.kernel
    def move(p: Any) -> None:
        for i in range(len(p)):
            p[i].x += p.v[i, 0]
        p.k[0] = p.size

    p = planes(records(4))
    wanted = p.x + p.v[:, 0]
    move(p)
    assert (p.x == wanted).all() and p.k[0] == 4
