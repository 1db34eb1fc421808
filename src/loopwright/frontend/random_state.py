"""The state of NumPy's global generator, as arguments of a call: its numbers where NumPy keeps them, and the normal
number that is left over."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from loopwright.frontend.hidden import Hidden

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
        address = ctypes.cast(generator.ctypes.state_address, ctypes.POINTER(ctypes.c_uint32))
        key = np.ctypeslib.as_array(address, shape=(_NUMBERS,))
        before = global_state.get_state(legacy=False)
        gauss = np.array([before["has_gauss"], before["gauss"]], np.float64)
        given = gauss.copy()
        try:
            return call(*arguments, key, gauss)
        finally:
            if (gauss != given).any():
                after = global_state.get_state(legacy=False)
                global_state.set_state({**after, "has_gauss": int(gauss[0]), "gauss": float(gauss[1])})


def sample() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Arguments of the kinds that a call has, to ask about it."""
    return np.zeros(_NUMBERS, np.uint32), np.zeros(2)


HIDDEN = Hidden((KEY, GAUSS), with_state, sample)
