"""Along rows and columns, and what needs the order of its iterations."""

from __future__ import annotations

import numpy as np

from benchmarks.gpu.shapes.case import Case, z4, z8, zi


def softmax_columns(x, y):
    for j in range(x.shape[1]):
        m = x[0, j]
        for i in range(1, x.shape[0]):
            m = max(m, x[i, j])
        s = 0.0
        for i in range(x.shape[0]):
            s += np.exp(x[i, j] - m)
        for i in range(x.shape[0]):
            y[i, j] = np.exp(x[i, j] - m) / s


def softmax_expression(x, y):
    e = np.exp(x - x.max(axis=0))
    y[:] = e / e.sum(axis=0)


def layer_norm(x, y):
    for i in range(x.shape[0]):
        s = 0.0
        t = 0.0
        for j in range(x.shape[1]):
            s += x[i, j]
            t += x[i, j] * x[i, j]
        mean = s / x.shape[1]
        scale = 1.0 / np.sqrt(t / x.shape[1] - mean * mean + 1e-5)
        for j in range(x.shape[1]):
            y[i, j] = (x[i, j] - mean) * scale


def log_sum_exp(x, y):
    for i in range(x.shape[0]):
        m = np.max(x[i])
        y[i] = m + np.log(np.sum(np.exp(x[i] - m)))


def log_sum_exp_online(x, y):
    for i in range(x.shape[0]):
        m = x[i, 0]
        s = 1.0
        for j in range(1, x.shape[1]):
            if x[i, j] > m:
                s = s * np.exp(m - x[i, j]) + 1.0
                m = x[i, j]
            else:
                s += np.exp(x[i, j] - m)
        y[i] = m + np.log(s)


