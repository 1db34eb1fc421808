"""The tour's programs as a user of numba writes them by hand for several threads: `prange` where it is safe, and
one table for each core where threads would otherwise write the same element."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.polybench.annotations import prange
from loopwright.config import available_cores

PARTS = available_cores()


def bilateral(image, out, radius, nearness, likeness):
    rows = image.shape[0]
    columns = image.shape[1]
    for i in prange(rows):
        for j in range(columns):
            total = 0.0
            red = 0.0
            green = 0.0
            blue = 0.0
            for y in range(max(0, i - radius), min(rows, i + radius + 1)):
                for x in range(max(0, j - radius), min(columns, j + radius + 1)):
                    r = image[y, x, 0] - image[i, j, 0]
                    g = image[y, x, 1] - image[i, j, 1]
                    b = image[y, x, 2] - image[i, j, 2]
                    distance = (y - i) * (y - i) + (x - j) * (x - j)
                    weight = math.exp(-nearness * distance - likeness * (r * r + g * g + b * b))
                    total += weight
                    red += weight * image[y, x, 0]
                    green += weight * image[y, x, 1]
                    blue += weight * image[y, x, 2]
            out[i, j, 0] = red / total
            out[i, j, 1] = green / total
            out[i, j, 2] = blue / total


def cluster(points, centres, labels, rounds):
    features = points.shape[1]
    clusters = centres.shape[0]
    sums = np.zeros((PARTS, clusters, features))
    counts = np.zeros((PARTS, clusters), dtype=np.int64)
    for _ in range(rounds):
        sums[:] = 0.0
        counts[:] = 0
        for t in prange(PARTS):
            for p in range(points.shape[0] * t // PARTS, points.shape[0] * (t + 1) // PARTS):
                best = 0
                nearest = np.inf
                for c in range(clusters):
                    distance = 0.0
                    for f in range(features):
                        off = points[p, f] - centres[c, f]
                        distance += off * off
                    if distance < nearest:
                        nearest = distance
                        best = c
                labels[p] = best
                counts[t, best] += 1
                for f in range(features):
                    sums[t, best, f] += points[p, f]
        for c in range(clusters):
            count = 0
            for t in range(PARTS):
                count += counts[t, c]
            if count > 0:
                for f in range(features):
                    total = 0.0
                    for t in range(PARTS):
                        total += sums[t, c, f]
                    centres[c, f] = total / count


def pagerank(starts, sources, links, rank, share, damping, sweeps):
    pages = rank.shape[0]
    for _ in range(sweeps):
        lost = 0.0
        for v in prange(pages):
            if links[v] > 0:
                share[v] = rank[v] / links[v]
            else:
                share[v] = 0.0
                lost += rank[v]
        for v in prange(pages):
            received = 0.0
            for e in range(starts[v], starts[v + 1]):
                received += share[sources[e]]
            rank[v] = (1.0 - damping) / pages + damping * (received + lost / pages)


def cooccurrence(grey, counts, reach):
    rows = grey.shape[0]
    columns = grey.shape[1]
    tables = np.zeros((PARTS, counts.shape[0], counts.shape[1]), dtype=np.int64)
    for t in prange(PARTS):
        for i in range(rows * t // PARTS, rows * (t + 1) // PARTS):
            for j in range(columns):
                for right in range(1, min(reach + 1, columns - j)):
                    tables[t, grey[i, j], grey[i, j + right]] += 1
                for down in range(1, min(reach + 1, rows - i)):
                    tables[t, grey[i, j], grey[i + down, j]] += 1
    for a in prange(counts.shape[0]):
        for b in range(counts.shape[1]):
            for t in range(PARTS):
                counts[a, b] += tables[t, a, b]
