"""What is loaded for the parallel regions of a kernel on one device, and who is told what in a call of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import numpy as np

from loopwright.devices.base import Executable
from loopwright.ir.boxes import Reach


class PartialArray(NamedTuple):
    """An array of which each part of a region, or each device, has one of its own. update: updates the elements of the
    call's array by those of one of them; None for an array of one element, which the host reads. identity: what
    elements begin with there."""

    dtype: np.dtype[Any]
    update: Callable[[Any, Any], None] | None = None
    identity: Any = 0


class RegionCode(NamedTuple):
    """One region on one device. reach: which part of each array it is about, by position, as sizes and numbers say;
    written: positions of arrays that it may write; partial: of which there are several, and that are in neither. work:
    how much work some iterations are, given all that a part is given and these; None where all are alike, or nobody
    knows."""

    executable: Executable
    reach: Mapping[int, Reach]
    written: frozenset[int]
    partial: Mapping[int, PartialArray] = MappingProxyType({})
    work: Callable[[Sequence[object], range], Callable[[range], float] | None] = lambda given, iterations: None

    @property
    def fetches(self) -> bool:
        """Whether the host, which starts its kernels, may wait in the middle for what one of them has set."""
        device = self.executable.program.device
        return device is not None and device.fetches

    @property
    def ends_early(self) -> bool:
        """Whether it may end with an error before it has written all that it would write."""
        return any(site.is_of_program for site in self.executable.program.sites)


class Performs(Protocol):
    """Who performs in one call of a kernel that is cut into regions."""

    def region(
        self, number: int, iterations: range | None, numbers: Sequence[object], made: Sequence[Any]
    ) -> Sequence[Mapping[int, Any]]:
        """Do a region: these iterations of its loop, None for statements without one. numbers: of the host, which
        follow the arguments; made: arrays that the call has made so far, None for others. What each part has added up,
        in the order of parts: arrays of one element, by position."""


@dataclass(frozen=True, slots=True)
class RegionProgram:
    """A kernel cut into regions, for one device. codes: of each region in the order of the text, None where this device
    cannot do it; numbers: how many follow the arguments, the last two of them being the first iteration and the one
    behind the last; first: the position of the first number. names: of the arrays, by position; results: how many of
    those that the call makes, which follow the numbers, it returns. last: for each region the positions of arrays that
    no other one writes, nor this one again. run: makes a call, given its arguments and who performs, and returns what
    it returns."""

    codes: tuple[RegionCode | None, ...]
    first: int
    numbers: int
    names: Mapping[int, str]
    results: int
    last: tuple[frozenset[int], ...]
    run: Callable[[Sequence[object], Performs], object]

    @property
    def updated(self) -> frozenset[int]:
        """Positions of arrays of which several parts of a region update the same elements."""
        partial = (one for code in self.codes if code is not None for one in code.partial.items())
        return frozenset(position for position, one in partial if one.update is not None)
