"""The methods of lists, `in`, `del`, `sorted`, `list`, comprehensions that make lists; also compiled."""

from __future__ import annotations

import heapq
import threading

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import alike, define, kernel_of, refusal, same
from loopwright.ir.text import print_kernel

BODIES = [
    "x = [n, 2]; return (1 if x else 2) + (4 if not x else 8)",
    "x = [3, 1, 2]; x.sort(); return x", "x = [3.0, 1.0, float(a[0])]; x.sort(reverse=True); return x[0], x[1], x[2]",
    "x = [3, 1, 2]; x.insert(1, n); x.insert(-1, 7); x.insert(99, 8); x.insert(-99, 4); return x",
    "x = [3, 1, 2]; x.reverse(); return x", "x = [3, 1, 2, 1]; x.remove(1); return x.index(1), x.count(1), len(x)",
    "x = [3, 1]; x.append(n); return 3 in x, 9 in x, 9 not in x", "x = [3, 1]; x.remove(n + 10); return x",
    "x = [3, 1, 2]; return x.index(n + 10)", "x = [1]; x.extend([5, 6]); x.extend(x); x += [n]; x += x; return x",
    "x = [1, 2]; x.append(n); x.clear(); x.append(5); return x, len(x)",
    "x = [1, 2, 3]; del x[1]; del x[-1]; return x", "x = [1]; del x[n]; return x",
    "x = [1, 2, 3]; y = x; y.append(4); x.append(5); return x, len(y)",
    "x = []; y = x; y.append(4); x.append(n); return y",
    "x = (a * 2).tolist(); x.append(0.5); return x, sum(x), a[1:].tolist()[0], [r.tolist() for r in np.ones((2, 2))]",
    "x = np.array([250, n], np.uint8).tolist(); return x, sum(x), (a > 0).tolist(), x[0] + x[1], a[:0].tolist()",
    "return sorted([3, n, 1])", "return sorted([3.0, 2.5], reverse=True)", "return sorted(a)",
    "return sorted(k * 7 % 5 for k in range(n))", "return sorted([(2, 1.0), (1, 5.0), (1, 2.0)])",
    "x = list(range(n)); x.append(7); return x", "x = list(a); return x[0]",
    "x = [5, 6, 7]; y = x.pop(0); z = x.pop(-2); return y, z, x", "x = [5]; return x.pop(n)",
    "x = [(1, 2.0)]; x.insert(0, (n, 3.0)); x.append((0, 0.0)); x.sort(); del x[0]; return x, (1, 2.0) in x",
    "x = [(1, 2.0), (2, 1.0)]; x.reverse(); x.remove((1, 2.0)); return x, x.index((2, 1.0)), x.count((0, 0.0))",
    "x = [1, 2]; y = x.copy(); y.append(3); x[0] = 9; return x, y",
    "x = list(range(40)); x.sort(reverse=True); return x",
    "x = [(k % 3, k) for k in range(n + 5)]; x.append((0, 0)); x.sort(reverse=True); return x",
    "x = [i * 10 + j for i in range(n) for j in range(i) if j != 1]; return x, sum(x), max(x)",
    "return [k for k in range(n) if k % 2], [(k, 0.5) for k in range(2)][1]",
    "x = [True]; x.append(n > 9); return any(x), all(x)",
    "x = [(k, -k * k % 3) for k in range(n)]; x.sort(key=lambda p: p[1]); return x",
    "x = [1]; x.extend(range(n)); x.extend(range(n, 0, -2)); x.extend({7, 8}); x.extend(range(n, 1)); return x, len(x)",
    "x = sorted(a, key=abs, reverse=True); return x", "x = [3, n]; x.sort(key=lambda v: -v % n); return x",
]  # fmt: skip


@pytest.mark.parametrize("body", BODIES)
def test_small_programs(body):
    lines = "\n".join(f"    {line.strip()}" for line in body.split(";"))
    same(define(f"def f(a, n):\n{lines}\n"), np.array([4.0, 0.5, -7.0]), 5)


