"""What NumPy's operations mean: types, shapes, orders, errors."""

from __future__ import annotations

import numpy as np
from breadth.cases import case


def _whole_grid():
    return np.arange(12).reshape(3, 4) - 5


def _floats():
    return np.array([0.5, 1.5, 2.5, -2.5, 3.7, -0.2])


def _grid():
    return np.arange(12.0).reshape(3, 4) - 5


def _integers():
    return np.array([3, -7, 3, -3, 0, 12])


def _singles():
    return np.array([1.5, 2.5, -0.5, np.nan, 3], dtype=np.float32)


def _bytes():
    return np.array([250, 3, 7, 255, 0, 9], dtype=np.uint8)


def _small():
    return np.array([100, -100, 27, -128, 5], dtype=np.int8)


def _ints():
    return np.array([7, -7, 3, -3, 0, 12], dtype=np.int32)


def _flags():
    return np.array([True, False, True, True, False, False])


def d_helper(a):
    for x in a:
        if x > 3: break
    else:
        return 0.0
    return x


@case(lambda rng: (_bytes(),), "NumPy's meaning")
def unsigned_bytes(a): return a.sum(), a.mean(), a + a, a * 2, a - 1, a // 2, a % 7, a / 2


@case(lambda rng: (_small(),), "NumPy's meaning")
def signed_bytes(a): return a.sum(), np.abs(a), -a, a ** 2, a.max(), a.min(), a.prod()


@case(lambda rng: (_singles(),), "NumPy's meaning")
def singles_with_nan(a): return a.sum(), np.nansum(a), np.nanmax(a), np.max(a), np.argmax(a), a.astype(np.float64) * 2, a * 2.0, a + 1, a ** 2


@case(lambda rng: (_singles(),), "NumPy's meaning")
def extremes_with_nan(a): return np.mean(a), np.minimum(a, 1), np.maximum(a, np.float64(1.0)), np.sqrt(a), np.isnan(a).any()


@case(lambda rng: (_ints(),), "NumPy's meaning")
def integer_operators(a): return a / 2, a // 2, a % 3, a // -2, a % -3, a ** 2, a << 1, a >> 1, a & 3, a | 4, a ^ 1, ~a


@case(lambda rng: (_ints(), _integers()), "NumPy's meaning")
def two_integer_types(a, c): return a + c, a * c, a < c, np.where(a > 0, a, c), np.concatenate((a, c))


@case(lambda rng: (_ints(), _singles()), "NumPy's meaning")
def integers_and_singles(a, c): return a[:5] + c, np.where(a[:5] > 0, a[:5], c), np.array([a[0], c[1]])


@case(lambda rng: (_flags(),), "NumPy's meaning")
def booleans(a): return a.sum(), a.mean(), a & ~a, a | True, a.any(), a.all(), np.count_nonzero(a), a + a, a * 2, np.sum(a, dtype=np.int32)


@case(lambda rng: (_floats(),), "NumPy's meaning")
def rounding(a): return np.round(a), np.round(a, 1), np.floor(a), np.ceil(a), a.astype(np.int64), np.rint(a), np.sign(a), np.trunc(a), a.round()


@case(lambda rng: (_grid(),), "NumPy's meaning")
def reductions_along_axes(a): return a.sum(axis=0), a.mean(axis=1), a.max(axis=-1), a.min(axis=0), a.argmax(axis=1), a.std(axis=0), a.var(), a.sum(axis=(0,1)), a.any(axis=0), a.prod(axis=1)


@case(lambda rng: (_grid(),), "NumPy's meaning")
def assigned_parts(a):
    a[a < 0] = 0
    a[1, :] = a[:, 0].sum()
    a[:, 1] += 10
    a[:, 2] *= a[:, 3]
    a[2] = a[2][::-1]
    return a


@case(lambda rng: (_floats(),), "NumPy's meaning")
def shifted_onto_itself(a):
    a[1:] = a[:-1]
    return a


@case(lambda rng: (_floats(),), "NumPy's meaning")
def added_to_itself(a):
    a[1:] += a[:-1]
    return a


@case(lambda rng: (_integers(),), "NumPy's meaning")
def repeated_indices_in_place(a):
    idx = np.array([0, 0, 1, 1, 1])
    a[idx] += 1
    return a


@case(lambda rng: (_integers(),), "NumPy's meaning")
def repeated_indices(a):
    idx = np.array([0, 0, 1])
    a[idx] = np.array([5, 6, 7])
    return a


