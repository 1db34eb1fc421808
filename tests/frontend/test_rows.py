"""Lists of lists and lists of arrays: what is appended, read, changed and returned; what shows that it is a copy."""

from __future__ import annotations

import numpy as np
import pytest

from frontend.judge import define, refusal, same

BODIES = [
    "x = [[] for _ in range(n)]; x[1].append(5); x[n - 1].append(6); x[1].append(7); return x, len(x[1]), len(x[0])",
    "x = [[0.0] * 2 for _ in range(n)]; x[1][0] = 5.0; x[2].append(7.5); return x",
    "x = [[1]] * n; x[0].append(2); return x",
    "x = [[3, 1], [2]]; x[0].sort(); x[1] += [9]; return x, x[0][-1]",
    "x = [[3, 1], [2], [5, 4, 4]]; x.sort(key=len); y = x.pop(); y[0] = 9; x.append(y); return x",
    "x = [[1, 2], [3]]; y = x[0]; x.insert(0, [7]); y.append(4); del x[2]; return x, y",
    "x = [[1, 2], [3]]; x[0].append(0); y = x[::-1]; y[0].append(8); return x, y",
    "x = [[1], [2]]; x.reverse(); x[0].extend([5, 6]); return x",
    "x = [[1], [2]]; x[0] = x[1]; x[0].append(3); return x",
    "x = [[1, 2], [3, 4]]; x[1].clear(); return x, x[0].pop(0)",
    "x = []; x.append(a[1:] * 2); x.append(a[:1]); return x",
    "x = [a[k:] for k in range(2)]; return x, len(x[1])",
    "x = [np.zeros(2) for _ in range(n)]; x[1][0] = 4.0; return x",
    "x = [np.ones((2, 3)), np.zeros((1, 2))]; return x[n - 2], x",
    "x = [a[:2], a[2:], a]; return x[n - 1].sum() + x[n - 2][0], np.concatenate(x)",
    "x = []; x.append(a); x.append(a + 1); return np.array(x), np.vstack(x), np.hstack(x)",
    "return np.array([[i * j for j in range(n)] for i in range(2)])",
    "return np.concatenate([a[k:] for k in range(n)])",
    "x = [[1, 2], [3]]; x[0].append(1); return np.array(x)",
    "x = [[k] for k in range(n)]; x[0].append(1); return x[9]",
    "x = []; x.append([n, 0.5]); x.append([1, 1.5]); return x, x[0], x[1:]",
    "x = [[n, 2], [3, 4]]; return x[n - 3][1]",
    "x = [[(1, 2.0)], []]; x[1].append((n, 0.5)); return x, x[1][0][1]",
    "x = [[2 + 1j], [1j]]; x[0].append(n * 1j); return x",
    "x = [[]]; x[0].append(1.0); x[0].append(2.5); return x",
    "return [0] * n + [1, 2], (1, 2) * 2, [1, n] * 2",
    "p = [0, 2]; p.append(1); a[p] = [7.0, 8.0, 9.0]; return a[p], a[[n - 1] + list(range(n - 2))]",
    "d = ((1, 0), (0, 1), (-1, n)); x, y = d[n - 1]; return x * 10 + y, d[n - 2][1]",
]


@pytest.mark.parametrize("body", BODIES)
def test_small_programs(body):
    lines = "\n".join(f"    {line.strip()}" for line in body.split("; "))
    same(define(f"def f(a, n):\n{lines}\n"), np.array([4.0, 0.5, -1.0]), 3)


def pieces(a, limit):
    """A list is put into another one, and begun anew."""
    found = []
    piece = [0]
    for i in range(len(a)):
        if a[i] > limit:
            found.append(piece)
            piece = [i]
        else:
            piece.append(i)
    found.append(piece)
    total = 0
    for k, one in enumerate(found):
        for x in one:
            total += x * k
    return found, total


