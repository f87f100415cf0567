#!/usr/bin/env python3
"""Reference states of the rope (ten links, k = 1e4 ... 1e10, at 0.4 s and 0.9 s): nothing of Twang is used.

Method: Taylor series in 80-bit floating point (numpy.longdouble), with the series of 1/length from the recurrence of a
power: r = q^a  =>  k q_0 r_k = sum_{j=1..k} (a j - (k - j)) q_j r_{k-j}. The rope stays in the x-z plane. Steps of
fixed phase h omega_max. Every state is computed with two pairs of phase and order; SciPy's DOP853 in double precision
is a third witness up to k = 1e6; beyond, it would take an hour.

Writes rope_kE_T0.4.txt and rope_kE_T0.9.txt beside itself for E = 4, 6, 8, 10: rows `x y z vx vy vz` of the ten free
particles. All together take about fifteen minutes.
Usage: make_rope_reference.py [EXPONENT ...]
"""
import os
import sys

import numpy as np
from scipy.integrate import solve_ivp

HERE = os.path.dirname(os.path.abspath(__file__))
LINKS = 10
REST, MASS, GRAVITY = np.longdouble("0.1"), np.longdouble("0.1"), np.longdouble("9.81")
TIMES = (np.longdouble("0.4"), np.longdouble("0.9"))


def start():
    x = np.zeros((LINKS, 2), dtype=np.longdouble)
    x[:, 0] = REST * np.arange(1, LINKS + 1)
    return x, np.zeros_like(x)


class RopeSeries:
    """Arrays for the scaled Taylor coefficients of one step, reused by all steps."""

    def __init__(self, k, order):
        self.k, self.order = np.longdouble(k), order
        self.X = np.zeros((order + 1, LINKS, 2), dtype=np.longdouble)
        self.d = np.zeros((order + 1, LINKS, 2), dtype=np.longdouble)
        self.q = np.zeros((order + 1, LINKS), dtype=np.longdouble)
        self.r = np.zeros((order + 1, LINKS), dtype=np.longdouble)
        j = np.arange(order + 1, dtype=np.longdouble)
        # a j - (n - j) with a = -1/2, for every n
        self.weights = [(j[1 : n + 1] / 2 - n)[:, None] for n in range(order + 1)]

    def step(self, x, v, h):
        X, d, q, r = self.X, self.d, self.q, self.r
        X[0], X[1] = x, v * h
        for n in range(self.order - 1):
            d[n] = X[n]
            d[n, 1:] -= X[n, :-1]
            q[n] = (d[: n + 1] * d[n::-1]).sum(axis=(0, 2))
            if n == 0:
                r[0] = 1 / np.sqrt(q[0])
            else:
                r[n] = (self.weights[n] * q[1 : n + 1] * r[n - 1 :: -1][:n]).sum(axis=0) / (n * q[0])
            # pull = k (d - L d/|d|); a_i = (pull_{i+1} - pull_i)/m + g
            pull = (self.k / MASS) * (d[n] - REST * (r[: n + 1, :, None] * d[n::-1]).sum(axis=0))
            a = -pull
            a[:-1] += pull[1:]
            if n == 0:
                a[:, 1] -= GRAVITY
            X[n + 2] = a * (h * h / ((n + 1) * (n + 2)))
        powers = np.arange(self.order + 1, dtype=np.longdouble)[:, None, None]
        return X[::-1].sum(axis=0), (powers * X)[::-1].sum(axis=0) / h


def taylor(k, phase, order):
    """States at TIMES."""
    series, (x, v), states, t0 = RopeSeries(k, order), start(), [], np.longdouble(0)
    for t in TIMES:
        steps = int(np.ceil(float((t - t0) * 2 * np.sqrt(np.longdouble(k) / MASS)) / phase))
        for _ in range(steps):
            x, v = series.step(x, v, (t - t0) / steps)
        states.append((x, v))
        t0 = t
    return states


def dop853(k):
    k, rest, mass = float(k), float(REST), float(MASS)

    def rhs(_, u):
        points = u[: 2 * LINKS].reshape(LINKS, 2)
        d = points.copy()
        d[1:] -= points[:-1]
        pull = (k * (1 - rest / np.sqrt((d * d).sum(1))))[:, None] * d
        force = -pull
        force[:-1] += pull[1:]
        force /= mass
        force[:, 1] -= float(GRAVITY)
        return np.concatenate([u[2 * LINKS :], force.ravel()])

    x, v = start()
    u0 = np.concatenate([x.ravel(), v.ravel()]).astype(float)
    times = [float(t) for t in TIMES]
    y = solve_ivp(rhs, (0, times[-1]), u0, method="DOP853", rtol=1e-13, atol=1e-15, t_eval=times).y
    return [(y[: 2 * LINKS, i].reshape(LINKS, 2), y[2 * LINKS :, i].reshape(LINKS, 2)) for i in range(2)]


def difference(a, b):
    """In position and in velocity."""
    return f"{float(abs(a[0] - b[0]).max()):.1e} in x, {float(abs(a[1] - b[1]).max()):.1e} in v"


def make(exponent):
    k = 10**exponent
    states, again = taylor(k, 4.0, 30), taylor(k, 2.5, 24)
    witness = dop853(k) if exponent < 8 else [None, None]
    for t, state, second, third in zip(("0.4", "0.9"), states, again, witness):
        with open(os.path.join(HERE, f"rope_k{exponent}_T{t}.txt"), "w", encoding="ascii") as out:
            out.write(f"# rope of ten links, k = 1e{exponent}, state at t = {t}: rows `x y z vx vy vz`, free particles\n")
            out.write("# made by make_rope_reference.py: Taylor series in 80-bit arithmetic, see there\n")
            lines = [f"between h omega = 4, order 30 and h omega = 2.5, order 24: {difference(state, second)}"]
            if third:
                lines.append(f"from SciPy's DOP853 (double, rtol 1e-13): {difference(state, third)}")
            for line in lines:
                out.write(f"# largest difference {line}\n")
                print(exponent, t, line, flush=True)
            for (x, z), (vx, vz) in zip(*state):
                numbers = " ".join(np.format_float_scientific(q, precision=20) for q in (x, 0.0, z, vx, 0.0, vz))
                out.write(numbers + "\n")


if __name__ == "__main__":
    for argument in sys.argv[1:] or ["4", "6", "8", "10"]:
        make(int(argument))
