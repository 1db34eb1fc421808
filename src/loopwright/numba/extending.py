"""Of `numba.extending` what means something here: a function that kernels may call."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from loopwright.frontend.markers import Helper, function
from loopwright.numba.absent import instead_of


def register_jitable(helper: Helper | None = None, **_options: object) -> Helper | Callable[[Helper], Helper]:
    """Mark a helper that kernels call: it is inlined there, and stays an ordinary function."""
    return function if helper is None else function(helper)


def __getattr__(name: str) -> NoReturn:
    raise AttributeError(instead_of(name))
