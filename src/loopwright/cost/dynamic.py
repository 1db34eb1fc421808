"""How often a thread executes each instruction of a grid's kernel: its machine code, weighted by the counts of the
loops that it was made for.

The cubin tells for each instruction the line of the CUDA text, and what jumps back in a loop of the machine code stands
on the line of the loop in the text. So each machine loop is known to be a certain loop of the kernel, and runs as often
as that one (`analysis.frequency`), less what the compiler wrote out: a machine loop that holds the work of u iterations
runs for every u-th. How many it holds is seen from the operations in it that can neither vanish nor be shared: stores,
arithmetic on floats, or reciprocals and roots, against those in the loop's body. Where several machine loops are of one
loop, the one that holds the most comes first, and the others do what it leaves, as does straight code that holds
several iterations; but where some hold further loops and some none, the latter are versions for when those would not
run, and do nothing. The parts of loops whose tiles arrive ahead are told apart by `cost/rounds.py`.

Assumed: an instruction in no further loop runs once for each iteration of the machine loop around it, times the part of
iterations that come to its branch, where loops stand in that branch. Of two branches with the same loops (a test that
is not the kernel's, such as alignment) the first one is taken. Threads that have nothing to do in an iteration execute
it with their warp, but where only the first threads of a block come, only their warps do. Slow paths of divisions and
roots are functions of their own, and are not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from math import ceil, prod

from loopwright.analysis.frequency import Frequencies
from loopwright.cost.control_flow import MachineLoop, blocks_of, loops_of
from loopwright.cost.operations import Operations, executed, of_statement
from loopwright.cost.rounds import Parts, parts_of
from loopwright.ir.code import CodeRegion
from loopwright.ir.gpu_target import CUDA
from loopwright.ir.nodes import Body, For
from loopwright.ir.walk import bodies, statements
from loopwright.steps.threads import BLOCKS, THREADS, block_size, sharing_of
from loopwright.toolchain.sass import Instruction

NEIGHBOURS = "thread.x"
"""The axis whose threads are together in a warp."""


@dataclass(frozen=True, slots=True)
class InstructionCounts:
    """weights: how often a thread executes each instruction, in their order. unmatched: loops of the text, by line,
    that run an unknown number of times; they count once."""

    weights: tuple[float, ...]
    unmatched: tuple[int, ...]


def counted(
    code: Sequence[Instruction], kernel: CodeRegion, inside: Body, found: Frequencies, first_line: int,
    warp: int = CUDA.warp,
) -> InstructionCounts:  # fmt: skip
    """The weights of the instructions of one grid. kernel: its region of the text. inside: the nest. first_line: the
    number in the cubin's tables of the line before the first of the text, which stands behind a header."""
    at = [_line(one, first_line) for one in code]
    places = [kernel if line is None else kernel.at(line) for line in at]
    machine = loops_of(code)
    shares = _Shares(kernel, inside, found, frozenset(region for place in places for region in place.around()), warp)
    of = [_loop_of(one, code, places, first_line) for one in machine]
    times, pieces = _times(machine, of, code, places, shares)
    alone = _alone(code, places, shares)
    innermost: dict[int, int] = {place: number for number, one in enumerate(machine) for place in one.own}
    weights = []
    for place, region in enumerate(places):
        loop = innermost.get(place)
        around = kernel if loop is None else of[loop] or kernel
        weight = (1.0 if loop is None else times[loop]) * shares.between(region, around)
        weights.append(min(weight * pieces.get(place, 1.0), alone.get(place, weight)))
    return InstructionCounts(tuple(weights), tuple(sorted(shares.unmatched)))


def _line(one: Instruction, first_line: int) -> int | None:
    """The line of the text: an instruction of the header is of the line where it was called."""
    return next((line - first_line for line in one.lines if line > first_line), None)


def _loop_of(
    loop: MachineLoop, code: Sequence[Instruction], places: Sequence[CodeRegion], first_line: int
) -> CodeRegion | None:
    """The loop of the text that a machine loop was made for; None for one of the header's."""
    for latch in loop.latches:
        if code[latch].lines and code[latch].lines[0] > first_line:
            return places[latch].loop
    return None


