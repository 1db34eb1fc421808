"""`guvectorize`: functions of small arrays, called with arrays that have more axes before. Operands and their types as
with `vectorize`."""

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
    Passing,
    as_arrays,
    axes_of,
    chosen_types,
    element_type,
    kernel_around,
    kinds_of,
    passing,
    python_function,
    remembered,
)
from loopwright.numba.options import own_options
from loopwright.numba.surrounding_loops import ALONG
from loopwright.numba.types import CallSignature, NumbaArray, signatures_of


@dataclass(frozen=True)
class ItemPassing:
    """How a call passes its operands, and the shapes and types of what it makes."""

    operands: tuple[Passing, ...]
    made: tuple[Kind, ...]


class GuVectorized:
    """A function of small arrays and numbers, called with arrays that have more axes before: once for each item of
    these, which broadcast. `layout`: the axes of each operand, as "(n),()->(n)"."""

    def __init__(
        self, function: Callable[..., Any], signatures: Sequence[CallSignature], layout: str, options: Mapping[str, Any]
    ) -> None:
        functools.update_wrapper(self, function)
        self.py_func, self.signatures, self.signature = function, tuple(signatures), layout
        given, _, made = layout.partition("->")
        self.inputs, self.outputs = axes_of(given), axes_of(made)
        count = len(self.inputs) + len(self.outputs)
        if count != function.__code__.co_argcount:
            raise TypeError(f"{layout!r} has {count} operands, and {function.__name__} takes other ones")
        self._kernel = kernel_around(ALONG, count, function, options)
        self._plans: dict[tuple[Kind, ...], ItemPassing] = {}

    def __call__(self, *operands: Any, out: Any = None) -> Any:
        inputs, given = as_arrays(operands[: len(self.inputs)], self.signatures), operands[len(self.inputs) :]
        if out is not None:
            given = out if isinstance(out, tuple) else (out,)
        if len(inputs) < len(self.inputs) or len(given) not in (0, len(self.outputs)):
            name, most = self.py_func.__name__, len(self.inputs) + len(self.outputs)
            raise TypeError(f"{name} takes {len(self.inputs)} or {most} operands, and is given {len(operands)}")
        given = tuple(map(np.asarray, given))
        kinds = kinds_of([*inputs, *given])
        plan = self._plans.get(kinds) or self._planned(kinds)
        targets = given or tuple([np.zeros(shape, dtype) for dtype, shape in plan.made])
        items = [
            one if how is AS_IT_IS else how(one) for one, how in zip((*inputs, *targets), plan.operands, strict=True)
        ]
        self._kernel(*items)
        for target, item in zip(given, items[len(inputs) :], strict=False):
            if not np.shares_memory(target, item):  # of targets that lie in memory as no kernel can take them
                target[...] = item.reshape(target.shape)
        results = given or tuple([one[()] for one in targets])
        return results[0] if len(results) == 1 else results

    def _planned(self, kinds: tuple[Kind, ...]) -> ItemPassing:
        """Kinds are of the operands that are read, and of those that are written where a call has these."""
        inputs, targets = kinds[: len(self.inputs)], kinds[len(self.inputs) :]
        types, chosen = chosen_types(inputs, self.signatures, self.py_func.__name__)
        sizes, loop = self._sizes(inputs)
        made = targets or self._made(chosen, sizes, loop)
        self._check(targets, sizes, loop)
        count = math.prod(loop)
        boxed = [isinstance(one, NumbaArray) for one in chosen.arguments[: len(inputs)]] if chosen else []
        boxed += [False] * (len(inputs) - len(boxed)) + [True] * len(made)
        operands = []
        for one, dtype, names, as_array in zip(
            (*inputs, *made), [*types, *(dtype for dtype, _ in made)], (*self.inputs, *self.outputs), boxed, strict=True
        ):
            own = one[1][len(one[1]) - len(names) :]
            operands.append(passing(one, dtype, (*loop, *own), (count, *(own or (1,) * as_array))))
        return remembered(self._plans, kinds, ItemPassing(tuple(operands), tuple(made)))

    def _sizes(self, inputs: Sequence[Kind]) -> tuple[dict[str, int], tuple[int, ...]]:
        """The size of each named axis, and the shape of the axes before. Raises ValueError where sizes differ."""
        sizes: dict[str, int] = {}
        before = []
        for number, ((_, shape), names) in enumerate(zip(inputs, self.inputs, strict=True)):
            rank = len(shape) - len(names)
            if rank < 0:
                raise ValueError(f"operand {number} of {self.py_func.__name__} has too few axes for {self.signature!r}")
            before.append(shape[:rank])
            for name, size in zip(names, shape[rank:], strict=True):
                if sizes.setdefault(name, size) != size:
                    raise ValueError(f"axis {name!r} of {self.signature!r} has {sizes[name]} and {size} elements")
        return sizes, np.broadcast_shapes(*before)

    def _check(self, targets: Sequence[Kind], sizes: Mapping[str, int], loop: tuple[int, ...]) -> None:
        """Raises ValueError where an array that is written has another shape than the results."""
        for (_, shape), names in zip(targets, self.outputs, strict=False):
            wanted = (*loop, *(sizes.get(name, size) for name, size in zip(names, shape[len(loop) :], strict=False)))
            if shape != wanted or len(shape) != len(loop) + len(names):
                raise ValueError(f"{self.py_func.__name__} writes an array of shape {wanted}, and is given {shape}")

    def _made(self, chosen: CallSignature | None, sizes: Mapping[str, int], loop: tuple[int, ...]) -> list[Kind]:
        types = chosen.arguments[len(self.inputs) :] if chosen is not None else ()
        if len(types) != len(self.outputs) or any(name not in sizes for names in self.outputs for name in names):
            raise TypeError(f"{self.py_func.__name__} has no signature that tells what it makes: pass out=")
        return [
            (element_type(one).dtype, (*loop, *(sizes[name] for name in names)))
            for one, names in zip(types, self.outputs, strict=True)
        ]

    def __repr__(self) -> str:
        return f"<guvectorized {self.py_func.__name__}{self.signature}>"


def guvectorize(signatures_or_layout: Any, layout: str | None = None, **options: Any) -> Any:
    """`@guvectorize(["void(float64[:], int64, float64[:])"], "(n),()->(n)")`, or with the layout only: see
    GuVectorized. Without signatures, what is written is passed too.

    Examples:
        >>> import numpy as np
        >>> from loopwright.numba import guvectorize
        >>> @guvectorize(["void(int64[:], int64, int64[:])"], "(n),()->(n)")
        ... def shifted(x, by, out):
        ...     for i in range(len(x)):
        ...         out[i] = x[i] + by
        >>> shifted(np.arange(4).reshape(2, 2), np.array([10, 20]))
        array([[10, 11],
               [22, 23]])
    """
    own = own_options(options)
    signatures = [] if layout is None else signatures_of(signatures_or_layout)
    axes = signatures_or_layout if layout is None else layout
    return lambda function: GuVectorized(python_function(function), signatures, axes, own)
