"""Running a script that uses numba with the names of loopwright.numba: which functions run in its calls, and which are
refused. A refused call is made by Python, so that the script comes to its end."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import loopwright.numba as door
from loopwright.cli.script import run_script
from loopwright.errors import ArgumentTypeError, ArgumentValueError, KernelError
from loopwright.kernel import LoopKernel
from loopwright.numba import decorate

_SERVED = ("types", "errors", "extending")


class TriedKernel:
    """A kernel, or what was refused as one: how many calls it served, and what was said of the others."""

    def __init__(self, kernel: Any) -> None:
        functools.update_wrapper(self, kernel.py_func)
        self.kernel, self.py_func = kernel, kernel.py_func
        self.served = 0
        self.refused: dict[str, KernelError | ArgumentTypeError | ArgumentValueError] = {}

    def __call__(self, *args: object, **kwargs: object) -> Any:
        try:
            result = self.kernel(*args, **kwargs)
        except (KernelError, ArgumentTypeError, ArgumentValueError) as error:  # all of them before anything ran
            self.refused.setdefault(str(error), error)
            return self.py_func(*args, **kwargs)
        self.served += 1
        return result


def tried_kernels(path: Path, arguments: Sequence[str]) -> tuple[list[TriedKernel], int]:
    """Run a script: what numba would have compiled, in the order of decoration, and its exit status."""
    made: list[TriedKernel] = []

    def njit(*given: Any, **options: Any) -> Any:
        found = decorate.njit(*given, **options)
        return tried(found) if isinstance(found, _KERNELS) else lambda function: tried(found(function))

    def tried(kernel: Any) -> Any:
        if not isinstance(kernel, _KERNELS):  # it stays Python's
            return kernel
        made.append(TriedKernel(kernel))
        return made[-1]

    with _instead_of_numba(njit):
        ended = run_script(path, arguments)
    return made, ended.status


_KERNELS = (LoopKernel, decorate.RefusedKernel)


@contextmanager
def _instead_of_numba(njit: Callable[..., Any]) -> Iterator[None]:
    """Inside the block, `import numba` gives loopwright.numba with these for njit and jit."""
    inner = ModuleType("numba.core")
    served: dict[str, ModuleType] = {"numba": door, "numba.core": inner}
    for name in _SERVED:
        setattr(inner, name, getattr(door, name))
        served[f"numba.{name}"] = served[f"numba.core.{name}"] = getattr(door, name)
    modules = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "numba"}
    decorators = door.njit, door.jit
    for name in modules:
        del sys.modules[name]
    sys.modules.update(served)
    vars(door).update(njit=njit, jit=njit)
    try:
        yield
    finally:
        vars(door).update(njit=decorators[0], jit=decorators[1])
        for name in [name for name in sys.modules if name.split(".")[0] == "numba"]:
            del sys.modules[name]
        sys.modules.update(modules)
