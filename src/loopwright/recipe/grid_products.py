"""Products of matrices, and what is like them, for the default recipe of a GPU: nests that add to the same elements
over and over (grid_tiles.py has their tiles). Batches of them, triangles, and sums over several loops (convolutions
over channels) are among them."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile

from loopwright.ir.nodes import Binary, Call, Const, Expr, For, Run
from loopwright.ir.queries import names_in
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import expressions, statements
from loopwright.recipe.bounding_boxes import unbound
from loopwright.recipe.distribution import isolate
from loopwright.recipe.grid_parts import LEAST, TINY, short_sides, wide_windows
from loopwright.recipe.grid_tiles import BLOCKS, Bound, contraction, usual_tile
from loopwright.recipe.interchange import depends
from loopwright.recipe.partial_schedule import Chain, NotTaken, PartialSchedule
from loopwright.recipe.register_blocking import Roles, roles_of
from loopwright.recipe.scalar_expansion import tying
from loopwright.steps.bind import Bind
from loopwright.steps.demote import Demote, ends_plainly
from loopwright.steps.expand import Expand
from loopwright.steps.extent import trip_of
from loopwright.steps.reorder import Reorder


def contracted(partial: PartialSchedule, chain: Chain, free: list[For]) -> list[Bound]:
    """A nest that adds to the same elements again and again, or to a scalar for each of them. Where each term takes a
    division or a function, what it is made of costs nothing beside that, and to write it out for all sums of a thread
    would keep the compiler busy for a minute."""
    if is_dear(chain[-1]):
        raise NotTaken
    asked: list[Roles] = []
    with partial.together():
        asked.append(_roles(partial, chain, free)[0])
        raise NotTaken("only asked")
    if not asked:
        raise NotTaken
    if len(asked[0].depths) > 1:
        wide_windows(partial, chain, asked[0])
    elif any(partial.verdict(loop) == "sequential" for loop in chain if loop.name == asked[0].depth):
        short_sides(partial, chain, asked[0])
    chain, written = partial.around(chain[-1].name), partial.kernel
    parallel = {loop.name for loop in free}
    roles, chain = _roles(partial, chain, [loop for loop in chain if loop.name in parallel])
    if _is_tiny(chain, roles):
        raise NotTaken
    if partial.kernel is not written:  # there are elements in place of scalars: new facts take longer than all before
        partial.begin_again()
    usual = usual_tile(partial, roles, chain[-1])
    places = [loop.name for loop in chain]
    mine = [roles.rows, *roles.depths, roles.vector]
    first = min(map(places.index, mine))
    between = [name for name in places[first:] if name not in mine]
    is_window = len(roles.depths) > 1
    if len(between) > (1 if is_window else 2) or not parallel.issuperset(between):
        raise NotTaken
    batch = list(takewhile(parallel.__contains__, reversed(places[:first])))[: 2 - len(between)][::-1]
    band = isolate(partial, chain[-1].name, places[first - len(batch)], why_along(partial, chain[-1]))
    if len(band) != len(places) - first + len(batch):
        raise NotTaken
    names = dict(zip(places[-len(band) :], band, strict=True))
    if between:
        order = [*between, *(name for name in places[first:] if name in mine)]
        partial.take(Reorder(tuple(names[name] for name in order)), "tiles are of what operands have in common")
        band, batch = (*band[: len(batch)], *(names[name] for name in order)), [*batch, *between]
    depths = tuple(names[name] for name in roles.depths)
    roles = replace(roles, rows=names[roles.rows], depths=depths, vector=names[roles.vector])
    why = f"every '{user_name(batch[0])}' has a product of its own" if batch else ""
    rest = _square(partial, band[-len(mine) :], roles)
    whole_rows = is_window and len(batch) > 1
    axes: tuple[Run, ...] = ("block.z", "block.y" if whole_rows else "block.z")
    around: list[Bound] = [(Bind(names[one], axis), why) for one, axis in zip(batch, axes, strict=False)]
    return [*around, *contraction(partial, rest, roles, usual, whole_rows)]


def _is_tiny(chain: Chain, roles: Roles) -> bool:
    """Whether most of a tile would be empty, and little is added up: a thread for each sum then."""
    trips = {loop.name: trip_of(loop) for loop in chain}
    sides = [trips[roles.rows], trips[roles.vector]]
    return any(trip is not None and trip < TINY for trip in sides) and (trips[roles.depth] or LEAST) < LEAST


def _roles(partial: PartialSchedule, chain: Chain, free: list[For]) -> tuple[Roles, Chain]:
    """What the loops of a product do, and these, with sums in elements of arrays. Raises NotTaken where it is none."""
    roles = roles_of(partial, chain, own=True)
    if roles is None and len(chain) > 2 and (scalars := tying(partial, chain[-1])):
        chain = _in_elements(partial, chain, free, scalars)
        roles = roles_of(partial, chain, own=True)
    if roles is None or roles.element_bytes not in BLOCKS or partial.short & {roles.rows, roles.vector}:
        raise NotTaken
    if not {roles.rows, roles.vector} <= {loop.name for loop in free}:
        raise NotTaken
    return (_deepest(partial, chain, roles) if len(roles.depths) > 1 else roles), chain


def _deepest(partial: PartialSchedule, chain: Chain, roles: Roles) -> Roles:
    """The same with that loop of depth as the last one, and so in tiles, which is probably long: over channels, not a
    window, whose variable is added to another one. Raises NotTaken."""
    inside = {id(stmt) for stmt in statements(chain[-1].body)}
    names = {loop.name for loop in chain}
    indices = [axis for walk in partial.walks() if id(walk.stmt) in inside for axis in walk.node.index]
    added = [found for axis in indices if len(found := names_in(axis) & names) > 1]
    depth = next((name for name in reversed(roles.depths) if not any(name in found for found in added)), None)
    loops = [loop for loop in chain if loop.name in (roles.rows, roles.vector, *roles.depths)]
    if depth is None or (roles.across and depth != roles.depth):
        raise NotTaken
    if any(depends(loop, other.name) for loop in loops for other in loops):
        raise NotTaken
    return replace(roles, depths=(*(name for name in roles.depths if name != depth), depth))


def _square(partial: PartialSchedule, band: tuple[str, ...], roles: Roles) -> tuple[str, ...]:
    """The loops of a contraction in a triangle of its target, made those of a square with a test inside: blocks that
    lie in the triangle run as all others do. The order of the loops then."""
    ends = {roles.rows: roles.vector, roles.vector: roles.rows}
    loops = {loop.name: loop for loop in partial.around(band[-1]) if loop.name in band}
    inner = next((name for name, outer in ends.items() if depends(loops[name], outer)), None)
    if inner is None:
        return band
    order = (ends[inner], roles.depth, inner)
    if band != order:
        partial.take(Reorder(order), f"the length of a '{user_name(inner)}' loop depends on '{user_name(ends[inner])}'")
    unbound(partial, [loop for loop in partial.around(inner) if loop.name in order])
    return order


def is_dear(loop: For) -> bool:
    """Whether each term of a sum takes a function, or an operation that is as long as one."""
    return any(isinstance(part, Call) or is_long(part) for part in expressions(loop.body))


def is_long(expr: Expr) -> bool:
    """Whether an operation is some twenty instructions long; squares and cubes are products."""
    match expr:
        case Binary(op="pow", right=Const(value=exponent)):
            return exponent not in (2, 3)
        case Binary():
            return expr.op in ("truediv", "floordiv", "mod", "pow")
    return False


def _in_elements(partial: PartialSchedule, chain: Chain, free: list[For], scalars: list[str]) -> Chain:
    """The nest with elements of arrays in place of scalars that add up; raises NotTaken."""
    inner = chain[-1].name
    run = [loop.name for loop in perfect_run(chain, free)]
    inside = chain[1 + [loop.name for loop in chain].index(run[-1]) :]
    if len(run) < 2 or not inside or any(loop in free for loop in inside):
        raise NotTaken
    words = " and ".join(f"'{user_name(name)}'" for name in run)
    for name in scalars:
        why = f"'{user_name(name)}' adds up an element for each {words}: in an array these can be worked on in blocks"
        kernel = partial.kernel
        with partial.together():
            if not ends_plainly(kernel, name):
                raise NotTaken
            partial.take(Demote(name), why)
        if partial.kernel is kernel:
            partial.take(Expand(name, tuple(run)), why)
    return partial.around(inner)


def perfect_run(chain: Chain, free: list[For]) -> list[For]:
    """The parallel loops from the first one on, as long as each holds nothing but the next."""
    found = [free[0]]
    while len(found[-1].body) == 1 and found[-1] is not chain[-1]:
        below = chain[chain.index(found[-1]) + 1]
        if below not in free:
            break
        found.append(below)
    return found


def why_along(partial: PartialSchedule, x: For) -> str:
    """The reason for threads along a loop."""
    return f"iterations are independent, and neighbours of '{user_name(x.name)}' touch neighbouring elements"
