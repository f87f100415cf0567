/* phi_k of Z = t [[0, 1], [-lambda, -delta]], the damped oscillator.
 *
 * Z^2 = p Z - q I with p = -t delta and q = t^2 lambda, so phi_k(Z) = alpha_k I + beta_k Z, where beta_k is the divided
 * difference of phi_k over the eigenvalues of Z. From phi_k = Z phi_{k+1} + I/k!:
 *     beta_{k-1} = alpha_k + p beta_k,    alpha_k = 1/k! - q beta_{k+1},    q beta_{k+1} = 1/k! + p beta_k -
 * beta_{k-1}. The entries are xx = alpha_k, xv = t beta_k, vx = -lambda t beta_k, vv = beta_{k-1}. With p = 0, beta_k =
 * c_{k+1}(q). As for phi and Stumpff functions the betas are reached upward from closed forms while k <= |Z|, and
 * downward from their series beyond. */
#include <math.h>
#include <stdbool.h>

#include "phi/scalar_functions.h"

enum { ORDERS = 20 };

typedef struct oscillator {
    double p, q;
    double radius;       /* the larger eigenvalue's modulus */
    double before;       /* beta_{-1}: the vv entry of exp Z */
    double alpha0;       /* the xx entry of exp Z */
    double beta[ORDERS]; /* beta_0, beta_1, ... as far as known */
    bool real;           /* whether the eigenvalues are, and then */
    double near, far;    /* the eigenvalues, |near| <= |far| */
} oscillator;

/* p/2, q and p^2/4 - q, with the rounding errors that would turn into errors of phase or growth. */
typedef struct eigenvalue_data {
    double middle, middle_rest;
    double q;
    double discriminant, discriminant_rest;
} eigenvalue_data;

static eigenvalue_data eigenvalues_of(double t, double lambda, double delta)
{
    eigenvalue_data data;
    double square = t * t, square_rest = fma(t, t, -square), product = t * delta;
    data.q = square * lambda;
    double q_rest = fma(square, lambda, -data.q) + square_rest * lambda;
    data.middle = -0.5 * product;
    data.middle_rest = -0.5 * fma(t, delta, -product);
    double m = data.middle, m2 = m * m, m2_rest = fma(m, m, -m2) + 2 * m * data.middle_rest;
    data.discriminant = m2 - data.q;
    double part = data.discriminant - m2; /* Knuth's two-sum */
    double rest = (m2 - (data.discriminant - part)) + (-data.q - part) + (m2_rest - q_rest);
    double sum = data.discriminant + rest;
    data.discriminant_rest = rest - (sum - data.discriminant);
    data.discriminant = sum;
    return data;
}

/* exp(a + b + rest) with the rounding error of a + b put back. */
static double exp_of_sum(double a, double b, double rest)
{
    double sum = a + b, part = sum - a;
    return exp(sum) * (1 + ((a - (sum - part)) + (b - part) + rest));
}

/* Closed forms of exp Z for eigenvalues m +- i omega. */
static void complex_pair(oscillator *o, const eigenvalue_data *data)
{
    double omega = sqrt(-data->discriminant), m = data->middle,
           growth = exp(m) * (1 + data->middle_rest);
    double rest = (fma(-omega, omega, -data->discriminant) - data->discriminant_rest) / (2 * omega);
    double cosine = cos(omega) * cos(rest) - sin(omega) * sin(rest);
    double sine = (sin(omega) * cos(rest) + cos(omega) * sin(rest)) / (omega + rest);
    o->radius = sqrt(o->q);
    o->beta[0] = growth * sine;
    o->alpha0 = growth * (cosine - m * sine);
    o->before = growth * (cosine + m * sine);
}

/* The same for m +- w real and not far apart; w may be zero. */
static void close_pair(oscillator *o, const eigenvalue_data *data)
{
    double w = sqrt(data->discriminant), m = data->middle, rest = 0;
    if (w > 0) rest = (fma(-w, w, data->discriminant) + data->discriminant_rest) / (2 * w);
    double upper = exp_of_sum(m, w, data->middle_rest + rest),
           lower = exp_of_sum(m, -w, data->middle_rest - rest);
    double even = 0.5 * (upper + lower), odd = 0.5 * (upper - lower) / w;
    if (w < 1) odd = exp(m) * (1 + data->middle_rest) * (w > 0 ? sinh(w) / w : 1);
    o->radius = fabs(m) + w;
    o->beta[0] = odd;
    o->alpha0 = even - m * odd;
    o->before = even + m * odd;
}

