#!/usr/bin/env python3
"""Reference states of small oscillators for tests/test_*: nothing of Twang is used.

Method: Taylor series of polynomial second-order systems in 50-digit decimal arithmetic (forcing and prescribed motion
are polynomial too: s(t) = sin(w t) is one more unknown with s'' = -w^2 s). Every state is computed with two pairs of
step and order; witnesses are SciPy's DOP853 in double precision and, for the Duffing oscillator, its closed form
x(t) = cn(sqrt 2 t | 1/4) from mpmath.

The problems (each file repeats its own):
  duffing    x'' = -x - x^3;                                   x(0) = 1, v(0) = 0
  damped     x'' = -K x - x^3 (each component) - D v, K = [[11, -10], [-10, 11]], D = [[0.3, -0.1], [-0.1, 0.5]];
             x(0) = (1, 0), v(0) = (0, 1)
  vanderpol  x'' = -x + 2 (1 - x^2) v;                         x(0) = 2, v(0) = 0
  forced     x'' = -x - x^3 + sin(1.3 t);                      x(0) = 1, v(0) = 0
  shaken     three unit masses in a row behind a wall at s(t) = 0.1 sin(2 t), springs of force r + r^3:
             r_1 = x_1 - s, r_i = x_i - x_{i-1}, x_i'' = -(r_i + r_i^3) + (r_{i+1} + r_{i+1}^3), the last end free;
             x(0) = 0, v(0) = 0

Writes NAME_T*.txt beside itself (some seconds). Usage: make_oscillator_references.py [--check]
"""
import decimal
import os
import sys
from decimal import Decimal as D

HERE = os.path.dirname(os.path.abspath(__file__))
decimal.getcontext().prec = 50


class Product:
    """Series of a product, coefficients computed when asked for."""

    def __init__(self, a, b):
        self.a, self.b, self.known = a, b, []

    def __getitem__(self, k):
        while len(self.known) <= k:
            j = len(self.known)
            self.known.append(sum(self.a[i] * self.b[j - i] for i in range(j + 1)))
        return self.known[k]


class Combination:
    """Series of a linear combination [(weight, series), ...]."""

    def __init__(self, terms):
        self.terms = terms

    def __getitem__(self, k):
        return sum(w * s[k] for w, s in self.terms)


class Velocity:
    """Series of x' from that of x."""

    def __init__(self, x):
        self.x = x

    def __getitem__(self, k):
        return (k + 1) * self.x[k + 1]


class One:
    def __getitem__(self, k):
        return D(1) if k == 0 else D(0)


def cube(x):
    return Product(Product(x, x), x)


# Each returns the accelerations as series of (x, v), and has its start, and how many of the unknowns are written.
def duffing(x, v):
    return [Combination([(-1, x[0]), (-1, cube(x[0]))])]


def damped(x, v):
    K = [[11, -10], [-10, 11]]
    B = [[D("0.3"), D("-0.1")], [D("-0.1"), D("0.5")]]
    rows = []
    for i in range(2):
        terms = [(-K[i][j], x[j]) for j in range(2)] + [(-B[i][j], v[j]) for j in range(2)]
        rows.append(Combination(terms + [(-1, cube(x[i]))]))
    return rows


def vanderpol(x, v):
    gain = Combination([(2, One()), (-2, Product(x[0], x[0]))])
    return [Combination([(-1, x[0]), (1, Product(gain, v[0]))])]


def forced(x, v):
    return [Combination([(-1, x[0]), (-1, cube(x[0])), (1, x[1])]), Combination([(-D("1.69"), x[1])])]


def shaken(x, v):
    r = [Combination([(1, x[i]), (-1, x[i - 1] if i else x[3])]) for i in range(3)]
    pull = [Combination([(1, q), (1, cube(q))]) for q in r]
    rows = [Combination([(-1, pull[i])] + ([(1, pull[i + 1])] if i < 2 else [])) for i in range(3)]
    return rows + [Combination([(-4, x[3])])]


PROBLEMS = {
    "duffing": (duffing, ["1"], ["0"], 1, (1, 10, 100), "x'' = -x - x^3; x(0) = 1, v(0) = 0"),
    "damped": (damped, ["1", "0"], ["0", "1"], 2, (1, 5), "x'' = -K x - x^3 - D v, see make_oscillator_references.py"),
    "vanderpol": (vanderpol, ["2"], ["0"], 1, (1, 10), "x'' = -x + 2 (1 - x^2) v; x(0) = 2, v(0) = 0"),
    "forced": (forced, ["1", "0"], ["0", "1.3"], 1, (1, 10), "x'' = -x - x^3 + sin(1.3 t); x(0) = 1, v(0) = 0"),
    "shaken": (shaken, ["0"] * 4, ["0"] * 3 + ["0.2"], 3, (1, 10), "three masses behind a shaken wall, see there"),
}