@case(lambda rng: (_bytes(),), "NumPy's meaning")
def integers_that_wrap(a):
    a[1:3] = np.array([300, -1])
    return a


@case(lambda rng: (_floats(),), "NumPy's meaning")
def shape_error(a):
    a[:] = a[:3]


@case(lambda rng: (_floats(),), "NumPy's meaning")
def maximum_of_nothing(a): return np.max(a[:0])


@case(lambda rng: (_floats(),), "NumPy's meaning")
def reductions_of_nothing(a): return a[:0].sum(), a[:0].prod(), np.any(a[:0]), np.all(a[:0])


@case(lambda rng: (_floats(),), "NumPy's meaning")
def order_statistics(a): return np.median(a), np.percentile(a, 30), np.quantile(a, 0.25), np.sort(a), np.argsort(a), np.ptp(a)


@case(lambda rng: (_ints(),), "NumPy's meaning")
def integers_along(a): return np.cumsum(a), np.cumprod(a), np.diff(a), np.sort(a), np.unique(a), np.median(a), np.mean(a)


@case(lambda rng: (_small(),), "NumPy's meaning")
def bytes_along(a): return np.cumsum(a), np.diff(a), np.unique(a), np.sort(a)


@case(lambda rng: (_grid(),), "NumPy's meaning")
def shapes(a): return np.diff(a), np.cumsum(a), a.ravel(), a.flatten(), a.reshape(4, 3), a.reshape(-1), a.T.ravel(), a.T.reshape(2, 6), a.T.copy()


@case(lambda rng: (_grid(),), "NumPy's meaning")
def sorted_rows(a): return np.sort(a), np.sort(a, axis=0)


@case(lambda rng: (_grid(),), "NumPy's meaning")
def products(a): return a @ a.T, np.dot(a, a.T), a @ a[0], a[0] @ a.T, np.dot(a[0], a[1]), np.outer(a[0], a[1]), a.T.dot(a)


@case(lambda rng: (_whole_grid(),), "NumPy's meaning")
def integer_products(a): return a @ a.T, np.dot(a[0], a[1]), a.sum(axis=1), a.mean(axis=0), a / a.max(), a - a.mean(axis=0)


@case(lambda rng: (_grid(),), "NumPy's meaning")
def norms(a): return np.linalg.norm(a), np.linalg.norm(a[0]), np.linalg.norm(a, axis=1), np.trace(a), np.linalg.det(a[:, :3] + np.eye(3) * 9)


@case(lambda rng: (_floats(),), "NumPy's meaning")
def clipping(a): return np.clip(a, 0, 1), np.clip(a, -1.0, None), a.clip(0, 2), np.abs(a), np.exp(a), np.log(np.abs(a)), np.power(a, 2), np.square(a)


@case(lambda rng: (_ints(),), "NumPy's meaning")
def integer_clipping(a): return np.clip(a, -3, 5), np.abs(a), np.exp(a), np.sqrt(np.abs(a)), np.power(a, 2), np.float32(2) * a, a * 1.0, a * np.float32(2)


@case(lambda rng: (_floats(),), "NumPy's meaning")
def made_arrays(a): return np.zeros(3), np.ones((2, 2), dtype=np.int32), np.full(3, 7), np.full(3, 2.5), np.arange(5), np.arange(1, 2, 0.25), np.arange(5, 0, -2), np.linspace(0, 1, 5), np.eye(3), np.empty_like(a).shape, np.zeros_like(a)


@case(lambda rng: (_floats(),), "NumPy's meaning")
def arrays_of_items(a): return np.array([1, 2, 3]), np.array([1.0, 2]), np.array([[1, 2], [3, 4]]), np.array([a[0], 1]), np.array([True, False]), np.array([a[:2], a[2:4]])


@case(lambda rng: (_floats(), _integers()), "NumPy's meaning")
def loops_over_sequences(a, c):
    tot = 0.0
    for x, y in zip(a, c): tot += x * y
    for i, x in enumerate(a[1:], 1): tot += i * x
    for x in reversed(a): tot = tot * 0.5 + x
    return tot


@case(lambda rng: (_floats(),), "NumPy's meaning")
def unpacked_arrays(a):
    x, y, z = a[:3]
    p, q = a[1], a[2]
    p, q = q, p
    return x + y * z, p - q


@case(lambda rng: (_grid(),), "NumPy's meaning")
def nested_unpacking(a):
    (p, q), r = a[0, :2], a[1]
    return p, q, r.sum()


