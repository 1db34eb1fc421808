"""What `vectorize` and `guvectorize` share: operands in the types of a signature, and the kernel around a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loopwright.kernel import LoopKernel
from loopwright.numba.decorate import RefusedKernel, kernel_or_refused
from loopwright.numba.surrounding_loops import MOST_OPERANDS
from loopwright.numba.types import CallSignature, NumbaArray, NumbaType, ScalarType

Operand = NDArray[Any]


def python_function(function: Any) -> Any:
    """A function, or that of a kernel."""
    return getattr(function, "py_func", function)


def kernel_around(
    loops: Sequence[Callable[[Callable[..., Any]], Callable[..., Any]]], count: int, function: Callable[..., Any],
    options: Mapping[str, Any],
) -> LoopKernel | RefusedKernel:  # fmt: skip
    """The kernel of a loop around a function of so many operands. Raises TypeError for too many, and for none."""
    if not 1 <= count <= MOST_OPERANDS:
        raise TypeError(f"{function.__name__} has {count} operands: 1 to {MOST_OPERANDS} are possible")
    return kernel_or_refused(loops[count - 1](function), options)


def typed_operands(
    arrays: list[Operand], signatures: Sequence[CallSignature], name: str
) -> tuple[list[Operand], CallSignature | None]:
    """The operands in the types of the first signature that takes them, and that one."""
    for one in signatures:
        wanted = [element_type(kind).dtype for kind in one.arguments[: len(arrays)]]
        if all(np.can_cast(array.dtype, dtype, "safe") for array, dtype in zip(arrays, wanted, strict=False)):
            return [array.astype(dtype, copy=False) for array, dtype in zip(arrays, wanted, strict=True)], one
    if signatures:
        raise TypeError(f"{name} has no signature for {', '.join(str(one.dtype) for one in arrays)}")
    return arrays, None


def element_type(kind: NumbaType) -> ScalarType:
    """Of an array or a number. Raises TypeError for what has no elements."""
    element = kind.element if isinstance(kind, NumbaArray) else kind
    if not isinstance(element, ScalarType):
        raise TypeError(f"{kind} is no type of numbers")
    return element
