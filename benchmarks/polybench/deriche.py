"""PolyBench deriche: the recursive smoothing filter of Deriche, along the rows and then along the columns.

The data are float32, as in PolyBench: the coefficients and the carried values are made float32 by hand.
"""

import math

import numpy as np

from benchmarks.polybench.annotations import prange

NAME = "deriche"
SIZES = {
    "MINI": {"w": 64, "h": 64},
    "SMALL": {"w": 192, "h": 128},
    "MEDIUM": {"w": 720, "h": 480},
    "LARGE": {"w": 4096, "h": 2160},
    "EXTRALARGE": {"w": 7680, "h": 4320},
}
OUTPUTS = ("img_out",)
TOLERANCE = 1e-4  # float32
PARALLEL = {
    "i": "parallel",  # a row each; the carried values start afresh: private
    "j": "sequential",  # ym1, ym2 go from one pixel to the next
    "i_2": "parallel",
    "j_2": "sequential",
    "i_3": "parallel",
    "j_3": "parallel",
    "j_4": "parallel",  # a column each
    "i_4": "sequential",
    "j_5": "parallel",
    "i_5": "sequential",
    "i_6": "parallel",
    "j_6": "parallel",
}


def initialise(w: int, h: int) -> dict[str, object]:
    i, j = np.ogrid[:w, :h]
    image = ((313 * i + 991 * j) % 65536).astype(np.float32) / np.float32(65535.0)
    empty = np.zeros((w, h), np.float32)
    return {"w": w, "h": h, "alpha": 0.25, "img_in": image, "img_out": empty, "y1": empty.copy(), "y2": empty.copy()}


