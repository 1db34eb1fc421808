"""An array of records: particles with a position and a velocity, each field used by its name."""

import numpy as np

import loopwright as lw

particle = np.dtype([("x", "f8"), ("y", "f8"), ("vx", "f8"), ("vy", "f8"), ("bounces", "i4")])


@lw.kernel
def move(p, gravity, dt, steps):
    for i in range(len(p)):
        for _ in range(steps):
            p[i]["vy"] -= gravity * dt
            p[i]["x"] += p[i]["vx"] * dt
            p[i]["y"] += p[i]["vy"] * dt
            if p[i]["y"] < 0.0:
                p[i]["y"] = -p[i]["y"]
                p[i]["vy"] = -0.9 * p[i]["vy"]
                p[i]["bounces"] += 1


random = np.random.default_rng(2)
p = np.zeros(100_000, particle)
for field in ("x", "y", "vx", "vy"):
    p[field] = random.random(len(p))
right = p["x"] + p["vx"] * 2.0
move(p, 9.81, 0.001, 2000)

np.testing.assert_allclose(p["x"], right, rtol=1e-9)
print(f"{p['bounces'].mean():.2f} bounces each, mean height {p['y'].mean():.3f}\n")
print(move.explain(p, 9.81, 0.001, 2000))
