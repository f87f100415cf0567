/* Leja points, and the Newton coefficients of exp on them. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "phi/taylor/taylor.h"

/* A segment is thin if its half-length is almost twice the capacity (exactly twice for an ellipse
 * without thickness). */
static const double THIN = 1.98;

/* Expected bound of |y_{j+1}| / |y_j|: the terms stay level on a segment that holds the
 * spectrum. */
static const double LEVEL_GROWTH = 1.05;

/* Last coefficients below this share of the largest one are noise. */
static const double NOISE_SHARE = 1e-13;

/* ---- points ---- */

/* Inserts x at index `place` of an array of `count` entries. */
static void insert(double *array, int count, int place, double x)
{
    memmove(array + place + 1, array + place, (size_t)(count - place) * sizeof *array);
    array[place] = x;
}

void tw_leja_points(int count, double *points)
{
    /* The points in order, the midpoints between them, and the product of distances from each
     * midpoint to all points. */
    double sorted[TW_NEWTON_MAX_DEGREE + 1] = {-2, 0, 2};
    double candidate[TW_NEWTON_MAX_DEGREE + 1] = {-1, 1};
    double product[TW_NEWTON_MAX_DEGREE + 1] = {3, 3};
    static const double first[3] = {2, -2, 0};
    for (int i = 0; i < count && i < 3; i++) points[i] = first[i];

    for (int known = 3; known < count; known++) {
        /* The midpoint with the largest product is the next point. */
        int best = 0;
        for (int i = 1; i < known - 1; i++)
            if (product[i] > product[best]) best = i;
        double x = candidate[best];
        points[known] = x;

        /* It splits its interval, so that two midpoints replace one. */
        insert(sorted, known, best + 1, x);
        insert(candidate, known - 1, best, x);
        insert(product, known - 1, best, 0);

        /* The other products get one more factor; the two new ones are computed. */
        for (int i = 0; i < known; i++) product[i] *= fabs(candidate[i] - x);
        for (int i = best; i <= best + 1; i++) {
            candidate[i] = (sorted[i] + sorted[i + 1]) / 2;
            product[i] = 1;
            for (int j = 0; j <= known; j++) product[i] *= fabs(candidate[i] - points[j]);
        }
    }
}

/* ---- coefficients of a thin ellipse: divided differences ---- */

/* d_i <- f[x_0..x_i], where every difference of abscissae is divided by `unit`. On Leja points of
 * capacity `unit` the classical recursion has an absolute error of a few ulp of max |f|. */
static void divided_differences(int count, const double *x, double unit, double *d)
{
    for (int k = 0; k + 1 < count; k++)
        for (int i = k + 1; i < count; i++) d[i] = (d[i] - d[k]) / ((x[i] - x[k]) / unit);
}

/* Along the real axis: divided differences of exp(g (center + xi)). */
static void differences_horizontal(const tw_leja_segment *segment, tw_newton *newton, int o,
                                   double *d)
{
    int count = newton->degree + 1;
    double g = newton->fraction[o];

    for (int i = 0; i < count; i++) d[i] = exp(g * (segment->center + newton->shift[i]));
    divided_differences(count, newton->shift, segment->capacity, d);
    memcpy(newton->coefficient[o], d, (size_t)count * sizeof *d);
}

/* Along the imaginary axis, x^2 = -eta^2: exp(g x) = cos(g eta) + x sin(g eta)/eta. Each half is a
 * function of eta^2 alone, with divided differences in s = eta^2 / capacity^2. */
static void differences_vertical(const tw_leja_segment *segment, const double *points,
                                 tw_newton *newton, int o, double *scratch)
{
    int count = newton->degree / 2 + 1;
    double g = newton->fraction[o];
    double unit = segment->capacity;
    double quarter = segment->half_length / (2 * unit);
    double *s = scratch;
    double *even = scratch + count;
    double *odd = scratch + 2 * count;

    /* The values of both halves at the points. */
    for (int l = 0; l < count; l++) {
        s[l] = quarter * quarter * (2 + points[l]);
        double eta = unit * sqrt(s[l]);
        even[l] = cos(g * eta);
        odd[l] = eta > 0 ? unit * sin(g * eta) / eta : unit * g;
    }

    /* The basis is the product of (s_l - s), hence the unit -1. */
    divided_differences(count, s, -1.0, even);
    divided_differences(count, s, -1.0, odd);

    /* Both halves alternate. */
    double factor = exp(g * segment->center);
    for (int j = 0; j <= newton->degree; j++) {
        const double *half = j % 2 == 0 ? even : odd;
        newton->coefficient[o][j] = factor * half[j / 2];
    }
}