def kernel(w, h, alpha, img_in, img_out, y1, y2):
    fall = math.exp(-alpha)
    gain = (1.0 - fall) * (1.0 - fall) / (1.0 + 2.0 * alpha * fall - math.exp(2.0 * alpha))
    a1 = a5 = np.float32(gain)
    a2 = a6 = np.float32(gain * fall * (alpha - 1.0))
    a3 = a7 = np.float32(gain * fall * (alpha + 1.0))
    a4 = a8 = np.float32(-gain * math.exp(-2.0 * alpha))
    b1 = np.float32(2.0 ** (-alpha))
    b2 = np.float32(-math.exp(-2.0 * alpha))
    c1 = c2 = np.float32(1.0)
    for i in range(w):
        ym1 = np.float32(0.0)
        ym2 = np.float32(0.0)
        xm1 = np.float32(0.0)
        for j in range(h):
            y1[i, j] = a1 * img_in[i, j] + a2 * xm1 + b1 * ym1 + b2 * ym2
            xm1 = img_in[i, j]
            ym2 = ym1
            ym1 = y1[i, j]
    for i in range(w):
        yp1 = np.float32(0.0)
        yp2 = np.float32(0.0)
        xp1 = np.float32(0.0)
        xp2 = np.float32(0.0)
        for j in range(h - 1, -1, -1):
            y2[i, j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2
            xp2 = xp1
            xp1 = img_in[i, j]
            yp2 = yp1
            yp1 = y2[i, j]
    for i in range(w):
        for j in range(h):
            img_out[i, j] = c1 * (y1[i, j] + y2[i, j])
    for j in range(h):
        tm1 = np.float32(0.0)
        ym1 = np.float32(0.0)
        ym2 = np.float32(0.0)
        for i in range(w):
            y1[i, j] = a5 * img_out[i, j] + a6 * tm1 + b1 * ym1 + b2 * ym2
            tm1 = img_out[i, j]
            ym2 = ym1
            ym1 = y1[i, j]
    for j in range(h):
        tp1 = np.float32(0.0)
        tp2 = np.float32(0.0)
        yp1 = np.float32(0.0)
        yp2 = np.float32(0.0)
        for i in range(w - 1, -1, -1):
            y2[i, j] = a7 * tp1 + a8 * tp2 + b1 * yp1 + b2 * yp2
            tp2 = tp1
            tp1 = img_out[i, j]
            yp2 = yp1
            yp1 = y2[i, j]
    for i in range(w):
        for j in range(h):
            img_out[i, j] = c2 * (y1[i, j] + y2[i, j])


def kernel_prange(w, h, alpha, img_in, img_out, y1, y2):
    fall = math.exp(-alpha)
    gain = (1.0 - fall) * (1.0 - fall) / (1.0 + 2.0 * alpha * fall - math.exp(2.0 * alpha))
    a1 = a5 = np.float32(gain)
    a2 = a6 = np.float32(gain * fall * (alpha - 1.0))
    a3 = a7 = np.float32(gain * fall * (alpha + 1.0))
    a4 = a8 = np.float32(-gain * math.exp(-2.0 * alpha))
    b1 = np.float32(2.0 ** (-alpha))
    b2 = np.float32(-math.exp(-2.0 * alpha))
    c1 = c2 = np.float32(1.0)
    for i in prange(w):
        ym1 = np.float32(0.0)
        ym2 = np.float32(0.0)
        xm1 = np.float32(0.0)
        for j in range(h):
            y1[i, j] = a1 * img_in[i, j] + a2 * xm1 + b1 * ym1 + b2 * ym2
            xm1 = img_in[i, j]
            ym2 = ym1
            ym1 = y1[i, j]
    for i in prange(w):
        yp1 = np.float32(0.0)
        yp2 = np.float32(0.0)
        xp1 = np.float32(0.0)
        xp2 = np.float32(0.0)
        for j in range(h - 1, -1, -1):
            y2[i, j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2
            xp2 = xp1
            xp1 = img_in[i, j]
            yp2 = yp1
            yp1 = y2[i, j]
    for i in prange(w):
        for j in range(h):
            img_out[i, j] = c1 * (y1[i, j] + y2[i, j])
    for j in prange(h):
        tm1 = np.float32(0.0)
        ym1 = np.float32(0.0)
        ym2 = np.float32(0.0)
        for i in range(w):
            y1[i, j] = a5 * img_out[i, j] + a6 * tm1 + b1 * ym1 + b2 * ym2
            tm1 = img_out[i, j]
            ym2 = ym1
            ym1 = y1[i, j]
    for j in prange(h):
        tp1 = np.float32(0.0)
        tp2 = np.float32(0.0)
        yp1 = np.float32(0.0)
        yp2 = np.float32(0.0)
        for i in range(w - 1, -1, -1):
            y2[i, j] = a7 * tp1 + a8 * tp2 + b1 * yp1 + b2 * yp2
            tp2 = tp1
            tp1 = img_out[i, j]
            yp2 = yp1
            yp1 = y2[i, j]
    for i in prange(w):
        for j in range(h):
            img_out[i, j] = c2 * (y1[i, j] + y2[i, j])


def reference(w, h, alpha, img_in, img_out, y1, y2):
    fall = math.exp(-alpha)
    gain = (1.0 - fall) ** 2 / (1.0 + 2.0 * alpha * fall - math.exp(2.0 * alpha))
    smooth = _both_ways(img_in.astype(np.float64), gain, alpha)
    return {"img_out": _both_ways(smooth.T, gain, alpha).T.astype(np.float32)}


def _both_ways(image, gain, alpha):
    """The sum of the filter run along axis 1 from the left and from the right, all rows at once, in float64."""
    fall = math.exp(-alpha)
    padded = np.pad(image, ((0, 0), (2, 2)))
    left, right = np.zeros_like(padded), np.zeros_like(padded)
    last = padded.shape[1] - 2
    for j in range(2, last):
        right[:, j] = gain * (padded[:, j] + fall * (alpha - 1.0) * padded[:, j - 1])
        right[:, j] += 2.0**-alpha * right[:, j - 1] - fall**2 * right[:, j - 2]
    for j in range(last - 1, 1, -1):
        left[:, j] = gain * (fall * (alpha + 1.0) * padded[:, j + 1] - fall**2 * padded[:, j + 2])
        left[:, j] += 2.0**-alpha * left[:, j + 1] - fall**2 * left[:, j + 2]
    return (left + right)[:, 2:last]


def flops(w: int, h: int) -> int:
    return 32 * w * h


def bytes_min(w: int, h: int) -> int:
    return 4 * 4 * w * h