def levels(edges, n):
    """Neighbours of each vertex; lists that outgrow their room while others do."""
    neighbours = [[] for _ in range(n)]
    for u, v in edges:
        neighbours[u].append(v)
        neighbours[v].append(u)
    depth = np.full(n, -1)
    depth[0] = 0
    todo = [0]
    while len(todo) > 0:
        u = todo.pop(0)
        for v in neighbours[u]:
            if depth[v] < 0:
                depth[v] = depth[u] + 1
                todo.append(v)
    return depth, neighbours


@pytest.mark.parametrize("size", [0, 1, 9, 40])
def test_loops(size):
    rng = np.random.default_rng(size)
    same(pieces, rng.random(size), 0.5)
    same(levels, rng.integers(0, size + 1, (3 * size, 2)), size + 1)


def products(a, k):
    """Slices of tuples, with bounds that the run finds."""
    total = 1
    for size in a.shape[k:]:
        total *= size
    return total, np.prod(a.shape[k:]), sum(a.shape[:k]), len(a.shape[k:]), a.shape[-1]


@pytest.mark.parametrize("k", [-1, 0, 1, 2])
def test_slices_of_tuples(k):
    same(products, np.zeros((2, 3, 4)), k)


def test_a_slice_of_a_tuple_is_not_returned():
    assert "a slice of a tuple cannot be returned" in refusal(
        define("def f(a, k):\n    return a.shape[k:]\n"), np.zeros(3), 1
    )


SHARED = [
    "y = np.zeros(2); x.append(y); y[0] = 1.0; return x",
    "y = np.zeros(2); x.append(y); x[0][0] = 1.0; return y",
    "x.append(a); x[0][0] = 2.0",
    "y = [1]; x.append(y); y.append(2); return x",
    "y = [1]; x.append(y); x[0].append(2); return y",
    "y = a[1:]; x.append(y); a[1] = 3.0; return x",
    "y = np.zeros(2); x.append(y)\n    for z in x:\n        z[0] = 1.0\n    return y",
]


@pytest.mark.parametrize("body", SHARED)
def test_what_would_show_that_a_list_holds_a_copy_is_refused(body):
    lines = "\n".join(f"    {line.strip()}" for line in body.split("; "))
    assert "holds a copy" in refusal(define(f"def f(a):\n    x = []\n{lines}\n"), np.zeros(3))


NOT_SHARED = [
    "y = np.zeros(2)\n        y[0] = k\n        x.append(y)",
    "x.append(a)",
    "y = a[k:]\n        x.append(y)",
    "y = [k]\n        y.append(2)\n        x.append(y)",
    "y = a * k\n        x.append(y)\n        x[k][0] = 5.0",
]


@pytest.mark.parametrize("body", NOT_SHARED)
def test_what_shows_nothing_is_put_in(body):
    same(define(f"def f(a):\n    x = []\n    for k in range(3):\n        {body}\n    return x\n"), np.ones(3))


NAMES = [
    "x = [np.zeros(2), np.ones(2)]; y = x[0]; y = y if n > 3 else x[1]; y[0] = 9.0; return x",
    "x = [np.zeros(2), np.ones(2)]; y = x[0] if n > 3 else x[1]; y[0] = 9.0; return x",
]


@pytest.mark.parametrize("body", NAMES)
def test_a_name_for_several_arrays_of_a_list_is_no_copy_that_shows(body):
    lines = "\n".join(f"    {line.strip()}" for line in body.split("; "))
    for n in (3, 5):
        same(define(f"def f(n):\n{lines}\n"), n)


def slices_of_inner_lists(n):
    g = [[1, 2], [3]]
    y = g[0][1:]
    y.append(n)
    g.append(g[0][:].copy())
    g[1] = g[0][::-1].copy()
    g[0].append(7)
    g[0][0] = 50
    return g, y


def test_a_slice_of_a_list_in_a_list_is_a_list_of_its_own():
    same(slices_of_inner_lists, 4)
    same(define("def f():\n    g = [[1, 2], [3]]\n    g.append(g[0][1:])\n    g[0].append(7)\n    return g\n"))
