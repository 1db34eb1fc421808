from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.ir.interp import interpret
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.steps.relayout import Relayout
from loopwright.steps.schedule import apply_schedule, parse_schedule
from steps.before_after import after, check_same
from steps.kernels import known
from steps.pictures import check_picture
from steps.same import refusal

SWEEPS = """
kernel sweeps(p.x: float64[1] strided argument 0, p.v: float64[1] strided argument 0 offset 8,
              t: int64 argument 1, d: float64[2] C argument 2):
    for k in 0 .. t:
        for i in 1 .. size(p.x, 0):
            p.x[i] = p.x[i] * 2.0 + p.v[i - 1]
        for j in 0 .. size(d, 1):
            for i.1 in 0 .. size(d, 0):
                d[i.1, j] = d[i.1, j] + 1.0
"""
GATHER = """
kernel gather(p.x: float64[1] strided argument 0, p.v: float64[1] strided argument 0 offset 8, b: int64[1] C argument 1,
              c: float64[1] C argument 2, t: int64 argument 3):
    for k in 0 .. t:
        for i in 0 .. size(b, 0):
            c[i] = c[i] + p.x[b[i]] - p.v[b[i]]
"""
LAYOUTS = ("soa", "aos", "aosoa 2", "aosoa 8", "order 1 0", "soa pad 3", "aosoa 4 pad 1", "order 1 0 pad 2")
RECORD = np.dtype([("x", "f8"), ("v", "f8")])


def records(n: int, seed: int = 0) -> np.ndarray[Any, Any]:
    """Records of small whole numbers."""
    draw = np.random.default_rng(seed)
    made = np.zeros(n, RECORD)
    for name in RECORD.names or ():
        made[name] = draw.integers(-9, 9, n)
    return made


def test_the_picture() -> None:
    check_picture(Relayout)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("where", ["", " in k"])
def test_the_same_is_computed(layout: str, where: str, tmp_path: Path) -> None:
    calls = [(records(n), t, np.ones((n, 3))) for n, t in ((0, 3), (1, 3), (7, 0), (8, 2), (9, 3), (33, 1))]
    changed = check_same(SWEEPS, f"relayout p{where} {layout}", calls, tmp_path)
    assert parse_kernel(print_kernel(changed)) == changed
    check_same(SWEEPS, f"relayout d{where} {layout}", calls, tmp_path)
    check_same(SWEEPS, f"relayout d{where} {layout}; relayout p{where} soa", calls)


def test_only_fields_that_are_used_are_converted_and_only_those_written_are_converted_back() -> None:
    text = print_kernel(after(SWEEPS, "relayout p in k aos"))
    assert "allocate p.l: float64[size(p.x, 0), 2] for p.x 0 1" in text
    assert "p.x[p.back0] = p.l[p.back0, 0]" in text and "p.v[p.back0]" not in text
    hot = SWEEPS.replace(" + p.v[i - 1]", "")
    assert "allocate p.x.l: float64[size(p.x, 0)] for p.x 0" in print_kernel(after(hot, "relayout p in k aos"))


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("layout", ["soa", "aos", "aosoa 4", "order 1 0", "soa pad 2"])
def test_records_of_several_types_and_with_axes_of_their_own(device: Any, layout: str) -> None:
    dtype = np.dtype([("x", "f8"), ("s", "i2"), ("m", "f4"), ("k", "i4", (2, 3)), ("w", "f4")], align=True)

    @lw.kernel
    def work(p: Any, t: Any, out: Any) -> None:
        for s in range(t):
            for i in range(p.shape[0]):
                for c in range(3):
                    p[i]["x"] = p[i]["x"] * 0.5 + p[i]["k"][1, c]
                p[i]["m"] += p[i]["w"]
                p[i]["s"] = p[i]["s"] + 1
            out[s] = p[0]["x"] + p[-1]["x"] if layout_keeps else p[0]["x"]

    layout_keeps = not layout.startswith(("aosoa", "soa pad"))
    found = []
    for wanted in ("off", f"relayout p in s {layout}"):
        draw = np.random.default_rng(3)
        p = np.zeros(13, dtype)
        for name in dtype.names or ():
            p[name] = draw.integers(-9, 9, p[name].shape)
        out = np.zeros(4)
        with lw.options(device=device, layout=wanted, strict=True):
            work(p, 4, out)
            assert ("relayout" in str(work.explain(p, 4, out).schedule)) == (wanted != "off")
        found.append((p.tobytes(), out.tobytes()))
    assert found[0] == found[1]


