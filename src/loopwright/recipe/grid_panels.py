"""Blocked factorisations for the default recipe of a GPU: a loop that needs its order, around loops that begin or end
where it is (`for k: for i in range(k + 1, n): ...`), as in LU, Cholesky and the solution of triangular systems. As
written, each of its iterations is a launch or two. In blocks, what the iterations of a block do to one another is one
launch, of a single block of threads; what they do to all that is left, once they have ended, is a launch or two more,
each of many blocks (Dongarra, Duff, Sorensen and van der Vorst 1998, chapter 5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from loopwright.ir.nodes import Body, Expr, For, Store
from loopwright.ir.queries import names_in
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops, statements
from loopwright.recipe.grid_blocks import in_blocks
from loopwright.recipe.grid_fronts import can_run, held
from loopwright.recipe.grid_tiles import Bound
from loopwright.recipe.partial_schedule import Chain, NotTaken, PartialSchedule, made
from loopwright.recipe.register_blocking import roles_of
from loopwright.recipe.tunable import Tunable
from loopwright.recipe.wavefronts import is_free
from loopwright.steps.bind import Bind
from loopwright.steps.cut import Cut
from loopwright.steps.extent import trip_of
from loopwright.steps.fission import Fission
from loopwright.steps.fuse import Fuse
from loopwright.steps.promote import Promote
from loopwright.steps.reorder import Reorder
from loopwright.steps.split import Split
from loopwright.steps.swap import Swap

PANEL = Tunable(
    "iterations of a panel",
    32,
    (16, 32, 64),
    "what they do to one another is one block's work, which grows with them; what they do to the rest is done at once",
)
ROWS, COLUMNS = 8, 32
"""Threads of the block that has a panel to itself: 32 rows of them took 20 microseconds for each panel of LU on an
H200, as most had nothing to do and all had to find out."""

WARPS = 8
"""Rows of a block, where each has a warp."""

MOST_STATEMENTS = 8
"""Stores of a loop whose blocks are looked for: each is judged several times."""

Where = Literal["before", "inside", "behind", "all"]
"""Whether a loop runs over iterations before a block, in it, or behind it; or over what has nothing to do with it."""


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Statements of a body that stay together: the place of the first, and which stretches their loops run over."""

    place: int
    where: frozenset[Where]

    @property
    def rank(self) -> int:
        """What comes first in a block of iterations."""
        return 0 if "before" in self.where else 2 if "behind" in self.where else 1


Product = Callable[[PartialSchedule, Chain], list[Bound]]
"""From a nest to what to bind of its tiles, nothing where it is no product."""


def in_panels(partial: PartialSchedule, product: Product) -> list[list[Bound]]:
    """Restructure such loops; what to bind of each grid."""
    found: list[list[Bound]] = []
    for stmt in partial.kernel.body:
        if isinstance(stmt, For) and _is_elimination(partial, stmt):
            with partial.together():
                grids = _Elimination(partial, stmt.name, product, {}).grids()
                partial.begin_again()
                found += [bound for bound in grids if bound]
    return found


def _is_elimination(partial: PartialSchedule, outer: For) -> bool:
    """Whether a loop that needs its order holds only stores and loops, some of which begin or end where it is."""
    inside = list(statements(outer.body))
    if not all(isinstance(stmt, For | Store) for stmt in inside) or trip_of(outer) is not None:
        return False
    if sum(isinstance(stmt, Store) for stmt in inside) > MOST_STATEMENTS:
        return False
    found = partial.proven(outer)
    inner = [stmt for stmt in inside if isinstance(stmt, For)]
    ends = any(outer.name in names_in(loop.lower) | names_in(loop.upper) for loop in inner)
    return ends and (found is None or not is_free(outer, found))


def _range(loop: For) -> tuple[Expr, Expr, Expr]:
    return loop.lower, loop.upper, loop.step


