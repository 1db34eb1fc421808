"""Generated code as a tree.

Writers build it; what else has to know what stands in the code reads it, and never its text. Printers turn it into
lines (codegen/printer.py) and decide nothing. They tell on which lines each loop and branch stands, as that is how
compilers speak of them (`CodeRegion`).

What all languages of C's family spell alike is text: expressions, assignments, jumps, declarations of plain variables.
So are names that the header of each language defines: functions without effects, `LW_GLOBAL`, the number of a thread
(`threadIdx.x`). All else is a node, which a printer's table spells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

Part = Literal["all", "prologue", "steady", "epilogue", "unrolled", "remainder", "chunks"]
"""Which iterations of a loop of the kernel a loop of the code does. Of a loop whose tiles arrive ahead: the copies of
the first tile, those between whole tiles, what is left. Of one that is unrolled by hand: several at a time, and the
others. Chunks: a block has several iterations of a loop over blocks."""
AtomicOp = Literal["add", "min", "max", "and", "or", "xor", "set"]

DECLARED_SHARED_BYTES = 48 * 1024
"""The most shared memory of a block that a device text can declare. More is asked for when the kernel is started."""
SHARED_ALIGNMENT = 16
ELEMENT_BYTES = {"bool": 1, "float": 4, "double": 8} | {
    f"{sign}int{8 * size}_t": size for sign in ("", "u") for size in (1, 2, 4, 8)
}
"""By types in C."""


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A statement, a declaration, a label or a comment, as C text."""

    text: str


@dataclass(frozen=True, slots=True)
class Countdown:
    """The variable in which questions count operations, and its declaration."""


@dataclass(frozen=True, slots=True)
class Question:
    """Where a thread asks whether to stop: a statement that hardly counts. operations: C text of how many of them it
    counts; it asks once these are many. Where there is none, it asks now; under a condition (C text), if there is one,
    and together with all threads of its block, or of a team (C text of which ones these are)."""

    operations: str = ""
    condition: str = ""
    together: bool = False
    team: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """What is recorded of a check that fails: the number of its site, and two numbers (C texts)."""

    site: str
    index: str = "0"
    size: str = "0"


@dataclass(frozen=True, slots=True)
class Exit:
    """Leave the function, under a condition (C text) if there is one, once the failure is recorded that is why. On a
    GPU the thread ends."""

    condition: str = ""
    failure: Failure | None = None


# ---- memory


@dataclass(frozen=True, slots=True)
class AlignedArray:
    """The declaration of a thread's own array: the type of its elements in C, and how many there are. It begins at a
    multiple of so many bytes."""

    type: str
    name: str
    count: int
    bytes: int


@dataclass(frozen=True, slots=True)
class AtomicOperation:
    """Adds a value to an element, has it become the least or greatest of both, or sets it to the value, whatever other
    threads do with it meanwhile. place: C text of which one of an array, '' for a variable. type: in C, of a constant
    that gets the value before the element is found, '' for none. before: C text of a variable, with its type where it
    is a new one, for what the element was before, '' where nobody asks."""

    op: AtomicOp
    array: str
    place: str
    value: str
    type: str = ""
    before: str = ""


@dataclass(frozen=True, slots=True)
class WideVariable:
    """The declaration of an array of vectors, each of so many elements of a type of C."""

    type: str
    width: int
    name: str
    count: int


@dataclass(frozen=True, slots=True)
class WideLoad:
    """Reads a vector from the elements of an array that begin at a place (C texts)."""

    vector: str
    width: int
    array: str
    place: str


@dataclass(frozen=True, slots=True)
class WideStore:
    """Writes a vector to the elements of an array that begin at a place (C texts)."""

    vector: str
    width: int
    array: str
    place: str


@dataclass(frozen=True, slots=True)
class CopyToShared:
    """Copies neighbouring elements of global memory into shared memory, where they are for this thread once it has
    awaited its copies. inside: C text; where it does not hold, zeros are written and nothing is read; '' for always."""

    array: str
    place: str
    source: str
    index: str
    count: int
    inside: str = ""


@dataclass(frozen=True, slots=True)
class AwaitCopies:
    """Wait until what this thread copies has arrived."""


# ---- threads of a block


