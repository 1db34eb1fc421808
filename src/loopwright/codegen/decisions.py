"""What code is generated for, and what the lowering passes (cpu_lowering.py) decide about its loops: frozen
values, by the names of loops. The writers look them up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from loopwright.analysis.collapse import Collapsed
from loopwright.analysis.facts import Bounds, Facts, Reduction
from loopwright.codegen.arrays import ArrayText
from loopwright.codegen.work import LoopWork
from loopwright.ir.linear import parted
from loopwright.ir.nodes import Allocate, Binary, Body, Checked, Const, Dim, Expr, For, Kernel, Load, Store, Var
from loopwright.ir.program import Way
from loopwright.ir.queries import contains
from loopwright.ir.types import Scalar
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import expressions, statements

UNPROVEN = Bounds("checked", "every access is checked", may_be_negative=True)
INSIDE = Bounds("proven", "tested where the loop is entered")
COPIED = float(64 << 20)  # bytes of copies that are worth having, where one thread is all there is instead
NEAR = float(48 << 20)  # the same where threads may share out the target: beyond caches that is faster
OWNED = float(24 << 20)  # bytes of a target, times threads but one, from which that is faster than one thread

Access = tuple[int, int]
"""An access along an axis, by the id of the node; of a Checked, 0."""
Accesses = frozenset[Access]
NONE: Accesses = frozenset()


@dataclass(frozen=True, slots=True)
class CodegenInput:
    """A kernel, what is proven of it, its arrays, scalars, and loops by their names. check_all: every access is tested
    in the code. strict: no fused multiply-add, no other order of sums. deterministic: the same bits for any number of
    threads."""

    kernel: Kernel
    facts: Facts
    arrays: Mapping[str, ArrayText]
    scalars: Mapping[str, Scalar]
    loops: Mapping[str, For]
    check_all: bool
    strict: bool
    deterministic: bool = False

    def bounds_of(self, node: Load | Store, freed: Accesses = NONE) -> tuple[Bounds, ...]:
        """How each index is kept inside. freed: what needs no check, as it was tested before."""
        if self.check_all:
            return (UNPROVEN,) * len(node.index)
        found = self.facts.bounds_of(node)
        if not freed:
            return found
        return tuple(INSIDE if (id(node), axis) in freed else bounds for axis, bounds in enumerate(found))

    def is_checked(self, node: Load | Store | Checked, freed: Accesses = NONE) -> bool:
        """Whether the text of this node contains a check."""
        if isinstance(node, Checked):
            is_freed = (id(node), 0) in freed
            return self.check_all or (not is_freed and self.facts.bounds_of(node)[0].kind == "checked")
        return any(bounds.kind == "checked" for bounds in self.bounds_of(node, freed))

    def may_fail(self, body: Body, freed: Accesses = NONE) -> bool:
        """Whether the text of a body may leave it in the middle because of a failed check."""
        return (
            contains(body, Allocate)
            or any(self.is_checked(stmt, freed) for stmt in statements(body, Store))
            or any(self.is_checked(expr, freed) for expr in expressions(body, Load, Checked))
        )

    def in_range(self, expr: Expr) -> bool:
        """Whether the guard keeps an expression and what is little more away from the ends of its type: sizes, scalar
        arguments, and loops over these. What data says may be anywhere."""
        match expr:
            case Const() | Dim():
                return True
            case Var(name=name):
                loop = self.loops.get(name)
                if loop is None:
                    return any(param.name == name for param in self.kernel.scalars)
                return self.in_range(loop.lower) and self.in_range(loop.upper)
            case Binary(op="add" | "sub" | "mul" | "min" | "max"):
                return self.in_range(expr.left) and self.in_range(expr.right)
            case Binary(op="floordiv" | "mod", right=Const(value=value)) if value > 0:
                return self.in_range(expr.left)
        return False

    def constant_trip(self, loop: For) -> int | None:
        """The number of iterations of a loop from a place that is no constant to one a constant distance on; None where
        it is not constant, or where the end might wrap: then there would be none."""
        if self.check_all or isinstance(loop.lower, Const) or not isinstance(loop.step, Const) or not loop.step.value:
            return None
        (start, first), (end, last) = parted(loop.lower), parted(loop.upper)
        if start is None or start != end or not self.in_range(start):
            return None
        return len(range(first, last, int(loop.step.value)))


# ---- decisions --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IndexTest:
    """That an index along an axis of an array stays inside for all iterations of a loop. slope: how it moves when the
    loop's variable grows by one: 1, -1 or 0. greatest: of an index that the loops of a nest move, its greatest value;
    `index` is the least one then."""

    array: str
    axis: int
    index: Expr
    slope: int
    greatest: Expr | None = None


@dataclass(frozen=True, slots=True)
class EntryTest:
    """Two versions of a loop. tests: made at its entry, in this order. inside: the accesses that need no check where
    all of them hold. arrays: the names of what they access. of_nest: it is a nest of short loops."""

    tests: tuple[IndexTest, ...]
    inside: Accesses
    arrays: tuple[str, ...]
    of_nest: bool = False

    @property
    def text(self) -> str:
        """It in words."""
        return f"tests: indices of {' and '.join(self.arrays)} at once, before the first iteration"


@dataclass(frozen=True, slots=True)
class Inspection:
    """An inspector of a loop. tests: of what it reads itself, for each strip. needed: the scalars that it computes.
    inside: accesses, conversions and other checks that need none where it found nothing. at_once: it does what the loop
    does, since nobody sees that where a check fails; then it needs all scalars that the loop assigns."""

    tests: tuple[IndexTest, ...]
    needed: frozenset[str]
    inside: Accesses
    at_once: bool = False

    @property
    def text(self) -> str:
        """It in words."""
        when = "together with them" if self.at_once else "before the first of them"
        return f"checks: made for a strip of iterations at once, {when}"


@dataclass(frozen=True, slots=True)
class PartialResult:
    """A reduction with a partial result of its own. store: one of the updates, where the target is an array element;
    None for a scalar. variable: the C variable that keeps it, once there is one."""

    reduction: Reduction
    scalar: Scalar
    store: Store | None = None
    variable: str = ""


@dataclass(frozen=True, slots=True)
class VectorLanes:
    """Lanes of vector registers may do iterations of a loop at once: with a partial result in each lane; `private`
    scalars that each has for itself; and `last`, those whose value of the last iteration is read after the loop.
    vector_functions: functions such as exp may be the C library's for whole registers, whose last digits differ."""

    partials: tuple[PartialResult, ...] = ()
    private: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    vector_functions: bool = False

    @property
    def text(self) -> str:
        """It in words."""
        names = " and ".join(user_name(partial.reduction.target) for partial in self.partials)
        return f"lanes: each has a partial result of {names}" if names else "lanes: run iterations in any order"


