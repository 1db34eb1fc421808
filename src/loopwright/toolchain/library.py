"""Loading a compiled library of the store: the very file that was checked, whatever has its name by then."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from loopwright.toolchain.store import opened
from loopwright.toolchain.trust import name_to_load

_Made = TypeVar("_Made")
_Loaded = TypeVar("_Loaded")


def load_library(path: Path) -> ctypes.CDLL:
    """The library of an entry of the store. Raises FileNotFoundError where the entry is gone, and OSError where it
    cannot be loaded, or is not to be trusted."""
    with opened(path) as descriptor:
        name = name_to_load(descriptor, str(path))
        try:
            library = ctypes.CDLL(name)
        except OSError as error:
            raise OSError(str(error).replace(name, str(path))) from error
    library._name = str(path)  # for people
    return library


def made_and_loaded(make: Callable[[], _Made], load: Callable[[_Made], _Loaded]) -> tuple[_Made, _Loaded]:
    """What `make` takes from the store, and what `load` makes of that; once more where somebody has cleared the cache
    in between."""
    with suppress(FileNotFoundError):
        made = make()
        return made, load(made)
    made = make()
    return made, load(made)
