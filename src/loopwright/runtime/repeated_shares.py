"""Calls that devices share, and that were made before with the same arrays, all of them `lw.distributed_array`, and the
same numbers: what kind of call they are need not be found out again."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from loopwright.config import Config
from loopwright.devices.base import NOT_DONE
from loopwright.ir.signature import Shape, Signature, shape_of
from loopwright.memory.in_pieces import KeptInPieces
from loopwright.runtime.execute import CallArguments
from loopwright.runtime.in_use import InUse
from loopwright.runtime.sharing import Alone, SharedKind, Sharing

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
    """Those of one kernel. holds: whether the constants of code are as they were."""

    def __init__(self, sharing: Sharing, holds: Callable[[InUse], bool]) -> None:
        self._sharing, self._holds = sharing, holds
        self._known: dict[tuple[Hashable, ...], _SharedBefore] = {}

    def again(self, args: Sequence[object], asked: Config, alone: Callable[[CallArguments], Alone]) -> object:
        """Make a call as before; NOT_DONE, and nothing done, where that cannot be. alone: makes it on one device."""
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
        tokens = _tokens_of(args)
        if tokens is None or len(args) != len(call.arguments):
            return
        if len(self._known) >= MOST_REPEATED:
            self._known.clear()
        kind, _ = self._sharing.told(call.arguments, of, asked)
        self._known[tokens] = _SharedBefore(asked, code, self._sharing.epoch, of, kind, shape_of(call.arguments))


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