@dataclass
class _Elimination:
    """The restructuring of one loop. where: of each loop inside, by its name, once it is cut."""

    partial: PartialSchedule
    outer: str
    product: Product
    where: dict[str, Where]

    @property
    def why(self) -> str:
        """The reason for most steps."""
        name = user_name(self.outer)
        return f"'{name}' needs its order: in blocks of iterations, what they do to the rest is done at once"

    def grids(self) -> list[list[Bound]]:
        """Raises NotTaken."""
        self._fused()
        (self.block,) = made(self.partial, Split(self.outer, self.partial.number(PANEL)), self.why, anew=True)
        self._parted(self.outer)
        self._sorted()
        parts = self._parts(self._loop(self.outer).body)
        names = self._taken_apart(self.outer, parts)
        own = [name for name in names if self._part(self._loop(name).body).rank == 1]
        if len(own) != 1 or len(names) < 2:
            raise NotTaken
        return [self._of_panel(one) if one == own[0] else self._by_many(one) for one in names]

    def _sorted(self) -> None:
        """Have what runs over iterations before a block stand first, and behind it last. Raises NotTaken."""
        while True:
            ranks = [self._part((stmt,)).rank for stmt in self._loop(self.outer).body]
            place = next((at for at, (one, other) in enumerate(pairwise(ranks), 2) if one > other), None)
            if place is None:
                return
            self.partial.take(Swap(self.outer, place), self.why, anew=True)

    def _loop(self, name: str) -> For:
        found = loops(self.partial.kernel)[name]
        assert isinstance(found, For)
        return found

    def _fused(self) -> None:
        """Two loops that follow one another over the same range become one: what is behind a block is cut off both."""
        for first, second in pairwise(self._loop(self.outer).body):
            if isinstance(first, For) and isinstance(second, For) and _range(first) == _range(second):
                with self.partial.together():
                    self.partial.take(Fuse(first.name, second.name), self.why, anew=True)
                return

    # ---- cuts

    def _parted(self, name: str) -> list[_Stretch]:
        """Cut the loops in a body where blocks begin and end, and what they hold apart; the parts of the body then."""
        at = 0
        while at < len(self._loop(name).body):
            stmt = self._loop(name).body[at]
            if isinstance(stmt, For) and stmt.name not in self.where:
                self._cut(stmt)
                continue
            if isinstance(stmt, For):
                inner = self._parted(stmt.name)
                for other in self._taken_apart(stmt.name, inner)[1:]:
                    self.where[other] = self.where[stmt.name]
            at += 1
        return self._parts(self._loop(name).body)

    def _cut(self, loop: For) -> None:
        low, high = self._kinds(loop.lower), self._kinds(loop.upper)
        if "behind" in low:
            self.where[loop.name] = "behind"
        elif "inside" in low and "inside" in high:
            self.where[loop.name] = "inside"
        elif "inside" in low:
            self.where |= {loop.name: "inside", self._two(loop.name, self.partial.number(PANEL)): "behind"}
        elif "inside" in high:
            self.where |= {loop.name: "before", self._two(loop.name, 0): "inside"}
        elif "behind" in high or "before" in low | high:
            raise NotTaken
        else:
            self.where[loop.name] = "all"

    def _two(self, name: str, offset: int) -> str:
        return made(self.partial, Cut(name, self.block, offset), self.why, anew=True)[0]

    def _kinds(self, bound: Expr) -> set[Where]:
        """Where the loops are that a bound depends on."""
        names = names_in(bound)
        kinds: set[Where] = {self.where[name] for name in names if name in self.where}
        return kinds | ({"inside"} if self.outer in names else set())

    # ---- parts

    def _parts(self, body: Body) -> list[_Stretch]:
        found: list[_Stretch] = []
        for place, stmt in enumerate(body, 1):
            part = self._part((stmt,), place)
            if not found or part.rank != 1 or found[-1].rank != 1:
                found.append(part)
        return found

    def _part(self, body: Body, place: int = 1) -> _Stretch:
        inside = [self.where[one.name] for one in statements(body, For) if one.name in self.where]
        return _Stretch(place, frozenset(inside))

    def _taken_apart(self, name: str, parts: list[_Stretch]) -> list[str]:
        """A loop for each part, in their order, as far as those of one rank do not need one another. Raises
        NotTaken."""
        names: list[str] = []
        for before, part in reversed(list(pairwise(parts))):
            known, kernel = set(loops(self.partial.kernel)), self.partial.kernel
            with self.partial.together():
                self.partial.take(Fission(name, part.place), self.why, anew=True)
            if self.partial.kernel is not kernel:
                names.insert(0, next(one for one in loops(self.partial.kernel) if one not in known))
            elif before.rank != part.rank:
                raise NotTaken
        return [name, *names]

    def _of_panel(self, name: str) -> list[Bound]:
        """One block, where it has to do with the iterations of a panel alone. Raises NotTaken."""
        is_large = any(self.where[one.name] != "inside" for one in statements(self._loop(name).body, For))
        return self._first_way(name, self._in_teams, self._by_columns) if is_large else self._by_one_block(name)

    def _by_many(self, name: str) -> list[Bound]:
        """What the iterations of a block do to others; nothing where all loops are in a good order, and left as they
        are. Raises NotTaken."""
        found: list[Bound] = []
        with self.partial.together():
            found = self._first_way(name, self._by_product, self._in_teams, self._by_threads)
        if not found:
            self._ordered(name)
        return found

    def _first_way(self, name: str, *ways: Callable[[str], list[Bound]]) -> list[Bound]:
        for way in ways:
            found: list[Bound] = []
            with self.partial.together():
                found = way(name)
            if found:
                return found
        raise NotTaken

    def _by_product(self, name: str) -> list[Bound]:
        """The tiles of a product, where that is what iterations of a block do to all that is behind it."""
        self._ordered(name)
        roles = roles_of(self.partial, self.partial.around(name), own=True)
        if roles is None or "inside" in (self.where[roles.rows], self.where[roles.vector]):
            raise NotTaken
        self.partial.begin_again()
        return self.product(self.partial, self.partial.around(name))

    def _by_threads(self, name: str) -> list[Bound]:
        """Blocks and threads for the loops that need no order, with what is added to an element in a register."""
        free = self._ordered(name)
        self._kept(name)
        return in_blocks(self.partial, free, self.why)

    def _ordered(self, name: str) -> list[str]:
        """Have the loops in a part that need no order stand around the iterations of a block: those. Raises
        NotTaken."""
        chain = [name]
        while len(body := self._loop(chain[-1]).body) == 1 and isinstance(body[0], For):
            chain.append(body[0].name)
        if len(chain) < 2:
            raise NotTaken
        for free in (chain[1:], *([one] for one in chain[1:])):
            before = self.partial.kernel
            with self.partial.together():
                self._first(free, [*(one for one in chain[1:] if one not in free), name])
            if self.partial.kernel is before:
                with self.partial.together():
                    self._first(free, [one for one in chain if one not in free])
            if self.partial.kernel is not before:
                return list(free)
        raise NotTaken

    def _in_teams(self, name: str) -> list[Bound]:
        """Rows, or columns, along which nothing needs an order: a warp has one of them, and goes through the iterations
        of a block by itself. Blocks keep what they touch in shared memory. Raises NotTaken."""
        along = self._along(name)
        facts = self.partial.present_facts()
        inner = [stmt for stmt in self._loop(name).body if isinstance(stmt, For)]
        if not inner or not all(is_free(one, facts.loops[one.name]) for one in inner):
            raise NotTaken
        (block,) = made(self.partial, Split(along, WARPS), self.why, anew=True)
        axes: list[Bound] = [(Bind(block, "block.x"), self.why), (Bind(along, "thread.y"), self.why)]
        axes += [(Bind(one.name, "thread.x", COLUMNS), self.why) for one in inner]
        bound: list[Bound] = []
        with self.partial.together():
            copies = held(self.partial, along, WARPS, COLUMNS, False, self.why)
            can_run(self.partial, [*axes, *copies])
            bound = [*axes, *copies]
        if not bound:
            can_run(self.partial, axes)
        return bound or axes

    def _along(self, name: str) -> str:
        """Have the only loop of a part that needs no order, and runs over what has nothing to do with a block or is
        behind it, stand around all others. Raises NotTaken."""
        columns: list[str] = []
        for stmt in self._loop(name).body:
            chain = [stmt]
            while isinstance(loop := chain[-1], For) and len(loop.body) == 1 and isinstance(loop.body[0], For):
                chain.append(loop.body[0])
            names = [one.name for one in chain if isinstance(one, For)]
            along = [one for one in names if self.where[one] in ("all", "behind")]
            if len(along) != 1:
                raise NotTaken
            if names[0] != along[0]:
                order = (along[0], *(one for one in names if one != along[0]))
                self.partial.take(Reorder(order), self.why, anew=True)
            columns += along
        for other in columns[1:]:
            self.partial.take(Fuse(columns[0], other), self.why, anew=True)
        self._first(columns[:1], [name])
        return columns[0]

    def _kept(self, name: str) -> None:
        """Keep in a register what the iterations of a block add to an element, if they do nothing else."""
        if len(body := self._loop(name).body) == 1 and isinstance(body[0], Store):
            with self.partial.together():
                self.partial.take(Promote(body[0].array, name), self.why, anew=True)

    def _first(self, free: list[str], rest: list[str]) -> None:
        """Have loops stand first that need no order there. Raises NotTaken."""
        self.partial.take(Reorder((*free, *rest)), self.why, anew=True)
        facts = self.partial.present_facts()
        if not all(is_free(self._loop(one), facts.loops[one]) for one in free):
            raise NotTaken

    # ---- the panel

    def _by_columns(self, name: str) -> list[Bound]:
        """A panel of rows along which nothing needs an order, as the right sides of a triangular system have: each
        thread has a column of it. Raises NotTaken."""
        return in_blocks(self.partial, [self._along(name)], self.why)

    def _by_one_block(self, name: str) -> list[Bound]:
        why = f"what {self.partial.number(PANEL)} iterations do to one another is the work of one block"
        (point,) = made(self.partial, Split(name, self.partial.number(PANEL)), why, anew=True)
        for in_shared_memory in (True, False):
            found: list[Bound] = []
            with self.partial.together():
                self._one_by_one(name, why)
                threads = list(self._threads(self._loop(name).body, why))
                rows = max((ROWS for one, _ in threads if "thread.y" in str(one)), default=1)
                copies = held(self.partial, name, rows, COLUMNS, False, why) if in_shared_memory else []
                can_run(self.partial, [(Bind(point, "block.x"), why), *threads, *copies])
                found = [(Bind(point, "block.x"), why), *threads, *copies]
            if found:
                return found
        raise NotTaken

    def _one_by_one(self, name: str, why: str) -> None:
        """Loops in a panel apart from what stands beside them: threads of a warp would have to wait for others."""
        for loop in [stmt for stmt in self._loop(name).body if isinstance(stmt, For)]:
            for place in range(len(loop.body), 1, -1):
                with self.partial.together():
                    self.partial.take(Fission(loop.name, place), why, anew=True)

    def _threads(self, body: Body, why: str) -> Iterator[Bound]:
        facts = self.partial.present_facts()
        for loop in (stmt for stmt in body if isinstance(stmt, For)):
            inner = [stmt for stmt in loop.body if isinstance(stmt, For)]
            if not is_free(loop, facts.loops[loop.name]):
                yield from self._threads(loop.body, why)
                continue
            free = [one for one in inner if is_free(one, facts.loops[one.name])]
            if free:
                yield Bind(loop.name, "thread.y", ROWS), why
                yield from ((Bind(one.name, "thread.x", COLUMNS), why) for one in free)
            else:
                yield Bind(loop.name, "thread.x", COLUMNS), why