@dataclass(frozen=True, slots=True)
class Barrier:
    """Where all threads of a block meet, or those of a team in a warp: C text of which ones these are. ended: one of
    them may have ended before, and then all do. threads: how many a block has, where that is asked."""

    team: str = ""
    ended: bool = False
    threads: int = 0


@dataclass(frozen=True, slots=True)
class EndTogether:
    """All threads of a block, or those of a team, end where one of them has. threads: how many a block has. asking:
    only in code that asks whether to stop."""

    team: str = ""
    threads: int = 0
    asking: bool = False


@dataclass(frozen=True, slots=True)
class Shuffle:
    """Gets a value from another thread of a team: across, the one whose number differs by the bits of a distance; up,
    the one that is so far before. variable: C text of what it is put into, with its type where it is a new one. type:
    of the value in C; narrow: it has less than 32 bits. team: C text of which threads take part."""

    way: Literal["across", "up"]
    variable: str
    type: str
    narrow: bool
    value: str
    distance: str
    team: str


# ---- the host


@dataclass(frozen=True, slots=True)
class Launch:
    """Starts a kernel of the device text. kernel: C text of its number. grid, block: C texts of how many blocks there
    are along x, y and z, and numbers of threads; the former are in `lw_grid` from then on. arguments: C names of
    variables. units: C text of how long it takes at most. failure: recorded where it does not start. shared_bytes: of
    shared memory that a block has besides what the text declares."""

    kernel: str
    grid: tuple[str, ...]
    block: tuple[int, ...]
    arguments: tuple[str, ...]
    units: str
    failure: Failure
    shared_bytes: int = 0


# ---- C with OpenMP


@dataclass(frozen=True, slots=True)
class Lanes:
    """Lanes of vector registers may do iterations of a loop at once. sums: variables of which each lane has a partial
    result of its own, with OpenMP's operators. private: those that each has for itself; last: of which the one of the
    last iteration counts. vector_functions: see `decisions.VectorLanes`. length: how many iterations at once would be
    best, where the compiler is not to choose; 0 where it is."""

    sums: tuple[tuple[str, str], ...] = ()
    private: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    vector_functions: bool = False
    length: int = 0


# ---- blocks


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeBlock:
    """What belongs together."""

    body: Code = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop(CodeBlock):
    """A `for` loop; its head is what stands in brackets. name: of the kernel's loop that it is, '' where it is none of
    them. trips: how often it goes round, where that is known. unroll: how many iterations the compiler is asked to
    write out, 0 for all, None where it is not asked. lanes: that may do its iterations. at_once: iterations
    that one of "unrolled" does, of which "remainder" does the others."""

    head: str
    name: str = ""
    trips: int | None = None
    unroll: int | None = None
    lanes: Lanes | None = None
    part: Part = "all"
    at_once: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat(CodeBlock):
    """A loop that runs while a condition holds. unroll: as in Loop."""

    condition: str
    unroll: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims(CodeBlock):
    """What a thread does for each of the numbers below a count that it is the first to claim. number: the C name of the
    variable that has it; counter: of the one that all threads share, which counts the claimed ones; count: C text."""

    number: str
    counter: str
    count: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadTeam(CodeBlock):
    """What each thread of a team does. threads: C text of how many there are."""

    threads: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch(CodeBlock):
    """What runs under a condition. name, part: of the loop whose prologue it is. axes: those along which only the first
    threads of a block run it, where the condition says that and no more. versions: what runs otherwise does the same.
    plain: it holds a loop that asks nothing, and what runs otherwise the same one, which asks."""

    condition: str
    name: str = ""
    part: Part = "all"
    axes: str = ""
    versions: bool = False
    plain: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Otherwise(CodeBlock):
    """What runs where the branch before it does not."""


Leaf = (
    CodeLine | Countdown | Question | Exit | AlignedArray | AtomicOperation | WideVariable | WideLoad | WideStore |
    CopyToShared | AwaitCopies | Barrier | EndTogether | Shuffle | Launch
)  # fmt: skip
Node = Leaf | CodeBlock
Code = tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class FunctionCode:
    """A function. result: its type in C, and what stands before that. parameters: names and types. ending: what is done
    on every way out; None where there is but the one at the end of the body."""

    result: str
    name: str
    parameters: tuple[tuple[str, str], ...]
    body: Code
    ending: Code | None = None


