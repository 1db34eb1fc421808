"""What bound loops make of a kernel: grids, what the host does around them, and what a block of a grid does. It says
why that cannot be, before there is any code.

Some of it no further step can mend: `bind` asks for that (`misbound`). The rest depends on which loops are bound in the
end: who owns the elements of a local array, and what stands beside the loops that threads share. Whoever has a whole
schedule asks for both (`unrunnable`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import prod

from loopwright.analysis.effort import FOR_NEST, anew
from loopwright.analysis.facts import Facts, Reduction
from loopwright.analysis.prefetch import rounds_of
from loopwright.analysis.running_totals import RunningTotal, running_totals
from loopwright.analysis.trace import escapes
from loopwright.ir.linear import coefficient
from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Block,
    Body,
    Checked,
    Continue,
    Expr,
    For,
    If,
    Kernel,
    Load,
    Return,
    Run,
    Stmt,
    Store,
    Var,
    While,
)
from loopwright.ir.queries import (
    arrays_loaded,
    arrays_made,
    arrays_stored,
    contains,
    has,
    names_assigned,
    names_in,
    types_assigned,
)
from loopwright.ir.walk import bodies, expressions, own_expressions, statements, subexpressions
from loopwright.steps.extent import extent_of, trip_of
from loopwright.steps.nest import step_of
from loopwright.steps.step import Rejection
from loopwright.steps.threads import (
    BLOCKS,
    THREADS,
    BlockSize,
    band_of,
    block_size,
    constant_size,
    has_threads,
    owned,
    sharing_of,
)

LARGEST = 1 << 40
"""Bytes of any local array."""


class _Refused(Exception):
    """Why a grid cannot be, in the user's words."""


def misbound(kernel: Kernel, facts: Facts, loop: str) -> Rejection | None:
    """Why a bound loop cannot stay bound, whatever else is."""
    return _refusal(_Grids(kernel, facts, frozenset({loop}), complete=False))


def unrunnable(kernel: Kernel, facts: Facts, loops: Iterable[str]) -> Rejection | None:
    """Why the grids in which these loops are cannot run, where no more of their loops will be bound."""
    return _refusal(_Grids(kernel, facts, frozenset(loops), complete=True))


def not_on_gpu(kernel: Kernel, facts: Facts) -> Rejection | None:
    """Why a GPU cannot run a kernel: one of its grids, or what stands around them."""
    return _refusal(_Grids(kernel, facts, None, complete=True))


def _refusal(asked: _Grids) -> Rejection | None:
    try:
        with anew(FOR_NEST):  # what is asked here is not taken from what restructures loops
            asked.host(asked.kernel.body)
    except _Refused as why:
        return Rejection(str(why))
    return None


# ---- what runs where --------------------------------------------------------------------------------------------


def is_bound(stmt: Stmt) -> bool:
    """Whether a statement is a loop that blocks or threads share."""
    return isinstance(stmt, For) and stmt.run in (*BLOCKS, *THREADS, "balanced", "sorted", "off_gpu")


def launches(stmt: Stmt) -> bool:
    """Whether it is a grid, or around one."""
    return any(is_bound(inner) for inner in statements((stmt,)))


def _uses(body: Body, array: str) -> int:
    """How often an array is read and written."""
    loads = sum(one.array == array for one in expressions(body, Load))
    return loads + sum(one.array == array for one in statements(body, Store))


def is_host(stmt: Stmt) -> bool:
    """Whether the host can run a statement by itself: scalars and control flow."""
    if isinstance(stmt, Allocate | Return):
        return True
    inside = list(statements((stmt,)))
    if any(isinstance(one, Store | Allocate) for one in inside):
        return False
    return not any(has(expr, Load) for one in inside for expr in own_expressions(one))


def taken_apart(loop: For) -> tuple[list[For], Body]:
    """The loops of a grid that are bound to blocks, and what a block does."""
    blocks: list[For] = []
    body: Body = (loop,)
    while len(body) == 1 and isinstance(body[0], For) and body[0].run in BLOCKS:
        blocks.append(body[0])
        body = body[0].body
    return blocks, body


