"""The step `stage`: bring the tile of an array that a loop reads into a GPU's shared memory, by all threads of a
block together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.analysis.prefetch import rounds_of
from loopwright.ir.linear import number, plus, times, variable
from loopwright.ir.nodes import Allocate, ArrayParam, Binary, Body, Expr, For, If, Kernel, Run
from loopwright.ir.queries import arrays_made, arrays_stored, names_in
from loopwright.ir.walk import statements
from loopwright.steps.draft import finished, fresh, names_of, substituted, with_statement
from loopwright.steps.extent import around, trip_of
from loopwright.steps.grammar import From1
from loopwright.steps.nest import step_of, the_loop
from loopwright.steps.pack import CACHE_BYTES, Pack, filled, ordered
from loopwright.steps.region import Region, kept_around, region_of
from loopwright.steps.step import Rejection, Step, legal
from loopwright.steps.threads import THREADS

ACCESSES = (4, 8, 16)
"""Bytes that a thread copies at once."""


@dataclass(frozen=True, slots=True)
class Stage(Step):
    """Copy what a loop reads of an array into shared memory before it, as `pack` does, with the copies shared out among
    X * Y threads: neighbours along x copy neighbours in memory, whatever the order of the tile's axes is. `pad 4` makes
    its rows longer, so that a column lies in several banks; `wide 4` lets each thread copy so many elements at once,
    where they are aligned; `fill` makes each tile whole, with zeros where a stretch ends early; `double` gives the
    block two tiles: while it uses one, the other one arrives for the next iteration of the loop around.
    `stage d i over 4 2 pad 1 wide 2`:

    for i in 0 .. n:
        for k in 0 .. 4:
            for j in 0 .. 8:
                c[i, j] = c[i, j] + d[k, j]
    ->
    if 0 < n:
        allocate d.p: float64[4, 9]
        for d.p.y in 0 .. 2 thread.y:
            for d.p.x in 0 .. 4 thread.x:
                for k.p in 0 .. 4 step 2:
                    for j.p.v in (d.p.y * 4 + d.p.x) % 4 * 2 .. (d.p.y * 4 + d.p.x) % 4 * 2 + 2 vector:
                        d.p[k.p + (d.p.y * 4 + d.p.x) // 4, j.p.v] = d[k.p + (d.p.y * 4 + d.p.x) // 4, j.p.v]
        for i in 0 .. n:
            for k in 0 .. 4:
                for j in 0 .. 8:
                    c[i, j] = c[i, j] + d.p[k, j]
    """

    name: ClassVar[str] = "stage"
    grammar: ClassVar[str] = "ARRAY LOOP over X [Y] [transposed] [pad ELEMENTS] [wide ELEMENTS] [fill] [double]"
    array: str
    loop: str
    x: From1
    y: From1 = 1
    transposed: bool = False
    pad: From1 = 0
    wide: From1 = 1
    fill: bool = False
    double: bool = False

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        packed = Pack(self.array, self.loop, self.transposed, self.pad)
        if (rejection := packed.illegal(kernel, facts, strict)) is not None:
            return rejection
        if self.array in arrays_stored(the_loop(kernel, self.loop).body):
            return Rejection(f"'{self.loop}' writes to '{self.array}', and threads do not wait for one another there")
        for run, threads in zip(THREADS, (self.x, self.y), strict=False):
            if threads > (most := facts.gpu.most_threads(run)):
                return Rejection(f"a block has at most {most} threads along {run[-1]}")
        if self.x * self.y > facts.gpu.threads:
            return Rejection(f"a block has at most {facts.gpu.threads} threads in all, not {self.x} x {self.y}")
        loop = the_loop(kernel, self.loop)
        for outer in around(kernel, loop):
            if isinstance(outer, For) and outer.run != "sequential" and not outer.run.startswith("block."):
                return Rejection(f"'{self.loop}' stands inside '{outer.name}', which is marked to run {outer.run}")
        if self.double and not facts.gpu.copies:
            return Rejection("this GPU copies nothing to shared memory while its threads do something else")
        return self._too_wide(kernel, facts.gpu.widest) or (self._not_ahead(kernel) if self.double else None)

    def _too_wide(self, kernel: Kernel, widest: int) -> Rejection | None:
        if self.wide == 1:
            return None
        region = self._region(kernel)
        row, size = region.inner[-1], region.element.size_bytes
        if self.wide * size not in (allowed := tuple(one for one in ACCESSES if one <= widest)):
            return Rejection(f"{self.wide} elements of {size} bytes are not copied at once: {allowed} bytes are")
        if step_of(row) != 1 or (trip_of(row) or 0) % self.wide or trip_of(row) is None:
            return Rejection(f"'{row.name}' does not run over a constant multiple of {self.wide} neighbours")
        return None

    def _not_ahead(self, kernel: Kernel) -> Rejection | None:
        """Why the tile of the next iteration cannot be brought while this one is used."""
        draft = self.apply(kernel)
        (tile,) = arrays_made(draft.body) - arrays_made(kernel.body)
        above = [stmt for stmt in around(kernel, the_loop(kernel, self.loop)) if isinstance(stmt, For)]
        if not above:
            return Rejection(f"'{self.loop}' is inside no loop for whose next iteration a second tile could be loaded")
        found = rounds_of(the_loop(draft, above[-1].name))
        if isinstance(found, str):
            return Rejection(found)
        if tile not in found.arrays:
            return Rejection(f"the tile of '{self.array}' is not the first thing in '{above[-1].name}'")
        return None

    def apply(self, kernel: Kernel) -> Kernel:
        loop, region = the_loop(kernel, self.loop), self._region(kernel)
        body = kept_around(kernel, loop, region, "p")
        names = names_of(kernel) | {name for stmt in statements(body, For) for name in (stmt.name,)}
        return finished(with_statement(kernel, loop, self._shared_out(body, names)), kernel)

    def _region(self, kernel: Kernel) -> Region:
        """What the loop reads, its loops in the order of the elements in memory; the local array as the words say."""
        region = region_of(kernel, the_loop(kernel, self.loop), self.array, CACHE_BYTES, whole=True)
        assert not isinstance(region, Rejection)
        local = ordered(region, self.transposed)
        shape = (*local.shape[:-1], local.shape[-1] + self.pad)
        along = names_in(region.index[_neighbours(kernel, self.array)])
        inner = sorted(region.inner, key=lambda one: one.name in along)
        local = replace(local, shape=shape, inner=tuple(inner))
        return filled(local, {one.name for one in local.inner}) if self.fill else local

    def _shared_out(self, body: Body, names: set[str]) -> Body:
        """The statements with the tile marked, and its copy given to threads."""
        if isinstance(body[0], If):
            return (replace(body[0], then=self._shared_out(body[0].then, names)),)
        tile, copy, *rest = body
        assert isinstance(tile, Allocate)
        tile = replace(tile, double=self.double)
        if isinstance(copy, For):
            return (tile, self._among_threads(copy, tile.array, names), *rest)
        assert isinstance(copy, If)
        whole, partial = copy.then[0], copy.otherwise[0]
        assert isinstance(whole, For) and isinstance(partial, For)
        then = self._among_threads(whole, tile.array, names)
        otherwise = replace(self, wide=1)._among_threads(partial, tile.array, names)
        return (tile, replace(copy, then=(then,), otherwise=(otherwise,)), *rest)

    def _among_threads(self, copy: For, tile: str, names: set[str]) -> For:
        """The copy by all threads: those that follow one another, along x and then y, copy what follows one another in
        memory. Where rows do not go evenly into the threads, x goes along the rows and y down."""
        band = [copy]
        while isinstance(inner := band[-1].body[0], For):
            band.append(inner)
        *outer, row = band
        pieces, threads = (trip_of(row) or 0) // self.wide, self.x * self.y
        if not pieces or step_of(row) != 1 or (threads % pieces and pieces % threads):
            return self._by_axes(outer, row, names)
        y, x = (fresh(f"{tile}.{axis}", names) for axis in "yx")
        names |= {y, x}
        thread = plus(times(variable(y), self.x), variable(x)) if self.y > 1 else variable(x)
        if pieces >= threads:  # a row for all of them, or several times so
            moved, inside = replace(row, step=number(threads * self.wide)), plus(variable(row.name), 0)
        elif outer and step_of(outer[-1]) == 1 and (trip_of(outer[-1]) or 1) % (threads // pieces) == 0:
            down = outer.pop()
            at = plus(variable(down.name), Binary("floordiv", thread, number(pieces)))
            moved = replace(down, step=number(threads // pieces), body=substituted(row.body, {down.name: at}))
            inside, thread = row.lower, Binary("mod", thread, number(pieces))
        else:
            return self._by_axes(outer, row, names)
        result = replace(moved, body=self._piece(row, moved.body, plus(inside, times(thread, self.wide)), names))
        for one in reversed(outer):
            result = replace(one, body=(result,))
        result = _threads(x, self.x, "thread.x", result)
        return _threads(y, self.y, "thread.y", result) if self.y > 1 else result

    def _piece(self, row: For, body: Body, start: Expr, names: set[str]) -> Body:
        """What one thread copies at once, from this place in a row on."""
        if self.wide == 1:
            return substituted(body, {row.name: start})
        name = fresh(f"{row.name}.v", names)
        body = substituted(body, {row.name: variable(name)})
        return (replace(row, name=name, lower=start, upper=plus(start, self.wide), body=body, run="vector"),)

    def _by_axes(self, outer: list[For], row: For, names: set[str]) -> For:
        if self.wide > 1:
            row = replace(row, step=number(self.wide), body=self._piece(row, row.body, variable(row.name), names))
        result = replace(row, run="thread.x", threads=self.x)
        runs: list[tuple[Run, int]] = [("thread.y", self.y)] if self.y > 1 else []
        for one in reversed(outer):
            run, threads = runs.pop(0) if runs else ("sequential", 0)
            result = replace(one, body=(result,), run=run, threads=threads)
        return result

    @classmethod
    def instances(cls, kernel: Kernel, facts: Facts, strict: bool) -> tuple[Self, ...]:
        packed = Pack.instances(kernel, facts, strict)
        steps = (cls(one.array, one.loop, 32, 8, double=double) for one in packed for double in (False, True))
        return legal(steps, kernel, facts, strict)


def _threads(name: str, count: int, run: Run, body: For) -> For:
    return For(name, number(0), number(count), number(1), (body,), run=run, at=body.at)


def _neighbours(kernel: Kernel, array: str) -> int:
    """The axis along which the elements of an array are neighbours in memory."""
    found = next((one for one in kernel.params if isinstance(one, ArrayParam) and one.name == array), None)
    return 0 if found is not None and found.layout in ("F", "first") else -1
