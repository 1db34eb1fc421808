"""Elements that an iteration in lanes changes under conditions, in variables for as long as it takes:

    if v[i] > 1.0: v[i] = 0.0; spikes[i] += 1; count += 1
    ->
    v.e = v[i]; spikes.e = spikes[i]; count.e = 0
    if v.e > 1.0: v.e = 0.0; spikes.e += 1; count.e += 1
    v[i] = v.e; spikes[i] = spikes.e; count += count.e

The C compiler then chooses among registers. A store behind a condition is a masked one, and around several of these it
asks first whether any lane stores: a jump that the data decide.

What an iteration adds to partial results is added up apart, too, and put into them at its end, where numbers of several
widths meet and there is anything to choose. gcc has the partial results of lanes in memory until it makes vectors.
Where it takes apart what follows a condition, by how that came out, it masks what it loads and stores there, and of
several vectors at once gcc 12 does so wrongly. Nothing follows the end of an iteration.

To store an element as it was harms nobody where it is the iteration's own. It is, and inside its array, where the
iteration comes to it in any case. Where only conditions lead to it, nothing is proven where they are false: behind
`if m > 0`, an array may be empty if m is 0. Of such elements a test before the loop shows whether they are inside, and
the index itself has to show that no two iterations that threads may run at once have the same one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from loopwright.codegen.certain_accesses import certain_accesses
from loopwright.codegen.chosen_stores import store_of_levels
from loopwright.codegen.decisions import CodegenInput, HeldElements, LoopLowering, PartialResult
from loopwright.codegen.function import Writer
from loopwright.codegen.gathers import gathers
from loopwright.codegen.kept_elements import NARROW, keeps_elements
from loopwright.codegen.loop_versions import is_plain, is_short
from loopwright.codegen.partial_results import declare, named, put_into, standing_in, target_of
from loopwright.ir.code import Lanes
from loopwright.ir.linear import apart, linear
from loopwright.ir.nodes import (
    Assign,
    Binary,
    Body,
    Call,
    Checked,
    Compare,
    Const,
    Expr,
    For,
    If,
    Load,
    Logical,
    Select,
    Stmt,
    Store,
    Var,
)
from loopwright.ir.queries import contains, has, names_assigned, names_in
from loopwright.ir.types import BOOL, INT64
from loopwright.ir.walk import children, expressions, own_expressions, rewrite_expr, statements, subexpressions

Access = Load | Store
MOST_SELDOM = 4  # elements that are loaded and stored for nothing, where no condition holds
NEAR = 1 << 22  # bytes of their arrays: from farther away they come more slowly than a jump that is guessed wrong
SLOW = ("floordiv", "mod", "pow")  # what lanes do one after the other


def hold_elements(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Innermost loops in lanes that change several things under one condition."""
    found: dict[str, HeldElements] = {}
    for name, lanes in lowering.lanes.items():
        loop = given.loops[name]
        held = _held(loop, given) or HeldElements()
        if name not in lowering.narrow and is_plain(loop.body):
            apart = _has_choices(loop.body) and _mixes_widths(loop, lanes.partials)
            sums = (one for one in lanes.partials if apart or (held.elements and _is_counted_behind(one, loop)))
            held = replace(held, sums=tuple(one for one in sums if not one.reduction.by))
        if held.elements or held.sums:
            found[name] = held
    return replace(lowering, held=found)


def _has_choices(body: Body) -> bool:
    """Whether there is anything of which the C compiler may make a jump."""
    return contains(body, If) or any(True for _ in expressions(body, Select, Logical))


def _mixes_widths(loop: For, partials: Sequence[PartialResult]) -> bool:
    """Whether a register holds more numbers of some that a loop computes than of others, or than of its partial
    results: of these, lanes then have several registers."""
    waiting = [expr for stmt in statements(loop.body) for expr in own_expressions(stmt)]
    found = {one.scalar.size_bytes for one in partials}
    while waiting:
        part = waiting.pop()
        if not isinstance(part, Compare | Logical) and (part.type != BOOL or isinstance(part, Load)):
            found.add(part.type.size_bytes)
        waiting += () if isinstance(part, Load) else children(part)
    return len(found) > 1


def _is_counted_behind(one: PartialResult, loop: For) -> bool:
    """Whether conditions decide about what an iteration adds to a sum of whole numbers."""
    branches = tuple(stmt for stmt in loop.body if isinstance(stmt, If))
    return not one.scalar.is_float and any(_is_update(stmt, one) for stmt in statements(branches, Assign, Store))


def _is_update(stmt: Assign | Store, one: PartialResult) -> bool:
    if one.store is None:
        return isinstance(stmt, Assign) and stmt.name == one.reduction.target
    return isinstance(stmt, Store) and (stmt.array, stmt.index) == (one.store.array, one.store.index)


