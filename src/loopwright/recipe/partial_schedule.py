"""A plan: a kernel on its way through the recipe, with the steps taken so far and the reason for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TypeVar

from loopwright.analysis.analyse import analyse_restructured
from loopwright.analysis.facts import Bounds, Facts, LoopFacts, Verdict
from loopwright.analysis.strides import AccessStrides, walks
from loopwright.ir.by_identity import by_identity
from loopwright.ir.nodes import Allocate, Assign, Body, Const, For, If, Kernel, Load, Stmt, Store, Var, While
from loopwright.ir.queries import arrays_loaded, arrays_made, arrays_stored, contains, names_assigned
from loopwright.ir.walk import expressions, loops, statements, subexpressions
from loopwright.recipe.tunable import Choices, Constraint, Tunable
from loopwright.steps.extent import loops_around, most_trips_of, most_trips_within
from loopwright.steps.nest import LIMIT, size_of
from loopwright.steps.specialize import Specialize
from loopwright.steps.step import Step

T = TypeVar("T")

Chain = tuple[For, ...]
"""Loops around one another, outermost first; the last one is innermost."""


@dataclass(frozen=True, slots=True)
class ReasonedStep:
    """One step, and why it is taken, in the user's words."""

    step: Step
    why: str


@dataclass(frozen=True, slots=True, eq=False)
class Nest:
    """What one statement of a kernel's body holds. own: scalars it assigns and arrays it makes; used: those it reads or
    writes, parameters and loop variables too. stmt: the statement itself, so that its identity stays its own."""

    stmt: Stmt
    loops: frozenset[str]
    own: frozenset[str]
    used: frozenset[str]
    accesses: frozenset[tuple[object, str]]
    size: int


WITHIN = Bounds("proven", "the loops that run over a copy are as long as it is")


class NotTaken(Exception):
    """A step of a group is not legal, so that the group is not taken."""


