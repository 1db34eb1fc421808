"""Names, views and effects: what shares memory with what, and what is computed when."""

from __future__ import annotations

import numpy as np

from breadth.cases import case


def _floats():
    return np.array([0.5, 1.5, 2.5, -2.5, 3.7, -0.2])


def _grid():
    return np.arange(12.0).reshape(3, 4) - 5


def _integers():
    return np.array([3, -7, 3, -3, 0, 12])


def bump(x, k):
    x[0] += k
    return x[0]


def use_first(e, a):
    a[0] = 100.0
    return e[0] + e.sum()


def two(e):
    e = e * 2
    return e


def shift(x):
    x[:] = x[::-1].copy()
    return x


def row_of(a, i):
    return a[i, :]


def stats(a):
    return a.mean(), a.std()


def both(a):
    lo = a[:2]
    hi = a[2:]
    return lo, hi


def scale(v, s=2.0):
    out = np.empty_like(v)
    for i in range(v.size):
        out[i] = v[i] * s
    return out


def fill(x, v):
    for i in range(x.size):
        x[i] += v


def firstrow(a):
    for i in range(3):
        if a[i, 0] > -3:
            return a[i]
    raise ValueError("none")


def firstval(a):
    for i in range(3):
        if a[i, 0] > -3:
            return a[i, 1]
    raise ValueError("none")


def made_in_loop(a):
    for i in range(3):
        x = np.zeros(4)
        x[i] = a[i, 0]
        if a[i, 0] > -3:
            return x
    raise ValueError("none")


def made_in_if(a):
    if a[0, 0] < 0:
        x = a[0] * 2
        return x
    raise ValueError("none")


def made_sized(a):
    for i in range(1, 4):
        x = np.ones(i)
        if i == 2:
            return x
    raise ValueError("none")


def rows(a):
    for i in range(3):
        if a[i, 0] > -3:
            return a[i, i:], a[:, i], i
    raise ValueError("none")


@case(lambda rng: (_floats(),), "views and names")
def expression_given_to_a_writer(a):
    return use_first(a + 1, a)


@case(lambda rng: (_floats(),), "views and names")
def operands_with_effects(a):
    return bump(a, 1.0) + a[0] * bump(a, 2.0), a


@case(lambda rng: (_floats(),), "views and names")
def expression_in_a_tuple(a):
    e = (a + 1, a)
    a[0] = 50
    return e[0].sum(), e[1].sum()


@case(lambda rng: (_floats(),), "views and names")
def loop_over_an_expression(a):
    s = 0.0
    for x in a * 2:
        a[:] = 0
        s += x
    return s


@case(lambda rng: (_floats(),), "views and names")
def loop_over_a_written_array(a):
    s = 0.0
    for x in a:
        a[2] = 10.0
        s += x
    return s


@case(lambda rng: (_floats(),), "views and names")
def view_of_a_written_array(a):
    v = a[1:4]
    a[2] = 99
    w = v * 2
    v[0] = 7
    return v.sum(), w, a


@case(lambda rng: (_floats(),), "views and names")
def mask_of_a_negated_array(a):
    mask = a > 0
    a[:] = -a
    a[mask] = 1000
    return a, mask


@case(lambda rng: (_floats(),), "views and names")
def slice_with_a_moving_bound(a):
    i = 1
    v = a[i:]
    i = 3
    return v.sum(), a[i:].sum()


@case(lambda rng: (_floats(),), "views and names")
def name_of_a_view_assigned_again(a):
    x = a[:3]
    for k in range(3):
        x = x * 2
    return x, a


@case(lambda rng: (_floats(),), "views and names")
def alias_assigned_again(a):
    x = a
    for k in range(3):
        x = x + a[::-1]
    return x, a


@case(lambda rng: (_floats(),), "views and names")
def two_names_in_a_time_loop(a):
    x = np.zeros(6)
    for k in range(3):
        y = x + a
        x = y * 0.5
    return x, y


@case(lambda rng: (_floats(),), "views and names")
def old_and_new(a):
    x = a.copy()
    old = x.copy()
    n = 0
    while n < 4:
        old[:] = x
        x[1:-1] = (old[:-2] + old[2:]) / 2
        n += 1
    return x, np.abs(x - old).max()


@case(lambda rng: (_floats(),), "views and names")
def views_from_a_helper(a):
    lo, hi = both(a)
    lo[0] = 77
    hi[1] = lo[0]
    return lo.sum() + hi.sum()


@case(lambda rng: (_grid(),), "views and names")
def row_from_a_helper(a):
    r = row_of(a, 1)
    r[2] = 5
    r += 1
    s, d = stats(r)
    return s, d


@case(lambda rng: (_grid(),), "views and names")
def rows_given_to_a_helper(a):
    out = np.zeros((3, 4))
    for i in range(3):
        out[i] = scale(a[i]) + scale(a[i], 0.5)
    return out


