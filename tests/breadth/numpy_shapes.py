"""What NumPy's operations mean: parts, joined arrays, options; and jumps out of loops."""

from __future__ import annotations

import numpy as np

from breadth.cases import case


def _floats():
    return np.array([0.5, 1.5, 2.5, -2.5, 3.7, -0.2])


def _grid():
    return np.arange(12.0).reshape(3, 4) - 5


def _integers():
    return np.array([3, -7, 3, -3, 0, 12])


def _singles():
    return np.array([1.5, 2.5, -0.5, np.nan, 3], dtype=np.float32)


def _small():
    return np.array([100, -100, 27, -128, 5], dtype=np.int8)


def d_helper(a):
    for x in a:
        if x > 3:
            break
    else:
        return 0.0
    return x


@case(lambda rng: (_floats(),), "NumPy's meaning")
def division_by_zero(a):
    return (
        1 / a[:0],
        1.0 / np.array([0.0, 2.0]),
        np.array([1, 0]) // np.array([0, 1]),
        np.array([1, 5]) % np.array([0, 3]),
    )


@case(lambda rng: (_small(),), "NumPy's meaning")
def mixed_with_bytes(a):
    return a + np.int8(100), a + 1, a * np.int16(3), a + np.float32(1), np.int8(100) + np.int8(27), a - a.mean()


@case(lambda rng: (_floats(),), "NumPy's meaning")
def raised_with_text(a):
    for i in range(len(a)):
        if a[i] > 3:
            raise ValueError(f"bad value at {i}")
    return 1


@case(lambda rng: (_floats(),), "NumPy's meaning")
def asserted(a):
    assert a.min() > 0, "negative"
    return 1


@case(lambda rng: (_floats(),), "NumPy's meaning")
def index_error(a):
    return a[7]


@case(lambda rng: (_grid(),), "NumPy's meaning")
def index_error_of_two(a):
    return a[1, 5]


@case(lambda rng: (_grid(), _floats()), "NumPy's meaning")
def broadcast_error(a, c):
    return a + c


@case(lambda rng: (_floats(),), "NumPy's meaning")
def places_of_extremes(a):
    k = a.argmax()
    return k, a[k], a.argmin(), a[a.argmin()], np.argmax(a > 0), np.isin(a, a[:2])


@case(lambda rng: (_grid(),), "NumPy's meaning")
def attributes_of_arrays(a):
    return (
        a.shape,
        a.size,
        a.ndim,
        len(a),
        a.T.shape,
        a[0].shape,
        a.sum(axis=0, keepdims=True),
        a.max(axis=1, keepdims=True).shape,
    )


@case(lambda rng: (_floats(),), "NumPy's meaning")
def predicates(a):
    return (
        np.all(a > -10),
        np.any(np.isnan(a)),
        (a == a).all(),
        np.allclose(a, a + 1e-12),
        np.array_equal(a, a),
        np.isfinite(a).all(),
    )


@case(lambda rng: (_grid(),), "NumPy's meaning")
def broadcast_means(a):
    return (
        a.mean(axis=0) @ a.T,
        (a - a.mean(axis=0)) ** 2,
        ((a - a.mean(axis=1)[:, None]) ** 2).sum(axis=1),
        a / np.linalg.norm(a, axis=1)[:, None],
    )


@case(lambda rng: (_floats(),), "NumPy's meaning")
def augmented_views(a):
    x = a[0]
    x += 1
    y = a[1:3]
    y += 1
    z = a[3:]
    z = z + 1
    return a, z


@case(lambda rng: (_integers(),), "NumPy's meaning")
def integers_of_loops(a):
    n = 0
    for v in a:
        if v % 2:
            continue
        n |= v
        n ^= 3
    return n, a[0] ** 2, a[1] ** 3, 2 ** a[2], a[0] // a[1], a[0] % a[1], divmod(a[0], a[2])


@case(lambda rng: (_grid(),), "NumPy's meaning")
def along_axes(a):
    return (
        np.median(a, axis=0),
        np.median(a, axis=1),
        np.cumsum(a, axis=0),
        np.cumsum(a, axis=1),
        np.diff(a, axis=0).copy(),
        np.argsort(a, axis=1),
        np.argsort(-a, axis=0),
        np.median(a),
    )


@case(lambda rng: (_integers(),), "NumPy's meaning")
def sorting_with_options(a):
    return np.argsort(a, kind="mergesort"), np.argsort(-a), a.argsort(), np.isin(a, a[:2]), np.argwhere(a > 0)


@case(lambda rng: (_floats(),), "NumPy's meaning")
def histograms(a):
    return (
        np.histogram(a, bins=4),
        np.histogram(a, 5, (0.0, 2.0)),
        np.histogram(a, bins=np.array([-1.0, 0.0, 2.0, 5.0]))[0],
    )


@case(lambda rng: (_grid(),), "NumPy's meaning")
def masks_beside_slices(a):
    return a[:, a[0] > -4], a[1, a[1] > 0], a[a[:, 0] > -2, 1], a[a[:, 0] > -2, 1:3]


@case(lambda rng: (_grid(),), "NumPy's meaning")
def assigned_masks_beside_slices(a):
    a[:, a[0] > -4] = 0
    a[0, a[0] < 0] += 1
    return a


@case(lambda rng: (_floats(),), "NumPy's meaning")
def like_views(a):
    return np.zeros_like(a[1:]), np.empty_like(a[::2]).shape, np.ones_like(a[1:3] * 2), np.full_like(a.T, 3)