@dataclass
class PartialSchedule:
    """`kernel` is what became of `written`, whose facts are `facts`; most steps that restructure ask for no newer
    ones (but see `begin_again`). choices: the numbers to take in place of the defaults; None: all are defaults, and
    nobody asks which there are. refusals: why nests became no grids, by their innermost loops; short: loops that
    have few iterations wherever they run; sides: the loops of versions for calls in which one of them is shorter than
    this; merges: loops that put partial results together; turns: loops whose iterations use the same memory, one after
    the other; few: the loops of versions of nests for calls with few of something, where all numbers have their
    defaults; apart: those of rows that are worth a block each; rare: loops that hardly ever run; narrow: whether loops
    of versions are too short to be shared out wherever they run."""

    written: Kernel
    facts: Facts
    strict: bool
    kernel: Kernel
    decisions: list[ReasonedStep] = field(default_factory=list)
    choices: Choices | None = None
    refusals: dict[str, str] = field(default_factory=dict)
    short: set[str] = field(default_factory=set)
    sides: dict[str, int] = field(default_factory=dict)
    merges: set[str] = field(default_factory=set)
    turns: set[str] = field(default_factory=set)
    few: frozenset[str] = frozenset()
    apart: set[str] = field(default_factory=set)
    rare: set[str] = field(default_factory=set)
    narrow: dict[str, bool] = field(default_factory=dict)
    _facts: tuple[Kernel, Facts] | None = None
    _walks: tuple[Kernel, tuple[AccessStrides, ...]] | None = None
    _part: tuple[Kernel, frozenset[int], Kernel] | None = None
    _nests: dict[int, Nest] = field(default_factory=dict)

    def take(self, step: Step, why: str, anew: bool = False) -> None:
        """Apply a step. Raises NotTaken where it is not legal. anew: it needs facts on what other steps have made."""
        after = self.remembered(f"take {step} {anew}", lambda: self._after(step, anew))
        if after is None:
            raise NotTaken(str(step))
        self.kernel = after
        self.decisions.append(ReasonedStep(step, why))

    def _after(self, step: Step, anew: bool) -> Kernel | None:
        judged, facts = (self.kernel, self.present_facts()) if anew else (self._concerned(step), self.facts)
        return step.applied(self.kernel, facts) if step.illegal(judged, facts, self.strict) is None else None

    def remembered(self, what: str, make: Callable[[], T]) -> T:
        """What another run of the recipe found out about the kernel as it is now."""
        if self.choices is None:
            return make()
        return self.choices.memory.get((self.kernel, self.facts), what, make)

    def number(self, tunable: Tunable) -> int:
        """What is wanted of a tunable, or its default. Raises UnfitError."""
        return tunable.default if self.choices is None else self.choices.number(tunable)

    def threads(self, tunable: Tunable) -> int:
        """The same of threads of a block, as far as it can have so many."""
        return min(self.number(tunable), self.facts.gpu.threads)

    def require(self, *constraints: Constraint) -> None:
        """What has to hold of the numbers asked for so far; defaults are known to fit. Raises UnfitError."""
        if self.choices is not None:
            for constraint in constraints:
                self.choices.require(constraint, self.choices.numbers())

    @contextmanager
    def in_nest(self, chain: Chain) -> Iterator[None]:
        """Numbers that are asked for here are for this nest."""
        choices = self.choices
        if choices is None or self.is_for_few(chain):
            self.choices = None
            yield
            self.choices = choices
            return
        with choices.in_nest(len({loop.name.partition(".")[0] for loop in chain})):
            yield

    def is_for_few(self, chain: Chain) -> bool:
        """Whether a nest is, or has been made of, a version for calls with few of something."""
        return any(loop.name == name or loop.name.startswith(f"{name}.") for loop in chain for name in self.few)

    def side_of(self, loop: str) -> int:
        """The least of `sides` that holds of a loop, or of what it has been made of; 0: of none of them."""
        found = (most for name, most in self.sides.items() if loop == name or loop.startswith(f"{name}."))
        return min(found, default=0)

    @contextmanager
    def by_default(self) -> Iterator[None]:
        """Every number has its default here: whether something can be done at all does not hang on the choices."""
        with nullcontext() if self.choices is None else self.choices.by_default():
            yield

    def allows(self, step: Step) -> bool:
        """Whether a step is legal now."""
        facts = self.present_facts()
        return self.remembered(f"allow {step}", lambda: step.illegal(self.kernel, facts, self.strict) is None)

    def _concerned(self, step: Step) -> Kernel:
        """The kernel without the nests that a step has nothing to do with: they stay where they are, and to judge it
        without them is the same, and faster. They may share arguments with it, but nothing else."""
        if step.looks_around:
            return self.kernel
        words = set(str(step).split())
        nests = [self._nest(stmt) for stmt in _apart(self.kernel.body)]
        if not any(nest.loops & words for nest in nests):
            return self.kernel
        others = [nest for nest in nests if isinstance(nest.stmt, For) and not nest.loops & words]
        kept = [nest for nest in nests if nest not in others]
        is_known = all(access in self.facts.known for nest in kept for access in nest.accesses)
        if not others or not is_known or sum(nest.size for nest in nests) > LIMIT // 4:
            return self.kernel
        mine = frozenset[str]().union(*(nest.own for nest in kept))
        used = frozenset[str]().union(*(nest.used for nest in kept))
        if any(nest.own & used or nest.used & mine for nest in others):
            return self.kernel
        if _changes_what_is_read_twice(others, kept):
            return self.kernel
        left_out = frozenset(id(nest.stmt) for nest in others)
        if self._part is None or self._part[0] is not self.kernel or self._part[1] != left_out:
            part = replace(self.kernel, body=_without(self.kernel.body, left_out))
            self._part = self.kernel, left_out, part
        return self._part[2]  # the very same one for the next step that is tried, and what is kept about it

    def _nest(self, stmt: Stmt) -> Nest:
        found = self._nests.get(id(stmt))
        if found is None or found.stmt is not stmt:
            found = self._nests[id(stmt)] = _nest_of(stmt)
        return found

    def present_facts(self) -> Facts:
        """The facts of the kernel as it is now."""
        if self.kernel is self.written:
            return self.facts
        if self._facts is None or self._facts[0] is not self.kernel:
            self._facts = self.kernel, self.remembered("facts", lambda: analyse_restructured(self.kernel, self.facts))
        return self._facts[1]

    @contextmanager
    def together(self) -> Iterator[None]:
        """All steps of the block are taken, or none."""
        before, count = (self.written, self.facts, self.kernel, self.few, {**self.narrow}), len(self.decisions)
        asked = None if self.choices is None else self.choices.state()
        try:
            yield
        except NotTaken:
            self.written, self.facts, self.kernel, self.few, self.narrow = before
            del self.decisions[count:]
            if self.choices is not None and asked is not None:
                self.choices.reset(asked)

    def begin_again(self) -> None:
        """From now on the kernel as it is now counts as the written one: verdicts are those of its own loops, and
        accesses of what steps have made are known. Where nests changed as a whole, that is worth the time."""
        self.facts, self.written = self.present_facts(), self.kernel

    def remember_accesses(self) -> None:
        """From now on accesses that steps have made are known, with what was proven of them as they are now; verdicts
        stay those of the written kernel's loops."""
        present = self.present_facts()
        self.facts = replace(self.facts, known={**self.facts.known, **present.known}, guard=present.guard)

    def trust_copies(self) -> None:
        """From now on accesses that steps have made count as proven, where all of the written kernel are. They are of
        local arrays as large as the loops they run over, of elements that were copied for proven accesses, or of
        iterations that were proven to be harmless (`overrun`): to prove that once more would take long."""
        if any(one.kind != "proven" or one.may_be_negative for found in self.facts.known.values() for one in found):
            self.remember_accesses()
            return
        parts: list[Load | Store] = [*expressions(self.kernel.body, Load), *statements(self.kernel.body, Store)]
        new = {(one.key, one.array): (WITHIN,) * len(one.index) for one in parts}
        self.facts = replace(self.facts, known={**new, **self.facts.known})

    def walks(self) -> tuple[AccessStrides, ...]:
        """Every access of the kernel as it is now."""
        if self._walks is None or self._walks[0] is not self.kernel:
            self._walks = self.kernel, walks(self.kernel)
        return self._walks[1]

    def verdict(self, loop: For) -> Verdict:
        """What was proven of the loop that the user wrote there."""
        found = self.proven(loop)
        return "undecided" if found is None else found.verdict

    def proven(self, loop: For) -> LoopFacts | None:
        """All that was proven of it; None for a loop that steps have made."""
        known = self.facts.loops
        if loop.name in known and known[loop.name].at == loop.at:
            return known[loop.name]
        same = [found for found in known.values() if loop.at is not None and found.at == loop.at]
        if self.turns and len(same) > 1:  # pieces, and versions: the one that is about what this one has for itself
            own = names_assigned(loop.body) | arrays_made(loop.body)
            same = [found for found in same if own.issuperset(found.private)] or same
        return same[0] if same else None

    def most_trips(self, loop: For) -> int | None:
        """What the number of its iterations does not exceed, whatever a call tells; None where nothing is known."""
        known = most_trips_of(loop)
        return most_trips_within(loop, loops_around(self.kernel, loop).values()) if known is None else known

    def chains(self) -> list[Chain]:
        """For every innermost loop the loops around it, as far as each stands directly in the body of the next."""
        return chains(self.kernel)

    def around(self, name: str) -> Chain:
        """The loops around a loop, itself the last."""
        return next(chain[: at + 1] for chain in _all_chains(self.kernel) for at, loop in enumerate(chain)
                    if loop.name == name)  # fmt: skip


