"""`lw.random`: random numbers that are functions of a seed and of integers, such as the indices of a loop.

They need no state, so loops that use them may be parallel, and give the same bits on a CPU, on a GPU, in the
interpreter and as plain Python. The source is Philox4x32-10 (Salmon et al., Parallel Random Numbers: As Easy as 1, 2,
3, SC 2011); all arithmetic is that of integers below 2**63, or exact.
"""

from __future__ import annotations

import math

import numpy as np

_WORD = 4294967295  # 2**32 - 1
_FIRST, _SECOND = 3528531795, 3449720151  # multipliers of the rounds
_KEYS = 2654435769, 3144134277  # added to the key from round to round
_LN2 = 1488522236  # times 2**31
_HALF_PI = 1686629713  # times 2**30


def _product(a: int, b: int) -> tuple[int, int]:
    """The upper and the lower 32 bits of the product of two numbers of 32 bits."""
    low = a * (b & 65535)
    middle = a * (b >> 16) + (low >> 16)
    return middle >> 16, ((middle & 65535) << 16) | (low & 65535)


def philox(a: int, b: int, c: int, d: int, key: int, other: int) -> tuple[int, int, int, int]:
    """Philox4x32-10 of a counter of four words and a key of two, of 32 bits each."""
    for _ in range(10):
        high, low = _product(_FIRST, a)
        upper, lower = _product(_SECOND, c)
        a, b, c, d = upper ^ b ^ key, lower, high ^ d ^ other, low
        key, other = (key + _KEYS[0]) & _WORD, (other + _KEYS[1]) & _WORD
    return a, b, c, d


def bits(seed: int, i: int, j: int = 0, k: int = 0) -> tuple[int, int, int, int]:
    """Four numbers of 32 bits. Of seed and i, 64 bits count; of j and k, 32.

    Examples:
        >>> import loopwright as lw
        >>> lw.random.bits(7, 0)
        (4099963437, 3221879260, 490388034, 367897730)
    """
    s, a, b, c = _pythons(seed), _pythons(i), _pythons(j), _pythons(k)
    return philox(a & _WORD, (a >> 32) & _WORD, b & _WORD, c & _WORD, s & _WORD, (s >> 32) & _WORD)


def _pythons(x: int) -> int:
    """An element of an array, which may have few bits, as a Python int."""
    return int(np.int64(x)) if isinstance(x, np.integer) else x


def uniform(seed: int, i: int, j: int = 0, k: int = 0) -> float:
    """A float from 0 to below 1, a multiple of 2**-53.

    Examples:
        A number for each seed and index, whichever thread or device asks for it:

        >>> import numpy as np
        >>> import loopwright as lw
        >>> @lw.kernel
        ... def noise(out, seed):
        ...     for i in range(len(out)):  # parallel
        ...         out[i] = lw.random.uniform(seed, i)
        >>> out = np.empty(1000)
        >>> noise(out, 7)
        >>> bool(out[3] == lw.random.uniform(7, 3))
        True
    """
    a, b, _, _ = bits(seed, i, j, k)
    return ((a >> 5) * 67108864 + (b >> 6)) * 1.1102230246251565e-16


def integers(low: int, high: int, seed: int, i: int, j: int = 0, k: int = 0) -> int:
    """An int from low to below high, which are at most 2**31 apart. Raises ValueError for other bounds.

    Examples:
        >>> import loopwright as lw
        >>> [lw.random.integers(1, 7, 2026, i) for i in range(8)]
        [3, 6, 5, 5, 4, 2, 6, 5]
    """
    span = high - low
    if span < 1 or span > 2147483648:
        raise ValueError("high must be above low, by 2**31 at most")
    a, b, _, _ = bits(seed, i, j, k)
    return low + ((a * span + (b * span >> 32)) >> 32)


def normal(seed: int, i: int, j: int = 0, k: int = 0) -> float:
    """A normal number with mean 0 and deviation 1, a multiple of 2**-32 (Box and Muller 1958, in fixed point).

    Examples:
        >>> import loopwright as lw
        >>> sample = [lw.random.normal(1, i) for i in range(1000)]
        >>> abs(sum(sample) / 1000) < 0.1
        True
    """
    a, b, c, _ = bits(seed, i, j, k)
    radius = math.sqrt(_minus_two_ln(((a >> 5) << 26) + (b >> 6) + 1) * 9.313225746154785e-10)
    whole = int(np.int64(radius * 268435456.0))  # NumPy's conversion has nothing to check
    return ((whole * _cosine(c)) >> 26) * 2.3283064365386963e-10


def _minus_two_ln(u: int) -> int:
    """-2 * ln(u / 2**53), times 2**30, of an integer from 1 to 2**53."""
    halvings = 0
    for step in (32, 16, 8, 4, 2, 1):
        if u < 1 << (54 - step):
            u <<= step
            halvings += step
    m = u >> 22  # from 2**31 to below 2**32: a number from 1 to below 2
    if m > 3037000499:  # above the root of 2
        m >>= 1
        halvings -= 1
    s = int(np.int64((m - 2147483648) << 30) // np.int64(m + 2147483648))
    square = (s * s) >> 30
    series = 0
    for odd in (13, 11, 9, 7, 5, 3, 1):
        series = 1073741824 // odd + ((series * square) >> 30)
    return halvings * _LN2 - 4 * ((s * series) >> 30)


def _cosine(turn: int) -> int:
    """The cosine of a part of a turn, which is in units of 2**-32; times 2**30."""
    quarter, rest = turn >> 30, turn & 1073741823
    if quarter == 1 or quarter == 3:
        rest = 1073741824 - rest
    angle = (rest * _HALF_PI) >> 30
    square = (angle * angle) >> 30
    series = 1073741824
    for n in (14, 12, 10, 8, 6, 4, 2):
        series = 1073741824 - ((square * series) >> 30) // (n * (n - 1))
    return -series if quarter == 1 or quarter == 2 else series
