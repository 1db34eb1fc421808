"""What numbers mean on the device: integers that wrap, casts, NaN and zeros with a sign, to the last bit if strict."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from codegen.on_gpu import agree
from loopwright.devices import emulated_build

RANDOM = np.random.default_rng(9)

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


def edges(dtype: str) -> Any:
    ends = np.iinfo(dtype)
    least = [ends.min, ends.min + 1, -1] if ends.min else [0, 7, 6]
    return np.array([*least, 0, 1, 2, 3, 5, 63, ends.max - 1, ends.max, ends.max // 2 + 1], dtype)


def pairs(values: Any) -> tuple[Any, Any]:
    first, second = np.meshgrid(values, values)
    return first.ravel().copy(), second.ravel().copy()


def arithmetic(a, b, o):
    for i in range(a.shape[0]):
        o[0, i] = a[i] + b[i]
        o[1, i] = a[i] - b[i]
        o[2, i] = a[i] * b[i]
        o[3, i] = -a[i]
        o[4, i] = abs(a[i])
        o[5, i] = min(a[i], b[i])
        o[6, i] = max(a[i], b[i])
        o[7, i] = (a[i] & b[i]) ^ ~a[i]
        o[8, i] = a[i] ** 2
        o[9, i] = a[i] ** 3 | b[i]
        o[10, i] = a[i] << (b[i] & 7)
        o[11, i] = a[i] >> (b[i] & 7)
        o[12, i] = a[i] // 8
        o[13, i] = a[i] % 8
        o[14, i] = (a[i] * 4) // 4
        o[15, i] = (a[i] + b[i]) > a[i]


def division(a, b, o):
    for i in range(a.shape[0]):
        o[0, i] = a[i] // b[i]
        o[1, i] = a[i] % b[i]


@pytest.fixture
def undefined_stays_undefined(monkeypatch: pytest.MonkeyPatch) -> None:
    """CUDA's compiler has no -fwrapv: neither may the emulated device's have it. What is undefined ends the process."""
    flags = [flag for flag in emulated_build.FLAGS if flag != "-fwrapv"]
    checks = ("-fsanitize=signed-integer-overflow,shift", "-fsanitize-undefined-trap-on-error")
    monkeypatch.setattr(emulated_build, "FLAGS", (*flags, *checks))


@pytest.mark.usefixtures("undefined_stays_undefined")
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers(dtype: str) -> None:
    a, b = pairs(edges(dtype))
    agree(arithmetic, a, b, np.zeros((16, len(a)), dtype))
    agree(division, a[b != 0], b[b != 0], np.zeros((2, np.count_nonzero(b)), dtype))


@pytest.mark.usefixtures("undefined_stays_undefined")
def test_scalar_arguments_wrap() -> None:
    """Found: sums of scalar arguments were signed, which a compiler takes never to wrap: s + m > s was always true."""

    def kernel(a, s, m):
        for i in range(a.shape[1]):
            a[0, i] = (s + m) > s
            a[1, i] = (s * 4) // 4
            a[2, i] = -s + abs(s) - 2
            a[3, i] = s * s * m

    for s in (2**63 - 1, 2**62, -(2**63), 5):
        agree(kernel, np.zeros((4, 5), np.int64), s, 1)
    agree(kernel, np.zeros((4, 5), np.int64), np.int32(2**31 - 1), np.int32(2**31 - 1))


@pytest.mark.parametrize("dtype", [*INTEGERS, "float32", "float64"])
def test_casts(dtype: str) -> None:
    def kernel(a, o8, o32, o64, u32, u64, f, d, truth):
        for i in range(a.shape[0]):
            o8[i] = np.int8(a[i])
            o32[i] = np.int32(a[i])
            o64[i] = np.int64(a[i])
            u32[i] = np.uint32(a[i])
            u64[i] = np.uint64(a[i])
            f[i] = np.float32(a[i])
            d[i] = np.float64(a[i])
            truth[i] = bool(a[i])

    values = edges(dtype) if dtype in INTEGERS else floats(dtype)
    agree(
        kernel,
        values,
        *(
            np.zeros(len(values), to)
            for to in ("int8", "int32", "int64", "uint32", "uint64", "float32", "float64", "bool")
        ),
    )


def floats(dtype: str) -> Any:
    values = [
        0.0,
        -0.0,
        1.5,
        -1.5,
        np.inf,
        -np.inf,
        np.nan,
        1e300,
        -1e300,
        2.0**31,
        2.0**63,
        2.0**64,
        -(2.0**63),
        127.9,
        1e-310,
    ]
    with np.errstate(all="ignore"):
        return np.array(values).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floats(dtype: str) -> None:
    def kernel(a, b, o):
        for i in range(a.shape[0]):
            o[0, i] = min(a[i], b[i])
            o[1, i] = max(a[i], b[i])
            o[2, i] = a[i] + b[i] - a[i] * b[i]
            o[3, i] = abs(a[i]) / b[i]
            o[4, i] = a[i] // b[i]
            o[5, i] = a[i] % b[i]
            o[6, i] = np.copysign(a[i], b[i])
            o[7, i] = -a[i]

    a, b = pairs(floats(dtype))
    agree(kernel, a, b, np.zeros((8, len(a)), dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_extremes_by_numpy(dtype: str) -> None:
    """Which zero is the greater one NumPy leaves to the processor."""

    def kernel(a, b, o):
        for i in range(a.shape[0]):
            o[0, i] = np.minimum(a[i], b[i])
            o[1, i] = np.maximum(a[i], b[i])
            o[2, i] = np.fmin(a[i], b[i])
            o[3, i] = np.fmax(a[i], b[i])

    values = floats(dtype)
    a, b = pairs(values[~(np.signbit(values) & (values == 0))])
    agree(kernel, a, b, np.zeros((4, len(a)), dtype))


def test_constants() -> None:
    def kernel(o, p):
        for _ in range(1):
            o[0] = np.inf
            o[1] = -np.inf
            o[2] = np.nan
            o[3] = 1e-310
            o[4] = -0.0
            o[5] = 1.7976931348623157e308
            p[0] = -9223372036854775808
            p[1] = 9223372036854775807
            p[2] = -2147483648

    agree(kernel, np.zeros(6), np.zeros(3, np.int64))


def test_strict_is_to_the_last_bit() -> None:
    def kernel(a, b, c):
        for i in range(a.shape[0]):
            c[i] = a[i] * b[i] + c[i] ** 3

    a, b, c = RANDOM.random((3, 2000))
    found = agree(kernel, a, b, c)
    assert found.program.device.strict
