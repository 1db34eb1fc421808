"""The whole command, on a repository made for the test: no change, planted ones, and what ends it before its time."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from replay.run import DIFFERENT, EQUAL, NOTHING, ROOT, STOPPED, main

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="commits are compared by git")

ON_A_GPU = "gpu/spmv"
"""Calls whose CUDA text once depended on the order of a set."""


def git(tree: Path, *arguments: str) -> str:
    named = ("-c", "user.name=test", "-c", "user.email=test@example.com")
    return subprocess.run(["git", *named, *arguments], cwd=tree, text=True, capture_output=True, check=True).stdout


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with the package in it."""
    tree = tmp_path_factory.mktemp("replay") / "tree"
    shutil.copytree(ROOT / "src", tree / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    git(tree, "init", "--quiet")
    git(tree, "add", ".")
    git(tree, "commit", "--quiet", "--message", "package: all of it")
    return tree


@pytest.fixture
def tree(committed: Path, tmp_path: Path) -> Path:
    """A clone of it, to plant something in."""
    git(tmp_path, "clone", "--quiet", str(committed), "tree")
    return tmp_path / "tree"


def plant(tree: Path, file: str, old: str, new: str) -> None:
    path = tree / "src" / "loopwright" / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def replayed(tree: Path, *words: str) -> int:
    return main(["HEAD", *words, "--tree", str(tree), "--folder", str(tree.parent / "texts")])


def worktrees(tree: Path) -> int:
    return len(git(tree, "worktree", "list").splitlines())


def test_the_same_tree_under_another_hash_seed(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert replayed(tree, ON_A_GPU) == EQUAL
    said = capsys.readouterr().out
    assert "cu              4      4      0" in said and "differ:" not in said
    assert worktrees(tree) == 1


def test_a_planted_change(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plant(tree, "codegen/loopwright.cuh", "\n\n", "\n// planted\n\n")
    plant(tree, "recipe/marks.py", "if lanes else parallel", "if level else parallel")
    plant(tree, "codegen/merge_path.py", "sorted(made.inside)", "sorted(made.inside)[::-1]")
    assert replayed(tree, ON_A_GPU, "atax/plain") == DIFFERENT
    said = capsys.readouterr().out
    assert "headers/loopwright.cuh" in said and "+// planted" in said
    assert "polybench/atax/plain." in said and "gpu/spmv-uniform/gpu.cu" in said
    assert worktrees(tree) == 1


def test_an_order_that_python_chooses(tree: Path) -> None:
    """No text of the corpus may depend on the hash seed, so the two sides have different ones."""
    seed = '__import__("os").environ["PYTHONHASHSEED"]'
    plant(tree, "codegen/merge_path.py", "sorted(made.inside)", f'sorted(made.inside)[:: 1 if {seed} == "0" else -1]')
    git(tree, "commit", "--quiet", "--all", "--message", "codegen: an order that Python chooses")
    assert replayed(tree, ON_A_GPU) == DIFFERENT


def test_a_package_that_lacks_a_name(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plant(tree, "compiler.py", "def analysed_in_parts(", "def in_some_parts(")
    assert replayed(tree, "atax/plain") == NOTHING
    said = capsys.readouterr().err
    assert "the package after lacks a name that tests/replay asks for" in said and "analysed_in_parts" in said


def test_nothing_to_compare_with(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nowhere", "--tree", str(tree), "--folder", str(tree.parent / "texts")]) == NOTHING
    assert "invalid reference: nowhere" in capsys.readouterr().err
    assert replayed(tree, "no such call") == NOTHING
    assert worktrees(tree) == 1


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_stopped_in_the_middle(tree: Path, by: signal.Signals) -> None:
    texts = tree.parent / "texts"
    command = [sys.executable, "-m", "replay.run", "HEAD", "--tree", str(tree), "--folder", str(texts)]
    path = os.pathsep.join(map(str, (ROOT / "src", ROOT / "tests", ROOT)))
    process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.DEVNULL)
    try:
        while not (texts / "before" / "polybench").exists():
            assert process.poll() is None
            time.sleep(0.05)
        assert worktrees(tree) == 2
        process.send_signal(by)
        assert process.wait(60) == STOPPED
    finally:
        process.kill()
    assert worktrees(tree) == 1
