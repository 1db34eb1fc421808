from __future__ import annotations

from dataclasses import FrozenInstanceError, astuple

import pytest

from loopwright.recipe.target import CpuTarget


def test_a_usual_machine() -> None:
    usual = CpuTarget()
    assert (usual.vector_bytes, usual.registers) == (32, 16)
    assert 0 < usual.l1_bytes < usual.l2_bytes < usual.l3_bytes


def test_a_machine_is_a_value() -> None:
    machine = CpuTarget(64, 32, 1 << 15, 1 << 20, 1 << 25, 8)
    assert astuple(machine) == (64, 32, 1 << 15, 1 << 20, 1 << 25, 8)
    assert machine == CpuTarget(64, 32, 1 << 15, 1 << 20, 1 << 25, 8) != CpuTarget()
    assert len({machine, CpuTarget(), CpuTarget()}) == 2
    with pytest.raises(FrozenInstanceError):
        machine.registers = 8  # type: ignore[misc]