@dataclass(frozen=True, slots=True)
class _Grids:
    """The grids of a kernel, and what the host does around them. loops: only the grids in which one of these is; None:
    all, and what runs in one thread between them. complete: no more loops will be bound."""

    kernel: Kernel
    facts: Facts
    loops: frozenset[str] | None
    complete: bool

    def host(self, body: Body) -> None:
        """What the host does, which knows sizes, and starts grids."""
        if self.loops is None:
            self._outlived(body)
        for stmt in body:
            if self.loops is None and not launches(stmt):
                self._in_one_thread(stmt)
                continue
            if self.loops is not None and not any(one.name in self.loops for one in statements((stmt,), For)):
                continue
            if is_bound(stmt):
                assert isinstance(stmt, For)
                if stmt.run not in ("balanced", "sorted", "off_gpu"):
                    self._grid(stmt)
                continue
            if isinstance(stmt, While) and has(stmt.condition, Load):
                raise _Refused("the number of iterations of a loop around others depends on data")
            if isinstance(stmt, Block):
                raise _Refused("a function with several ends holds loops of its own")
            for inner in bodies(stmt):
                self.host(inner)

    def _outlived(self, body: Body) -> None:
        """Arrays of one thread end with it: statements that follow one another are the same thread's."""
        for alone, group in groupby(body, lambda stmt: not launches(stmt) and not is_host(stmt)):
            run = tuple(group)
            for array in sorted(arrays_made(run)) if alone else ():
                if _uses(self.kernel.body, array) != _uses(run, array):
                    raise _Refused(f"one thread makes the array '{array}', and others use it")

    def _in_one_thread(self, stmt: Stmt) -> None:
        if is_host(stmt):
            return
        if escapes(stmt):
            raise _Refused("how a loop around others is left depends on data")
        self.thread((stmt,))

    def thread(self, body: Body) -> None:
        """What one thread does by itself."""
        for stmt in statements(body, Allocate):
            if self.complete and constant_size(stmt, self.facts.gpu.own_bytes) is None:
                raise _Refused(f"each thread would need an array '{stmt.array}' of its own, and it is too large")

    def _grid(self, loop: For) -> None:
        _, body = taken_apart(loop)
        x, y, z = size = block_size(body)
        if x * y * z > (most := self.facts.gpu.threads):
            raise _Refused(f"a block would have {x} x {y} x {z} threads: {most} are the most")
        whole = _Whole(self, size)
        whole.body(body)
        if self.complete:
            whole.fit()


def writes_alike(stmt: Stmt, shared: Collection[str]) -> bool:
    """Whether all threads of a block may run a statement, one of which writes: to shared memory, and none of them reads
    what that one may have written already."""
    stored = arrays_stored((stmt,))
    return stored <= set(shared) and not stored & arrays_loaded((stmt,))


def is_self_contained(stmt: Stmt, kernel: Kernel) -> bool:
    """Whether nothing but the statement uses the scalars that it sets, so that one thread may run it for all."""
    if contains((stmt,), Allocate) or escapes(stmt):
        return False
    mine = names_assigned((stmt,))
    inside, whole = (Counter(one.name for one in expressions(body, Var)) for body in ((stmt,), kernel.body))
    return all(inside[name] == whole[name] for name in mine)


# ---- what a block does ------------------------------------------------------------------------------------------


