"""`guvectorize`: functions of small arrays, called with arrays that have more axes before. Operands and their types as
with `vectorize`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from loopwright.numba.operands import Operand, element_type, kernel_around, python_function, typed_operands
from loopwright.numba.options import own_options
from loopwright.numba.surrounding_loops import ALONG
from loopwright.numba.types import CallSignature, NumbaArray, signatures_of


class GuVectorized:
    """A function of small arrays and numbers, called with arrays that have more axes before: once for each item of
    these, which broadcast. `layout`: the axes of each operand, as "(n),()->(n)"."""

    def __init__(
        self, function: Callable[..., Any], signatures: Sequence[CallSignature], layout: str, options: Mapping[str, Any]
    ) -> None:
        functools.update_wrapper(self, function)
        self.py_func, self.signatures, self.signature = function, tuple(signatures), layout
        given, _, made = layout.partition("->")
        self.inputs, self.outputs = _axes_of(given), _axes_of(made)
        count = len(self.inputs) + len(self.outputs)
        if count != function.__code__.co_argcount:
            raise TypeError(f"{layout!r} has {count} operands, and {function.__name__} takes other ones")
        self._kernel = kernel_around(ALONG, count, function, options)

    def __call__(self, *operands: Any, out: Any = None) -> Any:
        inputs, given = list(map(np.asarray, operands[: len(self.inputs)])), operands[len(self.inputs) :]
        if out is not None:
            given = out if isinstance(out, tuple) else (out,)
        if len(inputs) < len(self.inputs) or len(given) not in (0, len(self.outputs)):
            name, most = self.py_func.__name__, len(self.inputs) + len(self.outputs)
            raise TypeError(f"{name} takes {len(self.inputs)} or {most} operands, and is given {len(operands)}")
        inputs, chosen = typed_operands(inputs, self.signatures, self.py_func.__name__)
        sizes, loop = self._sizes(inputs)
        targets = [np.asarray(one) for one in given] or self._fresh(chosen, sizes, loop)
        axes = (*self.inputs, *self.outputs)
        kinds = chosen.arguments[: len(inputs)] if chosen else [None] * len(inputs)
        boxed = [isinstance(one, NumbaArray) for one in kinds]
        boxed += [True] * len(targets)
        items = [
            _one_after_the_other(one, loop, [sizes[name] for name in names], as_array)
            for one, names, as_array in zip((*inputs, *targets), axes, boxed, strict=True)
        ]
        self._kernel(*items)
        for target, item in zip(targets, items[len(inputs) :], strict=True):
            if not np.shares_memory(target, item):  # of targets that lie in memory as no kernel can take them
                target[...] = item.reshape(target.shape)
        results = tuple(given or (one[()] for one in targets))
        return results[0] if len(results) == 1 else results

    def _sizes(self, inputs: Sequence[Operand]) -> tuple[dict[str, int], tuple[int, ...]]:
        """The size of each named axis, and the shape of the axes before. Raises ValueError where sizes differ."""
        sizes: dict[str, int] = {}
        before = []
        for number, (one, names) in enumerate(zip(inputs, self.inputs, strict=True)):
            if one.ndim < len(names):
                raise ValueError(f"operand {number} of {self.py_func.__name__} has too few axes for {self.signature!r}")
            before.append(one.shape[: one.ndim - len(names)])
            for name, size in zip(names, one.shape[one.ndim - len(names) :], strict=True):
                if sizes.setdefault(name, size) != size:
                    raise ValueError(f"axis {name!r} of {self.signature!r} has {sizes[name]} and {size} elements")
        return sizes, np.broadcast_shapes(*before)

    def _fresh(self, chosen: CallSignature | None, sizes: Mapping[str, int], loop: tuple[int, ...]) -> list[Operand]:
        types = chosen.arguments[len(self.inputs) :] if chosen is not None else ()
        if len(types) != len(self.outputs) or any(name not in sizes for names in self.outputs for name in names):
            raise TypeError(f"{self.py_func.__name__} has no signature that tells what it makes: pass out=")
        return [
            np.zeros((*loop, *(sizes[name] for name in names)), element_type(one).dtype)
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


def _one_after_the_other(one: Operand, loop: tuple[int, ...], own: list[int], boxed: bool) -> Operand:
    """The items of an operand along one axis. boxed: an item that is one number is an array of one element."""
    count = int(np.prod(loop, dtype=np.int64))
    there = one if one.shape == (*loop, *own) else np.broadcast_to(one, (*loop, *own))
    return there.reshape(count, *(own or [1] * boxed))


def _axes_of(layout: str) -> list[tuple[str, ...]]:
    """'(m, n),(n)' -> [('m', 'n'), ('n',)]."""
    return [
        tuple(name.strip() for name in one.strip(" ,()").split(",") if name.strip()) for one in layout.split(")")[:-1]
    ]
