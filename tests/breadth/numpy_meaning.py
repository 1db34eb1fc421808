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


@case(lambda rng: (_bytes(),), "NumPy's meaning")
def unsigned_bytes(a):
    return a.sum(), a.mean(), a + a, a * 2, a - 1, a // 2, a % 7, a / 2


@case(lambda rng: (_small(),), "NumPy's meaning")
def signed_bytes(a):
    return a.sum(), np.abs(a), -a, a**2, a.max(), a.min(), a.prod()


@case(lambda rng: (_singles(),), "NumPy's meaning")
def singles_with_nan(a):
    return a.sum(), np.nansum(a), np.nanmax(a), np.max(a), np.argmax(a), a.astype(np.float64) * 2, a * 2.0, a + 1, a**2


@case(lambda rng: (_singles(),), "NumPy's meaning")
def extremes_with_nan(a):
    return np.mean(a), np.minimum(a, 1), np.maximum(a, np.float64(1.0)), np.sqrt(a), np.isnan(a).any()


@case(lambda rng: (_ints(),), "NumPy's meaning")
def integer_operators(a):
    return a / 2, a // 2, a % 3, a // -2, a % -3, a**2, a << 1, a >> 1, a & 3, a | 4, a ^ 1, ~a


@case(lambda rng: (_ints(), _integers()), "NumPy's meaning")
def two_integer_types(a, c):
    return a + c, a * c, a < c, np.where(a > 0, a, c), np.concatenate((a, c))


@case(lambda rng: (_ints(), _singles()), "NumPy's meaning")
def integers_and_singles(a, c):
    return a[:5] + c, np.where(a[:5] > 0, a[:5], c), np.array([a[0], c[1]])


@case(lambda rng: (_flags(),), "NumPy's meaning")
def booleans(a):
    return (
        a.sum(),
        a.mean(),
        a & ~a,
        a | True,
        a.any(),
        a.all(),
        np.count_nonzero(a),
        a + a,
        a * 2,
        np.sum(a, dtype=np.int32),
    )


@case(lambda rng: (_floats(),), "NumPy's meaning")
def rounding(a):
    return (
        np.round(a),
        np.round(a, 1),
        np.floor(a),
        np.ceil(a),
        a.astype(np.int64),
        np.rint(a),
        np.sign(a),
        np.trunc(a),
        a.round(),
    )


@case(lambda rng: (_grid(),), "NumPy's meaning")
def reductions_along_axes(a):
    return (
        a.sum(axis=0),
        a.mean(axis=1),
        a.max(axis=-1),
        a.min(axis=0),
        a.argmax(axis=1),
        a.std(axis=0),
        a.var(),
        a.sum(axis=(0, 1)),
        a.any(axis=0),
        a.prod(axis=1),
    )


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
def maximum_of_nothing(a):
    return np.max(a[:0])


@case(lambda rng: (_floats(),), "NumPy's meaning")
def reductions_of_nothing(a):
    return a[:0].sum(), a[:0].prod(), np.any(a[:0]), np.all(a[:0])


@case(lambda rng: (_floats(),), "NumPy's meaning")
def order_statistics(a):
    return np.median(a), np.percentile(a, 30), np.quantile(a, 0.25), np.sort(a), np.argsort(a), np.ptp(a)


@case(lambda rng: (_ints(),), "NumPy's meaning")
def integers_along(a):
    return np.cumsum(a), np.cumprod(a), np.diff(a), np.sort(a), np.unique(a), np.median(a), np.mean(a)


@case(lambda rng: (_small(),), "NumPy's meaning")
def bytes_along(a):
    return np.cumsum(a), np.diff(a), np.unique(a), np.sort(a)


@case(lambda rng: (_grid(),), "NumPy's meaning")
def shapes(a):
    return (
        np.diff(a),
        np.cumsum(a),
        a.ravel(),
        a.flatten(),
        a.reshape(4, 3),
        a.reshape(-1),
        a.T.ravel(),
        a.T.reshape(2, 6),
        a.T.copy(),
    )