/* The same for real eigenvalues with |near| <= |far|/4. */
static void separate_pair(oscillator *o, const eigenvalue_data *data, double w)
{
    double rest = (fma(-w, w, data->discriminant) + data->discriminant_rest) / (2 * w),
           side = data->middle < 0 ? -1 : 1;
    double far = exp_of_sum(data->middle, side * w, data->middle_rest + side * rest);
    double near = exp_of_sum(data->middle, -side * w, data->middle_rest - side * rest),
           gap = o->far - o->near;
    o->radius = fabs(o->far);
    o->beta[0] = (far - near) / gap;
    o->alpha0 = (o->far * near - o->near * far) / gap;
    o->before = (o->far * far - o->near * near) / gap;
}

static void start(oscillator *o, const eigenvalue_data *data)
{
    o->p = 2 * data->middle;
    o->q = data->q;
    o->real = data->discriminant >= 0;
    if (!o->real) {
        complex_pair(o, data);
        return;
    }
    double w = sqrt(data->discriminant), m = data->middle;
    o->far = m < 0 ? m - w : m + w;
    o->near = o->far != 0 ? o->q / o->far : 0;
    if (fabs(o->far) > 1 && 4 * fabs(o->near) <= fabs(o->far))
        separate_pair(o, data, w);
    else
        close_pair(o, data);
}

/* beta_1..beta_up for real eigenvalues, from beta_k = a beta_{k+1} + phi_{k+1}(b), a and b being either eigenvalue: a
 * is the far one, so that q near zero does no harm, unless the near one's growth is the solution. */
static void upward_real(oscillator *o, int up)
{
    enum { GROWING = 24 };
    double phi[ORDERS];
    bool growing = o->far < 0 && o->near > GROWING;
    double a = growing ? o->near : o->far, b = growing ? o->far : o->near;
    if (up > 0) tw_phi_scalar(b, up + 1, phi);
    for (int k = 0; k < up; k++) o->beta[k + 1] = (o->beta[k] - phi[k + 1]) / a;
}

/* The same for complex eigenvalues, from q beta_{k+1} = 1/k! + p beta_k - beta_{k-1}; q is |Z|^2. */
static void upward_complex(oscillator *o, int up)
{
    for (int k = 0; k < up; k++) {
        double previous = k > 0 ? o->beta[k - 1] : o->before;
        o->beta[k + 1] = (tw_inverse_factorial[k] + o->p * o->beta[k] - previous) / o->q;
    }
}

/* beta_k = sum_{j >= 1} u_j / (k + j)!, u_j the divided difference of z^j: u_1 = 1, u_2 = p, u_{j+1} = p u_j - q
 * u_{j-1}. Two terms in a row must be negligible: one may vanish by chance. */
static double series(const oscillator *o, int k)
{
    double u = 1, previous = 0, sum = 0, factorial = tw_inverse_factorial[k];
    for (int j = 1, small = 0; small < 2; j++) {
        factorial /= k + j;
        double term = u * factorial, next = o->p * u - o->q * previous;
        small = sum + term == sum ? small + 1 : 0;
        sum += term;
        previous = u;
        u = next;
    }
    return sum;
}

/* beta_{up+1}..beta_top. */
static void downward(oscillator *o, int up, int top)
{
    int from = (int)(2 * o->radius) + 1;
    if (from < top) from = top;
    double above = series(o, from + 1), here = series(o, from);
    for (int k = from; k > up; k--) {
        if (k <= top) o->beta[k] = here;
        double below = tw_inverse_factorial[k] + o->p * here - o->q * above;
        above = here;
        here = below;
    }
}

/* xx, by whichever of its two forms cancels less. */
static double alpha(const oscillator *o, int k)
{
    if (k == 0) return o->alpha0;
    double before = o->beta[k - 1], damping = o->p * o->beta[k];
    double constant = tw_inverse_factorial[k], stiffness = o->q * o->beta[k + 1];
    return fabs(before) + fabs(damping) <= constant + fabs(stiffness) ? before - damping
                                                                      : constant - stiffness;
}

void tw_phi_oscillator(double t, double lambda, double delta, int k, double entries[4])
{
    eigenvalue_data data = eigenvalues_of(t, lambda, delta);
    oscillator o = {0};
    if (!isfinite(data.discriminant) || !isfinite(data.q)) {
        /* Beyond the range of t^2 lambda: decayed where damped, overflowed otherwise. */
        double limit = lambda > 0 && t * delta > 0 ? 0 : INFINITY;
        for (int i = 0; i < 4; i++) entries[i] = limit;
        return;
    }
    start(&o, &data);
    int top = k + 1, up = o.radius < top ? (int)o.radius : top;
    if (o.real)
        upward_real(&o, up);
    else
        upward_complex(&o, up);
    if (up < top) downward(&o, up, top);
    entries[0] = alpha(&o, k);
    entries[1] = t * o.beta[k];
    entries[2] = -lambda * t * o.beta[k];
    entries[3] = k > 0 ? o.beta[k - 1] : o.before;
    for (int i = 0; i < 4; i++)
        if (isnan(entries[i])) entries[i] = INFINITY;
}
