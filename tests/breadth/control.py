"""Control and robotics: regulators, filters, paths."""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np

from breadth.cases import case

Gains = namedtuple("Gains", "kp ki kd limit")


@case(lambda rng: (rng.normal(size=9), Gains(1.2, 0.5, 0.05, 2.0), 0.01))
def pid(setpoint, gains, dt):
    y = integral = prev = 0.0
    out = np.empty(setpoint.size)
    for k in range(setpoint.size):
        e = setpoint[k] - y
        u = gains.kp * e + gains.ki * integral + gains.kd * (e - prev) / dt
        clipped = min(max(u, -gains.limit), gains.limit)
        if u == clipped:
            integral += e * dt
        prev = e
        y += dt * (-y + clipped)
        out[k] = y
    return out



def quat_mul(q, p):
    w0, x0, y0, z0 = q
    w1, x1, y1, z1 = p
    return (
        w0 * w1 - x0 * x1 - y0 * y1 - z0 * z1,
        w0 * x1 + x0 * w1 + y0 * z1 - z0 * y1,
        w0 * y1 - x0 * z1 + y0 * w1 + z0 * x1,
        w0 * z1 + x0 * y1 - y0 * x1 + z0 * w1,
    )



@case(lambda rng: (rng.normal(size=(9, 3)), rng.normal(size=(9, 3)) + np.array([0, 0, 9.8]), 0.01, 0.04))
def madgwick(gyro, accel, dt, beta):
    q = (1.0, 0.0, 0.0, 0.0)
    out = np.empty((gyro.shape[0], 4))
    for k in range(gyro.shape[0]):
        dq = quat_mul(q, (0.0, gyro[k, 0], gyro[k, 1], gyro[k, 2]))
        ax, ay, az = accel[k]
        norm = math.sqrt(ax * ax + ay * ay + az * az)
        w, x, y, z = q
        w += 0.5 * dt * dq[0]
        x += 0.5 * dt * dq[1]
        y += 0.5 * dt * dq[2]
        z += 0.5 * dt * dq[3]
        if norm > 0:
            ax, ay, az = ax / norm, ay / norm, az / norm
            f1 = 2 * (x * z - w * y) - ax
            f2 = 2 * (w * x + y * z) - ay
            f3 = 2 * (0.5 - x * x - y * y) - az
            w -= beta * dt * (-2 * y * f1 + 2 * x * f2)
            x -= beta * dt * (2 * z * f1 + 2 * w * f2 - 4 * x * f3)
            y -= beta * dt * (-2 * w * f1 + 2 * z * f2 - 4 * y * f3)
            z -= beta * dt * (2 * x * f1 + 2 * y * f2)
        s = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
        q = (w * s, x * s, y * s, z * s)
        out[k] = q
    return out, q



@case(lambda rng: (rng.normal(size=9), np.array([[0.2, 0.4, 0.2, 1.0, -0.3, 0.1], [0.5, 0.1, 0.0, 1.0, -0.2, 0.05]])))
def sosfilt(x, sos):
    y = x.copy()
    for section in sos:
        b0, b1, b2, a0, a1, a2 = section
        z1 = z2 = 0.0
        for i in range(y.size):
            v = y[i]
            o = b0 * v + z1
            z1 = b1 * v - a1 * o + z2
            z2 = b2 * v - a2 * o
            y[i] = o
    return y



@case(lambda rng: (rng.uniform(-1, 1, (9, 2)), 20))
def mpc_search(states, horizon):
    actions = np.array((-1.0, -0.5, 0.0, 0.5, 1.0))
    best_u = np.zeros(states.shape[0])
    cost = np.zeros(len(actions))
    for i in range(states.shape[0]):
        for a, u in enumerate(actions):
            x, v = states[i]
            c = 0.0
            for t in range(horizon):
                v += 0.1 * (u - 0.2 * v)
                x += 0.1 * v
                c += x * x + 0.1 * v * v + 0.01 * u * u
            cost[a] = c
        best_u[i] = actions[np.argmin(cost)]
    return best_u
