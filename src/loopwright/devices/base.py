"""What a device gives to the runtime: the `Executable`, and the types that call it, `Entry` and `Dispatcher`, and
`Constants`.

These types exist twice with one meaning: in launcher.c, for speed, and in by_ctypes.py, for machines without
Python's headers. What they return is described by `Returns`, numbers only, so that both can read it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from loopwright.deferred import deferred
from loopwright.errors import BoundsError, check_failed, class_named, kinds_of_two
from loopwright.ir.captured import Drawn, Outside
from loopwright.ir.program import Program, failed_number
from loopwright.ir.types import ALL

if TYPE_CHECKING:
    from loopwright.ir import nodes
    from loopwright.ir.nodes import Kernel
else:
    nodes = deferred("loopwright.ir.nodes")

# Codes of Returns.values: an argument itself, an array the call allocated, or a scalar of type ALL[code - base].
# Of shape 3 also: a tuple of the last `number` things, None, an array cut to the last `number` things,
# a thing, or None where the one behind it is false, and an array or a tuple as a list.
ARGUMENT, FRESH, TUPLE, NOTHING, CUT, MAYBE, LIST, ZIP, SET, DICT, COMPLEX, VIEW, NAMED = range(13)
PYTHON_SCALAR, NUMPY_SCALAR = 32, 64
Shape = Literal[0, 1, 2, 3]
MOST_PARAMETERS = 48  # that the Dispatcher of launcher_key.c takes
MOST_TIMES = 64  # that an observer is told at once

NOT_DONE = object()
"""What repeating a call gives where it has to be done the long way."""

Observer = Callable[[tuple[int, ...]], object]
"""Takes the nanoseconds of the last calls, oldest first, at most MOST_TIMES of them."""


@dataclass(frozen=True, slots=True)
class Returns:
    """What a call returns. shape: 0 None, 1 the one value, 2 a tuple of them, 3 what they make in postfix order.
    values: (code, number) each, where number is the argument's position, the place among the fresh arrays, or the slot
    of the scalar."""

    shape: Shape
    values: tuple[tuple[int, int], ...] = ()


def returns_of(kernel: Kernel) -> Returns:
    """The Returns of a kernel's `returned` and `returns_tuple`."""
    if kernel.returned is None:
        return Returns(0)
    fresh = {result.name: number for number, result in enumerate(kernel.results)}
    arguments = {param.name: param.argument for param in kernel.arrays}
    values: list[tuple[int, int]] = []
    slot = 0
    for one in kernel.returned:
        if isinstance(one, nodes.ReturnedArray):
            is_fresh = one.name in fresh
            values.append((FRESH, fresh[one.name]) if is_fresh else (ARGUMENT, arguments[one.name]))
        else:
            values.append(((PYTHON_SCALAR if one.python else NUMPY_SCALAR) + ALL.index(one.type), slot))
            slot += 1
    if kernel.packing:
        codes = {"tuple": TUPLE, "none": NOTHING, "cut": CUT, "maybe": MAYBE, "list": LIST, "zip": ZIP, "set": SET,
                 "dict": DICT, "complex": COMPLEX, "view": VIEW}  # fmt: skip
        return Returns(3, tuple(
            values[n] if kind == "value" else (NAMED, number_of_class(kind)) if ":" in kind else (codes[kind], n)
            for kind, n in kernel.packing
        ))  # fmt: skip
    return Returns(2 if kernel.returns_tuple else 1, tuple(values))


CLASSES: list[type] = []
"""Those of named tuples and dataclasses that calls return; the launcher looks here, too."""


def number_of_class(name: str) -> int:
    """Where a class stands in CLASSES, in this process. Raises LookupError where there is no such class."""
    kind = class_named(name)
    if kind is None:
        raise LookupError(f"{name} is gone")
    if kind not in CLASSES:
        CLASSES.append(kind)
    return CLASSES.index(kind)


def named(number: int, items: Sequence[object]) -> object:
    """An object of one of these classes."""
    return CLASSES[number](*items)


@dataclass(frozen=True, slots=True)
class Executable:
    """Loaded code. entry, guard: addresses of its functions (guard 0: always true). `library` keeps it loaded.
    takes_device_arrays: whether it finds its arrays in a GPU's memory."""

    takes_device_arrays: ClassVar[bool] = False

    program: Program
    library: ctypes.CDLL
    entry: int
    guard: int

    def entry_type(self, other: Callable[..., Entry]) -> Callable[..., Entry]:
        """What makes the Entry of this code: `other`, the launcher's, or one of its own."""
        return other

    def failure(self, site: int, index: int, size: int) -> Exception:
        """The exception for what `entry` recorded in lw_failure."""
        where = self.program.sites[site]
        if where.kind == "bounds":
            return BoundsError(where.array, where.axis, index, size, where.at)
        if where.kind == "raised" and (of_two := kinds_of_two(where.array)):
            first, second = map(failed_number, (index, size), of_two)
            return check_failed(where.kind, where.at, first, where.array, second)
        return check_failed(where.kind, where.at, failed_number(index, size), where.array)


