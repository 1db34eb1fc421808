"""What kernels are given for a `lw.distributed_array`, and a call that one device makes with such arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from threading import RLock
from typing import Any

import numpy as np

from loopwright.forks import free_in_child

Run = Callable[[tuple[object, ...]], object]

IN_USE = free_in_child(RLock())
"""Held by calls with such arrays: who has the newest elements is no matter of two calls at once."""


class InPieces(np.ndarray[Any, np.dtype[Any]]):
    """The host's elements, which need not be the newest ones."""

    owner: Any  # a DistributedArray


class KeptInPieces(ABC):
    """What `lw.distributed_array` makes, for whoever only has to know that it is one."""

    token: object

    @abstractmethod
    def argument(self) -> InPieces:
        """What kernels are given."""


def on_host(arguments: Sequence[object], written: Collection[int], run: Run) -> object:
    """Make a call on one device, with all of the arrays in pieces on the host."""
    owners = {k: value.owner for k, value in enumerate(arguments) if isinstance(value, InPieces)}
    with IN_USE:
        for owner in owners.values():
            owner.bring_to_host()
        try:
            return run(tuple(one.view(np.ndarray) if isinstance(one, InPieces) else one for one in arguments))
        finally:
            for position in written:
                if position in owners:
                    owners[position].changed_on_host()
