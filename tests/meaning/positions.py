"""Subscripts of generated programs: in range by construction, as a rule in every call, sometimes only in the first,
and once in a while in none."""

from __future__ import annotations

from .choices import Choices
from .kinds import INTEGERS, Kind
from .scope import Array, Axis, Loop, Names, Scope


def subscripts(scope: Scope, array: Array, choices: Choices, names: Names, depth: int = 1) -> list[str]:
    """One index text for each axis of the array."""
    return [_position(scope, array, axis, choices, names, depth) for axis in range(len(array.axes))]


def reachable(scope: Scope) -> list[Array]:
    """The arrays of which an element may be named here."""
    if not scope.any_size:
        return list(scope.arrays)
    return [array for array in scope.arrays if is_reachable(scope, array.axes)]


def is_reachable(scope: Scope, axes: tuple[Axis, ...]) -> bool:
    """Whether there is an index for each of the axes that is in range in every call, where only those are wanted."""
    return not scope.any_size or all(not axis.symbol or affine_positions(scope, axis)[0] for axis in axes)


def _position(scope: Scope, array: Array, axis: int, choices: Choices, names: Names, depth: int) -> str:
    size = scope.size_of(array.axes[axis])
    sure, likely = affine_positions(scope, array.axes[axis])
    if scope.any_size and array.axes[axis].symbol:
        indirect = (
            _indirect(scope, array.axes[axis], choices, names, depth) if depth > 0 and choices.chance(12) else None
        )
        return indirect or _noted(choices.pick(sure), names)
    if choices.chance(1) and scope.loops and choices.chance(50):
        names.note("index out of range")
        return f"{choices.pick(scope.loops).name} + {size}"
    if depth > 0 and choices.chance(12):
        indirect = _indirect(scope, array.axes[axis], choices, names, depth)
        if indirect is not None:
            return indirect
    if choices.chance(5):
        names.note("index modulo size")
        return f"{_whole(scope, choices)} % {array.size_text(axis, choices)}"
    if sure and choices.chance(75):
        return _noted(choices.pick(sure), names)
    if likely and choices.chance(80):
        return _noted(choices.pick(likely), names)
    if size == 0:
        return "0"
    if choices.chance(25):
        names.note("index negative constant")
        return str(-choices.number(1, min(size, 3)))
    if choices.chance(20):
        names.note("index from the end")
        return f"{array.size_text(axis, choices)} - {choices.number(1, min(size, 2))}"
    return str(choices.number(0, min(size - 1, 3)))


def _noted(form: tuple[str, str], names: Names) -> str:
    names.note(form[1])
    return form[0]


def affine_positions(scope: Scope, axis: Axis) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Index texts with the feature that they show: valid in every call; valid in the first call."""
    size = scope.size_of(axis)
    sure: list[tuple[str, str]] = []
    likely: list[tuple[str, str]] = []
    for loop in reversed(scope.loops):
        for text, feature, low, high in _forms(loop, size):
            if loop.symbol == axis.symbol and loop.symbol and _always_inside(loop, axis, text):
                sure.append((text, feature))
            elif low >= 0 and high < size:
                likely.append((text, feature))
            elif -size <= low and high < size:
                likely.append((text, "index wraps around"))
    for outer, inner in zip(scope.loops, scope.loops[1:], strict=False):
        if outer.low + inner.low >= 0 and outer.high + inner.high < size:
            likely.append((f"{outer.name} + {inner.name}", "index of two loops"))
        if -size <= outer.low - inner.high and outer.high - inner.low < size:
            likely.append((f"{outer.name} - {inner.name}", "index of two loops"))
    return sure, likely


_SHIFTS = (0, 0, 1, -1, 2, -2)


def _forms(loop: Loop, size: int) -> list[tuple[str, str, int, int]]:
    """Index texts over one loop: text, feature, least and greatest value in the first call."""
    name, low, high = loop.name, loop.low, loop.high
    forms = [
        (name if not shift else f"{name} {'+' if shift > 0 else '-'} {abs(shift)}", "index shifted" if shift else
         "index plain", low + shift, high + shift)
        for shift in _SHIFTS
    ]  # fmt: skip
    forms += [
        (f"2 * {name}", "index scaled", 2 * low, 2 * high),
        (f"{name} * 2 + 1", "index scaled", 2 * low + 1, 2 * high + 1),
        (f"{name} // 2", "index divided", low // 2, high // 2),
        (f"{name} % 3", "index modulo", 0, 2),
        (f"-{name}", "index reversed", -high, -low),
        (f"-{name} - 1", "index reversed", -high - 1, -low - 1),
        (f"{size - 1} - {name}", "index reversed", size - 1 - high, size - 1 - low),
    ]
    return forms


def _always_inside(loop: Loop, axis: Axis, text: str) -> bool:
    shifts = {loop.name: 0, f"{loop.name} + 1": 1, f"{loop.name} + 2": 2}
    shifts |= {f"{loop.name} - 1": -1, f"{loop.name} - 2": -2}
    if text == f"{loop.name} // 2":
        return loop.after >= 0 and loop.before <= axis.offset
    if text not in shifts:
        return False
    shift = shifts[text]
    return loop.after + shift >= 0 and loop.before + shift <= axis.offset


def _indirect(scope: Scope, axis: Axis, choices: Choices, names: Names, depth: int) -> str | None:
    """An element of an index array for this axis, if there is one."""
    arrays = [array for array in reachable(scope) if array.role == "index" and array.target == axis]
    if not arrays:
        return None
    names.note("index indirect")
    array = choices.pick(arrays)
    return array.access(subscripts(scope, array, choices, names, depth - 1), choices)


def _whole(scope: Scope, choices: Choices) -> str:
    """A simple whole number: a loop variable, a scalar or a constant, with its brackets."""
    weak = [
        scalar.name for scalar in scope.scalars if not scalar.loose and scalar.kind.weak and _is_integer(scalar.kind)
    ]
    names = [*(loop.name for loop in scope.loops), *weak]
    if not names:
        return str(choices.number(0, 9))
    return f"({choices.pick(names)} {choices.pick(('+', '-', '*'))} {choices.number(1, 5)})"


def _is_integer(kind: Kind) -> bool:
    return kind.name in INTEGERS
