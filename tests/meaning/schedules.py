"""Random steps for a kernel, and the two judges of one: what the step says, and what the interpreter sees."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from loopwright.analysis.facts import Facts, Known, SizeGuard
from loopwright.analysis.isl_schedule import TOO_HARD
from loopwright.ir.interp import prepare
from loopwright.ir.nodes import For, Kernel
from loopwright.ir.queries import types_assigned
from loopwright.ir.verify import verify
from loopwright.ir.walk import loops
from loopwright.steps import nest as nest_of_steps
from loopwright.steps.catalogue import STEPS
from loopwright.steps.draft import finished
from loopwright.steps.step import Step

from .choices import Choices
from .judge import clear_inexact, same_values, was_inexact

# ---- steps -----------------------------------------------------------------------------------------------------

LOOP, SIZE, PLACE, OFFSET, BAND, PAIRS, POINT = "loop", "size", "place", "offset", "band", "pairs", "point"
WORDS: dict[str, tuple[str, ...]] = {
    "split": (LOOP, SIZE),
    "tile": (PAIRS,),
    "reorder": (BAND,),
    "hoist": ("scalar", LOOP),
    "swap": (LOOP, PLACE),
    "fuse": (LOOP, "next"),
    "fission": (LOOP, PLACE),
    "distribute": (LOOP,),
    "reverse": (LOOP,),
    "shift": (LOOP, OFFSET),
    "skew": (LOOP, "inner", OFFSET),
    "cut": (LOOP, POINT),
    "partition": (LOOP,),
    "unroll": (LOOP, SIZE),
    "modulo_unroll": (LOOP, SIZE),
    "unroll_and_jam": (LOOP, SIZE),
    "promote": ("array", LOOP),
    "hold": ("array", LOOP),
    "pack": ("array", LOOP),
    "parallelize": (LOOP,),
    "vectorize": (LOOP,),
    "lockstep": (LOOP, SIZE),
    "guard": (LOOP, "inner"),
    "predicate": (LOOP,),
    "collapse": (BAND,),
    "flatten": (LOOP, "inner"),
    "uncap": ("scalar", LOOP),
    "align": (LOOP,),
    "complete": (LOOP,),
    "overrun": (LOOP,),
    "bind": (LOOP, "axis"),
    "relayout": ("array", "in", "layout"),
    "renumber": ("array", "in", "numbers"),
}
"""What the words after a step's name are; a step that is not named here gets random ones."""


LAYOUTS = (
    "soa",
    "aos",
    "aosoa 2",
    "aosoa 8",
    "order 1 0",
    "order 2 0 1",
    "soa pad 3",
    "aosoa 4 pad 1",
    "order 0 pad 2",
)


NUMBERS = ("", "packed", "clusters", "beyond 1", "packed beyond 8 times 2")


def random_step(
    choices: Choices, kernel: Kernel, facts: Facts, strict: bool, kinds: Sequence[type[Step]] = STEPS
) -> Step | None:
    """Some step, legal or not; None where the words that were drawn do not parse."""
    kind = choices.pick(kinds)
    if choices.chance(6):
        some = kind.instances(kernel, facts, strict)
        if some:
            step = choices.pick(some)
            again = step.illegal(kernel, facts, strict)
            # How much work isl has depends a little on what it was asked before: near the limit it may be too much.
            assert again is None or again.reason == TOO_HARD, f"{step} is an instance and not legal"
            return step
    words = [word for what in WORDS.get(kind.name, ()) for word in _words(choices, kernel, what)]
    if kind.name not in WORDS or choices.chance(4):
        every = (LOOP, LOOP, SIZE, OFFSET, "array")
        words = [w for _ in range(choices.number(1, 4)) for w in _words(choices, kernel, choices.pick(every))]
    try:
        return kind.parse(tuple(words))
    except ValueError:
        return None


def _words(choices: Choices, kernel: Kernel, what: str) -> list[str]:
    names = [*loops(kernel)] or ["i"]
    match what:
        case "loop":
            return [choices.pick(names) if choices.chance(98) else "nowhere"]
        case "next" | "inner":
            return [choices.pick(names)]
        case "axis":
            return choices.pick(("block.x", "block.y", "thread.x", "thread.x 4", "thread.y 7")).split()
        case "size":
            return [str(choices.pick((2, 3, 4, 7, 32)))]
        case "in":
            return ["in", choices.pick(names)] if choices.chance(70) else []
        case "layout":
            return choices.pick(LAYOUTS).split()
        case "numbers":
            return choices.pick(NUMBERS).split()
        case "place":
            return [str(choices.pick((2, 2, 2, 3, 9)))]
        case "offset":
            return [str(choices.pick((1, 1, -1, 2, 3, 0)))]
        case "point":
            return [choices.pick((*names, "n", "m", "2", "n-1", "m+1"))]
        case "array":
            return [choices.pick(kernel.arrays).name]
        case "scalar":
            return [choices.pick(sorted(types_assigned(kernel.body)) or ["s"])]
        case "band":
            band = _band(choices, kernel)
            return sorted(band, key=lambda _: choices.number(0, 99))
        case "pairs":
            return [word for name in _band(choices, kernel) for word in (name, str(choices.pick((2, 3, 4))))]
    raise AssertionError(what)


