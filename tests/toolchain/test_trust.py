"""Who may write where code is taken from. Owners and groups are made up here, so that it needs no rights to test."""

from __future__ import annotations

import ctypes
import errno
import os
import stat
from contextlib import suppress
from dataclasses import dataclass, replace
from types import SimpleNamespace

import pytest

from devices.handmade import config_in
from loopwright.toolchain import cc, library, trust
from loopwright.toolchain.trust import UntrustedError, trusted_file, trusted_folder, why_not_file, why_not_folder

ME, ROOT, STRANGER = 1000, 0, 1001
GROUPS = {0: ("root", []), 100: ("users", []), 1000: ("me", []), 1001: ("stranger", []), 1002: ("team", ["me"])}
USERS = [("root", 0, 0), ("me", ME, 1000), ("stranger", STRANGER, 1001)]


@dataclass(frozen=True)
class Made:
    """What fstat would tell."""

    st_mode: int = stat.S_IFDIR | 0o700
    st_uid: int = ME
    st_gid: int = 1000


@pytest.fixture
def people(monkeypatch: pytest.MonkeyPatch):
    """This process belongs to user `me`. Gives what may be changed: groups and users."""
    groups, users = dict(GROUPS), list(USERS)

    def user(fields):
        return SimpleNamespace(pw_name=fields[0], pw_uid=fields[1], pw_gid=fields[2])

    monkeypatch.setattr(os, "geteuid", lambda: ME)
    monkeypatch.setattr(
        trust,
        "grp",
        SimpleNamespace(getgrgid=lambda gid: SimpleNamespace(gr_name=groups[gid][0], gr_mem=groups[gid][1])),
    )
    byid = {fields[1]: fields for fields in users}
    monkeypatch.setattr(
        trust,
        "pwd",
        SimpleNamespace(getpwuid=lambda uid: user(byid[uid]), getpwall=lambda: [user(fields) for fields in users]),
    )
    trust._is_private.cache_clear()
    yield SimpleNamespace(groups=groups, users=users)
    trust._is_private.cache_clear()


def folder(mode: int, **changes: int) -> Made:
    return replace(Made(stat.S_IFDIR | mode), **changes)


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (folder(0o700), ""),
        (folder(0o755), ""),
        (folder(0o755, st_uid=ROOT, st_gid=0), ""),
        (folder(0o700, st_uid=STRANGER), "/x belongs to user stranger (1001), who could put code there"),
        (folder(0o700, st_uid=4711), "/x belongs to user 4711, who could put code there"),
        (folder(0o777), "everybody may write to /x, and so put code there: chmod go-w /x"),
        (folder(0o702), "everybody may write to /x, and so put code there: chmod go-w /x"),
        (folder(0o1777), "everybody may write to /x, and so put code there: chmod go-w /x"),
        (folder(0o777, st_uid=ROOT), "everybody may write to /x, and so put code there: chmod go-w /x"),
        (folder(0o770, st_gid=100), "the group users (100) may write to /x, and so put code there: chmod g-w /x"),
        (folder(0o770, st_gid=1002), "the group team (1002) may write to /x, and so put code there: chmod g-w /x"),
        (folder(0o770, st_gid=4711), "the group 4711 may write to /x, and so put code there: chmod g-w /x"),
        (folder(0o770, st_gid=1001), "the group stranger (1001) may write to /x, and so put code there: chmod g-w /x"),
        (folder(0o775), ""),  # as umask 002 makes it: only I am in my group
        (folder(0o775, st_uid=ROOT, st_gid=0), ""),
        (folder(0o775, st_uid=ROOT), "the group me (1000) may write to /x, and so put code there: chmod g-w /x"),
        (Made(stat.S_IFREG | 0o600), "/x is not a folder"),
    ],
)
def test_of_a_folder(people, status, why):
    assert why_not_folder(status, "/x") == why


@pytest.mark.parametrize(
    ("mode", "user", "fine"),
    [(0o1777, ROOT, True), (0o1777, ME, True), (0o1770, ROOT, True), (0o1777, STRANGER, False), (0o777, ROOT, False)],
)
def test_of_a_folder_on_the_way(people, mode, user, fine):
    status = folder(mode, st_uid=user, st_gid=100)
    assert (why_not_folder(status, "/x", on_the_way=True) == "") == fine


