"""`loopwright report`."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from loopwright.cli.main import app
from loopwright.config import CURRENT, Config
from loopwright.profile.store import ProfileStore
from report.pages import read
from report.stored import fill, timeline

RUNNER = CliRunner()


@pytest.fixture(autouse=True)
def config(tmp_path: Path) -> Iterator[Config]:
    """A store in a folder of its own."""
    token = CURRENT.set(Config(cache=tmp_path))
    yield CURRENT.get()
    CURRENT.reset(token)


def run(*words: object, code: int = 0) -> str:
    """stdout of the command, or stderr where it is refused."""
    result = RUNNER.invoke(app, ["report", *map(str, words)])
    assert result.exit_code == code, result.output
    return result.stderr if code else result.stdout


def test_a_page_is_written(config: Config, tmp_path: Path) -> None:
    fill(tmp_path / "profile.sqlite3")
    out = tmp_path / "page.html"
    assert run("--out", out).startswith(f"{out} written (")
    page = read(out.read_text(encoding="utf-8"))
    assert page.faults == [] and "gemm" in page.text
    mask = os.umask(0o077)
    os.umask(mask)
    assert stat.S_IMODE(out.stat().st_mode) == 0o666 & ~mask


def test_another_store_and_one_kernel(tmp_path: Path) -> None:
    other = fill(tmp_path / "other.sqlite3", "smooth")
    out = tmp_path / "page.html"
    run("--out", out, "--store", other, "--kernel", "smooth")
    assert "smooth" in read(out.read_text(encoding="utf-8")).text
    assert "a kernel 'gemm'\n  try: one of smooth" in run("--out", out, "--store", other, "--kernel", "gemm", code=2)


def test_a_store_that_has_only_calls_that_devices_shared(tmp_path: Path) -> None:
    with ProfileStore.open(tmp_path / "profile.sqlite3") as store:
        store.put_table(timeline(name="swept"))
    out = tmp_path / "page.html"
    for more in ((), ("--kernel", "swept")):
        run("--out", out, *more)
        page = read(out.read_text(encoding="utf-8"))
        assert page.faults == [] and "swept" in page.text
    assert "a kernel 'gemm'\n  try: one of swept" in run("--out", out, "--kernel", "gemm", code=2)


def test_what_cannot_be_done(tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    assert "there is no store of measurements" in run("--out", out, code=2)
    with ProfileStore.open(tmp_path / "profile.sqlite3") as store:
        store.absorb([])
    assert "there are no measurements" in run("--out", out, code=2)
    assert not out.exists()
    fill(tmp_path / "profile.sqlite3")
    assert "cannot be written: No such file" in run("--out", tmp_path / "nowhere" / "page.html", code=2)
    out.mkdir()
    assert "cannot be written" in run("--out", out, code=2)
    (tmp_path / "text.sqlite3").write_text("no database" * 100)
    assert run("--out", tmp_path / "x.html", "--store", tmp_path / "text.sqlite3", code=2)


def test_a_page_that_was_there_stays_where_a_new_one_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path / "profile.sqlite3")
    out = tmp_path / "page.html"
    out.write_text("old")

    def full(file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("loopwright.cli.db.os.fsync", full)
    assert "No space left on device" in run("--out", out, code=2)
    assert out.read_text() == "old" and [one.name for one in tmp_path.glob("tmp*")] == []
