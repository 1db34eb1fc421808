"""Facts as text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from loopwright.analysis.facts import Bounds, Facts, LoopFacts, SizeGuard
from loopwright.ir.nodes import ArrayParam, Assign, Checked, Const, Kernel, Load
from loopwright.ir.types import BOOL, FLOAT64, INT64
from loopwright.report.facts_text import facts_text
from report.made import made


def test_all_of_it(tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    kernel, facts = made(tmp_path)
    guard = replace(facts.guard, parameters=(("a0", ("size", 0, 0)), ("n", ("scalar", 3, 0))))
    golden("report/spread.facts.txt", facts_text(kernel, replace(facts, guard=guard)))


def test_rare_things() -> None:
    zero = Const(0, INT64)
    load = Load("x", (zero,), FLOAT64)
    check = Checked(load, Const(True, BOOL), "zero_division")
    kernel = Kernel("f", (ArrayParam("x", FLOAT64, 0, 1),), (Assign("y", check),))
    bounds = {id(load): (Bounds("proven", may_be_negative=True),), id(check): (Bounds("checked", "why"),)}
    facts = Facts({}, (), SizeGuard((), "", ()), bounds)
    assert facts_text(kernel, facts) == (
        "check of zero_division: checked (why)\ncheck of x axis 0: proven, may be negative\nguard always true"
    )


def test_the_last_value_of_a_private_scalar(tmp_path: Path) -> None:
    kernel, facts = made(tmp_path)
    t = LoopFacts("t", "parallel", "", private=("s",), last=("s",))
    text = facts_text(kernel, replace(facts, loops={**facts.loops, "t": t}))
    assert text.startswith("loop t: parallel\n  private s\n  last value of s\nloop k:")
