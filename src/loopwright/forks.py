"""What another thread of the parent was doing when a process was forked, which nobody will ever end in the child: locks
that it held, which are free there (what they protect is whole, or made anew by whoever takes them), and what a fork
waits for."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any, TypeVar

L = TypeVar("L")

NO_FORK = threading.RLock()
"""Held by what a fork waits for: where modules are loaded late (Python's own locks of modules are never free again in a
child), and where a compiler is started (a child that has its end of a pipe keeps the pipe open)."""
MOST_WAITING_S = 10.0

_KEPT: weakref.WeakSet[Any] = weakref.WeakSet()
_forking = threading.local()


def free_in_child(lock: L) -> L:
    """The same lock, of threading, which nobody but the thread that goes on holds in a forked process."""
    _KEPT.add(lock)
    return lock


def _before() -> None:
    _forking.waited = NO_FORK.acquire(timeout=MOST_WAITING_S)


def _behind() -> None:
    if _forking.__dict__.pop("waited", False):
        NO_FORK.release()


def _in_child() -> None:
    _behind()
    for lock in list(_KEPT):
        if not getattr(lock, "_is_owned", bool)():
            lock._at_fork_reinit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_behind, after_in_child=_in_child)
