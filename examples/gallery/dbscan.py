"""Clustering: groups of any shape, by density (DBSCAN).

Distances and counts in parallel loops, then a list of points to visit, which runs in order."""

import numpy as np

import loopwright as lw


@lw.kernel
def dbscan(points, reach, least):
    """The number of each point's group; -1 for those in none."""
    n = len(points)
    counts = np.zeros(n, dtype=np.int64)
    for i in range(n):
        for j in range(n):
            dx, dy = points[i, 0] - points[j, 0], points[i, 1] - points[j, 1]
            counts[i] += dx * dx + dy * dy <= reach * reach
    labels = np.full(n, -1)
    groups = 0
    for first in range(n):
        if labels[first] >= 0 or counts[first] < least:
            continue
        labels[first] = groups
        visit = [first]
        while visit:
            i = visit.pop()
            for j in range(n):
                dx, dy = points[i, 0] - points[j, 0], points[i, 1] - points[j, 1]
                if labels[j] < 0 and dx * dx + dy * dy <= reach * reach:
                    labels[j] = groups
                    if counts[j] >= least:
                        visit.append(j)
        groups += 1
    return labels


def points_of(size):
    """A ring, a bar in it, two moons, and noise."""
    random = np.random.default_rng(6)
    angle = random.uniform(0.0, 2.0 * np.pi, size)
    ring = np.stack([2.0 * np.cos(angle), 2.0 * np.sin(angle)], axis=1)
    bar = np.stack([random.uniform(-1.0, 1.0, size), np.zeros(size)], axis=1)
    moons = [np.stack([4.5 + np.cos(angle / 2.0), np.sin(angle / 2.0)], axis=1)]
    moons += [np.stack([5.5 + np.cos(angle / 2.0), 0.4 - np.sin(angle / 2.0)], axis=1)]
    shapes = np.concatenate([ring, bar, *moons]) + random.normal(0.0, 0.09, (4 * size, 2))
    return np.concatenate([shapes, random.uniform((-3.0, -3.0), (7.5, 3.0), (size // 4, 2))])


def compute(size=500):
    points = points_of(size)
    return points, dbscan(points, 0.25 * (500 / size) ** 0.5, 8)


def check(size=30):
    points, labels = compute(size)
    np.testing.assert_array_equal(labels, dbscan.py_func(points, 0.25 * (500 / size) ** 0.5, 8))


def picture(axes, result):
    points, labels = result
    axes.scatter(*points[labels < 0].T, s=1.5, color="#999999")
    axes.scatter(*points[labels >= 0].T, s=3, c=labels[labels >= 0], cmap="tab10", vmax=9)
    axes.set_aspect("equal")


if __name__ == "__main__":
    check()
    _, labels = compute()
    print(f"{labels.max() + 1} groups, and {np.mean(labels < 0):.1%} of the points in none")
