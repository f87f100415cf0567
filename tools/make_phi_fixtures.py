#!/usr/bin/python3
"""Writes tests/fixtures/phi_*.txt: values of phi-functions computed by mpmath with far more than 50 digits.

The values are committed; mpmath is needed only to make them anew: tools/make_phi_fixtures.py
Inputs are doubles, printed exactly enough to be read back to the same bits.
"""
import os
import random

from mpmath import mp, mpc, mpf, cos, cosh, exp, expm, eye, factorial, fabs, hyp1f1, matrix, nstr, sin, sinh, sqrt

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


def phi_action(A, tau, vectors):
    """sum_k phi_k(tau A) v_k through the exponential of the augmented matrix."""
    n, p = A.rows, len(vectors) - 1
    Z = matrix(n + p, n + p)
    for i in range(n):
        for j in range(n):
            Z[i, j] = tau * A[i, j]
        for k in range(1, p + 1):
            Z[i, n + p - k] = vectors[k][i]
    for k in range(p - 1):
        Z[n + k, n + k + 1] = 1
    E = expm(Z)
    return [sum(E[i, j] * vectors[0][j] for j in range(n)) + (E[i, n + p - 1] if p else 0) for i in range(n)]


def dyadic(low, high, bits=20):
    """A random double with few digits, so that it prints short and is exact."""
    return round(random.uniform(low, high) * 2 ** bits) / 2 ** bits


def random_symmetric(n, low, high):
    Q = [[dyadic(-1, 1, 8) for _ in range(n)] for _ in range(n)]
    weight = [dyadic(low, high, 8) for _ in range(n)]
    return [[sum(Q[i][k] * weight[k] * Q[j][k] for k in range(n)) for j in range(n)] for i in range(n)]


def first_order_matrix(kind, n):
    A = [[dyadic(-1, 1) for _ in range(n)] for _ in range(n)]
    if kind == "symmetric-decay":
        return random_symmetric(n, -4, 0)
    if kind == "symmetric-indefinite":
        return random_symmetric(n, -3, 3)
    if kind == "skew":
        return [[A[i][j] if i < j else (-A[j][i] if i > j else 0.0) for j in range(n)] for i in range(n)]
    if kind == "nonnormal":
        return [[8 * A[i][j] if i < j else (-1.0 - i / 4 if i == j else 0.0) for j in range(n)] for i in range(n)]
    if kind == "jordan":
        return [[-0.5 if i == j else (1.0 if j == i + 1 else 0.0) for j in range(n)] for i in range(n)]
    if kind == "nilpotent":
        return [[1.0 if j == i + 1 else 0.0 for j in range(n)] for i in range(n)]
    if kind == "decay":
        return [[A[i][j] - (6.0 * (i + 1) if i == j else 0) for j in range(n)] for i in range(n)]
    return A


FIRST = ["symmetric-decay", "symmetric-indefinite", "skew", "nonnormal", "jordan", "nilpotent", "decay", "general"]
SECOND = ["positive", "indefinite", "singular", "rayleigh", "rayleigh-stiff", "damped", "nonsymmetric"]


def second_order_parts(kind, mass_kind, n):
    """K, mass (diagonal or full), alpha, beta, D as lists of doubles."""
    K = random_symmetric(n, 0.25, 4)
    if kind == "indefinite":
        K = random_symmetric(n, -2, 4)
    if kind == "singular":  # a free chain
        K = [[(2.0 if 0 < i < n - 1 else 1.0) if i == j else (-1.0 if abs(i - j) == 1 else 0.0) for j in range(n)]
             for i in range(n)]
    if kind == "nonsymmetric":
        K = [[K[i][j] + dyadic(-0.5, 0.5) for j in range(n)] for i in range(n)]
    alpha, beta = (0.25, 0.0625) if kind == "rayleigh" else ((0.125, 8.0) if kind == "rayleigh-stiff" else (0.0, 0.0))
    D = random_symmetric(n, 0, 1) if kind == "damped" else None
    mass = [dyadic(0.25, 4, 8) for _ in range(n)]
    if mass_kind == 2:
        mass = [[(4.0 if i == j else (1.0 if abs(i - j) == 1 else 0.0)) for j in range(n)] for i in range(n)]
    return K, mass, alpha, beta, D


def jacobian(n, K, mass, mass_kind, alpha, beta, D):
    M = eye(n) if mass_kind == 0 else (matrix(mass) if mass_kind == 2 else mp.diag([mpf(m) for m in mass]))
    A, B = M ** -1 * matrix(K), alpha * eye(n)
    B += beta * A + (M ** -1 * matrix(D) if D else 0 * eye(n))
    J = matrix(2 * n, 2 * n)
    for i in range(n):
        J[i, n + i] = 1
        for j in range(n):
            J[n + i, j], J[n + i, n + j] = -A[i, j], -B[i, j]
    return J


def flat(rows):
    return [repr(float(rows[i][j])) for j in range(len(rows)) for i in range(len(rows))]


def action_case(J, d, t, p):
    nodes = random.choice([[1.0], [0.5, 1.0], [0.25, 0.75, 1.0], [1.0, -0.5, 0.0, 0.125]])
    vectors = [[dyadic(-1, 1) for _ in range(d)] for _ in range(p + 1)]
    if p and random.random() < 0.4:
        vectors[0] = [0.0] * d
    outputs = [phi_action(J, mpf(c) * mpf(t), [[mpf(x) for x in v] for v in vectors]) for c in nodes]
    head = [repr(t), str(p), str(len(nodes))] + [repr(c) for c in nodes] + [repr(x) for v in vectors for x in v]
    return head, [text(x, DIGITS) for w in outputs for x in w]


def dense_values():
    mp.dps = 150
    random.seed(7)
    rows = []
    for kind in FIRST:
        for t in [1e-6, 0.01, 1.0, 12.0, 80.0]:
            n, p = random.choice([1, 2, 3, 4, 5, 6]), random.randrange(6)
            A = first_order_matrix(kind, n)
            symmetry = "1" if kind.startswith("symmetric") else ("2" if kind == "skew" else "0")
            head, outputs = action_case(matrix(A), n, t, p)
            rows.append(["1", str(n), symmetry] + flat(A) + head + outputs)
    for kind in SECOND:
        for t in [1e-6, 0.01, 1.0, 12.0, 80.0]:
            n, p, mass_kind = random.choice([1, 2, 3, 4]), random.randrange(6), random.randrange(3)
            K, mass, alpha, beta, D = second_order_parts(kind, mass_kind, n)
            J = jacobian(n, K, mass, mass_kind, alpha, beta, D)
            head, outputs = action_case(J, 2 * n, t, p)
            masses = [] if mass_kind == 0 else ([repr(m) for m in mass] if mass_kind == 1 else flat(mass))
            damping = ["1"] + flat(D) if D else ["0"]
            rows.append(["2", str(n), "0" if kind == "nonsymmetric" else "1"] + flat(K) + [str(mass_kind)] + masses +
                        [repr(alpha), repr(beta)] + damping + head + outputs)
    write("phi_dense.txt",
          "order 1: n, symmetry, A; order 2: n, symmetry, K, mass kind, mass, alpha, beta, D or 0; then t, p, nodes, "
          "vectors, outputs. Matrices by columns.", rows)


if __name__ == "__main__":
    scalar_values()
    stumpff_values()
    oscillator_values()
    dense_values()
