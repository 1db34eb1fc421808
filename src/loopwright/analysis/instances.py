"""The instances of a kernel's statements as isl maps: which there are, in which order they run, what they touch.

A statement here is a leaf of the tree of regular loops: an assignment, or a whole `if`, `while` or irregular loop,
which steps leave in one piece. Its instances are points (x0, x1, ...), one number for each regular loop around it. It
refuses kernels whose arguments overlap in ways that the names do not show.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from loopwright.analysis import isl
from loopwright.analysis.affine import Affine, Formula, Symbol
from loopwright.analysis.dependence import Elements
from loopwright.analysis.reductions import NotAReduction, Update, is_exact_in_any_order, one_op, updates_of
from loopwright.analysis.scalars import Names, flow, scalars_of
from loopwright.analysis.sets import build, parameters, without
from loopwright.analysis.trace import LoopNote, Trace, escapes
from loopwright.ir.nodes import Allocate, Assign, Body, Checked, Dim, For, If, Load, Stmt, Store
from loopwright.ir.queries import has
from loopwright.ir.walk import bodies, own_expressions, statements, subexpressions

CONTROL = "<control>"
"""The place (no kernel has one of this name) that a jump out of a statement writes and everything reads: nothing may
move across such a statement."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One statement. `path`: positions in bodies and the loops between them, outermost first; `values`: what every
    name is worth there; `where`: the conditions of the `if`s that were opened around it."""

    number: int
    stmt: Stmt
    path: tuple[int | LoopNote, ...]
    values: Mapping[str, Affine]
    where: tuple[Formula, ...] = ()

    @property
    def loops(self) -> tuple[LoopNote, ...]:
        """The regular loops around it."""
        return tuple(part for part in self.path if isinstance(part, LoopNote))

    @property
    def space(self) -> str:
        """Its instances in isl's syntax."""
        return f"S{self.number}[{', '.join(f'x{k}' for k in range(len(self.loops)))}]"


def leaves_of(body: Body, notes: Trace, whole: Collection[int] | None = None) -> list[Leaf]:
    """The statements of a body in the order of the text; what stands around the body is the same for all of them. An
    `if` is one statement, unless `whole` is given: the identities of those that are; any other one is opened where its
    condition is known."""
    values: dict[int, list[dict[str, Affine]]] = {}
    for stmt, known in notes.values:
        values.setdefault(id(stmt), []).append(known)
    found: list[Leaf] = []

    def opened(stmt: Stmt) -> tuple[Formula, Formula] | None:
        if whole is None or id(stmt) in whole or not isinstance(stmt, If):
            return None
        known = notes.conditions[id(stmt)]
        if not known.exact or known.true is None or known.false is None or any(map(_is_unclear, known.true.symbols)):
            return None
        return known.true, known.false

    def visit(body: Body, path: tuple[int | LoopNote, ...], where: tuple[Formula, ...]) -> None:
        for position, stmt in enumerate(body):
            if isinstance(stmt, For) and is_regular(stmt, notes.loops[stmt.name]):
                values[id(stmt)].pop(0)
                visit(stmt.body, (*path, position, notes.loops[stmt.name]), where)
            elif isinstance(stmt, If) and (sides := opened(stmt)) is not None:
                values[id(stmt)].pop(0)
                visit(stmt.then, (*path, position), (*where, sides[0]))
                visit(stmt.otherwise, (*path, position), (*where, sides[1]))
            else:
                found.append(Leaf(len(found), stmt, (*path, position), values[id(stmt)].pop(0), where))
                for inner in statements(tuple(s for one in bodies(stmt) for s in one)):
                    values[id(inner)].pop(0)

    visit(body, (), ())
    return found


def is_regular(loop: For, note: LoopNote) -> bool:
    """Whether the iterations of a loop are known from sizes and outer loops alone, and none is left early."""
    forms = (note.lower, note.upper)
    reads = any(has(own, Load, Checked) for own in own_expressions(loop))
    unclear = any(_is_unclear(symbol) for form in forms for symbol in form.symbols)
    jumps = any(escapes(stmt) for stmt in loop.body)
    return note.step != 0 and not reads and not unclear and not jumps


def _is_unclear(symbol: Symbol) -> bool:
    return bool(symbol.birth) and (symbol.data or symbol.loose)


# ---- isl -------------------------------------------------------------------------------------------------------


def fixed_in(notes: Trace, stack: tuple[str, ...]) -> frozenset[str]:
    """The symbols that have one value within one iteration of these loops, outermost first, and do not follow from
    others: two kernels that say the same thing, one of them with a minimum, say it of the same symbols."""
    symbols = (s for s in notes.state.table.symbols if s.birth == stack[: len(s.birth)])
    return frozenset(s.name for s in symbols if s.role != "opaque" or s.loose)