def _apart(body: Body) -> Iterator[Stmt]:
    """The nests of a body, and of the versions that it has for sizes."""
    for stmt in body:
        if isinstance(stmt, If) and not any(subexpressions(stmt.condition, Load)):
            yield from _apart(stmt.then)
            yield from _apart(stmt.otherwise)
        else:
            yield stmt


def _changes_what_is_read_twice(others: Sequence[Nest], kept: Sequence[Nest]) -> bool:
    """Whether some nests write to an array that two statements of the rest read: without them both would seem to read
    the same. Arguments that overlap are no matter: nothing is reordered then."""
    stored = arrays_stored(tuple(nest.stmt for nest in others))
    read = Counter(array for nest in kept for array in arrays_loaded((nest.stmt,)))
    return any(read[array] > 1 for array in stored)


def _without(body: Body, nests: frozenset[int]) -> Body:
    """The body, and its versions, without some nests."""
    found: list[Stmt] = []
    for stmt in body:
        if id(stmt) in nests:
            continue
        if isinstance(stmt, If):
            stmt = replace(stmt, then=_without(stmt.then, nests), otherwise=_without(stmt.otherwise, nests))
        found.append(stmt)
    return tuple(found)


def _nest_of(stmt: Stmt) -> Nest:
    inside = list(statements((stmt,)))
    parts = list(expressions((stmt,)))
    accesses: list[Load | Store] = [one for one in inside if isinstance(one, Store)]
    accesses += [part for part in parts if isinstance(part, Load)]
    assigned = {one.name for one in inside if isinstance(one, Assign)}
    made = {one.array for one in inside if isinstance(one, Allocate)}
    read = {part.name for part in parts if isinstance(part, Var)} | {access.array for access in accesses}
    return Nest(
        stmt,
        frozenset(one.name for one in inside if isinstance(one, For | While)),
        frozenset(assigned | made),
        frozenset(read | assigned | made),
        frozenset((one.key, one.array) for one in accesses),
        size_of((stmt,)),
    )


