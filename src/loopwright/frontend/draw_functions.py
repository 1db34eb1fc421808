"""The draws of NumPy's global generator, written in the language: the Mersenne Twister, and what is made of it.

`key` is NumPy's own state, where it stands in memory: 624 numbers of 32 bits, and the place of the next one. `gauss`
says whether a normal number is left over from the last draw (1.0 or 0.0), and which. Sources: numpy/random/src/mt19937
and legacy/legacy-distributions.c of NumPy 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def seed(key: Any, gauss: Any, number: Any) -> None:
    """`np.random.seed(number)`."""
    if number < 0 or number > 4294967295:
        raise ValueError("Seed must be between 0 and 2**32 - 1")
    last = number
    for k in range(624):
        key[k] = last
        last = (1812433253 * (last ^ (last >> 30)) + k + 1) & 4294967295
    key[624] = 624
    gauss[0], gauss[1] = 0.0, 0.0


def twist(key: Any) -> None:
    """The next 624 numbers."""
    for k in range(624):
        mixed = (key[k] & np.uint32(2147483648)) | (key[(k + 1) % 624] & np.uint32(2147483647))
        key[k] = key[(k + 397) % 624] ^ (mixed >> np.uint32(1)) ^ (np.uint32(2567483615) * (mixed & np.uint32(1)))
    key[624] = 0


def bits(key: Any) -> Any:
    """The next 32 bits, as an int."""
    place = int(key[624])
    if place >= 624:
        twist(key)
        place = 0
    key[624] = place + 1
    y = int(key[min(place, 623)])
    y ^= y >> 11
    y ^= (y << 7) & 2636928640
    y ^= (y << 15) & 4022730752
    return y ^ (y >> 18)


def unit(key: Any, gauss: Any) -> Any:
    """A float from 0 to below 1."""
    high = bits(key) >> 5
    return (high * 67108864.0 + (bits(key) >> 6)) / 9007199254740992.0


def uniform(key: Any, gauss: Any, low: Any, high: Any) -> Any:
    """A float from low to high."""
    span = float(high) - float(low)
    if span - span != 0.0:
        raise OverflowError("Range exceeds valid bounds")
    return float(low) + span * unit(key, gauss)


def standard_normal(key: Any, gauss: Any) -> Any:
    """A normal number, by the polar method, which makes two at a time."""
    if gauss[0] != 0.0:
        found = float(gauss[1])
        gauss[0], gauss[1] = 0.0, 0.0
        return found
    square = 0.0
    x, y = 0.0, 0.0
    while square >= 1.0 or square == 0.0:
        x = 2.0 * unit(key, gauss) - 1.0
        y = 2.0 * unit(key, gauss) - 1.0
        square = x * x + y * y
    scale = np.sqrt(-2.0 * np.log(square) / square)
    gauss[0], gauss[1] = 1.0, scale * x
    return float(scale * y)


def normal(key: Any, gauss: Any, loc: Any, scale: Any) -> Any:
    """A normal number with this mean and deviation."""
    if scale == scale and np.signbit(float(scale)):
        raise ValueError("scale < 0")
    return float(loc) + float(scale) * standard_normal(key, gauss)


def standard_exponential(key: Any, gauss: Any) -> Any:
    """An exponential number with mean 1."""
    return float(-np.log(1.0 - unit(key, gauss)))


def exponential(key: Any, gauss: Any, scale: Any) -> Any:
    """An exponential number with this mean."""
    if scale == scale and np.signbit(float(scale)):
        raise ValueError("scale < 0")
    return float(scale) * standard_exponential(key, gauss)


def below(key: Any, most: Any) -> Any:
    """An int from 0 to `most`, which has 32 bits: numbers of as many bits, until one is not above it."""
    if most == 0:
        return 0
    mask = most
    for shift in (1, 2, 4, 8, 16):
        mask |= mask >> shift
    found = bits(key) & mask
    while found > most:
        found = bits(key) & mask
    return found


def integer(key: Any, gauss: Any, low: Any, high: Any) -> Any:
    """An int from low to below high."""
    if low >= high:
        raise ValueError("low >= high")
    if high - low > 4294967296:
        raise ValueError("np.random.randint over more than 2**32 numbers is outside the language")
    return low + below(key, high - low - 1)


def shuffle(key: Any, gauss: Any, x: Any) -> None:
    """The elements of an array of one axis in another order."""
    for i in range(len(x) - 1, 0, -1):
        j = below(key, i)
        x[i], x[j] = x[j], x[i]


def shuffle_rows(key: Any, gauss: Any, x: Any) -> None:
    """The rows of an array of several axes in another order."""
    if x.size > 0:
        for i in range(len(x) - 1, 0, -1):
            j = below(key, i)
            if i != j:
                row = x[i].copy()
                x[i] = x[j]
                x[j] = row


def permutation(key: Any, gauss: Any, x: Any) -> Any:
    """The elements of an array in another order, in an array of their own."""
    result = x.copy()
    shuffle(key, gauss, result)
    return result


def permutation_rows(key: Any, gauss: Any, x: Any) -> Any:
    """The rows of an array in another order, in an array of their own."""
    order = np.arange(len(x))
    shuffle(key, gauss, order)
    return x[order]


def permutation_of(key: Any, gauss: Any, n: Any) -> Any:
    """The numbers from 0 to below n in another order."""
    result = np.arange(n)
    shuffle(key, gauss, result)
    return result


def sums(p: Any) -> Any:
    """The distribution function of probabilities."""
    result = np.cumsum(p)
    last = result[len(result) - 1]
    for k in range(len(result)):
        result[k] /= last
    return result


def chosen_by(key: Any, gauss: Any, cumulated: Any) -> Any:
    """An index, chosen with probabilities of which the sums are given."""
    return int(np.searchsorted(cumulated, unit(key, gauss), "right"))


def first_of_permutation(key: Any, gauss: Any, n: Any, size: Any) -> Any:
    """Different indices from 0 to below n."""
    if size > n:
        raise ValueError("Cannot take a larger sample than population when 'replace=False'")
    return permutation_of(key, gauss, n)[:size].copy()
