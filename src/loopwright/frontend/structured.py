"""Arguments that hold others: tuples, named tuples and dataclasses with arrays in them, dicts, lists, complex numbers,
functions.

A call with such arguments is one of a function with a parameter for each array and number in them; in the function,
they are put together again. Functions are known at compile time.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import FunctionType
from typing import TYPE_CHECKING

import numpy as np

from loopwright.errors import ArgumentValueError, FieldError
from loopwright.frontend import given_back
from loopwright.frontend.changing_methods import is_changed_by_method
from loopwright.frontend.generator_state import STATE, is_generator, state_of
from loopwright.frontend.long_texts import is_sequence
from loopwright.frontend.object_class import ObjectClass, class_of
from loopwright.frontend.packed import (
    KeysAndValues,
    Packed,
    arrays_of,
    lists_in,
    packed,
    packed_dict,
    put_back,
    shares_memory,
)
from loopwright.frontend.parse import parameters_of
from loopwright.frontend.written import written_parameters
from loopwright.ir.long_text import is_long_text

if TYPE_CHECKING:
    from loopwright.frontend.capture import Source


@dataclass(frozen=True, slots=True)
class Given:
    """A function, a type of numbers or a member of an Enum, as an argument."""

    value: object

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Given) and other.value is self.value


@dataclass(frozen=True, slots=True)
class Held:
    """Several values. names: of the fields, where they have names. kind: the class."""

    parts: tuple[Structure, ...]
    kind: type
    names: tuple[str, ...] = ()


_PLAIN = frozenset({np.ndarray, bool, int, float, str, type(None)})
_APART = 64  # in launcher_lists.c: a bit behind the number of axes
_MOST_ITEMS = 32  # of a list of several kinds of things: each is an argument of its own
Structure = Held | Given | Packed | None  # None: an argument as any other


def structure_of(value: object) -> Structure:
    """What is inside an argument; None where it is an array, a number or a constant of the code."""
    if type(value) in _PLAIN:  # most fields of objects: the questions below take microseconds
        return packed(value) if is_long_text(value) else None  # type: ignore[arg-type]
    match value:
        case dict() if value and all(type(key) is str for key in value):
            return Held(tuple(map(structure_of, value.values())), dict, tuple(value))
        case dict():
            parts = packed_dict(value)
            return packed(value) if parts is None else Held(parts, KeysAndValues)
        case bytes():
            return packed(value)
        case list():
            found = packed(value)
            is_short = found is None and 0 < len(value) <= _MOST_ITEMS
            return Held(tuple(map(structure_of, value)), list) if is_short else found
        case range():
            return Held((None, None, None), range, ("start", "stop", "step"))
        case tuple() if hasattr(type(value), "_fields"):
            return Held(tuple(map(structure_of, value)), type(value), tuple(type(value)._fields))  # type: ignore[attr-defined]
        case tuple() if any(map(_is_no_constant, value)):
            return Held(tuple(map(structure_of, value)), tuple)
        case FunctionType() | np.dtype():
            return Given(value)
        case enum.Enum() if not isinstance(value, int | float | str | tuple):
            return Given(value)
        case type() if issubclass(value, np.generic | bool | int | float | complex):
            return Given(value)
        case complex() | np.complexfloating():
            return Held((None, None), type(value), ("real", "imag"))
        case _ if (names := fields_in_planes(type(value))) is not None:
            return Held((None,) * len(names), type(value), names)
        case _ if (known := class_of(type(value))) is not None:
            fields = tuple(_field_of_object(known.read(value, name)) for name in known.fields)
            return Held(fields, type(value), known.fields)
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type) and not hasattr(value, "dtype"):
            names = tuple(one.name for one in dataclasses.fields(value))
            return Held(tuple(structure_of(getattr(value, name)) for name in names), type(value), names)
        case _ if is_function(value):
            return Given(value)
        case _ if is_generator(value):
            return Held((None, None), type(value), STATE)
        case _:
            return None


def _field_of_object(value: object) -> Structure:
    """As of an argument, but a tuple of numbers is no constant: each object has others."""
    return Held(tuple(map(_field_of_object, value)), tuple) if isinstance(value, tuple) else structure_of(value)


def fields_in_planes(kind: type) -> tuple[str, ...] | None:
    """The fields of an array of records that keeps each in an array of its own (memory/record_array.py)."""
    names: tuple[str, ...] | None = getattr(kind, "fields_in_planes", None)
    return names


def structures_of(source: Source, values: Sequence[object]) -> tuple[Structure, ...]:
    """What is inside the arguments of a call. Of `*args`, each has a parameter of its own, numbers too."""
    found = list(map(structure_of, values))
    for k, (parameter, value) in enumerate(zip(source.parameters, values, strict=False)):
        if k == source.variadic:
            assert isinstance(value, tuple)
            found[k] = Held(tuple(map(structure_of, value)), tuple)
        elif is_long_text(value) and not is_sequence(source.definition.tree, parameter.name):
            found[k] = None
        elif type(value) is not np.ndarray:
            found[k] = given_back.as_changed(source, parameter.name, found[k], value)
    return tuple(found)


def is_function(value: object) -> bool:
    """numba's jitted functions and our own kernels stand for the functions that they carry."""
    return isinstance(getattr(value, "py_func", getattr(value, "__wrapped__", None)), FunctionType)