@case(lambda rng: (_grid(),), "views and names")
def best_row(a):
    best = a[0]
    for i in range(3):
        if a[i].sum() > best.sum():
            best = a[i]
    return best.sum()


@case(lambda rng: (_grid(),), "views and names")
def row_replaced_at_times(a):
    x = np.zeros(4)
    for i in range(3):
        row = a[i]
        if i == 1:
            row = row * 2
        x += row
    return x


@case(lambda rng: (_floats(),), "views and names")
def helpers_in_helpers(a):
    return two(two(a))[1:] - two(a[1:]), shift(a).sum(), a[0]


@case(lambda rng: (_grid(),), "views and names")
def elimination(a):
    for i in range(1, 3):
        a[i] -= a[i, 0] / 2 * a[i - 1]
    return a


@case(lambda rng: (_grid(),), "views and names")
def jordan(a):
    for k in range(2):
        p = a[k, k]
        a[k] /= p
        for i in range(3):
            if i != k:
                a[i] -= a[i, k] * a[k]
    return a


@case(lambda rng: (_grid(),), "views and names")
def chained_targets(a):
    a[:, 0] = a[:, 1] = 3.0
    b = c = np.zeros(2)
    b[0] = 4
    return a, c


@case(lambda rng: (_grid(),), "views and names")
def shifted_onto_itself(a):
    a[1:, 1:] = a[:-1, :-1] + a[1:, 1:]
    a -= a.mean()
    a /= a[0, 0]
    return a


@case(lambda rng: (_integers(),), "views and names")
def masked_reversal(c):
    c[c > 0] = c[c > 0][::-1]
    c[np.where(c < 0)] *= 2
    return c


@case(lambda rng: (_floats(),), "views and names")
def name_of_another_size(a):
    n = len(a)
    a = a[a > 0]
    b = a[:2]
    return n, len(a), b.sum(), a.size


@case(lambda rng: (_grid(),), "views and names")
def rows_from_the_last(a):
    total = np.zeros(4)
    for r in a[::-1]:
        total = total * 0.5 + r
    return total


@case(lambda rng: (_grid(),), "views and names")
def columns_in_place(a):
    x, y = a[:, 0], a[:, 1]
    x += y
    y -= x
    return a


@case(lambda rng: (_grid(),), "views and names")
def fibonacci_of_rows(a):
    x, y = a[0].copy(), a[1].copy()
    for _ in range(3):
        x, y = y, x + y
    return x, y


@case(lambda rng: (_grid(),), "views and names")
def swap_with_a_break(a):
    u = a.copy()
    v = np.zeros_like(u)
    for n in range(5):
        v[1:-1, 1:-1] = u[1:-1, 1:-1] + u[2:, 1:-1]
        if n == 3:
            break
        u, v = v, u
    return u, v


@case(lambda rng: (_floats(),), "views and names")
def indices_in_tuple_targets(a):
    i = 0
    i, a[i] = 2, 9.0
    j = 0
    a[j], j = 4.0, 1
    a[1], a[2] = a[2], a[1]
    a[:2], a[2:4] = a[2:4], a[:2]
    return i, j, a


@case(lambda rng: (_floats(),), "views and names")
def views_of_views(a):
    x = y = a[0]
    x += 1
    b = a[1:]
    b = b[1:]
    b[0] = -1
    c = b
    c += 1
    return x, y, a


@case(lambda rng: (_floats(),), "views and names")
def closure_that_writes(a):
    def inner(k):
        a[k] = a[k] * 2
        return a[k]

    return inner(0) + inner(1) * inner(0), a


@case(lambda rng: (_floats(),), "views and names")
def slice_and_expression(a):
    a[:2], x = a[2:4] * 1, a[:2] + 1
    return x, a


@case(lambda rng: (_floats(),), "views and names")
def element_and_expressions(a):
    b = a.copy()
    b[0], c, d = 9.0, b * 2, (b + 1).sum()
    return b, c, d


@case(lambda rng: (_grid(),), "views and names")
def rows_and_expressions(a):
    b = np.zeros((3, 4))
    b[0], b[1] = a[0] + a[1], b[0] + 1
    a[0], a[1] = a[1] * 1, a[0] * 1
    return b, a


@case(lambda rng: (_grid(),), "views and names")
def three_names_in_turn(a):
    x, y, z = a[0], a[1], a[2]
    for _ in range(2):
        x, y, z = y + z, z + x, x + y
    return x, y, z


@case(lambda rng: (_floats(),), "views and names")
def both_from_the_old(a):
    x, v = a.copy(), np.zeros_like(a)
    dt = 0.1
    for _ in range(4):
        x, v = x + dt * v, v - dt * x
    return x, v


