"""One kernel with its arrays, its peer and what is right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Arrays = tuple[Any, ...]


class Draw:
    """Arrays of the host, the same ones each time."""

    def __init__(self) -> None:
        self._draw = np.random.default_rng(11)

    def f4(self, *shape: int) -> np.ndarray:
        """Numbers from 0 to 1 in float32."""
        return self._draw.random(shape, np.float32)

    def f8(self, *shape: int) -> np.ndarray:
        """Numbers from 0 to 1 in float64."""
        return self._draw.random(shape)

    def whole(self, below: int, *shape: int, dtype: str = "int64") -> np.ndarray:
        """Whole numbers, each as likely as any other."""
        return self._draw.integers(0, below, shape).astype(dtype)


def z4(*shape: int) -> np.ndarray:
    """Zeros in float32."""
    return np.zeros(shape, np.float32)


def z8(*shape: int) -> np.ndarray:
    """Zeros in float64."""
    return np.zeros(shape)


def zi(*shape: int, dtype: str = "int64") -> np.ndarray:
    """Zeros in whole numbers."""
    return np.zeros(shape, dtype)


@dataclass(frozen=True)
class Case:
    """arrays: from a Draw and a size to all arguments. expect: from these in float64 (whole numbers in int64) to what
    the last of them have to be after one call. peer: PyTorch's way, from torch and the arguments; or `cuda`, the
    text of a kernel `peer` over all arguments and then the numbers of the size, with `threads` of that size: one
    iteration each. ops: floating-point operations; moved: bytes, where these are not those of all arguments once.
    restore: each run needs the arguments as they were."""

    name: str
    function: Callable[..., object]
    arrays: Callable[..., Sequence[np.ndarray]]
    tiny: tuple[int, ...]
    full: tuple[int, ...]
    expect: Callable[..., tuple[Any, ...]]
    peer: Callable[..., object] | None = None
    cuda: str = ""
    threads: Callable[..., int] | None = None
    ops: Callable[..., float] = lambda *_: 0.0
    moved: Callable[..., float] | None = None
    restore: bool = False
