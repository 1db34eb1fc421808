"""Finance: what it is worth to be free to sell early, for many prices and volatilities at once.

A binomial tree for each pair: two loops that need no order around one that does, with an array for each iteration."""

import math

import numpy as np

import loopwright as lw


@lw.kernel
def american_puts(prices, volatilities, strike, rate, years, steps, out):
    dt = years / steps
    for a in range(len(volatilities)):
        for b in range(len(prices)):
            up = math.exp(volatilities[a] * math.sqrt(dt))
            chance = (math.exp(rate * dt) - 1.0 / up) / (up - 1.0 / up)
            discount = math.exp(-rate * dt)
            value = np.empty(steps + 1)
            for k in range(steps + 1):
                value[k] = max(strike - prices[b] * up ** (2.0 * k - steps), 0.0)
            for level in range(steps - 1, -1, -1):
                for k in range(level + 1):
                    later = discount * (chance * value[k + 1] + (1.0 - chance) * value[k])
                    value[k] = max(later, strike - prices[b] * up ** (2.0 * k - level))
            out[a, b] = value[0]


def european(price, volatility, strike, rate, years):
    """The formula of Black and Scholes for one that can only be sold at the end."""

    def normal(x):
        return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))

    spread = volatility * math.sqrt(years)
    d = (math.log(price / strike) + (rate + 0.5 * volatility**2) * years) / spread
    return strike * math.exp(-rate * years) * normal(spread - d) - price * normal(-d)


def compute(size=60, steps=200):
    prices, volatilities = np.linspace(60.0, 140.0, size), np.linspace(0.1, 0.6, size)
    out = np.empty((size, size))
    american_puts(prices, volatilities, 100.0, 0.06, 1.0, steps, out)
    early = [[european(price, v, 100.0, 0.06, 1.0) for price in prices] for v in volatilities]
    return prices, volatilities, out, out - np.array(early)


def check(size=4, steps=20):
    prices, volatilities, out, _ = compute(size, steps)
    expected = np.empty_like(out)
    american_puts.py_func(prices, volatilities, 100.0, 0.06, 1.0, steps, expected)
    np.testing.assert_allclose(out, expected, rtol=1e-12)
    american_puts(prices, volatilities, 100.0, 0.0, 1.0, 200, out)  # without interest nobody sells early
    closed = [[european(price, v, 100.0, 0.0, 1.0) for price in prices] for v in volatilities]
    np.testing.assert_allclose(out, closed, atol=0.1)


def picture(axes, result):
    prices, volatilities, _, early = result
    drawn = axes.contourf(prices, volatilities, early, levels=20, cmap="magma")
    axes.figure.colorbar(drawn, ax=axes)
    axes.set(xlabel="price", ylabel="volatility")


if __name__ == "__main__":
    check()
    print(f"the right to sell early is worth up to {np.max(compute()[3]):.2f}")
