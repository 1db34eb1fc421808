"""Folders of code that was compiled ahead of time: what they were made for, and where that is not here."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from loopwright.config import Tools
from loopwright.errors import LoopwrightWarning
from loopwright.toolchain.build_folder import (
    LEVELS,
    MANIFEST,
    build_in_force,
    levels_up_to,
    manifest_here,
    package_identity,
    processor_flags,
    read_manifest,
    why_not_here,
    write_manifest,
)

HASWELL = {"model name": "Haswell", "flags": " ".join(["fpu", *levels_up_to("x86-64-v3")])}


def test_what_is_made_here_runs_here() -> None:
    for processor in ("native", "x86-64"):
        assert why_not_here(manifest_here(processor, "s.py")) == ""
    assert manifest_here("x86-64", "s.py").needs == ()
    assert set(manifest_here("native", "s.py").needs) <= processor_flags()


def test_levels_hold_one_another() -> None:
    each = [levels_up_to(level) for level in LEVELS]
    assert [len(one) for one in each] == [0, 7, 15, 20]
    assert all(less < more for less, more in pairwise(each))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"platform": "Plan9 pdp11"}, "it was built for Plan9 pdp11, and this is "),
        (
            {"needs": ("avx2", "avx512f")},
            "it was built for processors with avx512f, which this one (Haswell) does not have: build it here, or with "
            "--processor x86-64-v3",
        ),
        ({"python": "2.7 (cpython, so)"}, "it was built with Python 2.7 (cpython, so), and this is "),
        ({"numpy": "1.26"}, "it was built with NumPy 1.26, and this is NumPy "),
        ({"identity": "0" * 64}, "it was built by Loopwright 0.1.0, and this is another one (0.1.0): build it again"),
    ],
)
def test_what_runs_elsewhere_only(change: dict[str, object], why: str) -> None:
    manifest = replace(manifest_here("x86-64-v3", "s.py"), **change)  # type: ignore[arg-type]
    assert why_not_here(manifest, HASWELL).startswith(why)


def test_the_text_form(tmp_path: Path) -> None:
    manifest = manifest_here("native", "s.py")
    write_manifest(tmp_path, manifest)
    assert read_manifest(tmp_path) == manifest and len(package_identity()) == 64


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "its build.json is damaged"),
        ("[]", "its build.json is damaged"),
        ('{"format": 1}', "its build.json is damaged ('loopwright'): build it again"),
        ('{"format": 2}', "its format is 2; this Loopwright reads 1: build it again"),
    ],
)
def test_a_damaged_one(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(ValueError) as caught:
        read_manifest(tmp_path)
    assert str(caught.value).startswith(why)
    tmp_path.chmod(0o700)
    with pytest.warns(LoopwrightWarning, match="is not used: its "):
        assert build_in_force(Tools(built=tmp_path)) is None


def test_one_that_others_may_write(tmp_path: Path) -> None:
    write_manifest(tmp_path, manifest_here("x86-64", "s.py"))
    tmp_path.chmod(0o777)
    with pytest.warns(LoopwrightWarning, match=f"is not used: everybody may write to {tmp_path}"):
        assert build_in_force(Tools(built=tmp_path)) is None


def test_one_that_is_not_there(tmp_path: Path) -> None:
    with pytest.warns(LoopwrightWarning, match=f"the code in {tmp_path / 'gone'} is not used: it does not exist"):
        assert build_in_force(Tools(built=tmp_path / "gone")) is None


def test_who_debugs_or_gives_flags_gets_code_of_this_machine(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    write_manifest(tmp_path, manifest_here("x86-64", "s.py"))
    tools = Tools(built=tmp_path)
    found = build_in_force(tools)
    assert found is not None and found.folder == Path(os.path.abspath(tmp_path))
    for other in ({"debug": frozenset({"times"})}, {"compiler_flags": ("-g",)}, {"dump": tmp_path}, {"built": "off"}):
        assert build_in_force(replace(tools, **other)) is None  # type: ignore[arg-type]


def test_a_folder_of_somebody_else_beside_the_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is said of it."""
    (tmp_path / "s.loopwright").mkdir()
    monkeypatch.setattr("__main__.__file__", str(tmp_path / "s.py"), raising=False)
    assert Tools().built_folder == tmp_path / "s.loopwright"
    assert build_in_force(Tools()) is None
    (tmp_path / "s.loopwright" / MANIFEST).write_text(json.dumps({"format": 7}))
    monkeypatch.setattr("__main__.__file__", str(tmp_path / "other.py"))
    assert Tools().built_folder is None
