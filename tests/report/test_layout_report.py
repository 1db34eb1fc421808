from __future__ import annotations

from typing import Any

import numpy as np

import loopwright as lw

PARTICLE = np.dtype([("x", "f8"), ("v", "f8"), ("rest", "f8", 6)])


def move(p: Any, a: Any, steps: int) -> None:
    """One field of a record is read, another one written; a column and a row of a matrix."""
    for s in range(steps):
        for i in range(len(p)):
            p[i]["x"] += p[i]["v"] + a[i, 2]
        for j in range(a.shape[1]):
            a[s, j] += 1.0


def test_what_is_counted() -> None:
    kernel = lw.kernel(move)
    p, a = np.zeros(20_000, PARTICLE), np.zeros((20_000, 32))
    report = kernel.layouts(p, a, 5)
    (loop,) = report.loops
    rows = loop.of("p")
    assert rows[""].efficiency == 0.1875 and rows["soa"].efficiency > 0.98 and rows["soa"].moved < 0.2
    assert set(rows) == {"", "soa", "aos", "aosoa 8"} and set(loop.of("a")) == {"", "order 1 0"}
    assert not p["x"].any() and not a.any(), "arguments stay as they are"
    text = str(report)
    assert "move: the fraction of the moved bytes that is used\n  loop s (line" in text
    assert "p  as it is       19 %\n" in text and "       soa           " in text


def test_of_planes_and_of_calls_without_records() -> None:
    kernel = lw.kernel(move)
    report = kernel.layouts(lw.array(2_000, PARTICLE), np.zeros((2_000, 32)), 3)
    assert report.loops[0].of("p.x")[""].efficiency > 0.9
    assert lw.kernel(lambda_free).layouts(np.zeros(3)).loops == ()


def lambda_free(a: Any) -> float:
    """No loop at all."""
    return float(a[0])