def _is_no_constant(value: object) -> bool:
    return not isinstance(value, bool | int | float) or hasattr(value, "dtype")


def leaves(value: object, structure: Structure) -> Iterator[object]:
    """The arrays and numbers in an argument, in order."""
    if structure is None:
        yield value
    elif isinstance(structure, Packed):
        yield from arrays_of(value, structure)
    elif isinstance(structure, Held) and structure.names == STATE:
        yield from state_of(value)
    elif isinstance(structure, Held):
        for k, part in enumerate(structure.parts):
            yield from leaves(_part_of(value, structure, k), part)


def _part_of(value: object, structure: Held, place: int) -> object:
    key = structure.names[place] if structure.names else place
    if structure.kind is KeysAndValues:
        assert isinstance(value, dict)
        return list(value.values() if place else value)
    if (known := class_of(structure.kind)) is not None:
        return known.read(value, str(key))
    has_fields = bool(structure.names) and structure.kind is not dict
    return getattr(value, str(key)) if has_fields else value[key]  # type: ignore[index]


def holds_object(structure: Structure) -> bool:
    """Whether an argument is an object whose fields may turn out to be assigned, or holds one."""
    return isinstance(structure, Held) and any(_classes(structure))


def with_fields(again: Callable[..., object], call: Callable[..., object] | None = None) -> Callable[..., object]:
    """What makes a call, and makes it again, in another way, where a field of an object turns out to be assigned."""

    def made(*args: object, **kwargs: object) -> object:
        way = call or again
        while True:
            try:
                return way(*args, **kwargs)
            except FieldError:
                way = again

    return made


def for_launcher(
    source: Source, given: Sequence[object], structures: Sequence[Structure]
) -> tuple[tuple[object, ...] | None, ...]:
    """The structures of a call of the expanded function as the launcher takes them (devices.base.Structures). Raises
    ValueError where it has no words, and where the call gives lists or dicts what it has changed."""
    if _lists_to_put_back(source, given) or given_back.to_give_back(source, given):
        raise ValueError("the launcher gives nothing back")
    pairs = list(zip(given, structures, strict=True))
    if not _written_arguments(source, pairs):
        return tuple(_for_launcher(value, structure) for value, structure in pairs)
    if any(_holds_list_of_arrays(one) and not isinstance(one, Packed) for one in structures):
        raise ValueError("whether an array in a list in a tuple is also one that is written is asked for each call")
    return tuple(_apart(_for_launcher(value, structure), structure) for value, structure in pairs)


