"""`vectorize`: functions of numbers, called with arrays of any shape.

Operands are broadcast as NumPy's universal functions broadcast theirs; the loop around the function is a kernel, in
which the function is inlined. With signatures, operands and results have the types of the first one that every operand
can be cast to without loss; without, types come from each call.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from loopwright.numba.operands import (
    AS_IT_IS,
    Kind,
    Operand,
    Passing,
    as_arrays,
    chosen_types,
    kernel_around,
    kinds_of,
    passing,
    python_function,
    remembered,
)
from loopwright.numba.options import own_options
from loopwright.numba.surrounding_loops import EACH
from loopwright.numba.types import CallSignature, NumbaType, ScalarType, signatures_of


@dataclass(frozen=True)
class ElementPassing:
    """How a call passes its operands, and of what shape and type its result is; None: as the kernel gives it."""

    operands: tuple[Passing, ...]
    shape: tuple[int, ...] | None
    dtype: np.dtype[Any] | None


class Vectorized:
    """A function of numbers, called with arrays and numbers that broadcast. It gives a number where all are numbers.

    nin, nout: as of a universal function. Raises TypeError for another number of operands, and for types that no
    signature takes; ValueError for shapes that do not go together."""

    __loopwright_elementwise__ = True
    nout = 1

    def __init__(
        self, function: Callable[..., Any], signatures: Sequence[CallSignature], options: Mapping[str, Any]
    ) -> None:
        functools.update_wrapper(self, function)
        self.py_func, self.signatures = function, tuple(signatures)
        self.nin = function.__code__.co_argcount
        self._kernel = kernel_around(EACH, self.nin, function, options)
        self._plans: dict[tuple[Kind, ...], ElementPassing] = {}

    def __call__(self, *operands: Any, out: Operand | None = None) -> Any:
        if len(operands) != self.nin:
            raise TypeError(f"{self.py_func.__name__} takes {self.nin} operands, and is given {len(operands)}")
        arrays = as_arrays(operands, self.signatures)
        kinds = kinds_of(arrays)
        plan = self._plans.get(kinds) or self._planned(kinds)
        result = self._kernel(
            *[one if how is AS_IT_IS else how(one) for one, how in zip(arrays, plan.operands, strict=True)]
        )
        if plan.shape is not None:
            result = result.reshape(plan.shape)
        if plan.dtype is not None:
            result = result.astype(plan.dtype, copy=False)
        if out is None:
            return result[()]
        np.copyto(out, result, casting="same_kind")
        return out

    def _planned(self, kinds: tuple[Kind, ...]) -> ElementPassing:
        types, chosen = chosen_types(kinds, self.signatures, self.py_func.__name__)
        shape = np.broadcast_shapes(*(own for _, own in kinds))
        row = (math.prod(shape),)
        returned = chosen.returns.dtype if chosen is not None and isinstance(chosen.returns, ScalarType) else None
        operands = tuple(passing(one, dtype, shape, row) for one, dtype in zip(kinds, types, strict=True))
        return remembered(self._plans, kinds, ElementPassing(operands, None if shape == row else shape, returned))

    def outer(self, first: Any, second: Any) -> Any:
        """The results for each pair of an element of the first operand and one of the second."""
        first = np.asarray(first)
        return self(first.reshape(first.shape + (1,) * np.ndim(second)), second)

    def __repr__(self) -> str:
        return f"<vectorized {self.py_func.__name__}>"


def vectorize(function_or_signatures: Any = None, **options: Any) -> Any:
    """`@vectorize`, `@vectorize(["float64(float64, float64)"], target="parallel")`: see Vectorized.

    Examples:
        >>> import numpy as np
        >>> from loopwright.numba import vectorize
        >>> @vectorize(["float64(float64, float64)"])
        ... def clipped(x, limit):
        ...     return min(x, limit)
        >>> clipped(np.arange(4), 1.5)
        array([0. , 1. , 1.5, 1.5])
    """
    own = own_options(options)
    if callable(function_or_signatures) and not isinstance(function_or_signatures, NumbaType):
        return Vectorized(python_function(function_or_signatures), (), own)
    signatures = [] if function_or_signatures is None else signatures_of(function_or_signatures)
    return lambda function: Vectorized(python_function(function), signatures, own)
