"""Code that somebody else has put into the cache, with a digest that fits: it is not loaded, and one warning says why.

What is planted subtracts where it should add. It is put there by a process that made it, so all that this package
itself writes into an entry is as it should be.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from devices.handmade import ADD, HEADER, config_in
from faults.children import PREAMBLE, USE, run
from loopwright.devices import launcher
from loopwright.toolchain.cc import build
from loopwright.toolchain.library import load_library
from loopwright.toolchain.trust import UntrustedError

PLANT = (
    PREAMBLE
    + """
from loopwright.toolchain import cc
make = cc._make_library
cc._make_library = lambda text, *rest: make(text.replace("+= (double)", "-= (double)"), *rest)
build(HEADER + ADD, (), config)
"""
)
RIGHT, PLANTED = "[2.0, 2.0, 2.0]", "[-2.0, -2.0, -2.0]"
STRANGER = 12345


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with planted code, which would be loaded."""
    folder = tmp_path_factory.mktemp("planted") / "cache"
    run(PLANT, folder)
    assert run(USE, folder) == (PLANTED, "")
    return folder


@pytest.fixture
def cache(planted: Path, tmp_path: Path) -> Path:
    """A copy of it, in a folder of its own."""
    (tmp_path / "parent").mkdir()
    return Path(shutil.copytree(planted, tmp_path / "parent" / "cache"))


@pytest.fixture
def gives_away() -> None:
    if os.geteuid() != 0:
        pytest.skip("may not give files away")


def refused(cache: Path, culprit: Path, remedy: str = "") -> None:
    output, trouble = run(USE, cache)
    assert output == RIGHT
    assert trouble.count("LoopwrightWarning") == 1
    assert str(culprit) in trouble and remedy in trouble and "LOOPWRIGHT_CACHE" in trouble


def test_a_cache_of_another_user(cache, gives_away):
    for path in (cache, *cache.rglob("*")):
        os.chown(path, STRANGER, STRANGER)
    refused(cache, cache, f"belongs to user {STRANGER}")


def test_a_folder_of_ours_whose_files_are_another_users(cache, gives_away):
    for path in cache.rglob("kernel.so"):
        os.chown(path, STRANGER, STRANGER)
    assert run(USE, cache) == (RIGHT, "")  # such an entry is made again


def test_a_link_to_a_cache_of_another_user(cache, gives_away, tmp_path):
    os.chown(cache, STRANGER, STRANGER)
    link = tmp_path / "link"
    link.symlink_to(cache)
    refused(link, cache, f"belongs to user {STRANGER}")


def test_a_link_of_another_user_to_a_cache_of_ours(cache, gives_away, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(cache)
    os.chown(link, STRANGER, STRANGER, follow_symlinks=False)
    refused(link, link, f"belongs to user {STRANGER}")


def test_a_cache_of_ours_that_everybody_may_write_to(cache):
    cache.chmod(0o777)
    refused(cache, cache, f"chmod go-w {cache}")


def test_a_cache_of_ours_that_a_group_of_others_may_write_to(cache, gives_away):
    os.chown(cache, -1, STRANGER)
    cache.chmod(0o770)
    refused(cache, cache, f"chmod g-w {cache}")


def test_a_parent_without_the_sticky_bit_that_everybody_may_write_to(cache):
    cache.parent.chmod(0o777)
    refused(cache, cache.parent, f"chmod go-w {cache.parent}")


def test_a_parent_of_another_user(cache, gives_away):
    os.chown(cache.parent, STRANGER, STRANGER)
    refused(cache, cache.parent)


def test_a_link_to_a_parent_that_everybody_may_write_to(cache, tmp_path):
    cache.parent.chmod(0o777)
    link = tmp_path / "link"
    link.symlink_to(cache.parent)
    refused(link / "cache", cache.parent)


@pytest.mark.parametrize("load", [lambda path: launcher._imported(path), load_library])
def test_whatever_loads_a_library_asks_again(tmp_path, load):
    """Also what was fine when it was found."""
    path = build(HEADER + ADD, (), config_in(tmp_path / "cache")).path
    path.parent.chmod(0o777)
    with pytest.raises(UntrustedError, match=f"everybody may write to {path.parent}"):
        load(path)


# ---- what is fine ----------------------------------------------------------------------------------------------------


def test_a_sticky_parent_is_fine(cache):
    cache.parent.chmod(0o1777)
    assert run(USE, cache) == (PLANTED, "")


def test_a_link_of_ours_to_a_folder_of_ours_is_fine(cache, tmp_path):
    (tmp_path / "home").symlink_to("parent")
    (tmp_path / "link").symlink_to(tmp_path / "home" / ".." / "parent" / "cache")
    assert run(USE, tmp_path / "link") == (PLANTED, "")


# ---- other users of the folder ---------------------------------------------------------------------------------------


def test_measurements_in_such_a_folder_are_left_alone(tmp_path):
    code = """
import sys
from pathlib import Path
from loopwright.config import Config
from loopwright.profile.journal import journal_of
from loopwright.ir.variant import Variant
from loopwright.ir.signature import Shape
from loopwright.profile.measurement import Measurement, Work
journal = journal_of(Config(cache=Path(sys.argv[1])))
journal.add(Measurement("k", "machine", Variant("cpu", "plain", 1), Shape((9,)), Work(), "ok", 1.0))
print(journal.flush(), journal.has_kernel("k"))
"""
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    assert run(code, cache)[0] == "True True"
    cache.chmod(0o777)
    (cache / "profile.sqlite3").rename(cache / "moved")
    assert run(code, cache)[0] == "False True"  # known to this process only
    assert not (cache / "profile.sqlite3").exists()