def cumulate_down(x, y):
    for j in range(x.shape[1]):
        y[0, j] = x[0, j]
    for i in range(1, x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = y[i - 1, j] + x[i, j]


def cumulate_along(x, y):
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            s += x[i, j]
            y[i, j] = s


def cumulate_expression(x, y):
    y[:] = np.cumsum(x, axis=1)


def greatest_so_far(x, y):
    m = x[0]
    for i in range(x.shape[0]):
        if x[i] > m:
            m = x[i]
        y[i] = m


def greatest_of_rows(x, where):
    for i in range(x.shape[0]):
        best = x[i, 0]
        place = 0
        for j in range(1, x.shape[1]):
            if x[i, j] > best:
                best = x[i, j]
                place = j
        where[i] = place


def greatest_of_columns(x, where):
    where[:] = np.argmax(x, axis=0)


def moments(x, mean, var):
    mean[:] = x.mean(axis=0)
    var[:] = x.var(axis=0)


def moments_loops(x, mean, var):
    for j in range(x.shape[1]):
        s = 0.0
        t = 0.0
        for i in range(x.shape[0]):
            s += x[i, j]
            t += x[i, j] * x[i, j]
        mean[j] = s / x.shape[0]
        var[j] = t / x.shape[0] - mean[j] * mean[j]


def any_above(x, found):
    for i in range(x.shape[0]):
        found[i] = False
        for j in range(x.shape[1]):
            if x[i, j] > 0.999:
                found[i] = True
                break


def all_below(x, found):
    for i in range(x.shape[0]):
        found[i] = np.all(x[i] < 0.9999)


def where_first(x, out):
    place = -1
    for i in range(x.shape[0]):
        if x[i] > 1.5:
            place = i
            break
    out[0] = place


def compact(m, out, count):
    k = 0
    for i in range(m.shape[0]):
        if m[i]:
            out[k] = i
            k += 1
    count[0] = k


def rolling_mean(x, y):
    for i in range(y.shape[0]):
        s = 0.0
        for k in range(100):
            s += x[i + k]
        y[i] = s / 100.0


def rolling_mean_running(x, y):
    s = 0.0
    for k in range(100):
        s += x[k]
    y[0] = s / 100.0
    for i in range(1, y.shape[0]):
        s += x[i + 99] - x[i - 1]
        y[i] = s / 100.0


def smoothed(x, y):
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            s = 0.9 * s + 0.1 * x[i, j]
            y[i, j] = s


def every_second(x, y):
    for i in range(0, x.shape[0], 2):
        y[i] = 2.0 * x[i] + 1.0


def backwards(x, y):
    for i in range(x.shape[0] - 1, -1, -1):
        y[i] = x[x.shape[0] - 1 - i] * 2.0


def suffix_sums(x, y):
    s = 0.0
    for i in range(x.shape[0] - 1, -1, -1):
        s += x[i]
        y[i] = s


def strided_rows(x, y):
    for i in range(1, x.shape[0], 3):
        for j in range(0, x.shape[1], 2):
            y[i, j] = x[i, j] + 1.0


def permute(x, y):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            for k in range(x.shape[2]):
                y[k, j, i] = x[i, j, k]


def permute_inner(x, y):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            for k in range(x.shape[2]):
                y[i, k, j] = x[i, j, k]


def transpose(x, y):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[j, i] = x[i, j]


def transpose_expression(x, y):
    y[:] = x.T


def inner_three(x, m, y):
    for a in range(x.shape[0]):
        for b in range(x.shape[1]):
            for c in range(x.shape[2]):
                for i in range(3):
                    s = 0.0
                    for j in range(3):
                        s += m[i, j] * x[a, b, c, j]
                    y[a, b, c, i] = s


def unit_vectors(x, y):
    for a in range(x.shape[0]):
        s = np.sqrt(x[a, 0] ** 2 + x[a, 1] ** 2 + x[a, 2] ** 2)
        for i in range(3):
            y[a, i] = x[a, i] / s


def small_axpy(a, x, y):
    for i in range(x.shape[0]):
        y[i] = 2.5 * x[i] + a[i]


def small_chain(x, y, z, out):
    for i in range(x.shape[0]):
        y[i] = np.sin(x[i])
    s = 0.0
    for i in range(x.shape[0]):
        s += y[i] * y[i]
    for i in range(x.shape[0]):
        z[i] = y[i] / s
    out[0] = s


def small_expression(x, y):
    y[:] = (x - x.mean()) / x.std()


def _soft(x, y):
    e = np.exp(x - x.max(0))
    return (e / e.sum(0),)


def _norm(x, y):
    return ((x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5),)


def _smooth(x, y):
    y = np.zeros_like(x)
    s = np.zeros(len(x))
    for j in range(x.shape[1]):
        s = 0.9 * s + 0.1 * x[:, j]
        y[:, j] = s
    return (y,)


def _same(r, *shape):
    return r.f4(*shape), z4(*shape)


def _same8(r, *shape):
    return r.f8(*shape), z8(*shape)


def _layer_norm(torch, x, y):
    return torch.nn.functional.layer_norm(x, (x.shape[1],))


def _var_mean(torch, x, mean, var):
    return torch.var_mean(x, 0, correction=0)


def _lse(torch, x, y):
    return torch.logsumexp(x, 1)


def _lse_expected(x, y):
    return (np.log(np.exp(x).sum(1)),)


def _window(x, y):
    return (np.lib.stride_tricks.sliding_window_view(x, 100).mean(-1),)


def _rolling(torch, x, y):
    return torch.nn.functional.avg_pool1d(x[None, None], 100, 1)


def _compacted(m, out, count):
    found = np.flatnonzero(m)
    return np.pad(found, (0, len(out) - len(found))), [len(found)]


def _second(x, y):
    y = np.zeros_like(x)
    y[::2] = 2 * x[::2] + 1
    return (y,)


def _strided(x, y):
    y = np.zeros_like(x)
    y[1::3, ::2] = x[1::3, ::2] + 1
    return (y,)


def _chain(x, y, z, out):
    y = np.sin(x)
    return y, y / (y @ y), [y @ y]


def _chained(torch, x, y, z, out):
    torch.sin(x, out=y)
    s = torch.dot(y, y)
    return torch.div(y, s, out=z), s


_EMA = """
extern "C" __global__ void peer(const float *x, float *y, long long n, long long m) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = 0;
  for (long long j = 0; j < m; j++) { s = 0.9f * s + 0.1f * x[i * m + j]; y[i * m + j] = s; }
}"""

CASES = (
    Case("softmax, axis 0", softmax_columns, _same, (90, 70), (4000, 3000), _soft,
         lambda torch, x, y: torch.softmax(x, 0)),
    Case("softmax, axis 0, expression", softmax_expression, _same, (90, 70), (4000, 3000), _soft,
         lambda torch, x, y: torch.softmax(x, 0)),
    Case("layer norm, rows of 64", layer_norm, _same, (90, 64), (300_000, 64), _norm, _layer_norm),
    Case("layer norm, 8 rows of 10^6", layer_norm, _same, (3, 5000), (8, 1_000_000), _norm, _layer_norm),
    Case("log-sum-exp, expression", log_sum_exp, lambda r, n, m: (r.f4(n, m), z4(n)), (30, 200), (6000, 4000),
         _lse_expected, _lse),
    Case("log-sum-exp, running maximum", log_sum_exp_online, lambda r, n, m: (r.f4(n, m), z4(n)), (30, 200),
         (6000, 4000), _lse_expected, _lse),
    Case("running sums, axis 0", cumulate_down, _same, (60, 70), (4000, 5000), lambda x, y: (x.cumsum(0),),
         lambda torch, x, y: torch.cumsum(x, 0)),
    Case("running sums, axis 1", cumulate_along, _same, (60, 70), (4000, 5000), lambda x, y: (x.cumsum(1),),
         lambda torch, x, y: torch.cumsum(x, 1)),
    Case("running sums, axis 1, 8 rows", cumulate_along, _same, (2, 700), (8, 2_000_000), lambda x, y: (x.cumsum(1),),
         lambda torch, x, y: torch.cumsum(x, 1)),
    Case("running sums, axis 1, expression", cumulate_expression, _same, (60, 70), (4000, 5000),
         lambda x, y: (x.cumsum(1),), lambda torch, x, y: torch.cumsum(x, 1)),
    Case("greatest so far", greatest_so_far, _same, (5000,), (20_000_000,), lambda x, y: (np.maximum.accumulate(x),),
         lambda torch, x, y: torch.cummax(x, 0)),
    Case("arg-max of rows", greatest_of_rows, lambda r, n, m: (r.f4(n, m), zi(n)), (40, 300), (16_000, 1000),
         lambda x, w: (x.argmax(1),), lambda torch, x, w: torch.argmax(x, 1)),
    Case("arg-max of columns, expression", greatest_of_columns, lambda r, n, m: (r.f4(n, m), zi(m)), (300, 40),
         (16_000, 1000), lambda x, w: (x.argmax(0),), lambda torch, x, w: torch.argmax(x, 0)),
    Case("moments, 4000000x8, expression", moments, lambda r, n, m: (r.f4(n, m), z4(m), z4(m)), (500, 8),
         (4_000_000, 8), lambda x, m, v: (x.mean(0), x.var(0)), _var_mean),
    Case("moments, 4000000x8", moments_loops, lambda r, n, m: (r.f4(n, m), z4(m), z4(m)), (500, 8), (4_000_000, 8),
         lambda x, m, v: (x.mean(0), x.var(0)), _var_mean),
    Case("any, with break", any_above, lambda r, n, m: (r.f4(n, m), zi(n, dtype="bool")), (60, 300), (40_000, 1000),
         lambda x, f: ((x > 0.999).any(1),), lambda torch, x, f: (x > 0.999).any(1)),
    Case("all, expression", all_below, lambda r, n, m: (r.f4(n, m), zi(n, dtype="bool")), (60, 300), (40_000, 1000),
         lambda x, f: ((x < 0.9999).all(1),), lambda torch, x, f: (x < 0.9999).all(1)),
    Case("search that finds nothing", where_first, lambda r, n: (r.f4(n), zi(1)), (5000,), (20_000_000,),
         lambda x, out: ([-1],), lambda torch, x, out: torch.argmax((x > 1.5).to(torch.int8))),
    Case("compaction", compact, lambda r, n: (r.f4(n) < 0.3, zi(n), zi(1)), (5000,), (20_000_000,), _compacted,
         lambda torch, m, out, count: torch.nonzero(m), moved=lambda n: n * (1 + 0.3 * 8)),
    Case("rolling mean of 100", rolling_mean, lambda r, n: (r.f4(n + 99), z4(n)), (900,), (10_000_000,), _window,
         _rolling),
    Case("rolling mean of 100, running", rolling_mean_running, lambda r, n: (r.f8(n + 99), z8(n)), (900,),
         (10_000_000,), _window, _rolling),
    Case("exponential smoothing of rows", smoothed, _same, (50, 60), (20_000, 500), _smooth, cuda=_EMA,
         threads=lambda n, m: n),
    Case("step 2", every_second, _same, (999,), (30_000_000,), _second,
         lambda torch, x, y: torch.add(x[::2] * 2.0, 1.0, out=y[::2])),
    Case("backwards", backwards, _same, (999,), (30_000_000,), lambda x, y: (x[::-1] * 2,),
         lambda torch, x, y: torch.flip(x, (0,)) * 2.0),
    Case("sums from the end", suffix_sums, _same8, (999,), (20_000_000,), lambda x, y: (x[::-1].cumsum()[::-1],),
         lambda torch, x, y: torch.flip(torch.cumsum(torch.flip(x, (0,)), 0), (0,))),
    Case("rows in steps of 3, columns of 2", strided_rows, _same, (50, 60), (9000, 6000), _strided,
         lambda torch, x, y: torch.add(x[1::3, ::2], 1.0, out=y[1::3, ::2]), moved=lambda n, m: n * m * 8.0 / 3),
    Case("permutation 2, 1, 0", permute, lambda r, a, b, c: (r.f4(a, b, c), z4(c, b, a)), (9, 10, 11), (250, 300, 350),
         lambda x, y: (x.transpose(2, 1, 0),), lambda torch, x, y: y.copy_(x.permute(2, 1, 0))),
    Case("permutation 0, 2, 1", permute_inner, lambda r, a, b, c: (r.f4(a, b, c), z4(a, c, b)), (9, 10, 11),
         (2000, 200, 50), lambda x, y: (x.transpose(0, 2, 1),), lambda torch, x, y: y.copy_(x.permute(0, 2, 1))),
    Case("transposition of uint8", transpose,
         lambda r, n, m: (r.whole(255, n, m, dtype="uint8"), zi(m, n, dtype="uint8")), (70, 90), (8000, 9000),
         lambda x, y: (x.T,), lambda torch, x, y: y.copy_(x.T)),
    Case("transposition, expression", transpose_expression, lambda r, n, m: (r.f4(n, m), z4(m, n)), (70, 90),
         (5000, 6000), lambda x, y: (x.T,), lambda torch, x, y: y.copy_(x.T)),
    Case("transposition, 3 columns", transpose, lambda r, n, m: (r.f4(n, m), z4(m, n)), (500, 3), (10_000_000, 3),
         lambda x, y: (x.T,), lambda torch, x, y: y.copy_(x.T)),
    Case("four axes, the last of 3", inner_three, lambda r, n: (r.f4(n, n, n, 3), r.f4(3, 3), z4(n, n, n, 3)), (9,),
         (200,), lambda x, m, y: (x @ m.T,), lambda torch, x, m, y: torch.matmul(x, m.T, out=y)),
    Case("unit vectors", unit_vectors, _same, (300, 3), (8_000_000, 3),
         lambda x, y: (x / np.sqrt((x * x).sum(1, keepdims=True)),),
         lambda torch, x, y: torch.nn.functional.normalize(x)),
    Case("1000 elements", small_axpy, lambda r, n: (r.f4(n), r.f4(n), z4(n)), (100,), (1000,),
         lambda a, x, y: (2.5 * x + a,), lambda torch, a, x, y: torch.add(a, x, alpha=2.5, out=y)),
    Case("1000 elements, three loops", small_chain, lambda r, n: (r.f4(n), z4(n), z4(n), z4(1)), (100,), (1000,),
         _chain, _chained),
    Case("1000 elements, expression", small_expression, _same, (100,), (1000,),
         lambda x, y: ((x - x.mean()) / x.std(),),
         lambda torch, x, y: (x - x.mean()) / x.std(correction=0)),
)  # fmt: skip
