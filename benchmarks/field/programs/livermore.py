"""The kernels of the Livermore loops (McMahon, 1986), written anew."""

import numpy as np

from benchmarks.field.programs.programs import program


def _hydro_fragment(r, big):
    n = 1000000 if big else 301
    return (np.zeros(n), r.random(n), r.random(n + 11), 0.5, 0.25, 0.1)


@program(_hydro_fragment)
def hydro_fragment(x, y, z, q, r, t):
    for k in range(x.shape[0]):
        x[k] = q + y[k] * (r * z[k + 10] + t * z[k + 11])


def _iccg(r, big):
    m = 1 << (18 if big else 6)
    return (r.random(2 * m + 2), r.random(2 * m + 2) * 0.1, m)


@program(_iccg)
def iccg(x, v, n):
    ii = n
    ipntp = 0
    while ii > 1:
        ipnt = ipntp
        ipntp += ii
        ii //= 2
        i = ipntp
        for k in range(ipnt + 1, ipntp, 2):
            x[i] = x[k] - v[k] * x[k - 1] - v[k + 1] * x[k + 1]
            i += 1


def _inner_product(r, big):
    n = 1000000 if big else 301
    return (r.random(n), r.random(n))


@program(_inner_product)
def inner_product(z, x):
    q = 0.0
    for k in range(x.shape[0]):
        q += z[k] * x[k]
    return q


