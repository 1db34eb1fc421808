"""Stream compaction without a jump: `if c: a[k] = v; k = k + 1` stores in any case, and moves on where the condition
holds; so do appends to a list. Which elements are chosen only data tell: each one that is guessed wrong costs more than
ten stores.

The element at k is overwritten that is not chosen. So the array must be one whose elements from k on nobody has ever
written: a local one that begins undefined, with stores of this `if` alone, at an index that begins at a constant and
only grows while the array is there. There may be several such arrays, and rows of a constant length in place of
elements (`xs[k] = x; ys[k] = y`; a complex number is a row of two).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from loopwright.codegen.arrays import ArrayText
from loopwright.codegen.decisions import CodegenInput, EntryTest, IndexTest, LoopLowering
from loopwright.codegen.function import Writer
from loopwright.codegen.if_conversion import eager
from loopwright.codegen.index_tests import freed
from loopwright.codegen.loop_versions import is_plain, is_short, slope_of
from loopwright.ir.chosen_values import always_read
from loopwright.ir.code import Lanes
from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Binary,
    Body,
    Call,
    Checked,
    Const,
    Expr,
    For,
    If,
    Load,
    Select,
    Stmt,
    Store,
    Var,
    While,
)
from loopwright.ir.queries import arrays_stored, has, names_assigned
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import bodies, statements, subexpressions

CHEAP = 24  # parts of a condition and a value that are computed in any case
SPARE_BYTES = 64  # LW_SPARE of room.h
STRIP, CALM = 128, 2048  # iterations for which there must be room, and of a strip that is likely to choose few
SELDOM = 16  # of so many iterations at least one must be chosen: else jumps are guessed well enough


@dataclass(frozen=True, slots=True)
class Compaction:
    """What an `if` does: the stores, and the name of the index that moves on."""

    stores: tuple[Store, ...]
    index: str


def compact_streams(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Those of innermost loops that need their order. Elements that are read where the condition would not have come to
    them are tested at the loop's entry."""
    found: set[int] = set()
    versions = dict(lowering.versions)
    for loop in statements(given.kernel.body, For):
        if loop.name in lowering.lanes or loop.name in lowering.regions or not _is_innermost(loop, given):
            continue
        for stmt in loop.body:
            compaction = compaction_of(stmt)
            if compaction is None or not isinstance(stmt, If) or not _is_fresh(compaction, loop, given):
                continue
            if (tests := _tests(stmt, compaction, loop, given)) is not None:
                found.add(id(stmt))
                if tests.tests:
                    versions[loop.name] = _together(versions.get(loop.name), tests)
    return replace(lowering, versions=versions, compacted=frozenset(found))


def _is_innermost(loop: For, given: CodegenInput) -> bool:
    plain = is_plain(loop.body)
    counts = loop.step == Const(1, loop.step.type) and given.constant_trip(loop) is None
    return plain and counts and not given.check_all and not is_short(loop)


def compaction_of(stmt: Stmt) -> Compaction | None:
    """The compaction that a statement is; None for anything else."""
    match stmt:
        case If(then=(*before, Assign(name=name) as step), otherwise=()) if _is_step(step, name):
            stores = tuple(one for one in before if isinstance(one, Store) and _is_at(one, name))
            # An append to a list tests first that there is room: so do the stores.
            others = before[: len(before) - len(stores)]
            if stores and before[len(others) :] == list(stores) and all(_asks_for_room(one) for one in others):
                return Compaction(stores, name)
    return None


def _is_at(store: Store, name: str) -> bool:
    match store.index:
        case (Var(name=first), *rest):
            return first == name and all(isinstance(axis, Const) for axis in rest)
    return False


def _is_step(stmt: Stmt, name: str) -> bool:
    match stmt:
        case Assign(name=target, value=Binary(op="add", left=Var(name=old), right=Const(value=1))):
            return target == old == name
    return False


def _asks_for_room(stmt: Stmt) -> bool:
    match stmt:
        case Assign(value=Checked(value=Const(), kind="memory")):
            return True
    return False


# ---- whether elements may be overwritten ------------------------------------------------------------------------


