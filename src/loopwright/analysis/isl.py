"""islpy, loaded when something of it is first asked for: a process whose kernels are all remembered never needs it.

`from loopwright.analysis import isl`, then `isl.Set(...)` as if it were islpy itself.
"""

from __future__ import annotations

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    value = getattr(importlib.import_module("islpy"), name)
    globals()[name] = value
    return value


class Later:
    """One of islpy's enumerations, loaded when a member of it is first asked for. (Its stubs take members for plain
    numbers.)"""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, member: str) -> Any:
        return getattr(getattr(importlib.import_module("islpy"), self._name), member)