/* Divided differences end in noise. From there on they would only add to the remainder, so the
 * degree is lowered. */
static void drop_noise(tw_newton *newton)
{
    enum { LAST = 16 };
    const double *c = newton->coefficient[0];
    double largest = 0;
    double noise = 0;
    for (int j = 0; j <= newton->degree; j++) {
        largest = fmax(largest, fabs(c[j]));
        if (j > newton->degree - LAST) noise = fmax(noise, fabs(c[j]));
    }
    if (noise > NOISE_SHARE * largest) return;

    while (newton->degree > 1 &&
           fmax(fabs(c[newton->degree]), fabs(c[newton->degree - 1])) <= 2 * noise)
        newton->degree -= 2;
}

/* ---- coefficients of a thick ellipse: a differential equation ---- */

/* One Taylor step of c' = (Z - lowest) c over delta. Z is the matrix of "times x" in the Newton
 * basis (Opitz): x b_j = divisor_j b_{j+1} + shift_j b_j - pair_j b_{j-1}. */
static void march_step(const tw_newton *newton, double lowest, double delta, int terms, double *c,
                       double *scratch)
{
    int m = newton->degree;
    double *term = scratch;
    double *next = scratch + m + 1;
    const double *shift = newton->shift;
    const double *divisor = newton->divisor;
    const double *pair = newton->pair;

    /* term_k = delta / k (Z - lowest) term_{k-1}. */
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

    /* exp(lowest delta) is the same factor in every step, and its rounding would add up. So it has
     * twice the digits. */
    long double exact = expl((long double)lowest * delta);
    double factor = (double)exact;
    double rest = (double)(exact - factor);
    for (int j = 0; j <= m; j++) c[j] = c[j] * factor + c[j] * rest;
}

/* The points of a thick ellipse crowd (those of a disc are all in its centre), and divided
 * differences would cancel. The coefficients of exp(g x) solve c' = Z c, c(0) = e_0. For real
 * points all entries of Z - lowest are non-negative, and every coefficient has a small relative
 * error. */
static void march(const tw_leja_segment *segment, tw_newton *newton, int o, double *scratch)
{
    int m = newton->degree;
    double *c = newton->coefficient[o];
    double g = newton->fraction[o];

    /* Steps of |Z| delta <= 2 with signs, <= 6 without; enough Taylor terms for full accuracy in
     * each. */
    double size = segment->capacity + 2 * segment->half_length;
    double lowest = segment->vertical ? 0 : -segment->half_length;
    int steps = (int)ceil(g * size / (segment->vertical ? 2 : 6)) + 1;
    int terms = (segment->vertical ? 32 : 45) + 3 * m / steps;

    memset(c, 0, (size_t)(m + 1) * sizeof *c);
    c[0] = 1;
    for (int i = 0; i < steps; i++) march_step(newton, lowest, g / steps, terms, c, scratch);

    double factor = exp(g * segment->center);
    for (int j = 0; j <= m; j++) c[j] *= factor;
}

/* ---- the polynomial ---- */

/* The points on the segment: real ones are shifts, conjugate pairs +-i eta_l are pairs. */
static void place_points(const double *points, const tw_leja_segment *segment, tw_newton *newton)
{
    newton->center = segment->center;
    double half = segment->half_length / 2;

    for (int j = 0; j <= newton->degree; j++) {
        bool closes_pair = segment->vertical && j % 2 == 1;
        newton->divisor[j] = segment->capacity;
        newton->growth[j] = LEVEL_GROWTH;
        newton->shift[j] = segment->vertical ? 0 : half * points[j];
        newton->pair[j] = closes_pair ? half * half * (2 + points[j / 2]) / segment->capacity : 0;
    }
}

void tw_leja_build(const double *points, const tw_leja_segment *segment, tw_newton *newton,
                   double *scratch)
{
    place_points(points, segment, newton);
    bool thin = !segment->precise && segment->half_length >= THIN * segment->capacity;
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
