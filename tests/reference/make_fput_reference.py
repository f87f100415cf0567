#!/usr/bin/env python3
"""Reference states of the FPUT chain (m = 3 or more, omega = 100) for tests/test_*: nothing of Twang is used.

Method: Taylor series of the solution in 50-digit decimal arithmetic. x'' = -A x - dU/dx is polynomial, so its Taylor
coefficients follow from one another exactly; a step of size h sums them at h. The state is computed twice, with
different step and order; their difference and the change of the energy H (which the method does not know of) bound the
error. SciPy's DOP853, in double precision, is a third witness for m = 3.

Writes fput_T1.txt, fput_T10.txt, fput_T100.txt and fput_m500_T10.txt beside itself (about six minutes).
Usage: make_fput_reference.py [--check]      --check computes only T = 1 and compares with the committed file.
"""
import decimal
import operator
import os
import sys
from decimal import Decimal

HERE = os.path.dirname(os.path.abspath(__file__))
decimal.getcontext().prec = 50
OMEGA = Decimal(100)


def links(m):
    """q_l = sum of coefficient * x[index]; U = sum q_l^4 / 4. The sum inside runs to m - 1 (no mass m + 1)."""
    rows = [[(0, 1), (m, -1)]]
    rows += [[(i, 1), (m + i, -1), (i - 1, -1), (m + i - 1, -1)] for i in range(1, m)]
    return rows + [[(m - 1, 1), (2 * m - 1, 1)]]


def start(m):
    x, v = [Decimal(0)] * (2 * m), [Decimal(0)] * (2 * m)
    x[0] = v[0] = v[m] = Decimal(1)
    x[m] = 1 / OMEGA
    return x, v


def energy(x, v, m):
    H = sum(w * w for w in v) / 2 + sum(q * q for q in x[:m]) / 2 + sum((OMEGA * q) ** 2 for q in x[m:]) / 2
    return H + sum(sum(c * x[i] for i, c in row) ** 4 for row in links(m)) / 4


def convolution(a, b, k):
    """Coefficient k of the product of two series."""
    return sum(map(operator.mul, a[: k + 1], b[k::-1]), Decimal(0))


def taylor_step(x, v, h, order, rows, m):
    """One step; series are scaled: coefficient k stands for x^(k) h^k / k!."""
    X = [[x[i], v[i] * h] for i in range(2 * m)]
    Q, S = [[] for _ in rows], [[] for _ in rows]
    stiffness = [Decimal(1)] * m + [OMEGA * OMEGA] * m
    for k in range(order - 1):
        A = [-stiffness[i] * X[i][k] for i in range(2 * m)]
        for row, q, s in zip(rows, Q, S):
            q.append(sum(c * X[i][k] for i, c in row))
            s.append(convolution(q, q, k))
            tension = convolution(s, q, k)
            for i, c in row:
                A[i] -= c * tension
        factor = h * h / ((k + 1) * (k + 2))
        for i in range(2 * m):
            X[i].append(A[i] * factor)
    return [sum(reversed(s)) for s in X], [sum(k * s[k] for k in range(order, 0, -1)) / h for s in X]


def integrate(m, h, order, times):
    """States at the given times (multiples of h)."""
    rows, (x, v), states, step = links(m), start(m), {}, 0
    for t in times:
        while step < round(t / float(h)):
            x, v = taylor_step(x, v, h, order, rows, m)
            step += 1
        states[t] = (x, v)
    return states


def difference(a, b):
    return max(abs(p - q) for p, q in zip(a[0] + a[1], b[0] + b[1]))


def dop853(m, t):
    """The same by SciPy in double precision."""
    import numpy
    from scipy.integrate import solve_ivp

    B = numpy.zeros((m + 1, 2 * m))
    for l, row in enumerate(links(m)):
        for i, c in row:
            B[l, i] = c
    stiffness = numpy.array([1.0] * m + [1e4] * m)

    def rhs(_, u):
        return numpy.concatenate([u[2 * m :], -stiffness * u[: 2 * m] - B.T @ (B @ u[: 2 * m]) ** 3])

    x, v = start(m)
    u0 = numpy.array([float(q) for q in x + v])
    u = solve_ivp(rhs, (0, t), u0, method="DOP853", rtol=2.3e-14, atol=1e-16).y[:, -1]
    return [Decimal(q) for q in u[: 2 * m]], [Decimal(q) for q in u[2 * m :]]


def write(name, m, t, state, twice, drift, witness):
    with open(os.path.join(HERE, name), "w", encoding="ascii") as out:
        out.write(f"# FPUT chain, m = {m}, omega = 100, state at t = {t}: rows `q p`, x_0,1..m then x_1,1..m\n")
        out.write("# made by make_fput_reference.py: Taylor series in 50 digits, see there\n")
        out.write(f"# largest difference between h = 1/50, order 44 and h = 1/80, order 36: {twice:.1e}\n")
        out.write(f"# change of H since t = 0: {drift:.1e}\n")
        if witness is not None:
            out.write(f"# largest difference from SciPy's DOP853 (double, rtol 2.3e-14): {witness:.1e}\n")
        for q, p in zip(*state):
            out.write(f"{q:.30e} {p:.30e}\n")


def make(m, times, names, witness):
    fine = integrate(m, Decimal(1) / 80, 36, times)
    states = integrate(m, Decimal(1) / 50, 44, times)
    for t, name in zip(times, names):
        state = states[t]
        seen = difference(state, dop853(m, t)) if witness else None
        drift = energy(*state, m) - energy(*start(m), m)
        write(name, m, t, state, difference(state, fine[t]), drift, seen)
        print(name, f"{difference(state, fine[t]):.1e}", f"{drift:.1e}", seen and f"{seen:.1e}", flush=True)


def check():
    """Whether the committed T = 1 is what this program computes."""
    x, v = integrate(3, Decimal(1) / 50, 44, [1])[1]
    with open(os.path.join(HERE, "fput_T1.txt"), encoding="ascii") as committed:
        rows = [line.split() for line in committed if not line.startswith("#")]
    worst = max(abs(Decimal(row[0]) - q) + abs(Decimal(row[1]) - p) for row, q, p in zip(rows, x, v))
    print(f"fput_T1.txt differs by {worst:.1e}")
    return 0 if len(rows) == 6 and worst < Decimal("1e-28") else 1


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(check())
    make(3, [1, 10, 100], ["fput_T1.txt", "fput_T10.txt", "fput_T100.txt"], True)
    make(500, [10], ["fput_m500_T10.txt"], False)