@case(lambda rng: (_floats(),), "NumPy's meaning")
def binary_search(a):
    k = np.searchsorted(np.sort(a), 1.0)
    return k, np.searchsorted(np.sort(a), a), np.searchsorted(np.sort(a), a, side="right"), np.digitize(a, np.array([0.0, 1.0, 2.0]))


@case(lambda rng: (_grid(),), "NumPy's meaning")
def loops_over_rows(a):
    s = 0.0
    for row in a:
        for x in row:
            s += x
    for i in range(a.shape[0]): s += a[i].max()
    return s


@case(lambda rng: (_grid(),), "NumPy's meaning")
def swapped_rows_that_are_views(a):
    a[0], a[1] = a[1], a[0]
    return a


@case(lambda rng: (_grid(),), "NumPy's meaning")
def swapped_rows_by_index(a):
    a[[0, 1]] = a[[1, 0]]
    return a


@case(lambda rng: (_grid(),), "NumPy's meaning")
def swapped_rows_by_copy(a):
    t = a[0].copy()
    a[0] = a[1]
    a[1] = t
    a[:, 0], a[:, 1] = a[:, 1].copy(), a[:, 0].copy()
    return a


@case(lambda rng: (_floats(), _integers()), "NumPy's meaning")
def index_arrays(a, c): return a[c[c >= 0] % 6], a[c % 6][::2], c[a > 0], a[np.argsort(c)], a[np.array([True, False, True, False, True, False])]


@case(lambda rng: (_grid(),), "NumPy's meaning")
def masks(a): return a[a > 0], a[a > 0].sum(), a[(a > 0) & (a < 4)], (a > 0).sum(axis=0), a[a[:, 0] > -2], a[:, a[0] > -4], np.sum(a[1:] > 0)


@case(lambda rng: (_floats(),), "NumPy's meaning")
def joined(a): return np.stack((a, a)), np.vstack((a, a)), np.hstack((a, a)), np.column_stack((a, a)), np.concatenate((a[:2], a[3:], a))


@case(lambda rng: (_floats(),), "NumPy's meaning")
def division_by_zero(a): return 1 / a[:0], 1.0 / np.array([0.0, 2.0]), np.array([1, 0]) // np.array([0, 1]), np.array([1, 5]) % np.array([0, 3])


@case(lambda rng: (_small(),), "NumPy's meaning")
def mixed_with_bytes(a): return a + np.int8(100), a + 1, a * np.int16(3), a + np.float32(1), np.int8(100) + np.int8(27), a - a.mean()


@case(lambda rng: (_floats(),), "NumPy's meaning")
def raised_with_text(a):
    for i in range(len(a)):
        if a[i] > 3: raise ValueError(f"bad value at {i}")
    return 1


@case(lambda rng: (_floats(),), "NumPy's meaning")
def asserted(a):
    assert a.min() > 0, "negative"
    return 1


@case(lambda rng: (_floats(),), "NumPy's meaning")
def index_error(a): return a[7]


@case(lambda rng: (_grid(),), "NumPy's meaning")
def index_error_of_two(a): return a[1, 5]


@case(lambda rng: (_grid(), _floats()), "NumPy's meaning")
def broadcast_error(a, c): return a + c


@case(lambda rng: (_floats(),), "NumPy's meaning")
def places_of_extremes(a):
    k = a.argmax()
    return k, a[k], a.argmin(), a[a.argmin()], np.argmax(a > 0), np.isin(a, a[:2])


@case(lambda rng: (_grid(),), "NumPy's meaning")
def attributes_of_arrays(a): return a.shape, a.size, a.ndim, len(a), a.T.shape, a[0].shape, a.sum(axis=0, keepdims=True), a.max(axis=1, keepdims=True).shape


@case(lambda rng: (_floats(),), "NumPy's meaning")
def predicates(a): return np.all(a > -10), np.any(np.isnan(a)), (a == a).all(), np.allclose(a, a + 1e-12), np.array_equal(a, a), np.isfinite(a).all()


@case(lambda rng: (_grid(),), "NumPy's meaning")
def broadcast_means(a): return a.mean(axis=0) @ a.T, (a - a.mean(axis=0)) ** 2, ((a - a.mean(axis=1)[:, None]) ** 2).sum(axis=1), a / np.linalg.norm(a, axis=1)[:, None]


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
        if v % 2: continue
        n |= v
        n ^= 3
    return n, a[0] ** 2, a[1] ** 3, 2 ** a[2], a[0] // a[1], a[0] % a[1], divmod(a[0], a[2])