def test_a_group_is_private_only_where_nobody_else_is_in_it(people):
    people.groups[1000] = ("me", ["me", "root"])
    assert why_not_folder(folder(0o775), "/x") == ""
    trust._is_private.cache_clear()
    people.groups[1000] = ("me", ["me", "stranger"])
    assert "the group me" in why_not_folder(folder(0o775), "/x")
    trust._is_private.cache_clear()
    people.groups[1000] = ("me", [])
    people.users.append(("colleague", 1005, 1000))  # it is that user's first group
    assert "the group me" in why_not_folder(folder(0o775), "/x")


def test_a_name_with_spaces_can_be_pasted(people):
    assert why_not_folder(folder(0o777), "/my files").endswith("chmod go-w '/my files'")


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (Made(stat.S_IFREG | 0o644), ""),
        (Made(stat.S_IFREG | 0o755, st_uid=ROOT), ""),
        (Made(stat.S_IFREG | 0o644, st_uid=STRANGER), "belongs to user stranger"),
        (Made(stat.S_IFREG | 0o664), "others may write to /x"),
        (Made(stat.S_IFREG | 0o646), "others may write to /x"),
        (Made(stat.S_IFIFO | 0o600), "not a plain file"),
        (Made(stat.S_IFDIR | 0o700), "not a plain file"),
    ],
)
def test_of_a_file(people, status, why):
    found = why_not_file(status, "/x")
    assert why in found and bool(why) == bool(found)


# ---- the way to a folder ---------------------------------------------------------------------------------------------


def reached(path: object, make: bool = False) -> tuple[int, int]:
    with trusted_folder(str(path), make) as descriptor:
        status = os.fstat(descriptor)
        return status.st_dev, status.st_ino


def test_every_component_is_checked(tmp_path):
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)
    assert reached(deep) == (deep.stat().st_dev, deep.stat().st_ino)
    for culprit in (deep, deep.parent, deep.parent.parent):
        trust._known.clear()
        culprit.chmod(0o777)
        with pytest.raises(UntrustedError, match=f"everybody may write to {culprit},"):
            reached(deep)
        culprit.chmod(0o755)
    reached(deep)


def test_a_folder_that_was_fine_is_asked_again_and_nothing_else_is(tmp_path, monkeypatch):
    reached(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(trust, "_walked", lambda *_: pytest.fail("walked twice"))
        reached(tmp_path)
    tmp_path.chmod(0o777)
    with pytest.raises(UntrustedError):
        reached(tmp_path)


def test_another_folder_of_the_same_name_is_checked_anew(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    reached(tmp_path / "a" / "b")
    (tmp_path / "a").rename(tmp_path / "old")
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a").chmod(0o777)
    with pytest.raises(UntrustedError):
        reached(tmp_path / "a" / "b")


def test_what_is_missing_is_made_for_its_owner_only(tmp_path):
    with pytest.raises(FileNotFoundError):
        reached(tmp_path / "a" / "b")
    before = os.umask(0)
    try:
        reached(tmp_path / "a" / "b", make=True)
    finally:
        os.umask(before)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "a", tmp_path / "a" / "b")] == [0o700, 0o700]


def test_links_lead_where_they_say(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "absolute").symlink_to(tmp_path / "a")
    (tmp_path / "relative").symlink_to("./absolute/../a")
    (tmp_path / "a" / "up").symlink_to("../relative/b")
    wanted = reached(tmp_path / "a" / "b")
    for path in ("absolute/b", "relative/b", "a/up", "relative/up"):
        assert reached(tmp_path / path) == wanted, path
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match=os.strerror(errno.ELOOP)):
        reached(tmp_path / "loop")
    (tmp_path / "file").touch()
    for path in ("file", "file/x"):
        with pytest.raises(OSError, match="file is not a folder"):
            reached(tmp_path / path)


def test_where_a_link_leads_is_checked(tmp_path):
    (tmp_path / "open" / "cache").mkdir(parents=True)
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "link").symlink_to(tmp_path / "open" / "cache")
    with pytest.raises(UntrustedError, match=f"everybody may write to {tmp_path / 'open'},"):
        reached(tmp_path / "link")


