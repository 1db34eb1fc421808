"""`loopwright show`, on kernels that are not."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import typer

from cli.fakes import FakeKernel, fake, recording
from loopwright.cli import show
from loopwright.cli.refuse import REFUSED


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.py"
    path.write_text("print('hello')\nif __name__ != '__main__':\n    print('imported')")
    return path


@pytest.mark.parametrize(
    ("target", "path", "name"),
    [
        ("a/script.py:spread", "a/script.py", "spread"),
        ("script.py", "script.py", ""),
        ("odd:folder/script.py", "odd:folder/script.py", ""),
        ("odd:folder/script.py:f", "odd:folder/script.py", "f"),
    ],
)
def test_split_target(target: str, path: str, name: str) -> None:
    assert show.split_target(target) == (Path(path), name)


def test_each_kind_of_text_for_each_kind_of_call(
    script: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(show, "recording", recording(fake(tmp_path, calls=2), fake(tmp_path, "other")))
    assert show.show(script, "spread", ["ir", "facts", "c"], None, []) == 0
    out, err = capsys.readouterr()
    assert err == "hello\n"
    assert out.count("# spread(a: float64[:]") == 4 and out.count("// spread(a: float64[:]") == 2
    assert out.count("loop t: sequential (each iteration needs the one before)") == 2
    assert out.count("void spread(void) {}") == 2


def test_types_import_the_script_and_run_nothing(
    script: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = fake(tmp_path, calls=0)
    monkeypatch.setattr(show, "recording", recording(kernel))
    assert show.show(script, "", ["c"], "float64[:], int", []) == 0
    out, err = capsys.readouterr()
    assert err == "hello\nimported\n" and out.endswith("void spread(void) {}\n")
    [(array, number)] = kernel.asked
    assert isinstance(array, np.ndarray) and number == 0


def refused(capsys: pytest.CaptureFixture[str], code: int, *arguments: object) -> str:
    with pytest.raises(typer.Exit) as stopped:
        show.show(*arguments)  # type: ignore[arg-type]
    assert stopped.value.exit_code == code
    return capsys.readouterr().err


def test_an_unknown_kernel_is_refused_with_those_there_are(
    script: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(show, "recording", recording(fake(tmp_path), fake(tmp_path, "other", 9)))
    err = refused(capsys, REFUSED, script, "spraed", ["ir"], None, [])
    assert "has no kernel 'spraed'" in err and "spread (script.py:1), other (script.py:9)" in err


def test_a_kernel_that_was_not_called_asks_for_types(
    script: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(show, "recording", recording(fake(tmp_path, calls=0)))
    assert "--args 'float64[:, :], int'" in refused(capsys, REFUSED, script, "spread", ["ir"], None, [])


def test_bad_types_are_refused(
    script: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(show, "recording", recording(fake(tmp_path)))
    assert "no type 'floot64'" in refused(capsys, REFUSED, script, "", ["ir"], "floot64[:]", [])


def test_types_that_the_kernel_cannot_take_fail(
    script: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = FakeKernel("spread", str(script), 1, refuses=True)
    monkeypatch.setattr(show, "recording", recording(kernel))
    err = refused(capsys, 1, script, "", ["ir"], "int", [])
    assert "spread (script.py:1) cannot take int:\nKernelError: this cannot be" in err


def test_a_failing_script_without_kernels_gives_its_own_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "script.py"
    script.write_text("raise SystemExit(9)")
    monkeypatch.setattr(show, "recording", recording())
    assert show.show(script, "", ["ir"], None, []) == 9


def test_without_generated_text_it_says_so(
    script: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = fake(tmp_path)
    from dataclasses import replace

    bare = FakeKernel("spread", kernel.file, 1, [replace(kernel.called[0], c_text="")])
    monkeypatch.setattr(show, "recording", recording(bare))
    assert show.show(script, "", ["c"], None, []) == 0
    assert "nothing was generated" in capsys.readouterr().out


def test_steps_show_what_a_schedule_makes_of_the_kernel(
    script: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(show, "recording", recording(fake(tmp_path)))
    assert show.show(script, "", ["c"], None, [], "unroll") == 0
    assert capsys.readouterr().out.endswith("void spread_unroll(void) {}\n")
    with pytest.raises(typer.Exit) as ended:
        show.show(script, "", ["c"], None, [], "split i 4; twist i")
    assert ended.value.exit_code == 1
    assert "no step 'twist'\n  split i 4; twist i\n             ^" in capsys.readouterr().err


def test_the_space_is_a_table(
    script: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(show, "recording", recording(fake(tmp_path)))
    assert show.show(script, "", ["space"], None, []) == 0
    out = capsys.readouterr().out
    assert out.startswith("# spread(a: float64[:]") and "points" in out
    assert re.search(r"^vector lanes +asked for +left open, asked for +asked for, or left to the C", out, re.MULTILINE)
    assert re.search(r"^schedule  ", out, re.MULTILINE)
    assert not any(line.endswith(" ") for line in out.splitlines())
