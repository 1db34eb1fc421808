"""Which part of each array a call touches, of which part the values from before the call count, and which part it may
write: boxes whose ends are expressions of sizes and scalar arguments, for whoever moves arrays to another memory.

A box may be larger than what is touched, never smaller. What is written for certain, and not read before that, is not
`needed`: only accesses that happen whenever their conditions hold count as such, and conditions on data never do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial

from loopwright.analysis import isl
from loopwright.analysis.affine import Formula, of_symbol
from loopwright.analysis.condition_text import as_text, value_text
from loopwright.analysis.dependence import Elements, symbols_of
from loopwright.analysis.effort import LOCK, Effort, TooHard, together
from loopwright.analysis.facts import Facts
from loopwright.analysis.instances import Touch, fixed_in, leaves_of, order_of, touches_of
from loopwright.analysis.proof import Proof, context_of
from loopwright.analysis.sets import BRIEF, brief, build, minus, only, ordered, simpler
from loopwright.analysis.trace import Access, traced
from loopwright.ir.boxes import Box, Reach
from loopwright.ir.nodes import ArrayParam, For, Kernel

LIMIT = 2_000_000
"""How many of isl's operations one question about one array may take."""

MOST_PIECES = 8
"""What is more pieces than this has no simple ends: the box is the whole array."""


class ReachWhenAsked(Mapping[int, Reach]):
    """The answer of `reach`, found when somebody first asks for it: calls whose arrays are where they are used never
    do."""

    def __init__(self, written: Kernel, known: Facts, kernel: Kernel, facts: Facts) -> None:
        self._find = partial(reach, written, known, kernel, facts)

    @cached_property
    def _found(self) -> Mapping[int, Reach]:
        return self._find()

    def __getitem__(self, position: int) -> Reach:
        return self._found[position]

    def __iter__(self) -> Iterator[int]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


@together()
def reach(written: Kernel, known: Facts, kernel: Kernel, facts: Facts) -> dict[int, Reach]:
    """The Reach of every array, by its position among the arguments (results follow them). `kernel` is what runs, made
    of `written` by steps: what it touches is read off itself; what it means, off `written`. Arguments that are not in
    the answer are not touched."""
    with LOCK:
        meant, runs = _TouchedSets(written, known), _TouchedSets(kernel, facts)
        found: dict[int, Reach] = {}
        undefined = {result.name for result in written.results if result.fill is None}  # until the call writes
        for position, name, rank, plain in _arrays(written):
            whole = whole_box(position, rank)
            one = _bounded(partial(_reach, meant, runs), name, whole) if plain else Reach(whole, whole, whole)
            if name in undefined:
                one = replace(one, needed=None)
            if one.touched is not None:
                found[position] = one
        return found


def _reach(meant: _TouchedSets, runs: _TouchedSets, name: str, whole: Box) -> Reach:
    points, there = meant.touched(name), runs.touched(name)
    if there is None:
        return Reach(None, None, None)
    # The code goes through the same elements in tiles, which would make ends of many pieces.
    same = points is not None and runs.within(there, _hull(points))
    needed, written = meant.box(meant.needed(name), whole), meant.box(meant.written(name), whole)
    return Reach(meant.box(points, whole) if same else whole, needed, written)


def iterations_of(kernel: Kernel, loop: For) -> Box | None:
    """The iterations of an outermost loop, as a box of one axis; None where they depend on data."""
    with LOCK:
        scene = _TouchedSets(kernel, None)
        note = scene.notes.loops[loop.name]
        symbols = ordered(symbol for formula in note.domain for symbol in formula.symbols)
        if not note.regular or any(symbol.loose or symbol.data for symbol in symbols):
            return None
        try:
            with Effort(LIMIT, patient=True).bounded():
                value = Formula(f"d = {of_symbol(note.symbol).text()}", (note.symbol,))
                return scene.box(only(build(note.domain, ("d",), (value,)), scene.kept), None)
        except TooHard:
            return None


def whole_box(position: int, rank: int) -> Box:
    """All of an array."""
    sizes = [f"s{position}_{axis}" for axis in range(rank)]
    return Box(" and ".join(f"{size} > 0" for size in sizes), [("0", f"{size} - 1") for size in sizes])


def _arrays(kernel: Kernel) -> Iterator[tuple[int, str, int, bool]]:
    """Position, name, rank, and whether to look at its elements, of each argument and result: not at numbers in arrays,
    and not at records, of which there may be more than fields."""
    seen: dict[int, ArrayParam] = {}
    several: set[int] = set()
    for param in kernel.arrays:
        several |= {param.argument} if param.argument in seen else set()
        seen.setdefault(param.argument, param)
    for position, param in seen.items():
        plain = position not in several and not param.offset and not param.tail and param.rank > 0
        yield position, param.name, param.rank - len(param.tail), plain
    first = kernel.results_from
    for number, result in enumerate(kernel.results):
        yield first + number, result.name, result.rank, result.rank > 0


def _bounded(ask: Callable[[str, Box], Reach], name: str, whole: Box) -> Reach:
    try:
        with Effort(LIMIT, patient=True).bounded():
            return ask(name, whole)
    except TooHard:
        return Reach(whole, whole, whole)


