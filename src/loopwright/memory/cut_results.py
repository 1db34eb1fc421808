"""Which rows of the arrays that a call makes anybody sees: a list has room for 2**27 elements, and what is returned is
cut to the few that there are."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from loopwright.devices import base
from loopwright.devices.by_ctypes import Slot, read_slot
from loopwright.memory.placing import Placed

Size = tuple[int, int]
"""Of a returned number: its code and its slot, as in Returns."""


def cuts_of(values: Sequence[Size]) -> dict[int, tuple[Size, ...]]:
    """For each of the arrays that is only returned cut, the numbers of rows that are kept of it. values: those of
    Returns of shape 3."""
    found: dict[int, list[Size]] = {}
    whole: set[int] = set()
    stack: list[Size | None] = []  # numbers, and arrays as they are; None: anything else
    for code, number in values:
        if code == base.FRESH or code >= base.PYTHON_SCALAR:
            stack.append((code, number))
        elif code in (base.ARGUMENT, base.NOTHING):
            stack.append(None)
        else:
            count = number if code in (base.TUPLE, base.ZIP, base.CUT, base.VIEW) else 0
            count += {base.CUT: 1, base.VIEW: 1, base.MAYBE: 2, base.DICT: 2, base.LIST: 1, base.SET: 1}.get(code, 0)
            count += {base.COMPLEX: max(1, number), base.NAMED: 1}.get(code, 0)
            taken = stack[len(stack) - count :]
            del stack[len(stack) - count :]
            if code == base.CUT and count > 1 and taken[0] and taken[1] and taken[1][0] != base.FRESH:
                found.setdefault(taken[0][1], []).append(taken[1])
                taken = taken[1:]
            whole |= {one[1] for one in taken if one and one[0] == base.FRESH}
            stack.append(None)
    whole |= {one[1] for one in stack if one and one[0] == base.FRESH}
    return {number: tuple(sizes) for number, sizes in found.items() if number not in whole}


def seen_box(
    box: tuple[range, ...], placed: Placed, sizes: Sequence[Size], returned: ctypes.Array[Slot]
) -> tuple[range, ...] | None:
    """What has to come back of this box of an array of which so many rows are seen; None: nothing. Such arrays are C
    ordered, so that their rows are what is slowest in memory."""
    if not placed.rows.flags.c_contiguous:
        return box
    kept = max(int(read_slot(returned[slot], code)) for code, slot in sizes)  # type: ignore[call-overload]
    rows = range(box[0].start, max(box[0].start, min(box[0].stop, kept)))
    return (rows, *box[1:]) if rows else None
