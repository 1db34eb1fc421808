"""Random loops over pairs, whose places in an array a counter tells, or a formula: most of them are apart, and some of
them only look so."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

NAME = "pairs"
OUTER = ("0, n", "1, n", "2, n", "0, n - 1", "n - 1, -1, -1", "n - 1, 0, -1", "0, n, 2", "w, n")
INNER = ("i + 1, n", "i, n", "0, i", "0, i + 1", "i - 1, n", "0, i + 2", "1, i", "i + 1, n + 1", "0, n - i", "i + w, n")
PLACES = (
    "i * (i + 1) // 2 + j",
    "i * (i - 1) // 2 + j",
    "(i + 2) * (i + 1) // 2 + j - 1",
    "n * i - i * (i + 1) // 2 + j - i - 1",
    "n * (n - 1) // 2 - (n - i) * (n - i - 1) // 2 + j - i - 1",
    "i * (2 * n - i - 1) // 2 + j",
    "i * (i + 3) // 2 + j",
    "i * i // 2 + j",
    "j * (j + 1) // 2 + i",
    "i * (i + 1) + 2 * j",
)
WORK = (
    ("out[{at}] = x[i] - x[j]",),
    ("out[{at}] += x[i % 7] + x[j % 5]",),
    ("if x[j] > 0:", "    out[{at}] = x[i]", "else:", "    out[{at}] = j"),
    ("out[{at}] = i", "other[{at}] = j"),
    ("out[{at}] = x[j]", "other[i] += out[{at}]"),
)


def triangle_program(seed: int) -> str:
    """The text of a function `pairs(x, w, out, other)`, which gives a number."""
    draw = random.Random(seed)
    counts, step = draw.random() < 0.6, draw.choice((1, 1, 1, 2))
    at = f"k + {draw.choice((0, 0, 1))}" if counts else draw.choice(PLACES)
    work = [line.format(at=at) for line in draw.choice(WORK)]
    lines = ["n = x.size", "k = " + draw.choice(("0", "0", "0", "2", "w"))]
    lines += [f"for i in range({draw.choice(OUTER)}):"]
    if draw.random() < 0.2:
        lines += ["    other[i] = k"]
    lines += [f"    for j in range({draw.choice(INNER)}):", *(f"        {line}" for line in work)]
    lines += [f"        k += {step}"] if counts else []
    lines += ["    k += 1"] if draw.random() < 0.15 else []
    lines += ["return k"]
    return f"def {NAME}(x, w, out, other):\n" + "".join(f"    {line}\n" for line in lines)


def triangle_arguments(seed: int) -> tuple[Any, ...]:
    """Arguments for one call. All that loops reach is in `out`, but not always."""
    draw = np.random.default_rng(seed)
    n = int(draw.choice([0, 1, 2, 3, 8, 33, 40]))
    most = 2 * (n + 3) * (n + 4) if draw.random() < 0.8 else n * (n + 1) // 2
    x, w = draw.integers(-9, 10, n), int(draw.integers(0, 3))
    return x, w, np.zeros(most, np.int64), np.zeros(most, np.int64)
