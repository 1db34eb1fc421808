"""`loopwright cache`."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from loopwright.cli.main import app
from loopwright.config import CURRENT, Config
from loopwright.toolchain import store
from loopwright.toolchain.limit import size_of
from loopwright.toolchain.store import key_of, obtain

RUNNER = CliRunner()
EACH = size_of([3])


@pytest.fixture(autouse=True)
def cache(tmp_path: Path):
    """A cache of the test's own."""
    folder = tmp_path / "cache"
    token = CURRENT.set(Config(cache=folder, cache_size=10**6))
    yield folder
    CURRENT.reset(token)


def run(*words: str, code: int = 0) -> str:
    """stdout of the command, or stderr where it is refused."""
    result = RUNNER.invoke(app, ["cache", *words])
    assert result.exit_code == code, result.output
    return result.stderr if code else result.stdout


def fill(cache: Path) -> None:
    for age, name in enumerate(("kernel.so", "kernel.so", "remembered.json")):
        stored = obtain(cache, key_of([name, str(age)]), lambda folder, name=name: (folder / name).write_text("abc"))
        then = time.time() - 86400 * (3 - age)
        os.utime(stored.folder / store.DIGEST, (then, then))


def test_where_it_is_what_is_in_it_and_how_much_may_be(cache):
    fill(cache)
    (cache / "profile.sqlite3").write_text("x" * 2048)
    lines = [re.split(r"\s{2,}", line.strip()) for line in run().splitlines()]
    assert lines == [
        ["cache folder", f"{cache} (LOOPWRIGHT_CACHE)"],
        ["limit", "1 MB (LOOPWRIGHT_CACHE_SIZE)"],
        ["trusted", "yes"],
        ["measurements", "2 KiB (loopwright db; they do not count)"],
        ["what", "entries", "size", "last used: longest ago", "latest"],
        ["code for CPUs", "2", "24 KiB", "3 days ago", "2 days ago"],
        ["results of passes", "1", "12 KiB", "1 day ago", "1 day ago"],
        ["all", "3", "36 KiB", "3 days ago", "1 day ago"],
    ]


def test_a_cache_that_is_not_there_or_empty(cache):
    assert "it is made when the first kernel is compiled" in run()
    assert not cache.exists()
    assert run("clear") == run("prune") == f"nothing is in {cache}\n"
    cache.mkdir(mode=0o700)
    assert run().splitlines()[-1] == "nothing is in it"
    assert run("clear") == f"0 entries removed from {cache}: 0 bytes\n"


def test_a_cache_that_others_may_write_to_is_told_of_and_left_alone(cache):
    fill(cache)
    cache.chmod(0o777)
    shown = run()
    assert f"no: everybody may write to {cache}" in shown and f"chmod go-w {cache}" in shown
    assert "code for CPUs" in shown
    for command in ("clear", "prune"):
        assert f"everybody may write to {cache}" in run(command, code=2)
    assert len(list((cache / "objects").glob("*/*"))) == 3
    cache.chmod(0o700)
    assert run("clear").startswith("3 entries removed")


def test_a_file_in_its_place(cache):
    cache.write_text("")
    assert "is not a folder" in run() and "it cannot be read" in run()
    assert "is not a folder" in run("clear", code=2)


def test_clearing(cache):
    fill(cache)
    (cache / "profile.sqlite3").write_text("measurements")
    assert run("clear") == f"3 entries removed from {cache}: 36 KiB\n"
    assert list((cache / "objects").glob("*/*")) == [] and (cache / "profile.sqlite3").exists()
    assert run().splitlines()[-1] == "nothing is in it"


def test_pruning_takes_the_oldest(cache):
    fill(cache)
    assert run("prune") == f"0 entries removed from {cache}: 0 bytes; 36 KiB left\n"
    assert run("prune", "--size", f"{2 * EACH} bytes".removesuffix(" bytes")).startswith("2 entries removed")
    assert "results of passes" in run() and "code for CPUs" not in run()


def test_pruning_to_what_is_no_size(cache):
    assert "'much' is no size" in run("prune", "--size", "much", code=2)
    with_no_limit = CURRENT.set(Config(cache=cache, cache_size=None))
    try:
        assert "there is no limit" in run("prune", code=2)
        assert "off (LOOPWRIGHT_CACHE_SIZE)" in run()
    finally:
        CURRENT.reset(with_no_limit)
