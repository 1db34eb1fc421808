"""The locks under which the calls of one kernel share what is made for them."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Hashable
from contextlib import AbstractContextManager


class Locks:
    """`tables`: held while something is looked up or entered, and never while anything is made. Each thing that is made
    has a lock of its own, `making(key)`: who asks for it first makes it, others who want the same wait and then look
    again, and those who want something else do not wait. Who is interrupted leaves it to the next. The thread that
    holds one may take it again."""

    def __init__(self) -> None:
        self.renew()
        _alive.add(self)

    def renew(self) -> None:
        """Nobody holds any."""
        self.tables: AbstractContextManager[object] = threading.RLock()
        self._making: dict[Hashable, AbstractContextManager[object]] = {}

    def making(self, key: Hashable) -> AbstractContextManager[object]:
        """The lock of what this key stands for."""
        with self.tables:
            return self._making.setdefault(key, threading.RLock())


_alive: weakref.WeakSet[Locks] = weakref.WeakSet()


def _in_child() -> None:
    """Another thread of the parent may have held a lock that nobody will release here."""
    for locks in list(_alive):
        locks.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
