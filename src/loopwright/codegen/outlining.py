"""Function outlining (J. Zhao and N. Amaral, Function outlining and partial inlining, 2005): nests of a large function
that become C functions of their own. A C compiler takes more than twice as long for a function of twice the size, and
NumPy's sorts and the like make functions of thousands of lines.

What is outlined is a loop or a branch that no jump leaves. Scalars that it sets and others need come back through
pointers to copies, so that the caller's variables stay in registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from loopwright.analysis.scalars import flow
from loopwright.codegen.decisions import CodegenInput, LoopLowering
from loopwright.codegen.function import Function, Writer
from loopwright.codegen.safepoints import countdown
from loopwright.ir.code import CodeLine
from loopwright.ir.nodes import Block, Body, For, If, Kernel, Stmt, While
from loopwright.ir.queries import (
    arrays_loaded,
    arrays_made,
    arrays_measured,
    arrays_stored,
    contains,
    escapes,
    names_assigned,
    names_read,
    size_of,
)
from loopwright.ir.walk import bodies, statements

LARGE = 1000
"""Nodes of a kernel from which a C compiler is slow: some five hundred lines of C."""
LEAST, MOST = 100, 400
"""Nodes of what is outlined: to call less is not worth it, more is cut up itself; inside of a loop, where less is worth
a call, from twice as many on."""


def outline_nests(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """The outermost nests of a large kernel that are not large themselves, outside of what threads share."""
    kernel = given.kernel
    if size_of(kernel.body) < LARGE:
        return lowering
    return replace(lowering, outlined=frozenset(map(id, _nests(kernel, kernel.body, lowering))))


def _nests(kernel: Kernel, body: Body, lowering: LoopLowering, repeated: bool = False) -> Iterator[Stmt | Body]:
    """Statements, and sides of branches. repeated: a loop is around the body."""
    for stmt in body:
        if size_of((stmt,)) < LEAST or (isinstance(stmt, For) and stmt.name in lowering.regions):
            continue
        if (not repeated or _takes_long(stmt)) and _may_stand_alone(kernel, (stmt,), repeated):
            yield stmt
            continue
        inside = repeated or isinstance(stmt, For | While)
        for part in bodies(stmt):
            smaller = list(_nests(kernel, part, lowering, inside))
            yield from smaller
            # The innermost branch that leads to a nest: most iterations do not come to it.
            is_side = repeated and not smaller and isinstance(stmt, If) and _has_nest(part)
            if is_side and _may_stand_alone(kernel, part, repeated):
                yield part


def _takes_long(stmt: Stmt) -> bool:
    """Whether a call is little beside a statement that another loop runs again and again: loops over numbers that
    stand in each other. `while` loops often end at once."""
    return isinstance(stmt, For) and contains(stmt.body, For) and not contains(stmt.body, While)


def _has_nest(body: Body) -> bool:
    """Whether one loop is around another in a body: where a branch leads to it, it takes time, or is rare."""
    return any(contains(loop.body, For, While) for loop in statements(body, For, While))


def _may_stand_alone(kernel: Kernel, body: Body, repeated: bool) -> bool:
    """Whether nothing leaves a body but at its end, its arrays are nobody else's, and it is neither small nor large."""
    if not LEAST <= size_of(body) <= (2 * MOST if repeated else MOST):
        return False
    if any(escapes(stmt) for stmt in body) or not contains(body, For, While):
        return False
    made = arrays_made(body)
    return not made or not made & _arrays_in(_beside(kernel.body, frozenset(map(id, body))))


def _arrays_in(body: Body) -> set[str]:
    return arrays_loaded(body) | arrays_stored(body) | arrays_measured(body) | arrays_made(body)