def test_a_loop_that_a_condition_ends() -> None:
    text = """
kernel ends(a: float64[2] F, n: int64):
    var k: int64
    k = 0
    while k < n named w:
        k = k + 1
        for i in 0 .. size(a, 0):
            a[i, 0] = a[i, 0] + 1.0
        if a[0, 0] > 3.0:
            break w
"""
    draw = np.random.default_rng(0)
    calls = [(np.asfortranarray(draw.integers(0, 3, (5, 4)).astype(float)), n) for n in (0, 1, 9)]
    check_same(text, "relayout a in w order 1 0", calls)
    assert "'w' can be left in the middle" in refusal(text.replace("break w", "return"), "relayout a in w aos")


def test_a_kernel_that_returns_what_it_found(tmp_path: Path) -> None:
    text = """
kernel last(a: float64[2] C, n: int64) -> python float64:
    for k in 0 .. n:
        for i in 0 .. 4:
            a[i, 1] = a[i, 1] + a[i, 0]
    return a[3, 1]
"""
    calls = [(np.arange(10.0).reshape(5, 2), n) for n in (0, 1, 9)]
    for step in ("relayout a soa", "relayout a in k aosoa 2"):
        check_same(text, step, calls, tmp_path)


@pytest.mark.parametrize("where", ["", " in k"])
def test_an_index_that_is_wrong_is_told_of_the_array_itself(where: str) -> None:
    for layout in ("soa", "aos"):
        changed = after(GATHER, f"relayout p{where} {layout}")
        for run in (parse_kernel(GATHER), changed):
            with pytest.raises(lw.BoundsError) as error:
                interpret(run, [records(4), np.array([1, 4]), np.zeros(2), 1])
            told = error.value
            assert (told.array, told.axis, told.index, told.size) == ("p.x", 0, 4, 4)


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_the_same_of_compiled_code(device: Any) -> None:
    @lw.kernel
    def gather(p: Any, b: Any, c: Any, t: int) -> None:
        for k in range(t):  # noqa: B007 (its name is in the schedule)
            for i in range(len(b)):
                c[i] = c[i] * 0.5 + p[b[i], 1]

    p = np.arange(12.0).reshape(3, 4)
    for layout in ("off", "relayout p in k order 1 0"):
        with lw.options(device=device, layout=layout):
            c = np.zeros(2)
            gather(p, np.array([2, -1]), c, 2)
            assert c.tolist() == [13.5, 13.5]
            with pytest.raises(lw.BoundsError) as error:
                gather(p, np.array([2, 3]), c, 2)
            assert (error.value.array, error.value.axis, error.value.index, error.value.size) == ("p", 0, 3, 3)


@pytest.mark.parametrize(
    ("text", "step", "reason"),
    [
        (SWEEPS, "relayout q soa", "there is no array 'q' (there are: p, d)"),
        (SWEEPS, "relayout p in w soa", "there is no loop 'w' (there are: k, i, j, i.1)"),
        (SWEEPS, "relayout p in j soa", "'p' is not used there"),
        (SWEEPS, "relayout d order 0 2 1", "'d' cannot be laid out as 'order 0 2 1': it names 3 axes, and there are 2"),
        (SWEEPS.replace("1 .. size(p.x, 0):", "1 .. size(p.x, 0) parallel:"), "relayout p soa", "is marked parallel"),
        (SWEEPS.replace("p.v[i - 1]", "p.v[-1]"), "relayout p aosoa 8", "index 0 of 'p.v' may be negative"),
        (SWEEPS.replace("p.v[i - 1]", "p.v[-1]"), "relayout p soa pad 8", "index 0 of 'p.v' may be negative"),
        (GATHER, "relayout p aosoa 8", "index 0 of 'p.x' has to be tested while it runs"),
        (
            GATHER.replace("c[i] = c[i]", "p.v[i] = c[i]"),
            "relayout p in k soa",
            "an error may end 'k' in the middle, before 'p' is up to date",
        ),
        (GATHER, "relayout b soa", "an array of one axis has no records"),
    ],
)
def test_refusals_say_why(text: str, step: str, reason: str) -> None:
    assert reason in refusal(text, step)


