"""C text of parallel loops. The body becomes a function over a stretch of iterations, whose pointers are `restrict`
there; threads take stretches, and partial results are put together in the order of the threads, so that a run with
the same number of threads gives the same bits again. With the option `deterministic`, so does a run with any other
number: then partial results are those of blocks of iterations.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial

from loopwright.analysis.facts import LoopFacts, Reduction
from loopwright.codegen.accumulators import Accumulators, accumulating
from loopwright.codegen.arrays import ArrayText
from loopwright.codegen.c_text import VALUE_TYPE
from loopwright.codegen.decisions import COPIED, NEAR, OWNED, ParallelRegion, PartialResult
from loopwright.codegen.function import Function, Writer
from loopwright.codegen.held_elements import either_way, holding
from loopwright.codegen.inspector import write_inspected
from loopwright.codegen.lane_gains import fewest_for_sums
from loopwright.codegen.loops import in_parts, lanes_of, passed, write_few, write_on_one_thread, write_sequential
from loopwright.codegen.narrow_scalars import narrow_scalars
from loopwright.codegen.narrow_sums import write_narrow
from loopwright.codegen.owner_computes import write_owner
from loopwright.codegen.partial_results import named, standing_in, target_of, type_of
from loopwright.codegen.reduce import combine, identity, is_better
from loopwright.codegen.safepoints import in_strips, spend, write_iteration, write_range
from loopwright.codegen.statements import write_body
from loopwright.codegen.tail_masking import FEW as MASKED
from loopwright.codegen.tail_masking import write_masked
from loopwright.codegen.versions import bound_named, tests_of, write_both, write_versions
from loopwright.codegen.work import LoopWork
from loopwright.codegen.work_sharing import BAD, end_where_bad, work_text, write_pieces, write_rows
from loopwright.ir.code import Lanes
from loopwright.ir.nodes import Const, For
from loopwright.ir.queries import arrays_made
from loopwright.ir.types import Scalar
from loopwright.ir.walk import rewrite_body

GRAIN = 20000.0  # elementary operations that are worth a thread's waking up
MOST_INLINE = 128  # iterations next to which a call counts
MOST_ON_ONE = 32  # operations of one of them
ROW = 10  # elementary operations that entering and leaving an inner loop costs
FEW = 16384  # elements of copies that one thread adds together
BLOCKS, COPIES = 64, 8  # deterministic: blocks of iterations at most, and where each of them needs a copy of an array
PAD = 16  # slots between the partial results of two threads: two cache lines


@dataclass(frozen=True, slots=True)
class Copied:
    """An array that each thread has for itself: `target` outside, `inside` in the function of a stretch, where it has
    strides of its own (fields of one record array share theirs, and only one of them may be a copy)."""

    reduction: Reduction
    target: ArrayText
    inside: ArrayText

    @property
    def strides(self) -> dict[str, str]:
        """Strides inside the function of a stretch -> those of the target."""
        pairs = zip(self.inside.strides, self.target.strides, strict=True)
        return {inside: target for inside, target in pairs if inside != target}


@dataclass(frozen=True, slots=True)
class _Plan:
    """A region, with variables for its partial results, and copies for what it sums into."""

    region: ParallelRegion
    partials: tuple[PartialResult, ...]
    copies: tuple[Copied, ...]

    @property
    def fixed(self) -> bool:
        """Whether each partial result is that of a block of iterations, and not that of a thread."""
        return self.region.shares == "blocks"

    @property
    def parts(self) -> str:
        """C text of how many partial results there are."""
        return "lw_blocks" if self.fixed else "lw_threads"


def write_parallel(loop: For, w: Writer) -> None:
    """The loop on several threads, or sequential where its facts do not carry that (a copy of strange layout)."""
    region = w.decided.regions.get(loop.name)
    if region is None:
        write_sequential(loop, w)
        return
    plan = _Plan(region, named(region.partials, w), tuple(_copied(one, w) for one in region.sums))
    w.parallel.append(loop.name)
    outer = w.function
    part = Function(w.names.fresh(f"lw_part_{w.names.of(loop.name)}"))
    part.renamed, part.replaced = {}, {}
    w.function = part
    for copied in plan.copies:
        w.arrays[copied.target.name] = copied.inside
    _write_part(loop, plan, w)
    w.finish(part)
    for copied in plan.copies:
        w.arrays[copied.target.name] = copied.target
    w.function = outer
    owner = None if region.owned is None else write_owner(loop, region.owned, w)
    _write_call(loop, plan, part, owner, w)


def _copied(reduction: Reduction, w: Writer) -> Copied:
    target = w.arrays[reduction.target]
    strides = tuple(s if s[0].isdigit() else w.fresh(f"lw_stride_{s}", "int64_t") for s in target.strides)
    return Copied(reduction, target, replace(target, strides=strides))


# ---- the function of a stretch ----------------------------------------------------------------------------------


def _write_part(loop: For, plan: _Plan, w: Writer) -> None:
    found = w.facts.loops[loop.name]
    _declare_private(loop, found, w)
    w.types |= {"lw_first": "int64_t", "lw_bound": "int64_t", "lw_lower": "int64_t", "lw_final": "int"}
    w.types |= {"lw_step": "int64_t", "lw_partial": "lw_slot *"}
    for position, one in enumerate(plan.partials):
        w.types[one.variable] = type_of(one, loop)
        w.declare(one.variable)
        w.line(f"{one.variable} = {w.use('lw_partial')}[{position}].{_member(one.scalar)};")
    with standing_in(plan.partials, w):
        _write_stretch(loop, plan, w)
    for position, one in enumerate(plan.partials):
        w.line(f"lw_partial[{position}].{_member(one.scalar)} = {one.variable};")
    for name in plan.region.last:
        w.types[_out(name, w)] = f"{VALUE_TYPE[w.scalars[name].name]} *"
        w.only(w.use("lw_final"), f"*{w.use(_out(name, w))} = {w.names.of(name)};")


def _declare_private(loop: For, found: LoopFacts, w: Writer) -> None:
    inside = arrays_made(loop.body)
    for name in found.private:
        if name in w.scalars:
            w.own(w.names.of(name))
        elif name not in inside:
            _own_array(w.arrays[name], w)


def _own_array(array: ArrayText, w: Writer) -> None:
    """A local array from outside the loop that each thread needs for itself. Its size is known to fit."""
    pointer = w.declare(array.pointer)
    count = " * ".join(w.size(array.name, axis) for axis in range(array.rank)) or "1"
    w.function.buffers.append(pointer)
    site = w.site("memory", array.name, 0, None)
    capacity = w.declare(w.fresh(f"lw_capacity_{pointer}", "int64_t"))
    w.rooms = True
    w.line(f"{pointer} = lw_room({pointer}, &{capacity}, {count} * (int64_t)sizeof({array.memory_type}));")
    w.fail(site, condition=f"!{pointer}")


def _write_stretch(loop: For, plan: _Plan, w: Writer) -> None:
    if plan.region.collapsed is not None:
        _write_collapsed(loop, plan.region.collapsed.inner, w)
        return
    first, bound, lower = w.use("lw_first"), w.use("lw_bound"), w.use("lw_lower")
    entry, lanes = w.decided.versions.get(loop.name), lanes_of(w.decided.lanes.get(loop.name), plan.partials, w)
    with accumulating(loop, plan.partials, lanes, w) as several:
        if entry is None:
            _write_iterations(loop, lanes, w, several)
            return
        tests = tests_of(entry, loop, w)
        step = w.text(loop.step)
        start, last = f"({lower} + {first} * {step})", f"({lower} + ({bound} - 1) * {step})"
        with w.block():
            write_both(
                tests, entry.inside, start, last, w, loop,
                lambda: _write_iterations(loop, lanes, w, several), lambda: _write_iterations(loop, None, w),
            )  # fmt: skip


def _write_collapsed(loop: For, inner: For, w: Writer) -> None:
    """A stretch of the iterations of two loops as of one: in each iteration outside, those inside that belong to it."""
    first, bound, lower, step = (w.use(f"lw_{name}") for name in ("first", "bound", "lower", "step"))
    variable = w.names.of(loop.name)
    part = replace(inner, lower=bound_named("lw_begin", w), upper=bound_named("lw_end", w))
    with w.block():
        start, end, by = (w.text(one) for one in (inner.lower, inner.upper, inner.step))
        w.line(f"const int64_t lw_each = {_trip(inner, w)};")
        w.function.scoped.add(variable)
        with w.loop(f"int64_t lw_row = {first} / lw_each; lw_row * lw_each < {bound}; ++lw_row", loop.name):
            w.line(f"const int64_t {variable} = {lower} + lw_row * {step};")
            w.line(f"const int64_t lw_from = {first} - lw_row * lw_each, lw_to = {bound} - lw_row * lw_each;")
            w.line(f"const int64_t lw_begin = lw_from > 0 ? {start} + lw_from * {by} : {start};")
            w.line(f"const int64_t lw_end = lw_to < lw_each ? {start} + lw_to * {by} : {end};")
            body = rewrite_body(loop.body, stmt=lambda stmt: (part if stmt is inner else stmt,))
            write_iteration(loop, w, lambda: write_body(body, w))
        w.function.scoped.discard(variable)


def _trip(loop: For, w: Writer) -> str:
    return f"lw_trip({w.text(loop.lower)}, {w.text(loop.upper)}, {w.text(loop.step)})"


def _write_iterations(loop: For, lanes: Lanes | None, w: Writer, several: Accumulators | None = None) -> None:
    variable = w.names.of(loop.name)
    first, bound, lower = w.use("lw_first"), w.use("lw_bound"), w.use("lw_lower")
    w.function.scoped.add(variable)

    def write(head: str, *inside: str, lanes: Lanes | None = lanes) -> None:
        unroll = w.decided.unrolled.get(loop.name)
        for holds in either_way(loop, lanes, w):
            with w.loop(f"int64_t {head}", loop.name, lanes=lanes, unroll=unroll):
                for line in inside:
                    w.line(line)
                with narrow_scalars(loop, lanes, w):
                    write_iteration(loop, w, partial(body, lanes, holds))

    def body(lanes: Lanes | None = lanes, holds: bool = True) -> None:
        with holding(loop, lanes, w, holds):
            write_body(loop.body, w)

    write_parts = write_narrow if loop.name in w.decided.narrow else write_inspected

    def part(begin: str, end: str, lanes: Lanes | None) -> None:
        with in_parts(loop, (begin, end), several if lanes else None, w, body) as (start, stop):
            write(f"{variable} = {start}; {variable} < {stop}; ++{variable}", lanes=lanes)

    with w.block():
        if isinstance(loop.step, Const) and loop.step.value == 1:
            end = f"{lower} + {bound}"
            if not in_strips(loop, w):
                w.line(f"const int64_t lw_stop = {end};")
                end = "lw_stop"
            write_range(
                loop, f"{lower} + {first}", end, False, w,
                lambda begin, end: write_parts(loop, begin, end, lanes, w, part),
            )  # fmt: skip
        else:
            value = f"const int64_t {variable} = {lower} + lw_k * {w.use('lw_step')};"
            with passed(loop, "lw_k", w) as known:
                write_range(
                    loop, first, bound, False, w,
                    lambda begin, end: write(f"lw_k = {begin}; lw_k < {end}; ++lw_k", value, *known),
                )  # fmt: skip
    w.function.scoped.discard(variable)


def _member(scalar: Scalar) -> str:
    return {"float64": "d", "float32": "f"}.get(scalar.name, "i")


def _out(name: str, w: Writer) -> str:
    return f"lw_out_{w.names.of(name)}"


# ---- the call ---------------------------------------------------------------------------------------------------


def _write_call(loop: For, plan: _Plan, part: Function, owner: Function | None, w: Writer) -> None:
    with w.block():
        w.line(f"const int64_t lw_lower = {w.text(loop.lower)}, lw_step = {w.text(loop.step)};")
        trip = f"lw_trip(lw_lower, {w.text(loop.upper)}, lw_step)"
        if (both := plan.region.collapsed) is not None:
            w.line(f"const int64_t lw_outside = {trip}, lw_inside = {_trip(both.inner, w)};")
            w.line("const int64_t lw_count = lw_outside * lw_inside;")
        else:
            w.line(f"const int64_t lw_count = {trip};")
        # A loop without iterations leaves every variable as it was: no private value may be brought out, and no pragma
        # with `lastprivate` may be reached, as OpenMP leaves that variable undefined then.
        if loop.name in w.decided.alone:
            fewest = fewest_for_sums(loop, [one.scalar for one in plan.partials])
            with w.branch(f"lw_count < {fewest}"):
                write_few(loop, plan.partials, fewest, w)
            with w.otherwise(), _in_registers(loop, plan, w), _on_one_thread(loop, plan, w):
                _write_team(loop, plan, part, owner, w)
            return
        with w.branch("lw_count > 0"):
            _write_team(loop, plan, part, owner, w)


@contextmanager
def _in_registers(loop: For, plan: _Plan, w: Writer) -> Iterator[None]:
    """Write the loop for some tens of iterations, where that has text of its own; the block is for more of them."""
    if loop.name not in w.decided.masked:
        yield
        return
    with w.branch(f"LW_MASKS && lw_count < {MASKED}"):
        write_versions(loop, w, lambda loop: write_masked(loop, plan.partials, w))
    with w.otherwise():
        yield


@contextmanager
def _on_one_thread(loop: For, plan: _Plan, w: Writer) -> Iterator[None]:
    """Write the loop for iterations that do too little for two threads; the block is for more of them."""
    region = plan.region
    most = min(MOST_INLINE, int(2 * GRAIN / max(1, region.work.fixed)))
    if region.work.inner or region.work.fixed > MOST_ON_ONE or region.sums or region.owned or region.rows:
        yield
        return
    with w.branch(f"lw_count < {most}"):
        write_versions(loop, w, lambda loop: write_on_one_thread(loop, plan.partials, w))
    with w.otherwise():
        yield


def _write_team(loop: For, plan: _Plan, part: Function, owner: Function | None, w: Writer) -> None:
    if plan.region.rows is not None:
        write_rows(plan.region.rows, _costs(plan, w), loop, w)
    count = "lw_count" if plan.region.collapsed is None else "lw_outside"
    w.line(f"const double lw_work = (double){count} * {work_text(plan.region.work, w, plan.region.rows)};")
    w.line(f"int64_t lw_threads = lw_team({w.use('threads')}, lw_count, lw_work, {GRAIN});")
    if plan.fixed:
        most = COPIES if plan.copies else BLOCKS
        w.line(f"int64_t lw_blocks = lw_team({most}, lw_count, lw_work, {GRAIN}), lw_next = 0;")
        w.only("lw_blocks < lw_threads", "lw_threads = lw_blocks;")
    _copies_before(plan, w)
    _values_before(plan, w)
    w.line("int64_t lw_crew = lw_threads;")
    w.line("int lw_bad = 0;")
    if owner is not None:
        _owners(owner, w)
    with nullcontext() if owner is None else w.otherwise():
        with w.branch(f"{plan.parts} == 1"):
            strides = {inside: w.use(outside) for copied in plan.copies for inside, outside in copied.strides.items()}
            w.line(f"lw_bad = {_call(plan, part, w, '0', 'lw_count', '1', 'lw_partials', strides)};")
        with w.otherwise(), _crew(w):
            (_blocks if plan.fixed else _team)(plan, part, w)
    for copied in plan.copies:
        w.only("lw_bad", f"free({_copy(copied.target)});")
    w.leave("lw_bad")
    _values_after(loop, plan, w)
    for copied in plan.copies:
        _add_copies(copied.reduction, copied.target, plan.parts, w)
    spend("lw_spent(lw_work)", w)


def _owners(owner: Function, w: Writer) -> None:
    given = {name: name for name in ("lw_lower", "lw_count", "lw_thread", "lw_team_size")}
    arguments = ", ".join(given[p] if p in given else w.use(p) for p in owner.parameters)
    with w.branch("lw_owned"), _crew(w), _stretches("lw_threads", "lw_crew", w):
        w.only(f"{owner.name}({arguments})", BAD)


@contextmanager
def _crew(w: Writer) -> Iterator[None]:
    """Within, `lw_crew` threads do what lw_threads are to do; how long that takes is learned."""
    w.line("static lw_pace lw_here;")
    w.line("lw_run lw_this;")
    w.line("lw_crew = lw_crew_for(&lw_this, &lw_here, lw_threads, lw_work);")
    yield
    w.line("lw_learn(&lw_this);")


@contextmanager
def _stretches(threads: str, crew: str, w: Writer) -> Iterator[None]:
    """Within, what is written is what thread number lw_thread of lw_team_size is to do, whoever does it."""
    with w.team(crew):
        w.line("LW_BEGUN;")
        w.line(f"const int64_t lw_team_size = {threads};")
        with w.loop("int64_t lw_thread = LW_SELF; lw_thread < lw_team_size; lw_thread += LW_CREW"):
            yield
        w.line("LW_DONE(lw_this);")


def _costs(plan: _Plan, w: Writer) -> tuple[str, str]:
    """Work of an iteration without the loop over its row, and of an entry of the row. An estimate."""

    def below(work: LoopWork) -> LoopWork | None:
        for _, inner in work.inner:
            if plan.region.rows is not None and inner.loop == plan.region.rows.loop:
                return inner
            found = below(inner)
            if found is not None:
                return found
        return None

    entry = below(plan.region.work)
    return f"{plan.region.work.fixed + ROW}", "0" if entry is None else work_text(entry, w, None)


def _call(
    plan: _Plan,
    part: Function,
    w: Writer,
    first: str,
    bound: str,
    final: str,
    partial: str,
    own: dict[str, str],
) -> str:
    given = {"lw_first": first, "lw_bound": bound, "lw_final": final, "lw_partial": partial}
    given |= {"lw_lower": "lw_lower", "lw_step": "lw_step"} | own
    given |= {_out(name, w): f"&{_out(name, w)}" for name in plan.region.last}
    arguments = [given[p] if p in given else w.use(p) for p in part.parameters]
    return f"{part.name}({', '.join(arguments)})"


def _team(plan: _Plan, part: Function, w: Writer) -> None:
    with _stretches("lw_threads", "lw_crew", w):
        own: dict[str, str] = {}
        for copied in plan.copies:
            own |= _own_copy(copied, "lw_thread", w)
        partial = f"lw_partials + lw_thread * {PAD * _rows(plan)}"
        call = _call(plan, part, w, "lw_begin", "lw_end", "lw_end == lw_count", partial, own)
        if plan.region.shares == "pieces":
            write_pieces(plan.region.rows, bool(plan.partials or plan.copies), call, w)
        else:
            w.line("const int64_t lw_each = lw_count / lw_team_size, lw_more = lw_count % lw_team_size;")
            w.line("const int64_t lw_begin = lw_thread * lw_each + (lw_thread < lw_more ? lw_thread : lw_more);")
            w.line("const int64_t lw_end = lw_begin + lw_each + (lw_thread < lw_more);")
            w.only(f"lw_begin < lw_end && {call}", BAD)


def _blocks(plan: _Plan, part: Function, w: Writer) -> None:
    """Blocks of iterations for whoever is free: which thread has one does not matter."""
    with w.team("lw_crew"):
        w.line("LW_BEGUN;")
        with w.claims("lw_block", "lw_next", "lw_blocks"):
            w.line("const int64_t lw_begin = lw_cut(lw_count, lw_block, lw_blocks);")
            w.line("const int64_t lw_end = lw_cut(lw_count, lw_block + 1, lw_blocks);")
            own: dict[str, str] = {}
            for copied in plan.copies:
                own |= _own_copy(copied, "lw_block", w)
            partial = f"lw_partials + lw_block * {PAD * _rows(plan)}"
            call = _call(plan, part, w, "lw_begin", "lw_end", "lw_end == lw_count", partial, own)
            end_where_bad(call, w)
        w.line("LW_DONE(lw_this);")


def _rows(plan: _Plan) -> int:
    return -(-len(plan.partials) // PAD)


def _values_before(plan: _Plan, w: Writer) -> None:
    if plan.region.shares == "pieces" and not (plan.partials or plan.copies):
        w.line("int64_t lw_next = 0;")
    if plan.partials:
        for partial in plan.partials:
            if partial.reduction.target == partial.reduction.by and partial.reduction.tie != "first":
                # A thread that takes nothing could not be told from one that takes the very least value.
                start = identity(partial.reduction.op, partial.scalar)
                w.only(f"{target_of(partial, w)} == {start}", f"{_alone(plan)};")
        w.line(f"lw_slot lw_partials[{plan.parts} * {PAD * _rows(plan)}];")
        with w.loop(f"int64_t lw_t = 0; lw_t < {plan.parts}; ++lw_t"):
            for position, partial in enumerate(plan.partials):
                w.line(f"{_slot(plan, position)} = {_start(partial, w)};")
    for name in plan.region.last:
        w.line(f"{VALUE_TYPE[w.scalars[name].name]} {_out(name, w)} = {w.variable(name)};")


def _values_after(loop: For, plan: _Plan, w: Writer) -> None:
    for name in plan.region.last:
        w.line(f"{w.variable(name)} = {_out(name, w)};")
    if not plan.partials:
        return
    with w.loop(f"int64_t lw_t = 0; lw_t < {plan.parts}; ++lw_t"):
        for position, partial in enumerate(plan.partials):
            if partial.reduction.by:
                _extreme_after(partial, position, plan, w)
                continue
            target = target_of(partial, w)
            w.line(f"{target} = {combine(partial.reduction.op, partial.scalar, target, _slot(plan, position))};")


def _alone(plan: _Plan) -> str:
    """C text that has one thread do all in one stretch."""
    return "lw_blocks = lw_threads = 1" if plan.fixed else "lw_threads = 1"


def _slot(plan: _Plan, position: int) -> str:
    """C text of partial result number lw_t."""
    return f"lw_partials[lw_t * {PAD * _rows(plan)} + {position}].{_member(plan.partials[position].scalar)}"


def _start(partial: PartialResult, w: Writer) -> str:
    """C text of what a partial result of thread lw_t begins with: of an extreme, the first thread goes on from what is
    known before the loop."""
    reduction = partial.reduction
    if not reduction.by:
        return identity(reduction.op, partial.scalar)
    if reduction.target == reduction.by:
        start = identity(reduction.op, partial.scalar)
    elif reduction.target == reduction.position:
        start = identity("min" if reduction.tie == "least" else "max", partial.scalar)
    else:
        start = "0"
    return f"lw_t == 0 ? {target_of(partial, w)} : {start}"


def _extreme_after(best: PartialResult, position: int, plan: _Plan, w: Writer) -> None:
    """What a thread has found of an extreme and of all that goes along with it."""
    reduction = best.reduction
    if reduction.target != reduction.by:
        return
    group = {one.reduction.target: k for k, one in enumerate(plan.partials) if one.reduction.by == reduction.by}
    place, at = "", ""
    if reduction.position:
        place, at = _slot(plan, group[reduction.position]), target_of(plan.partials[group[reduction.position]], w)
    test = is_better(reduction, _slot(plan, position), target_of(best, w), place, at)
    with w.branch(test):
        for number in group.values():
            w.line(f"{target_of(plan.partials[number], w)} = {_slot(plan, number)};")


# ---- copies of arrays that are summed into ----------------------------------------------------------------------


def _copy(array: ArrayText) -> str:
    return f"lw_copy_{array.pointer}"


def _copies_before(plan: _Plan, w: Writer) -> None:
    """Copies for all threads but the first, where they are small beside the work and beside caches; else the threads
    share out the target, where the loop allows that and the target is large; else one thread."""
    if not plan.copies:
        return
    limit = COPIED if plan.region.owned is None else NEAR
    w.line("int lw_owned = 0;")
    for array in (copied.target for copied in plan.copies):
        total, size, far = f"lw_total_{array.pointer}", array.element.size_bytes, f"lw_far_{array.pointer}"
        product = " * ".join(f"(double){w.size(array.name, axis)}" for axis in range(array.rank)) or "1.0"
        w.line(f"const double {total}d = {product};")
        # Each thread clears a copy, and all of them add their shares of the copies together.
        w.line(f"const int {far} = {total}d * {plan.parts} * {size} > {limit};")
        with w.branch(f"{far} || {total}d * 4 * {plan.parts} > lw_work * ({plan.parts} - 1)"):
            if plan.region.owned is not None:
                w.line(f"lw_owned = {total}d * {size} * (lw_threads - 1) >= {OWNED};")
            if plan.fixed:  # what owners do has the bits of one stretch
                w.line("lw_owned = lw_owned && lw_threads > 1;")
            w.only("!lw_owned", f"{_alone(plan)};")
        w.line(f"const int64_t {total} = (int64_t){total}d;")
    for array in (copied.target for copied in plan.copies):
        total, size = f"lw_total_{array.pointer}", array.element.size_bytes
        w.line(f"{array.memory_type} *{_copy(array)} = NULL;")
        with w.branch(f"{plan.parts} > 1 && !lw_owned"):
            w.line(f"{_copy(array)} = malloc((size_t)({total} * ({plan.parts} - 1) * {size} + 1));")
            w.only(f"!{_copy(array)}", f"{_alone(plan)};")


def _own_copy(copied: Copied, number: str, w: Writer) -> dict[str, str]:
    """The own array of the thread or block with this number (C text): the first has the target itself. Gives what to
    pass for it."""
    array = copied.target
    pointer = w.use(array.pointer)
    total, mine = f"lw_total_{array.pointer}", f"lw_mine_{array.pointer}"
    w.line(f"{array.pointer_type}{mine} = ({array.pointer_type}){pointer};")
    own = {array.pointer: mine}
    for inside, outside in copied.strides.items():
        w.line(f"int64_t {inside} = {w.use(outside)};")
        own[inside] = inside
    start = identity(copied.reduction.op, array.element)
    with w.branch(f"{number} > 0"):
        w.line(f"{array.memory_type} *lw_own = {_copy(array)} + ({number} - 1) * {total};")
        with w.loop(f"int64_t lw_e = 0; lw_e < {total}; ++lw_e"):
            w.line(f"lw_own[lw_e] = {start};")
        w.line(f"{mine} = ({array.pointer_type})lw_own;")
        for axis, stride in enumerate(copied.inside.strides):
            if stride in own:
                w.line(f"{stride} = {_copy_stride(array, axis, w)};")
    return own


def _copy_stride(array: ArrayText, axis: int, w: Writer) -> str:
    """The stride of an axis in a copy: C order, or F order where the first axis is the contiguous one."""
    inner = range(axis) if array.layout == "first" else range(axis + 1, array.rank)
    factors = [w.size(array.name, other) for other in inner]
    factors += [f"{array.element.size_bytes}"] if array.bytes else []
    return " * ".join(factors) or "1"


def _add_copies(reduction: Reduction, array: ArrayText, parts: str, w: Writer) -> None:
    """Put the copies into the target, for each element in the order of the iterations."""
    total = f"lw_total_{array.pointer}"
    w.use(array.pointer)
    block = f"{array.memory_type} *lw_block = {_copy(array)} + lw_t * {total};"
    with w.branch(_copy(array)):
        if array.layout in ("C", "F"):
            value = combine(reduction.op, array.element, f"{array.pointer}[lw_e]", "lw_block[lw_e]")
            with w.team(f"({total} < {FEW} ? 1 : lw_crew)"):
                w.line(f"const int64_t lw_first = lw_cut({total}, LW_SELF, LW_CREW);")
                w.line(f"const int64_t lw_bound = lw_cut({total}, LW_SELF + 1, LW_CREW);")
                with w.loop(f"int64_t lw_t = 0; lw_t < {parts} - 1; ++lw_t"):
                    w.line(block)
                    with w.loop("int64_t lw_e = lw_first; lw_e < lw_bound; ++lw_e"):
                        w.line(f"{array.pointer}[lw_e] = {value};")
        else:
            with w.loop(f"int64_t lw_t = 0; lw_t < {parts} - 1; ++lw_t"):
                w.line(block)
                _add_strided(reduction, array, w)
        w.line(f"free({_copy(array)});")


def _add_strided(reduction: Reduction, array: ArrayText, w: Writer) -> None:
    index = tuple(f"lw_x{axis}" for axis in range(array.rank))
    terms = []
    for axis, name in enumerate(index):
        inner = range(axis) if array.layout == "first" else range(axis + 1, array.rank)
        terms.append(" * ".join([name, *(w.size(array.name, other) for other in inner)]))
    target, source = array.element_at(index), f"lw_block[{' + '.join(terms)}]"
    with ExitStack() as opened:
        for axis, name in enumerate(index):
            opened.enter_context(w.loop(f"int64_t {name} = 0; {name} < {w.size(array.name, axis)}; ++{name}"))
        w.line(f"{target} = {combine(reduction.op, array.element, target, source)};")
