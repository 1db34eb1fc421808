"""Loops over the same elements, one after the other, as whole-array expressions leave them: `k = sin(y)`, then
`y = y + h * k`. As one loop (loop fusion) they go through memory once and not each for itself, are one launch on a GPU,
and a local array between them is a scalar (array contraction; Gao, Olsen, Sarkar and Thekkath 1992)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from loopwright.analysis.recurrence_latency import iteration_latency
from loopwright.ir.linear import linear, minus, plus, variable
from loopwright.ir.nodes import Allocate, Body, Checked, Expr, For, Kernel, Load, Store, While
from loopwright.ir.queries import accesses, arrays_made, contains, escapes, has, names_in
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import all_bodies, expressions, loops, statements
from loopwright.recipe.partial_schedule import Chain, NotTaken, PartialSchedule
from loopwright.recipe.tunable import Tunable
from loopwright.steps.contract import Contract
from loopwright.steps.draft import substituted
from loopwright.steps.fuse import Fuse, constant_ahead, what_is_between

FUSED = Tunable(
    "loops over the same elements",
    1,
    (0, 1),
    "one pass over memory, or fewer arrays at a time",
    leads=True,
    words=("apart", "as one"),
)

MOST_ARRAYS = 16
"""Arrays that one loop goes along at a time: about as many as a core fetches ahead of its loads."""

LONGEST = 64.0
"""Cycles from the loads of an iteration to its last result, on a CPU: of longer ones, as two functions in a row make, a
core cannot look far enough ahead to run several at a time, and they wait. A GPU has other threads for that."""

FAR = 8
"""How many loops further on a partner is looked for."""

T = TypeVar("T")

Element = tuple[str, tuple[Expr, ...]]
"""An array, and an index of it in the variables of one nest."""


def loops_fused(partial: PartialSchedule, on_gpu: bool = False, into_elements: bool = False) -> None:
    """Make one loop of neighbours that use the same elements, where no iteration waits for another one then; on a CPU
    also of those that use the same rows, whatever they do with them: on a GPU each row would be a block's.
    into_elements: also of those that add to an element, which a scalar may stand for later."""
    before, fused, nests = partial.kernel, set[str](), _Partners(partial, on_gpu, into_elements)
    with partial.together():
        while (pair := nests.next_pair()) is not None:
            if not partial.number(FUSED):
                return
            if _are_fused(partial, *pair):
                fused |= {loop.name for loop in pair[0]}
        if partial.kernel is before:
            return
        for array in sorted(arrays_made(partial.kernel.body)):
            _contracted(partial, array)
        partial.begin_again()
        present = {name: partial.facts.loops[name].verdict for name in fused & set(loops(partial.kernel))}
        if not set(present.values()) <= {"parallel", "reduction"}:
            raise NotTaken


def _contracted(partial: PartialSchedule, array: str) -> None:
    """A scalar instead of an array, where it can be one."""
    with partial.together():
        partial.take(Contract(array), f"each iteration writes the element of '{user_name(array)}' that it reads")


def _are_fused(partial: PartialSchedule, first: Chain, second: Chain) -> bool:
    """Whether two nests could be made one, loop by loop."""
    before = partial.kernel
    with partial.together():
        for one, other in zip(first, second, strict=True):
            why = f"'{user_name(one.name)}' and '{user_name(other.name)}' go along the same elements: once is enough"
            partial.take(Fuse(one.name, other.name), why)
    return partial.kernel is not before


class _Partners:
    """The nests of a kernel that may become one, while others do. What is known of loops that stay as they are is
    kept, by their identity: a kernel may have hundreds."""

    def __init__(self, partial: PartialSchedule, on_gpu: bool, into_elements: bool) -> None:
        self.partial, self.on_gpu = partial, on_gpu
        self.sums = ("scalar", "element") if into_elements else ("scalar",)
        self.tried: set[tuple[str, str]] = set()
        self.maps: dict[int, tuple[For, Chain]] = {}
        self.rows: dict[int, tuple[For, bool]] = {}
        self.worth: dict[tuple[int, int], bool] = {}

    def next_pair(self) -> tuple[Chain, Chain] | None:
        """Nests of one body that are worth it and were not tried yet, the nearest ones first."""
        for body in all_bodies(self.partial.kernel):
            for first, second in self._pairs([stmt for stmt in body if isinstance(stmt, For)]):
                names = first[0].name, second[0].name
                if names not in self.tried:
                    self.tried.add(names)
                    return first, second
        return None

    def _pairs(self, loops_: Sequence[For]) -> Iterator[tuple[Chain, Chain]]:
        nests = [chain for loop in loops_ if (chain := self._map(loop))]
        for first, second in _neighbours(nests):
            if self._is_worth_it(first, second):
                yield first, second
        rows = [] if self.on_gpu else [loop for loop in loops_ if self._is_of_rows(loop)]
        for one, other in _neighbours(rows):
            if not (self._map(one) and self._map(other)) and self._share_rows(one, other):
                yield (one,), (other,)

    def _map(self, loop: For) -> Chain:
        if id(loop) not in self.maps:
            self.maps[id(loop)] = loop, _elementwise(self.partial, loop, self.sums)
        return self.maps[id(loop)][1]

    def _is_of_rows(self, loop: For) -> bool:
        if id(loop) not in self.rows:
            self.rows[id(loop)] = loop, _is_of_rows(self.partial, loop)
        return self.rows[id(loop)][1]

    def _is_worth_it(self, first: Chain, second: Chain) -> bool:
        key = id(first[0]), id(second[0])
        if key not in self.worth:
            longest = None if self.on_gpu else LONGEST
            self.worth[key] = _are_worth_it(self.partial.kernel, first, second, longest)
        return self.worth[key]

    def _share_rows(self, one: For, other: For) -> bool:
        key = id(one), id(other)
        if key not in self.worth:
            self.worth[key] = _share_rows(self.partial, one, other)
        return self.worth[key]


def _neighbours(nests: Sequence[T]) -> Iterator[tuple[T, T]]:
    for away in range(1, FAR + 1):
        yield from zip(nests, nests[away:], strict=False)


def _is_of_rows(partial: PartialSchedule, loop: For) -> bool:
    """Whether each iteration goes through rows for itself, in innermost loops."""
    inner = [stmt for stmt in loop.body if isinstance(stmt, For)]
    others = [stmt for stmt in loop.body if not isinstance(stmt, For)]
    is_innermost = not any(contains(one.body, For, While) for one in inner)
    if not inner or not is_innermost or contains(tuple(others), For, While, Allocate):
        return False
    found = partial.proven(loop)
    if found is None or found.verdict != "parallel" or found.last or found.alike or loop.run != "sequential":
        return False
    if any(partial.verdict(one) == "reduction" and _have_a_vector_in_common(loop, one) for one in inner):
        return False
    return not any(escapes(stmt) for stmt in loop.body) and _is_sure(partial, loop.body)


def _have_a_vector_in_common(loop: For, inner: For) -> bool:
    """Whether all rows are summed up along one vector: several of them at a time load it once (`unroll_and_jam`)."""
    loads = (part for part in expressions(inner.body, Load) if part.index)
    places = [set().union(*map(names_in, part.index)) for part in loads]
    return any(inner.name in names and loop.name not in names for names in places)


def _share_rows(partial: PartialSchedule, one: For, other: For) -> bool:
    """Whether two loops go through the same rows, along them, in the same iteration."""
    ahead = constant_ahead(partial.kernel, one, other)
    if ahead is None:
        return False
    body = substituted(other.body, {other.name: plus(variable(one.name), ahead)})
    if len({part.array for part in accesses((*one.body, *body))}) > MOST_ARRAYS:
        return False
    return bool(_rows(one.name, one.body) & _rows(one.name, body))


def _rows(outer: str, body: Body) -> set[Element]:
    """The rows that innermost loops go along, element by element: arrays, and indices in the outer loop's variable."""
    found: set[Element] = set()
    for loop in (stmt for stmt in body if isinstance(stmt, For)):
        for part in accesses(loop.body):
            *places, last = (linear(index) for index in part.index)
            if last.coefficient(loop.name) == 1 and any(place.coefficient(outer) for place in places):
                found.add((part.array, (*(place.expr for place in places), minus(last.expr, variable(loop.name)))))
    return found