class Entry(Protocol):
    """Code ready to be called for one kind of call, and what was measured of it.

    Made as Entry(entry=, guard=, threads=, parallel=, returns=, values=, constants=, fresh=, fail=,
    guard_failed=, payload=): addresses; threads for lw_call; whether it starts threads; `Returns`' fields;
    the facts that the code relies on, as `Constants` takes them; fresh(arguments) -> the arrays of the results, or
    None; fail(site, index, size) -> Exception; guard_failed(arguments, originals) -> the call's result where the guard
    is false; anything to hang on to. Times are nanoseconds in `entry` alone; ended_ns: when the last call ended,
    by time.perf_counter_ns."""

    calls: int
    total_ns: int
    min_ns: int
    last_ns: int
    ended_ns: int
    threads: int
    payload: Any

    def run(self, arguments: tuple[object, ...], originals: tuple[object, ...] | None = None) -> object:
        """Call it with all arguments in order, already known to fit. `originals` are what ARGUMENT returns."""

    def watch(self, observer: Observer | None, calls: int, spent_ns: int) -> None:
        """From now on tell the observer the times of the last calls, whenever so many were made or so much time was
        spent since it was told last. What it raises is reported and lost. None: nobody."""

    def retire(self) -> None:
        """No Dispatcher finds it any more."""


class Dispatcher(Protocol):
    """The callable for all kinds of calls of one kernel: finds the Entry or calls slow(args, kwargs).

    Made as Dispatcher(slow=, context=, names=, defaults=, written=, refuses=, describe=, indices=, failed=, own=): the
    ContextVar of the Config; the parameters' names, their trailing defaults, or the function that has them, one bool
    each; refuses(type) -> whether arrays of a subclass go the slow way, asked once for each; describe(dtype) ->
    alignment for records (0 never aligned); the fewest indices with which each array is used; failed(error) -> what is
    raised instead of an Exception of `slow`, with its own traceback, or what makes the call after all, None to leave it
    (as by_ctypes does); own(config) -> the Config that holds in the kernel where this one is in force, None for the
    same."""

    def __call__(self, *args: object, **kwargs: object) -> object: ...

    def key(self, arguments: tuple[object, ...]) -> bytes | None:
        """What decides which Entry runs; its first byte is 1 where written arguments overlap others. None where
        the call has to go the slow way each time."""

    def find(self, key: bytes, config: object, arguments: tuple[object, ...]) -> Entry | None:
        """The Entry for this key, config and the numbers of this call whose constants are unchanged."""

    def add(self, key: bytes, config: object, entry: Entry, arguments: tuple[object, ...] | None = None) -> None:
        """From now on run `entry` for this key and config; where `arguments` are given, for calls with their numbers
        (lengths of axes, integer arguments) only. The least recently used of many is forgotten."""

    def expand(self, structures: Structures, target: Callable[..., object]) -> None:
        """From now on calls whose arguments have these structures, one for each parameter, are made by
        target(*what they hold). The oldest of many is forgotten."""

    def clear(self) -> None:
        """Forget all entries."""


class Launcher(Protocol):
    """A module with the two types. `limit_threads(n)` caps the threads of every later call in this process;
    `pool_started()` tells whether a call may have started threads; `notify` is called once when the cap bites."""

    Entry: Callable[..., Entry]
    Dispatcher: Callable[..., Dispatcher]
    Constants: Callable[[Facts], Constants]

    def completed(
        self,
        target: Callable[..., object],
        slow: Callable[..., object],
        wanted: int,
        outside: tuple[Outside, ...],
        drawn: Drawn | None = None,
    ) -> Callable[..., object]:
        """Makes a call with `wanted` arguments, none by keyword, as target(*arguments, *what stands outside now, *what
        draws need); any other, or one for which something is missing there, as slow(...)."""

    def limit_threads(self, most: int) -> None: ...
    def pool_started(self) -> bool: ...
    def on_limited(self, notify: Callable[[], None]) -> None: ...


class Constants(Protocol):
    """Facts that code relies on outside the function it was made of. Made as Constants(facts)."""

    def hold(self) -> bool:
        """Whether all of them are as they were."""


Facts = tuple[tuple[Any, ...], ...]
"""(kind, namespace, key, value) of each: see ir.captured.CapturedConstant. Without the value where there is
nothing."""
Fresh = Callable[[tuple[object, ...]], Sequence[object]]
Context = ContextVar[Any]
Structures = tuple[Any, ...]
"""For each parameter: None for an argument as any other, (value,) for this very object, (class, names, structures) for
an object that holds others, a tuple where names is None, (class, number) for a list of Python's numbers (0), of NumPy's
(1), of arrays with n axes (2 + n), or for a dict of such numbers (that of its keys, and twice that of its values)."""
Failed = Callable[[Exception], Exception | Callable[..., object]]
Own = Callable[[Any], Any]