@dataclass(frozen=True, slots=True)
class Rows:
    """An inner loop over the entries of row i: from `pointer[first]` to `pointer[first + 1]`, where `first` grows by
    one with each iteration of the parallel loop. `loop`: the inner loop's name."""

    pointer: str
    first: Expr
    loop: str


@dataclass(frozen=True, slots=True)
class Owned:
    """A loop whose updates can be shared out by owner: the array, and the index on its first axis in terms of the
    loop's variable and of what the loop does not change."""

    array: str
    index: Expr


@dataclass(frozen=True, slots=True)
class ParallelRegion:
    """A loop on several threads. partials: what each has a partial result of; sums: the arrays that each has a copy of,
    by their reductions; last: scalars whose value of the last iteration is brought out. shares: one stretch for each
    thread; pieces for whoever is free; or blocks of iterations, the same ones for any number of threads. rows: where an
    array tells how much work is before each iteration. owned: how threads share out a target that is too large for
    copies. collapsed: whether iterations of a loop inside are shared out too, as if both loops were one."""

    partials: tuple[PartialResult, ...]
    sums: tuple[Reduction, ...]
    last: tuple[str, ...]
    work: LoopWork
    shares: Literal["stretches", "pieces", "blocks"] = "stretches"
    rows: Rows | None = None
    owned: Owned | None = None
    collapsed: Collapsed | None = None

    def described(self) -> Iterator[str]:
        """How work is shared out and when, in words."""
        if self.sums:
            names = " and ".join(user_name(reduction.target) for reduction in self.sums)
            most = int(NEAR if self.owned is not None else COPIED) >> 20
            until = f"up to {most} MB if that is little compared with the work"
            yield f"updates: into a copy of {names} for each thread, {until}"
        if self.owned is not None:
            name, least = user_name(self.owned.array), int(OWNED) >> 20
            large = f"large ({least} MB on 2 threads)"
            yield f"updates: otherwise, if {name} is {large}, each thread updates its own part, in order"
        if self.sums:
            yield "updates: otherwise on 1 thread"
        if self.collapsed is not None:
            yield f"collapsed: with '{user_name(self.collapsed.inner.name)}', whose iterations are shared too"
        if self.shares == "pieces":
            what = "of equal length" if self.rows is None else f"of equal work, as {user_name(self.rows.pointer)} tells"
            fixed = bool(self.partials or self.sums)
            yield f"shares: pieces {what}, {'the same ones in every run' if fixed else 'for the next free thread'}"


@dataclass(frozen=True, slots=True)
class NarrowSums:
    """Sums of a loop for strips of its iterations in a narrow type, and in what number of them nothing overflows.
    tests: that what only some iterations read is there in all of a strip, so that its conditions need no jumps; None
    where that cannot be tested."""

    width: Scalar
    strip: int
    tests: tuple[IndexTest, ...] | None


@dataclass(frozen=True, slots=True)
class HeldElements:
    """What iterations in lanes keep in variables while they change it under conditions. elements: one access of each
    element. tested: those of them of which a test before the loop has to show that they are inside. sums: partial
    results to which an iteration adds at its end, all at once."""

    elements: tuple[Load | Store, ...] = ()
    tested: tuple[Load | Store, ...] = ()
    sums: tuple[PartialResult, ...] = ()