def _elementwise(partial: PartialSchedule, outermost: For, sums: Sequence[str]) -> Chain:
    """A perfect nest that computes elements, each for itself, or adds up to something of these kinds; empty where it is
    something else."""
    chain = [outermost]
    while len(chain[-1].body) == 1 and isinstance(chain[-1].body[0], For):
        chain.append(chain[-1].body[0])
    inner = chain[-1].body
    if contains(inner, For, While, Allocate) or any(escapes(stmt) for stmt in inner):
        return ()
    for loop in chain:
        found = partial.proven(loop)
        if found is None or found.verdict not in ("parallel", "reduction") or found.last or found.alike:
            return ()
        if loop.run != "sequential" or any(one.kind not in sums for one in found.reductions):
            return ()
    if outermost.asserted and any(has(index, Load) for store in statements(inner, Store) for index in store.index):
        return ()  # what the user has promised of these iterations, nobody has of others
    return tuple(chain) if _is_sure(partial, inner) else ()


def _is_sure(partial: PartialSchedule, body: Body) -> bool:
    """Whether nothing in a body can fail."""
    parts = (*accesses(body), *expressions(body, Checked))
    return all(one.kind == "proven" for part in parts for one in partial.facts.bounds_of(part))


def _are_worth_it(kernel: Kernel, first: Chain, second: Chain, longest: float | None) -> bool:
    """Whether the second nest uses elements that the first one has just had, in the same iteration."""
    if len(first) != len(second):
        return False
    values: dict[str, Expr] = {}
    across = (first[0], *(what_is_between(kernel, first[0], second[0]) or ()), second[0])
    for one, other in zip(first, second, strict=True):
        ahead = constant_ahead(kernel, one, other, across)
        if ahead is None:
            return False
        values[other.name] = plus(variable(one.name), ahead)
    bodies_ = first[-1].body, substituted(second[-1].body, values)
    if len({part.array for body in bodies_ for part in accesses(body)}) > MOST_ARRAYS:
        return False
    if len({any(has(index, Load) for part in accesses(body) for index in part.index) for body in bodies_}) > 1:
        return False  # one that gathers, and one that need not
    if longest is not None and iteration_latency(bodies_[0] + bodies_[1]) > longest:
        return False
    if all(map(_only_copies, bodies_)):
        return False  # the C library copies faster than any loop
    ours, theirs = map(_elements, bodies_)
    return bool(ours & theirs)


def _only_copies(body: Body) -> bool:
    return all(isinstance(stmt, Store) and isinstance(stmt.value, Load) for stmt in body)


def _elements(body: Body) -> set[Element]:
    return {(part.array, tuple(linear(index).expr for index in part.index)) for part in accesses(body)}
