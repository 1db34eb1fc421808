"""What a measurement belongs to, and who may take it over."""

from __future__ import annotations

import dataclasses
import platform
import re
import socket
from pathlib import Path

import pytest

from faults.stored import HERE
from loopwright.config import DEFAULT
from loopwright.devices import gpus
from loopwright.devices.limits import Limits
from loopwright.profile import machine
from loopwright.profile.machine import Machine, machine_of, machine_text, makers_digest, parse_machine
from loopwright.toolchain.cc import Compiler

GCC = Compiler(("/usr/bin/cc",), "cc (Debian 12.2.0) 12.2.0", ("-march=native",), ("-fopenmp",), "x")


@pytest.fixture
def alike(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A machine that is made up."""
    monkeypatch.setattr(machine, "find_compiler", lambda config: GCC)
    monkeypatch.setattr(machine, "cpu_fields", lambda: {"model name": "X", "flags": "avx2", "model": "7"})
    monkeypatch.setattr(machine, "cache_bytes", lambda: {1: 1024})
    monkeypatch.setattr(machine, "makers_digest", lambda folder: "text")
    return monkeypatch


def here() -> Machine:
    found = machine_of("cpu", DEFAULT)
    assert found is not None
    return found


def test_a_machine_comes_back_from_its_text():
    for one in (HERE, here(), machine_of("emulated", DEFAULT)):
        assert one is not None and parse_machine(machine_text(one)) == one


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Machine)])
def test_every_field_is_part_of_the_fingerprint(name):
    values = {"kind": "cuda", "limits": (("cores", 3),), "flags": ("-O2",)}
    assert dataclasses.replace(HERE, **{name: values.get(name, "other")}).fingerprint != HERE.fingerprint


def test_nothing_of_this_very_host_is_part_of_it():
    told = machine_text(here())
    assert here().fingerprint and len(here().fingerprint) == machine.FINGERPRINT_LENGTH
    home = str(Path(machine.__file__).parents[3])
    assert not {socket.gethostname(), platform.node()}.intersection(re.findall(r"[\w.-]+", told))
    assert home not in told


def test_the_compilers_path_is_no_part_of_it_and_its_version_is(alike):
    first = here()
    elsewhere = dataclasses.replace(GCC, command=("/opt/gcc",), version="gcc (Debian 12.2.0) 12.2.0", identity="y")
    alike.setattr(machine, "find_compiler", lambda config: elsewhere)
    assert here() == first
    alike.setattr(machine, "find_compiler", lambda config: dataclasses.replace(GCC, version="cc (Debian 13) 13"))
    assert here().fingerprint != first.fingerprint
    alike.setattr(machine, "cpu_fields", lambda: {"model name": "X", "flags": "avx2 avx512f", "model": "7"})
    assert len({one.fingerprint for one in (first, here())}) == 2


def test_without_a_compiler_or_its_own_text(alike):
    alike.setattr(machine, "find_compiler", lambda config: None)
    assert here().compiler == "" and here().fingerprint
    alike.setattr(machine, "makers_digest", lambda folder: "")
    assert here().fingerprint == ""


def test_a_gpu(alike, tmp_path):
    class Gpu:
        name, limits = "Some GPU", Limits((9, 0), 132, 140 << 30)

    alike.setattr(gpus, "gpu_of", lambda device: Gpu)
    alike.setattr(machine, "DRIVER", tmp_path / "version")
    (tmp_path / "version").write_text(
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build"
    )
    found = machine_of("cuda", DEFAULT)
    assert found is not None
    assert (found.kind, found.name, found.host, found.driver) == ("cuda", "Some GPU", "X", "580.95.05")
    assert (found.instructions, dict(found.limits)["multiprocessors"]) == ("9.0", 132)
    assert parse_machine(machine_text(found)) == found
    (tmp_path / "version").unlink()
    again = machine_of("cuda", DEFAULT)
    assert again is not None and again.driver == ""


def test_no_gpu_is_no_machine(alike):
    alike.setattr(gpus, "gpu_of", lambda device: None)
    assert machine_of("cuda", DEFAULT) is machine_of("interpreter", DEFAULT) is None


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", machine_text(HERE).replace('"cpu"', '"abacus"'), machine_text(HERE).replace('"avx2"', "3"),
        machine_text(HERE).replace("2]", '"2"]'), machine_text(HERE).replace('"flags": []', '"flags": [1]'),
    ],
)  # fmt: skip
def test_what_is_no_machine(text):
    with pytest.raises(ValueError):
        parse_machine(text)


def test_the_digest_is_of_what_makes_code(tmp_path, monkeypatch):
    package = tmp_path / "package"
    for name in ("codegen/openmp.py", "codegen/loopwright.h", "compiler.py", "report/explain.py", "codegen/x.pyc"):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text("1")
    (package / "specialisation.py").touch()
    first = machine._digest(package)
    (package / "report/explain.py").write_text("2")
    (package / "codegen/x.pyc").write_text("2")
    assert machine._digest(package) == first
    for name in ("codegen/openmp.py", "codegen/loopwright.h", "compiler.py"):
        before = machine._digest(package)
        (package / name).write_text("2")
        assert machine._digest(package) != before
    package.rename(tmp_path / "moved")
    assert machine._digest(tmp_path / "moved") == machine._digest(tmp_path / "moved") != first


def test_the_digest_is_kept_until_there_is_another_text(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "_digest", lambda package: "first")
    makers_digest.cache_clear()
    assert makers_digest(tmp_path) == "first"
    makers_digest.cache_clear()
    monkeypatch.setattr(machine, "_digest", lambda package: "second")
    assert makers_digest(tmp_path) == "first"
    makers_digest.cache_clear()
    monkeypatch.setattr(machine, "revision", lambda: "another")
    assert makers_digest(tmp_path) == "second"
    makers_digest.cache_clear()
    monkeypatch.setattr(machine, "revision", lambda: "")
    assert makers_digest(tmp_path) == ""
    makers_digest.cache_clear()
