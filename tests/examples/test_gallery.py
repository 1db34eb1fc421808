"""The gallery: each program and notebook does what it checks, at small sizes; each has a picture on the page."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from PIL import Image

from loopwright.config import CURRENT, DEFAULT

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "gallery"
PROGRAMS = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in ("__init__", "pictures"))
NOTEBOOKS = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
SIZES = {"ising": 16, "lensing": 60, "alignment": 60, "predator_prey": 24}
SAYS = {
    "ising": "of the neighbours agree",
    "lensing": "['reduction', 'reduction']",
    "alignment": "i sequential because iteration i writes table[i, j], which iteration i+1 reads",
    "predator_prey": "prey from 0.",
}


@pytest.fixture
def quick() -> Iterator[None]:
    """Code that is compiled in little time, and once."""
    token = CURRENT.set(replace(DEFAULT, compiler_flags=("-O0",), threads=2, store="off"))
    yield
    CURRENT.reset(token)


def test_there_are_twelve() -> None:
    assert len(PROGRAMS) == 8 and sorted(SIZES) == NOTEBOOKS == sorted(SAYS)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_right(name: str, quick: None) -> None:
    importlib.import_module(f"examples.gallery.{name}").check()


def test_a_check_can_fail(quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    heat = importlib.import_module("examples.gallery.heat")
    monkeypatch.setattr(heat, "spread", lambda *arguments: None)
    with pytest.raises(AssertionError):
        heat.check()


# ---- notebooks ----------------------------------------------------------------------------------------------------

RUN_ALL = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell

for path, size in json.load(sys.stdin):
    print("==", path)
    shell = InteractiveShell(colors="nocolor")
    for cell in json.loads(open(path).read())["cells"]:
        tags = cell["metadata"].get("tags", [])
        if cell["cell_type"] == "code" and "picture" not in tags:
            text = f"SIZE = {size}" if "parameters" in tags else "".join(cell["source"])
            ran = shell.run_cell(text, store_history=True)
            ran.raise_error()
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each notebook prints: its code cells in IPython, one process for all. Pictures need matplotlib, which is
    left out."""
    folder = tmp_path_factory.mktemp("notebooks")
    todo = json.dumps([(str(FOLDER / f"{name}.ipynb"), SIZES[name]) for name in NOTEBOOKS])
    env = {**os.environ, "LOOPWRIGHT_CFLAGS": "-O0", "LOOPWRIGHT_STORE": "off", "IPYTHONDIR": str(folder)}
    env["PYTHONPATH"] = os.pathsep.join(part for part in sys.path if part)
    command = [sys.executable, "-c", RUN_ALL]
    ran = subprocess.run(command, input=todo, env=env, cwd=folder, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    parts = re.split(r"^== (.*)\n", ran.stdout, flags=re.MULTILINE)[1:]
    return {Path(path).stem: text for path, text in zip(parts[::2], parts[1::2], strict=True)}


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_right(name: str, printed: dict[str, str]) -> None:
    assert SAYS[name] in printed[name]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_one_and_has_no_output(name: str) -> None:
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.outputs for cell in code] == [[]] * len(code)
    tags = [tag for cell in code for tag in cell.metadata.get("tags", [])]
    assert tags == ["parameters", "picture"] and "assert" in "".join(cell.source for cell in code)


# ---- pictures -----------------------------------------------------------------------------------------------------


def test_each_has_a_picture_on_the_page() -> None:
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    shown = re.findall(r"!\[([^\]]+)\]\(images/(\w+)\.png\)", page)
    assert sorted(name for _, name in shown) == sorted([*PROGRAMS, *NOTEBOOKS])
    assert all(len(words.split()) > 2 for words, _ in shown)
    linked = re.findall(r"\(\.\./examples/gallery/(\w+)\.(?:py|ipynb)\)", page)
    assert sorted(linked) == sorted([*PROGRAMS, *NOTEBOOKS])


def test_pictures_are_small() -> None:
    pictures = sorted((ROOT / "docs" / "images").glob("*.png"))
    for path in pictures:
        with Image.open(path) as picture:
            assert picture.size == (480, 360)
    assert sum(path.stat().st_size for path in pictures) < 1_000_000
