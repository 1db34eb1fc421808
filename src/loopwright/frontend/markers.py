"""What a user writes to mark code: `function` for helpers, `prange` for loops. Both also work in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

pndindex = np.ndindex  # as numba names it
ELEMENTWISE = "__loopwright_elementwise__"  # of a class whose objects are called for each element of arrays
STENCIL = "__loopwright_stencil__"  # of a class whose objects are functions of neighbours
MAKES = "__loopwright_makes__"  # of another name for `list` or `dict`
NO_EFFECT = "__loopwright_no_effect__"
ASKED = "__loopwright_asked__"
NAMES_THREADS = "__loopwright_names_threads__"
Helper = TypeVar("Helper", bound=Callable[..., Any])


class prange:
    """`range`, with the promise that the iterations of the loop may run in any order and at once.

    Plain Python iterates it as `range`. Takes start, stop and step as `range` does. It is for loops that only data can
    tell to be parallel; where the order is proven to matter, the loop runs in order all the same.

    Examples:
        >>> import numpy as np
        >>> import loopwright as lw
        >>> @lw.kernel
        ... def permuted(order, a, out):
        ...     for i in lw.prange(len(order)):  # no number is in `order` twice
        ...         out[order[i]] = a[i]
        >>> out = np.empty(3)
        >>> permuted(np.array([2, 0, 1]), np.array([1.0, 2.0, 3.0]), out)
        >>> out
        array([2., 3., 1.])
        >>> list(lw.prange(2, 8, 3))
        [2, 5]
    """

    __slots__ = ("_range",)

    def __init__(self, *bounds: int) -> None:
        self._range = range(*bounds)

    def __iter__(self) -> Iterator[int]:
        return iter(self._range)

    def __len__(self) -> int:
        return len(self._range)

    def __repr__(self) -> str:
        return "p" + repr(self._range)


def makes(kind: type) -> Callable[[Helper], Helper]:
    """Mark a class or a function that makes lists or dicts: a call of it is one of `list()` or `dict()`."""

    def mark(maker: Helper) -> Helper:
        setattr(maker, MAKES, kind)
        return maker

    return mark


def has_no_effect(helper: Helper) -> Helper:
    """Mark a function that does nothing where a kernel calls it."""
    setattr(helper, NO_EFFECT, True)
    return helper


def asked_at_each_call(helper: Helper) -> Helper:
    """Mark a function that says an int, which each call of a kernel that calls it finds out anew."""
    setattr(helper, ASKED, True)
    return helper


def names_threads(helper: Helper) -> Helper:
    """Mark a function that says which thread runs an iteration: in a kernel that calls it, `prange` promises nothing,
    since it promised that for numbers that differ."""
    setattr(helper, NAMES_THREADS, True)
    return helper


def function(helper: Helper) -> Helper:
    """Mark a helper that kernels call: it is inlined where it is called, and stays an ordinary function. Kernels call
    unmarked functions too; the mark is for readers.

    Examples:
        >>> import numpy as np
        >>> import loopwright as lw
        >>> @lw.function
        ... def clamp(x, low, high):
        ...     return min(max(x, low), high)
        >>> @lw.kernel
        ... def clamp_all(a):
        ...     for i in range(len(a)):
        ...         a[i] = clamp(a[i], 0.25, 0.75)
        >>> a = np.array([0.1, 0.5, 0.9])
        >>> clamp_all(a)
        >>> a
        array([0.25, 0.5 , 0.75])
        >>> clamp(9, 0, 1)
        1
    """
    setattr(helper, "__loopwright_function__", True)  # noqa: B010 - mypy refuses the plain assignment
    return helper
