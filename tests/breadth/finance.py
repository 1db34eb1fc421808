"""Finance: indicators, backtests, option prices, risk."""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np

from breadth.cases import case

Bars = namedtuple("Bars", ["high", "low", "close"])


def _prices(rng, n=40):
    return 100 * np.exp(np.cumsum(rng.normal(0, 0.02, n)))


@case(lambda rng: (_prices(rng), 5), "slice read", "reductions", "assignment to a slice")
def moving_average(prices, window):
    out = np.empty(prices.shape[0])
    out[: window - 1] = np.nan
    for i in range(window - 1, prices.shape[0]):
        out[i] = prices[i - window + 1 : i + 1].mean()
    return out


@case(lambda rng: (_prices(rng), 0.2))
def ewma(x, alpha):
    out = np.empty_like(x)
    out[0] = x[0]
    for i in range(1, len(x)):
        if np.isnan(x[i]):
            out[i] = out[i - 1]
        else:
            out[i] = alpha * x[i] + (1 - alpha) * out[i - 1]
    return out


@case(lambda rng: (_prices(rng), 14), "np.diff", "np.where", "assignment to a slice")
def rsi(close, period):
    delta = np.diff(close)
    gain = np.where(delta > 0, delta, 0.0)
    loss = np.where(delta < 0, -delta, 0.0)
    out = np.full(close.shape, np.nan)
    up = np.mean(gain[:period])
    down = np.mean(loss[:period])
    for i in range(period, close.size):
        if i > period:
            up = (up * (period - 1) + gain[i - 1]) / period
            down = (down * (period - 1) + loss[i - 1]) / period
        out[i] = 100.0 if down == 0 else 100 - 100 / (1 + up / down)
    return out


@case(lambda rng: (_prices(rng),))
def max_drawdown(equity):
    peak = equity[0]
    worst = 0.0
    start = end = best_start = 0
    for i in range(len(equity)):
        if equity[i] > peak:
            peak = equity[i]
            start = i
        dd = (peak - equity[i]) / peak
        if dd > worst:
            worst = dd
            best_start, end = start, i
    return worst, best_start, end


@case(lambda rng: (_prices(rng), rng.integers(-1, 2, 40).astype(np.int8), 0.001), "lists")
def backtest(prices, signals, fee):
    position = 0
    entry = 0.0
    cash = 1.0
    trades = []
    equity = np.ones(prices.size)
    for i in range(1, prices.size):
        if position != 0:
            cash *= 1 + position * (prices[i] / prices[i - 1] - 1)
        if signals[i] != position:
            if position != 0:
                trades.append(position * (prices[i] - entry) / entry - fee)
            position = signals[i]
            entry = prices[i]
            cash *= 1 - fee
        equity[i] = cash
    return equity, np.array(trades)


def _norm_cdf(x):
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


@case(lambda rng: (100.0, rng.uniform(80, 120, 8), 0.5, 0.02, 0.3, True), "helper function")
def black_scholes(spot, strikes, t, r, sigma, is_call):
    out = np.empty(strikes.size)
    for i in range(strikes.size):
        k = strikes[i]
        d1 = (math.log(spot / k) + (r + 0.5 * sigma**2) * t) / (sigma * math.sqrt(t))
        d2 = d1 - sigma * math.sqrt(t)
        if is_call:
            out[i] = spot * _norm_cdf(d1) - k * math.exp(-r * t) * _norm_cdf(d2)
        else:
            out[i] = k * math.exp(-r * t) * _norm_cdf(-d2) - spot * _norm_cdf(-d1)
    return out


@case(lambda rng: (100.0, 95.0, 1.0, 0.03, 0.25, 20), "slice read", "assignment to a slice", "np.maximum")
def american_put(spot, strike, t, r, sigma, n):
    dt = t / n
    u = np.exp(sigma * np.sqrt(dt))
    d = 1 / u
    p = (np.exp(r * dt) - d) / (u - d)
    disc = np.exp(-r * dt)
    j = np.arange(n + 1)
    value = np.maximum(strike - spot * u ** (2.0 * j - n), 0.0)
    for i in range(n - 1, -1, -1):
        stock = spot * u ** (2.0 * np.arange(i + 1) - i)
        hold = disc * (p * value[1 : i + 2] + (1 - p) * value[: i + 1])
        value[: i + 1] = np.maximum(hold, strike - stock)
    return value[0]