@case(lambda rng: (_singles(),), "NumPy's meaning")
def without_nan(a):
    return np.nanvar(a), np.nanstd(a), np.nanmedian(a), np.nanmean(a), np.nansum(a), np.nanmax(a)


@case(lambda rng: (_floats(),), "NumPy's meaning")
def copies_of_slices(a):
    x = (
        a[::-1].copy(),
        a[4:1:-1].copy(),
        a[-3:].copy(),
        a[:-2].copy(),
        a[10:].copy(),
        a[1:100:2].copy(),
        a[::-2].copy(),
        a[-100:2].copy(),
    )
    return x


@case(lambda rng: (_grid(),), "NumPy's meaning")
def parts(a):
    return (
        a[1].copy(),
        a[:, 2] * 1,
        a[1:, :2] + 0,
        a[..., 0] + 0,
        a[None, :, 1] + 0,
        a[:, ::-1] + 0,
        a.T[1] + 0,
        a[-1, -1],
        a[:, [0, 2]],
        a[[2, 0]],
        a[np.array([0, 1]), np.array([2, 3])],
    )


@case(lambda rng: (_floats(),), "NumPy's meaning")
def interpolation_and_convolution(a):
    return (
        np.interp(0.3, np.sort(a), a),
        np.interp(a, np.sort(a), a),
        np.convolve(a, np.ones(3)),
        np.roll(a, 2),
        np.roll(a, -1),
        np.repeat(a, 2),
        np.tile(a, 2),
        np.append(a, 1.0),
        np.convolve(a, np.ones(3), "same"),
        np.convolve(a, np.ones(3), mode="valid"),
    )


@case(lambda rng: (_grid(),), "NumPy's meaning")
def joined_along_axes(a):
    return (
        np.concatenate((a, a), axis=1),
        np.concatenate((a, a)),
        np.vstack((a, a[:1])),
        np.hstack((a, a)),
        np.expand_dims(a[0], 1) * 1,
    )


@case(lambda rng: (_floats(),), "NumPy's meaning")
def best_or_none(a):
    best = None
    for x in a:
        if best is None or x > best:
            best = x
    return best


@case(lambda rng: (_grid(),), "NumPy's meaning")
def list_of_pairs(a):
    n, k = a.shape
    out = np.empty((n, n))
    for i, j in [(0, 1), (1, 2)]:
        out[i, j] = a[i, j]
    out[:] = 0.0
    for i in range(n):
        out[i, i:] = a[i, i:n]
    return out, n * k


@case(lambda rng: (_grid(),), "NumPy's meaning")
def pairwise_without_diagonal(a):
    x = a[:, 0]
    y = a[:, 1]
    dx, dy = x[:, None] - x[None, :], y[:, None] - y
    r = np.sqrt(dx * dx + dy * dy)
    np.fill_diagonal(r, 1.0)
    return r


@case(lambda rng: (_floats(),), "NumPy's meaning")
def counted_masks(a):
    return (
        np.mean(a[a > 0]),
        np.sum(a * (a > 0)),
        np.sum(np.where(a > 0, 1, 0)),
        (a > 0).mean(),
        np.sum(a > 0) / len(a),
        a[a > 0].size,
    )


@case(lambda rng: (_floats(),), "NumPy's meaning")
def sorted_in_place(a):
    a.sort()
    b = a[::-1]
    b[0] = 100
    return a


@case(lambda rng: (_floats(),), "NumPy's meaning")
def list_of_tuples(a):
    pts = [(0, 1.5), (1, 2.5)]
    pts.append((3, a[0]))
    s = 0.0
    for i, x in pts:
        s += i * x
    return s, len(pts)


@case(lambda rng: (_floats(),), "NumPy's meaning")
def value_or_value(a):
    mx, mn = a.max(), a.min()
    rng = mx - mn or 1.0
    return (a - mn) / rng


@case(lambda rng: (_floats(),), "NumPy's meaning")
def else_of_an_inner_loop(a):
    n = 0
    for k in (2, 3, 5):
        for x in a:
            if x > k:
                break
            n += 1
        else:
            continue
        n += 100
    return n


@case(lambda rng: (_floats(),), "NumPy's meaning")
def else_of_written_out_items(a):
    for k, w in ((1, 2.0), (2, 3.0)):
        if w > 100:
            break
        if k > 100:
            continue
    else:
        return 5
    return 6


@case(lambda rng: (_floats(),), "NumPy's meaning")
def primes_with_else(a):
    n = 2
    primes = 0
    while n < 30:
        for d in range(2, n):
            if n % d == 0:
                break
        else:
            primes += n
        n += 1
    return primes


@case(lambda rng: (_floats(),), "NumPy's meaning")
def else_of_while(a):
    i = 10
    while i > 0:
        i -= 3
        if i == 1:
            break
        if i % 2:
            continue
    else:
        i = -5
    return i, d_helper(a)


@case(lambda rng: (_floats(),), "NumPy's meaning")
def else_after_a_named_expression(a):
    n = 0
    i = 0
    while i < len(a) and not np.isnan(a[i]):
        if a[i] > 0 and (n := n + 1) > 2:
            break
        i += 1
    else:
        n = -1
    return n, i


@case(lambda rng: (_floats(),), "NumPy's meaning")
def variable_after_else(a):
    for i in range(len(a)):
        if a[i] > 100:
            break
    else:
        return -1
    return i
