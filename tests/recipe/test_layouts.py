"""Which arrays get another layout by default, from how many passes on, and that results stay as they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.analysis.analyse import analyse
from loopwright.ir.text import parse_kernel
from loopwright.recipe.layouts import LayoutChoice, choices_of, unused
from loopwright.recipe.recipe import recipe
from loopwright.recipe.target import CpuTarget

HOT = """
kernel hot(p.x: float64[1] strided argument 0, p.v: float64[1] strided argument 0 offset 64, b: int64[1] C argument 1,
           c: float64[1] C argument 2, t: int64 argument 3):
    var m: float64
    for k in 0 .. t:
        m = 0.0
        for i in 0 .. size(p.x, 0):
            m = m + p.x[i]
        for j in 0 .. size(p.x, 0):
            p.x[j] = p.x[j] * 0.5 + m
"""
SIXTEEN = np.dtype([(f"f{k}", "f8") for k in range(16)])


def schedule(text: str, record: int = 128) -> str:
    """The steps that come before all others."""
    kernel = parse_kernel(text)
    found = recipe(kernel, analyse(kernel), False, CpuTarget(), records={0: record})
    steps = [str(step) for step in found.schedule if str(step).startswith(("specialize", "relayout"))]
    return "; ".join(steps)


def choice(text: str, record: int = 128) -> LayoutChoice:
    """The only one."""
    kernel = parse_kernel(text)
    (found,) = choices_of(kernel, kernel.body[-1], {0: record})  # type: ignore[arg-type]
    return found


def test_one_field_of_sixteen() -> None:
    assert schedule(HOT) == "specialize t >= 3 in k; relayout p in k soa"
    found = choice(HOT)
    assert found.before.efficiency == 0.125 and found.after.efficiency == 1.0
    assert found.conversion == 1000 * (64 + 24 + 128 + 8)
    assert "a pass of 'k' uses 12 % of the moved bytes of 'p', and 100 %" in str(found)


def test_from_how_many_passes_on_follows_from_the_record() -> None:
    assert [choice(HOT.replace("offset 64", "offset 8"), record).passes for record in (16, 32, 64, 128)] == [5, 3, 2, 2]
    often = HOT.replace("p.x[j] = p.x[j] * 0.5 + m", "c[j] = m")
    assert choice(often).passes == 3, "what is only read is not converted back"


@pytest.mark.parametrize(
    "text",
    [
        HOT.replace("* 0.5 + m", "* 0.5 + p.v[j]")
        .replace("m + p.x[i]", "m + p.x[i] * p.v[i]")
        .replace("offset 64", "offset 8"),
        HOT.replace("p.x[i]", "p.x[b[i]]"),
        HOT.replace("for k in 0 .. t:", "for k in 0 .. 2:"),
        HOT.replace("for k in 0 .. t:", "for k in b[0] .. t:"),
        HOT.replace("for j in 0 .. size(p.x, 0)", "for j in 0 .. t"),
        HOT.replace("p.x[j] = p.x[j] * 0.5 + m", "p.x[j] = p.x[j] * 0.5 + c[b[j]]"),
    ],
    ids=["dense", "gather", "twice", "data", "some", "fails"],
)
def test_arrays_that_stay_as_they_are(text: str) -> None:
    assert schedule(text, 16 if "offset 8," in text else 128) == ""


def test_arguments_that_overlap() -> None:
    kernel = replace(parse_kernel(HOT), overlap=True)
    assert recipe(kernel, analyse(kernel), False, CpuTarget(), records={0: 128}).schedule == ()


def test_a_loop_that_may_go_inside_needs_no_other_layout() -> None:
    """Each record is then used up before the next one."""
    text = """
kernel inside(p.x: float64[1] strided argument 0, p.v: float64[1] strided argument 0 offset 8, t: int64 argument 1):
    for k in 0 .. t:
        for i in 0 .. size(p.x, 0):
            p.x[i] = p.x[i] * 0.5 + 1.0
