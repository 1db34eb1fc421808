"""Lists of numbers and of tuples: append, pop, an index, a loop; returned as lists."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, refusal, same, text_of

BODIES = [
    "x = []; x.append(1.0); x.append(float(a[0])); return x", "x = [1.5, 2.5]; x[0] = float(a[1]); return x",
    "x = [k * 2 for k in range(n)]; return x", "x = [float(v) for v in a]; x.append(3.0); return len(x), x",
    "x = [0.0]; x.append(a[0]); x.append(a[1]); return x.pop(), x[-1], len(x)",
    "x = [1, 2, 3]; return sum(x), max(x), min(x)", "x = [0.0] * n; x[n - 1] = float(a[0]); return x",
    "x = [1]; x.append(n); return np.array(x)", "x = [1.0]; x.extend([2.0, float(a[0])]); return x",
    "x = [(1, 2.0)]; x.append((n, a[0])); i, v = x[-1]; return i, v, len(x)",
    "x = [1.0, 2.0, 3.0]; y = x[1:]; x[1] = 9.0; y2 = y[0]; return y2, x[1], len(y)",
    "x = [0, 1]; x[0] += n; i, j = x; x[1] = 9; return i, j, x", "x = [k for k in range(n)]; i, j = x; return i + j",
    "x = [[1.0, 2.0], [n, a[0]]]; u, v = x; i, j = v; return u[1] * i + j",
    "x = [(v, n) for v in a]; (i, j), k = x; return i, j, k", "x = [1, n]; x[0], x[1] = x; x[1], x[0] = x; return x",
]  # fmt: skip


@pytest.mark.parametrize("body", BODIES)
def test_small_programs(body):
    lines = "\n".join(f"    {line.strip()}" for line in body.split(";"))
    same(define(f"def f(a, n):\n{lines}\n"), np.array([4.0, 0.5]), 3)


def stack(a):
    todo = [(0, len(a))]
    total = 0.0
    while todo:
        low, high = todo.pop()
        if high - low <= 1:
            for i in range(low, high):
                total += a[i] * i
            continue
        middle = (low + high) // 2
        todo.append((low, middle))
        todo.append((middle, high))
    return total


def chosen(a, limit):
    places = []
    for i in range(len(a)):
        if a[i] > limit:
            places.append(i)
    for k in range(len(places)):
        a[places[k]] = -k
    total = 0
    for place in places:
        total += place
    return total, len(places)


@pytest.mark.parametrize("size", [1, 2, 9])
def test_loops(size):
    same(stack, np.arange(1.0, size + 1.0))
    for limit in (-1.0, 2.0, 99.0):
        same(chosen, np.arange(float(size)), limit)


@pytest.mark.parametrize("body", ["x.pop()", "x[3] = 1.0", "y = x[2]", "y = x[-3]"])
def test_out_of_range(body):
    function = define(
        f"def f(a):\n    x = [a[0]]\n    x.append(a[1])\n    {body}\n    x.pop()\n    x.pop()\n    return len(x)\n"
    )
    same(function, np.arange(2.0))


def test_refused():
    assert "KernelError" in refusal(define("def f(a):\n    x = []\n    x.append(None)\n    return x\n"), np.zeros(2))


def breadth_first(linked, start):
    level = np.full(len(linked), -1, np.int64)
    level[start] = 0
    waiting = [start]
    for u in waiting:
        for v in range(len(linked)):
            if linked[u, v] and level[v] < 0:
                level[v] = level[u] + 1
                waiting.append(v)
    return level, waiting


def shrinks_and_grows(n):
    x = list(range(n))
    out = []
    for k, v in enumerate(x):
        if v % 3 == 0:
            x.pop()
            continue
        if len(x) > 40 or k > 30:
            break
        out.append(k * v)
        if v % 2:
            x.append(v // 2)
    else:
        out.append(-5)
    return out, x


def of_pairs(n):
    pairs = [(0, n)]
    total = 0
    for low, high in pairs:
        total += high - low
        if high - low > 2:
            middle = (low + high) // 2
            pairs.append((low, middle))
            pairs.append((middle, high))
    return total, pairs


def of_lists(n):
    x = [[1], [2, 3]]
    for row in x:
        if len(x) < n:
            x.append([row[0] + 1, len(row)])
    return x


def under_another_name(n):
    x = [1]
    y = x
    for v in y:
        if len(x) < n:
            x.append(v + 1)
    return x


def one_loop_in_another(n):
    x = [1, 2, 3, 4]
    s = 0
    for v in x:
        for w in x:
            s += v * w
            if len(x) < n:
                x.append(w)
    for v in x:
        x.remove(v)
    return s, x


def test_a_loop_over_a_list_that_it_changes_goes_on_with_what_is_added():
    linked = np.random.default_rng(0).random((8, 8)) < 0.3
    same(breadth_first, linked, 0)
    same(breadth_first, np.zeros((3, 3), np.bool_), 1)
    for n in (0, 1, 5, 10, 16):
        for function in (shrinks_and_grows, of_pairs, of_lists, under_another_name, one_loop_in_another):
            same(function, n)


def test_a_list_that_grows_while_something_else_goes_over_it_is_refused():
    grows = "def more(x, v):\n    if len(x) < 6:\n        x.append(v)\n    return 2 * v\n"
    for made in (
        "[more(x, v) for v in x]",
        "np.array([more(x, v) for v in x])",
        "sum(more(x, v) for v in x)",
        "[more(x, v) + w for v in x for w in range(n)]",
        "list(map(lambda v: more(x, v), x))",
    ):
        text = f"{grows}def f(n):\n    x = [0]\n    x.append(n)\n    y = {made}\n    return y\n"
        assert "'x' changes its length while a loop goes over it" in refusal(define(text), 3), made
    for over in ("reversed(x)", "zip(x, x)"):
        text = f"def f(n):\n    x = [n]\n    for v in {over}:\n        x.append(1)\n    return x\n"
        assert "'x' changes its length while a loop goes over it" in refusal(define(text), 3), over


def peaks(x, apart):
    found = []
    for i in range(1, len(x) - 1):
        if x[i] > x[i - 1] and x[i] >= x[i + 1]:
            if found and i - found[-1] < apart:
                if x[i] > x[found[-1]]:
                    found[-1] = i
            else:
                found.append(i)
    return found


def test_a_test_of_elements_that_its_branches_append():
    same(peaks, np.array([0.0, 3.0, 1.0, 4.0, 2.0, 5.0, 0.0, 0.0, 2.0, 0.0]), 3)


def clipped_by_edges(points, edges):
    out = [(p[0], p[1]) for p in points]
    for e in range(len(edges)):
        given = out
        out = [(0.0, 0.0) for _ in range(0)]
        for i in range(len(given)):
            x, y = given[i - 1]
            if x + y > edges[e]:
                out.append((x * 0.5, y))
            out.append(given[i])
    return out


def layer_by_layer(n, start):
    layer, seen = [start], 0
    while len(layer) > 0:
        last = layer
        layer = []
        for p in last:
            seen += p
            for q in (2 * p + 1, 2 * p + 2):
                if q < n:
                    layer.append(q)
    return seen, layer


def old_and_new(n, start):
    now, total = [start, 1], 0
    for k in range(n):
        old = now
        total += len(old)
        now = [k]
        for q in old:
            now.append(q * k)
        old.append(3)
        total += old[-1] + now[-1]
    return total, now


def test_another_name_for_a_list_whose_own_name_gets_a_new_one():
    points = np.array([[0.5, 1.0], [2.0, -1.0], [0.0, 0.0]])
    for edges in (np.array([0.0, 1.0, 0.5]), np.zeros(0)):
        same(clipped_by_edges, points, edges)
    same(clipped_by_edges, points[:0], np.zeros(2))
    for function in (layer_by_layer, old_and_new):
        for n in (0, 1, 6):
            same(function, n, 0)


SEEN = ["now.append(k)", "last.append(k)", "now[0] = k", "now.pop()", "now += [k]", "heappush(now, k)"]


@pytest.mark.parametrize("change", SEEN)
def test_another_name_for_a_list_that_would_be_told_from_a_copy(change):
    function = define(f"""
        def f(n):
            now, total = [5, 1], 0
            for k in range(n):
                last = now
                {change}
                total += len(last) + last[0] + len(now)
                now = [k, 2]
            return total
        """, f"seen{SEEN.index(change)}.py", heappush=heappush)  # fmt: skip
    with pytest.raises(lw.KernelError, match="another name for a list that is assigned again"):
        lw.kernel(function)(3)


SLICES = [
    "q = [(0.0, 0)][:0]; heappush(q, (a[1], 1)); heappush(q, (a[0], 0)); return heappop(q), len(q)",
    "q = [(0.0, 0)]; q = q[1:]; q.append((a[0], n)); return q", "q = [1, 2, 3]; r = q[1:]; r += [n]; return q, r",
    "q = [1, 2, 3][:2]; q.append(n); return q", "q = [1, 2]; r = q[:]; added(r, n); return q, r",
    "q = [n, 2, 3]; r = q[1:]; q.append(7); return q, r", "q = [1, 2, 3, n]; r = q[::2]; del r[0]; return q, r",
]  # fmt: skip


def added(x, n):
    x.append(n)


@pytest.mark.parametrize("body", SLICES)
def test_parts_of_lists_that_get_another_length(body):
    lines = "\n".join(f"    {line.strip()}" for line in body.split(";"))
    text = f"def f(a, n):\n{lines}\n"
    function = define(text, f"slice{SLICES.index(body)}.py", heappush=heappush, heappop=heappop, added=added)
    same(function, np.array([4.0, 0.5]), 3)


def test_what_to_put_into_a_list_instead():
    none = "def f(n):\n    x = [None]\n    x.append(n)\n    return len(x)\n"
    assert "begin with []" in refusal(define(none), 3)
    nested = "def f(n):\n    x = []\n    x.append(((n, np.ones(n)), 2))\n    return len(x)\n"
    assert "put numbers into the inner tuple" in refusal(define(nested), 3)


KEEPS = """
def f(a, n):
    total = 0.0
    for i in range(n):
        count = [0] * 4
        two = [1.5, 2.5]
        for v in a:
            count[int(v) % 4] += 1
            count[-1] += i
        two[i % 2] += 1
        for x in count:
            total += x
        total += len(count) + max(two)
    return total
