"""What `vectorize` and `guvectorize` share: operands in the types of a signature, and the kernel around a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from loopwright.kernel import LoopKernel
from loopwright.numba.decorate import RefusedKernel, kernel_or_refused
from loopwright.numba.surrounding_loops import MOST_OPERANDS
from loopwright.numba.types import CallSignature, NumbaArray, NumbaType, ScalarType

Operand = NDArray[Any]
Plan = TypeVar("Plan")
Kind = tuple[np.dtype[Any], tuple[int, ...]]
_ADAPTS: dict[type, str] = {int: "iufc", float: "fc", complex: "c"}
"""The kinds of types that a Python number takes on."""
MOST_PLANS = 256
"""For each function: how operands of so many combinations of types and shapes are passed is remembered."""


@dataclass(frozen=True)
class Passing:
    """How an operand reaches the kernel: in another type, stretched to a shape, as an array of a shape. None: as it
    is."""

    dtype: np.dtype[Any] | None
    stretched: tuple[int, ...] | None
    shape: tuple[int, ...] | None

    def __call__(self, one: Operand) -> Operand:
        if self.dtype is not None:
            one = one.astype(self.dtype)
        if one.ndim == 0 and self.stretched is not None and self.shape is not None:  # all elements are this one
            return np.ndarray(self.shape, one.dtype, one, 0, (0,) * len(self.shape))
        if self.stretched is not None:
            one = np.broadcast_to(one, self.stretched)
        return one if self.shape is None else one.reshape(self.shape)


AS_IT_IS = Passing(None, None, None)


def passing(kind: Kind, dtype: np.dtype[Any], whole: tuple[int, ...], shape: tuple[int, ...]) -> Passing:
    """How an operand of a type and a shape becomes one of another, with the elements of one that is broadcast."""
    own_type, own_shape = kind
    found = Passing(
        None if own_type == dtype else dtype,
        None if own_shape in (whole, shape) else whole,
        None if own_shape == shape else shape,
    )
    return AS_IT_IS if found == AS_IT_IS else found


def as_arrays(operands: Sequence[Any], signatures: Sequence[CallSignature]) -> list[Operand]:
    """Operands as arrays. A Python number beside others adapts to the first signature that takes these, as for NumPy's
    own functions of elements. Raises OverflowError for a Python int that does not fit there."""
    if not signatures or not any(type(one) in _ADAPTS for one in operands):
        return list(map(np.asarray, operands))
    if all(isinstance(one, bool | int | float | complex) and not isinstance(one, np.generic) for one in operands):
        return list(map(np.asarray, operands))
    adapts = [_ADAPTS.get(type(one), "") for one in operands]
    for signature in signatures:
        wanted = [element_type(kind).dtype for kind in signature.arguments[: len(operands)]]
        if all(new.kind in to if to else np.can_cast(np.asarray(one).dtype, new, "safe")
               for one, to, new in zip(operands, adapts, wanted, strict=False)):  # fmt: skip
            types = (new if to else None for to, new in zip(adapts, wanted, strict=False))
            return [np.asarray(one, dtype) for one, dtype in zip(operands, types, strict=False)]
    return list(map(np.asarray, operands))


def kinds_of(arrays: Sequence[Operand]) -> tuple[Kind, ...]:
    """The types and shapes of operands, which tell how a call passes them."""
    return tuple([(one.dtype, one.shape) for one in arrays])


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


def remembered(plans: dict[tuple[Kind, ...], Plan], kinds: tuple[Kind, ...], plan: Plan) -> Plan:
    """The plan of a call, which those before may make place for."""
    if len(plans) >= MOST_PLANS:
        plans.clear()
    plans[kinds] = plan
    return plan


def chosen_types(
    kinds: Sequence[Kind], signatures: Sequence[CallSignature], name: str
) -> tuple[list[np.dtype[Any]], CallSignature | None]:
    """The types of operands in the first signature that takes them, and that one. Raises TypeError where none does."""
    for one in signatures:
        wanted = [element_type(kind).dtype for kind in one.arguments[: len(kinds)]]
        if all(np.can_cast(dtype, new, "safe") for (dtype, _), new in zip(kinds, wanted, strict=False)):
            return wanted, one
    if signatures:
        raise TypeError(f"{name} has no signature for {', '.join(str(dtype) for dtype, _ in kinds)}")
    return [dtype for dtype, _ in kinds], None


def element_type(kind: NumbaType) -> ScalarType:
    """Of an array or a number. Raises TypeError for what has no elements."""
    element = kind.element if isinstance(kind, NumbaArray) else kind
    if not isinstance(element, ScalarType):
        raise TypeError(f"{kind} is no type of numbers")
    return element


def axes_of(layout: str) -> list[tuple[str, ...]]:
    """'(m, n),(n)' -> [('m', 'n'), ('n',)]."""
    return [
        tuple(name.strip() for name in one.strip(" ,()").split(",") if name.strip()) for one in layout.split(")")[:-1]
    ]
