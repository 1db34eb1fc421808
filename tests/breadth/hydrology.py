"""Hydrology: rivers, snow, catchments."""

from __future__ import annotations

import math

import numpy as np

from breadth.cases import case
from loopwright import prange

DAYS = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
NODATA = -9999.0
D8 = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))


@case(lambda rng: (rng.gamma(2.0, 10.0, 9), 12.0, 0.2, 6.0))
def muskingum(inflow, k, x, dt):
    denom = k * (1 - x) + 0.5 * dt
    c0 = (-k * x + 0.5 * dt) / denom
    c1 = (k * x + 0.5 * dt) / denom
    c2 = (k * (1 - x) - 0.5 * dt) / denom
    out = np.empty_like(inflow)
    out[0] = inflow[0]
    for t in range(1, inflow.size):
        out[t] = c0 * inflow[t] + c1 * inflow[t - 1] + c2 * out[t - 1]
        if out[t] < 0:
            out[t] = 0
    return out



@case(lambda rng: (rng.gamma(1.0, 8.0, 9), rng.uniform(40, 100, 9), rng.integers(0, 4, 9)))
def scs_runoff(rain, cn, amc, lam=0.2):
    q = np.zeros(rain.shape, dtype=rain.dtype)
    for i in range(len(rain)):
        if amc[i] == 1:
            c = cn[i] / (2.281 - 0.01281 * cn[i])
        elif amc[i] == 3:
            c = cn[i] / (0.427 + 0.00573 * cn[i])
        else:
            c = cn[i]
        s = 25400.0 / c - 254.0
        ia = lam * s
        q[i] = 0.0 if rain[i] <= ia else (rain[i] - ia) ** 2 / (rain[i] - ia + s)
    return q, q.sum() / max(rain.sum(), 1e-9)



def _dem(r, n):
    m = max(int(math.sqrt(n)) , 1) if n else 0
    return r.uniform(0, 100, (m, m))



def _flow_slope(dem, i, j, cell):
    best, where = 0.0, -1
    for k in range(8):
        di, dj = D8[k]
        ii = i + di
        jj = j + dj
        if 0 <= ii < dem.shape[0] and 0 <= jj < dem.shape[1]:
            dist = cell * (math.sqrt(2.0) if di != 0 and dj != 0 else 1.0)
            s = (dem[i, j] - dem[ii, jj]) / dist
            if s > best:
                best = s
                where = k
    return best, where



@case(lambda rng: (_dem(rng, 9), 30.0))
def slope_and_direction(dem, cell):
    slope = np.full(dem.shape, np.nan, dtype=np.float32)
    direction = np.full_like(dem, -1, dtype=np.int8)
    for i in prange(dem.shape[0]):
        for j in range(dem.shape[1]):
            if np.isnan(dem[i, j]) or dem[i, j] == NODATA:
                continue
            s, k = _flow_slope(dem, i, j, cell)
            slope[i, j] = s
            direction[i, j] = k
    return slope, direction



@case(lambda rng: (rng.normal(10, 8, 14), 45.0))
def thornthwaite(temps, latitude):
    heat = 0.0
    for t in temps:
        if t > 0:
            heat += (t / 5.0) ** 1.514
    a = 6.75e-7 * heat**3 - 7.71e-5 * heat**2 + 1.792e-2 * heat + 0.49239
    pet = np.zeros(len(temps))
    lat = math.radians(latitude)
    for k, t in enumerate(temps):
        month = k % 12
        doy = DAYS[: month + 1].sum() - DAYS[month] // 2
        decl = 0.409 * math.sin(2 * math.pi * doy / 365 - 1.39)
        arg = -math.tan(lat) * math.tan(decl)
        hours = 24 / math.pi * math.acos(min(1.0, max(-1.0, arg)))
        if t > 0 and heat > 0:
            pet[k] = 16 * (hours / 12) * (DAYS[month] / 30) * (10 * t / heat) ** a
    return pet



@case(lambda rng: (rng.gamma(1, 6, 9), rng.normal(2, 6, 9), np.array([0.0, 3.5, 0.05, 0.1, 200.0, 1.2])))
def hbv_snow(precip, temp, par):
    tt, cfmax, cfr, cwh, fc, beta = par
    snow = liquid = 0.0
    soil = 0.5 * fc
    states = np.zeros((precip.shape[0], 4))
    for t in range(precip.shape[0]):
        rain = 0.0
        if temp[t] < tt:
            snow += precip[t]
        else:
            rain = precip[t]
        melt = min(snow, max(0.0, cfmax * (temp[t] - tt)))
        snow -= melt
        liquid += melt + rain
        refreeze = min(liquid, max(0.0, cfr * cfmax * (tt - temp[t])))
        liquid -= refreeze
        snow += refreeze
        release = max(0.0, liquid - cwh * snow)
        liquid -= release
        recharge = release * (soil / fc) ** beta
        soil += release - recharge
        if soil > fc:
            recharge, soil = recharge + soil - fc, fc
        states[t, :] = snow, liquid, soil, recharge
    return states



@case(lambda rng: (rng.gamma(2, 5, 9), 0.925, 3))
def lyne_hollick(q, alpha, passes):
    base = q.copy()
    for p in range(passes):
        if p % 2 == 1:
            base = base[::-1].copy()
        quick = np.zeros(base.shape[0])
        for i in range(1, base.shape[0]):
            quick[i] = alpha * quick[i - 1] + 0.5 * (1 + alpha) * (base[i] - base[i - 1])
        base = np.where(quick > 0, base - quick, base)
        if p % 2 == 1:
            base = base[::-1].copy()
    return base



def _tree(r, n):
    down = np.full(n, -1, dtype=np.int64)
    for i in range(n - 1):
        down[i] = r.integers(i + 1, n)
    return (down,)



@case(lambda rng: _tree(rng, 12))
def strahler(down):
    n = len(down)
    order = np.ones(n, dtype=np.int32)
    best = np.zeros(n, dtype=np.int32)
    ties = np.zeros(n, dtype=np.int32)
    for i in range(n):
        if best[i] > 0:
            order[i] = best[i] + 1 if ties[i] > 1 else best[i]
        d = down[i]
        if d < 0:
            continue
        if order[i] > best[d]:
            best[d], ties[d] = order[i], 1
        elif order[i] == best[d]:
            ties[d] += 1
    return order, np.bincount(order)
