"""Headers that are compiled once: what they are used for, and that they change nothing."""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
from pathlib import Path

import pytest

import precompiled
from loopwright.codegen.openmp import HEADER
from loopwright.devices.emulated_build import beginning
from loopwright.toolchain import cc

pytestmark = pytest.mark.skipif(platform.system() != "Linux", reason="the commands are gcc's")
C = ("cc", "-O1", "-std=gnu11", "-w", "-fPIC", "-shared", "-o", "kernel.so", "kernel.c", "-fopenmp", "-lm")
CXX = ("c++", "-std=gnu++17", "-O1", "-w", "-fPIC", "-shared", "-o", "kernel.so", "kernel.cpp", "-lm")


class Watched(precompiled.Precompiled):
    """Notes the commands."""

    def __init__(self) -> None:
        self.commands: list[tuple[str, ...]] = []
        super().__init__(self.noting)

    def noting(self, command, folder, timeout_s):
        self.commands.append(tuple(command))
        return RUN(command, folder, timeout_s)


RUN = cc.run_compiler.run._run  # type: ignore[attr-defined]  # see conftest.py


@pytest.mark.parametrize(
    ("command", "begins", "entry", "objects"),
    [(C, HEADER, "int answer(void) { return lw_floordiv_int32(-7, 2); }", 0),
     (CXX, beginning(), 'extern "C" int answer() { return lw_floordiv_int32(-7, 2) + lw_emulated::threads; }', 1)],
    ids=["C", "C++"],
)  # fmt: skip
def test_from_the_sixth_text_on_a_header_is_used_and_the_results_are_the_same(
    tmp_path, command, begins, entry, objects
):
    run, source = Watched(), command[command.index("kernel.so") + 1]
    for number in range(8):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / source).write_text(f"{begins}\n{entry}\n")
        assert run(command, folder, 60) == (0, "")
        assert ctypes.CDLL(str(folder / "kernel.so")).answer() == -4
        assert sorted(path.name for path in folder.iterdir()) == sorted([source, "kernel.so"])
    steps = 2 if precompiled.FOUND else 1  # of each text: compiled and linked
    assert [source in one for one in run.commands] == [True] * 5 + [False] * (1 + objects + 3 * steps)
    assert sum(one[-1].endswith(".gch") for one in run.commands) == 1
    assert sum("-c" in one for one in run.commands) == objects + 3 * (steps - 1)
    assert objects == sum(map("0.o".__eq__, os.listdir(run.folder)))
    assert list(run.folder.glob("*.gch"))


def test_what_is_wrong_is_told_with_its_own_line(tmp_path: Path) -> None:
    run = Watched()
    (tmp_path / "kernel.c").write_text(f"{HEADER}\nint wrong(void) {{ return here; }}\n")
    line = HEADER.count("\n") + 2
    said = [run(C, tmp_path, 60) for _ in range(7)]
    assert all(code == 1 and f"kernel.c:{line}:" in text for code, text in said)


@pytest.mark.parametrize("flag", ["-Wl,-z,now", "-lpthread", "-fsanitize=undefined", "-flto"])
def test_other_ways_to_link_are_the_compilers(tmp_path: Path, flag: str) -> None:
    run = Watched()
    (tmp_path / "kernel.c").write_text(f"{HEADER}\nint f(void) {{ return 3; }}\n")
    assert all(run((*C, flag), tmp_path, 60) == (0, "") for _ in range(7))
    assert not any("-c" in one or one[0] == "ld.gold" for one in run.commands)


def test_a_header_that_somebody_removed_is_not_missed(tmp_path: Path) -> None:
    run = Watched()
    (tmp_path / "kernel.c").write_text(f"{HEADER}\nint f(void) {{ return 3; }}\n")
    for _ in range(7):
        run(C, tmp_path, 60)
    shutil.rmtree(run.folder)
    assert run(C, tmp_path, 60) == (0, "") and "kernel.c" in run.commands[-1]


def test_other_texts_and_other_commands_are_compiled_as_they_are(tmp_path: Path) -> None:
    run = Watched()
    (tmp_path / "kernel.c").write_text("int f(void) { return 3; }\n")
    for _ in range(7):
        assert run(C, tmp_path, 60)[0] == 0
        assert run(("cc", "--version"), tmp_path, 60)[0] == 0
    assert all("kernel.c" in one or "--version" in one for one in run.commands)


def test_without_a_header_all_of_the_text_is_compiled(tmp_path: Path) -> None:
    run = Watched()
    run.folder = tmp_path / "none"
    run.folder.mkdir()
    (run.folder / "0.h.gch").mkdir()  # so that the compiler cannot write it
    (tmp_path / "kernel.c").write_text(f"{HEADER}\nint f(void) {{ return 3; }}\n")
    assert all(run(C, tmp_path, 60)[0] == 0 for _ in range(7))
    assert all("kernel.c" in one or "0.h" in one for one in run.commands)