"""


@pytest.mark.parametrize(
    ("change", "keeps"),
    [
        ("count[-1] += i|count[-1] += i", True),
        ("[0] * 4|[0] * n", True),
        ("count[-1] += i|count.append(i)", False),
        ("count[-1] += i|other = count; other.append(i)", False),
        ("[0] * 4|[0] * 4; count = [1, 2, 3, 4, 5]", False),
    ],
)
def test_a_list_that_keeps_its_length_has_no_more_room(change, keeps):
    function = define(KEEPS.replace(*change.split("|")))
    a = np.arange(10.0)
    for n in (0, 1, 5):
        if "* n" not in change or n > 4:
            same(function, a, n)
    assert ("[134217728]" not in text_of(function, a, 5)) is keeps


def test_a_function_inside_changes_a_list_of_the_one_around_it():
    text = """
    def f(a):
        count = [0, 0, 0]
        def bump(k):
            count[k] += 1
        def other(count):
            return count[0]
        for i in range(a.size):
            bump(int(a[i]) % 3)
        return count[0], count[1], count[2], other((7, 8))
    """
    same(define(text), np.arange(7.0))


def downwards(a, n):
    x = [a[k] for k in range(n)]
    for i in range(1, len(x)):
        for j in range(i, 0, -1):
            if x[j - 1] > x[j]:
                x[j - 1], x[j] = x[j], x[j - 1]
    total = 0.0
    for k in range(len(x) - 1, -1, -1):
        total = total / 2 + x[k]
    for k in range(len(x) - 1, -3, -2):
        total += x[k]
    return x, total


def test_indices_of_loops_that_go_down_are_no_negative_ones():
    given = np.array([3.0, 1.0, 2.0, 5.0, 4.0]), 5
    same(downwards, *given)
    text = text_of(downwards, *given)
    assert text.count("if k < 0") + text.count("if j - 1 < 0") + text.count("if j < 0") == 0
    assert text.count("if k.2 < 0") == 1  # the last loop goes on to -2
