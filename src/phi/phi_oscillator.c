/* phi_k of Z = t [[0, 1], [-lambda, -delta]], the damped oscillator.
 *
 * Z^2 = p Z - q I with p = -t delta and q = t^2 lambda, so phi_k(Z) = alpha_k I + beta_k Z, where
 * beta_k is the divided difference of phi_k over the eigenvalues of Z. From phi_k = Z phi_{k+1} +
 * I/k! follows
 *     beta_{k-1}    = alpha_k + p beta_k,
 *     alpha_k       = 1/k! - q beta_{k+1},
 *     q beta_{k+1}  = 1/k! + p beta_k - beta_{k-1}.
 * The entries are xx = alpha_k, xv = t beta_k, vx = -lambda t beta_k, vv = beta_{k-1}. With p = 0,
 * beta_k = c_{k+1}(q) is a Stumpff function. As there (scalar_functions.c) the betas are reached
 * upwards from closed forms while k <= |Z|, and downwards from their series beyond. */
#include <math.h>
#include <stdbool.h>

#include "phi/scalar_functions.h"

enum { ORDERS = 20 };

/* Users ask for phi_0 to phi_16. */
enum { LARGEST_INDEX = 16 };

typedef struct oscillator {
    double p;
    double q;
    double radius;       /* the larger eigenvalue's modulus */
    double before;       /* beta_{-1}: the vv entry of exp Z */
    double alpha0;       /* the xx entry of exp Z */
    double beta[ORDERS]; /* beta_0, beta_1, ... as far as known */
    bool real;           /* the eigenvalues are real */
    double near;         /* the smaller eigenvalue, if they are real */
    double far;          /* the larger one: |near| <= |far| */
} oscillator;

/* The middle p/2 of the eigenvalues, q, and the discriminant p^2/4 - q. The rests are their
 * rounding errors, which would turn into errors of phase or growth. */
typedef struct eigenvalue_data {
    double middle;
    double middle_rest;
    double q;
    double discriminant;
    double discriminant_rest;
} eigenvalue_data;

/* ---- eigenvalues ---- */

static eigenvalue_data eigenvalues_of(double t, double lambda, double delta)
{
    /* q = t^2 lambda and its rest */
    eigenvalue_data data;
    double square = t * t;
    double square_rest = fma(t, t, -square);
    data.q = square * lambda;
    double q_rest = fma(square, lambda, -data.q) + square_rest * lambda;

    /* The middle m = -t delta/2, its square, and their rests. */
    double product = t * delta;
    data.middle = -0.5 * product;
    data.middle_rest = -0.5 * fma(t, delta, -product);
    double m = data.middle;
    double m2 = m * m;
    double m2_rest = fma(m, m, -m2) + 2 * m * data.middle_rest;

    /* m^2 - q with its rest, by Knuth's two-sum. */
    data.discriminant = m2 - data.q;
    double part = data.discriminant - m2;
    double rest = (m2 - (data.discriminant - part)) + (-data.q - part) + (m2_rest - q_rest);
    double sum = data.discriminant + rest;
    data.discriminant_rest = rest - (sum - data.discriminant);
    data.discriminant = sum;

    return data;
}

/* exp(a + b + rest) with the rounding error of a + b put back. */
static double exp_of_sum(double a, double b, double rest)
{
    double sum = a + b;
    double part = sum - a;
    return exp(sum) * (1 + ((a - (sum - part)) + (b - part) + rest));
}

/* ---- closed forms of exp Z ---- */

/* For eigenvalues m +- i omega. */
static void complex_pair(oscillator *o, const eigenvalue_data *data)
{
    double m = data->middle;
    double growth = exp(m) * (1 + data->middle_rest);

    /* cos and sin/omega at omega + rest */
    double omega = sqrt(-data->discriminant);
    double rest = (fma(-omega, omega, -data->discriminant) - data->discriminant_rest) / (2 * omega);
    double cosine = cos(omega) * cos(rest) - sin(omega) * sin(rest);
    double sine = (sin(omega) * cos(rest) + cos(omega) * sin(rest)) / (omega + rest);

    o->radius = sqrt(o->q);
    o->beta[0] = growth * sine;
    o->alpha0 = growth * (cosine - m * sine);
    o->before = growth * (cosine + m * sine);
}

/* For real eigenvalues m +- w that are not far apart; w may be zero. */
static void close_pair(oscillator *o, const eigenvalue_data *data)
{
    double m = data->middle;
    double w = sqrt(data->discriminant);
    double rest = 0;
    if (w > 0) rest = (fma(-w, w, data->discriminant) + data->discriminant_rest) / (2 * w);

    /* e^m cosh(w) and e^m sinh(w)/w. For a small w the difference of exponentials would cancel. */
    double upper = exp_of_sum(m, w, data->middle_rest + rest);
    double lower = exp_of_sum(m, -w, data->middle_rest - rest);
    double even = 0.5 * (upper + lower);
    double odd = 0.5 * (upper - lower) / w;
    if (w < 1) odd = exp(m) * (1 + data->middle_rest) * (w > 0 ? sinh(w) / w : 1);

    o->radius = fabs(m) + w;
    o->beta[0] = odd;
    o->alpha0 = even - m * odd;
    o->before = even + m * odd;
}

