"""Where generated code asks whether to stop (`LW_SPEND` of loopwright.h), so that Ctrl-C ends a long kernel soon and
costs nothing that can be measured.

An innermost loop runs in strips of about LW_PATIENCE operations and asks between two of them; inside of a strip it is
the very loop that it was. A loop around such loops counts what an iteration does beside them. A loop that is short in
every call is counted by what it stands in. `While` loops count each iteration, except those that end with the bits of
a number (bit_loops.py), and those that keep one half each time (bisections.py). Several iterations of a few operations
are written out, and count once: to count each takes as long as what it does.

The text of a GPU asks in the same places, in LW_STOPS of loopwright.cuh: there a question reads a word of the GPU's
memory. Kernels of which the host knows that they are short do not ask (most_work.py); where it depends on sizes, there
are two of one text. Loops of one thread let that thread end. `while` loops have strips, too. Where threads meet, all of
them ask together (`stop_together`), since who waits for a thread that has ended would go on without what it was to
bring.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace

from loopwright.analysis.bit_loops import most_iterations as most_by_bits
from loopwright.analysis.recurrence_latency import recurrence_latency
from loopwright.codegen.bisections import is_bisection
from loopwright.codegen.decisions import CodegenInput, LoopLowering
from loopwright.codegen.function import Function, Writer
from loopwright.codegen.most_work import MOST, Amount
from loopwright.codegen.recurrent_scalars import returning
from loopwright.codegen.work import operations_of
from loopwright.ir.code import Countdown, Question
from loopwright.ir.nodes import (
    Allocate,
    Block,
    Body,
    Break,
    Call,
    Checked,
    Const,
    Continue,
    Dim,
    For,
    If,
    Leave,
    Load,
    Logical,
    Stmt,
    Store,
    While,
)
from loopwright.ir.queries import arrays_made, contains, has, names_assigned, names_in
from loopwright.ir.walk import bodies, own_expressions, statements, subexpressions
from loopwright.steps.extent import extent_of, trip_of

SHORT = 1 << 21  # operations of loops that are not worth a question of their own
HEAVY = 100  # operations of an iteration of short loops, next to which a strip costs nothing
UNROLLED = 32  # operations of a `while` loop on a GPU of which several iterations are written out
WRITTEN_OUT = 4  # iterations of a `while` loop on a CPU between which nothing is counted
MOST_WRITTEN_OUT = 20  # operations of an iteration of such loops, with those of the condition
MOST_JUMPS = 2  # `and` and `or` in the condition of such loops: of more jumps none is guessed as well in several copies
LONGEST_WAIT = 8.0  # cycles between such iterations: while they wait for longer, to count costs nothing
AT_ONCE = 1 << 12  # operations of a loop that counts those of all its iterations before the first one
IN_A_STRIP = 512  # iterations of a `while` loop on a GPU
MEETINGS = 128  # iterations of a loop in which the threads of a block meet; a power of two


def operations_in(body: Body) -> int:
    """The operations that running a body takes at most, without those of loops that ask for themselves."""
    return _work(body)[0]


def is_innermost(loop: For) -> bool:
    """Whether all loops in this one are short."""
    return _work(loop.body)[1]


def most_operations(loop: For) -> int | None:
    """How many operations a loop takes at most, where that is known and little; None where it asks for itself."""
    trip = most_trips(loop)
    if trip is None:
        return None
    operations, are_short = _work(loop.body)
    most = trip * max(1, operations)
    return most if are_short and most <= SHORT else None


def most_trips(loop: For) -> int | None:
    """How many iterations a loop has at most, where that is known."""
    trip = trip_of(loop)
    return trip if trip is not None else extent_of(loop) or None


def most_iterations(loop: While) -> int | None:
    """How often a `while` loop runs that is short whatever the data; None for any other."""
    return 64 if is_bisection(loop) else most_by_bits(loop)


def _work(body: Body) -> tuple[int, bool]:
    """The operations of a body, without those of loops that ask for themselves; whether there are no such loops."""
    found = [_work_of(stmt) for stmt in body]
    return sum(operations for operations, _ in found), all(are_short for _, are_short in found)


def _work_of(stmt: Stmt) -> tuple[int, bool]:
    own = 1 + sum(operations_of(expr) for expr in own_expressions(stmt)) + isinstance(stmt, Store)
    if isinstance(stmt, For):
        most = most_operations(stmt)
        return (own, False) if most is None else (own + most, True)
    if isinstance(stmt, While):
        most = most_iterations(stmt)
        return (own, False) if most is None else (own + most * max(1, _work(stmt.body)[0]), True)
    inner = [_work(part) for part in bodies(stmt)]
    operations = [part for part, _ in inner]
    most = max(operations) if isinstance(stmt, If) else sum(operations)
    return own + most, all(are_short for _, are_short in inner)


def in_strips(loop: For, w: Writer) -> bool:
    """Whether a loop asks between strips of its iterations."""
    if not w.function.on_device:
        return loop.name in w.decided.strips
    return w.asks and w.function.asks and is_long(loop)


def is_long(loop: For) -> bool:
    """Whether a loop may be long, and holds no others that are."""
    return is_innermost(loop) and most_operations(loop) is None


# ---- passes for a CPU -------------------------------------------------------------------------------------------


def cut_strips(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Strips for loops that may be long and hold no others that are, or only small `while` loops, which count for
    themselves, and to which few iterations come."""
    strips = frozenset(
        loop.name for loop in statements(given.kernel.body, For) if is_long(loop) or _searches_rarely(loop)
    )
    return replace(lowering, strips=strips)


