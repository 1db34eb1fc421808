"""Random loops over rows, each of several parts: extremes, sums, searches by bisection, recurrences, loops that are
left early, products with a matrix, extremes kept in elements, short loops under conditions. What a GPU's recipe does
with a row depends on which of them stand together."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

NAME = "rows_of_parts"

PARTS = {
    "greatest": "m = -1e30\nfor v in range(n):\n    if p[r, v] > m:\n        m = p[r, v]",
    "greatest by max": "m = p[r, 0] if n > 0 else 0.0\nfor v in range(n):\n    m = max(m, p[r, v])",
    "sum": "s = 0.0\nfor v in range(n):\n    s += p[r, v] * 0.5",
    "elements": "for v in range(n):\n    q[r, v] = (p[r, v] - m) * 0.5 + s",
    "left early": """\
run = 0.0
at = -1
for v in range(n):
    run += p[r, v]
    if run > limit[r]:
        at = v
        break
place[r] = at""",
    "while": "run = 0.0\nv = 0\nwhile v < n and run < limit[r]:\n    run += p[r, v]\n    v += 1\nplace[r] = v",
    "bisection": """\
low = 0.0
high = 1.0
for turn in range(5):
    middle = 0.5 * (low + high)
    above = 0
    for v in range(n):
        if p[r, v] > middle:
            above += 1
    if above > 3:
        low = middle
    else:
        high = middle
out[r] = low""",
    "recurrence": "run = 0.0\nfor v in range(n):\n    run = run * 0.5 + p[r, v]\n    q[r, v] = run + s",
    "extreme in elements": """\
for v in range(n):
    if p[r, v] + s > gain[r]:
        gain[r] = p[r, v] + s
        which[r] = v""",
    "best cut": """\
for f in range(counts.shape[1]):
    left = 0.0
    for b in range(counts.shape[2]):
        left += counts[r, f, b]
        score = left * (1.0 - left)
        if score > gain[r]:
            gain[r] = score
            which[r] = f
            cut[r] = b""",
    "last best cut": """\
for f in range(counts.shape[1]):
    left = 0.0
    for b in range(counts.shape[2]):
        left += counts[r, f, b]
        if left >= gain[r] and b % 2 == 0:
            gain[r] = left
            cut[r] = b + f""",
    "product": """\
for j in range(w.shape[0]):
    t = 0.0
    for c in range(n):
        t += p[r, c] * w[j, c]
    o[r, j] = t""",
    "product and its greatest": """\
for j in range(w.shape[0]):
    t = 0.0
    for c in range(n):
        t += p[r, c] * w[j, c]
    o[r, j] = t * 0.5 + s
    if o[r, j] > m:
        m = o[r, j]""",
    "few sums under a condition": """\
if limit[r] > 0.4:
    for a in range(3):
        for b in range(3):
            few[a, b] += limit[r] * (a + b)""",
    "three under a condition": """\
if r % 3 != 1:
    for a in range(3):
        for b in range(a, 3):
            three[r, a] -= three[r, b] * 0.25""",
    "both": "out[r] = s + m",
}
"""By what they do. Sums are of eighths, and exact in any order."""

ARGUMENTS = "p, q, limit, out, place, gain, which, cut, counts, w, o, few, three"


def row_program(seed: int) -> str:
    """The text of a program."""
    draw = random.Random(seed)
    parts = [draw.choice(list(PARTS)) for _ in range(draw.randint(2, 4))]
    body = "\n".join(["m = 0.25", "s = 0.125", *(PARTS[part] for part in parts)])
    inside = "\n".join(f"        {line}" for line in body.split("\n"))
    return f"def {NAME}({ARGUMENTS}):\n    n = p.shape[1]\n    for r in range(p.shape[0]):\n{inside}\n"


def row_arguments(seed: int) -> list[Any]:
    """Arguments of such programs: also none of something, and at times numbers that are none."""
    draw, noise = random.Random(seed), np.random.default_rng(seed)
    rows, columns, cuts = draw.choice((0, 1, 5, 33, 70)), draw.choice((0, 1, 17, 130)), draw.choice((0, 1, 4, 70))
    others = draw.choice((0, 1, 5, 40))

    def eighths(*shape: int) -> Any:
        return noise.integers(-8, 9, shape) / 8.0

    p = eighths(rows, columns)
    if draw.random() < 0.25 and p.size:
        p.flat[noise.integers(0, p.size, max(1, p.size // 20))] = np.nan
    whole = [np.zeros(rows, np.int64) for _ in range(3)]
    return [
        p, np.zeros(p.shape), eighths(rows) + 0.5, np.zeros(rows), whole[0], eighths(rows), whole[1], whole[2],
        eighths(rows, cuts, 5), eighths(others, columns), np.zeros((rows, others)), np.zeros((3, 3)), eighths(rows, 3),
    ]  # fmt: skip
