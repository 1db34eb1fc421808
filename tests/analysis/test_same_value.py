"""Loops whose iterations set elements to one value: which of them need no order, and what comes out where many threads
run them at once, or several devices."""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree
from loopwright.analysis.facts import LoopFacts

RANDOM = np.random.default_rng(5)


def seen(keys, marks, more):
    for i in range(keys.shape[0]):
        marks[keys[i]] = 7


def asked_before(keys, marks, more):
    for i in range(keys.shape[0]):
        if marks[keys[i]] == 0:
            marks[keys[i]] = 7


def of_neighbours(keys, marks, more):
    for i in range(keys.shape[0]):
        for d in range(-1, 2):
            k = (keys[i] + d) % marks.shape[0]
            if more[i] > 3 and marks[k] < 5:
                marks[k] = 5


def with_others(keys, marks, more):
    for i in range(keys.shape[0]):
        k = keys[i]
        if marks[k] != 3:
            marks[k] = 3
            more[k] = 1
            more[0] = 1


def two_places(keys, marks, more):
    for i in range(keys.shape[0]):
        marks[keys[i] // 2] = 5
        if marks[keys[i]] < 5:
            marks[keys[i]] = 5


def any_of_them(keys, marks, more):
    for i in range(keys.shape[0]):
        if keys[i] == more[0]:
            marks[0] = 1


@pytest.mark.parametrize("n", [0, 1, 700])
@pytest.mark.parametrize("kernel", [seen, asked_before, of_neighbours, with_others, two_places, any_of_them])
def test_iterations_need_no_order(kernel: Callable[..., Any], n: int) -> None:
    keys, marks, more = RANDOM.integers(0, 60, n), RANDOM.integers(0, 9, 60), RANDOM.integers(0, 9, 700)
    found = agree(kernel, keys, marks, more, strict=False)
    assert found.facts.loops["i"].verdict == "parallel" and found.facts.loops["i"].alike
    assert "thread.x" in "; ".join(str(decision.step) for decision in found.analysed.recipe.decisions)


def another_value(keys, marks, more):
    for i in range(keys.shape[0]):
        marks[keys[i]] = i


def two_values(keys, marks, more):
    for i in range(keys.shape[0]):
        if more[i] > 4:
            marks[keys[i]] = 1
        else:
            marks[keys[i]] = 2


def parents(keys, marks, more):
    for i in range(keys.shape[0]):
        if marks[keys[i]] == 0:
            marks[keys[i]] = 1
            more[keys[i]] = i


def counted(keys, marks, more):
    for i in range(keys.shape[0]):
        if marks[keys[i]] == 0:
            marks[keys[i]] = 1
            more[0] += 1


def read_elsewhere(keys, marks, more):
    for i in range(keys.shape[0]):
        if marks[keys[i]] == 0:
            marks[keys[i]] = 1
        more[i] = marks[0]


def asked_of_another(keys, marks, more):
    for i in range(keys.shape[0]):
        if marks[keys[i] // 2] == 0:
            marks[keys[i]] = 1


def otherwise(keys, marks, more):
    for i in range(keys.shape[0]):
        if marks[keys[i]] == 0:
            marks[keys[i]] = 1
        else:
            more[i] = 1


def first_ones(keys, marks, more):
    for i in range(keys.shape[0]):
        new = 0
        if marks[keys[i]] == 0:
            marks[keys[i]] = 1
            new = 1
        more[i] = new


def last_one(keys, marks, more):
    found = 0
    for i in range(keys.shape[0]):
        found = 0
        if marks[keys[i]] == 0:
            marks[keys[i]] = 1
            found = 1
    more[0] = found


def two_who_ask(keys, marks, more):
    for i in range(keys.shape[0]):
        if marks[keys[i]] < 5:
            marks[keys[i]] = 5
            more[keys[i]] = 7
        if marks[keys[i] // 2] < 5:
            marks[keys[i] // 2] = 5


def one_who_does_not_ask(keys, marks, more):
    for i in range(keys.shape[0]):
        marks[keys[i] // 2] = 5
        if marks[keys[i]] < 5:
            marks[keys[i]] = 5
            more[keys[i]] = 7


def another_index_meanwhile(keys, marks, more):
    for i in range(keys.shape[0]):
        k = keys[i]
        if marks[k] == 0:
            k = 0
            marks[k] = 1


@pytest.mark.parametrize(
    "kernel",
    [
        another_value,
        two_values,
        parents,
        counted,
        read_elsewhere,
        asked_of_another,
        otherwise,
        first_ones,
        last_one,
        two_who_ask,
        one_who_does_not_ask,
        another_index_meanwhile,
    ],
)
def test_iterations_need_their_order(kernel: Callable[..., Any]) -> None:
    keys, marks, more = RANDOM.integers(0, 60, 60), RANDOM.integers(0, 9, 60), RANDOM.integers(0, 9, 60)
    found = agree(kernel, keys, marks, more, strict=False)
    assert found.facts.loops["i"].verdict != "parallel"


def test_vector_lanes_and_threads_of_the_cpu_are_not_for_them() -> None:
    arguments = RANDOM.integers(0, 60, 60), RANDOM.integers(0, 9, 60), RANDOM.integers(0, 9, 60)
    for step in "parallelize i", "vectorize i":
        with pytest.raises(lw.ScheduleError, match="set the same element"), lw.options(schedule=step):
            lw.kernel(seen)(*arguments)


def test_devices_do_not_share_them() -> None:
    keys, marks, more = RANDOM.integers(0, 60, 900), np.zeros(60, np.int64), np.array([30])
    marked, expected = lw.kernel(any_of_them), marks.copy()
    any_of_them(keys, expected, more)
    with lw.options(devices="cpu, emulated, emulated:1", plan="split"):
        for _ in range(3):
            again = marks.copy()
            marked(keys, again, more)
            np.testing.assert_array_equal(again, expected)


# ---- scalars ----------------------------------------------------------------------------------------------------


def whole_flag(a, b):
    found = 0
    for i in range(a.shape[0]):
        if a[i] > b[0]:
            found = 1
        b[i] = a[i]
    return found


def least_flag(a, b):
    found = 4
    for i in range(1, a.shape[0]):
        if a[i] > 0.5:
            found = -3
    return found


def both_sides(a, b):
    found = 4
    if b[1] > 0:
        found = 9
    for i in range(1, a.shape[0]):
        if a[i] > 0.5:
            found = 5
    return found


def argument(a, b, found):
    for i in range(1, a.shape[0]):
        if a[i] > 0.5:
            found = 5
    return found


@pytest.mark.parametrize("most", [0.4, 2.0])
@pytest.mark.parametrize(("function", "verdict"), [(least_flag, "reduction"), (both_sides, "sequential")])
def test_whole_numbers_as_flags(function: Callable[..., Any], verdict: str, most: float) -> None:
    a, b = RANDOM.random(5000) * most, np.ones(5000)
    expected = function(a, b)
    for device in "cpu", "emulated":
        with lw.options(device=device):
            kernel = lw.kernel(function)
            assert kernel(a, b) == expected
            assert kernel.specialise(a, b).facts.loops["i"].verdict == verdict


def test_a_flag_that_is_an_argument_needs_its_order() -> None:
    a = RANDOM.random(500)
    kernel = lw.kernel(argument)
    assert kernel(a, a, 70) == argument(a, a, 70) and kernel(a * 0.1, a, 70) == 70
    assert kernel.specialise(a, a, 70).facts.loops["i"].verdict == "sequential"


def test_a_flag_beside_other_work() -> None:
    a = RANDOM.random(5000)
    for device in "cpu", "emulated":
        b = np.full(5000, 0.3)
        with lw.options(device=device):
            kernel = lw.kernel(whole_flag)
            assert kernel(a, b) == 1 and kernel(a * 0.0 - 1.0, b) == 0
        np.testing.assert_array_equal(b, a * 0.0 - 1.0)


# ---- at random ----------------------------------------------------------------------------------------------------

PLACES = ("p[i]", "p[i] // 2", "0", "q[i]")


def some_program(chance: random.Random) -> str:
    """The body of a loop that marks elements: some of them are asked before, and more is done then."""

    def store(pad: str) -> str:
        return f"{pad}{chance.choice('ab')}[{chance.choice(PLACES)}] = {chance.choice((1, 1, 1, 2, 'i'))}\n"

    lines = ""
    for _ in range(chance.randint(1, 3)):
        if chance.random() < 0.3:
            lines += store("    ")
            continue
        array, place = chance.choice("ab"), chance.choice(PLACES)
        more = f" {chance.choice(('and', 'or'))} q[i] > 3" if chance.random() < 0.4 else ""
        lines += f"    if {array}[{place}] {chance.choice(('==', '<', '!='))} {chance.choice((0, 1, 2))}{more}:\n"
        inside = [f"        {array}[{place}] = {chance.choice((1, 1, 2))}\n"] * (chance.random() < 0.9)
        inside += [store("        ")] * (chance.random() < 0.3)
        inside += [f"        {chance.choice('fg')} = {chance.choice((1, 1, 3))}\n"] * (chance.random() < 0.4)
        if chance.random() < 0.2:
            inside.append(f"        b[{place}] = 1\n")
        lines += "".join(chance.sample(inside, len(inside))) or "        f = 1\n"
    if chance.random() < 0.2:
        lines += f"    c[i] = {chance.choice(('f', 'g', 'a[0]', 'b[p[i]]'))}\n"
    return lines


def facts_of(text: str) -> LoopFacts:
    """Those of the only loop of a function over arrays of whole numbers."""
    name, scope = f"<marks {hash(text)}>", dict[str, Any]()
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), scope)
    with lw.options(device="interpreter"):
        made = lw.kernel(scope["f"]).specialise(*(np.zeros(8, np.int64) for _ in range(5)))
    return made.facts.loops["i"]


def after(body: str, order: Sequence[int], start: dict[str, Any]) -> dict[str, Any]:
    """The state after the iterations in an order."""
    state = {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in start.items()}
    exec("for i in order:\n" + body, state | {"order": order}, scope := dict(state))
    return {name: scope[name] for name in ("a", "b", "c", "f", "g")}


def test_random_marks_in_any_order() -> None:
    found = 0
    for seed in range(250):
        chance = random.Random(seed)
        body = some_program(chance)
        text = "def f(a, b, c, p, q):\n    f = 0\n    g = 0\n    for i in range(len(p)):\n"
        text += "".join(f"    {line}\n" for line in body.splitlines()) + "    return f, g\n"
        facts = facts_of(text)
        if facts.verdict not in ("parallel", "reduction") or not facts.alike:
            continue
        found += 1
        draw = np.random.default_rng(seed)
        start = {name: draw.integers(0, 3, 8) for name in "abc"} | {"f": 0, "g": 0}
        start |= {"c": np.zeros(8, np.int64), "p": draw.integers(0, 8, 8), "q": draw.integers(0, 8, 8)}
        wanted = after(body, range(8), start)
        for _ in range(6):
            got = after(body, chance.sample(range(8), 8), start)
            for name in wanted.keys() - set(facts.last):
                np.testing.assert_array_equal(got[name], wanted[name], err_msg=f"{seed} {name}\n{body}")
    assert found > 25
