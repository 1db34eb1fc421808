"""What a program tells of its kernels, beside their text: how they are started, and which loops and branches stand
where. Nobody else reads that from the text; here it is compared with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cost.variants import floats, made, product, stencil, total
from loopwright.codegen.names import Names
from loopwright.ir.code import CodeRegion, DeviceFunction
from loopwright.ir.program import DeviceText


def counted(keys, bins):
    for i in range(keys.shape[0]):
        bins[keys[i]] += 1.0


COUNTED = (np.empty(1 << 20, "int64"), np.empty(512))
KERNELS: list[tuple[Any, tuple[Any, ...]]] = [
    (product, (floats(1024, 1024), floats(1024, 1024), floats(1024, 1024))),
    (product, (floats(1000, 1000, dtype="float64"),) * 3),
    (stencil, (floats(512, 512), floats(512, 512))),
    (total, (floats(1 << 20),)),
    (counted, COUNTED),
]


def text_of(function: Any, arguments: tuple[Any, ...]) -> DeviceText:
    text = made(function, arguments).text
    assert text is not None
    return text


def told(function: DeviceFunction) -> set[tuple[str, str, str]]:
    return {(one.kind, one.name, one.part) for one in function.region.within() if one.name}


@pytest.mark.parametrize(("function", "arguments"), KERNELS)
def test_what_is_told_is_what_stands_there(function: Any, arguments: tuple[Any, ...]) -> None:
    text = text_of(function, arguments)
    lines = ["", *text.text.split("\n")]
    for one in text.functions:
        first = lines[one.region.first]
        given = ", ".join(f"{ctype}{'' if ctype.endswith('*') else ' '}{name}" for name, ctype in one.parameters)
        assert (
            first == f"static __device__ __forceinline__ void {one.name}({given}) {{" and lines[one.region.last] == "}"
        )
        for entry in one.entries:
            assert f"__launch_bounds__({one.threads}" in lines[entry.line] and f" {entry.name}(" in lines[entry.line]
            told_even = [str(entry.even).lower()] if any(other.even for other in one.entries) else []
            told_asks = [str(entry.asks).lower()] if any(other.asks for other in one.entries) else []
            assert f"{one.name}<{', '.join([f'int{entry.bits}_t', *told_even, *told_asks])}>" in lines[entry.line]
        for shared in one.shared:
            declared = f"  LW_SHARED({shared.type}, {shared.name}, {shared.count});"
            assert declared in lines[one.region.first : one.region.last]
            assert not shared.array or shared.name == Names().of(shared.array)
        for region in one.region.within():
            a_region(region, lines)
    assert [entry.name for one in text.functions for entry in one.entries] == list(text.kernels)


def a_region(region: CodeRegion, lines: list[str]) -> None:
    head, last = lines[region.first], lines[region.last]
    if region.question:
        assert "LW_STOPS(" in head and region.first == region.last
        return
    start = {"loop": "for (", "then": f"if ({region.condition})", "else": "} else {"}[region.kind]
    assert head.strip().startswith(start)
    assert last.strip().startswith("}")
    if region.kind == "loop":
        before = lines[region.first - 1].strip()
        asked = {0: "#pragma unroll", 1: "#pragma unroll 1"}.get(region.unroll, f"#pragma unroll {region.unroll}")
        assert before == asked if region.unroll != 1 else before in (asked, before.removeprefix("#pragma"))
        assert region.trips is None or not region.name or f"< {region.trips};" in head
        if region.name and region.part == "all":
            assert f" {Names().of(region.name)} = " in head + lines[region.first + 1]


def test_the_parts_of_a_loop_whose_tiles_arrive_ahead() -> None:
    one = text_of(*KERNELS[0]).functions[0]
    assert {part for _, name, part in told(one) if name == "k.o"} == {"prologue", "steady", "epilogue"}
    steady = [region for region in one.region.within() if region.part == "steady"]
    assert [region.outer.kind for region in steady if region.outer] == ["then", "else"]
    assert {entry.name.rpartition("_")[2] for entry in one.entries if not entry.asks} == {"32", "64", "even"}
    assert [entry.name.rpartition("_")[2] for entry in one.entries if entry.asks] == ["asks32", "asks64", "askseven"]
    assert {shared.array for shared in one.shared} == {"a.p", "b.p"}


def test_updates_that_look_ahead_and_blocks_that_go_on() -> None:
    [one] = text_of(*KERNELS[-1]).functions
    assert {("loop", "i", "unrolled"), ("loop", "i", "remainder"), ("loop", "i.o", "chunks")} <= told(one)
    assert {region.at_once for region in one.region.within() if region.part in ("unrolled", "remainder")} == {8}


def test_what_only_first_threads_do() -> None:
    functions = text_of(*KERNELS[3]).functions
    assert "xyz" in {region.axes for one in functions for region in one.region.within()}
    assert [one.loop for one in functions] == [one.loop for one in functions if one.loop or one.threads == 1]
