"""What is known of a class whose objects have fields that its methods change: what numba's `jitclass` makes."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import numpy as np

CLASS = "__loopwright_class__"


@dataclass(frozen=True, eq=False)
class ObjectClass:
    """What is known of such a class. fields: their names, in order. numbers: those that hold one. changing: those of
    them that some code assigns, as far as any was read. read: what a field of an object holds; of a number that
    changes, the array of one element that it lies in. types: of numbers and arrays, the type of elements and how many
    axes there are. init: `__init__`, where it can
    be read. prefix: of a field's name, of the attribute that holds what `read` gave last."""

    fields: tuple[str, ...]
    numbers: frozenset[str]
    changing: set[str]
    methods: Mapping[str, FunctionType]
    static: Mapping[str, FunctionType]
    properties: Mapping[str, FunctionType]
    read: Callable[[object, str], object]
    types: Mapping[str, tuple[np.dtype[Any], int]] = field(default_factory=dict)
    init: tuple[FunctionType, ...] = ()
    prefix: str = ""

    def functions(self) -> Iterator[FunctionType]:
        """Everything that an object of the class can do."""
        for several in (self.methods, self.static, self.properties):
            yield from several.values()

    def makers(self) -> tuple[FunctionType, ...]:
        """What who makes an object of the class may need; nothing where `__init__` cannot be read."""
        return (*self.init, *self.functions()) if self.init else ()


@dataclass(frozen=True)
class FieldsOf:
    """What makes an object of a class, if it is called with a value for each field."""

    kind: type


_OF_SPARSE = (("data", "indices", "indptr", "shape"), ("data", "row", "col", "shape"))
_SPARSE: dict[type, ObjectClass | None] = {}


def class_of(kind: type | None) -> ObjectClass | None:
    """What is known of a class of such objects, or of a sparse matrix of SciPy's, whose arrays are its fields; None for
    every other class."""
    if kind is None:
        return None
    found = vars(kind).get(CLASS)
    if found is None and kind.__module__.startswith("scipy.sparse."):
        if kind not in _SPARSE:
            _SPARSE[kind] = _sparse(kind)
        return _SPARSE[kind]
    return found if isinstance(found, ObjectClass) else None


def _sparse(kind: type) -> ObjectClass | None:
    if not kind.__name__.startswith(("csr_", "csc_", "coo_")):
        return None
    fields = _OF_SPARSE[kind.__name__.startswith("coo_")]
    return ObjectClass(fields, frozenset(), set(), {}, {}, {}, getattr)


def decides_truth(kind: type | None) -> bool:
    """Whether objects of a class, of those that have only fields, say themselves whether they are true."""
    has_only_fields = kind is not None and (dataclasses.is_dataclass(kind) or class_of(kind) is not None)
    return has_only_fields and (hasattr(kind, "__bool__") or hasattr(kind, "__len__"))


def attributes_assigned(trees: Iterable[ast.FunctionDef]) -> frozenset[str]:
    """The attributes that functions assign, of whatever name."""
    return frozenset(
        node.attr
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    )
