"""CPython's own run of a function is the judge: what the front end makes of it, interpreted, must do the same."""

from __future__ import annotations

import copy
import linecache
import textwrap
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from loopwright.errors import KernelError
from loopwright.frontend.capture import Source, capture
from loopwright.frontend.lower import Lowered, lower
from loopwright.ir.interp import interpret
from loopwright.ir.nodes import Kernel
from loopwright.ir.signature import Signature
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.verify import verify
from loopwright.runtime.specialise import signature_of

Function = Callable[..., Any]


def define(text: str, file: str = "example.py", **names: object) -> Function:
    """The last function that a text defines, as if it stood in a file of its own."""
    text = textwrap.dedent(text).lstrip("\n")
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"np": np, "__name__": "example", **names}
    exec(compile(text, file, "exec"), namespace)
    defined = [value for key, value in namespace.items() if getattr(value, "__module__", None) == "example"]
    return defined[-1]  # type: ignore[no-any-return]


def lowered(function: Function, *arguments: object) -> Lowered:
    """The kernel for a call with these arguments; every invariant and the text form are checked on the way."""
    source = _captured(function)
    names = [parameter.name for parameter in source.parameters]
    written = [position for position, name in enumerate(names) if name in source.written]
    return _lowered(source, signature_of(arguments, written, names))


_captured = lru_cache(maxsize=4)(capture)


@lru_cache(maxsize=256)
def _lowered(source: Source, signature: Signature) -> Lowered:
    result = lower(source, signature)
    verify(result.kernel)
    assert parse_kernel(print_kernel(result.kernel)) == result.kernel
    return result


def kernel_of(function: Function, *arguments: object) -> Kernel:
    return lowered(function, *arguments).kernel


def text_of(function: Function, *arguments: object) -> str:
    return print_kernel(kernel_of(function, *arguments))


def refusal(function: Function, *arguments: object) -> str:
    """The text of the error that the front end raises."""
    try:
        lowered(function, *arguments)
    except KernelError as error:
        return str(error)
    raise AssertionError("nothing was refused")


def outcome(run: Callable[..., object], arguments: tuple[object, ...]) -> object:
    """What a run returns, or the class of what it raises."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return run(*arguments)
        except (ArithmeticError, ValueError, LookupError, RuntimeError, UnboundLocalError) as error:
            return next(c for c in type(error).__mro__ if c.__module__ == "builtins")


def same(function: Function, *arguments: object) -> object:
    """Run the function both ways; values, types and the arrays' contents agree. Returns what Python returned."""
    return _same(function, kernel_of(function, *arguments), copy.deepcopy(arguments), copy.deepcopy(arguments))


def same_made(function: Function, make: Callable[[], tuple[object, ...]]) -> object:
    """As `same`, with arguments made anew for each run: arrays that share memory go on sharing it."""
    return _same(function, kernel_of(function, *make()), make(), make())


def _same(function: Function, kernel: Kernel, own: tuple[object, ...], ours: tuple[object, ...]) -> object:
    expected = outcome(function, own)
    found = outcome(lambda *given: interpret(kernel, given), ours)
    assert alike(expected, found), f"Python: {expected!r}, here: {found!r}\n{print_kernel(kernel)}"
    if not isinstance(expected, type):
        for mine, theirs in zip(own, ours, strict=True):
            assert alike(mine, theirs), f"Python: {mine!r}, here: {theirs!r}\n{print_kernel(kernel)}"
    return expected


def same_value(function: Function, *arguments: object) -> None:
    """As `same`, but a number may have the type that all values have which could have stood in its place."""
    kernel = kernel_of(function, *arguments)
    expected, found = outcome(function, arguments), outcome(lambda *given: interpret(kernel, given), arguments)
    assert isinstance(expected, type) == isinstance(found, type)
    assert np.all(np.equal(expected, found)), f"Python: {expected!r}, here: {found!r}\n{print_kernel(kernel)}"


def alike(expected: object, found: object) -> bool:
    """Equal in type and value; NaN equals itself, 0.0 is not -0.0."""
    if type(expected) is not type(found):
        return False
    if isinstance(expected, tuple | list) and isinstance(found, tuple | list):
        return len(expected) == len(found) and all(map(alike, expected, found))
    if isinstance(expected, np.ndarray | np.generic) and isinstance(found, np.ndarray | np.generic):
        return expected.dtype == found.dtype and expected.shape == found.shape and _same_bits(expected, found)
    return repr(expected) == repr(found)


def _same_bits(expected: Any, found: Any) -> bool:
    if expected.dtype.names is not None:
        return all(_same_bits(expected[name], found[name]) for name in expected.dtype.names)
    equal = np.array_equal(expected, found, equal_nan=expected.dtype.kind == "f")
    return equal and (expected.dtype.kind != "f" or np.array_equal(np.signbit(expected), np.signbit(found)))
