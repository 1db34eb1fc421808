"""Images: filters, labels, geometry, colours."""

from __future__ import annotations

import numpy as np

from breadth.cases import case

SOBEL = ((-1.0, 0.0, 1.0), (-2.0, 0.0, 2.0), (-1.0, 0.0, 1.0))


@case(lambda rng: (rng.uniform(0, 255, (8, 9)), rng.uniform(size=(3, 3))))
def convolve_image(img, kernel):
    h, w = img.shape
    kh, kw = kernel.shape
    out = np.zeros((h - kh + 1, w - kw + 1))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            s = 0.0
            for a in range(kh):
                for b in range(kw):
                    s += img[i + a, j + b] * kernel[a, b]
            out[i, j] = s
    return out


@case(lambda rng: (rng.integers(0, 256, (8, 9)).astype(np.uint8),), "slice read", "astype")
def gradient_magnitude(img):
    f = img.astype(np.float32)
    gx = np.zeros_like(f)
    gy = np.zeros_like(f)
    gx[:, 1:-1] = (f[:, 2:] - f[:, :-2]) / 2
    gy[1:-1, :] = (f[2:, :] - f[:-2, :]) / 2
    return np.sqrt(gx**2 + gy**2)


@case(lambda rng: (rng.integers(0, 256, (8, 9)).astype(np.uint8),), "cumsum", "index arrays", "ravel")
def equalise(img):
    hist = np.zeros(256, dtype=np.int64)
    for v in img.ravel():
        hist[v] += 1
    cdf = hist.cumsum()
    low = cdf[cdf > 0][0]
    out = np.empty_like(img)
    scale = max(img.size - low, 1)
    for i in range(img.shape[0]):
        for j in range(img.shape[1]):
            out[i, j] = np.round((cdf[img[i, j]] - low) / scale * 255)
    return out


@case(lambda rng: (rng.uniform(size=(4, 5, 3)),), "slice read", "assignment to a slice", "max")
def rgb_to_hsv(img):
    out = np.empty(img.shape)
    for y in range(img.shape[0]):
        for x in range(img.shape[1]):
            r, g, b = img[y, x]
            hi = max(r, g, b)
            lo = min(r, g, b)
            d = hi - lo
            if d == 0:
                h = 0.0
            elif hi == r:
                h = ((g - b) / d) % 6
            elif hi == g:
                h = (b - r) / d + 2
            else:
                h = (r - g) / d + 4
            out[y, x, 0] = h * 60
            out[y, x, 1] = d / hi if hi > 0 else 0.0
            out[y, x, 2] = hi
    return out