def _is_fresh(found: Compaction, loop: For, given: CodegenInput) -> bool:
    """Whether what is at the index and behind it has never been written."""
    body, name = given.kernel.body, found.index
    made: list[Allocate] = []
    for array in {store.array for store in found.stores}:
        stores = [stmt for stmt in statements(body, Store) if stmt.array == array]
        mine = [store for store in found.stores if store.array == array]
        found_made = [stmt for stmt in statements(body, Allocate) if stmt.array == array]
        if len(stores) != len(mine) or len(found_made) != 1 or found_made[0].fill is not None:
            return False
        if any(bounds.kind != "proven" for store in mine for bounds in given.bounds_of(store)[1:]):
            return False
        made += found_made
    if any(param.name == name for param in given.kernel.scalars):
        return False
    assigned = [stmt for stmt in statements(body, Assign) if stmt.name == name]
    within = [stmt for stmt in statements(loop.body, Assign) if stmt.name == name]
    grows = len(within) == 1 and all(_is_step(stmt, name) or _is_start(stmt) for stmt in assigned)
    return grows and all(_is_once(body, one, loop) for one in made)


def _is_start(stmt: Assign) -> bool:
    return isinstance(stmt.value, Const) and stmt.value.value >= 0


def _is_once(body: Body, made: Allocate, loop: For) -> bool:
    """Whether a loop runs at most once for each time that an array is made: behind it, and in no other loop."""
    if any(stmt is made for stmt in body):
        behind = body[next(at for at, stmt in enumerate(body) if stmt is made) :]
        return _is_behind(behind, loop)
    return any(_is_once(part, made, loop) for stmt in body for part in bodies(stmt))


def _is_behind(body: Body, loop: For) -> bool:
    inner = (part for stmt in body if not isinstance(stmt, For | While) for part in bodies(stmt))
    return any(stmt is loop for stmt in body) or any(_is_behind(part, loop) for part in inner)


# ---- what is evaluated in any case ------------------------------------------------------------------------------


def _tests(stmt: If, found: Compaction, loop: For, given: CodegenInput) -> EntryTest | None:
    """Tests that show that the condition and the value can be evaluated for every iteration; None where they cannot."""
    values = (store.value for store in found.stores)
    parts = [part for expr in (stmt.condition, *values) for part in subexpressions(expr)]
    if len(parts) > CHEAP or any(isinstance(part, Checked | Call | Select) or _is_dear(part) for part in parts):
        return None
    known = set(always_read(stmt.condition))
    tests: list[IndexTest] = []
    inside: set[tuple[int, int]] = {(id(stmt), 0)}
    arrays: list[str] = []
    for load in parts:
        if not isinstance(load, Load) or load in known:
            continue
        for axis, (index, bounds) in enumerate(zip(load.index, given.bounds_of(load), strict=True)):
            slope = None if has(index, Load) else slope_of(index, loop)
            if slope is None or (bounds.kind == "proven" and bounds.may_be_negative):
                return None
            tests.append(IndexTest(load.array, axis, index, slope))
            inside.add((id(load), axis))
        arrays.append(user_name(load.array))
    return EntryTest(tuple(tests), frozenset(inside), tuple(dict.fromkeys(arrays)))


def _is_dear(expr: Expr) -> bool:
    return isinstance(expr, Binary) and expr.op in ("pow", "mod", "floordiv", "truediv")


def _together(one: EntryTest | None, other: EntryTest) -> EntryTest:
    if one is None:
        return other
    arrays = tuple(dict.fromkeys((*one.arrays, *other.arrays)))
    return EntryTest((*one.tests, *other.tests), one.inside | other.inside, arrays)


# ---- text -------------------------------------------------------------------------------------------------------