def _band(choices: Choices, kernel: Kernel) -> list[str]:
    """Loops each of which is nested in the one before, mostly with nothing else in between."""
    every = [loop for loop in loops(kernel).values() if isinstance(loop, For)]
    pairs = [loop for loop in every if len(loop.body) == 1 and isinstance(loop.body[0], For)]
    if not every:
        return ["i", "j"]
    loop = choices.pick(pairs or every)
    found = [loop.name]
    while inner := [stmt for stmt in loop.body if isinstance(stmt, For)]:
        loop = choices.pick(inner)
        found.append(loop.name)
        if len(found) == 2 and choices.chance(40):
            break
    return found


# ---- what the judge turned down ----------------------------------------------------------------------------------


@dataclass
class Rejected:
    """A kernel, and the order of its instances that the judge did not allow."""

    kernel: Kernel
    draft: Kernel
    reason: str


@contextmanager
def rejections() -> Iterator[list[Rejected]]:
    """Collects what the judge of dependences rejects inside, so that it can be run all the same."""
    found: list[Rejected] = []
    judge = nest_of_steps.broken_by

    def noted(kernel: Kernel, draft: Kernel, strict: bool, known: Known | None = None) -> str | None:
        reason = judge(kernel, draft, strict, known)
        if reason is not None:
            found.append(Rejected(kernel, draft, reason))
        return reason

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nest_of_steps, "broken_by", noted)
        yield found


def executable(rejected: Rejected) -> Kernel | None:
    """The kernel that the draft means, where it is one."""
    try:
        kernel = finished(rejected.draft, rejected.kernel)
        verify(kernel)
    except Exception:
        return None
    return kernel


# ---- running -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """What a run left in the arguments, and what it returned or raised. `inexact`: some float was rounded."""

    arrays: tuple[np.ndarray[Any, Any], ...]
    value: object
    error: str
    inexact: bool = False


def outcome(call: Callable[[Sequence[object]], object], given: Sequence[object]) -> Outcome:
    """Run it on copies of the arguments."""
    own = [one.copy() if isinstance(one, np.ndarray) else one for one in given]
    value, error = None, ""
    with np.errstate(all="ignore"):
        clear_inexact()
        try:
            value = call(own)
        except Exception as raised:
            error = type(raised).__name__
        inexact = was_inexact()
    return Outcome(tuple(one for one in own if isinstance(one, np.ndarray)), value, error, inexact)


def interpreted(kernel: Kernel) -> Callable[[Sequence[object]], object]:
    return prepare(kernel)


def alike(one: Outcome, other: Outcome) -> bool:
    """Whether two runs gave the same; of runs that fail only that they do counts."""
    if one.error or other.error:
        return one.error == other.error
    if not same_values(np.asarray(one.value), np.asarray(other.value), True):
        return False
    return all(same_values(a, b, True) for a, b in zip(one.arrays, other.arrays, strict=True))


def guard_holds(kernel: Kernel, guard: SizeGuard, given: Sequence[object]) -> bool:
    """Whether the code that relies on the guard would be run on these arguments."""
    values: dict[str, int] = {}
    for name, (source, argument, axis) in guard.parameters:
        value: Any = given[argument]
        values[name] = int(value.shape[axis] if source == "size" else value)
    text = guard.c_text.replace("&&", " and ").replace("||", " or ")
    text = re.sub(r"!(?!=)", " not ", text).replace("/", "//")
    return bool(eval(text or "True", {}, values))


# ---- tallies -----------------------------------------------------------------------------------------------------


@dataclass
class Tally:
    """Counts over many kernels. `careful`: rejections for which no input showed a difference, by step and reason."""

    counts: Counter[str] = field(default_factory=Counter)
    careful: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    def add(self, other: Tally) -> None:
        self.counts.update(other.counts)
        self.careful.update(other.careful)
        self.examples.update(other.examples)


def kind_of(reason: str) -> str:
    """A reason without names and numbers."""
    reason = re.sub(r"'[^']*'", "X", reason)
    return re.sub(r"(line \d+|a statement)( at [^t]*?)?(?= and | touch)", "S", re.sub(r"-?\d+", "N", reason))
