"""Each item of many goes through steps of its own, which wait for one another: trajectories, filters, walks."""

import math

import numpy as np

from benchmarks.field.programs.programs import program


def _lorenz(r, big):
    return (r.random((2000 if big else 19, 3)), 200 if big else 5, 0.005)


@program(_lorenz)
def lorenz(x, steps, h):
    for p in range(x.shape[0]):
        a = x[p, 0]
        b = x[p, 1]
        c = x[p, 2]
        for _ in range(steps):
            k1a = 10.0 * (b - a)
            k1b = a * (28.0 - c) - b
            k1c = a * b - 8.0 / 3.0 * c
            am = a + 0.5 * h * k1a
            bm = b + 0.5 * h * k1b
            cm = c + 0.5 * h * k1c
            k2a = 10.0 * (bm - am)
            k2b = am * (28.0 - cm) - bm
            k2c = am * bm - 8.0 / 3.0 * cm
            a += 0.5 * h * (k1a + k2a)
            b += 0.5 * h * (k1b + k2b)
            c += 0.5 * h * (k1c + k2c)
        x[p, 0] = a
        x[p, 1] = b
        x[p, 2] = c


def _rows(r, big):
    shape = (300, 4000) if big else (19, 6)
    return (r.random(shape) + 0.5, np.zeros(shape))


@program(lambda r, big: (*_rows(r, big), 0.2, 0.3, 0.2, -0.5, 0.2))
def second_order_filter(x, y, b0, b1, b2, a1, a2):
    for c in range(x.shape[0]):
        s1 = 0.0
        s2 = 0.0
        for t in range(x.shape[1]):
            v = x[c, t]
            out = b0 * v + s1
            s1 = b1 * v - a1 * out + s2
            s2 = b2 * v - a2 * out
            y[c, t] = out


@program(lambda r, big: (*_rows(r, big), 0.1, 0.2))
def kalman_rows(z, out, q, noise):
    for c in range(z.shape[0]):
        x = 0.0
        p = 1.0
        for t in range(z.shape[1]):
            p += q
            gain = p / (p + noise)
            x += gain * (z[c, t] - x)
            p *= 1.0 - gain
            out[c, t] = x


@program(lambda r, big: (_rows(r, big)[0], np.zeros(300 if big else 19)))
def drawdowns(price, worst):
    for c in range(price.shape[0]):
        top = price[c, 0]
        most = 0.0
        for t in range(price.shape[1]):
            if price[c, t] > top:
                top = price[c, t]
            down = (top - price[c, t]) / top
            if down > most:
                most = down
        worst[c] = most


@program(_rows)
def running_sums_of_rows(x, y):
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            s += x[i, j]
            y[i, j] = s


def _table_walks(r, big):
    n = 1000000 if big else 23
    return (r.integers(0, n, n), r.integers(0, n, 1000 if big else 19), 300 if big else 7)


@program(_table_walks)
def table_walks(following, place, steps):
    for p in range(place.shape[0]):
        v = place[p]
        for _ in range(steps):
            v = following[v]
        place[p] = v


def _longest_runs(r, big):
    return (r.integers(0, 3, (300, 2000) if big else (19, 7)), np.zeros(300 if big else 19, np.int64))


@program(_longest_runs)
def longest_runs(seen, longest):
    for p in range(seen.shape[0]):
        run = 0
        best = 0
        last = -1
        for t in range(seen.shape[1]):
            if seen[p, t] == last:
                run += 1
            else:
                run = 1
            last = seen[p, t]
            if run > best:
                best = run
        longest[p] = best


def _pendulums(r, big):
    n = 2000 if big else 19
    return (r.random(n), r.random(n), 300 if big else 5, 0.01)


@program(_pendulums)
def pendulums(angle, speed, steps, dt):
    for i in range(angle.shape[0]):
        a = angle[i]
        b = speed[i]
        for _ in range(steps):
            b -= dt * (a - a**3 / 6 + a**5 / 120)
            a += dt * b
            if a > math.pi:
                a -= 2 * math.pi
        angle[i] = a
        speed[i] = b


def _escaped(x0, y0, most):
    x = 0.0
    y = 0.0
    for k in range(most):
        x, y = x * x - y * y + x0, 2.0 * x * y + y0
        if x * x + y * y > 4.0:
            return k
    return most


def _escape_times(r, big):
    shape = (300, 300) if big else (7, 5)
    return (np.zeros(shape, np.int64), 0.5 / shape[0], 200 if big else 9)


@program(_escape_times)
def escape_times(image, size, most):
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            image[i, j] = _escaped(3 * j * size - 1.0, 2 * i * size - 0.5, most)
