"""Divisions that several statements need: where they are done once, where not, and that results stay the same."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.execution import compiled
from codegen.scheduled import after, host_text
from loopwright.ir.interp import interpret
from loopwright.ir.text import parse_kernel

HEAD = """
kernel f(a: int64[1] C, b: int64[1] C, c: int64[1] C):
    var p: int64
    var q: int64
    var x: int64
    for i in 0 .. size(a, 0):
        p = a[i]
        q = b[i]
"""
DIVISION = re.compile(r"lw_(?:short|near|known)_(floordiv|mod)_int64\(")


@pytest.mark.parametrize(
    ("body", "done"),
    [
        ("        x = p // q + p % q\n        c[i] = x\n", 1),  # the remainder from the quotient
        ("        x = p % q\n        c[i] = x * (p % q)\n", 1),
        ("        if p // q > 3:\n            c[i] = p // q\n        else:\n            c[i] = 0 - p // q\n", 1),
        ("        if p > 3:\n            c[i] = 5\n        x = p % q\n        c[i] = c[i] + x + p % q\n", 1),
        ("        x = p // q\n        c[i] = x\n", 1),  # once is once
        ("        if p > 3:\n            c[i] = p % q + p // q\n", 1),  # there only
        ("        if p > 3 and p % q > 1:\n            c[i] = p\n", 1),
        ("        x = p % q\n        p = p + 1\n        c[i] = x + p % q\n", 2),  # another number
        ("        p = p % q\n        c[i] = p % q\n", 2),
        ("        x = a[i] // q\n        a[i] = 7\n        c[i] = x + a[i] // q\n", 2),  # an element may change
        ("        x = 0\n        if x > p:\n            p = 9\n        c[i] = p % q\n", 1),
        ("        while p % q > 2 named w:\n            p = p - p % q\n        c[i] = p % q\n", 3),
    ],
)
def test_how_often(body: str, done: int, tmp_path: Path) -> None:
    text = HEAD + body
    assert len(DIVISION.findall(host_text(text, "").split(" lw_kernel(", 1)[1])) == done
    ends = np.iinfo("int64").min, np.iinfo("int64").max, 2**32, -(2**32), 7, -7, 1, -1, 0, 3, 2, 12, 100
    if "while" in text:
        ends = tuple(one for one in ends if one > 0)
    numbers = [np.array(one) for one in zip(*((left, right) for left in ends for right in ends), strict=True)]
    mine = [*numbers, np.zeros(len(numbers[0]), "int64")]
    expected = [one.copy() for one in mine]
    interpret(parse_kernel(text), expected)
    kernel, facts = after(text, "", strict=False)
    compiled(kernel, tmp_path, facts, check_all=False, strict=False, threads=1).run(tuple(mine))
    for found, right in zip(mine, expected, strict=True):
        np.testing.assert_array_equal(found, right)


def reached(img: Any, at: int, colour: int, stack: Any) -> int:
    height, width = img.shape
    old, top, count = img[at // width, at % width], 1, 0
    stack[0] = at
    img[at // width, at % width] = colour
    while top > 0:
        top -= 1
        p = stack[top]
        x = p // width
        y = p % width
        count += 1
        if x > 0 and img[x - 1, y] == old:
            img[x - 1, y] = colour
            stack[top] = p - width
            top += 1
        if x < height - 1 and img[x + 1, y] == old:
            img[x + 1, y] = colour
            stack[top] = p + width
            top += 1
        if y > 0 and img[x, y - 1] == old:
            img[x, y - 1] = colour
            stack[top] = p - 1
            top += 1
        if y < width - 1 and img[x, y + 1] == old:
            img[x, y + 1] = colour
            stack[top] = p + 1
            top += 1
    return count


def spread(x: Any, y: Any, out: Any) -> None:
    rows, columns = out.shape
    for k in range(len(x)):
        i, j = int(x[k]), int(y[k])
        out[i % rows, j % columns] += 1
        out[(i + 1) % rows, j % columns] += 2
        out[i % rows, (j + 1) % columns] += 3
        out[(i + 1) % rows, (j + 1) % columns] += 4


def halves(a: Any, k: Any, out: Any) -> None:
    for i in range(len(a)):
        for j in range(len(k)):
            if a[i] // k[j] > 1:
                out[i] = out[i] + a[i] % k[j]
            else:
                out[i] = out[i] - a[i] // k[j]


@pytest.mark.parametrize("threads", [1, 3])
def test_as_python(threads: int) -> None:
    random = np.random.default_rng(4)
    image = (random.random((40, 31)) < 0.3).astype(np.uint8)
    image[20, 15] = 0
    calls: list[tuple[Any, list[Any]]] = [
        (reached, [image, 20 * 31 + 15, 7, np.zeros(image.size, np.int64)]),
        (spread, [random.normal(size=5000) * 99, random.normal(size=5000) * 99, np.zeros((9, 8), np.int64)]),
        (halves, [random.integers(-99, 99, 2000), random.integers(1, 9, 30), np.zeros(2000, np.int64)]),
        (halves, [random.integers(-99, 99, 2000).astype(np.int32), np.arange(1, 9, dtype=np.int32), np.zeros(2000)]),
        (halves, [random.integers(0, 99, 2000).astype(np.uint8), np.arange(1, 9, dtype=np.uint8), np.zeros(2000)]),
    ]
    for function, arguments in calls:
        mine, expected = ([one.copy() if isinstance(one, np.ndarray) else one for one in arguments] for _ in "12")
        with lw.options(threads=threads):
            assert lw.kernel(function)(*mine) == function(*expected)
        for found, right in zip(mine, expected, strict=True):
            np.testing.assert_array_equal(found, right)