class _TouchedSets:
    """One kernel, and the elements that its accesses touch, as isl sets of sizes and scalar arguments."""

    def __init__(self, kernel: Kernel, facts: Facts | None) -> None:
        self._kernel, self.notes = kernel, traced(kernel)
        bounds = {id(access.node): facts.bounds_of(access.node) for access in self.notes.accesses} if facts else {}
        self._elements = Elements(Proof(self.notes, {}, bounds=bounds))
        self._context = context_of(self.notes)
        self.kept = {s.name for s in self.notes.state.table.symbols if s.role in ("size", "scalar")}

    def touched(self, name: str) -> isl.Set | None:
        """What some access may touch; None where there is none."""
        return self._union(self._of(name))

    def written(self, name: str) -> isl.Set | None:
        """What some access may write; None where there is none."""
        return self._union([access for access in self._of(name) if access.is_write])

    def needed(self, name: str) -> isl.Set | None:
        """What is read before it is surely written, and what stands in the box of what is written and is not."""
        reads = [access for access in self._of(name) if not access.is_write]
        writes = [access for access in self._of(name) if access.is_write]
        may, certain = self._union(writes), [access for access in writes if _is_certain(access)]
        if may is None or not certain:
            return self.touched(name)
        surely = self._union(certain)
        needed = minus(_hull(may), surely)
        if reads:
            needed = needed.union(self._exposed(reads, certain))
        return needed.coalesce()

    def within(self, points: isl.Set, others: isl.Set) -> bool:
        """Whether all of some points are among others, whatever the sizes."""
        return bool(points.intersect_params(self._context).is_subset(others))

    def box(self, points: isl.Set | None, whole: Box | None) -> Box | None:
        """The box around some points, in words; `whole` where there are no words for its ends."""
        if points is None or points.intersect_params(self._context).is_empty():
            return None
        points = points.compute_divs().coalesce()
        where = simpler(points.params(), self._context).coalesce()
        if where.n_basic_set() > MOST_PIECES or points.n_basic_set() > MOST_PIECES:
            return whole
        known = points.params().intersect(self._context)
        ends = []
        for axis in range(points.dim(isl.dim_type.set)):
            with brief(points, 4 * BRIEF):  # of four calls
                try:
                    least, greatest = (end(axis).gist(known).coalesce() for end in (points.dim_min, points.dim_max))
                except isl.Error:
                    if points.is_bounded():
                        raise
                    return whole  # the step of a loop is known at run time only, and with it how far an index goes
                ends.append((value_text(least), value_text(greatest)))
        return Box(as_text(where, {}), ends)

    def _of(self, name: str) -> list[Access]:
        return [access for access in self.notes.accesses if access.array == name]

    def _set(self, access: Access) -> isl.Set:
        """The elements of one access. An index outside of the array is an error, and touches nothing; of those that
        are proven the guard says so."""
        axes = range(len(access.index))
        points = self._elements.whole_of(access, (None,) * len(access.index))
        proven = all(bounds.kind == "proven" for bounds in self._elements.proof.bounds[id(access.node)])
        if not proven or any(s.loose for s in ordered(s for form in access.index for s in form.symbols)):
            sizes = [Formula(f"0 <= e{k} and e{k} < {access.sizes[k].text()}", access.sizes[k].symbols) for k in axes]
            points = points.intersect(build((), [f"e{k}" for k in axes], sizes))
        return only(points, self.kept)

    def _union(self, accesses: Sequence[Access]) -> isl.Set | None:
        total: isl.Set | None = None
        for access in accesses:
            total = self._set(access) if total is None else total.union(self._set(access))
        return None if total is None else total.coalesce()

    def _exposed(self, reads: Sequence[Access], writes: Sequence[Access]) -> isl.Set:
        """What the reads find of the time before the call."""
        leaves, fixed = leaves_of(self._kernel.body, self.notes), fixed_in(self.notes, ())

        def touches(accesses: Sequence[Access]) -> isl.UnionMap:
            nodes = {id(access.node) for access in accesses}
            found: Sequence[Touch] = touches_of(leaves, self._elements, nodes, fixed, True)[accesses[0].array]
            total = isl.UnionMap("{ }")
            for touch in found:
                total = total.union(isl.UnionMap.from_map(touch.map))
            return total

        asked = isl.UnionAccessInfo.from_sink(touches(reads)).set_must_source(touches(writes))
        flow = asked.set_schedule_map(order_of(leaves, fixed)).compute_flow()
        exposed = flow.get_must_no_source().range()
        if exposed.is_empty():
            return isl.Set(f"{{ [{', '.join(f'e{k}' for k in range(len(reads[0].index)))}] : false }}")
        return only(isl.Set.from_union_set(exposed).reset_tuple_id(), self.kept).intersect(self._union(reads))


def _is_certain(access: Access) -> bool:
    """Whether a write happens wherever its conditions hold, with nothing open that only the run tells."""
    return access.exact and not any(s.loose or s.data for s in ordered(symbols_of(access)))


def _hull(points: isl.Set) -> isl.Set:
    """The smallest box around the points."""
    total = isl.Set("{ [] }")
    for axis in range(points.dim(isl.dim_type.set)):
        line = points.project_out(isl.dim_type.set, axis + 1, points.dim(isl.dim_type.set) - axis - 1)
        line = line.project_out(isl.dim_type.set, 0, axis)
        above, below = (line.apply(isl.Map(f"{{ [x] -> [e] : e {sign} x }}")) for sign in (">=", "<="))
        total = total.flat_product(above.intersect(below))
    return total.coalesce()
