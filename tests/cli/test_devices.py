"""`loopwright devices`: what is there and, above all, what is missing."""

from __future__ import annotations

import os
import platform
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from loopwright.cli import devices
from loopwright.cli.devices import Row, device_rows, device_table, size_text
from loopwright.config import Config
from loopwright.devices.cpu import Cache, Cpu
from loopwright.devices.limits import Limits
from loopwright.toolchain.cc import Compiler

CPU = Cpu(
    "Some CPU",
    2,
    4,
    (Cache(1, "Data", 49152, 64, 2), Cache(1, "Instruction", 32768, 64, 2)),
    frozenset({"avx2", "avx512f"}),
)
H200 = Limits((9, 0), 132, 140 << 30, l2_bytes=60 << 20)
GCC = Compiler(("/usr/bin/gcc",), "gcc 12.2.0", ("-march=native",), ("-fopenmp",), "x")


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A machine on which nothing is missing."""
    monkeypatch.setattr(devices, "describe_cpu", lambda: CPU)
    monkeypatch.setattr(devices, "find_compiler", lambda config: GCC)
    monkeypatch.setattr(devices, "launcher_kind", lambda config: ("extension", ""))
    return monkeypatch


def by_name(config: Config) -> dict[str, Row]:
    return {row.name: row for row in device_rows(config)}


def test_a_complete_machine_misses_nothing(machine: pytest.MonkeyPatch, tmp_path: Path) -> None:
    machine.setattr(devices, "find_gpus", lambda: (SimpleNamespace(name="Some GPU", limits=H200),))
    found = by_name(Config(threads=2, cache=tmp_path / "none"))
    assert not any(row.missing for row in found.values())
    what = "Some GPU, compute capability 9.0, 132 multiprocessors, 140 GiB, 60 MiB of L2 cache, 227 KiB shared memory"
    assert found["GPU"].value == f"{what} a block"
    assert {name: found[name].value for name in ("CPU", "cores", "vector instructions", "L1 cache")} == {
        "CPU": "Some CPU",
        "cores": "2 usable of 4 physical",
        "vector instructions": "avx512f",
        "L1 cache": "48 KiB, lines of 64 bytes, shared by 2",
    }
    assert found["C compiler"].value == "gcc 12.2.0 (/usr/bin/gcc)"
    assert (found["OpenMP"].value, found["tuned for this CPU"].value) == ("-fopenmp", "-march=native")
    assert found["launcher"].value == "C extension"
    assert found["runs on"].value == "cpu"
    assert found["options"].value == "device=auto threads=2 strict=no checks=auto"
    assert found["cache folder"].value.endswith("none (not made yet)")
    assert found["versions"].value.startswith("Loopwright 0.1.0, Python 3.")
    assert found["system"].value == platform.platform()


def test_a_cache_that_changes_while_it_is_counted(machine: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Other processes remove files and folders meanwhile."""
    (tmp_path / "there").write_text("abc")
    (tmp_path / "gone").write_text("abc")
    found = os.stat

    def stat(path: str, **how: object) -> os.stat_result:
        if str(path).endswith("gone"):
            raise FileNotFoundError(path)
        return found(path, **how)  # type: ignore[arg-type]

    machine.setattr(devices.os, "stat", stat)
    assert by_name(Config(cache=tmp_path))["cache folder"].value == f"{tmp_path} (3 bytes in 1 file)"


def test_without_a_gpu_it_says_why(machine: pytest.MonkeyPatch) -> None:
    machine.setattr(devices, "find_gpus", lambda: ())
    machine.setattr(devices, "why_none_cuda", lambda: "no driver")
    assert by_name(Config())["GPU"] == Row("GPU", "none", "no driver")


def test_without_a_compiler_it_says_what_to_install(machine: pytest.MonkeyPatch) -> None:
    machine.setattr(devices, "find_compiler", lambda config: None)
    machine.setattr(devices, "why_none", lambda config: "install gcc")
    found = by_name(Config())
    assert found["C compiler"] == Row("C compiler", "none", "install gcc")
    assert "OpenMP" not in found and "interpreter" in found["runs on"].value


def test_without_openmp_it_says_what_to_install(machine: pytest.MonkeyPatch) -> None:
    machine.setattr(devices, "find_compiler", lambda config: replace(GCC, openmp=()))
    assert "one thread" in by_name(Config())["OpenMP"].missing


def test_without_headers_it_says_what_it_costs(machine: pytest.MonkeyPatch) -> None:
    machine.setattr(devices, "launcher_kind", lambda config: ("ctypes", "Python.h is missing"))
    row = by_name(Config())["launcher"]
    assert row.value == "ctypes" and row.missing.endswith("Python.h is missing")


def test_the_option_for_the_interpreter_is_named(machine: pytest.MonkeyPatch) -> None:
    assert by_name(Config(device="interpreter"))["runs on"].value == "interpreter (option device)"


def test_the_cache_folder_is_measured(machine: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "objects").mkdir()
    (tmp_path / "objects" / "x").write_bytes(b"0" * 2048)
    assert by_name(Config(cache=tmp_path))["cache folder"].value == f"{tmp_path} (2 KiB in 1 file)"


def test_the_table_has_what_is_missing_on_its_own_line() -> None:
    assert device_table([Row("a", "b"), Row("c", "d", "missing")]).row_count == 3


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1536, "1.5 KiB"), (48 << 10, "48 KiB"), (3 << 40, "3072 GiB")],
)
def test_size_text(size_bytes: int, text: str) -> None:
    assert size_text(size_bytes) == text