def _times(
    machine: Sequence[MachineLoop],
    of: Sequence[CodeRegion | None],
    code: Sequence[Instruction],
    places: Sequence[CodeRegion],
    shares: _Shares,
) -> tuple[list[float], dict[int, float]]:
    """How often the body of each machine loop runs; and of what stands between such loops for several iterations, the
    part of times that there are so many left."""
    times = [0.0] * len(machine)
    pieces: dict[int, float] = {}
    siblings: dict[tuple[int, CodeRegion | None], list[int]] = {}
    for number, one in enumerate(machine):
        siblings.setdefault((one.outer, of[number]), []).append(number)
    done: set[tuple[int, CodeRegion | None]] = set()
    for number, one in enumerate(machine):
        key = (one.outer, of[number])
        if key in done:
            continue
        done.add(key)
        outer, region = key
        base = 1.0 if outer < 0 else times[outer]
        around = shares.kernel if outer < 0 else of[outer] or shares.kernel
        if region is None or region is around or region.kind == "kernel":
            for each in siblings[key]:
                times[each] = base
            continue
        entries, trips, copies = shares.run(region, around)
        holding = {one.outer for one in machine}.intersection(siblings[key]) or set(siblings[key])
        held = {each: _held(machine[each], code, places, region, shares, of, trips) for each in siblings[key]}
        order = sorted(holding, key=lambda each: -held[each])
        mains = order[: max(1, min(len(order), round(copies)))]
        unit = max(1.0, held[mains[0]])
        whole = _turns(trips, unit)
        for each in mains:
            times[each] = base * entries * copies / len(mains) * whole
        left = trips - whole * unit
        units = {each: max(1.0, held[each]) for each in order[len(mains) :]}
        whole_loop = (machine[mains[0]], max(1.0, held[mains[0]]))
        straight = _straight(outer, machine, code, places, region, shares, of, whole_loop) if copies == 1 else {}
        for unit, each, piece in sorted(
            [(unit, each, range(0)) for each, unit in units.items()]
            + [(unit, -1, one) for one, unit in straight.items()],
            key=lambda one: -one[0],
        ):
            turns = _turns(left, unit) if each >= 0 else min(1.0, left // unit)
            if each >= 0:
                times[each] = base * entries * copies * turns
            pieces |= {place: turns for place in piece if region in places[place].around()}
            left -= turns * unit
    return times, pieces


def _turns(trips: float, unit: float) -> float:
    """How often a machine loop that holds the work of so many iterations goes round. Iterations are a mean, which may
    be below one where threads share them."""
    return trips if unit == 1.0 else trips // unit


def _straight(
    outer: int,
    machine: Sequence[MachineLoop],
    code: Sequence[Instruction],
    places: Sequence[CodeRegion],
    region: CodeRegion,
    shares: _Shares,
    rolled: Sequence[CodeRegion | None],
    main: tuple[MachineLoop, float],
) -> dict[range, float]:
    """Basic blocks beside the machine loops of a loop which hold the work of iterations, and of how many. main: the
    loop that holds the most, and how many: where no operation tells, what is read in it does."""
    looped = {place for one in machine for place in one.inside}
    here = set(machine[outer].own) if outer >= 0 else set(range(len(code))) - looped
    expected = shares.expected(region, rolled)
    found: dict[range, float] = {}
    for block in blocks_of(code):
        own = executed(code[place] for place in block if _is_first(places[place], region))
        if not (own.arithmetic or own.special or _reads(block, code, places, region)):
            continue  # stores of what the compiler has kept in a register meanwhile
        ratio = own.ratio(expected)
        if ratio is None and (inside := _reads(main[0].own, code, places, region)):
            ratio = main[1] * _reads(block, code, places, region) / inside
        if block.start in here and (unit := round(ratio or 0.0)):
            found[block] = float(unit)
    return found


def _reads(at: Iterable[int], code: Sequence[Instruction], places: Sequence[CodeRegion], region: CodeRegion) -> int:
    """How many instructions of a loop of the text load something."""
    return sum(code[place].name in ("LDG", "LDS", "LD") and _is_first(places[place], region) for place in at)


def _alone(code: Sequence[Instruction], places: Sequence[CodeRegion], shares: _Shares) -> dict[int, float]:
    """What only the first threads of a block come to, as the others have jumped, and the part of warps that do. The
    compiler moves what only they use behind the jump."""
    found: dict[int, float] = {}
    for place, one in enumerate(code):
        part = shares.first_threads(places[place])
        if part == 1.0 or not one.guard or one.name not in ("EXIT", "BRA"):
            continue
        for later in range(place + 1, len(code)):
            if one.target is not None and code[later].address >= one.target:
                break
            found[later] = min(part, found.get(later, 1.0))
    return found


def _held(
    loop: MachineLoop,
    code: Sequence[Instruction],
    places: Sequence[CodeRegion],
    region: CodeRegion,
    shares: _Shares,
    rolled: Sequence[CodeRegion | None],
    trips: float,
) -> float:
    """The work of how many iterations a machine loop holds."""
    # What stands there a second time, for arrays that are not aligned, is no work of a further iteration.
    own = executed(code[place] for place in loop.own if _is_first(places[place], region))
    ratio = own.ratio(shares.expected(region, rolled))
    asked = region.unroll
    if asked > 1 and (ratio is None or 0.6 * asked <= ratio <= 1.6 * asked):
        return float(asked)
    return max(1.0, min(float(round(ratio or 1.0)), trips or 1.0))


@dataclass
class _Shares:
    """What part of iterations comes where, by the regions of the text."""

    kernel: CodeRegion
    inside: Body
    found: Frequencies
    present: frozenset[CodeRegion]
    warp: int
    loops: dict[str, For] = field(default_factory=dict)
    own: Mapping[str, Operations] = field(default_factory=dict)
    size: tuple[int, int, int] = (1, 1, 1)
    parts: Mapping[str, Parts | None] = field(default_factory=dict)
    unmatched: set[int] = field(default_factory=set)
    known: dict[tuple[CodeRegion, CodeRegion], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.loops = {stmt.name: stmt for stmt in statements(self.inside, For)}
        shown = {region.name for region in self.kernel.within() if region.kind == "loop"}
        counts: dict[str, Operations] = {}
        self._operations(self.inside, "", 1.0, shown, counts)
        self.own = counts
        self.size = block_size(self.inside)
        steady = Counter(region.name for region in self.kernel.within() if region.part == "steady")
        self.parts = {
            name: parts_of(self.loops[name], self.found, texts) for name, texts in steady.items() if name in self.loops
        }

    def found_at(self, region: CodeRegion) -> Frequencies:
        """The frequencies that hold in a region: of the part of a loop that it is in."""
        for one in region.around():
            parts = self.parts.get(one.name)
            if parts is not None and one.part in parts.found:
                return parts.found[one.part]
        return self.found

    def _operations(self, body: Body, name: str, times: float, shown: set[str], counts: dict[str, Operations]) -> None:
        """What the kernel does in each loop that the text shows, for one iteration."""
        for stmt in body:
            counts[name] = counts.get(name, Operations()) + of_statement(stmt) * times
            if isinstance(stmt, For) and stmt.name in shown:
                self._operations(stmt.body, stmt.name, 1.0, shown, counts)
            else:
                for below in bodies(stmt):
                    self._operations(below, name, times, shown, counts)

    def expected(self, region: CodeRegion, rolled: Sequence[CodeRegion | None]) -> Operations:
        """The operations in the text of a loop's body, with those of loops inside it that are written out, as all are
        but the ones in `rolled`."""
        total = self.own.get(region.name, Operations()) if region.name or region.kind == "kernel" else Operations()
        for one in region.within():
            here = one.kind == "loop" and one.outer is not None and one.outer.loop is region
            if here and one not in rolled and not _in_strips(one, region):
                total = total + self.expected(one, rolled) * (one.trips or 1)
        return total * region.at_once if region.part == "unrolled" else total

    def run(self, region: CodeRegion, around: CodeRegion) -> tuple[float, float, float]:
        """How often a loop is come to for each iteration of one around it, its iterations then, and how many copies of
        it there are, as loops between the two are written out."""
        copies, entries = 1.0, self.entered(region)
        for one in region.outer.around() if region.outer else ():
            if one is around or one.kind == "kernel":
                break
            if one.kind == "loop":
                copies *= max(1.0, self.trips(one))
                entries *= self.entered(one)
        return entries, self.trips(region), copies

    def between(self, region: CodeRegion, around: CodeRegion) -> float:
        """The part of iterations of the loop `around` that come to a region inside it; 1 where it is not inside."""
        if (region, around) not in self.known:
            self.known[region, around] = self._between(region, around)
        return self.known[region, around]

    def _between(self, region: CodeRegion, around: CodeRegion) -> float:
        if around not in region.around():
            return 1.0
        part = self._branch(region)
        loop = region.loop
        while loop is not around and loop.kind == "loop":
            part *= self.entered(loop) * min(1.0, self.trips(loop))
            assert loop.outer is not None
            loop = loop.outer.loop
        return part

    def _branch(self, region: CodeRegion) -> float:
        """The part of iterations of the nearest loop around that come to a branch."""
        part = 1.0
        for one in region.around():
            if one.kind not in ("then", "else"):
                break
            part = min(part, self._text(one) * self._of_branch(one))
        return part

    def first_threads(self, branch: CodeRegion) -> float:
        """The part of warps that have a thread for a branch that only the first ones of a block take."""
        if "x" not in branch.axes:
            return 1.0
        return min(
            1.0, self.warp / prod(size for axis, size in zip("xyz", self.size, strict=True) if axis in branch.axes)
        )

    def _text(self, branch: CodeRegion) -> float:
        """The part of threads that take a branch as it is one of two texts for the same, or for the first threads; 1
        where it is neither."""
        if branch.question:
            return 0.0
        steady = next((one for one in branch.inner if one.part == "steady"), None)
        parts = self.parts.get(steady.name) if steady else None
        if parts is None:
            return 0.0 if _is_second(branch) else self.first_threads(branch)
        whole = parts.whole if _then_of(branch) in self.present else 0.0  # kernels for large arrays leave it out
        return whole if branch.kind == "then" else 1.0 - whole

    def _of_branch(self, branch: CodeRegion) -> float:
        inner = [one for one in branch.within() if one.kind == "loop" and one.outer and one.outer.loop is branch.loop]
        known = [self._entered(one) for one in inner if one.name in self.loops]
        return max(known, default=1.0)

    def entered(self, loop: CodeRegion) -> float:
        """How often a loop is come to for each iteration of the one around it in the text."""
        part = self._entered(loop) if loop.name in self.loops else 1.0
        assert loop.outer is not None
        return min([part, *(self._text(one) for one in loop.outer.around() if one.loop is loop.outer.loop)])

    def _entered(self, region: CodeRegion) -> float:
        assert region.outer is not None
        around, name = self.loops.get(region.outer.loop.name), region.name
        found = self.found_at(region)
        part = min(1.0, found.reached(name))
        while (name := found.around[name]) in self.loops and self.loops[name] is not around:
            loop = self.loops[name]
            if loop.run in BLOCKS:
                break
            part *= min(1.0, found.reached(name))
            if loop.run in THREADS:
                part *= min(1.0, self._of_thread(loop, found))
        return part

    def trips(self, region: CodeRegion) -> float:
        """The iterations of a loop of the text, for one thread."""
        if region.trips is not None:
            return float(region.trips)
        if region.part == "chunks":
            return 1.0  # of a block over what would be the work of several: these are what is counted as blocks
        loop = self.loops.get(region.name)
        if loop is None or loop.name not in self.found.entries:
            self.unmatched.add(region.first)
            return 1.0
        trips = self._of_thread(loop, self.found_at(region))
        if region.part == "unrolled":
            return trips // region.at_once
        return trips % region.at_once if region.part == "remainder" else trips

    def _of_thread(self, loop: For, found: Frequencies) -> float:
        """The mean of the threads. Those of a warp go round together."""
        trips = found.trips(loop.name)
        if loop.run in THREADS:
            sharing = sharing_of(loop)
            if loop.run == NEIGHBOURS:
                together = min(self.warp, sharing)
                lengths = found.lengths.get(loop.name, {})
                if times := sum(lengths.values()):
                    turns = sum(part * ceil(length / together) for length, part in lengths.items()) / times
                else:
                    turns = ceil(round(trips / together, 9))
                trips = turns * together
            trips /= sharing
        return round(trips, 9)  # sums of weights are off by rounding, and 1000 is not to be 999.99...


def _is_first(region: CodeRegion, inside: CodeRegion) -> bool:
    """Whether a region is inside another, and in no second version of anything there."""
    path = list(takewhile(lambda one: one is not inside, region.around()))
    return inside in region.around() and not any(map(_is_second, path))


def _in_strips(region: CodeRegion, inside: CodeRegion) -> bool:
    """Whether a region is in the second text of a loop, which asks whether to stop."""
    path = takewhile(lambda one: one is not inside, region.around())
    return any(one.kind == "else" and _then_of(one).plain for one in path)


def _is_second(branch: CodeRegion) -> bool:
    """Whether a branch is another version of the one before it: a test that is no condition of the kernel's."""
    if branch.kind != "else":
        return False
    first = _then_of(branch)
    names = [Counter(one.name for one in part.within() if one.kind == "loop" and one.name) for part in (first, branch)]
    return first.versions or bool(names[0] & names[1])


def _then_of(branch: CodeRegion) -> CodeRegion:
    """The branch that an `else` belongs to, or the branch itself."""
    siblings = branch.outer.inner if branch.outer else []
    return siblings[siblings.index(branch) - 1] if branch.kind == "else" else branch
