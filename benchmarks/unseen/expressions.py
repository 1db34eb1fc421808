"""Whole-array expressions, one line after another, as users of NumPy write them: time steps, optimisers, statistics of
rows and columns, images. Written before neighbouring loops were fused, but the last seven."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import numpy as np

from benchmarks.unseen.program import f8, program, zeros


@program("diffusion with a temporary", lambda n: (f8(n, n), 10), 20, 2000)
def rounds_t(u, steps):
    for _t in range(steps):
        lap = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
        u[1:-1, 1:-1] += 0.1 * lap
    return u


@program("diffusion into a new array", lambda n: (f8(n, n), 10), 20, 2000)
def rounds_r(u, steps):
    for _t in range(steps):
        v = u.copy()
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                v[i, j] = u[i, j] + 0.1 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * u[i, j])
        u = v
    return u


@program("accelerated gradient descent", lambda n: (f8(n), f8(n), 10), 20, 1000000)
def momentum(w, g, steps):
    v = np.zeros_like(w)
    for _t in range(steps):
        z = w + 0.9 * v
        grad = 2 * z - g
        v = 0.9 * v - 0.01 * grad
        w = w + v
    return w


@program("power iteration", lambda n: (f8(n, n), 10), 20, 2000)
def power(a, steps):
    x = np.ones(a.shape[0])
    for _t in range(steps):
        y = a @ x
        x = y / np.sqrt(np.sum(y * y))
    return x


@program("Runge-Kutta over a field", lambda n: (f8(n), 0.01, 10), 20, 1000000)
def rk4(y, h, steps):
    for _t in range(steps):
        k1 = np.sin(y)
        k2 = np.sin(y + 0.5 * h * k1)
        k3 = np.sin(y + 0.5 * h * k2)
        k4 = np.sin(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


@program("Jacobi until it converges", lambda n: (f8(n, n), f8(n), 50), 20, 2000)
def jac(a, b, steps):
    x = np.zeros_like(b)
    for _t in range(steps):
        new = np.empty_like(x)
        for i in range(a.shape[0]):
            s = 0.0
            for j in range(a.shape[1]):
                if j != i:
                    s += a[i, j] * x[j]
            new[i] = (b[i] - s) / (a[i, i] + a.shape[0])
        if np.max(np.abs(new - x)) < 1e-10:
            break
        x = new
    return x


@program("updates of conjugate gradients", lambda n: (f8(n), f8(n), f8(n), f8(n), 0.3), 50, 1000000)
def cg(x, r, p, q, alpha):
    x += alpha * p
    r -= alpha * q
    return np.sum(r * r)


@program("least, greatest, sum and squares", lambda n: (f8(n),), 50, 1000000)
def rng(x):
    return x.min(), x.max(), x.sum(), (x * x).sum()


@program("rows normalised, loops", lambda n: (f8(n, n),), 20, 1000)
def norm_rows(x):
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        m = 0.0
        for j in range(x.shape[1]):
            m += x[i, j]
        q = 0.0
        for j in range(x.shape[1]):
            q += x[i, j] * x[i, j]
        m /= x.shape[1]
        s = np.sqrt(q / x.shape[1] - m * m)
        for j in range(x.shape[1]):
            out[i, j] = (x[i, j] - m) / s
    return out


@program("statistics of columns", lambda n: (f8(n, n),), 20, 1000)
def column_stats(x):
    return x.mean(axis=0), x.max(axis=0), x.min(axis=0)


@program("weighted correlation", lambda n: (f8(n), f8(n), f8(n)), 50, 1000000)
def weighted(x, y, w):
    xm = np.sum(w * x) / np.sum(w)
    ym = np.sum(w * y) / np.sum(w)
    return np.sum(w * (x - xm) * (y - ym)) / np.sqrt(np.sum(w * (x - xm) ** 2) * np.sum(w * (y - ym) ** 2))


@program("a step of Adam", lambda n: (f8(n), f8(n), f8(n), f8(n), 0.001, 0.9, 0.999, 5), 50, 1000000)
def adam(p, g, m, v, lr, b1, b2, t):
    m[:] = b1 * m + (1 - b1) * g
    v[:] = b2 * v + (1 - b2) * g * g
    mh = m / (1 - b1**t)
    vh = v / (1 - b2**t)
    p -= lr * mh / (np.sqrt(vh) + 1e-8)


@program("a step of a compressible fluid", lambda n: (f8(n, n), f8(n, n), f8(n, n), f8(n, n), 0.1), 20, 1000)
def euler(rho, mx, my, en, dt):
    u = mx / rho
    v = my / rho
    p = 0.4 * (en - 0.5 * rho * (u * u + v * v))
    c = np.sqrt(1.4 * np.abs(p) / rho)
    fx = mx * u + p
    fy = mx * v
    mx += dt * fx
    my += dt * fy
    en += dt * u * (en + p)
    return np.max(np.abs(u) + c)


@program("velocity Verlet", lambda n: (f8(n, 3), f8(n, 3), f8(n, 3), f8(n), 0.1, 5), 20, 100000)
def verlet(x, v, f, m, dt, steps):
    for _s in range(steps):
        a = f / m[:, None]
        v += 0.5 * dt * a
        x += dt * v
        for i in range(x.shape[0]):
            for k in range(3):
                f[i, k] = -x[i, k]
        a = f / m[:, None]
        v += 0.5 * dt * a
    return 0.5 * np.sum(m[:, None] * v * v)


@program("edges and their angles", lambda n: (f8(n, n),), 20, 1000)
def sobel(img):
    gx = img[1:-1, 2:] - img[1:-1, :-2]
    gy = img[2:, 1:-1] - img[:-2, 1:-1]
    mag = np.sqrt(gx * gx + gy * gy)
    ang = np.arctan2(gy, gx)
    return np.where(mag > 0.5, ang, 0.0)


@program("call options", lambda n: (f8(n) + 0.5, f8(n) + 0.5, f8(n) + 0.1, 0.03, 0.2), 50, 300000)
def bs(s, k, t, r, vol):
    d1 = (np.log(s / k) + (r + 0.5 * vol * vol) * t) / (vol * np.sqrt(t))
    d2 = d1 - vol * np.sqrt(t)
    return s * (0.5 + 0.5 * np.tanh(d1)) - k * np.exp(-r * t) * (0.5 + 0.5 * np.tanh(d2))


@program("angle where it counts, a name for it", lambda n: (f8(n), f8(n), zeros(n)), 50, 100000)
def select_dear(x, y, out):
    for i in range(x.shape[0]):
        a = np.arctan2(x[i], y[i])
        out[i] = a if x[i] > 0.5 else 0.0


@program("angle where it rarely counts", lambda n: (f8(n), f8(n), zeros(n)), 50, 100000)
def rare_dear(x, y, out):
    for i in range(x.shape[0]):
        a = np.arctan2(x[i], y[i])
        if x[i] > 0.99:
            out[i] = a


@program("angle where it counts, one expression", lambda n: (f8(n), f8(n), zeros(n)), 50, 100000)
def inline_dear(x, y, out):
    for i in range(x.shape[0]):
        out[i] = np.arctan2(x[i], y[i]) if x[i] > 0.5 else 0.0


@program("angle where it counts, where", lambda n: (f8(n), f8(n), zeros(n)), 50, 100000)
def where_dear(x, y, out):
    out[:] = np.where(x > 0.5, np.arctan2(x, y), 0.0)


@program("angle where it counts, if", lambda n: (f8(n), f8(n), zeros(n)), 50, 100000)
def if_dear(x, y, out):
    for i in range(x.shape[0]):
        v = 0.0
        if x[i] > 0.5:
            v = np.arctan2(x[i], y[i])
        out[i] = v


@program("softmax of rows, expressions", lambda n: (f8(n, n),), 20, 1000)
def softmax_expr(x):
    m = x.max(axis=1)
    e = np.exp(x - m[:, None])
    s = e.sum(axis=1)
    return e / s[:, None]


@program("layer norm, expressions", lambda n: (f8(n, n), f8(n), f8(n)), 20, 1000)
def layernorm_expr(x, g, b):
    mu = x.mean(axis=1)
    d = x - mu[:, None]
    var = (d * d).mean(axis=1)
    return d / np.sqrt(var + 1e-5)[:, None] * g + b


@program("a matrix times two vectors", lambda n: (f8(n, n), f8(n), f8(n)), 20, 2000)
def two_matvec(a, x, z):
    return a @ x, a @ z


@program("statistics of rows", lambda n: (f8(n, n),), 20, 1000)
def row_stats(x):
    return x.mean(axis=1), x.max(axis=1), x.min(axis=1), x.std(axis=1)


@program("cosines of rows", lambda n: (f8(n, n), f8(n, n)), 20, 1000)
def cosine_rows(a, b):
    na = np.sqrt((a * a).sum(axis=1))
    nb = np.sqrt((b * b).sum(axis=1))
    return (a * b).sum(axis=1) / (na * nb)


@program("log-sum-exp of rows", lambda n: (f8(n, n),), 20, 1000)
def logsumexp(x):
    m = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        m[i] = np.max(x[i])
    return m + np.log(np.sum(np.exp(x - m[:, None]), axis=1))


@program("columns standardised", lambda n: (f8(n, n),), 20, 1000)
def std_cols(x):
    return (x - x.mean(axis=0)) / x.std(axis=0)