def _beside(body: Body, without: frozenset[int]) -> Body:
    """The statements of a body without some (by their identity); of those around these, their own expressions, and what
    else is in them."""
    found: list[Stmt] = []
    for one in body:
        if id(one) in without:
            continue
        if any(id(each) in without for part in bodies(one) for each in statements(part)):
            found.append(_hollow(one))
            for part in bodies(one):
                found += _beside(part, without)
        else:
            found.append(one)
    return tuple(found)


def _hollow(stmt: Stmt) -> Stmt:
    """A statement without those in it."""
    match stmt:
        case If():
            return replace(stmt, then=(), otherwise=())
        case For() | While() | Block():
            return replace(stmt, body=())
        case _:
            return stmt


# ---- text -------------------------------------------------------------------------------------------------------


def may_outline(nest: Stmt | Body, w: Writer) -> bool:
    """Whether a nest is to have a function of its own, and where it is written, names mean what they always do."""
    if id(nest) not in w.decided.outlined:
        return False
    body = nest if isinstance(nest, tuple) else (nest,)
    renamed = w.function.renamed.keys() & (names_read(body) | names_assigned(body))
    is_usual = w.changing is None and w.write_store is None and w.write_allocate is None
    return is_usual and not (renamed or w.function.replaced or w.streams or w.fitting)


def write_outlined(body: Body, w: Writer, write: Callable[[], None]) -> None:
    """Have `write` write a body into a function of its own, and write its call."""
    outer = w.function
    part = w.function = Function(w.names.fresh(f"lw_nest_{len(w.finished) + 1}"))
    shared, own = _scalars_of(body, w.kernel)
    for name in own:
        w.own(w.names.of(name))
    for name in shared:
        w.own(w.names.of(name))
        w.use(w.names.of(name))
    write()
    copies = dict(_shared(identifier, w) for identifier in map(w.names.of, shared))
    if "lw_due" in part.used:
        w.types["lw_due"] = "int64_t"
        copies |= [_shared("lw_due", w)]
    kept = {pointer: part.rooms.get(pointer) for pointer in part.buffers}
    for identifier in (one for room in kept.items() for one in room if one is not None):
        copies |= [_shared(identifier, w)]
    part.buffers = []
    part.ending = [CodeLine(f"*{pointer} = {identifier};") for pointer, identifier in copies.items()]
    w.finish(part)
    w.function = outer
    if "lw_due" in copies.values():
        countdown(w)
    for pointer, capacity in kept.items():
        if w.declare(pointer) not in outer.buffers:
            outer.buffers.append(pointer)
        if capacity is not None:
            outer.rooms[pointer] = w.declare(capacity)
    _write_call(part, copies, w)


def _shared(identifier: str, w: Writer) -> tuple[str, str]:
    """Have a variable of this function begin with the value of the caller's, which a pointer leads to; the pointer's
    name, and the variable's."""
    pointer, ctype = f"lw_at_{identifier}", w.types[identifier]
    w.types[pointer] = f"{ctype} *"
    w.function.declared[identifier] = CodeLine(f"{ctype} {identifier} = *{w.use(pointer)};")
    return pointer, identifier


def _write_call(part: Function, copies: Mapping[str, str], w: Writer) -> None:
    with w.block():
        for pointer, identifier in copies.items():
            w.line(f"{w.types[identifier]} {pointer} = {w.use(identifier)};")
        arguments = (f"&{one}" if one in copies else w.use(one) for one in part.parameters)
        w.line(f"const int lw_bad = {part.name}({', '.join(arguments)});")
        for pointer, identifier in copies.items():
            w.line(f"{identifier} = {pointer};")
        w.leave("lw_bad")


def _scalars_of(body: Body, kernel: Kernel) -> tuple[list[str], list[str]]:
    """The scalars that a body sets: those that others read, or itself before it has set them; and the others."""
    assigned = sorted(names_assigned(body))
    needed = names_read(_beside(kernel.body, frozenset(map(id, body)))) | flow(body).exposed
    return [name for name in assigned if name in needed], [name for name in assigned if name not in needed]
