"""Classes whose names say what they make."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from loopwright.errors import class_named, name_of_class
from loopwright.ir import made_values


def made(name: str, *things: object) -> Any:
    kind = class_named(name)
    assert kind is not None
    return kind(*things)


def test_records():
    dtype = np.dtype({"names": ["a", "b"], "formats": ["i4", ("f8", (2,))], "offsets": [0, 8], "itemsize": 32})
    found = made(made_values.name_of_records(dtype), np.arange(3, dtype="i4"), np.ones((3, 2)))
    assert isinstance(found, np.ndarray)
    assert found.dtype == dtype and found["a"].tolist() == [0, 1, 2] and found["b"].sum() == 6.0


def test_dicts_and_texts():
    assert made(made_values.name_of_keyed(("x", "y.z")), 1, 2) == {"x": 1, "y.z": 2}
    assert made(made_values.name_of_text("a: 'text' of ü")) == "a: 'text' of ü"
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        _ = made_values.other


class Pair(NamedTuple):
    x: int
    y: float


def test_objects_of_a_class_in_lists(monkeypatch):
    name, deep = (made_values.name_of_each(name_of_class(Pair), depth) for depth in (1, 2))
    assert class_named(name) is class_named(name)
    assert repr(made(name, (1, 2.0), (3, 4.0))) == "[Pair(x=1, y=2.0), Pair(x=3, y=4.0)]"
    row: list[tuple[int, float]] = [(1, 2.0)]
    found = made(deep, row, [], row)
    assert found == [row, [], row] and found[0] is found[2] and type(found[0][0]) is Pair
    other = type("Pair", (Pair,), {})
    monkeypatch.setitem(globals(), "Pair", other)
    assert type(made(name, (1, 2.0))[0]) is other
    monkeypatch.delitem(globals(), "Pair")
    assert class_named(name) is None
