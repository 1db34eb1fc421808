"""Code in which arrays have several names, on which the front end once differed from CPython without an error: found by
random programs and shrunken. Each agrees now, or is refused."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from frontend.judge import define, same
from loopwright.errors import KernelError


class Pair(NamedTuple):
    x: np.ndarray
    y: np.ndarray


def all_of(x):
    for r in x:
        r[1] += 2


def second(x):
    y = x
    y[0] = 5


def chosen(x, y, k):
    return x if k > 1 else y


def chosen_by_name(x, y, k):
    w = x if k > 1 else y
    return w[1:]


def chosen_in_branches(x, y, k):
    if k > 1:
        w = x
    else:
        w = y
    return w


def largest(m):
    best = m[0]
    for r in m:
        if r[0] > best[0]:
            best = r
    return best


def of_a_copy(x):
    k = x.copy()
    k[0][1] = 3


def kept(x, y):
    x[1] = y[2]
    return x


def all_in(d):
    return d["x"].sum() + d["y"].max()


NAMES = {"Pair": Pair} | {
    one.__name__: one
    for one in (all_of, second, chosen, chosen_by_name, chosen_in_branches, largest, of_a_copy, kept, all_in)
}
BRANCH = "d = {'x': b if n > 1 else c, 'y': b}; "
LOCAL = "u = a.copy(); v = b.copy(); "
AGREE = (
    "t = tuple((a, b if n > 1 else c)); t[1][1] = 5",
    "q = Pair(c, b if n > 1 else a); q.y[1] += 1",
    BRANCH + "b[1] = 8; a[0] = all_in(d)",
    "for r, s in zip((a, b if n > 1 else c), (b, c)): r[1] += s[0]",
)
REFUSED = (
    BRANCH + "d['y'] = kept(b, a); return d['x'].sum()",
    "for r in (a, c): r[0] = 5\nfor k in range(n): a, c = c, a\nreturn c",
    "all_of((a, c))\nfor k in range(n): a, c = c, a\nreturn a",
    LOCAL + "\nfor k in range(n):\n    second(u)\n    u = u + 1\nreturn u",
    LOCAL + "\nfor k in range(n):\n    second(u)\n    u, v = v, u\nreturn u",
    "l = sorted(m, key=lambda r: r[1]); l[0] += 1",
    "l = [a, b]; l[0] *= l[1]; return a, l[0]",
    "l = [a, b]; x = l.pop(); x[0] = 3",
    "l = [a, b]; k = l.copy(); k[0][1] = 3",
    "l = [a, b]; l.append(c); k = l + l; k[0][1] = 3",
    "l = [a, b]; of_a_copy(l)",
    "l = [[1, 2], [3]]; x = l[0]; x.append(5); return l[0], x",
    "d = {'x': a, 'y': b}; e = d; e['x'] = c; d['x'][1] = 9",
    LOCAL + "w = chosen(u, v, n); w[0] = 5; return u, v",
    LOCAL + "w = chosen(u, v, n); u[0] = 9; b[1] = w[0]",
    LOCAL + "w = chosen_by_name(u, v, n); w[0] = 5; return u, v",
    LOCAL + "w = chosen_in_branches(u, v, n); w[0] = 5; return u, v",
    "u = m.copy(); w = largest(u); w[0] = 5; return u",
)


def judged(body: str) -> bool:
    """Whether a body agrees with CPython for several numbers; False where it is refused."""
    text = "\n".join(f"    {line}" for line in body.split("\n"))
    function = define(f"def f(a, b, c, m, n):\n{text}\n", **NAMES)
    try:
        for n in (0, 1, 3):
            m = np.arange(16).reshape(4, 4) * 7 % 11
            same(function, np.arange(4) + 1, np.array([5, 3, 9, 1]), np.array([7, 7, 2, 0]), m, n)
    except KernelError:
        return False
    return True


@pytest.mark.parametrize("body", AGREE)
def test_what_is_written_shows_under_all_names(body: str) -> None:
    assert judged(body)


@pytest.mark.parametrize("body", REFUSED)
def test_a_copy_that_would_show_is_refused(body: str) -> None:
    assert not judged(body)
