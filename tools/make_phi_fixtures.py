#!/usr/bin/python3
"""Writes tests/fixtures/phi_*.txt: values of phi-functions computed by mpmath with far more than 50 digits.

The values are committed; mpmath is needed only to make them anew: tools/make_phi_fixtures.py
Inputs are doubles, printed exactly enough to be read back to the same bits.
"""
import os
import random

from mpmath import mp, mpc, mpf, cos, cosh, exp, factorial, fabs, hyp1f1, inf, matrix, nstr, sin, sinh, sqrt

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "fixtures")
DIGITS = 50


def text(value, digits=DIGITS):
    value = mpf(value)
    if fabs(value) > mpf("1.7976931348623157e308"):
        return "inf" if value > 0 else "-inf"
    if fabs(value) < mpf("1e-320"):
        return "0"
    return nstr(value, digits, strip_zeros=True, min_fixed=0, max_fixed=0)


def write(name, comment, lines):
    with open(os.path.join(HERE, name), "w") as out:
        out.write("# Written by tools/make_phi_fixtures.py. %s\n" % comment)
        for line in lines:
            out.write(" ".join(line) + "\n")


def phi(k, z):
    """phi_k(z), real or complex."""
    if z == 0:
        return 1 / factorial(k)
    if fabs(z) < 30:
        return hyp1f1(1, k + 1, z) / factorial(k)
    value = exp(z)
    for j in range(k):
        value = (value - 1 / factorial(j)) / z
    return value


def scalar_values():
    mp.dps = 400
    sizes = [1e-300, 1e-20, 1e-8, 1e-3, 0.1, 0.5, 0.9, 1.0, 1.5, 2.0, 3.0, 5.0, 7.3, 10.0, 13.7, 14.9, 15.1, 16.0,
             20.0, 23.9, 24.1, 30.0, 50.0, 100.0, 300.0, 690.0, 701.0, 709.5, 720.0, 800.0, 1e4, 1e8, 1e150, 1e300]
    arguments = [0.0] + sizes + [-s for s in sizes]
    rows = []
    for z in arguments:
        if z > 1000:
            continue
        rows.append([repr(z)] + [text(phi(k, mpf(z))) for k in range(16)])
    write("phi_scalar.txt", "z, phi_0(z)..phi_15(z).", rows)


def stumpff(k, z):
    if z == 0:
        return 1 / factorial(k)
    if fabs(z) < 900:
        term, total, j = 1 / factorial(k), mpf(0), k
        while fabs(term) > mpf(10) ** (-mp.dps) * (fabs(total) if total else 1):
            total += term
            term *= -z / ((j + 1) * (j + 2))
            j += 2
        return total
    s = sqrt(fabs(z))
    value = [cos(s), sin(s) / s] if z > 0 else [cosh(s), sinh(s) / s]
    for j in range(k):
        value.append((1 / factorial(j) - value[j]) / z)
    return value[k]


def stumpff_values():
    mp.dps = 400
    sizes = [1e-300, 1e-12, 1e-4, 0.3, 1.0, 2.4674011002723395, 4.0, 9.5, 25.0, 39.478417604357434, 60.0, 99.9, 100.1,
             150.0, 200.0, 256.0, 400.0, 1000.3, 1e4, 123456.7, 4e5, 489000.0, 491000.0, 503000.0, 505000.0, 520000.0,
             1e8, 1e12, 1.23e15]
    arguments = [0.0] + sizes + [-s for s in sizes if s < 1e6]
    write("stumpff.txt", "z, c_0(z)..c_15(z).",
          [[repr(z)] + [text(stumpff(k, mpf(z))) for k in range(16)] for z in arguments])


def oscillator(t, lam, delta, k):
    """Entries xx, xv, vx, vv, and the size each entry has away from its zeros (for complex eigenvalues)."""
    t, lam, delta = mpf(t), mpf(lam), mpf(delta)
    m, disc = -t * delta / 2, (t * delta / 2) ** 2 - t * t * lam
    w = sqrt(mpc(disc)) if disc != 0 else mpf("1e-90")
    upper, lower = m + w, m - w
    beta = ((phi(k, upper) - phi(k, lower)) / (upper - lower)).real
    mean = ((phi(k, upper) + phi(k, lower)) / 2).real
    entries = [mean - m * beta, t * beta, -lam * t * beta, mean + m * beta]
    if disc < 0 and fabs(w) > 1:
        size = fabs(phi(k, upper))
        beta_size, alpha_size = size / fabs(w), size * (1 + fabs(m) / fabs(w))
        sizes = [alpha_size, fabs(t) * beta_size, fabs(lam * t) * beta_size, alpha_size]
    else:
        sizes = [fabs(e) for e in entries]
        if m > 0 and lam > 0:  # xx is a difference that changes its sign
            sizes[0] = fabs(mean) + fabs(m * beta)
        if k == 0:  # and so is vv
            sizes[3] = fabs(mean) + fabs(m * beta)
    return entries, sizes


def oscillator_values():
    mp.dps = 500
    random.seed(20240917)
    times = [1.0, -1.0, 0.01, 3.7, 100.0, 0.3]
    rows, lambdas = [], [0.0, 1e-12, 1.0, -1.0, 25.0, -30.0, 1e4, 1e8, -100.0, 0.3, 1e10]
    deltas = [0.0, 1e-6, 0.5, 2.0, 2.0000001, 10.0, -3.0, 1e3, 200.0, 1e6, 17.0]
    while len(rows) < 700:
        t, lam, delta, k = random.choice(times), random.choice(lambdas), random.choice(deltas), random.randrange(17)
        if random.random() < 0.3:
            lam, delta = random.uniform(-50, 50), random.uniform(-2, 30)
        if random.random() < 0.15:
            lam = (delta / 2) ** 2
        entries, sizes = oscillator(t, lam, delta, k)
        if max(sizes + oscillator(t, lam, delta, 0)[1]) > mpf("1e300"):  # exp overflows, or nearly
            continue
        rows.append([repr(t), repr(lam), repr(delta), str(k)] + [text(e, 20) for e in entries] +
                    [text(s, 4) for s in sizes])
    write("phi_oscillator.txt", "t, lambda, delta, k, xx, xv, vx, vv, and the size of each away from its zeros.", rows)


if __name__ == "__main__":
    scalar_values()
    stumpff_values()
    oscillator_values()
