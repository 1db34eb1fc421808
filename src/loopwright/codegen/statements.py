"""C text of statements, except loops that run in parallel or in vector lanes (`codegen/parallel.py`)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import partial
from typing import assert_never

from loopwright.analysis.bit_loops import counted_bits
from loopwright.codegen.arrays import STACK_BYTES
from loopwright.codegen.c_text import VALUE_TYPE, compared, literal
from loopwright.codegen.chosen_scalars import GREATEST, LEAST, chosen_scalars, simplified
from loopwright.codegen.chosen_stores import chosen_store, store_of_levels
from loopwright.codegen.compaction import write_compaction
from loopwright.codegen.few_candidates import BetterExtreme, better_extreme
from loopwright.codegen.function import Writer
from loopwright.codegen.if_conversion import (
    SIMPLE_STEP,
    branch_of,
    chosen_in,
    count_behind,
    count_of,
    counted_in,
    flag_of,
    level_of,
    update_of,
)
from loopwright.codegen.kept_elements import kept_element
from loopwright.codegen.outlining import may_outline, write_outlined
from loopwright.codegen.safepoints import give_back, write_while
from loopwright.ir.code import AlignedArray
from loopwright.ir.nodes import (
    RESERVED,
    Allocate,
    Assign,
    Binary,
    Block,
    Body,
    Break,
    Compare,
    Const,
    Continue,
    Expr,
    For,
    If,
    Leave,
    Logical,
    Return,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
    While,
)
from loopwright.ir.queries import is_mostly_unused, settled_by, unsettled_in
from loopwright.ir.types import INT64, Scalar
from loopwright.ir.walk import rewrite_expr, statements

_IN_PLACE = {"and": "&=", "or": "|=", "xor": "^="}


def write_body(body: Body, w: Writer) -> None:
    """Write every statement of a body where the writer is."""
    if may_outline(body, w):
        write_outlined(body, w, partial(_write_body, body, w))
    else:
        _write_body(body, w)


def _write_body(body: Body, w: Writer) -> None:
    outer, checked = w.function.computed, w.function.checked
    for stmt in body:
        before = w.function.checked
        if w.decided.divisions or w.function.computed:
            _divide_before(stmt, w)
            _write_behind_early(stmt, w)
            _forget(unsettled_in((stmt,)), w)
        else:
            _write_behind_early(stmt, w)
        if isinstance(stmt, For):
            w.function.checked = before
    w.function.computed, w.function.checked = outer, checked


def _write_behind_early(stmt: Stmt, w: Writer) -> None:
    """A statement, behind the functions that are computed before it."""
    outer = w.function.computed
    for call in w.decided.early.get(id(stmt), ()):
        kind = VALUE_TYPE[call.type.name]
        name, text = w.fresh("lw_early", kind), w.text(call)
        w.line(f"const {kind} {name} = LW_EARLY({text}, 0);")
        w.function.computed = w.function.computed | {call: name}
    write(stmt, w)
    w.function.computed = outer


def _divide_before(stmt: Stmt, w: Writer) -> None:
    """What is divided once for this statement and those after it."""
    if not isinstance(stmt, Assign | Allocate):
        _forget(unsettled_in((stmt,)), w)  # its text may stand behind an assignment in it
    for division in w.decided.divisions.get(id(stmt), ()):
        if w.computed(division):
            continue
        kind, text = division.type.name, w.text(division)
        known = w.computed(Binary("floordiv", division.left, division.right))
        if known:
            text = f"lw_rest_{kind}({w.text(division.left)}, {w.text(division.right)}, {known})"
        name = w.fresh("lw_remainder" if division.op == "mod" else "lw_quotient", VALUE_TYPE[kind])
        w.line(f"const {VALUE_TYPE[kind]} {name} = {text};")
        w.function.computed = w.function.computed | {division: name}


def _forget(names: set[str], w: Writer) -> None:
    """Quotients and remainders of scalars and sizes that change."""
    if names and any(settled_by(one) & names for one in w.function.computed):
        w.function.computed = {one: name for one, name in w.function.computed.items() if not settled_by(one) & names}


def write(stmt: Stmt, w: Writer) -> None:
    """Write one statement."""
    if may_outline(stmt, w):
        write_outlined((stmt,), w, partial(_write, stmt, w))
    else:
        _write(stmt, w)


def _write(stmt: Stmt, w: Writer) -> None:
    match stmt:
        case Assign() if id(stmt) in w.decided.selected and (branch := branch_of(stmt)) is not None:
            _chosen(branch, w)
        case Assign():
            target = w.function.renamed.get(stmt.name) or w.use(w.names.of(stmt.name))
            match stmt.value:
                case Binary(op="and" | "or" | "xor" as op, left=Var(name=old)) if old == stmt.name and w.in_lanes:
                    w.line(f"{target} {_IN_PLACE[op]} {w.text(stmt.value.right)};")
                case _:
                    w.line(f"{target} = {w.text(stmt.value)};")
        case Store() | If() if id(stmt) in w.decided.selected and (store := _store_of(stmt, w)) is not None:
            _store_chosen(store, w)
        case If() if id(stmt) in w.decided.selected and (store := kept_element(stmt)) is not None:
            write_store(store, w)
        case Store():
            (w.write_store or partial(write_store, w=w))(stmt)
        case Allocate():
            (w.write_allocate or partial(_allocate, w=w))(stmt)
        case For():
            with w.around_loop(stmt):
                w.write_loop(stmt)
        case While() if counted_bits(stmt) is not None:
            _count_bits(stmt, w)
        case While():
            write_while(stmt, w, partial(write_body, stmt.body, w))
        case If() if (update := w.updated_where(stmt)) is not None:
            w.add(update)
        case If() if id(stmt) in w.decided.selected | w.choosing:
            _selected(stmt, w)
        case If() if id(stmt) in w.streams:
            write_compaction(stmt, w)
        case If() if (store := _levels_of(stmt, w)) is not None:
            write_store(store, w)
        case If() if w.in_lanes and count_of(stmt) is not None:
            _counted(stmt, w)
        case If():
            _if(stmt, w)
        case Block():
            _block(stmt, w)
        case Break():
            give_back(stmt, w)
            label = w.function.broken.get(stmt.loop)
            w.line("break;" if label is None else f"goto {label};")
        case Continue():
            w.line("continue;")
        case Leave():
            give_back(stmt, w)
            w.line(f"goto {w.names.of(stmt.block)};")
        case Return():
            _return(stmt, w)
        case _:
            assert_never(stmt)


def may_fail(body: Body, w: Writer) -> bool:
    """Whether the text of a body may leave it in the middle because of a failed check."""
    return w.given.may_fail(body, w.inside)


def write_store(stmt: Store, w: Writer) -> None:
    """Write one store."""
    if (update := w.updated(stmt)) is not None:
        w.add(update)
        return
    value = w.text(stmt.value)
    if w.may_fail(stmt) and not isinstance(stmt.value, Const):
        # The value comes first, as in Python; C would leave the order of the two sides open.
        with w.block():
            w.line(f"const {VALUE_TYPE[stmt.value.type.name]} lw_value = {value};")
            w.line(f"{w.element(stmt)} = lw_value;")
        return
    w.line(f"{w.element(stmt)} = {value};")
    if id(stmt) in w.decided.separated and not w.may_fail(stmt):
        w.line(f"LW_SEPARATE({w.element(stmt)});")


def _selected(stmt: If, w: Writer) -> None:
    if (flag := flag_of(stmt)) is not None:
        _set_flag(*flag, w.text(stmt.condition), w)
    elif (count := count_behind(stmt)) is not None:
        _count_behind(*count, w)
    elif (count_here := counted_in(stmt)) is not None:
        _count(count_here, stmt.condition, w)
    elif (update := update_of(stmt)) is not None:
        _update(stmt, *update, w)
    elif (level := level_of(stmt)) is not None:
        target = w.function.renamed.get(level[0]) or w.use(w.names.of(level[0]))
        w.line(f"{target} = {compared(level[1], w)};")
    elif chosen_in(stmt, SIMPLE_STEP) is not None:
        _chosen(stmt, w)
    elif (better := better_extreme(stmt)) is not None:
        _keep_better(better, w)
    else:
        _scalars_chosen(stmt, w)


def _set_flag(name: str, value: bool, condition: str, w: Writer) -> None:
    target = w.function.renamed.get(name) or w.use(w.names.of(name))
    w.line(f"{target} = {target} | ({condition});" if value else f"{target} = {target} & !({condition});")


def _count_behind(first: Expr, last: Compare, name: str, op: str, value: Expr, w: Writer) -> None:
    """A jump for what is asked first; what is asked last says of all bits of what is added whether they count."""
    with w.branch(w.text(first)):
        w.line(f"const int64_t lw_all_bits = -(int64_t)({w.text(last)});")
        target = w.function.renamed.get(name) or w.use(w.names.of(name))
        w.line(f"{target} = {target} {'+' if op == 'add' else '-'} ({w.text(value)} & lw_all_bits);")


def _count(count: tuple[str, str, Const], condition: Expr, w: Writer) -> None:
    name, op, value = count
    target = w.function.renamed.get(name) or w.use(w.names.of(name))
    term = "" if value.value == 1 else f"{w.text(value)} * "
    w.line(f"{target} = {target} {'+' if op == 'add' else '-'} {term}(int64_t)({w.text(condition)});")


def _update(stmt: If, name: str, op: str, value: Expr, w: Writer) -> None:
    with w.block():
        # First, so that a failure in it comes before one in what is added.
        w.line(f"const bool lw_holds = {w.text(stmt.condition)};")
        _add_where(name, op, value, "lw_holds", w)


def _add_where(name: str, op: str, value: Expr, holds: str, w: Writer) -> None:
    """Add to a scalar, or subtract from it, where a C condition holds."""
    target = w.function.renamed.get(name) or w.use(w.names.of(name))
    less = w.text(value if op == "sub" else Unary("neg", value))
    w.line(f"{target} = {target} - lw_selected_{value.type.name}({holds}, {less});")


def _chosen(stmt: If, w: Writer) -> None:
    choices = chosen_in(stmt, SIMPLE_STEP)
    assert choices is not None
    w.chooses = True
    with w.block():
        chosen = _condition_of_choices(stmt.condition, w)
        for number, (then, otherwise) in enumerate(choices.values()):
            w.line(f"const int64_t lw_next{number} = {chosen}, {w.text(then)}, {w.text(otherwise)});")
        for number, name in enumerate(choices):  # once all are there: one may read what another changes
            w.line(f"{w.function.renamed.get(name) or w.use(w.names.of(name))} = lw_next{number};")


def _keep_better(better: BetterExtreme, w: Writer) -> None:
    asked = better.asked
    w.chooses = True
    with w.block():
        chosen = _condition_of_choices(asked, w)
        for number, (name, value) in enumerate(better.kept.items()):
            old = w.function.renamed.get(name) or w.use(w.names.of(name))
            sides = {asked.right: "lw_other", asked.left: "lw_one"}
            new = sides.get(value) or w.text(value)
            if value.type.is_float:  # that one is the extreme itself
                holds = w.text(Compare(asked.op, *(_written(side, value, w) for side in ("lw_one", "lw_other"))))
                w.line(f"const {VALUE_TYPE[value.type.name]} lw_next{number} = {holds} ? {new} : {old};")
            else:
                w.line(f"const int64_t lw_next{number} = {chosen}, {new}, {old});")
        for number, name in enumerate(better.kept):
            w.line(f"{w.function.renamed.get(name) or w.use(w.names.of(name))} = lw_next{number};")


def _written(name: str, value: Expr, w: Writer) -> Var:
    """A C constant by its name, as an expression."""
    w.function.renamed[name] = name
    return Var(name, value.type)


def _scalars_chosen(stmt: If, w: Writer) -> None:
    choices = chosen_scalars(stmt)
    assert choices is not None
    w.chooses = True
    with w.block():
        asked = _asked_once(stmt.condition, w)
        for number, value in enumerate(choices.whole.values()):
            w.line(f"int64_t lw_next{number};")
            _choose(simplified(_with(value, stmt.condition, asked)), f"lw_next{number}", 0, w)
        for name, (op, term, holds) in choices.sums.items():
            if isinstance(asked, Compare) and asked.left.type == term.type:
                _add_compared(name, op, term, asked, holds, w)
            else:
                _add_where(name, op, term, w.text(asked if holds else Unary("not", asked)), w)
        for number, (better, path, values) in enumerate(choices.seldom):
            condition = _guarded(better, _with(path, stmt.condition, asked), values, number, w)
            with w.branch(f"LW_RARE({condition})"):
                for name, value in values.items():
                    w.line(f"{w.function.renamed.get(name) or w.use(w.names.of(name))} = {w.text(value)};")
        for number, name in enumerate(choices.whole):  # once all are there: one may read what another changes
            w.line(f"{w.function.renamed.get(name) or w.use(w.names.of(name))} = lw_next{number};")


def _guarded(better: Compare, path: Expr, values: Collection[str], number: int, w: Writer) -> str:
    """Whether a number is a better extreme and a condition before that holds: the C compiler would ask for the latter
    first, of which data decide, so that it becomes a number that is never better."""
    if better.left.type != INT64 or better.op not in ("lt", "gt"):
        return f"{w.text(better)} && {w.text(path)}"
    is_first = not (isinstance(better.left, Var) and better.left.name in values)
    new, never = (better.left if is_first else better.right), LEAST if (better.op == "gt") == is_first else GREATEST
    name = f"lw_better{number}"
    w.line(f"int64_t {name};")
    _choose(Select(path, new, never), name, 0, w)
    w.function.renamed[name] = name
    return w.text(replace(better, left=Var(name, INT64)) if is_first else replace(better, right=Var(name, INT64)))


def _asked_once(condition: Expr, w: Writer) -> Expr:
    """A condition for several choices, of constants behind the lines that compute them: its sides, or whether it
    holds."""
    match condition:
        case Compare(op=op, left=left, right=right) if _is_compared_at_once(op, left.type):
            return Compare(op, _constant("lw_left", left, w), _constant("lw_right", right, w))
        case _:
            return _constant("lw_branch", condition, w)


def _constant(name: str, value: Expr, w: Writer) -> Expr:
    if isinstance(value, Const):
        return value
    w.line(f"const {VALUE_TYPE[value.type.name]} {name} = {w.text(value)};")
    return _written(name, value, w)


def _add_compared(name: str, op: str, term: Expr, condition: Expr, holds: bool, w: Writer) -> None:
    """Add to a scalar what a comparison of floats chooses, in registers for vectors."""
    target, none = w.function.renamed.get(name) or w.use(w.names.of(name)), Const(0.0, term.type)
    less = term if op == "sub" else Unary("neg", term)
    choice = Select(condition, less, none) if holds else Select(condition, none, less)
    w.line(f"{target} = {target} - {compared(choice, w)};")


def _with(value: Expr, condition: Expr, asked: Expr) -> Expr:
    """A choice by a condition that is known."""
    return rewrite_expr(value, lambda one: asked if one == condition else one)


def _store_of(stmt: Stmt, w: Writer) -> Store | None:
    return chosen_store(stmt) if w.write_store is None and not w.in_lanes else None


def _levels_of(stmt: If, w: Writer) -> Store | None:
    store = store_of_levels(stmt) if w.write_store is None and not w.function.on_device else None
    return None if store is None or w.may_fail(store) else store


def _store_chosen(store: Store, w: Writer) -> None:
    w.chooses = True
    with w.block():
        w.line("int64_t lw_value;")
        _choose(store.value, "lw_value", 0, w)
        w.line(f"{w.element(store)} = lw_value;")


def _choose(value: Expr, target: str, depth: int, w: Writer) -> None:
    """Give a name one of several numbers, those that are asked for last first."""
    match value:
        case Binary(op="min" | "max" as op, left=Var() as old, right=Select() as new):
            with w.block():
                w.line(f"int64_t lw_new{depth};")
                _choose(new, f"lw_new{depth}", depth + 1, w)
                w.line(f"{target} = LW_{op.upper()}(int64_t, {w.text(old)}, lw_new{depth});")
        case Select(
            condition=condition, then=Binary(op="add", left=Var() as old, right=Const(value=1)), otherwise=same
        ) if old == same:
            w.line(f"{target} = {w.text(old)} + {w.text(condition)};")
        case Select(condition=condition, then=then, otherwise=otherwise):
            with w.block():
                first = _chosen_inside(then, f"lw_then{depth}", depth, w)
                w.line(f"int64_t lw_else{depth};")
                _choose(otherwise, f"lw_else{depth}", depth + 1, w)
                chosen = _condition_of_choices(condition, w)
                w.line(f"{target} = {chosen}, {first}, lw_else{depth});")
        case _:
            w.line(f"{target} = {w.text(value)};")


def _chosen_inside(value: Expr, name: str, depth: int, w: Writer) -> str:
    """C text of a number: the name of a choice, which is made before it; else as it stands."""
    if not isinstance(value, Select):
        return w.text(value)
    w.line(f"int64_t {name};")
    _choose(value, name, depth + 1, w)
    return name


def _condition_of_choices(condition: Expr, w: Writer) -> str:
    """What a call of lw_chosen begins with, behind lines that compute the condition or its sides."""
    match condition:
        case Compare(op="eq" | "ne" as op, left=left, right=Const(value=0)) if (bits := _bits_of(left)) is not None:
            w.line(f"const int64_t lw_one = {w.text(bits[0])};")
            w.line(f"const int64_t lw_other = {w.text(bits[1])};")
            return f"lw_chosen_{'no' if op == 'eq' else 'any'}_bits(lw_one, lw_other"
        case Compare(op=op, left=left, right=right) if _is_compared_at_once(op, left.type):
            kind = left.type.name if left.type.is_float else "int64"
            # In this order, so that what fails first fails first.
            w.line(f"const {VALUE_TYPE[kind]} lw_one = {w.text(left)};")
            w.line(f"const {VALUE_TYPE[kind]} lw_other = {w.text(right)};")
            return f"lw_chosen_{op}_{kind}(lw_one, lw_other"
        case _:
            w.line(f"const bool lw_holds = {w.text(condition)};")
            return "lw_chosen(lw_holds"


def _bits_of(number: Expr) -> tuple[Expr, Expr] | None:
    """Two whole numbers whose common bits a number has where it is not 0; None where that is not known."""
    match number:
        case Binary(op="and", left=left, right=right) if number.type == INT64:
            return left, right
        case Binary(op="mod", left=left, right=Const(value=int() as by)) if number.type == INT64 and by > 0:
            return (left, Const(by - 1, INT64)) if by & (by - 1) == 0 else None
        case _:
            return None


def _is_compared_at_once(op: str, kind: Scalar) -> bool:
    """Whether lw_chosen can compare itself: numbers that 64 bits hold, and floats in an order."""
    return op not in ("eq", "ne") if kind.is_float else kind == INT64 or (kind.is_integer and kind.bits < 64)


def _count_bits(loop: While, w: Writer) -> None:
    found = counted_bits(loop)
    assert found is not None
    number, count = ((w.function.renamed.get(one.name) or w.use(w.names.of(one.name))) for one in found)
    unsigned = f"uint{found[0].type.bits}_t"
    only_above = isinstance(loop.condition, Compare) and loop.condition.op == "gt" and found[0].type.kind == "int"
    bits = f"({number} > 0 ? {number} : 0)" if only_above else number
    ones = "LW_ONES_64" if w.function.on_device else "__builtin_popcountll"
    w.line(f"{count} = {count} + {ones}(({unsigned}){bits});")
    w.line(f"{number} = {f'{number} < 0 ? {number} : 0' if only_above else 0};")


def _counted(stmt: If, w: Writer) -> None:
    count = count_of(stmt)
    assert count is not None
    name, op, by = count
    target = w.function.renamed.get(name) or w.use(w.names.of(name))
    some, none = w.text(by), w.text(Const(0, by.type))
    w.line(f"{target} = {target} {'+' if op == 'add' else '-'} ({w.text(stmt.condition)} ? {some} : {none});")


def _if(stmt: If, w: Writer) -> None:
    condition = w.text(stmt.condition)
    if not w.function.on_device and (usual := _ruled_out_by(stmt.condition)) is not None:
        condition = f"!{w.text(usual)} && {condition}"
    with w.branch(condition):
        write_body(stmt.then, w)
    if stmt.otherwise:
        with w.otherwise():
            write_body(stmt.otherwise, w)


def _ruled_out_by(condition: Expr) -> Expr | None:
    """One comparison that rules out that a number is a better extreme, or a NaN: nearly all numbers need no other."""
    match condition:
        case Logical(
            op="or", left=Compare(op="gt" | "lt" as op, left=Var() as new, right=Var() as best),
            right=Logical(op="and", left=Compare(op="ne", left=Var() as one, right=Var() as other)),
        ) if one == other == new:  # fmt: skip
            return Compare("le" if op == "gt" else "ge", new, best)
        case _:
            return None


def _block(stmt: Block, w: Writer) -> None:
    with w.block():
        write_body(stmt.body, w)
    if any(isinstance(inner, Leave) and inner.block == stmt.name for inner in statements(stmt.body)):
        w.line(f"{w.names.of(stmt.name)}:;")


def _return(stmt: Return, w: Writer) -> None:
    for position, value in enumerate(stmt.values):
        slot = f"{w.use('returned')}[{position}]"
        match value.type.name:
            case "float64":
                w.line(f"{slot}.d = {w.text(value)};")
            case "float32":
                w.line(f"{slot}.f = {w.text(value)};")
            case _:
                w.line(f"{slot}.i = (int64_t){w.text(value)};")
    w.line("lw_status = 0;")
    w.leave()


MOST_RESERVED = RESERVED * 8 * 16
"""Bytes of addresses: a list of 16 numbers each."""


def _allocate(stmt: Allocate, w: Writer) -> None:
    array = w.arrays[stmt.array]
    constant = [size.value if isinstance(size, Const) else None for size in stmt.shape]
    elements = 1
    for size in constant:
        elements *= int(size) if size is not None and size >= 0 else STACK_BYTES + 1
    for identifier, expr in zip(array.sizes, stmt.shape, strict=True):
        if not identifier[0].isdigit():
            w.line(f"{w.declare(identifier)} = {w.text(expr)};")
    if elements * array.element.size_bytes <= STACK_BYTES and None not in constant:
        w.function.declared[array.pointer] = AlignedArray(array.memory_type, array.pointer, max(elements, 1), 64)
        count = str(elements)
    elif (room := _room_of(stmt, elements)) * array.element.size_bytes in range(1, MOST_RESERVED + 1):
        count = str(room)
        _reserve(stmt, room * array.element.size_bytes, w)
    else:
        count = _heap(stmt, w)
    if stmt.fill is not None:
        _fill(stmt.fill, w.use(array.pointer), array.memory_type, count, w)


def _room_of(stmt: Allocate, elements: int) -> int:
    """The elements of an array of which most are not used, or 0: a list, or one that has a row for each item of one."""
    if is_mostly_unused(stmt):
        return RESERVED
    sizes = [size.value for size in stmt.shape if isinstance(size, Const)]
    is_room = sizes.count(RESERVED) == 1 and len(sizes) == len(stmt.shape) and stmt.fill is None
    return elements if is_room else 0


def _reserve(stmt: Allocate, size_bytes: int, w: Writer) -> None:
    """Addresses for an array that is mostly used in part: see reserved.h."""
    w.use("failure")
    pointer = w.declare(w.arrays[stmt.array].pointer)
    w.reserved[pointer] = size_bytes
    if pointer not in w.function.buffers:
        w.function.buffers.append(pointer)
    w.line(f"{pointer} = lw_reserve({pointer});")
    w.fail(w.site("memory", stmt.array, 0, stmt.at), str(size_bytes // w.arrays[stmt.array].element.size_bytes),
           condition=f"!{pointer}")  # fmt: skip


def _heap(stmt: Allocate, w: Writer) -> str:
    """Make room on the heap, checking sizes; gives the C text of the number of elements."""
    array = w.arrays[stmt.array]
    w.use("failure")
    pointer = w.declare(array.pointer)
    capacity = w.fresh(f"lw_capacity_{pointer}", "int64_t")
    w.function.rooms[pointer] = w.declare(capacity)
    if pointer not in w.function.buffers:
        w.function.buffers.append(pointer)
    negative, memory = w.site("negative_size", stmt.array, 0, stmt.at), w.site("memory", stmt.array, 0, stmt.at)
    count = w.declare(w.fresh(f"lw_count_{pointer}", "int64_t"))
    w.line(f"{count} = 1;")
    for axis in array.sizes:
        w.fail(negative, axis, condition=f"{axis} < 0")
    # A product over 64 bits is no memory either; a size of 0 makes it 0 all the same.
    zero = " || ".join(f"{axis} == 0" for axis in array.sizes)
    overflow = " || ".join(f"__builtin_mul_overflow({count}, {axis}, &{count})" for axis in array.sizes)
    size = array.element.size_bytes
    w.only(zero, f"{count} = 0;")
    with w.otherwise():
        w.fail(memory, condition=f"{overflow} || {count} > (INT64_MAX / {size})")
    w.rooms = True
    w.line(f"{pointer} = lw_room({pointer}, &{capacity}, {count} * {size});")
    w.fail(memory, count, condition=f"!{pointer}")
    return count


def _fill(fill: Const, pointer: str, memory_type: str, count: str, w: Writer) -> None:
    if not fill.value and str(fill.value) != "-0.0":
        w.line(f"memset({pointer}, 0, (size_t)({count}) * sizeof({memory_type}));")
    else:
        value = literal(fill.value, fill.type)
        with w.loop(f"int64_t lw_i = 0; lw_i < {count}; ++lw_i"):
            w.line(f"{pointer}[lw_i] = {value};")
