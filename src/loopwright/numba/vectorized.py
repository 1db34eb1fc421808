"""`vectorize`: functions of numbers, called with arrays of any shape.

Operands are broadcast as NumPy's universal functions broadcast theirs; the loop around the function is a kernel, in
which the function is inlined. With signatures, operands and results have the types of the first one that every operand
can be cast to without loss; without, types come from each call.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from loopwright.numba.operands import Operand, kernel_around, python_function, typed_operands
from loopwright.numba.options import own_options
from loopwright.numba.surrounding_loops import EACH
from loopwright.numba.types import CallSignature, NumbaType, ScalarType, signatures_of


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

    def __call__(self, *operands: Any, out: Operand | None = None) -> Any:
        if len(operands) != self.nin:
            raise TypeError(f"{self.py_func.__name__} takes {self.nin} operands, and is given {len(operands)}")
        arrays, chosen = typed_operands([np.asarray(one) for one in operands], self.signatures, self.py_func.__name__)
        shape = np.broadcast_shapes(*(one.shape for one in arrays))
        count = int(np.prod(shape, dtype=np.int64))
        result = self._kernel(*(_in_a_row(one, shape, count) for one in arrays)).reshape(shape)
        if chosen is not None and isinstance(chosen.returns, ScalarType):
            result = result.astype(chosen.returns.dtype, copy=False)
        if out is None:
            return result[()]
        np.copyto(out, result, casting="same_kind")
        return out

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


def _in_a_row(one: Operand, shape: tuple[int, ...], count: int) -> Operand:
    """The elements of an operand, as many as the result has."""
    return np.broadcast_to(one, (count,)) if one.ndim == 0 else np.broadcast_to(one, shape).reshape(count)
