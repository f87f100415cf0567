#!/usr/bin/env python3
"""A free asymmetric top that tumbles (Dzhanibekov): Euler's equations and the quaternion by SciPy's solve_ivp.

usage: tests/reference/make_top_reference.py > tests/reference/top_T60.txt

Moments of inertia 1, 2, 3 kg m^2 about x, y, z; the spin at the start is (1e-3, 2, 0) rad/s, next to the middle axis.
Rows: time, the four entries of the quaternion (w, x, y, z), the spin in the body's axes, at 20, 40 and 60 s. The first
line has the largest difference between DOP853 and Radau, both at rtol 1e-13.
"""
import numpy as np
from scipy.integrate import solve_ivp

INERTIA = np.array([1.0, 2.0, 3.0])


def rates(_, u):
    w, (a, b, c, d) = u[4:], u[:4]
    turn = 0.5 * np.array([-b * w[0] - c * w[1] - d * w[2], a * w[0] + c * w[2] - d * w[1],
                           a * w[1] - b * w[2] + d * w[0], a * w[2] + b * w[1] - c * w[0]])
    return np.concatenate([turn, -np.cross(w, INERTIA * w) / INERTIA])


def main():
    start = [1, 0, 0, 0, 1e-3, 2, 0]
    times = [20, 40, 60]
    first, second = (solve_ivp(rates, (0, 60), start, method=name, t_eval=times, rtol=1e-13, atol=1e-15).y.T
                     for name in ("DOP853", "Radau"))
    print(f"# DOP853 and Radau differ by {abs(first - second).max():.1e}")
    for t, row in zip(times, first):
        print(t, *(f"{value:.17g}" for value in row))


main()
