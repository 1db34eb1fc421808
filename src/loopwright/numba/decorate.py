"""`njit` and `jit`: they make kernels, with the options that Numba's ask for. As with Numba, what is wrong with a
function is raised where it is called first, and never where it is decorated."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any, NoReturn, overload

from loopwright.errors import KernelError
from loopwright.kernel import LoopKernel, kernel_with
from loopwright.numba.options import own_options
from loopwright.numba.settings import config
from loopwright.numba.types import CallSignature, signatures_of


class RefusedKernel:
    """A function that is outside the language: a call raises the KernelError that says why. `py_func`: itself."""

    def __init__(self, function: Callable[..., Any], refused: KernelError) -> None:
        functools.update_wrapper(self, function)
        self.py_func, self.refused = function, refused

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        raise replace(self.refused)  # a new one: tracebacks of several calls do not mix

    def __repr__(self) -> str:
        return f"<refused kernel {getattr(self.py_func, '__name__', '?')}>"


@overload
def njit(signature_or_function: Callable[..., Any]) -> LoopKernel:
    """`@njit`."""


@overload
def njit(
    signature_or_function: str | Sequence[object] | CallSignature | None = None,
    locals: Mapping[str, object] | None = None,
    **options: Any,
) -> Callable[[Callable[..., Any]], LoopKernel]:
    """`@njit()`, `@njit(parallel=True)`, `@njit("float64(float64[:])")`, `@njit([...])`."""


def njit(signature_or_function: Any = None, locals: Mapping[str, object] | None = None, **options: Any) -> Any:
    """`@njit`, `@njit()`, `@njit(parallel=True)`, `@njit("float64(float64[:])")`, `@njit([...])`: a kernel. `jit` is
    the same. A function that is outside the language raises where it is called.

    Raises TypeError for an option that Numba does not know, and a signature that is none or does not fit.

    Examples:
        >>> import numpy as np
        >>> from loopwright.numba import njit, prange
        >>> @njit(parallel=True, fastmath=True)
        ... def row_sums(a):
        ...     out = np.zeros(len(a))
        ...     for i in prange(a.shape[0]):
        ...         for j in range(a.shape[1]):
        ...             out[i] += a[i, j]
        ...     return out
        >>> row_sums(np.arange(6.0).reshape(2, 3))
        array([ 3., 12.])
    """
    if locals:
        options["locals"] = locals
    own = own_options(options)
    is_function = isinstance(signature_or_function, FunctionType | staticmethod | LoopKernel | RefusedKernel)
    signatures = [] if signature_or_function is None or is_function else signatures_of(signature_or_function)

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        if options.get("forceobj") or config.DISABLE_JIT or isinstance(function, LoopKernel | RefusedKernel):
            return function
        for one in signatures:
            _check(function, one)
        return kernel_or_refused(function, own)

    return decorate(signature_or_function) if is_function else decorate


jit = njit


def kernel_or_refused(function: Callable[..., Any], options: Mapping[str, Any]) -> LoopKernel | RefusedKernel:
    """The kernel of a function; where it is outside the language, what says so in each call."""
    try:
        return kernel_with(function, None, options)
    except KernelError as refused:
        return RefusedKernel(function, refused)


def _check(function: Callable[..., Any], signature: CallSignature) -> None:
    """Raises TypeError where no call with so many arguments is possible."""
    try:
        inspect.signature(function).bind(*signature.arguments)
    except TypeError as error:
        name = getattr(function, "__name__", "?")
        raise TypeError(f"the signature {signature.arguments} does not fit {name}: {error}") from None