def everything(a, n):
    x = []
    for i in range(len(a)):
        x.append((i % n, float(a[i])))
    x.sort(reverse=True)
    y = [v for k, v in x if k > 0]
    y.insert(n, 0.25)
    y.reverse()
    while len(y) > 6:
        y.pop(1)
        del y[-1]
    places = [k for k in range(n) for m in range(k)]
    return x, y, places, sorted(y), y.index(0.25) if 0.25 in y else -1


def test_compiled():
    kernel = lw.kernel(everything)
    for size, n in ((0, 3), (9, 2), (50, 4)):
        a = (np.arange(size) * 7 % 11).astype(float)
        assert alike(kernel(a, n), everything(a, n))


def filled(n):
    x = []
    for i in range(n):
        x.append(i)
    x.reverse()
    return x[0] + len(x)


def test_threads_have_lists_of_their_own():
    """Two threads call one kernel at once, and lists of more than is kept between calls are right the next time."""
    kernel = lw.kernel(filled)
    found: list[object] = []

    def call():
        for size in (3, 300_000, 5, 70):
            found.append(kernel(size) == filled(size))

    threads = [threading.Thread(target=call) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == [True] * 16


def endless(n):
    x = [0]
    while len(x) > 0:
        x.append(n)
    return len(x)


def test_too_long_is_a_memory_error():
    with pytest.raises(MemoryError):
        lw.kernel(endless)(1)


def test_refused():
    told = refusal(define("def f(n):\n    x = [1]\n    x.sort(reverse=n > 3)\n    return x\n"), 3)
    assert "'reverse' is True or False here" in told


COPIES = {
    "l = [m[0] * 1, m[1] * 1]\n    l[1] = l[0]\n    l[1][0] = 5\n    return l[0][0]": "'l' holds a copy of 'l[0]'",
    "l = [m[0] * 1]\n    x = l[0]\n    l.append(x)\n    x[0] = 5\n    return l[1][0]": "'l' holds a copy of 'x'",
    "x = m[0] * 1\n    l = [x for _ in range(3)]\n    l[0][0] = 5\n    return l[1][0]": "'l' holds a copy of 'x'",
    "l = [m[i] for i in range(2)]\n    l[0][0] = 5\n    return m.sum()": "'l' holds a copy of 'm[i]'",
    "q = [[0] for _ in range(2)]\n    l = [v for v in q]\n    l[0].append(4)\n    return len(q[0])": "'l' holds a copy",
    "x = m[0] * 1\n    l = [x]\n    l.append(l[0])\n    return l[0][0] + l[1][1]": "",
    "b = m * 2\n    b[0] = 1\n    l = [b[i] for i in range(2)]\n    k = [v for v in l]\n    return k[0].sum()": "",
    "l = [np.zeros(2) for _ in m]\n    l[0][1] = 3\n    k = [v.copy() for v in l]\n    k[0][0] = 7\n    return l": "",
}


@pytest.mark.parametrize("body", COPIES)
def test_arrays_that_two_places_of_a_list_have(body):
    function, m = define(f"def f(m):\n    {body}\n", "shared.py"), np.arange(6.0).reshape(2, 3)
    if COPIES[body]:
        assert COPIES[body] in refusal(function, m)
    else:
        same(function, m)


def places(rows, x, y):
    found = [x, y] in rows, [x] in rows
    seen, twice = [], 0
    for k in range(9):
        pair = sorted([k % 3, k % 2])
        if pair in seen:
            twice += 1
        else:
            seen.append(pair)
    return found, seen, twice, rows.index([y, x])


@pytest.mark.parametrize(("x", "y"), [(1, 2), (2, 1), (3, 3)])
def test_lists_in_a_list_are_found(x, y):
    rows = [[2, 1], [3], [], [1, 2], [2, 1]]
    try:
        expected = places(rows, x, y)
    except ValueError:
        with pytest.raises(ValueError, match="not in the list"):
            lw.kernel(places)(rows, x, y)
    else:
        assert lw.kernel(places)(rows, x, y) == expected


def moved_about(keys):
    x, pairs = [0.0], [(0, 0.5)]
    for k in keys:
        x.insert(k % (len(x) + 1), k + 0.5)
        pairs.insert(k % len(pairs) - 1, (k, 0.25))
        if k % 3 == 0:
            x.pop(k % len(x) - len(x) // 2)
            del pairs[k % len(pairs)]
    return x, pairs


def test_what_moves_up_and_down_in_a_list_is_a_plain_move_of_memory():
    keys = np.random.RandomState(3).randint(0, 1000, 70)
    same(moved_about, keys)
    text = print_kernel(kernel_of(moved_about, keys)).splitlines()
    moves = [text[k + 1].strip() for k, line in enumerate(text) if "step -1:" in line]
    assert len(moves) == 3 and all(line.endswith(" - 1]") for line in moves)  # one of x, two of pairs


NESTED = [
    "x = [(k, (k + 1, k * 0.5)) for k in range(n)]; x.append((7, (8, 9.0))); x.insert(1, (3, (3, 3.5))); "
    "x[0] = (9, (9, 9.0)); y = x.pop(0); x.sort(); "
    "return x, y[1], x[-1][1][0], (3, (3, 3.5)) in x, x.index((7, (8, 9.0))), x[1:3], x == x.copy()",
    "x = [(k % 3, (n - k, k)) for k in range(n)]; x.append((9, (9, 9))); return min(x), max(x), x.count((9, (9, 9)))",
    "x = [(1, 2.5)]; x.append((1, n)); x.clear(); return max(x)",
    "t = 0.0; x = [(k, ((k, 2), 0.5)) for k in range(n)]; x.reverse()\n"
    "for k, ((i, j), w) in x: t = t * 2 + k * i - j * w\n"
    "return t, [b for _, (b, _) in x], x[:2]",
    "x = [(k % 3, (k, -k)) for k in range(n)]; x.sort(key=lambda p: p[1][1]); del x[0]; x.extend(x[:1]); "
    "y = [x, [(1, (2, 3))]]; return y[1], y[0][1], x",
]  # fmt: skip


@pytest.mark.parametrize("body", NESTED)
def test_tuples_with_tuples_in_them(body):
    lines = "\n".join(f"    {line.lstrip()}" for line in body.replace(";", "\n").split("\n"))
    same(define(f"def f(a, n):\n{lines}\n"), np.array([4.0]), 5)


def paths(cost, n):
    heap, seen, found = [(0.0, (0, 0))], set(), []
    while heap:
        d, (x, y) = heapq.heappop(heap)
        if (x, y) in seen:
            continue
        seen.add((x, y))
        found.append((d, x, y))
        for dx, dy in ((0, 1), (1, 0)):
            if x + dx < n and y + dy < n:
                heapq.heappush(heap, (d + cost[x + dx, y + dy], (x + dx, y + dy)))
    return found


def test_a_heap_of_tuples_with_places_in_them_compiled():
    cost = np.random.RandomState(4).randint(1, 9, (7, 7)) / 4
    assert lw.kernel(paths)(cost, 7) == paths(cost, 7)


def test_tuples_of_other_forms_are_refused():
    for item in ("((1, 2), 3)", "(1, 2, 3)", "(1, 2)"):
        text = refusal(define(f"def f(n):\n    x = [(1, (2, n))]\n    x.append({item})\n    return x\n"), 5)
        assert "of one" in text
    array = define("def f(n):\n    x = []\n    x.append((1, (2, n)))\n    return np.array(x)\n")
    assert "tuples with tuples in them" in refusal(array, 5)