def _apart(found: tuple[object, ...] | None, structure: Structure) -> tuple[object, ...] | None:
    """The same, where arrays in a list must not be those that are written: the launcher leaves such calls to
    `refuse_shared`."""
    if found is None or not isinstance(structure, Packed) or structure.holds != "arrays":
        return found
    kind, number = found
    return kind, _APART + number  # type: ignore[operator]


def _for_launcher(value: object, structure: Structure) -> tuple[object, ...] | None:
    if structure is None:
        return None
    if isinstance(structure, Given):
        return (structure.value,)
    if isinstance(structure, Packed):
        return _list_for_launcher(value, structure)
    if structure.kind in (list, dict, KeysAndValues) or structure.names == STATE:
        raise ValueError("the launcher takes the items of tuples, and fields")
    known = class_of(structure.kind)
    names = structure.names if known is None else tuple(known.prefix + name for name in structure.names)
    parts = (_for_launcher(_part_of(value, structure, k), part) for k, part in enumerate(structure.parts))
    return structure.kind, names or None, tuple(parts)


def _list_for_launcher(value: object, known: Packed) -> tuple[object, ...]:
    kind = type(value)
    is_usual = kind in (list, dict) or kind.__module__.startswith("loopwright.")  # no class with methods of its own
    if not is_usual or known.holds not in ("numbers", "arrays", "keys") or not value:
        raise ValueError("the launcher takes lists of numbers and of arrays, and dicts of numbers")
    if known.holds == "arrays":
        return kind, 2 + known.axes
    return kind, sum((not weak) << k for k, weak in enumerate(known.weak))


def _holds_list_of_arrays(structure: Structure) -> bool:
    return any(known.holds == "arrays" for _, known in _packed_names("", structure))


def expanded(source: Source, structures: Mapping[str, Structure]) -> Source:
    """The function as one with a parameter for each of these."""
    parameters, written = [], set[str]()
    functions = {name: one.value for name, one in structures.items() if isinstance(one, Given) and callable(one.value)}
    is_written = source.written
    if functions and is_written:  # by what they do, and not by what any function could do
        is_written = written_parameters(source.function, source.definition.tree, functions)
    for parameter in source.parameters:
        structure = structures.get(parameter.name)
        names = list(_names(parameter.name, structure))
        parameters += [replace(parameter, name=name, has_default=False, default=None) for name in names]
        if parameter.name in is_written or _changes_unseen(source, parameter.name, structure):
            written.update(_written_names(parameter.name, structure))
    source = given_back.returning(source, structures)
    return replace(source, parameters=tuple(parameters), written=frozenset(written), structures=dict(structures))


def _changes_unseen(source: Source, name: str, structure: Structure) -> bool:
    """Whether what an argument holds may change in a way that the text of a function does not tell: by its methods."""
    if not isinstance(structure, Held):
        return False
    if structure.names == STATE:
        return True
    known = class_of(structure.kind)
    if known is not None and known.methods:
        return is_changed_by_method(source.definition.tree, name, list(_classes(structure)))
    return any(_changes_unseen(source, name, part) for part in structure.parts)


def _classes(structure: Structure) -> Iterator[ObjectClass]:
    if isinstance(structure, Held):
        if (known := class_of(structure.kind)) is not None:
            yield known
        for part in structure.parts:
            yield from _classes(part)


def _names(name: str, structure: Structure) -> Iterator[str]:
    if structure is None:
        yield name
    elif isinstance(structure, Packed):
        yield from (f"{name}.{k}" for k in range(structure.arrays))
    elif isinstance(structure, Held):
        for k, part in enumerate(structure.parts):
            yield from _names(f"{name}.{structure.names[k] if structure.names else k}", part)


