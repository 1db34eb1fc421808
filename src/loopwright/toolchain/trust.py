"""Who may write where code is taken from: nobody but this user and root.

Whoever can put a file into a folder decides what runs in the processes that load it. So the rule is that of ssh for
its keys: every folder from / on belongs to this user or to root, and nobody else may write to it. Two kinds of folders
that others may write to are fine: one with the sticky bit on the way (/tmp), where what is ours stays ours, and one
whose group is the owner's private one, as umask 002 makes them. A link is followed only where it belongs to this user
or to root, and what it leads to is checked in the same way.

Nothing is checked by name and then opened: each folder is opened from the one before, and asked when it is open.
"""

from __future__ import annotations

import errno
import itertools
import os
import shlex
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Protocol

try:
    import grp
    import pwd
except ImportError:  # not POSIX
    grp = pwd = None  # type: ignore[assignment]

MOST_LINKS = 40
LISTED = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
FOLDER = LISTED | getattr(os, "O_PATH", 0)  # to pass through a folder takes no right to list it
NO_LINK = getattr(os, "O_NOFOLLOW", 0)
FILE = os.O_RDONLY | NO_LINK | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)  # a pipe must not hold us up
OPEN_FILES = "/proc/self/fd"
ACCESS_LIST = "system.posix_acl_access"

_known: dict[str, tuple[int, int]] = {}  # device and inode of folders that were found fine, by name
_loads = itertools.count(1)


class UntrustedError(OSError):
    """Others could have written what is there. It says who, where, and what to do about it."""


class Status(Protocol):
    """What `os.fstat` tells, as far as it matters here."""

    @property
    def st_mode(self) -> int: ...
    @property
    def st_uid(self) -> int: ...
    @property
    def st_gid(self) -> int: ...


# ---- the decision -----------------------------------------------------------------------------------------------


def why_not_folder(status: Status, name: str, on_the_way: bool = False) -> str:
    """Why a folder is not to be trusted, or ''. on_the_way: it only leads to a folder that is checked as well."""
    if not stat.S_ISDIR(status.st_mode):
        return f"{name} is not a folder"
    if why := _why_not_owner(status, name):
        return why
    if on_the_way and status.st_mode & stat.S_ISVTX:
        return ""
    if status.st_mode & stat.S_IWOTH:
        return f"everybody may write to {name}, and so put code there: chmod go-w {shlex.quote(name)}"
    if status.st_mode & stat.S_IWGRP and not _is_private(status.st_gid, status.st_uid, os.geteuid()):
        group = _group_name(status.st_gid)
        return f"the group {group} may write to {name}, and so put code there: chmod g-w {shlex.quote(name)}"
    return ""


def why_not_file(status: Status, name: str) -> str:
    """Why a file is not to be trusted, or ''. Those in the cache have no reason to be open to any group."""
    if not stat.S_ISREG(status.st_mode):
        return f"{name} is not a plain file"
    if why := _why_not_owner(status, name):
        return why
    return f"others may write to {name}" if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) else ""


def _why_not_owner(status: Status, name: str) -> str:
    if not hasattr(os, "geteuid") or status.st_uid in (0, os.geteuid()):
        return ""
    return f"{name} belongs to user {_user_name(status.st_uid)}, who could put code there"


@cache
def _is_private(group: int, owner: int, user: int) -> bool:
    """Whether nobody but this user and root is in the group: it is named after the owner, whose own group it is, and
    no one else is said to be in it. (That of the name alone would be enough, were there no careless systems.)"""
    if grp is None:
        return False
    try:
        found, of_owner = grp.getgrgid(group), pwd.getpwuid(owner)
        fine = {one.pw_name for one in map(pwd.getpwuid, {0, owner})}
        strangers = [one for one in pwd.getpwall() if one.pw_gid == group and one.pw_uid not in (0, owner)]
    except KeyError:
        return False
    named_after = found.gr_name == of_owner.pw_name and of_owner.pw_gid == group
    return named_after and owner in (0, user) and not strangers and fine.issuperset(found.gr_mem)


def _user_name(user: int) -> str:
    with suppress(KeyError, AttributeError):
        return f"{pwd.getpwuid(user).pw_name} ({user})"
    return str(user)


def _group_name(group: int) -> str:
    with suppress(KeyError, AttributeError):
        return f"{grp.getgrgid(group).gr_name} ({group})"
    return str(group)


# ---- folders ----------------------------------------------------------------------------------------------------


@contextmanager
def trusted_folder(path: str, make: bool = False) -> Iterator[int]:
    """A descriptor of the folder at an absolute path, to open what is in it. make: what is missing of the path is made,
    for this user only.

    All of the path is checked once per process; after that, that it is the same folder still. Raises UntrustedError,
    and OSError where the folder is missing or cannot be reached."""
    descriptor = _again(path)
    if descriptor is None:
        descriptor = _walked(path, make)
        now = os.fstat(descriptor)
        _known[path] = (now.st_dev, now.st_ino)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def why_untrusted(path: str) -> str:
    """Why others could have written what is in the folder at an absolute path, or ''; also where there is none."""
    try:
        with trusted_folder(path):
            return ""
    except UntrustedError as error:
        return str(error)
    except OSError:
        return ""


