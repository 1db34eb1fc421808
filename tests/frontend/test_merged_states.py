"""States of functions that call themselves, put together: few are left, loops are loops, and all is as in CPython."""

from __future__ import annotations

import random

import numpy as np
import pytest

from frontend.judge import define, kernel_of, same
from loopwright.frontend.merged_states import Merger
from loopwright.ir.nodes import Allocate, Assign, Compare, Const, If, Leave, Location, Store, Var, While
from loopwright.ir.queries import types_assigned
from loopwright.ir.types import INT64
from loopwright.ir.walk import statements

AT = Location("example.py", 1, 1, 1)


def _to(number):
    return Assign("state", Const(number, INT64)), Leave("step")


def _below(bound):
    return Compare("lt", Var("n", INT64), Const(bound, INT64))


def _merged(states, named):
    names = iter(f"new{number}" for number in range(99))
    return Merger("state", "step", frozenset(named), lambda _: next(names), AT).merged(states)


def test_a_state_that_only_says_the_next_one_is_that_one():
    assert _merged({0: _to(1), 1: _to(2), 2: _to(-1)}, {0}) == {0: _to(-1)}


def test_states_in_a_ring_stay():
    found = _merged({0: (If(_below(3), _to(1), _to(-1)),), 1: _to(2), 2: _to(1)}, {0})
    assert len(found[0]) == 1 and any(statements(found[0], While))


def test_a_state_that_one_way_leads_to_stands_there():
    work = Assign("m", Var("n", INT64))
    found = _merged({0: (If(_below(3), _to(1), _to(2)),), 1: (work, *_to(-1)), 2: (*_to(-1),)}, {0})
    assert found == {0: (If(_below(3), (work, *_to(-1)), _to(-1)),)}


def test_a_state_that_leads_to_itself_is_a_loop():
    more = Assign("n", Const(1, INT64))
    found = _merged({0: (If(_below(3), (more, *_to(0)), _to(-1)),)}, {0})
    (loop,) = statements(found[0], While)
    assert loop.condition == _below(3) and found[0][1:] == _to(-1)


def test_a_long_state_with_two_ways_stays_alone():
    store = Store("a", (Const(0, INT64),), Var("n", INT64))
    found = _merged({0: (If(_below(3), _to(1), _to(2)),), 1: _to(2), 2: (store, *_to(5)), 5: (store, *_to(2))}, {0, 5})
    assert set(found) == {0, 2, 5}


def queens(n, row, columns, up, down):
    if row == n:
        return 1
    count = 0
    for c in range(n):
        if not columns[c] and not up[row + c] and not down[row - c + n]:
            columns[c] = up[row + c] = down[row - c + n] = True
            count += queens(n, row + 1, columns, up, down)
            columns[c] = up[row + c] = down[row - c + n] = False
    return count


def _queens():
    return 5, 0, np.zeros(5, np.bool_), np.zeros(10, np.bool_), np.zeros(11, np.bool_)


def test_the_loop_around_a_call_is_a_loop_and_few_states_are_left():
    kernel = kernel_of(queens, *_queens())
    outer, *inner = statements(kernel.body, While)
    states = [stmt for stmt in statements(outer.body, If) if isinstance(stmt.condition, Compare)
              and isinstance(stmt.condition.left, Var) and stmt.condition.left.name.endswith(".state")]  # fmt: skip
    assert len(inner) == 1
    assert len(states) <= 5


def test_only_what_changes_is_kept():
    """n, the bound of the loop, is the same in all calls: the row of a call has c, count and row only."""
    (stack,) = statements(kernel_of(queens, *_queens()).body, Allocate)
    assert stack.shape[1] == Const(3, INT64)


def test_a_bound_that_is_set_inside_is_kept():
    f = define(
        """
        def f(n, a):
            total = 0
            m = n
            for k in range(m):
                m = 1
                a[n, k] += 1
                total += f(n - 1, a) + m
            return total
        """
    )
    same(f, 4, np.zeros((5, 5)))
    assert "f.m" in types_assigned(kernel_of(f, 4, np.zeros((5, 5))).body)


def _random_function(chosen: random.Random) -> str:
    """A function that calls itself in loops and branches, some levels deep."""
    lines = ["def f(n, k, a):"]
    names = ["n", "k"]

    def expr() -> str:
        one, other = chosen.choice(names), chosen.choice([*names, "1", "2", "3"])
        return f"({one} {chosen.choice('+-*')} {other}) % {chosen.randint(3, 9)}"

    def body(indent: str, depth: int, in_loop: bool) -> None:
        for _ in range(chosen.randint(1, 3)):
            match chosen.randint(0, 8):
                case 0 | 1:
                    lines.append(f"{indent}s = s + {expr()}")
                case 2:
                    lines.append(f"{indent}a[{expr()}] += {expr()}")
                case 3 | 4:
                    lines.append(f"{indent}s += f(n - {chosen.randint(1, 2)}, {expr()}, a)")
                case 5 if depth:
                    lines.append(f"{indent}if {expr()} > {chosen.randint(0, 3)}:")
                    body(indent + "    ", depth - 1, in_loop)
                    if chosen.random() < 0.5:
                        lines.append(f"{indent}else:")
                        body(indent + "    ", depth - 1, in_loop)
                case 6 if depth:
                    name = f"i{len(lines)}"
                    lines.append(f"{indent}for {name} in range({expr()} - 1, {chosen.randint(1, 3)}):")
                    names.append(name)
                    body(indent + "    ", depth - 1, True)
                    names.remove(name)
                case 7 if depth:
                    name = f"w{len(lines)}"
                    lines.append(f"{indent}{name} = {chosen.randint(0, 2)}")
                    lines.append(f"{indent}while {name} > 0:")
                    lines.append(f"{indent}    {name} -= 1")
                    body(indent + "    ", depth - 1, True)
                case 8 if in_loop:
                    lines.append(f"{indent}if {expr()} == 0:")
                    lines.append(f"{indent}    {chosen.choice(['break', 'continue', 'return s'])}")
                case _:
                    lines.append(f"{indent}k = {expr()}")

    test, second = chosen.choice(["n <= 0", "n < 1 or k > 7", "not n > 0"]), chosen.choice(["k", "k + n", "3 * k - n"])
    lines += [f"    if {test}:", f"        return {second}"]
    if chosen.random() < 0.5:
        lines += [f"    if {expr()} == 1:", f"        return int(a[{expr()}]) - {expr()}"]
    lines.append("    s = 0")
    body("    ", 2, False)
    lines.append(f"    return s - {expr()}")
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(40))
def test_random_functions_as_python(seed):
    text = _random_function(random.Random(seed))
    for n in (0, 3):
        same(define(text), n, 2, np.arange(10))