"""
    assert schedule(text) == ""
    assert schedule(text.replace("p.x[i] = p.x[i]", "p.x[i] = p.x[0]")) != ""


def test_a_loop_that_always_runs_often_needs_no_version() -> None:
    assert schedule(HOT.replace("0 .. t:", "0 .. 50:")) == "relayout p in k soa"


def test_many_fields_are_kept_as_records_of_their_own() -> None:
    names = [f"p.f{k}" for k in range(8)]
    params = ", ".join(f"{name}: float64[1] strided argument 0 offset {64 * at}" for at, name in enumerate(names))
    total = " + ".join(f"{name}[i]" for name in names)
    text = f"kernel many({params}, t: int64 argument 1):\n    var s: float64\n    s = 0.0\n    for k in 0 .. t:\n"
    text += f"        for i in 0 .. size(p.f0, 0):\n            s = s + {total}\n        s = s * 0.5\n"
    assert schedule(text, 512) == "specialize t >= 3 in k; relayout p in k aos"


# ---- by default -------------------------------------------------------------------------------------------------


def work(p: Any, t: int) -> float:
    """A sum over one field, and an update of it, t times."""
    total = 0.0
    for k in range(t):  # noqa: B007 (its name is in the schedule)
        m = 0.0
        for i in range(p.shape[0]):
            m += p[i]["f3"]
        for i in range(1, p.shape[0]):
            p[i]["f3"] = p[i]["f3"] * 0.5 + p[i - 1]["f5"]
        total += m
    return total


@pytest.mark.parametrize("n", [0, 1, 2, 7, 100])
@pytest.mark.parametrize("t", [0, 1, 2, 3, 9])
def test_results_are_the_same(n: int, t: int) -> None:
    found = []
    for layout in ("off", "auto"):
        with lw.options(layout=layout, strict=True):
            p = np.zeros(n, SIXTEEN)
            for at, name in enumerate(SIXTEEN.names or ()):
                p[name] = np.arange(n) * at
            kernel = lw.kernel(work)
            found.append((kernel(p, t), p.tobytes()))
            assert ("relayout p in k soa" in str(kernel.explain(p, t).schedule)) == (layout == "auto")
    assert found[0] == found[1]


def test_arrays_that_overlap_or_lie_apart() -> None:
    kernel: Callable[..., float] = lw.kernel(work)
    for part in (slice(None, None, 2), slice(None, None, -1), slice(3, 50)):
        whole = np.zeros(64, SIXTEEN)
        whole["f3"], whole["f5"] = np.arange(64), 1.0
        other = whole.copy()
        assert kernel(whole[part], 5) == work(other[part], 5) and whole.tobytes() == other.tobytes()


def test_columns_of_a_plain_array_are_records_in_disguise() -> None:
    """However many other columns there are, none of them is converted."""
    text = """
kernel columns(a: float64[2] C, t: int64):
    var m: float64
    for k in 0 .. t:
        m = 0.0
        for i in 0 .. size(a, 0):
            m = m + a[i, 7]
        for j in 0 .. size(a, 0):
            a[j, 7] = a[j, 7] * 0.5 + m
"""
    assert schedule(text) == "specialize t >= 3 in k; relayout a in k soa"
    assert choice(text).conversion == 1000 * (64 + 24 + 128 + 8)
    assert schedule(text.replace("7]", "0]")) == "", "rows may be that short"


# ---- what explain says -------------------------------------------------------------------------------------------


def notes(text: str, record: int = 128) -> list[str]:
    kernel = parse_kernel(text)
    return list(unused(kernel, analyse(kernel), False, {0: record}))


def test_what_is_said_of_arrays_that_stay() -> None:
    assert notes(HOT) == ["12 % of the moved bytes of 'p' are used in a pass of 'k'; 100 % with 'relayout p in k soa', "
                          "which pays off in 2 passes"]  # fmt: skip
    (data,) = notes(HOT.replace("p.x[i]", "p.x[b[i]]"))
    assert data.endswith("data decides which records, so its layout stays")
    (fails,) = notes(HOT.replace("p.x[j] = p.x[j] * 0.5 + m", "p.x[j] = p.x[j] * 0.5 + c[b[j]]"))
    assert "'relayout p in k soa' is not legal: an error may end 'k' in the middle" in fails
    once = HOT.replace("    for k in 0 .. t:\n", "").replace("\n    ", "\n").replace("\nvar", "\n    var")
    once = once.replace("\nm =", "\n    m =").replace("\nfor", "\n    for")
    assert notes(once)[0] == "12 % of the moved bytes of 'p' are used in 'i'; lw.array keeps each field apart"
    dense = HOT.replace("* 0.5 + m", "* 0.5 + p.v[j]").replace("m + p.x[i]", "m + p.x[i] * p.v[i]")
    assert notes(dense.replace("offset 64", "offset 8"), 16) == []


def test_explain_says_it() -> None:
    kernel = lw.kernel(work)
    with lw.options(layout="off"):
        told = str(kernel.explain(np.zeros(9, SIXTEEN), 2))
    words = " ".join(told.split())
    assert (
        "17 % of the moved bytes of 'p' are used in a pass of 'k'; " in words
        and "with 'relayout p in k soa', which" in words
    )
