"""Tunables: the numbers of the default recipe, each an object that knows its default and the values worth trying, and
the choices that somebody makes among them.

A recipe asks its plan for each number. Without choices it gets the default, and nothing is remembered: the usual way,
which costs a look at an attribute. With choices it gets what is wanted, and what was asked is kept: running the recipe
once finds the tunables of a kernel.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeVar

T = TypeVar("T")

KEPT = 512
"""Results of steps that are kept between runs: some times those of one run."""


@dataclass(frozen=True, slots=True)
class Tunable:
    """A number of the recipe. among: the values worth trying, the default one of them. why: what it trades for what,
    in the user's words. leads: other values lead to other numbers, as where the recipe goes another way altogether.
    words: what the values stand for, where they are no amounts; as many as there are values, or none."""

    name: str
    default: int
    among: tuple[int, ...]
    why: str
    leads: bool = False
    words: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.default not in self.among:
            object.__setattr__(self, "among", tuple(sorted({*self.among, self.default})))
        if len(set(self.among)) != len(self.among) or len(self.words) not in (0, len(self.among)):
            raise ValueError(f"tunable '{self.name}': values are distinct, and each has a word or none has")

    def text(self, value: int) -> str:
        """A value as it is shown."""
        return self.words[self.among.index(value)] if self.words else str(value)


@dataclass(frozen=True, slots=True)
class Constraint:
    """What must hold of several numbers together. text: what it asks for; `holds` is given all numbers by name."""

    text: str
    holds: Callable[[Mapping[str, int]], bool] = field(compare=False)


class UnfitError(Exception):
    """The numbers that are wanted do not go together, or cannot be had for this kernel."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A tunable that was asked for. depth: of the nest it is for; the deepest nests are those that take the time."""

    tunable: Tunable
    depth: int


class StepMemo:
    """What steps made of kernels in other runs of a recipe on the same kernel. Runs with nearly the same numbers begin
    with the same steps, and to judge these again would take most of their time. It keeps the latest results, with the
    objects that their keys name."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[object, ...], tuple[tuple[object, ...], object]] = OrderedDict()

    def get(self, objects: tuple[object, ...], what: str, make: Callable[[], T]) -> T:
        """What `make` gives for these objects, which are told apart by identity, and for this text."""
        key = (*map(id, objects), what)
        found = self._kept.get(key)
        if found is None:
            found = self._kept[key] = (objects, make())
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(key)
        return found[1]  # type: ignore[return-value]


@dataclass
class Choices:
    """The numbers that are wanted, by the names of their tunables; those that a run of the recipe has asked for, and
    what has to hold of them. One object serves one run; memory: of other runs on the same kernel."""

    wanted: Mapping[str, int] = field(default_factory=dict)
    memory: StepMemo = field(default_factory=StepMemo)
    asked: dict[str, Asked] = field(default_factory=dict)
    constraints: dict[str, Constraint] = field(default_factory=dict)
    depth: int = 0

    def number(self, tunable: Tunable) -> int:
        """What is wanted of a tunable, else its default. Where another nest has asked for it with another default,
        wanting that one is wanting this one. Raises UnfitError where it has no such value."""
        first = self.asked.setdefault(tunable.name, Asked(tunable, self.depth))
        if first.depth < self.depth:
            self.asked[tunable.name] = replace(first, depth=self.depth)
        value = self.wanted.get(tunable.name, first.tunable.default)
        if value == first.tunable.default:
            return tunable.default
        if value not in tunable.among:
            raise UnfitError(f"{tunable.name} is one of {', '.join(map(str, tunable.among))}, not {value}")
        return value

    def require(self, constraint: Constraint, numbers: Mapping[str, int]) -> None:
        """Keep a constraint. Raises UnfitError where it does not hold of the numbers."""
        self.constraints[constraint.text] = constraint
        if not constraint.holds(numbers):
            raise UnfitError(f"{constraint.text}, which does not hold here")

    def numbers(self) -> dict[str, int]:
        """Every number that was asked for, by its name."""
        return {name: self.wanted.get(name, one.tunable.default) for name, one in self.asked.items()}

    @property
    def is_usual(self) -> bool:
        """Whether all that was asked for had its default."""
        return all(
            self.wanted.get(name, one.tunable.default) == one.tunable.default for name, one in self.asked.items()
        )

    @contextmanager
    def in_nest(self, depth: int) -> Iterator[None]:
        """What is asked for here is for a nest of so many loops."""
        before, self.depth = self.depth, depth
        try:
            yield
        finally:
            self.depth = before

    @contextmanager
    def by_default(self) -> Iterator[None]:
        """Nothing is wanted here."""
        before, self.wanted = self.wanted, {}
        try:
            yield
        finally:
            self.wanted = before

    def state(self) -> tuple[dict[str, Asked], dict[str, Constraint]]:
        """What was asked so far, for `reset`."""
        return dict(self.asked), dict(self.constraints)

    def reset(self, state: tuple[dict[str, Asked], dict[str, Constraint]]) -> None:
        """Forget what was asked since: it led to nothing."""
        self.asked, self.constraints = dict(state[0]), dict(state[1])
