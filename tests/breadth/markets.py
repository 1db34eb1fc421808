"""Markets: trades, bars, order books."""

from __future__ import annotations

import numpy as np

from breadth.cases import case

TRADE = np.dtype([("entry", np.int64), ("exit", np.int64), ("pnl", np.float64), ("side", np.int8)])


@case(lambda rng: (100 + rng.normal(size=9).cumsum(), rng.uniform(0.5, 1.5, 9), 5, 2.0))
def supertrend(close, spread, period, mult):
    high, low = close + spread, close - spread
    n = len(close)
    atr = np.full(n, np.nan)
    tr = np.empty(n)
    for i in range(n):
        tr[i] = high[i] - low[i] if i == 0 else max(high[i] - low[i], abs(high[i] - close[i - 1]), abs(low[i] - close[i - 1]))
    for i in range(period, n):
        atr[i] = tr[i - period + 1 : i + 1].mean() if np.isnan(atr[i - 1]) else (atr[i - 1] * (period - 1) + tr[i]) / period
    upper = (high + low) / 2 + mult * atr
    lower = (high + low) / 2 - mult * atr
    trend = np.ones(n, dtype=np.int8)
    for i in range(1, n):
        if close[i] > upper[i - 1]:
            trend[i] = 1
        elif close[i] < lower[i - 1]:
            trend[i] = -1
        else:
            trend[i] = trend[i - 1]
            if trend[i] == 1 and lower[i] < lower[i - 1]:
                lower[i] = lower[i - 1]
            if trend[i] == -1 and upper[i] > upper[i - 1]:
                upper[i] = upper[i - 1]
    return trend, np.where(trend > 0, lower, upper)



@case(lambda rng: (100 + rng.normal(size=9).cumsum(), rng.integers(-1, 2, 9)))
def trade_records(price, signal, fee=0.001):
    trades = np.zeros(len(price), dtype=TRADE)
    k = 0
    open_at = -1
    side = 0
    for i in range(len(price)):
        if open_at >= 0 and signal[i] == -side:
            trades[k]["entry"] = open_at
            trades[k]["exit"] = i
            trades[k]["side"] = side
            trades[k]["pnl"] = side * (price[i] / price[open_at] - 1) - fee
            k += 1
            open_at = -1
        elif open_at < 0 and signal[i] != 0:
            open_at, side = i, signal[i]
    return trades[:k], trades["pnl"][:k].sum()



@case(lambda rng: (100 + rng.normal(size=9).cumsum(), 1.5))
def zigzag(price, pct):
    pivots = [0]
    direction = 0
    last = price[0]
    for i in range(1, len(price)):
        change = (price[i] - last) / last * 100
        if direction == 0:
            if abs(change) >= pct:
                direction = 1 if change > 0 else -1
                last = price[i]
                pivots.append(i)
        elif direction == 1:
            if price[i] > last:
                last = price[i]
                pivots[-1] = i
            elif change <= -pct:
                direction = -1
                last = price[i]
                pivots.append(i)
        else:
            if price[i] < last:
                last = price[i]
                pivots[-1] = i
            elif change >= pct:
                direction = 1
                last = price[i]
                pivots.append(i)
    return np.array(pivots), direction



@case(lambda rng: (100 + rng.normal(size=9).cumsum(), rng.integers(1, 100, 9).astype(np.float64)))
def dollar_bars(price, volume, threshold=2000.0):
    bars = []
    o = h = l = price[0]
    acc = 0.0
    start = 0
    for i in range(price.size):
        h = max(h, price[i])
        l = min(l, price[i])
        acc += price[i] * volume[i]
        if acc >= threshold:
            bars.append((start, o, h, l, price[i], acc))
            if i + 1 < price.size:
                o = h = l = price[i + 1]
            acc = 0.0
            start = i + 1
    return bars



@case(lambda rng: (np.array([0.02, 0.022, 0.025, 0.027, 0.03]), 9))
def bootstrap_curve(par, n):
    m = min(n, par.shape[0])
    df = np.zeros(m)
    annuity = 0.0
    for i in range(m):
        df[i] = (1 - par[i] * annuity) / (1 + par[i])
        annuity += df[i]
    zero = df ** (-1.0 / np.arange(1, m + 1)) - 1
    fwd = np.empty(m)
    fwd[0] = zero[0]
    fwd[1:] = df[:-1] / df[1:] - 1
    return df, zero, fwd
