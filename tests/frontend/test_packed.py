"""Lists and dicts as arguments: what they hold is read; elements of lists change, and all else is refused."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import loopwright as lw
from breadth.cases import differences, outcome, same_error

A = np.array([1.0, 2.0, 4.0])


def numbers(x):
    total = 0
    for v in x:
        total += v
    return total, len(x), x[-1], sum(x), [v * 2 for v in x], np.array(x), x


def letters(x, place):
    total = 0
    for v in x:
        total = total * 3 + v
    for k in range(len(x)):
        total += x[k]
    return total, x[place], 98 in x


def test_bytes_hold_ints_of_python():
    kernel = lw.kernel(letters)
    for x, place in ((b"\xff\xfe\xfd" * 5, -1), (b"abc", 1)):
        assert kernel(x, place) == letters(x, place)
        assert type(kernel(x, place)[1]) is int
    for other in (b"", b"abc"):
        with pytest.raises(IndexError):
            kernel(other, 3)


def arrays(x):
    total = 0.0
    for k, row in enumerate(x):
        total += row.sum() * k
        for j in range(len(row)):
            total += x[k][j] * j
    return total, x[1][:2] * 2, np.concatenate(x), x


def images(x):
    total = np.zeros(x[0].shape)
    for one in x:
        total += one
    return total, x[1].shape, x[0][1, 0]


def graph(neighbours, start):
    seen = [start]
    for u in seen.copy():
        for v in neighbours[u]:
            if v not in seen:
                seen.append(v)
    return seen, len(neighbours[start]), neighbours


def pairs(x):
    total = 0.0
    for a, b in x:
        total += a * b
    return total, x[1], x[0][1]


def table(d, k):
    total = 0.0
    while k in d:
        total += d[k]
        k += 1
    for key, value in d.items():
        total += key * value
    return total, len(d), d.get(99, -1.0)


def texts(d, x):
    total = d["w"] * x.mean() + d.get("q", 2.0) + len(d)
    if d["mode"] == "mean" and "w" in d and "v" not in d:
        total += 100.0
    for key in d:
        if key == "w":
            total += 1000.0
    return total


def literal(x, n):
    d = {"a": n * 2, "b": x[0]}
    n = 7
    total = 0.0
    for value in d.values():
        total += value
    return total, d["a"], n


def reached(graph, start):
    seen = [start]
    for u in seen:
        for v in graph[u]:
            if v not in seen:
                seen.append(v)
    turned = {}
    for u, following in graph.items():
        for v in following:
            turned.setdefault(v, []).append(u)
    own = {u: following[:] for u, following in graph.items()}
    own[start].append(7)
    return seen, turned, own, len(graph), 3 in graph, graph


def by_pairs(d):
    return d[1, 2] + d[3, 4], [a + b for a, b in d]


def of_arrays(d):
    return d[1].sum() + d[2][0], [len(x) for x in d.values()]


def of_tuples(d):
    return d[1][1], d[2], max(d)


GRAPH = {0: [1, 2], 1: [2], 2: [], 3: [0, 1]}


@pytest.mark.parametrize(
    "function, arguments",
    [
        (reached, (GRAPH, 0)),
        (by_pairs, ({(1, 2): 5, (3, 4): 6},)),
        (of_arrays, ({1: A, 2: A[:2]},)),
        (of_tuples, ({1: (2, 3.5), 2: (4, 5.5)},)),
        (numbers, ([1, 2, 3],)),
        (numbers, ([1.0, 2.5],)),
        (numbers, ([np.float32(1), np.float32(2)],)),
        (numbers, ([True, False],)),
        (numbers, ([2**61, -1],)),
        (arrays, ([A, A[:2], A * 2],)),
        (arrays, ([A[::2], A[::-1]],)),
        (arrays, ([A[:0], A],)),
        (arrays, ([A.astype(np.float32), A.astype(np.float32)],)),
        (images, ([np.ones((2, 3)), np.arange(6.0).reshape(3, 2).T],)),
        (graph, ([[1, 2], [0], [], [5, 1]], 0)),
        (pairs, ([(1, 2.0), (3, 4.0)],)),
        (table, ({1: 0.5, 2: 0.25, 7: 3.0}, 1)),
        (texts, ({"mode": "mean", "w": 2.5}, A)),
        (texts, ({"mode": "sum", "w": 2}, A)),
        (literal, (A, 3)),
    ],
)
def test_as_cpython(function, arguments):
    expected = outcome(function, copy.deepcopy(arguments))
    actual = outcome(lw.kernel(function), copy.deepcopy(arguments))
    assert same_error(expected.error, actual.error)
    assert differences(expected.result, actual.result) == []


def grows(x):
    x.append(1)


def changes_inside(x):
    row = x[0]
    row[0] = 3.0


def grows_inside(x):
    x[0].append(3)


def puts(x):
    x[1] = 2.0


def gets_another(x):
    x[1] = [3, 4]


def gets_a_float(x):
    x[0] = 0.1


def inside_of_a_dict(d):
    for values in d.values():
        values[0] = 5


def sorted_in_a_dict(d):
    d[1].sort()


def shared_with_a_dict(d):
    own = {}
    for key in d:
        own[key] = d[key]
    own[1].append(4)
    return own


def gets_a_truth(x):
    x[0] = x[1] > 0


@pytest.mark.parametrize(
    "function, given",
    [
        (gets_a_truth, [1, 2]),
        (gets_a_truth, [1.5, 2.0]),
        (changes_inside, [A]),
        (grows_inside, [[1], [2]]),
        (gets_another, [[1], [2]]),
        (gets_a_float, [1, 2]),
        (gets_a_float, [[1, 2]]),
        (gets_a_float, [1, 2.5]),
        (gets_a_float, [np.float32(1), np.float32(2)]),
        (inside_of_a_dict, {1: [2, 3]}),
        (inside_of_a_dict, {1: A}),
        (sorted_in_a_dict, {1: [2, 3]}),
        (shared_with_a_dict, {1: [2, 3]}),
        (grows, b"ab"),
        (gets_a_float, b"ab"),
        (puts, {1: [3.0]}),
    ],
)
def test_what_would_change_them_is_refused(function, given):
    with pytest.raises(lw.KernelError):
        lw.kernel(function)(given)


def sorts(x):
    x.sort()
    x.reverse()


def swaps(x, k):
    x[k], x[0] = x[0], x[k]
    return x[0] > x[1]


def doubled(rows, factor):
    for row in rows:
        for j in range(len(row)):
            row[j] *= factor
    return sum(rows[0])


def turned(rows):
    rows.reverse()
    for i in range(len(rows)):
        for j in range(i):
            rows[i][j], rows[j][i] = rows[j][i], rows[i][j]


def negated(x, k):
    x[k] = -x[k]


def in_a_helper(x, a):
    for k in range(len(x)):
        negated(x, k)
        x[k] += float(a[k])
    return np.array(x), sum(x)


def until_it_fails(x, k):
    x[0] = 5
    if x[1] > 1:
        raise ValueError("above one")
    x[1] = 6
    x[k] = 7


def under_another_name(x):
    y = x
    y[0] = 3
    z = x[:]
    z[1] = 4
    return x[0], z


def in_others(pair, named):
    a, b = pair
    a[0] = b[1]
    named["n"][1] = a[0]


def numpys(x, a, b):
    x[0] = a[0]  # from here on its numbers are NumPy's
    return x[0] * b[0]


def copied(rows):
    kept = [row[:] for row in rows]
    both = []
    for row in kept:
        both.append(row)
    rows[0][0] = 7
    return kept, both


ROW = [1, 2]


@pytest.mark.parametrize(
    "function, given",
    [
        (sorts, ([3, 1, 2],)),
        (sorts, ([2.5, 1.0],)),
        (sorts, ([(2, 1.5), (1, 3.5), (1, 0.5)],)),
        (sorts, ([True, False, True],)),
        (swaps, ([1, 2, 3], 2)),
        (swaps, ([(1, 2.0), (2, 0.5)], 1)),
        (swaps, ([np.float32(1), np.float32(2)], -1)),
        (doubled, ([[1, 2], [3], []], 2)),
        (doubled, ([[1.0, 2.0], [3.0]], 0.5)),
        (doubled, ([ROW, [3, 4], ROW], 3)),
        (turned, ([[1, 2, 3], [4, 5, 6], [7, 8, 9]],)),
        (in_a_helper, ([1.0, 2.0, 4.0], A)),
        (copied, ([[1, 2], [3]],)),
        (until_it_fails, ([1, 2], 0)),
        (until_it_fails, ([1, 1], 9)),
        (until_it_fails, ([1, 1], 1)),
        (under_another_name, ([1, 2],)),
        (in_others, (([1, 2], [3, 4]), {"n": [5, 6]})),
    ],
)
@pytest.mark.parametrize("device", ["cpu", "emulated", "interpreter"])
def test_what_a_call_changes_in_lists_shows_in_them(function, given, device):
    """The lists are the same objects afterwards, also those in a list."""
    expected, actual = copy.deepcopy(given), copy.deepcopy(given)
    rows = list(actual[0]) if isinstance(actual[0][0], list) else []
    of_python = [id(one) for one in expected[0]], outcome(function, expected)
    with lw.options(device=device):
        of_kernel = outcome(lw.kernel(function), actual)
    assert same_error(of_python[1].error, of_kernel.error)
    assert differences(of_python[1].result, of_kernel.result) == []
    assert differences(expected, actual) == []
    if rows:
        places = [of_python[0].index(id(one)) for one in expected[0]] if function is turned else range(len(rows))
        assert [id(one) for one in actual[0]] == [id(rows[place]) for place in places]


def test_a_number_of_numpy_in_a_list_counts_as_one():
    """float32 * a float of Python would be float32."""
    a, b = np.array([0.1]), np.array([0.3], np.float32)
    assert lw.kernel(numpys)([1.0, 2.0], a, b) == numpys([1.0, 2.0], a, b)
    assert lw.kernel(numpys)([[1.0], [2.0]][0], a, b).dtype == np.float64


def adds(x, y):
    x[0] = y[1] + 1


def test_a_list_that_is_changed_is_given_once():
    same, inner = [1, 2], [[1, 2]]
    for x, y in ((same, same), (same, [same]), (inner[0], inner)):
        with pytest.raises(lw.ArgumentValueError, match="this list is changed, and given twice"):
            lw.kernel(adds)(x, y)
    assert (same, inner) == ([1, 2], [[1, 2]])
    lw.kernel(adds)(same, list(same))
    assert same == [3, 2]


def first_after(rows, a):
    a[0] = 5.0
    return rows[0][0]


def test_an_array_of_a_list_that_is_written_under_another_name_is_refused():
    a = A.copy()
    with pytest.raises(lw.ArgumentValueError, match="also one that is written"):
        lw.kernel(first_after)([a, a], a)
    assert lw.kernel(first_after)([a, a], a.copy()) == 1.0


@pytest.mark.parametrize("given", [[A, A.astype(np.float32)], [A, A.reshape(1, 3)], [object()], {1: 2, 3: 0.5}])
def test_what_is_of_several_kinds_is_no_argument(given):
    with pytest.raises((lw.ArgumentTypeError, lw.KernelError)):
        lw.kernel(numbers)(given)


def of_a_range(r, a):
    total = a[0]
    for k in r:
        total += a[k] * k
    return total, len(r)


def mixed(x):
    total = 0.0
    for v in x:
        total += v
    return total, x[0], len(x), x


def of_pairs(pairs, a):
    total = 0.0
    for weight, b in pairs:
        total += weight * b.sum()
        b[0] = 7.0
    return total, len(pairs), a[0]


def zipped(a, b):
    def from_there_on(k):
        return zip(a[k:], b[k:])  # noqa: B905

    total = 0.0
    for k in range(2):
        for x, y in from_there_on(k):
            total += x * y
    return total


@pytest.mark.parametrize("function, arguments", [
    (of_a_range, (range(3), A)), (of_a_range, (range(2, -1, -1), A)), (of_a_range, (range(0), A)),
    (of_pairs, ([(3, A + 1), (4.5, A * 2)], A)), (mixed, ([1, 2.5, True],)), (zipped, (A, A + 1)),
])  # fmt: skip
def test_ranges_short_lists_of_anything_and_zips(function, arguments):
    test_as_cpython(function, arguments)


def named_zip(a, b):
    def both():
        return zip(a, b)  # noqa: B905

    pairs = both()
    return sum([x * y for x, y in pairs])


def test_a_zip_that_could_be_gone_over_twice_is_refused():
    with pytest.raises(lw.KernelError, match="a zip cannot be assigned to a name"):
        lw.kernel(named_zip)(A, A)


def count(x):
    return len(x)


@pytest.mark.parametrize("given", [[1, 2**63], [[1], [2**63]], {0: 2**63}])
def test_a_python_int_that_64_bits_do_not_hold_is_named(given):
    with pytest.raises(OverflowError, match="the Python int 9223372036854775808 does not fit int64"):
        lw.kernel(count)(given)


def gone_over(x):
    out = []
    for v in x:
        out.append(v * 2)
    return out, sorted(x), [v + 1 for v in x], x, sum(x), max(x, default=3), not x


def inner(x):
    n = 0
    for row in x:
        for v in row:
            n += v
    return n, len(x)


def looked_up(d, k):
    return d.get(k, 0), k in d, len(d), [x * 2 for x in d]


def neighbours(graph):
    order = []
    for u in graph:
        for v in graph[u]:
            order.append(v)
    return order


@pytest.mark.parametrize(
    "function, given",
    [(gone_over, ([],)), (inner, ([[], []],)), (inner, ([[1], []],)), (looked_up, ({}, 3)),
     (neighbours, ({1: [], 2: []},)), (neighbours, ({1: [2], 2: []},))],
)  # fmt: skip
@pytest.mark.parametrize("device", ["cpu", "emulated", "interpreter"])
def test_without_elements(function, given, device):
    with lw.options(device=device):
        ours = outcome(lw.kernel(function), given)
    assert ours.error is None and differences(outcome(function, given).result, ours.result) == []


def test_the_first_element_of_none():
    with pytest.raises(IndexError):
        lw.kernel(first_of)([])
    with pytest.raises(ValueError):
        lw.kernel(largest_of)([])


def first_of(x):
    return x[0]


def largest_of(x):
    return max(x)


def compared(x, y):
    return x == y, x != y, x == [], x == (1, 2), (x == y) + 1


def compared_as_they_grow(n):
    x, y = [], []
    for i in range(n):
        x.append(i)
        y.append(i * 2)
        if x == y:
            x.append(5)
    return x, y, x == y, x == [0, 5, 1, 2], [0, n] == x[:2]


@pytest.mark.parametrize(
    "function, given",
    [(compared, ([1, 2], [1, 2])), (compared, ([1, 2], [1.0, 2.5])), (compared, ([1, 2, 3], [1, 2])),
     (compared, ([], [1])), (compared, ([], [])), (compared, ([np.nan], [0.0 * np.inf])), (compared, ([True], [1])),
     (compared, ([(1, 2.0)], [(1, 2.0)])), (compared, ([(1, 2.0)], [(1, 2.5)])),
     (compared_as_they_grow, (1,)), (compared_as_they_grow, (3,)), (compared_as_they_grow, (5,))],
)  # fmt: skip
@pytest.mark.parametrize("device", ["cpu", "emulated", "interpreter"])
def test_lists_are_compared(function, given, device):
    with lw.options(device=device):
        ours = outcome(lw.kernel(function), given)
    assert ours.error is None and differences(outcome(function, given).result, ours.result) == []


def test_lists_of_lists_are_not_compared():
    with pytest.raises(lw.KernelError, match="not compared here"):
        lw.kernel(compared)([[1]], [[1]])


def weighed(values, rows, names, scale):
    total = 0.0
    for k, row in enumerate(rows):
        total += values[k] * row.sum() * scale
    return total + names[1], len(values), len(rows)


def written_beside(out, rows):
    for k in range(len(out)):
        out[k] = rows[k % len(rows)][0] + 1


def first_changed(values, x):
    values[0] = x
    return values[0] + values[1]


@pytest.mark.parametrize("options", [{}, {"strict": True}])
def test_repeated_calls_with_lists_need_no_python(options, monkeypatch):
    kernel = lw.kernel(weighed) if not options else lw.kernel(**options)(weighed)
    given = [1.0, 2.0], [np.arange(3.0), np.arange(4.0)], {1: 2.5}
    for _ in range(2):
        assert kernel(*given, 2) == weighed(*given, 2)
    monkeypatch.setattr(type(kernel), "_call_by_structure", None)
    monkeypatch.setattr(type(kernel), "_by_structure", None)
    other = [3.0], [np.arange(5.0)], {2: 1.0, 1: 0.5}
    assert kernel(*other, 2) == weighed(*other, 2)


def test_repeated_calls_with_lists_of_arrays_beside_what_is_written_need_no_python(monkeypatch):
    kernel, x = lw.kernel(written_beside), np.zeros(3)
    kernel(x, [np.ones(2), np.ones(1)])
    monkeypatch.setattr(type(kernel), "_by_structure", None)
    kernel(x, [np.ones(4)[::2], np.full(1, 5.0)])
    assert x.tolist() == [2.0, 6.0, 2.0]


def test_lists_beside_what_is_written():
    """Each call is looked at: an array in the list may be the one that is written, and a list may be changed."""
    kernel, x = lw.kernel(written_beside), np.zeros(3)
    for _ in range(3):
        kernel(x, [np.ones(2), np.full(1, 5.0)])
        assert x.tolist() == [2.0, 6.0, 2.0]
        with pytest.raises(lw.ArgumentValueError, match="is also one that is written"):
            kernel(x, [np.ones(2), x])
    changing = lw.kernel(first_changed)
    for k in range(3):
        values = [7, 8]
        assert changing(values, k) == k + 8 and values == [k, 8]
