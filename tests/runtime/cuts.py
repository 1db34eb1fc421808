"""Calls that devices share in parts that a test chooses, beside what one device makes of the same call."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

import loopwright as lw
from loopwright.runtime.shared_call import SharedCall

DEVICES = "cpu, emulated, emulated:1"


class Cuts:
    """See PartSource: each region is cut at these fractions of its iterations."""

    def __init__(self, fractions: Sequence[float]) -> None:
        self.fractions = (0.0, *fractions, 1.0)
        self.ranges: list[range] = []

    def fixed(self, number: int, iterations: range) -> list[range]:
        self.ranges.append(iterations)
        ends = [iterations.start + round(one * len(iterations)) for one in self.fractions]
        return [range(a, b) for a, b in pairwise(ends)]

    def take(self, member: int, rate: float | None) -> range | None:
        return None

    def left(self) -> Sequence[range]:
        return ()


def shared(
    kernel: Any, arguments: Sequence[Any], parts: Any, devices: str = DEVICES, known: Any = None
) -> SharedCall | None:
    """Make a call that is shared in these parts; None where it cannot be shared."""
    with lw.options(devices=devices, strict=True) as asked:
        prepared = kernel._dispatch.prepare(arguments, {})
        found = kernel._dispatch.sharing
        kind = found._kind(prepared.signature, asked)
        if not kind.programs:
            return None
        members, host = found._members(kind, asked)
        call = SharedCall(members, host, prepared.arguments, parts, {}, known=known)
        call.result = call.run()  # type: ignore[attr-defined]
        return call


def alone(kernel: Any, arguments: Sequence[Any]) -> object:
    with lw.options(threads=1, strict=True, device="cpu"):
        return kernel(*arguments)


def same(one: Any, other: Any) -> bool:
    """All arrays and numbers, to the last bit."""
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        return one.tobytes() == other.tobytes() and one.shape == other.shape
    return bool(one == other or (one != one and other != other))


def is_shared_alike(kernel: Any, arguments: Sequence[Any], fractions: Sequence[float], devices: str = DEVICES) -> bool:
    """Whether a call could be shared; its arrays and what it returns are those of one device."""
    mine, theirs = copy.deepcopy(tuple(arguments)), copy.deepcopy(tuple(arguments))
    call = shared(kernel, mine, Cuts(fractions), devices)
    if call is None:
        return False
    expected = alone(kernel, theirs)
    assert same(mine, theirs)
    assert same(call.result, expected)  # type: ignore[attr-defined]
    return True


def resident(
    kernel: Any, pieces: Sequence[Any], fractions: Sequence[float], devices: str, known: Any = None
) -> SharedCall | None:
    """The same with arrays of `lw.distributed_array` among the arguments."""
    with lw.options(devices=devices, strict=True) as asked:
        prepared = kernel._dispatch.prepare(pieces, {})
        found = kernel._dispatch.sharing
        kind = found._kind(prepared.signature, asked, ("pieces",))
        if not kind.programs:
            return None
        members, host = found._members(kind, asked)
        copies = found._at_home(prepared.arguments, members)
        here = tuple(copies[k].array if k in copies else value for k, value in enumerate(prepared.arguments))
        call = SharedCall(members, host, here, Cuts(fractions), copies, known=known)
        call.result = call.run()  # type: ignore[attr-defined]
        return call