def _held(loop: For, given: CodegenInput) -> HeldElements | None:
    """The elements that a loop holds; None where it changes some that it cannot hold, or none that it has to."""
    if not is_plain(loop.body) or given.check_all or given.kernel.overlap or _takes_long(loop):
        return None
    kept = keeps_elements(loop, given)
    if not any(id(stmt) not in kept and _needs_masks(stmt) for stmt in loop.body) or loop.step != Const(1, INT64):
        return None
    branches = [stmt for stmt in loop.body if isinstance(stmt, If)]
    elements: list[Access] = []
    certain = {(one.array, one.index) for one in certain_accesses(loop.body)}
    for array in sorted({stmt.array for branch in branches for stmt in statements((branch,), Store)}):
        ones = _elements_of(array, loop, given)
        if ones is None:
            return None
        elements += ones
    tested = [one for one in elements if (one.array, one.index) not in certain]
    if tested and not _is_worth_tests(tested, branches, loop):
        return None
    if not all(_is_alone(one, loop, given) for one in tested):
        return None
    return HeldElements(tuple(elements), tuple(tested))


def _needs_masks(stmt: Stmt) -> bool:
    """Whether a condition decides about stores, and not only about which of two numbers is stored."""
    return isinstance(stmt, If) and store_of_levels(stmt) is None and contains((stmt,), Store)


def _takes_long(loop: For) -> bool:
    """Whether there is something in a loop that lanes do one after the other, or for nothing in a long time."""
    slow = any(part.op in SLOW for part in expressions(loop.body, Binary)) or any(expressions(loop.body, Call))
    return slow or any(True for _ in gathers(loop))


def _is_worth_tests(tested: list[Access], branches: list[If], loop: For) -> bool:
    """Whether data decide about elements: of what only counters say, jumps are guessed right."""
    changing = names_assigned(loop.body)
    conditions = [stmt.condition for stmt in statements(tuple(branches), If)]
    is_of_data = any(has(one, Load) or names_in(one) & changing for one in conditions)
    bounds = loop.lower, loop.upper  # which the tests read again
    stay = not any(has(one, Load, Checked, Call) or names_in(one) & changing for one in bounds)
    return is_of_data and stay and len(tested) <= MOST_SELDOM and not is_short(loop)


def _elements_of(array: str, loop: For, given: CodegenInput) -> list[Access] | None:
    """One access for each element of an array that a loop changes: each iteration has elements of its own, and knows
    them apart from one another, and from those that it only reads. None where that is not so."""
    text = given.arrays[array]
    if text.bytes or not text.aligned or array in given.facts.loops[loop.name].private:
        return None
    found: dict[tuple[Expr, ...], Access] = {}
    for one in (one for one in statements(loop.body, Store) if one.array == array):
        if not _is_own(one, loop, given) or not _are_apart(one.index, found):
            return None
        found.setdefault(one.index, one)
    for load in (load for load in expressions(loop.body, Load) if load.array == array):
        if load.index not in found and not (_is_there(load, given) and _are_apart(load.index, found)):
            return None
    return list(found.values())


def _are_apart(index: tuple[Expr, ...], others: Iterable[tuple[Expr, ...]]) -> bool:
    """Whether an element is none of others, but one that has the same index."""
    return all(index == other or any(map(apart, index, other)) for other in others)


def _is_there(load: Load, given: CodegenInput) -> bool:
    """Whether an element is proven to be inside its array, and is not counted from the end."""
    return all(bounds.kind == "proven" and not bounds.may_be_negative for bounds in given.bounds_of(load))


def _is_own(access: Access, loop: For, given: CodegenInput) -> bool:
    """Whether each iteration comes to another element, one that is the next one along an axis."""
    assigned = names_assigned(given.kernel.body)
    for axis, bounds in zip(access.index, given.bounds_of(access), strict=True):
        if bounds.may_be_negative or has(axis, Load, Select) or names_in(axis) & assigned:
            return False
    slopes = [linear(axis).coefficient(loop.name) for axis in access.index]
    return None not in slopes and slopes.count(1) == 1 and slopes.count(0) == len(slopes) - 1


def _is_alone(access: Access, loop: For, given: CodegenInput) -> bool:
    """Whether no other thread comes to an element, whatever conditions say. Each loop around whose iterations threads
    may share counts an axis, in the same way in all that it does with the array; or it does nothing else with it, and
    conditions are matters of data: whether iterations of that loop meet was then proven without them."""
    around = [
        one for one in statements(given.kernel.body, For)
        if one is not loop and any(inner is loop for inner in statements(one.body, For))
    ]  # fmt: skip
    names = {loop.name, *(one.name for one in around)}
    return all(
        one.run == "sequential"
        or _counts_an_axis(one, access, names)
        or (_is_all_that_it_does(one, access) and _is_by_data(loop, names, given))
        for one in around
    )


