"""Modules of this package that many programs never need: each is loaded when something of it is first asked for. A
program whose kernels are all remembered starts without the compiler; one that has tuned nothing, without the tuner.

    if TYPE_CHECKING:
        from loopwright import compiler
    else:
        compiler = deferred("loopwright.compiler")

Type checkers and the law of imports see an ordinary import at the top of the file; there is no other way to load a
module of ours late.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

from loopwright.errors import warn_once
from loopwright.forks import NO_FORK
from loopwright.revision import loaded_more


def deferred(name: str) -> Any:
    """What stands for the module of this full name, and loads it when an attribute is asked for."""
    return _Deferred(name)


class _Deferred:
    """It keeps no attribute: what is replaced in the module is replaced here. Who only looks at what it is (by a name
    such as __wrapped__) does not load it."""

    __slots__ = ("_module", "_name")

    def __init__(self, name: str) -> None:
        self._name = name
        self._module: ModuleType | None = None

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        module = self._module
        if module is None:
            module = self._module = _loaded(self._name)
        return getattr(module, attribute)

    def __repr__(self) -> str:
        return f"<module {self._name!r}, {'deferred' if self._module is None else 'loaded'}>"


def _loaded(name: str) -> ModuleType:
    is_new = name not in sys.modules
    with NO_FORK:
        module = importlib.import_module(name)
    if is_new and not loaded_more():
        warn_once(
            "mixed text",
            "the files of loopwright were changed after it was imported, and more of them was loaded now: what runs is "
            "partly the one text and partly the other\n  try: start Python again",
        )
    return module
