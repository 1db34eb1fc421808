"""What a block of a grid does as a whole, and how its threads share loops.

Between loops that are bound to threads, every thread runs what stands there, with a barrier wherever one thread may
touch what another one wrote, or is about to overwrite what another one still reads. Local arrays of a block are in
shared memory, those of a thread are its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod

from loopwright.analysis.prefetch import Rounds
from loopwright.analysis.running_totals import running_totals
from loopwright.codegen.async_copies import has_ends, write_copies
from loopwright.codegen.bound_nest import runs_of
from loopwright.codegen.c_text import VALUE_TYPE, literal
from loopwright.codegen.double_buffering import write_ahead
from loopwright.codegen.full_tiles import if_full
from loopwright.codegen.gpu_writer import GpuWriter
from loopwright.codegen.lowered import DoubleBuffered, InRegisters, PrivatisedUpdates, UpdatesAhead
from loopwright.codegen.safepoints import every, operations_in, spend, stop_together
from loopwright.codegen.scatter import copied, fits, write_updates
from loopwright.codegen.statements import may_fail, write, write_body, write_store
from loopwright.codegen.thread_reduction import (
    ThreadPartial,
    begin,
    in_block,
    in_column,
    in_warp,
    mask,
    number_in_block,
    partial_results,
    put_together,
)
from loopwright.codegen.thread_scan import write_totals_before
from loopwright.codegen.unrolling import TOGETHER, UNROLLED
from loopwright.codegen.updates_in_registers import begin_updates, release, written_back
from loopwright.codegen.vector_accesses import write_in_thread
from loopwright.ir.code import AlignedArray, SharedArray
from loopwright.ir.gpu_target import AXES
from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Body,
    Break,
    Const,
    Continue,
    For,
    If,
    Stmt,
    Store,
    While,
)
from loopwright.ir.queries import arrays_loaded, arrays_made, arrays_stored, contains
from loopwright.ir.walk import statements
from loopwright.steps.extent import extent_of, stretch_of, trip_of
from loopwright.steps.grids import is_self_contained, writes_alike
from loopwright.steps.limits import terms
from loopwright.steps.nest import step_of
from loopwright.steps.threads import THREADS, band_of, constant_size, has_threads, own_sizes, sharing_of

InThread = Callable[[For, GpuWriter], None]
IN_A_PART = 64  # operations of a thread, at least
BRIEF = 64  # iterations


def _sets_both(stmt: Stmt) -> bool:
    """Whether a statement sets elements and scalars; see steps/grids.py, `writes_alike`."""
    return contains((stmt,), Store) and contains((stmt,), Assign)


def _is_brief(loop: For) -> bool:
    """Whether a loop has a few iterations, of which each thread does little: those around it ask often enough."""
    inside = list(statements(loop.body, For, While))
    return 0 < (extent_of(loop) or 0) <= BRIEF and all(isinstance(one, For) and one.run in THREADS for one in inside)


@dataclass
class Whole:
    """What a block does as a whole, and what happened since its last barrier: `read` and `written`, names of arrays.
    shared: arrays in shared memory. repeated: around how many loops the text is. each_part: what opens the loop over
    several parts, where a block goes on from one to the next."""

    w: GpuWriter
    size: tuple[int, int, int]
    shared: list[SharedArray] = field(default_factory=list)
    read: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    in_thread: InThread = write_in_thread
    repeated: int = 0
    each_part: Callable[[], AbstractContextManager[None]] = nullcontext

    def body(self, body: Body) -> None:
        if self.size == (1, 1, 1):  # then there is nobody to wait for
            write_body(body, self.w)
            return
        for stmt in body:
            self._statement(stmt)

    def _statement(self, stmt: Stmt) -> None:
        if isinstance(stmt, For) and stmt.run in THREADS:
            self._meet((stmt,))
            self._nest(stmt)
        elif isinstance(stmt, Allocate):
            self._array(stmt)
        elif isinstance(stmt, For) and (found := self.w.lowering.of(DoubleBuffered, stmt.name)) is not None:
            self._ahead(stmt, found.rounds)
        elif isinstance(stmt, For | While | If) and (has_threads(stmt) or (isinstance(stmt, If) and _sets_both(stmt))):
            self._around(stmt)
        elif contains((stmt,), Store) and (not _sets_both(stmt) or self._is_alone(stmt)):
            self._meet((stmt,))
            self._by_one(stmt)
        else:  # scalars, which every thread has for itself
            self._meet((stmt,))
            self._by_all(stmt)

    def _is_alone(self, stmt: Stmt) -> bool:
        """Whether one thread runs a statement that sets scalars too: so are those that all may run, but need not."""
        return not writes_alike(stmt, {one.array for one in self.shared}) and is_self_contained(
            stmt, self.w.given.kernel
        )

    # ---- barriers

    def _meet(self, body: Body) -> None:
        """Before what comes now: a barrier, where it touches what another thread has touched since the last one."""
        inside = arrays_made(body) | {one.name for one in self.w.lowering.every(InRegisters)}
        # The loop around has a barrier of its own for tiles of which there are two.
        inside |= {name for name, array in self.w.arrays.items() if array.after}
        reads, writes = arrays_loaded(body) - inside, arrays_stored(body) - inside
        if reads & self.written or writes & (self.read | self.written):
            self._barrier()
        self.read |= reads
        self.written |= writes

    def _barrier(self) -> None:
        self.w.barrier()
        self.read.clear()
        self.written.clear()

    def _ask(self, now: str) -> None:
        stop_together(self.w, now)

    def _around(self, stmt: For | While | If) -> None:
        """Control flow around threads: all threads of the block take the same way."""
        w = self.w
        match stmt:
            case If():
                self._meet((replace(stmt, then=(), otherwise=()),))
                asked = tuple(terms(stmt.condition)) if stmt.otherwise else ()
                with w.branch(if_full(w.text(stmt.condition), asked, w)):
                    before = set(self.read), set(self.written)
                    self.body(stmt.then)
                    after = set(self.read), set(self.written)
                    self.read, self.written = before
                with w.otherwise():
                    self.body(stmt.otherwise)
                self.read |= after[0]
                self.written |= after[1]
            case For() if self._is_free(stmt):
                self._meet((stmt,))  # once, for all iterations
                before = set(self.read), set(self.written)
                self.read, self.written = arrays_loaded((replace(stmt, body=()),)), set()  # the bounds
                self._repeated(stmt)
                self.read, self.written = before
            case For() | While():
                self._meet((replace(stmt, body=()),))
                before = set(self.read), set(self.written)
                # The next iteration begins where the last one ended: with what that has touched.
                self._meet_after(stmt.body)
                if contains(stmt.body, Break, Continue):
                    before = set(self.read), set(self.written)  # the last iteration may end before its barriers
                if isinstance(stmt, For):
                    self._repeated(stmt)
                else:
                    self._while(stmt)
                self.read |= before[0]  # where there was no iteration, there was no barrier
                self.written |= before[1]

    def _is_free(self, loop: For) -> bool:
        """Whether iterations of a loop touch nothing that others of them write, so that threads may be in several."""
        found = self.w.facts.loops.get(loop.name)
        return (
            found is not None
            and found.verdict == "parallel"
            and not found.alike
            and not arrays_made(loop.body)
            and not arrays_stored(loop.body) & set(found.private)
            and not contains(loop.body, Break, Continue)
        )

    def _ahead(self, loop: For, found: Rounds) -> None:
        """A loop with tiles that arrive while others are used."""
        for stmt in found.arrays.values():
            self._in_shared_memory(stmt, 2)
        self.read.clear()  # by the barriers at its beginning and in it
        self.written.clear()
        write_ahead(loop, found, self.w, self._copies, self.body)
        self.read |= found.sources
        for name in found.arrays:
            self.w.arrays[name] = replace(self.w.arrays[name], after="")

    def _copies(self, body: Body, in_thread: InThread, write_store: Callable[[Store], None]) -> None:
        self.in_thread, self.w.write_store = in_thread, write_store
        self.body(body)
        self.in_thread, self.w.write_store = write_in_thread, None

    def _repeated(self, loop: For) -> None:
        w, variable = self.w, self.w.names.of(loop.name)
        lower, upper, step = (w.text(bound) for bound in (loop.lower, loop.upper, loop.step))
        w.function.scoped.add(variable)
        self.repeated += 1
        if isinstance(loop.step, Const) and loop.step.value > 0:
            head = f"int64_t {variable} = {lower}; {variable} < lw_upper; {variable} += {step}"
            with w.block():
                w.line(f"const int64_t lw_upper = {upper};")
                brief = _is_brief(loop)
                with w.loop(head, loop.name, unroll=TOGETHER if brief and self._is_free(loop) else None):
                    if not brief:
                        self._ask(every(variable, step_of(loop)))
                    self.body(loop.body)
        else:
            with w.block():
                w.line(f"const int64_t lw_lower = {lower}, lw_step = {step};")
                w.line(f"const int64_t lw_count = lw_trip(lw_lower, {upper}, lw_step);")
                with w.loop("int64_t lw_k = 0; lw_k < lw_count; ++lw_k", loop.name):
                    w.line(f"const int64_t {variable} = lw_lower + lw_k * lw_step;")
                    self._ask(every("lw_k", 1))
                    self.body(loop.body)
        self.repeated -= 1
        w.function.scoped.discard(variable)

    def _while(self, loop: While) -> None:
        """Each thread finds out for itself whether there is another iteration, and all of them the same."""
        w = self.w
        self.repeated += 1
        with w.loop(f"int64_t lw_k = 0; {w.text(loop.condition)}; ++lw_k", loop.name):
            self._ask(every("lw_k", 1))
            self.body(loop.body)
            fails = may_fail((loop,), w)
            if w.function.ends_early or fails:  # what a thread that has ended no longer does may be the others' end
                self._stop_with_others(not fails)
            self._meet((replace(loop, body=()),))
        self.repeated -= 1

    # ---- what stands in a block

    def _array(self, stmt: Allocate) -> None:
        w, array = self.w, self.w.arrays[stmt.array]
        if self._keep(stmt):
            return
        count = self._in_shared_memory(stmt)
        if stmt.fill is not None:
            if stmt.array in self.read | self.written:
                self._barrier()
            x, y, z = self.size
            number = f"threadIdx.x + {x} * (threadIdx.y + {y} * threadIdx.z)"
            head, trips = f"int lw_i = {number}; lw_i < {count}; lw_i += {x * y * z}", -(-count // (x * y * z))
            with w.loop(head, trips=trips):
                w.line(f"{array.pointer}[lw_i] = {literal(stmt.fill.value, stmt.fill.type)};")
            self.written.add(stmt.array)

    def _keep(self, stmt: Allocate) -> bool:
        """Keep an array in registers, where each thread has elements of its own."""
        w, array = self.w, self.w.arrays[stmt.array]
        if (found := w.lowering.of(InRegisters, stmt.array)) is None:
            return False
        sizes = own_sizes(stmt, found.ranges)
        w.arrays[stmt.array] = replace(array, sizes=tuple(map(str, sizes)), on_device=False)
        own = prod(sizes)
        w.function.own_bytes += own * stmt.element.size_bytes
        w.function.declared[array.pointer] = AlignedArray(array.memory_type, array.pointer, own, 16)
        return True

    def _in_shared_memory(self, stmt: Allocate, times: int = 1) -> int:
        """Declare an array of the block, so many times over; the number of its elements."""
        w, array = self.w, self.w.arrays[stmt.array]
        count = constant_size(stmt, w.facts.gpu.most_shared_bytes)
        assert count is not None  # steps/grids.py sees to it
        self.shared.append(SharedArray(array.pointer, array.memory_type, times * max(count, 1), stmt.array))
        w.function.scoped.add(array.pointer)
        # Its distances are small whatever their type; as they stand, the compiler sees what is aligned.
        w.arrays[stmt.array] = replace(array, on_device=False)
        return count

    def _by_one(self, stmt: Stmt) -> None:
        """What writes, outside of all loops over threads."""
        idle, axes = self._idle(())
        with self.w.branch(idle or "true", axes=axes):
            write(stmt, self.w)

    def _by_all(self, stmt: Stmt) -> None:
        """What sets scalars, of which every thread has its own. Elements that it sets too are written by one."""
        w = self.w
        before, plain = w.write_store, w.write_store or partial(write_store, w=w)
        idle, axes = self._idle(())

        def by_one(store: Store) -> None:
            with w.branch(idle or "true", axes=axes):
                plain(store)

        w.write_store = by_one
        write(stmt, w)
        w.write_store = before

    def _idle(self, used: Sequence[str]) -> tuple[str, str]:
        """C text: this thread is the one that works where some axes are not shared out, '' for any thread; and these
        axes, if it says no more."""
        axes = [axis for axis, size in zip(AXES, self.size, strict=True) if size > 1 and axis not in used]
        return " && ".join(f"threadIdx.{axis} == 0" for axis in axes), "".join(axes)

    def _nest(self, loop: For) -> None:
        w, band = self.w, band_of(loop)
        body = band[-1].body
        team = any(has_threads(stmt) for stmt in body)
        if team and runs_of(body) == {"thread.y"}:
            self._columns(band)
            return
        if totals := running_totals(loop):
            if self.repeated:  # the iteration before may still be reading
                self._barrier()
            write_totals_before(loop, totals, self.shared, self._barrier, w)
            self.written |= arrays_stored((loop,))
            return
        if not team:
            copies = [one for one in w.lowering.every(PrivatisedUpdates) if one.name == loop.name]
            if copies:
                with w.branch(" && ".join(fits(one, w) for one in copies)), ExitStack() as opened:
                    for number, one in enumerate(copies):
                        opened.enter_context(copied(one, number, self.size, self.shared, w))
                    self._parts_of(band)
                with w.otherwise():
                    self._parts_of(band)
                return
        self._band(band, team)

    def _parts_of(self, band: Sequence[For]) -> None:
        """A nest that threads share, for each of the parts that the block goes on to."""
        before = self.repeated
        with self.each_part():
            if self.each_part is not nullcontext:
                spend(IN_A_PART, self.w)
                self.repeated += 1
            self._band(band, False)
        self.repeated = before

    def _band(self, band: Sequence[For], team: bool) -> None:
        """Loops that threads share, perfectly nested, and what stands in the innermost."""
        w, body = self.w, band[-1].body
        partials, held = partial_results(band, w), begin_updates(band, w)
        idle, axes = self._idle([one.run[-1] for one in band] + ["x"] * team)
        updating = w.lowering.of(UpdatesAhead, band[-1].name) is not None
        with ExitStack() as opened:
            if idle:
                opened.enter_context(w.branch(idle, axes=axes))
            for one in band[:-1] if updating else band:
                self._shared_out(one, opened)
            outer, w.threads = w.threads, w.threads | {one.run: one for one in band}
            outer_loop, w.write_loop = w.write_loop, lambda inner: self.in_thread(inner, w)
            if team:
                Team.of(self).body(body)
            elif updating:
                self._updates(band[-1])
            else:
                write_body(body, w)
            w.threads, w.write_loop = outer, outer_loop
        release(held, w)
        for one in band:
            w.function.scoped.discard(w.names.of(one.name))
        if (partials or held) and (w.function.ends_early or may_fail((band[0],), w)):
            self._stop_with_others(not may_fail((band[0],), w))
        for part in partials:
            if team:  # its lanes have all found the same
                begin(part, w, "threadIdx.x")
            self._put_together(part)
            put_together(part, w)
        for update in held:
            self._put_together(update.partial)
            written_back(update, self._idle(())[0], w)

    def _updates(self, loop: For) -> None:
        """A loop that threads share and that updates what only data tells."""
        w, axis, sharing, step = self.w, loop.run[-1], sharing_of(loop), step_of(loop)
        some = "" if sharing == self.size[AXES.index(axis)] else f"threadIdx.{axis} < {sharing}"
        with w.maybe(some):
            w.line(f"const int64_t lw_upper = {w.text(loop.upper)};")
            start = f"{w.text(loop.lower)} + (int64_t)threadIdx.{axis}{'' if step == 1 else f' * {step}'}"
            write_updates(loop, start, sharing * step, w)

    def _columns(self, band: Sequence[For]) -> None:
        """A loop over threads along x, in each of whose iterations those along y have something to share."""
        w, loop = self.w, band[0]
        variable = w.names.of(loop.name)
        w.function.scoped.add(variable)
        sign = "<" if step_of(loop) > 0 else ">"
        start = f"{w.text(loop.lower)} + (int64_t)threadIdx.x * {step_of(loop)}"
        with w.block():
            w.line(f"const int64_t {variable} = {start};")
            w.line(f"const bool lw_in = threadIdx.x < {sharing_of(loop)} && {variable} {sign} {w.text(loop.upper)};")
            outer, w.threads = w.threads, w.threads | {loop.run: loop}
            Columns(w, (1, self.size[1], 1), self.shared, repeated=self.repeated, across=self.size[0]).body(loop.body)
            w.threads = outer
        w.function.scoped.discard(variable)
        self._meet_after(loop.body)

    def _meet_after(self, body: Body) -> None:
        """What threads have touched since a barrier that may not have been the last thing they came to."""
        self.read |= arrays_loaded(body)
        self.written |= arrays_stored(body)

    def _put_together(self, partial: ThreadPartial) -> None:
        threads = prod(self.size)
        if threads in self.w.facts.gpu.teams:
            in_warp(partial, threads, mask(threads), number_in_block(self.size), self.w)
        else:
            arrays = self._parts(partial)
            if self.repeated:  # the iteration before may still be reading
                self._barrier()
            self._declare_parts(arrays, in_block(partial, self.size, arrays, self.w))
            self.read.clear()  # there was a barrier
            self.written.clear()

    def _stop_with_others(self, asking: bool) -> None:
        """Where a check, or a question, has ended one of the threads, a sum without its part is none: nobody goes on.
        asking: only questions may have."""
        threads = prod(self.size)
        if threads in self.w.facts.gpu.teams:
            self.w.end_together(mask(threads), asking=asking)
        else:
            self.w.end_together("", threads, asking)
            if not asking:
                self.read.clear()
                self.written.clear()

    def _parts(self, partial: ThreadPartial) -> list[str]:
        """Names of shared arrays through which partial results are put together."""
        return [self.w.fresh("lw_parts", VALUE_TYPE[type_.name]) for type_ in partial.types]

    def _declare_parts(self, arrays: Sequence[str], count: int) -> None:
        for array in arrays:
            self.shared.append(SharedArray(array, self.w.types[array], count))
            self.w.function.scoped.add(array)

    def _shared_out(self, loop: For, opened: ExitStack) -> None:
        """Begin a loop that threads share."""
        w, axis = self.w, loop.run[-1]
        variable, step, sharing = w.names.of(loop.name), step_of(loop), sharing_of(loop)
        lower, upper = w.text(loop.lower), w.text(loop.upper)
        w.function.scoped.add(variable)
        extent = extent_of(loop) or 0
        sign = "<" if step > 0 else ">"
        first = stretch_of(loop) if step == 1 and 0 < extent <= sharing else None
        late = first is not None and first[0] != loop.lower  # threads before the first iteration leave it out
        begin = w.text(first[0]) if first is not None and late else lower
        start = f"{begin} + (int64_t)threadIdx.{axis}{'' if step == 1 else f' * {step}'}"
        if self.in_thread is write_copies and has_ends(loop):
            start = f"lw_hidden({start})"  # few blocks do this: registers are left to what all do
        some = "" if sharing == self.size[AXES.index(axis)] else f"threadIdx.{axis} < {sharing} && "
        trip = trip_of(loop) or 0
        if trip and trip % sharing == 0:
            self._in_rounds(loop, trip // sharing, start, some.removesuffix(" && "), opened)
        elif 0 < extent <= sharing * step:
            opened.enter_context(w.block())
            w.line(f"const int64_t {variable} = {start};")
            test = f"{some}{f'{variable} >= {lower} && ' if late else ''}{variable} {sign} {upper}"
            opened.enter_context(w.branch(test))
        else:
            opened.enter_context(w.block())
            w.line(f"const int64_t lw_upper = {upper};")
            head = f"int64_t {variable} = {start}; {some}{variable} {sign} lw_upper; {variable} += {sharing * step}"
            opened.enter_context(w.loop(head, loop.name))
            if not extent:
                spend(max(1, operations_in(loop.body)), w)

    def _in_rounds(self, loop: For, rounds: int, start: str, some: str, opened: ExitStack) -> None:
        """A loop of which each thread has the same number of iterations: written out, so that its loads overlap."""
        w, variable = self.w, self.w.names.of(loop.name)
        if rounds > 1:
            start += f" + lw_round * {sharing_of(loop) * step_of(loop)}"
            unroll = 0 if rounds <= UNROLLED else None
            head = f"int lw_round = 0; lw_round < {rounds}; ++lw_round"
            opened.enter_context(w.loop(head, loop.name, trips=rounds, unroll=unroll))
        opened.enter_context(w.maybe(some))
        w.line(f"const int64_t {variable} = {start};")


@dataclass
class Team(Whole):
    """What the threads along x do as a whole, in an iteration that is theirs alone: lanes of one warp. They meet
    without the rest of the block."""

    @classmethod
    def of(cls, whole: Whole) -> Team:
        """The team of a block's thread."""
        lanes, warp = whole.size[0], whole.w.facts.gpu.warp
        shift = f" << (({number_in_block(whole.size)}) & {warp - lanes})" if lanes < warp else ""
        kind = "uint32_t" if warp <= 32 else "uint64_t"
        whole.w.line(f"const {kind} lw_team = {'' if warp <= 32 else '(uint64_t)'}{mask(lanes)}{shift};")
        return cls(whole.w, (lanes, 1, 1))

    def _barrier(self) -> None:
        self.w.barrier("lw_team")
        self.read.clear()
        self.written.clear()

    def _stop_with_others(self, asking: bool) -> None:
        self.w.end_together("lw_team", asking=asking)

    def _ask(self, now: str) -> None:
        stop_together(self.w, now, "lw_team")

    def _put_together(self, partial: ThreadPartial) -> None:
        in_warp(partial, self.size[0], "lw_team", "threadIdx.x", self.w)

    def _array(self, stmt: Allocate) -> None:
        is_kept = self._keep(stmt)
        assert is_kept  # steps/grids.py sees to it


