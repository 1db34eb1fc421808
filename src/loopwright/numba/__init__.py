"""Numba's names, served by Loopwright: `from loopwright.numba import njit, prange` (docs/numba.md). An option without a
meaning is told once; a name without one raises, with a sentence on what to do instead."""

from __future__ import annotations

import sys
from typing import NoReturn

from loopwright.frontend.markers import pndindex, prange
from loopwright.numba import errors, extending, typed, types
from loopwright.numba.absent import instead_of
from loopwright.numba.classes import jitclass
from loopwright.numba.decorate import jit, njit
from loopwright.numba.guvectorized import guvectorize
from loopwright.numba.settings import (
    config,
    get_num_threads,
    get_thread_id,
    literal_unroll,
    literally,
    set_num_threads,
    threading_layer,
)
from loopwright.numba.stencils import stencil
from loopwright.numba.types import (
    b1,
    bool_,
    boolean,
    byte,
    c8,
    c16,
    complex64,
    complex128,
    double,
    f4,
    f8,
    float32,
    float64,
    float_,
    i1,
    i2,
    i4,
    i8,
    int8,
    int16,
    int32,
    int64,
    int_,
    intc,
    intp,
    long_,
    longlong,
    none,
    optional,
    short,
    size_t,
    ssize_t,
    u1,
    u2,
    u4,
    u8,
    uchar,
    uint,
    uint8,
    uint16,
    uint32,
    uint64,
    uintc,
    uintp,
    ulong,
    ulonglong,
    ushort,
    void,
)
from loopwright.numba.vectorized import vectorize


def __getattr__(name: str) -> NoReturn:
    """Of a name that means nothing here. An import loses what an AttributeError says: it is told by an ImportError."""
    asks = sys._getframe(1).f_globals.get("__name__")
    raise (ImportError if asks == "importlib._bootstrap" and name != "__path__" else AttributeError)(instead_of(name))


__all__ = [
    "b1", "bool_", "boolean", "byte", "c8", "c16", "complex64", "complex128", "config", "double", "errors",
    "extending", "f4", "f8", "float32", "float64", "float_", "get_num_threads", "get_thread_id", "guvectorize", "i1",
    "i2", "i4", "i8", "int8", "int16", "int32", "int64", "int_", "intc", "intp", "jit", "jitclass", "literal_unroll",
    "literally", "long_", "longlong", "njit", "none", "optional", "pndindex", "prange", "set_num_threads", "short",
    "size_t", "ssize_t", "stencil", "threading_layer", "typed", "types", "u1", "u2", "u4", "u8", "uchar", "uint",
    "uint8", "uint16", "uint32", "uint64", "uintc", "uintp", "ulong", "ulonglong", "ushort", "vectorize", "void",
]  # fmt: skip