def write_streams(loop: For, begin: str, end: str, w: Writer, write: Callable[[str, str], None]) -> None:
    """Have `write` write the iterations from `begin` to `end` (C texts): without jumps those of strips for which there
    is room, unless the strip before has chosen next to nothing, as jumps are then well guessed. Arrays are mostly as
    large as what is chosen, so near their ends it is counted first how many a strip chooses."""
    found = [stmt for stmt in loop.body if id(stmt) in w.decided.compacted and _is_tested(stmt, w)]
    if not found:
        write(begin, end)
        return
    streams = [one for one in map(compaction_of, found) if one is not None]
    with w.block():
        w.line(f"const int64_t lw_all = {end};")
        w.line("bool lw_often = true;")
        with w.loop(f"int64_t lw_part = {begin}, lw_then; lw_part < lw_all; lw_part = lw_then"):
            w.line(f"lw_then = lw_ahead(lw_part, lw_all, lw_often ? {STRIP} : {CALM});")
            index = w.variable(streams[0].index)
            w.line(f"const int64_t lw_before = {index}, lw_most = lw_then - lw_part;")
            rooms = [(w.variable(one.index), store.array) for one in streams for store in one.stores]
            room = dict.fromkeys(f"{index} + lw_most <= {w.size(array, 0)}" for index, array in rooms)
            w.line(f"bool lw_fits = lw_often && {' && '.join(room)};")
            if all(_can_be_counted(stmt, loop, w) for stmt in found):
                with w.branch("lw_often && !lw_fits"):
                    _count_ahead(found, loop, w)
            with w.branch("lw_fits"):
                w.streams = frozenset(map(id, found))
                write("lw_part", "lw_then")
                w.streams = frozenset()
            with w.otherwise():
                write("lw_part", "lw_then")
            w.line(f"lw_often = ({index} - lw_before) * {SELDOM} >= lw_most;")


def _can_be_counted(stmt: Stmt, loop: For, w: Writer) -> bool:
    """Whether the condition is the same before the strip and cannot fail, and there is memory behind the last
    element."""
    found = compaction_of(stmt)
    assert found is not None and isinstance(stmt, If)
    stored, assigned = arrays_stored(loop.body), names_assigned(loop.body)
    parts = list(subexpressions(eager(stmt.condition), Load, Checked))
    if any(isinstance(one, Checked) or one.array in stored or w.given.is_checked(one, w.inside) for one in parts):
        return False
    if any(one.name in assigned for one in subexpressions(stmt.condition, Var)):
        return False
    return all(_has_spare(w.arrays[store.array]) for store in found.stores)


def _has_spare(array: ArrayText) -> bool:
    """Whether the array is on the heap, where a row of it has room behind the last one (LW_SPARE in room.h)."""
    first, *rest = array.sizes
    row_bytes = array.element.size_bytes
    for size in rest:
        row_bytes *= int(size.rstrip("L")) if size[0].isdigit() else SPARE_BYTES + 1
    return array.slot is None and not first[0].isdigit() and row_bytes <= SPARE_BYTES


def _count_ahead(found: Sequence[Stmt], loop: For, w: Writer) -> None:
    variable = w.names.of(loop.name)
    w.line("lw_fits = true;")
    for stmt in found:
        stream = compaction_of(stmt)
        assert stream is not None and isinstance(stmt, If)
        with w.block():
            w.line("int16_t lw_chosen = 0;")
            head = f"int64_t {variable} = lw_part; {variable} < lw_then; ++{variable}"
            with w.loop(head, lanes=Lanes((("+", "lw_chosen"),))):
                w.line(f"lw_chosen += {w.text(eager(stmt.condition))};")
            sizes = dict.fromkeys(w.size(store.array, 0) for store in stream.stores)
            w.line(f"lw_fits &= {' && '.join(f'{w.variable(stream.index)} + lw_chosen <= {size}' for size in sizes)};")


def _is_tested(stmt: Stmt, w: Writer) -> bool:
    """Whether what a compaction evaluates in any case is there: in the version of its loop without checks."""
    part = (id(stmt), 0)
    return part in w.inside or not any(part in test.inside for test in w.decided.versions.values())


def write_compaction(stmt: If, w: Writer) -> None:
    """The `if` without a jump, where there is room for an element that is not chosen."""
    found = compaction_of(stmt)
    assert found is not None
    index = w.variable(found.index)
    with w.block():
        w.line(f"const bool lw_holds = {w.text(eager(stmt.condition))};")
        with freed(frozenset((id(store), 0) for store in found.stores), w):
            for store in found.stores:
                w.line(f"{w.element(store)} = {w.text(store.value)};")
        w.line(f"{index} += lw_holds;")
