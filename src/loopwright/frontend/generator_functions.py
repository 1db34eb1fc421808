"""The draws of a `np.random.Generator`, written in the language: PCG64, and what is made of its numbers.

`state` is the generator's own, as NumPy keeps it in memory: the low and the high 64 bits of its state, and those of its
increment. `half` says whether 32 bits are left over from the last draw, and which. `tables`: those of the ziggurats.
Sources: O'Neill, PCG (2014); Marsaglia and Tsang, The ziggurat method (2000); Lemire, Fast random integer generation in
an interval (2019); numpy/random/src and numpy/random/bit_generator.pyx of NumPy 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_NORMAL_TAIL, _EXPONENTIAL_TAIL = 3.6541528853610087963519472518, 7.6971174701310497140446280481
_INVERSE_OF_NORMAL_TAIL = 0.27366123732975827203338247596
_LOW_32 = 0xFFFFFFFF
_FACTOR, _FACTOR_HIGH = np.uint64(0x4385DF649FCCF645), np.uint64(0x2360ED051FC65DA4)


def seeded(number: Any) -> Any:
    """The state of `np.random.default_rng(number)`."""
    if number < 0:
        raise ValueError("expected non-negative integer")
    pool = np.zeros(4, np.uint32)
    pool[0], pool[1] = number & _LOW_32, number >> 32
    factor = np.uint32(0x43B0D7E5)
    for k in range(4):
        pool[k] ^= factor
        factor *= np.uint32(0x931E8875)
        pool[k] *= factor
        pool[k] ^= pool[k] >> 16
    for source in range(4):
        for k in range(4):
            if k != source:
                mixed = pool[source] ^ factor
                factor *= np.uint32(0x931E8875)
                mixed *= factor
                mixed ^= mixed >> 16
                mixed = np.uint32(0xCA01F9DD) * pool[k] - np.uint32(0x4973F715) * mixed
                pool[k] = mixed ^ (mixed >> 16)
    words = np.zeros(4, np.uint64)
    factor = np.uint32(0x8B51F9DD)
    for k in range(8):
        word = pool[k % 4] ^ factor
        factor *= np.uint32(0x58F38DED)
        word *= factor
        words[k // 2] |= np.uint64(word ^ (word >> 16)) << np.uint64(32 * (k % 2))
    state = np.zeros(4, np.uint64)
    state[2], state[3] = (words[3] << 1) | 1, (words[2] << 1) | (words[3] >> 63)
    step(state)
    low = state[0] + words[1]
    state[1] += words[0] + np.uint64(low < words[1])
    state[0] = low
    step(state)
    return state, np.zeros(2, np.uint32)


def step(state: Any) -> None:
    """The next state: a product of 128 bits, and a sum."""
    low = state[0]
    product = low * _FACTOR
    total = product + state[2]
    state[1] = (
        high_product(low, _FACTOR) + low * _FACTOR_HIGH + state[1] * _FACTOR + state[3] + np.uint64(total < product)
    )
    state[0] = total


def bits(state: Any) -> Any:
    """The next 64 bits."""
    step(state)
    mixed, turn = state[0] ^ state[1], state[1] >> 58
    return (mixed >> turn) | (mixed << ((np.uint64(64) - turn) & 63))


def half_bits(state: Any, half: Any) -> Any:
    """The next 32 bits, as 64: each 64 are given in two halves."""
    if half[0] != 0:
        half[0] = 0
        return np.uint64(half[1])
    both = bits(state)
    half[0], half[1] = 1, np.uint32(both >> 32)
    return both & _LOW_32


def unit(state: Any, half: Any, tables: Any) -> Any:
    """A float from 0 to below 1."""
    return float(np.int64(bits(state) >> 11)) * (1.0 / 9007199254740992.0)


def uniform(state: Any, half: Any, tables: Any, low: Any, high: Any) -> Any:
    """A float from low to high."""
    span = float(high) - float(low)
    if span - span != 0.0:
        raise OverflowError("high - low range exceeds valid bounds")
    if span < 0.0:
        raise ValueError("low > high")
    return float(low) + span * unit(state, half, tables)


def standard_normal(state: Any, half: Any, tables: Any) -> Any:
    """A normal number, from a ziggurat of 256 layers."""
    while True:
        drawn = bits(state)
        layer = np.int64(drawn & 255)
        place = np.int64((drawn >> 9) & 0xFFFFFFFFFFFFF)
        x = float(place) * float(tables[1, layer])
        if drawn & 256 != 0:
            x = -x
        if place < tables[0, layer]:
            return x
        if layer == 0:
            far, up = 0.0, -1.0
            while up + up <= far * far:
                far = -_INVERSE_OF_NORMAL_TAIL * float(np.log1p(-unit(state, half, tables)))
                up = -float(np.log1p(-unit(state, half, tables)))
            return -(_NORMAL_TAIL + far) if (place >> 8) & 1 else _NORMAL_TAIL + far
        edge = float(tables[2, layer])
        if (float(tables[2, layer - 1]) - edge) * unit(state, half, tables) + edge < np.exp(-0.5 * x * x):
            return x


def normal(state: Any, half: Any, tables: Any, loc: Any, scale: Any) -> Any:
    """A normal number with this mean and deviation."""
    if scale == scale and np.signbit(float(scale)):
        raise ValueError("scale < 0")
    return float(loc) + float(scale) * standard_normal(state, half, tables)


def lognormal(state: Any, half: Any, tables: Any, mean: Any, sigma: Any) -> Any:
    """A number whose logarithm is normal."""
    if sigma == sigma and np.signbit(float(sigma)):
        raise ValueError("sigma < 0")
    return float(np.exp(normal(state, half, tables, mean, sigma)))


def standard_exponential(state: Any, half: Any, tables: Any) -> Any:
    """An exponential number with mean 1, from a ziggurat of 256 layers."""
    while True:
        drawn = bits(state) >> 3
        layer, place = np.int64(drawn & 255), np.int64(drawn >> 8)
        x = float(place) * float(tables[4, layer])
        if place < tables[3, layer]:
            return x
        if layer == 0:
            return _EXPONENTIAL_TAIL - float(np.log1p(-unit(state, half, tables)))
        edge = float(tables[5, layer])
        if (float(tables[5, layer - 1]) - edge) * unit(state, half, tables) + edge < np.exp(-x):
            return x


def exponential(state: Any, half: Any, tables: Any, scale: Any) -> Any:
    """An exponential number with this mean."""
    if scale == scale and np.signbit(float(scale)):
        raise ValueError("scale < 0")
    return float(scale) * standard_exponential(state, half, tables)


def below(state: Any, half: Any, most: Any) -> Any:
    """An int from 0 to `most`, which may have 64 bits: the high part of a product, drawn again where that is unfair."""
    if most == 0:
        return 0
    if most == _LOW_32:
        return np.int64(half_bits(state, half))
    if most < _LOW_32:
        count = np.uint64(most + 1)
        product = half_bits(state, half) * count
        if product & _LOW_32 < count:
            least = np.uint64(_LOW_32 - most) % count
            while product & _LOW_32 < least:
                product = half_bits(state, half) * count
        return np.int64(product >> 32)
    number = np.uint64(most) + 1
    drawn = bits(state)
    low = drawn * number
    if low < number:
        smallest = (np.uint64(0) - number) % number
        while low < smallest:
            drawn = bits(state)
            low = drawn * number
    return np.int64(high_product(drawn, number))


def high_product(x: Any, y: Any) -> Any:
    """The high 64 bits of a product."""
    a, b, c, d = x & _LOW_32, x >> 32, y & _LOW_32, y >> 32
    middle = (a * c >> 32) + (a * d & _LOW_32) + (b * c & _LOW_32)
    return b * d + (a * d >> 32) + (b * c >> 32) + (middle >> 32)


def integer(state: Any, half: Any, tables: Any, low: Any, high: Any, ends: Any = 0) -> Any:
    """An int from low to below high, or to high itself where `ends` is 1."""
    if low - ends >= high:
        raise ValueError("low >= high")
    return np.int64(low + below(state, half, high - low - 1 + ends))


def shuffle(state: Any, half: Any, tables: Any, x: Any) -> None:
    """The elements of an array of one axis in another order: places of as many bits, until one is not too large."""
    for i in range(len(x) - 1, 0, -1):
        mask = i
        for shift in (1, 2, 4, 8, 16):
            mask |= mask >> shift
        j = np.int64(half_bits(state, half)) & mask
        while j > i:
            j = np.int64(half_bits(state, half)) & mask
        x[i], x[j] = x[j], x[i]


def shuffle_rows(state: Any, half: Any, tables: Any, x: Any) -> None:
    """The rows of an array of several axes in another order."""
    if x.size > 0:
        order = np.arange(len(x))
        shuffle(state, half, tables, order)
        x[:] = x[order]


def permutation_rows(state: Any, half: Any, tables: Any, x: Any) -> Any:
    """The rows of an array in another order, in an array of their own."""
    order = np.arange(len(x))
    shuffle(state, half, tables, order)
    return x[order]


def shuffle_from(state: Any, half: Any, x: Any, first: Any) -> None:
    """The same from the end down to an element, by `below`, as `choice` does it."""
    for i in range(len(x) - 1, first - 1, -1):
        j = below(state, half, i)
        x[i], x[j] = x[j], x[i]


def permutation(state: Any, half: Any, tables: Any, x: Any) -> Any:
    """The elements of an array in another order, in an array of their own."""
    result = x.copy()
    shuffle(state, half, tables, result)
    return result


def permutation_of(state: Any, half: Any, tables: Any, n: Any) -> Any:
    """The numbers from 0 to below n in another order."""
    result = np.arange(n)
    shuffle(state, half, tables, result)
    return result


def chosen_by(state: Any, half: Any, tables: Any, cumulated: Any) -> Any:
    """An index, chosen with probabilities of which the sums are given."""
    return int(np.searchsorted(cumulated, unit(state, half, tables), "right"))


def first_of_permutation(state: Any, half: Any, tables: Any, n: Any, size: Any) -> Any:
    """Different indices from 0 to below n: Floyd's sample, or the end of a permutation where it is large."""
    if size > n:
        raise ValueError("Cannot take a larger sample than population when replace is False")
    result = np.empty(size, np.int64)
    if n > 10000 and size > n // 50:
        every = np.arange(n)
        shuffle_from(state, half, every, max(n - size, 1))
        for k in range(size):
            result[k] = every[n - size + k]
    else:
        taken = {-1}
        for k in range(size):
            place = int(below(state, half, n - size + k))
            if place in taken:
                place = n - size + k
            taken.add(place)
            result[k] = place
        shuffle_from(state, half, result, 1)
    return result
