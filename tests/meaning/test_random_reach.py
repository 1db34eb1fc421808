"""Random nests: values outside of what a call needs change nothing that it writes, and it writes nothing else; and a
kernel in parts does what it does at once."""

from __future__ import annotations

from collections import Counter

import numpy as np

from loopwright.analysis.analyse import analyse
from loopwright.analysis.facts import Facts
from loopwright.analysis.reach import iterations_of, reach
from loopwright.ir.boxes import Box, Reach
from loopwright.ir.interp import interpret
from loopwright.ir.nodes import Kernel
from loopwright.ir.text import parse_kernel
from loopwright.ir.verify import verify
from loopwright.memory.placing import values_of
from loopwright.recipe.gpu import gpu_recipe
from loopwright.recipe.in_parts import in_parts, outermost

from .nests import arguments, nest
from .schedules import guard_holds, interpreted, outcome

NESTS = 120
CALLS = 3
POISON = 1 << 20


def mask(box: Box | None, array: np.ndarray, values: dict[str, int]) -> np.ndarray:
    inside = np.zeros(array.shape, bool)
    ranges = None if box is None else box.at(values, array.shape)
    if ranges is not None:
        inside[tuple(slice(one.start, one.stop) for one in ranges)] = True
    return inside


def check_reach(kernel: Kernel, found: dict[int, Reach], call: list[object], tally: Counter[str]) -> None:
    right = outcome(interpreted(kernel), call)
    if right.error:
        return
    values, poisoned, boxes = values_of(call), list(call), {}
    names = {param.argument: param.name for param in kernel.arrays}
    for position, array in enumerate(call):
        if not isinstance(array, np.ndarray):
            continue
        one = found.get(position, Reach(None, None, None))
        needed, written = (mask(box, array, values) for box in (one.needed, one.written))
        boxes[position] = written
        tally["arrays"] += 1
        tally["not needed"] += bool(written.any() and not needed.any())
        tally["partly needed"] += bool(not needed.all() and needed.any())
        if names[position] != "at":
            poisoned[position] = np.where(needed, array, array.dtype.type(POISON))
    again = outcome(interpreted(kernel), poisoned)
    assert not again.error
    arrays = [value for value in call if isinstance(value, np.ndarray)]
    for written, before, after, other in zip(boxes.values(), arrays, right.arrays, again.arrays, strict=True):
        np.testing.assert_array_equal(np.asarray(after)[~written], before[~written])
        np.testing.assert_array_equal(np.asarray(other)[written], np.asarray(after)[written])


def test_what_is_not_needed_does_not_count() -> None:
    tally: Counter[str] = Counter()
    for seed in range(NESTS):
        kernel = parse_kernel(nest(seed))
        facts = analyse(kernel)
        recipe = gpu_recipe(kernel, facts, False)
        found = reach(kernel, facts, recipe.kernel, recipe.facts)
        for number in range(CALLS):
            call = arguments(kernel, seed, number)
            if guard_holds(kernel, facts.guard, call):
                try:
                    check_reach(kernel, found, call, tally)
                except AssertionError as error:
                    raise AssertionError(f"seed {seed}: {error}\n{nest(seed)}\n{found}\n{call}") from error
    assert tally["arrays"] > NESTS and tally["not needed"] > NESTS // 20 and tally["partly needed"] > NESTS // 10, tally


def check_parts(kernel: Kernel, facts: Facts, seed: int) -> int:
    loop = outermost(kernel, facts)
    if loop is None:
        return 0
    parted, box, compared = in_parts(kernel, loop), iterations_of(kernel, loop), 0
    verify(parted)
    for number in range(CALLS):
        call = arguments(kernel, seed, number)
        right = outcome(interpreted(kernel), call)
        if right.error or not guard_holds(kernel, facts.guard, call):
            continue
        assert box is not None
        (whole,) = box.at(values_of(call), (1 << 62,)) or (range(0),)
        own = [value.copy() if isinstance(value, np.ndarray) else value for value in call]
        for first in range(whole.start, whole.stop, 2):
            interpret(parted, (*own, first, min(first + 2, whole.stop)))
        arrays = [value for value in own if isinstance(value, np.ndarray)]
        for one, other in zip(arrays, right.arrays, strict=True):
            np.testing.assert_array_equal(one, np.asarray(other))
        compared += 1
    return compared


def test_parts_are_the_whole() -> None:
    compared = 0
    for seed in range(NESTS):
        kernel = parse_kernel(nest(seed))
        try:
            compared += check_parts(kernel, analyse(kernel), seed)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}\n{nest(seed)}") from error
    assert compared > NESTS // 10
