"""Constants of every kind change between calls, in any order: after each change a call of the kernel does what the
plain Python function does, and the launcher says of every code made so far what Python says of it.

The changes are the same in every run; LOOPWRIGHT_FUZZ=n makes n more, others each time (`make fuzz`).
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import loopwright as lw
from constant_forms import FORMS, LOOP, agree, world
from loopwright.config import current
from loopwright.devices import by_ctypes
from loopwright.devices.launcher import load_launcher
from loopwright.ir.captured import ABSENT

PLACES = 4
"""From where one kernel takes values."""
VALUES = (2, 3, 3.0, True, 2.5, 5)
HIDDEN = ("abs", "min", "float")


def a_world(choices: random.Random) -> dict[str, Any]:
    """A kernel `f`, in a file of its own as all that it calls: e0, e1, ... each give a value that is found some way."""
    chosen = choices.sample(sorted(FORMS), PLACES)
    parts = [world(f"{FORMS[one][0]}\ndef e(): return {FORMS[one][1]}\n", f"{one}.py") for one in chosen]
    value = " + ".join(f"e{k}()" for k in range(PLACES))
    space = world(
        "def other(*, by=1): return by\ndef hides(x, y=1.0): return x + y\n"
        + LOOP.format(f"(min(abs(-4), 9) + float(2) + {value})")
    )
    space.update({f"e{k}": part["e"] for k, part in enumerate(parts)}, puts=[part["put"] for part in parts])
    return space


def changes_of(space: dict[str, Any]) -> list[Callable[[random.Random], object]]:
    """What may happen between two calls."""
    helpers = [space[f"e{k}"] for k in range(PLACES)]

    def put(choices: random.Random) -> None:
        choices.choice(space["puts"])(choices.choice(VALUES))

    def hide(choices: random.Random) -> None:
        name = choices.choice(HIDDEN)
        if space.pop(name, None) is None:
            space[name] = space["hides"]

    def replace(choices: random.Random) -> None:
        space[f"e{choices.randrange(PLACES)}"] = choices.choice([*helpers, space["other"]])

    def rewrite(choices: random.Random) -> None:
        space["other"].__kwdefaults__["by"] = choices.choice(VALUES)

    return [put, put, put, put, hide, replace, replace, rewrite]


def check(seed: int, count: int) -> None:
    """Make a kernel, and so many changes."""
    choices = random.Random(seed)
    space = a_world(choices)
    kernel, f, changes = lw.kernel(space["f"]), space["f"], changes_of(space)
    facts: dict[int, tuple[Any, Any]] = {}
    launcher = load_launcher(current()).launcher
    for _ in range(count):
        agree(kernel, f)
        agree(kernel, f)
        for one in kernel.specialisations():
            if id(one) not in facts:
                told = tuple(
                    (c.kind, c.namespace, c.key) if c.value is ABSENT else (c.kind, c.namespace, c.key, c.value)
                    for c in one.constants
                )
                facts[id(one)] = one, (launcher.Constants(told), by_ctypes.Constants(told))
        choices.choice(changes)(choices)
        for _, (ours, theirs) in facts.values():
            assert ours.hold() == theirs.hold()


@pytest.mark.parametrize("seed", range(6))
def test_constants_of_every_kind_change_between_calls(seed: int, tmp_path: Path) -> None:
    with lw.options(cache=tmp_path, device="interpreter"):
        check(seed, 12)


def test_constants_of_every_kind_change_between_calls_of_compiled_code(tmp_path: Path) -> None:
    with lw.options(cache=tmp_path, device="cpu", threads=1, compiler_flags=("-O0",)):
        check(100, 12)


@pytest.mark.skipif(not os.environ.get("LOOPWRIGHT_FUZZ", "").isdecimal(), reason="LOOPWRIGHT_FUZZ=n makes n changes")
def test_more_changes(tmp_path: Path) -> None:
    start = random.SystemRandom().randrange(2**32)
    with lw.options(cache=tmp_path, device="interpreter"):
        for seed in range(start, start + int(os.environ["LOOPWRIGHT_FUZZ"]) // 50):
            check(seed, 50)
