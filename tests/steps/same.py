"""Runs a schedule on a kernel's text, and compares what both kernels compute, in the interpreter, on small numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from loopwright.ir.interp import interpret
from loopwright.ir.nodes import ArrayParam, Kernel
from loopwright.steps.schedule import apply_schedule, parse_schedule
from steps.kernels import known

SIZES = (0, 1, 2, 3, 5, 8, 13)


def after(text: str, schedule: str, *, strict: bool = True) -> Kernel:
    """The kernel of a text after a schedule. Raises ScheduleError."""
    return apply_schedule(*known(text), parse_schedule(schedule), strict=strict)[0]


def refusal(text: str, schedule: str, *, strict: bool = True) -> str:
    """Why the only step of a schedule is not legal."""
    (step,) = parse_schedule(schedule)
    rejection = step.illegal(*known(text), strict=strict)
    assert rejection is not None
    return rejection.reason


def check_same(
    text: str, schedule: str, scalars: Sequence[int] = SIZES, room: int = 3, extra: Sequence[int] = (2,)
) -> Kernel:
    """The kernel after the schedule, which computes the same for each value of the first scalar parameter (others are
    `extra`); every axis of an array has `room` times that many elements, and some more."""
    before, _ = known(text)
    changed = after(text, schedule)
    for value in scalars:
        assert outcome(before, value, room, extra) == outcome(changed, value, room, extra), value
    return changed


def outcome(kernel: Kernel, value: int, room: int, extra: Sequence[int]) -> tuple[object, ...]:
    """What a kernel returns, and the bytes of its arrays afterwards."""
    random = np.random.default_rng(value)
    arguments: list[object] = []
    numbers = iter((value, *extra))
    for param in kernel.params:
        if isinstance(param, ArrayParam):
            shape = (room * max(value, 0) + 7,) * param.rank
            arguments.append(random.integers(-9, 9, shape).astype(param.element.name))
        else:
            arguments.append(next(numbers))
    result = interpret(kernel, arguments)
    return result, *(a.tobytes() for a in arguments if isinstance(a, np.ndarray))
