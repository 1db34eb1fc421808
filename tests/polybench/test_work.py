"""`flops` and `bytes_min` of each kernel, against a run that counts every operation and every first access."""

from __future__ import annotations

import ast
import inspect
import math
import types
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from benchmarks.polybench import MODULES

from polybench.data import sizes


class Counted(float):
    """A number of the data: arithmetic and comparisons with it are counted, whatever is on the other side."""

    __array_ufunc__ = None  # so that NumPy's scalars leave the work to this class
    operations = 0

    __hash__ = float.__hash__


def counted(name: str) -> Callable[..., Any]:
    plain = getattr(float, name)

    def count(self: Counted, other: float) -> Any:
        Counted.operations += 1
        result = plain(self, float(other))
        return Counted(result) if type(result) is float else result

    return count


for operator in ("add", "sub", "mul", "truediv"):
    setattr(Counted, f"__{operator}__", counted(f"__{operator}__"))
    setattr(Counted, f"__r{operator}__", counted(f"__r{operator}__"))
for operator in ("lt", "le", "gt", "ge", "eq"):
    setattr(Counted, f"__{operator}__", counted(f"__{operator}__"))
Counted.__neg__ = lambda self: Counted(float.__neg__(self))  # type: ignore[method-assign]


class Watched:
    """An array that remembers which elements were read before they were written, and which were written."""

    def __init__(self, array: np.ndarray) -> None:
        self.values = array
        self.read_first: set[Any] = set()
        self.written: set[Any] = set()

    def __getitem__(self, index: Any) -> Counted:
        if index not in self.written:
            self.read_first.add(index)
        return Counted(self.values[index])

    def __setitem__(self, index: Any, value: float) -> None:
        self.written.add(index)
        self.values[index] = float(value)

    @property
    def bytes_moved(self) -> int:
        return self.values.itemsize * (len(self.read_first) + len(self.written))


def square_root(value: float) -> float:
    if not isinstance(value, Counted):
        return math.sqrt(value)
    Counted.operations += 1
    return Counted(math.sqrt(value))


class InitialConstants(ast.NodeTransformer):
    """`total = 0.0` starts a datum, not a constant: it becomes `total = Counted(0.0)`."""

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        if isinstance(node.targets[0], ast.Name) and isinstance(node.value, ast.Constant):
            node.value = ast.Call(ast.Name("Counted", ast.Load()), [node.value], [])
        return node


def counting_kernel(module: ModuleType) -> Callable[..., None]:
    tree = InitialConstants().visit(ast.parse(inspect.getsource(module.kernel)))
    names = {
        "Counted": Counted,
        "math": types.SimpleNamespace(sqrt=square_root, exp=math.exp),
        "np": types.SimpleNamespace(empty=np.empty, float32=Counted),
    }
    exec(compile(ast.fix_missing_locations(tree), module.__name__, "exec"), names)
    return names["kernel"]  # type: ignore[return-value]


@pytest.mark.parametrize("chosen", [(11, 9, 7, 13, 5), (6, 5, 9, 4, 8)], ids=str)
@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.NAME)
def test_work(module: ModuleType, chosen: tuple[int, ...]) -> None:
    small = sizes(module, chosen)
    watched = {
        name: Watched(value) if isinstance(value, np.ndarray) else value
        for name, value in module.initialise(**small).items()
    }
    Counted.operations = 0
    counting_kernel(module)(**watched)
    assert Counted.operations == module.flops(**small)
    arrays = [value for value in watched.values() if isinstance(value, Watched)]
    assert sum(array.bytes_moved for array in arrays) == module.bytes_min(**small)