@case(lambda rng: (rng.integers(0, 256, (9, 9)).astype(np.uint8), 1), "slice read", "sort", "ravel")
def median_filter(img, r):
    out = img.copy()
    for i in range(r, img.shape[0] - r):
        for j in range(r, img.shape[1] - r):
            window = np.sort(img[i - r : i + r + 1, j - r : j + r + 1].copy().ravel())
            out[i, j] = window[window.size // 2]
    return out


@case(lambda rng: (rng.uniform(size=(6, 7)), 10.0, 0.6, -0.4))
def rotate_bilinear(img, degrees, dx, dy):
    h, w = img.shape
    out = np.zeros((h, w), dtype=img.dtype)
    c = np.cos(np.deg2rad(degrees))
    s = np.sin(np.deg2rad(degrees))
    for i in range(h):
        for j in range(w):
            y = c * (i - h / 2) - s * (j - w / 2) + h / 2 + dy
            x = s * (i - h / 2) + c * (j - w / 2) + w / 2 + dx
            y0 = int(np.floor(y))
            x0 = int(np.floor(x))
            if 0 <= y0 < h - 1 and 0 <= x0 < w - 1:
                fy, fx = y - y0, x - x0
                out[i, j] = (
                    img[y0, x0] * (1 - fy) * (1 - fx) + img[y0, x0 + 1] * (1 - fy) * fx
                    + img[y0 + 1, x0] * fy * (1 - fx) + img[y0 + 1, x0 + 1] * fy * fx
                )  # fmt: skip
    return out


@case(lambda rng: (rng.uniform(size=(6, 7)),))
def integral_image(img):
    out = np.zeros((img.shape[0] + 1, img.shape[1] + 1))
    for i in range(img.shape[0]):
        row = 0.0
        for j in range(img.shape[1]):
            row += img[i, j]
            out[i + 1, j + 1] = out[i, j + 1] + row
    return out


@case(lambda rng: (rng.uniform(size=(7, 8)),), "tuple table", "tuple loop")
def sobel(img):
    h, w = img.shape
    out = np.zeros_like(img)
    for i in range(1, h - 1):
        for j in range(1, w - 1):
            gx = 0.0
            gy = 0.0
            for a, row in enumerate(SOBEL):
                for b, k in enumerate(row):
                    gx += k * img[i + a - 1, j + b - 1]
                    gy += k * img[i + b - 1, j + a - 1]
            out[i, j] = np.hypot(gx, gy)
    return out


@case(lambda rng: (rng.integers(0, 2, (6, 7)).astype(np.bool_),), "slice read", "any", "assignment to a slice")
def dilate(mask):
    out = np.zeros_like(mask)
    for i in range(mask.shape[0]):
        for j in range(mask.shape[1]):
            out[i, j] = mask[max(0, i - 1) : i + 2, max(0, j - 1) : j + 2].any()
    return out


@case(lambda rng: (rng.integers(0, 4, (6, 7)),), "unique", "loop over array", "np.nonzero")
def bounding_boxes(labels):
    names = np.unique(labels)
    boxes = np.zeros((4, 4), dtype=np.int64)
    for k, name in enumerate(names):
        ys, xs = np.nonzero(labels == name)
        boxes[k, 0] = ys.min()
        boxes[k, 1] = ys.max()
        boxes[k, 2] = xs.min()
        boxes[k, 3] = xs.max()
    return boxes


@case(lambda rng: (rng.integers(0, 256, (6, 6, 3)).astype(np.uint8),), "slice read", "whole-array arithmetic", "astype")
def greyscale(img):
    return (0.299 * img[:, :, 0] + 0.587 * img[:, :, 1] + 0.114 * img[:, :, 2]).astype(np.uint8)


@case(lambda rng: (rng.uniform(0, 255, (6, 8)), 128.0))
def floyd_steinberg(img, level):
    h, w = img.shape
    for y in range(h):
        for x in range(w):
            old = img[y, x]
            new = 255.0 if old >= level else 0.0
            img[y, x] = new
            e = old - new
            if x + 1 < w:
                img[y, x + 1] += e * 7 / 16
            if y + 1 < h:
                if x > 0:
                    img[y + 1, x - 1] += e * 3 / 16
                img[y + 1, x] += e * 5 / 16
                if x + 1 < w:
                    img[y + 1, x + 1] += e / 16


@case(lambda rng: (rng.uniform(size=(6, 8)), 2, 2), "slice read", "reductions", "floordiv")
def max_pool(img, ph, pw):
    out = np.empty((img.shape[0] // ph, img.shape[1] // pw), dtype=img.dtype)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = np.max(img[i * ph : (i + 1) * ph, j * pw : (j + 1) * pw])
    return out


@case(lambda rng: (rng.uniform(0, 8, (6, 2)), 3.2, 4.1))
def point_in_polygon(poly, px, py):
    inside = False
    n = poly.shape[0]
    j = n - 1
    for i in range(n):
        xi, yi = poly[i]
        xj, yj = poly[j]
        if (yi > py) != (yj > py) and px < (xj - xi) * (py - yi) / (yj - yi) + xi:
            inside = not inside
        j = i
    return inside


@case(lambda rng: (rng.uniform(0, 9, (12, 2)),), "lists", "argsort", "lambda")
def polygon_area_sorted(points):
    c = points.mean(axis=0)
    angles = np.arctan2(points[:, 1] - c[1], points[:, 0] - c[0])
    order = np.argsort(angles)
    p = points[order]
    area = 0.0
    for i in range(len(p)):
        j = (i + 1) % len(p)
        area += p[i, 0] * p[j, 1] - p[j, 0] * p[i, 1]
    return abs(area) / 2


@case(lambda rng: (rng.integers(0, 256, (4, 6, 3)).astype(np.uint8), rng.uniform(size=(4, 6))), "np.newaxis", "astype")
def blend(img, alpha):
    base = np.full_like(img, 255)
    mixed = alpha[:, :, None] * img + (1 - alpha[:, :, np.newaxis]) * base
    return np.clip(np.rint(mixed), 0, 255).astype(np.uint8)


@case(lambda rng: (rng.integers(0, 256, 300),), "bincount", "np.arange", "slice read")
def otsu(pixels):
    hist = np.bincount(pixels, minlength=256)
    total = pixels.size
    levels = np.arange(256)
    best, best_t = 0.0, 0
    for t in range(1, 256):
        w0 = hist[:t].sum()
        w1 = total - w0
        if w0 == 0 or w1 == 0:
            continue
        m0 = (hist[:t] * levels[:t]).sum() / w0
        m1 = (hist[t:] * levels[t:]).sum() / w1
        v = w0 * w1 * (m0 - m1) ** 2
        if v > best:
            best, best_t = v, t
    return best_t
