"""What a walk through a kernel notes: the nouns of `trace`."""

from __future__ import annotations

from dataclasses import dataclass, field

from loopwright.analysis.affine import Affine, Formula, Symbol
from loopwright.analysis.values import Consequences, State
from loopwright.ir.nodes import Checked, For, Load, Stmt, Store


@dataclass(frozen=True, slots=True)
class Access:
    """One Load or Store. `stack`: names of the loops around it, outermost first, and `stmt` the statement it stands
    in. `where`: conditions that hold there; `exact`: they are all of them, so the access happens wherever they hold.
    `sure`: nothing before it can have ended the call in another way."""

    node: Load | Store
    stmt: Stmt
    index: tuple[Affine, ...]
    sizes: tuple[Affine, ...]
    stack: tuple[str, ...]
    where: tuple[Formula, ...]
    exact: bool
    sure: bool
    number: int

    @property
    def array(self) -> str:
        """The array's name."""
        return self.node.array

    @property
    def is_write(self) -> bool:
        """Whether it is a Store."""
        return isinstance(self.node, Store)


@dataclass(frozen=True, slots=True)
class Test:
    """One Checked: `fails` is the condition of failure, None where it is not known."""

    node: Checked
    fails: Formula | None
    stack: tuple[str, ...]
    where: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class LoopNote:
    """A For as forms: its variable, bounds and step (0: not constant, which `stride` then tells), the loops around it,
    the variable's domain, and what else holds there. regular: every iteration that the domain and the rest allow does
    happen."""

    loop: For
    symbol: Symbol
    lower: Affine
    upper: Affine
    step: int
    stack: tuple[str, ...]
    domain: tuple[Formula, ...]
    where: tuple[Formula, ...]
    regular: bool
    stride: Affine


@dataclass(slots=True)
class Trace:
    """All notes of one kernel, in the order of the text. `values`: what scalars and loop variables are worth before
    each statement. `conditions`: what the condition of each `if` says, by the identity of the statement."""

    state: State
    accesses: list[Access] = field(default_factory=list)
    tests: list[Test] = field(default_factory=list)
    loops: dict[str, LoopNote] = field(default_factory=dict)
    values: list[tuple[Stmt, dict[str, Affine]]] = field(default_factory=list)
    conditions: dict[int, Consequences] = field(default_factory=dict)
