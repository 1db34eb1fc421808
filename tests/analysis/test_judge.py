"""Facts against an executor that knows nothing of analysis, over random programs; and that the executor can object."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from analysis.judge import Array, Refused, Run, arguments, conflicts, copied, witness
from analysis.programs import affine_program, program
from analysis.small import kernel
from loopwright.analysis.analyse import analyse
from loopwright.analysis.facts import Facts, LoopFacts
from loopwright.ir.nodes import Kernel


@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed: int) -> None:
    chance = random.Random(seed)
    found = kernel(program(chance))
    facts = analyse(found)
    for largest in (3, 4, 5, 6, 7, 8):
        witness(found, facts, arguments(found, chance, largest))


def sized(n: int, m: int) -> dict[str, object]:
    """A call of an affine program for which no index is out of bounds."""
    one = {(k,): k % 7 for k in range(200)}
    return {"a": Array((200,), one), "b": Array((200, 200), {}, 1), "n": n, "m": m}


@pytest.mark.parametrize("seed", range(40))
def test_affine_programs_exactly(seed: int) -> None:
    """Every loop is decided; a parallel one is so at every size, a sequential one is not so at some size."""
    found = kernel(affine_program(random.Random(seed)))
    facts = analyse(found)
    assert "undecided" not in {loop.verdict for loop in facts.loops.values()}
    unseen = {name for name, loop in facts.loops.items() if loop.verdict == "sequential"}
    for n, m in [(n, m) for m in range(0, 15, 2) for n in range(0, 15, 3)]:
        run = Run(found, copied(sized(n, m))).go()
        for name, loop in facts.loops.items():
            if loop.verdict == "parallel":
                assert not conflicts(run, name, set(loop.private)), f"{name} at {n}, {m}"
        unseen -= {name for name in unseen if conflicts(run, name, set())}
    assert not unseen, "no conflict at small sizes"


# ---- the judge objects --------------------------------------------------------------------------------------------


def lie(text: str, loop: str, **claims: object) -> tuple[Kernel, Facts]:
    """A kernel with facts that claim something wrong about a loop."""
    found = kernel(text)
    facts = analyse(found)
    wrong: LoopFacts = replace(facts.loops[loop], verdict="parallel", **claims)  # type: ignore[arg-type]
    return found, replace(facts, loops={**facts.loops, loop: wrong})


LIES = {
    "a dependence": 'def f(a: "float64[1]"):\n    for i in range(1, len(a)):\n        a[i] = a[i - 1] + 1.0\n',
    "a sum that is private": (
        'def f(a: "float64[1]"):\n    s = 0.0\n    for i in range(len(a)):\n        s += a[i]\n    a[0] = s\n'
    ),
    "a last value that is lost": (
        'def f(a: "float64[1]"):\n    s = 0.0\n    for i in range(len(a)):\n        s = a[i] + 1.0\n    a[0] = s\n'
    ),
}


@pytest.mark.parametrize("name", LIES)
def test_the_judge_finds_a_lie(name: str) -> None:
    private = () if name == "a dependence" else ("s",)
    found, facts = lie(LIES[name], "i", private=private, last=(), reductions=())
    values = {"a": Array((6,), {(k,): k for k in range(6)})}
    with pytest.raises(AssertionError):
        witness(found, facts, values)
    witness(found, analyse(found), values)


def test_the_judge_finds_wrong_bounds() -> None:
    found = kernel('def f(a: "float64[1]"):\n    for i in range(len(a)):\n        a[i - 1] = 1.0\n')
    facts = analyse(found)
    values = {"a": Array((6,), {(k,): k for k in range(6)})}
    witness(found, facts, values)
    proven = {node: tuple(replace(b, kind="proven", may_be_negative=False) for b in bounds)
              for node, bounds in facts.bounds.items()}  # fmt: skip
    with pytest.raises(AssertionError, match="proven bounds"):
        witness(found, replace(facts, bounds=proven), values)


def test_a_call_out_of_bounds_says_nothing() -> None:
    found = kernel('def f(a: "float64[1]", n: "int64"):\n    for i in range(n):\n        a[i] = 1.0\n')
    values = {"a": Array((2,), {}), "n": 5}
    with pytest.raises(Refused):
        Run(found, copied(values)).go()
    witness(found, analyse(found), values)
