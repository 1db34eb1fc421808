"""Loading compiled programs, and what is known of the CPU."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from devices.handmade import HEADER, NOTHING, SITES, config_in, executable
from loopwright.devices import cpu
from loopwright.errors import BoundsError, CompilerError
from loopwright.ir.program import Program
from loopwright.toolchain.cc import build


def test_a_program_without_a_guard_has_none(tmp_path):
    text = NOTHING + "int guard(const lw_call *call) { return 1; }\n"
    assert executable(text, config_in(tmp_path)).guard == 0
    both = executable(text, config_in(tmp_path), guard=True)
    assert 0 != both.guard != both.entry != 0


def test_what_cannot_be_loaded_is_a_compiler_error(tmp_path):
    artifact = build(HEADER + NOTHING, (), config_in(tmp_path))
    with pytest.raises(CompilerError, match="nowhere"):
        cpu.load(artifact, Program("", "nowhere", "", (), ()))
    empty = tmp_path / "empty.so"
    empty.write_bytes(b"")
    with pytest.raises(CompilerError, match="cannot be loaded"):
        cpu.load(replace(artifact, path=empty), Program("", "run", "", (), ()))


def test_failures(tmp_path):
    code = executable(NOTHING, config_in(tmp_path))
    error = code.failure(0, 9, 4)
    assert isinstance(error, BoundsError)
    assert (error.index, error.size, error.at) == (9, 4, SITES[0].at)
    assert isinstance(code.failure(1, 0, 0), ZeroDivisionError)


def test_the_description_reads_what_the_system_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cpu, "SYSTEM", tmp_path)
    monkeypatch.setattr(cpu, "cpu_fields", lambda: {"model name": "Model X", "flags": "sse avx2"})
    monkeypatch.setattr(cpu.os, "sched_getaffinity", lambda _: {4, 5}, raising=False)
    for core, siblings in ((4, "4-5"), (5, "4-5"), (6, "6")):
        folder = tmp_path / f"cpu{core}" / "topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(siblings + "\n")
    index = tmp_path / "cpu4" / "cache" / "index0"
    index.mkdir(parents=True)
    texts = {"level": "3", "type": "Unified", "size": "32M", "coherency_line_size": "64", "shared_cpu_list": "0-3,8"}
    for name, text in texts.items():
        (index / name).write_text(text + "\n")
    assert cpu.describe_cpu() == cpu.Cpu(
        "Model X", 2, 2, (cpu.Cache(3, "Unified", 32 << 20, 64, 5),), frozenset({"sse", "avx2"})
    )


def test_a_system_that_says_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(cpu, "SYSTEM", tmp_path)
    monkeypatch.setattr(cpu, "cpu_fields", dict)
    found = cpu.describe_cpu()
    assert found.cores >= 1
    assert (found.physical_cores, found.caches, found.flags) == (0, (), frozenset())
