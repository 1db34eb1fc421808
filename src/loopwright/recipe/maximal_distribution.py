"""Products that share their loops with other statements: several sums in one nest, a product beside the norm of a row,
both halves of a symmetric product. Each gets a nest of its own (loop distribution; Allen and Kennedy 2001, 2.5), where
scalars that tie it to the rest are put where they are read, or get an element for each iteration.

That moves data to memory and back which was in registers, so it is done only where blocks of registers are gained, and
only for products: all other statements stay together as far as they can.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from loopwright.analysis.scalars import live_after, scalars_of
from loopwright.analysis.strides import FAR
from loopwright.ir.nodes import Assign, Binary, Call, Expr, For, Load, Select, Store, Var
from loopwright.ir.queries import arrays_loaded, arrays_stored, has, names_in, names_read, size_of
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import statements, subexpressions
from loopwright.recipe.distribution import isolate
from loopwright.recipe.grid_products import is_dear
from loopwright.recipe.partial_schedule import Chain, NotTaken, PartialSchedule, whole
from loopwright.recipe.register_blocking import MOST_AROUND, Roles, Strides, roles_among, wanted
from loopwright.recipe.shape import MOST_ELEMENTS, MOST_TRIPS
from loopwright.steps.demote import Demote, ends_plainly
from loopwright.steps.distribute import Distribute
from loopwright.steps.expand import Expand
from loopwright.steps.extent import trip_of
from loopwright.steps.forward import Forward
from loopwright.steps.specialize import LARGE, TIMES, Specialize


@dataclass(frozen=True, slots=True)
class SharedProduct:
    """A sum that could be blocked if it stood alone. target: its array, or scalar; over: of a scalar, the loops for
    each of whose iterations it gets an element; inner: the innermost loop around it; reads: the arrays that it is made
    of."""

    target: str
    over: tuple[str, ...]
    inner: str
    reads: frozenset[str]


def products_apart(partial: PartialSchedule, together: bool = False) -> None:
    """Give products nests of their own where they are not found as they stand. together: only those that share their
    innermost loop with another one."""
    before = partial.kernel
    for outer in dict.fromkeys(chain[0].name for chain in partial.chains() if len(chain) > 2):
        with partial.together(), partial.by_default():
            _apart(partial, outer, together=together)
    if partial.kernel is not before:
        partial.begin_again()  # what was one loop is several, each with an order of its own


def products_in_totals(partial: PartialSchedule) -> None:
    """The same of sums that all go into one number, as the products of all channels with one another do: in a version
    for calls in which an element for each sum takes little memory."""
    before = partial.kernel
    for outer in dict.fromkeys(chain[0].name for chain in partial.chains() if len(chain) > 2):
        with partial.together(), partial.by_default():
            _where_few(partial, outer)
    if partial.kernel is not before:
        partial.begin_again()


def _where_few(partial: PartialSchedule, outer: str) -> None:
    """Raises NotTaken where nothing is gained."""
    over = dict.fromkeys(one.over for one in _products(partial, outer, limited=False) if one.over)
    if len(over) != 1 or any(_products(partial, outer)):
        raise NotTaken
    (names,) = over
    there = {loop.name: loop for chain in partial.chains() for loop in chain}
    if any(partial.verdict(there[name]) != "reduction" for name in names):
        raise NotTaken
    why = f"with few '{user_name(names[-1])}' in all, each sum may have an element in memory"
    copies = whole(partial, Specialize((TIMES.join(names),), LARGE, MOST_ELEMENTS, outer), why)
    if outer not in copies:
        raise NotTaken
    partial.begin_again()
    _apart(partial, copies[outer], limited=False)


def _apart(partial: PartialSchedule, outer: str, limited: bool = True, together: bool = False) -> None:
    """Raises NotTaken where nothing is gained."""
    products = list(_products(partial, outer, limited))
    if together:
        inner = Counter(one.inner for one in products if not _is_dear(partial, one))
        products = [one for one in products if inner[one.inner] > 1]
        if any(len(one.reads) > 2 for one in products):  # apart, each would read again what they share, and more of it
            raise NotTaken
        if len(inner) != 1:
            raise NotTaken
    hidden = [one for one in products if not _is_found(partial, one)]
    if not hidden:
        raise NotTaken
    before = partial.kernel
    for one in hidden:
        _untied(partial, one)
    if partial.kernel is not before:
        hidden = [one for one in _products(partial, outer, limited) if not _is_found(partial, one)]
    if not hidden:
        return
    names = " and ".join(f"'{user_name(name)}'" for name in dict.fromkeys(one.target for one in hidden))
    why = f"{names}: a product in a nest of its own can stay in registers block by block"
    targets: list[str] = []
    for one in hidden:
        targets.append(_in_elements(partial, one, why) if one.over else one.target)
    partial.take(Distribute(outer, tuple(dict.fromkeys(targets))), why)
    partial.begin_again()
    if not any(_is_alone(partial, one) for one in _all_products(partial, limited) if one.target in targets):
        raise NotTaken


def _is_dear(partial: PartialSchedule, product: SharedProduct) -> bool:
    return is_dear(partial.around(product.inner)[-1])


def _in_elements(partial: PartialSchedule, product: SharedProduct, why: str) -> str:
    """Give a sum in a scalar elements: those of the array that it ends up in, or its own. The name of their array."""
    if ends_plainly(partial.kernel, product.target):
        step = Demote(product.target)
        if partial.allows(step):
            stores = statements(partial.kernel.body, Store)
            array = next(one.array for one in stores if product.target in names_in(one.value))
            partial.take(step, why)
            return array
    before = arrays_stored(partial.kernel.body)
    partial.take(Expand(product.target, product.over), why, anew=True)
    (array,) = arrays_stored(partial.kernel.body) - before
    return array


def _untied(partial: PartialSchedule, product: SharedProduct) -> None:
    """Put what scalars that a product uses are set to where they are read, or give them elements too."""
    done: set[str] = set()
    while (stmt := next((one for one in _used(partial, product) if one.name not in done), None)) is not None:
        done.add(stmt.name)
        name = user_name(stmt.name)
        if _is_cheap(stmt.value):
            with partial.together():
                why = f"'{name}' is computed where it is read: it ties nothing together then"
                partial.take(Forward(stmt.name), why, anew=True)
                continue
        with partial.together():
            over = _free_of(partial, partial.around(product.inner), stmt.name)
            if not over:
                raise NotTaken
            why = f"with an element for each iteration, '{name}' ties nothing together"
            partial.take(Expand(stmt.name, over), why, anew=True)


def _used(partial: PartialSchedule, product: SharedProduct) -> Iterator[Assign]:
    """Where the scalars are set that the innermost loop of a product reads, but for sums."""
    chain = partial.around(product.inner)
    read = names_read(chain[-1].body) - {product.target}
    times = Counter(stmt.name for stmt in statements(chain[0].body, Assign))
    for stmt in (stmt for loop in chain for stmt in loop.body if isinstance(stmt, Assign)):
        if stmt.name in read and times[stmt.name] == 1 and stmt.value.type.is_float:
            yield stmt


def _is_cheap(value: Expr) -> bool:
    """Whether to compute it again costs no more than to load it."""
    return not has(value, Call, Select) and all(part.op != "truediv" for part in subexpressions(value, Binary))


def _is_found(partial: PartialSchedule, product: SharedProduct) -> bool:
    """Whether its nest can be blocked without further ado."""
    found: list[bool] = []
    with partial.together():
        chain = partial.around(product.inner)
        roles = wanted(partial, chain)
        names = [loop.name for loop in chain]
        outer = names[min(names.index(name) for name in (roles.rows, roles.vector, *roles.depths))]
        if any(isinstance(stmt, Assign) for loop in partial.around(product.inner)[:-1] for stmt in loop.body):
            isolate(partial, product.inner, outer, "")
        found.append(roles.target == product.target or bool(product.over))
        raise NotTaken("only asked")
    return bool(found and found[0])


def _is_alone(partial: PartialSchedule, product: SharedProduct) -> bool:
    """Whether nothing else stands in the loops of a product."""
    chain = partial.around(product.inner)
    return all(len(loop.body) == 1 for loop in chain[-3:-1]) and _is_found(partial, product)


def _all_products(partial: PartialSchedule, limited: bool) -> Iterator[SharedProduct]:
    for outer in dict.fromkeys(chain[0].name for chain in partial.chains() if len(chain) > 2):
        yield from _products(partial, outer, limited)


def _products(partial: PartialSchedule, outer: str, limited: bool = True) -> Iterator[SharedProduct]:
    for chain in partial.chains():
        if chain[0].name == outer and len(chain) > 2 and size_of(chain[0].body) <= MOST_AROUND:
            later = _made_of(chain[0])
            yield from (one for one in _products_in(partial, chain, limited) if one.reads.isdisjoint(later[one.target]))


def _made_of(nest: For) -> dict[str, set[str]]:
    """For each array and scalar that a nest sets, by name, all others that come of it. What a product is made of may
    not be among them: then the two need one another in turn."""
    made: dict[str, set[str]] = {}
    for stmt in statements(nest.body, Assign, Store):
        name = stmt.name if isinstance(stmt, Assign) else stmt.array
        made.setdefault(name, set())
        for used in (*names_read((stmt,)), *arrays_loaded((stmt,))):
            made.setdefault(used, set()).add(name)
    for name, found in made.items():
        waiting = [*found]
        while waiting:
            found |= (new := made[waiting.pop()] - found)
            waiting += new
        found.discard(name)
    return made


def _products_in(partial: PartialSchedule, chain: Chain, limited: bool) -> Iterator[SharedProduct]:
    inside = list(statements(chain[-1].body))
    if not all(isinstance(stmt, Assign | Store) for stmt in inside):
        return
    temporaries = {stmt.name: stmt.value for loop in chain for stmt in loop.body
                   if isinstance(stmt, Assign) and stmt.name not in names_in(stmt.value)}  # fmt: skip
    still = {loop.name: 0 for loop in chain}
    sums = [stmt for stmt in inside if isinstance(stmt, Assign | Store) and _is_sum(stmt)]
    found: list[SharedProduct] = []
    for stmt in sums:
        accesses = [replace(walk, strides={**still, **walk.strides}) for walk in partial.walks()
                    if walk.stmt is stmt or _sets(walk.stmt, stmt, temporaries)]  # fmt: skip
        over: tuple[str, ...] = ()
        if isinstance(stmt, Store):
            name = stmt.array
            mine = [walk.strides for walk in accesses if walk.array == name and walk.node.index == stmt.index]
            operands = [walk for walk in accesses if walk.array != name]
        else:
            name, over, operands = stmt.name, _free_of(partial, chain, stmt.name, limited), accesses
            mine = [_strides(chain, over)]
        named = name, stmt.value.type.size_bytes
        roles = roles_among(chain, mine, operands, named, own=not limited) if len(operands) > 1 else None
        if roles is not None and not _is_short(chain, roles):
            found.append(SharedProduct(name, over, chain[-1].name, frozenset(walk.array for walk in operands)))
    if 2 * len(found) >= len(sums):  # else what is left takes as long as before, and what ties them costs more
        yield from found


def _is_short(chain: Chain, roles: Roles) -> bool:
    """Whether one of the loops of a product has a known small number of iterations."""
    used = (roles.rows, roles.vector, roles.depth)
    return any((trip_of(loop) or MOST_TRIPS + 1) <= MOST_TRIPS for loop in chain if loop.name in used)


def _sets(stmt: object, user: Assign | Store, temporaries: Mapping[str, Expr]) -> bool:
    """Whether a statement sets a scalar that another one reads and that is nothing but a name for a value."""
    return isinstance(stmt, Assign) and temporaries.get(stmt.name) is stmt.value and stmt.name in names_read((user,))


def _is_sum(stmt: Assign | Store) -> bool:
    """Whether a statement adds to what it sets."""
    match stmt.value:
        case Binary(op="add" | "sub", left=left, right=right):
            sides = (left, right) if stmt.value.op == "add" else (left,)
            while any(isinstance(side, Binary) and side.op in ("add", "sub") for side in sides[:1]):
                first = sides[0]
                assert isinstance(first, Binary)
                sides = (first.left, *sides[1:], *((first.right,) if first.op == "add" else ()))
            return any(_is_target(side, stmt) for side in sides)
    return False


def _is_target(expr: Expr, stmt: Assign | Store) -> bool:
    match expr, stmt:
        case Var(name=name), Assign():
            return name == stmt.name
        case Load(array=array, index=index), Store():
            return (array, index) == (stmt.array, stmt.index)
    return False


def _free_of(partial: PartialSchedule, chain: Chain, name: str, limited: bool = True) -> tuple[str, ...]:
    """The loops, two at least, for each of whose iterations a scalar can have an element, in an array no larger than
    one that the nest goes through already, if that is the limit."""
    live = live_after(partial.kernel)
    at = 0
    for place, loop in enumerate(chain[:-1]):
        kinds = scalars_of(loop, live[loop.name])
        if name in kinds.private and name not in kinds.last:
            at = place + 1
    free = [loop.name for loop in chain[:at]]
    if not limited:
        return tuple(free) if len(free) > 1 else ()
    inside = [walk for walk in partial.walks() if chain[0].name in walk.strides]
    largest = 0
    for walk in inside:
        plain = {index.name for index in walk.node.index if isinstance(index, Var)}
        length = next((count for count in range(len(free), 0, -1) if set(free[-count:]) <= plain), 0)
        largest = max(largest, length)
    return tuple(free[-largest:]) if largest > 1 else ()


def _strides(chain: Chain, over: tuple[str, ...]) -> Strides:
    """How the elements of a scalar move that has one for each iteration of some loops."""
    return {loop.name: 0 if loop.name not in over else 1 if loop.name == over[-1] else FAR for loop in chain}
