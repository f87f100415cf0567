#include "phi/taylor/leja_points.h"

#include <float.h>
#include <math.h>
#include <string.h>

void tw_leja_points(int count, double *points)
{
    double sorted[TW_NEWTON_MAX_DEGREE + 1] = {-2, 0, 2};
    double candidate[TW_NEWTON_MAX_DEGREE + 1] = {-1, 1};
    double product[TW_NEWTON_MAX_DEGREE + 1] = {
        3, 3}; /* of distances from each candidate to all points */
    static const double first[3] = {2, -2, 0};
    for (int i = 0; i < count && i < 3; i++) points[i] = first[i];
    for (int known = 3; known < count; known++) {
        int best = 0;
        for (int i = 1; i < known - 1; i++)
            if (product[i] > product[best]) best = i;
        double x = candidate[best];
        points[known] = x;
        memmove(sorted + best + 2, sorted + best + 1, (size_t)(known - best - 1) * sizeof *sorted);
        memmove(candidate + best + 1, candidate + best,
                (size_t)(known - 1 - best) * sizeof *candidate);
        memmove(product + best + 1, product + best, (size_t)(known - 1 - best) * sizeof *product);
        sorted[best + 1] = x;
        for (int i = 0; i < known; i++) product[i] *= fabs(candidate[i] - x);
        for (int i = best; i <= best + 1; i++) {
            candidate[i] = (sorted[i] + sorted[i + 1]) / 2;
            product[i] = 1;
            for (int j = 0; j <= known; j++) product[i] *= fabs(candidate[i] - points[j]);
        }
    }
}

/* d_i <- f[x_0..x_i], every difference of abscissae divided by `unit`: on Leja points of capacity `unit` the classical
 * recursion has an absolute error of a few ulp of max |f|. */
static void divided_differences(int count, const double *x, double unit, double *d)
{
    for (int k = 0; k + 1 < count; k++)
        for (int i = k + 1; i < count; i++) d[i] = (d[i] - d[k]) / ((x[i] - x[k]) / unit);
}

/* Thin ellipse along the real axis: divided differences of exp(g (center + xi)). */
static void differences_horizontal(const tw_leja_segment *segment, tw_newton *newton, int o,
                                   double *d)
{
    int count = newton->degree + 1;
    double g = newton->fraction[o];
    for (int i = 0; i < count; i++) d[i] = exp(g * (segment->center + newton->shift[i]));
    divided_differences(count, newton->shift, segment->capacity, d);
    memcpy(newton->coefficient[o], d, (size_t)count * sizeof *d);
}

/* Thin ellipse along the imaginary axis, x^2 = -eta^2: exp(g x) = cos(g eta) + x sin(g eta)/eta, each half a function
 * of eta^2 alone, with divided differences in s = eta^2 / capacity^2. */
static void differences_vertical(const tw_leja_segment *segment, const double *points,
                                 tw_newton *newton, int o, double *scratch)
{
    int count = newton->degree / 2 + 1;
    double g = newton->fraction[o], unit = segment->capacity,
           quarter = segment->half_length / (2 * unit);
    double *s = scratch, *even = scratch + count, *odd = scratch + 2 * count,
           factor = exp(g * segment->center);
    for (int l = 0; l < count; l++) {
        s[l] = quarter * quarter * (2 + points[l]);
        double eta = unit * sqrt(s[l]);
        even[l] = cos(g * eta);
        odd[l] = eta > 0 ? unit * sin(g * eta) / eta : unit * g;
    }
    divided_differences(count, s, -1.0, even); /* the basis is the product of (s_l - s) */
    divided_differences(count, s, -1.0, odd);
    for (int j = 0; j <= newton->degree; j++)
        newton->coefficient[o][j] = factor * (j % 2 == 0 ? even[j / 2] : odd[j / 2]);
}

/* One Taylor step of c' = (Z - lowest) c over delta, Z the matrix of "times x" in the Newton basis (Opitz):
 * x b_j = divisor_j b_{j+1} + shift_j b_j - pair_j b_{j-1}. */