@case(lambda rng: (rng.normal(size=(6, 10)), 100.0, 0.02, 0.2, 0.1), "axis", "whole-array arithmetic")
def asian_paths(noise, s0, mu, sigma, dt):
    paths = np.zeros((noise.shape[0], noise.shape[1] + 1))
    paths[:, 0] = s0
    for t in range(noise.shape[1]):
        paths[:, t + 1] = paths[:, t] * np.exp((mu - 0.5 * sigma**2) * dt + sigma * np.sqrt(dt) * noise[:, t])
    return paths.mean(axis=1), np.maximum(paths[:, 1:].mean(axis=1) - s0, 0.0).mean()


@case(lambda rng: (Bars(_prices(rng) + 1, _prices(rng) - 1, _prices(rng)), 5), "tuples of arrays as arguments")
def true_range(bars, n):
    out = np.zeros(bars.close.size)
    for i in range(1, bars.close.size):
        hl = bars.high[i] - bars.low[i]
        hc = abs(bars.high[i] - bars.close[i - 1])
        lc = abs(bars.low[i] - bars.close[i - 1])
        out[i] = max(hl, hc, lc)
    return out


@case(
    lambda rng: ((_prices(rng), _prices(rng)), np.array([0.3, 0.7])), "tuples of arrays as arguments", "loop over zip"
)
def basket(series, weights):
    out = np.zeros(series[0].size)
    for prices, w in zip(series, weights):
        out += w * prices / prices[0]
    return out


@case(lambda rng: (rng.normal(0, 0.01, (30, 3)), np.array([0.2, 0.3, 0.5]), 0.05), "sort", "dot", "slice read")
def expected_shortfall(returns, weights, level):
    pnl = np.sort(returns @ weights)
    k = max(1, int(math.ceil(level * len(pnl))))
    return -pnl[k - 1], -np.mean(pnl[:k])


@case(
    lambda rng: (np.sort(rng.integers(0, 100, 30)), rng.uniform(99, 101, 30), rng.integers(1, 9, 30), 10),
    "computed-size results",
    "lists",
)
def resample_ohlcv(times, prices, volumes, step):
    n = (times[-1] - times[0]) // step + 1
    ohlc = np.full((n, 4), np.nan)
    volume = np.zeros(n, dtype=np.int64)
    for i in range(times.size):
        k = (times[i] - times[0]) // step
        if np.isnan(ohlc[k, 0]):
            ohlc[k, :] = prices[i]
        ohlc[k, 1] = max(ohlc[k, 1], prices[i])
        ohlc[k, 2] = min(ohlc[k, 2], prices[i])
        ohlc[k, 3] = prices[i]
        volume[k] += volumes[i]
    return ohlc, volume


@case(lambda rng: (np.array([-100.0, 30.0, 40.0, 60.0]), 0.1), "raise", "while")
def internal_rate(flows, guess):
    rate = guess
    for _ in range(100):
        value = 0.0
        slope = 0.0
        for t, flow in enumerate(flows):
            value += flow / (1 + rate) ** t
            slope -= t * flow / (1 + rate) ** (t + 1)
        if slope == 0:
            raise ZeroDivisionError("flat")
        new = rate - value / slope
        if abs(new - rate) < 1e-12:
            return new
        rate = new
    raise ValueError("no convergence")


@case(lambda rng: (rng.normal(0, 1, 20), np.array([0.1, 0.15, 0.8])), "unpacking arrays")
def garch_likelihood(returns, params):
    omega, alpha, beta = params
    var = returns.var()
    total = 0.0
    for r in returns:
        total += np.log(var) + r * r / var
        var = omega + alpha * r**2 + beta * var
    return -0.5 * total


@case(
    lambda rng: (rng.uniform(9, 11, 12), rng.integers(1, 50, 12), rng.uniform(9, 11, 12), rng.integers(1, 50, 12)),
    "argsort",
    "index arrays",
    "while",
)
def match_orders(bids, bid_size, asks, ask_size):
    bo = np.argsort(-bids)
    ao = np.argsort(asks)
    b, a = bids[bo], asks[ao]
    bs, as_ = bid_size[bo].copy(), ask_size[ao].copy()
    i = j = 0
    volume = 0
    while i < b.size and j < a.size and b[i] >= a[j]:
        q = min(bs[i], as_[j])
        volume += q
        bs[i] -= q
        as_[j] -= q
        if bs[i] == 0:
            i += 1
        if as_[j] == 0:
            j += 1
    return volume, bs.sum() - as_.sum()
