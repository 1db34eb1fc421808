"""Classes whose names say what they make."""

from __future__ import annotations

import numpy as np
import pytest

from loopwright.errors import class_named
from loopwright.ir import made_values


def made(name: str, *things: object) -> object:
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


def test_lists_of_named_tuples():
    found = made(made_values.name_of_list("inspect:ArgInfo"), (1, 2, 3, 4), (5, 6, 7, 8))
    assert [one.locals for one in found] == [4, 8]  # type: ignore[attr-defined]