static void march_step(const tw_newton *newton, double lowest, double delta, int terms, double *c,
                       double *term, double *next)
{
    int m = newton->degree;
    const double *shift = newton->shift, *divisor = newton->divisor, *pair = newton->pair;
    memcpy(term, c, (size_t)(m + 1) * sizeof *term);
    for (int k = 1; k <= terms; k++) {
        double part = delta / k;
        next[0] = part * ((shift[0] - lowest) * term[0] - pair[1] * term[1]);
        for (int j = 1; j < m; j++)
            next[j] = part * ((shift[j] - lowest) * term[j] + divisor[j - 1] * term[j - 1] -
                              pair[j + 1] * term[j + 1]);
        next[m] = part * ((shift[m] - lowest) * term[m] + divisor[m - 1] * term[m - 1]);
        for (int j = 0; j <= m; j++) c[j] += next[j];
        double *swap = term;
        term = next;
        next = swap;
    }
    /* The same factor in every step: its rounding would add up. */
    long double exact = expl((long double)lowest * delta);
    double factor = (double)exact, rest = (double)(exact - factor);
    for (int j = 0; j <= m; j++) c[j] = c[j] * factor + c[j] * rest;
}

/* Thick ellipse: the points crowd (a disc has them all in one place) and divided differences would cancel. The
 * coefficients of exp(g x) solve c' = Z c, c(0) = e_0; for real points all entries of Z - lowest are non-negative, and
 * every coefficient has a small relative error. */
static void march(const tw_leja_segment *segment, tw_newton *newton, int o, double *scratch)
{
    int m = newton->degree;
    double *c = newton->coefficient[o], g = newton->fraction[o];
    double size = segment->capacity + 2 * segment->half_length,
           lowest = segment->vertical ? 0 : -segment->half_length;
    int steps = (int)ceil(g * size / (segment->vertical ? 2 : 6)) + 1;
    int terms = (segment->vertical ? 32 : 45) + 3 * m / steps;
    memset(c, 0, (size_t)(m + 1) * sizeof *c);
    c[0] = 1;
    for (int i = 0; i < steps; i++)
        march_step(newton, lowest, g / steps, terms, c, scratch, scratch + m + 1);
    double factor = exp(g * segment->center);
    for (int j = 0; j <= m; j++) c[j] *= factor;
}

static void place_points(const double *points, const tw_leja_segment *segment, tw_newton *newton)
{
    newton->center = segment->center;
    for (int j = 0; j <= newton->degree; j++) {
        bool closes_pair = segment->vertical && j % 2 == 1;
        double half = segment->half_length / 2;
        newton->divisor[j] = segment->capacity;
        newton->growth[j] = 1.05;
        newton->shift[j] = segment->vertical ? 0 : half * points[j];
        newton->pair[j] = closes_pair ? half * half * (2 + points[j / 2]) / segment->capacity : 0;
    }
}

/* Divided differences end in noise; from there on they would only add to the remainder. */
static void drop_noise(tw_newton *newton)
{
    enum { LAST = 16 };
    const double *c = newton->coefficient[0];
    double largest = 0, noise = 0;
    for (int j = 0; j <= newton->degree; j++) {
        largest = fmax(largest, fabs(c[j]));
        if (j > newton->degree - LAST) noise = fmax(noise, fabs(c[j]));
    }
    if (noise > 1e-13 * largest) return;
    while (newton->degree > 1 &&
           fmax(fabs(c[newton->degree]), fabs(c[newton->degree - 1])) <= 2 * noise)
        newton->degree -= 2;
}

void tw_leja_build(const double *points, const tw_leja_segment *segment, tw_newton *newton,
                   double *scratch)
{
    place_points(points, segment, newton);
    bool thin = !segment->precise && segment->half_length >= 1.98 * segment->capacity;
    for (int o = 0; o < newton->outputs; o++) {
        if (!thin)
            march(segment, newton, o, scratch);
        else if (segment->vertical)
            differences_vertical(segment, points, newton, o, scratch);
        else
            differences_horizontal(segment, newton, o, scratch);
    }
    if (thin) drop_noise(newton);
    tw_newton_fill_tails(newton);
}
