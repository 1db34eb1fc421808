"""`numba.config`, and the number of threads: what of them means something here."""

from __future__ import annotations

import os
from typing import Any

from loopwright.config import DEFAULT, current, set_options
from loopwright.errors import warn_once
from loopwright.frontend.markers import asked_at_each_call, has_no_effect, names_threads
from loopwright.numba.absent import instead_of

_FIXED = {"NUMBA_NUM_THREADS": DEFAULT.threads, "NUMBA_DEFAULT_NUM_THREADS": DEFAULT.threads, "THREADING_LAYER": "omp"}


class NumbaSettings:
    """`numba.config`. DISABLE_JIT: decorators give the function itself; from the environment, NUMBA_DISABLE_JIT. What
    else is set has no effect, and that is said once."""

    DISABLE_JIT: bool

    def __init__(self) -> None:
        vars(self).update(_FIXED)
        vars(self)["DISABLE_JIT"] = os.environ.get("NUMBA_DISABLE_JIT", "0").strip() not in ("", "0")

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(instead_of(f"config.{name}"))

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "DISABLE_JIT":
            vars(self)[name] = bool(value)
        else:
            warn_once(f"numba config {name}", f"numba.config.{name} = {value!r} has no effect (docs/numba.md)")


config = NumbaSettings()


@asked_at_each_call
def get_num_threads() -> int:
    """How many threads serve loops here; in a kernel, when the call begins."""
    return current().threads


@has_no_effect
def set_num_threads(count: int) -> None:
    """From now on so many threads serve loops, in the whole process: lw.set_options(threads=count). Raises ValueError
    for less than 1 and more than config.NUMBA_NUM_THREADS."""
    if not 1 <= count <= DEFAULT.threads:
        raise ValueError(f"{count} threads: there are 1 to {DEFAULT.threads} (LOOPWRIGHT_THREADS)")
    set_options(threads=count)


@names_threads
def get_thread_id() -> int:
    """0: what iterations add up by thread is added up in one place, and the threads are told apart behind it."""
    return 0


def literal_unroll(items: Any) -> Any:
    """The same tuple: a loop over it needs nothing around it."""
    return items


def literally(value: Any) -> Any:
    """The same value: a string, None or a tuple of numbers given to a kernel is a constant already."""
    return value


def threading_layer() -> str:
    """What runs loops on several threads."""
    return "omp"
