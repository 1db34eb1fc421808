"""The tables of NumPy's ziggurats: 256 layers of equal area under a density, for normal and exponential numbers.

Layer k reaches to x[k]. A float of 52 or 53 bits times `wide[k]` is a place in it, one below `inside[k]` is under the
density for certain, and `density[k]` is its height. NumPy's tables of the normal density were computed in floats: how
many units in the last place they are away from the exact ones is kept here.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable
from decimal import Decimal, localcontext
from itertools import pairwise
from typing import Any

import numpy as np

_AWAY = (  # of the normal tables: a byte for each element, of `wide`, `density` and `inside`
    "c-mD`TXMr743xwxo+Oj|U!$k$N5|9tWDEqT9^kaX7J^+?LiY3H^K0MtpYJ2*T5Bn}<m1S^DmAk!@(A*JRUT}$_Qn&xt@YL#N9<egy6P5-4YBF_",
    "u)Sv6;sF+{TmeN=7<Pym$RvR25Xm`5gz(>Ho_A8&GT_ZImT97zDgt=cbn48!^J0Ow{M$IMK8qBBQ6@(Oh+<4h-V}p^L?TDZnyNt$sSuYy$RUwl",
    "OA<#u8NwE06iq_pa`nDkC_-<QKTN4@43shNfhqVcUaz;?<9@$x>5?3V<Y@p)H$JO{U~uvBxNm;ET0Wlqm0K;xK>_yKxj)hhaY!Nyqz$*;DFW8G",
    "*)-DR2FidFA1lzR=QP(~vH%M=%Bit<TE{71vl7RO&Vi@GN^#aWv*0Qm*NyPcKY+iN%iwz",
)


def _layers(
    tail: str, area: Decimal | None, density: Callable[[Decimal], Decimal], inverse: Callable[[Decimal], Decimal]
) -> tuple[list[Decimal], list[Decimal]]:
    """Where the layers end, and how high they are; the first one has the tail beyond the last end in it."""
    x, y = [Decimal(tail)], [density(Decimal(tail))]
    if area is None:
        area = x[0] * y[0] + y[0]
    first = area / y[0]
    for _ in range(254):
        x.append(inverse(area / x[-1] + y[-1]))
        y.append(density(x[-1]))
    return [first, *x[::-1]], [Decimal(1), *y[::-1]]


def _normal() -> Any:
    area = Decimal("0.00492867323397465524494")
    x, y = _layers("3.6541528853610087963519472518", area, lambda x: (-x * x / 2).exp(), lambda y: (-2 * y.ln()).sqrt())
    inside = [x[-1] / x[0], Decimal(0), *(a / b for a, b in pairwise(x[1:]))]
    table = np.array([[float(int(one * 2**52)) for one in inside], [float(one / 2**52) for one in x], [*map(float, y)]])
    away = np.frombuffer(zlib.decompress(base64.b85decode("".join(_AWAY))), np.int8).reshape(3, 256)
    table[0] += away[2]
    table[1:].view(np.int64)[:] += away[:2]
    return table


def _exponential() -> Any:
    x, y = _layers("7.6971174701310497140446280481", None, lambda x: (-x).exp(), lambda y: -y.ln())
    inside = [x[-1] / x[0], Decimal(0), *(a / b for a, b in pairwise(x[1:]))]
    return np.array([[2.0 * int(one * 2**52) for one in inside], [float(one / 2**53) for one in x], [*map(float, y)]])


def tables() -> Any:
    """`inside`, `wide` and `density` of normal numbers, then those of exponential ones: 6 rows of 256 floats."""
    with localcontext() as context:
        context.prec = 40
        return np.concatenate([_normal(), _exponential()])
