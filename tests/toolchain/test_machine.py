"""The CPU's fingerprint."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.toolchain import machine


@pytest.fixture
def cpuinfo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Writes the file that is read; what was read before is forgotten, before and after."""

    def write(text: str) -> None:
        machine.cpu_fields.cache_clear()
        machine.cpu_fingerprint.cache_clear()
        path = tmp_path / "cpuinfo"
        path.write_text(text)
        monkeypatch.setattr(machine, "CPUINFO", path)

    yield write
    machine.cpu_fields.cache_clear()
    machine.cpu_fingerprint.cache_clear()


def test_a_flag_more_is_another_fingerprint(cpuinfo):
    seen = set()
    for flags in ("sse avx", "sse avx avx2", "sse"):
        cpuinfo(f"processor\t: 0\nmodel name\t: X 1\nflags\t\t: {flags}\n\nprocessor\t: 1\nflags\t\t: other\n")
        seen.add(machine.cpu_fingerprint())
        assert machine.cpu_fields()["flags"] == flags
    assert len(seen) == 3


def test_the_clock_of_the_moment_is_no_part_of_it(cpuinfo):
    seen = set()
    for mhz in ("1000", "2000"):
        cpuinfo(f"model name\t: X 1\ncpu MHz\t: {mhz}\nflags\t: sse\n")
        seen.add(machine.cpu_fingerprint())
    assert len(seen) == 1


def test_without_the_file_there_still_is_a_fingerprint(cpuinfo, tmp_path, monkeypatch):
    cpuinfo("")
    monkeypatch.setattr(machine, "CPUINFO", tmp_path / "none")
    assert machine.cpu_fields() == {}
    assert machine.cpu_fingerprint()


@pytest.mark.parametrize(
    ("flags", "registers"),
    [
        ((), (64, 32)),
        (("-O2", "-march=x86-64-v4"), (64, 32)),
        (("-march=x86-64-v3",), (32, 16)),
        (("-march=haswell",), (32, 16)),
        (("-mno-avx512f",), (32, 16)),
        (("-march=x86-64-v2",), (16, 16)),
        (("-march=x86-64",), (16, 16)),
        (("-march=x86-64-v3", "-march=native"), (64, 32)),
    ],
)
def test_flags_that_ask_for_narrower_registers(cpuinfo, monkeypatch, flags, registers):
    monkeypatch.setattr(machine.platform, "machine", lambda: "x86_64")
    cpuinfo("model name\t: X 1\nflags\t: sse avx avx2 avx512f\n")
    machine.vector_registers.cache_clear()
    assert machine.vector_registers(flags) == registers
    machine.vector_registers.cache_clear()
