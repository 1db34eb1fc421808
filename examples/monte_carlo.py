"""Pi by throwing darts, with a random generator of our own in integer arithmetic (a linear congruential one).

Within a stream each number follows from the one before; the streams do not touch each other, so they run in parallel.
"""

import math

import numpy as np

import loopwright as lw


@lw.kernel
def throw(seeds, throws):
    hits = 0
    for s in range(seeds.shape[0]):
        state = int(seeds[s])
        for _ in range(throws):
            state = (1103515245 * state + 12345) & 0x7FFFFFFF
            x = state / 0x80000000
            state = (1103515245 * state + 12345) & 0x7FFFFFFF
            y = state / 0x80000000
            if x * x + y * y < 1.0:
                hits += 1
    return hits


seeds = np.random.default_rng(3).integers(0, 2**31, 1000)
pi = 4 * throw(seeds, 50_000) / (len(seeds) * 50_000)

assert math.isclose(pi, math.pi, abs_tol=0.002), pi
print(f"pi is about {pi:.5f}\n")
print(throw.explain(seeds, 50_000))