def taylor_step(problem, x, v, h, order):
    X = [[a, b] for a, b in zip(x, v)]
    A = problem(X, [Velocity(s) for s in X])
    for k in range(order - 1):
        for s, c in zip(X, [a[k] / ((k + 1) * (k + 2)) for a in A]):
            s.append(c)
    at = [D(0)] * len(x), [D(0)] * len(x)
    for i, s in enumerate(X):
        for k in range(order, -1, -1):
            at[0][i] = at[0][i] * h + s[k]
        for k in range(order, 0, -1):
            at[1][i] = at[1][i] * h + k * s[k]
    return at


def integrate(name, steps_per_unit, order, times):
    problem, x, v = PROBLEMS[name][:3]
    x, v, states, step = [D(q) for q in x], [D(q) for q in v], {}, 0
    for t in times:
        while step < t * steps_per_unit:
            x, v = taylor_step(problem, x, v, D(1) / steps_per_unit, order)
            step += 1
        states[t] = (x, v)
    return states


def dop853(name, t):
    """The same right-hand side, by SciPy: coefficient 0 of the series is the value."""
    from scipy.integrate import solve_ivp

    problem, x, v = PROBLEMS[name][:3]
    n = len(x)

    def rhs(_, u):
        X = [[D(a), D(b)] for a, b in zip(u[:n], u[n:])]
        return list(u[n:]) + [float(a[0]) for a in problem(X, [Velocity(s) for s in X])]

    u = solve_ivp(rhs, (0, t), [float(q) for q in x + v], method="DOP853", rtol=1e-13, atol=1e-15).y[:, -1]
    return [D(q) for q in u[:n]], [D(q) for q in u[n:]]


def duffing_exact(t):
    """x = cn(sqrt(2) t | 1/4), v = -sqrt(2) sn dn."""
    import mpmath

    mpmath.mp.dps = 45
    w = mpmath.sqrt(2) * t
    sn, cn, dn = (mpmath.ellipfun(kind, w, m=mpmath.mpf(1) / 4) for kind in ("sn", "cn", "dn"))
    return [D(mpmath.nstr(cn, 40))], [D(mpmath.nstr(-mpmath.sqrt(2) * sn * dn, 40))]


def difference(a, b):
    return max(abs(p - q) for p, q in zip(a[0] + a[1], b[0] + b[1]))


def main(check):
    worst = D(0)
    for name, (_, _, _, shown, times, text) in PROBLEMS.items():
        states, fine = integrate(name, 20, 34, times), integrate(name, 32, 30, times)
        for t in times:
            path = os.path.join(HERE, f"{name}_T{t}.txt")
            if check:
                with open(path, encoding="ascii") as committed:
                    rows = [line.split() for line in committed if not line.startswith("#")]
                worst = max(worst, max(abs(D(r[0]) - q) + abs(D(r[1]) - p) for r, q, p in zip(rows, *states[t])))
                continue
            with open(path, "w", encoding="ascii") as out:
                out.write(f"# {name}: {text}\n# state at t = {t}: rows `q p`\n")
                out.write("# made by make_oscillator_references.py: Taylor series in 50 digits, see there\n")
                twice = difference(states[t], fine[t])
                out.write(f"# largest difference between h = 1/20, order 34 and h = 1/32, order 30: {twice:.1e}\n")
                seen = difference(states[t], dop853(name, t))
                out.write(f"# largest difference from SciPy's DOP853 (double, rtol 1e-13): {seen:.1e}\n")
                exact = difference(states[t], duffing_exact(t)) if name == "duffing" else None
                if exact is not None:
                    out.write(f"# largest difference from cn(sqrt 2 t | 1/4) in mpmath: {exact:.1e}\n")
                for q, p in list(zip(*states[t]))[:shown]:
                    out.write(f"{q:.30e} {p:.30e}\n")
            print(name, t, f"{twice:.1e} {seen:.1e}", exact is not None and f"{exact:.1e}", flush=True)
    if check:
        print(f"oscillator references differ by {worst:.1e}")
    return 1 if worst > D("1e-25") else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] == ["--check"]))
