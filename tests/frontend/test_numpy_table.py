"""What Numba knows of NumPy, expression by expression: what runs is CPython's result, and what does not is told."""

from __future__ import annotations

import pytest

from frontend.judge import refusal
from frontend.numpy_table import expressions, function_of, judge

RUN = """
np.argmax(a); np.argmax(m, axis=0); np.argmax(m, axis=1); np.argmin(m); a.argmax(); np.argsort(a)
np.argsort(m, axis=0); np.all(f); np.any(m > 1, axis=0); a.cumsum(); m.cumsum(axis=0); a.cumprod(); np.max(m, axis=0)
np.min(m, axis=-1); np.amax(a); np.amin(a); np.mean(m, axis=0); m.mean(axis=(0, 1)); np.mean(i); np.nonzero(a > 1)
a.nonzero(); np.prod(m, axis=1); np.ptp(a); np.ptp(m, axis=0); np.std(m, axis=0); np.var(m, axis=1); np.std(a, ddof=1)
a.var(ddof=1); np.sum(m, axis=0); np.sum(m, axis=1, keepdims=True); np.sum(c3, axis=2); np.sum(c3, axis=(0, 2))
a.take(p); np.all(m > 0, axis=1); np.angle(z); np.real(z); np.imag(z); np.arange(5); np.arange(1, 9, 2)
np.arange(0.0, 1.0, 0.25); np.arange(start=1, stop=7, step=2); np.arange(k); np.arange(1, stop=k); np.argwhere(m > 1)
np.array([1, 2, k]); np.array([[1.0, x], [2.0, 3.0]]); np.array_equal(a, a); np.array_equal(a, b)
np.array_equal(m, m); np.asarray(a); np.ascontiguousarray(m[:, 1]); np.average(a); np.average(a, weights=b)
np.average(m, axis=0); np.bincount(i); np.bincount(i, minlength=12); np.bincount(i, weights=b); np.bincount(i, b, 9)
np.clip(a, 0.5, 1.5); np.clip(a, a_min=0.5, a_max=1.5); np.clip(a, None, 1.0); np.clip(a, 0.5, None); a.clip(0.5, 1.0)
np.clip(x, 0.0, 1.0); np.column_stack((a, b)); np.concatenate((a, b)); np.concatenate((m, m), axis=1)
np.concatenate([a[:2], b, a]); np.convolve(a, b); np.convolve(a, b[:3], 'same'); np.convolve(a, b[:3], mode='valid')
np.copy(m); a.copy(); np.count_nonzero(m > 1); np.count_nonzero(m > 1, axis=0); np.empty((2, 3)).shape
np.empty_like(m).shape; np.expand_dims(a, 0); np.expand_dims(a, axis=1); np.expand_dims(m, -1); np.eye(3)
np.eye(3, 4); np.eye(3, M=4, k=1); np.eye(3, 4, -1); np.fill_diagonal(q, 3.0); np.flatnonzero(a > 1); np.full(3, 2.5)
np.full((2, 2), k); np.full(shape=3, fill_value=x); np.full_like(a, 3); np.full_like(m, fill_value=1.5)
np.histogram(a); np.histogram(a, bins=3); np.histogram(a, 4, range=(0.0, 2.0)); np.histogram(a, s); np.hstack((a, b))
np.hstack((m, m)); np.vstack((a, a)); np.vstack((m, m)); np.vstack([m, a[:4]]); np.identity(3); np.interp(x, s, a[:4])
np.interp(a, s, b[:4]); np.interp(a, s, b[:4], left=0.0, right=-1.0)
np.isclose(a, b); np.isclose(x, 1.0); np.allclose(a, b); np.allclose(a, 1.0)
np.iscomplexobj(z); np.isrealobj(a); np.linspace(0.0, 1.0, 5); np.linspace(0, 1, num=4)
np.linspace(0.0, 1.0, 5, endpoint=False); np.linspace(0.0, x, k); np.linalg.norm(a); np.linalg.norm(m)
np.linalg.norm(m, axis=1); np.linalg.norm(a, 1); np.linalg.norm(a, np.inf); np.linalg.norm(a, ord=1)
np.linalg.matrix_rank(q); np.linalg.norm(m, 2); np.linalg.pinv(m); np.linalg.qr(q)[1].shape; np.linalg.svdvals(q)
np.linalg.eigh(q + q.T)[0][0]; np.linalg.svd(q)[1][0]; np.asfortranarray(m); np.asfortranarray(a)
np.repeat(m, 2); np.frombuffer(a, np.int64); np.frombuffer(m.T.copy()); np.frombuffer(a, dtype=np.uint8)[3]
np.linalg.norm(m, ord='fro'); np.linalg.norm(m, 1); np.linalg.norm(m, axis=0, keepdims=True)
np.linalg.norm(m, 1, axis=1); np.median(a); np.median(m, axis=0); np.median(m); np.meshgrid(a, b)
np.meshgrid(a, b, indexing='ij'); np.nanmax(n); np.nanmin(n); np.nanmean(n); np.nansum(n); np.nanprod(n)
np.nanmean(nm, axis=0); np.nansum(nm, axis=1); np.nanmax(nm, axis=0); np.nanstd(n); np.nanvar(n); np.ones((2, 3))
np.ones(3, dtype=np.int32); np.ones_like(m); np.outer(a, b); np.inner(a, a); np.vdot(a, a); np.dot(m, m.T)
np.ravel(m); m.ravel(); m.flatten(); m.reshape(4, 3); m.reshape((2, 6)); np.reshape(m, (6, 2)); m.reshape(-1, 2)
np.repeat(a, 2); np.repeat(3.0, 4); a.repeat(2); np.repeat(a, i); np.repeat(m, 2, axis=0); np.repeat(m, 2, axis=1)
np.round(a, 1); np.around(a); a.round(2); np.round(x); np.rint(a); np.searchsorted(s, a); np.searchsorted(s, x)
round(x, 1)
np.searchsorted(s, a, side='right'); np.searchsorted(s, m); np.shape(m); np.size(m); np.ndim(m); m.size; m.ndim
m.itemsize; m.nbytes; np.sign(a); np.signbit(a); np.sort(a); np.sort(m, axis=0); np.sort(m); np.sort(i)[::-1].copy()
np.unwrap(a); np.stack((a, b)); np.stack((a, b), axis=1); np.stack([a, b], -1); np.swapaxes(m, 0, 1).copy()
np.transpose(c3, (2, 0, 1)).copy(); np.trace(q); np.tril(q); np.triu(q, 1); np.where(a > 1); np.where(a > 1, a, 0.0)
np.where(f, a, b); np.where(m > 1); np.zeros((2, 3)); np.zeros(3, np.int64); np.zeros_like(m); np.zeros(k, dtype=bool)
np.zeros(shape=(2, 2), dtype=np.float32); a.sum(); m.sum(axis=0); m.max(axis=1); a.min(); a.mean(); a.std()
m.T.copy(); a.astype(np.int64); a.dot(b); m.dot(m.T); a.item(2); a[2].item(); a.fill(3.0); a.sort(); m.sort(axis=0)
a.searchsorted(x); a.all(); a.any(); m.diagonal(); q.trace(); m.transpose().copy(); m.swapaxes(0, 1).copy()
m.squeeze(); a.conj(); z.conj(); np.maximum(a, b); np.fmax(a, x); np.hypot(a, b); np.arctan2(a, b); np.power(a, 2)
np.mod(a, 0.3); np.add(a, b); np.subtract(a, 1); np.multiply(m, 2.0); np.divide(a, b); np.floor_divide(a, 0.3)
np.true_divide(i, 2); np.square(a); np.sqrt(a); np.exp(a); np.log1p(a); np.abs(a); np.absolute(a); np.negative(a)
np.reciprocal(a + 1); np.logical_and(f, a > 1); np.logical_or(f, f); np.logical_not(f); np.logical_xor(f, a > 1)
np.bitwise_and(i, 3); np.left_shift(i, 1); np.invert(i); np.isnan(n); np.isinf(a); np.isfinite(n); np.deg2rad(a)
np.rad2deg(a); np.degrees(x); np.radians(x); np.greater(a, b); np.less_equal(a, b); np.equal(i, p[:7])
np.not_equal(i, 2); np.copysign(a, b); np.float_power(a, 2); np.cbrt(a); np.trunc(a); np.fmod(a, 0.7); np.exp2(a)
np.expm1(a); np.add.outer(a, b); np.multiply.outer(a, b); np.mgrid[0:2, 0:3]; np.dtype(np.float64).itemsize
np.finfo(np.float64).eps; np.iinfo(np.int32).max; np.sum(f); f.sum(); np.sum(i); np.sum([1.0, x, 2.0]); np.max([k, 3])
np.mean([1, 2, 4]); np.min((x, 2.0)); np.array((1, 2, 3)); np.prod((2, k)); np.dot(a, b); a @ b; m @ m.T; q @ q[0]
np.float32(x) * a; np.int64(x); np.bool_(k); np.uint8(k); np.e; np.pi; np.inf; np.newaxis is None; np.count_nonzero(i)
np.array([a, b]); np.array([a.sum(), b.sum()]); np.array(a); [v for v in np.ndindex(2, 3)]
sum([w * j[0] for j, w in np.ndenumerate(m)]); m.view(np.int64); m.view(np.uint8); a.tolist()
"""

REFUSED = """
[v for v in np.nditer(a)]; np.apply_along_axis(np.sum, 0, m)
np.broadcast_arrays(a[:, None], b)[1].copy(); np.broadcast_shapes((3, 1), (1, 4)); np.frexp(a)
np.histogram2d(a, b, bins=3)[0]; np.indices((2, 3))
np.insert(a, [1, 2], 9.0); np.kaiser(5, 2.0)
np.linalg.eig(q)[0][0]
np.linspace(0.0, 1.0, 5, retstep=True); np.modf(a); np.nextafter(a, b); np.piecewise(a, [a < 1, a >= 1], [0.0, 1.0])
np.tensordot(q, q, 2); np.unravel_index(7, (3, 4)); round(x, k)
"""


@pytest.mark.parametrize("text", expressions(RUN))
def test_as_numpy(text):
    judge(text)


@pytest.mark.parametrize("text", expressions(REFUSED))
def test_refused(text):
    function, arguments = function_of(text)
    assert refusal(function, *arguments)