@dataclass(frozen=True, slots=True)
class TranslationUnit:
    """A whole text: what it includes, as text, and its functions."""

    header: str
    functions: tuple[FunctionCode, ...]


@dataclass(slots=True, eq=False)
class CodeRegion:
    """A loop or a branch in printed code, or a whole kernel. first, last: its lines, from 1 on, the head's too. unroll:
    1 where the compiler is not asked. question: it is no more than a Question. The rest is as in the tree."""

    kind: Literal["kernel", "loop", "then", "else"]
    first: int
    last: int = 0
    name: str = ""
    trips: int | None = None
    unroll: int = 1
    part: Part = "all"
    at_once: int = 1
    condition: str = ""
    axes: str = ""
    versions: bool = False
    plain: bool = False
    question: bool = False
    outer: CodeRegion | None = None
    inner: list[CodeRegion] = field(default_factory=list)

    def around(self) -> Iterator[CodeRegion]:
        """Itself, and the regions around it, from the inside to the outside."""
        region: CodeRegion | None = self
        while region is not None:
            yield region
            region = region.outer

    @property
    def loop(self) -> CodeRegion:
        """The nearest loop around a branch, or the loop or kernel itself."""
        return next(region for region in self.around() if region.kind in ("loop", "kernel"))

    def within(self) -> Iterator[CodeRegion]:
        """All regions inside, outer ones first."""
        for region in self.inner:
            yield region
            yield from region.within()

    def at(self, line: int) -> CodeRegion:
        """The innermost region that a line is in."""
        for region in self.inner:
            if region.first <= line <= region.last:
                return region.at(line)
        return self


@dataclass(frozen=True, slots=True)
class SharedArray:
    """An array in the shared memory of a block: its name and the type of its elements in C, how many there are, and the
    name of the kernel's array that it is, if it is one."""

    name: str
    type: str
    count: int
    array: str = ""

    @property
    def size_bytes(self) -> int:
        """Of all elements, and up to where the next array may begin."""
        return -(-self.count * ELEMENT_BYTES[self.type] // SHARED_ALIGNMENT) * SHARED_ALIGNMENT


def asked_shared_bytes(arrays: Sequence[SharedArray]) -> int:
    """How much shared memory is asked for when a kernel with these arrays is started; 0: its text declares them."""
    total = sum(one.size_bytes for one in arrays)
    return total if total > DECLARED_SHARED_BYTES else 0


@dataclass(frozen=True, slots=True)
class KernelEntry:
    """A `__global__` function. line: of the text, where it stands alone, once that is printed. bits: of distances
    between elements; even: it is for whole tiles only. asks: it asks whether to stop, and another one with the same
    code does not."""

    name: str
    line: int = 0
    bits: Literal[32, 64] = 32
    even: bool = False
    asks: bool = False


@dataclass(frozen=True, slots=True)
class KernelCode:
    """The code of a kernel of a GPU, and what starts it. parameters: names and types. flags: what it knows when it is
    compiled, by names, and what of an entry that is. shared, declared: its arrays in shared memory, and its variables.
    bounds: how many threads a block has, and how many blocks a multiprocessor is to have at once, where that is
    asked. entries: their lines are not known yet."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    flags: tuple[tuple[str, Literal["even", "asks"]], ...]
    shared: tuple[SharedArray, ...]
    declared: Code
    body: Code
    bounds: tuple[int, ...]
    entries: tuple[KernelEntry, ...]


@dataclass(frozen=True, slots=True)
class DeviceFunction:
    """A function of a device text that holds the code of a kernel, and how it is started. loop: the outermost loop of
    the nest that it is, '' where it is none. threads: a block has this many. parameters: names, and types in C.
    lowered: what was decided of the nest before its text was written, for people."""

    name: str
    loop: str
    threads: int
    parameters: tuple[tuple[str, str], ...]
    shared: tuple[SharedArray, ...]
    region: CodeRegion
    entries: tuple[KernelEntry, ...]
    lowered: tuple[str, ...] = ()

    @property
    def asked_shared_bytes(self) -> int:
        """Shared memory of a block that is asked for when it is started, beside what its text declares."""
        return asked_shared_bytes(self.shared)

    @property
    def shown(self) -> str:
        """Its name, for people."""
        return self.name.removeprefix("lw_").rstrip("_")
