"""Which loops exchange the arrays of names: `u, v = v, u` once in each iteration, and which names do nothing else.

From syntax and variables alone; renaming.py writes such loops."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass

from loopwright.frontend.context import Frame
from loopwright.frontend.rewritten import own_jumps, permutation
from loopwright.frontend.scopes import own_nodes
from loopwright.frontend.webs import Webs

_MOST_ORDERS = 6
_MOST_NAMES = 8


@dataclass(frozen=True, slots=True)
class NameExchange:
    """place: of the statement that permutes names in the body of a loop. jumps: the loop has a `break`, or a `continue`
    behind that statement."""

    place: int
    targets: list[ast.Name]
    values: list[ast.Name]
    jumps: bool

    def webs(self, webs: Webs) -> list[int]:
        """The numbers of the variables that change names; none where one gets what is another variable of a name."""
        left = [webs.stores[id(target)].number for target in self.targets if id(target) in webs.stores]
        right = [webs.loads[id(value)].number for value in self.values if id(value) in webs.loads]
        return left if len(left) == len(self.targets) and sorted(left) == sorted(right) else []


def exchange_in(node: ast.For | ast.While) -> NameExchange | None:
    """The one permutation of names that each iteration of a loop comes to, unless it is the last one."""
    if node.orelse:
        return None
    for place, statement in enumerate(node.body):
        found = permutation(statement)
        if found is None or len(found[0]) > _MOST_NAMES:
            continue
        if any(isinstance(part, ast.Return | ast.Yield) for part in ast.walk(node)):
            return None
        names = [one for one in ast.walk(statement) if isinstance(one, ast.Name)]
        targets = [one for one in names if isinstance(one.ctx, ast.Store)]
        values = [one for one in names if isinstance(one.ctx, ast.Load)]
        before = own_jumps(ast.Module(node.body[:place], []))
        if any(isinstance(jump, ast.Continue) for jump in before):
            return None  # the number of the iteration would not tell what the names stand for
        return NameExchange(place, targets, values, any(own_jumps(node))) if period_of(*found) <= _MOST_ORDERS else None
    return None


def period_of(names: list[str], values: list[str]) -> int:
    """After how many permutations all is as it was."""
    order = [names.index(value) for value in values]
    period, reached = 1, order
    while reached != [*range(len(names))]:
        reached = [reached[place] for place in order]
        period += 1
    return period


def renamed_only(frame: Frame) -> frozenset[int]:
    """The numbers of the webs that get a value once, and then only change names in loops with others of which this is
    true: they stand for their arrays themselves, which no assignment copies."""
    webs = {web.number: web for web in frame.webs.stores.values()}
    inner = {web.number for free in frame.webs.free.values() for web in free.values()}  # what functions inside read
    swapped = [numbers for exchange in _exchanges(frame.tree) if (numbers := exchange.webs(frame.webs))]
    while True:
        count = Counter(number for numbers in swapped for number in numbers)
        good = {n for n, swaps in count.items() if webs[n].definitions == swaps + 1 and webs[n].certain} - inner
        kept = [numbers for numbers in swapped if good.issuperset(numbers)]
        if len(kept) == len(swapped):
            return frozenset(good)
        swapped = kept


def _exchanges(tree: ast.FunctionDef) -> list[NameExchange]:
    """The permutations of names in those loops of a function that may be written out for each order."""
    nodes = own_nodes(tree)
    caught = {id(part) for node in nodes if isinstance(node, ast.Try) for part in ast.walk(node)}
    loops = [node for node in nodes if is_in_time(node) and id(node) not in caught]
    return [found for node in loops if (found := exchange_in(node)) is not None]  # type: ignore[arg-type]


def is_in_time(node: ast.AST) -> bool:
    """A `while`, or a `for` over a range, as far as the text tells."""
    match node:
        case ast.For(target=ast.Name(), iter=ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name))):
            return name in ("range", "prange")
        case _:
            return isinstance(node, ast.While)
