"""`stencil`: functions of neighbours, called with whole arrays (frontend/stencils.py). A call in a kernel becomes part
of it; one from Python runs a kernel that consists of it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from numbers import Number
from typing import Any

from loopwright.frontend.markers import STENCIL
from loopwright.kernel import LoopKernel
from loopwright.numba.decorate import RefusedKernel, kernel_or_refused
from loopwright.numba.operands import python_function

Function = Callable[..., Any]


class Stencil:
    """A function of neighbours. Indices of its arrays count from each place of the first one, whose shape the result
    has. `out`: an array for the result.

    cval: the value of the border, 0 where it is None; neighborhood: how far indices reach, where they are no constants;
    standard: the parameters whose indices are ordinary ones."""

    def __init__(
        self, function: Function, cval: Any, neighborhood: tuple[tuple[int, int], ...] | None, standard: tuple[str, ...]
    ) -> None:
        functools.update_wrapper(self, function)
        self.py_func, self.cval, self.neighborhood, self.standard = function, cval, neighborhood, standard
        self._kernels: dict[tuple[int, bool], LoopKernel | RefusedKernel] = {}

    def __call__(self, *arguments: Any, out: Any = None) -> Any:
        kind = (len(arguments), out is not None)
        kernel = self._kernels.get(kind)
        if kernel is None:
            made = (_APPLIED if out is None else _INTO)[min(len(arguments), len(_APPLIED)) - 1]
            kernel = self._kernels[kind] = kernel_or_refused(made(self), {})
        return kernel(*arguments) if out is None else kernel(out, *arguments)

    def __repr__(self) -> str:
        return f"<stencil {self.py_func.__name__}>"


setattr(Stencil, STENCIL, True)


def stencil(function_or_mode: Any = "constant", **options: Any) -> Any:
    """`@stencil`, `@stencil(cval=1.0)`, `@stencil(neighborhood=((-2, 2),), standard_indexing=("weights",))`. Raises
    ValueError for another mode than "constant", and TypeError for other options.

    Examples:
        >>> import numpy as np
        >>> from loopwright.numba import stencil
        >>> @stencil
        ... def mean(a):
        ...     return 0.5 * (a[-1] + a[1])
        >>> mean(np.array([1.0, 4.0, 9.0, 16.0]))
        array([ 0.,  5., 10.,  0.])
    """
    unknown = set(options) - {"cval", "neighborhood", "standard_indexing"}
    if unknown:
        raise TypeError(f"stencil has no option {sorted(unknown)[0]!r}")
    if isinstance(function_or_mode, str) and function_or_mode != "constant":
        raise ValueError(f"stencil has the mode 'constant', and not {function_or_mode!r}")
    cval, standard = options.get("cval"), options.get("standard_indexing", ())
    if cval is not None and not isinstance(cval, Number):
        raise TypeError(f"cval is {cval!r}, and no number")
    names = (standard,) if isinstance(standard, str) else tuple(map(str, standard))
    reach = _neighborhood(options.get("neighborhood"))

    def decorate(function: Function) -> Stencil:
        plain = python_function(function)
        parameters = plain.__code__.co_varnames[: plain.__code__.co_argcount]
        if wrong := set(names) - set(parameters) or set(names) & set(parameters[:1]):
            raise ValueError(
                f"standard_indexing names {sorted(wrong)[0]!r}, which is no parameter behind the first one"
            )
        return Stencil(plain, cval, reach, names)

    return decorate if isinstance(function_or_mode, str) else decorate(function_or_mode)


def _neighborhood(given: Sequence[Sequence[int]] | None) -> tuple[tuple[int, int], ...] | None:
    return None if given is None else tuple((int(low), int(high)) for low, high in given)


def _applied_to_one(stencil: Stencil) -> Function:
    def applied(a: Any) -> Any:
        return stencil(a)

    return applied


def _applied_to_two(stencil: Stencil) -> Function:
    def applied(a: Any, b: Any) -> Any:
        return stencil(a, b)

    return applied


def _applied_to_three(stencil: Stencil) -> Function:
    def applied(a: Any, b: Any, c: Any) -> Any:
        return stencil(a, b, c)

    return applied


def _applied_to_more(stencil: Stencil) -> Function:
    def applied(*arguments: Any) -> Any:
        return stencil(*arguments)

    return applied


def _into_of_one(stencil: Stencil) -> Function:
    def into(result: Any, a: Any) -> Any:
        return stencil(a, out=result)

    return into


def _into_of_two(stencil: Stencil) -> Function:
    def into(result: Any, a: Any, b: Any) -> Any:
        return stencil(a, b, out=result)

    return into


def _into_of_three(stencil: Stencil) -> Function:
    def into(result: Any, a: Any, b: Any, c: Any) -> Any:
        return stencil(a, b, c, out=result)

    return into


def _into_of_more(stencil: Stencil) -> Function:
    def into(result: Any, *arguments: Any) -> Any:
        return stencil(*arguments, out=result)

    return into


_APPLIED = (_applied_to_one, _applied_to_two, _applied_to_three, _applied_to_more)
_INTO = (_into_of_one, _into_of_two, _into_of_three, _into_of_more)
