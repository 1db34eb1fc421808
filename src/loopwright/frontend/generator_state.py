"""The state of a `np.random.Generator`, as arrays over the memory where NumPy keeps it: PCG64 only."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from loopwright.deferred import deferred
from loopwright.frontend.hidden import Hidden

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopwright.frontend import ziggurat
else:
    ziggurat = deferred("loopwright.frontend.ziggurat")

STATE = (
    "pcg64",
    "half",
)  # what a generator is for the front end: 128 bits and an increment; 32 bits that are left over
TABLES = "np.random.tables"
_made: list[Any] = []


def is_generator(value: object) -> bool:
    """Whether it is one of NumPy's generators; nothing is imported for the question."""
    return type(value).__name__ == "Generator" and type(value).__module__ == "numpy.random._generator"


def state_of(generator: Any) -> Iterator[Any]:
    """The arrays of `STATE`. Raises TypeError for another source of bits than PCG64."""
    source = generator.bit_generator
    if type(source).__name__ != "PCG64":
        raise TypeError(f"the generator draws from {type(source).__name__}: kernels draw from PCG64 only")
    address = source.ctypes.state_address
    place = ctypes.c_uint64.from_address(address).value
    numbers: Any = (ctypes.c_uint64 * 4).from_address(place)
    left_over: Any = (ctypes.c_uint32 * 2).from_address(address + 8)
    yield np.frombuffer(numbers, np.uint64)
    yield np.frombuffer(left_over, np.uint32)


def tables() -> Any:
    """Those of the ziggurats, made once. Raises TypeError where NumPy keeps a generator's state in another form."""
    if not _made:
        source = np.random.PCG64(1)
        state, half = state_of(np.random.Generator(source))
        kept: Any = source.state
        numbers = [kept["state"]["state"], kept["state"]["inc"]]
        expected = [part for number in numbers for part in (number % 2**64, number >> 64)]
        if state.tolist() != expected or half.tolist() != [kept["has_uint32"], kept["uinteger"]]:
            raise TypeError("this NumPy keeps the state of PCG64 in a form that is not known here")
        _made.append(ziggurat.tables())
    return _made[0]


def _with_tables(call: Callable[..., object], arguments: Sequence[object]) -> object:
    return call(*arguments, tables())


HIDDEN = Hidden((TABLES,), _with_tables, lambda: (tables(),), written=False)
