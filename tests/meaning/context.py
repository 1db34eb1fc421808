"""The text of a program while it is written: its lines, and what all makers of statements share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from .choices import Choices
from .expressions import Expressions
from .kinds import Kind, Term
from .positions import reachable
from .scope import Array, Axis, Names, Scope


@dataclass
class Context:
    """`returns`: the kinds of the returned scalars, () for `return` alone, None where nothing may be returned early.
    `left`: how many more statements may be written. `block` writes a block of statements in a scope."""

    choices: Choices
    names: Names
    expressions: Expressions
    returns: tuple[Kind, ...] | None
    block: Callable[[Context, Scope], None]
    lines: list[str] = field(default_factory=list)
    level: int = 1
    left: int = 14

    def line(self, text: str) -> None:
        self.lines.append("    " * self.level + text)

    @contextmanager
    def indented(self) -> Iterator[None]:
        """The lines inside stand one level deeper."""
        self.level += 1
        yield
        self.level -= 1

    def new_name(self, prefix: str = "v") -> str:
        """A name that is not in use: sometimes one that an ended block had used, for values of another kind."""
        if self.names.retired and self.choices.chance(30):
            self.names.note("name used again")
            return self.names.retired.pop()
        return self.names.fresh(prefix)

    def return_text(self, scope: Scope, depth: int) -> str:
        """A return statement of the agreed kinds."""
        if not self.returns:
            return "return"
        terms = [self.expressions.of_kind(scope, kind, depth).text for kind in self.returns]
        return f"return {', '.join(terms)}"


def written(scope: Scope) -> list[Array]:
    """The arrays that statements may write here."""
    return [array for array in reachable(scope) if array.writable]


def size_text(context: Context, scope: Scope, array: Array, axis: int) -> str:
    """The size of an axis: of the array, or a scalar argument that equals it."""
    wanted: Axis = array.axes[axis]
    if any(scalar.name == wanted.symbol for scalar in scope.scalars) and context.choices.chance(50):
        if not wanted.offset:
            return wanted.symbol
        return f"{wanted.symbol} {'+' if wanted.offset > 0 else '-'} {abs(wanted.offset)}"
    return array.size_text(axis, context.choices)


def small(term: Term, bound: int) -> Term:
    """A weak integer term of magnitude at most `bound` (at least 96); other kinds as they are."""
    if not term.kind.weak or not term.kind.is_integer or term.magnitude() <= bound:
        return term
    return Term(f"({term.text} % 97)", term.kind, 0, 96)
