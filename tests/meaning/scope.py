"""What a generated program may name at some point of its text: scalars, loop variables, arrays, helper functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from .choices import Choices
from .kinds import LIMIT, WEAK_INT, Kind, Term


@dataclass(frozen=True)
class Axis:
    """The size of one axis: `sizes[symbol] + offset`, or `offset` alone where there is no symbol."""

    symbol: str = ""
    offset: int = 0

    def size(self, sizes: Mapping[str, int]) -> int:
        return max(0, sizes.get(self.symbol, 0) + self.offset)


@dataclass(frozen=True)
class Array:
    """An array argument, a field of one, or a local array. `role`: `data`; `index` (its values are indices of an
    axis `target`); `pointer` (they rise from 0 to the size of `target`). `field`: the field of a record."""

    name: str
    element: str
    axes: tuple[Axis, ...]
    role: str = "data"
    target: Axis = Axis()
    field: str = ""
    record: bool = False
    writable: bool = True
    local: bool = False

    @property
    def kind(self) -> Kind:
        return Kind(self.element)

    def size_text(self, axis: int, choices: Choices) -> str:
        if axis == 0 and choices.chance(35):
            return f"len({self.name})"
        if self.field and axis == len(self.axes) - 1 and not self.axes[axis].symbol:
            return str(self.axes[axis].offset)  # the sub-array of a field
        return f"{self.name}.shape[{axis}]"

    def access(self, index: list[str], choices: Choices) -> str:
        """The text of an element: a[i, j], a[i][j], p['x'][i], p[i]['x'] or, for np.recarray, p.x[i]."""
        if not self.field:
            return self.name + _brackets(index, choices)
        if self.record and choices.chance(40):
            return f"{self.name}.{self.field}" + _brackets(index, choices)
        if choices.chance(50):
            return f"{self.name}['{self.field}']" + _brackets(index, choices)
        outer = 1 if len(index) == 1 else len(index) - 1
        inner = index[outer:]
        return f"{self.name}[{', '.join(index[:outer])}]['{self.field}']" + (_brackets(inner, choices) if inner else "")


def _brackets(index: list[str], choices: Choices) -> str:
    if len(index) == 1 or choices.chance(80):
        return f"[{', '.join(index)}]"
    cut = choices.number(1, len(index) - 1)
    return f"[{', '.join(index[:cut])}]" + _brackets(index[cut:], choices)


@dataclass(frozen=True)
class Loop:
    """A loop variable. In the first call it lies in low..high; in every call in `after .. size + before - 1`
    where `symbol` names the size (none where that is not known)."""

    name: str
    low: int
    high: int
    symbol: str = ""
    after: int = 0
    before: int = 0

    @property
    def term(self) -> Term:
        return Term(self.name, WEAK_INT, -64, 64)


@dataclass(frozen=True)
class Scalar:
    """A scalar local or parameter. `loose`: of the weak or the strong type, as the run goes (an accumulator that
    starts as a Python number): it may be stored and returned only. `fixed`: never assigned to."""

    name: str
    kind: Kind
    low: int = -LIMIT
    high: int = LIMIT
    fixed: bool = False
    loose: bool = False

    @property
    def term(self) -> Term:
        return Term(self.name, self.kind, self.low, self.high)


@dataclass(frozen=True)
class Helper:
    """A scalar function of the program: the kinds of its parameters and of its result."""

    name: str
    parameters: tuple[Kind, ...]
    result: Term


@dataclass(frozen=True)
class Scope:
    """An inner block sees a copy: what it defines is gone after it. `sizes` are those of the first call. `any_size`:
    only indices that are in range in every call are written, so that calls with sizes of 0 and 1 end well too."""

    sizes: Mapping[str, int]
    arrays: tuple[Array, ...] = ()
    scalars: tuple[Scalar, ...] = ()
    loops: tuple[Loop, ...] = ()
    helpers: tuple[Helper, ...] = ()
    in_loop: bool = False
    depth: int = 0
    any_size: bool = False

    def with_scalar(self, scalar: Scalar) -> Scope:
        others = tuple(other for other in self.scalars if other.name != scalar.name)
        return replace(self, scalars=(*others, scalar))

    def with_array(self, array: Array) -> Scope:
        return replace(self, arrays=(*self.arrays, array))

    def within_loop(self, *loops: Loop) -> Scope:
        return replace(self, loops=(*self.loops, *loops), in_loop=True, depth=self.depth + 1)

    def size_of(self, axis: Axis) -> int:
        return axis.size(self.sizes)


@dataclass
class Names:
    """Fresh names, and the tally of what the program uses. `retired`: names of scalars of ended blocks. `inner`: the
    variables that only statements inside of loops and branches give a value, with the kinds of these values."""

    exact: bool
    features: Counter[str] = field(default_factory=Counter)
    retired: list[str] = field(default_factory=list)
    inner: dict[str, set[Kind]] = field(default_factory=dict)
    count: int = 0

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def note(self, feature: str) -> None:
        self.features[feature] += 1