@case(lambda rng: (_grid(),), "NumPy's meaning")
def along_axes(a): return np.median(a, axis=0), np.median(a, axis=1), np.cumsum(a, axis=0), np.cumsum(a, axis=1), np.diff(a, axis=0).copy(), np.argsort(a, axis=1), np.argsort(-a, axis=0), np.median(a)


@case(lambda rng: (_integers(),), "NumPy's meaning")
def sorting_with_options(a): return np.argsort(a, kind="mergesort"), np.argsort(-a), a.argsort(), np.isin(a, a[:2]), np.argwhere(a > 0)


@case(lambda rng: (_floats(),), "NumPy's meaning")
def histograms(a): return np.histogram(a, bins=4), np.histogram(a, 5, (0.0, 2.0)), np.histogram(a, bins=np.array([-1.0, 0.0, 2.0, 5.0]))[0]


@case(lambda rng: (_grid(),), "NumPy's meaning")
def masks_beside_slices(a): return a[:, a[0] > -4], a[1, a[1] > 0], a[a[:, 0] > -2, 1], a[a[:, 0] > -2, 1:3]


@case(lambda rng: (_grid(),), "NumPy's meaning")
def assigned_masks_beside_slices(a):
    a[:, a[0] > -4] = 0
    a[0, a[0] < 0] += 1
    return a


@case(lambda rng: (_floats(),), "NumPy's meaning")
def like_views(a): return np.zeros_like(a[1:]), np.empty_like(a[::2]).shape, np.ones_like(a[1:3] * 2), np.full_like(a.T, 3)


@case(lambda rng: (_singles(),), "NumPy's meaning")
def without_nan(a): return np.nanvar(a), np.nanstd(a), np.nanmedian(a), np.nanmean(a), np.nansum(a), np.nanmax(a)


@case(lambda rng: (_floats(),), "NumPy's meaning")
def copies_of_slices(a):
    x = (a[::-1].copy(), a[4:1:-1].copy(), a[-3:].copy(), a[:-2].copy(), a[10:].copy(), a[1:100:2].copy(), a[::-2].copy(), a[-100:2].copy())
    return x


@case(lambda rng: (_grid(),), "NumPy's meaning")
def parts(a): return a[1].copy(), a[:, 2] * 1, a[1:, :2] + 0, a[..., 0] + 0, a[None, :, 1] + 0, a[:, ::-1] + 0, a.T[1] + 0, a[-1, -1], a[:, [0, 2]], a[[2, 0]], a[np.array([0, 1]), np.array([2, 3])]


@case(lambda rng: (_floats(),), "NumPy's meaning")
def interpolation_and_convolution(a): return np.interp(0.3, np.sort(a), a), np.interp(a, np.sort(a), a), np.convolve(a, np.ones(3)), np.roll(a, 2), np.roll(a, -1), np.repeat(a, 2), np.tile(a, 2), np.append(a, 1.0), np.convolve(a, np.ones(3), "same"), np.convolve(a, np.ones(3), mode="valid")


@case(lambda rng: (_grid(),), "NumPy's meaning")
def joined_along_axes(a): return np.concatenate((a, a), axis=1), np.concatenate((a, a)), np.vstack((a, a[:1])), np.hstack((a, a)), np.expand_dims(a[0], 1) * 1


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
    out[:] = 0.
    for i in range(n): out[i, i:] = a[i, i:n]
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
def counted_masks(a): return np.mean(a[a > 0]), np.sum(a * (a > 0)), np.sum(np.where(a > 0, 1, 0)), (a > 0).mean(), np.sum(a > 0) / len(a), a[a > 0].size


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
    for i, x in pts: s += i * x
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
            if x > k: break
            n += 1
        else:
            continue
        n += 100
    return n


@case(lambda rng: (_floats(),), "NumPy's meaning")
def else_of_written_out_items(a):
    for k, w in ((1, 2.0), (2, 3.0)):
        if w > 100: break
        if k > 100: continue
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
        if i == 1: break
        if i % 2: continue
    else:
        i = -5
    return i, d_helper(a)


@case(lambda rng: (_floats(),), "NumPy's meaning")
def else_after_a_named_expression(a):
    n = 0
    i = 0
    while i < len(a) and not np.isnan(a[i]):
        if a[i] > 0 and (n := n + 1) > 2: break
        i += 1
    else:
        n = -1
    return n, i


@case(lambda rng: (_floats(),), "NumPy's meaning")
def variable_after_else(a):
    for i in range(len(a)):
        if a[i] > 100: break
    else:
        return -1
    return i
