"""A kernel before and after a schedule on the same small whole numbers: by the interpreter, and as compiled code."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path

from codegen.execution import compiled
from loopwright.ir.interp import interpret
from loopwright.ir.nodes import Kernel
from loopwright.ir.verify import verify
from loopwright.steps.schedule import apply_schedule, parse_schedule, print_schedule
from steps.kernels import known


def after(text: str, schedule: str, strict: bool = False) -> Kernel:
    """The kernel after a schedule, whose text parses back."""
    steps = parse_schedule(schedule)
    assert print_schedule(steps) == schedule
    changed, _ = apply_schedule(*known(text), steps, strict)
    verify(changed)
    return changed


def outcome(run: object, arguments: Sequence[object]) -> list[object]:
    """The arguments after a run, and what it gave: a value, or the class of an exception."""
    own = copy.deepcopy(list(arguments))
    try:
        result = run(own)  # type: ignore[operator]
    except Exception as error:
        result = type(error)
    return [*(one.tolist() if hasattr(one, "tolist") else one for one in own), result]


def check_same(text: str, schedule: str, calls: Sequence[Sequence[object]], cache: Path | None = None) -> Kernel:
    """The schedule keeps what the kernel computes in these calls; with a `cache`, compiled code too: it relies on
    what is proven, on two threads."""
    kernel, facts = known(text)
    changed, facts = apply_schedule(kernel, facts, parse_schedule(schedule), strict=False)
    verify(changed)
    entry = None if cache is None else compiled(changed, cache, facts, check_all=False, threads=2)
    for arguments in calls:
        wanted = outcome(lambda own: interpret(kernel, own), arguments)
        assert outcome(lambda own: interpret(changed, own), arguments) == wanted
        if entry is not None:
            assert outcome(lambda own: entry.run(tuple(own)), arguments) == wanted
    return changed