@contextmanager
def folder_in(folder: int, name: str, where: str, make: bool = False) -> Iterator[int]:
    """The same for a folder in an open one, which can be listed. where: its whole name, for people."""
    descriptor = _opened(folder, name, where, make=make, how=LISTED)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _again(path: str) -> int | None:
    """The folder that was checked before, opened; None where there is another one now, or none was."""
    if path not in _known:
        return None
    try:
        descriptor = os.open(path, FOLDER)
    except OSError:
        return None
    now = os.fstat(descriptor)
    if (now.st_dev, now.st_ino) == _known[path] and not why_not_folder(now, path):
        return descriptor
    os.close(descriptor)
    return None


def _walked(path: str, make: bool) -> int:
    """The folder, opened from / on, one name after the other."""
    names = _names(path)
    links, where = 0, "/"
    here = os.open(where, FOLDER)
    try:
        _check_folder(here, where, bool(names))
        while names:
            name = names.pop()
            target = _link(here, name, where)
            if target is None:
                there = os.path.join(where, name)
                following = _opened(here, name, there, on_the_way=bool(names), make=make)
                here, where = _instead(here, following), os.path.normpath(there)
                continue
            links += 1
            if links > MOST_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
            if target.startswith("/"):
                here, where = _instead(here, os.open("/", FOLDER)), "/"
            names += _names(target)
        return here
    except BaseException:
        os.close(here)
        raise


def _names(path: str) -> list[str]:
    """The last one first."""
    return [name for name in reversed(path.split("/")) if name not in ("", ".")]


def _instead(old: int, new: int) -> int:
    os.close(old)
    return new


def _link(folder: int, name: str, where: str) -> str | None:
    """What a link says; None where it is none, or where nothing is."""
    try:
        status = os.lstat(name, dir_fd=folder)
    except FileNotFoundError:
        return None
    if not stat.S_ISLNK(status.st_mode):
        return None
    if why := _why_not_owner(status, os.path.join(where, name)):
        raise UntrustedError(why)
    return os.readlink(name, dir_fd=folder)


def _opened(folder: int, name: str, where: str, on_the_way: bool = False, make: bool = False, how: int = FOLDER) -> int:
    try:
        try:
            descriptor = os.open(name, how | NO_LINK, dir_fd=folder)
        except FileNotFoundError:
            if not make:
                raise
            with suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=folder)
            descriptor = os.open(name, how | NO_LINK, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ENOTDIR, errno.ELOOP, errno.EMLINK):
            raise OSError(errno.ENOTDIR, f"{where} is not a folder") from error
        raise OSError(error.errno, os.strerror(error.errno or 0), where) from error
    try:
        _check_folder(descriptor, where, on_the_way)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _check_folder(descriptor: int, where: str, on_the_way: bool) -> None:
    status = os.fstat(descriptor)
    why = why_not_folder(status, where, on_the_way)
    if not why and status.st_mode & stat.S_IWGRP and not status.st_mode & stat.S_ISVTX and _has_access_list(descriptor):
        why = f"others may write to {where} by its access list, and so put code there: setfacl -b {shlex.quote(where)}"
    if why:
        raise UntrustedError(why)


def _has_access_list(descriptor: int) -> bool:
    """What a folder's group may do is, with an access list, what all who are named in it may do at most."""
    with suppress(OSError, AttributeError):
        return bool(os.getxattr(f"{OPEN_FILES}/{descriptor}", ACCESS_LIST))
    return False


# ---- files ------------------------------------------------------------------------------------------------------


@contextmanager
def trusted_file(folder: int, name: str, where: str) -> Iterator[tuple[int, os.stat_result]]:
    """A descriptor of a file in an open folder, for reading, and its status. Raises UntrustedError, and OSError where
    there is none."""
    try:
        descriptor = os.open(name, FILE, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENXIO):  # a link; a socket, or a pipe
            raise UntrustedError(f"{where} is not a plain file") from error
        raise OSError(error.errno, os.strerror(error.errno or 0), where) from error
    try:
        status = os.fstat(descriptor)
        if why := why_not_file(status, where):
            raise UntrustedError(why)
        yield descriptor, status
    finally:
        os.close(descriptor)


def name_to_load(descriptor: int, path: str) -> str:
    """A name by which the dynamic loader opens this very file, whatever is at `path` by then. The loader takes a name
    that it has seen for the library that it knows, and descriptors have the same few numbers: so no name is given
    twice. path: what to take where the system has no names for open files."""
    number = next(_loads)
    unique = "".join("./" if number >> bit & 1 else "/" for bit in range(number.bit_length()))
    name = f"{OPEN_FILES}/{unique}{descriptor}"
    with suppress(OSError):
        if os.path.samestat(os.stat(name), os.fstat(descriptor)):
            return name
    return path