@dataclass
class Columns(Whole):
    """What the threads along y do for one iteration that those along x share out, of which there are `across`. The
    whole block takes part, where there is no iteration left too: it meets with all others at barriers."""

    across: int = 1
    active: str = "lw_in"

    def _statement(self, stmt: Stmt) -> None:
        if isinstance(stmt, If) and has_threads(stmt):
            self._under(stmt)
            return
        scalars = not has_threads(stmt) and not contains((stmt,), Store, Allocate)
        if scalars:
            self._meet((stmt,))
            with self.w.branch(self.active):
                write(stmt, self.w)
        else:
            super()._statement(stmt)

    def _under(self, stmt: If) -> None:
        """A condition on columns: it says which of them have something to do, and all go on together."""
        self._meet((replace(stmt, then=(), otherwise=()),))
        outer, within = self.active, self.w.fresh("lw_within", "bool")
        self.w.function.scoped.add(within)
        self.w.line(f"const bool {within} = {outer} && ({self.w.text(stmt.condition)});")
        for part, active in ((stmt.then, within), (stmt.otherwise, f"({outer} && !{within})")):
            self.active = active
            self.body(part)
        self.active = outer

    def _idle(self, used: Sequence[str]) -> tuple[str, str]:
        others, _ = super()._idle(used)
        return f"{self.active} && {others}" if others else self.active, ""

    def _array(self, stmt: Allocate) -> None:
        is_kept = self._keep(stmt)
        assert is_kept  # steps/grids.py sees to it

    def _stop_with_others(self, asking: bool) -> None:
        self.w.end_together("", self.size[1] * self.across, asking)

    def _put_together(self, partial: ThreadPartial) -> None:
        arrays = self._parts(partial)
        if self.repeated:
            self._barrier()
        rows = self.size[1]
        in_column(partial, rows, self.across, arrays, self.w)
        self._declare_parts(arrays, rows * self.across)
        self.read.clear()
        self.written.clear()
