"""The operators of loopwright.cuh mean what Python and NumPy mean, and to the bit what loopwright.h says."""

from __future__ import annotations

import ctypes
import functools
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from devices.emulation import Session
from loopwright.codegen.c_text import VALUE_TYPE
from loopwright.codegen.openmp import HEADER
from loopwright.config import current
from loopwright.toolchain.cc import build

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
FLOATS = ("float32", "float64")
Meaning = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Operator:
    """An expression of a and b, both of `type`, with a value of type `result`; meaning: what Python makes of it."""

    type: str
    result: str
    text: str
    meaning: Meaning


def _wrapped(name: str, meaning: Meaning) -> Meaning:
    """Integers of this type, with two's complement."""
    info = np.iinfo(name)

    def value(a: int, b: int) -> int:
        return (int(meaning(a, b)) - int(info.min)) % (1 << info.bits) + int(info.min)

    return value


def _shifted(bits: int, left: bool) -> Meaning:
    def value(a: int, b: int) -> int:
        if not 0 <= b < bits:
            return -1 if a < 0 and not left else 0
        return a << b if left else a >> b

    return value


def _integer_operators(name: str) -> list[Operator]:
    bits, c_type = np.iinfo(name).bits, VALUE_TYPE[name]
    meanings: dict[str, Meaning] = {
        f"lw_floordiv_{name}(a, b)": lambda a, b: a // b if b else 0,
        f"lw_mod_{name}(a, b)": lambda a, b: a % b if b else 0,
        f"lw_shl_{name}(a, b)": _shifted(bits, True),
        f"lw_shr_{name}(a, b)": _shifted(bits, False),
        f"LW_MIN({c_type}, a, b)": min,
        f"LW_MAX({c_type}, a, b)": max,
        f"LW_SQUARE({c_type}, a)": lambda a, b: a * a,
        f"LW_CUBE({c_type}, a)": lambda a, b: a * a * a,
        f"LW_FIFTH({c_type}, a)": lambda a, b: (a * a) * (a * a) * a,
        f"LW_SEVENTH({c_type}, a)": lambda a, b: (a * a * a) * (a * a * a) * a,
        f"(({c_type})lw_ipow((uint64_t)a, (uint64_t)b))": lambda a, b: pow(a, b % (1 << 64), 1 << 64),
    }
    if bits == 64:
        meanings[f"lw_short_floordiv_{name}(a, b)"] = meanings[f"lw_floordiv_{name}(a, b)"]
        meanings[f"lw_short_mod_{name}(a, b)"] = meanings[f"lw_mod_{name}(a, b)"]
        meanings[f"lw_near_mod_{name}(a, b)"] = meanings[f"lw_mod_{name}(a, b)"]
    if name in SIGNED:
        meanings[f"LW_ABS({c_type}, a)"] = lambda a, b: abs(a)
    return [Operator(name, name, text, _wrapped(name, meaning)) for text, meaning in meanings.items()]


def _whole(a: Any, _: Any) -> int:
    return int(a) if math.isfinite(a) and -(2**63) <= int(a) < 2**63 else -(2**63)


def _unsigned_whole(a: Any, b: Any) -> int:
    return int(a) if math.isfinite(a) and 2**63 <= int(a) < 2**64 else _whole(a, b) % 2**64


def _float_operators(name: str) -> list[Operator]:
    c_type = VALUE_TYPE[name]
    meanings: dict[str, Meaning] = {
        f"lw_floordiv_{name}(a, b)": np.floor_divide,
        f"lw_mod_{name}(a, b)": np.remainder,
        f"lw_maximum_{name}(a, b)": np.maximum,
        f"lw_minimum_{name}(a, b)": np.minimum,
        f"lw_fmax_{name}(a, b)": np.fmax,
        f"lw_fmin_{name}(a, b)": np.fmin,
        f"LW_MIN({c_type}, a, b)": min,
        f"LW_MAX({c_type}, a, b)": max,
        f"LW_SQUARE({c_type}, a)": lambda a, b: a * a,
        f"LW_CUBE({c_type}, a)": lambda a, b: a * a * a,
        f"LW_FIFTH({c_type}, a)": lambda a, b: (a * a) * (a * a) * a,
        f"LW_SEVENTH({c_type}, a)": lambda a, b: (a * a * a) * (a * a * a) * a,
    }
    found = [Operator(name, name, text, meaning) for text, meaning in meanings.items()]
    found.append(Operator(name, name, f"({c_type})lw_toint_{name}(a)", lambda a, b: np.dtype(name).type(_whole(a, b))))
    found.append(Operator(name, "int64", f"lw_toint_{name}(a)", _whole))
    found.append(Operator(name, "uint64", f"lw_touint_{name}(a)", _unsigned_whole))
    return found


