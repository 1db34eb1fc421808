"""A call with arrays in pieces that one GPU makes by itself, with all of them there, as it makes one with
`lw.device_array`: several devices could share it, and that takes longer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from loopwright.devices.base import NOT_DONE
from loopwright.devices.gpu import Gpu
from loopwright.errors import DeviceError, DeviceMemoryError
from loopwright.memory.array_copies import ArrayCopies, make
from loopwright.memory.in_pieces import IN_USE, InPieces
from loopwright.runtime.execute import CallArguments


def can_be(arguments: Sequence[object]) -> bool:
    """Whether all arrays of a call are in pieces, and have elements."""
    arrays = [one for one in arguments if isinstance(one, np.ndarray)]
    numbers = all(isinstance(one, np.ndarray) or type(one) in (bool, int, float) for one in arguments)
    return numbers and all(isinstance(one, InPieces) and one.size for one in arrays)


@dataclass(frozen=True, slots=True)
class OnOneGpu:
    """On the GPU `place`. written: positions of arguments that calls may write."""

    place: str
    gpu: Gpu
    written: Collection[int]

    def run(self, call: CallArguments, make_it: Callable[[CallArguments], object]) -> object:
        """make_it: makes a call whose arrays are on the GPU. NOT_DONE, and nothing done, where arrays have no room
        there. Raises what a call raises; after a DeviceError that is not about memory nobody has what only this GPU
        had."""
        with IN_USE:
            owners = {k: one.owner for k, one in enumerate(call.arguments) if isinstance(one, InPieces)}
            copies = {position: owner.copies for position, owner in owners.items()}
            try:
                for one in copies.values():
                    one.room(self.place, self.gpu)
            except DeviceMemoryError:
                return NOT_DONE
            try:
                for position, one in copies.items():
                    self._bring(one, {**owners[position].gpus(), self.place: self.gpu})
            except DeviceError:
                self._lose(copies)
                raise
            there = self._there(call, copies, owners)
            try:
                result = make_it(there)
                self.gpu.settle("work")
            except DeviceError as error:
                if isinstance(error, DeviceMemoryError):
                    self._note_written(copies)
                else:
                    self._lose(copies)
                raise
            except BaseException:  # what it has written until then is the caller's
                with suppress(DeviceError):
                    self.gpu.settle("work")
                self._note_written(copies)
                raise
            self._note_written(copies)
            return result

    def _lose(self, copies: dict[int, ArrayCopies]) -> None:
        for one in copies.values():
            one.lost(self.place)

    def _bring(self, copies: ArrayCopies, gpus: dict[str, Gpu]) -> None:
        if not copies.valid[self.place].missing(copies.whole):
            return
        try:
            for copy in list(copies.wanted(self.place, copies.whole)):
                make(copy, gpus, "work")
        except LookupError:
            raise DeviceError("a GPU has failed, and elements that only it had are lost") from None

    def _there(self, call: CallArguments, copies: dict[int, ArrayCopies], owners: dict[int, Any]) -> CallArguments:
        arguments: list[object] = []
        tokens: list[Any] = []
        for position, value in enumerate(call.arguments):
            if (one := copies.get(position)) is None:
                arguments.append(value)
                tokens.append(type(value))
                continue
            arguments.append(owners[position].on_one(self.place))
            tokens.append(("in pieces", self.place, one.placed[self.place].address, one.array.shape, one.array.dtype))
        return CallArguments(tuple(arguments), call.given, tuple(tokens))

    def _note_written(self, copies: dict[int, ArrayCopies]) -> None:
        for position in self.written:
            one = copies.get(position)
            if one is not None and not one.is_only_at(self.place):
                one.wrote(self.place, one.whole)