/* For real eigenvalues with |near| <= |far|/4. */
static void separate_pair(oscillator *o, const eigenvalue_data *data, double w)
{
    /* exp of both eigenvalues */
    double rest = (fma(-w, w, data->discriminant) + data->discriminant_rest) / (2 * w);
    double side = data->middle < 0 ? -1 : 1;
    double far = exp_of_sum(data->middle, side * w, data->middle_rest + side * rest);
    double near = exp_of_sum(data->middle, -side * w, data->middle_rest - side * rest);

    double gap = o->far - o->near;
    o->radius = fabs(o->far);
    o->beta[0] = (far - near) / gap;
    o->alpha0 = (o->far * near - o->near * far) / gap;
    o->before = (o->far * far - o->near * near) / gap;
}

/* beta_0 and the entries of exp Z, by the form that suits the eigenvalues. */
static void start(oscillator *o, const eigenvalue_data *data)
{
    o->p = 2 * data->middle;
    o->q = data->q;
    o->real = data->discriminant >= 0;
    if (!o->real) {
        complex_pair(o, data);
        return;
    }

    /* The far eigenvalue does not cancel. The near one follows from their product q. */
    double w = sqrt(data->discriminant);
    double m = data->middle;
    o->far = m < 0 ? m - w : m + w;
    if (o->far != 0) o->near = o->q / o->far;

    if (fabs(o->far) > 1 && 4 * fabs(o->near) <= fabs(o->far))
        separate_pair(o, data, w);
    else
        close_pair(o, data);
}

/* ---- from the closed forms to phi_k ---- */

/* beta_1..beta_up for real eigenvalues a and b, from beta_k = a beta_{k+1} + phi_{k+1}(b). a is the
 * far one, so that a q near zero does no harm. Only if the near one grows strongly does a become
 * that one, because its growth is then the solution. */
static void upward_real(oscillator *o, int up)
{
    enum { GROWING = 24 }; /* exponent beyond which 1/k! is below the rounding of exp */
    bool growing = o->far < 0 && o->near > GROWING;
    double a = o->far;
    double b = o->near;
    if (growing) {
        a = o->near;
        b = o->far;
    }

    double phi[ORDERS];
    if (up > 0) tw_phi_scalar(b, up + 1, phi);
    for (int k = 0; k < up; k++) o->beta[k + 1] = (o->beta[k] - phi[k + 1]) / a;
}

/* The same for complex eigenvalues, from q beta_{k+1} = 1/k! + p beta_k - beta_{k-1}; q
 * is |Z|^2. */
static void upward_complex(oscillator *o, int up)
{
    for (int k = 0; k < up; k++) {
        double previous = k > 0 ? o->beta[k - 1] : o->before;
        o->beta[k + 1] = (tw_inverse_factorial[k] + o->p * o->beta[k] - previous) / o->q;
    }
}

/* beta_k = sum_{j >= 1} u_j / (k + j)! with the divided differences u_j of z^j:
 *     u_1 = 1,   u_2 = p,   u_{j+1} = p u_j - q u_{j-1}.
 * The sum ends when two terms in a row are negligible, because one may vanish by chance. */
static double series(const oscillator *o, int k)
{
    double u = 1;
    double previous = 0;
    double sum = 0;
    double factorial = tw_inverse_factorial[k];

    for (int j = 1, small = 0; small < 2; j++) {
        factorial /= k + j;
        double term = u * factorial;
        double next = o->p * u - o->q * previous;
        small = sum + term == sum ? small + 1 : 0;
        sum += term;
        previous = u;
        u = next;
    }

    return sum;
}

/* beta_{up+1}..beta_top, downwards from an index where the series converges fast. */
static void downward(oscillator *o, int up, int top)
{
    int from = (int)(2 * o->radius) + 1;
    if (from < top) from = top;

    /* beta_{k-1} = 1/k! + p beta_k - q beta_{k+1} */
    double above = series(o, from + 1);
    double here = series(o, from);
    for (int k = from; k > up; k--) {
        if (k <= top) o->beta[k] = here;
        double below = tw_inverse_factorial[k] + o->p * here - o->q * above;
        above = here;
        here = below;
    }
}

/* xx by the one of its two forms that cancels less: beta_{k-1} - p beta_k or 1/k! -
 * q beta_{k+1}. */
static double alpha(const oscillator *o, int k)
{
    if (k == 0) return o->alpha0;
    double before = o->beta[k - 1];
    double damping = o->p * o->beta[k];
    double constant = tw_inverse_factorial[k];
    double stiffness = o->q * o->beta[k + 1];
    if (fabs(before) + fabs(damping) <= constant + fabs(stiffness)) return before - damping;

    return constant - stiffness;
}

void tw_phi_oscillator(double t, double lambda, double delta, int k, double entries[4])
{
    if (!entries || k < 0 || k > LARGEST_INDEX) return;

    /* Where t^2 lambda overflows, the motion has decayed if it is damped, else it
     * has overflowed. */
    eigenvalue_data data = eigenvalues_of(t, lambda, delta);
    if (!isfinite(data.discriminant) || !isfinite(data.q)) {
        double limit = INFINITY;
        if (lambda > 0 && t * delta > 0) limit = 0;
        for (int i = 0; i < 4; i++) entries[i] = limit;
        return;
    }

    /* beta_0..beta_{k+1}: up to the radius upwards, the others downwards. */
    oscillator o = {0};
    start(&o, &data);
    int top = k + 1;
    int up = top;
    if (o.radius < top) up = (int)o.radius;
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
