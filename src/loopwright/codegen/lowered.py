"""What is decided of one nest of a grid before its text is written: frozen values, each with one line for people. The
passes of codegen/lowering.py make them; whoever writes text looks them up and decides nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from loopwright.analysis.facts import Reduction
from loopwright.analysis.ownership import OwnedRange
from loopwright.analysis.prefetch import Rounds
from loopwright.ir.nodes import Body, Compare, Expr, For, Load, Stmt, Store
from loopwright.ir.types import Scalar


@dataclass(frozen=True, slots=True)
class LoweringDecision:
    """A decision. loop: the loop of the kernel that it is about."""

    loop: str

    @property
    def name(self) -> str:
        """Of the loop, or of the array that it is about."""
        return self.loop

    @property
    def text(self) -> str:
        """For people."""
        raise NotImplementedError


D = TypeVar("D", bound=LoweringDecision)


@dataclass(frozen=True, slots=True)
class AtomicUpdates(LoweringDecision):
    """An array whose elements any thread may update."""

    array: str
    reduction: Reduction

    @property
    def name(self) -> str:
        return self.array

    @property
    def text(self) -> str:
        return f"atomic updates: of '{self.array}', by several threads at once"


@dataclass(frozen=True, slots=True)
class PrivatisedUpdates(LoweringDecision):
    """A nest that threads share, for which a block has copies of the array that they update, of so many bytes. element:
    the type of their elements; rounds: how many iterations each thread has; parts: how many iterations of the loop over
    blocks one block may do with the same copies. leading: the indices along the first axes that are the same in all
    updates of the nest: the copies are of this row."""

    updates: AtomicUpdates
    element: Scalar
    size_bytes: int
    rounds: int
    parts: int
    leading: tuple[Expr, ...] = ()

    @property
    def array(self) -> str:
        """Of which there are copies."""
        return self.updates.array

    @property
    def most(self) -> int:
        """How many elements there is room for."""
        return self.size_bytes // self.element.size_bytes

    @property
    def text(self) -> str:
        of = f"'{self.array}'" if not self.leading else f"a row of '{self.array}'"
        return f"privatised updates: copies of {of} in shared memory, up to {self.most} elements"


@dataclass(frozen=True, slots=True)
class UpdatesInRegisters(LoweringDecision):
    """An element that a nest which threads share updates, at an index that none of its iterations moves."""

    array: str
    index: tuple[Expr, ...]
    reduction: Reduction

    @property
    def text(self) -> str:
        return f"updates in registers: what a thread does to one element of '{self.array}'"


@dataclass(frozen=True, slots=True)
class UpdatesAtTheEnd(LoweringDecision):
    """An element that all iterations of a loop inside a thread update: once, with what they add up to. positive: which
    way the loop goes."""

    array: str
    index: tuple[Expr, ...]
    reduction: Reduction
    positive: bool

    @property
    def text(self) -> str:
        return f"updates at the end: what a loop does to one element of '{self.array}'"


@dataclass(frozen=True, slots=True)
class UpdatesAhead(LoweringDecision):
    """A loop of updates of which a thread looks so many up before it makes them."""

    count: int

    @property
    def text(self) -> str:
        return f"updates ahead: each thread looks up {self.count} before it makes them"


@dataclass(frozen=True, slots=True)
class InRegisters(LoweringDecision):
    """A local array of a block whose elements each belong to one thread: how, along each axis."""

    array: str
    ranges: tuple[OwnedRange | None, ...]

    @property
    def name(self) -> str:
        return self.array

    @property
    def text(self) -> str:
        return f"each thread keeps its elements of '{self.name}' in registers"


@dataclass(frozen=True, slots=True)
class DoubleBuffered(LoweringDecision):
    """A loop whose tiles arrive for the next iteration while this one uses others."""

    rounds: Rounds

    @property
    def text(self) -> str:
        return f"double buffering: {', '.join(self.rounds.arrays)} for the next iteration while this one runs"


@dataclass(frozen=True, slots=True)
class Alignment:
    """What has to hold at run time for wide accesses: a pointer is a multiple of so many bytes, or else a size or a
    distance one of so many elements. symbol: its C name."""

    symbol: str
    multiple: int
    is_pointer: bool

    @property
    def text(self) -> str:
        """The condition in C."""
        if self.is_pointer:
            return f"LW_ALIGNED({self.symbol}, {self.multiple})"
        return f"{self.symbol} % {self.multiple} == 0"


@dataclass(frozen=True, slots=True)
class WideAccess:
    """An element for each iteration: `count` of them in each access."""

    node: Load | Store
    count: int
    is_read: bool
    is_written: bool


@dataclass(frozen=True, slots=True)
class VectorAccesses(LoweringDecision):
    """A loop inside a thread, of so many iterations, with accesses of several elements at once."""

    trip: int
    accesses: tuple[WideAccess, ...]
    tests: tuple[Alignment, ...]

    @property
    def text(self) -> str:
        found = dict.fromkeys(f"{one.count} elements of '{one.node.array}'" for one in self.accesses)
        return f"vector accesses: {', '.join(found)} at once"


@dataclass(frozen=True, slots=True)
class AsyncCopy(LoweringDecision):
    """A copy into a tile of a loop with double buffering that arrives later, without a register on the way. one:
    single elements can; many: so many neighbours can, all those of the innermost loop around, 0 for none; tests: what
    has to hold for these."""

    store: Store
    source: Load
    one: bool
    many: int
    tests: tuple[Alignment, ...]

    @property
    def name(self) -> str:
        return self.store.array

    @property
    def text(self) -> str:
        return f"asynchronous copies: {f'{self.many} neighbours' if self.many else 'elements'} into '{self.name}'"


@dataclass(frozen=True, slots=True)
class StreamedCopy:
    """A copy whose source moves on by one distance with each iteration of the loop around. threads: the loops over
    threads around it, of which each thread has one iteration; inner: those of a thread; count: how many elements it
    moves at once; limits: what it has to keep to, where that may not hold; tests: what has to hold for the count."""

    store: Store
    source: Load
    threads: tuple[For, ...]
    inner: tuple[For, ...]
    count: int
    limits: tuple[Expr, ...]
    tests: tuple[Alignment, ...]

    @property
    def moved(self) -> tuple[For, ...]:
        """The loops that count copies."""
        return self.inner if self.count == 1 else self.inner[:-1]


@dataclass(frozen=True, slots=True)
class Flows:
    """One text of the copies, statements and what is known of each."""

    copies: Body
    flows: tuple[StreamedCopy, ...]


@dataclass(frozen=True, slots=True)
class SoftwarePipeline(LoweringDecision):
    """The steady part of a loop. whole: the text for whole tiles; ends: the one for all others, if there is one. tests:
    what has to hold in a block for whole tiles; aligned: and for its copies; conditions: what makes the next tile whole
    in this iteration; body: what is done with whole tiles, under `needed`; rest: what does the same with any tile.
    among: the loop of a thread among whose iterations the copies are to be spread."""

    whole: Flows
    ends: Flows | None
    tests: tuple[Expr, ...]
    aligned: tuple[Alignment, ...]
    conditions: tuple[Compare, ...]
    needed: tuple[Compare, ...]
    body: Body
    rest: Body
    among: For | None

    @property
    def text(self) -> str:
        spread = "" if self.among is None else f", copies spread over '{self.among.name}'"
        return f"software pipeline: whole tiles without tests{spread}"


@dataclass(frozen=True, slots=True)
class FullTiles(LoweringDecision):
    """A kernel for launches with whole tiles only. tests, aligned: what the host asks for it, which the kernel then
    need not; loops: those that the tests are about. pipelines: the loops all of whose iterations are steady then."""

    tests: tuple[Compare, ...]
    aligned: tuple[Alignment, ...]
    loops: tuple[For, ...]
    pipelines: frozenset[str]

    @property
    def text(self) -> str:
        return "full tiles: a kernel of its own for launches whose tiles are all whole"


@dataclass(frozen=True, slots=True)
class TensorProduct(LoweringDecision):
    """A loop over the depth of a product of float64, or of bytes, whose sums matrix units find, a warp 16 x 8 at once.
    groups: the loops of a thread over what it keeps, but for two: `rows`, over two rows, and `pair`, over two
    neighbouring columns; store: what adds up; terms: pairs of what is multiplied, the first along rows; across: the
    loop over threads along x."""

    groups: tuple[For, ...]
    rows: For
    pair: For
    store: Store
    terms: tuple[tuple[Expr, Expr], ...]
    across: str

    @property
    def text(self) -> str:
        numbers = "bytes" if self.store.value.type.is_integer else "float64"
        return f"tensor cores: products of {numbers} along '{self.loop}'"


Within = tuple[str, int, str]
"""An array, one of its axes, and the loop whose variable is an index there."""


@dataclass(frozen=True, slots=True)
class MergePath(LoweringDecision):
    """A loop over rows whose entries blocks share equally. rows: how many a thread looks up at once to find where
    blocks begin; entries: how many it works on at once. tested: indices that are tested before, for all entries."""

    rows: int = 1
    entries: int = 1
    tested: tuple[Within, ...] = ()

    @property
    def text(self) -> str:
        arrays = ", ".join(dict.fromkeys(f"'{array}'" for array, _, _ in self.tested))
        tested = f"; that all lie in {arrays} is tested once" if arrays else ""
        return f"merge path: a thread reads {self.entries} entries at once{tested}"


@dataclass(frozen=True, slots=True)
class Lowering:
    """All decisions of one nest, in the order of the passes."""

    decisions: tuple[LoweringDecision, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """For people."""
        return tuple(dict.fromkeys(one.text for one in self.decisions))

    def of(self, kind: type[D], name: str) -> D | None:
        """What of this kind was decided of a loop or an array; None where nothing was."""
        return next((one for one in self.every(kind) if one.name == name), None)

    def every(self, kind: type[D]) -> Iterator[D]:
        """All decisions of a kind."""
        return (one for one in self.decisions if isinstance(one, kind))

    def copy(self, store: Stmt) -> AsyncCopy | None:
        """What was decided of a copy; None where nothing was."""
        return next((one for one in self.every(AsyncCopy) if one.store is store), None)