def test_overlapping_arguments_stay_where_they_are() -> None:
    kernel, facts = known(SWEEPS)
    rejection = Relayout("p", ("soa",)).illegal(replace(kernel, overlap=True), facts, strict=False)
    assert rejection is not None and "arguments overlap in memory" in rejection.reason


@pytest.mark.parametrize("text", ["relayout p", "relayout p in t", "relayout p rows", "relayout p aosoa 1",
                                  "relayout p order 1 1", "relayout p soa 4", "relayout p soa pad 0"])  # fmt: skip
def test_texts_that_are_none(text: str) -> None:
    with pytest.raises(lw.ScheduleError):
        parse_schedule(text)


def test_candidates() -> None:
    kernel, facts = known(SWEEPS)
    assert [str(one) for one in Relayout.instances(kernel, facts, True)] == [
        "relayout d in k order 1 0",
        "relayout p in k soa",
    ]


def test_what_was_proven_still_is() -> None:
    for step in ("relayout p in k soa", "relayout p in k aosoa 8", "relayout d order 1 0"):
        _, facts = apply_schedule(*known(SWEEPS), parse_schedule(step), True)
        assert {one.kind for found in facts.known.values() for one in found} == {"proven"}, step


def test_padding_and_the_end_of_the_last_tile_are_not_read() -> None:
    """In the interpreter, what is not defined may be anything: results must not depend on it."""
    check: Callable[..., object] = check_same
    check(SWEEPS, "relayout p in k aosoa 8 pad 5", [(records(n), 2, np.ones((2, 2))) for n in (1, 7, 9)])


COLUMNS = """
kernel columns(a: float64[2] C, t: int64):
    for k in 0 .. t:
        for i in 0 .. size(a, 0):
            a[i, 3] = a[i, 3] * 2.0 + a[i, 1]
"""


@pytest.mark.parametrize("layout", ["soa", "aos", "aosoa 4", "soa pad 3"])
def test_of_a_plain_array_only_the_columns_that_are_used_are_kept(layout: str, tmp_path: Path) -> None:
    calls = [(np.arange(n * 6.0).reshape(n, 6), t) for n, t in ((0, 2), (1, 2), (9, 3), (9, 0))]
    text = print_kernel(check_same(COLUMNS, f"relayout a in k {layout}", calls, tmp_path))
    assert "a[a.back0, 3]" in text and "a[a.in0, 5]" not in text and "if size(a, 1) > 3:" in text


def test_columns_need_not_be_there_where_the_loop_does_not_run() -> None:
    changed = after(COLUMNS, "relayout a in k soa")
    for n, t in ((3, 0), (0, 2)):
        a = np.ones((n, 2))
        interpret(changed, [a, t])
        assert (a == 1.0).all()


OWN = """
kernel own(x: float64[2] C, out: float64[1] C):
    var s: float64
    allocate table: float64[{size}, size(x, 1)]{fill}
    for i in 0 .. size(x, 0):
        for j in 0 .. size(x, 1):
            table[i, j] = x[i, j] * 2.0
    for k in 0 .. size(x, 0):
        s = 0.0
        for j.1 in 0 .. size(x, 1):
            s = s + table[k, j.1] * float64({measured})
        out[k] = s
"""


@pytest.mark.parametrize("measured", ["1", "size(table, 0)"])
@pytest.mark.parametrize("fill", ["", " = 0.0"])
def test_an_array_of_the_kernels_own_has_the_layout_from_the_beginning(
    measured: str, fill: str, tmp_path: Path
) -> None:
    draw = np.random.default_rng(5)
    calls = [(draw.integers(-9, 9, (n, m)).astype(float), np.zeros(n)) for n, m in ((0, 3), (3, 0), (1, 1), (5, 7))]
    text = OWN.format(size="size(x, 0)", fill=fill, measured=measured)
    changed = print_kernel(check_same(text, "relayout table order 1 0", calls, tmp_path))
    assert "table.in" not in changed
    assert "table.back" not in changed
    assert ("allocate table: " in changed) is ("table" in measured)