def _searches_rarely(loop: For) -> bool:
    inner = [one for one in statements(loop.body, For, While) if not _is_short(one)]
    is_search = bool(inner) and all(isinstance(one, While) and is_written_out(one) for one in inner)
    is_rare = not any(one is met for one in inner for met in loop.body)
    return is_search and is_rare and not 0 < _known_operations(loop) <= AT_ONCE


def _known_operations(loop: For) -> int:
    """What a loop does at most beside those that count for themselves; 0 where data or sizes tell."""
    return (most_trips(loop) or 0) * (max(1, operations_in(loop.body)) + _uncounted(loop.body))


def _is_short(loop: For | While) -> bool:
    return (most_operations(loop) if isinstance(loop, For) else most_iterations(loop)) is not None


def write_twice(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Those inside of another loop of a function stand there without strips too: with few iterations, a loop is what
    it always was. Not where an iteration holds short loops that the C compiler writes out: next to them a strip costs
    nothing, and of two large loops the compiler gives registers to the one that it takes for the more frequent."""

    outside = (loop for loop in _inside_others(given.kernel.body) if loop.name not in lowering.regions)
    twice = (
        loop.name for loop in outside if is_long(loop) and _may_stand_twice(loop.body) and not _is_heavy(loop.body)
    )
    return replace(lowering, twice=lowering.strips & frozenset(twice))


def _is_heavy(body: Body) -> bool:
    return contains(body, For) and operations_in(body) >= HEAVY


def stand_alone(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Innermost loops that threads share, inside of others: to ask for threads takes longer than a few iterations."""
    inner = (loop for loop in _inside_others(given.kernel.body) if loop.name in lowering.regions)
    alone = (loop.name for loop in inner if not contains(loop.body, For, While, Block, Allocate))
    return replace(lowering, alone=frozenset(alone))


def _inside_others(body: Body, around: bool = False) -> Iterator[For]:
    for stmt in body:
        if isinstance(stmt, For) and around:
            yield stmt
        for part in bodies(stmt):
            yield from _inside_others(part, around or isinstance(stmt, For | While))


def count_ahead(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """To count once, before loops whose lengths are known there, is cheaper."""
    counted = frozenset(
        inner.name
        for loop in statements(given.kernel.body, For, While)
        for inner in loop.body
        if isinstance(inner, For) and inner.name in lowering.twice and _is_known_before(inner, loop.body)
    )
    return replace(lowering, counted=counted)


# ---- text -------------------------------------------------------------------------------------------------------


def spend(operations: str | int, w: Writer) -> None:
    """Write the line that counts operations, and asks where these are many."""
    if w.asks and (w.function.asks or not w.function.on_device):
        countdown(w)
        _ask(Question(str(operations)), w)


def _ask(question: Question, w: Writer) -> None:
    for identifier in ("lw_stopped", "lw_ticket") if w.function.on_device else ("watch",):
        w.use(identifier)
    w.add(question)


def write_range(loop: For, first: str, bound: str, down: bool, w: Writer, write: Callable[[str, str], None]) -> None:
    """Have `write` write a loop for bounds (C texts): from `first` to `bound`, or those of a strip where it asks for
    itself. Inside of another loop there are two versions, so that a loop of few iterations is what it always was."""
    if not in_strips(loop, w):
        write(first, bound)
        return
    w.line(f"const int64_t lw_whole = {bound};")
    operations = max(1, operations_in(loop.body))
    trip = "lw_from_here - lw_whole" if down else "lw_whole - lw_from_here"
    if w.function.on_device:
        _write_on_device(loop, first, trip, down, w, write)
        return
    if loop.name not in w.decided.twice or _is_careful(loop, w):
        _write_strips(loop, first, down, w, write)
        return
    w.line(f"const int64_t lw_from_here = {first};")
    # No iterations, or less than none, are many here. Neither version is rare: rare code is made small, not fast.
    searches = _ends_early(loop)
    most = f"(LW_FEW / {operations})" if searches else f"LW_STRIP({operations})"
    with w.branch(f"(uint64_t)({trip}) > (uint64_t){most}"):
        _write_strips(loop, "lw_from_here", down, w, write, counts=searches)
    with w.otherwise():
        if loop.name not in w.decided.counted:
            w.line(f"{countdown(w)} -= ({trip}) * {operations};")
        write("lw_from_here", "lw_whole")


def _is_careful(loop: For, w: Writer) -> bool:
    """Whether this is the version of a loop that checks its accesses: it stands there once."""
    entry = w.decided.versions.get(loop.name)
    return entry is not None and not entry.inside <= w.inside


def _may_stand_twice(body: Body) -> bool:
    """Whether no label and no array is declared in it."""
    return not contains(body, Block, Allocate)


def _write_strips(
    loop: For, first: str, down: bool, w: Writer, write: Callable[[str, str], None], counts: bool = True
) -> None:
    """What leaves the loop leaves all strips. counts: whether each strip counts its operations; else each asks."""
    operations = max(1, operations_in(loop.body) + _uncounted(loop.body))
    ahead, rest = ("lw_below", "lw_strip - lw_upper") if down else ("lw_ahead", "lw_upper - lw_strip")
    head = f"int64_t lw_strip = {first}, lw_then; lw_strip {'>' if down else '<'} lw_whole; lw_strip = lw_then"
    with breaking_out_of(loop, w), w.loop(head):
        w.line(f"const int64_t lw_upper = lw_then = {ahead}(lw_strip, lw_whole, LW_STRIP({operations}));")
        if counts:
            spend(f"({rest}) * {operations}", w)
        else:
            w.leave(f"lw_asked_between({w.use('watch')})")
        with _giving_back(loop, down, w) if counts else nullcontext():
            write("lw_strip", "lw_upper")


def _write_on_device(
    loop: For, first: str, trip: str, down: bool, w: Writer, write: Callable[[str, str], None]
) -> None:
    """The loop as it is without questions, where there are none, and inside of another one where it has few
    iterations: that counts them. Else strips."""
    operations, nested = max(1, operations_in(loop.body)), w.function.nested > 0
    if not (nested or w.function.both) or not _may_stand_twice(loop.body):
        if nested:
            spend(f"{operations} * LW_STRIP({operations})", w)
        _write_device_strips(loop, first, down, w, write)
        return
    owed = w.function.owed.pop(loop.name, 0)
    plain = ["!lw_asks"] * w.function.both + [f"LW_PLAIN({countdown(w)}, {trip}, {operations}, {owed})"] * nested
    w.line(f"const int64_t lw_from_here = {first};")
    with w.branch(" || ".join(plain), plain=True):
        write("lw_from_here", "lw_whole")
    with w.otherwise():
        if nested:
            spend(owed + operations, w)
        _write_device_strips(loop, "lw_from_here", down, w, write)


def _write_device_strips(loop: For, first: str, down: bool, w: Writer, write: Callable[[str, str], None]) -> None:
    """Asks at the end of each strip but the last."""
    ahead, strip = "lw_below" if down else "lw_ahead", f"LW_STRIP({max(1, operations_in(loop.body))})"
    with breaking_out_of(loop, w), w.loop(f"int64_t lw_strip = {first};;"):
        w.line(f"const int64_t lw_upper = lw_asks ? {ahead}(lw_strip, lw_whole, {strip}) : lw_whole;")
        write("lw_strip", "lw_upper")
        w.only("!LW_SELDOM(lw_upper != lw_whole)", "break;")
        _ask(Question(), w)
        w.line("lw_strip = lw_upper;")


def write_while(loop: While, w: Writer, write: Callable[[], None]) -> None:
    """A `while` loop, whose body `write` writes. On a GPU, where it holds no loops, in strips: to count iterations one
    by one takes a fourth of the time of a short one."""
    condition = w.text(loop.condition)
    if w.asks and not w.function.on_device and is_written_out(loop):
        _write_out(loop, condition, w, write)
        return
    if contains(loop.body, For, While) or not (w.function.on_device and w.asks and w.function.asks):
        with w.repeat(condition):
            write_iteration(loop, w, write)
        return
    # One way out of the inner loop, and no label: the others keep registers apart, and cost instructions.
    with w.loop(";;"):
        w.line(f"int lw_n = {IN_A_STRIP};")
        unroll = 4 if operations_in(loop.body) <= UNROLLED else 1
        with w.repeat(f"(int)({condition}) & (int)(--lw_n != 0)", unroll):
            w.function.nested += 1
            write()
            w.function.nested -= 1
        w.only("lw_n", "break;")
        _ask(Question(), w)


def is_written_out(loop: While) -> bool:
    """Whether several iterations of a loop stand one behind the other in a C text."""
    if contains(loop.body, For, While, Block, Allocate) or most_iterations(loop) is not None:
        return False
    if any(stmt.loop == loop.name for stmt in statements(loop.body, Continue)):
        return False  # it would leave out the counting
    if operations_in(loop.body) + operations_of(loop.condition) > MOST_WRITTEN_OUT:
        return False
    if sum(1 for _ in subexpressions(loop.condition, Logical)) > MOST_JUMPS:
        return False
    return recurrence_latency(loop.body, returning(loop.body, lambda kind: True)) <= LONGEST_WAIT


def _write_out(loop: While, condition: str, w: Writer, write: Callable[[], None]) -> None:
    """Iterations that end before the last of those that are written out are counted by what is around the loop. Where
    each iteration of that comes to it, the condition stands before the loop once more: there the C compiler knows what
    the first iteration starts with."""
    is_met = any(one is loop for around in statements(w.given.kernel.body, For, While) for one in around.body)
    with ExitStack() as stack:
        if is_met:
            stack.enter_context(w.branch(condition))
        stack.enter_context(w.loop(";;") if is_met else w.repeat(condition))
        w.function.nested += 1
        with w.block():
            write()
        iteration = w.function.code[-1]
        for _ in range(WRITTEN_OUT - 1):
            w.only(f"!({condition})", "break;")
            w.add(iteration)
        w.function.nested -= 1
        spend(WRITTEN_OUT * max(1, operations_in(loop.body)), w)
        if is_met:
            w.only(f"!({condition})", "break;")


def _uncounted(body: Body) -> int:
    """The operations of loops in a body that may end before they count any."""
    found = 0
    for stmt in body:
        if isinstance(stmt, While) and is_written_out(stmt):
            found += WRITTEN_OUT * operations_in(stmt.body)
        elif not isinstance(stmt, For | While):
            found += sum(_uncounted(part) for part in bodies(stmt))
    return found


@contextmanager
def breaking_out_of(loop: For, w: Writer) -> Iterator[None]:
    """Around the text of a loop that is cut up: what leaves one of the parts leaves all of them."""
    if loop.name in w.function.broken or not any(stmt.loop == loop.name for stmt in statements(loop.body, Break)):
        yield
        return
    w.function.broken[loop.name] = label = w.names.fresh(f"lw_out_of_{w.names.of(loop.name)}")
    yield
    del w.function.broken[loop.name]
    w.line(f"{label}:;")


@contextmanager
def _giving_back(loop: For, down: bool, w: Writer) -> Iterator[None]:
    """Within, what leaves a loop before the end of a strip gives back what was counted for the rest of it: a search
    that mostly ends soon would ask as often as if it went through everything."""
    if not isinstance(loop.step, Const) or loop.step.value not in (1, -1) or not _ends_early(loop):
        yield
        return
    at = w.names.of(loop.name)
    rest = f"{at} - lw_upper - 1" if down else f"lw_upper - {at} - 1"
    operations = max(1, operations_in(loop.body) + _uncounted(loop.body))
    w.function.ahead[loop.name] = loop, f"{countdown(w)} += ({rest}) * {operations};"
    yield
    del w.function.ahead[loop.name]


def give_back(stmt: Break | Leave, w: Writer) -> None:
    """Before a jump that leaves a loop whose operations were counted before it, write what takes back the rest."""
    for loop, line in w.function.ahead.values():
        if _ends(stmt, loop):
            w.line(line)


def _ends_early(loop: For) -> bool:
    """Whether a statement may end a loop, and not the whole function, before its last iteration."""
    return any(_ends(stmt, loop) for stmt in statements(loop.body, Break, Leave))


def _ends(stmt: Break | Leave, loop: For) -> bool:
    if isinstance(stmt, Break):
        return stmt.loop == loop.name
    return all(block.name != stmt.block for block in statements(loop.body, Block))


def countdown(w: Writer) -> str:
    """What counts the operations of a thread."""
    w.function.declared.setdefault("lw_due", Countdown())
    return w.use("lw_due")


def stop_together(w: Writer, now: str = "", team: str = "") -> None:
    """On a GPU: end all threads of a block, or of a team, at a place that all of them come to, where the call has to
    end. now: C text of when they ask, the same for all of them."""
    if w.asks and w.function.asks:
        w.function.meets = True
        _ask(Question("", now, True, team), w)


def every(variable: str, step: int) -> str:
    """C text: once in MEETINGS iterations of a loop, and not in the first one where it begins at 0."""
    period = MEETINGS * step
    return f"(uint32_t){variable} % {period}u >= {period - step}u"


def stop_each(w: Writer) -> None:
    """The same for a thread that meets no other."""
    if w.asks and w.function.asks:
        _ask(Question(), w)


def ask_where_long(part: Function, work: Amount, w: Writer) -> None:
    """Say of a device function whether its text is to ask: where a thread does more than MOST units, and where only the
    host will know, in a version of its own. work: of a thread, as most_work.py has it."""
    part.asks = w.asks and not (isinstance(work, float) and work <= MOST)
    part.both = part.asks and isinstance(work, str)


def has_questions(body: Body, w: Writer, is_whole: Callable[[Stmt], bool]) -> bool:
    """Whether a thread of a GPU may end in the middle of a body of a function that asks, and others not. is_whole:
    whether all threads of a block run a loop together."""
    return w.asks and any(
        isinstance(stmt, While) or (w.function.asks and is_long(stmt)) or not is_innermost(stmt)
        for stmt in statements(body, For, While)
        if not is_whole(stmt)
    )


def spend_at_once(loop: For, w: Writer) -> bool:
    """Before a loop on a CPU that is known to have few iterations and does little in them beside loops that count for
    themselves, count all of that; whether this is such a loop."""
    if w.function.on_device or most_trips(loop) is None or _is_counted(loop):
        return False
    if any(isinstance(stmt, For) and stmt.name in w.decided.counted for stmt in loop.body):
        return False
    operations = _known_operations(loop)
    if operations > AT_ONCE:
        return False
    spend(operations, w)
    return True


def write_iteration(loop: For | While, w: Writer, write: Callable[[], None], is_counted: bool = False) -> None:
    """Have `write` write the body of a loop; where it is not in strips, behind a question, which counts the loops in it
    as far as their lengths are known here: to count once is cheaper. is_counted: that was done before the loop."""
    w.function.nested += 1
    if w.function.on_device and (inner := _counting(loop, w)) is not None:
        w.function.owed[inner.name] = operations_in(loop.body)
    elif not is_counted and not _is_counted(loop) and loop.name not in w.decided.strips:
        uncounted = 0 if w.function.on_device else _uncounted(loop.body)
        terms = [f"{max(1, operations_in(loop.body)) + uncounted}"]
        for stmt in loop.body:
            if isinstance(stmt, For) and stmt.name in w.decided.counted:
                trip = f"lw_trip({w.text(stmt.lower)}, {w.text(stmt.upper)}, {w.text(stmt.step)})"
                work = f"{trip} * {max(1, operations_in(stmt.body))}"
                terms.append(f"lw_if_few({work})" if _ends_early(stmt) else work)
        spend(" + ".join(terms), w)
    write()
    w.function.nested -= 1


def _is_counted(loop: For | While) -> bool:
    """Whether the loop around it, or its strips, count what it does."""
    return is_innermost(loop) if isinstance(loop, For) else most_iterations(loop) is not None


def _counting(loop: For | While, w: Writer) -> For | None:
    """A loop that counts, on a GPU, for the one around it as well: each iteration comes to it."""
    if any(stmt.loop == loop.name for stmt in statements(loop.body, Continue)):
        return None
    inner = (stmt for stmt in loop.body if isinstance(stmt, For) and in_strips(stmt, w))
    return next((stmt for stmt in inner if _may_stand_twice(stmt.body)), None)


def _is_known_before(loop: For, body: Body) -> bool:
    """Whether a loop in strips has ends that can be told at the beginning of the body that it stands in."""
    if not isinstance(loop.step, Const) or loop.step.value not in (1, -1):
        return False
    changing, allocated = names_assigned(body), arrays_made(body)
    return not any(
        has(bound, Load, Checked, Call)
        or names_in(bound) & changing
        or any(part.array in allocated for part in subexpressions(bound, Dim))
        for bound in (loop.lower, loop.upper)
    )
