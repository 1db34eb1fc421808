"""The arrays of a call that devices share: what a part of a region touches, needs and writes of them, and who has the
newest elements."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from loopwright.errors import DeviceMemoryError
from loopwright.forks import free_in_child
from loopwright.ir.plan import Box
from loopwright.memory.array_copies import HOST, ArrayCopies, Copy, Marks
from loopwright.memory.box_set import BoxSet, intersection
from loopwright.memory.placing import values_of
from loopwright.memory.region_call import RegionCode, RegionProgram
from loopwright.runtime.partial_copies import PartialCopies
from loopwright.runtime.participants import MOST_BOXES, Overlap, Participant, Piece, Reached
from loopwright.runtime.region_plans import Key, PlannedPart, RegionPlan, RegionPlans


class SharedArrays:
    """Of one call. copies: by position, of arrays that are not only on the host; own: those whose memory on GPUs is
    given back at its end; known: of earlier calls of this kind and shape. everything: arguments, numbers and
    arrays of the present region; writing: what its parts write, `sure`ly apart or not; partial: arrays of which
    there are several. lock: where threads look."""

    def __init__(
        self, program: RegionProgram, copies: dict[int, ArrayCopies], own: Sequence[ArrayCopies], known: RegionPlans
    ) -> None:
        self.program, self.copies, self.own, self.known = program, dict(copies), list(own), known
        self.lock = free_in_child(threading.RLock())
        self.everything: tuple[object, ...] = ()
        self._known_values: dict[str, int] | None = None
        self._apart: dict[tuple[object, ...], bool] = {}
        self.writing, self.sure = list[tuple[Participant, int, Box]](), False
        self.partial = PartialCopies(known.spare)

    def enter(self, everything: tuple[object, ...]) -> None:
        """A region begins, in which nobody has written anything yet."""
        self.everything, self.writing, self._known_values = everything, [], None
        self.sure = False
        self.partial.enter()

    def everything_of(self, member: Participant, part: range) -> tuple[object, ...]:
        """What a member is given of the present region for a part."""
        last = member.program.first + member.program.numbers - 1
        found = [*self.everything[: last - 1], part.start, part.stop, *self.everything[last + 1 :]]
        for position, copies in self.partial.of(member.name, part).items():
            found[position] = copies.array
        return tuple(found)

    @property
    def _values(self) -> dict[str, int]:
        if self._known_values is None:  # sizes of arrays that the call makes, too, which elements may decide
            self._known_values = values_of(self.everything)
        return self._known_values

    def written_by(self, writing: Sequence[tuple[Participant, int, Box]]) -> None:
        """A region is over: who has written has the newest elements."""
        for member, position, box in writing:
            if member.failure is None or isinstance(member.failure, DeviceMemoryError):
                self.copies[position].wrote(member.name, box)
        for copies in self.copies.values():
            copies.settle_early()

    def arrays(self, code: RegionCode) -> Iterator[tuple[int, ArrayCopies]]:
        """The arrays that a region is about, by position."""
        for position in code.reach:
            if isinstance(self.everything[position], np.ndarray):
                yield position, self.at(position)

    def at(self, position: int) -> ArrayCopies:
        """The array at a position."""
        if position not in self.copies:
            is_local = position >= self.program.first + self.program.numbers + self.program.results
            self.copies[position] = ArrayCopies(self.everything[position], None if is_local else HOST)
            self.own.append(self.copies[position])
        return self.copies[position]

    def reached(self, member: Participant, number: int, part: range) -> Reached:
        """What a part of a region touches, needs and writes of each array, by position."""
        last = member.program.first + member.program.numbers - 1
        known = self._values
        key = (number, part.start, part.stop, *known.values())
        found = self.known.boxes.get(key)
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
            if len(self.known.boxes) < MOST_BOXES:
                self.known.boxes[key] = found
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

    def prepared(self, member: Participant, number: int, part: range, with_room: bool = True) -> Piece:
        """What doing a part takes; from now on it counts as on its way. with_room: arrays get their memory, also those
        of which there are several. Raises DeviceMemoryError, Overlap, and LookupError where something is needed that
        only a lost device had."""
        code = member.program.codes[number]
        assert code is not None
        copies: list[Copy] = []
        written: list[tuple[int, Box]] = []
        with self.lock:
            there = dict(self.arrays(code))
            reached = self.reached(member, number, part)
            for position, touched, _, box in reached:
                if with_room and member.gpu is not None and touched is not None:
                    there[position].room(member.name, member.gpu)
                if box is not None:
                    written.append((position, box))
            several = self.partial.made(member, code, self.everything) if code.partial and with_room else None
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
            if several is not None:
                copies += self.partial.add(member, part, several)
        return Piece(part, copies, written)

    def waits_inside(self, member: Participant, number: int) -> bool:
        """Whether who starts a region on a member has to wait in the middle of it."""
        code = member.program.codes[number]
        return code is not None and code.fetches

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

    # ---- plans --------------------------------------------------------------------------------------------------

    def plan(self, members: Sequence[Participant], number: int, parts: Sequence[range]) -> RegionPlan | None:
        """What members do of a region if all that they need is on GPUs, and nothing of what they write is wanted on the
        host at once; else None."""
        code = self.program.codes[number]
        if code is None or any(member.failure is not None for member in members):
            return None
        if any(self.waits_inside(member, number) for member in members):
            return None  # GPUs would begin one after the other
        there = dict(self.arrays(code))
        key = self._key(number, code, parts, there)
        if key in self.known.plans:
            return self.known.plans[key]
        for copies in there.values():
            copies.marks = self.known.same(copies.marks)
        key = self._key(number, code, parts, there)
        if key in self.known.plans:
            return self.known.plans[key]
        return self.known.keep(key, self._planned(members, number, parts, there))

    def _key(self, number: int, code: RegionCode, parts: Sequence[range], there: Mapping[int, ArrayCopies]) -> Key:
        """All that decides about a plan: numbers of the host only where parts of arrays depend on them."""
        deciding = self.known.deciding.get(number)
        if deciding is None:
            names = {name for one in code.reach.values() for name in one.names}
            deciding = [k for k in range(len(self.everything)) if f"v{k}" in names]
            self.known.deciding[number] = deciding
        return (
            number, tuple(parts), *(self.everything[k] for k in deciding), self.made_shapes,
            *(copies.marks for copies in there.values()),
        )  # fmt: skip

    @property
    def made_shapes(self) -> Key:
        """Of the arrays that the call has made so far, None for others."""
        made = self.everything[self.program.first + self.program.numbers :]
        return tuple(one.shape if isinstance(one, np.ndarray) else None for one in made)

    def _planned(
        self, members: Sequence[Participant], number: int, parts: Sequence[range], there: Mapping[int, ArrayCopies]
    ) -> RegionPlan | None:
        asked = [(place, member, parts[place]) for place, member in enumerate(members) if parts[place]]
        if not self.are_apart(members, number, parts):
            return None
        if not all(self.is_there(member, number, part) for _, member, part in asked):
            return None
        before = {position: copies.marks for position, copies in there.items()}
        try:
            pieces = [self.prepared(member, number, part, with_room=False) for _, member, part in asked]
            self.written_by(self.writing)
            after = {position: self.known.same(copies.marks) for position, copies in there.items()}
        except LookupError:
            return None
        finally:
            self.writing = []
            for position, copies in there.items():
                copies.marks = before[position]
        sources = [(copy, _valid_at(copy.array.marks, copy.source)) for piece in pieces for copy in piece.copies]
        if any(valid.missing(copy.box) for copy, valid in sources):
            return None  # that is to come there first, in this very region
        places = {member.name: place for place, member in enumerate(members)}
        if any(copy.source not in places for copy, _ in sources):
            return None
        positions = {id(copies): position for position, copies in there.items()}
        made = [
            PlannedPart(
                place,
                part,
                [position for position, touched, _, _ in self.reached(member, number, part) if touched is not None],
                [(positions[id(copy.array)], copy.source, copy.box) for copy in piece.copies],
            )
            for (place, member, part), piece in zip(asked, pieces, strict=True)
        ]
        order = frozenset((part.place, places[source]) for part in made for _, source, _ in part.copies)
        return RegionPlan(number, made, before, after, order)

    def become(self, plan: RegionPlan) -> None:
        """A planned region is done, or sure to be."""
        for position, marks in plan.after.items():
            self.copies[position].marks = marks


def _valid_at(marks: Marks, place: str) -> BoxSet:
    """What a place has."""
    return BoxSet.of(dict(marks.valid).get(place, ()))
