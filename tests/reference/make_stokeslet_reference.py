#!/usr/bin/env python3
"""Velocities of eight regularised Stokeslets of different radii, with 40 digits by mpmath.

The velocity is found from its definition, not from Twang's kernel: u = (laplace H) f - (f . grad) grad H with
H = sqrt(r^2 + c), c = (eps_i^2 + eps_j^2)/2, whose derivatives mpmath takes numerically. The points are
x = (sin(1 + 7 i), sin(2 + 11 i), sin(3 + 13 i)), f = (cos(1 + 5 i), cos(2 + 3 i), cos(4 + 17 i)), eps = 0.05 (1 + i),
mu = 0.7. Prints tests/reference/stokeslets.txt: u_x u_y u_z per point.   usage: make_stokeslet_reference.py
"""
from mpmath import mp, mpf, sin, cos, sqrt, pi, diff

mp.dps = 40
COUNT = 8
MU = mpf(7) / 10


def position(i):
    return [sin(1 + 7 * i), sin(2 + 11 * i), sin(3 + 13 * i)]


def force(i):
    return [cos(1 + 5 * i), cos(2 + 3 * i), cos(4 + 17 * i)]


def second(r, c, a, b):
    """d^2 H / dr_a dr_b by mpmath's differences."""
    orders = [0, 0, 0]
    orders[a] += 1
    orders[b] += 1
    return diff(lambda x, y, z: sqrt(x * x + y * y + z * z + c), tuple(r), tuple(orders))


def velocity(i):
    u = [mpf(0)] * 3
    for j in range(COUNT):
        r = [a - b for a, b in zip(position(i), position(j))]
        c = ((mpf(1 + i) / 20) ** 2 + (mpf(1 + j) / 20) ** 2) / 2
        hessian = [[second(r, c, a, b) for b in range(3)] for a in range(3)]
        laplace = hessian[0][0] + hessian[1][1] + hessian[2][2]
        f = force(j)
        for a in range(3):
            u[a] += laplace * f[a] - sum(hessian[a][b] * f[b] for b in range(3))
    return [component / (8 * pi * MU) for component in u]


print("# Velocities of eight regularised Stokeslets (make_stokeslet_reference.py): u_x u_y u_z")
for point in range(COUNT):
    print(" ".join(mp.nstr(component, 20) for component in velocity(point)))
