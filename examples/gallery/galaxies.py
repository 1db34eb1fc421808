"""Particles: two galaxies pass one another. Each star feels the two heavy centres, and these feel each other.

A loop over time, and inside of it two over stars, which run on all cores. The helper is compiled into the kernel."""

import numpy as np

import loopwright as lw


@lw.function
def pull(dx, dy, mass):
    """Acceleration for each unit of distance, softened close to the centre."""
    return mass / (dx * dx + dy * dy + 0.01) ** 1.5


@lw.kernel
def fly(x, y, vx, vy, mass, steps, dt):
    """The centres are the first two bodies; stars have no mass."""
    for _ in range(steps):
        for i in range(len(x)):
            ax = 0.0
            ay = 0.0
            for c in range(2):
                if c != i:
                    dx, dy = x[c] - x[i], y[c] - y[i]
                    strength = pull(dx, dy, mass[c])
                    ax += strength * dx
                    ay += strength * dy
            vx[i] += dt * ax
            vy[i] += dt * ay
        for i in range(len(x)):
            x[i] += dt * vx[i]
            y[i] += dt * vy[i]


def bodies(size):
    """Two discs of stars on circular orbits: x, y, vx, vy; and the masses of the centres."""
    random = np.random.default_rng(3)
    places = []
    for k, (cx, cy, cvx, cvy) in enumerate([(-3.0, -1.2, 0.45, 0.0), (3.0, 1.2, -0.45, 0.0)]):
        radius, angle = np.sqrt(random.uniform(0.1, 2.5, size)), random.uniform(0.0, 2.0 * np.pi, size)
        speed = np.sqrt(radius**2 / (radius**2 + 0.01) ** 1.5) * (1, -1)[k]
        stars = [cx + radius * np.cos(angle), cy + radius * np.sin(angle)]
        stars += [cvx - speed * np.sin(angle), cvy + speed * np.cos(angle)]
        places.append((np.array([cx, cy, cvx, cvy])[:, None], np.array(stars)))
    return np.concatenate([one[0] for one in places] + [one[1] for one in places], axis=1), np.array([1.0, 1.0])


def compute(size=4000, steps=900):
    state, mass = bodies(size)
    fly(*state, mass, steps, 0.01)
    return state


def check(size=30, steps=50):
    state, mass = bodies(size)
    x, y, vx, vy = state
    for _ in range(steps):
        for c in range(2):
            dx, dy = x[c] - x, y[c] - y
            strength = mass[c] / (dx * dx + dy * dy + 0.01) ** 1.5
            strength[c] = 0.0
            vx += 0.01 * strength * dx
            vy += 0.01 * strength * dy
        x += 0.01 * vx
        y += 0.01 * vy
    np.testing.assert_allclose(compute(size, steps), state, rtol=1e-9)


def picture(axes, result):
    count = result.shape[1] // 2 - 1
    axes.set_facecolor("black")
    for stars, colour in ((slice(2, 2 + count), "#8fc7ff"), (slice(2 + count, None), "#ffc78f")):
        axes.plot(result[0, stars], result[1, stars], ".", color=colour, markersize=0.7)
    axes.set(xlim=(-5, 5), ylim=(-4, 4))


if __name__ == "__main__":
    check()
    x, y = compute()[:2]
    print(f"{np.mean(np.hypot(x - x.mean(), y - y.mean()) > 5.0):.1%} of the stars were thrown out")