@case(lambda rng: (_grid(),), "NumPy's meaning")
def sorted_rows(a):
    return np.sort(a), np.sort(a, axis=0)


@case(lambda rng: (_grid(),), "NumPy's meaning")
def products(a):
    return a @ a.T, np.dot(a, a.T), a @ a[0], a[0] @ a.T, np.dot(a[0], a[1]), np.outer(a[0], a[1]), a.T.dot(a)


@case(lambda rng: (_whole_grid(),), "NumPy's meaning")
def integer_products(a):
    return a @ a.T, np.dot(a[0], a[1]), a.sum(axis=1), a.mean(axis=0), a / a.max(), a - a.mean(axis=0)


@case(lambda rng: (_grid(),), "NumPy's meaning")
def norms(a):
    return (
        np.linalg.norm(a),
        np.linalg.norm(a[0]),
        np.linalg.norm(a, axis=1),
        np.trace(a),
        np.linalg.det(a[:, :3] + np.eye(3) * 9),
    )


@case(lambda rng: (_floats(),), "NumPy's meaning")
def clipping(a):
    return (
        np.clip(a, 0, 1),
        np.clip(a, -1.0, None),
        a.clip(0, 2),
        np.abs(a),
        np.exp(a),
        np.log(np.abs(a)),
        np.power(a, 2),
        np.square(a),
    )


@case(lambda rng: (_ints(),), "NumPy's meaning")
def integer_clipping(a):
    return (
        np.clip(a, -3, 5),
        np.abs(a),
        np.exp(a),
        np.sqrt(np.abs(a)),
        np.power(a, 2),
        np.float32(2) * a,
        a * 1.0,
        a * np.float32(2),
    )


@case(lambda rng: (_floats(),), "NumPy's meaning")
def made_arrays(a):
    return (
        np.zeros(3),
        np.ones((2, 2), dtype=np.int32),
        np.full(3, 7),
        np.full(3, 2.5),
        np.arange(5),
        np.arange(1, 2, 0.25),
        np.arange(5, 0, -2),
        np.linspace(0, 1, 5),
        np.eye(3),
        np.empty_like(a).shape,
        np.zeros_like(a),
    )


@case(lambda rng: (_floats(),), "NumPy's meaning")
def arrays_of_items(a):
    return (
        np.array([1, 2, 3]),
        np.array([1.0, 2]),
        np.array([[1, 2], [3, 4]]),
        np.array([a[0], 1]),
        np.array([True, False]),
        np.array([a[:2], a[2:4]]),
    )


@case(lambda rng: (_floats(), _integers()), "NumPy's meaning")
def loops_over_sequences(a, c):
    tot = 0.0
    for x, y in zip(a, c):
        tot += x * y
    for i, x in enumerate(a[1:], 1):
        tot += i * x
    for x in reversed(a):
        tot = tot * 0.5 + x
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
    return (
        k,
        np.searchsorted(np.sort(a), a),
        np.searchsorted(np.sort(a), a, side="right"),
        np.digitize(a, np.array([0.0, 1.0, 2.0])),
    )


@case(lambda rng: (_grid(),), "NumPy's meaning")
def loops_over_rows(a):
    s = 0.0
    for row in a:
        for x in row:
            s += x
    for i in range(a.shape[0]):
        s += a[i].max()
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
def index_arrays(a, c):
    return (
        a[c[c >= 0] % 6],
        a[c % 6][::2],
        c[a > 0],
        a[np.argsort(c)],
        a[np.array([True, False, True, False, True, False])],
    )


@case(lambda rng: (_grid(),), "NumPy's meaning")
def masks(a):
    return (
        a[a > 0],
        a[a > 0].sum(),
        a[(a > 0) & (a < 4)],
        (a > 0).sum(axis=0),
        a[a[:, 0] > -2],
        a[:, a[0] > -4],
        np.sum(a[1:] > 0),
    )


@case(lambda rng: (_floats(),), "NumPy's meaning")
def joined(a):
    return (
        np.stack((a, a)),
        np.vstack((a, a)),
        np.hstack((a, a)),
        np.column_stack((a, a)),
        np.concatenate((a[:2], a[3:], a)),
    )
