"""Python does not look for cyclic garbage while the passes run: they make many trees and hardly any cycle, and what
looks at all of them over and over again takes an eighth of a first call, or more in a process with many objects."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


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


class _WithoutCollections:
    """A block, or the calls of a function; no generator, whose frames users would see in tracebacks."""

    def __init__(self) -> None:
        self.begun: list[_Paused] = []

    def __enter__(self) -> None:
        self.begun.append(_PAUSED)  # a forked child has another one
        self.begun[-1].begin()

    def __exit__(self, *error: object) -> None:
        self.begun.pop().end()

    def __call__(self, function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def paused(*args: P.args, **kwargs: P.kwargs) -> T:
            with _WithoutCollections():
                return function(*args, **kwargs)

        return paused


def no_collections() -> _WithoutCollections:
    """In the block, or in the function under this decorator, Python looks for no garbage; afterwards it does as
    before."""
    return _WithoutCollections()


def _in_child() -> None:
    """After a fork only one thread goes on; blocks of others never end."""
    global _PAUSED
    if _PAUSED.blocks and _PAUSED.was_enabled:
        gc.enable()
    _PAUSED = _Paused()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