OPERATORS: list[Operator] = [
    *(operator for name in (*SIGNED, *UNSIGNED) for operator in _integer_operators(name)),
    *(operator for name in FLOATS for operator in _float_operators(name)),
    Operator("int64", "int64", "lw_wrap(a, b)", _wrapped("int64", lambda a, b: a + b if a < 0 else a)),
    Operator("int64", "int32", "lw_climbs(a, b, 64)", lambda a, b: 0 <= a <= b < 64),
    Operator("int64", "int64", "lw_trip(a, b, 7)", _wrapped("int64", lambda a, b: _trip(a, b, 7))),
    Operator("int64", "int64", "lw_trip(a, b, INT64_MIN)", _wrapped("int64", lambda a, b: _trip(a, b, -(2**63)))),
    Operator("int64", "int64", "lw_trip(a, 5, b ? b : 1)", _wrapped("int64", lambda a, b: _trip(a, 5, b or 1))),
]


def _trip(lower: int, upper: int, step: int) -> int:
    return max(0, -(-(upper - lower) // step))


def edge_pairs(name: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Every pair of the values of a type at which operators change their minds."""
    values: npt.NDArray[Any]
    if name in FLOATS:
        tiny = [np.finfo(name).tiny, np.finfo(name).max, np.finfo(name).eps, 2.0**63, 2.0**64, 2.0**63 - 2048]
        some = [0.0, 0.5, 1.0, 1.5, 2.5, 3.0, 0.1, 0.3, 7.0, 1e10, np.inf, *tiny]
        values = np.array([*some, *(-x for x in some), np.nan], dtype=name)
    else:
        low, high = int(np.iinfo(name).min), int(np.iinfo(name).max)
        near = {low, low + 1, -8, -7, -3, -2, -1, 0, 1, 2, 3, 7, 8, 9, 15, 16, 31, 32, 63, 64, 100, high - 1, high}
        values = np.array(sorted(x for x in near if low <= x <= high), dtype=name)
    pairs = np.array(list(itertools.product(values, values)), dtype=name)
    return np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])


@functools.cache
def emulated() -> Session:
    """A kernel for every operator."""
    kernel = """
extern "C" __global__ void k%d(LW_GLOBAL(const %s) x, LW_GLOBAL(const %s) y, LW_GLOBAL(%s) out, int64_t n) {
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i >= n) return;
  const %s a = x[i], b = y[i];
  out[i] = %s;
}
"""
    texts = []
    for number, operator in enumerate(OPERATORS):
        c_type = VALUE_TYPE[operator.type]
        texts.append(kernel % (number, c_type, c_type, VALUE_TYPE[operator.result], c_type, operator.text))
    return Session("".join(texts), *(f"k{number}" for number in range(len(OPERATORS))), strict=True)


@functools.cache
def compiled() -> ctypes.CDLL:
    """The same in C, with loopwright.h."""
    function = """
void k%d(const %s *x, const %s *y, %s *out, int64_t n) {
  for (int64_t i = 0; i < n; i++) { const %s a = x[i], b = y[i]; out[i] = %s; }
}
"""
    texts = [HEADER]
    for number, operator in enumerate(OPERATORS):
        c_type = VALUE_TYPE[operator.type]
        texts.append(function % (number, c_type, c_type, VALUE_TYPE[operator.result], c_type, operator.text))
    return ctypes.CDLL(str(build("".join(texts), ("-ffp-contract=off",), current()).path))


def on_device(number: int) -> npt.NDArray[Any]:
    """What the emulated device makes of all pairs."""
    a, b = edge_pairs(OPERATORS[number].type)
    out = np.zeros(len(a), OPERATORS[number].result)
    emulated().run(f"k{number}", -(-len(a) // 128), 128, a, b, out, len(a))
    return out


def named(operator: Operator) -> str:
    """Of a case, in pytest's words."""
    return f"{operator.text}:{operator.type}"


@pytest.mark.parametrize("number", range(len(OPERATORS)), ids=[named(operator) for operator in OPERATORS])
def test_the_same_bits_as_loopwright_h(number: int) -> None:
    operator = OPERATORS[number]
    a, b = edge_pairs(operator.type)
    out = np.zeros(len(a), operator.result)
    places = [ctypes.c_void_p(array.ctypes.data) for array in (a, b, out)]
    getattr(compiled(), f"k{number}")(*places, ctypes.c_int64(len(a)))
    ours = on_device(number)
    same = (ours == out) & (np.signbit(ours) == np.signbit(out)) | (ours != ours) & (out != out)
    assert same.all(), [(a[k], b[k], ours[k], out[k]) for k in np.flatnonzero(~same)[:5]]


@pytest.mark.parametrize("number", range(len(OPERATORS)), ids=[named(operator) for operator in OPERATORS])
def test_the_meaning_of_python_and_numpy(number: int) -> None:
    operator = OPERATORS[number]
    a, b = edge_pairs(operator.type)
    ours = on_device(number)
    convert: Callable[[Any], Any] = np.dtype(operator.type).type if operator.type in FLOATS else int
    with np.errstate(all="ignore"):
        for x, y, value in zip(a, b, ours, strict=True):
            wanted = operator.meaning(convert(x), convert(y))
            if operator.result in FLOATS:
                same = np.isnan(wanted) and np.isnan(value)
                same = (
                    same
                    or (wanted == value and np.signbit(wanted) == np.signbit(value))
                    or zeros(operator, wanted, value)
                )
            else:
                same = int(wanted) == int(value)
            assert same, f"{operator.text}: a = {x!r}, b = {y!r} gives {value!r}, not {wanted!r}"


def zeros(operator: Operator, wanted: Any, value: Any) -> bool:
    """NumPy leaves open which of 0.0 and -0.0 is the greater."""
    return ("imum" in operator.text or "lw_fm" in operator.text) and wanted == value == 0


CHECKS = """
extern "C" __global__ void checks(LW_GLOBAL(const int64_t) k, LW_GLOBAL(int64_t) out, int64_t n, int64_t size,
                                  lw_failure *failure) {
  const int64_t i = threadIdx.x;
  if (i >= n) return;
  out[i] = LW_CHECKED(k[i] != 5, LW_INDEX(k[i], size, 7), 8) + LW_CHECKED(k[i] != 0, 60 / k[i], 9);
}
"""


@pytest.mark.parametrize(
    ("index", "expected", "record"),
    [
        (1, 61, [-1, -1, -1]),
        (9, 15, [-1, -1, -1]),
        (-1, 9 - 60, [-1, -1, -1]),
        (-10, -6, [-1, -1, -1]),
        (10, 77, [7, 10, 10]),
        (-11, 77, [7, -11, 10]),
        (2**63 - 1, 77, [7, 2**63 - 1, 10]),
        (-(2**63), 77, [7, -(2**63), 10]),
        (5, 77, [8, 0, 0]),
        (0, 77, [9, 0, 0]),
    ],
)
def test_checks(index: int, expected: int, record: list[int]) -> None:
    session = Session(CHECKS, "checks")
    out, failure = np.full(1, 77), np.array([-1, -1, -1, 0])
    session.run("checks", 1, 1, np.array([index]), out, 1, 10, failure)
    assert (out[0], failure.tolist()) == (expected, [*record, 0])


def test_an_index_into_nothing_always_fails() -> None:
    failure = np.array([-1, -1, -1, 0])
    Session(CHECKS, "checks").run("checks", 1, 1, np.array([-1]), np.zeros(1, int), 1, 0, failure)
    assert failure.tolist() == [7, -1, 0, 0]


def test_literals_and_library_functions_of_generated_text() -> None:
    text = """
extern "C" __global__ void numbers(LW_GLOBAL(double) out, double x) {
  out[0] = (double)INT64_MIN + 5L;
  out[1] = UINT64_C(18446744073709551615) == ~UINT64_C(0);
  out[2] = ((float)INFINITY) - 1.0f;
  out[3] = ((double)NAN);
  out[4] = (isnan(out[3]) != 0) + 2 * (isinf(out[2]) != 0) + 4 * (isfinite(x) != 0) + 8 * (signbit(-x) != 0);
  out[5] = sqrtf((float)x) + pow(x, 3.0) + fmodf(7.5f, 2.0f) + copysign(1.0, -x) + sqrt((float)x);
  out[6] = hypot(3.0, x) + atan2(0.0, 1.0) + tgamma(x) + cbrtf(27.0f) + truncf(-1.5f) + rint(2.5) + fma(x, x, 1.0);
}
"""
    out = np.zeros(7)
    Session(text, "numbers").run("numbers", 1, 1, out, np.float64(4.0))
    assert out[:3].tolist() == [-(2.0**63) + 5, 1, np.inf] and np.isnan(out[3])
    assert out[4:].tolist() == [15, 2 + 64 + 1.5 - 1 + 2, 5 + 6 + 3 - 1 + 2 + 17]