@dataclass
class _Whole:
    """What the threads of a block do together, `size` of them. shared: its local arrays, each with how many there are
    of it. parts: bytes of each array through which it puts partial results together. twice: the local arrays of which
    there are two. who: of whom there are several in a block, so that they cannot share one; '' where it is the whole
    block."""

    of: _Grids
    size: BlockSize
    shared: list[tuple[Allocate, int]] = field(default_factory=list)
    parts: list[int] = field(default_factory=list)
    twice: frozenset[str] = frozenset()
    who: str = ""

    def body(self, body: Body) -> None:
        if self.size == (1, 1, 1):
            self.of.thread(body)
            return
        for stmt in body:
            self.statement(stmt)

    def statement(self, stmt: Stmt) -> None:
        if isinstance(stmt, For) and stmt.run in THREADS:
            self._nest(stmt)
        elif isinstance(stmt, Allocate):
            self._array(stmt)
        elif not has_threads(stmt):
            if self.of.complete and contains((stmt,), Store) and contains((stmt,), Assign):
                if isinstance(stmt, If):  # each of its statements for itself
                    self.around(stmt)
                    return
                shared = {one.array for one, _ in self.shared}
                if not writes_alike(stmt, shared) and not is_self_contained(stmt, self.of.kernel):
                    raise _Refused("a block would write to an array and to a scalar at once, outside of its threads")
            self.of.thread((stmt,))
        elif isinstance(stmt, If) or (isinstance(stmt, For | While) and self._is_alike(stmt)):
            self.around(stmt)
        else:
            raise _Refused("the number of barriers of a block depends on data")

    def _is_alike(self, loop: For | While) -> bool:
        """Whether all threads of a block find the same bounds, or condition, which no test of an index ends before.
        What goes on early would come to its condition without having met the others."""
        if isinstance(loop, While) and contains(loop.body, Continue):
            return False
        bounds = own_expressions(loop)
        loads = [part for expr in bounds for part in subexpressions(expr, Load)]
        known = (one.kind == "proven" for part in loads for one in self.of.facts.bounds_of(part))
        return all(known) and not any(has(expr, Checked) for expr in bounds)

    def around(self, stmt: Stmt) -> None:
        """Control flow around threads."""
        rounds = rounds_of(stmt) if isinstance(stmt, For) else ""
        before, self.twice = self.twice, self.twice | frozenset(() if isinstance(rounds, str) else rounds.arrays)
        for inner in bodies(stmt):
            self.body(inner)
        self.twice = before

    def _array(self, stmt: Allocate) -> None:
        """A local array of all, unless each thread owns a part of it."""
        if not self.of.complete:
            return
        kernel, gpu = self.of.kernel, self.of.facts.gpu
        if self.who:
            if owned(kernel, stmt, self.size, gpu) is None:
                raise _Refused(f"several {self.who} would each need an array '{stmt.array}' in shared memory")
            return
        if constant_size(stmt, LARGEST) is None:
            raise _Refused(f"'{stmt.array}' cannot be in the shared memory of a block: its size is not constant")
        self.shared.append((stmt, 2 if stmt.array in self.twice else 1))

    def fit(self) -> None:
        """Refuse what is more than the shared memory of a block."""
        most = self.of.facts.gpu.most_shared_bytes
        if self.in_shared() <= most:
            return
        self.leave_out_owned()
        if (needed := self.in_shared()) > most:
            names = [one.array for one, _ in sorted(self.shared, key=lambda one: -_size(*one))]
            what = f"'{names[0]}' does not fit" if names else "what its threads add up does not fit"
            raise _Refused(f"{what} into the shared memory of a block: it needs {needed} bytes, {most} are the most")

    def leave_out_owned(self) -> None:
        """Arrays whose elements belong to a thread each are in registers."""
        kernel, gpu = self.of.kernel, self.of.facts.gpu
        self.shared[:] = [one for one in self.shared if owned(kernel, one[0], self.size, gpu) is None]

    def in_shared(self) -> int:
        """Bytes of all that is in shared memory, each array from a multiple of 16 on."""
        return sum(-(-size // 16) * 16 for size in (*self.parts, *(_size(*one) for one in self.shared)))

    def _nest(self, loop: For) -> None:
        band = band_of(loop)
        body = band[-1].body
        if totals := running_totals(band[-1]):
            self._one_after_another(band, totals)
            return
        inside = {one.run for one in statements(body, For) if one.run in THREADS}
        self._put_together(band)
        if not inside:
            self.of.thread(body)
        elif inside == {"thread.y"}:
            self._columns(band)
        else:
            self._team(band, inside)

    def _one_after_another(self, band: Sequence[For], totals: Sequence[RunningTotal]) -> None:
        """Threads each put together what those before them have found: all threads of a block, in whole warps."""
        threads, warp = trip_of(band[-1]) or 0, self.of.facts.gpu.warp
        if self.who or len(band) > 1 or self.size != (threads, 1, 1) or threads % warp:
            raise _Refused(f"'{band[-1].name}' needs a block with a thread for each of its iterations, in whole warps")
        self.parts += (threads // warp * one.type.size_bytes for one in totals)

    def _put_together(self, band: Sequence[For]) -> None:
        """What the threads of a band add up goes through arrays, unless all of them are in one warp."""
        sums = self._sums(band)
        if count := self.partial_results() if sums else 0:
            types = types_assigned(self.of.kernel.body)
            names = {one.target for one in sums} | {one.position for one in sums if one.position}
            self.parts += (count * types[name].size_bytes for name in names)

    def _sums(self, loops: Sequence[For]) -> list[Reduction]:
        """The sums, and the like, of scalars in which iterations of these loops meet."""
        known = [found for loop in loops if (found := self.of.facts.loops.get(loop.name)) is not None]
        return [reduction for found in known for reduction in found.reductions if reduction.kind == "scalar"]

    def partial_results(self) -> int:
        """How many elements the array of a sum has: one for each warp, for each thread where these are no warps."""
        threads, gpu = prod(self.size), self.of.facts.gpu
        if threads in gpu.teams:
            return 0
        return threads // gpu.warp if threads % gpu.warp == 0 else threads

    def _columns(self, band: Sequence[For]) -> None:
        """A loop over threads along x, in each of whose iterations those along y have something to share."""
        loop, (_, y, z) = band[0], self.size
        once = 0 < (extent_of(loop) or 0) <= sharing_of(loop) * step_of(loop)
        if len(band) > 1 or loop.run != "thread.x" or z > 1 or not once:
            raise _Refused(f"other statements stand between the threads of '{loop.name}' and those inside it")
        known = self.of.facts.loops.get(loop.name)
        if known is not None and known.reductions:
            raise _Refused(f"the threads of '{loop.name}' and those inside it add to the same")
        across = self.size[0]
        _Columns(self.of, (1, y, 1), self.shared, self.parts, who="columns of threads", across=across).body(loop.body)

    def _team(self, band: Sequence[For], inside: set[Run]) -> None:
        """Loops over threads stand inside others, among other statements: the threads along x are then a team, which
        has to lie within a warp."""
        loop, lanes, teams = band[-1], self.size[0], self.of.facts.gpu.teams
        if inside != {"thread.x"} or any(one.run == "thread.x" for one in band):
            raise _Refused(f"other statements stand between the threads of '{loop.name}' and those inside it")
        inner = self._sums([one for one in statements(loop.body, For) if one.run in THREADS])
        if {one.target for one in self._sums(band)} & {one.target for one in inner}:
            raise _Refused(f"the threads of '{loop.name}' and those inside it add to the same")
        if self.of.complete and lanes not in teams:
            raise _Refused(f"each iteration of '{loop.name}' would have a team of {lanes} threads: "
                           f"these have to be in one warp, so {', '.join(map(str, teams))} are possible")  # fmt: skip
        if self.of.complete:
            stored = arrays_stored(loop.body)
            kernel, gpu = self.of.kernel, self.of.facts.gpu
            is_warp = lanes == gpu.warp  # smaller teams may not hand on what is in memory: the emulated GPU says so
            common = [
                one for one, _ in self.shared if one.array in stored and not (is_warp and _has_parts(band, one.array))
            ]
            if names := [one.array for one in common if owned(kernel, one, self.size, gpu) is None]:
                raise _Refused(f"teams of threads share '{min(names)}': they would have to wait for one another")
        _Whole(self.of, (lanes, 1, 1), self.shared, self.parts, who="teams of threads").body(loop.body)


@dataclass
class _Columns(_Whole):
    """What the threads along y do for one iteration that those along x share out, of which there are `across`."""

    across: int = 1

    def partial_results(self) -> int:
        return self.size[1] * self.across

    def statement(self, stmt: Stmt) -> None:
        if isinstance(stmt, If) and has_threads(stmt):
            self.around(stmt)
        elif has_threads(stmt) and not (isinstance(stmt, For) and stmt.run in THREADS):
            raise _Refused("a loop of each column holds a barrier for threads along y")
        else:
            super().statement(stmt)


def _has_parts(band: Sequence[For], array: str) -> bool:
    """Whether iterations of loops around one another use elements of an array that no other iteration does: along an
    axis for each loop, all indices are the same, and that loop's variable with what stays."""
    body = band[-1].body
    changing = names_assigned(body) | {stmt.name for stmt in statements(body, For)}
    accesses: list[Load | Store] = [*statements(body, Store), *expressions(body, Load)]
    indices = [one.index for one in accesses if one.array == array]

    def is_own(axis: tuple[Expr, ...], loop: For) -> bool:
        return len(set(axis)) == 1 and bool(coefficient(axis[0], loop.name)) and not names_in(axis[0]) & changing

    return all(any(is_own(axis, loop) for axis in zip(*indices, strict=True)) for loop in band)


def _size(stmt: Allocate, times: int) -> int:
    """Bytes of so many local arrays of constant size."""
    return max(constant_size(stmt, LARGEST) or 0, 1) * times * stmt.element.size_bytes


def shared_bytes(kernel: Kernel, facts: Facts, loop: For) -> int:
    """What local arrays and partial results of a grid that can run need of the shared memory of a block."""
    _, body = taken_apart(loop)
    whole = _Whole(_Grids(kernel, facts, None, complete=True), block_size(body))
    whole.body(body)
    whole.leave_out_owned()
    return whole.in_shared()
