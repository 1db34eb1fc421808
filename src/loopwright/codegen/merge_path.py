"""Rows whose entries blocks share equally, however long the rows are: `balanced` loops.

Lay the rows in one line, each as its entries and then its end. A block takes so many positions of this line: it
computes what its entries add, and sums up, in each thread, an equal part of the positions again; a scan over the
threads carries what a row has come to from one to the next. (After Merrill and Garland, "Merge-based parallel sparse
matrix-vector multiplication", SC 2016.) Three kernels do it:

1. `cuts`: in which row each block begins. It tests that the line exists and lies in the arrays that have an element for
   each entry: where the entries of some row begin after they end, or outside of these arrays, a mark says so.
2. `parts`: what blocks do. The row that is open where a block ends has a partial result in memory, the `tail`; so has
   the one that was open where it begins, if it ends there: the `head`.
3. `joined`: puts these together, for each row that lies in several blocks. Where the mark is set, the second kernel has
   done nothing, and this one runs the rows as they were written, one in each thread.

The order of every sum follows from the sizes alone, so that it has the same bits in every run.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from loopwright.analysis.row_pointers import RowNest, row_nest
from loopwright.codegen.bound_nest import BoundNest
from loopwright.codegen.function import Function
from loopwright.codegen.gpu_writer import GpuWriter, any_may_fail
from loopwright.codegen.loops import write_sequential
from loopwright.codegen.lowered import Lowering, MergePath
from loopwright.codegen.lowering import lower
from loopwright.codegen.most_work import ACCESS, MOST, most_work
from loopwright.codegen.one_thread import declare_own
from loopwright.codegen.row_entries import Sum, write_terms
from loopwright.codegen.safepoints import stop_each
from loopwright.codegen.statements import may_fail, write_body
from loopwright.codegen.thread_reduction import ThreadPartial, in_warp, mask
from loopwright.ir.code import AtomicOperation, SharedArray, Shuffle
from loopwright.ir.nodes import Expr, For
from loopwright.steps.balance import slots, spreads

JOINING = 256
"""Threads of a block where partial results are put together, at most."""

STATE = ("lw_state", "lw_cut")
"""Names of memory that the kernels share. lw_state: the number of this start where the rows run as they were written,
anything else where they do not, so that nothing has to be cleared before; the first entry; the length of the line.
lw_cut: for each block, and behind the last, how many rows end before it."""

ALONE = 32
"""In this many blocks a row may begin for one thread to note that; where there are more, its block does."""


class Balanced:
    """What is written about one loop over rows."""

    def __init__(self, row: For, w: GpuWriter) -> None:
        entry = next(stmt for stmt in row.body if isinstance(stmt, For) and stmt.run == "entries")
        self.nest: RowNest = row_nest(row, entry)
        found = w.facts.loops[entry.name].reductions
        self.w = w
        self.entries, self.threads = entry.threads, row.threads
        self.lowering = lower(BoundNest.of(row), w.given)
        decided = self.lowering.of(MergePath, row.name) or MergePath(row.name)
        self.rows_each, self.ahead, self.inside = decided.rows, decided.entries, frozenset(decided.tested)
        self.sums = [Sum(one, w.scalars[one.target], number) for number, one in enumerate(found)]
        gpu = w.facts.gpu
        self.warp, self.most_blocks, self.joining = gpu.warp, gpu.blocks_along[0], min(JOINING, gpu.threads)
        self.memory = [*STATE, *(one.named(what) for one in self.sums for what in ("tail", "head"))]
        w.types |= dict.fromkeys(STATE, "LW_GLOBAL(int64_t)")
        for one in self.sums:
            w.types |= dict.fromkeys((one.named("tail"), one.named("head")), f"LW_GLOBAL({one.memory_type})")
        w.types |= dict.fromkeys(("lw_first", "lw_rows", "lw_limit", "lw_start_number"), "int64_t")

    def function(self, what: str) -> Function:
        """A device function for this loop."""
        return Function(self.w.names.fresh(f"lw_{what}_{self.w.names.of(self.nest.row.name)}"), on_device=True)

    def at(self, bound: Expr, row: str) -> str:
        """C text of a bound of the entries, in the row with this C name."""
        outer = self.w.function.renamed
        self.w.function.renamed = outer | {self.nest.row.name: row}
        text = self.w.text(bound)
        self.w.function.renamed = outer
        return text

    def value(self, one: Sum, place: str) -> str:
        """C text of the shared element of a sum for an entry, or behind these for a row."""
        return f"{one.values}[{f'lw_slot({place})' if spreads(self.entries, self.threads) else place}]"

    def finished_row(self, row: str, totals: Sequence[str]) -> None:
        """What is left to do for a row, where its sums are known (as C text)."""
        w, nest = self.w, self.nest
        variable = w.names.of(nest.row.name)
        w.line(f"const int64_t {variable} = {row};")
        w.function.scoped.add(variable)
        write_body(nest.before, w)
        for one, total in zip(self.sums, totals, strict=True):
            target = w.variable(one.reduction.target)
            w.line(f"{target} = {one.both(target, total, w)};")
        write_body(nest.after, w)
        w.function.scoped.discard(variable)


def write_balanced(row: For, w: GpuWriter) -> None:
    """The three kernels of a balanced loop, and their start."""
    made = Balanced(row, w)
    first, end, each = (w.text(expr) for expr in (row.lower, row.upper, made.nest.each))
    with w.block():
        w.line(f"const int64_t lw_first = {first}, lw_rows = lw_trip(lw_first, {end}, 1);")
        with w.branch("lw_rows > 0"):
            w.line(f"int64_t lw_blocks = ({each} + lw_rows) / {made.entries} + 1;")
            w.only(f"lw_blocks > {made.most_blocks}", f"lw_blocks = {made.most_blocks};")
            w.line(f"const int64_t lw_limit = lw_blocks * {made.entries};")
            w.line("static int64_t lw_started;")
            w.add(AtomicOperation("add", "lw_started", "", "1", before="const int64_t lw_before"))
            number = "(uint64_t)(uintptr_t)&lw_started << 16 ^ ((uint64_t)lw_before + 1)"
            w.line(f"const int64_t lw_start_number = (int64_t)({number});")
            _memory(made)
            over = f"(lw_rows - 1) / {made.threads * made.rows_each} + 1"
            most = f"{over} < {made.most_blocks} ? {over} : {made.most_blocks}"
            entry = most_work((row,), made.nest.entry.body, (), w)
            part = (entry if isinstance(entry, float) else MOST) * made.entries / made.threads
            _start(made, _cuts(made), most, made.threads, 4.0 * ACCESS * made.rows_each)
            _start(made, _parts(made), "lw_blocks", made.threads, part)
            _start(made, _joined(made), f"(lw_blocks - 1) / {made.joining // made.warp} + 1", made.joining, 0.0)
    w.parallel.append(row.name)


def _memory(made: Balanced) -> None:
    """Lines for the memory that the kernels share: kept for the next time, given back at the end of the call."""
    w = made.w
    gpu = w.use("gpu")
    memory, room = w.declare(w.fresh("lw_parts", "char *")), w.declare(w.fresh("lw_room", "int64_t"))
    site = w.site("memory", "", 0, made.nest.row.at)
    w.line(f"const int64_t lw_wanted = 8 * (4 + {len(made.memory) - 1} * (lw_blocks + 1));")
    with w.branch(f"{room} < lw_wanted"):
        w.only(memory, f"gpu->release({gpu}, {memory});")
        w.line(f"{memory} = gpu->allocate({gpu}, lw_wanted), {room} = {memory} ? lw_wanted : 0;")
        w.fail(site, "lw_wanted", condition=f"!{memory}")
    if memory not in w.function.buffers:
        w.function.buffers.append(memory)
    for number, name in enumerate(made.memory):
        w.line(f"char *{name} = {memory} + {f'8 * (4 + {number - 1} * (lw_blocks + 1))' if number else 0};")


def _start(made: Balanced, part: Function, blocks: str, threads: int, work: float) -> None:
    """work: what a thread does at most, as most_work.py counts it."""
    w = made.w
    own = {name: name for name in (*made.memory, "lw_first", "lw_rows", "lw_limit", "lw_start_number")}
    with w.block():
        w.start(part, (blocks, "1", "1"), (threads, 1, 1), own, str(work))


# ---- the first kernel -------------------------------------------------------------------------------------------


def _cuts(made: Balanced) -> Function:
    """The blocks that begin in each row; a thread has several rows, whose bounds it reads at once."""
    w, nest, threads = made.w, made.nest, made.threads
    part = made.function("cuts")
    part.asks = False  # what it does for a row is constant
    with w.on_device(part):
        _, cut, first, rows = (w.use(name) for name in (*STATE, "lw_first", "lw_rows"))
        w.line(f"const int64_t lw_base = (int64_t)blockIdx.x * {threads * made.rows_each} + threadIdx.x;")
        w.line(f"const int64_t lw_start = {made.at(nest.lower, 'lw_first')};")
        w.line(f"int64_t lw_lows[{made.rows_each}], lw_highs[{made.rows_each}];")
        each = f"int lw_i = 0; lw_i < {made.rows_each}; ++lw_i"
        with w.loop(each, trips=made.rows_each, unroll=0):
            w.line(f"const int64_t lw_row = {first} + LW_MIN(int64_t, lw_base + lw_i * {threads}, {rows} - 1);")
            w.line(
                f"lw_lows[lw_i] = {made.at(nest.lower, 'lw_row')}, lw_highs[lw_i] = {made.at(nest.upper, 'lw_row')};"
            )
        w.only("threadIdx.x == 0", "lw_long[0] = 0;", axes="x")
        w.barrier()
        with w.loop(each, trips=made.rows_each, unroll=0):
            number = f"lw_number = lw_base + lw_i * {threads}"
            w.line(f"const int64_t {number}, lw_low = lw_lows[lw_i], lw_high = lw_highs[lw_i];")
            with w.branch(f"lw_number < {rows}"):
                _cuts_of_row(made)
        w.barrier()
        with w.loop("int lw_i = 0; lw_i < lw_long[0]; ++lw_i"):
            w.line(f"const int64_t lw_owner = (int64_t)blockIdx.x * {threads * made.rows_each} + lw_long[1 + lw_i];")
            w.line("const int64_t lw_end = lw_ranges[2 * lw_i + 1];")
            head = f"int64_t lw_k = lw_ranges[2 * lw_i] + threadIdx.x; lw_k < lw_end; lw_k += {threads}"
            with w.loop(head):
                w.line(f"{cut}[lw_k] = lw_owner;")
    most = threads * made.rows_each
    shared = (SharedArray("lw_long", "int32_t", most + 1), SharedArray("lw_ranges", "int64_t", 2 * most))
    w.finish_kernel(part, threads, (), shared)
    return part


def _cuts_of_row(made: Balanced) -> None:
    w, threads, size = made.w, made.threads, made.entries
    state, cut, rows = (w.use(name) for name in (*STATE, "lw_rows"))
    with w.branch(_lies_badly(made)):
        w.line(f"{state}[0] = {w.use('lw_start_number')};")
    with w.otherwise():
        w.line("const int64_t lw_at = lw_low - lw_start + lw_number, lw_after = lw_at + (lw_high - lw_low) + 1;")
        w.line(f"const int64_t lw_begin = (lw_at + {size - 1}) / {size}, lw_end = (lw_after + {size - 1}) / {size};")
        w.only("lw_number == 0", f"{state}[1] = lw_start;")
        w.only(f"lw_number == {rows} - 1", f"{state}[2] = lw_after, {cut}[lw_end] = {rows};")
        each = "int64_t lw_k = lw_begin; lw_k < lw_end; ++lw_k"
        with w.branch(f"lw_end - lw_begin <= {ALONE}"), w.loop(each):
            w.line(f"{cut}[lw_k] = lw_number;")
        with w.otherwise():
            w.add(AtomicOperation("add", "lw_long", "0", "1", before="const int lw_place"))
            w.line("lw_ranges[2 * lw_place] = lw_begin, lw_ranges[2 * lw_place + 1] = lw_end;")
            w.line(f"lw_long[1 + lw_place] = (int32_t)threadIdx.x + lw_i * {threads};")


def _lies_badly(made: Balanced) -> str:
    """C text that tells of a row whether it does not follow the one before it, or does not end in its array."""
    w = made.w
    rows, limit = w.use("lw_rows"), w.use("lw_limit")
    w.line(f"const int64_t lw_most = {limit} - 1 - lw_number;")
    w.line("const uint64_t lw_span = (uint64_t)lw_high - (uint64_t)lw_start;")
    w.line(f"const bool lw_whole = lw_number || {rows} <= (int64_t)gridDim.x * {made.threads * made.rows_each};")
    w.line(f"const bool lw_near = lw_start <= INT64_MAX - {limit};")
    w.line("const bool lw_climbs = lw_start <= lw_low && lw_low <= lw_high;")
    wrong = ["!lw_whole", "!lw_near", "!lw_climbs", "lw_most < 0", "lw_span > (uint64_t)lw_most"]
    if made.inside:
        # In one order: asking for a size makes it a parameter of the kernel.
        sizes = dict.fromkeys(w.size(array, axis) for array, axis, _ in sorted(made.inside))
        beyond = " || ".join(f"lw_high > {size}" for size in sizes)
        w.line(f"const bool lw_last = lw_number == {rows} - 1 && lw_high > lw_start;")
        wrong.append(f"(lw_last && (lw_start < 0 || {beyond}))")
    return " || ".join(wrong)


# ---- the second kernel ------------------------------------------------------------------------------------------


def _parts(made: Balanced) -> Function:
    """One block for each part of the line."""
    w, nest, threads, size = made.w, made.nest, made.threads, made.entries
    part = made.function("parts")
    part.asks = False  # for an entry, too
    with w.on_device(part):
        declare_own(nest.row.body, (), w)
        state, cut, first = (w.use(name) for name in (*STATE, "lw_first"))
        # What every block has to know first is in one test, so that all of it is read at once; for the first kernel
        # sees to it that the last two are never true where there is something to do.
        w.line(f"const int64_t lw_begin = (int64_t)blockIdx.x * {size}, lw_mark = {state}[0];")
        w.line(f"const int64_t lw_ended = {cut}[blockIdx.x], lw_last = {cut}[(int64_t)blockIdx.x + 1];")
        w.line(f"const int64_t lw_zero = {state}[1], lw_all = {state}[2];")
        idle = [
            f"lw_mark == {w.use('lw_start_number')}",
            "lw_begin >= lw_all",
            "lw_last < lw_ended",
            "lw_zero > (int64_t)((uint64_t)INT64_MAX - (uint64_t)lw_all)",
        ]
        if any_may_fail(w):
            idle.append(f"{w.use('failure')}->site >= 0")
        # A thread that sees the failure of another one ends, and nobody waits for it: what is left unset in shared
        # memory then changes sums that mean nothing any more, but no place outside of it.
        w.leave(" | ".join(f"({test})" for test in idle))
        w.line(f"const int64_t lw_top = {first} + lw_ended, lw_from = lw_zero + (lw_begin - lw_ended);")
        w.line(f"const int lw_length = (int)LW_MIN(int64_t, lw_all - lw_begin, {size});")
        w.line("const int lw_here = (int)(lw_last - lw_ended), lw_count = lw_length - lw_here;")
        w.line(f"const int64_t lw_opened = {made.at(nest.lower, 'lw_top')};")
        _ends(made)
        _walk(made)
        _carry(made)
        _rows(made)
    shared = [SharedArray("lw_ends", "uint16_t", size), SharedArray("lw_any", "int32_t", threads // made.warp)]
    for one in made.sums:
        shared.append(SharedArray(one.values, one.memory_type, slots(size, threads)))
        shared.append(SharedArray(one.named("warps"), one.memory_type, threads // made.warp))
    w.lowering = made.lowering
    w.finish_kernel(part, threads, nest.row.body, shared, tested=True)
    w.lowering = Lowering()
    return part


def _ends(made: Balanced) -> None:
    """Where the rows end, and what the entries add. The end that is read first is put away last: nothing waits for
    it while the entries are read."""
    w, nest = made.w, made.nest
    w.line("const int64_t lw_row = lw_top + threadIdx.x;")
    w.line("int64_t lw_own_end = 0;")
    w.only("threadIdx.x < lw_here", f"lw_own_end = {made.at(nest.upper, 'lw_row')};")
    w.within = made.inside
    write_terms(nest.entry, made.sums, made.ahead, made.threads, made.value, w)
    w.within = frozenset()
    w.only("threadIdx.x < lw_here", "lw_ends[threadIdx.x] = (uint16_t)(lw_own_end - lw_from);")
    with w.loop(f"int lw_i = threadIdx.x + {made.threads}; lw_i < lw_here; lw_i += {made.threads}", unroll=1):
        w.line("const int64_t lw_row = lw_top + lw_i;")
        w.line(f"lw_ends[lw_i] = (uint16_t)({made.at(nest.upper, 'lw_row')} - lw_from);")
    w.barrier()
    if may_fail(nest.entry.body, w):  # read here, and needed later: a sum without all of its entries is no one's
        w.line(f"const int64_t lw_wrong = ((volatile lw_failure *){w.use('failure')})->site;")


def _walk(made: Balanced) -> None:
    """Each thread goes along an equal part of the block's positions: lw_sum is what the row at its end has come to
    there. The rows that end in it are complete but for the first, which lw_early is about: others may have begun it.
    Values of rows stand behind those of entries: there is room, since a block has so many of both together."""
    w, each = made.w, made.entries // made.threads
    w.line(f"const int lw_start = LW_MIN(int, (int)threadIdx.x * {each}, lw_length);")
    w.line("int lw_next = LW_MAX(int, 0, lw_start - lw_count), lw_most = LW_MIN(int, lw_start, lw_here);")
    with w.repeat("lw_next < lw_most"):
        w.line("const int lw_half = (lw_next + lw_most) / 2;")
        w.only("lw_ends[lw_half] + lw_half < lw_start", "lw_next = lw_half + 1;")
        with w.otherwise():
            w.line("lw_most = lw_half;")
    w.line("const int lw_early_row = lw_next;")
    w.line("int lw_at = lw_start - lw_next;")
    w.line(f"int lw_end = lw_next < lw_here ? lw_ends[lw_next] : {made.entries};")
    for one in made.sums:
        w.line(f"{one.ctype} {one.named('sum')} = {one.nothing}, {one.named('early')} = {one.nothing};")
    head, unroll = f"int lw_step = 0; lw_step < {each}; ++lw_step", 0 if each <= 16 else 4
    with w.loop(head, trips=each, unroll=unroll), w.branch("lw_start + lw_step < lw_length"):
        with w.branch("lw_at == lw_end && lw_next < lw_here"):
            for one in made.sums:
                w.only("lw_next == lw_early_row", f"{one.named('early')} = {one.named('sum')};")
                with w.otherwise():
                    w.line(f"{made.value(one, 'lw_count + lw_next')} = {one.named('sum')};")
                w.line(f"{one.named('sum')} = {one.nothing};")
            w.line("++lw_next;")
            w.line(f"lw_end = lw_next < lw_here ? lw_ends[lw_next] : {made.entries};")
        with w.otherwise():
            for one in made.sums:
                w.line(f"const {one.ctype} {one.named('value')} = {made.value(one, 'lw_at')};")
                w.line(f"{one.named('sum')} = {one.both(one.named('sum'), one.named('value'), w)};")
            w.line("++lw_at;")


def _carry(made: Balanced) -> None:
    """What the threads before have found of a thread's first row: a scan, within each warp and then over the warps
    before, that begins anew wherever a row ends."""
    w, sums, warp = made.w, made.sums, made.warp
    w.line(
        f"const int lw_lane = threadIdx.x % {warp}, lw_warp = threadIdx.x / {warp}, lw_own = lw_next > lw_early_row;"
    )
    w.line("int lw_ending = lw_own;")
    with w.loop(f"int lw_distance = 1; lw_distance < {warp}; lw_distance *= 2", trips=warp.bit_length() - 1, unroll=0):
        w.add(Shuffle("up", "const int lw_other", "int", False, "lw_ending", "lw_distance", mask(warp)))
        for one in sums:
            _shift(one, "lw_distance", made)
        with w.branch("lw_lane >= lw_distance"):
            for one in sums:
                w.only("!lw_ending", f"{one.named('sum')} = {one.both(one.named('other'), one.named('sum'), w)};")
            w.line("lw_ending |= lw_other;")
    w.add(Shuffle("up", "const int lw_other", "int", False, "lw_ending", "1", mask(warp)))
    for one in sums:
        _shift(one, "1", made)
        w.line(f"{one.ctype} {one.named('before')} = {one.nothing};")
        w.only(f"lw_lane == {warp - 1}", f"{one.named('warps')}[lw_warp] = {one.named('sum')};")
    w.only(f"lw_lane == {warp - 1}", "lw_any[lw_warp] = lw_ending;")
    w.barrier()
    with w.loop("int lw_i = 0; lw_i < lw_warp; ++lw_i", unroll=1 if made.threads > 8 * warp else 4):
        for one in sums:
            before, value = one.named("before"), one.named("value")
            w.line(f"const {one.ctype} {value} = {one.named('warps')}[lw_i];")
            w.line(f"{before} = lw_any[lw_i] ? {value} : {one.both(before, value, w)};")
    for one in sums:
        before, own = one.named("before"), one.named("sum")
        tail = w.use(one.named("tail"))
        whole = f"lw_ending ? {own} : {one.both(before, own, w)}"
        w.only(f"threadIdx.x == {made.threads - 1}", f"{tail}[blockIdx.x] = {whole};")
        other = one.named("other")
        w.only("lw_lane", f"{before} = lw_other ? {other} : {one.both(before, other, w)};")
        value = made.value(one, "lw_count + lw_early_row")
        w.only("lw_own", f"{value} = {one.both(before, one.named('early'), w)};")
    w.barrier()


def _shift(one: Sum, distance: str, made: Balanced) -> None:
    """What the thread so far before has summed up."""
    other, narrow = f"const {one.ctype} {one.named('other')}", one.type.size_bytes < 4
    made.w.add(Shuffle("up", other, one.ctype, narrow, one.named("sum"), distance, mask(made.warp)))


def _rows(made: Balanced) -> None:
    """What is done for each row that ends in the block. Its first one may have begun in another."""
    w = made.w
    if may_fail(made.nest.entry.body, w):
        w.leave("LW_RARE(lw_wrong >= 0)")
    with w.loop(f"int lw_i = threadIdx.x; lw_i < lw_here; lw_i += {made.threads}", unroll=1):
        with w.branch("lw_i == 0 && lw_opened < lw_from"):
            for one in made.sums:
                w.line(f"{w.use(one.named('head'))}[blockIdx.x] = {made.value(one, 'lw_count')};")
        with w.otherwise():
            for one in made.sums:
                w.line(f"const {one.ctype} {one.named('total')} = {made.value(one, 'lw_count + lw_i')};")
            made.finished_row("lw_top + lw_i", [one.named("total") for one in made.sums])


# ---- the third kernel -------------------------------------------------------------------------------------------


def _joined(made: Balanced) -> Function:
    """One warp for each block of the second kernel: the row that ends in it and began before. Or all rows."""
    w, nest, size = made.w, made.nest, made.entries
    part = made.function("joined")
    with w.on_device(part):
        declare_own(nest.row.body, (), w)
        state, cut = (w.use(name) for name in STATE)
        # As in the second kernel, what is needed first is read at once, also where it means nothing.
        w.line(
            f"const int64_t lw_block = (int64_t)blockIdx.x * {made.joining // made.warp} + threadIdx.x / {made.warp};"
        )
        w.line(f"const int64_t lw_begin = lw_block * {size}, lw_blocks = {w.use('lw_limit')} / {size};")
        w.line("const int64_t lw_known = LW_MIN(int64_t, lw_block, lw_blocks - 1);")
        w.line(f"const int64_t lw_mark = {state}[0], lw_zero = {state}[1], lw_all = {state}[2];")
        w.line(f"const int64_t lw_ended = {cut}[lw_known], lw_last = {cut}[lw_known + 1];")
        if any_may_fail(w):
            w.leave(f"LW_RARE({w.use('failure')}->site >= 0)")
        with w.branch(f"lw_mark == {w.use('lw_start_number')}"):
            _as_written(made)
        with w.otherwise():
            _joined_row(made)
    w.finish_kernel(part, made.joining, nest.row.body, tested=True)
    return part


def _as_written(made: Balanced) -> None:
    w, row = made.w, made.nest.row
    variable = w.names.of(row.name)
    first, rows = w.use("lw_first"), w.use("lw_rows")
    stop_each(w)
    w.line(f"int64_t lw_number = (int64_t)blockIdx.x * {made.joining} + threadIdx.x;")
    with w.loop(f"; lw_number < {rows}; lw_number += (int64_t)gridDim.x * {made.joining}", row.name):
        w.line(f"const int64_t {variable} = {first} + lw_number;")
        w.function.scoped.add(variable)
        w.write_loop = partial(write_sequential, w=w, unroll=1)  # hardly ever taken: to spare registers
        write_body(row.body, w)
        w.function.scoped.discard(variable)


def _joined_row(made: Balanced) -> None:
    w, nest, size = made.w, made.nest, made.entries
    with w.branch("lw_begin < lw_all && lw_ended < lw_last"):
        w.line(f"const int64_t lw_row = {w.use('lw_first')} + lw_ended;")
        w.line(f"const int64_t lw_at = {made.at(nest.lower, 'lw_row')} - lw_zero + lw_ended;")
        with w.branch("lw_at < lw_begin"):
            partials = [
                ThreadPartial(one.reduction, (one.reduction.target,), (w.new_scalar("part", one.type),), (one.type,))
                for one in made.sums
            ]
            totals = [w.variable(part.own[0]) for part in partials]
            for one, total in zip(made.sums, totals, strict=True):
                w.line(f"{total} = {one.nothing};")
            with w.loop(
                f"int64_t lw_k = lw_at / {size} + threadIdx.x % {made.warp}; lw_k < lw_block; lw_k += {made.warp}"
            ):
                for one, total in zip(made.sums, totals, strict=True):
                    w.line(f"const {one.ctype} {one.named('value')} = {w.use(one.named('tail'))}[lw_k];")
                    w.line(f"{total} = {one.both(total, one.named('value'), w)};")
            for part in partials:
                in_warp(part, made.warp, mask(made.warp), "threadIdx.x", w)
            with w.branch(f"threadIdx.x % {made.warp} == 0"):
                for one, total in zip(made.sums, totals, strict=True):
                    w.line(f"const {one.ctype} {one.named('value')} = {w.use(one.named('head'))}[lw_block];")
                    w.line(f"{total} = {one.both(total, one.named('value'), w)};")
                made.finished_row("lw_row", totals)
