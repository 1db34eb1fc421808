"""Generated code as a tree.

Writers build it; what else has to know what stands in the code reads it, and never its text. Printers turn it into
lines (codegen/printer.py) and decide nothing: layout is in the tree too. They tell on which lines each loop and branch
stands, as that is how compilers speak of them (`CodeRegion`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

Part = Literal["all", "prologue", "steady", "epilogue", "unrolled", "remainder", "chunks"]
"""Which iterations of a loop of the kernel a loop of the code does. Of a loop whose tiles arrive ahead: the copies of
the first tile, those between whole tiles, what is left. Of one that is unrolled by hand: several at a time, and the
others. Chunks: a block has several iterations of a loop over blocks."""
Form = Literal["braces", "next line", "same line", "none"]
"""How a block is written: in braces; one statement, on the next line or behind the head; or further in only."""


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A statement, a declaration, a label, a comment or a pragma, as C text."""

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


# ---- C with OpenMP


@dataclass(frozen=True, slots=True)
class Lanes:
    """Lanes of vector registers may do iterations of a loop at once. sums: variables of which each lane has a partial
    result of its own, with OpenMP's operators. private: those that each has for itself; last: of which the one of the
    last iteration counts."""

    sums: tuple[tuple[str, str], ...] = ()
    private: tuple[str, ...] = ()
    last: tuple[str, ...] = ()


# ---- blocks


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeBlock:
    """What belongs together. head: C text before it, such as `while (x)`. begin: what stands on the line of the opening
    brace. indent: how many steps further in the body is. joined: the closing brace stands behind that of the last block
    inside."""

    head: str = ""
    body: Code = ()
    begin: str = ""
    indent: int = 1
    joined: bool = False
    form: Form = "braces"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop(CodeBlock):
    """A `for` loop; its head is what stands in brackets. name: of the kernel's loop that it is, '' where it is none of
    them. trips: how often it goes round, where that is known. unroll: how many iterations the compiler is asked to
    write out, 0 for all, None where it is not asked. lanes: that may do its iterations. at_once: iterations
    that one of "unrolled" does, of which "remainder" does the others."""

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
class ThreadTeam(CodeBlock):
    """What each thread of a team does. threads: C text of how many there are; together: of when these are several, ''
    for always. numbered: `lw_thread` is the number of one there, and `lw_team_size` how many came."""

    threads: str
    together: str = ""
    numbered: bool = True


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


Leaf = CodeLine | Countdown | Question | Exit | Barrier | EndTogether
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
    def shown(self) -> str:
        """Its name, for people."""
        return self.name.removeprefix("lw_").rstrip("_")
