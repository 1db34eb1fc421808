"""Python does not look for cyclic garbage while the passes run: they make many trees and hardly any cycle, and what
looks at all of them over and over again takes an eighth of a first call, or more in a process with many objects."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _Paused:
    """How many blocks of all threads are open, and whether Python looked for garbage before the first of them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.blocks = 0
        self.was_enabled = False

    def begin(self) -> None:
        with self.lock:
            if not self.blocks:
                self.was_enabled = gc.isenabled()
                gc.disable()
            self.blocks += 1

    def end(self) -> None:
        with self.lock:
            self.blocks -= 1
            if not self.blocks and self.was_enabled:
                gc.enable()


_PAUSED = _Paused()


@contextmanager
def no_collections() -> Iterator[None]:
    """In the block, Python looks for no garbage; afterwards it does as before."""
    paused = _PAUSED  # a forked child has another one
    paused.begin()
    try:
        yield
    finally:
        paused.end()


def _in_child() -> None:
    """After a fork only one thread goes on; blocks of others never end."""
    global _PAUSED
    if _PAUSED.blocks and _PAUSED.was_enabled:
        gc.enable()
    _PAUSED = _Paused()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
