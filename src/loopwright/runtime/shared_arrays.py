"""The arrays of a call that devices share: what a part of a region touches, needs and writes of them, and who has the
newest elements."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import numpy as np

from loopwright.errors import DeviceMemoryError
from loopwright.ir.plan import Box
from loopwright.memory.array_copies import HOST, ArrayCopies, Copy
from loopwright.memory.box_set import intersection
from loopwright.memory.placing import values_of
from loopwright.memory.region_call import RegionCode, RegionProgram
from loopwright.runtime.participants import MOST_BOXES, Boxes, Overlap, Participant, Piece, Reached


class SharedArrays:
    """Of one call. copies: by position, of arrays that are not only on the host; own: those whose memory on GPUs is
    given back at its end; boxes: of parts of earlier calls of this kind and shape. everything: arguments, numbers and
    arrays of the present region; writing: what its parts write, `sure`ly apart or not. lock: where threads look."""

    def __init__(
        self, program: RegionProgram, copies: dict[int, ArrayCopies], own: Sequence[ArrayCopies], boxes: Boxes
    ) -> None:
        self.program, self.copies, self.own, self.boxes = program, dict(copies), list(own), boxes
        self.lock = threading.RLock()
        self.everything: tuple[object, ...] = ()
        self._values: dict[str, int] = {}
        self._apart: dict[tuple[object, ...], bool] = {}
        self.writing, self.sure = list[tuple[Participant, int, Box]](), False

    def enter(self, everything: tuple[object, ...]) -> None:
        """A region begins, in which nobody has written anything yet."""
        self.everything, self.writing, self.sure = everything, [], False
        self._values = values_of(everything)  # sizes of arrays that the call makes, too, which elements may decide

    def written_by(self, writing: Sequence[tuple[Participant, int, Box]]) -> None:
        """A region is over: who has written has the newest elements."""
        for member, position, box in writing:
            if member.failure is None or isinstance(member.failure, DeviceMemoryError):
                self.copies[position].wrote(member.name, box)
        for copies in self.copies.values():
            copies.settle_early()

    def arrays(self, code: RegionCode) -> Iterator[tuple[int, ArrayCopies]]:
        """The arrays that a region is about, by position."""
        program = self.program
        made = program.first + program.numbers
        for position in code.reach:
            value = self.everything[position]
            if not isinstance(value, np.ndarray):
                continue
            if position not in self.copies:
                is_local = position >= made + program.results
                self.copies[position] = ArrayCopies(value, None if is_local else HOST)
                self.own.append(self.copies[position])
            yield position, self.copies[position]

    def reached(self, member: Participant, number: int, part: range) -> Reached:
        """What a part of a region touches, needs and writes of each array, by position."""
        last = member.program.first + member.program.numbers - 1
        known = self._values
        key = (number, part.start, part.stop, *known.values())
        found = self.boxes.get(key)
        if found is None:
            code = member.program.codes[number]
            assert code is not None
            values = known | {f"v{last - 1}": part.start, f"v{last}": part.stop}
            found = [
                (
                    position,
                    copies.box_of(code.reach[position], "touched", values),
                    copies.box_of(code.reach[position], "needed", values),
                    copies.box_of(code.reach[position], "written", values) if position in code.written else None,
                )
                for position, copies in self.arrays(code)
            ]
            if len(self.boxes) < MOST_BOXES:
                self.boxes[key] = found
        return found

    def are_apart(self, members: Sequence[Participant], number: int, parts: Sequence[range]) -> bool:
        """Whether parts of a region write boxes that have nothing in common."""
        able = next((member for member in members if member.program.codes[number] is not None), None)
        if able is None:
            return False
        with self.lock:
            key = (number, *((part.start, part.stop) for part in parts), *self._values.values())
            if key not in self._apart:
                self._apart[key] = self._write_apart(able, number, parts)
            return self._apart[key]

    def _write_apart(self, able: Participant, number: int, parts: Sequence[range]) -> bool:
        written: dict[int, list[Box]] = {}
        for part in filter(None, parts):
            for position, _, _, box in self.reached(able, number, part):
                if box is not None:
                    others = written.setdefault(position, [])
                    if any(intersection(box, other) for other in others):
                        return False
                    others.append(box)
        return True

    def prepared(self, member: Participant, number: int, part: range) -> Piece:
        """What doing a part takes; from now on it counts as on its way. Raises DeviceMemoryError, Overlap, and
        LookupError where something is needed that only a lost device had."""
        code = member.program.codes[number]
        assert code is not None
        copies: list[Copy] = []
        written: list[tuple[int, Box]] = []
        with self.lock:
            there = dict(self.arrays(code))
            reached = self.reached(member, number, part)
            for position, touched, _, box in reached:
                if member.gpu is not None and touched is not None:
                    there[position].room(member.name, member.gpu)
                if box is not None:
                    written.append((position, box))
            for other, position, box in () if self.sure else self.writing:
                if other is not member and any(p == position and intersection(b, box) for p, b in written):
                    raise Overlap
            for position, _, needed, box in reached:
                for one in (needed, box if code.ends_early else None):
                    if one is not None:
                        copies += there[position].wanted(member.name, one)
            for position, box in written:
                there[position].will_write(member.name, box)
                self.writing.append((member, position, box))
        return Piece(part, copies, written)

    def is_there(self, member: Participant, number: int, part: range) -> bool:
        """Whether all that a GPU's part needs is on GPUs, and nothing of what it writes is wanted on the host at
        once: then who asks for it need not wait for any copy."""
        code = member.program.codes[number]
        if code is None or member.failure is not None or member.gpu is None:
            return False
        last = self.program.last[number]
        with self.lock:
            there = dict(self.arrays(code))
            for position, _, needed, written in self.reached(member, number, part):
                copies = there[position]
                if written is not None and position in last and copies.home == HOST:
                    return False
                missing = copies.valid[member.name].missing(needed) if needed is not None else []
                if any(copies.valid[HOST].inside(one) for one in missing):
                    return False
        return True
