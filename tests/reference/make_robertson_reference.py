#!/usr/bin/env python3
"""Robertson's kinetics (y1' = -0.04 y1 + 1e4 y2 y3, y3' = 3e7 y2^2, y1 + y2 + y3 = 1) from (1, 0, 0).

Radau IIA with three stages (order 5, L-stable), Newton to rounding, steps that grow with t. Prints the
states that tests/test_step_control.c compares with, by N and by 2 N steps per decade: their difference is
the accuracy. Needs nothing but Python.   usage: make_robertson_reference.py [N]
"""
import math
import sys

S6 = math.sqrt(6.0)
C = [(4 - S6) / 10, (4 + S6) / 10, 1.0]
A = [[(88 - 7 * S6) / 360, (296 - 169 * S6) / 1800, (-2 + 3 * S6) / 225],
     [(296 + 169 * S6) / 1800, (88 + 7 * S6) / 360, (-2 - 3 * S6) / 225],
     [(16 - S6) / 36, (16 + S6) / 36, 1.0 / 9]]
TIMES = [0.4, 4.0, 40.0, 400.0, 4000.0, 40000.0]


def rhs(y):
    fast = 1e4 * y[1] * y[2]
    third = 3e7 * y[1] * y[1]
    return [-0.04 * y[0] + fast, 0.04 * y[0] - fast - third, third]


def jacobian(y):
    return [[-0.04, 1e4 * y[2], 1e4 * y[1]],
            [0.04, -1e4 * y[2] - 6e7 * y[1], -1e4 * y[1]],
            [0.0, 6e7 * y[1], 0.0]]


def solve(matrix, right):
    n = len(right)
    rows = [matrix[i][:] + [right[i]] for i in range(n)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            for j in range(k, n + 1):
                rows[i][j] -= factor * rows[k][j]
    x = [0.0] * n
    for k in reversed(range(n)):
        x[k] = (rows[k][n] - sum(rows[k][j] * x[j] for j in range(k + 1, n))) / rows[k][k]
    return x


def step(y, h):
    """Solves Z_i = h sum_j a_ij F(y + Z_j) by Newton's method; the last stage is the result."""
    z = [0.0] * 9
    for _ in range(30):
        stages = [[y[c] + z[3 * i + c] for c in range(3)] for i in range(3)]
        slopes = [rhs(stage) for stage in stages]
        tangents = [jacobian(stage) for stage in stages]
        residual = [z[3 * i + c] - h * sum(A[i][j] * slopes[j][c] for j in range(3))
                    for i in range(3) for c in range(3)]
        matrix = [[(1.0 if 3 * i + c == 3 * j + d else 0.0) - h * A[i][j] * tangents[j][c][d]
                   for j in range(3) for d in range(3)] for i in range(3) for c in range(3)]
        change = solve(matrix, [-r for r in residual])
        z = [a + b for a, b in zip(z, change)]
        if max(abs(b) for b in change) < 1e-18:
            break
    return [y[c] + z[6 + c] for c in range(3)]


def run(per_decade):
    """Equal steps to 1e-5, where the fastest transient (2e-3 s) begins; then equal steps of log t."""
    t, y, states = 0.0, [1.0, 0.0, 0.0], []
    marks = [1e-5]
    for goal in TIMES:
        count = math.ceil(per_decade * math.log10(goal / marks[-1]) - 1e-9)
        first = marks[-1]
        marks += [first * (goal / first) ** (k / count) for k in range(1, count)] + [goal]
    marks = [1e-5 * k / per_decade for k in range(1, per_decade)] + marks
    for mark in marks:
        y = step(y, mark - t)
        t = mark
        if t in TIMES:
            states.append(y)
    return states


if __name__ == "__main__":
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for t, coarse, fine in zip(TIMES, run(n), run(2 * n)):
        print(f"{t:g}", *(f"{v:.13e}" for v in fine),
              "difference", *(f"{abs(a - b) / b:.0e}" for a, b in zip(coarse, fine)))