def _written_names(name: str, structure: Structure) -> Iterator[str]:
    """The names of a written argument that stand for what is written: not those of the lengths of lists, nor those of
    the lists in a dict, of which the kernel makes a dict of its own."""
    if given_back.is_changed(structure):
        return
    if isinstance(structure, Held) and structure.kind is KeysAndValues and not _holds_arrays(structure):
        return
    found = list(_names(name, structure))
    for prefix, known in _packed_names(name, structure):
        if known.may_change:
            kept = {f"{prefix}.{k}" for k in set(range(known.arrays)) - set(known.changing)}
            found = [one for one in found if one not in kept]
    yield from found


def _holds_arrays(structure: Held) -> bool:
    return any(isinstance(one, Packed) and one.holds == "arrays" for one in structure.parts)


def _packed_names(name: str, structure: Structure) -> Iterator[tuple[str, Packed]]:
    if isinstance(structure, Packed):
        yield name, structure
    elif isinstance(structure, Held):
        for k, part in enumerate(structure.parts):
            yield from _packed_names(f"{name}.{structure.names[k] if structure.names else k}", part)


def _packed_values(value: object, structure: Structure) -> Iterator[object]:
    """The lists and dicts in an argument, in the order of `_packed_names`."""
    if isinstance(structure, Packed):
        yield value
    elif isinstance(structure, Held):
        for k, part in enumerate(structure.parts):
            if isinstance(part, Held | Packed):
                yield from _packed_values(_part_of(value, structure, k), part)


def _lists_to_put_back(source: Source, given: Sequence[object]) -> list[tuple[object, Packed, int]]:
    """The lists that a call may change, and where their arrays begin among its arguments. Raises ArgumentValueError
    where one of them is in two places: the kernel has a copy of each."""
    found, everywhere = [], list[set[int]]()
    places = {parameter.name: k for k, parameter in enumerate(source.parameters)}
    names = [parameter.arg for parameter in parameters_of(source.definition.tree)]
    for value, name in zip(given, names, strict=False):
        structure = source.structures.get(name)
        for (prefix, known), one in zip(_packed_names(name, structure), _packed_values(value, structure), strict=True):
            if known.holds == "keys" or isinstance(one, bytes | str):
                continue
            everywhere.append(lists_in(one, known))
            if known.may_change and not known.grows and f"{prefix}.0" in source.written:
                found.append((one, known, places[f"{prefix}.0"]))
    for value, known, place in found:
        if sum(not own.isdisjoint(lists_in(value, known)) for own in everywhere) > 1:
            name = source.parameters[place].name.rpartition(".")[0]
            raise ArgumentValueError(
                f"argument '{name}': this list is changed, and given twice\n  try: pass a copy of it"
            )
    return found


def giving_back(
    call: Callable[..., object], source: Source, given: Sequence[object]
) -> Callable[..., object]:  # fmt: skip
    """What makes a call of the expanded function, and gives the lists and dicts among what was given what it has
    changed."""
    lists, dicts = _lists_to_put_back(source, given), given_back.to_give_back(source, given)

    def made(*arguments: object) -> object:
        try:
            result = call(*arguments)
            return given_back.put_back(dicts, result) if dicts else result
        finally:  # what was written before an error, too
            for value, known, place in lists:
                put_back(value, known, arguments[place : place + known.arrays])

    return made if lists or dicts else call


def refuse_shared(source: Source, given: Sequence[tuple[object, Structure]]) -> None:
    """Raise ArgumentValueError where an array in a list is also one that is written: the kernel reads a copy of it."""
    written = _written_arguments(source, given)
    if not written:
        return
    for (value, structure), parameter in zip(given, parameters_of(source.definition.tree), strict=False):
        if isinstance(structure, Packed) and shares_memory(value, structure, written):
            raise ArgumentValueError(
                f"argument '{parameter.arg}': an array in this list is also one that is written\n"
                "  try: pass a copy of it"
            )


def _written_arguments(source: Source, given: Sequence[tuple[object, Structure]]) -> list[object]:
    """The arrays that a call may write."""
    return [
        value for (value, structure), parameter in zip(given, parameters_of(source.definition.tree), strict=False)
        if structure is None and parameter.arg in source.written
    ]  # fmt: skip
