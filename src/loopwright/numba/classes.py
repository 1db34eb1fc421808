"""`jitclass`: a class of objects with fields of given types, whose methods are kernels.

The class that it makes runs `__init__` as Python does, and keeps what that assigns, each in its type. A method, called
from Python or from a kernel, is compiled with the object's fields as arguments (frontend/objects.py).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from types import FunctionType, MethodType, SimpleNamespace
from typing import Any

from loopwright.errors import KernelError
from loopwright.frontend.object_class import CLASS, ObjectClass, attributes_assigned, class_of
from loopwright.frontend.parse import parse
from loopwright.ir.made_values import OF_FIELDS
from loopwright.numba.decorate import kernel_or_refused
from loopwright.numba.fields import HELD, elements_of, field, kept
from loopwright.numba.settings import config
from loopwright.numba.types import ScalarType, boolean, float64, int64

_OF_PYTHON = {bool: boolean, int: int64, float: float64}
_NOT_COPIED = ("__dict__", "__weakref__", "__init__", "__annotations__", "__annotate__", "__setattr__")


def jitclass(cls_or_spec: Any = None, spec: Any = None) -> Any:
    """`@jitclass(spec)`, `@jitclass`: a class whose fields have these types, and those that annotations tell.

    spec: pairs of a name and a type, or a dict of them. Raises TypeError for a field whose type is not told.

    Examples:
        >>> from loopwright.numba import float64, int64
        >>> from loopwright.numba.experimental import jitclass
        >>> @jitclass([("total", float64), ("count", int64)])
        ... class Mean:
        ...     def __init__(self):
        ...         self.total = 0.0
        ...         self.count = 0
        ...     def add(self, values):
        ...         for x in values:
        ...             self.total += x
        ...             self.count += 1
        >>> mean = Mean()
        >>> mean.add([1.0, 2.0, 6.0])
        >>> mean.total / mean.count
        3.0
    """
    if isinstance(cls_or_spec, type):
        return _made(cls_or_spec, spec)
    return lambda cls: _made(cls, spec if cls_or_spec is None else cls_or_spec)


def _made(cls: type, spec: Mapping[str, Any] | Iterable[tuple[str, Any]] | None) -> type:
    if config.DISABLE_JIT:
        return cls
    types = dict(spec or ())
    for name, kind in inspect.get_annotations(cls, eval_str=True).items():
        types.setdefault(name, _OF_PYTHON.get(kind, kind))
    found: dict[str, Any] = {}
    for base in reversed(inspect.getmro(cls)[:-1]):
        found |= {name: value for name, value in vars(base).items() if name not in _NOT_COPIED}
    functions = {name: value for name, value in found.items() if isinstance(value, FunctionType)}
    properties = {name: value for name, value in found.items() if isinstance(value, property)}
    getters = {name: value.fget for name, value in properties.items() if isinstance(value.fget, FunctionType)}
    setters = [value.fset for value in properties.values() if isinstance(value.fset, FunctionType)]
    assigned = _assigned([*functions.values(), *getters.values(), *setters])
    numbers = frozenset(name for name, kind in types.items() if isinstance(kind, ScalarType))
    unbound = {name: value.__func__ for name, value in found.items() if isinstance(value, staticmethod)}
    static = {name: value for name, value in unbound.items() if isinstance(value, FunctionType)}
    kinds = {name: one for name, kind in types.items() if (one := elements_of(kind)) is not None}
    init = (cls.__init__,) if isinstance(cls.__init__, FunctionType) else ()  # type: ignore[misc]
    changing = set(numbers & assigned)
    known = ObjectClass(tuple(types), numbers, changing, functions, static, getters, kept, kinds, init, HELD)
    body: dict[str, object] = {name: _Method(value) for name, value in functions.items()}
    body |= {name: _property(value) for name, value in properties.items()}
    body |= {name: field(name, kind) for name, kind in types.items()}
    members = {**found, **body, CLASS: known, "__init__": _first(cls), "__setattr__": _only_fields}
    made = type(cls.__name__, (), members)
    setattr(made, OF_FIELDS, partial(_of_fields, made, tuple(types)))
    made.class_type = SimpleNamespace(instance_type=made)  # type: ignore[attr-defined]
    return made


def _assigned(functions: Iterable[Callable[..., Any]]) -> frozenset[str]:
    trees = []
    for function in functions:
        with suppress(KernelError):  # what it does nobody can read: it is refused when it is called
            trees.append(parse(function)[1].tree)
    return attributes_assigned(trees)


def _first(cls: type) -> Callable[..., None]:
    """`__init__`, which Python runs."""
    written = cls.__init__  # type: ignore[misc]

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        written(self, *args, **kwargs)

    __init__.__doc__ = written.__doc__
    return __init__


def _of_fields(kind: Any, names: tuple[str, ...], values: tuple[object, ...]) -> object:
    made = object.__new__(kind)
    for name, value in zip(names, values, strict=True):
        setattr(made, name, value)
    return made


def _only_fields(self: object, name: str, value: object) -> None:
    known = class_of(type(self))
    assert known is not None
    if name not in known.fields and not isinstance(getattr(type(self), name, None), property):
        raise AttributeError(f"{type(self).__name__} has no field {name!r}: name it, and its type, in the decorator")
    object.__setattr__(self, name, value)


def _property(written: property) -> property:
    """A property whose functions are kernels."""
    getter = _Method(written.fget) if isinstance(written.fget, FunctionType) else written.fget
    setter = _Method(written.fset) if isinstance(written.fset, FunctionType) else written.fset
    return property(getter, setter, written.fdel, written.__doc__)


class _Method:
    """A method as a descriptor: its kernel, which gets the object as its first argument."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.kernel = kernel_or_refused(function, {})
        self.__name__, self.__doc__ = function.__name__, function.__doc__

    def __call__(self, *args: object, **kwargs: object) -> Any:
        return self.kernel(*args, **kwargs)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self.kernel, instance)