def _counts_an_axis(outer: For, access: Access, names: set[str]) -> bool:
    others = [one for one in _accesses(outer.body) if one.array == access.array]
    return any(
        names_in(axis) & names == {outer.name}
        and linear(axis).coefficient(outer.name)
        and all(one.index[at] == axis for one in others)
        for at, axis in enumerate(access.index)
    )


def _is_all_that_it_does(outer: For, access: Access) -> bool:
    return all(one.index == access.index for one in _accesses(outer.body) if one.array == access.array)


def _is_by_data(loop: For, names: set[str], given: CodegenInput) -> bool:
    """Whether all comparisons of a loop ask for elements that it goes along, and for no counter of a loop around it."""
    if any(one.asserted for one in given.loops.values()):
        return False
    counted = set(names)
    while more := {
        one.name for one in statements(given.kernel.body, Assign)
        if one.name not in counted and _outside_of_elements(one.value) & counted
    }:  # fmt: skip
        counted |= more
    return all(_asks_for_data(stmt.condition, loop, counted) for stmt in statements(loop.body, If))


def _asks_for_data(condition: Expr, loop: For, counted: set[str]) -> bool:
    match condition:
        case Logical(left=left, right=right):
            return _asks_for_data(left, loop, counted) and _asks_for_data(right, loop, counted)
        case Compare():
            moves = any(loop.name in names_in(load) for load in subexpressions(condition, Load))
            return moves and not _outside_of_elements(condition) & counted
        case _:
            return False


def _outside_of_elements(value: Expr) -> set[str]:
    """The names in an expression, but for those in indices."""
    if isinstance(value, Load):
        return set()
    return {value.name} if isinstance(value, Var) else set().union(*map(_outside_of_elements, children(value)))


def _accesses(body: Body) -> list[Access]:
    return [*statements(body, Store), *expressions(body, Load)]


# ---- text -------------------------------------------------------------------------------------------------------


def tests_of_held(loop: For, held: HeldElements, w: Writer) -> str:
    """C text of a condition under which a loop may hold what it holds."""
    tests = []
    for access in held.tested:
        for axis, index in enumerate(access.index):
            ends = (
                _at(index, loop, loop.lower),
                _at(index, loop, Binary("sub", loop.upper, Const(1, loop.upper.type))),
            )
            texts = ", ".join(map(w.text, ends))
            tests.append(f"lw_climbs({texts}, {w.size(access.array, axis)})")
    for access in held.tested:
        array = w.arrays[access.array]
        if array.element.size_bytes > NARROW:
            sizes = " * ".join(w.size(access.array, axis) for axis in range(array.rank))
            tests.append(f"{sizes} <= {NEAR // array.element.size_bytes}")
    return " && ".join(dict.fromkeys(tests))


def _at(index: Expr, loop: For, value: Expr) -> Expr:
    return rewrite_expr(index, lambda part: value if isinstance(part, Var) and part.name == loop.name else part)


def either_way(loop: For, lanes: Lanes | None, w: Writer) -> Iterator[bool]:
    """Whether the loop that is written for a value holds its elements: once, or where a test has to show that it may,
    once within the branch of either answer."""
    held = w.decided.held.get(loop.name)
    if lanes is None or w.function.on_device or held is None or not held.tested:
        yield True
    else:
        with w.branch(tests_of_held(loop, held, w)):
            yield True
        with w.otherwise():
            yield False


@contextmanager
def holding(loop: For, lanes: Lanes | None, w: Writer, holds: bool = True) -> Iterator[None]:
    """Within, what is written is the body of an iteration: in lanes one that holds its elements, or not, and adds what
    it adds at the end."""
    held = w.decided.held.get(loop.name) if lanes is not None and not w.function.on_device else None
    if held is None:
        yield
        return
    part, written = w.function, list[str]()
    before = part.replaced
    for access in held.elements if holds else ():
        array, element = w.arrays[access.array], w.element(access)
        name = w.fresh("lw_held", array.memory_type)
        w.line(f"{array.memory_type} {name} = {element};")
        part.replaced = part.replaced | {(access.array, access.index): name}
        written.append(f"{element} = {name};")
    sums = named(held.sums, w)
    declare(sums, loop, w)
    with standing_in(sums, w):
        yield
    part.replaced = before
    for line in written:
        w.line(line)
    for one in sums:
        put_into(target_of(one, w), one, w)