def chains(kernel: Kernel) -> list[Chain]:
    """See Plan.chains."""
    return [
        chain
        for chain in _all_chains(kernel)
        if not contains(chain[-1].body, For) and _is_countable(chain[-1])
        if not any(loop.run.startswith("thread.") for loop in chain)  # `stage` has shared these out already
        if chain[0].run not in ("sorted", "off_gpu")  # and `redirect` has these
    ]


@by_identity
def _all_chains(kernel: Kernel) -> tuple[Chain, ...]:
    direct: dict[str, For] = {}
    parents: dict[str, str] = {}
    for name, loop in loops(kernel).items():
        if isinstance(loop, For):
            direct[name] = loop
            for stmt in loop.body:
                if isinstance(stmt, For):
                    parents[stmt.name] = name
    found: list[Chain] = []
    for loop in direct.values():
        chain = [loop]
        while chain[0].name in parents and _is_countable(direct[parents[chain[0].name]]):
            chain.insert(0, direct[parents[chain[0].name]])
        found.append(tuple(chain))
    return tuple(found)


def _is_countable(loop: For) -> bool:
    return isinstance(loop.step, Const) and bool(loop.step.value)


def made(partial: PartialSchedule, step: Step, why: str, anew: bool = False) -> tuple[str, ...]:
    """Take a step; the names of the loops that it made, in the order of the text. anew: see `take`."""
    before = set(loops(partial.kernel))
    partial.take(step, why, anew)
    return tuple(name for name in loops(partial.kernel) if name not in before)


def loops_within(partial: PartialSchedule, names: set[str]) -> set[str]:
    """The loops with one of these names, and those inside them."""
    bound = [loop for name, loop in loops(partial.kernel).items() if name in names and isinstance(loop, For)]
    return names | {stmt.name for loop in bound for stmt in statements(loop.body, For)}


def whole(partial: PartialSchedule, step: Specialize, why: str) -> dict[str, str]:
    """Take the step; for each loop that has a copy now, for stretches that are not whole, the copy's name."""
    new = set(made(partial, step, why))
    for stmt in statements(partial.kernel.body, If):
        names, copies = _names(stmt.then), _names(stmt.otherwise)
        if copies and set(copies) == new and len(names) == len(copies):
            return dict(zip(names, copies, strict=True))
    return {}


def _names(body: Body) -> list[str]:
    return [stmt.name for stmt in statements(body, For, While)]