def domain_of(leaf: Leaf, fixed: frozenset[str]) -> isl.Set:
    """The instances of a leaf."""
    formulas = [formula for note in leaf.loops for formula in note.domain]
    dims = [f"x{k}" for k in range(len(leaf.loops))]
    points = [Formula(f"{x} = {note.symbol.name}", (note.symbol,)) for x, note in zip(dims, leaf.loops, strict=True)]
    whole = build(formulas, dims, points)
    if not dims:
        whole = isl.Set("{ [] : }").intersect_params(whole)
    return without(whole, set(parameters(whole)) - fixed).set_tuple_name(f"S{leaf.number}")


def order_of(leaves: Sequence[Leaf], fixed: frozenset[str]) -> isl.UnionMap:
    """For every instance the point in time at which it runs, to be compared from left to right."""
    length = max((len(leaf.path) for leaf in leaves), default=0)
    total = isl.UnionMap("{ }")
    for leaf in leaves:
        times: list[str] = []
        for part in leaf.path:
            if isinstance(part, LoopNote):
                depth = sum(not t.lstrip("-").isdigit() for t in times)
                times.append(f"x{depth}" if part.step > 0 else f"-x{depth}")
            else:
                times.append(str(part))
        times += ["0"] * (length - len(times))
        when = isl.Map(f"{{ {leaf.space} -> [{', '.join(times)}] }}")
        total = total.union(isl.UnionMap.from_map(when.intersect_domain(domain_of(leaf, fixed))))
    return total


# ---- what is touched -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Touch:
    """The elements of one array (or the one value of a scalar) that the instances of a leaf touch. `group`: the
    operation of an update whose order does not matter, '' for any other access."""

    leaf: Leaf
    place: str
    map: isl.Map
    is_write: bool
    group: str


def touches_of(
    leaves: Sequence[Leaf], elements: Elements, nodes: Collection[int], fixed: frozenset[str], strict: bool
) -> dict[str, list[Touch]]:
    """Everything that leaves touch, by the name of the array or scalar. `nodes`: ids of the accesses in question."""
    found: dict[str, list[Touch]] = {}
    owners = {id(part): leaf for leaf in leaves for part in _parts(leaf.stmt)}
    updates = {id(node): update for leaf in leaves for update in _updates(leaf, elements.proof.notes, strict)
               for node in (update.stmt, *update.reads)}  # fmt: skip
    local = {stmt.array for leaf in leaves for stmt in statements((leaf.stmt,), Allocate)}
    arrays: dict[str, list[int]] = {}
    for access in elements.proof.notes.accesses:
        arrays.setdefault(access.array, []).append(access.number)
    for array, numbers in arrays.items():
        accesses = [elements.proof.notes.accesses[number] for number in numbers]
        accesses = [access for access in accesses if id(access.node) in nodes]
        if not accesses:
            continue
        layout = elements.layout(accesses)
        for access in accesses:
            leaf = owners.get(id(access.node))
            if leaf is None:
                continue  # a bound of a regular loop: it reads no array
            touched = _by_instance(elements.whole_of(access, layout), leaf, array, fixed)
            update = updates.get(id(access.node))
            group = "" if update is None else f"{array} {update.op}"
            found.setdefault(array, []).append(Touch(leaf, array, touched, access.is_write, group))
    for leaf in leaves:
        for touch in (*_scalars(leaf, strict), *_allocations(leaf, elements, nodes), *_sizes(leaf, local)):
            found.setdefault(touch.place, []).append(touch)
    _add_control(found, leaves)
    return found


def _parts(stmt: Stmt) -> Iterator[object]:
    for one in statements((stmt,)):
        yield one
        for own in own_expressions(one):
            yield from subexpressions(own)


def _by_instance(points: isl.Set, leaf: Leaf, array: str, fixed: frozenset[str]) -> isl.Map:
    """Elements with loop variables as parameters -> a map from instances to elements."""
    touched = isl.Map.from_range(points)
    for depth, note in enumerate(leaf.loops):
        position = touched.find_dim_by_name(isl.dim_type.param, note.symbol.name)
        if position < 0:
            touched = touched.insert_dims(isl.dim_type.in_, depth, 1)
        else:
            touched = touched.move_dims(isl.dim_type.in_, depth, isl.dim_type.param, position, 1)
    touched = without(touched, set(parameters(touched)) - fixed)
    return touched.set_tuple_name(isl.dim_type.in_, f"S{leaf.number}").set_tuple_name(
        isl.dim_type.out, _identifier(array)
    )


