"""Which facts an attribute is found by, what is refused, and that both readers of facts agree."""

from __future__ import annotations

import abc
import dataclasses
import enum
import math
import types
from typing import Any

import numpy as np
import pytest

from loopwright.config import current
from loopwright.devices import by_ctypes
from loopwright.devices.launcher import load_launcher
from loopwright.frontend.watched import UnwatchedError, attribute_of
from loopwright.ir.captured import ABSENT, value_now


class Root:
    root = 1


class Meta(type):
    meta = 2

    @property
    def computed(cls) -> int:
        return 1


class Base(Root, metaclass=Meta):
    base = 3

    def method(self) -> int:
        return 1

    @staticmethod
    def static() -> int:
        return 1

    @classmethod
    def of_class(cls) -> int:
        return 1

    @property
    def computed(self) -> int:
        return 1


class Derived(Base):
    def __init__(self) -> None:
        self.own = 4


@dataclasses.dataclass(slots=True)
class Slotted:
    slot: int = 5


class Color(enum.Enum):
    RED = 6


def helper() -> None: ...


helper.note = 7  # type: ignore[attr-defined]
space = types.SimpleNamespace(n=8)
FOUND: list[tuple[object, str, object]] = [
    (Derived, "root", 1), (Derived, "base", 3), (Derived, "meta", 2), (Derived(), "own", 4), (Derived(), "base", 3),
    (Slotted(), "slot", 5), (Color.RED, "value", 6), (Color.RED, "name", "RED"), (Color, "RED", Color.RED),
    (helper, "note", 7), (space, "n", 8), (np, "pi", np.pi), (math, "sqrt", math.sqrt),
    (np.linalg, "norm", np.linalg.norm),
    (Base, "static", Base.static), (Derived(), "static", Base.static), (Base, "method", Base.method),
    (abc.ABC, "x", ABSENT),
    (Derived, "nothing", ABSENT), (Derived(), "nothing", ABSENT), (np, "nothing", ABSENT), (Derived(), "meta", ABSENT),
]  # fmt: skip


@pytest.mark.parametrize(("owner", "name", "value"), FOUND, ids=lambda one: str(one)[:20])
def test_an_attribute_is_found_as_python_finds_it(owner: Any, name: str, value: object) -> None:
    found = attribute_of(owner, name)
    assert found.value is value or found.value == value
    assert found.value is getattr(owner, name, ABSENT)
    assert all(value_now(one.kind, one.namespace, one.key) is one.value for one in found.relies)
    facts = tuple((one.kind, one.namespace, one.key, *[one.value][: one.value is not ABSENT]) for one in found.relies)
    assert load_launcher(current()).launcher.Constants(facts).hold()
    assert by_ctypes.Constants(facts).hold()


def test_the_facts_of_a_class_attribute() -> None:
    kinds = {(one.kind, one.namespace, one.key) for one in attribute_of(Derived, "base").relies}
    assert kinds >= {("mro", Derived, ""), ("own", Derived, "base"), ("own", Base, "base"), ("own", Meta, "base")}
    assert ("own", Root, "base") not in kinds  # it comes after the one that has it


class Asked:
    def __getattr__(self, name: str) -> int:
        raise RuntimeError(name)


class AskedAlways:
    def __getattribute__(self, name: str) -> int:
        return 1


REFUSED = [
    (Derived(), "method"), (Derived(), "computed"), (Derived, "of_class"), (Derived, "computed"), (Asked(), "v"),
    (AskedAlways(), "v"), (np.sqrt, "reduce"), (Derived, "__name__"), (super(Derived, Derived()), "base"),
]  # fmt: skip


@pytest.mark.parametrize(("owner", "name"), REFUSED, ids=lambda one: str(one)[:20])
def test_what_is_computed_is_refused(owner: object, name: str) -> None:
    with pytest.raises(UnwatchedError):
        attribute_of(owner, name)


@pytest.mark.parametrize("fact", [("item", (), "n", 1), ("own", {}, "n", 1), ("cell", {}, "", 1), ("code", 1, "", 1),
                                  ("slot", space, "n", 1), ("what", {}, "n", 1), ("mro", 1, "", 1)])  # fmt: skip
def test_the_launcher_takes_no_fact_that_it_cannot_read(fact: tuple[object, ...]) -> None:
    with pytest.raises(TypeError, match="no constant is of kind"):
        load_launcher(current()).launcher.Constants((fact,))


def test_facts_of_dicts_that_change_often() -> None:
    """Whatever else changes in the dict, and whichever of several codes asks."""
    there: dict[str, object] = {"n": 1}
    launcher = load_launcher(current()).launcher
    one, two, none = (launcher.Constants((("item", there, "n", *value),)) for value in ((1,), (2,), ()))
    for k in range(50):
        there[f"other {k}"] = k
        there["n"] = 1 + k % 2
        assert (one.hold(), two.hold(), none.hold()) == (k % 2 == 0, k % 2 == 1, False)
        assert (one.hold(), two.hold(), none.hold()) == (k % 2 == 0, k % 2 == 1, False)
    there.clear()
    assert (one.hold(), two.hold(), none.hold()) == (False, False, True)
    there.update(n=2)
    assert (one.hold(), two.hold(), none.hold()) == (False, True, False)
