"""The state of NumPy's global generator, as arguments of a call: its numbers where NumPy keeps them, and the normal
number that is left over."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np

from loopwright.frontend.hidden import Hidden
from loopwright.ir.captured import Drawn

KEY, GAUSS = "np.random.key", "np.random.gauss"
_NUMBERS = 625  # 624 of 32 bits, and the place of the next one


def is_global(function: object) -> bool:
    """Whether this is a method of NumPy's global generator: np.random.normal and the like."""
    module: Any = sys.modules.get("numpy.random.mtrand")
    if module is None:
        return False
    own = getattr(function, "__self__", None) is module._rand
    return own or any(function is one for one in (module.seed, module.ranf, module.sample))


def with_state(call: Callable[..., object], arguments: Sequence[object]) -> object:
    """Make a call that draws. NumPy's own draws wait while it runs, and go on where it ends. Raises TypeError where the
    global generator was replaced by another kind."""
    global_state: Any = np.random.mtrand._rand
    generator = global_state._bit_generator
    if type(generator).__name__ != "MT19937":
        raise TypeError(f"np.random draws from {type(generator).__name__}: kernels draw from MT19937 only")
    with generator.lock:
        key = _key_of(generator)
        left = _left_over(global_state)
        before = (left.there, left.number) if left is not None else _asked(global_state)
        gauss = np.empty(2)
        gauss[0], gauss[1] = before
        try:
            return call(*arguments, key, gauss)
        finally:
            after = gauss.tolist()
            if (after[0], after[1]) == before:
                pass
            elif left is not None:
                left.there, left.number = int(after[0]), after[1]
            else:
                state = global_state.get_state(legacy=False)
                global_state.set_state({**state, "has_gauss": int(after[0]), "gauss": after[1]})


@lru_cache(maxsize=1)
def _key_of(generator: Any) -> np.ndarray[Any, Any]:
    """The numbers of a generator, where it keeps them."""
    pointer = ctypes.cast(generator.ctypes.state_address, ctypes.POINTER(ctypes.c_uint32))
    return np.ctypeslib.as_array(pointer, shape=(_NUMBERS,))


class _LeftOver(ctypes.Structure):
    """The normal number that is left over, where NumPy keeps it."""

    _fields_ = (("there", ctypes.c_int), ("number", ctypes.c_double))
    there: int
    number: float


def _asked(state: Any) -> tuple[float, float]:
    found = state.get_state(legacy=False)
    return found["has_gauss"], found["gauss"]


def _left_over(state: Any) -> _LeftOver | None:
    """None where it is not known where that is. To ask for it and to set it takes NumPy 50 us each, as both copy all
    numbers of the generator."""
    place = _place()
    return None if place is None else _left_at(state, place)


@lru_cache(maxsize=1)
def _left_at(state: Any, place: int) -> _LeftOver:
    return _LeftOver.from_address(id(state) + place)


@cache
def _place() -> int | None:
    """How far from the beginning of a RandomState it is. NumPy does not tell: it stands behind a pointer into the same
    object, and whether it does is seen when numbers are drawn."""
    trial: Any = np.random.RandomState(1)
    size, step = type(trial).__basicsize__, ctypes.sizeof(ctypes.c_void_p)
    if sys.implementation.name != "cpython" or type(np.random.mtrand._rand) is not type(trial):
        return None
    words = (ctypes.c_size_t * (size // step)).from_address(id(trial))
    inside = range(id(trial) + 2 * step, id(trial) + size)
    places = [at * step + step for at, word in enumerate(words) if word in inside]
    places = [place for place in places if place + ctypes.sizeof(_LeftOver) <= size]
    for _ in range(4):  # there is one, then there is none
        trial.standard_normal()
        wanted = _asked(trial)
        found = {place: _LeftOver.from_address(id(trial) + place) for place in places}
        places = [place for place, left in found.items() if (left.there, left.number) == wanted]
    return places[0] if len(places) == 1 else None


def drawn() -> Drawn | None:
    """What the launcher needs to do as `with_state` does."""
    module: Any = np.random.mtrand
    generator = module._rand._bit_generator
    left = _left_over(module._rand) if type(generator).__name__ == "MT19937" else None
    if left is None:
        return None
    return module, module._rand, generator, generator.lock, _key_of(generator), ctypes.addressof(left)


def sample() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Arguments of the kinds that a call has, to ask about it."""
    return np.zeros(_NUMBERS, np.uint32), np.zeros(2)


HIDDEN = Hidden((KEY, GAUSS), with_state, sample, drawn=drawn)
