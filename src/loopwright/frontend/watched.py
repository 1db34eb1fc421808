"""How an attribute of something outside the function is found, as single facts that cost next to nothing to check
again (`ir/captured.py`).

Every way to another value passes through one of these facts. `Cfg.v` is what the global `Cfg` is, the order in which
its bases are searched, and what `v` is in each of them up to the one that has it. What no facts tell, as it is computed
whenever it is asked for (a property, `__getattr__`), is refused: UnwatchedError.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from types import FunctionType, GetSetDescriptorType, MemberDescriptorType, ModuleType, SimpleNamespace

from loopwright.ir.captured import ABSENT, CapturedConstant, value_now


@dataclass(frozen=True, slots=True)
class Found:
    """What a name or an attribute means outside the function, ABSENT for nothing, and all that this relies on."""

    value: object
    relies: tuple[CapturedConstant, ...] = ()


class UnwatchedError(Exception):
    """What an attribute is can only be told by asking again: why."""


class MethodError(UnwatchedError):
    """It is a method of an object."""


def attribute_of(owner: object, name: str) -> Found:
    """An attribute, found as Python finds it. Raises UnwatchedError."""
    relies: list[CapturedConstant] = []
    if isinstance(owner, ModuleType):
        getattr(owner, name, None)  # one that is loaded late becomes an ordinary one
    value = (_of_class if isinstance(owner, type) else _of_object)(owner, name, relies)  # type: ignore[arg-type]
    if value is ABSENT and _is_computed(owner, name):
        raise UnwatchedError(f"'{_name_of(owner)}' has a __getattr__, which may give something else each time")
    return Found(value, tuple(relies))


# ---- how Python finds attributes --------------------------------------------------------------------------------

_ORDINARY = [vars(one).get("__getattribute__") for one in (object, ModuleType, SimpleNamespace, FunctionType)]
_BEHIND = {"value": "_value_", "name": "_name_"}  # of a member of an Enum
_HEAP_TYPE, _IMMUTABLE_TYPE = 1 << 9, 1 << 8


def _of_object(owner: object, name: str, relies: list[CapturedConstant]) -> object:
    kind = type(owner)
    relies.append(CapturedConstant("type", owner, "", kind))
    if _in_classes(kind, "__getattribute__", relies) not in _ORDINARY:
        raise UnwatchedError(f"'{kind.__name__}' has a __getattribute__ of its own")
    found = _in_classes(kind, name, relies)
    if _is_data_descriptor(found):
        if isinstance(found, MemberDescriptorType) and _may_change(kind):
            value = value_now("slot", owner, found)
            relies.append(CapturedConstant("slot", owner, found, value))
            return value
        if name in _BEHIND and found is vars(enum.Enum)[name]:
            return _of_object(owner, _BEHIND[name], relies)
        raise UnwatchedError(_computed(found, name, kind))
    space = _dict_of(owner, kind, relies)
    if space is not None:
        value = dict.get(space, name, ABSENT)
        relies.append(CapturedConstant("item", space, name, value))
        if value is not ABSENT:
            return value
    return _given(found, name, kind, relies)


def _of_class(owner: type, name: str, relies: list[CapturedConstant]) -> object:
    kind = type(owner)
    if _may_change(owner):
        relies.append(CapturedConstant("type", owner, "", kind))
    if _in_classes(kind, "__getattribute__", relies) is not type.__dict__["__getattribute__"]:
        raise UnwatchedError(f"'{kind.__name__}', the class of '{owner.__name__}', has a __getattribute__ of its own")
    of_kind = _in_classes(kind, name, relies)
    if _is_data_descriptor(of_kind):
        raise UnwatchedError(_computed(of_kind, name, kind))
    found = _in_classes(owner, name, relies)
    if found is ABSENT:
        return _given(of_kind, name, kind, relies)
    itself = isinstance(found, FunctionType) or type(found).__module__.split(".")[0] in ("numba", "loopwright")
    return found if itself else _given(found, name, owner, relies)


def _in_classes(kind: type, name: str, relies: list[CapturedConstant]) -> object:
    """What a class or the first of its bases that has it has under a name, as it stands there."""
    mro: tuple[type, ...] = type.__dict__["__mro__"].__get__(kind)
    if _may_change(kind):
        relies.append(CapturedConstant("mro", kind, "", mro))
    for one in mro:
        value = value_now("own", one, name)
        if _may_change(one):
            relies.append(CapturedConstant("own", one, name, value))
        if value is not ABSENT:
            return value
    return ABSENT


def _given(found: object, name: str, kind: type, relies: list[CapturedConstant]) -> object:
    """What asking for an attribute gives where this stands in a class."""
    if isinstance(found, staticmethod):
        return found.__func__
    if found is ABSENT or _in_classes(type(found), "__get__", relies) is ABSENT:
        return found
    is_method = isinstance(found, FunctionType | classmethod)
    raise (MethodError if is_method else UnwatchedError)(_computed(found, name, kind))


def _dict_of(owner: object, kind: type, relies: list[CapturedConstant]) -> dict[str, object] | None:
    getter = _in_classes(kind, "__dict__", relies)
    if getter is ABSENT:
        return None
    if not isinstance(getter, GetSetDescriptorType | MemberDescriptorType):
        raise UnwatchedError(_computed(getter, "__dict__", kind))
    space = getter.__get__(owner, kind)
    if not isinstance(space, dict):
        return None
    if kind is not ModuleType:  # that of a module stays
        relies.append(CapturedConstant("dict", owner, "", space))
    return space


def _is_data_descriptor(found: object) -> bool:
    kind = type(found)
    return hasattr(kind, "__get__") and (hasattr(kind, "__set__") or hasattr(kind, "__delete__"))


def _may_change(kind: type) -> bool:
    """Whether attributes of the class can be set: not those of a built-in one."""
    return kind.__flags__ & (_HEAP_TYPE | _IMMUTABLE_TYPE) == _HEAP_TYPE


def _computed(found: object, name: str, kind: type) -> str:
    what = "method" if isinstance(found, FunctionType) else type(found).__name__
    return f"'{name}' is a {what} of '{kind.__name__}'"


def _is_computed(owner: object, name: str) -> bool:
    try:
        return getattr(owner, name, ABSENT) is not ABSENT
    except Exception:  # whatever a __getattr__ does
        return True


def _name_of(owner: object) -> str:
    return str(owner.__name__ if isinstance(owner, type | ModuleType) else type(owner).__name__)