@dataclass(frozen=True, slots=True)
class LoopLowering:
    """What is decided about loops, by their names; of a GPU's, only which are unrolled. strips: loops that ask between
    strips of their iterations whether to stop. twice: those of them that are also written without strips, for few
    iterations. counted: those whose operations the loop around counts before them. alone: innermost loops of regions,
    inside of others, that also stand there for one thread, for few iterations. selected: conditional updates (by their
    identity) that do without a jump; compacted: so do these stores at an index that moves on. vectors: loops in lanes
    that are written as code for whole registers, and how many bytes of each array they go through. unrolled: how many
    iterations of a loop a compiler is asked to write out. narrow: how loops in lanes sum up strips in narrow types.
    interleaved: loops in lanes with several accumulators for each reduction. skipped: loops that pass over blocks of
    iterations in which nothing happens. few: of how many iterations at most they choose extremes without a jump.
    looked_up: loops that are kept out of lanes, as they only look things up. apart: products (by their identity) that
    no multiply-add takes in. masked: loops in lanes that end in a masked register where they are short. overlapped:
    loops in lanes whose last register begins earlier, and how many iterations fill one. divisions: those that are done
    once before a statement (by its identity), for it and those after it. early: functions that are computed before a
    statement (by its identity), whether it needs them or not. late: remainders and extremes (by their identity) that
    the next iteration waits for. separated: stores (by their identity) that no wide one takes in. outlined: statements,
    and sides of branches, with a function of their own.
    held: what iterations in lanes keep in variables while they change it. fixed: elements that loops in lanes read
    before their first iteration.
    checks: the accesses that have checked the index of others already, and those others; itself for one that has.
    lockstep: loops whose iterations go on together in lanes, and in how many vectors."""

    regions: Mapping[str, ParallelRegion] = field(default_factory=dict)
    versions: Mapping[str, EntryTest] = field(default_factory=dict)
    inspections: Mapping[str, Inspection] = field(default_factory=dict)
    lanes: Mapping[str, VectorLanes] = field(default_factory=dict)
    strips: frozenset[str] = frozenset()
    twice: frozenset[str] = frozenset()
    counted: frozenset[str] = frozenset()
    alone: frozenset[str] = frozenset()
    held: Mapping[str, HeldElements] = field(default_factory=dict)
    fixed: Mapping[str, tuple[Load, ...]] = field(default_factory=dict)
    selected: frozenset[int] = frozenset()
    compacted: frozenset[int] = frozenset()
    vectors: Mapping[str, int] = field(default_factory=dict)
    unrolled: Mapping[str, int] = field(default_factory=dict)
    narrow: Mapping[str, NarrowSums] = field(default_factory=dict)
    interleaved: frozenset[str] = frozenset()
    skipped: frozenset[str] = frozenset()
    few: Mapping[str, int] = field(default_factory=dict)
    looked_up: frozenset[str] = frozenset()
    apart: frozenset[int] = frozenset()
    masked: frozenset[str] = frozenset()
    overlapped: Mapping[str, int] = field(default_factory=dict)
    divisions: Mapping[int, tuple[Binary, ...]] = field(default_factory=dict)
    early: Mapping[int, tuple[Expr, ...]] = field(default_factory=dict)
    lockstep: Mapping[str, int] = field(default_factory=dict)
    late: frozenset[int] = frozenset()
    separated: frozenset[int] = frozenset()
    outlined: frozenset[int] = frozenset()
    checks: Mapping[Access, Access] = field(default_factory=dict)

    def lanes_of(self, loop: str) -> tuple[Way, ...]:
        """Whether lanes do the iterations of a loop."""
        return ("lanes",) if loop in self.lanes or loop in self.vectors or loop in self.lockstep else ()

    def notes_of(self, loop: str) -> Iterator[str]:
        """What was decided about a loop, in words."""
        if loop in self.regions:
            yield from self.regions[loop].described()
        for decided in (self.versions.get(loop), self.inspections.get(loop), self.lanes.get(loop)):
            if decided is not None:
                yield decided.text
        if loop in self.lockstep:
            vectors = f"{self.lockstep[loop]} vectors" if self.lockstep[loop] > 1 else "one vector"
            yield f"lockstep: iterations go on together in {vectors} until data end them, if registers have 32 bytes"
        if loop in self.interleaved:
            yield "accumulators: four for each partial result, so that additions need not wait for one another"
        if loop in self.held and self.held[loop].elements:
            names = " and ".join(dict.fromkeys(user_name(one.array) for one in self.held[loop].elements))
            yield f"choices: elements of {names} are stored in any case, with what conditions choose"
        if loop in self.masked:
            yield "short: with few iterations, the last ones run together in a masked register"
        if loop in self.overlapped:
            yield "whole registers: the last iterations are done twice, so that none is left over"
        if loop in self.skipped:
            yield "blocks: 64 iterations are skipped at once if nothing happens in them"
        if loop in self.few:
            yield f"choices: of at most {self.few[loop]} iterations each chooses without a jump"
        if loop in self.alone:
            yield "alone: one thread runs the loop if there are few iterations"
        if loop in self.strips:
            many = ", if there are many" if loop in self.twice else ""
            counted = ", which the loop around counts" if loop in self.counted else ""
            yield f"interrupts: tested between strips of iterations{many}{counted}"