def _banded_linear(r, big):
    n = 1000000 if big else 301
    return (r.random(1001 + n // 5), r.random(n) * 0.001, n)


@program(_banded_linear)
def banded_linear(x, y, n):
    m = (1001 - 7) // 2
    for k in range(6, 1001, m):
        lw = k - 6
        temp = x[k - 1]
        for j in range(4, n, 5):
            temp -= x[lw] * y[j]
            lw += 1
        x[k - 1] = y[4] * temp


def _tridiagonal(r, big):
    n = 1000000 if big else 301
    return (r.random(n), r.random(n), r.random(n) * 0.5)


@program(_tridiagonal)
def tridiagonal(x, y, z):
    for i in range(1, x.shape[0]):
        x[i] = z[i] * (y[i] - x[i - 1])


def _linear_recurrence(r, big):
    s = 600 if big else 20
    return (r.random(s), r.random((s, s)) * 0.01)


@program(_linear_recurrence)
def linear_recurrence(w, b):
    for i in range(1, w.shape[0]):
        w[i] = 0.0100
        for k in range(i):
            w[i] += b[k, i] * w[i - k - 1]


def _equation_of_state(r, big):
    n = 1000000 if big else 301
    return (np.zeros(n), r.random(n), r.random(n), r.random(n + 6), 0.5, 0.3, 0.2)


@program(_equation_of_state)
def equation_of_state(x, y, z, u, q, r, t):
    for k in range(x.shape[0]):
        x[k] = (
            u[k]
            + r * (z[k] + r * y[k])
            + t * (u[k + 3] + r * (u[k + 2] + r * u[k + 1]) + t * (u[k + 6] + q * (u[k + 5] + q * u[k + 4])))
        )


def _adi_integration(r, big):
    n = 1000000 if big else 301
    k = n // 10
    return (
        r.random((2, k + 1, 5)),
        r.random((2, k + 1, 5)),
        r.random((2, k + 1, 5)),
        r.random(k),
        r.random(k),
        r.random(k),
        r.random(9),
        0.1,
    )


@program(_adi_integration)
def adi_integration(u1, u2, u3, du1, du2, du3, a, sig):
    for kx in range(1, 3):
        for ky in range(1, du1.shape[0]):
            du1[ky] = u1[0, ky + 1, kx] - u1[0, ky - 1, kx]
            du2[ky] = u2[0, ky + 1, kx] - u2[0, ky - 1, kx]
            du3[ky] = u3[0, ky + 1, kx] - u3[0, ky - 1, kx]
            u1[1, ky, kx] = (
                u1[0, ky, kx]
                + a[0] * du1[ky]
                + a[1] * du2[ky]
                + a[2] * du3[ky]
                + sig * (u1[0, ky, kx + 1] - 2.0 * u1[0, ky, kx] + u1[0, ky, kx - 1])
            )
            u2[1, ky, kx] = (
                u2[0, ky, kx]
                + a[3] * du1[ky]
                + a[4] * du2[ky]
                + a[5] * du3[ky]
                + sig * (u2[0, ky, kx + 1] - 2.0 * u2[0, ky, kx] + u2[0, ky, kx - 1])
            )
            u3[1, ky, kx] = (
                u3[0, ky, kx]
                + a[6] * du1[ky]
                + a[7] * du2[ky]
                + a[8] * du3[ky]
                + sig * (u3[0, ky, kx + 1] - 2.0 * u3[0, ky, kx] + u3[0, ky, kx - 1])
            )


def _integrate_predictors(r, big):
    n = 1000000 if big else 301
    k = n // 10
    return (r.random((k, 25)), r.random(7))


@program(_integrate_predictors)
def integrate_predictors(px, c):
    for i in range(px.shape[0]):
        px[i, 0] = (
            c[6] * px[i, 12]
            + c[5] * px[i, 11]
            + c[4] * px[i, 10]
            + c[3] * px[i, 9]
            + c[2] * px[i, 8]
            + c[1] * px[i, 7]
            + c[0] * px[i, 6]
            + (px[i, 4] + px[i, 5])
            + px[i, 2]
        )


def _difference_predictors(r, big):
    n = 1000000 if big else 301
    k = n // 10
    return (r.random((k, 25)), r.random((k, 25)))


@program(_difference_predictors)
def difference_predictors(px, cx):
    for i in range(px.shape[0]):
        ar = cx[i, 4]
        br = ar - px[i, 4]
        px[i, 4] = ar
        cr = br - px[i, 5]
        px[i, 5] = br
        ar = cr - px[i, 6]
        px[i, 6] = cr
        br = ar - px[i, 7]
        px[i, 7] = ar
        cr = br - px[i, 8]
        px[i, 8] = br
        ar = cr - px[i, 9]
        px[i, 9] = cr
        br = ar - px[i, 10]
        px[i, 10] = ar
        cr = br - px[i, 11]
        px[i, 11] = br
        px[i, 13] = cr - px[i, 12]
        px[i, 12] = cr


def _first_sum(r, big):
    n = 1000000 if big else 301
    return (np.zeros(n), r.random(n))


@program(_first_sum)
def first_sum(x, y):
    x[0] = y[0]
    for k in range(1, x.shape[0]):
        x[k] = x[k - 1] + y[k]


def _first_difference(r, big):
    n = 1000000 if big else 301
    return (np.zeros(n), r.random(n + 1))


@program(_first_difference)
def first_difference(x, y):
    for k in range(x.shape[0]):
        x[k] = y[k + 1] - y[k]


def _pic_2d(r, big):
    n = 1000000 if big else 301
    k = n // 10
    return (
        r.random((k, 4)) * 60,
        r.random((64, 64)),
        r.random((64, 64)),
        r.random(128),
        r.random(128),
        r.integers(0, 2, 128),
        r.integers(0, 2, 128),
        np.zeros((66, 66)),
    )


@program(_pic_2d)
def pic_2d(p, b, c, y, z, e, f, h):
    for ip in range(p.shape[0]):
        i1 = int(p[ip, 0]) & 63
        j1 = int(p[ip, 1]) & 63
        p[ip, 2] += b[j1, i1]
        p[ip, 3] += c[j1, i1]
        p[ip, 0] += p[ip, 2]
        p[ip, 1] += p[ip, 3]
        i2 = int(p[ip, 0]) & 63
        j2 = int(p[ip, 1]) & 63
        p[ip, 0] += y[i2 + 32]
        p[ip, 1] += z[j2 + 32]
        i2 += e[i2 + 32]
        j2 += f[j2 + 32]
        h[j2, i2] += 1.0


def _pic_1d(r, big):
    n = 1000000 if big else 301
    k = n // 10
    return (
        np.zeros(k),
        np.zeros(k),
        np.zeros(k),
        np.zeros(k),
        np.zeros(k),
        np.zeros(k, np.int64),
        np.zeros(k, np.int64),
        np.zeros(k),
        r.random(k) * 500 + 2,
        r.random(600),
        r.random(600),
        np.zeros(2050),
        3.5,
    )


@program(_pic_1d)
def pic_1d(vx, xx, xi, ex1, dex1, ix, ir, rx, grd, ex, dex, rh, flx):
    n = vx.shape[0]
    for k in range(n):
        vx[k] = 0.0
        xx[k] = 0.0
        ix[k] = int(grd[k])
        xi[k] = float(ix[k])
        ex1[k] = ex[ix[k] - 1]
        dex1[k] = dex[ix[k] - 1]
    for k in range(n):
        vx[k] = vx[k] + ex1[k] + (xx[k] - xi[k]) * dex1[k]
        xx[k] = xx[k] + vx[k] + flx
        ir[k] = int(xx[k])
        rx[k] = xx[k] - ir[k]
        ir[k] = (ir[k] & 2047) + 1
        xx[k] = rx[k] + ir[k]
    for k in range(n):
        rh[ir[k] - 1] += 1.0 - rx[k]
        rh[ir[k]] += rx[k]


def _casual_fortran(r, big):
    s = 600 if big else 20
    g = (s, s)
    return (
        np.zeros(g),
        np.zeros(g),
        np.zeros(g),
        r.random(g) + 0.1,
        r.random(g) + 0.1,
        r.random(g) + 0.1,
        np.zeros(g),
        0.5,
        0.75,
    )


@program(_casual_fortran)
def casual_fortran(vs, ve, vy, vh, vf, vg, vv, r, t):
    ng = vy.shape[0]
    nz = vy.shape[1]
    for j in range(1, ng):
        for k in range(1, nz):
            if j + 1 >= ng:
                vy[j, k] = 0.0
            else:
                if vh[j + 1, k] > vh[j, k]:
                    tt = t
                else:
                    tt = r
                if vf[j, k] < vf[j, k - 1]:
                    rr = max(vh[j, k - 1], vh[j + 1, k - 1])
                    s = vf[j, k - 1]
                else:
                    rr = max(vh[j, k], vh[j + 1, k])
                    s = vf[j, k]
                vy[j, k] = np.sqrt(vg[j, k] ** 2 + rr * rr) * tt / s
                if k + 1 >= nz:
                    vs[j, k] = 0.0
                else:
                    if vf[j, k] < vf[j - 1, k]:
                        rr = max(vg[j - 1, k], vg[j - 1, k + 1])
                        s = vf[j - 1, k]
                        tt = r
                    else:
                        rr = max(vg[j, k], vg[j, k + 1])
                        s = vf[j, k]
                        tt = t
                    vs[j, k] = np.sqrt(vh[j, k] ** 2 + rr * rr) * tt / s


def _monte_carlo_search(r, big):
    n = 1000000 if big else 301
    k = n // 10
    return (r.random(k + 200), r.random(1000), r.integers(0, k, k), 0.9, 0.5, 0.8, 100)


@program(_monte_carlo_search)
def monte_carlo_search(plan, d, zone, r, s, t, n):
    found = 0
    for m in range(zone.shape[0]):
        j2 = (n + n) * (zone[m] % 3)
        for k in range(n):
            j4 = j2 + 2 * k
            j5 = zone[m] + k
            if plan[j5] < t:
                if d[j4] > r:
                    found += 1
                    break
            elif plan[j5] == s:
                continue
            else:
                found += 2
                if found % 7 == 3:
                    break
    return found


def _implicit_conditional(r, big):
    n = 1000000 if big else 301
    return tuple(r.random(n) * 0.5 for _ in range(8))


@program(_implicit_conditional)
def implicit_conditional(vxne, vlr, vlin, vxnd, ve3, xnei, xnc, z):
    scale = 5.0 / 3.0
    xnm = 1.0 / 3.0
    e6 = 1.03 / 3.07
    for i in range(vxne.shape[0] - 1, -1, -1):
        e3 = xnm * vlr[i] + vlin[i]
        xne = z[i]
        vxnd[i] = e6
        xnc_i = scale * e3
        if xnm > xnc_i or xne > xnc_i:
            ve3[i] = e3
            e6 = e3 + e3 - xnm
            vxne[i] = e6
            xnei[i] = e6
            xnm = e6
        else:
            xnm = xnm * vlr[i] + vlin[i]
            vxne[i] = xnm
            ve3[i] = e3
            e6 = xnm
            xnc[i] = e6


def _explicit_hydro(r, big):
    s = 600 if big else 20
    g = (s, s)
    return (*(r.random(g) + 0.5 for _ in range(9)), 0.0041, 0.0037)


@program(_explicit_hydro)
def explicit_hydro(za, zb, zm, zp, zq, zr, zu, zv, zz, s, t):
    kn = za.shape[0] - 1
    jn = za.shape[1] - 1
    for k in range(1, kn):
        for j in range(1, jn):
            za[k, j] = (
                (zp[k + 1, j - 1] + zq[k + 1, j - 1] - zp[k, j - 1] - zq[k, j - 1])
                * (zr[k, j] + zr[k, j - 1])
                / (zm[k, j - 1] + zm[k + 1, j - 1])
            )
            zb[k, j] = (
                (zp[k, j - 1] + zq[k, j - 1] - zp[k, j] - zq[k, j])
                * (zr[k, j] + zr[k - 1, j])
                / (zm[k, j] + zm[k, j - 1])
            )
    for k in range(1, kn):
        for j in range(1, jn):
            zu[k, j] += s * (
                za[k, j] * (zz[k, j] - zz[k, j + 1])
                - za[k, j - 1] * (zz[k, j] - zz[k, j - 1])
                - zb[k, j] * (zz[k, j] - zz[k - 1, j])
                + zb[k + 1, j] * (zz[k, j] - zz[k + 1, j])
            )
            zv[k, j] += s * (
                za[k, j] * (zr[k, j] - zr[k, j + 1])
                - za[k, j - 1] * (zr[k, j] - zr[k, j - 1])
                - zb[k, j] * (zr[k, j] - zr[k - 1, j])
                + zb[k + 1, j] * (zr[k, j] - zr[k + 1, j])
            )
    for k in range(1, kn):
        for j in range(1, jn):
            zr[k, j] = zr[k, j] + t * zu[k, j]
            zz[k, j] = zz[k, j] + t * zv[k, j]


def _general_recurrence(r, big):
    n = 1000000 if big else 301
    return (np.zeros(n), r.random(n) * 0.1, r.random(n) * 0.1, 0.1)


@program(_general_recurrence)
def general_recurrence(b5, sa, sb, stb5):
    n = sa.shape[0]
    for k in range(n):
        b5[k] = sa[k] + stb5 * sb[k]
        stb5 = b5[k] - stb5
    for i in range(1, n + 1):
        k = n - i
        b5[k] = sa[k] + stb5 * sb[k]
        stb5 = b5[k] - stb5
    return stb5


def _discrete_ordinates(r, big):
    n = 1000000 if big else 301
    return (
        r.random(n),
        r.random(n + 1),
        r.random(n),
        r.random(n),
        r.random(n),
        r.random(n),
        r.random(n),
        r.random(n),
        r.random(n) + 0.1,
        0.1,
        0.2,
        3.0,
    )


@program(_discrete_ordinates)
def discrete_ordinates(x, xx, y, z, u, v, w, g, vx, dk, s, t):
    for k in range(x.shape[0]):
        di = y[k] - g[k] / (xx[k] + dk)
        dn = 0.2
        if di != 0.0:
            dn = z[k] / di
            if t < dn:
                dn = t
            if s > dn:
                dn = s
        x[k] = ((w[k] + v[k] * dn) * xx[k] + u[k]) / (vx[k] + v[k] * dn)
        xx[k + 1] = (x[k] - xx[k]) * dn + xx[k]


def _matrix_product(r, big):
    n = 1000000 if big else 301
    k = n // 10
    return (np.zeros((k, 25)), r.random((25, 25)), r.random((k, 25)))


@program(_matrix_product)
def matrix_product(px, vy, cx):
    for k in range(25):
        for i in range(25):
            for j in range(px.shape[0]):
                px[j, i] += vy[k, i] * cx[j, k]


def _planckian(r, big):
    n = 1000000 if big else 301
    return (np.zeros(n), np.zeros(n), r.random(n), r.random(n) + 0.1, r.random(n) + 0.5, 20.0)


@program(_planckian)
def planckian(w, y, x, u, v, expmax):
    u[-1] = 0.99 * expmax * v[-1]
    for k in range(x.shape[0]):
        y[k] = u[k] / v[k]
        w[k] = x[k] / (np.exp(y[k]) - 1.0)


def _implicit_hydro(r, big):
    s = 600 if big else 20
    g = (s, s)
    return tuple(r.random(g) * 0.2 for _ in range(6))


@program(_implicit_hydro)
def implicit_hydro(za, zb, zr, zu, zv, zz):
    for j in range(1, za.shape[0] - 1):
        for k in range(1, za.shape[1] - 1):
            qa = (
                za[j + 1, k] * zr[j, k]
                + za[j - 1, k] * zb[j, k]
                + za[j, k + 1] * zu[j, k]
                + za[j, k - 1] * zv[j, k]
                + zz[j, k]
            )
            za[j, k] += 0.175 * (qa - za[j, k])


def _first_minimum(r, big):
    n = 1000000 if big else 301
    return (r.random(n),)


@program(_first_minimum)
def first_minimum(x):
    m = 0
    for k in range(1, x.shape[0]):
        if x[k] < x[m]:
            m = k
    return m
