"""Calls under the option `devices` of which it need not be found out again what kind of call they are: those that were
made before with the same arrays, all of them `lw.distributed_array`, and the same numbers; and under `plan="race"`
those with arrays of the kinds that calls had before. What one device makes then takes hardly longer than without the
option.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from loopwright.config import Config
from loopwright.devices.base import NOT_DONE, Dispatcher
from loopwright.ir.signature import Shape, Signature, shape_of
from loopwright.memory.in_pieces import KeptInPieces
from loopwright.runtime.execute import CallArguments
from loopwright.runtime.in_use import InUse
from loopwright.runtime.sharing import Alone, SharedKind, Sharing, on_one

MOST_REPEATED = 256


class _SharedBefore(NamedTuple):
    """A call, under an equal Config. code: whose constants have to hold; epoch: of Sharing."""

    asked: Config
    code: InUse
    epoch: int
    signature: Signature
    kind: SharedKind
    shape: Shape


class RepeatedShares:
    """Those of one kernel. holds: whether the constants of code are as they were. dispatcher: of calls on the CPU.
    is_settled: whether the CPU's code for a signature under a Config may make such a call."""

    def __init__(
        self, sharing: Sharing, holds: Callable[[InUse], bool], dispatcher: Dispatcher | None = None,
        is_settled: Callable[[Signature, Config, tuple[object, ...]], bool] = lambda *_: False,
    ) -> None:  # fmt: skip
        self._sharing, self._holds, self._dispatcher, self._is_settled = sharing, holds, dispatcher, is_settled
        self._known: dict[tuple[Hashable, ...], _SharedBefore] = {}
        self._raced: dict[bytes, _SharedBefore] = {}

    def again(self, args: Sequence[object], asked: Config, alone: Callable[[CallArguments], Alone]) -> object:
        """Make a call as before; NOT_DONE, and nothing done, where that cannot be. alone: makes it on one device."""
        if asked.plan == "race":
            return self._raced_before(tuple(args), asked, alone)
        tokens = _tokens_of(args)
        found = None if tokens is None else self._known.get(tokens)
        if found is None or found.epoch != self._sharing.epoch or not self._holds(found.code):
            return NOT_DONE
        if found.asked is not asked and found.asked != asked:
            return NOT_DONE
        given = tuple(args)
        arguments = tuple(one.argument() if isinstance(one, KeptInPieces) else one for one in given)
        call = CallArguments(arguments, given)
        return self._sharing.repeated(found.kind, found.shape, call, found.signature, asked, alone(call))

    def remember(self, args: Sequence[object], call: CallArguments, asked: Config, code: InUse, of: Signature) -> None:
        """A call was made, under these options."""
        if asked.plan == "race" and self._dispatcher is not None and len(args) == len(call.arguments):
            key = self._dispatcher.key(tuple(args))
            kind, _ = self._sharing.told(call.arguments, of, asked)
            if key is not None and kind.racing is not None:
                if len(self._raced) >= MOST_REPEATED:
                    self._raced.clear()
                self._raced[key] = _SharedBefore(asked, code, self._sharing.epoch, of, kind, shape_of(call.arguments))
            return
        tokens = _tokens_of(args)
        if tokens is None or len(args) != len(call.arguments):
            return
        if len(self._known) >= MOST_REPEATED:
            self._known.clear()
        kind, _ = self._sharing.told(call.arguments, of, asked)
        self._known[tokens] = _SharedBefore(asked, code, self._sharing.epoch, of, kind, shape_of(call.arguments))

    def _raced_before(self, args: tuple[object, ...], asked: Config, alone: Callable[[CallArguments], Alone]) -> object:
        """A call for which devices may race. NOT_DONE where it is not known what kind of call it is."""
        key = None if self._dispatcher is None else self._dispatcher.key(args)
        found = None if key is None else self._raced.get(key)
        if found is None or found.epoch != self._sharing.epoch or (found.asked is not asked and found.asked != asked):
            return NOT_DONE
        racing, here = found.kind.racing, on_one(asked, "cpu")
        assert racing is not None and self._dispatcher is not None and key is not None
        shape = shape_of(args)
        if racing.is_quick(shape) and (entry := self._dispatcher.find(key, here, args)) is not None:
            result = entry.run(args)
            racing.was_quick(shape, entry.last_ns)
            return result
        if not self._holds(found.code) or not self._is_settled(found.signature, here, args):
            return NOT_DONE
        call = CallArguments(args, args)
        return self._sharing.repeated(found.kind, shape, call, found.signature, asked, alone(call))


def _tokens_of(args: Sequence[object]) -> tuple[Hashable, ...] | None:
    """Of each argument what the code was chosen by and what its iterations depend on; None where that is more than a
    look."""
    found: list[Hashable] = []
    for value in args:
        if isinstance(value, KeptInPieces):
            found.append(value.token)
        elif type(value) in (bool, int, float):
            found.append((type(value), value))
        else:
            return None
    return tuple(found)