def _identifier(place: str) -> str:
    """A name for isl that no other place has: a user's name may hold any letter."""
    return "A_" + "".join(c if c.isascii() and c.isalnum() else f"_{ord(c)}_" for c in place)


def _scalar_map(leaf: Leaf, name: str) -> isl.Map:
    return isl.Map(f"{{ {leaf.space} -> {_identifier(name)}[] }}")


def _scalars(leaf: Leaf, strict: bool) -> Iterator[Touch]:
    written = {stmt.name: stmt for stmt in statements((leaf.stmt,), Assign)}
    group = {}
    if isinstance(leaf.stmt, Assign):
        with_type = leaf.stmt.value.type
        try:
            op = one_op(list(updates_of((leaf.stmt,), leaf.stmt.name, with_type)))
            if not strict or is_exact_in_any_order(op, with_type):
                group[leaf.stmt.name] = f"{leaf.stmt.name} {op}"
        except NotAReduction:
            pass
    bounds = {e.name for note in leaf.loops for own in own_expressions(note.loop) for e in subexpressions(own)
              if hasattr(e, "name")}  # fmt: skip
    loops = {note.loop.name for note in leaf.loops}
    for name in sorted((flow((leaf.stmt,)).exposed | bounds) - loops):
        yield Touch(leaf, name, _scalar_map(leaf, name), False, group.get(name, "") if name not in bounds else "")
    for name in written:
        yield Touch(leaf, name, _scalar_map(leaf, name), True, group.get(name, ""))


def _allocations(leaf: Leaf, elements: Elements, nodes: Collection[int]) -> Iterator[Touch]:
    """An Allocate writes every element of its array."""
    for stmt in statements((leaf.stmt,), Allocate):
        accesses = [access for access in elements.proof.notes.accesses if access.array == stmt.array]
        accesses = [access for access in accesses if id(access.node) in nodes]
        if accesses:
            some = elements.whole_of(accesses[0], elements.layout(accesses))
            every = f"{', '.join(f'e{k}' for k in range(some.dim(isl.dim_type.set)))}"
            where = isl.Map(f"{{ {leaf.space} -> {_identifier(stmt.array)}[{every}] }}")
            yield Touch(leaf, stmt.array, where, True, "")


SIZE = "size of "
"""Before the name of a local array: the place of its size, which each Allocate sets anew."""


def _sizes(leaf: Leaf, local: Collection[str]) -> Iterator[Touch]:
    """Where the size of a local array is set and asked for."""
    for stmt in statements((leaf.stmt,), Allocate):
        yield Touch(leaf, SIZE + stmt.array, _scalar_map(leaf, SIZE + stmt.array), True, "")
    bounds = [own for note in leaf.loops for own in own_expressions(note.loop)]
    inside = [own for stmt in statements((leaf.stmt,)) for own in own_expressions(stmt)]
    asked = {part.array for own in (*bounds, *inside) for part in subexpressions(own, Dim)}
    for array in sorted(asked & set(local)):
        yield Touch(leaf, SIZE + array, _scalar_map(leaf, SIZE + array), False, "")


def _add_control(found: dict[str, list[Touch]], leaves: Sequence[Leaf]) -> None:
    jumping = {leaf.number for leaf in leaves if escapes(leaf.stmt)}
    if jumping:
        found[CONTROL] = [
            Touch(leaf, CONTROL, _scalar_map(leaf, CONTROL), leaf.number in jumping, "") for leaf in leaves
        ]


def _updates(leaf: Leaf, notes: Trace, strict: bool) -> Iterator[Update]:
    if not isinstance(leaf.stmt, Store):
        return
    type_ = leaf.stmt.value.type
    for update in updates_of((leaf.stmt,), leaf.stmt.array, type_):
        if not strict or is_exact_in_any_order(update.op, type_):
            yield update


# ---- values that belong to one iteration -----------------------------------------------------------------------


def own_depth(touches: Sequence[Touch], live: Mapping[str, Names]) -> int:
    """The number of outer loops in whose iterations a scalar or local array has a value of its own each time: nothing
    of it passes from one such iteration to another."""
    common = touches[0].leaf.loops
    for touch in touches:
        length = 0
        for left, right in zip(common, touch.leaf.loops, strict=False):
            if left is not right:
                break
            length += 1
        common = common[:length]
    place = touches[0].place
    array = place.removeprefix(SIZE)
    for depth in range(len(common), 0, -1):
        loop = common[depth - 1].loop
        found = scalars_of(loop, live[loop.name])
        allocated = any(isinstance(s, Allocate) and s.array == array for s in loop.body)
        if allocated or (place in found.private and place not in found.last):
            return depth
    return 0
