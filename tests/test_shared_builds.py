"""Libraries and cubins that are made once: which are, that they are the same, and what is made in any case."""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

import precompiled
import shared_builds
from loopwright.devices import emulated_build
from loopwright.toolchain import cc, nvrtc
from shared_builds import SharedBuilds, SharedCubins, Shelf

COMMAND = ("cc", "-shared", "-fPIC", "-o", "kernel.so", "kernel.c")
MINUTE = 60.0


class Counted:
    """A compiler that writes how often it has run."""

    def __init__(self, output: str = "", code: int | None = 0, more: str = "") -> None:
        self.runs, self.output, self.code, self.more = 0, output, code, more

    def __call__(self, command, folder, timeout_s):
        self.runs += 1
        (folder / "kernel.so").write_text(f"{self.runs}")
        if self.more:
            (folder / self.more).write_text("")
        return self.code, self.output


@pytest.fixture
def built(tmp_path: Path):
    """What stands in the library of a text, in a new folder each time."""
    known: list[Path] = []

    def build(run, text="1", command=COMMAND, timeout_s=MINUTE):
        folder = tmp_path / f"folder {len(known)}"
        folder.mkdir()
        known.append(folder)
        (folder / "kernel.c").write_text(text)
        run(command, folder, timeout_s)
        return (folder / "kernel.so").read_text()

    return build


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    (tmp_path / "shelf").mkdir()
    return Shelf(tmp_path / "shelf")


def test_all_that_a_library_depends_on_tells_it_from_others(built, shelf, monkeypatch) -> None:
    run = SharedBuilds(Counted(), shelf)
    assert [built(run), built(run), built(run, "2"), built(run, "2")] == ["1", "1", "2", "2"]
    assert [built(run, command=(*COMMAND, flag)) for flag in ("-O1", "-O2", "-O1")] == ["3", "4", "3"]
    monkeypatch.setenv("CPATH", "/somewhere")
    assert [built(run), built(run)] == ["5", "5"]
    monkeypatch.delenv("CPATH")
    monkeypatch.setenv("LOOPWRIGHT_THREADS", "3")
    assert built(run) == "1"


def test_another_process_of_the_run_finds_it_and_a_file_of_its_own_is_written(built, shelf, tmp_path) -> None:
    first, other = Counted(), Counted()
    assert [built(SharedBuilds(first, shelf)), built(SharedBuilds(other, Shelf(shelf.folder)))] == ["1", "1"]
    assert (first.runs, other.runs) == (1, 0)
    files = [tmp_path / f"folder {number}" / "kernel.so" for number in (0, 1)]
    assert not files[0].samefile(files[1])  # a library that is loaded twice has its variables twice
    assert os.access(files[1], os.X_OK)


@pytest.mark.parametrize(
    ("compiler", "command", "timeout_s"),
    [
        (Counted("a warning"), COMMAND, MINUTE),
        (Counted(code=1), COMMAND, MINUTE),
        (Counted(code=None), COMMAND, MINUTE),
        (Counted(more="kernel.d"), COMMAND, MINUTE),
        (Counted(), COMMAND, 0.5),
        (Counted(), ("cc", "-c", "-o", "kernel.so", "kernel.c"), MINUTE),
        (Counted(), ("no such compiler", *COMMAND[1:]), MINUTE),
    ],
    ids=["words", "failure", "too late", "more files", "in a hurry", "no library", "no compiler"],
)
def test_what_says_or_leaves_more_than_a_library_is_asked_again(built, shelf, compiler, command, timeout_s) -> None:
    run = SharedBuilds(compiler, shelf)
    assert [built(run, command=command, timeout_s=timeout_s) for _ in range(2)] == ["1", "2"]


def test_a_compiler_that_a_test_has_written_is_asked_again(built, shelf, tmp_path) -> None:
    script = tmp_path / "cc"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    run = SharedBuilds(Counted(), shelf)
    assert [built(run, command=(str(script), *COMMAND[1:])) for _ in range(2)] == ["1", "2"]


def test_the_oldest_go_where_there_are_too_many_and_what_is_gone_is_made_again(built, shelf, monkeypatch) -> None:
    monkeypatch.setattr(shared_builds, "MOST_BYTES", 2)
    run = SharedBuilds(Counted(), shelf)
    assert [built(run, text) for text in "abcbca"] == ["1", "2", "3", "2", "3", "4"]
    for file in shelf.folder.iterdir():
        file.unlink()
    assert built(run, "c") == "5"
    shutil.rmtree(shelf.folder)
    assert [built(run, "c") for _ in range(2)] == ["6", "7"]


def test_a_real_compiler_makes_one_library_for_two_folders(tmp_path, shelf) -> None:
    answers = []
    run = SharedBuilds(cc.run_compiler.run, shelf)  # type: ignore[attr-defined]
    for name in ("one", "other"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "kernel.c").write_text("static int n; int answer(void) { return ++n; }\n")
        assert run(COMMAND, folder, MINUTE) == (0, "")
        answers.append(ctypes.CDLL(str(folder / "kernel.so")).answer())
    assert shelf.hits == 1 and answers == [1, 1]


def test_cubins_are_made_once_where_nvrtc_itself_makes_them(shelf, monkeypatch) -> None:
    real, texts = ModuleType("nvrtc"), []
    monkeypatch.setitem(sys.modules, "cuda.bindings.nvrtc", real)

    def compiled(binding, text, flags):
        texts.append(text)
        return b"cubin", text, "wrong" if text == "wrong" else ""

    run = SharedCubins(compiled, shelf)
    for text in ("a", "b", "a", "wrong", "wrong"):
        assert run(real, text, ("-1",)) == (b"cubin", text, "wrong" if text == "wrong" else "")
    run(real, "a", ("-2",))
    run(ModuleType("a test's own"), "a", ("-1",))
    assert texts == ["a", "b", "wrong", "wrong", "a", "a"]


def test_there_is_one_for_all_tests() -> None:
    shared_builds.install()
    assert cc.run_compiler is emulated_build.run_compiler and isinstance(cc.run_compiler, SharedBuilds)
    assert type(cc.run_compiler.run).__name__ == precompiled.Precompiled.__name__
    assert not isinstance(cc.run_compiler.run._run, SharedBuilds) and isinstance(nvrtc._compiled, SharedCubins)
    assert os.environ[shared_builds.FOLDER] == str(cc.run_compiler.shelf.folder)


def test_its_folder_goes_with_the_first_process(monkeypatch) -> None:
    at_the_end: list[tuple[object, ...]] = []
    monkeypatch.delenv(shared_builds.FOLDER)
    monkeypatch.setattr(shared_builds.atexit, "register", lambda *call: at_the_end.append(call))
    folder = shared_builds.shelf().folder
    assert shared_builds.shelf().folder == folder and len(at_the_end) == 1
    remove, *given = at_the_end[0]
    assert callable(remove) and folder.is_dir()
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: 1)
        remove(*given)
    assert folder.is_dir()
    remove(*given)
    assert not folder.exists() and shared_builds.shelf().folder != folder
    at_the_end[1][0](*at_the_end[1][1:])  # type: ignore[operator]