def test_a_parent_that_may_be_passed_but_not_listed_is_fine(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a").chmod(0o311)
    reached(tmp_path / "a" / "b")


def test_an_access_list_lets_others_in(tmp_path, monkeypatch):
    """The group's rights are, with one, the most that anybody has who is named in it."""
    monkeypatch.setattr(trust, "_is_private", lambda *_: True)
    tmp_path.chmod(0o770)
    reached(tmp_path)
    trust._known.clear()
    monkeypatch.setattr(os, "getxattr", lambda path, name: b"user:stranger:rwx" if "acl" in name else b"")
    with pytest.raises(UntrustedError, match=f"access list.*setfacl -b {tmp_path}"):
        reached(tmp_path)


def test_descriptors_are_given_back(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a").chmod(0o777)
    (tmp_path / "link").symlink_to(tmp_path / "a")
    before = len(os.listdir("/proc/self/fd"))
    for path in (tmp_path, tmp_path / "none", tmp_path / "a", tmp_path / "a" / "none", tmp_path / "link"):
        for make in (False, True):
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(os, "mkdir", lambda *_, **__: None)
                with suppress(OSError):
                    reached(path, make)
    assert len(os.listdir("/proc/self/fd")) <= before  # threads of other tests may give some back meanwhile


# ---- files -----------------------------------------------------------------------------------------------------------


def test_a_file_is_asked_when_it_is_open(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to("file")
    with trusted_folder(str(tmp_path)) as folder:
        with trusted_file(folder, "file", "f") as (file, status):
            assert os.read(file, 9) == b"x" and status.st_size == 1
        with pytest.raises(UntrustedError, match="not a plain file"), trusted_file(folder, "link", "l"):
            pass
        with pytest.raises(FileNotFoundError, match="'n'"), trusted_file(folder, "none", "n"):
            pass


def returning(number: int, folder) -> str:
    """A library with a function `told` that returns a number."""
    return str(cc.build(f"int told(void) {{ return {number}; }}\n", (), config_in(folder)).path)


def test_libraries_that_are_loaded_by_one_descriptor_after_the_other_are_not_taken_for_one(tmp_path, monkeypatch):
    paths = [returning(number, tmp_path / "cache") for number in (1, 2, 3)]
    names: list[str] = []
    real = ctypes.CDLL
    monkeypatch.setattr(ctypes, "CDLL", lambda name: names.append(name) or real(name))
    libraries = [library.load_library(cc.Path(path)) for path in paths]
    assert [one.told() for one in libraries] == [1, 2, 3]
    assert len({name.rpartition("/")[2] for name in names}) == 1, "not the same descriptor: this shows nothing"
    assert len(set(names)) == 3 and all(name.startswith("/proc/self/fd/") for name in names)


def test_what_was_checked_is_loaded_and_not_what_has_its_name_by_then(tmp_path, monkeypatch):
    good, planted = (cc.Path(returning(number, tmp_path / "cache")) for number in (1, 2))
    real = ctypes.CDLL

    def swaps(name):
        os.replace(planted, good)
        return real(name)

    monkeypatch.setattr(ctypes, "CDLL", swaps)
    assert library.load_library(good).told() == 1
    assert real(str(good)).told() == 2  # as it would have been by name


def test_a_library_that_cannot_be_loaded_is_named(tmp_path):
    path = cc.Path(returning(1, tmp_path / "cache"))
    path.write_bytes(b"no library")
    with pytest.raises(OSError, match=f"{path}: .*"):
        library.load_library(path)


def test_without_names_for_open_files_the_path_serves(tmp_path, monkeypatch):
    path = returning(4, tmp_path / "cache")
    monkeypatch.setattr(trust, "OPEN_FILES", str(tmp_path / "no proc"))
    assert library.load_library(cc.Path(path)).told() == 4


def test_an_entry_that_is_gone_is_made_again_and_loaded(tmp_path):
    made: list[str] = []

    def make() -> str:
        made.append("once")
        return "artifact"

    def load(artifact: str) -> str:
        if len(made) < 2:
            raise FileNotFoundError(artifact)
        return artifact.upper()

    assert library.made_and_loaded(make, load) == ("artifact", "ARTIFACT")
    assert len(made) == 2
    made.clear()
    with pytest.raises(ZeroDivisionError):
        library.made_and_loaded(make, lambda artifact: 1 // 0)
    assert len(made) == 1
