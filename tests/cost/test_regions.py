"""How often a thread waits, on code written by hand."""

from __future__ import annotations

import pytest

from loopwright.cost.regions import regions_of
from loopwright.toolchain.sass import Instruction


def code(*lines: str) -> tuple[Instruction, ...]:
    return tuple(Instruction(16 * k, "", *line.split(" ", 1)) for k, line in enumerate(lines))  # type: ignore[arg-type]


def count(*lines: str) -> float:
    return regions_of(code(*lines), [1.0] * len(lines))


def test_nothing_blocks() -> None:
    assert count("FADD R1, R2, R3", "LDS R4, [R5]", "FADD R6, R4, R1") == 1


def test_a_load_blocks_where_it_is_used() -> None:
    assert count("LDG.E R4, desc[UR4][R2.64]", "FADD R1, R2, R3", "FADD R6, R4, R1") == 2
    assert count("LDG.E R4, desc[UR4][R2.64]", "FADD R1, R2, R3") == 1


def test_independent_loads_are_one_unit() -> None:
    loads = ("LDG.E R4, desc[UR4][R2.64]", "LDG.E R5, desc[UR4][R2.64+0x4]")
    assert count(*loads, "FADD R6, R4, R5", "FADD R6, R4, R5") == 2


def test_a_load_that_needs_another_is_another() -> None:
    assert count("LDG.E R4, desc[UR4][R2.64]", "LDG.E R6, desc[UR4][R4.64]", "FADD R1, R6, R6") == 3


def test_all_registers_of_a_wide_load() -> None:
    assert count("LDG.E.128 R4, desc[UR4][R2.64]", "FADD R1, R7, R3") == 2
    assert count("LDG.E.128 R4, desc[UR4][R2.64]", "FADD R1, R8, R3") == 1


def test_barriers_and_copies() -> None:
    assert count("LDGSTS.E [R1], desc[UR4][R2.64]", "LDGDEPBAR 0", "DEPBAR.LE SB0, 0x0", "BAR.SYNC 0x0") == 3


def test_special_functions_block_where_nothing_else_does() -> None:
    special = ("MUFU.RSQ R1, R2", "FADD R3, R1, R1")
    assert count(*special) == 2
    assert count(*special, "BAR.SYNC 0x0") == 2


def test_weights() -> None:
    lines = ("LDG.E R4, desc[UR4][R2.64]", "FADD R6, R4, R5", "BAR.SYNC 0x0", "LDG.E R4, desc[UR4][R2.64]")
    assert regions_of(code(*lines), [10.0, 10.0, 1.0, 0.0]) == pytest.approx(12)
    assert regions_of((), ()) == 1
