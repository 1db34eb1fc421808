"""Nearest-centre clustering (k-means, Lloyd's iterations) of the colours in a photograph: the palette of 16 colours
that stands best for its 273,280 pixels. They make a more honest size than the small tables that come with packages."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_sample_image

import loopwright as lw

from .problem import Arguments, Problem


@lw.kernel
def cluster(points, centres, labels, rounds):
    """points: n x features. centres: k x features, moved. labels: n, the nearest centre's number in the last round."""
    features = points.shape[1]
    sums = np.zeros((centres.shape[0], features))
    counts = np.zeros(centres.shape[0], dtype=np.int64)
    for _ in range(rounds):
        for p in range(points.shape[0]):
            best = 0
            nearest = np.inf
            for c in range(centres.shape[0]):
                distance = 0.0
                for f in range(features):
                    off = points[p, f] - centres[c, f]
                    distance += off * off
                if distance < nearest:
                    nearest = distance
                    best = c
            labels[p] = best
        for c in range(centres.shape[0]):
            counts[c] = 0
            for f in range(features):
                sums[c, f] = 0.0
        for p in range(points.shape[0]):
            counts[labels[p]] += 1
            for f in range(features):
                sums[labels[p], f] += points[p, f]
        for c in range(centres.shape[0]):
            if counts[c] > 0:
                for f in range(features):
                    centres[c, f] = sums[c, f] / counts[c]


def with_numpy(points, centres, labels, rounds):
    """Distances to one centre after the other, then sums by counting with weights."""
    distances = np.empty((len(centres), len(points)))
    for _ in range(rounds):
        for c, centre in enumerate(centres):
            distances[c] = np.square(points - centre).sum(axis=1)
        labels[...] = distances.argmin(axis=0)
        counts = np.bincount(labels, minlength=len(centres))
        filled = counts > 0
        for f in range(points.shape[1]):
            sums = np.bincount(labels, weights=points[:, f], minlength=len(centres))
            centres[filled, f] = sums[filled] / counts[filled]


def arguments() -> Arguments:
    """The pixels of scikit-learn's `flower.jpg`, and 16 of them, evenly spaced, as the first centres."""
    points = load_sample_image("flower.jpg").reshape(-1, 3).astype(np.float64)
    centres = points[:: len(points) // 16][:16].copy()
    return {"points": points, "centres": centres, "labels": np.zeros(len(points), np.int64), "rounds": 10}


def size(data: Arguments) -> str:
    """In words."""
    return f"{len(data['points']):,} pixels, {len(data['centres'])} centres, {data['rounds']} rounds"


PROBLEM = Problem(
    "nearest-centre clustering of a photograph's colours",
    cluster,
    with_numpy,
    arguments,
    size,
    ("centres", "labels"),
    1e-12,
)