@case(lambda rng: (_floats(),), "views and names")
def reversed_view(a):
    x = a[::-1]
    a[0] = 3
    y = np.where(x > 0, x, 0)
    a[5] = 44
    return y, x.sum()


@case(lambda rng: (_grid(),), "views and names")
def centered(a):
    c = a.mean(axis=0)
    d = a - c
    a[:] = 0
    return d, c, d.T @ d


@case(lambda rng: (_grid(),), "views and names")
def reshape_then_write(a):
    r = a.reshape(4, 3)
    r2 = a.ravel()
    a[0, 0] = 500
    return r[0, 0], r2[0], r.sum(), r2.max()


@case(lambda rng: (_floats(),), "views and names")
def reshape_of_reshape(a):
    g = a.reshape(2, 3)
    g[1] += 10
    g[:, 0] *= 2
    h = g.reshape(-1)
    h[5] = 0
    for row in g:
        row[1] = 4
    g.T[2] = 8
    return g.sum(axis=0), g @ g.T, g[g > 3], np.sort(g)


@case(lambda rng: (_floats(),), "views and names")
def ravel_of_a_local(a):
    z = np.zeros((2, 6))
    f = z.ravel()
    for i in range(12):
        f[i] = i
    z2 = z.reshape(3, 4)
    z2[1, 1] = 100
    return z, z2


@case(lambda rng: (_floats(),), "views and names")
def arrays_as_given(a):
    b = np.ascontiguousarray(a)
    b[0] = 9
    c = np.asarray(a)
    c[1] = 8
    d = a.astype(np.float64)
    d[2] = 7
    e = np.array(a)
    e[3] = 6
    return a


@case(lambda rng: (_floats(),), "views and names")
def parts_given_to_a_writer(a):
    fill(a[1:3], 5.0)
    fill(a[::2], 1.0)
    fill(a.reshape(2, 3)[1], 2.5)
    return a


@case(lambda rng: (_grid(),), "views and names")
def columns_of_the_transposed(a):
    for col in a.T:
        col -= col.mean()
    fill(a.T[1], 2.0)
    fill(a.ravel(), 1.0)
    return a


@case(lambda rng: (_floats(),), "views and names")
def alias_or_double(a):
    out = a
    if a[0] > 0:
        out = a * 2
    return out.sum(), a


@case(lambda rng: (_floats(),), "views and names")
def history_in_a_list(a):
    hist = []
    x = a[0]
    for k in range(5):
        x = x * 0.5 + 1
        hist.append(x)
        if abs(x - 2) < 0.2:
            break
    return np.array(hist), len(hist), hist[-1]


@case(lambda rng: (_floats(),), "views and names")
def stack_of_ranges(a):
    st = [(0, len(a))]
    c = 0
    while len(st):
        lo, hi = st.pop()
        if hi - lo <= 1:
            continue
        c += 1
        mid = (lo + hi) // 2
        st.append((lo, mid))
        st.append((mid, hi))
    return c


@case(lambda rng: (_grid(),), "views and names")
def row_found_by_a_helper(a):
    r = firstrow(a)
    return r.sum(), firstval(a)


@case(lambda rng: (_grid(),), "views and names")
def written_row_found_by_a_helper(a):
    r = firstrow(a)
    r[0] = 50
    a += firstrow(a)
    return a


@case(lambda rng: (_floats(),), "views and names")
def sized_in_a_loop(a):
    for k in range(1, 4):
        y = np.zeros(k)
        y[k - 1] = a[k]
        z = y * 2
        a[0] += z[k - 1] + len(z)
    return a


@case(lambda rng: (_grid(),), "views and names")
def list_of_rows(a):
    rows = [a[0], a[2]]
    s = np.zeros(4)
    for r in rows:
        s += r
    return s


@case(lambda rng: (_floats(),), "views and names")
def square_of_computed_size(a):
    n = int(a[1]) + 2
    b = np.zeros((n, n))
    for i in range(n):
        b[i, i] = 1
    c = b @ b + b
    return c.sum(), np.trace(c), c[0, 0]


@case(lambda rng: (_grid(),), "views and names")
def names_of_transposed_views(a):
    b = a
    b = b.T
    b = b[1:]
    return b.sum(axis=1), b.shape


@case(lambda rng: (_grid(),), "views and names")
def made_in_a_loop_of_a_helper(a):
    r = made_in_loop(a)
    s = made_in_if(a)
    return r.sum(), s.sum(), r, s


@case(lambda rng: (_grid(),), "views and names")
def sized_in_a_loop_of_a_helper(a):
    x = made_sized(a)
    return x.sum()


@case(lambda rng: (_grid(),), "views and names")
def views_found_by_a_helper(a):
    x, y, k = rows(a)
    x += 1
    return y.sum(), k, x.sum()
